"""Files at URLs: three protocols and no other; a project file may name one only where somebody trusts it."""

from __future__ import annotations

import io
import json
import sys
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.errors import InputError, NotInstalledError, UntrustedError
from robustcs.inputs.paths import located, url_of
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.sniff import identify
from robustcs.inputs.texts import read_texts
from robustcs.project.model import parse_text_source
from robustcs.project.reading import read_project


def test_a_path_of_a_url_has_lost_a_slash(tmp_path: Path) -> None:
    assert (
        url_of("s3://bucket/a/run.trec")
        == url_of(Path("s3://bucket/a/run.trec"))
        == "s3://bucket/a/run.trec"
    )
    for local in ("run.trec", "/a/b", "c:/run.trec", "a:b", "irds:trec-cast/v1/2020"):
        assert url_of(local) is None
    assert located("gs://a/b", tmp_path) == Path("gs:/a/b")
    assert located("b", tmp_path) == tmp_path / "b"
    source = parse_text_source("gs://a/t.tsv:human", tmp_path)
    assert (url_of(source.path), source.column) == ("gs://a/t.tsv", "human")


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        NotInstalledError, match=r"s3://a/b needs fsspec; pip install 'robustcs\[urls\]'"
    ):
        read_qrels("s3://a/b")
    assert run(["unjudged", "--qrels", "s3://a/b", "--run", "x=s3://a/c"]) == 4
    assert (
        capfd.readouterr().err == "robustcs: s3://a/b needs fsspec; pip install 'robustcs[urls]'\n"
    )


@pytest.mark.parametrize(
    "url",
    [
        "reference://x::ref.json", "http://example.org/qrels", "file:///etc/passwd", "local:///etc/passwd", "memory://a/b",
        "ftp://a/b", "ssh://a/b", "github://a:b@c/d", "zip://a::https://b/c.zip", "https://a/b::s3://c", "s3://a::gs://b",
    ],
)  # fmt: skip
def test_no_other_protocol_and_no_chain_reaches_fsspec(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra urls is not installed")
    monkeypatch.setattr(fsspec, "open", lambda *_: pytest.fail("fsspec was asked"))
    with pytest.raises(InputError) as error:
        read_qrels(url)
    found = (
        "a chain of addresses (::) is not supported"
        if "::" in url
        else f"{url.partition(':')[0]}:// addresses are not supported"
    )
    assert error.value.problems[0].found == found
    assert error.value.problems[0].slug == "refused-address"


class _Server:
    """What ``https://study.example`` has, in place of the network."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []

    def open(self, opener: Any, url: str, timeout: float) -> Any:
        self.asked.append(url)
        # the handlers that are there decide where a redirection may lead
        assert not any(
            isinstance(one, urllib.request.HTTPHandler | urllib.request.FileHandler)
            for one in opener.handlers
        )
        if url not in self.pages:
            raise urllib.error.HTTPError(
                url, 404 if "gone" in url else 500, "said the server", Message(), None
            )
        return io.BytesIO(self.pages[url])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> _Server:
    made = _Server()
    monkeypatch.setattr(
        urllib.request.OpenerDirector,
        "open",
        lambda opener, url, timeout: made.open(opener, url, timeout),
    )
    return made


def test_files_of_a_web_server(
    server: _Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    base = f"https://study.example/{tmp_path.name}"
    qrels, table, texts = f"{base}/qrels.tsv", f"{base}/run.csv", f"{base}/texts.jsonl"
    server.pages = {
        qrels: b"query-id\tcorpus-id\tscore\n1_1\td1\t1\n1_2\td1\t1\n",
        table: b"qid,docno,score\n1_1,d1,2\n1_2,d2,1\n",
        texts: b'{"sample_id": "1_1", "predicted_rewrite": ["a"]}\n{"sample_id": "1_2", "predicted_rewrite": ["b"]}\n',
    }
    assert read_texts(texts, "qr") == {"1_1": "a", "1_2": "b"}
    found = identify(qrels)
    assert found is not None
    assert found.family == "BEIR qrels"
    with pytest.raises(InputError) as caught:
        read_qrels(Path(table))
    assert (
        str(caught.value)
        == f"{table}: this is a table of retrieved passages; use it with --run, --original, --qr or --human"
    )
    with pytest.raises(
        InputError, match="https://study.example/gone: no such file; check the path"
    ):
        read_qrels("https://study.example/gone")
    with pytest.raises(
        InputError,
        match=r"https://study.example/x: cannot be fetched \(HTTP Error 500: said the server\)",
    ):
        read_qrels("https://study.example/x")
    server.asked.clear()
    monkeypatch.chdir(tmp_path)
    Path("robustcs.toml").write_text(f'\nqrels = "{qrels}"\n[runs]\nx = "{table}"\n')
    with pytest.raises(UntrustedError):
        read_project("robustcs.toml")
    assert run(["check"]) == 3
    said = capfd.readouterr().err.splitlines()
    assert said == [
        f"robustcs.toml:2: qrels = {qrels} would be fetched; add --trust if you trust this project (in Python:"
        " open_project(FILE, trust=True))",
        f"robustcs.toml:4: x = {table} would be fetched; add --trust if you trust this project (in Python:"
        " open_project(FILE, trust=True))",
    ]  # fmt: skip
    assert url_of(read_project("robustcs.toml", trust=True).runs["x"]) == table
    assert run(["unjudged", "--format", "json", "--trust"]) == 0
    entries = json.loads(capfd.readouterr().out)["inputs"]
    assert {entry["path"] for entry in entries} == {qrels, table}
    assert all(len(entry["sha256"]) == 64 for entry in entries)
    Path("robustcs.toml").unlink()
    assert run(["check", "--format", "json", "--qrels", qrels, "--run", f"x={table}"]) == 0, (
        "the user's own word"
    )
    files = json.loads(capfd.readouterr().out)["tables"]["files"]
    assert [file["path"] for file in files] == [qrels, table]
    assert server.asked == [], "each address is fetched once in the life of the process"


def test_a_yes_at_the_terminal_is_trust(
    server: _Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    qrels = f"https://study.example/{tmp_path.name}/qrels"
    server.pages = {qrels: b"1_1 0 d1 1\n"}
    monkeypatch.chdir(tmp_path)
    Path("robustcs.toml").write_text(f'qrels = "{qrels}"\n')
    answers = []
    for answer in (False, True):
        monkeypatch.setattr(
            "robustcs.cli.main.agreed",
            lambda question, said=answer: answers.append(question) or said,
        )
        assert run(["check"]) == (0 if answer else 3)
        assert (server.asked != []) == answer
        assert "would be fetched" in capfd.readouterr().err
    assert answers == ["Do you trust this project?"] * 2
    assert run(["check"]) == 0 and len(answers) == 3, "trust lasts for one command"


def test_files_of_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra urls is not installed")
    from fsspec.implementations.memory import MemoryFileSystem

    fsspec.register_implementation("s3", MemoryFileSystem, clobber=True)
    with fsspec.open("s3://study/qrels", "wb") as stream:
        stream.write(b"1_1 0 d1 1\n")
    assert read_qrels("s3://study/qrels").turns == ("1_1",)
