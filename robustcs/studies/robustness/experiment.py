"""The ECAsT experiment on your own ranker, from paraphrases to tables.

It draws test sets, retrieves passages for them, compares them with the original turns (Table 11 of the paper), and counts
unjudged passages (Table 13).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from robustcs.documents.files import write_folder
from robustcs.documents.paraphrase_files import files_of_testsets
from robustcs.evaluation import holes
from robustcs.evaluation.groups import Group
from robustcs.project.conversations import conversations_of
from robustcs.project.hole_imputation import filled_drops
from robustcs.project.model import Project, TextSource
from robustcs.project.open_questions import raw_baseline
from robustcs.project.requirements import experiment_turns
from robustcs.project.retrieved import PLAN, Plan
from robustcs.project.workspace import Workspace
from robustcs.similarity.paraphrases import clean_turns, cleaning_note, draw, sets_table
from robustcs.studies.robustness.analysis import Robustness
from robustcs.wording import counted

#: Number of test sets of each kind, and k of the unjudged shares, as in the paper.
SETS, DEPTH = 3, 3


def with_testsets(workspace: Workspace, tell: Callable[[str], None], sets: int = SETS) -> Project:
    """Return the project with ``sets`` manual and ``sets`` raw test sets as texts, in groups with their baselines.

    Near-duplicate paraphrases of a turn are removed first (stage 4 of the paper). Test sets cover the turns that the baseline
    has. The files are written to ``sets`` in the folder of the runs.

    Raises :class:`UsageError` if the texts of the original or the manual turns are not given.
    """
    project = workspace.project
    assert project.retrieval is not None
    cleaned, dropped = clean_turns(workspace.paraphrases)
    turns = experiment_turns(workspace.texts, cleaned)
    wanted = {turn: rows for turn, rows in cleaned.items() if turn in turns}
    lacking = len(workspace.texts["human"]) - len(wanted)
    folder = project.retrieval.folder / "sets"
    drawn = {turn: draw(rows, sets, project.seed) for turn, rows in wanted.items()}
    conversations = conversations_of(workspace, drawn)
    write_folder(
        folder,
        files_of_testsets(sets_table(drawn, sets, conversations), conversations),
        overwrite=True,
    )
    if dropped:
        tell(cleaning_note(len(dropped), sum(map(len, workspace.paraphrases.values()))))
    said = f"{sets} manual and {counted(sets, 'raw test set')} of {counted(len(wanted), 'turn')}"
    tell(f"drew {said} into {folder} (seed {project.seed})")
    if lacking:
        tell(
            f"{counted(lacking, 'turn')} without paraphrases; left out of the test sets and their baselines"
        )
    numbers = range(1, sets + 1)
    texts = {f"manual_{i}": TextSource(folder / f"manual_{i}.tsv") for i in numbers}
    raw = {f"raw_{i}": TextSource(folder / f"raw_{i}.tsv") for i in numbers}
    # otherwise the effect of the rewriter would count as an effect of the wording
    groups = {
        "manual": Group("human", tuple(texts)),
        "raw": Group(raw_baseline(project), tuple(raw)),
    }
    tell(
        "to reuse these test sets, add to robustcs.toml:\n" + "\n".join(_lines(texts, raw, groups))
    )
    return replace(
        project,
        texts={**project.texts, **texts},
        raw_texts={**project.raw_texts, **raw},
        groups=groups,
    )


def _lines(
    texts: Mapping[str, TextSource], raw: Mapping[str, TextSource], groups: Mapping[str, Group]
) -> list[str]:
    """Return the lines of ``robustcs.toml`` that name these sets and groups."""
    quoted = partial(json.dumps, ensure_ascii=False)
    lines = []
    for table, sources in (("texts", texts), ("raw_texts", raw)):
        lines += [
            f"  [{table}]",
            *(f"  {name} = {quoted(str(source.path))}" for name, source in sources.items()),
        ]
    for name, group in groups.items():
        sets = ", ".join(map(quoted, group.sets))
        lines += [
            f"  [groups.{name}]",
            f"  baseline = {quoted(group.baseline)}",
            f"  sets = [{sets}]",
        ]
    return lines


@dataclass(frozen=True)
class Experiment(Robustness):
    """The tables of ``robustcs robustness``, the plan, and some tables of ``robustcs unjudged``."""

    rates = holes.RATES
    unique = holes.UNIQUE
    grades = holes.LATER_GRADES
    plan = PLAN


def experiment(
    workspace: Workspace, names: Sequence[str], result: Robustness, plan: Plan
) -> Experiment:
    """Return ``result`` with Table 13: unjudged passages in the top :data:`DEPTH` of the runs ``names``, on the same turns."""
    project, qrels = workspace.project, workspace.qrels
    names = list(dict.fromkeys(names))
    files = workspace.system_files(names)
    runs = workspace.per_run(files, partial(holes.judged_run, qrels=qrels, depth=DEPTH))
    turns = workspace.count_turns(
        names, files, [run.matrix for run in runs], holes=True, asked=workspace.asked
    )
    runs = [holes.only_turns(run, turns.counted) for run in runs]
    later = holes.grades_by_pair(*workspace.new_judgments) if project.new_judgments else None
    groups = {name: group.sets for name, group in project.groups.items()}
    groups["all groups"] = tuple(dict.fromkeys(name for sets in groups.values() for name in sets))
    metrics = list(dict.fromkeys(result.groups["metric"]))
    drops = filled_drops(workspace, metrics, set(result.turns["turn"]), result.fully_asked)
    further = Experiment.built(
        drops=drops,
        plan=plan.table("plan"),
        rates=holes.rates(runs, DEPTH, later),
        unique=holes.unique_holes(runs, groups),
        grades=holes.later_grades(runs, later),
    )
    return Experiment(
        result.evaluated,
        result.margin,
        result.misfit,
        result.unordered,
        content={**result.content, **further},
    )
