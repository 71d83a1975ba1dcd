"""Other words for the turns of a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

from robustcs.documents.files import write_folder
from robustcs.documents.paraphrase_files import paraphrases_csv, sheet_csv
from robustcs.errors import UsageError
from robustcs.inputs.turns import turn_depth
from robustcs.programs.copies import Asking, ask_kept
from robustcs.programs.runner import program_identity
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.similarity.stripping import tagged_nouns, without_nouns
from robustcs.studies.paraphrase.analysis import Texts, Variations, vary
from robustcs.studies.paraphrase.show import show
from robustcs.studies.paraphrase.stages import (
    SOURCES,
    STAGES,
    Made,
    Maker,
    Paraphrased,
    Request,
    Stage,
    paraphrase,
    texts_of,
    without_context,
)
from robustcs.studies.signature import Folder, Opt, at_least
from robustcs.studies.study import SEED, Call, command


def ask(
    workspace: Workspace,
    *,
    command: Annotated[str, Opt("COMMAND", flag="--with")] | None = None,
    context_remover: Literal["nouns", "nltk"] | None = None,
    sources: Annotated[tuple[Literal["raw", "manual"], ...], Opt(flag="--source")] = (),
    keep_feedback: bool = False,
    number: Annotated[int, at_least(1, 1000)] = 5,
    timeout: Annotated[int, at_least(1, 604_800, "SECONDS")] = 600,
) -> Variations | Paraphrased:
    """Ask the same turns in other words: by a program in stages, or by rules that need none.

    Without a program, every turn is asked in up to six other ways, each labelled: what an earlier question named is left out
    (antecedent) or a pronoun stands for it (pronoun), a neighbouring key is hit (typo), two words change places (word order),
    function words or the opening of the question are left out (function words, ellipsis).

    With a program, as ECAsT was made: feedback and revealments are taken off, raw turns are reformulated, turns are
    paraphrased, the context is taken off again along the conversation, and what is too similar is left out. The program is
    asked over JSONL (docs/programs.md); python -m robustcs.programs.models is one for local sequence-to-sequence models. What
    was made once is kept.

    command
        Program that does the stages: JSON objects a line on stdin and stdout.

    context_remover
        Take the context off by a rule, not by the program: remove nouns, found by word lists (nouns) or by NLTK's
        part-of-speech tagger (nltk), whose data you install. The table bleu uses the same rule.

    sources
        Turns that are paraphrased (default: all that are given).

    keep_feedback
        Leave what stands before the last sentence of a turn, where that is no feedback.

    number
        Paraphrases of every turn and source.

    timeout
        Stop the program after SECONDS without a useful answer.

    Raises :class:`UsageError` where neither raw nor manual turns are given, no turn id says its place in a conversation, or the
    program cannot be started or ends badly without an answer.

    Examples:
      robustcs paraphrase --vary --folder varied
      robustcs paraphrase --with 'python ask_model.py' --number 8 --folder made
      robustcs paraphrase --folder made \\
          --with 'python -m robustcs.programs.models --paraphrase t5-para'
      robustcs testsets --paraphrases made/paraphrases.csv --sets 10 --folder sets
    """
    for values, allowed, what in (
        (sources, SOURCES, "source"),
        ([context_remover], (None, "nouns", "nltk"), "context remover"),
    ):
        for value in values:
            if value not in allowed:
                raise UsageError("bad-setting", f"no {what} is named {value!r}", f"write {' or '.join(filter(None, allowed))}")
    original, human = _turns(workspace)
    seed = workspace.project.seed
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0, (f"seed {seed}",))
    if command is None:
        if context_remover:
            raise UsageError("no-maker", "nobody is named to paraphrase", "name a program with --with COMMAND")
        return vary(original, human, evaluated, seed)
    given = {"raw": original, "manual": human}
    for source in sources:
        if not given.get(source):
            role = "original" if source == "raw" else "human"
            raise UsageError("no-texts", f"no {source} turns are given", f"name them with --rewrites {role}=FILE")
    nouns = tagged_nouns() if context_remover == "nltk" else without_nouns
    if context_remover == "nltk":
        evaluated = replace(evaluated, notes=(*evaluated.notes, "nouns by NLTK's tagger"))
    makers: dict[Stage, Maker] = dict.fromkeys(STAGES, program(command, seed, timeout, workspace))
    if context_remover:
        makers["remove_context"] = partial(without_context, nouns=nouns)
    chosen = [source for source in SOURCES if given[source] and (not sources or source in sources)]
    return paraphrase(original, human, makers, number, chosen, evaluated, not keep_feedback, nouns)


def program(command: str, seed: int, timeout: float, workspace: Workspace) -> Maker:
    """What asks ``command`` over JSONL, as docs/programs.md says; answers are kept by the program's content and the request."""

    def make(requests: Sequence[Request]) -> Made:
        asked = {str(place): request for place, request in enumerate(requests)}
        texts, known, replies = ask_kept(
            Asking(command, timeout=timeout), program_identity(command),
            {key: {**request.content, "seed": seed} for key, request in asked.items()}, texts_of,
            f"{requests[0].stage.replace('_', ' ')}:" if requests else "", workspace.track,
            lambda key: {"turn": asked[key].turn},
        )  # fmt: skip
        return Made(
            command, {asked[key]: some for key, some in texts.items()}, known, replies.repeated, replies.foreign,
            replies.unreadable, f"the program {replies.complaint}" if replies.complaint else "",
        )  # fmt: skip

    return make


