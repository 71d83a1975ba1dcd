"""How each kind of input is read: one function from a file as a project names it to what it holds.

Readers are imported when they are called, so that options and help come without them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from robustcs.inputs.labels import Texts


@dataclass(frozen=True)
class Given:
    """One file, and what its reader must know beside it.

    name
        The system that it belongs to.
    role, column
        Of a file of texts: the formulation, and the column to read; None lets the role choose.
    by_rank
        Of a run: is the rank column trusted?
    bank
        Of a run of clarifying questions: the file that gives question texts their ids.
    wanted
        Of a collection: the passages to keep.
    texts
        Of a judge's labels: gives what joins those for texts with ids.
    """

    path: str | os.PathLike[str]
    name: str = ""
    role: Literal["original", "qr", "human"] = "human"
    column: str | None = None
    by_rank: bool = False
    bank: Path | None = None
    wanted: Collection[str] = ()
    texts: Callable[[], Texts] | None = None


def _reader(module: str, function: str, *more: str) -> Callable[[Given], Any]:
    """The reader ``robustcs.inputs.MODULE.FUNCTION`` of a path and ``more`` of what is given, imported when it is called."""

    def read(given: Given) -> Any:
        found = getattr(import_module(f"robustcs.inputs.{module}"), function)
        return found(given.path, *(getattr(given, name) for name in more))

    return read


qrels = _reader("qrels", "read_qrels")
labels = _reader("labels", "read_labels", "texts")
run = _reader("runs", "read_run", "name", "by_rank")
scores = _reader("scores", "read_scores")
texts = _reader("texts", "read_texts", "role", "column")
predicted_answers = _reader("answers", "read_predicted_answers", "name")
nuggets = _reader("nuggets", "read_nuggets")
assignments = _reader("nuggets", "read_assignments", "name")
gold_answers = _reader("answers", "read_gold_answers")
paraphrases = _reader("paraphrases", "read_paraphrases")
passages = _reader("collection", "read_passages", "wanted")
clariq_topics = _reader("clariq", "read_topics")
question_bank = _reader("clariq", "read_question_bank")
needs = _reader("clariq", "read_needs")
preferences = _reader("preferences", "read_preferences")
conversations = _reader("clariq_tables", "read_conversations")
snippets = _reader("annotations", "read_annotations")
ratings = _reader("ratings", "read_ratings")
crowd_grades = _reader("ratings", "read_grades")
gold_checks = _reader("ratings", "read_gold_checks")
bank = _reader("ratings", "read_bank")
turn_list = _reader("ratings", "read_turn_list")
slices = _reader("scores", "read_slices")


def question_run(given: Given) -> Any:
    """Ranked questions of a system."""
    from robustcs.inputs.clariq import read_question_bank, read_question_run

    known = read_question_bank(given.bank) if given.bank else None
    return read_question_run(given.path, given.name, known, given.by_rank)


def performance(given: Given) -> Any:
    """Document relevance after every question: a table, or the run that it is computed from."""
    from robustcs.inputs.clariq_tables import is_json, read_performance

    return next(iter(read_performance(given.path).values())) if is_json(given.path) else run(given)


def evaluation(given: Given) -> Any:
    """Document relevance per facet: a table, or the run that it is computed from."""
    from robustcs.inputs.clariq_tables import is_json, read_evaluation

    return next(iter(read_evaluation(given.path).values())) if is_json(given.path) else run(given)


def crowd_run(given: Given) -> Any:
    """A run, TREC lines or mixed-initiative JSON."""
    from robustcs.inputs.mixed_initiative import is_mixed_initiative, read_mixed_initiative

    return read_mixed_initiative(given.path) if is_mixed_initiative(given.path) else run(given)
