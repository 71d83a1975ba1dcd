"""Do the judgments still fit the passages that the new state retrieves?

A score also falls if passages get other ids, because their judgments are then lost. Two rules keep the gate from calling this a
drop. They apply before the order of decisions of :mod:`robustcs.studies.compare.gate`:

1. If the judged share of the new top is below :data:`LEAST` of the old one, the judgments no longer fit: the gate cannot tell.
2. If the judged share falls by more than :data:`FALL`, and most unjudged passages that entered the top are new (the old state
   did not retrieve them for their turn), the drop must also be significant on the turns whose top is judged in both states. On
   these turns, other ids change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from robustcs.evaluation.measure import parse_measure
from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import p_text
from robustcs.studies.compare.changes import Rescored
from robustcs.studies.compare.states import ProjectState
from robustcs.wording import counted, verb

#: If the judged share falls by more than this, old and new scores are hard to compare.
FALL = 0.05
#: If the judged share falls below this share of the old one, the judgments no longer fit.
LEAST = 1 / 20

#: Caveats about a change of scores, for rules 1 and 2.
LOST = "the judgments no longer fit the passages"
DOUBTFUL = "missing judgments may explain part or all of the change: most unjudged passages that entered the top are new"

#: A passage of a turn.
Passage = tuple[str, str]


@dataclass(frozen=True, eq=False)
class JudgmentFit:
    """How well the judgments fit the top of a run in both states.

    depth
        Number of passages of a turn in the top: the measure's cutoff.
    judged_old, judged_new
        Judged share of the top; nan without passages.
    again
        Judged share of the old top under the new judgments; nan if unknown.
    unjudged
        The unjudged passages of the new top.
    entered
        How many of them are not in the old top of this run.
    new_passages
        How many of these the old state did not retrieve for their turn.
    possibly_new
        How many of these the old state may have retrieved at ranks that a report does not keep.
    both
        bool[T]: whether the tops of both states are judged, by turn.
    whose
        Words that name the run if there are several, such as `` of human``.
    """

    run: str
    depth: int
    judged_old: float
    judged_new: float
    again: float
    unjudged: Set[Passage]
    entered: int
    new_passages: int
    possibly_new: int
    both: Mask
    whose: str = ""

    @property
    def lost(self) -> bool:
        """Whether the judgments no longer fit (rule 1)."""
        return self.judged_new < LEAST * self.judged_old - 1e-12

    @property
    def turns_judged(self) -> int:
        """Number of turns whose tops are judged in both states."""
        return int(self.both.sum())

    @property
    def fallen(self) -> bool:
        """Whether the judged share fell by more than :data:`FALL`."""
        return self.judged_old - self.judged_new > FALL + 1e-9

    @property
    def doubtful(self) -> bool:
        """Whether most unjudged passages that entered the top are new, or may be, and the judged share fell (rule 2)."""
        return (
            self.fallen
            and not self.lost
            and 2 * (self.new_passages + self.possibly_new) > self.entered
        )

    @property
    def covered(self) -> str:
        """What is wrong with the old top under the new judgments; empty if nothing is."""
        if not self.judged_old - self.again > FALL + 1e-9:
            return ""
        top = f"old top {self.depth}{self.whose}"
        return f"the new judgments cover {self.again:.1%} of the {top}, the old ones {self.judged_old:.1%}"

    @property
    def problems(self) -> list[str]:
        """What is wrong with the judged share, in words."""
        return [
            text
            for text in (fall_line([self], self.whose) if self.fallen else "", self.covered)
            if text
        ]


@dataclass(frozen=True)
class Fits:
    """Both states, whose tops are compared.

    rescored
        Run → old run under the new judgments.
    deeper
        Passages of new tops that the old state retrieves below its tops, as far as they are known.
    """

    old: ProjectState
    new: ProjectState
    rescored: Mapping[str, Rescored] = field(default_factory=dict)
    deeper: Set[Passage] = frozenset()

    def of(self, run: str, metric: str, turns: Sequence[str]) -> JudgmentFit | None:
        """Return the fit of a run on some turns down to the measure's cutoff, or None if its passages are unknown."""
        before, after = self.old.systems[run], self.new.systems[run]
        if not before.heads or not after.heads:
            return None
        deepest = min(max(map(len, system.heads.values()), default=0) for system in (before, after))
        depth = parse_measure(metric, given=True).cutoff or deepest
        again = self.rescored.get(run)
        unjudged, entered, both = set[Passage](), set[Passage](), []
        for turn in turns:
            old, new = (system.heads.get(turn, ())[:depth] for system in (before, after))
            holes = {(turn, document) for document, grade in new if grade is None}
            if holes:
                unjudged |= holes
                entered |= holes - {(turn, document) for document, _ in old}
            grades = (
                again.grades[turn][:depth]
                if again and turn in again.grades
                else [grade for _, grade in old]
            )
            both.append(not holes and None not in grades)
        strange = entered - self.deeper - in_tops(self.old, {turn for turn, _ in entered})
        unsure = {one for one in strange if one[0] in self._cut}
        return JudgmentFit(
            run, depth, before.judged_share(turns, depth), after.judged_share(turns, depth),
            again.judged_share(turns, depth) if again else math.nan,
            unjudged, len(entered), len(strange - unsure), len(unsure), np.array(both, dtype=bool),
        )  # fmt: skip

    @cached_property
    def _cut(self) -> Set[str]:
        """Turns for which a system of the old state retrieves unjudged passages that are not known."""
        return {
            turn
            for system in self.old.systems.values()
            for turn, number in system.below.items()
            if number
        }


