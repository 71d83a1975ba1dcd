"""From grades of crowd workers to judgments, and runs evaluated on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeVar

from robustcs.documents.files import write_folder
from robustcs.documents.order import figures_first
from robustcs.documents.text import anchor
from robustcs.errors import UsageError
from robustcs.evaluation.judgments import qrels_text
from robustcs.evaluation.matrix import first_ids, grade_matrix, no_judged_passage
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.measures import sampling_notes
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.turns import Expected, answered_by_turns, count_turns
from robustcs.inputs.mixed_initiative import Bank, Mapped, is_mixed_initiative, map_to_bank, own_id, read_mixed_initiative
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.ratings import Grade, read_bank, read_gold_checks, read_grades, read_turn_list
from robustcs.inputs.runs import Run, read_run
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import CrowdFiles, Project, needs, only
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import Crowd, GradesPart, Judgments, build_pool, crowd, judgments_of
from robustcs.studies.crowd.findings import crowd_findings
from robustcs.studies.crowd.grades import aggregate, exclude_workers, qrels_by_criterion, with_combined
from robustcs.studies.crowd.show import show
from robustcs.studies.signature import MOST, Folder, Opt
from robustcs.studies.study import SEED, UNIT, Answer, Call, Question, command
from robustcs.wording import counted, some_of

Some = TypeVar("Some", bound=Sized)
#: What CAsT-ReGIn reports.
DEFAULT_MEASURES = (parse_measure("P_1"), parse_measure("ndcg_cut_3"))


@dataclass(frozen=True)
class EvaluatedCrowd:
    """The result, the judgments that it made, and the TREC form of runs that came in another."""

    result: Crowd
    judgments: Judgments
    converted: list[tuple[Run, Ranking]]


def ask(workspace: Workspace, *, metrics: str | Sequence[str] = ()) -> Crowd:
    """From single grades of workers to qrels, a pool and scores of runs.

    GRADES is CSV or JSONL with turn, item, worker, criterion and grade (or the published judgments of CAsT-ReGIn). A worker who
    contradicts a gold check by more than the tolerance loses all grades of that topic. An item's grade is the mode of its
    workers' grades, or without a clear mode their mean, rounded half up.

    --run NAME=FILE names runs (TREC, or mixed-initiative JSON): they are pooled to --pool-depth K (default 1) and evaluated on
    the judgments, or on --qrels FILE, at relevance level 2: on all turns, on those with a relevant grade, and on --subset.
    Where no file is given, those of [crowd] in robustcs.toml are taken.

    Examples:
      robustcs crowd
      robustcs crowd grades.csv --gold-checks checks.csv --folder judged
      robustcs crowd --bank bank.json --run a=a.json --run b=b.json \\
          --pool-depth 3 --folder pool
      robustcs crowd --qrels relevance.qrel --bank bank.json --run a=a.json \\
          --subset turns.txt
      robustcs crowd grades.csv --run a=a.trec --output grades.svg
    """
    names = (metrics,) if isinstance(metrics, str) else metrics
    return evaluate_crowd(workspace, [parse_measure(name) for name in names]).result


def evaluate_crowd(workspace: Workspace, measures: Sequence[Measure] = ()) -> EvaluatedCrowd:
    """Judgments from the project's crowd grades (or its qrels for them), a pool of the runs, and their scores.

    Binary measures take the relevance level of the :class:`CrowdFiles`; ``measures`` take the place of P@1 and NDCG@3.

    Raises :class:`UsageError` where there is nothing to do or nothing fits together, :class:`InputError` for a broken file.
    """
    files = workspace.project.crowd or CrowdFiles()
    policy = replace(workspace.project.policy, depth=None, documents=False, relevance_level=files.relevance_level)
    if not (files.grades or files.qrels or files.runs):
        raise UsageError("nothing-given", "neither grades nor runs are given", "name a file of grades, or --run NAME=FILE")
    if files.grades and files.qrels:
        raise UsageError("two-judgments", "both grades and qrels are given", "leave out one of them")
    if files.gold_checks and not files.grades:
        raise UsageError("no-grades", "gold checks without grades", "name the file of grades")
    texts = _read(workspace, "bank", files.bank, read_bank)
    bank = Bank(texts) if texts is not None else None
    graded, notes = _grades(workspace, files) if files.grades else (None, [])
    criteria: dict[str, Qrels] = qrels_by_criterion(graded.final) if graded else {}
    for file in files.qrels:
        qrels, criterion = workspace.read_qrels(file), Path(file).name.split(".")[0]
        if criterion in criteria:
            raise UsageError("repeated-criterion", f"two files of judgments are named {criterion}", "rename one of them")
        criteria[criterion] = qrels
        notes += qrels.notes
    criteria, told = with_combined(criteria)
    notes += told
    chosen = _read(workspace, "subset", files.subset, read_turn_list)
    judgments = judgments_of(criteria, policy.relevance_level, chosen)
    if files.subset and judgments and not any("subset" in sets for sets in judgments.values()):
        raise UsageError("no-common-turns", f"no turn of {files.subset} is judged", "check that its turn ids agree")

    runs, mapped = _runs(workspace, files.runs, bank, policy)
    rankings = [ranking for _, ranking in runs]
    asked_texts = {own_id(asked.question): asked.question for one in mapped for asked in one.unmapped if " " in asked.question}
    pool = build_pool(rankings, files.depth, asked_texts | (texts or {})) if rankings else None
    measures = workspace.averaged(measures or DEFAULT_MEASURES)
    for qrels in criteria.values() if rankings else ():
        notes += sampling_notes(measures, qrels.grades)
    evaluated = _evaluated(policy, criteria, files.runs, rankings, notes)
    result = crowd(judgments, rankings, measures, evaluated, graded, mapped, pool, workspace.project.seed)
    converted = {one.run.name for one in mapped}
    return EvaluatedCrowd(result, judgments, [pair for pair in runs if pair[0].name in converted])


def _read(workspace: Workspace, role: str, path: Path | None, read: Callable[[Path], Some]) -> Some | None:
    """What a file holds, where it is given."""
    if path is None:
        return None
    found = read(path)
    workspace.remember(role, path, len(found))
    return found


def _grades(workspace: Workspace, files: CrowdFiles) -> tuple[GradesPart, list[str]]:
    assert files.grades is not None
    before, told = read_grades(files.grades)
    notes = list(told)
    workspace.remember("grades", files.grades, len(before))
    checks = _read(workspace, "gold checks", files.gold_checks, read_gold_checks) or []
    after, exclusions, unseen = exclude_workers(before, checks, files.tolerance)
    if not after:
        raise UsageError("no-grades-left", "every worker contradicts a gold check", "check them, or raise tolerance in [crowd]")
    if checks and unseen == len(checks):
        raise UsageError("no-common-items", "no gold check is about an item that was graded", "check its turn and item ids")
    if unseen:
        notes.append(f"{counted(unseen, 'gold check')} on items that nobody graded")
    if exclusions:
        out = len(before) - len(after)
        workers = len({one.worker for one in exclusions})
        notes.append(
            f"{out:,} of {counted(len(before), 'grade')} left out: those of {counted(workers, 'worker')} for"
            f" {counted(len({one.topic for one in exclusions}), 'topic')}"
        )
    lost = _judged(before) - _judged(after)
    if lost:
        some = some_of([" ".join(key) for key in sorted(lost)], 3)
        notes.append(f"without a grade left, and not judged: {counted(len(lost), 'item')} ({some})")
    return GradesPart(before, after, exclusions, aggregate(after), bool(checks)), notes


def _judged(grades: Sequence[Grade]) -> set[tuple[str, str, str]]:
    return {(grade.turn, grade.item, grade.criterion) for grade in grades}


def _runs(
    workspace: Workspace, files: Mapping[str, Path], bank: Bank | None, policy: EvaluationPolicy
) -> tuple[list[tuple[Run, Ranking]], list[Mapped]]:
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
    policy: EvaluationPolicy,
    criteria: Mapping[str, Qrels],
    files: Mapping[str, Path],
    rankings: Sequence[Ranking],
    notes: Sequence[str],
) -> Evaluated:
    told = [*notes, *(note for ranking in rankings for note in ranking.notes)]
    judged = {turn for qrels in criteria.values() for turn in qrels.turns}
    if not (judged and rankings):
        turns = judged or {turn for ranking in rankings for turn in ranking.turns}
        return Evaluated(policy, "texts", len(turns), 0, tuple(told))
    expected = Expected(tuple(sorted(judged, key=turn_sort_key)), "the judgments", _judged_item(criteria))
    answered = []
    for ranking in rankings:
        file = answered_by_turns(ranking.name, files[ranking.name], ranking.turns, expected)
        known = any(not no_judged_passage(grade_matrix(ranking, qrels)) for qrels in criteria.values())
        # turns that nobody judged are many here, where only some turns have a question
        answered.append(replace(file, passage=first_ids(ranking)[1], extra=0, judged=known))
    counts = count_turns(expected, answered, policy.missing, alone=True)
    own = {file.name: int((~file.missing).sum()) for file in answered} if policy.missing == "own" else {}
    told = list(dict.fromkeys([*told, *counts.notes]))
    return Evaluated(policy, "runs", int(counts.counted.sum()), int(counts.lacking.sum()), tuple(told), own_turns=own)


def _judged_item(criteria: Mapping[str, Qrels]) -> str:
    return next((str(qrels.documents[0].as_py()) for qrels in criteria.values() if len(qrels)), "")


#: Files of the call that GRADES stand beside; without them GRADES take the place of all files of the project.
_FILES = ("gold_checks", "bank", "qrels", "subset", "run")


def _run(
    call: Call,
    grades: Annotated[str, Opt("[GRADES]", argument=True)] | None,
    folder: Folder | None,
    overwrite: bool,
    *,
    depth: Annotated[int, Opt("K", low=1, high=MOST, flag="--pool-depth")] | None,
) -> None:
    """Run it for the command line.

    folder
        Write qrels, pool and converted runs here; without it they are described.

    overwrite
        Replace files of --folder that hold something else.

    depth
        How deep runs are pooled (default 1).
    """
    files = (call.project.crowd or CrowdFiles()).given(**({} if depth is None else {"depth": depth}))
    if grades:
        beside = any(call.given[name] for name in _FILES)
        files = replace(files, grades=Path(grades)) if beside else files.given(grades=Path(grades))
    workspace = call.workspace(replace(call.project, crowd=files))
    evaluated = evaluate_crowd(workspace, call.project.metrics if call.given["metric"] else ())
    parts = files_of_crowd(evaluated.judgments, evaluated.result.pool, evaluated.converted) if folder else {}
    written = write_folder(folder, parts, overwrite) if folder else []
    call.emit(workspace, evaluated.result, show(evaluated.result))
    if written:
        call.tell(f"wrote {len(written)} files to {folder}: {', '.join(path.name for path in written)}")
    else:
        call.tell("--folder DIR writes the judgments as qrels, the pool and converted runs")


def files_of_crowd(judgments: Judgments, pool: pd.DataFrame, runs: Sequence[tuple[Run, Ranking]]) -> dict[str, str]:
    """File name → content, as trec_eval and robustcs read it.

    ``qrels_CRITERION.txt``, ``qrels_CRITERION_filtered.txt``, ``qrels_CRITERION_subset.txt``
        ``turn 0 item grade``.
    ``pool.txt``
        ``turn Q0 item 1 0.0 pool``, a line for every item to judge.
    ``NAME.trec``
        A run whose file was JSON, with ids of the bank.
    """
    files = {
        f"qrels_{anchor(criterion)}{'' if name == 'all' else f'_{name}'}.txt": qrels_text(qrels)
        for criterion, sets in judgments.items() for name, qrels in sets.items()
    }  # fmt: skip
    if len(pool):
        files["pool.txt"] = "".join(f"{row.turn} Q0 {row.item} 1 0.0 pool\n" for row in pool.itertuples())
    return files | {f"{anchor(run.name)}.trec": run_text(run, ranking) for run, ranking in runs}


def run_text(run: Run, ranking: Ranking) -> str:
    """``turn Q0 item rank score tag`` in the order of ``ranking``, which is that of ``run``; the tag is the run's name."""
    tag = "_".join(run.name.split()) or "run"
    lines = []
    for place, turn in enumerate(ranking.turns):
        codes = ranking.document_codes[ranking.starts[place] : ranking.starts[place + 1]].tolist()
        for rank, code in enumerate(codes, 1):
            lines.append(f"{turn} Q0 {ranking.documents[code].as_py()} {rank} {float(run.scores[code])!r} {tag}\n")
    return "".join(lines)


COMMAND = command(ask, ("crowd.gold_checks", "crowd.bank", "crowd.qrels", "crowd.subset", "crowd.runs", "metric",
    "relevance_level", "missing", "order", *UNIT, *SEED), retrieves=False, run=_run,
)  # fmt: skip


_READING = (
    "How to read it: workers who contradict what is known about an item lose their grades of that topic; agreement before and"
    " after says what that does. Scores of the runs are only as good as these judgments: a run whose questions nobody graded"
    " scores low."
)


def _part(project: Project) -> Project:
    needs(project.crowd, "no-crowd", "no crowd judgments", "name their files with [crowd] in robustcs.toml")
    return only(project, ("crowd", "policy", "seed"))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(crowd_findings(result), _READING, figures_first(show(result)), result.evaluated, {"crowd": result})


QUESTIONS = (
    Question(
        "crowd",
        "What do the crowd's judgments say?",
        ("qrels", "agreement", "measures"),
        _part,
        given=lambda project: project.crowd is not None,
        answer=_answer,
    ),
)
