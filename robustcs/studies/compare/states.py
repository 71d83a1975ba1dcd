"""The state of a project at one moment, as a comparison takes it from the records of its turns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robustcs.conversations import Places
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.records.schema import InputFile, SystemGroup

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
        The same for the bounds of the scores (scope ``run``); only for measures of runs that have
        bounds.
    rankings
        Turn → a digest of its ranking, down to :attr:`ProjectState.depth`; empty for a system of
        per-turn scores.
    texts
        Turn → question text, if known.
    heads
        Turn → its best passages with their grades (None if unjudged), to the largest cutoff of the
        measures and at most 100; for runs only.
    below
        Turn → number of unjudged passages that the run has below those that are known, if any.
    lacking
        Turns that a file of per-turn scores misses, and that score 0.
    outcomes
        Turn → outcome of the system's answer, if it has answers.
    unscored
        Turns whose score is missing in a file of per-turn scores.
    absent_is_missing
        Whether the score of a turn that the system lacks is missing: true for files of per-turn
        scores that are not a run's.
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

    def covered(self, metric: str) -> set[str]:
        """Return the turns that the system covers, of those scored by ``metric``.

        Turns that it misses and that therefore score 0 are not among them. For an outcome, return
        all turns of the answers.
        """
        if metric in OUTCOMES and metric not in self.scores:
            return set(self.outcomes)
        scored = self.scores.get(metric, ())
        lacking = set(self.lacking)
        return {turn for turn in scored if turn not in lacking and not self._is_empty(turn)}

    def _is_empty(self, turn: str) -> bool:
        """Return whether the system is a run without passages for the turn: the digest is empty."""
        return turn in self.rankings and not self.rankings[turn]

    def judged_share(self, turns: Iterable[str], depth: int) -> float:
        """Return the judged share of the passages in the top ``depth``; nan without passages."""
        judged = passages = 0
        for turn in turns:
            for _, grade in self.heads.get(turn, ())[:depth]:
                passages += 1
                if grade is not None:
                    judged += 1
        return judged / passages if passages else math.nan


@dataclass(frozen=True)
class ProjectState:
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
    depth
        The rank down to which rankings are compared; None: they are known as a whole.
    """

    name: str
    policy: Mapping[str, Any]
    thresholds: Sequence[str]
    inputs: Sequence[InputFile]
    systems: Mapping[str, SystemState]
    judgments: Mapping[str, str]
    missing: int
    formulations: Sequence[str] = ()
    groups: Mapping[str, SystemGroup] = field(default_factory=dict)
    conversations: Places = field(default_factory=dict)
    depth: int | None = None

    @property
    def turns(self) -> list[str]:
        """All turns with a score, in order of first appearance."""
        turns: dict[str, None] = {}  # a set that keeps the order
        for system in self.systems.values():
            for scores in system.scores.values():
                turns.update(dict.fromkeys(scores))
        return list(turns)
