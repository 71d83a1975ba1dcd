"""``robustcs testsets``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, load_project, shared_options
from robustcs.cli.terminal import tell


@click.command(short_help="Draw disjoint test sets from paraphrases.")
@click.option("--paraphrases", metavar="FILE", help="CSV with TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE (ECAsT).")
@click.option("--sets", type=click.IntRange(1, 100), default=3, show_default=True, metavar="N", help="Sets to draw.")
@click.option("--folder", metavar="DIR", help="Write the sets here; without it they are only described.")
@click.option("--overwrite", is_flag=True, help="Replace files of --folder that hold something else.")
@shared_options
def testsets(options: Options, paraphrases: str | None, sets: int, folder: str | None, overwrite: bool) -> None:
    """The same conversations in other words: disjoint test sets of paraphrases.

    Every set takes one paraphrase per turn. Its files: manual_N.tsv and raw_N.tsv (turn TAB text, for retrieval),
    topics_N.json (CAsT topic JSON with raw and manual texts) and history_N.jsonl (for rewriters: the raw turns so far
    in this set, and the manual text).

    \b
    Examples:
      robustcs testsets
      robustcs testsets --paraphrases ECAsT.csv.gz --sets 3 --seed 1 --folder sets
      robustcs testsets --format json --table statistics
    """
    from dataclasses import replace
    from pathlib import Path

    from robustcs.cli.output import emit
    from robustcs.project.workspace import Workspace
    from robustcs.studies.testsets.analysis import draw_testsets
    from robustcs.studies.testsets.files import write_testsets
    from robustcs.studies.testsets.show import present_testsets

    project = load_project(options)
    if paraphrases:
        project = replace(project, paraphrases=Path(paraphrases))
    workspace = Workspace(project)
    result = draw_testsets(workspace.paraphrases, sets, project.seed)
    written = write_testsets(result.sets, folder, overwrite) if folder else []
    emit("testsets", result, present_testsets(result), workspace.inputs, options)
    if written:
        tell(f"wrote {len(written)} files to {folder}: {written[0].name} … {written[-1].name}")
    else:
        tell("nothing is written yet: --folder DIR writes the sets")
