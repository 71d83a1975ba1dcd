"""Compare judges with human judgments: those of a model, a second person, or another year."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_features import run_groups
from robustcs.evaluation.judges import JudgedPool
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.result import (
    Evaluated,
    Result,
    TableSpec,
    count,
    difference,
    flag,
    measure,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.statistics import Codes, Floats, Mask
from robustcs.statistics.agreement import Statistic, agreement_estimate, alpha_of, cohen_of
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units, units_of
from robustcs.studies.audit.systems import SummedScores, mean_rows, reversal_rows, system_rows
from robustcs.wording import Note

#: The slice of all pairs, and the name of the human judges in table ``conflicts``.
ALL, HUMAN = "all", "human judges"
#: A run has found a passage if it ranks it in this top.
FOUND = 10
#: Largest range of a scale; longer ones make no readable table of both grades.
_LONGEST_SCALE = 20
#: Smallest difference of two grades that is a conflict.
_FAR = 2

Rows = list[tuple[Any, ...]]


#: Text on judgments of people → text on those of a reference judge, a model.
_OF_REFERENCE = (
    ("human judges do", "reference judge {} does"), ("the human judges", "reference judge {}"),
    ("human judges", "reference judge {}"), ("human judgments", "judgments of reference judge {}"),
    ("human judgment", "judgment of reference judge {}"), ("human grade", "grade of the reference judge"),
    ("under humans", "under the reference judge"), ("from theirs", "from that of the reference judge"), ("human", "reference"),
)  # fmt: skip


def said_of(reference: str, text: str) -> str:
    """Return a text on the human judgments; if a model made them, the text names it as the reference judge."""
    for people, model in _OF_REFERENCE if reference else ():
        text = text.replace(people, model.replace("{}", reference))
    return text


@dataclass(frozen=True)
class Audit(Result):
    """The comparison of each judge with the human judgments.

    reference
        The model that made the judgments in place of people; empty if people made them, or if it is unknown.
    """

    study = "audit"
    agreement = table(
        "agreement", "Agreement of a judge with human judgments on the pairs that both judged. Intervals are clustered by"
        " units.",
        text("judge", header="Judge"), count("pairs", "judged by both"),
        *share("agree", "pairs with equal grades").between("agree_low", "agree_high"),
        *number("kappa", "Cohen's, on all grades", "κ").between(),
        *number("kappa_weighted", "Cohen's, quadratic weights", "κ weighted").between(
            "kappa_weighted_low", "kappa_weighted_high"),
        *number("kappa_level", "Cohen's, relevant or not by the relevance level", "κ level").between(
            "kappa_level_low", "kappa_level_high"),
        *number("alpha", "Krippendorff's, ordinal", "α").between("alpha_low", "alpha_high"),
        count("units", "conversations or turns behind the intervals"),
        count("human_only", "pairs without a label of the judge", "human only", "pairs"),
        count("judge_only", "pairs without a human judgment", "judge only", "pairs"),
        text("note", "caveats of the numbers"),
    )  # fmt: skip
    confusion = table(
        "confusion", "Number of pairs by human grade and grade of the judge.",
        text("judge", header="Judge"), count("human", "human grade"), count("model", "grade of the judge"),
        count("count", "pairs"),
    )  # fmt: skip
    bias = table(
        "bias", "Direction of a judge's errors over all pairs, by the depth of the turn, and by the runs that found the"
        " passage.",
        text("judge", header="Judge"), text("slice", "all, depth N, or found by GROUP (in the top 10)", "Subset"),
        share("human_share", "pairs that are relevant by human judgment", "human", "relevant"),
        share("judge_share", "pairs that are relevant by the judge", "judge", "relevant"),
        *number("ratio", "judge_share divided by human_share; null if human_share is 0").rounded(2).between(
            "ratio_low", "ratio_high"),
        *difference("mean_difference", "mean grade of the judge minus mean human grade", "judge − human").rounded(2).between(),
        count("pairs"), count("units"), text("note", "caveats of the numbers"),
    )  # fmt: skip
    systems = table(
        "systems", "Rank correlation of the systems under human judgments and under the judge, on these topics.",
        text("judge", header="Judge"), measure(), text("method", "kendall, tau_ap (the human order is the reference) or rbo"),
        number("value", "1: same order; null if all systems are tied"),
        number("ci_low", "one-sided 95% lower limit for another sample of topics of the same size", "95% limit"),
        number("ci_high", "null: an upper limit would not have its nominal coverage"),
        count("turns", "with human judgments", "human", "turns"), count("judge_turns", "of the judge", "judge", "turns"),
        text("note", "caveats of the numbers"),
    )  # fmt: skip
    reversals = table(
        "reversals", "Pairs of systems whose comparison changes under the judge.",
        text("judge", header="Judge"), measure(), text("first", header="First"), text("second", header="Second"),
        *difference("human_difference", "first minus second under human judgments", "human").rounded(3).between(
            "human_low", "human_high"),
        *difference("judge_difference", "under the judge", "judge").rounded(3).between("judge_low", "judge_high"),
        text("change", "reversed (opposite order, significant under at least one), swapped (opposite order, significant under"
             " neither), lost (significant only under human judgments), gained (significant only under the judge)"),
        p_value("human_p", "sign-flip test of whole units, two-sided", "human", "p"),
        p_value("human_p_corrected", "adjusted by max-T over all pairs of the measure", "human", "p adj."),
        p_value("judge_p", "", "judge", "p"), p_value("judge_p_corrected", "", "judge", "p adj."),
    )  # fmt: skip
    off_scale = table(
        "off_scale", "Grades off the scale of the human judgments. No rows if there are none.",
        text("judge", header="Judge"), count("grade"), count("count", "labels with this grade", "labels"),
        flag("kept", "clipped to the scale (true) or dropped (false)", "clipped"),
    )  # fmt: skip
    conclusions = table(
        "conclusions", "Number of pairs of systems whose comparison changes under the judge.",
        text("judge", header="Judge"), measure(), count("pairs", "of systems"),
        count("human_apart", "that differ significantly under human judgments (adjusted p ≤ .05)", "human", "significant"
              " under"),
        count("judge_apart", "that differ significantly under the judge", "judge", "significant under"),
        count("reversed", "opposite order, significant under at least one of them", "significant", "opposite order"),
        count("swapped", "opposite order, significant under neither", "neither", "opposite order"),
        count("lost", "significant only under human judgments", "human", "only under"),
        count("gained", "significant only under the judge", "judge", "only under"),
        text("note", "why no pair can differ significantly; empty if pairs can"),
    )  # fmt: skip
    means = table(
        "means", "Mean score of each system under human judgments and under the judge, on the pairs that both judged.",
        text("judge", header="Judge"), measure(), text("system", header="System"), score("human"),
        score("model", header="judge"),
    )  # fmt: skip
    conflicts = table(
        "conflicts",
        "Pairs whose grades by a judge and by human judges, or by two judges, differ by at least two; largest difference"
        " first.",
        text("judge", header="Judge"), text("other", "human judges, or the name of another judge"), text("turn"),
        text("document"),
        count("grade", "of the judge"), count("other_grade", "of the other", "other grade"),
        count("difference", "judge − other"),
    )  # fmt: skip

    reference: str = ""

    def said(self, text: str) -> str:
        """Return a text on the human judgments as :func:`said_of`."""
        return said_of(self.reference, text)

    def spec(self, name: str) -> TableSpec:
        """Return the declaration of a table, with heads for the reference judge if a model made the judgments."""
        spec = super().spec(name)
        if not self.reference:
            return spec
        heads = [
            replace(one, header=self.said(one.header or one.name.replace("_", " ")), group=self.said(one.group))
            if "human" in one.header + one.group + one.name else one
            for one in spec.fields
        ]  # fmt: skip
        return replace(spec, says=self.said(spec.says), fields=tuple(heads))


@dataclass(frozen=True, eq=False)
class Common:
    """The n pairs with a human judgment and a label of the judge.

    human, model
        int64[n]: the grades.
    units
        The sampling unit of each pair.
    slices
        Name → bool[n]: subsets of the pairs.
    scale
        The lowest and the highest grade.
    level
        The relevance level.
    """

    human: Codes
    model: Codes
    units: Units
    slices: Mapping[str, Mask]
    scale: tuple[int, int]
    level: int

    @property
    def grades(self) -> Codes:
        """int64[V]: the scale."""
        return np.arange(self.scale[0], self.scale[1] + 1)

    @property
    def cells(self) -> Floats:
        """float64[K, V²]: number of pairs by sampling unit and combination of grades."""
        width = len(self.grades)
        cell = (self.human - self.scale[0]) * width + self.model - self.scale[0]
        found = np.bincount(
            self.units.codes * width**2 + cell, minlength=self.units.count * width**2
        )
        return found.reshape(self.units.count, width**2).astype(np.float64)


def audit(
    judged: JudgedPool,
    clipped: bool,
    measures: Sequence[Measure],
    evaluated: Evaluated,
    seed: int,
    reference: str = "",
) -> Audit:
    """Compare each judge with the human judgments; ``clipped``: grades off the scale were clipped, not dropped.

    ``reference``: the model that made the judgments in place of people, if any.

    Raises :class:`UsageError` as :func:`common_pairs`.
    """
    said = partial(said_of, reference)
    compared = common_pairs(judged)
    pool, seen = judged.pool, np.zeros(len(judged.pool.turns), dtype=bool)
    rows: dict[str, Any] = {spec.name: [] for spec in Audit.declared}
    notes = list(evaluated.notes)
    for name, judge in judged.judges.items():
        sides, both = [judged.human, judged.grades[name]], compared[name]
        paired = bool(both.any())
        if not paired:
            apart = "no pair in common with the human judgments: only the ranking of systems is compared"
            text_ = f"{name} and the human judgments have no pair in common: only the ranking of systems is compared"
            notes.append(Note.of(name, "", said(apart), said(text_)))
        common = _common(
            judged, [side[both].astype(np.int64) for side in sides], both[:-1], evaluated
        )
        found, pairs = agreement(common, seed), len(common.human)
        alone = [int((side[:-1] > UNJUDGED).sum()) - pairs for side in sides]
        note = found["kappa"].note if paired else "no pair in common"
        rows["agreement"].append((name, pairs, *found.values(), found["kappa"].units, *alone, note))
        if paired:
            rows["confusion"] += confusion_rows(name, common)
            rows["bias"] += bias_rows(name, common, seed)
            rows["conflicts"] += conflict_rows(
                (name, said(HUMAN)), _ids(pool, both), common.model, common.human
            )
        rows["off_scale"] += [
            (name, grade, times, clipped) for grade, times in judge.off_scale.items()
        ]
        if paired:
            sides = [np.where(both, side, UNJUDGED) for side in sides]
        seen |= pool.judged(sides[0])
        if len(pool.names) > 1:
            for metric, human, model in _scores(judged, sides, measures, evaluated):
                found_ = system_rows(name, metric, human, model, paired, seed)
                rows["systems"] += [(*row[:-1], said(row[-1])) for row in found_]
                rows["means"] += mean_rows(name, metric, pool.names, human, model)
                changed, summary = reversal_rows(name, metric, pool.names, human, model, seed)
                rows["reversals"] += changed
                rows["conclusions"].append(summary)
    for names in combinations(judged.judges, 2):
        one, other = (judged.grades[name].astype(np.int64) for name in names)
        both = (one > UNJUDGED) & (other > UNJUDGED)
        both[-1] = False
        rows["conflicts"] += conflict_rows(names, _ids(pool, both), one[both], other[both])
    units = units_of(_named(pool, seen), evaluated.grouping)
    notes += [units.note] if units.note else []
    evaluated = replace(
        evaluated,
        turns=int(seen.sum()),
        notes=tuple(dict.fromkeys(notes)),
        unit=units.kind,
        units=units.count,
    )
    return Audit(evaluated, reference, content=Audit.built(**rows))


def common_pairs(judged: JudgedPool) -> dict[str, Mask]:
    """Return judge → bool[N + 1], the pairs that have a human judgment and a label of the judge.

    Raises :class:`UsageError` for a scale that is too long, and if a judge and the human judgments have neither pairs nor
    several systems in common.
    """
    lowest, highest = judged.scale
    if highest - lowest > _LONGEST_SCALE:
        most = f"at most {_LONGEST_SCALE + 1} grades are supported"
        raise UsageError(
            "long-scale",
            f"grades range from {lowest} to {highest}; {most}",
            "map them to a shorter scale",
        )
    found = {
        name: np.minimum(judged.human, grades) > UNJUDGED for name, grades in judged.grades.items()
    }
    for name, both in found.items():
        both[-1] = False
        if not both.any() and len(judged.pool.names) < 2:
            advice = "check the turn and passage ids; to compare different topics, give runs of several systems"
            raise UsageError(
                "no-common-pairs", f"{name} and the human judgments have no pair in common", advice
            )
    return found


def _ids(pool: RunPool, pairs: Mask) -> list[tuple[str, str]]:
    """Return turn and document of each pair selected by ``pairs`` (bool[N + 1])."""
    documents = pool.documents.take(pool.pair_documents[pairs[:-1]]).texts()
    return [
        (pool.turns[row], document)
        for row, document in zip(pool.pair_turns[pairs[:-1]], documents, strict=True)
    ]


def _named(pool: RunPool, turns: Mask) -> list[str]:
    return [pool.turns[row] for row in np.flatnonzero(turns)]


def _common(
    judged: JudgedPool, graded: Sequence[Codes], both: Mask, evaluated: Evaluated
) -> Common:
    pool, turns = judged.pool, judged.pool.pair_turns[both]
    present, place = np.unique(turns, return_inverse=True)
    units = units_of([pool.turns[row] for row in present], evaluated.grouping).take(place)
    conversations = evaluated.conversations_of(pool.turns)
    depths = np.array([conversations.depth(turn) or 0 for turn in pool.turns], dtype=np.int64)[
        turns
    ]
    known = np.unique(depths[depths > 0]).tolist()
    slices = {f"depth {depth}": depths == depth for depth in known} if len(known) > 1 else {}
    found = (
        pool.best_ranks()[:, both] <= FOUND if pool.names else np.zeros((0, len(turns)), dtype=bool)
    )
    groups = np.array(run_groups(pool), dtype=np.int64)
    for group in dict.fromkeys(groups.tolist()):
        members = [name for name, own in zip(pool.names, groups, strict=True) if own == group]
        more = f" and {len(members) - 1} similar" if len(members) > 1 else ""
        slices[f"found by {members[0]}{more}"] = found[groups == group].any(axis=0)
    if pool.names:
        slices["found by none"] = ~found.any(axis=0)
    return Common(
        graded[0], graded[1], units, slices, judged.scale, evaluated.policy.relevance_level
    )


def agreement(common: Common, seed: int) -> dict[str, Estimate]:
    """Return the coefficients of agreement by column name, each with its interval over units."""
    cells, grades, noun = common.cells, common.grades, common.units.kind
    width = len(grades)
    relevant = np.stack([grades < common.level, grades >= common.level], axis=1).astype(np.float64)

    def square(sums: Floats) -> Floats:
        return sums.reshape(*sums.shape[:-1], width, width)

    def at_level(sums: Floats) -> Floats:
        return cohen_of(2)((relevant.T @ square(sums) @ relevant).reshape(*sums.shape[:-1], 4))

    def ordinal(sums: Floats) -> Floats:
        # Krippendorff's alpha counts both orders of the two grades of a pair
        return alpha_of(grades, "ordinal")(
            (square(sums) + square(sums).swapaxes(-1, -2)).reshape(sums.shape)
        )

    statistics: dict[str, Statistic] = {
        "kappa": cohen_of(width), "kappa_weighted": cohen_of(width, "quadratic"), "kappa_level": at_level, "alpha": ordinal,
    }  # fmt: skip
    [agree] = share_estimates(np.trace(square(cells), axis1=-2, axis2=-1), cells.sum(axis=1), noun)
    return {
        "agree": agree,
        **{name: agreement_estimate(cells, of, seed, noun) for name, of in statistics.items()},
    }


def confusion_rows(judge: str, common: Common) -> Rows:
    """Return the number of pairs for every combination of grades of the scale, zeros included."""
    couples = [
        (human, model) for human in common.grades.tolist() for model in common.grades.tolist()
    ]
    return [
        (judge, *couple, int(pairs))
        for couple, pairs in zip(couples, common.cells.sum(axis=0), strict=True)
    ]


def conflict_rows(
    names: tuple[str, str], ids: Sequence[tuple[str, str]], one: Codes, other: Codes
) -> Rows:
    """Return the pairs whose grades differ by at least two, largest difference first."""
    apart = one - other
    far = np.flatnonzero(np.abs(apart) >= _FAR)
    order = far[np.argsort(-np.abs(apart[far]), kind="stable")]
    return [
        (*names, *ids[place], int(one[place]), int(other[place]), int(apart[place]))
        for place in order
    ]


def bias_rows(judge: str, common: Common, seed: int) -> Rows:
    """Return the shares of relevant pairs, their ratio, and the mean difference of grades for each slice with pairs.

    Intervals are inverted sign-flip tests of whole units: for the mean difference, and for the judge's relevant pairs relative
    to the pairs that are relevant by human judgment.
    """
    slices = {ALL: np.ones(len(common.human), dtype=bool), **common.slices}
    masks = np.array([mask for mask in slices.values() if mask.any()])
    relevant = [grades >= common.level for grades in (common.human, common.model)]
    pairs, human, model = (common.units.sums(masks * values) for values in (1, *relevant))
    apart = common.units.sums(masks * (common.model - common.human))
    noun = common.units.kind
    tests = zip(
        paired_tests(apart, pairs, seed, noun),
        paired_tests(model - human, human, seed, noun),
        strict=True,
    )
    rows: Rows = []
    for place, (name, (mean, ratio)) in enumerate(
        zip((one for one, mask in slices.items() if mask.any()), tests, strict=True)
    ):
        total, said, told = (side[place].sum() for side in (pairs, human, model))
        times = replace(
            ratio, value=told / said if said else math.nan, low=1 + ratio.low, high=1 + ratio.high
        )
        units = int((pairs[place] > 0).sum())
        rows.append(
            (judge, name, said / total, told / total, times, mean, int(total), units, mean.note)
        )
    return rows


def _scores(
    judged: JudgedPool, sides: Sequence[Grades], measures: Sequence[Measure], evaluated: Evaluated
) -> Iterator[tuple[str, SummedScores, SummedScores]]:
    """Yield each measure with the systems' scores under human judgments and under the judge, each over its judged turns."""
    pool = judged.pool
    scores, units = [], []
    for side in sides:
        chosen = pool.judged(side) & judged.counted
        scores.append(pool.score(side[None], measures, evaluated.policy)[0][..., chosen])
        units.append(units_of(_named(pool, chosen), evaluated.grouping))
    for place, one in enumerate(measures):
        human, model = (
            SummedScores(of.sums(side[:, place]), of)
            for side, of in zip(scores, units, strict=True)
        )
        yield one.name, human, model
