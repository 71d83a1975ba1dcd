"""Coverage of gold information by answers, its causes, and systems compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from robustcs.evaluation.outcomes import Traced
from robustcs.inputs.annotations import join_annotations, read_annotations
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import units_of
from robustcs.studies.answers.analysis import Answers, Item, SystemAnswers, answers, coverage
from robustcs.studies.answers.outcomes import Journey

EVALUATED = Evaluated(EvaluationPolicy(), "coverage", 1, 0)


def held(
    items: Sequence[Item], *systems: SystemAnswers, texts: Mapping[str, str] | None = None
) -> Answers:
    turns = list(dict.fromkeys(item.turn for item in items))
    units, nothing = units_of(turns), np.full(len(turns), np.nan)
    none = (None,) * len(turns)
    traced = [Traced(system.name, "detector", ("answered",) * len(turns), (0,) * len(turns), none, ("answered",) * len(turns),
                     ("none",) * len(turns), none, ("answered",) * len(turns), none, nothing, nothing)
              for system in systems]  # fmt: skip
    found = coverage(items, systems, turns, units, passages=texts)
    return answers(Journey(turns, ["answerable"] * len(turns), traced, units), EVALUATED, found)


def values(result: Answers, system: str, turn: str) -> dict[str, float]:
    rows = result.turn_scores[
        (result.turn_scores["system"] == system) & (result.turn_scores["turn"] == turn)
    ]
    return dict(zip(rows["metric"], rows["value"], strict=True))


def test_snippets_by_hand() -> None:
    items = [
        Item("snippets", "1_1", "flour and water"),
        Item("snippets", "1_1", "salt, flour and yeast"),
    ]
    found = values(
        held(items, SystemAnswers("a", {"1_1": "Take flour, water and sugar!"})), "a", "1_1"
    )
    # the first is held whole, of the second one word in three; of "take flour water sugar" two words are gold
    assert found["snippet_recall"] == pytest.approx((1 + 1 / 3) / 2)
    assert found["snippet_precision"] == 2 / 4
    assert found["snippet_f1"] == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))
    assert found["length"] == 5


def nuggets(*rows: tuple[str, str], turn: str = "1_1", passages: Sequence[str] = ()) -> list[Item]:
    return [
        Item("nuggets", turn, text, importance, frozenset(passages)) for text, importance in rows
    ]


def test_nuggets_by_assignment_are_the_scores_of_nuggetizer() -> None:
    """SPEC 12 and 14: nuggets and assignments; the four scores as nuggetizer's calculate_nugget_scores has them."""
    items = nuggets(("a", "vital"), ("b", "vital"), ("c", "okay"), ("d", "okay"), ("e", "vital"))
    support = {"1_1": {"a": 1.0, "b": 0.5, "c": 1.0, "d": 0.0, "e": 0.0}}
    found = values(held(items, SystemAnswers("a", {"1_1": "x"}, support)), "a", "1_1")
    assert found["nuggets_vital"] == (1 + 0.5) / 3 and found["nuggets_vital_strict"] == 1 / 3
    assert found["nuggets_all"] == 2.5 / 5 and found["nuggets_all_strict"] == 2 / 5


def test_turns_for_which_a_measure_is_undefined_take_no_part() -> None:
    items = [
        *nuggets(("flour", "vital")),
        *nuggets(("water", "okay"), turn="2_1"),
        Item("snippets", "3_1", "salt"),
    ]
    result = held(items, SystemAnswers("a", {"1_1": "flour", "2_1": "milk", "3_1": "salt"}))
    rows = result.measures.set_index("metric")
    assert rows.loc[
        ["nuggets_vital", "nuggets_all", "snippet_recall", "length"], "turns"
    ].tolist() == [1, 2, 1, 3]
    assert rows.loc["nuggets_all", "value"] == 0.5 and np.isnan(
        values(result, "a", "2_1")["nuggets_vital"]
    )
    of = result.item_causes.groupby(["gold", "importance"], sort=False)["items"].first()
    assert of.to_dict() == {
        ("nuggets", "all"): 2,
        ("nuggets", "vital"): 1,
        ("nuggets", "okay"): 1,
        ("snippets", "all"): 1,
    }


