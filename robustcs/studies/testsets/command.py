"""``robustcs testsets``."""

from __future__ import annotations

import click

from robustcs.studies.study import SEED, Call, Command


def _run(call: Call, sets: int, clean: bool, folder: str | None, overwrite: bool) -> None:
    from robustcs.documents.files import write_folder
    from robustcs.documents.paraphrase_files import paraphrases_csv
    from robustcs.documents.testset_files import files_of_testsets
    from robustcs.studies.testsets.ask import ask
    from robustcs.studies.testsets.show import show

    workspace = call.workspace()
    result = ask(workspace, sets=sets, clean=clean)
    written = []
    if folder:
        files = files_of_testsets(result.sets)
        if clean:
            gone = set(result.dropped["line"])
            kept = [row for rows in workspace.paraphrases.values() for row in rows if row.line not in gone]
            files["paraphrases.csv"] = paraphrases_csv((row.turn, row.manual, row.raw, row.category) for row in kept)
        written = write_folder(folder, files, overwrite)
    call.emit(workspace, result, show(result))
    if written:
        call.tell(f"wrote {len(written)} files to {folder}: {written[0].name} … {written[-1].name}")
    else:
        call.tell("nothing is written yet: --folder DIR writes the sets")


COMMAND = Command(
    """The same conversations in other words: disjoint test sets of paraphrases.

    Every set takes one paraphrase per turn. Its files: manual_N.tsv and raw_N.tsv (turn TAB text, for retrieval),
    topics_N.json (CAsT topic JSON with raw and manual texts) and history_N.jsonl (for rewriters: the raw turns so far
    in this set, and the manual text).

    \b
    Examples:
      robustcs testsets
      robustcs testsets --paraphrases ECAsT.csv.gz --sets 3 --seed 1 --folder sets
      robustcs testsets --clean --sets 10 --folder sets
      robustcs testsets --format json --table statistics
    """,
    uses=("paraphrases", *SEED),
    parameters=(
        click.Option(["--sets"], type=click.IntRange(1, 100), default=3, show_default=True, metavar="N", help="Sets to draw."),
        click.Option(["--clean"], is_flag=True,
                     help="First leave out paraphrases that differ from another of their turn by one word or a few characters;"
                     " --folder then gets paraphrases.csv with the others, too."),
        click.Option(["--folder"], metavar="DIR", help="Write the sets here; without it they are only described."),
        click.Option(["--overwrite"], is_flag=True, help="Replace files of --folder that hold something else."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
