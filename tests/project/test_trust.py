"""What limits a verdict: qrels of models, of positives alone, too few conversations, families that cannot be significant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robustcs.documents.document import SUBJECTS, Verdict
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.readings import Skipped
from robustcs.policy import EvaluationPolicy, Missing
from robustcs.project.model import Project
from robustcs.project.trust import (
    Limit,
    limited,
    limits_of_qrels,
    limits_of_result,
    limits_of_rows,
    limits_of_sources,
    limits_of_turns,
)
from robustcs.result import Evaluated
from robustcs.statistics.families import Family
from robustcs.statistics.units import units_of

EVALUATED = Evaluated(EvaluationPolicy(), "runs", 70, 0)


def subjects(limits: list[Limit], bars: bool) -> set[str]:
    return {subject for limit in limits for subject in limit.subjects if limit.bars == bars}


@pytest.fixture
def judged(tmp_path: Path) -> Qrels:
    path = tmp_path / "qrels.txt"
    path.write_text("1_1 0 a 0\n1_1 0 b 2\n")
    return read_qrels(path)


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        ([0, 2], ""),
        ([0, 0], ""),
        ([1, 1], "only grade 1"),
        ([2, 3], "only positive grades (2 to 3)"),
        ([-1, 1], ""),
    ],
)
def test_positives_alone_bar_the_judged_share(judged: Qrels, grades: list[int], said: str) -> None:
    limits = limits_of_qrels(replace(judged, grades=np.array(grades, dtype=np.int16)))
    assert subjects(limits, bars=True) == ({"unjudged"} if said else set()) and not subjects(
        limits, bars=False
    )
    assert all(said in limit.reason for limit in limits)


def test_grades_far_above_all_others_limit_what_judgments_show(judged: Qrels) -> None:
    note = "q: 1 judgment with a grade of up to 100, far above all others (at most 4)"
    (limit,) = limits_of_qrels(replace(judged, notes=("q: skipped the header line", note)))
    assert (
        limit.reason == f"{note}."
        and "systems" in limit.subjects
        and "similarity" not in limit.subjects
        and not limit.bars
    )


@pytest.mark.parametrize(
    ("name", "model"),
    [("qrels.txt", ""), ("qrels-gpt4o.txt", "gpt"), ("Llama_3.qrels", "Llama"), ("2023.umbrela.jsonl", "umbrela"),
     ("LLMJudge.txt", "LLM"), ("qrels_phi3.txt", "phi"), ("qrels_llm4cs.txt", ""), ("graphics.txt", ""),
     ("smallms.txt", ""), ("egptian.txt", "")],
)  # fmt: skip
def test_qrels_named_after_a_model_are_no_human_judgments(name: str, model: str) -> None:
    limits = limits_of_sources(Project(qrels=Path("gpt4") / name))  # folders do not count
    assert bool(limits) == bool(model)
    if model:
        assert (
            f"the qrels are {name}, and its name contains a model name ({model})"
            in limits[0].reason
        )
        assert limits[0].reason.startswith("Based on judgments of a model, not of people: ")
        # what needs no judgments is not limited, and what compares judges with people is no headline
        assert subjects(limits, bars=True) == {"bias", "agreement"}
        assert subjects(limits, bars=False) == set(SUBJECTS) - {
            "bias",
            "agreement",
            "similarity",
            "clarification",
        }


def test_more_than_one_per_cent_of_skipped_rows_limits_every_verdict() -> None:
    skipped = {
        ("a.tsv", "human texts"): Skipped(1, 100, "texts", ()),
        ("b.tsv", "qr texts"): Skipped(2, 199, "texts", ()),
        ("b.tsv", "scores"): Skipped(1, 101, "scores", ()),
    }
    (limit,) = limits_of_rows(skipped)
    assert limit == Limit(SUBJECTS, "More than 1% of qr texts were skipped: 2 of 199 texts empty.")
    assert limits_of_rows({}) == []


def test_qrels_that_are_those_of_a_judge() -> None:
    (first, _) = limits_of_sources(
        Project(qrels=Path("a.txt"), judges={"b": Path("b.txt"), "mine": Path("a.txt")})
    )
    assert (
        first.reason
        == "Based on judgments of a model, not of people: the qrels are those of judge mine."
    )
    assert not limits_of_sources(
        Project(qrels=Path("a.txt"), judges={"b": Path("b.txt")})
    ) and not limits_of_sources(Project())


def turns(conversations: int) -> list[str]:
    return [f"{one}_{turn}" for one in range(1, conversations + 1) for turn in (1, 2, 3)]


def test_fewer_than_five_conversations_stand_on_every_card() -> None:
    (limit,) = limits_of_turns(turns(4), "conversation")
    assert (
        limit.subjects == SUBJECTS
        and not limit.bars
        and "there are only 4 conversations" in limit.reason
    )
    assert not limits_of_turns(turns(4), "turn")  # asked for
    assert not limits_of_turns((), "conversation")
    (same,) = limits_of_result(units_of(turns(4)).stated(EVALUATED))
    assert same == limit


def test_five_conversations_cannot_show_a_difference_and_six_can() -> None:
    limits = limits_of_turns(turns(5), "conversation")
    assert subjects(limits, bars=True) == {"differences"} and "blame" in subjects(
        limits, bars=False
    )
    assert (
        limits[0].reason
        == "No p-value can reach 0.05 with 5 conversations: the smallest possible is 0.062."
    )
    assert limits_of_result(units_of(turns(5)).stated(EVALUATED)) == limits
    assert (
        limits_of_turns(turns(6), "conversation")
        == []
        == limits_of_result(units_of(turns(6)).stated(EVALUATED))
    )


def test_a_family_that_cannot_reach_the_level_bars_its_differences() -> None:
    enough = units_of(turns(10)).stated(EVALUATED)
    weak = Family(np.ones(3), 0.25, "no adjusted p can reach 0.05; the smallest possible is 0.25")
    limits = limits_of_result(enough, weak)
    assert {limit.reason for limit in limits} == {
        "No adjusted p can reach 0.05; the smallest possible is 0.25."
    }
    # shares of turns rest on no test of pairs
    assert subjects(limits, bars=True) == {"differences"} and subjects(limits, bars=False) == {
        "systems"
    }
    assert not limits_of_result(enough, replace(weak, note=""))
    also_missing = replace(enough, missing=40)  # one limit does not hide another
    assert len({limit.reason for limit in limits_of_result(also_missing, weak)}) == 2


@pytest.mark.parametrize(
    ("missing", "rule", "limited"), [(3, "zero", False), (4, "zero", True), (60, "drop", False)]
)
def test_many_missing_turns_limit_what_depends_on_judgments(
    missing: int, rule: Missing, limited: bool
) -> None:
    stated = replace(
        units_of(turns(10)).stated(EVALUATED),
        missing=missing,
        policy=EvaluationPolicy(missing=rule),
    )
    reasons = {limit.reason for limit in limits_of_result(stated)}
    assert reasons == (
        {"4 of 70 turns are missing in at least one system and score 0."} if limited else set()
    )
    assert "similarity" not in subjects(limits_of_result(stated), bars=False)


def test_formulations_that_are_probably_swapped_limit_blame() -> None:
    note = "Human scores below Original (map); check that the two files are not swapped"
    (limit,) = limits_of_result(
        replace(units_of(turns(10)).stated(EVALUATED), notes=(note, "another"))
    )
    assert (
        limit.reason == f"{note}." and {"blame", "drop"} <= set(limit.subjects) and not limit.bars
    )


def test_a_verdict_tells_its_own_limits_each_once() -> None:
    verdict = Verdict(
        "40 %",
        "",
        "QR fails on 40 % of the turns",
        "4 of 10 turns",
        0.4,
        subject="blame",
        caveat="Three turns left out.",
    )
    told = limited(
        verdict,
        [Limit(("blame",), "One."), Limit(("drop",), "Two.", bars=True), Limit(SUBJECTS, "One.")],
    )
    assert (told.caveat, told.barred) == ("Three turns left out. One.", False)
    assert (
        told.sentence == "QR fails on 40 % of the turns (4 of 10 turns). Three turns left out. One."
    )
    assert (
        limited(verdict, [Limit(("blame",), "Two.", bars=True)]).barred
        and limited(replace(verdict, barred=True), []).barred
    )


def test_a_first_limit_begins_the_claim_or_replaces_it() -> None:
    verdict = Verdict(
        "40%", "31% to 49%", "QR fails on 40% of turns", "4 of 10 turns", 0.4, "qr", subject="blame",
        turns="cause@qr:rewriter", count=4, sort="loss@qr",
    )  # fmt: skip
    begun = limited(verdict, [Limit(("blame",), "9% of the judgments are lost.", first=True)])
    assert (
        begun.text == "9% of the judgments are lost; QR fails on 40% of turns"
        and not begun.caveat
        and not begun.barred
    )
    void = limited(
        verdict, [Limit(("blame",), "9% of the judgments are lost.", bars=True, first=True)]
    )
    assert (
        void.sentence
        == "9% of the judgments are lost: the judgments cannot tell rewriter errors from ranker errors."
    )
    assert void.barred and not void.interval
    assert begun.read and begun.read.count == 4
    assert (void.turns, void.count, void.sort, void.read) == ("", 0, "", None)
    assert (
        limited(replace(verdict, subject="drop"), [Limit(("blame",), "9%.", True, True)]).text
        == verdict.text
    )
