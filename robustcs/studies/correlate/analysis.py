"""Correlation of question similarity and answer similarity over turns, and the turns that are exceptions.

Source: Vakulenko et al. (2020), "Wrong answer or wrong question?", section 5 with Figures 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from robustcs.evaluation.thresholds import TOLERANCE
from robustcs.lazy import pd
from robustcs.result import (
    Evaluated,
    Result,
    Table,
    TableSpec,
    count,
    flag,
    number,
    p_value,
    score,
    table,
    text,
)
from robustcs.similarity.differences import text_difference
from robustcs.similarity.encoders import Encoder
from robustcs.similarity.texts import words
from robustcs.statistics.columns import columns_of
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import holm
from robustcs.statistics.unit_correlation import (
    CORRELATIONS,
    unit_correlation,
    unit_partial_correlation,
)
from robustcs.statistics.units import Units, units_of

#: Similar questions with different answers (a sensitive ranker), and different questions with the same answers.
CORNERS = ("different answers", "same answers")
SUBSETS = ("all", "judged", "correct")
#: What the partial correlation holds constant: the turn's depth, and the number of words of the Human question.
GIVEN = ("depth", "length")


#: A turn is an outlier if similarity > ALIKE and answers < DIFFERENT_ANSWERS, or if similarity < UNLIKE and answers >
#: SAME_ANSWERS.
ALIKE, DIFFERENT_ANSWERS, UNLIKE, SAME_ANSWERS = 0.9, 0.4, 0.8, 0.8


@dataclass(frozen=True)
class QuestionPairs:
    """QR and Human of one rewriter over the same n turns.

    similarity, answers
        Float frames, turns × measures of question similarity (x) and of answers (y); y is NaN if unknown.
    judged, correct
        bool[n]: whether the turn is scored, and whether Human is correct. None without scores.
    rule
        Measure and threshold that make an answer correct (``P_1>0``); None without scores.
    depth
        float[n]: place in the conversation; NaN if the turn id does not contain it.
    original, qr, human
        One text per turn; None for a turn without an Original text.
    apart
        Number of turns excluded because they have Human's text but a different ranking, and number of ranked turns with
        Human's text.
    """

    rewriter: str
    similarity: pd.DataFrame
    answers: pd.DataFrame
    judged: np.ndarray | None
    correct: np.ndarray | None
    depth: np.ndarray
    original: Sequence[str | None]
    qr: Sequence[str]
    human: Sequence[str]
    rule: str | None = None
    apart: tuple[int, int] = (0, 0)


_MEASURES = (text("x", "similarity of QR and Human text"), text("y", "similarity of the answers"))
_SUBSET = (text("subset", "all, judged, or correct (Human ✓)"), count("turns", "number of turns"))
_TESTED = (
    *number("value", "correlation over turns", "r").between(
        says="95% CI: jackknife over sampling units on Fisher's z; null if there is none (note says why)"
    ),
    p_value("p", "test of no correlation, two-sided, from the same jackknife"),
    p_value("p_corrected", "Holm over all x and y of a rewriter, a subset and a method", "p adj."),
    count("comparisons", "number of correlations that Holm adjusts for"),
    count("units", "conversations (or single turns) with such turns"), text("note", "caveats"),
)  # fmt: skip
_TEXTS = (text("original_text"), text("qr_text"), text("human_text"))
_WORDS = (
    text("kinds", "how QR differs from Human: error types of robustcs breakdown"),
    text("missing", "content words of Human that QR does not contain"),
    text("added", "content words of QR that Human does not contain"),
)  # fmt: skip


@dataclass(frozen=True)
class Correlate(Result):
    """Question similarity against answer similarity.

    rule
        What Human ✓ means, as in :class:`QuestionPairs`.
    apart
        Rewriter → excluded turns, as in :class:`QuestionPairs`.
    """

    study = "correlate"

    correlations = table(
        "correlations", "Correlations of question similarities (x) with answer similarities (y).",
        text("rewriter"), *_MEASURES, *_SUBSET, text("method", "pearson, spearman or kendall"), *_TESTED,
    )  # fmt: skip
    partial = table(
        "partial", "Partial correlations, with the depth of the turn and the length of the Human question held constant.",
        text("rewriter"), *_MEASURES, *_SUBSET, text("given", "what is held constant: depth, length"), *_TESTED,
    )  # fmt: skip
    pairs = table(
        "pairs", "Every turn. Between `turn` and `judged`, there is a column for every x and every y, null if unknown.",
        text("rewriter"), text("turn"), flag("judged", "whether the turn is scored; null without scores"),
        flag("correct", "whether Human is correct; null for turns without judgments"),
        number("depth", "place in the conversation; null if the turn id does not contain it"),
        number("length", "number of words of the Human question"),
        *_WORDS, *_TEXTS, more="number",
    )  # fmt: skip
    outliers = table(
        "outliers", "Outliers: similar questions with different answers, and different questions with the same answers.",
        text("rewriter"), text("turn"), text("corner", " or ".join(CORNERS)),
        text("x", "the first x"), text("y", "the first y"), score("similarity"), score("answers"), *_WORDS, *_TEXTS,
    )  # fmt: skip
    encoders = table(
        "encoders", "Encoders used.",
        text("x", header="Encoder"), text("model"), text("fingerprint", "SHA-256 of the model's files"),
    )  # fmt: skip

    rule: str | None = None
    apart: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def spec(self, name: str) -> TableSpec:
        """Return the declaration of a table; that of ``pairs`` has a column for every x and y."""
        spec = super().spec(name)
        if name != "pairs":
            return spec
        return replace(spec, fields=self.content["pairs"].fields, more=None)

    @property
    def chosen(self) -> tuple[list[str], list[str]]:
        """The names of all x and of all y, in the given order."""
        return list(dict.fromkeys(self.correlations["x"])), list(
            dict.fromkeys(self.correlations["y"])
        )


def pairs_table(pairs: pd.DataFrame) -> Table:
    """Return the table :data:`Correlate.pairs` of a frame, with its further columns, those of x and y, after the turn."""
    spec = Correlate.pairs
    declared = [one.name for one in spec.fields]
    requested = [score(name) for name in pairs if name not in declared]
    fields = (*spec.fields[:2], *requested, *spec.fields[2:])
    return replace(spec, fields=fields, more=None).of(pairs)


def correlate_similarity(
    pairs: Sequence[QuestionPairs], evaluated: Evaluated, encoders: Sequence[Encoder] = ()
) -> Correlate:
    """Correlate every x with every y for every rewriter, over all turns, judged turns, and turns on which Human is correct.

    The first x and y define the outliers. The policy of ``evaluated`` names the sampling unit.
    """
    parts: dict[str, list[pd.DataFrame]] = {}
    all_turns = list(
        dict.fromkeys(turn for pair in pairs for turn in pair.similarity.index.tolist())
    )
    for pair in pairs:
        units = units_of(pair.similarity.index.tolist(), evaluated.grouping)
        length = np.array([float(len(words(text))) for text in pair.human])
        found = [text_difference(qr, human) for qr, human in zip(pair.qr, pair.human, strict=True)]
        detail = pd.DataFrame(
            {
                "kinds": ["; ".join(one.types) for one in found],
                "missing": [" ".join(one.missing) for one in found],
                "added": [" ".join(one.added) for one in found],
                "original_text": list(pair.original), "qr_text": list(pair.qr), "human_text": list(pair.human),
            },
            index=pair.similarity.index,
        )  # fmt: skip
        correlations, partial = _correlations(pair, length, units)
        tables = {
            "correlations": correlations, "partial": partial, "pairs": _pairs(pair, length, detail),
            "outliers": _outliers(pair, detail),
        }  # fmt: skip
        for name, part in tables.items():
            parts.setdefault(name, []).append(part.assign(rewriter=pair.rewriter))
    used = [(encoder.name, encoder.model, encoder.fingerprint) for encoder in encoders]
    scored = parts.pop("pairs")
    content = Correlate.built(**parts, encoders=used)
    content["pairs"] = pairs_table(pd.concat(scored, ignore_index=True))
    apart = {pair.rewriter: pair.apart for pair in pairs}
    return Correlate(
        units_of(all_turns, evaluated.grouping).stated(evaluated),
        pairs[0].rule,
        apart,
        content=content,
    )


def _correlations(
    pair: QuestionPairs, length: np.ndarray, units: Units
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Correlate every x with every y in every subset: by all methods, and with :data:`GIVEN` held constant."""
    subsets = {"all": np.ones(len(pair.similarity), dtype=bool)}
    if pair.judged is not None and pair.correct is not None:
        subsets |= {"judged": pair.judged, "correct": pair.correct}
    given = {
        name: values
        for name, values in zip(GIVEN, (pair.depth, length), strict=True)
        if not np.isnan(values).any()
    }
    xs, ys = (
        {name: frame[name].to_numpy() for name in frame}
        for frame in (pair.similarity, pair.answers)
    )
    rows, partial = _correlated(xs, ys, subsets, given, units)
    return _corrected(pd.DataFrame(rows), "subset", "method"), _corrected(
        pd.DataFrame(partial), "subset"
    )


