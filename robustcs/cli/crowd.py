"""``robustcs crowd``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robustcs.cli.options import Options, load_project, shared_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from robustcs.analyses.crowd import GradesPart
    from robustcs.analyses.result import Evaluated
    from robustcs.evaluation.ranking import Ranking
    from robustcs.inputs.crowd import Grade
    from robustcs.inputs.mixed_initiative import Bank, Mapped
    from robustcs.inputs.qrels import Qrels
    from robustcs.inputs.runs import Run
    from robustcs.workspace import Workspace


@click.command(short_help="From grades of crowd workers to qrels.")
@click.argument("grades", required=False, metavar="[GRADES]")
@click.option("--gold-checks", metavar="FILE", help="Grades that items are known to deserve: turn, item, criterion, grade.")
@click.option("--tolerance", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
              help="How far a worker's grade may be from a gold check.")
@click.option("--bank", metavar="FILE", help="JSON {id: text} of questions or responses, for runs that hold texts.")
@click.option("--subset", metavar="FILE", help="Turns to evaluate separately: a list, or qrels or a run with them.")
@click.option("--folder", metavar="DIR", help="Write qrels, pool and converted runs here; without it they are described.")
@click.option("--overwrite", is_flag=True, help="Replace files of --folder that hold something else.")
@shared_options
def crowd(
    options: Options,
    grades: str | None,
    gold_checks: str | None,
    tolerance: int,
    bank: str | None,
    subset: str | None,
    folder: str | None,
    overwrite: bool,
) -> None:
    """From single grades of workers to qrels, a pool and scores of runs.

    GRADES is CSV or JSONL with turn, item, worker, criterion and grade (or the published judgments of CAsT-ReGIn). A worker who
    contradicts a gold check by more than the tolerance loses all grades of that topic. An item's grade is the mode of its
    workers' grades, or without a clear mode their mean, rounded half up.

    --run NAME=FILE names runs (TREC, or mixed-initiative JSON): they are pooled to --depth K (default 1) and evaluated on the
    judgments, or on --qrels FILE, at relevance level 2: on all turns, on those with a relevant grade, and on --subset.

    \b
    Examples:
      robustcs crowd grades.csv --gold-checks checks.csv --folder judged
      robustcs crowd --bank bank.json --run a=a.json --run b=b.json --depth 3 --folder pool
      robustcs crowd --qrels relevance.qrel --bank bank.json --run a=a.json --subset turns.txt
      robustcs crowd grades.csv --run a=a.trec --output grades.svg --output crowd.json
    """
    from dataclasses import replace
    from pathlib import Path

    from robustcs.analyses.crowd import build_pool, judgments_of
    from robustcs.analyses.crowd import crowd as analyse
    from robustcs.analyses.crowd_grades import qrels_by_criterion
    from robustcs.cli.output import emit
    from robustcs.errors import UsageError
    from robustcs.inputs.crowd import read_turn_list
    from robustcs.reports.present.crowd import present_crowd
    from robustcs.workspace import Workspace, parse_measures

    if not (grades or options.run):
        raise UsageError("nothing-given", "neither grades nor runs are given", "name a file of grades, or --run NAME=FILE")
    if grades and options.qrels:
        raise UsageError("two-judgments", "both grades and --qrels are given", "leave out one of them")
    if gold_checks and not grades:
        raise UsageError("no-grades", "--gold-checks without grades", "name the file of grades")
    depth = options.depth or 1
    project = load_project(replace(options, depth=None, relevance_level=options.relevance_level or 2))
    workspace = Workspace(project)
    texts = _read_bank(workspace, bank)
    graded, notes = _grades(workspace, grades, gold_checks, tolerance) if grades else (None, [])
    criteria: dict[str, Qrels] = qrels_by_criterion(graded.final) if graded else {}
    if options.qrels:
        criteria = {Path(options.qrels).name.split(".")[0]: workspace.qrels}
        notes += workspace.qrels.notes
    chosen = None
    if subset:
        chosen = read_turn_list(subset)
        workspace.remember("subset", subset, len(chosen))
    judgments = judgments_of(criteria, project.policy.relevance_level, chosen)
    if subset and judgments and not any("subset" in sets for sets in judgments.values()):
        raise UsageError("no-common-turns", f"no turn of {subset} is judged", "check that its turn ids agree")

    runs, mapped = _runs(workspace, project.runs if options.run else {}, texts)
    rankings = [ranking for _, ranking in runs]
    pool = build_pool(rankings, depth, texts.texts if texts else {}) if rankings else None
    evaluated = _evaluated(workspace, criteria, rankings, notes)
    measures = parse_measures(project.metrics if options.metric else ("P_1", "ndcg_cut_3"))
    result = analyse(judgments, rankings, measures, evaluated, graded, mapped, pool, project.seed)
    written = []
    if folder:
        from robustcs.reports.crowd_files import files_of_crowd
        from robustcs.reports.files import write_folder

        converted = {one.run.name for one in mapped}
        files = files_of_crowd(judgments, result.pool, [pair for pair in runs if pair[0].name in converted])
        written = write_folder(folder, files, overwrite)
    emit("crowd", result, present_crowd(result), workspace.inputs, options)
    if written:
        click.echo(f"wrote {len(written)} files to {folder}: {', '.join(path.name for path in written)}", err=True)
    else:
        click.echo("nothing is written yet: --folder DIR writes qrels, pool and converted runs", err=True)


def _read_bank(workspace: Workspace, path: str | None) -> Bank | None:
    from robustcs.inputs.crowd import read_bank
    from robustcs.inputs.mixed_initiative import Bank

    if path is None:
        return None
    texts = read_bank(path)
    workspace.remember("bank", path, len(texts))
    return Bank(texts)


def _grades(
    workspace: Workspace, path: str, gold_checks: str | None, tolerance: int
) -> tuple[GradesPart, list[str]]:
    from robustcs.analyses.crowd import GradesPart
    from robustcs.analyses.crowd_grades import aggregate, exclude_workers
    from robustcs.errors import UsageError
    from robustcs.inputs.crowd import read_gold_checks, read_grades

    before, told = read_grades(path)
    notes = list(told)
    workspace.remember("grades", path, len(before))
    checks = read_gold_checks(gold_checks) if gold_checks else []
    if gold_checks:
        workspace.remember("gold checks", gold_checks, len(checks))
    after, exclusions, unseen = exclude_workers(before, checks, tolerance)
    if not after:
        raise UsageError("no-grades-left", "every worker contradicts a gold check", "check them, or raise --tolerance")
    if checks and unseen == len(checks):
        raise UsageError("no-common-items", "no gold check is about an item that was graded", "check its turn and item ids")
    if unseen:
        notes.append(f"{unseen} gold checks are about items that nobody graded")
    if exclusions:
        out = len(before) - len(after)
        notes.append(f"{out:,} of {len(before):,} grades left out, of {len(exclusions)} workers and topics")
    lost = _judged(before) - _judged(after)
    if lost:
        some = ", ".join(" ".join(key) for key in sorted(lost)[:3]) + (" …" if len(lost) > 3 else "")
        notes.append(f"{len(lost)} items have no grade left and are not judged: {some}")
    return GradesPart(before, after, exclusions, aggregate(after), bool(checks)), notes


def _judged(grades: Sequence[Grade]) -> set[tuple[str, str, str]]:
    return {(grade.turn, grade.item, grade.criterion) for grade in grades}


def _runs(
    workspace: Workspace, files: Mapping[str, Path], bank: Bank | None
) -> tuple[list[tuple[Run, Ranking]], list[Mapped]]:
    from robustcs.evaluation.ranking import rank_run
    from robustcs.inputs.mixed_initiative import is_mixed_initiative, map_to_bank, read_mixed_initiative
    from robustcs.inputs.runs import read_run

    policy = workspace.project.policy
    runs, mapped = [], []
    for name, path in files.items():
        if is_mixed_initiative(path):
            found = map_to_bank(read_mixed_initiative(path), bank, name)
            mapped.append(found)
            run = found.run
        else:
            run = read_run(path, name, ranks=policy.order == "rank")
        workspace.remember(f"run {name}", path, len(run))
        runs.append((run, rank_run(run, policy)))
    return runs, mapped


def _evaluated(
    workspace: Workspace, criteria: dict[str, Qrels], rankings: Sequence[Ranking], notes: Sequence[str]
) -> Evaluated:
    from robustcs.analyses.result import Evaluated
    from robustcs.errors import UsageError

    policy = workspace.project.policy
    told = [*notes, *(note for ranking in rankings for note in ranking.notes)]
    judged = {turn for qrels in criteria.values() for turn in qrels.turns}
    if not (judged and rankings):
        turns = judged or {turn for ranking in rankings for turn in ranking.turns}
        return Evaluated(policy, "texts", len(turns), 0, tuple(told))
    for ranking in rankings:
        lacking = len(judged - set(ranking.turns))
        if lacking == len(judged):
            raise UsageError(
                "no-common-turns", f"{ranking.name} answers none of the {len(judged)} judged turns",
                f"check the turn ids: the judgments have {min(judged)!r}",
            )  # fmt: skip
        if lacking:
            told.append(f"{ranking.name} answers {len(judged) - lacking} of {len(judged)} judged turns")
    missing = {turn for ranking in rankings for turn in judged - set(ranking.turns)}
    count = len(judged - missing) if policy.missing == "drop" else len(judged)
    return Evaluated(policy, "runs", count, len(missing), tuple(dict.fromkeys(told)))
