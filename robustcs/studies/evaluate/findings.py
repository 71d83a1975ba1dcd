"""Claims of evaluate: which of two systems scores higher, or the best against the best that it does not tie with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import listed, measure_label, number, number_interval, system_in_words
from robustcs.records.filter import field_name, term
from robustcs.records.table import DISAGREEMENT
from robustcs.statistics.estimate import Tested, p_text
from robustcs.studies.evaluate.analysis import ALPHA, Evaluation, means_of
from robustcs.studies.evaluate.missing import missing_first, order_is_open, ranked
from robustcs.wording import counted, some_of, system_name, verb

#: Number of systems that a claim names; the table contains all.
_NAMED = 10
#: Number of means that a claim names if missing scores leave the order open.
_MEANS = 3
#: Weight of the comparison among the verdicts of a report.
_WEIGHT = 0.1


def verdicts(result: Evaluation) -> tuple[Verdict, ...]:
    """Return the comparison of the systems by the headline measure; if all have equal scores, that; of one system, its mean."""
    metrics = means_of(result)
    return (_Compared(result, headline_measure(metrics)).verdict(),) if metrics else ()


def evaluate_findings(result: Evaluation) -> tuple[str, ...]:
    """Return which systems have equal scores, and how many pairs of systems differ significantly."""
    metrics = means_of(result)
    return _Compared(result, headline_measure(metrics)).further() if metrics else ()


def with_groups(result: Evaluation, other: Evaluation) -> list[str]:
    """Return a note on the headline of ``other``, which has groups of turn ids as sampling units; empty for one system."""
    own, grouped = verdicts(result), verdicts(other)
    if not grouped or len(other.measures["system"].unique()) < 2:
        return []
    if [one.text for one in own] == [one.text for one in grouped]:
        return ["with these groups as units, the headline is the same"]
    return [f"with these groups as units: {'; '.join(_continued(one.text) for one in grouped)}"]


class _Compared:
    """The systems by one measure, with the best first; systems with equal scores are one."""

    def __init__(self, result: Evaluation, metric: str):
        self.result, self.metric, self.label = result, metric, measure_label(metric)
        self.rows = result.rows("measures", metric=metric)
        self.pairs = result.compared.get(metric, {})
        groups: dict[str, list[Any]] = {}
        for row in ranked(self.rows):
            groups.setdefault(row.equal or row.system, []).append(row)
        self.groups = list(groups.values())
        self._missing = missing_first(result, metric)

    def verdict(self) -> Verdict:
        """Return the claim; it begins with misfits of the judgments, and orders no systems that differ by them."""
        misfits = ", and ".join(self.result.misfits)
        if not misfits:
            return self._claim()
        if not self.result.unordered:
            claim = self._claim()
            return replace(claim, text=f"{misfits}; {claim.text}")
        names = [row.system for row in self.rows]
        said = f"{misfits}: the judgments cannot order {listed(self._names(self.rows)) if len(names) < 3 else 'the systems'}"
        return Verdict(misfits.split()[0], "", said, self._basis(self.rows[0]), _WEIGHT)

    def _claim(self) -> Verdict:
        claim, missing = (
            self._open() if order_is_open(self.result, self.metric) else self._order(),
            self._missing,
        )
        return replace(claim, text=f"{missing}{_continued(claim.text)}") if missing else claim

    def _open(self) -> Verdict:
        """Return the means where missing scores decide which system is best; of two systems, also their difference."""
        said, between, told = self._means()
        basis, read = counted(self.rows[0].turns, "turn"), self._scored_by(self.rows)
        if self.result.evaluated.own_turns:
            read = {}
            basis = "; ".join(
                f"{counted(row.turns, 'turn')} of {system_name(row.system)}"
                for row in self.rows[:_MEANS]
            )
            if len(self.rows) == 2 and (found := self._own_difference()):
                (first, between, told), basis = found, counted(self._common(*self.rows), "turn")
                said, read = f"{first}; {said}", self._scored_by(self.rows)
        text = f"{said}; the missing scores could change which mean is highest"
        return Verdict(
            told,
            between,
            text if self._missing else text[0].upper() + text[1:],
            basis,
            _WEIGHT,
            "correct",
            **read,
        )

    def _means(self) -> tuple[str, str, str]:
        """Return the means of the first systems in words, and the interval and text of a number in them."""
        best, *others = self.rows
        names = [system_in_words(row.system, self.result.evaluated) for row in self.rows]
        each = [
            f"{number(row.value, 3)} for {name}"
            for row, name in zip(self.rows[:_MEANS], names, strict=False)
        ]
        means = f"mean {self.label} is {listed(each) if len(self.rows) <= _MEANS else ', '.join(each) + ' …'}"
        if self.result.evaluated.own_turns:
            return f"each over its own turns, {means}", "", number(best.value, 3)
        means = f"on the {counted(best.turns, 'turn')} with scores from all systems, {means}"
        if len(others) == 1 and (found := self._against([best], others)):
            test, sign = found
            low, high = sorted((sign * test.low, sign * test.high))
            between = number_interval(low, high).strip("–")
            return (
                f"{means}, difference {number(abs(test.value), 3)}",
                between,
                number(abs(test.value), 3),
            )
        return means, "", number(best.value, 3)

    def _own_difference(self) -> tuple[str, str, str] | None:
        """Return the difference of two systems over common turns in words, its interval and text; None if not compared."""
        first, second = (row.system for row in self.rows)
        if (found := self._against(self.rows[:1], self.rows[1:])) is None or np.isnan(
            found[0].value
        ):
            return None
        test, sign = found
        if sign * test.value < 0:  # the means over own turns may have the other order
            first, second, sign = second, first, -sign
        told = number(sign * test.value, 3)
        both = f"on the {counted(self._common(*self.rows), 'turn')} with scores from both systems, the difference in mean"
        said = f"{both} {self.label}, {system_name(first)} − {system_name(second)}, is {told}"
        low, high = sorted((sign * test.low, sign * test.high))
        return said, number_interval(low, high).strip("–"), told

    def _common(self, *rows: Any) -> int:
        """Return the number of turns with scores from all systems of some rows."""
        turns = self.result.turns[self.result.turns["metric"] == self.metric]
        scored = [set(turns["turn"][turns["system"] == row.system]) for row in rows]
        return len(set.intersection(*scored))

    def _scored_by(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return the fields of a verdict that select the turns with scores from all systems of some rows.

        The lowest scores of the last system come first; of two systems, the largest differences.
        """
        systems = [row.system for row in rows]
        by_difference = (
            len(systems) == len(self.rows) == 2 and self.result.evaluated.basis == "runs"
        )
        missing = any(row.missing for row in self.rows)
        return {
            "turns": " ".join(term(self.metric, system=name) for name in systems),
            "count": self._common(*rows) if missing else rows[0].turns,
            "sort": DISAGREEMENT if by_difference else field_name(self.metric, systems[-1]),
        }

    def _behind(self, row: Any) -> dict[str, Any]:
        """Return the fields of a verdict that select the turns behind the mean of a system."""
        missing = any(one.missing for one in self.rows)
        others = [one for one in self.rows if one.system != row.system]
        over_common = missing and not self.result.evaluated.own_turns
        return self._scored_by([*others, row] if over_common else [row])

    def _order(self) -> Verdict:
        best, *others = self.groups
        if not others:
            return self._mean(best[0]) if len(best) == 1 else self._equal(best)
        tested = [(group, *found) for group in others if (found := self._against(best, group))]
        if len(tested) < len(others) and tested:
            # with a baseline, only that one is compared with the best
            return self._difference(*tested[0], ", the baseline", "")
        if not tested:
            return self._highest(best)
        left_out = [
            name for group, _, _ in tested if self._few(group) for name in self._names(group)
        ]
        # if all others answer too few turns to be ranked, the best of them is compared
        tested = [one for one in tested if not self._few(one[0])] or tested[:1]
        if self._few(tested[0][0]):
            return self._difference(*tested[0], "", "")
        apart = [one for one in tested if one[1].p <= ALPHA]
        ties = [
            name for group, test, _ in tested if not test.p <= ALPHA for name in self._names(group)
        ]
        if len(others) == 1:
            return self._difference(*tested[0], "", "")
        rest = f"; not ranked: {'; '.join(left_out)}" if left_out else ""
        tied = (
            f"; {self._subject(best[:1])} ties with {counted(len(ties), 'system')} ({some_of(ties, _NAMED)})"
            if ties
            else ""
        )
        if not apart:
            return self._difference(*tested[0], "", tied + rest)
        which = verb(
            len(apart),
            "the only system that scores",
            f"the best of {len(apart)} systems that score",
        )
        if not ties:
            every = f"the best of {len(apart)} others, which {'both' if len(apart) == 2 else 'all'} score"
            which = verb(len(apart), "the only other system, which scores", every)
        return self._difference(*apart[0], f", {which} significantly lower", tied + rest)

    def further(self) -> tuple[str, ...]:
        same = [group for group in self.groups if len(group) > 1]
        said = [f"{self._equal(group).text}." for group in same if len(self.groups) > 1]
        full = [
            test
            for pair, test in self.pairs.items()
            if not self.result.evaluated.few.keys() & {*pair}
        ]
        if len(full) > 1:
            apart = [abs(test.value) for test in full if test.p <= ALPHA]
            smallest = (
                f"; the smallest of these differences is {number(min(apart), 3)}" if apart else ""
            )
            differ = f"{len(apart) or 'none'} {verb(len(apart) or 1, 'differs', 'differ')} significantly in {self.label}"
            tested = f"adjusted p ≤ {ALPHA:g}, {self.result.families[self.metric].describe('pair')}"
            said.append(
                f"Of {counted(len(full), 'pair')} of systems, {differ} ({tested}){smallest}."
            )
        return tuple(said)

    def _few(self, group: Sequence[Any]) -> bool:
        return any(row.system in self.result.evaluated.few for row in group)

    def _names(self, group: Sequence[Any]) -> list[str]:
        return [system_in_words(row.system, self.result.evaluated) for row in group]

    def _subject(self, group: Sequence[Any], then: str = "") -> str:
        """Return the systems of a group in words; several have equal scores."""
        if len(group) == 1:
            return system_in_words(group[0].system, self.result.evaluated, then)
        return f"{listed(self._names(group))}, which have equal scores{then and f',{then}'}"

    def _against(self, best: Sequence[Any], other: Sequence[Any]) -> tuple[Tested, int] | None:
        """Return the test of two groups, and 1 or −1 as its difference is that of the best or of the other; None without."""
        for one in best:
            for two in other:
                for pair, sign in (((one.system, two.system), 1), ((two.system, one.system), -1)):
                    if pair in self.pairs:
                        return self.pairs[pair], sign
        return None

    def _difference(
        self, other: Sequence[Any], test: Tested, sign: int, which: str, more: str
    ) -> Verdict:
        """Return the comparison of the best system with another one; ``which``: its apposition, ``more``: a further clause."""
        best, family = self.groups[0], self.result.families[self.metric]
        size, several = number(abs(test.value), 3), len(self.pairs) > 1
        low, high = (
            sorted((sign * test.low, sign * test.high))
            if test.low == test.low
            else (test.low, test.high)
        )
        p = f"adjusted {p_text(test.p)}, {family.describe('pair')}" if several else p_text(test.p)
        turns = best[0].turns
        if any(row.missing for row in self.rows):
            # a pair has more turns than all systems in common
            turns = self._common(best[0], other[0])
        over = "" if self.result.evaluated.own_turns else f"; {counted(turns, 'turn')}"
        if test.p <= ALPHA:
            scores = " scores" if len(best) == 1 else " score"
            said = f"{self._subject(best, scores)} {size} {self.label} higher than {self._subject(other)}{which}{more}"
        else:
            scores = " scores" if len(other) == 1 else " score"
            said = f"The data do not show whether {self._subject(best, ' or')} {self._subject(other, scores)} higher"
            said = f"{said} (difference {size} {self.label}){more}"
        ordered = [best[0], other[0]] if sign * test.value >= 0 else [other[0], best[0]]
        return Verdict(
            size,
            number_interval(low, high).strip("–"),
            said,
            f"{p}{over}",
            _WEIGHT,
            "correct",
            **(self._scored_by(ordered) if over else {}),
        )

    def _equal(self, group: Sequence[Any]) -> Verdict:
        """Return that the systems of a group have equal scores; they are not compared."""
        names, metrics = [row.system for row in group], means_of(self.result)
        rows = [
            row
            for row in self.result.rows("measures")
            if row.system in names and row.metric in metrics
        ]
        scores = "scores" if all(row.equal in names for row in rows) else self.label
        turns = counted(group[0].turns, "turn")
        said = f"{listed(self._names(group))} have equal {scores} on all {turns}"
        said += " and equal rankings" if self.result.ranked_alike >= {*names} else ""
        mean, between = (
            number(group[0].value, 3),
            number_interval(group[0].ci_low, group[0].ci_high).strip("–"),
        )
        return Verdict(
            turns,
            "",
            said,
            f"mean {self.label} {mean}{between and f', 95% CI {between}'}",
            _WEIGHT,
            "correct",
            **self._behind(group[0]),
        )

    def _mean(self, row: Any) -> Verdict:
        mean = number(row.value, 3)
        said = f"{system_in_words(row.system, self.result.evaluated, ' has')} a mean {self.label} of {mean}"
        return Verdict(
            mean,
            number_interval(row.ci_low, row.ci_high).strip("–"),
            said,
            self._basis(row),
            _WEIGHT,
            "correct",
            **self._behind(row),
        )

    def _highest(self, best: Sequence[Any]) -> Verdict:
        """Return the highest mean, of systems that were not compared."""
        mean, has = number(best[0].value, 3), " has" if len(best) == 1 else " have"
        said = f"{self._subject(best, has)} the highest mean {self.label}, {mean}"
        between = number_interval(best[0].ci_low, best[0].ci_high).strip("–")
        basis, read = self._basis(best[0]), self._behind(best[0])
        return Verdict(mean, between, said, basis, _WEIGHT, "correct", **read)

    def _basis(self, row: Any) -> str:
        return f"{counted(row.turns, 'turn')}, {counted(len(self.rows), 'system')}"


def _continued(text: str) -> str:
    """Return a sentence as the continuation of another one."""
    return text[0].lower() + text[1:] if text.startswith("The ") else text
