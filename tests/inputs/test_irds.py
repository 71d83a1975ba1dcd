"""Question texts by name from ir_datasets, of a made data set: the package is not needed."""

from __future__ import annotations

import json
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

from robustcs.cli.main import run
from robustcs.errors import InputError, NotInstalledError, UsageError
from robustcs.inputs.texts import read_texts
from robustcs.project.model import parse_text_source

NAME = "irds:trec-cast/v1/2020/judged"
Cast = namedtuple(
    "Cast",
    "query_id raw_utterance automatic_rewritten_utterance manual_rewritten_utterance topic_number",
)
Later = namedtuple("Later", "query_id participant raw_utterance manual_rewritten_utterance")
Generic = namedtuple("Generic", "query_id text")
SETS = {
    "trec-cast/v1/2020/judged": [
        Cast("81_1", "one?", "one?", "One?", 81),
        Cast("81_2", "two?", None, "Two?", 81),
    ],
    "trec-cast/v3/2022": [
        Later("132_1-1", "User", "one?", "One?"),
        Later("132_1-2", "System", "an answer", ""),
    ],
    "beir/x": [Generic("1", "one?"), Generic("2", "two?")],
}


@pytest.fixture
def irds(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(identifier: str) -> SimpleNamespace:
        queries = SETS[identifier] if identifier != "no-queries" else []
        judged = [
            SimpleNamespace(query_id=query.query_id, doc_id="d1", relevance=2) for query in queries
        ]
        return SimpleNamespace(
            has_queries=lambda: identifier != "no-queries", queries_iter=lambda: iter(queries),
            has_qrels=lambda: True, qrels_iter=lambda: iter(judged),
        )  # fmt: skip

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))


@pytest.mark.usefixtures("irds")
def test_formulations() -> None:
    assert read_texts(NAME, "original") == {"81_1": "one?", "81_2": "two?"}
    assert read_texts(NAME, "human") == {"81_1": "One?", "81_2": "Two?"}
    assert read_texts(NAME, "qr") == {"81_1": "one?"}
    assert read_texts(NAME, "qr", "manual") == read_texts(NAME, "qr", "manual_rewritten_utterance")
    assert read_texts("irds:trec-cast/v3/2022", "original") == {"132_1-1": "one?"}
    assert read_texts("irds:beir/x", "human") == {"1": "one?", "2": "two?"}
    with pytest.raises(InputError) as caught:
        read_texts("irds:trec-cast/v3/2022", "qr")
    assert str(caught.value).startswith(
        "irds:trec-cast/v3/2022: no column 'automatic_rewritten_utterance'; the columns are: "
    )


@pytest.mark.usefixtures("irds")
def test_names_that_are_not_there() -> None:
    with pytest.raises(
        UsageError, match="ir_datasets has no data set 'no/such'; see the catalogue of ir_datasets"
    ):
        read_texts("irds:no/such", "human")
    with pytest.raises(UsageError, match="no-queries has no queries; choose a subset with queries"):
        read_texts("irds:no-queries", "human")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(NotInstalledError, match=r"needs ir_datasets; pip install ir_datasets"):
        read_texts(NAME, "human")


def test_sources_of_texts(tmp_path: Path) -> None:
    assert parse_text_source(NAME, tmp_path).path == NAME
    assert parse_text_source(f"{NAME}:human", tmp_path).path == NAME
    assert parse_text_source(f"{NAME}:human", tmp_path).column == "human"


@pytest.mark.usefixtures("irds")
def test_a_command_takes_texts_and_judgments_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("robustcs.toml").write_text(
        f'qrels = "{NAME}"\n'
        + "".join(
            f'[formulations.{role}]\nrun = "r.trec"\nrewrites = "{NAME}"\n'
            for role in ("original", "qr", "human")
        )
    )
    Path("r.trec").write_text("81_1 Q0 d1 1 2 t\n81_2 Q0 d1 1 2 t\n")
    assert run(["breakdown", "--format", "json"]) == 0
    given = {entry["role"]: entry for entry in json.loads(capfd.readouterr().out)["inputs"]}
    assert given["qrels, original texts, qr texts, human texts"] == {
        "role": "qrels, original texts, qr texts, human texts", "path": NAME, "sha256": None, "rows": 2,
    }  # fmt: skip
