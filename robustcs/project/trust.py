"""Conditions on the inputs that limit which conclusions a report may draw; checked before verdicts are chosen.

A limit names the verdicts that it affects, and the reason, which their cards show. Some limits bar verdicts from the first
screen. ``robustcs check`` prints the same reasons before anything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import SUBJECTS, Subject, Verdict
from robustcs.documents.words import whole_percent
from robustcs.inputs.columns import plain_chunks
from robustcs.inputs.heads import HEAD
from robustcs.inputs.paths import parts_of, shown
from robustcs.inputs.qrels import FAR, Qrels
from robustcs.inputs.readings import Skipped
from robustcs.policy import Grouping
from robustcs.project.marks import Mark, told
from robustcs.project.model import Project, paths_of
from robustcs.result import Evaluated
from robustcs.statistics.estimate import LEVELS
from robustcs.statistics.families import Family
from robustcs.statistics.units import units_of
from robustcs.wording import MOST_MISSING, counted, listed, many_missing, system_name

if TYPE_CHECKING:
    from robustcs.evaluation.collection_fit import CollectionFit
    from robustcs.project.reader import Inputs

#: Names of models in file names: ``qrels-gpt4o.txt``.
_MODEL = re.compile(
    r"(?<![a-z])(umbrella|umbrela|chatgpt|gpt|llm|llama|claude|gemini|gemma|mistral|mixtral|qwen|phi|deepseek)(judges?)?(?![a-z]|4cs)",
    re.IGNORECASE,
)
#: How the note on formulations that are probably swapped begins.
SWAPPED = "Human scores below Original"
_JUDGES: tuple[Subject, ...] = ("bias", "agreement")
#: Subjects that do not depend on judgments.
_WITHOUT: tuple[Subject, ...] = ("similarity", "clarification")
_OF_JUDGMENTS = tuple(one for one in SUBJECTS if one not in (*_JUDGES, *_WITHOUT))
_OF_CAUSES: tuple[Subject, ...] = ("blame", "drop")
_OF_ROLES: tuple[Subject, ...] = ("blame", "drop", "unjudged")
#: Table of a project file → the subjects that depend on its roles.
_OF_MARKS: Mapping[str, tuple[Subject, ...]] = {
    "formulations": ("blame", "drop", "unjudged", "similarity", "reading"), "groups": ("rewording",), "judges": _JUDGES,
    "agreement": ("other",), "crowd": ("other",),
}  # fmt: skip
#: Subject → what judgments cannot tell where systems differ by misfits; others: the order of the systems.
_UNTOLD: Mapping[Subject, str] = {
    "blame": "tell rewriter errors from ranker errors", "drop": "order the formulations", "rewording": "show a drop",
}  # fmt: skip
_OF_TESTS: tuple[Subject, ...] = ("blame", "drop", "rewording", "systems", "reading")


@dataclass(frozen=True)
class Limit:
    """The reason why verdicts on some subjects are less certain than they look.

    bars
        Bar these verdicts from the first screen of a report.
    first
        The reason begins the claim, and it replaces the claim if it bars it.
    """

    subjects: tuple[Subject, ...]
    reason: str
    bars: bool = False
    first: bool = False


def model_evidence(file: Path) -> str:
    """Return the evidence that a model made a file of judgments; empty if there is none."""
    if named := _MODEL.search(file.name):
        return f"its name contains a model name ({named[1]})"
    if file.is_file() and not plain_chunks(file, "qrels", HEAD):
        from robustcs.inputs.sniff import kind_of

        if kind_of(file) == "labels":
            return "it has the fields of a model judge's output"
    return ""


def model_of_qrels(project: Project) -> tuple[str, str]:
    """Return the name of the model that made the qrels, and how that is known; empty if people did, or if it is unknown."""
    if not project.qrels or project.qrels_source in ("people", "mixed"):
        return "", ""
    files = parts_of(project.qrels)
    found = [
        (name, f"the qrels are those of judge {name}")
        for name, path in project.judges.items()
        if path in files
    ]
    if project.qrels_source == "model":
        found += [(file.stem, f"the source of {file.name} is model") for file in files]
    found += [
        (file.stem, f"the qrels are {file.name}, and {why}")
        for file in files
        if (why := model_evidence(file))
    ]
    return found[0] if found else ("", "")


def limits_of_sources(project: Project) -> list[Limit]:
    """Return limits from the source of the qrels: those of a model are no judgments of people."""
    _, told = model_of_qrels(project)
    return [
        Limit(_OF_JUDGMENTS, f"Based on judgments of a model, not of people: {told}."),
        Limit(_JUDGES, f"Agreement with a model, not with people: {told}.", bars=True),
    ] if told else []  # fmt: skip


def limits_of_names(
    project: Project, read: Collection[str], tables: Iterable[str] = tuple(_OF_MARKS)
) -> list[Limit]:
    """Return a limit for each table with roles that only file names suggest: see :mod:`robustcs.project.marks`.

    read
        Names of the files that were read; marks of other files do not matter.
    """
    notes = {table: note_on_names(project, read, [table]) for table in tables}
    return [Limit(_OF_MARKS[table], f"{note}.") for table, note in notes.items() if note]


def note_on_names(project: Project, read: Collection[str], tables: Iterable[str]) -> str:
    """Return one note on the roles in some tables that only file names suggest, of the files that were ``read``; or empty."""
    used = [
        mark
        for mark in project.marks
        if any(shown(file) in read for file in _marked_files(project, mark))
    ]
    names = told(used, tuple(tables))
    return f"Roles by file name: {names}" if names else ""


def _marked_files(project: Project, mark: Mark) -> Iterator[Path]:
    table, name, *key = mark
    values: Any = getattr(project, table)
    found: Any = values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)
    if table == "groups" and found:
        found = tuple(project.systems.get(system, ()) for system in found.sets)
    elif table == "formulations":
        found = (
            (getattr(found, key[0], None), found.sample_runs if key[0] == "run" else ())
            if key and found
            else found
        )
    return paths_of(found)


def limits_of_qrels(qrels: Qrels) -> list[Limit]:
    """Return limits from grades far above all others, and if all are positive: then all judged passages are relevant."""
    limits = [Limit(_OF_JUDGMENTS, f"{note}.") for note in qrels.notes if FAR in note]
    if not len(qrels) or qrels.grades.min() <= 0:
        return limits
    grades = sorted(set(qrels.grades.tolist()))
    has = (
        f"only grade {grades[0]}"
        if len(grades) == 1
        else f"only positive grades ({grades[0]} to {grades[-1]})"
    )
    reason = f"The qrels have {has}, so the share of judged passages does not show how many passages are unjudged."
    return [*limits, Limit(("unjudged",), reason, bars=True)]


def fit_of(inputs: Inputs, runs: Mapping[str, tuple[str, Path]]) -> CollectionFit | None:
    """Return how far the judgments fit the collection and the ``runs`` (system → role and file); None without a collection.

    The texts of judged and of retrieved passages are compared, so the collection is read once, a line at a time.

    Raises :class:`InputError` for a broken collection.
    """
    path = inputs.project.collection
    if path is None or not inputs.project.qrels or not runs:
        return None
    # imported only for projects with a collection
    from robustcs.evaluation.collection_fit import collection_fit, some_rankings
    from robustcs.inputs.collection import read_text_checksums
    from robustcs.inputs.readings import rows_of

    found = dict(zip(runs, inputs.per_run(list(runs.values()), some_rankings), strict=True))
    judged = [(turn, passage) for turn, passage, _ in inputs.qrels.rows()]
    tops, retrieved = (
        {name: top for name, (top, _) in found.items()},
        set().union(*(some for _, some in found.values())),
    )
    wanted = retrieved.union(passage for _, passage in judged)
    wanted.update(passage for top in tops.values() for some in top.values() for passage in some)
    texts = read_text_checksums(path, wanted)
    inputs.remember("collection", path, rows_of(texts))
    return collection_fit(judged, tops, retrieved, texts)


def misfits(fit: CollectionFit) -> tuple[str, ...]:
    """Return in words what does not fit; empty if all fits."""
    from robustcs.evaluation.collection_fit import DEPTH, MOST

    top = fit.tops[fit.worst]
    said = []
    if fit.share > MOST:
        counts = f"{fit.lacking:,} of {fit.judged:,}"
        said.append(
            f"{whole_percent(fit.share)} of the judgments ({counts}) are for passages missing from the collection"
        )
    if top.share > MOST:
        counts = f"{top.twins:,} of {top.judged + top.twins:,}"
        whose = f"the judged texts in the top {DEPTH} of {system_name(fit.worst)}"
        said.append(
            f"{whole_percent(top.share)} of {whose} ({counts}) are judged only under another id"
        )
    return tuple(said)


def claim_of_misfits(
    fit: CollectionFit | None, pairs: Iterable[tuple[str, str]], subject: Subject
) -> tuple[str, bool]:
    """Return the beginning of a claim on ``pairs`` of systems, and whether nothing can be claimed, as two differ by misfits.

    The beginning is empty if the judgments fit the collection, and a whole clause if nothing can be claimed.
    """
    reason = ", and ".join(misfits(fit)) if fit else ""
    if reason and fit and any(fit.apart(*pair) for pair in pairs):
        return f"{reason}: {cannot(subject)}", True
    return reason, False


def cannot(subject: Subject | None) -> str:
    """Return what judgments cannot tell where systems differ by :func:`misfits`."""
    return f"the judgments cannot {_UNTOLD.get(subject or 'systems', 'order the systems')}"


def limits_of_fit(fit: CollectionFit | None, project: Project) -> list[Limit]:
    """Return the limits from :func:`misfits`; they bar verdicts on the order of systems that differ by them."""
    if fit is None or not (found := misfits(fit)):
        return []
    groups = project.groups.values()
    pairs: Mapping[tuple[Subject, ...], Iterable[tuple[str, str]]] = {
        ("blame", "drop"): combinations((part.name for part in project.formulations.values()), 2),
        ("rewording",): ((group.baseline, name) for group in groups for name in group.sets),
        ("systems", "differences", "unjudged"): combinations(fit.tops, 2),
    }  # fmt: skip
    others = tuple(one for one in _OF_JUDGMENTS if one not in chain.from_iterable(pairs))
    reason = f"{', and '.join(found)}."
    limits = [
        Limit(some, reason, any(fit.apart(*pair) for pair in own), first=True)
        for some, own in pairs.items()
    ]
    return [*limits, Limit(others, reason, first=True)]


def limits_of_rows(skipped: Mapping[tuple[str, str], Skipped]) -> list[Limit]:
    """Return one limit on all files and roles with more than 1% skipped rows."""
    many = [(role, str(one)) for (_, role), one in skipped.items() if 100 * one.count > one.rows]
    told = many[0] if len(many) == 1 else ("rows", listed(f"{role} ({one})" for role, one in many))
    return [Limit(SUBJECTS, f"More than 1% of {told[0]} were skipped: {told[1]}.")] if many else []


def limits_of_turns(turns: Sequence[str], by: Grouping) -> list[Limit]:
    """Return limits from the number of sampling units among ``turns``."""
    units = units_of(turns, by)
    return _limits_of_units(units.kind, units.count, units.note) if turns else []


def limits_of_result(evaluated: Evaluated, family: Family | None = None) -> list[Limit]:
    """Return limits from what is missing, probably swapped formulations, few sampling units, and a ``family`` without power."""
    limits = [Limit(_OF_ROLES, f"{note}.") for note in evaluated.notes if note.startswith(SWAPPED)]
    if evaluated.missing_rule == "zero" and evaluated.missing > MOST_MISSING * evaluated.turns:
        reason = f"{evaluated.missing} of {counted(evaluated.turns, 'turn')} are missing in at least one system and score 0."
        limits.append(Limit(_OF_JUDGMENTS, reason))
    if told := many_missing(evaluated.unscored_by):
        limits.append(
            Limit(_OF_CAUSES, f"{told}, which may change what causes the errors.", bars=True)
        )
    of_units = (
        _limits_of_units(evaluated.unit, evaluated.units, evaluated.unit_note)
        if evaluated.units
        else []
    )
    note = family.note if family else ""
    return limits + (
        of_units or (_insignificant(f"{note[0].upper()}{note[1:]}.", ("systems",)) if note else [])
    )


def _limits_of_units(kind: str, count: int, note: str) -> list[Limit]:
    if note:
        return [Limit(SUBJECTS, f"{note[0].upper()}{note[1:]}.")]
    smallest = 2.0 ** (1 - count)  # of all sign patterns, the observed one and its mirror image
    if smallest <= LEVELS[0]:
        return []
    return _insignificant(
        f"No p-value can reach {LEVELS[0]:g} with {counted(count, kind)}: the smallest possible is {smallest:.2g}."
    )


def _insignificant(reason: str, also: tuple[Subject, ...] = _OF_TESTS) -> list[Limit]:
    return [Limit(also, reason), Limit(("differences",), reason, bars=True)]


def limited(verdict: Verdict, limits: Iterable[Limit]) -> Verdict:
    """Return the verdict with the reasons of its limits, each once; some begin the claim, or replace it."""
    mine = [limit for limit in limits if verdict.subject in limit.subjects]
    for limit in dict.fromkeys(limit for limit in mine if limit.first):
        verdict = _begun(verdict, limit)
    mine = [limit for limit in mine if not limit.first]
    told = dict.fromkeys([*filter(None, [verdict.caveat]), *(limit.reason for limit in mine)])
    return replace(
        verdict, caveat=" ".join(told), barred=verdict.barred or any(limit.bars for limit in mine)
    )


def _begun(verdict: Verdict, limit: Limit) -> Verdict:
    reason = limit.reason.rstrip(".")
    if not limit.bars:
        return replace(verdict, text=f"{reason}; {verdict.text}")
    said = f"{reason}: {cannot(verdict.subject)}"
    return replace(
        verdict,
        number=said.split()[0],
        interval="",
        text=said,
        basis="",
        tone="",
        caveat="",
        barred=True,
        turns="",
        count=0,
        sort="",
    )


# ---------------------------------------------------------------- customary relevance levels of known collections
#: Collection and pattern of its passage ids.
_COLLECTIONS = (
    ("iKAT", re.compile(r"clueweb22-")),
    ("CAsT", re.compile(r"(MARCO|CAR|WAPO|KILT)_")),
    ("TREC DL", re.compile(r"msmarco_(passage|doc)_")),
)
_CUSTOMARY = 2


def customary_level(passages: Sequence[str], highest: int) -> tuple[int, str]:
    """Return the customary relevance level of a collection for binary measures, and its name; (1, "") if it is unknown.

    passages
        Passage ids in the qrels; most of the first hundred must match a collection. Turn ids show nothing: other collections
        have ids of the same form.
    highest
        The highest grade; binary qrels have only level 1.
    """
    some = passages[:100]
    for name, passage_id in _COLLECTIONS:
        if (
            sum(passage_id.match(one) is not None for one in some) > len(some) / 2
            and highest >= _CUSTOMARY
        ):
            return _CUSTOMARY, name
    return 1, ""
