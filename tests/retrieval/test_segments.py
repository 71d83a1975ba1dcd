"""Documents split into passages at sentence boundaries."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.errors import InputError, NotInstalledError, UsageError
from robustcs.inputs.collection import read_passages
from robustcs.project.reader import untracked
from robustcs.retrieval.index import by_rules, by_spacy, gathered, segment_collection

DOCUMENTS = {
    "D1": "One two three. Four five! Six seven eight nine. Ten",
    "D-1": "Honey keeps.\n\nWhy? " + "word " * 12 + "end. No.",
}


def written(folder: Path, documents: dict[str, str]) -> Path:
    path = folder / "documents.jsonl"
    path.write_text(
        "".join(
            json.dumps({"docid": name, "body": text}) + "\n" for name, text in documents.items()
        )
    )
    return path


def passages(path: Path) -> dict[str, str]:
    return {row["id"]: row["contents"] for row in map(json.loads, path.read_text().splitlines())}


def test_sentences_are_gathered_until_the_next_does_not_fit() -> None:
    assert gathered([("a ", 3), ("b ", 2), ("c", 1)], 5) == ["a b", "c"]
    assert gathered([("a ", 3), ("b ", 3), ("c", 2)], 5) == ["a", "b c"]
    # a sentence that is too long is a passage of its own, and what stands before it is not repeated
    assert gathered([("a", 1), ("long", 9), ("b", 1)], 5) == ["a", "long", "b"]
    assert gathered([("long", 9), ("full", 5), ("b", 1)], 5) == ["long", "full", "b"]
    assert gathered([], 5) == [] and gathered([(" ", 5), ("a", 1)], 5) == ["a"]


def test_words_and_sentences_by_rules() -> None:
    assert by_rules(DOCUMENTS["D1"]) == [
        ("One two three. ", 3), ("Four five! ", 2), ("Six seven eight nine. ", 4), ("Ten", 1),
    ]  # fmt: skip
    assert by_rules("…") == [("…", 1)]


def test_every_word_of_a_document_is_in_one_passage(tmp_path: Path) -> None:
    target = tmp_path / "made" / "passages.jsonl"
    assert segment_collection(written(tmp_path, DOCUMENTS), target, 5, by_rules, untracked) == (
        2,
        5,
    )
    found = passages(target)
    assert list(found) == ["D1-1", "D1-2", "D-1-1", "D-1-2", "D-1-3"]
    assert [found["D1-1"], found["D1-2"]] == [
        "One two three. Four five!",
        "Six seven eight nine. Ten",
    ]
    assert (found["D-1-1"], found["D-1-2"][-9:], found["D-1-3"]) == (
        "Honey keeps.\n\nWhy?",
        "word end.",
        "No.",
    )
    for name, text in DOCUMENTS.items():
        own = [passage for key, passage in found.items() if key.rpartition("-")[0] == name]
        assert " ".join(own).split() == text.split()


def test_what_is_wrong_with_documents_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "documents.tsv"
    path.write_text("D1\tOne.\nD2\t \nD1\tTwo.\n")
    with pytest.raises(InputError, match="passage D2 is empty.*\n.*passage D1 is also in line 1"):
        segment_collection(path, tmp_path / "passages.jsonl", 5, by_rules, untracked)
    assert [file.name for file in tmp_path.iterdir()] == ["documents.tsv"]
    with pytest.raises(UsageError, match="already exists"):
        segment_collection(path, path, 5, by_rules, untracked)


def test_cast_2020_passages_as_documents(shared_data: Path, tmp_path: Path) -> None:
    target = tmp_path / "passages.jsonl"
    source = shared_data / "cast2020" / "passages.jsonl.gz"
    documents, count = segment_collection(source, target, 50, by_rules, untracked)
    found = passages(target)
    assert documents == 2206 and count == len(found) > documents
    wanted = {name.rpartition("-")[0] for name in found}
    whole = read_passages(source, wanted)
    assert len(whole) == documents
    sentences = {sentence.strip() for text in whole.values() for sentence, _ in by_rules(text)}
    longest = [text for text in found.values() if len(text.split()) > 50]
    assert longest and set(longest) <= sentences
    by_document: dict[str, str] = {}
    for name, text in found.items():
        own = name.rpartition("-")[0]
        by_document[own] = by_document.get(own, "") + "".join(text.split())
    assert by_document == {name: "".join(text.split()) for name, text in whole.items()}


# ---------------------------------------------------------------- the command


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, DOCUMENTS)
    assert (
        run(["retrieve", "--segment", "5", "--collection", "documents.jsonl", "--folder", "made"])
        == 0
    )
    assert (
        "wrote made/documents-5.jsonl: 5 passages of 2 documents; use it with --collection"
        in capfd.readouterr().err
    )
    assert len(passages(tmp_path / "made" / "documents-5.jsonl")) == 5
    assert (
        run(["retrieve", "--segment", "5", "--collection", "documents.jsonl", "--folder", "made"])
        == 2
    )
    assert run(["retrieve", "--segment", "5"]) == 2
    assert "add --collection FILE" in capfd.readouterr().err
    assert run(["retrieve", "--spacy", "en_core_web_sm"]) == 2
    assert "--spacy has no effect without --segment; add --segment" in capfd.readouterr().err
    assert run(["retrieve", "--segment", "5", "--dry-run"]) == 2
    assert (
        "--explain or --dry-run cannot be combined; use one of them per call"
        in capfd.readouterr().err
    )


# ---------------------------------------------------------------- spaCy, which need not be installed


class Pipeline(SimpleNamespace):
    """What is used of a spaCy pipeline: sentences end with a full stop, and every character is a token."""

    component_names = ("senter",)
    enabled: tuple[str, ...] = ()

    def enable_pipe(self, name: str) -> None:
        self.enabled = (*self.enabled, name)

    add_pipe = enable_pipe

    def __call__(self, text: str) -> SimpleNamespace:
        class Sentence(str):
            text_with_ws = property(str)

        return SimpleNamespace(
            sents=[Sentence(part + ".") for part in text.split(".") if part.strip()]
        )


def fake_spacy(monkeypatch: pytest.MonkeyPatch, load: Callable[..., Any]) -> None:
    module = ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)


@pytest.mark.parametrize(
    ("components", "enabled"), [(("tok2vec", "senter"), "senter"), ((), "sentencizer")]
)
def test_sentences_and_words_of_spacy(
    monkeypatch: pytest.MonkeyPatch, components: tuple[str, ...], enabled: str
) -> None:
    pipeline = Pipeline(component_names=components)
    asked: list[str] = []

    def load(model: str, exclude: list[str]) -> Pipeline:
        asked.extend((model, *exclude))
        return pipeline

    fake_spacy(monkeypatch, load)
    split = by_spacy("en_core_web_sm")
    assert list(split("One.Two two.")) == [("One.", 4), ("Two two.", 8)]
    assert asked[0] == "en_core_web_sm" and "parser" in asked and "senter" not in asked
    assert pipeline.enabled == (enabled,) and pipeline.max_length > 10**9


def test_without_spacy_or_its_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.chdir(tmp_path)
    written(tmp_path, DOCUMENTS)
    options = [
        "retrieve",
        "--segment",
        "250",
        "--collection",
        "documents.jsonl",
        "--spacy",
        "en_core_web_sm",
    ]
    assert run(options) == 4
    assert "spaCy cannot be imported" in (said := capfd.readouterr().err)
    assert "install it with: pip install 'robustcs[spacy]'" in said

    def load(model: str, exclude: list[str]) -> None:
        raise OSError(f"[E050] Can't find model {model!r}")

    fake_spacy(monkeypatch, load)
    with pytest.raises(
        NotInstalledError,
        match="no model en_core_web_sm; install it with: python -m spacy download en_core_web_sm",
    ):
        by_spacy("en_core_web_sm")


def test_the_real_spacy() -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'robustcs[spacy]'")
    pytest.importorskip(
        "en_core_web_sm",
        reason="spaCy's model is not installed: python -m spacy download en_core_web_sm",
    )
    assert list(by_spacy("en_core_web_sm")("Dr. Smith went. He ran.")) == [
        ("Dr. Smith went. ", 4),
        ("He ran.", 3),
    ]
