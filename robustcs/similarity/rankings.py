"""Similarity of two rankings of a turn: overlap and Jaccard of the top k, rank-biased overlap.

Also the names of the measures of answers (y) that question similarity is compared with.

The rankings are matched by :func:`pair_rankings`; each measure returns one value per turn of the
second ranking (Human).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.thresholds import Threshold, parse_threshold, refuse_unreachable
from robustcs.inputs.ids import Ids, pair_keys
from robustcs.messages import Message, OptionName

#: Persistence of rank-biased overlap: 0.9 gives the first ten ranks 86% of the weight (Webber et
#: al., 2010).
RBO_PERSISTENCE = 0.9
#: Depth of the overlap in Figure 2 of the error-analysis paper.
OVERLAP_DEPTH = 1000

Values = npt.NDArray[np.float64]


def ranking_depth(ranking: Ranking) -> int:
    """Return the length of the longest list."""
    return int(np.diff(ranking.starts).max(initial=0))


class _Entries(NamedTuple):
    """The documents of a run, one entry each, as rows of the matched turns.

    row
        int64[n]: the row of the document's turn; −1 if the turn is not matched.
    rank, tied_rank
        int64[n]: its rank from 1, and the rank of the first document of its tie.
    """

    row: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    tied_rank: npt.NDArray[np.int64]

    def take(self, places: npt.NDArray[np.int64]) -> _Entries:
        """Return the entries at these places."""
        return _Entries(self.row[places], self.rank[places], self.tied_rank[places])


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
    rows_of_qr = np.array([row_of.get(turn, -1) for turn in qr.turns], dtype=np.int64)
    all_qr_entries = _entries(qr, rows_of_qr)
    in_matched_turn = np.flatnonzero(all_qr_entries.row >= 0)
    qr_entries = all_qr_entries.take(in_matched_turn)
    human_entries = _entries(human, np.arange(len(human.turns)))
    qr_ids = qr.ids.take(qr.document_codes[in_matched_turn])
    human_ids = human.ids.take(human.document_codes)

    turns, depth = len(human.turns), max(ranking_depth(qr), ranking_depth(human))
    lengths = np.zeros((turns, 2), dtype=np.int64)
    tied_counts = np.zeros((turns, depth, 2), dtype=np.int64)
    for side, entries in enumerate((qr_entries, human_entries)):
        lengths[:, side] = np.bincount(entries.row, minlength=turns)
        cells = entries.row * depth + entries.tied_rank - 1
        counts = np.bincount(cells, minlength=turns * depth)
        tied_counts[..., side] = counts.reshape(turns, depth)

    in_qr, in_human = _common_documents(qr_entries.row, qr_ids, human_entries.row, human_ids)
    qr_common, human_common = qr_entries.take(in_qr), human_entries.take(in_human)
    return RankingPair(
        turns=human.turns,
        lengths=lengths,
        row=qr_common.row,
        first=qr_common.rank,
        second=human_common.rank,
        first_tied=qr_common.tied_rank,
        second_tied=human_common.tied_rank,
        tied_counts=tied_counts,
    )


def _entries(ranking: Ranking, rows: npt.NDArray[np.int64]) -> _Entries:
    """Return the entries of a run; ``rows``: the matched row of each of its turns, or −1."""
    turn = np.repeat(np.arange(len(ranking.turns)), np.diff(ranking.starts))
    places = np.arange(len(turn))
    # the place at which a tie begins: the last one up to here that is not tied with the place above
    begin = np.maximum.accumulate(np.where(ranking.tied, 0, places))
    starts = ranking.starts[turn]
    return _Entries(rows[turn], places - starts + 1, begin - starts + 1)


def _common_documents(
    qr_rows: npt.NDArray[np.int64], qr_ids: Ids, human_rows: npt.NDArray[np.int64], human_ids: Ids
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places in QR and in Human of the documents that both have in the same turn.

    In the order of QR. Hashes of turn and document find the candidates, and a comparison of the ids
    confirms them.
    """
    keys, human_keys = pair_keys(qr_rows, qr_ids), pair_keys(human_rows, human_ids)
    order = np.argsort(human_keys)
    if not np.diff(human_keys[order]).all():  # two pairs share a key by chance
        keys, human_keys = _exact_keys(qr_rows, qr_ids, human_rows, human_ids)
        order = np.argsort(human_keys)
    nearest = np.searchsorted(human_keys, keys, sorter=order)
    partner = order[np.minimum(nearest, len(order) - 1)]
    candidates = np.flatnonzero(human_keys[partner] == keys)
    partners = partner[candidates]
    same_document = qr_ids.take(candidates).equal(human_ids.take(partners))
    same_turn = qr_rows[candidates] == human_rows[partners]
    confirmed = same_document & same_turn
    return candidates[confirmed], partners[confirmed]