def test_why_something_is_missed() -> None:
    """SPEC 14: missed because retrieval did not find it, because the rewriter did not, or because of the generator."""
    items = [
        Item("nuggets", f"{place}_1", f"fact number{place}", "vital", frozenset([f"d{place}"]))
        for place in range(5)
    ]
    answers = {item.turn: "nothing" for item in items} | {"0_1": "fact number0"}
    given = {"1_1": ["d1", "x"], "2_1": ["x"], "3_1": ["x"]}
    human = {"0_1": ["d0"], "1_1": ["x"], "2_1": ["y", "d2"], "3_1": ["y"], "4_1": ["y"]}
    systems = (
        SystemAnswers("both", answers, None, given, human),
        SystemAnswers("no human", answers, None, given),
        SystemAnswers("nothing", answers),
        SystemAnswers("human", answers, None, human, human, is_human=True),
    )
    result = held(items, *systems)
    found = {
        name: part["cause"].tolist() for name, part in result.items.groupby("system", sort=False)
    }
    assert found["both"] == ["covered", "generator", "rewriter", "retrieval", "retrieval"]
    assert found["no human"] == ["covered", "generator", *["rewriter or retrieval"] * 3]
    assert found["nothing"] == ["covered", *["unknown"] * 4]
    assert found["human"] == ["covered", "retrieval", "generator", "retrieval", "retrieval"]
    counts = result.item_causes[
        (result.item_causes["system"] == "both") & (result.item_causes["importance"] == "vital")
    ]
    assert dict(zip(counts["cause"], counts["count"], strict=True)) == {"covered": 1, "generator": 1, "rewriter": 1,
                                                                        "retrieval": 2}  # fmt: skip
    assert (
        counts["share"].tolist() == [0.2, 0.2, 0.2, 0.4]
        and (counts["ci_low"] <= counts["share"]).all()
    )


def test_causes_that_cannot_be_told_have_no_rows() -> None:
    items = nuggets(("oven at high heat", "vital"), passages=["d1"])
    given = {"1_1": ["d2"]}
    systems = (SystemAnswers("none", {}), SystemAnswers("no human", {}, None, given), SystemAnswers("both", {}, None, given, given),
               SystemAnswers("human", {}, None, given, is_human=True))  # fmt: skip
    causes = held(items, *systems).item_causes
    rows = {
        name: part["cause"].tolist()
        for name, part in causes[causes["importance"] == "all"].groupby("system", sort=False)
    }
    assert rows["none"] == ["covered", "unknown"]
    assert rows["no human"] == ["covered", "generator", "rewriter or retrieval"]
    assert rows["both"] == rows["human"] == ["covered", "generator", "rewriter", "retrieval"]
    untold = held(
        nuggets(("oven at high heat", "vital")), SystemAnswers("both", {}, None, given, given)
    ).item_causes
    assert set(untold["cause"]) == {"covered", "unknown"}


def test_texts_of_passages_tell_what_the_gold_does_not() -> None:
    items = nuggets(("oven at high heat", "vital"))
    system = SystemAnswers("a", {}, None, {"1_1": ["d1"]}, {"1_1": ["d2"]})
    assert held(items, system).items["cause"].tolist() == ["unknown"]
    texts = {"d1": "Salt the water.", "d2": "Put it into an oven with high heat."}
    assert held(items, system, texts=texts).items["cause"].tolist() == ["rewriter"]
    assert held(items, system, texts={"d1": texts["d2"]}).items["cause"].tolist() == ["generator"]


