"""Verdicts of evaluate: the system with the highest mean, and how many pairs of systems differ significantly."""

from __future__ import annotations

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, number, number_interval
from robustcs.lazy import pd
from robustcs.studies.evaluate.analysis import ALPHA, Evaluation
from robustcs.studies.evaluate.show import means_of
from robustcs.wording import counted, some_of, system_name, verb

#: Number of systems that a verdict names; the table contains all.
_NAMED = 3


def verdicts(result: Evaluation) -> tuple[Verdict, ...]:
    """Return the system with the highest mean, and the number of pairs that differ significantly."""
    metrics = means_of(result)
    if not metrics:
        return ()
    metric = headline_measure(metrics)
    best, *others = rows = result.rows("measures", metric=metric)
    label = measure_label(metric)
    pairs = result.pairs[result.pairs["metric"] == metric]
    mean = number(best.value, 3)
    first = Verdict(
        mean, number_interval(best.ci_low, best.ci_high).strip("–"),
        f"{system_name(best.system)} has {'the highest' if others else 'a'} mean {label}{',' if others else ' of'} {mean}"
        f"{_others(pairs, best.system, [row.system for row in others])}",
        f"{counted(best.turns, 'turn')}, {counted(len(rows), 'system')}", 0.1, "correct",
    )  # fmt: skip
    if not len(pairs):
        return (first,)
    family = result.families[metric]
    over = "" if result.evaluated.own_turns else f"{counted(best.turns, 'turn')}, "
    apart = pairs[pairs["p_corrected"] <= ALPHA]
    size = f"{len(apart)} of {len(pairs)}"
    said = f"{size} {verb(len(pairs), 'pair', 'pairs')} of systems {verb(len(apart), 'differs', 'differ')} significantly in"
    said += f" {label} (adjusted p ≤ {ALPHA:g})"
    if len(apart):
        said += f"; the smallest of these differences is {number(float(apart['difference'].abs().min()), 3)}"
    return first, Verdict(
        size, "", said, f"{over}{family.describe('pair')}",
        0.1 * (1 - len(apart) / len(pairs)), subject="differences",
    )  # fmt: skip


def with_groups(verdicts_: tuple[Verdict, ...], others: tuple[Verdict, ...]) -> list[str]:
    """Return a note on the ``others``, which are the verdicts with groups of turn ids as sampling units; empty without any."""
    if not others:
        return []
    if [one.text for one in verdicts_] == [one.text for one in others]:
        return ["with these groups as units, the headline is the same"] if len(others) > 1 else []
    return [f"with these groups as units: {'; '.join(one.text for one in others)}"]


def _others(pairs: pd.DataFrame, best: str, others: list[str]) -> str:
    """Return which others score significantly lower by the adjusted tests; empty unless all were compared with the best."""
    own = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
    if not others or len(own) < len(others):
        return ""
    lower = own[own["p_corrected"] <= ALPHA]
    near = [name for name in others if name not in {*lower["first"], *lower["second"]}]
    if not near:
        return f"; {verb(len(others), 'the other scores', 'all others score')} significantly lower"
    score = verb(len(near), "does not score", "do not score")
    return f"; {counted(len(near), 'system')} {score} significantly lower ({some_of([*map(system_name, near)], _NAMED)})"
