"""The state of a project at one moment, small enough to store."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from robustcs.conversations import Places
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.stored import sealed_text

#: Format of a stored state. Format 1 had no checksum.
FORMAT = "robustcs state 2"

#: Least and largest number of passages stored for a turn.
SHOWN, DEEPEST = 5, 100

#: Measure → turn → number.
ByTurn = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class SystemState:
    """One system.

    role
        original, qr or human; empty for other runs.
    scores
        Measure → turn → score.
    low, high
        The same for the bounds of the scores (scope ``run``), for measures of runs that have bounds.
    rankings
        Turn → a digest of its ranking; empty for a system of per-turn scores.
    texts
        Turn → question text, if known.
    heads
        Turn → its best passages with their grades (null if unjudged), to the largest cutoff of the measures and at most
        :data:`DEEPEST`; for runs only.
    below
        Turn → number of deeper unjudged passages of the run.
    lacking
        Turns that a file of per-turn scores misses, and that score 0.
    outcomes
        Turn → outcome of the system's answer, if it has answers.
    unscored
        Turns whose score is missing in a file of per-turn scores.
    absent_is_missing
        Whether the score of a turn that the system lacks is missing: so for files of per-turn scores that are not a run's.
    """

    role: str
    scores: ByTurn
    low: ByTurn
    high: ByTurn
    rankings: Mapping[str, str]
    texts: Mapping[str, str]
    heads: Mapping[str, Sequence[tuple[str, int | None]]] = field(default_factory=dict)
    below: Mapping[str, int] = field(default_factory=dict)
    lacking: Sequence[str] = field(default_factory=list)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    unscored: Sequence[str] = field(default_factory=list)
    absent_is_missing: bool = False

    def answered(self, metric: str) -> set[str]:
        """Return the scored turns, without missing turns that score 0; for an outcome, all turns of the answers."""
        if metric in OUTCOMES and metric not in self.scores:
            return set(self.outcomes)
        lacking = set(self.lacking)
        return {
            turn
            for turn in self.scores.get(metric, ())
            if self.rankings.get(turn, turn) and turn not in lacking
        }

    def judged_share(self, turns: Iterable[str], depth: int) -> float:
        """Return the judged share of the passages in the top ``depth`` of ``turns``; nan without passages."""
        known = [
            grade is not None for turn in turns for _, grade in self.heads.get(turn, ())[:depth]
        ]
        return sum(known) / len(known) if known else math.nan


class _ReadState(TypedDict):
    role: str
    path: str
    sha256: str | None
    rows: int | None


class InputState(_ReadState, total=False):
    """A file that was read. The checksum is None for ``irds:``; the rows are None if they are not counted."""

    skipped: int


class GroupState(TypedDict):
    """A group with its baseline and its systems."""

    baseline: str
    sets: Sequence[str]


@dataclass(frozen=True)
class State:
    """The state of a project at one moment.

    inputs
        Every file that was read.
    policy
        The evaluation policy and its policy line.
    thresholds
        The thresholds of correct answers, as texts.
    judgments
        Turn → a digest of its judgments; empty without qrels.
    missing
        Number of turns that at least one system misses.
    formulations, groups
        Names of the formulations, and the groups by name.
    conversations
        Turn → its conversation and its place there, if they come from fields of files.
    """

    name: str
    policy: Mapping[str, Any]
    thresholds: Sequence[str]
    inputs: Sequence[InputState]
    systems: Mapping[str, SystemState]
    judgments: Mapping[str, str]
    missing: int
    formulations: Sequence[str] = ()
    groups: Mapping[str, GroupState] = field(default_factory=dict)
    conversations: Places = field(default_factory=dict)

    @property
    def turns(self) -> list[str]:
        """All turns with a score."""
        every = (
            turn
            for system in self.systems.values()
            for scores in system.scores.values()
            for turn in scores
        )
        return list(dict.fromkeys(every))

    def to_json(self) -> str:
        """Return the state as JSON; :func:`robustcs.project.state.read_state` reads it."""
        content = {
            **vars(self),
            "systems": {name: vars(system) for name, system in self.systems.items()},
        }
        if not self.conversations:
            del content["conversations"]
        return sealed_text(FORMAT, content) + "\n"