def test_a_passage_without_text_blames_nobody() -> None:
    items = nuggets(("oven at high heat", "vital"), passages=["gold"])
    salt, oven = "Salt the water.", "Put it into an oven with high heat."

    def cause(given: Sequence[str], human: Sequence[str], texts: Mapping[str, str] | None) -> str:
        return str(
            held(items, SystemAnswers("a", {}, None, {"1_1": given}, {"1_1": human}), texts=texts)
            .items["cause"]
            .iloc[0]
        )

    assert (
        cause(["d1", "d2"], ["gold"], {"d1": salt}) == "unknown"
        and cause(["d1"], ["gold"], {}) == "unknown"
    )
    assert (
        cause(["d1", "d2"], ["d3"], {"d1": oven})
        == cause(["d1", "gold"], ["d3"], {"d2": salt})
        == "generator"
    )
    assert cause(["d1"], ["d2"], {"d1": salt}) == "rewriter or retrieval"
    assert (
        cause(["d1"], ["d2"], {"d1": salt, "d2": salt})
        == cause(["d1"], ["d2"], None)
        == "retrieval"
    )


def test_means_and_pairs_take_the_conversation_as_unit() -> None:
    random = np.random.default_rng(0)
    turns = [f"{place}_{depth}" for place in range(12) for depth in (1, 2, 3)]
    items = [Item("snippets", turn, "alpha beta gamma delta") for turn in turns]
    words = ["alpha", "beta", "gamma", "delta"]
    told = {turn: " ".join(words[: random.integers(1, 5)]) for turn in turns}
    less = {turn: text.replace("alpha", "") for turn, text in told.items()}
    result = held(
        items, SystemAnswers("more", told), SystemAnswers("less", less), SystemAnswers("none", {})
    )
    assert (result.evaluated.unit, result.evaluated.units) == ("conversation", 12)
    row = result.measures.set_index(["system", "metric"]).loc[("more", "snippet_recall")]
    scores = np.array([values(result, "more", turn)["snippet_recall"] for turn in turns])
    units = units_of(turns)
    (expected,) = mean_estimates(units.sums(scores), units.sizes, units.kind, (0.0, 1.0))
    assert (row["value"], row["ci_low"], row["ci_high"]) == (
        expected.value,
        expected.low,
        expected.high,
    )
    pairs = result.pairs[result.pairs["metric"] == "snippet_recall"].set_index(["first", "second"])
    assert pairs.loc[("more", "less"), "difference"] == pytest.approx(0.25)
    assert pairs.loc[("more", "less"), "p"] == 2 / 2**12
    assert (pairs["p_corrected"] >= pairs["p"]).all() and len(pairs) == 3
    assert result.measures[result.measures["metric"] == "snippet_recall"]["system"].tolist() == [
        "more",
        "less",
        "none",
    ]


def test_experts_snippets_as_gold_on_real_passages(shared_data: Path) -> None:
    """SPEC 14: snippets as gold information, how much of it a response covers. A text of all snippets covers all of them and
    says nothing else; the first two sentences of a passage cover less, and those of another turn hardly anything."""
    files = [
        shared_data / "snippets" / f"topic_{topic}-paragraph-expert.csv.gz" for topic in (1, 2)
    ]
    texts = join_annotations([(path, read_annotations(path)[0]) for path in files])
    items, all_of, lead = [], {}, {}
    for (turn, passage), text in texts.items():
        for start, end in text.annotations[0].spans:
            items.append(Item("snippets", turn, text.text[start:end], "", frozenset([passage])))
            all_of[turn] = f"{all_of.get(turn, '')} {text.text[start:end]}"
        lead[turn] = f"{lead.get(turn, '')} {' '.join(text.text.split()[:40])}"
    turns = list(dict.fromkeys(item.turn for item in items))
    other = {turn: lead[turns[place - 5]] for place, turn in enumerate(turns)}
    result = held(
        items,
        SystemAnswers("all", all_of),
        SystemAnswers("lead", lead),
        SystemAnswers("other", other),
    )
    found = result.measures.set_index(["metric", "system"])["value"]
    assert found["snippet_recall", "all"] == 1
    assert found["snippet_precision", "all"] > 0.5  # what several snippets say counts once
    assert 1 > found["snippet_recall", "lead"] > 2 * found["snippet_recall", "other"]
    assert found["snippet_precision", "lead"] > found["snippet_precision", "other"]
