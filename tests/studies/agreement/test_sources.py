"""Means, groups and kappa by criterion and source, and the sheets that they come from."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from robustcs.cli.main import run
from robustcs.documents.paraphrase_files import sheet_csv
from robustcs.errors import InputError
from robustcs.inputs.ratings import SHEET_CRITERIA, Rating, is_rating_sheet, read_ratings
from robustcs.inputs.sniff import kind_of
from robustcs.statistics.agreement import fleiss_kappa
from robustcs.studies.agreement.ratings import GROUPS, RatingAgreement, label_places, source_tables


def _tables(*given: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    means, grouped = source_tables(*given)
    return RatingAgreement.means.frame(means), RatingAgreement.grouped.frame(grouped)


def rated(conversations: int = 8, seed: int = 1) -> list[Rating]:
    """Two turns a conversation, one item of each source a turn, five raters; raw items are worse by one."""
    draw = random.Random(seed)
    found = []
    for conversation in range(conversations):
        for depth in (1, 2):
            for source in ("manual", "raw"):
                true = draw.choice([3, 4, 5]) - (source == "raw")
                for rater in range(5):
                    grade = min(5, max(1, true + draw.choice([-1, 0, 0, 0, 1])))
                    turn = f"{conversation}_{depth}"
                    found.append(
                        Rating(
                            turn, f"{turn} {source}", f"w{rater}", "meaning", str(grade), 0, source
                        )
                    )
    return found


GROUP_OF = {"meaning": {value: name for name, values in GROUPS.items() for value in values}}


def test_means_are_those_of_items_with_conversations_as_unit() -> None:
    ratings = rated()
    means = _tables(ratings, GROUP_OF, None, "conversation", 0)[0].set_index("source")
    assert list(means.index) == ["all", "manual", "raw"]
    for source, row in means.iterrows():
        items: dict[tuple[str, str], list[int]] = {}
        for rating in ratings:
            if source in ("all", rating.source):
                items.setdefault((rating.turn, rating.item), []).append(int(rating.value))
        values = {key: np.mean(grades) for key, grades in items.items()}
        assert row["items"] == len(items) and row["value"] == pytest.approx(
            np.mean(list(values.values()))
        )
        # as many items in every conversation: the interval is Student's over the means of conversations
        own = [
            np.mean([value for (turn, _), value in values.items() if turn.startswith(f"{place}_")])
            for place in range(8)
        ]
        half = stats.t.ppf(0.975, 7) * np.std(own, ddof=1) / math.sqrt(8)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            (np.mean(own) - half, np.mean(own) + half)
        )
        assert (row["units"], row["unit"]) == (8, "conversation")
        counts = np.array(
            [[grades.count(value) for value in range(1, 6)] for grades in items.values()]
        )
        assert (
            row["kappa"] == pytest.approx(fleiss_kappa(counts))
            and row["kappa_low"] < row["kappa"] < row["kappa_high"]
        )
    assert means.loc["raw", "value"] < means.loc["manual", "value"]


def test_the_order_of_ratings_changes_nothing() -> None:
    ratings = rated()
    shuffled = random.Random(3).sample(ratings, len(ratings))
    tables = zip(
        _tables(ratings, GROUP_OF, None, "conversation", 0),
        _tables(shuffled, GROUP_OF, None, "conversation", 0),
        strict=True,
    )
    assert all(first.equals(second) for first, second in tables)


def test_groups_are_shares_of_items_by_their_label() -> None:
    ratings = rated()
    _, grouped = _tables(ratings, GROUP_OF, None, "conversation", 0)
    assert list(dict.fromkeys(grouped["group"])) == ["poor", "undecided", "good", "no majority"]
    for _, part in grouped.groupby("source"):
        assert (
            part["share"].sum() == pytest.approx(1) and part["count"].sum() == part["items"].iloc[0]
        )
        assert ((part["ci_low"] <= part["share"]) & (part["share"] <= part["ci_high"])).all()
    good = grouped[grouped["group"] == "good"].set_index("source")["share"]
    assert good["raw"] < good["manual"]


def test_without_sources_or_groups() -> None:
    ratings = [rating._replace(source="") for rating in rated()]
    means, grouped = _tables(ratings, {"meaning": {}}, None, "conversation", 0)
    assert list(means["source"]) == ["all"]
    assert grouped["group"].tolist() == ["1", "2", "3", "4", "5", "no majority"]
    words = [rating._replace(value="ab"[int(rating.value) > 3]) for rating in ratings]
    means, _ = _tables(words, {}, None, "conversation", 0)
    assert means["value"].isna().all() and len(means) == 1 and not means["kappa"].isna().any()


def test_items_of_a_turn_are_one_unit_where_there_are_few_conversations() -> None:
    few = [rating for rating in rated() if rating.turn.startswith(("0_", "1_", "2_"))]
    means, _ = _tables(few, GROUP_OF, None, "conversation", 0)
    assert (
        set(means["unit"]) == {"turn"}
        and set(means["units"]) == {6}
        and means["ci_low"].notna().all()
    )
    fewer = [rating for rating in few if rating.turn != "0_1" and rating.turn != "1_1"]
    means, _ = _tables(fewer, GROUP_OF, None, "conversation", 0)
    assert set(means["units"]) == {4} and means["ci_low"].isna().all()


def test_items_without_turns_are_units() -> None:
    means, _ = _tables(
        [rating._replace(turn="") for rating in rated()], GROUP_OF, None, "conversation", 0
    )
    assert set(means["unit"]) == {"item"} and means["units"].tolist() == means["items"].tolist()


def test_a_label_needs_a_clear_majority() -> None:
    counts = np.array([[3, 2, 0], [2, 2, 1], [0, 0, 5], [0, 0, 0], [2, 2, 0]])
    assert label_places(counts, None).tolist() == [0, -1, 2, -1, -1]
    assert label_places(counts, 2).tolist() == [0, -1, 2, -1, -1]


# ---------------------------------------------------------------- sheets

ROWS = [(f"{topic}_{depth}", source, "why?", f"why so, {n}?", "so?") for topic in range(6) for depth in (1, 2)
        for n, source in enumerate(("manual", "raw"))]  # fmt: skip


def filled(path: Path, worker: str, seed: int) -> Path:
    """The sheet as a rater sends it back: a few rows and cells are left blank."""
    path.write_text(sheet_csv(ROWS), encoding="utf-8")
    draw = random.Random(seed)
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    for place, row in enumerate(rows):
        if place % 7:
            row[header.index("WORKER")] = worker
            row[-5:] = [str(draw.randint(1, 5)) for _ in range(5)]
            row[-1] = "" if place % 5 == 0 else row[-1]
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def test_a_sheet_has_a_rating_in_each_cell(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.csv", "ann", 1)
    ratings, notes = read_ratings(path)
    with path.open(encoding="utf-8", newline="") as stream:
        expected = [
            (row["TURN_ID"], row["ITEM"], "ann", criterion, row[criterion], row["SOURCE"])
            for row in csv.DictReader(stream) for criterion in SHEET_CRITERIA if row[criterion]
        ]  # fmt: skip
    assert [(*rating[:5], rating.source) for rating in ratings] == expected
    assert notes == ("4 rows without a rating skipped",)
    assert kind_of(path) == "paraphrases"


def test_a_rating_that_nobody_signed(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.csv", "", 1)
    with pytest.raises(InputError, match=r"a.csv:3: no worker; complete the row or delete it"):
        read_ratings(path)
    path.write_text(sheet_csv(ROWS))
    with pytest.raises(InputError, match="the file has no ratings"):
        read_ratings(path)
    assert not is_rating_sheet(
        ["item", "worker", "grade", "language diversity"]
    ) and not is_rating_sheet(["item", "worker"])


def test_sheets_of_several_raters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    sheets = [
        str(filled(Path(f"{name}.csv"), name, seed))
        for seed, name in enumerate(("ann", "bo", "cy"))
    ]
    assert run(["agreement", *sheets, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert {(row["criterion"], row["source"]) for row in tables["means"]} == {
        (criterion, source) for criterion in SHEET_CRITERIA for source in ("all", "manual", "raw")
    }
    assert {row["unit"] for row in tables["means"]} == {"conversation"}
    assert run(["agreement", *sheets]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80 and "Which labels do the items have?" in out
    assert run(["agreement", *sheets, "--output", "figure.png"]) == 0
    # edits are read as paraphrases
    capsys.readouterr()
    assert (
        run(["testsets", "--paraphrases", sheets[0], "--sets", "1", "--table", "statistics"]) == 0
    )
