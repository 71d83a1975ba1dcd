"""Sentences on clarifying questions, from hand-made tables."""

from __future__ import annotations

from tests.sentences import cards, made, said

RELEVANCE = [
    {
        "system": name,
        "metric": metric,
        "value": value + more,
        "ci_low": 0.9,
        "ci_high": 0.95,
    }
    for metric, more in (("MRR100", 0.5), ("NDCG3", 0.0))
    for name, value in (
        ("worst", 0.05),
        ("no", 0.10),
        ("best", 0.40),
        ("bert", 0.13),
        ("stem", 0.09),
    )
]


def compared(first: str, second: str, difference: float, **more: float | str) -> dict[str, object]:
    row = {
        "task": "document_relevance",
        "metric": "NDCG3",
        "first": first,
        "second": second,
        "difference": difference,
    }
    return {
        **row,
        "ci_low": difference - 0.01,
        "ci_high": difference + 0.02,
        "p": 0.01,
        "p_corrected": 0.06,
        "topics": 50,
        **more,
    }


COMPARISONS = [
    compared("bert", "stem", 0.7), compared("best", "no", 0.3), compared("bert", "no", 0.03, p_corrected=0.07),
    compared("stem", "no", -0.01, p=0.04, p_corrected=0.2), compared("bert", "worst", 0.8),
    compared("stem", "no", 0.9, metric="MRR100"), compared("stem", "no", 0.9, task="question_relevance"),
]  # fmt: skip


def test_asking_is_compared_with_not_asking() -> None:
    tables = {"document_relevance": RELEVANCE, "comparisons": COMPARISONS}
    card, without, systems = said("clariq", tables, turns=300)
    assert card.startswith(
        "Asking the questions of bert, the best of 2 systems, changes NDCG3 by +0.030 compared with not asking (95"
    )
    assert card.endswith("+0.020 to +0.050; adjusted p = 0.070; 50 topics).")
    assert without == (
        "Without a clarifying question, NDCG3 of the documents is 0.100 (95% CI 0.900 to 0.950);"
        " the best question for each facet reaches 0.400 (95% CI 0.900 to 0.950)."
    )
    assert systems == (
        "NDCG3 with the questions of each system: bert 0.130 (difference +0.030, 95% CI 0.020 to 0.050, adjusted p = 0.070);"
        " stem 0.090 (difference −0.010, 95% CI −0.020 to 0.010, adjusted p = 0.200)."
    )


def test_one_system_that_loses_and_another_measure() -> None:
    rows = [
        row for row in RELEVANCE if row["metric"] == "MRR100" and row["system"] in ("no", "stem")
    ]
    tables = {"document_relevance": rows, "comparisons": [
        compared("stem", "no", -0.02, metric="MRR100", ci_low=float("nan"), p_corrected=0.0004)]}  # fmt: skip
    card, without, systems = said("clariq", tables)
    assert card.startswith(
        "Asking the questions of stem changes MRR100 by −0.020 compared with not asking (adjusted p = 0.0004"
    )
    assert [one.weight for one in cards(made("clariq", tables))] == [0.02]
    assert "best" not in card + without
    assert (
        systems
        == "MRR100 with the questions of each system: stem 0.590 (difference −0.020, adjusted p = 0.0004)."
    )
    assert said("clariq", {"document_relevance": rows}) == []


def test_baselines_that_are_not_known_and_systems_beyond_the_fourth() -> None:
    names = ["one", "two", "three", "four", "five", "six"]
    rows = [{"system": name, "metric": "NDCG3", "value": 0.2} for name in ("worst", "no", *names)]
    tables = {
        "document_relevance": rows,
        "comparisons": [compared(name, "no", 0.1) for name in names],
    }
    _, without, systems = said("clariq", tables)
    assert without == "Without a clarifying question, NDCG3 of the documents is 0.200."
    assert (
        "four 0.200" in systems
        and "five" not in systems
        and systems.endswith("; 2 more in the table.")
    )


def test_the_predicted_need() -> None:
    rows = [
        {"system": "bert", "measure": "recall", "value": 0.9, "topics": 7},
        {
            "system": "bert",
            "measure": "f1",
            "value": 0.512,
            "ci_low": 0.41,
            "ci_high": 0.62,
            "topics": 61,
            "missing": 2,
        },
        {"system": "stem", "measure": "f1", "value": 0.4, "topics": 61},
    ]
    assert said("clariq", {"clarification_need": rows}) == [
        "Weighted F1 of the predicted need to ask, over 61 topics: bert 0.51 (95% CI 0.41 to 0.62); stem 0.40."
    ]


def test_preference_counts_decided_judgments_and_adjusts() -> None:
    row = {"criterion": "engaging", "first": "a", "second": "b", "wins": 30, "losses": 10, "ties": 4, "share": 0.75,
           "ci_low": 0.58, "ci_high": 0.87, "p": 0.002, "p_corrected": 0.06, "judgments": 44}  # fmt: skip
    assert said("clariq", {"preference": [row]}) == [
        "For engaging, 30 of 40 judgments without a tie prefer a to b (75.0%, 95% CI 58% to 87%, adjusted p = 0.060). 4 more"
        " judgments are ties."
    ]
    few = {**row, "ci_low": float("nan"), "ties": 0}
    [sentence] = said("clariq", {"preference": [few, {**row, "wins": 0, "losses": 0}]})
    assert sentence.endswith("(75.0%, adjusted p = 0.060).")