def _exact_keys(
    qr_rows: npt.NDArray[np.int64], qr_ids: Ids, human_rows: npt.NDArray[np.int64], human_ids: Ids
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return keys of QR's and Human's pairs of turn and document that are equal only if these are.

    They are slower than hashes, because all ids are sorted.
    """
    codes = Ids.joined([human_ids, qr_ids]).encoded()[1]
    keys = (np.append(human_rows, qr_rows) * len(codes) + codes).astype(np.uint64)
    human_keys, qr_keys = np.split(keys, [len(human_rows)])
    return qr_keys, human_keys


def equal_rankings(pair: RankingPair) -> npt.NDArray[np.bool_]:
    """Return bool[T]: whether both lists have the same documents in the same order.

    They are compared down to the depth of the shallower run.
    """
    depth = int(pair.lengths.max(axis=0, initial=0).min())
    same_place = (pair.first == pair.second) & (pair.first <= depth)
    same = np.bincount(pair.row[same_place], minlength=len(pair.turns))
    compared = np.minimum(pair.lengths, depth)
    return np.asarray((compared == same[:, None]).all(axis=1))


def overlap(pair: RankingPair, k: int) -> Values:
    """Return the recall of Human's top k, in [0, 1].

    ``|top_k(QR) ∩ top_k(Human)| / |top_k(Human)|``.

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


def ranking_rbo(pair: RankingPair, persistence: float = RBO_PERSISTENCE) -> Values:
    """Return rank-biased overlap extrapolated beyond the ends of the lists, in [0, 1].

    0 if QR does not answer the turn. The agreement at depth d, 2 · common / (documents of both
    lists down to d), is weighted by ``(1 - p) p^(d - 1)``; equation 32 covers lists of different
    lengths. All documents of a tie have the rank of the first of them, as in the paper.

    Source: Webber, Moffat & Zobel (2010).
    """
    turns, depth = len(pair.turns), pair.tied_counts.shape[1]
    common = np.zeros((turns, depth))
    entered = np.maximum(pair.first_tied, pair.second_tied) - 1
    np.add.at(common, (pair.row, entered), 1.0)
    common = np.cumsum(common, axis=1)
    seen = np.cumsum(pair.tied_counts, axis=1).astype(np.float64)

    covered = np.flatnonzero(pair.lengths.min(axis=1) > 0)
    lengths, common, seen = pair.lengths[covered], common[covered], seen[covered]
    short, long = lengths.min(axis=1), lengths.max(axis=1)
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    rows = np.arange(len(covered))
    agreement_at_short = 2 * common[rows, short - 1] / seen[rows, short - 1].sum(axis=1)
    # beyond its end, the shorter list is assumed to agree as at its end
    unseen = np.maximum(ranks - short[:, None], 0)
    seen_in_longer = seen[rows, :, np.argmax(lengths, axis=1)]
    sizes = np.where(unseen > 0, ranks + seen_in_longer, seen.sum(axis=2))
    agreement = 2 * (common + unseen * agreement_at_short[:, None]) / sizes
    weights = (1 - persistence) * persistence ** (ranks - 1)
    inside = ranks <= long[:, None]
    body = np.where(inside, agreement * weights, 0.0).sum(axis=1)
    tail = agreement[rows, long - 1] * persistence**long
    values = np.zeros(turns)
    values[covered] = body + tail
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
    if top := _TOP.fullmatch(text):
        kind: Literal["overlap", "jaccard"] = "overlap" if top[1] == "overlap" else "jaccard"
        return AnswerMeasure(text, kind, depth=int(top[2]))
    if biased := _RBO.fullmatch(text):
        return AnswerMeasure(text, "rbo", persistence=float(biased[1] or RBO_PERSISTENCE))
    if text == "answer_jaccard":
        return AnswerMeasure(text, "answer_jaccard")
    if correct := _CORRECT.fullmatch(text):
        measure, threshold = parse_measure(correct[1]), parse_threshold(correct[2])
        refuse_unreachable(measure, threshold)
        name = f"{measure}{threshold}"
        return AnswerMeasure(name, "correct", measure=measure, threshold=threshold)
    try:
        measure = parse_measure(text)
    except UsageError as error:
        raise UsageError(
            "unknown-answer-measure",
            f"no measure of answers is named {text!r}",
            Message(
                "write overlap_K, jaccard_K, rbo, answer_jaccard, a column of ",
                OptionName("scores", "answers=FILE"),
                ", a measure (QR − Human), or a measure and a threshold (is QR correct?), such as"
                " P_1=1",
            ),
        ) from error
    return AnswerMeasure(measure.name, "difference", measure=measure)
