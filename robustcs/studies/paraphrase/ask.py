"""Other words for the turns of a workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import get_args

from robustcs.errors import UsageError
from robustcs.inputs.turns import turn_depth
from robustcs.programs.runner import TIMEOUT
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.retrieval.generation import Decoding
from robustcs.retrieval.rewriting import SEPARATOR
from robustcs.similarity.context_removal import tagged_nouns, without_nouns
from robustcs.studies.paraphrase.analysis import Texts, Variations, vary
from robustcs.studies.paraphrase.makers import PROMPTS, Model, Program
from robustcs.studies.paraphrase.stages import (
    SOURCES,
    STAGES,
    Maker,
    Paraphrased,
    Source,
    Stage,
    paraphrase,
    without_context,
)

#: What takes the place of a context remover's folder: entity removal, by :mod:`robustcs.similarity.context_removal`.
NOUNS = "nouns"
TAGGERS = ("rules", "nltk")
_OPTIONS: dict[Stage, str] = {
    "reformulate": "--reformulator",
    "paraphrase": "--paraphraser",
    "remove_context": "--context-remover",
}


@dataclass(frozen=True)
class Makers:
    """Who makes what, and how they are asked.

    folders
        Stage → the folder of a sequence-to-sequence model; for ``remove_context`` also :data:`NOUNS`.
    command
        A program that does the stages without a folder.
    prompts
        Stage → what its model gets, with ``{text}`` and ``{conversation}``.
    nouns
        What :data:`NOUNS` does to a text.
    """

    folders: Mapping[Stage, str] = field(default_factory=dict)
    command: str | None = None
    number: int = 5
    decoding: Decoding = "sampling"
    device: str = "auto"
    batch: int = 16
    timeout: float = TIMEOUT
    separator: str = SEPARATOR
    prompts: Mapping[str, str] = field(default_factory=dict)
    nouns: Callable[[str], str] = without_nouns

    def of(self, stage: Stage, workspace: Workspace) -> Maker:
        """Who makes the texts of a stage. Raises :class:`UsageError` where nobody does."""
        folder, seed = self.folders.get(stage), workspace.project.seed
        if folder == NOUNS and stage == "remove_context":
            return partial(without_context, nouns=self.nouns)
        if folder:
            return Model(
                Path(folder), seed, self.decoding, self.device, self.batch, self.separator,
                self.prompts.get(stage, PROMPTS[stage]), workspace.track,
            )  # fmt: skip
        if self.command:
            return Program(self.command, seed, self.timeout, workspace.track)
        also = f", {_OPTIONS[stage]} {NOUNS}" if stage == "remove_context" else ""
        found = f"nobody is named to {stage.replace('_', ' ')}"
        raise UsageError(
            "no-maker", found, f"name a model with {_OPTIONS[stage]} FOLDER{also}, or a program with --with COMMAND"
        )


def ask(
    workspace: Workspace,
    *,
    reformulator: str | None = None,
    paraphraser: str | None = None,
    context_remover: str | None = None,
    command: str | None = None,
    sources: Sequence[str] = (),
    number: int = 5,
    decoding: str = "sampling",
    device: str = "auto",
    batch: int = 16,
    timeout: float = TIMEOUT,
    separator: str = SEPARATOR,
    prompts: Mapping[str, str] | None = None,
    keep_feedback: bool = False,
    tagger: str = "rules",
) -> Variations | Paraphrased:
    """Other words for the project's turns: by models where any is named, else labelled variations by rules.

    reformulator, paraphraser, context_remover
        Folders of sequence-to-sequence models; ``nouns`` as context remover is a rule.
    command
        A program that does the stages that have no folder; see docs/programs.md.
    sources
        What is paraphrased: ``raw`` (reformulated first) and ``manual`` turns; by default both, where they are given.
    number, decoding
        Paraphrases of every turn and source; how a model finds them: ``sampling`` or ``beam``.
    device, batch
        Where models work (``auto``, ``cpu``, ``cuda``), and on how many texts at a time.
    timeout
        Seconds without an answer after which a program is ended.
    separator, prompts
        What stands between turns; stage → what its model gets, with ``{text}`` and ``{conversation}``.

    keep_feedback
        Leave what stands before the last sentence of a turn: statements that are no feedback, such as a context.
    tagger
        What finds nouns, for ``nouns`` and Table 9: ``rules`` (word lists) or ``nltk`` (its part-of-speech tagger).

    Raises :class:`UsageError` where neither raw nor manual turns are given, no turn id says its place in a conversation, or a
    stage has nobody who does it.
    """
    named = {"reformulate": reformulator, "paraphrase": paraphraser, "remove_context": context_remover}
    folders: dict[Stage, str] = {stage: str(named[stage]) for stage in STAGES if named[stage]}
    _check(sources, SOURCES, "source", f"write {' or '.join(SOURCES)}")
    _check([decoding], get_args(Decoding), "decoding", "write sampling or beam")
    _check(list(prompts or {}), STAGES, "stage of a prompt", f"write {', '.join(STAGES)}")
    _check([tagger], TAGGERS, "tagger", f"write {' or '.join(TAGGERS)}")
    original, human = _turns(workspace)
    seed = workspace.project.seed
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0, (f"seed {seed}",))
    if not folders and command is None:
        return vary(original, human, evaluated, seed)
    nouns = tagged_nouns() if tagger == "nltk" else without_nouns
    if tagger == "nltk":
        evaluated = replace(evaluated, notes=(*evaluated.notes, "nouns by NLTK's tagger"))
    makers = Makers(folders, command, number, decoding, device, batch, timeout, separator, prompts or {}, nouns)  # type: ignore[arg-type]
    given: dict[Source, Texts] = {"raw": original, "manual": human}
    lacking = [source for source in sources if not given[source]]  # type: ignore[index]
    if lacking:
        role = "original" if lacking[0] == "raw" else "human"
        raise UsageError("no-texts", f"no {lacking[0]} turns are given", f"name them with --rewrites {role}=FILE")
    chosen = [source for source in SOURCES if given[source] and (not sources or source in sources)]
    stages: list[Stage] = [stage for stage in STAGES if stage != "reformulate" or "raw" in chosen]
    by_stage = {stage: makers.of(stage, workspace) for stage in stages}
    return paraphrase(original, human, by_stage, number, chosen, evaluated, not keep_feedback, nouns)


def _check(values: Sequence[str], allowed: Sequence[str], what: str, advice: str) -> None:
    for value in values:
        if value not in allowed:
            raise UsageError("bad-setting", f"no {what} is named {value!r}", advice)


def _turns(workspace: Workspace) -> tuple[Texts, Texts]:
    """Raw and manual turns."""
    texts = workspace.texts
    original, human = texts.get("original", {}), texts.get("human", {})
    if not original and not human:
        raise UsageError("no-texts", "no turns are given", "name them with --rewrites original=FILE and --rewrites human=FILE")
    if original and human and not original.keys() & human.keys():
        raise UsageError(
            "no-common-turns", "Original and Human have no turn in common",
            f"check their turn ids: {next(iter(original))!r} and {next(iter(human))!r}",
        )  # fmt: skip
    if not any(turn_depth(turn) is not None for turn in {**original, **human}):
        some = next(iter({**original, **human}))
        raise UsageError(
            "no-turn-id", f"no turn id says its place in a conversation ({some!r})", "write TOPIC_DEPTH, such as 31_4"
        )
    return original, human
