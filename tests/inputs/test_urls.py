"""Files at URLs, by fsspec's own memory; without it the message says how to install it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.errors import InputError, NotInstalledError
from robustcs.inputs.kinds import identify
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.texts import read_texts
from robustcs.inputs.urls import located, url_of
from robustcs.project.model import parse_text_source
from robustcs.project.reading import read_project


def test_a_path_of_a_url_has_lost_a_slash(tmp_path: Path) -> None:
    assert url_of("s3://bucket/a/run.trec") == url_of(Path("s3://bucket/a/run.trec")) == "s3://bucket/a/run.trec"
    assert url_of(Path("file:///a/run.trec")) == "file:///a/run.trec"
    for local in ("run.trec", "/a/b", "c:/run.trec", "a:b", "irds:trec-cast/v1/2020"):
        assert url_of(local) is None
    assert located("memory://a/b", tmp_path) == Path("memory:/a/b")
    assert located("b", tmp_path) == tmp_path / "b"
    source = parse_text_source("memory://a/t.tsv:human", tmp_path)
    assert (url_of(source.path), source.column) == ("memory://a/t.tsv", "human")


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(NotInstalledError, match=r"memory://a/b needs fsspec; pip install 'robustcs\[urls\]'"):
        read_qrels("memory://a/b")
    assert run(["unjudged", "--qrels", "memory://a/b", "--run", "x=memory://a/c"]) == 4
    assert capfd.readouterr().err == "robustcs: memory://a/b needs fsspec; pip install 'robustcs[urls]'\n"


def test_files_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra urls is not installed")
    files = {
        "qrels.tsv": "query-id\tcorpus-id\tscore\n1_1\td1\t1\n1_2\td1\t1\n",
        "run.csv": "qid,docno,score\n1_1,d1,2\n1_2,d2,1\n",
        "texts.jsonl": '{"sample_id": "1_1", "predicted_rewrite": ["a"]}\n{"sample_id": "1_2", "predicted_rewrite": ["b"]}\n',
    }
    for name, text in files.items():
        with fsspec.open(f"memory://study/{name}", "w") as stream:
            stream.write(text)
    assert read_texts("memory://study/texts.jsonl", "qr") == {"1_1": "a", "1_2": "b"}
    found = identify("memory://study/qrels.tsv")
    assert found is not None
    assert found.family == "BEIR qrels"
    with pytest.raises(InputError) as caught:
        read_qrels(Path("memory://study/run.csv"))
    assert str(caught.value) == (
        "memory://study/run.csv: this is a table of retrieved passages; --run, --original, --qr or --human takes it"
    )
    with pytest.raises(InputError, match="memory://study/gone: no such file; check the path"):
        read_qrels("memory://study/gone")
    with pytest.raises(InputError, match="nowhere://a/b: cannot be fetched"):
        read_qrels("nowhere://a/b")
    monkeypatch.chdir(tmp_path)
    Path("robustcs.toml").write_text('qrels = "memory://study/qrels.tsv"\n[runs]\nx = "memory://study/run.csv"\n')
    assert url_of(read_project("robustcs.toml").runs["x"]) == "memory://study/run.csv"
    assert run(["unjudged", "--format", "json"]) == 0
    entries = json.loads(capfd.readouterr().out)["inputs"]
    assert {entry["path"] for entry in entries} == {"memory://study/qrels.tsv", "memory://study/run.csv"}
    assert all(len(entry["sha256"]) == 64 for entry in entries)
    assert run(["check", "--format", "json"]) == 0
    files = json.loads(capfd.readouterr().out)["tables"]["files"]
    assert [file["path"] for file in files] == ["memory://study/qrels.tsv", "memory://study/run.csv"]
