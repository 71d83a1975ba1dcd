"""``robustcs paraphrase``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from robustcs.studies.devices import device_options
from robustcs.studies.study import SEED, Call, Command

if TYPE_CHECKING:
    from robustcs.studies.paraphrase.analysis import Variations
    from robustcs.studies.paraphrase.stages import Paraphrased


def _run(
    call: Call, vary: bool, folder: str | None, overwrite: bool, prompt: tuple[str, ...], sources: tuple[str, ...], **asked: Any
) -> None:
    from robustcs.documents.files import write_folder
    from robustcs.errors import UsageError
    from robustcs.studies.paraphrase.ask import ask
    from robustcs.studies.paraphrase.show import show

    named = [name for name in ("reformulator", "paraphraser", "context_remover", "command") if asked[name]]
    if vary and named:
        option = "--with" if named[0] == "command" else f"--{named[0].replace('_', '-')}"
        raise UsageError("two-modes", f"--vary and {option} together", "make variations and paraphrases one after the other")
    workspace = call.workspace()
    result = ask(workspace, sources=sources, prompts=dict(map(_prompt, prompt)), **asked)
    written = write_folder(folder, _files(result), overwrite) if folder else []
    call.emit(workspace, result, show(result))
    if written:
        call.tell(f"wrote {', '.join(map(str, written))}: robustcs testsets --paraphrases {written[0]}")
    else:
        call.tell("nothing is written yet: --folder DIR writes paraphrases.csv")


def _prompt(text: str) -> tuple[str, str]:
    from robustcs.errors import UsageError

    stage, equals, template = text.partition("=")
    if not (stage and equals and ("{text}" in template or "{conversation}" in template)):
        advice = "write --prompt STAGE=TEMPLATE, with {text} or {conversation} in it"
        raise UsageError("bad-prompt", f"--prompt {text}", advice)
    return stage, template


def _files(result: Variations | Paraphrased) -> dict[str, str]:
    """The files that ``--folder`` gets: name → content."""
    from robustcs.documents.paraphrase_files import paraphrases_csv, sheet_csv
    from robustcs.studies.paraphrase.analysis import Variations

    if isinstance(result, Variations):
        rows = [(row.turn, row.manual, row.raw, row.category) for row in result.variations.itertuples()]
        return {"paraphrases.csv": paraphrases_csv(rows)}
    made = list(result.paraphrases.itertuples(index=False, name=None))
    return {
        "paraphrases.csv": paraphrases_csv((turn, manual, raw, "") for turn, _, _, manual, raw in made),
        "sheet.csv": sheet_csv(made),
    }


COMMAND = Command(
    """Ask the same turns in other words: by models in stages, or by rules that need none.

    Without a model every turn is asked in up to six other ways, each labelled: what an earlier question named is left out
    (antecedent) or a pronoun stands for it (pronoun), a neighbouring key is hit (typo), two words change places (word order),
    function words or the opening of the question are left out (function words, ellipsis).

    With models, as ECAsT was made: feedback and revealments are taken off, raw turns are reformulated, turns are paraphrased,
    the context is taken off again along the conversation, and what is too similar is left out. Each stage is a local
    sequence-to-sequence model, or a program that is asked over JSONL (docs/programs.md). What was made once is kept.

    \b
    Examples:
      robustcs paraphrase --vary --folder varied
      robustcs paraphrase --with 'python ask_model.py' --number 8 --folder made
      robustcs paraphrase --reformulator t5-cqr --paraphraser t5-para \\
          --context-remover t5-cr --device cuda --folder made
      robustcs testsets --paraphrases made/paraphrases.csv --sets 10 --folder sets
    """,
    uses=("rewrites", *SEED),
    parameters=(
        click.Option(["--vary"], is_flag=True, help="Make variations by rules (what is done where no model is named)."),
        click.Option(["--reformulator"], metavar="FOLDER", help="Model that makes raw turns stand alone, such as T5-CQR."),
        click.Option(["--paraphraser"], metavar="FOLDER", help="Model that writes paraphrases."),
        click.Option(["--context-remover"], metavar="FOLDER",
                     help="Model that takes the context off, such as T5-CR; nouns is a rule instead."),
        click.Option(["--tagger"], type=click.Choice(["rules", "nltk"]), default="rules", show_default=True,
                     help="What finds nouns, for --context-remover nouns and table bleu: word lists, or NLTK's part-of-speech"
                     " tagger, whose data you install."),
        click.Option(["--with", "command"], metavar="COMMAND",
                     help="Program that does the stages without a folder: JSON objects a line on stdin and stdout."),
        click.Option(["--source", "sources"], multiple=True, type=click.Choice(["raw", "manual"]),
                     help="Turns that are paraphrased (default: all that are given)."),
        click.Option(["--keep-feedback"], is_flag=True,
                     help="Leave what stands before the last sentence of a turn, where that is no feedback."),
        click.Option(["--number"], type=click.IntRange(1, 1000), default=5, show_default=True, metavar="N",
                     help="Paraphrases of every turn and source."),
        click.Option(["--decoding"], type=click.Choice(["sampling", "beam"]), default="sampling", show_default=True,
                     help="How a model finds several paraphrases."),
        *device_options("auto", 16),
        click.Option(["--timeout"], type=click.IntRange(1, 604_800), default=600, show_default=True, metavar="SECONDS",
                     help="Stop the program after SECONDS without a useful answer."),
        click.Option(["--separator"], default=" ||| ", show_default=True, metavar="TEXT",
                     help="Between the turns of a conversation, for models."),
        click.Option(["--prompt"], multiple=True, metavar="STAGE=TEMPLATE",
                     help="What a model gets: {text}, or {conversation} with the earlier turns; STAGE is reformulate,"
                     " paraphrase or remove_context."),
        click.Option(["--folder"], metavar="DIR", help="Write paraphrases.csv, and of models sheet.csv, here."),
        click.Option(["--overwrite"], is_flag=True, help="Replace files of --folder that hold something else."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
