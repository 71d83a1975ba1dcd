"""No sentence of a study is a double negative or begins with a count of pairs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from robustcs.studies.registry import STUDIES
from tests.test_house import PACKAGE

#: Forms that readers stumble over, with what to write instead.
BANNED = {
    r"\bnot proven\b|\bunproven\b": "say what can change, or what the data do not show",
    r"\bdo(es)? not (score|differ)[^.;]*\b(lower|higher)\b": "ties with",
    r"\bdo(es)? not [^.;,]*\bnot\b": "one negation at most",
    r"\b(is|are) not [^.;,]*\bnot\b": "one negation at most",
    r"\bnot un\w+|\bnot in(significant|consistent|different)": "one negation at most",
    r"^(\d+|@) of (\d+|@) [^.;]*\b(pairs?|orders?)\b": "begin with the comparison, or with Of N pairs",
    r"\bcannot be excluded\b|\bnot ruled out\b": "may",
}


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module that is not a docstring; a value in it is @."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node)} - {id(node)}
            parts = (part.value if isinstance(part, ast.Constant) else "@" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in skipped
        ):
            yield node.lineno, node.value


def found_in(text: str) -> list[str]:
    return [form for form in BANNED if re.search(form, text)]


@pytest.mark.parametrize("study", [study.name for study in STUDIES])
def test_no_sentence_has_a_banned_form(study: str) -> None:
    for path in sorted((PACKAGE / "studies" / study).glob("*.py")):
        for line, text in texts_of(path):
            assert not found_in(text), f"{path.name}:{line}: {text!r}"


@pytest.mark.parametrize(
    "text",
    [
        "91 of 91 orders are not proven", "; 1 system does not score significantly lower (near)",
        "@ of @ pairs of systems differ", "a does not differ from what is not b", "fewer orders may be unproven",
        "it is not insignificant",
    ],
)  # fmt: skip
def test_old_sentences_are_banned(text: str) -> None:
    assert found_in(text)


def test_of_a_text_with_values_the_words_count(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        '"""not proven"""\nsaid = f"{1} of {2} orders are" f" not {3} proven"\n'
    )
    assert [text for _, text in texts_of(tmp_path / "one.py")] == ["@ of @ orders are not @ proven"]
