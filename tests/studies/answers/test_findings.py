"""What the report says of answers."""

from __future__ import annotations

from robustcs.documents.document import TableBlock
from robustcs.studies.answers.analysis import Item, SystemAnswers
from robustcs.studies.answers.findings import (
    answer_findings,
    coverage_findings,
    turns_to_read,
    verdicts,
)
from robustcs.studies.answers.show import headline, main_importance, said, show
from tests.sentences import cards, made
from tests.sentences import said as sentences_of
from tests.studies.answers.test_analysis import held


def test_sentences_name_the_main_cause() -> None:
    items = [
        Item("nuggets", f"{place}_1", f"fact number{place}", "vital", frozenset(["d"]))
        for place in range(6)
    ]
    given = {f"{place}_1": ["d"] for place in range(2)}
    human = {f"{place}_1": ["d"] for place in range(5)}
    result = held(
        items,
        SystemAnswers("qr", {"5_1": "fact number5"}, None, given, human),
        SystemAnswers("none", {}),
    )
    means, pairs, cause, _ = coverage_findings(result)
    assert means.startswith("The mean support of vital nuggets is 0.167") and "; 0.000" in means
    assert pairs == "Pairs of systems that differ significantly (adjusted p ≤ 0.05): 0 of 1."
    assert cause.startswith(
        "QR misses 5 of 6 vital nuggets. The rewriter loses the most, 3 (50.0% of all 6"
    )
    assert said(result) == "vital nuggets"
    # every block has a name of its own, which pages and files take
    slugs = [getattr(block, "slug", "") for block in show(result)]
    assert len(slugs) == len(set(slugs)) > 3


def test_without_importance_all_nuggets_and_without_nuggets_snippets_matter() -> None:
    plain = held([Item("nuggets", "1_1", "flour")], SystemAnswers("a", {}))
    assert main_importance(plain) == ("nuggets", "all") and said(plain) == "nuggets"
    assert coverage_findings(plain)[0] == "The mean support of nuggets is 0.000 for a."
    snippets = held([Item("snippets", "1_1", "flour")], SystemAnswers("a", {"1_1": "flour"}))
    assert said(snippets) == "snippets"
    assert coverage_findings(snippets) == ("The mean recall of snippets is 1.000 for a.",)


def test_tables_without_vital_nuggets_are_of_all() -> None:
    items = [Item("nuggets", "1_1", "flour", "okay"), Item("nuggets", "1_1", "water")]
    result = held(items, SystemAnswers("a", {"1_1": "flour"}), SystemAnswers("b", {}))
    assert headline(result, "nuggets") == "nuggets_all"
    tables = {block.slug: block for block in show(result) if isinstance(block, TableBlock)}
    means, pairs = tables["measures-nuggets"], tables["pairs"]
    assert [row[1] for row in means.rows] == [
        "0.500",
        "0.000",
    ] and "Means over 1 turn." in means.note
    (row,) = [row for row in pairs.rows if row[0] == "support of nuggets"]
    assert row[1:3] == ("a", "b") and "+0.500" in row[3]


# ---------------------------------------------------------------- hand-made tables

MEANS = [
    {
        "system": "qr",
        "metric": "nuggets_vital",
        "value": 0.41,
        "ci_low": 0.3,
        "ci_high": 0.52,
        "turns": 9,
    },
    {
        "system": "gpt",
        "metric": "nuggets_vital",
        "value": 0.35,
        "ci_low": 0.2,
        "ci_high": 0.5,
        "turns": 9,
    },
    {
        "system": "bm25",
        "metric": "nuggets_vital",
        "value": 0.12,
        "ci_low": 0.05,
        "ci_high": 0.21,
        "turns": 9,
    },
    {"system": "bm25", "metric": "nuggets_all", "value": 0.99},
    {"system": "qr", "metric": "nuggets_all", "value": 0.01},
]
#: One pair is significant before adjustment alone, one after it.
PAIRS = [
    {
        "first": "qr",
        "second": "gpt",
        "metric": "nuggets_vital",
        "difference": 0.06,
        "p": 0.04,
        "p_corrected": 0.051,
    },
    {
        "first": "qr",
        "second": "bm25",
        "metric": "nuggets_vital",
        "difference": 0.29,
        "p": 0.01,
        "p_corrected": 0.05,
    },
    {
        "first": "gpt",
        "second": "bm25",
        "metric": "nuggets_vital",
        "difference": 0.23,
        "p": 0.03,
        "p_corrected": 0.09,
    },
    {
        "first": "gpt",
        "second": "bm25",
        "metric": "nuggets_all",
        "difference": 0.23,
        "p": 0.001,
        "p_corrected": 0.001,
    },
]
ITEMS = [{"system": "qr", "gold": "nuggets", "importance": "vital", "cause": "covered"}]


def cause(system: str, name: str, count: int, items: int = 20, **more: object) -> dict[str, object]:
    row = {
        "system": system,
        "gold": "nuggets",
        "importance": "vital",
        "cause": name,
        "count": count,
        "items": items,
    }
    return {**row, "share": count / items, "ci_low": 0.1, "ci_high": 0.6, **more}


