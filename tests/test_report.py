"""The report: every analysis that the inputs allow, in one document and one folder."""

from __future__ import annotations

import base64
import errno
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as MatplotlibFigure

from robustcs.cli.main import run
from robustcs.documents import figures
from robustcs.documents.document import (
    Cards,
    Document,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Picture,
    TableBlock,
    TurnLinks,
)
from robustcs.documents.html import render_html
from robustcs.documents.page.address import turns_address
from robustcs.documents.page_svg import page_svg
from robustcs.documents.text import turn_anchor
from robustcs.errors import UsageError
from robustcs.inputs.files import sha256
from robustcs.project.model import AnswerFiles, Project
from robustcs.project.reading import read_project
from robustcs.reporting.build import Report, make_report
from robustcs.reporting.names import Names
from robustcs.studies.registry import questions
from robustcs.wording import Note, merged
from tests.documents.conftest import HOSTILE, every_block, pdf_words
from tests.documents.hostile_project import write_hostile_project
from tests.numbers import unexplained

#: The measure and threshold of the findings.
CUT = ("ndcg_cut_3", ">=0.5")


@pytest.fixture(scope="module")
def report(demo: Path) -> Iterator[Report]:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = "1000000000"
    yield make_report(read_project(demo / "robustcs.toml"), folder=demo)
    del os.environ["SOURCE_DATE_EPOCH"]
    if epoch:
        os.environ["SOURCE_DATE_EPOCH"] = epoch


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("hostile")
    return make_report(read_project(write_hostile_project(folder)), folder=folder)


def texts(document: Document) -> list[str]:
    """All sentences of the document, folded or not."""
    return [block.text for block in every_block(document) if isinstance(block, Paragraph)]


def tables(report: Report, result: str, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(report.files[f"results/{result}.json"])["tables"][table]
    return rows


def openings(document: Document) -> dict[str, str]:
    """Question → the sentence that opens its section."""
    found = {}
    for block, after in pairwise(document.blocks):
        if isinstance(block, Heading):
            assert isinstance(after, Paragraph), block
            found[block.text] = after.text
    return found


def told_of(document: Document) -> dict[str, str]:
    """Question → all that is said of it."""
    told: dict[str, str] = {}
    question = ""
    for block in every_block(document):
        if isinstance(block, Heading) and block.level == 1:
            question = block.text
        elif isinstance(block, Paragraph):
            told[question] = f"{told.get(question, '')} {block.text}"
    return told


def test_every_question_opens_with_one_sentence_one_figure_and_one_table(report: Report) -> None:
    blocks = report.document.blocks
    asked = [block.text for block in blocks if isinstance(block, Heading)]
    assert (
        asked == [question.title for question in questions() if question.title in asked]
        and len(asked) > 10
    )
    starts = [place for place, block in enumerate(blocks) if isinstance(block, Heading)]
    for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True):
        shown = blocks[start + 1 : end]
        kinds = [type(block) for block in shown if not isinstance(block, Fold | TurnLinks)]
        assert kinds in (
            [Paragraph, Picture, TableBlock],
            [Paragraph, TableBlock],
            [Paragraph, Picture],
        ), blocks[start]
        assert isinstance(blocks[end - 1], Fold)
    opening = openings(report.document)["Wrong answer or wrong question?"]
    assert opening == (
        "The rewriter fails on 26% of turns (95% CI 17% to 37%; 18 of 70 turns; correct if NDCG@3 ≥ 0.5); the data do not"
        " show whether it or the ranker fails more often (adjusted p = 0.266)."
    )


