"""``robustcs paraphrase``."""

from __future__ import annotations

import click

from robustcs.studies.study import SEED, Call, Command


def _run(call: Call, vary: bool, folder: str | None, overwrite: bool) -> None:
    from robustcs.documents.files import write_folder
    from robustcs.documents.paraphrase_files import paraphrases_csv
    from robustcs.studies.paraphrase.ask import ask
    from robustcs.studies.paraphrase.show import show

    workspace = call.workspace()
    result = ask(workspace)
    rows = ((row.turn, row.manual, row.raw, row.category) for row in result.variations.itertuples())
    written = write_folder(folder, {"paraphrases.csv": paraphrases_csv(rows)}, overwrite) if folder else []
    call.emit(workspace, result, show(result))
    if written:
        call.tell(f"wrote {len(result.variations):,} variations to {written[0]}: robustcs testsets --paraphrases {written[0]}")
    else:
        call.tell("nothing is written yet: --folder DIR writes the variations")


COMMAND = Command(
    """Other words for the turns of a conversation: labelled variations by rules, without any model.

    Every turn is asked in up to six other ways: what an earlier question named is left out (antecedent) or a pronoun stands
    for it (pronoun), a neighbouring key is hit (typo), two words change places (word order), function words or the opening of
    the question are left out (function words, ellipsis). Nothing is fetched, and a seed always gives the same texts. --folder
    writes paraphrases.csv, in ECAsT's form with the category, which robustcs testsets reads.

    \b
    Examples:
      robustcs paraphrase --vary
      robustcs paraphrase --vary --rewrites original=topics.json:raw \\
          --rewrites human=topics.json:manual --folder varied
      robustcs testsets --paraphrases varied/paraphrases.csv --sets 6 --folder sets
    """,
    uses=("rewrites", *SEED),
    parameters=(
        click.Option(["--vary"], is_flag=True, help="Make variations by rules (what is done where no model is named)."),
        click.Option(["--folder"], metavar="DIR", help="Write paraphrases.csv here; without it the variations are only shown."),
        click.Option(["--overwrite"], is_flag=True, help="Replace files of --folder that hold something else."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
