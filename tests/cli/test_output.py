"""Every form of output, for every command that has one: widths, closing line, colours, single tables, LaTeX that compiles."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.conftest import Command

COMMANDS = {
    "breakdown": "breakdown",
    "turns": "breakdown --show 001",
    "two rewriters": "breakdown --qr B=runs/plain_qr.trec",
    "answers": "breakdown --metric f1 --metric em",
    "sweep": "sweep --step 0.1 --metric ndcg_cut_3 --metric P_1 --qr B=runs/plain_qr.trec",
    "check": "check",
}
#: The beginning of the policy line, which names the units where there are intervals.
POLICY = r"70 turns(?: in 10 conversations)? · missing turns score 0"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_fits_80_columns_and_ends_with_the_policy(in_demo: Command, name: str) -> None:
    out = in_demo(COMMANDS[name]).out
    assert max(map(cell_len, out.splitlines())) <= 80
    last = out.removesuffix("\n").rpartition("\n\n")[2].replace("\n", " ")
    assert re.search(rf"(^|Note: .* ){POLICY} \(\d\) · [^·]+( · [^·]+)*$", last), last
    assert "\x1b" not in out


@pytest.mark.parametrize("columns", ["60", "120"])
def test_columns_sets_the_width(
    in_demo: Command, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    widest = max(map(cell_len, in_demo("breakdown --show 001").out.splitlines()))
    assert int(columns) - 30 < widest <= int(columns)


def test_a_width_that_is_none_is_80(in_demo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = in_demo("testsets").out
    for columns in ("", "wide", "0", "-3"):
        monkeypatch.setenv("COLUMNS", columns)
        assert in_demo("testsets").out == expected


@pytest.mark.parametrize(
    "name",
    ["sweep", *(pytest.param(one, marks=pytest.mark.long) for one in ("check", "breakdown"))],
)
def test_json_is_strict_and_its_tables_are_csv(in_demo: Command, name: str) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    result = json.loads(in_demo(f"{COMMANDS[name]} --format json").out, parse_constant=refuse)
    assert list(result) == ["command", "version", "policy", "inputs", "tables", "notes"]
    assert result["command"] == COMMANDS[name].split()[0]
    assert re.match(POLICY, result["policy"]["line"])
    for table, rows in result["tables"].items():
        text = in_demo(f"{COMMANDS[name]} --format csv --table {table}").out
        assert not rows or text.partition("\n")[0].split(",") == list(rows[0])
        assert text.count("\n") == len(rows) + 1


@pytest.mark.parametrize(
    "name",
    ["sweep", *(pytest.param(one, marks=pytest.mark.long) for one in ("check", "breakdown"))],
)
def test_every_table_can_be_asked_for_alone(in_demo: Command, name: str) -> None:
    tables = json.loads(in_demo(f"{COMMANDS[name]} --format json").out)["tables"]
    whole = in_demo(COMMANDS[name]).out.splitlines()
    for table in tables:
        out = in_demo(f"{COMMANDS[name]} --table {table}").out
        assert ("─" if tables[table] else f"Table {table} has no rows.") in out
        assert "Figure" not in out
        # the whole output leaves turns out for their length, of one rewriter what compares several, of several what each
        # has of its own, and slices that nobody asked for
        others = (
            "turns", "overview", "rewriters", "rewriter_tests", "rewriter_scores", "repairs", "best_of", "slices",
            "found_slices",
        )  # fmt: skip
        if (
            tables[table]
            and table not in others
            and not (name == "sweep" and table in ("bins", "areas", "causes"))
        ):
            assert set(out.splitlines()) <= set(whole)


def test_a_table_without_a_presentation_is_shown_as_it_is(in_demo: Command) -> None:
    markdown = in_demo(
        "breakdown --table turns --metric ndcg_cut_3 --threshold 0.5 --format markdown"
    ).out
    assert markdown.count("\n| QR | ") == 70
    assert (
        "| Original | QR | Human | Bin | Cause | unchanged | Original text | QR text | Human text |"
        in markdown
    )
    assert (
        "| QR | 2_6 | NDCG@3 | ≥ 0.5 | 0.6788 | 0.0000 | 0.0000 | 100 | qa | no | Can they make"
        in markdown
    )


def test_the_format_wins_over_the_suffix(in_demo: Command, tmp_path: Path) -> None:
    in_demo(
        f"breakdown --format json --output {tmp_path / 'out.txt'} --output {tmp_path / 'out.dat'}"
    )
    assert json.loads((tmp_path / "out.txt").read_text())["command"] == "breakdown"
    assert (tmp_path / "out.dat").read_bytes() == (tmp_path / "out.txt").read_bytes()


def test_an_output_replaces_the_old_file_whole(in_demo: Command, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old\n" * 10_000)
    in_demo(f"breakdown --output {target}")
    text = target.read_text()
    assert text.startswith("rewriter,")
    assert "old\n" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(in_demo: Command, tmp_path: Path) -> None:
    for number, command in enumerate(COMMANDS.values()):
        in_demo(f"{command} --output {tmp_path / f'part{number}.tex'}")
    inputs = "\n".join(f"\\input{{part{number}}}\\clearpage" for number in range(len(COMMANDS)))
    packages = {
        name
        for number in range(len(COMMANDS))
        for names in re.findall(
            r"^% needs \\usepackage\{(.*)\}", (tmp_path / f"part{number}.tex").read_text(), re.M
        )
        for name in names.split(",")
    }
    (tmp_path / "all.tex").write_text(
        # the margins of a two-column paper, for whose column or page the tables are set
        "\\documentclass[twocolumn]{article}\\usepackage[margin=0.75in,columnsep=0.33in]{geometry}"
        f"\\usepackage{{{','.join(sorted(packages))}}}\n\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"], cwd=tmp_path, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    overfull = [
        float(size) for size in re.findall(r"Overfull \\hbox \(([0-9.]+)pt too wide\)", done.stdout)
    ]
    assert max(overfull, default=0) < 5


def test_a_table_alone_comes_without_what_stands_around_it(in_demo: Command) -> None:
    whole = in_demo("compare robustcs.toml plain.toml --metric ndcg_cut_3").out
    alone = in_demo("compare robustcs.toml plain.toml --metric ndcg_cut_3 --table inputs").out
    for text in (
        "Turns that crossed a threshold",
        "No conclusion about",
        "p ≤ 0.05, adjusted by max-T",
        "Why scores changed",
    ):
        assert text in whole and text not in alone
    assert "Inputs that changed" in alone and alone.rstrip().endswith("(binary measures)")