def test_the_first_screen_answers_the_questions_in_order_with_their_numbers(report: Report) -> None:
    opening = report.document.opening
    assert opening is not None
    assert opening.what == "1 rewriter, 9 further runs, 1 judge · 70 turns in 10 conversations"
    assert [verdict.subject for verdict in opening.verdicts] == ["blame", "drop", "unjudged"]
    assert {verdict.about for verdict in opening.verdicts} <= set(openings(report.document))
    rows = [
        row
        for row in tables(report, "breakdown", "attribution")
        if (row["metric"], row["threshold"]) == CUT
    ]
    shares = {row["cause"]: row for row in rows}
    [rewriter] = [verdict for verdict in opening.verdicts if verdict.tone == "qr"]
    row = shares["qr"]
    assert rewriter.number == f"{100 * row['share']:.0f}%" == "26%" and rewriter.basis.startswith(
        "18 of 70 turns; "
    )
    assert rewriter.between == f"95% CI {rewriter.interval}"
    assert f"<span>{rewriter.between}</span>" in report.files["report.html"].decode()
    assert rewriter.interval == f"{100 * row['ci_low']:.0f}% to {100 * row['ci_high']:.0f}%"
    table, figure = opening.blocks
    assert isinstance(table, TableBlock) and [line[0] for line in table.rows] == [
        "Human",
        "QR",
        "Original",
    ]
    assert "Demo collection, 70 turns in 10 conversations." in table.caption
    assert isinstance(figure, Picture) and figure.column and figure.svg.count("<a ") == 70


def test_the_table_of_the_first_screen_agrees_with_the_results(report: Report) -> None:
    assert report.document.opening is not None
    table = report.document.opening.blocks[0]
    assert isinstance(table, TableBlock)
    human, qr, original = table.rows
    rows = [
        row
        for row in tables(report, "breakdown", "bins")
        if (row["metric"], row["threshold"]) == CUT
    ]
    for line, role in ((human, "human"), (qr, "qr"), (original, "original")):
        answered = sum(row["count"] for row in rows if row[role])
        assert line[1].startswith(f"{100 * answered / 70:.0f}% (")
    [means] = [
        row
        for row in tables(report, "breakdown", "headroom")
        if (row["metric"], row["threshold"]) == CUT
    ]
    assert [line[3].split()[0] for line in table.rows] == [
        f"{means[role]:.3f}" for role in ("human", "qr", "original")
    ]
    assert qr[2].startswith("26% (") and human[2] == "–"
    assert qr[4] == f"{means['qr'] - means['human']:+.3f}".replace("-", "−")


def test_what_is_told_of_a_drop_is_what_is_expected_and_the_proof_follows(report: Report) -> None:
    """A test's p and bounds that leave the order open never stand side by side without what probably is."""
    said = texts(report.document)
    pairs = [row for row in tables(report, "unjudged", "pairs") if row["metric"] == "ndcg_cut_3"]
    assert {row["scope"] for row in tables(report, "unjudged", "bounds")} == {"pool"}
    drops = [row for row in tables(report, "unjudged", "drops") if row["metric"] == "ndcg_cut_3"]
    lost = next(row for row in drops if row["group"] == "qr")
    opening = openings(report.document)["How much do unjudged passages matter?"]
    ends = f"95% CI {lost['expected_low']:.3f} to {lost['expected_high']:.3f}"
    loses = f"QR loses an estimated {lost['expected']:.3f} NDCG@3 to Human if a model grades the unjudged passages"
    measured = (
        f"measured drop {lost['drop']:.3f}, if they count as not relevant; mean over 70 turns"
    )
    assert opening.startswith(
        f"{loses} ({ends}; adjusted p = {lost['expected_p']:.3f}; {measured})".replace("-", "−")
    )
    drop = next(row for row in drops if row["group"] == "manual")
    ends = f"95% CI {drop['expected_low']:.3f} to {drop['expected_high']:.3f}"
    expected = f"in the top 10 graded by the hole model, the expected drop is {drop['expected']:.3f} ({ends})".replace(
        "-", "−"
    )
    part = f"Unjudged passages account for {100 * drop['hole_share']:.0f}% of the measured drop (95% CI "
    tip = next(
        row
        for row in tables(report, "unjudged", "tipping")
        if row["second"] == "manual" and row["metric"] == "ndcg_cut_3"
    )
    unless = f"unless the odds of relevance of unjudged passages are more than {tip['factor_above']:.2g} times"
    sets = {f"manual_{number}" for number in (1, 2, 3)}
    least = (
        sum(row["low"] for row in pairs if row["first"] == "human" and row["second"] in sets) / 3
    )
    [sentence] = [text for text in said if text.startswith("From Human to the sets of manual")]
    bounds = f"of all runs have, the drop lies between {least:.3f} and ".replace("-", "−")
    assert (
        0
        < sentence.index(expected)
        < sentence.index(part)
        < sentence.index(unless)
        < sentence.index(bounds)
    )
    [tested] = [text for text in said if text.startswith("On the 3 test sets of manual,")]
    assert tested.index("max-T over 2 groups") < tested.index(expected)
    apart = sum(row["expected_p"] <= 0.05 for row in pairs)
    open_ = sum(not row["separable"] for row in pairs)
    differ = f"by the hole model, {apart} of 66 pairs of systems differ significantly in NDCG@3"
    [orders] = [text for text in said if differ in text]
    assert (
        f"the order by NDCG@3 on these turns is the same for {66 - open_} of 66 pairs of systems"
        in orders
    )
    [doubt] = [text for text in said if text.startswith("The expected values may be wrong.")]
    assert "that only the sets of manual retrieved, 0 are judged" in doubt


