"""The command ``robustcs testsets``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import Folder, Opt
from robustcs.studies.study import SEED, Call, Command
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.testsets.analysis import ParaphraseSets


def ask(
    workspace: Workspace,
    *,
    sets: Annotated[int, Opt("N", low=1, high=100)] = 3,
    clean: bool = False,
) -> ParaphraseSets:
    """Draw disjoint test sets of paraphrases: the same conversations in other words.

    Each set contains one paraphrase per turn and consists of four files: manual_N.tsv and raw_N.tsv (turn TAB text, for
    retrieval), topics_N.json (CAsT topics with raw and manual texts) and history_N.jsonl (for rewriters: the raw turns of this
    set up to each turn, and the manual text).

    sets
            Number of manual and of raw test sets.

    clean
            Drop paraphrases that differ from another of their turn by at most one word or a few characters before drawing;
            --folder also gets paraphrases.csv with the remaining ones.

    Examples:
      robustcs testsets
      robustcs testsets --paraphrases ECAsT.csv.gz --sets 3 --seed 1 --folder sets
      robustcs testsets --clean --sets 10 --folder sets
      robustcs testsets --format json --table statistics
    """
    from robustcs.project.conversations import conversations_of
    from robustcs.similarity.paraphrases import clean_turns, cleaning_note
    from robustcs.studies.testsets.analysis import draw_testsets

    paraphrases, seed = workspace.paraphrases, workspace.project.seed
    conversations = conversations_of(workspace, paraphrases)
    if not clean:
        return draw_testsets(
            paraphrases, sets, seed, paraphrases.notes, conversations=conversations
        )
    kept, dropped = clean_turns(paraphrases)
    notes = (*paraphrases.notes, cleaning_note(len(dropped), sum(map(len, paraphrases.values()))))
    return draw_testsets(kept, sets, seed, notes, dropped, conversations)


def _run(
    call: Call,
    sets: int,
    clean: bool,
    folder: Folder | None,
    overwrite: Annotated[bool, Opt(needs="--folder")],
) -> None:
    """Run the command and write the files.

    folder
            Write the sets to this folder (default: describe them only).

    overwrite
            Replace files of --folder that have other content.
    """
    from robustcs.documents.files import write_folder
    from robustcs.documents.paraphrase_files import files_of_testsets, paraphrases_csv

    workspace = call.workspace()
    result = ask(workspace, sets=sets, clean=clean)
    written = []
    if folder:
        files = files_of_testsets(result.sets, result.evaluated.conversations)
        if clean:
            gone = set(result.dropped["line"])
            kept = [
                row
                for rows in workspace.paraphrases.values()
                for row in rows
                if row.line not in gone
            ]
            files["paraphrases.csv"] = paraphrases_csv(
                (row.turn, row.manual, row.raw, row.category) for row in kept
            )
        written = write_folder(folder, files, overwrite)
    call.emit(workspace, result)
    if written:
        call.tell(
            f"wrote {counted(len(written), 'file')} to {folder}: {written[0].name} … {written[-1].name}"
        )
    else:
        call.tell("no file written; add --folder DIR to write the sets")


COMMAND = Command(ask, ("paraphrases", *SEED), retrieves=False, run=_run)
