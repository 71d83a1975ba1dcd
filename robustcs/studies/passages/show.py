"""Tables of the passages chosen for annotation."""

from __future__ import annotations

from robustcs.documents.document import Block
from robustcs.documents.tables import result_table
from robustcs.studies.passages.analysis import PassageChoice
from robustcs.wording import counted

#: Rows shown on the terminal and in the report; JSON and CSV contain all.
SHOWN = 10
_EXCERPT = 90


def show(result: PassageChoice) -> tuple[Block, ...]:
    """Return the first passages, and the turns with too few."""
    excerpts = [
        whole if len(whole) <= _EXCERPT else f"{whole[: _EXCERPT - 1]}…"
        for whole in result.passages["text"]
    ]
    short = result.turns[result.turns["chosen"] < result.per_turn]
    tables = (
        result_table(
            result, "passages", "Which passages should be annotated?", ["turn", "passage", "grade", "text"],
            "CSV and JSON contain all passages with their full texts.", rows=result.passages.assign(text=excerpts), most=SHOWN
        ),
        result_table(
            result, "turns", f"Which turns have fewer than {counted(result.per_turn, 'passage')}?",
            ["turn", "chosen", "relevant", "without_text"], "Relevant: passages at or above the relevance level.",
            rows=short, most=SHOWN
        ),
    )  # fmt: skip
    return tables if len(short) else tables[:1]
