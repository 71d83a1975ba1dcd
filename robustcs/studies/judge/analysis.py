"""Order the unjudged passages by how much their grades can change a comparison.

**Influence.** Let d be an unjudged passage of turn t, and D_ab the difference between the mean scores of two compared
systems. A grade g of d can change the score of every system on turn t: a system that ranks d gets its gain, and the ideal
ranking or the number of relevant passages changes for all systems. The influence is

    influence(t, d) = max over g in 0..G of  Σ over compared (a, b), measures  |D_ab with grade g − current D_ab|

in units of the measure: the largest change of all reported differences together that this grade can cause. The sum is inside
the maximum because a passage gets a single grade, which changes all comparisons at once. Rank alone would mislead: a passage
at rank 1 of both compared systems cannot change their difference in P_3; one at rank 3 of a single paraphrase set can.

**Order.** Most of the extreme grades are improbable. If the hole model can be fitted to the judgments, passages are ordered by
expected influence: the mean of the sum over the grades g, weighted by their probabilities in the model
(:func:`robustcs.evaluation.hole_influence.expected_influence`). Otherwise they are ordered by influence.

All other unjudged passages count as in the evaluation (not relevant, not in the ideal ranking). So both values are exact for
the next grade, and first-order estimates for many grades together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustcs.evaluation.hole_order import Needed, Order
from robustcs.evaluation.holes import JudgedRun
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.turns import Turns
from robustcs.inputs.ids import Ids
from robustcs.inputs.turns import conversation, turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, count, difference, measure, score, share, table, text
from robustcs.statistics import Codes, Floats, Mask
from robustcs.wording import counted as in_words
from robustcs.wording import verb

#: (turn, document).
Pair = tuple[str, str]

#: Integer columns with missing values.
_WHOLE = dict.fromkeys(("judgments", "judgments_low", "judgments_high"), "Int64")
#: Number of hypothetical turns evaluated at a time; limits memory.
_BLOCK = 2048

ORDERS = table(
    "orders", "Which of two compared systems is better, and is the order settled? No rows if only one system is scored.",
    text("baseline"), text("system"), measure(),
    text("state", "proven: no grades of the unjudged passages in the top K of all systems can change the order; certain: at"
         " least 95% of the draws of the hole model agree on the order; open: neither"),
    difference("difference", "baseline − system; unjudged passages count as not relevant", "now"),
    difference("low", "bounds over all grades of these passages; null for a measure without bounds"), difference("high"),
    difference("expected", "mean over the draws; null if the hole model has too few judgments"),
    share("sure", "draws that agree on the order", "sure"),
    count("judgments", "judgments that will probably settle the order: median over the draws", "to judge"),
    count("judgments_low", "80% range over the draws"), count("judgments_high"),
)  # fmt: skip
OUTLOOK = table(
    "outlook", "Judgments that will probably settle all orders.",
    count("orders"), count("proven"), count("certain"), count("open"),
    count("judgments", "median over the draws; null if the hole model has too few judgments", "to judge"),
    count("judgments_low", "80% range over the draws"), count("judgments_high"), count("holes", "passages still unjudged"),
)  # fmt: skip
COMPARISONS = table(
    "comparisons", "The comparisons that the influence refers to.",
    text("baseline", "empty if only one system is scored"), text("system"), measure(),
)  # fmt: skip
_TABLES = (
    table(
        "worklist",
        "Unjudged passages in the order of judging: by topic, then turn, then expected influence (without a hole model:"
        " influence).",
        text("topic"), text("turn"), text("document"), count("systems", "with the passage in their top K"),
        count("best_rank", "from 1", "best rank"),
        score("influence", "largest change of the compared differences that its grade can cause, summed over comparisons"),
        text("found_by", "names of these systems"), count("grade", "given so far; null if none"),
        score("expected_influence", "mean change over the grades that the hole model predicts; null without a model",
              "expected")
    ),
    table(
        "topics", "Topics in the order of judging: by total expected influence, or by influence without a hole model.",
        text("topic"), count("turns"), count("holes", "passages to judge", "passages"), count("judged", "grades given so far"),
        score("influence", "sum over its passages"), score("expected_influence", "sum over its passages", "expected")
    ),
    COMPARISONS,
    ORDERS,
    OUTLOOK,
)  # fmt: skip


@dataclass(frozen=True)
class Worklist(Result):
    """The unjudged passages in the order of judging; the module defines their influence.

    ``warnings``: the warnings about the hole model behind this order; the notes contain them.
    """

    study = "judge"
    declared = _TABLES

    worklist: pd.DataFrame
    topics: pd.DataFrame
    comparisons: pd.DataFrame
    orders: pd.DataFrame
    outlook: pd.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """(turn, document) of each unjudged passage, in the order of judging."""
        return list(zip(self.worklist["turn"], self.worklist["document"], strict=True))


def reach(measures: Sequence[Measure], top: int) -> int | None:
    """Return the deepest rank that matters: the largest cutoff or ``top``; None (the whole run) without a cutoff."""
    cutoffs = [measure.cutoff for measure in measures]
    return None if None in cutoffs else max(top, *(cutoff or 0 for cutoff in cutoffs))


def judging_worklist(
    systems: Mapping[str, JudgedRun],
    comparisons: Sequence[tuple[str, str]],
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    top: int,
    max_grade: int,
    turns: Turns,
    notes: Sequence[str] = (),
    expected: Mapping[Pair, float] | None = None,
    warnings: Sequence[str] = (),
) -> Worklist:
    """Order the unjudged passages in the top ``top`` of all systems by their influence on the comparisons.

    comparisons
        Pairs of system names (baseline, system). If empty, influence refers to the scores.
    max_grade
        Grades range from 0 to this one.
    turns
        Only passages of the turns that count are included.
    expected
        The expected influence of each passage. If given, it determines the order.
    warnings
        Warnings about the hole model behind ``expected``.
    """
    matrices = [system.top for system in systems.values()]
    counted = turns.counted
    found = _pairs(list(systems.values()), counted, top)
    names = list(systems)
    compared = [(names.index(a), names.index(b)) for a, b in comparisons]
    influence = _influence(matrices, found[1], found[3], compared, measures, policy, max_grade) / int(counted.sum())
    told = [*(note for matrix in matrices for note in matrix.notes), *notes, *turns.notes, *warnings]
    return Worklist(
        Evaluated(policy, "runs", int(counted.sum()), int(turns.lacking.sum()), tuple(dict.fromkeys(told))),
        *_tables(systems, found, top, influence, expected),
        COMPARISONS.frame([(*pair, one.name) for pair in comparisons or [("", name) for name in names] for one in measures]),
        ORDERS.frame([]),
        OUTLOOK.frame([]),
        tuple(warnings),
    )


def _pairs(systems: Sequence[JudgedRun], counted: Mask, top: int) -> tuple[list[str], Codes, Codes, Codes]:
    """Return the documents, and for each unjudged passage in the top ``top`` of any system: the row of its turn, the code of
    its document, and its rank in each system (-1: not in its ranking)."""
    distinct, encoded = Ids.joined([system.unjudged for system in systems]).encoded()
    documents = distinct.texts()
    ends = np.cumsum([len(system.unjudged) for system in systems])[:-1]
    width = max(len(documents), 1)
    places = [np.nonzero(system.top.grades == UNJUDGED) for system in systems]
    codes = np.split(encoded, ends)
    keys = [rows * width + own for (rows, _), own in zip(places, codes, strict=True)]
    in_top = [key[(ranks < top) & counted[rows]] for (rows, ranks), key in zip(places, keys, strict=True)]
    pairs = np.unique(np.concatenate(in_top))
    found = np.full((len(pairs), len(systems)), -1, dtype=np.int64)
    for column, ((_, ranks), key) in enumerate(zip(places, keys, strict=True)):
        place = np.searchsorted(pairs, key)
        hit = place < len(pairs)
        hit[hit] = pairs[place[hit]] == key[hit]
        found[place[hit], column] = ranks[hit]
    return documents, pairs // width, pairs % width, found


def _influence(
    matrices: Sequence[GradeMatrix],
    rows: Codes,
    ranks: Codes,
    compared: Sequence[tuple[int, int]],
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    max_grade: int,
) -> Floats:
    """Return float64[H], the influence on the score of the turn (not yet divided by the number of turns)."""

    def scores(matrix: GradeMatrix) -> Floats:
        return np.stack(list(score_columns(matrix, measures, policy).values()), axis=1)

    def changes(column: int, block: slice, grade: int) -> Floats:
        """Return float64[H, measures], the change of the turn's scores if the passage had grade ``grade``."""
        matrix, own, places = matrices[column], rows[block], ranks[block, column]
        grades = matrix.grades[own]
        ranked = np.flatnonzero(places >= 0)
        grades[ranked, places[ranked]] = grade
        judged = np.hstack([matrix.judged[own], np.full((len(own), 1), grade, dtype=np.int16)])
        supposed = replace(
            matrix, turns=tuple(map(str, range(len(own)))), grades=grades, judged=np.sort(judged, axis=1)[:, ::-1],
            retrieved=matrix.retrieved[own], missing=matrix.missing[own],
        )  # fmt: skip
        return scores(supposed) - base[column][own]

    base = [scores(matrix) for matrix in matrices]
    influence = np.zeros(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        for grade in range(max_grade + 1):
            changed = [changes(column, block, grade) for column in range(len(matrices))]
            differences = [changed[a] - changed[b] for a, b in compared] or changed
            influence[block] = np.maximum(influence[block], sum(np.abs(one).sum(axis=1) for one in differences))
    # rounding errors of sums that cancel are no influence
    influence[influence < 1e-12] = 0
    return influence


def _tables(
    systems: Mapping[str, JudgedRun],
    holes: tuple[list[str], Codes, Codes, Codes],
    top: int,
    influence: Floats,
    expected: Mapping[Pair, float] | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables ``worklist`` and ``topics`` of the passages that :func:`_pairs` found."""
    (documents, rows, codes, ranks), names = holes, list(systems)
    turns = next(iter(systems.values())).top.turns
    found = (ranks >= 0) & (ranks < top)
    frame = pd.DataFrame({
        "topic": [conversation(turns[row]) for row in rows], "turn": [turns[row] for row in rows],
        "document": [documents[code] for code in codes], "systems": found.sum(axis=1),
        "best_rank": np.where(found, ranks, top).min(axis=1) + 1, "influence": influence,
        "found_by": [", ".join(name for name, has in zip(names, row, strict=True) if has) for row in found],
        "grade": pd.array([None] * len(rows), dtype="Int64"),
    })  # fmt: skip
    pairs = zip(frame["turn"], frame["document"], strict=True)
    frame["expected_influence"] = np.nan if expected is None else np.array([expected[pair] for pair in pairs])
    first = "influence" if expected is None else "expected_influence"
    topics = frame.groupby("topic", as_index=False).agg(
        turns=("turn", "nunique"),
        holes=("turn", "size"),
        judged=("grade", "count"),
        influence=("influence", "sum"),
        expected_influence=("expected_influence", lambda values: values.sum(skipna=False)),
    )
    order = sorted(topics.index, key=lambda row: (-topics[first][row], turn_sort_key(topics["topic"][row])))
    topics = topics.loc[order].reset_index(drop=True)
    place = {topic: number for number, topic in enumerate(topics["topic"])}
    keys = zip(frame["topic"].map(place), rows, -frame[first], frame["document"], strict=True)
    order = [row for _, row in sorted((key, row) for row, key in enumerate(keys))]
    return frame.loc[order].reset_index(drop=True), topics


def with_grades(worklist: Worklist, grades: Mapping[Pair, int]) -> Worklist:
    """Return the worklist with the grades given so far."""
    frame = worklist.worklist.assign(grade=pd.array([grades.get(pair) for pair in worklist.pairs], dtype="Int64"))
    judged = frame.groupby("topic")["grade"].count()
    return replace(worklist, worklist=frame, topics=worklist.topics.assign(judged=worklist.topics["topic"].map(judged)))


@dataclass(frozen=True)
class State:
    """The state of all orders.

    needed
        The judgments that each order needs; None if the hole model has too few judgments, or no passage is left to judge.
    total
        The judgments that all orders together need.
    """

    names: tuple[str, ...]
    orders: tuple[Order, ...]
    needed: tuple[Needed, ...] | None
    total: Needed | None

    @property
    def settled(self) -> bool:
        """Whether there are orders, and none of them is open."""
        return bool(self.orders) and all(order.state != "open" for order in self.orders)

    def count(self, state: str) -> int:
        """Return the number of orders that are ``proven``, ``certain`` or ``open``."""
        return sum(order.state == state for order in self.orders)

    @property
    def told(self) -> str:
        """A summary in one sentence; empty if no systems are compared."""
        number = len(self.orders)
        if not number:
            return ""
        parts = [f"{self.count(state)} {state}" for state in ("proven", "certain") if self.count(state)]
        settled = f"{in_words(number, 'order')} of systems: {', '.join(parts) or 'none settled'}"
        if self.settled:
            return settled
        open_ = self.count("open")
        if self.total is None:
            if any(order.sure == order.sure for order in self.orders):  # there are draws, but nothing to ask
                return f"{settled}; no passage is left that could settle the open {verb(open_, 'order', 'orders')}"
            return f"{settled}; too few judgments to estimate how many more are needed"
        needs = f"the open {verb(open_, 'order', 'orders')} probably {verb(open_, 'needs', 'need')}"
        return (
            f"{settled}; {needs} {in_words(self.total.median, 'more judgment')}"
            f" (80% range: {self.total.low:,} to {self.total.high:,})"
        )

    def order_table(self) -> pd.DataFrame:
        """Return the table :data:`ORDERS`."""
        rows = [
            (self.names[one.first], self.names[one.second], one.measure.name, one.state, one.difference, one.low, one.high,
             one.expected, one.sure, *_takes(needed))
            for one, needed in zip(self.orders, self.needed or [None] * len(self.orders), strict=True)
        ]  # fmt: skip
        return ORDERS.frame(rows).astype(_WHOLE)

    def table(self, left: int) -> pd.DataFrame:
        """Return the table :data:`OUTLOOK`, with ``left`` passages still to judge."""
        states = [self.count(state) for state in ("proven", "certain", "open")]
        rows = [(len(self.orders), *states, *_takes(self.total), left)] if self.orders else []
        return OUTLOOK.frame(rows).astype(_WHOLE)


def _takes(needed: Needed | None) -> tuple[int | None, ...]:
    return (needed.median, needed.low, needed.high) if needed else (None, None, None)
