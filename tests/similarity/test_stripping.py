"""Entity removal: nouns found by word lists, and by NLTK's tagger where its data are there."""

from __future__ import annotations

import json
from pathlib import Path

import nltk
import pytest

from robustcs.cli.main import run
from robustcs.errors import NotInstalledError
from robustcs.similarity.stripping import tagged_nouns, without_nouns

#: What the tagger's data say of words here; a word that they lack is a verb.
TAGS = {
    "does": "VBZ", "n't": "RB", "honey": "NN", "spoil": "VB", "?": ".", "Why": "WRB", "bees": "NNS", "Seattle": "NNP",
    "in": "IN", "What": "WP", "'s": "POS",
}  # fmt: skip


@pytest.fixture
def tagger_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of NLTK's data with a small model of the tagger."""
    folder = tmp_path / "nltk_data" / "taggers" / "averaged_perceptron_tagger_eng"
    folder.mkdir(parents=True)
    for name, content in (
        ("weights", {}),
        ("tagdict", TAGS),
        ("classes", sorted({"VB", *TAGS.values()} - {"WRB", "WP"})),
    ):
        (folder / f"averaged_perceptron_tagger_eng.{name}.json").write_text(json.dumps(content))
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "nltk_data")])
    return folder


@pytest.mark.usefixtures("tagger_data")
def test_nouns_by_the_tagger() -> None:
    without = tagged_nouns()
    # word lists leave a noun that follows an auxiliary
    assert without_nouns("Why doesn't honey spoil?") == "Why doesn't honey spoil?"
    assert without("Why doesn't honey spoil?") == "Why doesn't spoil?"
    assert without('What does "Seattle" say of bees in Seattle?') == 'What does "" say of in?'
    assert without("Seattle honey?") == "Seattle honey?", "nothing would be left"
    assert without("") == ""


def test_without_the_taggers_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(NotInstalledError):
        tagged_nouns()
    monkeypatch.chdir(tmp_path)
    Path("raw.tsv").write_text("1_1\tWhy doesn't honey spoil?\n")
    options = [
        "paraphrase",
        "--rewrites",
        "original=raw.tsv",
        "--with",
        "cat",
        "--context-remover",
        "nltk",
    ]
    assert run(options) == 4
    assert capfd.readouterr().err == (
        "robustcs: NLTK's tagger has no data (averaged_perceptron_tagger_eng); install the data with: python -m nltk.downloader"
        " averaged_perceptron_tagger_eng\n"
    )


@pytest.mark.usefixtures("tagger_data")
def test_the_command_takes_nouns_off_by_the_tagger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    manual = {"1_1": "What does honey?", "1_2": "Why doesn't honey spoil?"}
    Path("manual.tsv").write_text("".join(f"{turn}\t{text}\n" for turn, text in manual.items()))
    Path("raw.tsv").write_text("1_1\tWhat does?\n1_2\tWhy doesn't spoil?\n")
    Path("ask.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    print(json.dumps({'id': request['id'], 'texts': ['Why does honey bees spoil?']}), flush=True)\n"
    )
    rewrites = [
        "--rewrites",
        "original=raw.tsv",
        "--rewrites",
        "human=manual.tsv",
        "--turns",
        "manual",
    ]
    options = ["--with", "python3 ask.py", "--context-remover", "nltk", "--format", "json"]
    assert run(["paraphrase", *rewrites, *options]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [row["raw"] for row in found["tables"]["paraphrases"] if row["turn"] == "1_2"] == [
        "Why does spoil?"
    ]
    bleu = {row["turns"]: row["value"] for row in found["tables"]["bleu"]}
    # without their nouns the manual turns are the raw ones
    assert bleu["nouns taken off"] == pytest.approx(100) and bleu["as they are"] < 50
    assert "nouns by NLTK's tagger" in found["notes"]
