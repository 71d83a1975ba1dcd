"""Whose grades stand in the tops of runs, against counting by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robustcs.evaluation.grade_sources import sources_of_pool
from robustcs.evaluation.judgments import ConflictRule, merge_qrels
from robustcs.inputs.qrels import read_qrels
from tests.conftest import Command
from tests.evaluation.test_augmentation import as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of


def grades_of(path: Path) -> dict[tuple[str, str], int]:
    rows = (line.split() for line in path.read_text().splitlines())
    return {(turn, document): int(grade) for turn, _, document, grade in rows}


@pytest.mark.parametrize("command", ["unjudged --top", "augment --metric P_1 --pool-depth"])
def test_people_by_file_and_judges_are_told_apart(
    in_demo: Command, demo: Path, command: str
) -> None:
    qrels, new, judge = (
        grades_of(demo / name) for name in ("qrels.txt", "new_judgments.txt", "judges/lexical.txt")
    )
    ranked: dict[str, list[tuple[float, str]]] = {}
    for line in (demo / "runs" / "stem_raw_1.trec").read_text().splitlines():
        turn, _, document, _, score, _ = line.split()
        ranked.setdefault(turn, []).append((float(score), document))
    judged = set(read_qrels(demo / "qrels.txt").turns)
    depth = 5
    # the policy's float32 scores have no ties here
    top = [
        (turn, d)
        for turn, found in ranked.items()
        if turn in judged
        for _, d in sorted(found, reverse=True)[:depth]
    ]
    tables = json.loads(in_demo(f"{command} {depth} --format json").out)["tables"]["sources"]
    rows = {row["source"].rpartition("/")[2]: row for row in tables if row["system"] == "raw_1"}
    expected = {
        "qrels.txt": [qrels[pair] for pair in top if pair in qrels],
        "new_judgments.txt": [new[pair] for pair in top if pair in new and pair not in qrels],
        "lexical": [
            judge[pair] for pair in top if pair in judge and pair not in qrels and pair not in new
        ],
    }
    assert set(rows) == set(expected) and len(expected["new_judgments.txt"]) > 50
    for source, grades in expected.items():
        row = rows[source]
        assert (row["graded"], row["depth"]) == (len(grades), depth)
        assert row["share"] == pytest.approx(len(grades) / len(top))
        if grades:
            assert row["relevant"] == pytest.approx(
                sum(grade >= 2 for grade in grades) / len(grades)
            )
            assert row["mean_grade"] == pytest.approx(sum(grades) / len(grades))
    assert [rows[source]["kind"] for source in expected] == ["qrels", "new judgments", "judge"]


@pytest.mark.parametrize(
    ("rule", "used"), [("keep", [2, 1, 1]), ("replace", [0, 3, 1]), ("max", [1, 2, 1])]
)
def test_a_grade_counts_for_the_file_that_gave_it(rule: ConflictRule, used: list[int]) -> None:
    """The judge counts for the passage "d" alone, because "e" is below the depth."""
    old, new = (
        as_qrels({("1_1", "a"): 2, ("1_1", "b"): 0}),
        as_qrels({("1_1", "a"): 1, ("1_1", "b"): 1, ("1_1", "c"): 0}),
    )
    judge = as_qrels(dict.fromkeys([("1_1", document) for document in "abcde"], 3))
    merged = merge_qrels(old, [new], rule).qrels
    pool = pool_of([as_ranking("x", {"1_1": list("abcde")})], merged)
    kinds = zip(
        ("qrels", "new judgments", "judge"), map(pool.grades, (old, new, judge)), strict=True
    )
    rows = sources_of_pool(
        pool, 4, 2, pool.grades(merged), [("name", kind, grades) for kind, grades in kinds]
    )
    assert [row[4] for row in rows] == used and [row[5] for row in rows] == [
        number / 4 for number in used
    ]
    assert rows[2][6:] == (1.0, 3.0)


def test_what_two_judges_see_otherwise_is_a_table(
    in_demo: Command, demo: Path, tmp_path: Path
) -> None:
    judge = grades_of(demo / "judges" / "lexical.txt")
    other = {pair: 4 - grade for pair, grade in judge.items()}
    (tmp_path / "other.txt").write_text(
        "".join(f"{turn} 0 {document} {grade}\n" for (turn, document), grade in other.items())
    )
    line = f"audit --judge lexical=judges/lexical.txt --judge other={tmp_path}/other.txt"
    found = json.loads(in_demo(f"{line} --format json --metric P_1").out)["tables"]["conflicts"]
    expected = {
        (*pair, grade, 4 - grade) for pair, grade in judge.items() if abs(2 * grade - 4) >= 2
    }
    assert {row["other"] for row in found if row["judge"] == "other"} == {"human judges"}
    found = [row for row in found if row["other"] == "other"]
    assert {
        (row["turn"], row["document"], row["grade"], row["other_grade"]) for row in found
    } == expected
    assert {row["judge"] for row in found} == {"lexical"}
    distances = [abs(row["difference"]) for row in found]
    assert distances == sorted(distances, reverse=True) and distances[0] == 4
    assert "On which passages do the judges differ most?" in in_demo(f"{line} --metric P_1").out