def worst(fits: Sequence[JudgmentFit]) -> JudgmentFit:
    """Return the fit that decides on a case of several runs, with the turns whose tops are judged in all of them."""
    chosen = max(
        fits,
        key=lambda fit: (
            fit.lost,
            fit.doubtful,
            np.nan_to_num(fit.judged_old - fit.judged_new, nan=-2.0),
        ),
    )
    return replace(chosen, both=np.logical_and.reduce([fit.both for fit in fits]))


def figures(fit: JudgmentFit | None, name: str, values: Floats) -> dict[str, Any]:
    """Return the columns of a table that describe a fit; ``values``: changes by turn, whose column is called ``name``."""
    if fit is None:
        return {}
    return {
        "depth": fit.depth, "judged_old": fit.judged_old, "judged_new": fit.judged_new, "entered": fit.entered,
        "new_passages": fit.new_passages, "possibly_new": fit.possibly_new, "turns_judged": fit.turns_judged,
        name: float(values[fit.both].mean()) if fit.both.any() else math.nan,
    }  # fmt: skip


def doubt(fit: JudgmentFit | None) -> str:
    """Return the caveat about a change of scores; empty if the judgments fit."""
    return LOST if fit and fit.lost else DOUBTFUL if fit and fit.doubtful else ""


def split_note(note: str) -> tuple[str, str]:
    """Return the caveat of :func:`doubt` at the beginning of a note, and the rest of the note."""
    doubted = next((one for one in (LOST, DOUBTFUL) if note.startswith(one)), "")
    return doubted, note.removeprefix(doubted).removeprefix("; ")


def in_tops(state: ProjectState, turns: Set[str]) -> Set[Passage]:
    """Return the passages that the state keeps for some turns: the tops of all runs."""
    heads = [
        (turn, system.heads[turn])
        for turn in turns
        for system in state.systems.values()
        if turn in system.heads
    ]
    return {(turn, document) for turn, head in heads for document, _ in head}


def open_passages(old: ProjectState, new: ProjectState) -> Set[Passage]:
    """Return the unjudged passages of new tops that are in no top of the old state, for turns whose ranking changed."""
    wanted = set[Passage]()
    for name, system in new.systems.items():
        before = old.systems[name].rankings if name in old.systems else {}
        changed = [turn for turn in system.heads if system.rankings.get(turn) != before.get(turn)]
        wanted |= {
            (turn, document)
            for turn in changed
            for document, grade in system.heads[turn]
            if grade is None
        }
    return wanted - in_tops(old, {turn for turn, _ in wanted})


def to_judge(fits: Iterable[JudgmentFit | None]) -> int:
    """Return the number of passages to judge where the judgments no longer fit: the unjudged ones of all these new tops."""
    return len(set().union(*(fit.unjudged for fit in fits if fit and fit.lost)))


def lost_line(rows: Sequence[Any], passages: int) -> str:
    """Return the reason of rule 1 for fits or rows of the gate, with the number of passages to judge."""
    shares = [
        spread([100 * getattr(row, name) for row in rows], "{:.0f}")
        for name in ("judged_old", "judged_new")
    ]
    fits = f"{LOST}: the judged share of the top {_depth(rows)} falls from {shares[0]}% to {shares[1]}%"
    return f"{fits}; judge {counted(passages, 'passage')} (robustcs judge) or map the ids"


