"""The passages from which the answers of a project were generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from robustcs.errors import InputError
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.turns import Expected, answered_by_turns, strangers
from robustcs.inputs.answer_traces import Trace
from robustcs.inputs.paths import parts_of, shown
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import identify
from robustcs.project.model import AnswerFiles
from robustcs.project.workspace import Workspace
from robustcs.wording import counted, some_of

Passages = Mapping[str, Sequence[str]]


class MadeOf:
    """The passages from which answers were generated: a run given for them, else those their file states, else a run's top."""

    def __init__(self, workspace: Workspace, traces: Mapping[str, Trace], gold: Sequence[str], notes: list[str]):
        self.workspace, self.traces, self.notes = workspace, traces, notes
        project, files, responses = workspace.project, workspace.project.answers or AnswerFiles(), traces
        self.files, self.gold = files, gold
        self.tasks = {name for name, trace in traces.items() if trace.passages and not trace.cited}
        self.human_names = {part.name for part in project.formulations.values() if part.role == "human"}
        own = next((part.run for part in project.formulations.values() if part.role == "human" and part.run), None)
        # what a file of answers states goes before the assumption that the answers are from the run of the same name
        runs = {name: path for name, path in {**project.systems, **files.runs}.items()
                if name in responses and (name in files.runs or not traces[name].passages)}  # fmt: skip
        human = files.human or own
        every = list(dict.fromkeys([*runs.values(), *([human] if human and (runs or files.human) else [])]))
        read: list[Passages] = self.workspace.per_run(
            [("passages", path) for path in every], partial(top_passages, depth=files.depth)
        )
        tops = dict(zip(every, read, strict=True))
        given = {*files.runs.values(), files.human}
        unrelated = {path for path in every if tops[path].keys().isdisjoint(gold)} if gold else set()
        expected = Expected(tuple(gold), "the gold information")
        if wrong := [path for path in every if path in unrelated & given]:
            raise InputError(strangers(expected, [answered_by_turns("", path, tops[path], expected) for path in wrong]))
        if unrelated:
            self.notes.append(f"runs of other turns ignored: {some_of([shown(path) for path in unrelated])}")
        self.runs = {name: path for name, path in runs.items() if path not in unrelated}
        self.human = human if human and human in tops and human not in unrelated else None
        self.tops = tops
        if self.runs:
            self.notes.append(
                f"assumption: each answer was generated from the top {counted(files.depth, 'passage')} of its run"
            )
        if self.human is not None and any(not self.is_human(name) for name in responses):
            self.notes.append(f"assumption: a perfect rewriter would retrieve the passages of {self.human}")
        self.given = {name: self._given(name) for name in responses}

    def is_human(self, name: str) -> bool:
        """Return whether a system answers the human question."""
        return name in self.human_names or (self.human is not None and self.runs.get(name) == self.human)

    @property
    def of_human(self) -> Passages | None:
        """Turn → passages of the human question; None if unknown."""
        return None if self.human is None else self.tops[self.human]

    def _given(self, name: str) -> Passages | None:
        if name in self.runs:
            return self.tops[self.runs[name]]
        if name in self.tasks:
            return self.traces[name].passages
        path = self.files.answered.get(name)
        if path is None or (found := identify(parts_of(path)[0])) is None or "run" not in found.kinds:
            if self.gold:
                self.notes.append(f"the passages of {name} are unknown, and so are the causes of its missed items")
            return None
        self.notes.append(f"{name}: assumption: each answer was generated from its references alone")
        return top_passages(rank_run(read_run(path, name), self.workspace.project.policy), None)


def top_passages(ranking: Ranking, depth: int | None) -> Passages:
    """Return turn → top ``depth`` passages, or all passages if ``depth`` is None."""
    return dict(ranking.by_turn(depth))
