"""Which turns count, who lacks which, and who belongs to something else."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.turns import (
    CoveredTurns,
    Expected,
    count_turns,
    covered_by_run,
    covered_by_turns,
    expected_of,
    notes_on,
    strangers,
    union_of_turns,
    unjudged_runs,
)
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import EvaluationPolicy

EXPECTED = Expected(("1_1", "1_2", "1_10"), passage="d1")


def judgments(*pairs: tuple[str, str]) -> Qrels:
    turns = tuple(dict.fromkeys(turn for turn, _ in pairs))
    return Qrels(
        "qrels", turns, np.array([turns.index(turn) for turn, _ in pairs], np.int32),
        Ids.of(document for _, document in pairs), np.ones(len(pairs), np.int16),
    )  # fmt: skip


def run_file(path: Path, qrels: Qrels, *rows: tuple[str, str]) -> CoveredTurns:
    path.write_text(
        "".join(
            f"{turn} Q0 {document} 1 {-place} t\n" for place, (turn, document) in enumerate(rows)
        )
    )
    policy = EvaluationPolicy()
    return covered_by_run(path.name, path, grade_matrix(rank_run(read_run(path), policy), qrels))


QRELS = judgments(("1_10", "d1"), ("1_2", "d2"), ("1_1", "d1"))


def test_judged_turns_stand_in_natural_order() -> None:
    assert expected_of(QRELS) == EXPECTED


def test_who_lacks_which(tmp_path: Path) -> None:
    files = [
        run_file(
            tmp_path / "whole",
            QRELS,
            ("1_1", "d1"),
            ("1_2", "d2"),
            ("1_10", "d1"),
            ("7_1", "d1"),
            ("7_2", "d1"),
        ),
        run_file(tmp_path / "part", QRELS, ("1_10", "d1"), ("7_1", "d1")),
    ]
    zero, drop = (count_turns(EXPECTED, files, missing) for missing in ("zero", "drop"))
    assert zero.names == EXPECTED.turns and drop.names == ("1_10",)
    for turns in (zero, drop):
        assert turns.missing == {"part": ("1_1", "1_2")}
        assert turns.lacking.tolist() == [True, True, False]
        assert turns.notes == (
            "2 turns of the runs have no judgments and are excluded",
            "part misses 2 turns: 1_1, 1_2",
        )


def test_each_run_over_its_own_turns(tmp_path: Path) -> None:
    """Alone, every turn counts that some run answers; where runs are compared, those that all of them answer."""
    files = [
        run_file(tmp_path / "one", QRELS, ("1_1", "d1"), ("1_10", "d1")), run_file(tmp_path / "two", QRELS, ("1_10", "d1")),
    ]  # fmt: skip
    assert count_turns(EXPECTED, files, "own").names == ("1_10",)
    assert count_turns(EXPECTED, files, "own", alone=True).names == ("1_1", "1_10")
    assert count_turns(EXPECTED, files, "drop", alone=True).names == ("1_10",)
    assert count_turns(EXPECTED, files, "zero", alone=True).names == EXPECTED.turns
    assert count_turns(EXPECTED, [], "zero").names == EXPECTED.turns


def test_every_foreign_file_is_refused_with_both_kinds_of_id(tmp_path: Path) -> None:
    files = [
        run_file(tmp_path / "sound", QRELS, ("1_1", "d1")),
        run_file(tmp_path / "turns", QRELS, ("C_1_q#1", "d1")),
        run_file(tmp_path / "passages", QRELS, ("1_1", "MARCO_D1-3")),
        covered_by_turns("texts", tmp_path / "texts", ["t-1"], EXPECTED),
    ]
    for missing in ("zero", "drop"):
        with pytest.raises(InputError) as error:
            count_turns(EXPECTED, files, missing)
        assert str(error.value).splitlines() == [
            f"{tmp_path}/turns: none of its turns is in the qrels: its turn ids look like 'C_1_q#1', those of the qrels like"
            " '1_1'; check that the files belong together",
            f"{tmp_path}/texts: none of its turns is in the qrels: its turn ids look like 't-1', those of the qrels like '1_1';"
            " check that the files belong together",
            f"{tmp_path}/passages: none of its passages is judged: its passage ids look like 'MARCO_D1-3', those of the qrels"
            " like 'd1'; use --documents (documents = true in [policy]) to evaluate passages DOC-N as documents DOC",
        ]


@pytest.mark.parametrize(
    ("judged", "found", "documents", "advice"),
    [
        ("X-0-1374", "X-0", True, "remove --documents (documents = true in [policy]): it cuts DOC-N to DOC in the ids of runs"),
        ("X-0-1374", "Y_7", False, "check that the files belong together"),
        ("X-0-1374", "X-0-9", False, "check that the files belong together"),
        ("X", "Y", True, "check that the files belong together"),
        ("X", "Y-3", False, "use --documents (documents = true in [policy]) to evaluate passages DOC-N as documents DOC"),
        ("clueweb22-en0-1-2:7", "clueweb22-en0-1-2", False, "one of them has passages DOC:N, the other documents DOC"),
        ("clueweb22-en0-1-2:7", "clueweb22-en0-1", True, "one of them has passages DOC:N, the other documents DOC"),
        ("clueweb22-en0-1-2", "clueweb22-en0-1-2:7", False, "one of them has passages DOC:N, the other documents DOC"),
        ("clueweb22-en0-1-2:7", "clueweb22-en0-1-2:8", False, "check that the files belong together"),
    ],
)  # fmt: skip
def test_advice_on_ids_depends_on_the_policy(
    tmp_path: Path, judged: str, found: str, documents: bool, advice: str
) -> None:
    qrels = judgments(("1_1", judged))
    (problem,) = unjudged_runs(
        expected_of(qrels, documents), [run_file(tmp_path / "run", qrels, ("1_1", found))]
    )
    assert (
        problem.advice.removesuffix("; give both the same ids (--documents cuts only DOC-N)")
        == advice
    )


def test_a_run_of_holes_is_noted_where_holes_mean_something(tmp_path: Path) -> None:
    # d2 is judged for another turn only
    files = [
        run_file(tmp_path / "holes", QRELS, ("1_1", "d2")),
        run_file(tmp_path / "sound", QRELS, ("1_2", "d2")),
    ]
    turns = count_turns(EXPECTED, files, "zero", holes=True)
    assert turns.notes[0] == (
        "holes: none of its passages is judged: its passage ids look like 'd2', those of the qrels like 'd1'; check that the"
        " files belong together"
    )
    assert list(turns.notes) == notes_on(EXPECTED, files)
    with pytest.raises(InputError, match=f"{tmp_path}/holes: none of its passages is judged"):
        count_turns(EXPECTED, files, "zero")
    with pytest.raises(InputError, match="none of its turns"):
        count_turns(
            EXPECTED, [run_file(tmp_path / "other", QRELS, ("9", "d1"))], "zero", holes=True
        )


def test_no_turn_left() -> None:
    files = [covered_by_turns(turn, turn, [turn], EXPECTED) for turn in ("1_1", "1_2")]
    assert count_turns(EXPECTED, files, "zero").counted.all()
    with pytest.raises(
        UsageError, match="no turn is answered by all files; check that their turn ids agree"
    ):
        count_turns(EXPECTED, files, "drop")


def test_notes_name_five_turns_at_most() -> None:
    expected = Expected(tuple(f"1_{number}" for number in range(1, 9)))
    turns = count_turns(expected, [covered_by_turns("a", "a", ["1_1"], expected)], "zero")
    assert turns.notes == ("a misses 7 turns: 1_2, 1_3, 1_4, 1_5, 1_6 …",)


def test_files_that_have_only_each_other() -> None:
    together = union_of_turns([("a", ["1_10", "1_2"]), ("b", ["1_1", "1_2"])], "the scores")
    assert together == Expected(("1_1", "1_2", "1_10"), "the scores")
    for files, found in (
        (
            [("a", ["1"]), ("b", ["2"])],
            ["b: none of its turns is in a: its turn ids look like '2', those of a like '1'"],
        ),
        (
            [("z", ["9"]), ("a", ["1"]), ("b", ["1"])],
            ["z: none of its turns is in a: its turn ids look like '9', those of a like '1'"],
        ),
    ):
        with pytest.raises(InputError) as error:
            union_of_turns(files, "the scores")
        assert [str(problem).partition(";")[0] for problem in error.value.problems] == found


ids_ = st.builds("{}_{}".format, st.integers(1, 4), st.integers(1, 12))
expected_ = st.sets(ids_, min_size=1).map(
    lambda turns: Expected(tuple(sorted(turns, key=turn_sort_key)), passage="d")
)
own_ = st.lists(st.sets(ids_, min_size=1), min_size=1, max_size=5)


@given(expected=expected_, own=own_, missing=st.sampled_from(["zero", "drop"]))
def test_counts_are_those_of_sets(
    expected: Expected, own: list[set[str]], missing: Literal["zero", "drop"]
) -> None:
    judged = set(expected.turns)
    files = [
        covered_by_turns(f"f{place}", f"f{place}", turns, expected)
        for place, turns in enumerate(own)
    ]
    foreign = [f"f{place}" for place, turns in enumerate(own) if not turns & judged]
    assert [problem.path for problem in strangers(expected, files)] == foreign
    left = judged if missing == "zero" else judged.intersection(*own)
    if foreign or not left:
        with pytest.raises(InputError if foreign else UsageError) as error:
            count_turns(expected, files, missing)
        if isinstance(error.value, InputError):
            assert [problem.path for problem in error.value.problems] == foreign
        return
    turns = count_turns(expected, files, missing)
    assert set(turns.names) == left and list(turns.names) == sorted(left, key=turn_sort_key)
    assert {name: set(some) for name, some in turns.missing.items()} == {
        f"f{place}": judged - have for place, have in enumerate(own) if judged - have
    }
    assert int(turns.lacking.sum()) == len(judged - set.intersection(*own))
    assert len(turns.notes) == len(turns.missing)


@given(expected=expected_, own=own_, random=st.randoms(use_true_random=False))
def test_the_order_of_files_and_of_their_turns_changes_nothing(
    expected: Expected, own: list[set[str]], random: object
) -> None:
    def counted(order: list[int]) -> tuple[list[bool], dict[str, tuple[str, ...]]] | str:
        files = [
            covered_by_turns(f"f{place}", f"f{place}", sorted(own[place]), expected)
            for place in order
        ]
        try:
            turns = count_turns(expected, files, "drop")
        except (InputError, UsageError) as error:
            return error.slug
        return turns.counted.tolist(), dict(sorted(turns.missing.items()))

    places = list(range(len(own)))
    shuffled = list(places)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert counted(places) == counted(shuffled)


@given(own=own_)
def test_a_union_has_every_turn_once_or_names_who_shares_none(own: list[set[str]]) -> None:
    files = [(f"f{place}", turns) for place, turns in enumerate(own)]
    alone = [
        name
        for name, turns in files
        if len(own) > 1 and not any(turns & others for other, others in files if other != name)
    ]
    if not alone:
        assert set(union_of_turns(files, "x").turns) == set().union(*own)
        return
    with pytest.raises(InputError) as error:
        union_of_turns(files, "x")
    named = [problem.path for problem in error.value.problems]
    assert named == (alone[1:] if len(alone) == len(files) else alone)
