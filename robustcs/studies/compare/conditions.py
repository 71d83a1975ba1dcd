"""What a change must not do: ``--fail-if 'ndcg_cut_3:qr drop>0.02'`` and ``--no-worse-than 0.01``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from robustcs.errors import UsageError
from robustcs.evaluation.measure import parse_measure

#: Adjusted p-values up to this are significant.
ALPHA = 0.05

What = Literal["drop", "p", "qa", "qr", "no worse"]

_CONDITION = re.compile(
    r"(?:(?P<metric>[^\s:]+)?(?::(?P<run>\S+))?\s+)?(?P<what>drop|p|qa|qr)\s*(?P<operator>[<>])\s*(?P<value>[0-9]*\.?[0-9]+)"
)


@dataclass(frozen=True)
class Condition:
    """One condition of a gate.

    text
        As the user wrote it.
    what
        ``drop``: fails where the mean score falls by more than ``value``. ``p``: where it falls, with an adjusted p below
        ``value``. ``qa``, ``qr``: where the share of turns with a QA error, or a rewriter error, grows by more than ``value``.
        ``no worse``: passes only where a fall of the mean by more than ``value`` is excluded.
    metric, run
        Only this measure, or this run; None for all.
    """

    text: str
    what: What
    value: float
    metric: str | None = None
    run: str | None = None

    @property
    def limit(self) -> float:
        """The largest drop, or growth of a share, that the condition allows."""
        return 0.0 if self.what == "p" else self.value

    def rejects(self, p: float) -> bool:
        """Return whether an adjusted p of "at most the limit" fails the condition."""
        return p < self.value if self.what == "p" else p <= ALPHA

    def addresses(self, run: str, metric: str) -> bool:
        """Return whether the condition is about this run and measure."""
        return self.run in (None, run) and self.metric in (None, metric)


def parse_condition(text: str) -> Condition:
    """Read ``drop>0.02``, ``p<0.05`` or ``qr>0.05``, with ``MEASURE``, ``:RUN`` or ``MEASURE:RUN`` and a space before it.

    Raises :class:`UsageError` for anything else.
    """
    match = _CONDITION.fullmatch(text.strip())
    what = match["what"] if match else ""
    if not match or (match["operator"] == "<") != (what == "p"):
        raise UsageError(
            "bad-condition",
            f"--fail-if {text!r} cannot be read",
            "write 'drop>0.02', 'p<0.05', 'qr>0.05', or 'ndcg_cut_3:RUN drop>0.02'",
        )
    value = float(match["value"])
    if what == "p" and not 0 < value < 1:
        raise UsageError("bad-condition", f"--fail-if {text!r}: {match['value']}", "write a p between 0 and 1")
    if value >= 1:
        found = f"--fail-if {text!r}: scores and shares lie between 0 and 1, so that this never fails"
        raise UsageError("bad-condition", found, "write two points as 0.02")
    metric = parse_measure(match["metric"]).name if match["metric"] else None
    return Condition(text.strip(), what, value, metric, match["run"])  # type: ignore[arg-type]


def no_worse(margin: float) -> Condition:
    """Return the condition of ``--no-worse-than``. Raises :class:`UsageError` for a margin that is no drop."""
    if not 0 <= margin < 1:
        raise UsageError("bad-condition", f"--no-worse-than {margin}", "write a drop below 1, such as 0.01")
    return Condition(f"no worse than {margin:g}", "no worse", margin)
