"""What ``robustcs turns`` shows."""

from __future__ import annotations

import csv
import io
import json

import pytest

from robustcs.studies.turns.differences import marked_difference
from tests.conftest import Command


def test_the_list(in_demo: Command) -> None:
    shown = in_demo("turns --where cause:rewriter --sort loss@qr --limit 2").out
    assert "18 of 70 turns selected by cause:rewriter, sorted by loss@qr" in " ".join(shown.split())
    assert "  4_2\n    Original · NDCG@3" in shown
    assert "QR · NDCG@3 0.0000 · first relevant at 11 · rewriter error · answer: wrong\n" in shown
    assert shown.count("rewriter error") == 2
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("option", ["--where cause:ranker", "--sort loss", "--limit 3"])
def test_one_turn_is_shown_whatever_a_list_would_select(in_demo: Command, option: str) -> None:
    assert in_demo(f"turns --turn 1_5 {option}", code=2).err == (
        "robustcs: --turn shows one turn, whatever the list selects; leave out --where, --sort and"
        " --limit\n"
    )


def test_words_of_findings_lead_to_their_filter(in_demo: Command) -> None:
    for words in ('"rewriter error"', "rewriter errors", "Rewriter Error"):
        shown = " ".join(in_demo(f"turns --where '{words}'").out.split())
        assert (
            "Note: to list the turns that reports call 'rewriter errors', write cause:rewriter"
            in shown
        ), words
    assert "to list" not in in_demo("turns --where 'rewriter -error'").out
    assert "to list" not in in_demo("turns --where cause:rewriter").out


def test_all_turns_are_in_files_and_twenty_on_the_screen(in_demo: Command) -> None:
    shown = in_demo("turns").out
    assert shown.startswith("70 turns; correct if NDCG@3 ≥ 0.5; shown: the first 20\n")
    tables = json.loads(in_demo("turns --format json").out)["tables"]
    assert len(tables["records"]) == 70 and tables["records"][0]["turn"] == "1_1"
    record = tables["records"][0]["record"]
    assert record["systems"]["human"]["scores"].keys() == {"P_1", "ndcg_cut_3", "f1"}
    row = next(one for one in tables["turns"] if (one["turn"], one["system"]) == ("1_1", "qr"))
    own = record["systems"]["qr"]
    assert row["score"] == own["scores"]["ndcg_cut_3"] and row["first"] == own["first_relevant"]
    assert row["cause"] == own["cause"]["ndcg_cut_3>=0.5"] and row["text"] == record["texts"]["qr"]


def test_records_in_csv_are_json(in_demo: Command) -> None:
    text = in_demo("turns --turn 1_5 --table records --format csv").out
    (row,) = csv.DictReader(io.StringIO(text))
    assert json.loads(row["record"])["turn"] == row["turn"] == "1_5"


def test_one_turn(in_demo: Command) -> None:
    shown = in_demo("turns --turn 1_5").out
    flat = " ".join(shown.split())
    assert "Before the turn user What is a sourdough starter? user How do I make one?" in flat
    assert "QR What [-percentage-] {+number+} of [-water-] {+feeds+} is usual" in flat
    assert "rewriter error: Human is correct, QR is not (correct: NDCG@3 ≥ 0.5)" in flat
    assert "Given: sourdough_09 (grade 4) Water in a sourdough bread dough" in flat
    # the first passage of QR is at rank 13 of Human, and the second at rank 1
    assert "1 sourdough_03 0 13 sourdough_09 4 2" in flat
    assert "Gold answer between 65 and 80 percent" in flat
    assert max(map(len, shown.splitlines())) <= 80


def test_two_systems_are_chosen(in_demo: Command) -> None:
    flat = " ".join(in_demo("turns --turn 1_5 --show original --show HUMAN").out.split())
    assert "Original: P@1" in flat and "QR: P@1" not in flat
    assert "Rank passage grade other passage grade other" in flat


@pytest.mark.parametrize("form", ["md", "tex", "json", "csv", "txt"])
def test_every_form(form: str, in_copy: Command, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / f"out.{form}"
    in_copy(f"turns --where turn:1_5 --table turns --output {path}")
    assert "1_5" in path.read_text("utf-8").replace("\\_", "_")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("--turn 1_55", "there is no turn '1_55'; did you mean 1_5?"),
        ("--show qrr", "there is no system 'qrr'; choose from original, qr, human"),
        ("--sort cause", "turns cannot be ordered by cause, which is not a number"),
        ("--where cause:", "a value is missing"),
        ("--limit 0", "0 is not in the range"),
    ],
)
def test_what_is_refused(line: str, found: str, in_demo: Command) -> None:
    assert found in " ".join(in_demo(f"turns {line}", code=2).err.split())


def test_a_random_sample_follows_the_seed(in_demo: Command) -> None:
    def sample(seed: int) -> list[str]:
        out = in_demo(
            f"turns --sort random --seed {seed} --limit 9 --table records --format json"
        ).out
        return [row["turn"] for row in json.loads(out)["tables"]["records"]]

    assert sample(1) == sample(1) != sample(2)
    assert len(set(sample(1))) == 9


def test_nothing_to_list(in_demo: Command) -> None:
    assert "0 of 70 turns selected by xyz" in in_demo("turns --where xyz").out


def test_without_turns(in_demo: Command, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "robustcs.toml").write_text('qrels = "qrels.txt"\n')
    (tmp_path / "qrels.txt").write_text("1_1 0 d1 1\n")
    error = in_demo(f"turns --config {tmp_path / 'robustcs.toml'}", code=2).err
    assert "no runs, texts or answers are given" in error


def test_texts_alone(in_demo: Command) -> None:
    line = "turns --config /dev/null --rewrites human=topics.json --where Fresnel"
    shown = in_demo(line).out
    assert "Human" in shown and "nothing is scored" in shown


@pytest.mark.parametrize(
    ("text", "human", "marked"),
    [
        ("What about it?", "What about sharks?", "What about [-sharks?-] {+it?+}"),
        ("the Teeth", "The teeth.", "the Teeth"),
        ("a b", "a b c", "a b [-c-]"),
        ("a b c", "a c", "a {+b+} c"),
        ("", "a", "[-a-]"),
    ],
)
def test_marked_differences(text: str, human: str, marked: str) -> None:
    assert marked_difference(text, human) == marked
