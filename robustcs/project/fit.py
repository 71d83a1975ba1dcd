"""Did a run answer these texts? Equal questions get equal rankings from one ranker, and other questions others.

Where texts and runs of CAsT 2019 and 2020 belong together, 99 to 100 % of the turns with equal texts get equal rankings, and at
most 1 % of those with other words. Where they do not, these are 70 to 100 % and 10 to 60 %.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.arrays import as_arrow
from robustcs.inputs.turns import turn_sort_key


@dataclass(frozen=True)
class Fit:
    """Turns that two systems have texts and rankings of.

    equal, other
        Those with the same text in both, and those with other words; what differs in punctuation and capitals alone is neither.
    equal_apart, other_alike
        Of these, those with different rankings although the text is the same, and with the same ranking of another text.
    """

    equal: tuple[str, ...]
    equal_apart: tuple[str, ...]
    other: tuple[str, ...]
    other_alike: tuple[str, ...]

    @property
    def share(self) -> float:
        """The turns on which texts and rankings say the same, 0 to 1; nan without turns."""
        turns = len(self.equal) + len(self.other)
        return 1 - (len(self.equal_apart) + len(self.other_alike)) / turns if turns else float("nan")


def fit(
    texts: Mapping[str, str], rankings: Mapping[str, int], other_texts: Mapping[str, str], other_rankings: Mapping[str, int]
) -> Fit:
    """Compare two systems by turn: their texts, and what :func:`numbered` gives of their runs."""
    turns = [turn for turn in texts if turn in other_texts and turn in rankings and turn in other_rankings]
    turns.sort(key=turn_sort_key)
    equal = tuple(turn for turn in turns if texts[turn].strip() == other_texts[turn].strip())
    other = tuple(turn for turn in turns if _words(texts[turn]) != _words(other_texts[turn]))
    return Fit(
        equal, tuple(turn for turn in equal if rankings[turn] != other_rankings[turn]),
        other, tuple(turn for turn in other if rankings[turn] == other_rankings[turn]),
    )  # fmt: skip


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def numbered(ranking: Ranking) -> dict[str, int]:
    """Turn → a number for its passages and their order: equal for equal rankings."""
    pieces = zip(ranking.turns, ranking.starts[:-1], ranking.starts[1:], strict=True)
    return {
        turn: hash(tuple(ranking.documents.take(as_arrow(ranking.document_codes[start:end])).to_pylist()))
        for turn, start, end in pieces
    }
