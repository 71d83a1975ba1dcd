"""``robustcs components`` as a user runs it: options, the project file, Python, init, check, report, and wrong use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.evaluation.grid import Cell
from robustcs.project.families import System, families_of, find_grid, named
from robustcs.project.guess import guess, write_config
from robustcs.project.reading import read_project
from robustcs.project.scan import Proposal, ScannedFile
from robustcs.studies.components.questions import QUESTIONS
from robustcs.studies.registry import study
from tests.conftest import Command

CELLS = [(f"{wording}/{ranker}", f"runs/{ranker}_{wording}.trec")
         for wording in ("original", "qr", "human") for ranker in ("stem", "plain")]  # fmt: skip
GRID = " ".join(f"--cell {name}={file}" for name, file in CELLS)


def tables(out: str) -> dict[str, list[dict[str, Any]]]:
    return dict(json.loads(out)["tables"])


def test_options_the_project_file_and_python_agree(in_copy: Command, tmp_path: Path) -> None:
    found = tables(in_copy(f"components {GRID} --format json").out)
    assert [len(found[name]) for name in ("blame", "means", "effects", "swaps", "choice")] == [
        6 * 4 * 6,
        12,
        12,
        36,
        2,
    ]
    assert {
        "metric",
        "threshold",
        "cause",
        "count",
        "share",
        "ci_low",
        "ci_high",
        "average",
    } <= found["blame"][0].keys()
    assert {row["factor"] for row in found["effects"]} == {
        "turn", "wording", "ranker", "wording*ranker", "turn*wording", "turn*ranker"
    }  # fmt: skip
    config = tmp_path / "demo" / "robustcs.toml"
    lines = "".join(f'"{name}" = "{file}"\n' for name, file in CELLS)
    config.write_text(f"{config.read_text()}\n[components]\n{lines}")
    assert tables(in_copy("components --format json").out) == found
    result = robustcs.components("robustcs.toml")
    assert result.means["value"].tolist() == pytest.approx(
        [row["value"] for row in found["means"]], rel=1e-11
    )
    given = robustcs.components(
        "qrels.txt", cells=dict(CELLS), relevance_level=2, project="plain.toml"
    )
    assert given.blame["count"].tolist() == [row["count"] for row in found["blame"]]
    assert (
        "components"
        in in_copy("check").out.partition("These commands can run: ")[2].partition(".")[0]
    )
    printed = in_copy("components --metric ndcg_cut_3 --threshold 0.5").out
    assert max(map(len, printed.splitlines())) <= 80
    assert "so part of a difference may be luck" in " ".join(printed.split())


def test_correct_turns_are_those_of_breakdown(in_demo: Command) -> None:
    found = tables(in_demo(f"components {GRID} --table turns --format json").out)["turns"]
    mine = {(row["wording"], row["turn"], row["metric"], row["threshold"]): row["cause"] == "correct"
            for row in found if row["ranker"] == "stem"}  # fmt: skip
    broken = tables(in_demo("breakdown --table turns --format json").out)["turns"]
    for row in broken:
        for place, role in enumerate(("original", "qr", "human")):
            assert mine[role, row["turn"], row["metric"], row["threshold"]] == (
                row["bin"][place] == "1"
            )


def test_cells_may_be_missing(in_demo: Command) -> None:
    cells = " ".join(f"--cell {name}={file}" for name, file in CELLS[:-1])
    assert "Note: the grid lacks 1 cell: human/plain" in in_demo(f"check {cells}").out
    line = f"components {cells}"
    out = " ".join(in_demo(f"{line} --metric ndcg_cut_3 --threshold 0.5").out.split())
    assert "3 wordings × 2 rankers, 5 of 6 cells (missing: human/plain)" in out
    assert (
        "What could a missing cell show?" in out
        and "Complete subgrid: original, qr with stem, plain" in out
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "",
            "no grid of wordings and rankers is given; add --cell WORDING/RANKER=FILE for each run",
        ),
        ("--cell qr/stem=runs/stem_qr.trec", "the grid has only one cell"),
        ("--cell qr=runs/stem_qr.trec", "the cell 'qr' is not of the form WORDING/RANKER"),
        (
            "--cell qr/stem",
            "--cell qr/stem has no WORDING/RANKER= or no file; write --cell WORDING/RANKER=FILE",
        ),
        (
            "--cell qr/stem=runs/stem_qr.trec --cell human/stem=runs/stem_qr.trec",
            "the cells qr/stem and human/stem name the same file runs/stem_qr.trec; name the run of each cell",
        ),
        (
            "--cell qr/stem=runs/stem_qr.trec --cell 'qr / stem=runs/stem_human.trec'",
            "two cells are named qr/stem; use a different WORDING/RANKER for each",
        ),
        (f"{GRID} --threshold 2", "no score of P_1 can be >=2"),
    ],
)
def test_wrong_use(in_demo: Command, line: str, message: str) -> None:
    assert message in in_demo(f"components {line}", code=2).err


def test_a_run_of_other_turns_and_an_empty_run_are_named(in_copy: Command, tmp_path: Path) -> None:
    other, empty = (tmp_path / "demo" / name for name in ("other.trec", "empty.trec"))
    other.write_text("x_1 Q0 d1 1 1.0 t\n")
    empty.write_text("")
    err = in_copy(f"components {GRID} --cell a/stem={other}", code=3).err
    assert "other.trec" in err and "x_1" in err
    assert "empty.trec" in in_copy(f"components {GRID} --cell a/stem={empty}", code=3).err
    copy = tmp_path / "demo" / "copy.trec"
    copy.write_bytes((tmp_path / "demo" / "runs" / "stem_qr.trec").read_bytes())
    notes = json.loads(in_copy(f"components {GRID} --cell again/stem={copy} --format json").out)[
        "notes"
    ]
    assert (
        "qr/stem and again/stem have the same scores on every turn; check that their runs differ"
        in notes
    )
    in_copy(f"components {GRID} --cell qr/stem={copy}", code=3)


def test_init_proposes_the_grid_from_names(demo: Path, in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "robustcs.toml").unlink()
    made = guess(folder)
    assert made.values["components"] == dict(CELLS) and "by its name" in write_config(made, "demo")
    (folder / "robustcs.toml").write_text(write_config(made, "demo"))
    assert set(read_project(folder / "robustcs.toml").components) == {name for name, _ in CELLS}
    assert (
        "components"
        in in_copy("check").out.partition("These commands can run: ")[2].partition(".")[0]
    )


def cells_of(names: Iterable[str]) -> set[Cell]:
    """The cells of the grid that runs of these names form."""
    made = Proposal(Path())
    systems = named(
        made, [System(ScannedFile((name,), None, name), frozenset(), 0) for name in names]
    )
    return set(find_grid(systems, families_of(systems)))


def test_names_without_a_grid_of_wordings_have_none() -> None:
    assert (
        cells_of(
            f"{name}.trec" for name in ("alpha_gamma", "alpha_delta", "beta_gamma", "beta_delta")
        )
        == set()
    )
    assert cells_of(["a.trec", "b.trec"]) == set()


def test_names_with_several_words_are_split_where_they_cross() -> None:
    names = [
        f"{ranker}_{wording}.trec"
        for ranker in ("bm25", "bm25_rerank")
        for wording in ("raw", "t5_large", "manual_1")
    ]
    assert cells_of(names) == {
        (wording, ranker)
        for ranker in ("bm25", "bm25_rerank")
        for wording in ("raw", "t5_large", "manual_1")
    }


def test_the_report_of_a_project_without_human_starts_with_this_question(
    in_copy: Command, tmp_path: Path, shared_data: Path
) -> None:
    folder = tmp_path / "demo"
    cells = "".join(f'"{name}" = "{file}"\n' for name, file in CELLS if "human" not in name)
    (folder / "grid.toml").write_text(f'name = "Grid"\nqrels = "qrels.txt"\n[components]\n{cells}')
    in_copy("report --config grid.toml --output out")
    page = (folder / "out" / "report.html").read_text()
    first = page.partition("<h2")[0] + page.partition("<h2")[2].partition("<h2")[0]
    assert (
        "Which component loses the answer?" in page
        and "the average system of the grid" in first.lower()
    )
    assert (folder / "out" / "tables" / "components-blame.csv").is_file()
    # no turn without an answer is out of reach: the best cell is listed by cause
    assert "Turns to read:" in page and "#turns?where=blame%40qr%2Fstem%3Anone&" in page
    assert study("components").questions(read_project(folder / "grid.toml")) == QUESTIONS
    assert not study("components").questions(read_project(folder / "plain.toml"))


def test_each_collection_separately(shared_data: Path) -> None:
    domains = ("clapnq", "cloud")
    qrels = [shared_data / "mtrag-answers" / f"qrels_{name}.tsv" for name in domains]
    if not qrels[1].exists():
        pytest.skip("only one collection")
    runs = shared_data / "mtrag-grid"
    cells = {
        f"{one}/{other}": runs / f"{other}_{one}.jsonl.gz"
        for one in ("lastturn", "rewrite")
        for other in ("bm25", "elser")
    }
    found = robustcs.components(qrels, cells=cells, metrics="ndcg_cut_5", by="collection")
    assert set(found.by_collection["blame_by_collection"]["collection"]) == {"qrels_clapnq"}


def test_breakdown_without_human_names_the_command_that_needs_none(
    in_copy: Command, tmp_path: Path
) -> None:
    cells = "".join(f'"{name}" = "{file}"\n' for name, file in CELLS)
    (tmp_path / "demo" / "grid.toml").write_text(f'qrels = "qrels.txt"\n[components]\n{cells}')
    err = in_copy("breakdown --config grid.toml --qr runs/stem_qr.trec", code=2).err
    assert "; robustcs components needs no human rewrites" in err
