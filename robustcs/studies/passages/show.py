"""Tables of the passages chosen for annotation."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import Shown, result_table
from robustcs.result import count, text
from robustcs.studies.passages.analysis import PassageChoice

#: Rows shown on the terminal and in the report; JSON and CSV contain all.
SHOWN = 10
_EXCERPT = 90


def show(result: PassageChoice) -> tuple[Block, ...]:
    """Return the grades of the chosen passages, the first passages, and the turns with too few."""
    short = (result.turns["chosen"] < result.per_turn).any()
    return (_grades(result), _passages(result), *([_short(result)] if short else []))


def _grades(result: PassageChoice) -> Table:
    """Count the chosen passages by grade, in a table that only the terminal and report show."""
    counts = result.passages[["grade", "chosen"]].value_counts()
    columns: list[Shown] = [
        (text("Grade"), str),
        (count("all of the grade", group="chosen as"), lambda grade: str(counts.get((grade, "grade"), 0))),
        (count("one of a cluster", group="chosen as"), lambda grade: str(counts.get((grade, "cluster"), 0))),
    ]  # fmt: skip
    note = f"{len(result.passages):,} passages of {int((result.turns['chosen'] > 0).sum())} turns."
    grades = sorted(set(result.passages["grade"]), reverse=True)
    return result_table(result, "", "Which grades do the chosen passages have?", columns, note, rows=grades, slug="grades")


def _passages(result: PassageChoice) -> Table:
    chosen = result.passages.head(SHOWN)
    excerpts = [whole if len(whole) <= _EXCERPT else f"{whole[: _EXCERPT - 1]}…" for whole in chosen["text"]]
    return result_table(
        result, "passages", "Which passages should be annotated?", ["turn", "passage", "grade", "text"],
        f"{len(chosen)} of {len(result.passages):,}. CSV and JSON contain all passages with their full texts.",
        rows=chosen.assign(text=excerpts),
    )  # fmt: skip


def _short(result: PassageChoice) -> Table:
    short = result.turns[result.turns["chosen"] < result.per_turn]
    shown = short.head(SHOWN)
    return result_table(
        result, "turns", f"Which turns have fewer than {result.per_turn} passages?",
        ["turn", "chosen", "relevant", "without_text"],
        f"{len(shown)} of {len(short)} turns. Relevant: passages at or above the relevance level.", rows=shown,
    )  # fmt: skip
