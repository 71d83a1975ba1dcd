"""The bounds of a project file's text: what they refuse, and what only looks as if it had to be refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.project.reading import read_project
from robustcs.project.toml import DEEPEST, LONGEST, MOST_DOTS, key_lines, read_toml

DOTS = "a." * 100_000


@pytest.mark.parametrize(
    "text",
    [f"{DOTS}b = 0", f"[{DOTS}b]", f"[[{DOTS}b]]", f"x = {{{DOTS}b = 0}}", '"a.b" . ' * 100_000 + "b = 0",
     "'a'\t." * 100_000 + "b = 0", "a." * DEEPEST + "b = 0", f"x = '{DOTS}'"],
    ids=["key", "table", "list of tables", "inline", "quoted", "literal", "one too many", "text"],
)  # fmt: skip
def test_dotted_keys_without_end(tmp_path: Path, text: str) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(f'name = "x"\n{text}\n')
    with pytest.raises(InputError) as error:
        read_project(path)
    assert (
        str(error.value)
        == f"{path}:2: invalid TOML (nested too deeply, more than 20 levels); check this line"
    )


@pytest.mark.parametrize(
    "text",
    ['x = "a.b.c"', 'x = """\na.b = 1\n"""', "x = 1 # a.b",
     "x = [" + "0.5, " * MOST_DOTS + "]", "a." * (DEEPEST - 1) + "b = 0"],
    ids=["text", "long text", "comment", "numbers", "just not"],
)  # fmt: skip
def test_dots_that_are_accepted(text: str) -> None:
    assert list(read_toml("robustcs.toml", text)) == [text[0]]
    assert key_lines(text)[(text[0],)] == 1


@pytest.mark.parametrize(
    "text", ['\\"' * 500_000, "x = '" + '"' * 500_000, "x = ''" + "'" * 500_001, '"""' * 200_001]
)
def test_quotes_without_end(text: str) -> None:
    with pytest.raises(InputError, match="invalid TOML"):
        read_toml("robustcs.toml", text)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = [\n" + "[" * 100_000, 3), ("b = 1\na = " + "{a=" * 5000 + "\nc = 1", 2),
     ("a = '[[[[['\nb = " + "[" * 30 + "]" * 30, 2), ("a = 1\nb = [1,\n2]\nseed = +" + "1_2" * 5000 + "\nc = [\n1]", 4)],
    ids=["lists", "tables", "lists that end", "digits"],
)  # fmt: skip
def test_values_without_end_have_a_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_project(path)
    assert str(error.value).startswith(f"{path}:{line}: invalid TOML") and "\n" not in str(
        error.value
    )


def test_text_without_end() -> None:
    with pytest.raises(
        InputError,
        match="^robustcs.toml: the file has more than 1,048,576 characters; check that this is the right file$",
    ):
        read_toml("robustcs.toml", "\n" * (LONGEST + 1))
