"""Choose and order the verdicts that open a report: subjects in the order in which users ask, the worst verdict first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice, zip_longest

from robustcs.documents.document import SUBJECTS, Subject, Verdict

#: The largest number of verdicts that open a report.
_MOST = 3
#: Question → subject of its verdicts, unless a verdict names its own.
_SUBJECTS: Mapping[str, Subject] = {
    "breakdown": "blame", "components": "blame", "answers": "blame", "outcomes": "blame", "unjudged": "unjudged",
    "correlate": "similarity", "review": "reading", "robustness": "rewording", "evaluate": "systems", "augment": "judgments",
    "clariq": "clarification", "audit": "bias",
}  # fmt: skip
#: Questions about the cause of errors. The first one that a report answers opens it; the verdicts of the
#: others come later, under these subjects.
_CAUSES: Mapping[str, Subject] = {
    "breakdown": "blame",
    "components": "systems",
    "outcomes": "reading",
    "answers": "reading",
}


def of_question(key: str, verdict: Verdict) -> Verdict:
    """Return the verdict with its subject, by the question that it answers."""
    return verdict if verdict.subject else replace(verdict, subject=_SUBJECTS.get(key, "other"))


def in_order(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts by subject, the worst first within each; those that may not open a report come last."""
    return sorted(
        verdicts, key=lambda one: (one.barred, SUBJECTS.index(one.subject or "other"), -one.weight)
    )


def headlines(verdicts: Mapping[str, Sequence[Verdict]]) -> tuple[Verdict, ...]:
    """Return the verdicts that open a report, by question: one of every subject before a second one of any.

    With Human, the breakdown opens it; else a grid of components; else answers; else the comparison of the systems. The
    agreement of a judge never comes first.
    """
    causes = [key for key in _CAUSES if any(not one.barred for one in verdicts.get(key, ()))]
    every = [
        replace(one, subject=_CAUSES[key]) if key in causes[1:] else one
        for key, some in verdicts.items() for one in some if not one.barred
    ]  # fmt: skip
    by_subject = [
        list(some) for _, some in groupby(_ordered(every, causes), key=lambda one: one.subject)
    ]
    turns = (one for turn in zip_longest(*by_subject) for one in turn if one is not None)
    chosen = _ordered(islice(turns, _MOST), causes)
    return tuple(chosen) if chosen and chosen[0].subject != "agreement" else ()


def _ordered(verdicts: Iterable[Verdict], causes: Sequence[str]) -> list[Verdict]:
    """Return :func:`in_order`; where no question is about ``causes``, the comparison of the systems comes first."""
    return sorted(in_order(verdicts), key=lambda one: not causes and one.subject != "systems")
