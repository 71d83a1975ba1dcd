"""The command ``robustcs components``."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from robustcs.studies.study import BY, SCORING, SEED, UNIT, Command
from robustcs.wording import Note

if TYPE_CHECKING:
    from robustcs.lazy import pd
    from robustcs.project.workspace import Workspace
    from robustcs.studies.components.analysis import Components


def ask(workspace: Workspace) -> Components:
    """Which component loses the answer? Compare runs that cross wordings of the questions with rankers.

    The command does not need human rewrites; they count as one more wording.

    For each system (a wording with a ranker) and each turn that it does not answer, the command determines which change would
    have helped: another wording, another ranker, either, only both together, or none in the grid. The tables also show effect
    sizes of wording and ranker, the gain of every single change with an adjusted test, and the lead of the best system on
    conversations that were not used to choose it. Cells may be missing. Sets of paraphrases are wordings too.

    Raises :class:`UsageError` for fewer than two cells, and for a cell that is not named WORDING/RANKER.

    Examples:
      robustcs components
      robustcs components --qrels qrels.txt --metric ndcg_cut_3 --threshold 0.5 \\
          --cell raw/bm25=bm25_raw.trec --cell t5/bm25=bm25_t5.trec \\
          --cell raw/bert=bert_raw.trec --cell t5/bert=bert_t5.trec
      robustcs components --table swaps
      robustcs components --output causes.pdf
    """
    from robustcs.evaluation.thresholds import reachable_thresholds
    from robustcs.project.requirements import grid
    from robustcs.project.scoring import ScoredFile
    from robustcs.studies.components.analysis import components

    cells = grid(workspace)
    names = {"/".join(cell): cell for cell in cells}
    files = [ScoredFile(name, f"{name} cell", cells[cell], "runs") for name, cell in names.items()]
    chosen, notes = workspace.ranking_measures(())
    scored, evaluated = workspace.scores_of(files, chosen)
    workspace.note_names("formulations")
    frames = {name: one.frame() for name, one in scored.items()}
    thresholds = reachable_thresholds(workspace.project.thresholds, chosen)
    notes += [
        Note.of(f"{one} and {other}", "", "the same scores on every turn; check that the runs differ",
                f"{one} and {other} have the same scores on every turn; check that their runs differ")
        for one, other in combinations(names, 2) if frames[one].equals(frames[other])
    ]  # fmt: skip
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    scores: dict[tuple[str, str], pd.DataFrame] = {
        cell: frames[name] for name, cell in names.items()
    }
    return components(scores, evaluated, thresholds, workspace.project.seed)


COMMAND = Command(
    ask, ("qrels", "components", "rewrites", "texts", "raw_texts", "threshold", *SCORING, *BY, *UNIT, *SEED),
    retrieves="cells",
)  # fmt: skip