def test_the_findings_on_people_have_the_numbers_of_the_results(report: Report) -> None:
    told = told_of(report.document)
    table = partial(tables, report)
    values = {
        row["system"]: row["value"]
        for row in table("clariq", "document_relevance")
        if row["metric"] == "NDCG3"
    }
    text = told["Do clarifying questions help?"]
    assert f"NDCG3 of the documents is {values['no']:.3f} (95% CI " in text
    assert f"the best question for each facet reaches {values['best']:.3f} (95% CI " in text
    assert (
        f"stem {values['stem']:.3f} (difference {values['stem'] - values['no']:+.3f}, 95% CI "
        in text
    )
    for row in table("clariq", "preference"):
        assert (
            f"{row['wins']} of {row['wins'] + row['losses']} judgments without a tie prefer" in text
        )
    whole = table("snippets-agreement", "jaccard")[0]
    chosen = f"All 3 annotators selected {100 * whole['value']:.1f}% of the characters "
    assert chosen in told["Do annotators select the same snippets?"]
    for row in table("ratings-agreement", "kappa"):
        assert f"{row['criterion']} {row['value']:.2f} (95% CI " in told["Do raters agree?"]
    crowd = told["What do the crowd judgments show?"]
    assert crowd.lstrip().startswith(
        "1 worker contradicted gold checks; their 32 grades for the topics of these checks are excluded."
    )
    for row in table("crowd", "measures"):
        if row["turn_set"] == "all" and row["metric"] == "ndcg_cut_3":
            assert re.search(rf"\b{row['value']:.3f} \(95% CI [^)]*\) for {row['system']}\b", crowd)


def test_every_number_of_a_sentence_is_in_a_table(report: Report) -> None:
    asked = 0
    for _, section in report.sections:
        results = [
            json.loads(text) for name, text in section.files.items() if name.startswith("results/")
        ]
        tables = [rows for result in results for rows in result["tables"].values()]
        sentences = [*(verdict.sentence for verdict in section.verdicts), *section.findings]
        asked += bool(sentences)
        for sentence in sentences:
            assert not unexplained(sentence, tables, results[0]["policy"], results[0]["notes"]), (
                sentence
            )
    assert asked >= 10


def test_verdicts_have_at_most_25_words(report: Report) -> None:
    """The number and the sentence; interval, denominator and caveat are printed on lines of their own."""
    verdicts = [one for _, section in report.sections for one in section.verdicts]
    assert len(verdicts) >= 10
    for one in verdicts:
        text = one.text if one.number in one.text else f"{one.number} {one.text}"
        assert len(text.split()) <= 25, text


