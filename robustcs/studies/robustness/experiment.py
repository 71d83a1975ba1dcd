"""The ECAsT experiment on a user's own ranker, from paraphrases to tables.

Test sets are drawn, answered by the index, compared with the original turns (Table 11 of the paper) and looked at for holes in
the judgments (Table 13).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from robustcs.errors import UsageError
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN, Group
from robustcs.project.model import Project, TextSource
from robustcs.project.workspace import Workspace, parse_measures
from robustcs.result import Evaluated, Result
from robustcs.studies.testsets.files import write_testsets

if TYPE_CHECKING:
    import pandas as pd

    from robustcs.studies.robustness.analysis import Robustness
    from robustcs.studies.unjudged.analysis import Unjudged

#: Test sets of each kind, and k of the judged shares, as in the paper.
SETS, DEPTH = 3, 3
_UNJUDGED_TABLES = ("rates", "unique", "unique_runs", "grades", "qrels")


def is_experiment(project: Project) -> bool:
    """Are there paraphrases and an index, and no groups of runs that would be compared instead?"""
    return bool(project.paraphrases and project.retrieval and not project.groups)


def with_testsets(workspace: Workspace, tell: Callable[[str], None]) -> Project:
    """The project with :data:`SETS` manual and raw test sets as texts, in groups with their baselines.

    Only paraphrases of turns that the baseline has are drawn. The files go to ``sets`` in the folder of the runs. Raises
    :class:`UsageError` where the texts of the original or the manual turns are not given.
    """
    from robustcs.studies.testsets.analysis import draw_testsets

    project = workspace.project
    assert project.retrieval is not None
    human, original = workspace.texts.get("human"), workspace.texts.get("original")
    if not human or not original:
        raise UsageError(
            "no-baseline", "the experiment needs the texts of the original and of the manual turns",
            "name them with --rewrites original=FILE and --rewrites human=FILE",
        )  # fmt: skip
    wanted = {turn: rows for turn, rows in workspace.paraphrases.items() if turn in human and turn in original}
    if not wanted:
        raise UsageError("no-common-turns", "no turn has paraphrases", f"check the turn ids: {next(iter(human))!r}")
    lacking = len(human) - len(wanted)
    folder = project.retrieval.folder / "sets"
    write_testsets(draw_testsets(wanted, SETS, project.seed).sets, folder, overwrite=True)
    tell(f"drew {SETS} manual and {SETS} raw test sets of {len(wanted)} turns into {folder} (seed {project.seed})")
    if lacking:
        tell(f"{lacking} turn{'s' * (lacking != 1)} without paraphrases: --missing drop leaves them out of all runs")
    numbers = range(1, SETS + 1)
    texts = {f"manual_{i}": TextSource(folder / f"manual_{i}.tsv") for i in numbers}
    raw = {f"raw_{i}": TextSource(folder / f"raw_{i}.tsv") for i in numbers}
    # a rewriter would otherwise pass for the wording of the raw sets
    baseline = ORIGINAL_REWRITTEN if project.retrieval.rewriter else "original"
    groups = {"manual": Group("human", tuple(texts)), "raw": Group(baseline, tuple(raw))}
    return replace(
        project, texts={**project.texts, **texts}, raw_texts={**project.raw_texts, **raw}, groups=groups
    )


@dataclass(frozen=True)
class Experiment(Result):
    """The tables of ``robustcs robustness``, and beside them those of the plan and some of ``robustcs unjudged``.

    plan
        As in :class:`~robustcs.studies.retrieve.analysis.Plan`: which share of the questions the store answered.
    """

    plan: pd.DataFrame
    robustness: Robustness
    unjudged: Unjudged

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Table name → frame."""
        holes = {name: self.unjudged.tables[name] for name in _UNJUDGED_TABLES}
        return {**self.robustness.tables, **holes, "plan": self.plan}


def holes_of(workspace: Workspace, names: Sequence[str], metrics: Sequence[str], evaluated: Evaluated) -> Unjudged:
    """Table 13: what nobody judged in the top :data:`DEPTH` of the runs, over the turns of ``evaluated``."""
    from robustcs.evaluation.holes import grades_by_pair, judged_run, only_turns
    from robustcs.inputs.qrels import read_qrels
    from robustcs.studies.unjudged.analysis import Settings, ranks_of_pairs, unjudged

    project, qrels = workspace.project, workspace.qrels
    names = list(dict.fromkeys(names))
    measures = parse_measures(metrics)
    ranks = ranks_of_pairs(measures, "cutoff")
    files = workspace.system_files(names)
    runs = workspace.per_run(files, lambda ranking: judged_run(ranking, qrels, DEPTH, ranks))
    turns = workspace.count_turns(names, files, [run.matrix for run in runs], holes=True)
    runs = [only_turns(run, turns.counted) for run in runs]
    later = grades_by_pair(read_qrels(project.new_judgments)) if project.new_judgments else None
    groups = {name: group.sets for name, group in project.groups.items()}
    groups["all groups"] = tuple(dict.fromkeys(name for sets in groups.values() for name in sets))
    settings = Settings(DEPTH, "cutoff", max(int(qrels.grades.max()), 0), groups)
    return unjudged(runs, qrels, measures, evaluated, settings, later)
