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
(:func:`robustcs.evaluation.hole_order.influences`). Otherwise they are ordered by influence.

All other unjudged passages count as in the evaluation (not relevant, not in the ideal ranking). So both values are exact for
the next grade, and first-order estimates for many grades together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustcs.conversations import Conversations
from robustcs.evaluation.hole_order import Contest, JudgmentsNeeded, Order
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.result import Result, count, difference, measure, score, share, table, text
from robustcs.statistics import Floats
from robustcs.wording import counted as in_words
from robustcs.wording import verb

#: (turn, document).
Pair = tuple[str, str]


@dataclass(frozen=True)
class Worklist(Result):
    """The unjudged passages in the order of judging; the module defines their influence.

    ``warnings``: the warnings about the hole model behind this order; the notes contain them.
    """

    study = "judge"
    worklist = table(
        "worklist",
        "Unjudged passages in the order of judging: by topic, then turn, then expected influence (or influence, without a"
        " model).",
        text("topic"), text("turn"), text("document"), count("systems", "with the passage in their top K"),
        count("best_rank", "from 1", "best rank"),
        score("influence", "largest change of the compared differences that its grade can cause, summed over comparisons"),
        text("found_by", "names of these systems"), count("grade", "given so far; null if none"),
        score("expected_influence", "mean change over the grades that the hole model predicts; null without a model",
              "expected"),
    )  # fmt: skip
    orders = table(
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
    outlook = table(
        "outlook", "Judgments that will probably settle all orders. No rows if only one system is scored.",
        count("judgments", "median over the draws; null if the hole model has too few judgments", "to judge"),
        count("judgments_low", "80% range over the draws"), count("judgments_high"), count("holes", "passages still unjudged"),
    )  # fmt: skip

    warnings: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """(turn, document) of each unjudged passage, in the order of judging."""
        return pairs_of(self.worklist)


def pairs_of(frame: pd.DataFrame) -> list[Pair]:
    """Return (turn, document) of each row."""
    return list(zip(frame["turn"], frame["document"], strict=True))


def judging_worklist(
    contest: Contest,
    holes: Mapping[Pair, int],
    influence: Floats,
    expected: Floats | None,
    judged: Mapping[Pair, int],
    conversations: Conversations | None = None,
) -> pd.DataFrame:
    """Return the table ``worklist``: one topic at a time, by total influence.

    holes
        Unjudged (turn, document) → its number in the pool. ``influence`` and ``expected`` (float64[H]) are in this order; the
        order of judging depends on ``expected`` if it is given.
    judged
        Grades given so far.
    """
    known = conversations or Conversations.from_ids(turn for turn, _ in holes)
    numbers = np.array(list(holes.values()), dtype=np.int64)
    ranks = contest.pool.best_ranks()[:, numbers]
    found = (ranks <= contest.top).T
    frame = pd.DataFrame({
        "topic": [known.of(turn) for turn, _ in holes], "turn": [turn for turn, _ in holes],
        "document": [document for _, document in holes], "systems": found.sum(axis=1), "best_rank": ranks.min(axis=0),
        "influence": influence,
        "found_by": [", ".join(name for name, has in zip(contest.pool.names, row, strict=True) if has) for row in found],
        "grade": pd.array([judged.get(pair) for pair in holes], dtype="Int64"),
        "expected_influence": np.nan if expected is None else expected,
    })  # fmt: skip
    first = frame["influence" if expected is None else "expected_influence"]
    of_topic = first.groupby(frame["topic"]).transform("sum")
    keys = zip(
        -of_topic,
        frame["topic"].map(turn_sort_key),
        contest.pool.pair_turns[numbers],
        -first,
        frame["document"],
        strict=True,
    )
    order = [row for *_, row in sorted((*key, row) for row, key in enumerate(keys))]
    return frame.loc[order].reset_index(drop=True)


@dataclass(frozen=True)
class JudgingState:
    """The state of all orders.

    needed
        The judgments that each order needs; None if the hole model has too few judgments, or no passage is left to judge.
    total
        The judgments that all orders together need.
    """

    names: tuple[str, ...]
    orders: tuple[Order, ...]
    needed: tuple[JudgmentsNeeded, ...] | None
    total: JudgmentsNeeded | None

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
        parts = [
            f"{self.count(state)} {state}" for state in ("proven", "certain") if self.count(state)
        ]
        settled = f"{in_words(number, 'order')} of systems: {', '.join(parts) or 'none settled'}"
        if self.settled:
            return settled
        orders = f"the open {verb(self.count('open'), 'order', 'orders')}"
        if self.total is not None:
            ends = f"(80% range: {self.total.low:,} to {self.total.high:,})"
            needs = verb(self.count("open"), "needs", "need")
            return f"{settled}; {orders} probably {needs} {in_words(self.total.median, 'more judgment')} {ends}"
        if any(order.sure == order.sure for order in self.orders):
            # there are draws, but nothing to judge
            return f"{settled}; no passage is left that could settle {orders}"
        return f"{settled}; too few judgments to estimate how many more are needed"

    def tables(self, left: int) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of the tables ``orders`` and ``outlook``, with ``left`` passages still to judge."""
        rows = [
            (self.names[one.first], self.names[one.second], one.measure.name, one.state, one.difference, one.low, one.high,
             one.expected, one.sure, *_takes(needed))
            for one, needed in zip(self.orders, self.needed or [None] * len(self.orders), strict=True)
        ]  # fmt: skip
        return {"orders": rows, "outlook": [(*_takes(self.total), left)] if rows else []}


def _takes(needed: JudgmentsNeeded | None) -> tuple[int | None, ...]:
    return (needed.median, needed.low, needed.high) if needed else (None, None, None)
