"""Hand-made projects: what their files allow decides which verdicts open the report, and what stands on the cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.documents.document import Document, Heading, Opening, Paragraph
from robustcs.project.reading import read_project
from robustcs.reporting.build import make_report

UNJUDGED = "How much do unjudged passages matter?"

pytestmark = pytest.mark.usefixtures("undrawn")


def made(
    folder: Path,
    *,
    conversations: int = 8,
    grades: tuple[int, ...] = (2, 1, 0),
    qrels: str = "qrels.txt",
) -> Document:
    """The report of three runs, with two turns a conversation and a judgment of the passages d1, d2 … of every turn."""
    turns = [f"{topic}_{turn}" for topic in range(1, conversations + 1) for turn in (1, 2)]
    lines = [f'qrels = "{qrels}"', 'metrics = ["ndcg_cut_3"]', "[runs]"]
    for name, best in (("good", "d1"), ("bad", "d3"), ("open", "d9")):
        order = [best, *(one for one in ("d1", "d2", "d3") if one != best)]
        rows = [
            f"{turn} Q0 {one} {rank} {9 - rank} {name}\n"
            for turn in turns
            for rank, one in enumerate(order, 1)
        ]
        (folder / f"{name}.trec").write_text("".join(rows))
        lines.append(f'{name} = "{name}.trec"')
    judged = [
        f"{turn} 0 d{number} {grade}\n" for turn in turns for number, grade in enumerate(grades, 1)
    ]
    (folder / qrels).write_text("".join(judged))
    (folder / "robustcs.toml").write_text("\n".join(lines))
    return make_report(read_project(folder / "robustcs.toml"), folder=folder).document


def opening(document: Document) -> Opening:
    assert document.opening is not None
    return document.opening


def first_sentence(document: Document, question: str) -> str:
    blocks = list(document.blocks)
    place = blocks.index(
        next(block for block in blocks if isinstance(block, Heading) and block.text == question)
    )
    told = blocks[place + 1]
    assert isinstance(told, Paragraph)
    return told.text


def test_without_limits_every_subject_has_its_card(tmp_path: Path) -> None:
    document = made(tmp_path)
    assert [verdict.subject for verdict in opening(document).verdicts] == ["systems", "unjudged"]
    assert not any(verdict.caveat for verdict in opening(document).verdicts)
    assert opening(document).verdicts[1].sentence == first_sentence(document, UNJUDGED)


def test_positives_alone_show_no_judged_share(tmp_path: Path) -> None:
    document = made(tmp_path, grades=(1, 1))
    assert "unjudged" not in {verdict.subject for verdict in opening(document).verdicts}
    told = first_sentence(document, UNJUDGED)
    assert told.startswith("The qrels contain relevant passages only. ") and "%" not in told


def test_qrels_of_a_model_are_told_on_every_card(tmp_path: Path) -> None:
    verdicts = opening(made(tmp_path, qrels="qrels-gpt4.txt")).verdicts
    assert len(verdicts) == 2
    assert {verdict.caveat for verdict in verdicts} == {
        "Based on judgments of a model, not of people: the qrels are qrels-gpt4.txt, and its name contains a model name (gpt)."
    }


def test_few_conversations_are_told_on_every_card_that_infers(tmp_path: Path) -> None:
    systems, unjudged = opening(made(tmp_path, conversations=4)).verdicts
    assert systems.subject == "systems" and "there are only 4 conversations" in systems.caveat
    # a count of the passages at hand
    assert (unjudged.subject, unjudged.caveat) == (
        "unjudged",
        "",
    )


def test_five_conversations_show_no_difference_and_the_card_says_why(tmp_path: Path) -> None:
    verdicts = opening(made(tmp_path, conversations=5)).verdicts
    assert [verdict.subject for verdict in verdicts] == ["systems", "unjudged"]
    assert verdicts[0].text.startswith("The data do not show whether")
    assert (
        verdicts[0].caveat
        == "No p-value can reach 0.05 with 5 conversations: the smallest possible is 0.062."
    )
    assert not verdicts[1].caveat


def test_more_than_one_per_cent_of_skipped_rows_is_told_on_every_card(tmp_path: Path) -> None:
    turns = [f"{topic}_{turn}" for topic in range(1, 9) for turn in range(1, 6)]
    lines = ['metrics = ["ndcg_cut_3"]']
    for place, name in enumerate(("original", "qr", "human"), 1):
        rows = [f"ndcg_cut_3 {turn} {place * int(turn[0]) / 24}\n" for turn in turns]
        (tmp_path / f"{name}.scores").write_text("".join(rows))
        lines.append(f'[formulations.{name}]\nscores = "{name}.scores"')
    texts = [f"{turn}\twhat is {turn}\n" for turn in turns[:-1]]
    (tmp_path / "human.tsv").write_text("".join([*texts, f"{turns[-1]}\t\n"]))
    lines.append('rewrites = "human.tsv"')
    (tmp_path / "robustcs.toml").write_text("\n".join(lines))
    document = make_report(read_project(tmp_path / "robustcs.toml"), folder=tmp_path).document
    verdicts = opening(document).verdicts
    assert verdicts and {verdict.caveat for verdict in verdicts} == {
        "More than 1% of human texts were skipped: 1 of 40 texts empty."
    }
    assert document.policy.endswith(" · human: 1 of 40 texts empty")
    assert any(
        "40 rows" not in line and "39 rows, 1 skipped" in line for _, line in document.provenance
    )
