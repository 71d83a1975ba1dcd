"""Choice of relevant passages with different content for annotation.

Source: Łajewska and Balog (2023), section 3: the passages of a turn with the highest grades. If a grade has more passages than
places are left, one passage is drawn from each k-means cluster of their texts, with as many clusters as places.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.errors import NotInstalledError
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result, count, table, text

#: Passages per turn in Łajewska and Balog (2023).
PER_TURN = 5
#: Random starts of k-means; the best one counts.
_STARTS = 10


@dataclass(frozen=True)
class PassageChoice(Result):
    """The chosen passages, at most ``per_turn`` per turn."""

    study = "passages"

    passages = table(
        "passages", "The chosen passages.",
        text("turn", header="Turn"), text("passage", header="Passage"), count("grade"),
        text("chosen", "grade: all passages of the grade; cluster: one per cluster"),
        count("cluster", "number of the cluster, from 1; null if all are chosen"),
        count("candidates", "passages of that grade"), text("text", header="Text"),
    )  # fmt: skip
    turns = table(
        "turns", "Chosen passages per turn.",
        text("turn", header="Turn"), count("chosen"), count("relevant", "passages at or above the relevance level"),
        count("without_text", "relevant passages skipped for lack of a text", "without text"),
        count("lowest", "lowest grade among the chosen passages"),
    )  # fmt: skip

    per_turn: int


def choose_passages(
    qrels: Qrels,
    texts: Mapping[str, str],
    evaluated: Evaluated,
    per_turn: int = PER_TURN,
    seed: int = 0,
) -> PassageChoice:
    """Choose ``per_turn`` passages of every turn, the highest grades first, none below the relevance level.

    ``texts`` maps passages to texts; passages without a text are skipped. The choice of a turn depends on the seed and the
    turn, not on other turns.

    Raises :class:`NotInstalledError` if a choice needs scikit-learn and it is not installed.
    """
    level = evaluated.policy.relevance_level
    by_turn: dict[str, list[tuple[int, str]]] = {
        turn: [] for turn in sorted(qrels.turns, key=turn_sort_key)
    }
    for turn, document, grade in qrels.rows():
        if grade >= level:
            by_turn[turn].append((grade, document))
    rows: list[tuple[object, ...]] = []
    turns = []
    for turn, relevant in by_turn.items():
        known = sorted(
            (pair for pair in relevant if pair[1] in texts),
            key=lambda pair: (-pair[0], turn_sort_key(pair[1])),
        )
        own = _of_turn(turn, known, texts, per_turn, seed)
        rows += own
        lowest = min((row[2] for row in own), default=None)  # type: ignore[type-var]
        turns.append((turn, len(own), len(relevant), len(relevant) - len(known), lowest))
    content = PassageChoice.built(passages=rows, turns=turns)
    return PassageChoice(evaluated, per_turn, content=content)


def _of_turn(
    turn: str, known: Sequence[tuple[int, str]], texts: Mapping[str, str], places: int, seed: int
) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for grade in dict.fromkeys(grade for grade, _ in known):
        room = places - len(rows)
        if not room:
            break
        same = [passage for other, passage in known if other == grade]
        if len(same) <= room:
            rows += [
                (turn, passage, grade, "grade", None, len(same), texts[passage]) for passage in same
            ]
            continue
        draw = np.random.default_rng([seed, zlib.crc32(turn.encode())])
        for cluster, place in enumerate(
            one_per_cluster([texts[passage] for passage in same], room, draw), 1
        ):
            rows.append(
                (turn, same[place], grade, "cluster", cluster, len(same), texts[same[place]])
            )
    return rows


def one_per_cluster(texts: Sequence[str], clusters: int, draw: np.random.Generator) -> list[int]:
    """Return the places of ``clusters`` texts, one drawn from every k-means cluster of their TF-IDF vectors.

    If there are fewer different texts than clusters, the remaining places are drawn from the other texts.
    """
    labels = _k_means(texts, min(clusters, len(set(texts))), int(draw.integers(2**31)))
    chosen = [int(draw.choice(np.flatnonzero(labels == label))) for label in np.unique(labels)]
    others = np.setdiff1d(np.arange(len(texts)), chosen)
    return [*chosen, *draw.choice(others, clusters - len(chosen), replace=False).tolist()]


def _k_means(texts: Sequence[str], clusters: int, seed: int) -> npt.NDArray[np.int32]:
    if clusters == 1:
        return np.zeros(len(texts), dtype=np.int32)
    try:
        from sklearn.cluster import KMeans  # type: ignore[import-not-found,import-untyped,unused-ignore]
        from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise NotInstalledError(
            "no-scikit-learn",
            f"scikit-learn cannot be imported ({error})",
            "install it with: pip install 'robustcs[passages]'",
        ) from error
    # every word counts, even in other languages and of one letter
    vectors = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]").fit_transform(texts)
    labels: npt.NDArray[np.int32] = KMeans(clusters, n_init=_STARTS, random_state=seed).fit_predict(
        vectors
    )
    return labels
