"""Outcomes of answers: what systems did with answerable and unanswerable turns, which component lost a turn, and support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from robustcs.evaluation.outcomes import ANSWERABLE, CAUSES, LOST, OUTCOMES, Traced
from robustcs.inputs.answers import KINDS, RESPONSES, Kind
from robustcs.lazy import pd
from robustcs.result import (
    Result,
    count,
    difference,
    flag,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.statistics import Mask
from robustcs.statistics.estimate import LEAST_UNITS, Estimate, units_note
from robustcs.statistics.families import holm
from robustcs.statistics.means import cluster_ratio, mean_estimates, share_estimates
from robustcs.statistics.prediction_powered import Corrected, corrected, judged_sums
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units, units_of

_WILSON = "95% CI: Wilson, clustered by sampling unit"
_SYSTEM = text("system", header="System")
_GIVEN = flag(
    "gold_given",
    "whether the answer's passages include a gold passage; null if unknown or without gold",
    "gold given",
)
_OUTCOME = "correct, answered, wrong, hedged, made_up, refused, abstained, asked_back or no_answer (docs/answers.md)"
_CAUSE = text(
    "cause",
    "none (not lost), generator, retrieval, or wording, ranker, either, both; unknown without passages or gold passages",
)
_THESE = "95% CI for human labels of all these turns"


@dataclass(frozen=True)
class Outcomes(Result):
    """The outcomes of answers, and what determined them."""

    study = "answers"
    outcomes = table(
        "outcomes", "Outcomes of every system's turns; the shares of a system add up to 1.",
        _SYSTEM, text("kind", "answerable, partial, unanswerable, underspecified, other or unknown", "Turns"),
        text("outcome", _OUTCOME, "Outcome"), _GIVEN, count("count"),
        *share("share", "count / all turns of the system").between(says=_WILSON),
        *share("of_kind", "count / turns of the kind").between("of_kind_low", "of_kind_high", _WILSON),
        count("turns", "turns of the kind"), text("note"),
    )  # fmt: skip
    turns = table(
        "turns", "Every turn of every system, from question to outcome.",
        _SYSTEM, text("turn", header="Turn"), text("kind"), text("response", ", ".join(RESPONSES)), text("outcome"), _GIVEN,
        text("cause", "component that lost an answerable turn, or none; empty for other turns"),
        count("gold", "number of gold passages"),
        count("given", "number of those among the answer's passages; null if unknown"),
        count("sentences", "sentences compared with the passages; null without passage texts"),
        count("unsupported", "of these, sentences that no passage supports"),
    )  # fmt: skip
    causes = table(
        "causes", "Answerable turns by the component that lost them: retrieval first, then the generator.",
        _SYSTEM, _CAUSE, count("count"), count("turns", "answerable and partial turns"),
        *share("share", "count / turns").between(says=_WILSON), text("note"),
    )  # fmt: skip
    causes_reversed = table(
        "causes_reversed", "The same in the opposite order: the generator first, judged on turns where every system got gold.",
        _SYSTEM, _CAUSE, count("count", "lost turns; null for what is left to retrieval, which is a difference of shares"),
        count("turns", "for the generator, turns where every system got gold; else all answerable turns on which this is"
              " known"),
        *share("share", "generator: count / turns; retrieval: lost share of these turns minus that of the generator").between(
            says="95% CI, clustered by sampling unit"), text("note"),
    )  # fmt: skip
    transitions = table(
        "transitions", "Outcomes of the same turns under two systems.",
        text("first", header="First"), text("second", header="Second"), text("first_outcome", _OUTCOME),
        text("second_outcome", _OUTCOME), count("count"), *share("share", "count / all turns").between(says=_WILSON),
    )  # fmt: skip
    support = table(
        "support", "Sentences of answers that the answer's passages do not support.",
        _SYSTEM, count("sentences", "sentences with content, without refusals and questions"),
        *share("unsupported", "share without support").between(says=_WILSON), count("turns", "turns with such sentences"),
        text("by", "what decided: words, citations or program"), text("note"),
    )  # fmt: skip
    detector = table(
        "detector", "Responses that the detector finds, by label.",
        _SYSTEM, text("label", "response by label", "Label"), text("detected", "response by the detector", "Detected"),
        count("count"),
    )  # fmt: skip
    estimates = table(
        "estimates", "Shares of outcomes if people had labelled all turns, from labels of some of them.",
        _SYSTEM, text("outcome"), text("judge", "what determined the outcomes of all turns"),
        *share("human_only", "share of the turns with human labels", "human only").between(
            "human_ci_low", "human_ci_high", _THESE),
        share("judge_only", "share of all turns by the judge; not an estimate for human labels", "judge only"),
        *share("corrected", "share by the judge, corrected by human labels").between(says=_THESE),
        number("weight", "weight of the judge: 0 is human only"), count("judged_units", "units with human labels"),
        number("worth", "number of human-labelled units that would be as precise without the judge").rounded(1),
        count("units"), text("note"),
    )  # fmt: skip
    estimate_pairs = table(
        "estimate_pairs", "Differences between these shares, corrected likewise.",
        text("first", header="First"), text("second", header="Second"), text("outcome"),
        *difference("corrected").rounded(3).between(says="95% CI for these turns, of this comparison"),
        p_value(says="two-sided, from the same t statistic as the interval"),
        p_value("p_corrected", "p adjusted by Holm over all pairs and outcomes", "p adj."),
    )  # fmt: skip
    measures_by_kind = table(
        "measures_by_kind", "Means of the scores in the files of answers, by kind of turn.",
        _SYSTEM, text("kind", "all, or a kind of turn", "Turns"), text("metric"),
        *score("value", header="mean").rounded(3).between(says="95% CI, clustered by sampling unit"),
        count("turns", "turns with a score"), text("note"),
    )  # fmt: skip


class Journey(NamedTuple):
    """Answers of systems to T turns with their kinds and units."""

    turns: Sequence[str]
    kinds: Sequence[Kind]
    systems: Sequence[Traced]
    units: Units


def tables_of(found: Journey) -> dict[str, Sequence[Any]]:
    """Return the rows of every table of :class:`Outcomes` by name."""
    estimates, pairs = corrected_shares(found)
    return {
        "outcomes": _outcomes(found), "turns": _turns(found), "causes": _causes(found), "causes_reversed": _reversed(found),
        "transitions": _transitions(found), "support": _support(found), "detector": _detector(found),
        "estimates": estimates, "estimate_pairs": pairs, "measures_by_kind": _by_kind(found),
    }  # fmt: skip


def _shares(hits: Any, inside: Any, units: Units) -> tuple[Estimate, ...]:
    """Return the shares of ``hits`` [M, T] among the turns ``inside`` [T]."""
    return share_estimates(
        units.sums(np.atleast_2d(hits) * inside),
        units.sums(np.asarray(inside, dtype=float)),
        units.kind,
    )


def answerable(found: Journey) -> Mask:
    """Return bool[T]: whether the turn has an answer."""
    return np.isin(np.array(found.kinds, dtype=object), ANSWERABLE)


def _outcomes(found: Journey) -> list[tuple[Any, ...]]:
    every = np.ones(len(found.turns))
    cells = [
        list(zip(found.kinds, one.outcomes, one.gold_given, strict=True)) for one in found.systems
    ]
    known = sorted(
        {cell for some in cells for cell in some},
        key=lambda cell: (
            KINDS.index(cell[0]),
            OUTCOMES.index(cell[1]),
            (True, False, None).index(cell[2]),
        ),
    )
    rows = []
    for one, own in zip(found.systems, cells, strict=True):
        for kind, outcome, given in known:
            hits = np.array([cell == (kind, outcome, given) for cell in own], dtype=float)
            inside = np.array([cell[0] == kind for cell in own], dtype=float)
            (whole,), (part,) = (
                _shares(hits, every, found.units),
                _shares(hits, inside, found.units),
            )
            rows.append(
                (
                    one.name,
                    kind,
                    outcome,
                    given,
                    int(hits.sum()),
                    whole,
                    part,
                    int(inside.sum()),
                    whole.note,
                )
            )
    return rows


def _turns(found: Journey) -> list[tuple[Any, ...]]:
    return [
        (one.name, turn, kind, *rest)
        for one in found.systems
        for turn, kind, *rest in zip(
            found.turns, found.kinds, one.responses, one.outcomes, one.gold_given, one.causes, one.gold, one.given,
            one.sentences, one.unsupported, strict=True
        )
    ]  # fmt: skip


def _causes(found: Journey) -> list[tuple[Any, ...]]:
    inside = answerable(found)
    known = [cause for cause in CAUSES if any(cause in one.causes for one in found.systems)]
    rows: list[tuple[Any, ...]] = []
    for one in found.systems:
        hits = np.array([[cause == own for own in one.causes] for cause in known])
        shares = _shares(hits, inside, found.units) if inside.any() else ()
        rows += [
            (one.name, cause, int(hit.sum()), int(inside.sum()), estimate, estimate.note)
            for cause, hit, estimate in zip(known, hits, shares, strict=True)
        ]
    return rows


def _reversed(found: Journey) -> list[tuple[Any, ...]]:
    told, units = list(zip(*(one.gold_given for one in found.systems), strict=True)), found.units
    # a loss whose cause is unknown is not left to retrieval
    inside = answerable(found) & np.array([None not in one for one in told])
    common = inside & np.array([all(one) for one in told])
    rows: list[tuple[Any, ...]] = []
    if not common.any():
        return rows
    for one in found.systems:
        lost = np.isin(np.array(one.outcomes, dtype=object), LOST)
        (kept,), (generator,) = _shares(~lost, inside, units), _shares(lost, common, units)
        rest, half = _difference(lost, inside, common, units)
        note = "" if rest >= 0 else "the generator alone loses at least as many turns"
        limits = (
            (max(0.0, rest - half), min(1.0, rest + half)) if rest >= 0 else (math.nan, math.nan)
        )
        left = Estimate(rest if rest >= 0 else math.nan, *limits, units.count, "", note)
        rows += [
            (one.name, "none", int((inside & ~lost).sum()), int(inside.sum()), kept, kept.note),
            (
                one.name,
                "generator",
                int((common & lost).sum()),
                int(common.sum()),
                generator,
                generator.note,
            ),
            (one.name, "retrieval", None, int(inside.sum()), left, note),
        ]
    return rows


def _difference(lost: Mask, inside: Mask, common: Mask, units: Units) -> tuple[float, float]:
    """Return the lost share of the turns ``inside`` minus that of ``common``, and half of its 95% CI (nan below five units)."""
    parts = [
        cluster_ratio(units.sums(1.0 * (lost & some)), units.sums(1.0 * some)).value[0]
        for some in (inside, common)
    ]
    rest = sum(
        sign * (units.sums(1.0 * (lost & some)) - part * units.sums(1.0 * some)) / some.sum()
        for sign, part, some in zip((1, -1), parts, (inside, common), strict=True)
    )
    spread = (
        math.sqrt(units.count / (units.count - 1) * float((rest**2).sum()))
        if units.count >= LEAST_UNITS
        else math.nan
    )
    return float(parts[0] - parts[1]), float(t_quantile(units.count)) * spread


def _transitions(found: Journey) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    every = np.ones(len(found.turns))
    for first, second in combinations(found.systems, 2):
        cells = list(zip(first.outcomes, second.outcomes, strict=True))
        known = sorted(
            set(cells), key=lambda cell: (OUTCOMES.index(cell[0]), OUTCOMES.index(cell[1]))
        )
        hits = np.array([[cell == own for own in cells] for cell in known])
        rows += [
            (first.name, second.name, *cell, int(hit.sum()), estimate)
            for cell, hit, estimate in zip(
                known, hits, _shares(hits, every, found.units), strict=True
            )
        ]
    return rows


def _support(found: Journey) -> list[tuple[Any, ...]]:
    rows = []
    for one in found.systems:
        known = np.nan_to_num(one.sentences)
        if known.any():
            sums, sizes = found.units.sums(np.nan_to_num(one.unsupported)), found.units.sums(known)
            (found_share,) = share_estimates(sums[sizes > 0], sizes[sizes > 0], found.units.kind)
            rows.append(
                (
                    one.name,
                    int(known.sum()),
                    found_share,
                    int((known > 0).sum()),
                    one.support_by,
                    found_share.note,
                )
            )
    return rows


def _detector(found: Journey) -> list[tuple[Any, ...]]:
    rows = []
    for one in found.systems:
        pairs = [pair for pair in zip(one.labels, one.detected, strict=True) if pair[0]]
        rows += [
            (one.name, label, detected, pairs.count((label, detected)))
            for label in RESPONSES for detected in RESPONSES if (label, detected) in pairs
        ]  # fmt: skip
    return rows


def _by_kind(found: Journey) -> list[tuple[Any, ...]]:
    rows = []
    present = [kind for kind in KINDS if kind in found.kinds]
    kinds = np.array(found.kinds, dtype=object)
    for one in found.systems:
        for metric, values in one.scores.items():
            for kind in ("all", *present):
                own = np.where((kinds == kind) | (kind == "all"), values, np.nan)
                if turns := int((~np.isnan(own)).sum()):
                    mean = mean_of(own, found.units)
                    rows.append((one.name, kind, metric, mean, turns, mean.note))
    return rows


def mean_of(values: np.ndarray, units: Units) -> Estimate:
    """Return the mean over the turns with a value; within [0, 1] if all values are."""
    defined = ~np.isnan(values)
    own, known = units.take(defined), values[defined]
    bounds = (0.0, 1.0) if known.min() >= 0 and known.max() <= 1 else None
    return mean_estimates(own.sums(known), own.sizes, own.kind, bounds)[0]


# ---------------------------------------------------------------- outcomes corrected by human labels


def corrected_shares(found: Journey) -> tuple[list[dict[Any, Any]], list[dict[Any, Any]]]:
    """Return the rows of ``estimates`` and ``estimate_pairs``: shares and differences, corrected by human labels of some units.

    Units are conversations if each is labelled as a whole or not at all, else turns: the intervals are for human labels of all
    these turns, so that a random sample of turns needs no larger units.
    """
    systems = [one for one in found.systems if any(one.human)]
    labelled = np.array(
        [all(one.human[place] for one in systems) for place in range(len(found.turns))], dtype=bool
    )
    if not systems or labelled.all():
        return [], []
    units = found.units
    whole = units.sums(1.0 * labelled)
    if ((whole > 0) & (whole < units.sizes)).any():
        units = units_of(found.turns, "turn")
        whole = 1.0 * labelled
    judged = whole == units.sizes
    if judged.sum() < LEAST_UNITS:
        return [], []
    rows: list[dict[Any, Any]] = []
    pairs: list[dict[Any, Any]] = []
    for outcome in OUTCOMES:
        people, model = (np.array([[own == outcome for own in side] for side in sides], dtype=float)
                         for sides in ([one.human for one in systems], [one.outcomes for one in systems]))  # fmt: skip
        if not people.any() and not model.any():
            continue
        est = _one_more_error(
            corrected(judged_sums(people, model, units, judged)), int(labelled.sum()), 1
        )
        rows += pd.DataFrame({
            "system": [one.name for one in systems], "outcome": outcome, "judge": [one.by for one in systems],
            **est.columns(1.0), "note": units_note(est.judged, units.kind),
        }).to_dict("records")  # fmt: skip
        if len(systems) > 1:
            first, second = np.triu_indices(len(systems), 1)
            sums = judged_sums(
                people[first] - people[second], model[first] - model[second], units, judged
            )
            apart = _one_more_error(corrected(sums), int(labelled.sum()), 2)
            names = np.array([one.name for one in systems], dtype=object)
            pairs += pd.DataFrame(
                {
                    "first": names[first],
                    "second": names[second],
                    "outcome": outcome,
                    **apart.differences(),
                }
            ).to_dict("records")
    for row, adjusted in zip(pairs, holm([row["p"] for row in pairs]).tolist(), strict=True):
        row["p_corrected"] = adjusted
    return rows, pairs


def _one_more_error(found: Corrected, turns: int, systems: int) -> Corrected:
    """Return the estimates with the variance of one more disagreement for each system among the labelled ``turns``.

    A good judge errs so rarely that a small sample often has no error, and the interval would have no width: on the answers of
    MTRAG-UN, it covered 55 to 93%, with this term 95 to 97% from 20 units (docs/answers.md).
    """
    more = systems / turns**2
    return found._replace(
        variance=found.variance + more, people_variance=found.people_variance + more
    )