def test_human_is_correct_by_one_definition_in_the_whole_report(report: Report) -> None:
    shown = {
        block.slug: block for block in every_block(report.document) if isinstance(block, TableBlock)
    }
    [pearson] = [
        table for slug, table in shown.items() if slug.startswith("correlate-pearson-overlap")
    ]
    assert pearson.note.endswith(" Human ✓: turns on which Human is correct (NDCG@3 ≥ 0.5).")
    rows = json.loads(report.files["results/breakdown.json"])["tables"]["bins"]
    human = sum(
        row["count"]
        for row in rows
        if (row["metric"], row["threshold"], row["human"]) == ("ndcg_cut_3", ">=0.5", 1)
    )
    heads = {column.title for column in pearson.columns}
    assert f"Human ✓ ({human})" in heads and human == 61
    # the findings and the squares say the same, and the list of turns opens with it
    [finding] = [
        text
        for text in texts(report.document)
        if text.startswith("Of 70 turns (correct if NDCG@3 ≥ 0.5), ")
    ]
    assert "the rewriter fails on 18 (" in finding and "QR and Human are correct on 43 (" in finding
    assert report.document.turns["cuts"][0]["label"] == "NDCG@3 ≥ 0.5"
    rows = json.loads(report.files["results/breakdown.json"])["tables"]["turns"]
    assert {row["threshold"] for row in rows if row["metric"] == "P_1"} == {"=1"}


def test_the_head_says_what_its_numbers_go_over(report: Report) -> None:
    lines = [
        text.removeprefix("Evaluated: ").removesuffix(".")
        for text in texts(report.document) if text.startswith("Evaluated: ")
    ]  # fmt: skip
    assert (
        lines[0].startswith("70 turns in 10 conversations · missing turns score 0 (")
        and len(set(lines)) > 1
    )
    assert report.document.policy == f"{lines[0]} · each section ends with its own policy"


def test_texts_in_layers_stand_in_the_page_alone(report: Report, tmp_path: Path) -> None:
    cards = [
        block for block in every_block(report.document) if isinstance(block, Cards) and block.cards
    ]
    # the snippets of annotators; pages list turns
    [layers] = cards
    assert len(layers.cards) == 6 and all(card.layers for card in layers.cards)
    assert layers.cards[0].marked.split(".")[0].encode() in report.files["report.html"]
    printed = pdf_words(report.files["report.pdf"], tmp_path)
    assert "Do annotators select the same snippets?" in printed and layers.caption not in printed


def test_names_of_tables_figures_and_cards_are_unique_and_safe(report: Report) -> None:
    kinds = TableBlock | Figure | Picture | Cards
    slugs = [block.slug for block in every_block(report.document) if isinstance(block, kinds)]
    assert len(slugs) == len(set(slugs))
    assert {
        "breakdown-bins",
        "answers-bins",
        "breakdown-sweep",
        "correlate-scatter",
        "unjudged-bounds",
    } <= set(slugs)
    assert all(re.fullmatch("[a-z0-9-]+", slug) for slug in slugs)


def test_no_sentence_has_an_unfilled_place(report: Report) -> None:
    said = [block.text for block in every_block(report.document) if isinstance(block, Paragraph)]
    said += [
        text
        for block in every_block(report.document)
        if isinstance(block, TableBlock)
        for text in (block.caption, block.note)
    ]
    assert len(said) > 100
    assert not [text for text in said if re.search(r"\{\w*\}", text)]


def test_pairs_of_systems_are_headed_alike(report: Report) -> None:
    pairs = [
        tuple(
            column.title for column in block.columns if column.title.lower() in ("first", "second")
        )
        for block in every_block(report.document)
        if isinstance(block, TableBlock)
    ]
    assert {one for one in pairs if one} == {("First", "Second")}


