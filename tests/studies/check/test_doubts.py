"""What check says of inputs that can be read and look wrong all the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.project.text_run_match import fit, ranked_alike
from tests.project.test_scaffold import HUMAN, QRELS, RAW, TURNS, fill, ranked, rewrites, tsv

Notes = Callable[[str], list[str]]

#: The best passages first, as a good ranker has them.
_GRADES = {tuple(line.split()[:3:2]): int(line.split()[3]) for line in QRELS.splitlines()}
FILES = {
    "qrels.txt": QRELS, "raw.trec": ranked(RAW), "t5.trec": ranked(rewrites(1)), "human.trec": "",
    "raw.tsv": tsv(RAW), "t5.tsv": tsv(rewrites(1)), "human.tsv": tsv(HUMAN), "other.tsv": tsv(rewrites(9)),
}  # fmt: skip
RUNS = "--qrels qrels.txt --original raw.trec --qr t5.trec --human human.trec --relevance-level 2"
TEXTS = "--rewrites original=raw.tsv --rewrites qr=t5.tsv --rewrites human=human.tsv"


def best_first(texts: Mapping[str, str], keep: int = 10) -> str:
    """A run with the best passages of every turn, but for turns with their raw text, which are ranked as everywhere."""
    lines = []
    for turn in texts:
        order = sorted(
            (document for known, document in _GRADES if known == turn),
            key=lambda one: -_GRADES[turn, one],
        )
        lines += [
            f"{turn} Q0 {document} {rank} {9 - rank / 10} t\n"
            for rank, document in enumerate(order[:keep], 1)
        ]
    return "".join(lines)


@pytest.fixture
def notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Notes:
    """The notes of a check in a folder with all these files."""
    fill(tmp_path, FILES | {"human.trec": ranked(HUMAN)})
    monkeypatch.chdir(tmp_path)

    def notes_of(line: str) -> list[str]:
        assert run(["check", *line.split(), "--format", "json"]) == 0
        return list(json.loads(capfd.readouterr().out)["notes"])

    return notes_of


def test_what_fits_is_not_doubted(notes: Notes) -> None:
    found = [note for note in notes(f"{RUNS} {TEXTS}") if "swapped" not in note]
    assert found == []


def test_what_is_odd_within_a_file_is_told_once(notes: Notes) -> None:
    Path("qrels.txt").write_text(f"{QRELS}1_1 0 far 100\n1_1 0 far 100\n")
    Path("t5.trec").write_text(
        "".join(f"1_1 Q0 d{place} {9.5 - place} {place} t\n" for place in range(9))
    )
    found = notes(f"{RUNS} {TEXTS}")
    for note in (
        "qrels.txt: 1 repeated judgment",
        "qrels.txt: 1 judgment with a grade of up to 100",
        "qr: the scores of turn 1_1",
    ):
        assert sum(one.startswith(note) for one in found) == 1, note


def test_swapped_runs_and_texts(notes: Notes) -> None:
    Path("human.trec").write_text(best_first(HUMAN))
    assert not any("swapped" in note for note in notes(f"{RUNS} {TEXTS}"))
    swapped = "--qrels qrels.txt --original human.trec --human raw.trec --relevance-level 2"
    found = notes(f"{swapped} --rewrites original=human.tsv --rewrites human=raw.tsv")
    first, second = (note for note in found if "swapped" in note)
    assert first.startswith("Human scores below Original (NDCG@3 0.") and first.endswith(
        "and 1.000); check that the two files are not swapped"
    )
    assert second.startswith("Original texts are longer than Human texts (")


def test_texts_that_were_not_what_was_run(notes: Notes) -> None:
    runs = "--qr t5.trec --human human.trec --rewrites human=human.tsv --qrels qrels.txt --relevance-level 2"
    equal = sum(HUMAN[turn] == text for turn, text in rewrites(9).items())
    apart, alike = notes(f"{runs} --rewrites qr=other.tsv")
    assert apart.startswith(
        f"qr and Human have the same text for {equal} turns, but different rankings for "
    )
    assert alike.startswith(
        f"qr and Human have different texts for {len(TURNS) - equal} turns, but the same ranking for "
    )
    Path("t5.trec").write_text(ranked({turn: f"{text}!" for turn, text in HUMAN.items()}))
    assert notes(f"{runs} --rewrites qr=human.tsv") == [
        f"qr and Human have the same text for {len(TURNS)} turns, but different rankings for {len(TURNS)} turns (1_1, 1_2,"
        " 1_3, 1_4, 2_1 …); check that the run of qr was made for these texts"
    ]
    assert (
        "qr and human have the same ranking for every turn; check that they are not the same run"
        in notes("--qrels qrels.txt --qr human.trec --human human.trec --relevance-level 2")
    )


def test_levels(notes: Notes) -> None:
    runs = RUNS.removesuffix(" --relevance-level 2")
    said = "relevance_level is 1; CAsT uses 2 for binary measures"
    assert said in notes(runs) and said not in notes(RUNS)
    high = (
        "relevance_level is 9, but no passage has a grade of 9 or more: all binary measures are 0"
    )
    assert high in notes(f"{runs} --relevance-level 9")


def test_depths_and_missing_texts(notes: Notes) -> None:
    Path("human.trec").write_text(best_first(HUMAN, 2))
    Path("short.tsv").write_text(tsv(dict(list(HUMAN.items())[1:])))
    Path("robustcs.toml").write_text('metrics = ["ndcg_cut_5"]\n')
    found = notes(f"{RUNS} --rewrites human=short.tsv")
    assert "ndcg_cut_5 needs more passages per turn than this run contains: human (2)" in found
    assert (
        "formulations differ in depth (original 10, qr 10, human 2 passages), which affects overlap,"
        in " ".join(found)
    )
    assert "no text of human for 1 judged turn (1_1)" in found


def test_punctuation_alone_makes_no_other_text() -> None:
    texts = {"1_1": "What is it?", "1_2": "Why", "1_3": "a b", "1_4": "same "}
    others = {"1_1": "what is it", "1_2": "How", "1_3": "a c", "1_4": "same", "1_5": "x"}
    found = fit(
        texts,
        others,
        ranked_alike(dict.fromkeys(texts, 1), {"1_1": 2, "1_2": 1, "1_3": 2, "1_4": 2, "1_5": 1}),
    )
    assert (found.equal, found.equal_apart, found.other, found.other_alike) == (
        ("1_4",),
        ("1_4",),
        ("1_2", "1_3"),
        ("1_2",),
    )
    assert found.share == pytest.approx(1 / 3)


def test_qrels_with_the_fields_of_a_judge(notes: Notes) -> None:
    rows = [line.split() for line in QRELS.splitlines()]
    table = "".join(f"{turn},{document},{grade},1\n" for turn, _, document, grade in rows)
    Path("grades.csv").write_text("query_id,doc_id,judgment,result_status\n" + table)
    told = [note for note in notes("--qrels grades.csv --run raw=raw.trec") if "judge" in note]
    assert (
        told[0]
        == "Based on judgments of a model, not of people: the qrels are grades.csv, and it has the fields of a"
        " model judge's output"
    )
    Path("grades.csv").write_text("query_id,doc_id,judgment,round\n" + table)
    assert not any("model" in note for note in notes("--qrels grades.csv --run raw=raw.trec"))


def test_ir_metadata_of_a_run_is_told(notes: Notes) -> None:
    head = "# ir_metadata.start\n# tag: bm25\n# actor:\n#   team: A\n# ir_metadata.end\n"
    Path("raw.trec").write_text(head + ranked(RAW))
    assert "raw: ir_metadata is tag bm25, team A" in notes("--qrels qrels.txt --run raw=raw.trec")
