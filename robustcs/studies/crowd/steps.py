"""Steps of ``robustcs crowd``: aggregate the grades, score runs, write the judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustcs.conversations import Conversations
from robustcs.documents.text import anchor
from robustcs.errors import UsageError
from robustcs.evaluation.judgments import qrels_text
from robustcs.evaluation.matrix import first_ids, grade_matrix, no_judged_passage
from robustcs.evaluation.measure import Measure, grade_notes, parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.turns import Expected, count_turns, covered_by_turns
from robustcs.inputs.clariq import is_json
from robustcs.inputs.mixed_initiative import (
    Bank,
    Mapped,
    map_to_bank,
    own_id,
    read_bank,
    read_mixed_initiative,
)
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.ratings import Grade, read_gold_checks, read_grades, read_turn_list
from robustcs.inputs.runs import Run, read_run
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.policy import EvaluationPolicy
from robustcs.project.conversations import conversations_of
from robustcs.project.model import CrowdFiles
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import (
    Crowd,
    GradesPart,
    Judgments,
    aggregate,
    build_pool,
    crowd,
    exclude_workers,
    judgments_of,
    qrels_by_criterion,
    with_combined,
)
from robustcs.studies.study import read_given
from robustcs.wording import counted, some_of, verb

#: The measures of CAsT-ReGIn.
DEFAULT_MEASURES = (parse_measure("P_1"), parse_measure("ndcg_cut_3"))


def crowd_and_files(
    workspace: Workspace, measures: Sequence[Measure] = ()
) -> tuple[Crowd, dict[str, str]]:
    """Pool and score the project's runs on its crowd grades or qrels. Return the result and its files.

    For the files, see :func:`files_of_crowd`. Binary measures use the relevance level of the
    :class:`CrowdFiles`. ``measures``: default: P@1 and NDCG@3.

    Raises :class:`UsageError` if there is no input or the inputs do not match, :class:`InputError` for an invalid file.
    """
    files = workspace.project.crowd or CrowdFiles()
    policy = replace(
        workspace.project.policy, depth=None, documents=False, relevance_level=files.relevance_level
    )
    if not (files.grades or files.qrels or files.runs):
        raise UsageError(
            "nothing-given",
            "neither grades nor runs are given",
            Message("name a file of grades, or add ", OptionName("run", "NAME=FILE")),
        )
    if files.grades and files.qrels:
        raise UsageError(
            "two-judgments", "both grades and qrels are given", "give only one of them"
        )
    if files.gold_checks and not files.grades:
        raise UsageError(
            "no-grades", "gold checks are given without grades", "name the file of grades"
        )
    texts = read_given(workspace, "bank", files.bank, read_bank)
    bank = Bank(texts) if texts is not None else None
    graded, notes = _grades(workspace, files) if files.grades else (None, [])
    criteria: dict[str, Qrels] = qrels_by_criterion(graded.final) if graded else {}
    for file in files.qrels:
        qrels, criterion = workspace.read_qrels(file), Path(file).name.split(".")[0]
        if criterion in criteria:
            raise UsageError(
                "repeated-criterion", f"two qrels files are named {criterion}", "rename one of them"
            )
        criteria[criterion] = qrels
        notes += qrels.notes
    criteria, told = with_combined(criteria)
    notes += told
    chosen = read_given(workspace, "subset", files.subset, read_turn_list)
    judgments = judgments_of(criteria, policy.relevance_level, chosen)
    if files.subset and judgments and not any("subset" in sets for sets in judgments.values()):
        raise UsageError(
            "no-common-turns", f"no turn of {files.subset} is judged", "check its turn ids"
        )

    runs, mapped = _runs(workspace, files.runs, bank, policy)
    rankings = [ranking for _, ranking in runs]
    question_texts = {
        own_id(utterance.question): utterance.question
        for one in mapped
        for utterance in one.unmapped
        if " " in utterance.question
    }
    measures = workspace.averaged(measures or DEFAULT_MEASURES)
    for qrels in criteria.values() if rankings else ():
        notes += grade_notes(measures, qrels.grades, policy.relevance_level)
    judged = dict.fromkeys(turn for qrels in criteria.values() for turn in qrels.turns)
    conversations = conversations_of(
        workspace, judged or dict.fromkeys(turn for one in rankings for turn in one.turns)
    )
    evaluated = _evaluated(policy, conversations, criteria, files.runs, rankings, notes)
    converted = {one.run.name for one in mapped}
    pool = build_pool(rankings, files.depth, question_texts | (texts or {})) if rankings else ()
    result = crowd(
        judgments, rankings, measures, evaluated, graded, mapped, pool, workspace.project.seed
    )
    return result, files_of_crowd(
        judgments, pool, [pair for pair in runs if pair[0].name in converted]
    )


def _grades(workspace: Workspace, files: CrowdFiles) -> tuple[GradesPart, list[str]]:
    assert files.grades is not None
    before, told = read_grades(files.grades)
    notes = list(told)
    workspace.remember("grades", files.grades, len(before))
    checks = read_given(workspace, "gold checks", files.gold_checks, read_gold_checks) or []
    conversations = conversations_of(workspace, dict.fromkeys(grade.turn for grade in before))
    after, exclusions, unseen = exclude_workers(before, checks, files.tolerance, conversations)
    if not after:
        advice = "check the gold checks, or raise tolerance in [crowd]"
        raise UsageError(
            "no-grades-left", "every worker contradicts a gold check, so no grade is left", advice
        )
    if checks and unseen == len(checks):
        raise UsageError(
            "no-common-items",
            "no gold check refers to a graded item",
            "check its turn and item ids",
        )
    if unseen:
        notes.append(
            f"{counted(unseen, 'gold check')} {verb(unseen, 'refers', 'refer')} to items without grades"
        )
    if exclusions:
        out = len(before) - len(after)
        workers = counted(len({one.worker for one in exclusions}), "worker")
        pairs = counted(len(exclusions), "pair")
        notes.append(
            f"{out:,} of {counted(len(before), 'grade')} excluded: those of {workers} ({pairs} of worker and topic)"
        )
    lost = _judged(before) - _judged(after)
    if lost:
        some = some_of([" ".join(key) for key in sorted(lost)], 3)
        notes.append(
            f"{counted(len(lost), 'item')} without a grade after the exclusion, therefore unjudged: {some}"
        )
    return GradesPart(before, after, exclusions, aggregate(after), bool(checks)), notes


def _judged(grades: Sequence[Grade]) -> set[tuple[str, str, str]]:
    return {(grade.turn, grade.item, grade.criterion) for grade in grades}


def _runs(
    workspace: Workspace, files: Mapping[str, Path], bank: Bank | None, policy: EvaluationPolicy
) -> tuple[list[tuple[Run, Ranking]], list[Mapped]]:
    runs, mapped = [], []
    for name, path in files.items():
        if is_json(path):
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
    conversations: Conversations,
    criteria: Mapping[str, Qrels],
    files: Mapping[str, Path],
    rankings: Sequence[Ranking],
    notes: Sequence[str],
) -> Evaluated:
    told = [*notes, *(note for ranking in rankings for note in ranking.notes)]
    judged = {turn for qrels in criteria.values() for turn in qrels.turns}
    if not (judged and rankings):
        turns = judged or {turn for ranking in rankings for turn in ranking.turns}
        return Evaluated(policy, "texts", len(turns), 0, tuple(told), conversations=conversations)
    item = next((qrels.ids[0] for qrels in criteria.values() if len(qrels)), "")
    expected = Expected(tuple(sorted(judged, key=turn_sort_key)), "the judgments", item)
    covered = []
    for ranking in rankings:
        file = covered_by_turns(ranking.name, files[ranking.name], ranking.turns, expected)
        known = any(
            not no_judged_passage(grade_matrix(ranking, qrels)) for qrels in criteria.values()
        )
        # do not report unjudged turns: here, only some turns have a question
        covered.append(replace(file, passage=first_ids(ranking)[1], extra=0, judged=known))
    counts = count_turns(expected, covered, policy.missing, alone=True)
    own = (
        {file.name: int((~file.missing).sum()) for file in covered}
        if policy.missing == "own"
        else {}
    )
    told = list(dict.fromkeys([*told, *counts.notes]))
    return Evaluated(
        policy, "runs", int(counts.counted.sum()), int(counts.lacking.sum()), tuple(told), own_turns=own,
        conversations=conversations,
    )  # fmt: skip


def files_of_crowd(
    judgments: Judgments, pool: Sequence[tuple[Any, ...]], runs: Sequence[tuple[Run, Ranking]]
) -> dict[str, str]:
    """Return file name → content, in the formats of trec_eval.

    ``qrels_CRITERION.txt``, ``qrels_CRITERION_filtered.txt``, ``qrels_CRITERION_subset.txt``
        ``turn 0 item grade``.
    ``pool.txt``
        ``turn Q0 item 1 0.0 pool``, one line per item to judge.
    ``NAME.trec``
        A converted run, with the ids of the bank.
    """
    files = {
        f"qrels_{anchor(criterion)}{'' if name == 'all' else f'_{name}'}.txt": qrels_text(qrels)
        for criterion, sets in judgments.items() for name, qrels in sets.items()
    }  # fmt: skip
    if pool:
        files["pool.txt"] = "".join(f"{turn} Q0 {item} 1 0.0 pool\n" for turn, item, *_ in pool)
    return files | {f"{anchor(run.name)}.trec": run_text(run, ranking) for run, ranking in runs}


def run_text(run: Run, ranking: Ranking) -> str:
    """Return the lines ``turn Q0 item rank score tag`` in the order of ``ranking``; the tag is the name of ``run``."""
    tag = "_".join(run.name.split()) or "run"
    lines = []
    for place, turn in enumerate(ranking.turns):
        codes = ranking.document_codes[ranking.starts[place] : ranking.starts[place + 1]].tolist()
        for rank, code in enumerate(codes, 1):
            lines.append(
                f"{turn} Q0 {ranking.ids[code]} {rank} {float(run.scores[code])!r} {tag}\n"
            )
    return "".join(lines)
