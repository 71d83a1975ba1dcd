"""Which systems are compared with which, and what a project says at one moment, small enough to be kept."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from robustcs.kept import sealed

#: The original turns behind the project's rewriter: a group that names this system gets it made, as raw texts are.
ORIGINAL_REWRITTEN = "original_rewritten"


@dataclass(frozen=True)
class RunSources:
    """Which runs come from one source, as a number for every run; what the hole model and its warnings go by.

    learned
        Told by the user: the model learns how the finds of each differ. None lets it guess.
    warned
        Sources whose own finds are looked at for warnings; None takes those that the model knows.
    names
        What ``warned`` are called.
    """

    learned: tuple[int, ...] | None = None
    warned: tuple[int, ...] | None = None
    names: Mapping[int, str] = field(default_factory=dict)


#: Nobody said where the runs come from.
UNKNOWN_SOURCES = RunSources()


@dataclass(frozen=True)
class Group:
    """Systems that are compared with one baseline, such as paraphrase sets with the original turns; all by name."""

    baseline: str
    sets: tuple[str, ...]


#: What a kept state says of itself. Those of format 1 had no checksum.
FORMAT = "robustcs state 2"

#: Passages of a turn that are kept: at least so many, for people, and at most.
SHOWN, DEEPEST = 5, 100

#: Measure → turn → number.
ByTurn = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class SystemState:
    """One system.

    role
        original, qr or human; empty for a further run.
    scores
        Measure → turn → score.
    low, high
        The same of what grades of its unjudged passages could make of them (scope ``run``), for native measures of runs.
    rankings
        Turn → a digest of its ranking; empty for a system of per-turn scores.
    texts
        Turn → question text, where known.
    heads
        Turn → its best passages with their grades (null: nobody judged it), as deep as the measures with a cut-off look and
        at most :data:`DEEPEST`; of runs.
    below
        Turn → how many unjudged passages the run has further down.
    lacking
        Turns that a file of per-turn scores lacks, and that score 0.
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

    def answered(self, metric: str) -> set[str]:
        """Return the turns that are scored and not just because a missing turn scores 0."""
        lacking = set(self.lacking)
        return {turn for turn in self.scores.get(metric, ()) if self.rankings.get(turn, turn) and turn not in lacking}

    def judged_share(self, turns: Iterable[str], depth: int) -> float:
        """Return the judged share of the passages in the top ``depth`` of ``turns``; nan without any."""
        known = [grade is not None for turn in turns for _, grade in self.heads.get(turn, ())[:depth]]
        return sum(known) / len(known) if known else math.nan


class _ReadState(TypedDict):
    role: str
    path: str
    sha256: str | None
    rows: int | None


class InputState(_ReadState, total=False):
    """A file that was read; the checksum is None for ``irds:``, the rows are where nobody counts them; ``skipped`` are more."""

    skipped: int


class GroupState(TypedDict):
    """A group: its baseline and its systems."""

    baseline: str
    sets: Sequence[str]


@dataclass(frozen=True)
class State:
    """A project at one moment.

    inputs
        Every file that was read.
    policy
        The evaluation policy and the line that states it.
    thresholds
        When an answer is correct, as texts.
    judgments
        Turn → a digest of its judgments; empty without qrels.
    missing
        Turns that a system lacks.
    formulations, groups
        Names of the formulations, and the groups by name.
    """

    name: str
    policy: Mapping[str, Any]
    thresholds: Sequence[str]
    inputs: Sequence[InputState]
    systems: Mapping[str, SystemState]
    judgments: Mapping[str, str]
    missing: int = 0
    formulations: Sequence[str] = ()
    groups: Mapping[str, GroupState] = field(default_factory=dict)

    def to_json(self) -> str:
        """As it is kept; :func:`robustcs.project.state.read_state` reads it back."""
        content = {**vars(self), "systems": {name: vars(system) for name, system in self.systems.items()}}
        return json.dumps(sealed(FORMAT, content), ensure_ascii=False, sort_keys=True) + "\n"
