"""Reading the files of clarifying questions, annotations and crowd judgments; for ``robustcs check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from robustcs.errors import InputError, UsageError
from robustcs.inputs.annotations import read_annotations
from robustcs.inputs.clariq import QuestionRun, read_needs, read_question_bank, read_question_run, read_topics
from robustcs.inputs.clariq_tables import is_json, read_conversations, read_evaluation, read_performance
from robustcs.inputs.crowd import read_bank, read_gold_checks, read_grades, read_turn_list
from robustcs.inputs.mixed_initiative import is_mixed_initiative, read_mixed_initiative
from robustcs.inputs.preferences import read_preferences
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.ratings import read_ratings
from robustcs.inputs.runs import read_run
from robustcs.project.model import AgreementFiles, ClariqFiles, CrowdFiles, Project
from robustcs.project.workspace import Workspace
from robustcs.studies.agreement.ask import compare_ratings, compare_snippets
from robustcs.studies.clariq.ask import evaluate_clariq
from robustcs.studies.crowd.ask import evaluate_crowd

#: Role, file, how it is read, and how many rows what was read has.
File = tuple[str, Path | str, Callable[[Any], Any], Callable[[Any], int]]


def files_of_studies(project: Project) -> dict[str, list[File]]:
    """The files of ``[clariq]``, ``[agreement]`` and ``[crowd]``, table by table."""
    by_rank = project.policy.order == "rank"
    return {
        "clariq": list(_clariq(project.clariq or ClariqFiles(), by_rank)),
        "agreement": list(_agreement(project.agreement or AgreementFiles())),
        "crowd": list(_crowd(project.crowd or CrowdFiles(), by_rank)),
    }


def misfit(table: str, project: Project) -> str | None:
    """What does not fit together among files of a table that can all be read, as one sentence; None where they fit."""
    files = project.agreement or AgreementFiles()
    workspace = Workspace(project)
    try:
        if table == "clariq":
            evaluate_clariq(workspace)
        elif table == "crowd":
            evaluate_crowd(workspace)
        else:
            if files.snippets or not files.ratings:
                compare_snippets(workspace)
            if files.ratings:
                compare_ratings(workspace)
    except (InputError, UsageError) as error:
        return f"[{table}]: {error}"
    return None


def _clariq(files: ClariqFiles, by_rank: bool) -> Iterator[File]:
    if files.topics:
        yield "clariq topics", files.topics, read_topics, lambda topics: int(topics.rows)
    if files.questions:
        yield "clariq questions", files.questions, read_question_bank, len
    for name, path in files.runs.items():
        read = partial(_question_run, name=name, bank=files.questions, by_rank=by_rank)
        yield f"clariq run {name}", path, read, lambda found: len(found.run)
    if files.qrels:
        yield "clariq qrels", files.qrels, read_qrels, len
    if files.performance:
        read_table = partial(_table_or_run, read=read_performance)
        yield "clariq performance", files.performance, read_table, len
    for name, path in files.evaluations.items():
        yield f"clariq evaluation {name}", path, partial(_table_or_run, read=read_evaluation), len
    for name, path in files.needs.items():
        yield f"clariq needs {name}", path, read_needs, len
    if files.preferences:
        yield "clariq preferences", files.preferences, read_preferences, len
    if files.conversations:
        yield "clariq conversations", files.conversations, read_conversations, len


def _question_run(path: Path, name: str, bank: Path | None, by_rank: bool) -> QuestionRun:
    return read_question_run(path, name, read_question_bank(bank) if bank else None, by_rank)


def _table_or_run(path: Path, read: Callable[[Path], Any]) -> Any:
    return next(iter(read(path).values())) if is_json(path) else read_run(path, path.name)


def _agreement(files: AgreementFiles) -> Iterator[File]:
    for role in ("snippets", "reference"):
        for path in getattr(files, role):
            yield role, path, read_annotations, lambda read: sum(len(text.annotations) for text in read[0].values())
    for path in files.ratings:
        yield "ratings", path, read_ratings, lambda read: len(read[0])


def _crowd(files: CrowdFiles, by_rank: bool) -> Iterator[File]:
    if files.grades:
        yield "crowd grades", files.grades, read_grades, lambda read: len(read[0])
    if files.gold_checks:
        yield "crowd gold checks", files.gold_checks, read_gold_checks, len
    if files.bank:
        yield "crowd bank", files.bank, read_bank, len
    if files.qrels:
        yield "crowd qrels", files.qrels, read_qrels, len
    if files.subset:
        yield "crowd subset", files.subset, read_turn_list, len
    for name, path in files.runs.items():
        yield f"crowd run {name}", path, partial(_crowd_run, name=name, by_rank=by_rank), len


def _crowd_run(path: Path, name: str, by_rank: bool) -> Any:
    return read_mixed_initiative(path) if is_mixed_initiative(path) else read_run(path, name, ranks=by_rank)
