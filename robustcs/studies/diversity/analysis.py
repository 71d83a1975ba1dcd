"""Diversity of texts: BLEU, self-BLEU, distinct n-grams, near-duplicates, and ROUGE with differences between rewriters.

Sources: Al-Thani et al. (2023), "ECAsT", Tables 9 and 10 (BLEU), stage 4 (near-duplicates); Zhu et al. (2018), self-BLEU;
Li et al. (2016), distinct-n; Lin (2004), ROUGE: of each text with the reference for its turn, the most similar one if there are
several. Averages over the texts of a turn, then over turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.conversations import Conversations
from robustcs.lazy import pd
from robustcs.policy import Grouping
from robustcs.result import (
    Evaluated,
    Result,
    computes,
    count,
    difference,
    number,
    p_value,
    score,
    table,
    text,
)
from robustcs.similarity.encoders import Encoder, Vectors, cosine
from robustcs.similarity.paraphrases import relation
from robustcs.similarity.rouge_bleu import bleu, bleu_counts, rouge, self_bleu_counts
from robustcs.similarity.texts import distinct_n, words
from robustcs.statistics import settled
from robustcs.statistics.columns import EXACT, P_FLOOR
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import units_of

#: The measure used in findings.
HEADLINE = "rouge1_f"
ROUGE = (HEADLINE, "rouge2_f", "rougeL_f")

#: Measure → float[texts]: similarity of each text to its source.
Similarities = Mapping[str, np.ndarray]
_NOTE = text("note", "caveats")
_MEASURE = text(
    "measure",
    "rouge1_f, rouge2_f or rougeL_f (stemmed), and with an encoder cosine_NAME",
    "Measure",
)


def label(measure: str) -> str:
    """Return the name of a measure in texts, such as ``ROUGE-1 F`` for ``rouge1_f``."""
    kind, _, part = measure.partition("_")
    return (
        f"ROUGE-{kind.removeprefix('rouge')} {part.upper()}"
        if measure in ROUGE
        else f"cosine ({part.replace('_', '-')})"
    )


def rouge_of(texts: Sequence[str], references: Sequence[Sequence[str]]) -> Similarities:
    """Return ROUGE F of every text with its references; with several references, the highest."""
    sizes = [len(some) for some in references]
    candidates = [one for one, size in zip(texts, sizes, strict=True) for _ in range(size)]
    found = rouge(candidates, [one for some in references for one in some])
    starts = np.cumsum([0, *sizes[:-1]])
    return {name: np.maximum.reduceat(found[name], starts) for name in ROUGE}


def compare_similarities(
    source: str,
    targets: Mapping[str, tuple[Mapping[str, int], Similarities]],
    by: Grouping,
    seed: int,
    every_pair: bool = True,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of both tables for one source; ``targets``: name → (turn → its number of texts, similarities)."""
    turns = list(dict.fromkeys(turn for sizes, _ in targets.values() for turn in sizes))
    place = {turn: at for at, turn in enumerate(turns)}
    units = units_of(turns, by)
    names = list(targets)
    there = np.zeros((len(names), len(turns)), dtype=bool)
    for row, (sizes, _) in zip(there, targets.values(), strict=True):
        row[[place[turn] for turn in sizes]] = True
    compared = list(combinations(range(len(names)), 2)) if every_pair else []
    # pairs of targets without a common turn cannot be compared
    both = {pair: there[pair[0]] & there[pair[1]] for pair in compared}
    both = {pair: common for pair, common in both.items() if common.any()}
    means: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    for measure in next(iter(targets.values()))[1]:
        values = np.zeros(there.shape)
        for row, (sizes, found) in zip(values, targets.values(), strict=True):
            counts = np.array(list(sizes.values()))
            starts = np.cumsum([0, *counts[:-1]])
            row[[place[turn] for turn in sizes]] = np.add.reduceat(found[measure], starts) / counts
        bounds = (0.0, 1.0) if measure in ROUGE else None
        estimates = mean_estimates(units.sums(values), units.sums(there), units.kind, bounds)
        for name, one in zip(names, estimates, strict=True):
            many = targets[name][0].values()
            means.append(
                (
                    source,
                    name,
                    measure,
                    len(many),
                    sum(many),
                    max(many),
                    one,
                    joined(one.note, units.note),
                )
            )
        if not both:
            continue
        rows = [
            np.where(common, values[first] - values[second], 0)
            for (first, second), common in both.items()
        ]
        sums = settled(units.sums(np.array(rows)))
        tests = paired_tests(sums, units.sums(np.array(list(both.values()))), seed, units.kind)
        family = max_t_family(tests, sums, seed)
        for ((first, second), common), test, corrected in zip(
            both.items(), tests, family.p.tolist(), strict=True
        ):
            pairs.append((
                source, names[first], names[second], measure, int(common.sum()), test, test.p, corrected, test.floor,
                test.exact, joined(test.note, family.note, units.note),
            ))  # fmt: skip
    return means, pairs


