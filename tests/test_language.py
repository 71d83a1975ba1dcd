"""No phrase of a short list of translated English occurs in pages, strings and docstrings. docs/glossary.md has the terms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: Phrase → what to write instead.
BANNED = {
    r"(?:\d|^) %(?![a-z(])": "56%, 95% CI",
    r"\bper cent\b": "percent, or 56%",
    r"\bof this kind\b": "similar conversations, or nothing",
    r"\b(?:some|no)body\b|\bwhoever\b": "assessors, annotators, users; unjudged",
    r"\bpeople's\b": "human",
    r"\banew\b": "again",
    r"\b(?:tell|told|tells|telling)\b[^.]{0,30}\bapart\b": "differ significantly, distinguish",
    r"\b(?:is|are) said\b": "a message says so",
    r"\bset aside\b": "skipped (rows), excluded (turns)",
    r"\bstands? (?:in|beside|behind|between|there|twice|once|here)\b": "is in",
    r"\bbeside\b": "next to, in addition to, compared with",
    r"\bby itself\b": "automatically, alone",
    r"\blean(?:s|ing)? on\b": "depend on",
    r"\b(?:turns|judgments|passages|runs|texts|files) that lack\b": "missing turns",
    r"\bwhose fault\b|\bto blame\b": "what caused it",
    r"\bwhat bec[ao]mes? of\b": "the outcomes",
    r"\bfilled in by the model\b": "the hole model",
    r"\blicens(?:e|es|ed) (?:an )?estimates?\b": "estimate, allow",
    r"\bseparate luck\b": "part of a difference may be luck",
    r"\bto be had\b": "available",
    r"\blooked at for\b": "examined for",
    r"\bof its own accord\b": "automatically",
    r"\ball that is\b": "everything",
    r"\brefus(?:es|ed|al|als|ing)\b(?![-\n])": "rejected",  # an error code and a field have the word
    r"\bturn(?:s|ed)? round\b": "reversed, pivoted",
}
_ANY = re.compile("|".join(f"(?:{phrase})" for phrase in BANNED), re.IGNORECASE)
_GENERATED = ("cli.md", "tables.md", "papers.md")
#: Printed and generated parts of a page: fenced blocks, and tables between the comments that bench/ writes.
_PRINTED = re.compile(
    r"^```.*?^```$|^<!-- ([\w ]+) -->$.*?^<!-- /\1 -->$", re.MULTILINE | re.DOTALL
)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "fixtures/README.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in _GENERATED),
]
#: Pages and modules about refusals, the field's word for answers without content, and what they need not write instead.
REFUSALS = {
    "answers.md", "glossary.md", "record.md", "turns.md", "robustcs/evaluation/outcomes.py",
    "robustcs/inputs/answers.py", "robustcs/records/headwords.py",
    "robustcs/similarity/responses.py", *(f"robustcs/studies/answers/{name}.py" for name in
                                       ("analysis", "fields", "findings", "outcomes", "questions", "show", "study")),
}  # fmt: skip
REJECTED = "write: rejected"
#: The list of function words has words of every kind.
FILES = sorted(
    path for path in (ROOT / "robustcs").rglob("*.py") if path.name != "function_words.py"
)


def phrases_of(texts: Iterator[tuple[int, str]]) -> list[str]:
    """Return every banned phrase with its line and what to write instead."""
    found = []
    for line, text in texts:
        for match in _ANY.finditer(text):
            instead = next(
                instead
                for phrase, instead in BANNED.items()
                if re.fullmatch(phrase, match[0], re.IGNORECASE)
            )
            found.append(
                f"line {line + text[: match.start()].count(chr(10))}: {match[0]!r}; write: {instead}"
            )
    return found


def strings_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every string of a module, docstrings and parts of f-strings included."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_pages_are_plain_english(page: Path) -> None:
    text = _PRINTED.sub(lambda block: "\n" * block[0].count("\n"), page.read_text("utf-8"))
    found = phrases_of(enumerate(text.split("\n"), 1))
    assert not [one for one in found if page.name not in REFUSALS or REJECTED not in one]


def test_strings_and_docstrings_are_plain_english() -> None:
    found = {path.relative_to(ROOT).as_posix(): phrases_of(strings_of(path)) for path in FILES}
    wrong = {
        name: [one for one in some if name not in REFUSALS or REJECTED not in one]
        for name, some in found.items()
    }
    assert not {name: some for name, some in wrong.items() if some}


def test_every_phrase_is_found() -> None:
    text = "12 % of the turns; nobody told them apart; it stands in the table beside judgments that lack"
    assert [found.partition("'")[2].partition("'")[0] for found in phrases_of(iter([(1, text)]))] == [
        "2 %", "nobody", "told them apart", "stands in", "beside", "judgments that lack"
    ]  # fmt: skip
    fine = "12% of the turns, besides; %d %s; the hole model; it stands for Human"
    assert not phrases_of(iter([(1, fine)]))