def test_the_page_links_to_the_turns_behind_its_numbers(report: Report, tmp_path: Path) -> None:
    page = report.files["report.html"].decode()
    opening = report.document.opening
    assert opening is not None
    first = page.partition("</header>")[0]
    for verdict in opening.verdicts:
        address = turns_address(verdict.turns, verdict.sort).replace("&", "&amp;")
        assert f'<a href="{address}">read {verdict.count} turns</a>' in first
    # in the section of its question, too, and further turns below its table
    assert page.count('href="#turns?where=cause%40qr%3Arewriter&amp;sort=loss%40qr"') == 3
    links = re.findall(r"Turns to read:(.*?)</p>", page, re.DOTALL)
    assert len(links) >= 4
    assert re.findall(r"<bdi>([^<]*)</bdi> \((\d+)\)", links[0]) == [
        ("rewriter errors", "18"),
        ("rewriter errors, words dropped", "17"),
        ("ranker errors", "9"),
        ("QR correct, Human not", "3"),
    ]
    assert "read 18 turns" not in pdf_words(report.files["report.pdf"], tmp_path)
    without = render_html(replace(report.document, turns={}))
    assert "#turns?" not in without.partition("<script")[0]


def test_every_turn_agrees_with_the_results(report: Report) -> None:
    turns = report.document.turns
    rows = json.loads(report.files["results/breakdown.json"])["tables"]["turns"]
    places = {turn: place for place, turn in enumerate(turns["ids"])}
    fields = {one["name"]: one["columns"] for one in turns["fields"]}
    cuts = [cut["label"] for cut in turns["cuts"]]
    assert cuts[0] == "NDCG@3 ≥ 0.5" and "F1 ≥ 0.5" in cuts
    causes = dict(fields["cause"][0])["qr"]
    assert len(places) == 70 and turns["left_out"] == []
    for row in rows:
        if (row["metric"], row["threshold"]) == ("ndcg_cut_3", ">=0.5"):
            place = places[row["turn"]]
            [cause] = causes["words"][causes["of"][place]]
            wanted = "correct" if row["bin"].endswith("11") else "rewriter"
            assert cause == (wanted if row["bin"].endswith("1") else "ranker")
            scores = dict(fields["ndcg_cut_3"][0])
            for role in ("original", "qr", "human"):
                assert scores[role][place] == pytest.approx(row[role])
                assert dict(turns["texts"])[role][place] == row[f"{role}_text"]
    assert len(turns["rankings"]) == 12
    assert all(len(top) <= 200 for _, tops in turns["rankings"] for top in tops)


def test_every_input_stands_in_the_provenance_with_its_checksum(report: Report, demo: Path) -> None:
    values = [value for label, value in report.document.provenance if label.startswith("Input")]
    sums = {value.split(" · ")[0]: value.rpartition("SHA-256 ")[2] for value in values}
    for name in (
        "qrels.txt",
        "runs/stem_qr.trec",
        "answers/gold.json",
        "collection.jsonl",
        "new_judgments.txt",
    ):
        assert sums[name] == sha256(demo / name)
    assert ("Date", "2001-09-09") in report.document.provenance


def test_nothing_names_a_place_on_this_machine(report: Report, demo: Path) -> None:
    places = (str(demo).encode(), str(Path.home()).encode() + b"/")
    for name, data in report.files.items():
        assert not any(place in data for place in places), name


@pytest.mark.parametrize("folder", ["w", "/w"])
def test_only_names_of_files_lose_their_folder(folder: str) -> None:
    names = Names(
        Path(folder), [Path(folder) / "a", Path(folder) / "runs" / "b.trec", Path("other") / "c"]
    )
    kept = "km/h, soup w/ rice, w/a+b/w/a, nw/a, new/runs/b.trec, other/c"
    assert names.hide(
        f"{folder}/a: 2 rows; see {folder}/runs/b.trec, {folder}/runs/b.trec:text. {kept}"
    ) == (f"a: 2 rows; see runs/b.trec, runs/b.trec:text. {kept}")
    assert Names(Path(folder)).hide(kept) == Names(Path()).hide(kept) == kept


def test_notes_without_their_folder_still_merge() -> None:
    notes = [Note.of(f"/w/{name}", "2 rows", "skipped") for name in ("a", "b")]
    assert merged(Names(Path("/w")).hide(tuple(notes))) == ("a (2 rows), b (2 rows): skipped",)