#: Turn → its texts, one or more.
Wordings = Mapping[str, Sequence[str]]
DISTINCT = (1, 2, 3)
_SIDES = (
    text("source", "name of the reference texts", "Source"), text("target", "name of the measured texts", "Target"),
)  # fmt: skip
_MEASURES = (
    count("texts"), number("bleu", header="BLEU").rounded(2),
    number("self_bleu", "each text against the others of its turn; null if no turn has two", "self-BLEU").rounded(2),
    *(
        number(f"distinct_{n}", f"share of different {n}-grams among all word {n}-grams", str(n), "distinct n-grams")
        for n in DISTINCT
    ),
    count("copies", "texts equal to their source", "source", "repeats"),
    count("duplicates", "texts equal to another text of their turn", "other", "repeats"),
    count("near_duplicates", "texts within one word or a few characters of another text or the source", "nearly", "repeats"),
)  # fmt: skip
_DISTANCES = "; with an encoder also distance_NAME, the mean of 1 − cosine with the source."


@dataclass(frozen=True)
class TextSet:
    """A named set of texts."""

    name: str
    wordings: Wordings


#: Function from texts to their vectors, of an encoder.
Encode = Callable[[Sequence[str]], Mapping[str, Vectors]]


@dataclass(frozen=True)
class Compared:
    """What the tables are computed from: the arguments of :func:`diversity`, and the conversations of the turns."""

    pairs: Sequence[tuple[TextSet, TextSet]]
    encoders: Sequence[tuple[Encoder, Encode]]
    conversations: Conversations
    by: Grouping
    seed: int
    every_pair: bool

    @cached_property
    def _compared(
        self,
    ) -> tuple[
        dict[str, list[pd.DataFrame]], dict[str, dict[str, tuple[dict[str, int], Similarities]]]
    ]:
        """The parts of each table, and the similarities by source and target."""
        tables: dict[str, list[pd.DataFrame]] = {}
        similar: dict[str, dict[str, tuple[dict[str, int], Similarities]]] = {}
        for source, target in self.pairs:
            parts, similarities = _compare(
                source.wordings, target.wordings, self.encoders, self.conversations
            )
            sizes = {
                turn: len(texts)
                for turn, texts in target.wordings.items()
                if turn in source.wordings
            }
            similar.setdefault(source.name, {})[target.name] = sizes, similarities
            for name, part in parts.items():
                part.insert(0, "target", target.name)
                part.insert(0, "source", source.name)
                tables.setdefault(name, []).append(part)
        return tables, similar

    @cached_property
    def tested(self) -> list[tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]]:
        """The rows of both tables of similarity by source."""
        return [
            compare_similarities(name, targets, self.by, self.seed, self.every_pair)
            for name, targets in self._compared[1].items()
        ]

    def parts(self, table_: str) -> list[pd.DataFrame]:
        """Return the parts of one of the tables bleu, diversity, turns and topics."""
        return self._compared[0][table_]


@dataclass(frozen=True)
class Diversity(Result):
    """Differences between the texts of each target and their source, and among the texts."""

    study = "diversity"
    bleu = table(
        "bleu", "Corpus BLEU of all target texts against the source texts of their turns; lower is more different.",
        *_SIDES, count("sentences"), number("value", "0 to 100", "BLEU").rounded(2),
    )  # fmt: skip
    similarity = table(
        "similarity", "Similarity of the texts of a target to their source: mean over the texts (samples) of a turn, then over"
        " turns.",
        *_SIDES, _MEASURE, count("turns"), count("texts", "all samples of all turns"),
        count("samples", "largest number of texts of a turn"),
        *score("value", "0 to 1 for ROUGE; a text without letters or digits scores 0", "mean").rounded(3).between(
            says="95%, cluster-robust t; the texts are fixed"
        ), _NOTE,
    )  # fmt: skip
    similarity_pairs = table(
        "similarity_pairs", "Differences between targets in similarity to their source, over the turns that all three have. No"
        " rows for more than 50 targets.",
        text("source", header="Source"), text("first", header="First"), text("second", header="Second"), _MEASURE,
        count("turns"),
        *difference("difference", "first minus second", "diff.").rounded(3).between(
            says="not adjusted for multiple comparisons, from the same test as p"
        ), p_value(says="two-sided sign-flip test by sampling unit", header="p"),
        p_value("p_corrected", "adjusted by max-T over all pairs of the source and measure", "p adj."), P_FLOOR, EXACT, _NOTE,
    )  # fmt: skip
    diversity = table(
        "diversity",
        f"Diversity by target{_DISTANCES}",
        *_SIDES,
        count("turns"),
        *_MEASURES,
        more="number",
    )
    turns = table(
        "turns", f"Diversity by turn{_DISTANCES}", *_SIDES, text("turn"), *_MEASURES, more="number"
    )
    topics = table(
        "topics", f"Diversity by topic{_DISTANCES}", *_SIDES, text("topic", header="Topic"), count("turns"), *_MEASURES,
        more="number",
    )  # fmt: skip

    compared: Compared

    @computes(bleu)
    def _bleu(self) -> list[pd.DataFrame]:
        return self.compared.parts("bleu")

    @computes(similarity)
    def _similarity(self) -> list[tuple[Any, ...]]:
        return [row for means, _ in self.compared.tested for row in means]

    @computes(similarity_pairs)
    def _similarity_pairs(self) -> list[tuple[Any, ...]]:
        return [row for _, rows in self.compared.tested for row in rows]

    @computes(diversity)
    def _diversity(self) -> list[pd.DataFrame]:
        return self.compared.parts("diversity")

    @computes(turns)
    def _turns(self) -> list[pd.DataFrame]:
        return self.compared.parts("turns")

    @computes(topics)
    def _topics(self) -> list[pd.DataFrame]:
        return self.compared.parts("topics")