def fall_line(rows: Sequence[Any], whose: str = "") -> str:
    """Return how far the judged share falls and, where rule 2 applies, how many passages are new, for fits or rows."""
    shares = [
        spread([100 * getattr(row, name) for row in rows], "{:.1f}")
        for name in ("judged_old", "judged_new")
    ]
    line = (
        f"the judged share of the top {_depth(rows)}{whose} falls from {shares[0]}% to {shares[1]}%"
    )
    new, entered, possibly = (
        [int(getattr(row, name)) for row in rows]
        for name in ("new_passages", "entered", "possibly_new")
    )
    if not 2 * (new[0] + possibly[0]) > entered[0]:
        return line
    passages, report = (
        f"{spread(entered, '{:,}')} unjudged passages that entered it",
        "the old state is a report",
    )
    if new == entered:
        return f"{line}, and all {passages} are new"
    if not any(new):
        return f"{line}, and {report}, which does not show whether the {passages} are new; name its project instead"
    more = (
        f" ({spread(possibly, '{:,}')} more may be: {report}; name its project instead)"
        if any(possibly)
        else ""
    )
    return f"{line}, and {spread(new, '{:,}')} of the {passages} are new{more}"


def new_line(rows: Sequence[Any], moved: str, points: bool, whose: str = "") -> str:
    """Return the reason of rule 2 for rows of the gate.

    ``moved``: what grows, such as ``the mean drops``; ``points``: whether it is a share, in percentage points.
    """
    form, unit = ("{:.1f}", " percentage points") if points else ("{:.3f}", "")
    scale = 100 if points else 1
    drop = spread([scale * row.drop for row in rows], form) + unit
    largest = max(row.p_corrected for row in rows)
    smallest = min((row.p_judged for row in rows if row.turns_judged), default=math.nan)
    there = f"there are no {on_judged(rows)}"
    known = [row for row in rows if row.turns_judged]
    if known:
        inside = spread([scale * row.drop_judged for row in known], form, " to ") + unit
        there = f"not significantly on the {on_judged(known)}: by {inside} (adjusted {_p(smallest, 'at least', known)})"
    model = [scale * row.expected for row in rows if not math.isnan(row.expected)]
    drop += f" ({spread(model, form)}{unit} expected by the hole model; " if model else " ("
    return f"{moved} by {drop}adjusted {_p(largest, 'at most', rows)}), but {there}; {fall_line(rows, whose)}"


def change_line(rows: Sequence[Any]) -> str:
    """Return the limit of changes to which rule 2 applies, for rows of the table ``measures``."""
    change = spread([row.change for row in rows], "{:+.3f}", " to ")
    there = f"there are no {on_judged(rows)}"
    known = [row for row in rows if row.turns_judged]
    if known:
        there = f"on the {on_judged(known)} it is {spread([row.change_judged for row in known], '{:+.3f}', ' to ')}"
    return f"missing judgments may explain part or all of the change of {change}: {there}; {fall_line(rows)}"


def on_judged(rows: Sequence[Any]) -> str:
    """Return the turns of rows or fits on which rule 2 tests: ``85 turns whose top 3 passages are judged in both states``."""
    number = [row.turns_judged for row in rows]
    turns = (
        f"{spread(number, '{:,}')} {verb(int(max(number)), 'turn', 'turns')} "
        if any(number)
        else "turns "
    )
    return f"{turns}whose top {_depth(rows)} {verb(int(rows[0].depth), 'passage is', 'passages are')} judged in both states"


def _depth(rows: Sequence[Any]) -> str:
    return spread([row.depth for row in rows], "{:,}", " to ")


def _p(p: float, limit: str, rows: Sequence[Any]) -> str:
    text = p_text(p)
    return text if len(rows) == 1 or "<" in text else text.replace("=", limit)


def spread(values: Iterable[float], form: str, between: str = "–") -> str:
    """Return the smallest and the largest value, or one if both look the same: ``45–51``."""
    known = sorted(values)
    return between.join(dict.fromkeys(_plain(form.format(one)) for one in (known[0], known[-1])))


def _plain(text: str) -> str:
    """Return a number with a minus sign, but without one if it is 0."""
    return text.replace("-", "−") if text.strip("-+0.") else text.lstrip("-")
