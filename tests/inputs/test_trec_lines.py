"""The beginnings of TREC files: patterns agree with the functions that examine cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robustcs.inputs.text import lines_in
from robustcs.inputs.trec_lines import LINES, QRELS_LINES, RUN_LINES, are_ptkb, are_qrels, are_run

CELLS = st.sampled_from(["1_1", "9-1_3", "7", "-1", "0", "1", "d1", "Q0", "3.5", "1e3", "#", "é", "tag"])
ROWS = st.lists(CELLS, min_size=3, max_size=7).map(" ".join)


@given(st.lists(ROWS, min_size=1, max_size=3), st.sampled_from([" ", "\t", "  "]))
def test_a_pattern_matches_only_lines_of_its_kind(rows: list[str], space: str) -> None:
    beginning = "\n".join([*(rows * LINES)[:LINES], ""]).replace(" ", space)
    cells = [line.split() for line in lines_in(beginning.encode())]
    if RUN_LINES.match(beginning.encode()):
        assert are_run(cells[:LINES])
    if QRELS_LINES.match(beginning.encode()):
        assert are_qrels(cells[:LINES])
        assert not are_ptkb(cells)


def test_patterns_match_real_beginnings() -> None:
    qrels = "31_1 0 MARCO_955948 2\n" * LINES
    assert QRELS_LINES.match(qrels.encode())
    assert not QRELS_LINES.match(b"9-1_3 0 7 1\n" * LINES)  # statements of a persona, or ids that are numbers
    assert not QRELS_LINES.match(qrels.encode()[:-1])
    assert RUN_LINES.match(b"31_1 Q0 MARCO_955948 1 13.5 bm25\n" * LINES)
