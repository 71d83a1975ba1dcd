"""Words of findings that no text of a turn contains, and the filters that list their turns."""

from __future__ import annotations

from collections.abc import Mapping

from robustcs.records.filter import Filter, Search, normalised

#: Words of findings → filter; ``docs/turns.md`` lists them.
FILTERS: Mapping[str, str] = {
    "rewriter errors": "cause:rewriter",
    "ranker errors": "cause:ranker",
    "reader errors": "cause:reader",
    "QA errors": "cause:ranker,reader",
    "correct answers": "correct:yes",
    "wrong answers": "correct:no",
    "words dropped": 'type:"words dropped"',
    "name lost": 'type:"name lost"',
    "pronoun left": 'type:"pronoun left"',
    "words added": 'type:"words added"',
    "name added": 'type:"name added"',
    "made up": 'outcome:"made up"',
    "hedged": "outcome:hedged",
    "refused": "outcome:refused",
    "abstained": "outcome:abstained",
    "asked back": 'outcome:"asked back"',
    "lost by the generator": "lost:generator",
    "lost by retrieval": "lost:retrieval",
    "lost by the wording": "blame:wording",
    "lost by the ranker": "blame:ranker",
    "answered by no system": "blame:none",
    "unjudged passages": "unjudged>0",
}


def meant(asked: Filter) -> str:
    """Return how to list the turns that the words of a filter name; empty if they name none.

    A plural counts as its singular: ``rewriter error`` gives ``to list the turns that reports call
    'rewriter errors', write cause:rewriter``.
    """
    words = [term.text for term in asked.terms if isinstance(term, Search) and not term.excludes]
    if len(words) < len(asked.terms):
        return ""
    for name, written in FILTERS.items():
        if _singular(" ".join(words)) == _singular(name):
            return f"to list the turns that reports call {name!r}, write {written}"
    return ""


def _singular(words: str) -> str:
    return normalised(words).removesuffix("s")
