"""Missing scores of files in two states: how many there are, and what they leave open.

Scores may be missing because of the answers themselves, for example if a judge fails on bad ones. So if many are missing, a
change over the common turns shows little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from robustcs.evaluation.missing_scores import MissingScores
from robustcs.statistics import Floats
from robustcs.studies.compare.states import ProjectState
from robustcs.wording import counted, verb

#: Share of missing scores in a state above which they leave a comparison open.
MANY = 0.05
#: A conclusion about two systems that missing scores decide.
OPEN = "open: scores are missing"


@dataclass(frozen=True)
class Missing:
    """Missing scores of one system in both states.

    old, new
        Turns whose score is missing in this state.
    turns
        Turns of both states.
    """

    old: Set[str] = field(default_factory=frozenset)
    new: Set[str] = field(default_factory=frozenset)
    turns: Set[str] = field(default_factory=frozenset)

    @property
    def many(self) -> bool:
        """Whether more than :data:`MANY` of the scores of a state are missing."""
        return many(len(self.old), len(self.new), len(self.turns))

    def told(self, whose: str = "") -> list[str]:
        """Return a clause for each state with missing scores; ``whose`` names the system, such as `` of qr``."""
        numbers = (("old", len(self.old)), ("new", len(self.new)))
        return [missing_line(lost, len(self.turns), when, whose) for when, lost in numbers if lost]


def many(old: int, new: int, turns: int) -> bool:
    """Return whether many scores are missing: see :attr:`Missing.many`."""
    return max(old, new) > (MANY + 1e-9) * turns


def missing_line(lost: int, turns: int, when: str, whose: str = "") -> str:
    """Return ``8 of 45 scores are missing in the new state``."""
    return f"{lost} of {counted(turns, 'score')}{whose} {verb(lost, 'is', 'are')} missing in the {when} state"


def missing_scores(old: ProjectState, new: ProjectState) -> dict[str, Missing]:
    """Return the missing scores of the systems that both states have.

    In a file in which an absent score is missing, so is the score of a turn that only the other state has.
    """
    known = [_turns_of_files(state) for state in (old, new)]
    found = {}
    for name in old.systems.keys() & new.systems.keys():
        both = old.systems[name], new.systems[name]
        if not any(one.absent_is_missing or one.unscored for one in both):
            continue
        own = {turn for one in both for scores in one.scores.values() for turn in scores}
        every = known[0] | known[1] | own
        lost = [
            set(one.unscored)
            | (
                every - turns - {*next(iter(one.scores.values()), ())}
                if one.absent_is_missing
                else set()
            )
            for one, turns in zip(both, known, strict=True)
        ]
        found[name] = Missing(lost[0], lost[1], every)
    return found


def _turns_of_files(state: ProjectState) -> set[str]:
    """Return the turns that a state's files of per-turn scores have, also those whose scores are missing."""
    files = [one for one in state.systems.values() if one.absent_is_missing or one.unscored]
    return {
        turn for one in files for turns in (*one.scores.values(), one.unscored) for turn in turns
    }


@dataclass(frozen=True, eq=False)
class Unstored(MissingScores):
    """Scores of a state, which stores only turns that all of its files score.

    So if one score of a pair is missing for a turn, the difference may take any value there.
    """

    def differences(self, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
        """Return the lowest and highest differences of the pairs: float64[P, T]."""
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        known, unknown = (
            self.values[first] - self.values[second],
            self.missing[first] | self.missing[second],
        )
        span = self.range[1] - self.range[0]
        return np.where(unknown, -span, known), np.where(unknown, span, known)


def unstored(
    scores: Sequence[Mapping[str, float]], lost: Sequence[Set[str]], turns: Iterable[str]
) -> Unstored:
    """Return the scores of systems on ``turns``, of which the turns ``lost`` by each system are missing."""
    every = list(turns)
    values = np.array([[one.get(turn, np.nan) for turn in every] for one in scores])
    return Unstored(values, np.array([[turn in own for turn in every] for own in lost]))