_Arrays = Mapping[str, np.ndarray]


def _correlated(
    xs: _Arrays, ys: _Arrays, subsets: _Arrays, given: _Arrays, units: Units
) -> list[list[dict[str, object]]]:
    """Return the rows of ``correlations`` and of ``partial``, without adjusted p-values."""
    rows, partial = [], []
    for (y, answers), (x, similarity) in product(ys.items(), xs.items()):
        for subset, chosen in subsets.items():
            known = chosen & ~np.isnan(answers)
            own, both = units.take(known), (similarity[known], answers[known])
            head: dict[str, object] = {"x": x, "y": y, "subset": subset, "turns": int(known.sum())}
            rows += [
                head | {"method": method} | _cells(unit_correlation(*both, own, method))
                for method in CORRELATIONS
            ]
            constant = np.column_stack([values[known] for values in given.values()])
            partial.append(
                head
                | {"given": ", ".join(given)}
                | _cells(unit_partial_correlation(*both, constant, own))
            )
    return [rows, partial]


def _cells(found: Tested) -> dict[str, object]:
    return {
        name: one
        for name, (one,) in columns_of([found], "value", p="p", units="units", note="note").items()
    }


def _corrected(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return the frame with p-values adjusted by Holm within the groups of the columns ``by``, and the sizes of the groups."""
    families = frame.groupby(list(by), sort=False)["p"]
    adjusted = families.transform(lambda p: holm(p.to_numpy()))
    return frame.assign(p_corrected=adjusted, comparisons=families.transform("size"))


def _pairs(pair: QuestionPairs, length: np.ndarray, detail: pd.DataFrame) -> pd.DataFrame:
    unknown = pd.array([pd.NA] * len(pair.similarity), dtype="boolean")
    frame = pair.similarity.join(pair.answers)
    frame["judged"] = unknown if pair.judged is None else pd.array(pair.judged, dtype="boolean")
    # whether Human is correct is known for judged turns only
    frame["correct"] = unknown if pair.correct is None else pd.array(pair.correct, dtype="boolean")
    frame["correct"] = frame["correct"].where(frame["judged"].fillna(False), pd.NA)
    return (
        frame.assign(depth=pair.depth, length=length).join(detail).rename_axis("turn").reset_index()
    )


def _outliers(pair: QuestionPairs, detail: pd.DataFrame) -> pd.DataFrame:
    x, y = pair.similarity.columns[0], pair.answers.columns[0]
    similarity, answers = pair.similarity[x], pair.answers[y]
    inside = (
        (similarity > ALIKE + TOLERANCE) & (answers < DIFFERENT_ANSWERS - TOLERANCE),
        (similarity < UNLIKE - TOLERANCE) & (answers > SAME_ANSWERS + TOLERANCE),
    )
    every = detail.assign(x=x, y=y, similarity=similarity, answers=answers)
    parts = [
        every[there].assign(corner=corner) for corner, there in zip(CORNERS, inside, strict=True)
    ]
    return pd.concat(parts).rename_axis("turn").reset_index()
