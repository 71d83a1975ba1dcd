"""The simulation of bench/judges.py in short: two labellings of every judge, and wide bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench import judges
from bench.pages import between

FIELDS = {name: place for place, name in enumerate(judges.FIELDS)}


@pytest.mark.long
@pytest.mark.parametrize("name", ["CAsT 2020", "DL 2021"])
def test_corrected_scores_hold_what_people_say_of_all(shared_data: Path, name: str) -> None:
    widths = {}
    for errors in judges.ERRORS:
        found = judges.work((shared_data, name, errors, 2, 7))
        for kind in ("scores", "differences"):
            cells = sum(tally for key, tally in found.items() if key[0] == kind)
            assert isinstance(cells, np.ndarray)
            trials = cells[FIELDS["estimates"]]
            assert 0.89 <= cells[FIELDS["corrected"]] / trials <= 0.99, (kind, errors)
            assert 0.89 <= cells[FIELDS["people"]] / trials <= 0.99, (kind, errors)
            widths[kind, errors] = cells[FIELDS["width"]] / cells[FIELDS["people_width"]]
            if kind == "scores":
                # what is done today
                assert (
                    cells[FIELDS["model"]] / trials < 0.5 and cells[FIELDS["mixed"]] / trials < 0.8
                )
        reached, plans, rejected, tests = sum(
            tally[:4] for key, tally in found.items() if key[0] == "other"
        )
        assert reached / plans >= 0.75 and rejected / tests <= 0.12
    assert widths["scores", "independent"] < widths["scores", "correlated"] < 1.05
    assert widths["scores", "independent"] < 0.92


def test_labels_have_the_confusion_and_the_correlation_asked_for(shared_data: Path) -> None:
    truth, confusions = (
        judges.read_truth(shared_data, "DL 2021"),
        judges.read_confusions(shared_data),
    )
    random = np.random.default_rng(1)
    known = truth.human[:-1] > judges.UNJUDGED
    human = truth.human[:-1][known]
    spread = {}
    for errors, shared in judges.ERRORS.items():
        drawn = [judges.label(truth, confusions[3], shared, random)[:-1][known] for _ in range(30)]
        for grade in range(4):
            shares = np.bincount(
                np.concatenate([labels[human == grade] for labels in drawn]), minlength=4
            )
            assert np.cumsum(shares / shares.sum()) == pytest.approx(confusions[3][grade], abs=0.05)
        means = [
            np.bincount(truth.pair_units[known], weights=labels - human)
            / np.bincount(truth.pair_units[known])
            for labels in drawn
        ]
        spread[errors] = np.var(means, axis=0).mean()
    assert spread["correlated"] > 10 * spread["independent"]


def test_the_page_has_the_tables() -> None:
    text = judges.PAGE.read_text("utf-8")
    for name in ("estimates", "plans"):
        assert between(text, name, ["| row |"]) != text