def test_every_result_table_and_figure_has_its_files(report: Report) -> None:
    for block in every_block(report.document):
        if isinstance(block, Picture):
            assert block.column, "every figure is drawn for one column of a paper as well"
            assert report.files[f"figures/{block.slug}-column.pdf"].startswith(b"%PDF-")
            assert report.files[f"figures/{block.slug}.pdf"].startswith(b"%PDF-")
            assert report.files[f"figures/{block.slug}.svg"].startswith(b"<svg ")
            assert b"<a " not in report.files[f"figures/{block.slug}.svg"]
        elif isinstance(block, TableBlock):
            assert rb"\begin{table" in report.files[f"tables/{block.slug}.tex"]
    for name in (
        "breakdown",
        "sweep",
        "answers-breakdown",
        "correlate",
        "unjudged",
        "augment",
        "robustness",
        "diversity",
    ):
        for table in json.loads(report.files[f"results/{name}.json"])["tables"]:
            assert f"tables/{name}-{table}.csv" in report.files


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
@pytest.mark.parametrize("kind", ["demo", "hostile"])
def test_all_tables_compile(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> None:
    report: Report = request.getfixturevalue("hostile" if kind == "hostile" else "report")
    tables = [data.decode() for name, data in report.files.items() if name.endswith(".tex")]
    head = "\\documentclass[twocolumn]{article}\\usepackage[T1]{fontenc}\\usepackage{amssymb,booktabs,tabularx}"
    head += "\\usepackage[margin=0.75in,columnsep=0.33in]{geometry}\\begin{document}\n"
    (tmp_path / "all.tex").write_text(
        head + "\\clearpage\n".join(tables) + "\\end{document}\n", encoding="utf-8"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-2000:]
    if kind == "demo":
        # in a paper of two columns no table stands out of its place, and none tells what to type
        assert [
            float(width)
            for width in re.findall(r"Overfull .hbox .([\d.]+)pt", done.stdout)
            if float(width) > 1
        ] == []
        assert not [table for table in tables if " --table" in table]
        assert sum(r"\begin{table}[tb]" in table for table in tables) > len(tables) / 2


def test_what_lacks_is_named_only_where_something_was_given(demo: Path) -> None:
    human = replace(
        read_project(demo / "robustcs.toml").formulations["human"], run=None, answers=None
    )
    project = replace(
        Project(), formulations={"human": human}, paraphrases=demo / "paraphrases.csv"
    )
    assert not [
        note for note in make_report(project).document.notes if note.startswith("Not answered: ")
    ]
    project = replace(
        project,
        clariq=None,
        gold=demo / "answers/gold.json",
        new_judgments=(demo / "new_judgments.txt",),
    )
    notes = [
        note for note in make_report(project).document.notes if note.startswith("Not answered: ")
    ]
    assert notes == [
        "Not answered: And in reading comprehension? (no predicted answers; name them with --answers qr=FILE and human=FILE)",
        "Not answered: What do new judgments change? (no qrels; add qrels = … or --qrels)",
    ]
    references = replace(
        project,
        answers=AnswerFiles(responses={"one": demo / "responses/qr.jsonl"}),
        new_judgments=(),
    )
    assert not [
        note for note in make_report(references).document.notes if "reading comprehension" in note
    ]


def test_without_inputs_there_is_no_report() -> None:
    with pytest.raises(
        UsageError,
        match=r"^no analysis has all its inputs; name your files in robustcs.toml, which",
    ):
        make_report(Project(), tell=pytest.fail)
    with pytest.raises(
        UsageError,
        match=r"^no analysis has all its inputs; What do new judgments change\? \(no qrels",
    ):
        make_report(Project(new_judgments=(Path("new.txt"),)))


# ---------------------------------------------------------------- again, and only what changed


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with per-turn scores, texts, and a project whose name is hostile."""
    lines = ['name = "../../<script>alert(1)</script>"', 'paraphrases = "paraphrases.csv"']
    for role, score in (("original", 0.2), ("qr", 0.5), ("human", 1)):
        (tmp_path / f"{role}.eval").write_text(f"ndcg_cut_3\t1_1\t{score}\nndcg_cut_3\t1_2\t1\n")
        (tmp_path / f"{role}.tsv").write_text(f"1_1\tthe {role} question\n1_2\tanother {role}\n")
        lines.append(f'[formulations.{role}]\nscores = "{role}.eval"')
        lines += [f'rewrites = "{role}.tsv"'] if role != "qr" else []
    (tmp_path / "paraphrases.csv").write_text(
        "TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,a question,it\n1_2,b,c\n"
    )
    (tmp_path / "robustcs.toml").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_the_command_writes_the_same_bytes_every_time(
    small: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "--output", "first/part"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines() == ["wrote first/part/report.html", "wrote first/part/report.pdf"]
    assert "Not answered: " not in err
    written = contents(small / "first/part")
    assert b"2001-09-09" in written["report.html"] and written["report.pdf"].startswith(b"%PDF-")
    assert run(["report", "--output", "second"]) == 0
    assert contents(small / "second") == written
    assert run(["report", "--output", "second"]) == 0
    assert ", 0 of them new or changed" in capfd.readouterr().err
    assert contents(small / "second") == written


def test_a_report_needs_no_pyplot(small: Path) -> None:
    code = "import sys; from robustcs.cli.main import run; print(run(['report']), 'matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 False"


def test_a_report_repairs_what_somebody_did_to_it(
    small: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "--output", "made"]) == 0
    written = contents(small / "made")
    (small / "made" / "report.html").write_text("mine")
    (small / "made" / "report.pdf").unlink()
    capfd.readouterr()
    assert run(["report", "--output", "made"]) == 0
    assert (
        ", 2 of them new or changed" in capfd.readouterr().err
        and contents(small / "made") == written
    )


def test_a_figure_is_drawn_once_for_a_page_and_once_for_a_column(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def counted(drawing: MatplotlibFigure, name: str, alt: str) -> str:
        drawn.append(name)
        return page_svg(drawing, name, alt)

    monkeypatch.setattr(figures, "page_svg", counted)
    files = make_report(read_project(small / "robustcs.toml"), folder=small).files
    kinds = Counter(Path(name).suffix for name in files if name.startswith("figures/"))
    assert kinds[".svg"] == kinds[".pdf"] == len(drawn) > 0


def test_what_an_earlier_report_left_goes_but_not_what_a_user_put_there(small: Path) -> None:
    assert run(["report", "--output", "out"]) == 0
    (small / "out/tables/mine.csv").write_text("x")
    assert (small / "out/tables/diversity-bleu.csv").exists()
    config = small / "robustcs.toml"
    config.write_text(config.read_text().replace('paraphrases = "paraphrases.csv"', ""))
    assert run(["report", "--output", "out"]) == 0
    assert not (small / "out/tables/diversity-bleu.csv").exists()
    assert (small / "out/tables/mine.csv").exists()


# ---------------------------------------------------------------- what users get wrong, and hostile texts


def test_a_hostile_project_name_stays_a_name(small: Path) -> None:
    assert run(["report"]) == 0
    [page] = small.rglob("report.html")
    assert page.relative_to(small).as_posix() == "reports/script-alert-1-script/report.html"
    html = page.read_text()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_broken_file_stops_the_report_and_says_where(
    small: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (small / "qr.eval").write_text("ndcg_cut_3\t1_1\tmuch\n")
    assert run(["report"]) == 3
    assert "qr.eval:1: " in capfd.readouterr().err
    (small / "qr.eval").unlink()
    assert run(["report"]) == 3
    assert "qr.eval" in capfd.readouterr().err
    assert not (small / "reports").exists() or not list((small / "reports").rglob("report.html"))


def test_what_a_report_cannot_be(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--format", "csv"]) == 2
    assert capfd.readouterr().err.endswith("\nError: No such option '--format'.\n")
    assert run(["report", "--output", "qr.eval"]) == 3
    assert capfd.readouterr().err.startswith(
        "robustcs: qr.eval/report.html: not written, a parent folder is a file"
    )


def test_a_folder_that_cannot_be_written_is_told_before_the_work(
    small: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / "out").mkdir()
    (small / "out" / "tables").touch()
    (small / "page" / "report.html").mkdir(parents=True)
    before = sorted(small.rglob("*"))
    opened = os.open

    def closed(path: object, *rest: Any, **more: Any) -> int:
        """As in a folder of somebody else; permissions do not bind root, under which tests may run."""
        if Path(str(path)).parent == small:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", closed)
    for folder, why in {
        "out": "out/tables/report: not written, a parent folder is a file; choose another name",
        "page": "page/report.html: not written, this is a folder; name a file",
        "new/report": "new/report/report.html: not written, no permission to write to its folder; check the permissions",
    }.items():
        assert run(["report", "--output", folder]) == 3
        assert capfd.readouterr().err == f"robustcs: {why}\n"
    assert sorted(small.rglob("*")) == before


def test_hostile_inputs_make_every_output(hostile: Report) -> None:
    made = hostile
    html = made.files["report.html"].decode()
    assert html.count("<script") == 2 and "<img" not in html
    data = re.search(r'<script type="application/gzip" id="data">([A-Za-z0-9+/=]*)</script>', html)
    assert data
    shown = json.loads(gzip.decompress(base64.b64decode(data[1])))["turns"]["anchors"]
    assert shown == list(map(turn_anchor, made.document.turns["ids"])) and shown
    assert made.files["report.pdf"].startswith(b"%PDF-")
    assert all(
        re.fullmatch(r"(?:(?:figures|tables|results)/)?[a-z0-9._-]+", name) for name in made.files
    )


def test_ids_of_turns_in_addresses_are_safe_and_differ() -> None:
    names = [*HOSTILE, "31_4", "31.4", "31-4", "31 4", "a" * 500, "a" * 501, ".2e.", "."]
    anchors = [turn_anchor(name) for name in names]
    assert len(set(anchors)) == len(anchors)
    assert all(
        re.fullmatch(r"turn-[\w.-]*", anchor, re.ASCII) and len(anchor) < 200 for anchor in anchors
    )
    assert turn_anchor("31_4") == "turn-31_4"


def test_the_demo_names_page_and_pdf(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--config", "robustcs.toml", "--output", "shown"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "wrote shown/report.html",
        "wrote shown/report.pdf",
    ]
    assert run(["demo", "--config", "no.toml"]) == 3
    assert capfd.readouterr().err.startswith("no.toml: ")


def test_runs_alone_open_with_the_systems(tmp_path: Path, undrawn: None) -> None:
    lines = ['qrels = "qrels.txt"', 'metrics = ["ndcg_cut_3"]', "[runs]"]
    turns = [f"{topic}_1" for topic in range(1, 8)]
    for name, best in (("good", "d1"), ("bad", "d3"), ("open", "d9")):
        order = [best, *(one for one in ("d1", "d2", "d3") if one != best)]
        rows = [
            f"{turn} Q0 {one} {rank} {9 - rank} {name}\n"
            for turn in turns
            for rank, one in enumerate(order, 1)
        ]
        (tmp_path / f"{name}.trec").write_text("".join(rows))
        lines.append(f'{name} = "{name}.trec"')
    judged = [f"{turn} 0 d{number} {3 - number}\n" for turn in turns for number in (1, 2, 3)]
    (tmp_path / "qrels.txt").write_text("".join(judged))
    (tmp_path / "robustcs.toml").write_text("\n".join(lines))
    document = make_report(read_project(tmp_path / "robustcs.toml"), folder=tmp_path).document
    assert document.opening is not None and document.opening.what == "3 runs · 7 turns"
    assert list(openings(document)) == [
        "Which systems differ significantly?", "How much do unjudged passages matter?",
    ]  # fmt: skip
    assert openings(document)["Which systems differ significantly?"].startswith(
        "good scores 0.330 NDCG@3 higher than bad and open,"
    )
    assert (
        "33% of the top 3 passages" in openings(document)["How much do unjudged passages matter?"]
    )
    table, figure = document.opening.blocks
    assert (
        isinstance(table, TableBlock)
        and [row[0] for row in table.rows][0] == "good"
        and isinstance(figure, Picture)
    )
