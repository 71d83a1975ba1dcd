"""Wrong answer or wrong question? Correctness bins of the three formulations, and who is to blame.

Source: Vakulenko et al. (2020), "A wrong answer or a wrong question?", sections 3 and 4, Tables 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from robustcs.evaluation.bins import CAUSE_OF_BIN, CAUSES, Formulations
from robustcs.evaluation.thresholds import DEFAULT_THRESHOLDS, Threshold
from robustcs.lazy import pd
from robustcs.result import Evaluated, Field, Result, TableSpec, count, difference, flag, number, score, share, table, text
from robustcs.slicing.table import Slicing
from robustcs.statistics.estimate import Estimate, joined
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units, units_of
from robustcs.studies.breakdown.binned import Cut, cuts, turns_of
from robustcs.studies.breakdown.comparisons import COMPARED, compared
from robustcs.studies.breakdown.rewriters import SIDE_BY_SIDE, side_by_side
from robustcs.studies.breakdown.slices import COSTS, FOUND_SLICES, SLICES, error_costs, found_losses, slice_shares
from robustcs.wording import counted, some_of

if TYPE_CHECKING:
    from pandas.arrays import BooleanArray

#: Role of a formulation → turn → text. A rewriter's role is its name.
Texts = Mapping[str, Mapping[str, str]]


_CUT = (text("metric"), text("threshold", "what makes an answer correct: >0, >=0.5, =1"))
_WILSON = (share("ci_low", "95 %: Wilson's interval with whole units; null below five of them"), share("ci_high"))
_NOTE = text("note", "what must be known beside the numbers")
_UNITS = (count("units", "conversations (or single turns) that the interval rests on"), _NOTE)
_GAIN = "95 %, cluster-robust t over whole units"
_SWAPPED = "if QR and Human were swapped at random in every turn"


def _table(name: str, says: str, *fields: Field) -> TableSpec:
    return table(name, says, text("rewriter"), *_CUT, *fields)


@dataclass(frozen=True)
class Breakdown(Result):
    """Every turn in its bin, and who is to blame, for every rewriter, measure and threshold.

    tried
        Measure → rules that were tried to find slices; empty where none were looked for.
    """

    study = "breakdown"
    declared = (
        _table(
            "bins", "Turns in one of the eight bins.",
            count("original", "1 where its answer is correct, else 0"), count("qr"), count("human"),
            count("count", "turns in the bin"),
            count("unchanged", "of them, those whose Human text equals the Original text; null without texts"),
            count("unknown", "those that lack one of the two texts; null without texts"),
            number("by_chance", f"turns expected in the bin {_SWAPPED}"),
        ),
        _table(
            "attribution", "Turns by what is to blame.",
            text("cause", "qa, qr or correct"), count("count", "turns"), share("share", "of all turns"), *_WILSON,
            *_UNITS, number("by_chance", f"turns expected {_SWAPPED}"),
        ),
        _table(
            "blame", "Does the QA component fail more often than the rewriter? No turn is an error of both.",
            count("qa", "errors of the QA component"), count("qr", "errors of the rewriter"), *COMPARED,
        ),
        _table(
            "answerable", "Of the turns that Human answers, those that the Original question answers alone.",
            text("turns", "all; rewritten: those known to need it"), count("answered", "Human and Original are correct"),
            count("answerable", "Human is correct"), share("share", "answered of answerable"), *_WILSON,
            *_UNITS,
        ),
        _table(
            "tests", "Two formulations: does one answer more turns than the other?",
            text("first", "a formulation"), text("second"), count("only_first", "turns that it alone answers"),
            count("only_second"), *COMPARED,
        ),
        _table(
            "headroom", "Mean scores, and what a perfect rewriter would gain.",
            score("original", header="Original"), score("qr", header="QR"), score("human", header="Human"),
            score("repaired", "mean if every rewriter error had the Human score in place of the QR score"),
            score("gain", "repaired − qr"), number("ci_low", f"of the gain: {_GAIN}"), number("ci_high"),
            score("by_chance", f"gain expected {_SWAPPED}", "chance"), difference("difference", "human − qr", "Human − QR"),
            _NOTE,
        ),
        table(
            "choice", "The same without a threshold: the Human score wherever it is higher than that of QR.",
            text("rewriter"), text("metric"), score("qr", header="QR"), score("human", header="Human"),
            difference("difference", "human − qr", "Human − QR"),
            number("ci_low", "of the difference: 95 %, inverted sign-flip test of whole units"), number("ci_high"),
            score("gain", "mean of the higher score − qr"), number("gain_low", _GAIN), number("gain_high"),
            score("by_chance", f"gain expected {_SWAPPED}", "chance"), _NOTE,
        ),
        table(
            "turns", "The scores and the bin of a turn.",
            text("rewriter"), text("turn"), *_CUT, score("original"), score("qr"), score("human"),
            text("bin", "Original, QR, Human as 0 or 1: 001; - for an unknown Original"), text("cause", "qa, qr or correct"),
            flag("unchanged", "does the Human text equal the Original text? null where that is unknown"),
            text("original_text"), text("qr_text"), text("human_text"),
        ),
        *SIDE_BY_SIDE, COSTS, SLICES, FOUND_SLICES,
    )  # fmt: skip

    bins: pd.DataFrame
    attribution: pd.DataFrame
    blame: pd.DataFrame
    answerable: pd.DataFrame
    tests: pd.DataFrame
    headroom: pd.DataFrame
    choice: pd.DataFrame
    turns: pd.DataFrame
    rewriters: pd.DataFrame
    overview: pd.DataFrame
    rewriter_tests: pd.DataFrame
    rewriter_scores: pd.DataFrame
    repairs: pd.DataFrame
    best_of: pd.DataFrame
    error_types: pd.DataFrame
    slices: pd.DataFrame
    found_slices: pd.DataFrame
    tried: Mapping[str, int] = field(default_factory=dict)


def breakdown(
    scores: Formulations,
    evaluated: Evaluated,
    thresholds: Sequence[Threshold] = DEFAULT_THRESHOLDS,
    texts: Texts | None = None,
    seed: int = 0,
    slicings: Sequence[Slicing] = (),
    searched: Sequence[Slicing] = (),
    pairs: bool = True,
) -> Breakdown:
    """Sort every turn into its bin, for every rewriter, measure and threshold (of a measure that is 0 or 1, those that differ).

    ``texts`` (roles ``original``, ``human`` and the rewriters' names) are shown with the turns and tell which turns needed
    no rewriting. Of a turn without an Original or Human text that is unknown: it counts neither as unchanged nor among the
    rewritten turns, and a note says so. Intervals and tests take the units of ``evaluated.policy`` as independent; ``seed``
    draws sign patterns where there are too many to try all. ``slicings`` split the turns; in ``searched`` slices are looked for
    in which a rewriter loses more than elsewhere, which raises :class:`UsageError` where there are too few units.
    ``pairs``: every two rewriters are compared.
    """
    texts = texts or {}
    units = units_of(list(scores.turns), evaluated.policy.unit)
    unchanged = unchanged_turns(scores.turns, texts)
    apart = {"choice", *(spec.name for spec in (*SIDE_BY_SIDE, COSTS, SLICES, FOUND_SLICES))}
    tables: dict[str, list[pd.DataFrame]] = {spec.name: [] for spec in Breakdown.declared if spec.name not in apart}
    for cut in cuts(scores, thresholds):
        parts = {
            "bins": count_bins(cut.bins, unchanged, scores.bins),
            "attribution": attribution(cut.bins, units),
            "blame": _blame(cut.bins, units),
            "answerable": answerable(cut.bins, unchanged, units),
            "tests": _tests(cut.correct, units),
            "headroom": _headroom(cut.values, cut.bins, units),
        }
        for name, part in parts.items():
            part.insert(0, "threshold", cut.threshold)
            part.insert(0, "metric", cut.metric)
            part.insert(0, "rewriter", cut.rewriter)
            tables[name].append(part)
        tables["turns"].append(_turns(scores.turns, cut, unchanged, texts))
    frames = {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
    # the verdict looks at all measures and thresholds
    frames["blame"] = compared(frames["blame"], units, seed, family=None)
    frames["tests"] = compared(frames["tests"], units, seed)
    if unchanged is not None and unchanged.isna().any():
        unknown = list(scores.turns[unchanged.isna()])
        note = f"whether {counted(len(unknown), 'turn')} needed rewriting is unknown"
        more = f"no Original or no Human text of {some_of(unknown)}; left out of shares among rewritten turns"
        evaluated = replace(evaluated, notes=(*evaluated.notes, f"{note}: {more}"))
    beside = side_by_side(scores, thresholds, units, seed, pairs)
    found, tried = found_losses(scores, searched, units, seed) if searched else (FOUND_SLICES.frame([]), {})
    return Breakdown(
        units.stated(evaluated), **frames, **beside, choice=_choice(scores, units, seed),
        error_types=error_costs(scores, thresholds, texts, units, seed),
        slices=slice_shares(scores, thresholds, slicings, units, seed), found_slices=found, tried=tried,
    )  # fmt: skip


def unchanged_turns(turns: pd.Index, texts: Texts) -> BooleanArray | None:
    """Per turn, whether the Human text equals the Original text after stripping; missing where the turn lacks one of the two.

    None where either formulation has no texts.
    """
    original, human = texts.get("original"), texts.get("human")
    if not original or not human:
        return None
    pairs = [(original.get(turn), human.get(turn)) for turn in turns]
    same = [None if first is None or second is None else first.strip() == second.strip() for first, second in pairs]
    return pd.array(same, dtype="boolean")


def count_bins(bins: np.ndarray, unchanged: BooleanArray | None, names: Sequence[str]) -> pd.DataFrame:
    """Turns per bin: original (null where unknown), qr, human (0/1), count, unchanged, unknown, by_chance.

    bins
        The bin of every turn.
    names
        The rows: all bins, in the paper's order.
    """
    places = {name: place for place, name in enumerate(names)}
    index = np.array([places[bin_] for bin_ in bins], dtype=np.int64)
    rows = [[None if mark == "-" else int(mark) for mark in bin_] for bin_ in names]
    frame = pd.DataFrame(rows, columns=["original", "qr", "human"])
    frame["original"] = frame["original"].astype("Int64")
    frame["count"] = np.bincount(index, minlength=len(names))
    nothing = pd.array([pd.NA] * len(names), dtype="Int64")
    for name, chosen in (
        ("unchanged", None if unchanged is None else unchanged.to_numpy(bool, na_value=False)),
        ("unknown", None if unchanged is None else unchanged.isna()),
    ):
        frame[name] = nothing if chosen is None else pd.array(np.bincount(index[chosen], minlength=len(names)), dtype="Int64")
    swapped = [places[f"{bin_[0]}{bin_[2]}{bin_[1]}"] for bin_ in names]
    frame["by_chance"] = (frame["count"] + frame["count"].to_numpy()[swapped]) / 2
    return frame


def attribution(bins: np.ndarray, units: Units) -> pd.DataFrame:
    """Turns per cause out of all turns: cause, count, share, ci_low, ci_high, units, note, by_chance.

    ``bins``: the bin of every turn.
    """
    causes = _causes(bins)
    swapped = _causes(np.array([f"{bin_[0]}{bin_[2]}{bin_[1]}" for bin_ in bins]))
    by_chance = (causes.sum(axis=1) + swapped.sum(axis=1)) / 2
    estimates = share_estimates(units.sums(causes), units.sizes, units.kind)
    frame = pd.DataFrame({"cause": CAUSES, "count": causes.sum(axis=1)})
    return pd.concat([frame, _shares(estimates)], axis=1).assign(by_chance=by_chance)


def _causes(bins: np.ndarray) -> np.ndarray:
    """bool[3, turns]: whether a turn has each of the causes."""
    found = np.array([CAUSE_OF_BIN[bin_] for bin_ in bins])
    return np.array([found == cause for cause in CAUSES])


def _shares(estimates: Sequence[Estimate]) -> pd.DataFrame:
    rows = [(one.value, one.low, one.high, one.units, one.note) for one in estimates]
    return pd.DataFrame(rows, columns=["share", "ci_low", "ci_high", "units", "note"])


def _blame(bins: np.ndarray, units: Units) -> pd.DataFrame:
    """The counts of both causes; ``moved``: their difference in every unit."""
    qa, qr, _ = _causes(bins).astype(np.int64)
    return pd.DataFrame([{"qa": qa.sum(), "qr": qr.sum(), "moved": units.sums(qa - qr)}])


def answerable(bins: np.ndarray, unchanged: BooleanArray | None, units: Units) -> pd.DataFrame:
    """Of the turns that the Human question answers, those that the Original question answers alone (Tables 3 and 4).

    Once over all turns and, where there are texts, once over those that are known to have been rewritten; equation (1) of the
    paper. Columns: turns (all, rewritten), answered, answerable, share, ci_low, ci_high, units, note. Units without such a turn
    take no part in an interval.
    """
    original, human = (np.array([bin_[place] == "1" for bin_ in bins]) for place in (0, 2))
    if any(bin_[0] == "-" for bin_ in bins):
        return pd.DataFrame(columns=["turns", "answered", "answerable", "share", "ci_low", "ci_high", "units", "note"])
    slices = {"all": human}
    if unchanged is not None:
        slices["rewritten"] = human & ~unchanged.to_numpy(bool, na_value=True)
    total = np.stack(list(slices.values()))
    answered = total & original
    frame = pd.DataFrame({"turns": list(slices), "answered": answered.sum(axis=1), "answerable": total.sum(axis=1)})
    return pd.concat([frame, _shares(share_estimates(units.sums(answered), units.sums(total), units.kind))], axis=1)


def _tests(correct: Mapping[str, np.ndarray], units: Units) -> pd.DataFrame:
    """The discordant turns of every two formulations; ``moved``: their difference in every unit."""
    rows = []
    for first, second in combinations(correct, 2):
        one, two = correct[first] & ~correct[second], correct[second] & ~correct[first]
        rows.append((first, second, one.sum(), two.sum(), units.sums(one) - units.sums(two)))
    return pd.DataFrame(rows, columns=["first", "second", "only_first", "only_second", "moved"])


def _headroom(values: Mapping[str, np.ndarray], bins: np.ndarray, units: Units) -> pd.DataFrame:
    """What Human's score in place of QR's gains wherever the rewriter is to blame."""
    difference = values["human"] - values["qr"]
    better = np.where([bin_[1:] == "01" for bin_ in bins], difference, 0.0)
    worse = np.where([bin_[1:] == "10" for bin_ in bins], difference, 0.0)
    gain = _gain(better, values, units)
    means = {"original": math.nan} | {role: float(value.mean()) for role, value in values.items()}
    row = means | {"repaired": means["qr"] + gain.value, "gain": gain.value, "ci_low": gain.low, "ci_high": gain.high}
    # swapped in half of the turns, half of the losses are gains
    row |= {"by_chance": float((better - worse).mean() / 2), "difference": float(difference.mean())}
    return pd.DataFrame([row]).assign(note=gain.note)


def _choice(scores: Formulations, units: Units, seed: int) -> pd.DataFrame:
    """What Human's score gains wherever it is higher, beside the difference of the means."""
    rows, differences = [], []
    for rewriter, qr_scores in scores.rewriters.items():
        for metric in scores.measures:
            values = {"qr": qr_scores[metric].to_numpy(), "human": scores.human[metric].to_numpy()}
            difference = values["human"] - values["qr"]
            differences.append(units.sums(difference))
            gain = _gain(np.maximum(difference, 0.0), values, units)
            means = (float(value.mean()) for value in values.values())
            by_chance = float(np.abs(difference).mean() / 2)
            rows.append((rewriter, metric, *means, gain.value, gain.low, gain.high, by_chance, gain.note))
    columns = ["rewriter", "metric", "qr", "human", "gain", "gain_low", "gain_high", "by_chance", "note"]
    frame = pd.DataFrame(rows, columns=columns)
    tests = paired_tests(differences, units.sizes, seed, units.kind)
    for place, (name, found) in enumerate(
        (("difference", [test.value for test in tests]), ("ci_low", [test.low for test in tests]),
         ("ci_high", [test.high for test in tests]))
    ):  # fmt: skip
        frame.insert(4 + place, name, found)
    frame["note"] = [
        joined(*(f"{what}: {said}" for what, said in (("difference", test.note), ("gain", note)) if said))
        for test, note in zip(tests, frame["note"], strict=True)
    ]
    return frame


def _gain(gain: np.ndarray, values: Mapping[str, np.ndarray], units: Units) -> Estimate:
    """The mean of ``gain``, float[turns], with its interval; within 0 and 1 where all scores are."""
    # a threshold such as =0 makes low scores correct, and gains negative
    bounded = all(((value >= 0) & (value <= 1)).all() for value in (gain, *values.values()))
    (found,) = mean_estimates(units.sums(gain), units.sizes, units.kind, (0.0, 1.0) if bounded else None)
    return found


def _turns(turns: pd.Index, cut: Cut, unchanged: BooleanArray | None, texts: Texts) -> pd.DataFrame:
    frame = turns_of(turns, cut)
    frame["unchanged"] = pd.array([pd.NA] * len(turns) if unchanged is None else unchanged, dtype="boolean")
    for role, column in (("original", "original_text"), (cut.rewriter, "qr_text"), ("human", "human_text")):
        known = texts.get(role, {})
        frame[column] = [known.get(turn) for turn in turns]
    return frame
