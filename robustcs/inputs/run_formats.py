"""The kinds of files with retrieved passages other than the lines of TREC, and how a file of one is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs import ikat, mtrag, open_domain, rag
from robustcs.inputs.numbers import finite_number
from robustcs.inputs.run_format import Retrieved, RunFormat, passages_in
from robustcs.inputs.text_format import Record
from robustcs.inputs.three_columns import grades, measure_columns
from robustcs.inputs.trec_lines import LINES


def _is_plain(record: Mapping[str, Any]) -> bool:
    """``{turn: {passage: score}}``; neither scores of measures, of which the outer or the inner names tell, nor grades."""
    turns = dict(islice(record.items(), LINES))
    if not turns or not all(isinstance(scores, dict) for scores in turns.values()):
        return False
    names = [name for scores in turns.values() for name in islice(scores, LINES)]
    values = [finite_number(score) for scores in turns.values() for score in islice(scores.values(), LINES)]
    measured = any(len(measure_columns(some)) == len(some) for some in (list(turns), names))
    return None not in values and not measured and not grades(values)


def _of_turns(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for record in records:
        for turn, scores in record.fields.items():
            yield Retrieved(turn, passages_in(scores), record.line)


PLAIN = RunFormat("a run {turn: {passage: score}}", _is_plain, _of_turns)
#: All kinds; the first that fits a record counts.
FORMATS: tuple[RunFormat, ...] = (mtrag.RUN, ikat.RUN, open_domain.DPR_RUN, open_domain.SCAI_RUN, rag.RUN, PLAIN)


def run_format_of(record: Mapping[str, Any]) -> RunFormat | None:
    """The kind of the file whose first record this is; None where it has no passages that are known."""
    return next((one for one in FORMATS if one.fits(record)), None)
