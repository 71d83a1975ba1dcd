"""Tables of the passages chosen for annotation."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import result_table
from robustcs.studies.passages.analysis import PassageChoice
from robustcs.wording import counted

#: Rows shown on the terminal and in the report; JSON and CSV contain all.
SHOWN = 10
_EXCERPT = 90


def show(result: PassageChoice) -> tuple[Block, ...]:
    """Return the first passages, and the turns with too few."""
    short = (result.turns["chosen"] < result.per_turn).any()
    return (_passages(result), *([_short(result)] if short else []))


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
        result, "turns", f"Which turns have fewer than {counted(result.per_turn, 'passage')}?",
        ["turn", "chosen", "relevant", "without_text"],
        f"{len(shown)} of {counted(len(short), 'turn')}. Relevant: passages at or above the relevance level.", rows=shown,
    )  # fmt: skip
