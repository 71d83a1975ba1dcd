"""Sentences on correlations, from hand-made tables: another subset, method or rewriter would change them."""

from __future__ import annotations

from typing import Any

from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.correlate.analysis import Correlate
from tests.sentences import cards, frame, spoken


def r(rewriter: str, value: float, turns: int, **more: Any) -> dict[str, Any]:
    row = {
        "rewriter": rewriter,
        "x": "rouge1_f",
        "y": "overlap_10",
        "subset": "all",
        "method": "pearson",
        "turns": turns,
    }
    return {**row, "value": value, "ci_low": value - 0.1, "ci_high": value + 0.15, **more}


ROWS = [
    r("t5", 0.41, 40), r("t5", 0.01, 22, subset="judged"), r("t5", 0.02, 30, subset="judged", y="rbo"),
    r("t5", 0.03, 40, method="spearman"), r("t5", 0.04, 40, y="rbo"),
    r("bart", 0.52, 38), r("bart", 0.99, 38, subset="judged"), r("cv", 0.47, 40), r("cv", 0.02, 22, subset="judged"),
]  # fmt: skip
OUTLIERS = [
    {"rewriter": rewriter, "turn": "1_1", "corner": f"{which} answers"}
    for rewriter, which in (
        ("t5", "different"),
        ("t5", "same"),
        ("t5", "same"),
        ("bart", "different"),
    )
]
EXCEPTIONS = "Exceptions: 1 turn with similar questions but different answers, 2 with different questions but the same answers"


def made(**more: Any) -> Correlate:
    rows = {"correlations": ROWS, "outliers": OUTLIERS}
    content = {
        spec.name: spec.of(frame(spec, rows.get(spec.name, ()))) for spec in Correlate.declared
    }
    return Correlate(Evaluated(EvaluationPolicy(), "runs", 40, 0), content=content, **more)


def test_the_lowest_rewriter_and_all_from_the_highest() -> None:
    [card] = cards(made())
    assert card.text == f"Question and answer similarity correlate at 0.41. {EXCEPTIONS}"
    assert (card.number, card.interval, card.weight) == ("0.41", "0.31 to 0.56", 3 / 40)
    assert card.basis == (
        "t5, the lowest of 3 rewriters; 40 turns; Pearson's r of ROUGE-1 F and overlap of the top 10"
    )
    assert (card.caveat, card.barred) == ("", False)
    assert spoken(made())[1] == (
        "ROUGE-1 F of QR and Human correlates with overlap of the top 10 (Pearson's r): bart 0.52 (95% CI 0.42 to 0.67) over 38"
        " turns, cv 0.47 (95% CI 0.37 to 0.62) over 40 turns, t5 0.41 (95% CI 0.31 to 0.56) over 40 turns. A"
        " correlation over turns does not show that the rewriter with the more similar questions is better."
    )


def test_the_lower_of_two_rewriters() -> None:
    rows = [row for row in ROWS if row["rewriter"] != "cv"]
    for some, basis in ((rows, "t5, the lowest of 2 rewriters; 40 turns"), (rows[:5], "40 turns")):
        content = {
            spec.name: spec.of(frame(spec, some if spec.name == "correlations" else ()))
            for spec in Correlate.declared
        }
        [card] = cards(Correlate(Evaluated(EvaluationPolicy(), "runs", 40, 0), content=content))
        assert card.basis.startswith(f"{basis}; Pearson's r")


def test_excluded_turns_are_a_caveat_and_bar_the_card_if_they_are_most() -> None:
    for left, equal, barred in ((3, 6, False), (4, 6, True)):
        [card] = cards(made(apart={"t5": (left, equal), "bart": (9, 9)}))
        assert (
            card.barred == barred
            and ("The run probably answered other texts." in card.caveat) == barred
        )
        assert card.caveat.startswith(
            f"Excluded: {left} of {equal} turns of t5 with Human's text, because"
        )
