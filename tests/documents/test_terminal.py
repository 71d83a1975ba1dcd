"""Tables on a terminal of 80 columns."""

from __future__ import annotations

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from robustcs.documents.document import Block, Column, Document, Figure, TableBlock
from robustcs.documents.terminal import render_terminal
from tests.documents.conftest import breakdown_table


def rendered(
    blocks: tuple[Block, ...], policy: str = "", width: int = 80, colour: bool = False
) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    render_terminal(blocks, policy, (), console)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 60, 120])
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_nothing_is_wider_than_the_terminal(
    request: pytest.FixtureRequest, name: str, width: int
) -> None:
    document: Document = request.getfixturevalue(name)
    text = rendered(document.blocks, document.policy, width)
    assert max(map(cell_len, text.split("\n"))) <= width
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert not re.search(r" +$", text, re.MULTILINE)


def test_the_published_table() -> None:
    lines = rendered((breakdown_table(),)).split("\n")
    assert lines[0] == "Turns per bin"
    assert lines[2].split("  ")[-1] and "NDCG@3 ≥ 0.5" in lines[2]
    assert lines[4].split() == ["Original", "QR", "Human", *["turns", "same"] * 4]
    assert lines[6].split() == [
        "×",
        "×",
        "×",
        "49",
        "(16)",
        "10",
        "(3)",
        "55",
        "(18)",
        "154",
        "(51)",
    ]
    # One rule above, one below the head, two of the table's own, one at the end: all as wide as the table.
    assert len([line for line in lines if re.fullmatch("─+", line)]) == 5


def test_a_table_that_is_too_wide_comes_in_parts_with_whole_numbers() -> None:
    numbers = [f"{n}.123456" for n in range(100, 130)]
    columns = (Column("turn", "left"), *(Column(f"m{n}", group="all") for n in range(30)))
    text = rendered((TableBlock("t", "Wide", columns, (("31_1", *numbers),)),))
    lines = [line.split() for line in text.split("\n") if line.startswith("31_1")]
    assert len(lines) > 1
    assert [cell for line in lines for cell in line[1:]] == numbers


def test_texts_are_not_markup() -> None:
    table = TableBlock(
        "t",
        "[bold]cap[/bold]",
        (Column("[red]x[/]", "left"),),
        (("[link=file:///x]y[/link] :smile:",),),
    )
    text = rendered((table,), "[dim]policy", colour=True)
    for literal in (
        "[bold]cap[/bold]",
        "[red]x[/]",
        "[link=file:///x]y[/link] :smile:",
        "[dim]policy",
    ):
        assert literal in text


def test_colour_only_where_the_console_has_it() -> None:
    assert "\x1b" in rendered((breakdown_table(),), colour=True)
    assert "\x1b" not in rendered((breakdown_table(),), colour=False)


def test_figures_are_one_line_and_the_policy_is_last() -> None:
    def never() -> None:
        raise AssertionError("a terminal draws no figure")

    text = rendered((Figure("f", "The caption.", "alt", never),), "the policy")  # type: ignore[arg-type]
    assert text == "Figure: The caption.\n\nthe policy\n"


def table_of(*widths: int) -> TableBlock:
    """A row name and a column of numbers of every width."""
    columns = (Column("turn", "left"), *(Column(f"m{place}") for place in range(len(widths))))
    return TableBlock("t", "Numbers", columns, (("31_1", *("7" * width for width in widths)),))


def test_columns_move_closer_before_a_table_is_split() -> None:
    rows = [
        line for line in rendered((table_of(*[6] * 10),)).split("\n") if line.startswith("31_1")
    ]
    assert rows == ["31_1" + " 777777" * 10]
    assert "31_1" + "  777777" * 9 in rendered((table_of(*[6] * 9),)).split("\n")


def test_long_names_fold_before_a_table_is_split() -> None:
    columns = (Column("system", "left"), *(Column(f"m{place}") for place in range(8)))
    text = rendered(
        (TableBlock("t", "Names", columns, (("a very long name", *["7.123456"] * 8),)),)
    )
    assert (
        "a very    7.123456" not in text
        and text.count("7.123456 7.123456")
        and max(map(cell_len, text.split("\n"))) <= 80
    )
    assert len([line for line in text.split("\n") if "7.123456" in line]) == 1


def test_long_names_break_where_their_parts_end() -> None:
    numbers = [Column(f"column{n}") for n in range(6)]
    name = "clueweb_session/ru_monot5_reranked"
    columns = (Column("first", "left"), Column("second", "left"), *numbers)
    table = TableBlock("t", "Pairs", columns, ((name, "bm25", *["0.123456"] * 6),))
    lines = [line.split()[0] for line in rendered((table,)).split("\n") if line[:1].isalpha()]
    assert lines[2:] == ["clueweb_session/ru_", "monot5_reranked"] and "".join(lines[2:]) == name
