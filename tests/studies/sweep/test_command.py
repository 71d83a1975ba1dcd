"""``robustcs sweep`` on the demo collection: the JSON contract, figures, several measures and rewriters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.evaluation.bins import BINS
from tests.conftest import Command

REWRITERS = (
    "--config /dev/null --qrels qrels.txt --original runs/stem_original.trec --human runs/stem_human.trec"
    " --qr T5=runs/stem_qr.trec --qr B=runs/plain_qr.trec"
)
MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.fixture
def result(in_demo: Command) -> dict[str, Any]:
    return json.loads(in_demo("sweep --metric ndcg_cut_3 --format json").out)


def test_json_is_the_contract(result: dict[str, Any]) -> None:
    assert result["command"] == "sweep"
    assert {name: list(rows[0]) for name, rows in result["tables"].items()} == {
        "bins": [
            "rewriter",
            "metric",
            "threshold",
            "original",
            "qr",
            "human",
            "count",
            "share",
            "ci_low",
            "ci_high",
        ],
        "areas": ["rewriter", "metric", "bin", "area", "ci_low", "ci_high", "note"],
        "causes": ["rewriter", "metric", "cause", "area", "ci_low", "ci_high", "note"],
        "blame": [
            "rewriter",
            "metric",
            "threshold",
            "qa",
            "qr",
            "difference",
            "ci_low",
            "ci_high",
            "p",
            "p_corrected",
            "p_floor",
            "exact",
        ],
    }
    rows = result["tables"]["bins"]
    thresholds = list(dict.fromkeys(row["threshold"] for row in rows))
    assert thresholds == [round(0.02 * point, 2) for point in range(51)]
    assert [f"{row['original']}{row['qr']}{row['human']}" for row in rows] == list(BINS) * 51
    for row in rows:
        assert row["share"] == pytest.approx(row["count"] / 70, abs=1e-11)
    assert [row["bin"] for row in result["tables"]["areas"]] == list(BINS)


def test_the_breakdown_has_the_same_counts(result: dict[str, Any], in_demo: Command) -> None:
    broken_down = json.loads(
        in_demo("breakdown --metric ndcg_cut_3 --table bins --format json").out
    )["tables"]["bins"]
    for threshold, point in ((">0", 0), (">=0.5", 0.5)):
        swept = [row["count"] for row in result["tables"]["bins"] if row["threshold"] == point]
        assert swept == [row["count"] for row in broken_down if row["threshold"] == threshold]


def test_areas_are_the_mean_over_a_fine_grid(in_demo: Command) -> None:
    result = json.loads(in_demo("sweep --metric ndcg_cut_3 --step 0.005 --format json").out)
    areas = {row["bin"]: row["area"] for row in result["tables"]["areas"]}
    assert sum(areas.values()) == pytest.approx(1)
    for bin_, area in areas.items():
        shares = [
            row["share"]
            for row in result["tables"]["bins"]
            if f"{row['original']}{row['qr']}{row['human']}" == bin_ and row["threshold"] > 0
        ]
        assert np.mean(shares) == pytest.approx(area, abs=0.01)


def test_measures_of_0_and_1_only_where_they_are_named(in_copy: Command, tmp_path: Path) -> None:
    def metrics(command: str) -> list[str]:
        return list(
            dict.fromkeys(
                row["metric"] for row in json.loads(in_copy(command).out)["tables"]["areas"]
            )
        )

    assert metrics("sweep --format json") == ["ndcg_cut_3"]
    assert metrics("sweep --metric P_1 --metric nDCG@3 --format json") == ["P_1", "ndcg_cut_3"]
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text('metrics = ["P_1", "ndcg_cut_3"]\n' + config.read_text())
    assert metrics("sweep --format json") == ["P_1", "ndcg_cut_3"]


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_figure_in_the_form_of_its_suffix(
    in_demo: Command, tmp_path: Path, suffix: str
) -> None:
    target = tmp_path / f"sweep{suffix.upper()}"
    answer = in_demo(f"sweep {REWRITERS} --metric ndcg_cut_3 --metric P_1 --output {target}")
    assert target.read_bytes().startswith(MAGIC[suffix])
    assert (answer.out, answer.err) == ("", f"wrote {target}\n")
    if suffix == ".svg":
        drawn = target.read_text()
        for title in ("NDCG@3, T5", "P@1, T5", "NDCG@3, B", "P@1, B"):
            assert title in drawn


def test_several_rewriters_are_one_table(in_demo: Command) -> None:
    out = in_demo(f"sweep {REWRITERS} --metric ndcg_cut_3").out
    assert len(out.splitlines()) < 45 and max(map(len, out.splitlines())) <= 80
    assert "turns per bin" not in out
    assert "max-T over 102 comparisons: all thresholds, measures and rewriters)" in " ".join(
        out.split()
    )
    asked = in_demo(f"sweep {REWRITERS} --metric ndcg_cut_3 --table areas --table bins").out
    assert (
        "Threshold-free share of every bin" in asked and "Turns per bin at every threshold" in asked
    )
    tables = json.loads(in_demo(f"sweep {REWRITERS} --format json").out)["tables"]
    causes = {(row["rewriter"], row["cause"]): row for row in tables["causes"]}
    areas = {(row["rewriter"], row["bin"]): row["area"] for row in tables["areas"]}
    for name in ("T5", "B"):
        assert causes[name, "qr"]["area"] == pytest.approx(areas[name, "001"] + areas[name, "101"])
        assert causes[name, "correct"]["area"] == pytest.approx(
            areas[name, "011"] + areas[name, "111"]
        )
        assert sum(
            causes[name, cause]["area"] for cause in ("qa", "qr", "correct")
        ) == pytest.approx(1)
        assert (
            causes[name, "qr"]["ci_low"]
            < causes[name, "qr"]["area"]
            < causes[name, "qr"]["ci_high"]
        )
    assert causes["T5", "qa"]["area"] == pytest.approx(causes["B", "qa"]["area"])


def test_several_outputs_of_one_computation(in_demo: Command, tmp_path: Path) -> None:
    names = ["s.svg", "s.json", "s.csv", "s.tex", "s.md", "s.txt"]
    outputs = " ".join(f"--output {tmp_path / name}" for name in names)
    answer = in_demo(f"sweep --table bins {outputs} --output -")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert answer.err == "".join(f"wrote {tmp_path / name}\n" for name in names)
    assert list(json.loads((tmp_path / "s.json").read_text())["tables"]) == ["bins"]
    assert (tmp_path / "s.csv").read_text().startswith("rewriter,metric,threshold,")
    assert (tmp_path / "s.tex").read_text().startswith("% needs \\usepackage{")
    assert (tmp_path / "s.md").read_text().startswith("**NDCG@3: turns per bin by threshold")
    assert (tmp_path / "s.txt").read_text() == answer.out
    assert "> 0          1    1    0    1   10    4   10   43" in answer.out


def test_the_text_describes_the_figure(in_demo: Command) -> None:
    out = in_demo("sweep --format markdown").out
    assert "Averages over all thresholds: NDCG@3: QA error 20.8%, rewriter error 23.5%" in out
