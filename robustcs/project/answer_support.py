"""What supports the answers of a project: the passages from which they were generated, and a program that checks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from robustcs.errors import InputError, ProgramError
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.turns import Expected, covered_by_turns, strangers
from robustcs.inputs.answers import RESPONSES, Response, Trace
from robustcs.inputs.paths import parts_of, shown
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import identify
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import ProgramCall, Track, call_program, program_identity
from robustcs.project.model import AnswerFiles
from robustcs.project.workspace import Workspace
from robustcs.wording import Note, counted, some_of

Passages = Mapping[str, Sequence[str]]


class MadeOf:
    """The passages from which answers were generated: a run given for them, else those their file states, else a run's top."""

    def __init__(
        self,
        workspace: Workspace,
        traces: Mapping[str, Trace],
        gold: Sequence[str],
        notes: list[str],
    ):
        self.workspace, self.traces, self.notes = workspace, traces, notes
        project, files, responses = (
            workspace.project,
            workspace.project.answers or AnswerFiles(),
            traces,
        )
        self.files, self.gold = files, gold
        self.tasks = {name for name, trace in traces.items() if trace.passages and not trace.cited}
        self.human_names = {
            part.name for part in project.formulations.values() if part.role == "human"
        }
        own = next(
            (
                part.run
                for part in project.formulations.values()
                if part.role == "human" and part.run
            ),
            None,
        )
        # what a file of answers states goes before the assumption that the answers are from the run of the same name
        runs = {name: path for name, path in {**project.systems, **files.runs}.items()
                if name in responses and (name in files.runs or not traces[name].passages)}  # fmt: skip
        human = files.human or own
        every = list(
            dict.fromkeys([*runs.values(), *([human] if human and (runs or files.human) else [])])
        )
        read: list[Passages] = self.workspace.per_run(
            [("passages", path) for path in every], partial(top_passages, depth=files.depth)
        )
        tops = dict(zip(every, read, strict=True))
        given = {*files.runs.values(), files.human}
        unrelated = (
            {path for path in every if tops[path].keys().isdisjoint(gold)} if gold else set()
        )
        expected = Expected(tuple(gold), "the gold information")
        if wrong := [path for path in every if path in unrelated & given]:
            raise InputError(
                strangers(
                    expected, [covered_by_turns("", path, tops[path], expected) for path in wrong]
                )
            )
        if unrelated:
            self.notes.append(
                f"runs of other turns ignored: {some_of([shown(path) for path in unrelated])}"
            )
        self.runs = {name: path for name, path in runs.items() if path not in unrelated}
        self.human = human if human and human in tops and human not in unrelated else None
        self.tops = tops
        if self.runs:
            self.notes.append(
                f"assumption: each answer was generated from the top {counted(files.depth, 'passage')} of its run"
            )
        if self.human is not None and any(not self.is_human(name) for name in responses):
            self.notes.append(
                f"assumption: a perfect rewriter would retrieve the passages of {self.human}"
            )
        self.given = {name: self._given(name) for name in responses}

    def is_human(self, name: str) -> bool:
        """Return whether a system answers the human question."""
        return name in self.human_names or (
            self.human is not None and self.runs.get(name) == self.human
        )

    @property
    def of_human(self) -> Passages | None:
        """Turn → passages of the human question; None if unknown."""
        return None if self.human is None else self.tops[self.human]

    def _given(self, name: str) -> Passages | None:
        if name in self.runs:
            return self.tops[self.runs[name]]
        if name in self.tasks:
            return self.traces[name].passages
        path = self.files.of_systems.get(name)
        if (
            path is None
            or (found := identify(parts_of(path)[0])) is None
            or "run" not in found.kinds
        ):
            if self.gold:
                alone = (
                    f"the passages of {name} are unknown, and so are the causes of its missed items"
                )
                self.notes.append(
                    Note.of(
                        name,
                        "",
                        "its passages are unknown, and so are the causes of its missed items",
                        alone,
                    )
                )
            return None
        self.notes.append(
            Note.of(name, "", "assumption: each answer was generated from its references alone")
        )
        return top_passages(rank_run(read_run(path, name), self.workspace.project.policy), None)


def top_passages(ranking: Ranking, depth: int | None) -> Passages:
    """Return turn → top ``depth`` passages, or all passages if ``depth`` is None."""
    return dict(ranking.by_turn(depth))


# ---------------------------------------------------------------- what a program of the user says of answers
#: (system, turn).
Key = tuple[str, str]


class ProgramSupport(NamedTuple):
    """What the program said of an answer; None for what it left open. ``supported``: by sentence, None if not compared."""

    response: Response | None
    supported: Sequence[bool | None] | None


@dataclass(frozen=True)
class Program:
    """The command, and what it said of every answer; ``notes`` report failures."""

    command: str
    track: Track
    store: OutputStore = field(default_factory=OutputStore)

    def call(
        self, requests: Mapping[Key, Mapping[str, Any]]
    ) -> tuple[dict[Key, ProgramSupport], list[str]]:
        """Return the answers of the program by key, and a note on those without one. Stored answers are not requested again.

        Each request has ``question``, ``answer``, ``sentences`` and ``passages`` (id and text). An answer has ``response``,
        ``supported`` (true, false or null by sentence), or both.

        Raises :class:`ProgramError` if the program cannot be started or gives no usable answer.
        """
        keys = {str(number): key for number, key in enumerate(requests)}
        by_key: dict[str, Mapping[str, Any]] = {
            number: requests[key] for number, key in keys.items()
        }
        maker = f"answers {program_identity(self.command)}"
        found = dict(self.store.get(maker, by_key))
        open_ = [
            {"id": number, **request} for number, request in by_key.items() if number not in found
        ]
        complaint = ""
        if open_:
            replies = call_program(
                ProgramCall(self.command), open_, lambda fresh: self.store.put(maker, fresh, by_key), accept=_usable, what="asking",
                track=self.track,
            )  # fmt: skip
            found |= replies.answers
            complaint = replies.complaint
        said = {
            keys[number]: one
            for number, reply in found.items()
            if (one := _said(reply, by_key[number]))
        }
        lacking = len(requests) - len(said)
        if requests and not said:
            why = (
                f"it {complaint}"
                if complaint
                else "its answers have neither response nor supported"
            )
            what = f": no usable answer ({why})"
            raise ProgramError("no-answers", self.command, what, "see docs/programs.md")
        note = f"the program gave no usable answer to {counted(lacking, 'request')}; words decide there"
        return said, [note] if lacking else []


def _usable(reply: Mapping[str, Any]) -> bool:
    supported = reply.get("supported")
    fits = supported is None or (
        isinstance(supported, list) and all(one in (True, False, None) for one in supported)
    )
    return (
        fits
        and reply.get("response") in (None, *RESPONSES)
        and ("response" in reply or "supported" in reply)
    )


def _said(reply: Mapping[str, Any], request: Mapping[str, Any]) -> ProgramSupport | None:
    supported = reply.get("supported")
    if supported is not None and len(supported) != len(request["sentences"]):
        return None
    return ProgramSupport(
        reply.get("response"),
        None if supported is None else [None if one is None else bool(one) for one in supported],
    )
