"""Similarity of two rankings of a turn: overlap and Jaccard similarity of the top k, and
rank-biased overlap. Also the names of the measures of answers (y) that question similarity is
compared with.

The rankings are matched by :func:`pair_rankings`; each measure returns one value per turn of the
second ranking (Human).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.thresholds import Threshold, parse_threshold, refuse_unreachable
from robustcs.inputs.ids import Ids, pair_keys

#: Persistence of rank-biased overlap: 0.9 gives the first ten ranks 86% of the weight (Webber et
#: al., 2010).
RBO_PERSISTENCE = 0.9

Values = npt.NDArray[np.float64]


def ranking_depth(ranking: Ranking) -> int:
    """Return the length of the longest list."""
    return int(np.diff(ranking.starts).max(initial=0))


@dataclass(frozen=True, eq=False)
class RankingPair:
    """The lists of QR and Human, matched turn by turn and document by document.

    turns
        The T turns that Human answers.
    lengths
        int64[T, 2]: length of the QR list (0 if QR does not answer the turn) and of the Human list.
    row, first, second
        int64[m]: for each document in both lists of a turn, the turn's row and the document's rank
        in each list, from 1.
    first_tied, second_tied
        The same ranks, with all documents of a tie at the rank of the first of them.
    tied_counts
        int64[T, depth, 2]: number of documents that enter at each rank if those of a tie enter
        together.
    """

    turns: tuple[str, ...]
    lengths: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    first_tied: npt.NDArray[np.int64]
    second_tied: npt.NDArray[np.int64]
    tied_counts: npt.NDArray[np.int64]


def pair_rankings(qr: Ranking, human: Ranking) -> RankingPair:
    """Match two rankings. Turns that only QR answers are excluded."""
    row_of = {turn: row for row, turn in enumerate(human.turns)}
    row_of_qr_turn = np.array([row_of.get(turn, -1) for turn in qr.turns], dtype=np.int64)
    sides = []
    for ranking, rows in ((qr, row_of_qr_turn), (human, np.arange(len(human.turns)))):
        lengths = np.diff(ranking.starts)
        turn = np.repeat(np.arange(len(ranking.turns)), lengths)
        position = np.arange(len(turn)) - ranking.starts[turn]
        # the rank at which a tie begins: the last place up to here that is not tied with the place
        # above it
        begin = np.maximum.accumulate(np.where(ranking.tied, 0, np.arange(len(turn))))
        sides.append((rows[turn], position + 1, begin - ranking.starts[turn] + 1))
    qr_row, human_row = sides[0][0], sides[1][0]
    kept = np.flatnonzero(qr_row >= 0)

    count, depth = len(human.turns), max(ranking_depth(qr), ranking_depth(human))
    lengths = np.zeros((count, 2), dtype=np.int64)
    tied_counts = np.zeros((count, depth, 2), dtype=np.int64)
    for side, (rows, (_, __, tied)) in enumerate(
        zip((qr_row[kept], human_row), sides, strict=True)
    ):
        lengths[:, side] = np.bincount(rows, minlength=count)
        tied = tied[kept] if side == 0 else tied
        tied_counts[..., side] = np.bincount(
            rows * depth + tied - 1, minlength=count * depth
        ).reshape(count, depth)

    ids, human_ids = qr.ids.take(qr.document_codes[kept]), human.ids.take(human.document_codes)
    keys, human_keys = pair_keys(qr_row[kept], ids), pair_keys(human_row, human_ids)
    order = np.argsort(human_keys)
    if not np.diff(human_keys[order]).all():  # two pairs share a key by chance
        codes = Ids.joined([human_ids, ids]).encoded()[1]
        exact = np.append(human_row, qr_row[kept]) * len(codes) + codes
        human_keys, keys = np.split(exact.astype(np.uint64), [len(human_keys)])
        order = np.argsort(human_keys)
    partner = order[np.minimum(np.searchsorted(human_keys, keys, sorter=order), len(order) - 1)]
    hit = np.flatnonzero(human_keys[partner] == keys)
    hit = hit[
        ids.take(hit).equal(human_ids.take(partner[hit]))
        & (qr_row[kept[hit]] == human_row[partner[hit]])
    ]
    known, partner = kept[hit], partner[hit]
    return RankingPair(
        turns=human.turns, lengths=lengths, row=qr_row[known], first=sides[0][1][known], second=sides[1][1][partner],
        first_tied=sides[0][2][known], second_tied=sides[1][2][partner], tied_counts=tied_counts,
    )  # fmt: skip


def equal_rankings(pair: RankingPair) -> npt.NDArray[np.bool_]:
    """Return bool[T]: both lists have the same documents in the same order, down to the depth of
    the shallower run.
    """
    depth = int(pair.lengths.max(axis=0, initial=0).min())
    same = np.bincount(
        pair.row[(pair.first == pair.second) & (pair.first <= depth)], minlength=len(pair.turns)
    )
    return np.asarray((np.minimum(pair.lengths, depth) == same[:, None]).all(axis=1))


def overlap(pair: RankingPair, k: int) -> Values:
    """Return the recall of Human's top k: ``|top_k(QR) ∩ top_k(Human)| / |top_k(Human)|``, in [0,
    1].

    Source: Figure 2 of the error-analysis paper.
    """
    return np.asarray(_common(pair, k) / np.minimum(pair.lengths[:, 1], k))


def jaccard(pair: RankingPair, k: int) -> Values:
    """Return ``|top_k(QR) ∩ top_k(Human)| / |top_k(QR) ∪ top_k(Human)|``, in [0, 1]."""
    common = _common(pair, k)
    return np.asarray(common / (np.minimum(pair.lengths, k).sum(axis=1) - common))


def _common(pair: RankingPair, k: int) -> npt.NDArray[np.int64]:
    within = (pair.first <= k) & (pair.second <= k)
    return np.bincount(pair.row[within], minlength=len(pair.turns))


def rbo(pair: RankingPair, persistence: float = RBO_PERSISTENCE) -> Values:
    """Return rank-biased overlap extrapolated beyond the ends of the lists, in [0, 1]; 0 if QR does
    not answer the turn.

    The agreement at depth d, 2 · common / (documents of both lists down to d), is weighted by ``(1
    - p) p^(d - 1)``; equation 32 covers lists of different lengths. All documents of a tie have the
    rank of the first of them, as in the paper.

    Source: Webber, Moffat & Zobel (2010).
    """
    lengths = pair.lengths
    short, long = lengths.min(axis=1), lengths.max(axis=1)
    depth = pair.tied_counts.shape[1]
    common = np.zeros((len(pair.turns), depth))
    np.add.at(common, (pair.row, np.maximum(pair.first_tied, pair.second_tied) - 1), 1.0)
    common = np.cumsum(common, axis=1)
    seen = np.cumsum(pair.tied_counts, axis=1).astype(np.float64)

    answered = np.flatnonzero(short > 0)
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    short, long, common, seen = short[answered], long[answered], common[answered], seen[answered]
    rows = np.arange(len(answered))
    at_short = 2 * common[rows, short - 1] / seen[rows, short - 1].sum(axis=1)
    # beyond its end, the shorter list is assumed to agree as at its end
    unseen = np.maximum(ranks - short[:, None], 0)
    longer = np.argmax(lengths[answered], axis=1)
    sizes = np.where(unseen > 0, ranks + seen[rows, :, longer], seen.sum(axis=2))
    agreement = 2 * (common + unseen * at_short[:, None]) / sizes
    weights = (1 - persistence) * persistence ** (ranks - 1)
    inside = ranks <= long[:, None]
    values = np.zeros(len(pair.turns))
    tail = agreement[rows, long - 1] * persistence**long
    values[answered] = np.where(inside, agreement * weights, 0.0).sum(axis=1) + tail
    return values


# ---------------------------------------------------------------- measures of answers by name
_TOP = re.compile(r"(overlap|jaccard)_([1-9][0-9]{0,6})")
_RBO = re.compile(r"rbo(?:_(0?\.[0-9]*[1-9]))?")
_CORRECT = re.compile(r"(.+?)((?:>=|>|==?|≥).+)")


@dataclass(frozen=True)
class AnswerMeasure:
    """A measure of answers.

    kind
        ``given``: a column of a file; ``overlap`` and ``jaccard`` of the top ``depth``, and
        ``rbo``, of two runs; ``answer_jaccard`` of two predicted answers; ``difference``: QR −
        Human in ``measure``; ``correct``: 1 if the score of QR in ``measure`` passes ``threshold``,
        else 0.
    """

    name: str
    kind: Literal["given", "overlap", "jaccard", "rbo", "answer_jaccard", "difference", "correct"]
    depth: int = 0
    persistence: float = RBO_PERSISTENCE
    measure: Measure | None = None
    threshold: Threshold | None = None


def parse_answer_measure(text: str) -> AnswerMeasure:
    """Parse the name of a measure of answers.

    Valid names are ``overlap_1000``, ``jaccard_10``, ``rbo``, ``rbo_0.95``, ``answer_jaccard``, a
    measure, or a measure with a threshold.

    Raises :class:`UsageError` for anything else.
    """
    if found := _TOP.fullmatch(text):
        return AnswerMeasure(text, found[1], depth=int(found[2]))  # type: ignore[arg-type]
    if found := _RBO.fullmatch(text):
        return AnswerMeasure(text, "rbo", persistence=float(found[1] or RBO_PERSISTENCE))
    if text == "answer_jaccard":
        return AnswerMeasure(text, "answer_jaccard")
    if found := _CORRECT.fullmatch(text):
        measure, threshold = parse_measure(found[1]), parse_threshold(found[2])
        refuse_unreachable(measure, threshold)
        return AnswerMeasure(
            f"{measure}{threshold}", "correct", measure=measure, threshold=threshold
        )
    try:
        measure = parse_measure(text)
    except UsageError as error:
        raise UsageError(
            "unknown-answer-measure", f"no measure of answers is named {text!r}",
            "write overlap_K, jaccard_K, rbo, answer_jaccard, a column of --scores answers=FILE, a measure (QR − Human), or a"
            " measure and a threshold (is QR correct?), such as P_1=1",
        ) from error  # fmt: skip
    return AnswerMeasure(measure.name, "difference", measure=measure)
