"""Which orders of systems judging has settled, as tables and in words."""

from __future__ import annotations

from dataclasses import dataclass

from robustcs.evaluation.hole_order import Needed, Order
from robustcs.lazy import pd
from robustcs.result import count, difference, share, table, text
from robustcs.wording import counted, verb

ORDERS = table(
    "orders", "Which of two compared systems is better: is that settled? No rows where a single system is scored.",
    text("baseline"), text("system"), text("metric", header="Measure"),
    text("state", "proven: the same whatever the grades of the unjudged passages in the top K of all systems; certain: 95 %"
         " of the draws of the hole model agree; open"),
    difference("difference", "baseline − system, unjudged passages not relevant", "now"),
    difference("low", "whatever these grades; null for a measure without bounds"), difference("high"),
    difference("expected", "mean over the draws; null where too few judgments teach the hole model"),
    share("sure", "draws that agree on the order", "sure"),
    count("judgments", "that it probably takes in this order of work: median over the draws", "to judge"),
    count("judgments_low", "80 % of the draws"), count("judgments_high"),
)  # fmt: skip
OUTLOOK = table(
    "outlook", "What judging probably takes until all these orders are settled.",
    count("orders"), count("proven"), count("certain"), count("open"),
    count("judgments", "median over the draws; null where too few judgments teach the hole model", "to judge"),
    count("judgments_low", "80 % of the draws"), count("judgments_high"), count("holes", "that nobody judged so far"),
)  # fmt: skip


_TAKES = ("judgments", "judgments_low", "judgments_high")


@dataclass(frozen=True)
class State:
    """Where judging stands.

    needed
        Of every order, None where too few judgments teach the hole model, or nothing that could be judged is left;
        ``total`` is that of all together.
    """

    names: tuple[str, ...]
    orders: tuple[Order, ...]
    needed: tuple[Needed, ...] | None
    total: Needed | None

    @property
    def settled(self) -> bool:
        """Is there an order in question, and none of them open?"""
        return bool(self.orders) and all(order.state != "open" for order in self.orders)

    def count(self, state: str) -> int:
        """How many orders are ``proven``, ``certain`` or ``open``."""
        return sum(order.state == state for order in self.orders)

    @property
    def told(self) -> str:
        """One sentence for people; empty where nothing is compared."""
        number = len(self.orders)
        if not number:
            return ""
        parts = [f"{self.count(state)} {state}" for state in ("proven", "certain") if self.count(state)]
        settled = f"{counted(number, 'order')} of systems: {', '.join(parts) or 'none settled'}"
        if self.settled:
            return settled
        if self.total is None:
            if any(order.sure == order.sure for order in self.orders):  # there are draws, but nothing to ask
                return f"{settled}; no passage that is left to judge settles {verb(number, 'it', 'the others')}"
            return f"{settled}; too few judgments for the hole model to say what the others take"
        of = verb(number, "it", "the others")
        takes = verb(number, "takes", "take")
        return (
            f"{settled}; {of} probably {takes} {counted(self.total.median, 'judgment')} more"
            f" (80 %: {self.total.low:,} to {self.total.high:,})"
        )

    def order_table(self) -> pd.DataFrame:
        """:data:`ORDERS`."""
        rows = []
        for place, order in enumerate(self.orders):
            needed = self.needed[place] if self.needed else None
            takes = (needed.median, needed.low, needed.high) if needed else (None, None, None)
            rows.append((
                self.names[order.first], self.names[order.second], order.measure.name, order.state, order.difference,
                order.low, order.high, order.expected, order.sure, *takes,
            ))  # fmt: skip
        return ORDERS.frame(rows).astype(dict.fromkeys(_TAKES, "Int64"))

    def table(self, holes: int) -> pd.DataFrame:
        """:data:`OUTLOOK` where ``holes`` are left."""
        total = self.total
        takes = (total.median, total.low, total.high) if total else (None, None, None)
        states = [self.count(state) for state in ("proven", "certain", "open")]
        rows = [(len(self.orders), *states, *takes, holes)] if self.orders else []
        return OUTLOOK.frame(rows).astype(dict.fromkeys(_TAKES, "Int64"))
