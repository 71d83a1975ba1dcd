"""Every format that robustcs reads: its reader, its valid examples, and what a plain parser would read from the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from robustcs.errors import ProblemList
from robustcs.inputs.annotations import read_annotations
from robustcs.inputs.answers import (
    read_answer_labels,
    read_gold_answers,
    read_predicted_answers,
    read_trace,
)
from robustcs.inputs.clariq import (
    is_json,
    read_conversations,
    read_evaluation,
    read_needs,
    read_performance,
    read_preferences,
    read_question_run,
    read_topics,
)
from robustcs.inputs.collection import read_passage_ids, read_passages, read_text_checksums
from robustcs.inputs.columns import Layout, read_columns
from robustcs.inputs.conversations import read_conversations as read_turn_conversations
from robustcs.inputs.ids import Ids
from robustcs.inputs.labels import LabelTexts, read_labels
from robustcs.inputs.mixed_initiative import read_bank, read_mixed_initiative, read_question_bank
from robustcs.inputs.nuggets import read_assignments, read_nuggets
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.ratings import read_gold_checks, read_grades, read_ratings, read_turn_list
from robustcs.inputs.reviews import read_reviews
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_score_file, read_scores, read_slices
from robustcs.inputs.sniff import first_cells, kind_of
from robustcs.inputs.tables import columns_of, read_rows, read_table
from robustcs.inputs.text import read_json, read_text
from robustcs.inputs.texts import read_samples, read_texts
from robustcs.project.reading import read_project
from robustcs.studies.judge.session import GradeScale, read_judgments
from robustcs.studies.judge.sheet import read_sheet
from tests.fuzz import examples as make
from tests.fuzz import oracle

_ONE = np.zeros(1, dtype=np.int32)
_SCALE = GradeScale(
    Qrels("qrels", ("31_1",), _ONE, Ids.of(["judged"]), np.ones(1, dtype=np.int16)), 3
)
_WORKLIST = frozenset(("31_1", f"d{place}") for place in range(5))
_WANTED = frozenset(f"d{place}" for place in range(4))
_BANK = {"Q00001": "", "Q2": "What is it", "Q3": "sourdough?"}
_PAIRS = Layout(
    "file of pairs", ("name", "value"), {"name": "label", "value": "single"}, "", more="value"
)


#: What labels for texts are joined with.
_COLLECTION = Path(__file__).parent / "corpus" / "passages.tsv"


def _texts_of_labels() -> LabelTexts:
    return LabelTexts(
        {"human": {f"{turn}_1": f"What is {turn}?" for turn in range(2)}}, _COLLECTION
    )


@dataclass(frozen=True)
class Format:
    """How one kind of file is read and what valid ones look like.

    ``expected`` reads the bytes the plain slow way and raises ``ValueError`` where they mean nothing; ``found`` says the same
    of the reader's value. ``readers`` are the public functions of the program that this format tries.
    """

    read: Callable[[Path], Any]
    examples: tuple[Callable[[Random], str], ...]
    readers: tuple[Callable[..., Any], ...]
    expected: Callable[[bytes], Any] | None = None
    found: Callable[[Any], Any] = lambda value: value


def _format(
    reader: Callable[..., Any], *examples: Callable[[Random], str], expected: Callable[[bytes], Any] | None = None,
    found: Callable[[Any], Any] = lambda value: value, **options: Any,
) -> Format:  # fmt: skip
    return Format(partial(reader, **options), examples, (reader,), expected, found)


def _rows(path: Path) -> Any:
    problems = ProblemList(path)
    columns, rows = read_rows(path, problems)
    read = columns, list(rows)
    problems.raise_if_any()
    return read


def _table(path: Path) -> Any:
    table = read_table(path)
    if table is None:
        return None
    problems = ProblemList(path)
    read = list(table.rows(problems))
    problems.raise_if_any()
    return read


def _told_apart(path: Path) -> Any:
    return kind_of(path), first_cells(path)


_TABLES = (make.ratings, make.grades, make.gold_checks, make.snippets_csv, make.snippets_jsonl)
_TEXTS = (
    make.texts_tsv,
    make.texts_jsonl,
    make.texts_rewriter,
    make.texts_object,
    make.texts_cast,
    make.texts_canard,
)
_TODAY = (make.texts_llm4cs, make.texts_qrecc, make.texts_samples, make.texts_mtrag)
_TASKS = (make.tasks, make.export)
_ALL = tuple(example for name, example in vars(make).items() if name in make.EXAMPLES)

FORMATS: dict[str, Format] = {
    "run": _format(read_run, make.run, expected=oracle.run, found=oracle.of_run),
    "run-by-rank": _format(
        read_run, make.run, ranks=True, expected=oracle.run_by_rank, found=oracle.of_run
    ),
    "qrels": _format(read_qrels, make.qrels, expected=oracle.qrels, found=oracle.of_qrels),
    "scores": _format(read_scores, make.scores, expected=oracle.scores, found=oracle.of_scores),
    "score-file": Format(
        lambda path: read_score_file(path).frame(),
        (make.scores, make.scores_missing),
        (read_score_file,),
        oracle.scores,
        oracle.of_scores,
    ),  # fmt: skip
    "columns": _format(read_columns, make.needs, layout=_PAIRS),
    "texts": _format(read_texts, *_TEXTS, role="qr", expected=oracle.texts),
    "texts-human": _format(read_texts, *_TEXTS, role="human"),
    "texts-column": _format(read_texts, make.texts_cast, role="original", column="raw_utterance"),
    "texts-today": _format(read_texts, *_TODAY, role="qr"),
    "texts-original-today": _format(
        read_texts, make.texts_ikat, make.dpr, make.texts_qrecc, make.texts_mtrag, role="original"
    ),
    "samples": _format(read_samples, make.texts_samples, role="qr"),
    "run-today": _format(
        read_run,
        make.run_ikat,
        make.dpr,
        make.answers_rag,
        make.run_table,
        make.three_columns,
        ranks=True,
    ),
    "qrels-today": _format(read_qrels, make.qrels_table, make.three_columns),
    "scores-today": _format(read_scores, make.scores_table),
    "table": Format(_table, (make.run_table, make.qrels_table, make.variations), (read_table,)),
    "run-tasks": _format(read_run, *_TASKS, make.reports, make.run_dictionary, ranks=True),
    "texts-tasks": _format(read_texts, *_TASKS, role="original"),
    "gold-tasks": _format(read_gold_answers, *_TASKS),
    "predictions-tasks": _format(read_predicted_answers, *_TASKS, name="m"),
    "predictions-reports": _format(read_predicted_answers, make.reports),
    "collection-tasks": _format(read_passages, *_TASKS, wanted=_WANTED),
    "slices-tasks": _format(read_slices, *_TASKS),
    "trace-tasks": _format(read_trace, *_TASKS),
    "answer-labels": _format(read_answer_labels, *_TASKS, make.answer_labels),
    "reviews": _format(read_reviews, make.reviews),
    "nuggets": _format(read_nuggets, make.nuggets),
    "assignments": _format(read_assignments, make.assignments),
    "gold": _format(
        read_gold_answers,
        make.answers,
        make.answers_jsonl,
        make.answers_squad,
        make.texts_qrecc,
        make.dpr,
    ),
    "predictions": _format(
        read_predicted_answers, make.answers, make.answers_jsonl, make.answers_rag
    ),
    "paraphrases": _format(read_paraphrases, make.paraphrases),
    "collection": _format(read_passages, make.collection, make.passages_beir, wanted=_WANTED),
    "text-checksums": _format(
        read_text_checksums,
        make.collection,
        make.passages_beir,
        wanted=_WANTED,
        expected=oracle.same_texts,
        found=oracle.of_checksums,
    ),  # fmt: skip
    "turn-conversations": _format(
        read_turn_conversations,
        make.turn_conversations,
        expected=oracle.turn_conversations,
        found=dict,
    ),
    "slices": _format(read_slices, make.slices),
    "annotations": _format(read_annotations, make.snippets_jsonl, make.snippets_csv),
    "ratings": _format(read_ratings, make.ratings),
    "ratings-of-turns": _format(read_ratings, make.ratings, turns=True),
    "grades": _format(read_grades, make.grades, make.judgments_regin, make.ratings),
    "gold-checks": _format(read_gold_checks, make.gold_checks),
    "bank": _format(read_bank, make.bank),
    "turn-list": _format(read_turn_list, make.turn_list, make.qrels, make.run),
    "mixed-initiative": _format(read_mixed_initiative, make.mixed_initiative),
    "clariq-topics": _format(read_topics, make.topics),
    "question-bank": _format(read_question_bank, make.question_bank),
    "needs": _format(read_needs, make.needs, expected=oracle.needs),
    "question-run": _format(
        read_question_run,
        make.question_run,
        name="x",
        bank=_BANK,
        ranks=True,
        expected=oracle.question_run,
        found=oracle.of_question_run,
    ),  # fmt: skip
    "evaluation": _format(read_evaluation, make.evaluation),
    "performance": _format(read_performance, make.performance),
    "conversations": _format(read_conversations, make.conversations),
    "preferences": _format(read_preferences, make.preferences),
    "rows": Format(_rows, _TABLES, (read_rows,)),
    "columns-of": _format(columns_of, *_TABLES),
    "json": _format(read_json, make.texts_object, make.answers),
    "text": _format(read_text, make.turn_list),
    "kind": Format(_told_apart, _ALL, (kind_of, first_cells)),
    "clariq-json": _format(is_json, make.performance, make.run),
    "sheet": _format(
        read_sheet, make.sheet, scale=_SCALE, worklist=_WORKLIST, known={("31_1", "d9"): 1}
    ),
    "labels": _format(
        read_labels, make.labels_csv, make.labels_jsonl, make.qrels, texts=_texts_of_labels
    ),
    "passage-ids": _format(read_passage_ids, make.collection, texts=_WANTED),
    "judgments": _format(read_judgments, make.judgments, scale=_SCALE),
    "project": _format(read_project, make.project),
}
