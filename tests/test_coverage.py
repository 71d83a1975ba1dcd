"""The simulation of bench/coverage.py in short: a few hundred trials and wide bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import coverage
from bench import coverage_cells as cells
from bench import coverage_sparse as sparse
from bench.pages import between

#: Kind of estimate → lowest and highest share of covered trials, over all rows of the kind.
BOUNDS = {
    "mean MAP": (0.89, 0.99), "share of turns (P@1)": (0.89, 0.99),
    "rare share of turns": (0.89, 1), "share of answerable turns": (0.89, 1),
    "gain of a perfect rewriter": (0.87, 0.99), "area of a bin": (0.87, 0.99),
    "difference of QA and rewriter errors (McNemar, mid-p)": (0.86, 0.99),
    "difference NDCG@3": (0.88, 0.99), "difference MAP": (0.88, 0.99), "difference P@1": (0.87, 0.99),
    "difference of shares (McNemar, mid-p)": (0.86, 0.99), "drop in % NDCG": (0.88, 0.99), "effect size NDCG": (0.88, 1),
    "Pearson over turns": (0.88, 1), "Spearman over turns": (0.88, 1), "Kendall over turns": (0.88, 1),
    "Partial correlation over turns": (0.88, 1),
    "Cohen's kappa by topic": (0.85, 1), "Cohen's kappa at a level by topic": (0.85, 1), "ordinal alpha by topic": (0.85, 1),
    "share of variance: turn": (0.87, 1), "share of variance: turn_set": (0.87, 1), "drop within a slice": (0.87, 0.99),
    "difference by new judgments, NDCG@3": (0.86, 1), "difference by new judgments, MAP": (0.86, 1),
    "mean R@k of questions": (0.88, 1), "mean NDCG@3 over facets": (0.87, 1), "mean MRR over facets": (0.87, 1),
    "difference NDCG@3 over facets": (0.86, 1), "difference MRR over facets": (0.86, 1),
    "need: weighted precision": (0.88, 1), "need: weighted F1": (0.88, 1), "need: share predicted right": (0.88, 1),
    "need: squared error": (0.86, 1),
    "mean J over texts": (0.88, 1), "mean F1 to references": (0.88, 1), "mean P@1": (0.87, 1), "mean NDCG@3": (0.87, 0.99),
    "preference, one judgment a pair": (0.9, 1), "preference, 1 to 4 a pair": (0.88, 1),
}  # fmt: skip


def merged(tally: cells.Tally) -> dict[str, np.ndarray]:
    """Kind → counts of all its rows."""
    kinds: dict[str, np.ndarray] = {}
    for (kind, _), counts in tally.counts.items():
        kinds[kind] = kinds.get(kind, 0) + counts
    return kinds


@pytest.mark.parametrize(
    ("part", "what", "trials", "seen_kinds"),
    [
        ("systems", "CAsT 2019", 100, 14), ("breakdown", "CAsT 2019", 60, 4), ("judges", "LLMJudge topics", 40, 3),
        ("items", "ClariQ", 40, 9), ("items", "CAsT-snippets", 60, 2), ("items", "made up", 100, 2),
        ("items", "CAsT 2022", 60, 2), pytest.param("systems", "CAsT 2020", 60, 14, marks=pytest.mark.long),
        pytest.param("items", "CAsT 2020", 60, 5, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_intervals_cover_and_tests_keep_their_level(
    shared_data: Path, part: str, what: str, trials: int, seen_kinds: int
) -> None:
    units, made = coverage.trials_of(shared_data, part, what)
    kinds = merged(cells.run_trials(made, units, 20, trials, seed=1))
    seen = 0
    for kind, (covers, intervals, _, at_05, at_01, tests, found, searched) in kinds.items():
        if kind in BOUNDS:
            low, high = BOUNDS[kind]
            assert low <= covers / intervals <= high, kind
            seen += 1
        if tests:
            assert at_05 / tests <= 0.1 and at_01 / tests <= 0.05, kind
        if kind == "detectable difference NDCG":
            assert 0.7 <= found / searched <= 0.9
    assert seen == seen_kinds


def test_families_keep_their_level(shared_data: Path) -> None:
    some = cells.read_collection(shared_data, "CAsT 2019")
    kinds = merged(cells.run_trials([cells.families_trial(some)], some.units.count, 12, 40, seed=2))
    false = kinds["max-T of 36 pairs, any false (swapped)"]
    assert false[3] / false[5] <= 0.16
    many, few = kinds["max-T of 36 pairs, separated"], kinds["Holm of 36 pairs, separated"]
    assert many[7] == few[7] == 36 * 40 and many[6] > few[6]
    lower = kinds["Kendall's tau of rankings, lower limit"]
    assert lower[0] / lower[1] >= 0.9


def test_the_page_takes_the_tables() -> None:
    text = coverage.PAGE.read_text(encoding="utf-8")
    for name in ("intervals", "tests", "misses"):
        new = between(text, name, ["| row |"])
        assert (
            f"<!-- {name} -->\n| row |\n<!-- /{name} -->" in new
            and between(new, name, ["| row |"]) == new
        )


def test_the_tables_say_what_was_counted() -> None:
    tally = cells.Tally()
    tally.counts["mean MAP", "0"] += (90, 100, 20, 0, 0, 0, 0, 0)
    tally.counts["mean MAP", "1"] += (96, 100, 40, 0, 0, 0, 0, 0)
    tally.counts["difference MAP", "0"] += (78, 100, 20, 5, 1, 100, 70, 100)
    found = {("CAsT 2019", 10): tally}
    assert coverage.interval_table(found)[2:] == [
        "| mean MAP | CAsT 2019 | 10 | 93.0 (90.0) | 0.300 |", "| difference MAP | CAsT 2019 | 10 | 78.0 | 0.200 |"
    ]  # fmt: skip
    assert coverage.test_table(found)[2:] == [
        "| difference MAP | CAsT 2019 | 10 | 5.0 | 1.00 | 70 |"
    ]
    # 90 of 100 is within two standard errors of 92
    assert coverage.misses(found) == [
        "- difference MAP, CAsT 2019, 10 units: 78.0% (wanted: 88 to 97)"
    ]
    tally.counts["difference MAP", "0"][:] = (95, 100, 20, 16, 1, 100, 70, 100)
    assert coverage.misses(found) == [
        "- difference MAP, CAsT 2019, 10 units: rejects 16.0% (wanted: at most 6.5)"
    ]
    del tally.counts["difference MAP", "0"]
    assert coverage.misses(found) == ["- none"]


def test_a_part_alone_replaces_only_its_rows() -> None:
    tally = cells.Tally()
    tally.counts["mean J over texts", "0"] += (90, 100, 20, 0, 0, 0, 0, 0)
    found = {("CAsT-snippets", 10): tally}
    text = between(
        "<!-- intervals -->\n<!-- /intervals -->\n<!-- misses -->\n<!-- /misses -->", "intervals",
        ["| estimate |", "|---|", "| mean J over texts | CAsT-snippets | 10 | 1.0 | – |",
         "| share | DL 2021 | 10 | 95.0 | – |"],
    )  # fmt: skip
    lines = coverage.with_rows_of_others(text, "intervals", coverage.interval_table(found), found)
    assert lines[2:] == [
        "| mean J over texts | CAsT-snippets | 10 | 90.0 | 0.200 |",
        "| share | DL 2021 | 10 | 95.0 | – |",
    ]
    text = between(
        text,
        "misses",
        ["- mean J over texts, CAsT-snippets, 10 units: 1%", "- share, DL 2021, 10 units: 80%"],
    )
    assert coverage.with_rows_of_others(text, "misses", ["- none"], found) == [
        "- share, DL 2021, 10 units: 80%"
    ]
    assert [task[:3] for task in coverage.tasks(100, ["judges"])][:3] == [
        ("judges", "LLMJudge topics", k) for k in (10, 20, 25)
    ]


def test_sparse_pairs_have_sound_intervals_or_none(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs of CAsT 2020 alone, no power; the whole table stands in docs/statistics.md."""
    monkeypatch.setattr(sparse, "PLANNED", 0)
    units, trial = sparse.sparse_trial(shared_data, "CAsT 2020")
    found = {("CAsT 2020", 20): cells.run_trials([trial], units, 20, 60, seed=1)}
    counts = merged(found["CAsT 2020", 20])
    for cell in sparse.NAMES:
        every, ruled = (
            counts[f"sparse, {cell}, any"],
            counts.get(f"sparse, {cell}, rule", np.zeros(8)),
        )
        assert every[7] == ruled[7] and ruled[1] == ruled[6] <= every[6]
        if ruled[1] > 100:
            assert ruled[0] / ruled[1] >= 0.9
        assert ruled[3] / max(ruled[5], 1) <= 0.07
    assert counts["sparse, above 50%, rule"][1] > 500
    lines = sparse.sparse_table(found)
    assert len(lines) == 2 + len(sparse.NAMES) and lines[-1].startswith("| above 50% | ")


def test_samples_are_covered_with_an_effect_of_the_seed(shared_data: Path) -> None:
    units, (trial,) = coverage.trials_of(shared_data, "samples", "CAsT 2020")
    found = {("CAsT 2020", 8): cells.run_trials([trial], units, 8, 100, seed=1)}
    kinds = merged(found["CAsT 2020", 8])
    assert len(kinds) == len(sparse.SAMPLES) * len(sparse.SEED_EFFECTS) * 3
    for kind, (covers, intervals, *_) in kinds.items():
        assert intervals == 200 and covers / intervals >= 0.9, kind
    assert len(sparse.samples_table(found)) == 2 + 4
