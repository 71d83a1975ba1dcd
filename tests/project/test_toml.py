"""The bounds of a project file's text: what they refuse, and what only looks as if it had to be refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.project.reading import read_project
from robustcs.project.toml import DEEPEST, LONGEST, key_lines, read_toml

DOTS = "a." * 100_000


@pytest.mark.parametrize(
    "text",
    [f"{DOTS}b = 0", f"[{DOTS}b]", f"[[{DOTS}b]]", f"x = {{{DOTS}b = 0}}", '"a.b" . ' * 100_000 + "b = 0",
     "'a'\t." * 100_000 + "b = 0", "a." * DEEPEST + "b = 0"],
    ids=["key", "table", "list of tables", "inline", "quoted", "literal", "one too many"],
)  # fmt: skip
def test_dotted_keys_without_end(text: str) -> None:
    with pytest.raises(InputError) as error:
        read_toml("robustcs.toml", f'name = "x"\n{text}\n')
    assert str(error.value) == ("robustcs.toml:2: invalid TOML (nested too deeply, more than 20 levels); check this line")


@pytest.mark.parametrize(
    "text",
    [f'x = "{DOTS}"', f"x = '{DOTS}'", f'x = """\n{DOTS}b = 1\n"""', f"x = '''\n{DOTS}b = 1\n'''", f"x = 1 # {DOTS}",
     "x = [" + "0.5, " * 1000 + "]", f'x = "\\"{DOTS}"', "a." * (DEEPEST - 1) + "b = 0"],
    ids=["text", "literal text", "long text", "long literal text", "comment", "numbers", "escaped quote", "just not"],
)  # fmt: skip
def test_dots_that_are_not_keys(text: str) -> None:
    assert list(read_toml("robustcs.toml", text)) == [text[0]]
    assert key_lines(text)[(text[0],)] == 1


def test_a_line_inside_a_long_text_that_looks_like_an_endless_key() -> None:
    assert key_lines(f"x = '''\n{DOTS}b = 1\n'''\ny = 2\n") == {("x",): 1, ("y",): 4}


@pytest.mark.parametrize("text", ['\\"' * 500_000, "x = '" + '"' * 500_000, "x = ''" + "'" * 500_001, '"""' * 200_001])
def test_quotes_without_end(text: str) -> None:
    with pytest.raises(InputError, match="invalid TOML"):
        read_toml("robustcs.toml", text)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = [\n" + "[" * 100_000, 3), ("b = 1\na = " + "{a=" * 5000, 2),
     ("a = '[[[[['\nb = " + "[" * 30 + "]" * 30, 2), ("a = 1\nseed = +" + "1_2" * 5000, 2)],
    ids=["lists", "tables", "lists that end", "digits"],
)  # fmt: skip
def test_values_without_end_are_told_with_their_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_project(path)
    assert str(error.value).startswith(f"{path}:{line}: invalid TOML") and "\n" not in str(error.value)


def test_text_without_end() -> None:
    with pytest.raises(
        InputError, match="^robustcs.toml: the file has more than 1,048,576 characters; check that this is the right file$"
    ):
        read_toml("robustcs.toml", "\n" * (LONGEST + 1))