def _turns(workspace: Workspace) -> tuple[Texts, Texts]:
    """Raw and manual turns."""
    original, human = (workspace.texts.get(role, {}) for role in ("original", "human"))
    if not original and not human:
        raise UsageError("no-texts", "no turns are given", "name them with --rewrites original=FILE and --rewrites human=FILE")
    if original and human and not original.keys() & human.keys():
        raise UsageError(
            "no-common-turns", "Original and Human have no turn in common",
            f"check their turn ids: {next(iter(original))!r} and {next(iter(human))!r}",
        )  # fmt: skip
    every = {**original, **human}
    if not any(turn_depth(turn) is not None for turn in every):
        found = f"no turn id says its place in a conversation ({next(iter(every))!r})"
        raise UsageError("no-turn-id", found, "write TOPIC_DEPTH, such as 31_4")
    return original, human


def _run(call: Call, vary: bool = False, folder: Folder | None = None, overwrite: bool = False, **asked: Any) -> None:
    """Write the files of a folder, too.

    vary
        Make variations by rules (what is done where no program is named).

    folder
        Write paraphrases.csv, and of programs sheet.csv, here.

    overwrite
        Replace files of --folder that hold something else.
    """
    if vary and asked["command"]:
        raise UsageError("two-modes", "--vary and --with together", "make variations and paraphrases one after the other")
    workspace = call.workspace()
    result = ask(workspace, **asked)
    written = write_folder(folder, _files(result), overwrite) if folder else []
    call.emit(workspace, result, show(result))
    if written:
        call.tell(f"wrote {', '.join(map(str, written))}: robustcs testsets --paraphrases {written[0]}")
    else:
        call.tell("nothing is written yet: --folder DIR writes paraphrases.csv")


def _files(result: Variations | Paraphrased) -> Mapping[str, str]:
    """The files that ``--folder`` gets: name → content."""
    if isinstance(result, Variations):
        rows = [(row.turn, row.manual, row.raw, row.category) for row in result.variations.itertuples()]
        return {"paraphrases.csv": paraphrases_csv(rows)}
    made = list(result.paraphrases.itertuples(index=False, name=None))
    csv = paraphrases_csv((turn, manual, raw, "") for turn, _, _, manual, raw in made)
    return {"paraphrases.csv": csv, "sheet.csv": sheet_csv(made)}


COMMAND = command(ask, ("rewrites", *SEED), retrieves=False, run=_run)
