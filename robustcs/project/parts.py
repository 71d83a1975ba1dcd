"""Parts of a project: what one analysis may look at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace

from robustcs.errors import UsageError
from robustcs.evaluation.measure import ANSWER_FAMILIES, Measure
from robustcs.project.model import FORMULATION_FILES, Formulation, Project


def only(project: Project, keys: Collection[str], formulation: Collection[str] = ()) -> Project:
    """A project with these fields alone, and these fields of every formulation; formulations left empty are gone."""
    parts = {}
    for key, part in project.formulations.items():
        kept = Formulation(part.role, part.name, **{name: getattr(part, name) for name in formulation})
        if any(getattr(kept, name) for name in (*FORMULATION_FILES, "sample_runs")):
            parts[key] = kept
    known = {field.name for field in fields(Project)}
    assert known.issuperset(keys)
    return replace(Project(), **{key: getattr(project, key) for key in keys}, formulations=parts)


def measures(project: Project, of_answers: bool) -> tuple[Measure, ...]:
    """The project's measures of predicted answers, or those of rankings."""
    return tuple(measure for measure in project.metrics if (measure.family in ANSWER_FAMILIES) == of_answers)


def needs(condition: object, slug: str, found: str, advice: str) -> None:
    """Raise :class:`UsageError` unless ``condition`` holds."""
    if not condition:
        raise UsageError(slug, found, advice)


def judged_runs(project: Project, keys: tuple[str, ...]) -> Project:
    """The part with all runs, the judgments old and new, and ``keys``. Raises :class:`UsageError` without qrels or runs."""
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    needs(project.systems, "no-runs", "no runs", "name them in robustcs.toml or with --run NAME=FILE")
    part = only(project, ("qrels", "qrels_selection", "runs", "policy", "new_judgments", *keys), ("run",))
    return replace(part, metrics=measures(project, of_answers=False))
