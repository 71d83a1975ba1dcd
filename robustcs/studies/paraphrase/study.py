"""The command ``robustcs paraphrase``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.studies.signature import Folder, Opt, at_least
from robustcs.studies.study import SEED, Call, Command, check_common_turns

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.paraphrase import stages
    from robustcs.studies.paraphrase.analysis import TurnTexts, Variations
    from robustcs.studies.paraphrase.stages import Paraphrased


def ask(
    workspace: Workspace,
    *,
    command: Annotated[str, Opt("COMMAND", flag="--with")] | None = None,
    context_remover: Annotated[Literal["nouns", "nltk"], Opt(needs="--with")] | None = None,
    sources: Annotated[
        tuple[Literal["raw", "manual"], ...], Opt(flag="--turns", needs="--with", rare=True)
    ] = (),
    keep_feedback: Annotated[bool, Opt(needs="--with", rare=True)] = False,
    number: Annotated[int, at_least(1, 1000, needs="--with")] = 5,
    timeout: Annotated[int, at_least(1, 604_800, "SECONDS", needs="--with", rare=True)] = 600,
) -> Variations | Paraphrased:
    """Create other wordings of each turn, by rules or with a program.

    Without a program, rules create up to six variations of each turn, labelled by category: omit a phrase from an earlier
    question (antecedent), replace it by a pronoun (pronoun), misspell a word (typo), exchange two words (word order), omit
    function words (function words), omit the opening of the question (ellipsis).

    With a program, the stages of ECAsT run: remove feedback and revealments, reformulate raw turns, paraphrase, remove the
    context again, drop paraphrases that are too similar. The program reads and writes JSONL (docs/programs.md); python -m
    robustcs.programs.models runs local sequence-to-sequence models. Answers are stored and never requested twice.

    command
            Program for the stages; reads and writes one JSON object per line.

    context_remover
            Remove the context by a rule instead of the program: remove nouns, found by word lists (nouns) or by NLTK's
            part-of-speech tagger (nltk; install its data first). The table bleu uses the same rule.

    sources
            Turns to paraphrase (default: all).

    keep_feedback
            Keep the text before the last sentence of a turn, even if it is feedback.

    number
            Paraphrases per turn and source.

    timeout
        Stop the program after SECONDS without a useful answer.

    Raises :class:`UsageError` if there are no raw or manual turns, or the program cannot be started or fails without an answer.

    Examples:
      robustcs paraphrase --vary --folder varied
      robustcs paraphrase --with 'python ask_model.py' --number 8 --folder made
      robustcs paraphrase --folder made \\
          --with 'python -m robustcs.programs.models --paraphrase t5-para'
      robustcs testsets --paraphrases made/paraphrases.csv --sets 10 --folder sets
    """
    from robustcs.inputs.turns import turn_sort_key
    from robustcs.project.conversations import conversations_of
    from robustcs.result import Evaluated
    from robustcs.similarity.stripping import tagged_nouns, without_nouns
    from robustcs.studies.paraphrase import stages
    from robustcs.studies.paraphrase.analysis import vary
    from robustcs.studies.paraphrase.steps import program

    original, human = prepare(workspace)
    seed = workspace.project.seed
    conversations = conversations_of(workspace, sorted({*original, *human}, key=turn_sort_key))
    evaluated = Evaluated(
        workspace.project.policy, "texts", 0, 0, (f"seed {seed}",), conversations=conversations
    )
    if command is None:
        if context_remover:
            raise UsageError(
                "no-maker",
                "the context remover needs a program",
                Message("name one with ", OptionName("with", "COMMAND")),
            )
        return vary(original, human, evaluated, seed)
    given = {"raw": original, "manual": human}
    for source in sources:
        if not given.get(source):
            role = "original" if source == "raw" else "human"
            raise UsageError(
                "no-texts",
                f"no {source} turns are given",
                Message("add ", OptionName("rewrites", f"{role}=FILE")),
            )
    nouns = tagged_nouns() if context_remover == "nltk" else without_nouns
    if context_remover == "nltk":
        evaluated = replace(evaluated, notes=(*evaluated.notes, "nouns by NLTK's tagger"))
    makers: dict[stages.Stage, stages.Maker] = dict.fromkeys(
        stages.STAGES, program(command, seed, timeout, workspace)
    )
    if context_remover:
        makers["remove_context"] = partial(stages.without_context, nouns=nouns)
    chosen = [
        source for source in stages.SOURCES if given[source] and (not sources or source in sources)
    ]
    return stages.paraphrase(
        original, human, makers, number, chosen, evaluated, not keep_feedback, nouns
    )


def prepare(workspace: Workspace) -> tuple[TurnTexts, TurnTexts]:
    """Read and check the inputs. Return the raw and the manual turns."""
    from robustcs.project.requirements import require_turns

    original, human = (workspace.texts.get(role, {}) for role in ("original", "human"))
    require_turns(original or human)
    if original and human:
        check_common_turns("Original", original, "Human", human)
    return original, human


def _run(
    call: Call,
    vary: bool = False,
    folder: Folder | None = None,
    overwrite: Annotated[bool, Opt(needs="--folder")] = False,
    **settings: Any,
) -> None:
    """Run the command and write its files.

    vary
            Create variations by rules (default without --with).

    folder
            Write paraphrases.csv to this folder; with --with, also sheet.csv.

    overwrite
            Replace files of --folder that have other content.
    """
    from robustcs.documents.files import write_folder
    from robustcs.studies.paraphrase.steps import files_of

    if vary and settings["command"]:
        raise UsageError(
            "two-modes",
            "--vary and --with exclude each other",
            "run robustcs paraphrase twice, with one each",
        )
    workspace = call.workspace()
    result = ask(workspace, **settings)
    written = write_folder(folder, files_of(result), overwrite) if folder else []
    call.emit(workspace, result)
    if written:
        call.tell(
            f"wrote {', '.join(map(str, written))}; next: robustcs testsets --paraphrases {written[0]}"
        )
    else:
        call.tell("no file written; add --folder DIR to write paraphrases.csv")


COMMAND = Command(ask, ("rewrites", *SEED), retrieves=False, run=_run)
