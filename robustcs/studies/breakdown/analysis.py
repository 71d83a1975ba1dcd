"""Wrong answer or wrong question? Correctness bins of the three formulations, and who is to blame.

Source: Vakulenko et al. (2020), "A wrong answer or a wrong question?", sections 3 and 4, Tables 1 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from robustcs.evaluation.bins import BINS, CAUSE_OF_BIN, CAUSES, Formulations, bin_index
from robustcs.evaluation.thresholds import DEFAULT_THRESHOLDS, Threshold, distinct_thresholds
from robustcs.result import Evaluated, Field, Result, TableSpec, count, flag, number, p_value, score, share, table, text
from robustcs.statistics.intervals import bootstrap_mean, wilson
from robustcs.statistics.paired import mcnemar_exact
from robustcs.wording import counted, some_of

if TYPE_CHECKING:
    import pandas as pd
    from pandas.arrays import BooleanArray

#: Role of a formulation → turn → text. A rewriter's role is its name.
Texts = Mapping[str, Mapping[str, str]]


_CUT = (text("metric"), text("threshold", "what makes an answer correct: >0, >=0.5, =1"))
_WILSON = (share("ci_low", "Wilson interval, 95 %"), share("ci_high"))


def _table(name: str, says: str, *fields: Field) -> TableSpec:
    return table(name, says, text("rewriter"), *_CUT, *fields)


@dataclass(frozen=True)
class Breakdown(Result):
    """Every turn in its bin, and who is to blame, for every rewriter, measure and threshold."""

    study = "breakdown"
    declared = (
        _table(
            "bins", "Turns in one of the eight bins.",
            count("original", "1 where its answer is correct, else 0"), count("qr"), count("human"),
            count("count", "turns in the bin"),
            count("unchanged", "of them, those whose Human text equals the Original text; null without texts"),
            count("unknown", "those that lack one of the two texts; null without texts"),
        ),
        _table(
            "attribution", "Turns by what is to blame.",
            text("cause", "qa, qr or correct"), count("count", "turns"), share("share", "of all turns"), *_WILSON,
        ),
        _table(
            "answerable", "Of the turns that Human answers, those that the Original question answers alone.",
            text("turns", "all; rewritten: those known to need it"), count("answered", "Human and Original are correct"),
            count("answerable", "Human is correct"), share("share", "answered of answerable"), *_WILSON,
        ),
        _table(
            "tests", "Two formulations: does one answer more turns than the other?",
            text("first", "a formulation"), text("second"), count("only_first", "turns that it alone answers"),
            count("only_second"), p_value("p", "McNemar's exact test, two-sided"),
        ),
        _table(
            "headroom", "Mean scores, and what a perfect rewriter would gain.",
            score("original", header="Original"), score("qr", header="QR"), score("human", header="Human"),
            score("repaired", "mean if every rewriter error had the Human score in place of the QR score"),
            score("gain", "repaired − qr"), number("ci_low", "bootstrap over turns, 95 %"), number("ci_high"),
        ),
        table(
            "turns", "The scores and the bin of a turn.",
            text("rewriter"), text("turn"), *_CUT, score("original"), score("qr"), score("human"),
            text("bin", "Original, QR, Human as 0 or 1: 001"), text("cause", "qa, qr or correct"),
            flag("unchanged", "does the Human text equal the Original text? null where that is unknown"),
            text("original_text"), text("qr_text"), text("human_text"),
        ),
    )  # fmt: skip

    bins: pd.DataFrame
    attribution: pd.DataFrame
    answerable: pd.DataFrame
    tests: pd.DataFrame
    headroom: pd.DataFrame
    turns: pd.DataFrame


def breakdown(
    scores: Formulations,
    evaluated: Evaluated,
    thresholds: Sequence[Threshold] = DEFAULT_THRESHOLDS,
    texts: Texts | None = None,
    seed: int = 0,
) -> Breakdown:
    """Sort every turn into its bin, for every rewriter, measure and threshold (of a measure that is 0 or 1, those that differ).

    ``texts`` (roles ``original``, ``human`` and the rewriters' names) are shown with the turns and tell which turns needed
    no rewriting. Of a turn without an Original or Human text that is unknown: it counts neither as unchanged nor among the
    rewritten turns, and a note says so. ``seed`` drives the bootstrap of the headroom.
    """
    import pandas as pd

    texts = texts or {}
    unchanged = unchanged_turns(scores.turns, texts)
    tables: dict[str, list[pd.DataFrame]] = {spec.name: [] for spec in Breakdown.declared}
    for rewriter, qr_scores in scores.rewriters.items():
        for metric in scores.measures:
            values = {
                "original": scores.original[metric].to_numpy(),
                "qr": qr_scores[metric].to_numpy(),
                "human": scores.human[metric].to_numpy(),
            }
            for threshold in distinct_thresholds(metric, thresholds):
                correct = {role: threshold.holds(value) for role, value in values.items()}
                index = bin_index(correct["original"], correct["qr"], correct["human"])
                bins = count_bins(index, unchanged)
                parts = {
                    "bins": bins,
                    "attribution": attribution(bins),
                    "answerable": answerable(bins),
                    "tests": _tests(correct),
                    "headroom": _headroom(values, index, seed),
                    "turns": _turns(scores.turns, values, index, unchanged, texts, rewriter),
                }
                for name, part in parts.items():
                    place = 1 if name == "turns" else 0
                    part.insert(place, "threshold", str(threshold))
                    part.insert(place, "metric", metric)
                    part.insert(0, "rewriter", rewriter)
                    tables[name].append(part)
    if unchanged is not None and unchanged.isna().any():
        unknown = list(scores.turns[unchanged.isna()])
        note = f"whether {counted(len(unknown), 'turn')} needed rewriting is unknown"
        more = f"no Original or no Human text of {some_of(unknown)}; left out of shares among rewritten turns"
        evaluated = replace(evaluated, notes=(*evaluated.notes, f"{note}: {more}"))
    return Breakdown(evaluated, **{name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()})


def unchanged_turns(turns: pd.Index, texts: Texts) -> BooleanArray | None:
    """Per turn, whether the Human text equals the Original text after stripping; missing where the turn lacks one of the two.

    None where either formulation has no texts.
    """
    import pandas as pd

    original, human = texts.get("original"), texts.get("human")
    if not original or not human:
        return None
    pairs = [(original.get(turn), human.get(turn)) for turn in turns]
    same = [None if first is None or second is None else first.strip() == second.strip() for first, second in pairs]
    return pd.array(same, dtype="boolean")


def count_bins(index: np.ndarray, unchanged: BooleanArray | None) -> pd.DataFrame:
    """Turns per bin: original, qr, human (0/1), count, unchanged, unknown; eight rows in the paper's order."""
    import pandas as pd

    frame = pd.DataFrame([[int(mark) for mark in bin_] for bin_ in BINS], columns=["original", "qr", "human"])
    frame["count"] = np.bincount(index, minlength=len(BINS))
    nothing = pd.array([pd.NA] * len(BINS), dtype="Int64")
    for name, chosen in (
        ("unchanged", None if unchanged is None else unchanged.to_numpy(bool, na_value=False)),
        ("unknown", None if unchanged is None else unchanged.isna()),
    ):
        frame[name] = nothing if chosen is None else pd.array(np.bincount(index[chosen], minlength=len(BINS)), dtype="Int64")
    return frame


def attribution(bins: pd.DataFrame) -> pd.DataFrame:
    """Turns per cause out of all turns, with Wilson intervals: cause, count, share, ci_low, ci_high."""
    import pandas as pd

    total = int(bins["count"].sum())
    rows = []
    for cause in CAUSES:
        count = int(bins["count"][[CAUSE_OF_BIN[bin_] == cause for bin_ in BINS]].sum())
        rows.append((cause, count, count / total if total else np.nan, *wilson(count, total)))
    return pd.DataFrame(rows, columns=["cause", "count", "share", "ci_low", "ci_high"])


def answerable(bins: pd.DataFrame) -> pd.DataFrame:
    """Of the turns that the Human question answers, those that the Original question answers alone (Tables 3 and 4).

    Once over all turns and, where there are texts, once over those that are known to have been rewritten; equation (1) of the
    paper. Columns: turns (all, rewritten), answered, answerable, share, ci_low, ci_high.
    """
    import pandas as pd

    human = bins[bins["human"] == 1]
    rows = []
    for turns in ("all", "rewritten"):
        counts = human["count"]
        if turns == "rewritten":
            if human["unchanged"].isna().any():
                continue
            counts = counts - (human["unchanged"] + human["unknown"]).astype("int64")
        total, answered = int(counts.sum()), int(counts[human["original"] == 1].sum())
        rows.append((turns, answered, total, answered / total if total else np.nan, *wilson(answered, total)))
    return pd.DataFrame(rows, columns=["turns", "answered", "answerable", "share", "ci_low", "ci_high"])


def _tests(correct: Mapping[str, np.ndarray]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for first, second in combinations(correct, 2):
        only_first = int((correct[first] & ~correct[second]).sum())
        only_second = int((correct[second] & ~correct[first]).sum())
        rows.append((first, second, only_first, only_second, mcnemar_exact(only_first, only_second)))
    return pd.DataFrame(rows, columns=["first", "second", "only_first", "only_second", "p"])


def _headroom(values: Mapping[str, np.ndarray], index: np.ndarray, seed: int) -> pd.DataFrame:
    import pandas as pd

    rewriter_error = np.array([CAUSE_OF_BIN[bin_] == "qr" for bin_ in BINS])[index]
    gain = np.where(rewriter_error, values["human"] - values["qr"], 0.0)
    means = [float(value.mean()) for value in values.values()]
    mean_gain = float(gain.mean())
    row = (*means, means[1] + mean_gain, mean_gain, *bootstrap_mean(gain, seed))
    return pd.DataFrame([row], columns=["original", "qr", "human", "repaired", "gain", "ci_low", "ci_high"])


def _turns(
    turns: pd.Index,
    values: Mapping[str, np.ndarray],
    index: np.ndarray,
    unchanged: BooleanArray | None,
    texts: Texts,
    rewriter: str,
) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame({"turn": turns, **values})
    frame["bin"] = np.array(BINS)[index]
    frame["cause"] = [CAUSE_OF_BIN[bin_] for bin_ in frame["bin"]]
    frame["unchanged"] = pd.array([pd.NA] * len(turns) if unchanged is None else unchanged, dtype="boolean")
    for role, column in (("original", "original_text"), (rewriter, "qr_text"), ("human", "human_text")):
        known = texts.get(role, {})
        frame[column] = [known.get(turn) for turn in turns]
    return frame