CAUSES = [
    cause("qr", "covered", 8), cause("qr", "generator", 2), cause("qr", "rewriter", 5, ci_low=0.11, ci_high=0.44),
    cause("qr", "retrieval", 1), cause("qr", "unknown", 4),
    cause("bm25", "covered", 20, 1_020), cause("bm25", "generator", 0, 1_020), cause("bm25", "unknown", 1_000, 1_020),
    cause("gpt", "covered", 3), cause("gpt", "retrieval", 17, ci_low=float("nan")),
    cause("t5", "covered", 19), cause("t5", "generator", 1),
    cause("qr", "generator", 900, 999, importance="all"), cause("qr", "generator", 900, 999, gold="snippets"),
]  # fmt: skip


def told(**changed: object) -> list[str]:
    tables: dict[str, object] = {
        "measures": MEANS,
        "pairs": PAIRS,
        "item_causes": CAUSES,
        "items": ITEMS,
    }
    return sentences_of("answers", tables | changed, covered=0.5)  # type: ignore[operator]


def test_the_means_and_the_pairs_that_differ() -> None:
    means, pairs, *_ = told()
    assert means == (
        "The mean support of vital nuggets is 0.410 (95% CI 0.300 to 0.520) for QR; 0.350 (95% CI 0.200 to 0.500) for gpt;"
        " 0.120 (95% CI 0.050 to 0.210) for bm25."
    )
    assert pairs == "Pairs of systems that differ significantly (adjusted p ≤ 0.05): 1 of 3."
    none = [{**row, "p_corrected": 0.2} for row in PAIRS]
    assert (
        told(pairs=none)[1]
        == "Pairs of systems that differ significantly (adjusted p ≤ 0.05): 0 of 3."
    )
    both = [{**row, "p_corrected": 0.02} for row in PAIRS[:2]]
    assert (
        told(pairs=both)[1]
        == "Pairs of systems that differ significantly (adjusted p ≤ 0.05): 2 of 2."
    )


def test_what_is_missed_and_its_main_cause() -> None:
    *_, qr, bm25, gpt, t5 = told()
    assert qr == (
        "QR misses 12 of 20 vital nuggets. The rewriter loses the most, 5 (25.0% of all 20, 95% CI 11% to 44%):"
        " only the human question retrieves them. The cause of 4 items is unknown."
    )
    assert bm25 == "bm25 misses 1,000 of 1,020 vital nuggets. The cause of 1,000 items is unknown."
    assert gpt == (
        "gpt misses 17 of 20 vital nuggets. Retrieval loses the most, 17 (85.0% of all 20): no retrieved passage contains them."
    )
    assert t5.startswith(
        "t5 misses 1 of 20 vital nuggets. The generator loses the most, 1 (5.0% of all 20"
    )


# ---------------------------------------------------------------- outcomes


def outcome(system: str, name: str, count: int, **more: object) -> dict[str, object]:
    return {
        "system": system,
        "kind": "unanswerable",
        "outcome": name,
        "count": count,
        "turns": 8,
        "of_kind": count / 8,
        **more,
    }


def lost(system: str, name: str, count: int, turns: int = 40, **more: object) -> dict[str, object]:
    return {
        "system": system,
        "cause": name,
        "count": count,
        "turns": turns,
        "share": count / turns,
        **more,
    }


OUTCOMES = {
    "causes": [
        lost("qr", "none", 16), lost("qr", "generator", 3), lost("qr", "retrieval", 12, ci_low=0.18, ci_high=0.46),
        lost("gpt", "none", 30), lost("gpt", "generator", 10, ci_low=0.1, ci_high=0.4), lost("gpt", "retrieval", 0),
        lost("gpt", "unknown", 0), lost("qr", "unknown", 9, ci_low=0.1, ci_high=0.4),
    ],
    "outcomes": [
        outcome("qr", "correct", 25, kind="answerable"),
        outcome("qr", "made_up", 1, of_kind_low=0.01, of_kind_high=0.53, share=0.9, ci_low=0.8, ci_high=0.95),
        outcome("gpt", "made_up", 0), outcome("gpt", "hedged", 7),
    ],
    "turns": [
        {"system": "qr", "turn": "1_1", "outcome": "made_up"}, {"system": "qr", "turn": "1_2", "outcome": "hedged"},
        {"system": "qr", "turn": "1_3", "outcome": "hedged"}, {"system": "gpt", "turn": "1_1", "outcome": "correct"},
    ],
}  # fmt: skip


def test_turns_as_units_are_no_clusters() -> None:
    items = [
        Item("nuggets", f"{place}_1", f"fact number{place}", "vital", frozenset(["d"]))
        for place in range(6)
    ]
    result = held(items, SystemAnswers("a", {"1_1": "fact number1"}), SystemAnswers("b", {}))
    notes = [block.note for block in show(result) if isinstance(block, TableBlock)]
    assert result.evaluated.unit == "turn" and any(
        "95% CI (Wilson intervals)." in note for note in notes
    )
    assert not any("clustered" in note for note in notes)


