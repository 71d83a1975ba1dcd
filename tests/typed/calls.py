"""Calls as users write them: type checkers accept all of them (tests/test_typed.py), and no wrong one of wrong.py."""

from pathlib import Path

import pandas as pd

import robustcs

QRELS = {"1_1": {"a": 1, "b": 0}, "1_2": {"a": 1}, "2_1": {"c": 2}}
RUN = {"1_1": {"a": 0.5, "b": 0.1}, "1_2": {"b": 0.1}, "2_1": {"c": 2.0}}


def calls(folder: Path) -> list[pd.DataFrame]:
    """Evaluate dictionaries, files and frames, under singular and plural keywords."""
    frame = pd.DataFrame({"query_id": ["1_1"], "doc_id": ["a"], "score": [1.0]})
    found = [
        robustcs.evaluate(QRELS, RUN, metric="P_1").measures,
        robustcs.evaluate(
            QRELS, {"mine": RUN, "frame": frame}, metrics=["P_1", "ndcg_cut_3"], margin=0.02
        ).pairs,
        robustcs.compare(RUN, frame, qrels=QRELS, metric="P_1").measures,
        robustcs.compare(
            old=folder / "plain.toml", new=folder, fail_if=["drop>0.02"], metric="P_1"
        ).gate,
        robustcs.breakdown(folder / "robustcs.toml", threshold=0.5, find_slices=False).bins,
        robustcs.unjudged(project=folder / "robustcs.toml", scope="pool", metric="P_1").rates,
        robustcs.breakdown(QRELS, original=RUN, qr={"t5": RUN}, human=RUN).turns,
        robustcs.robustness(
            QRELS, {"a": RUN, "b": RUN}, groups={"g": ("a", ["b"])}, metric="P_1"
        ).tables["measures"],
        robustcs.review(
            files=[folder / "review/ada.jsonl", folder / "review/ben.jsonl"]
        ).categories,
        robustcs.crowd(grades=folder / "crowd/grades.csv", tolerance=2).grades,
        robustcs.agreement(ratings=folder / "annotations/ratings.csv", majority=3).tables["kappa"],
    ]
    result = robustcs.sweep(folder / "robustcs.toml", metric="ndcg_cut_3")
    text = result.to_latex(table="areas")
    assert text is not None
    assert text.startswith("%") or "begin" in text
    return found