def diversity(
    pairs: Sequence[tuple[TextSet, TextSet]],
    evaluated: Evaluated,
    encoders: Sequence[tuple[Encoder, Encode]] = (),
    seed: int = 0,
    every_pair: bool = True,
) -> Diversity:
    """Compare every (source, target) over the turns that both have; if a turn has several source texts, all are references.

    ``encoders`` come with a function from texts to their vectors. ``every_pair`` compares the targets of a source with each
    other. The sampling unit of intervals and tests is the one of ``evaluated.policy``.
    """
    by = evaluated.grouping
    conversations = evaluated.conversations_of(
        turn for source, _ in pairs for turn in source.wordings
    )
    compared = Compared(pairs, encoders, conversations, by, seed, every_pair)
    turns = list(
        dict.fromkeys(
            turn for source, target in pairs for turn in target.wordings if turn in source.wordings
        )
    )
    return Diversity(units_of(turns, by).stated(evaluated), compared)


def _compare(
    source: Wordings,
    target: Wordings,
    encoders: Sequence[tuple[Encoder, Encode]],
    conversations: Conversations,
) -> tuple[dict[str, pd.DataFrame], Similarities]:
    """Return the table rows of one source and target, and the similarity of every target text."""
    turns = [turn for turn in target if turn in source]
    texts = [text for turn in turns for text in target[turn]]
    references = [source[turn] for turn in turns for _ in target[turn]]
    tokens = [words(text) for text in texts]
    ends = np.cumsum([len(target[turn]) for turn in turns])
    against = bleu_counts(texts, references)
    among = self_bleu_counts([target[turn] for turn in turns])
    copies, duplicates, near = _repeats([(source[turn], target[turn]) for turn in turns])
    similarities = dict(rouge_of(texts, references))
    for encoder, vectors_of in encoders:
        vectors = vectors_of([*texts, *(text for some in references for text in some)])
        first, second = [vectors[text] for text in texts], [vectors[some[0]] for some in references]
        similarities[f"cosine_{encoder.name}"] = cosine(first, second)

    def measures(places: np.ndarray) -> dict[str, float | int]:
        """Return the measures over the turns at these places."""
        rows = np.concatenate(
            [np.arange(ends[place] - len(target[turns[place]]), ends[place]) for place in places]
        )
        some = [tokens[row] for row in rows]
        return {
            "texts": len(some),
            "bleu": bleu(against[rows]),
            "self_bleu": bleu(np.concatenate([among[place] for place in places])),
            **{f"distinct_{n}": distinct_n(some, n) for n in DISTINCT},
            "copies": int(copies[places].sum()),
            "duplicates": int(duplicates[places].sum()),
            "near_duplicates": int(near[places].sum()),
            **{
                f"distance_{one.name}": 1 - float(similarities[f"cosine_{one.name}"][rows].mean())
                for one, _ in encoders
            },
        }

    topics: dict[str, list[int]] = {}
    for place, turn in enumerate(turns):
        topics.setdefault(conversations.of(turn), []).append(place)
    everything = measures(np.arange(len(turns)))
    by_turn = [{"turn": turn, **measures(np.array([place]))} for place, turn in enumerate(turns)]
    by_topic = [
        {"topic": topic, "turns": len(places), **measures(np.array(places))}
        for topic, places in topics.items()
    ]
    return {
        "bleu": pd.DataFrame([{"sentences": everything["texts"], "value": everything["bleu"]}]),
        "diversity": pd.DataFrame([{"turns": len(turns), **everything}]),
        "turns": pd.DataFrame(by_turn),
        "topics": pd.DataFrame(by_topic),
    }, similarities


def _repeats(turns: Sequence[tuple[Sequence[str], Sequence[str]]]) -> np.ndarray:
    """Return int64[3, turns]: copies, duplicates and near-duplicates among the texts of (sources, texts) of each turn."""
    counts = np.zeros((3, len(turns)), dtype=np.int64)
    for place, (sources, texts) in enumerate(turns):
        for number_, wording in enumerate(texts):
            to_source = {relation(one, wording) for one in sources} - {None}
            to_others = {relation(one, wording) for one in texts[:number_]} - {None}
            counts[0, place] += "exact" in to_source
            counts[1, place] += "exact" in to_others
            # an exact copy does not count as a near-duplicate too
            counts[2, place] += bool(to_source | to_others) and "exact" not in to_source | to_others
    return counts