def test_outcomes_and_causes_of_every_system() -> None:
    result = made("answers", OUTCOMES, criterion="F1 of at least 0.5")
    assert answer_findings(result) == (
        "Correct: F1 of at least 0.5.",
        "QR: 16 of 40 answerable turns answered (40.0%); the generator loses 3 (7.5%); retrieval loses 12 (30.0%); the cause of"
        " 9 lost turns is unknown; 1 made up; 2 hedged.",
        "gpt: 30 of 40 answerable turns answered (75.0%); the generator loses 10 (25.0%).",
    )
    assert (
        "any answer counts as answered."
        in answer_findings(made("answers", OUTCOMES, criterion=""))[0]
    )


def test_the_worst_cause_and_the_most_made_up_answers() -> None:
    worst, invented = verdicts(made("answers", OUTCOMES, criterion=""))
    assert (worst.number, worst.tone, invented.number, invented.tone) == ("30%", "qa", "12%", "qr")
    assert worst.sentence == (
        "Retrieval of QR loses 30% of the answerable turns (95% CI 18% to 46%; 12 of 40 turns). The cause of 9 further lost"
        " turns is unknown."
    )
    assert invented.sentence == (
        "QR makes up an answer to 12% of the unanswerable turns (95% CI 1% to 53%; 1 of 8 turns)."
    )


def test_one_lost_turn_and_one_made_up_answer_are_enough() -> None:
    few = {"causes": [lost("qr", "generator", 1)], "outcomes": [outcome("qr", "made_up", 1)]}
    assert [one.basis for one in verdicts(made("answers", few, criterion=""))] == [
        "1 of 40 turns",
        "1 of 8 turns",
    ]
    none = {"causes": [lost("qr", "generator", 0)], "outcomes": [outcome("qr", "made_up", 0)]}
    assert verdicts(made("answers", none, criterion="")) == ()


def test_no_turn_answered_and_answers_of_unknown_kind() -> None:
    turns = [
        turn("qr", f"1_{place}", one)
        for place, one in enumerate(("answered", "answered", "abstained"))
    ]
    refused = {
        "causes": [lost("qr", "generator", 40)],
        "outcomes": [outcome("qr", "refused", 40, kind="answerable")],
    }
    _, said = answer_findings(made("answers", {**refused, "turns": turns}, criterion=""))
    assert said == "QR: 0 of 40 answerable turns answered (0.0%); the generator loses 40 (100.0%)."
    alone = {"turns": turns, "outcomes": [outcome("qr", "answered", 2, kind="unknown")]}
    assert answer_findings(made("answers", alone, criterion="")) == (
        "QR: 2 of 3 turns answered (66.7%); 1 abstained.",
    )


def test_made_up_answers_that_gold_splits_have_no_filter() -> None:
    rows = [outcome("qr", "made_up", 3, of_kind=0.4)]
    (whole,) = cards(made("answers", {"outcomes": rows}, criterion=""))
    assert (whole.turns, whole.count) == ("outcome@qr:made_up", 3)
    split = [*rows, outcome("qr", "made_up", 1, gold_given=False)]
    (part,) = cards(made("answers", {"outcomes": split}, criterion=""))
    assert (part.turns, part.count, part.basis) == ("", 0, "3 of 8 turns")


# ---------------------------------------------------------------- turns to read


def turn(
    system: str,
    name: str,
    said: str,
    unsupported: float = 0,
    kind: str = "answerable",
    cause: str = "none",
) -> dict:
    return {
        "system": system,
        "turn": name,
        "outcome": said,
        "kind": kind,
        "unsupported": unsupported,
        "cause": cause,
    }


def test_errors_are_listed_by_outcome_and_by_the_component_that_lost_them() -> None:
    turns = [
        turn("a", "1_1", "correct"), turn("a", "1_2", "wrong", cause="generator"),
        *(turn("a", f"2_{place}", "refused", cause="generator") for place in range(3)),
        turn("a", "3_1", "made_up", 9, "unanswerable", ""),
        # to abstain is an error only if there is an answer
        turn("a", "3_2", "abstained", 0, "unanswerable", ""),
        turn("a", "3_3", "abstained", 0, "partial", "retrieval"),
        turn("b c", "1_1", "asked_back", 0, "answerable", "unknown"),
    ]  # fmt: skip
    sets = turns_to_read(made("answers", {"turns": turns}, criterion=""))
    assert {one.says: (one.where, one.count) for one in sets if one.count} == {
        "a: made up": ("outcome@a:made_up", 1),
        "a: refused": ("outcome@a:refused", 3),
        "a: wrong": ("outcome@a:wrong", 1),
        "a: abstained": ("outcome@a:abstained kind@a:answerable,partial", 1),
        "a: lost by the generator": ("lost@a:generator", 4),
        "a: lost by retrieval": ("lost@a:retrieval", 1),
        "b c: asked back": ('outcome@"b c":asked_back kind@"b c":answerable,partial', 1),
    }
    (one,) = turns_to_read(made("answers", {"turns": turns[:2]}, criterion=""))[2:3]
    assert one.says == "wrong"
