"""Format numbers and terms for people."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.statistics.estimate import STABLE_UNITS, p_text
from robustcs.wording import and_more, counted, many_missing, system_name, verb

if TYPE_CHECKING:
    from robustcs.result import Basis, Evaluated


def percent(share: float) -> str:
    """Return a share with one decimal: ``32.9%``; ``–`` if it is undefined."""
    return "–" if math.isnan(share) else f"{100 * share:.1f}%"


def percent_interval(low: float, high: float) -> str:
    """Return an interval of shares in percent: ``26–40``."""
    return "–" if math.isnan(low) else f"{100 * low:.0f}–{100 * high:.0f}"


def whole_percent(share: float) -> str:
    """Return a share for a sentence: ``33%``."""
    return "undefined" if math.isnan(share) else f"{plain(round(100 * share), 0)}%"


def percent_range(low: float, high: float) -> str:
    """Return an interval of shares for a sentence: ``26% to 40%``; empty if there is none."""
    return "" if math.isnan(low) else f"{whole_percent(low)} to {whole_percent(high)}"


def clustered(unit: str) -> str:
    """Return ``, clustered by conversation``, to follow the name of a test or interval; empty if the unit is the turn."""
    return "" if unit == "turn" else f", clustered by {unit}"


def component(basis: Basis) -> str:
    """Return the name of the QA component: ``reader`` for answers, ``ranker`` for rankings."""
    return "reader" if basis == "answers" else "ranker"


def qa_component(evaluated: Evaluated) -> str:
    """Return the QA component, with its name if that is known: ``the ranker bm25``."""
    return f"the {component(evaluated.basis)} {evaluated.ranker}".rstrip()


def system_in_words(name: str, evaluated: Evaluated, then: str = "") -> str:
    """Return the name of a system, followed by the turns that it answers if they are less than half of all.

    then
        What follows the name if it is a subject: `` scores`` gives ``x, which answers 1 of 70 turns, scores``.
    """
    said = system_name(name)
    if name in evaluated.few:
        said += f", which answers {evaluated.few[name]} of {counted(evaluated.turns, 'turn')}{then and ','}"
    return said + then


def few_answers(names: Iterable[str], evaluated: Evaluated) -> str:
    """Return ``x answers 1 of 70 turns`` if some of these systems answer less than half of the turns, else an empty text."""
    few = [
        f"{system_name(name)} answers {evaluated.few[name]}"
        for name in dict.fromkeys(names)
        if name in evaluated.few
    ]
    return f"{listed(few)} of {counted(evaluated.turns, 'turn')}" if few else ""


def in_brackets(*texts: str) -> str:
    """Return `` (a; b)`` for the texts that are not empty; an empty text if there are none."""
    some = "; ".join(filter(None, texts))
    return some and f" ({some})"


def limits_first(evaluated: Evaluated) -> str:
    """Return sentences on many missing scores and on systems that answer less than half of the turns, to begin a caption."""
    few = [system_in_words(name, evaluated) for name in evaluated.few]
    if missing := many_missing(evaluated.unscored_by):
        missing += f"; {counted(evaluated.turns, 'turn')} {verb(evaluated.turns, 'has', 'have')} all scores"
    said = (missing, f"Unanswered turns count as incorrect for {listed(few)}" if few else "")
    return "".join(f"{one}. " for one in said if one)


def listed(names: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def points(difference: float) -> str:
    """Return a difference of shares in percentage points: ``+12.9``."""
    return signed(100 * difference, 1)


def points_interval(low: float, high: float) -> str:
    """Return the interval of such a difference: ``−3 to +22``."""
    if math.isnan(low):
        return "–"
    return " to ".join(
        signed(100 * limit, 0) if abs(limit) >= 0.005 else "0" for limit in (low, high)
    )


def noted(notes: Iterable[tuple[str, str]]) -> str:
    """Return `` Unstable: fewer than 10 turns (NDCG@3 > 0; NDCG@3 = 1).`` for pairs of (label, note), each note and label once.

    "Unstable" is separated from the rest of its note. At most five labels are listed, and none if the note applies to all.
    """
    every: dict[str, None] = {}
    of: dict[str, dict[str, None]] = {}
    for label, note in notes:
        label = re.sub(r" \((.*)\)$", r", \1", label)
        every[label] = None
        note = re.sub(r"^unstable: only \d+", f"unstable: fewer than {STABLE_UNITS}", note)
        note = re.sub(r"accounts for \d+% of the spread", "accounts for most of the spread", note)
        unstable, _, rest = (
            note.partition("; ") if note.startswith("unstable: ") else ("", "", note)
        )
        for part in filter(None, (unstable, rest)):
            of.setdefault(part, {})[label] = None
    said = []
    for part, labels in of.items():
        which = (
            ""
            if labels.keys() == every.keys()
            else f" ({'; '.join([*labels][:5])}{and_more(len(labels), 5)})"
        )
        # a name such as t5 keeps its letter
        said.append(
            f" {part[0].upper() + part[1:] if part.split()[0].rstrip(':,').isalpha() else part}{which}."
        )
    return "".join(said)


def score(value: float) -> str:
    """Return a score with four decimals, as trec_eval prints it."""
    return "–" if math.isnan(value) else f"{value:.4f}"


def p_value(p: float) -> str:
    """Return ``0.012``, ``0.0004`` or ``< 0.0001``."""
    return p_text(p).removeprefix("p = ").removeprefix("p ")


def p_equals(p: float) -> str:
    """Return ``= 0.012`` or ``< 0.0001``, for use after "p"."""
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def with_interval(row: Mapping[str, Any], value: str, digits: int = 3) -> str:
    """Return ``0.123 (95% CI 0.100 to 0.140)`` for a row with ci_low and ci_high."""
    low, high = plain(row["ci_low"], digits), plain(row["ci_high"], digits)
    return plain(row[value], digits) + (
        "" if math.isnan(row["ci_low"]) else f" (95% CI {low} to {high})"
    )


def plain(value: float, digits: int = 3) -> str:
    """Return a number for a sentence."""
    return "undefined" if math.isnan(value) else number(value, digits)


def number(value: float, digits: int) -> str:
    """Return a number for a table. A sum that should be 0, such as −1e-17, has no sign."""
    return "–" if math.isnan(value) else f"{round(value, 12) + 0.0:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 4) -> str:
    """Return a difference with its sign."""
    return "–" if math.isnan(value) else f"{round(value, 12) + 0.0:+.{digits}f}".replace("-", "−")


def number_interval(low: float, high: float, digits: int = 3) -> str:
    """Return an interval: ``−0.012 to 0.146``."""
    return "–" if math.isnan(low) else f"{number(low, digits)} to {number(high, digits)}"


def signed_interval(low: float, high: float, digits: int = 3) -> str:
    """Return an interval with signs: ``−0.012 to +0.146``."""
    return "–" if math.isnan(low) else f"{signed(low, digits)} to {signed(high, digits)}"


def measure_label(name: str) -> str:
    """Return ``NDCG@3`` for ``ndcg_cut_3``."""
    return parse_measure(name, given=True).label


def threshold_label(text: str) -> str:
    """Return ``≥ 0.5`` for ``>=0.5``."""
    return parse_threshold(text).label


def cut_label(cut: tuple[str, str]) -> str:
    """Return a measure with its threshold: ``NDCG@3 ≥ 0.5``."""
    return f"{measure_label(cut[0])} {threshold_label(cut[1])}"
