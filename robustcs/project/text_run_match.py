"""Check whether a run was made for given texts: one ranker ranks equal questions equally and different questions differently.

On CAsT 2019 and 2020, if texts and runs belong together, 99% to 100% of the turns with equal texts have equal rankings, and at
most 1% of the turns with different words. If they do not belong together, these shares are 70% to 100% and 10% to 60%.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.turns import turn_sort_key
from robustcs.wording import counted, turns_in_words

#: Share of turns with different texts above which equal rankings are not due to chance or small differences.
_ALIKE = 0.4
#: Share of turns with equal texts that may have different rankings because scores are rounded.
_CHANCE = 0.02
#: Smallest number of turns for a conclusion.
FEW = 5


@dataclass(frozen=True)
class Fit:
    """Turns for which two systems have texts and rankings.

    equal, other
        Turns with the same text in both systems, and with different words. A difference only in punctuation or case is neither.
    equal_apart, other_alike
        Turns of ``equal`` with different rankings, and turns of ``other`` with the same ranking.
    """

    equal: tuple[str, ...]
    equal_apart: tuple[str, ...]
    other: tuple[str, ...]
    other_alike: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of turns on which texts and rankings agree, 0 to 1; nan without turns."""
        turns = len(self.equal) + len(self.other)
        return 1 - (len(self.equal_apart) + len(self.other_alike)) / turns if turns else float("nan")

    @property
    def agreement(self) -> str:
        """The number of turns on which texts and rankings agree, in words."""
        turns = len(self.equal) + len(self.other)
        agree = turns - len(self.equal_apart) - len(self.other_alike)
        return f"texts and rankings agree on {agree} of {counted(turns, 'turn')}"

    def doubts(self, name: str, than: str) -> list[str]:
        """Return notes if the run of ``name`` may have been made for other texts; ``than`` is the other system."""
        notes, verify = [], f"check that the run of {name} was made for these texts"
        if len(self.equal_apart) > _CHANCE * len(self.equal):
            notes.append(
                f"{name} and {than} have the same text for {counted(len(self.equal), 'turn')}, but different rankings for"
                f" {turns_in_words(self.equal_apart)}; {verify}"
            )
        if len(self.other) >= FEW and len(self.other_alike) > _ALIKE * len(self.other):
            notes.append(
                f"{name} and {than} have different texts for {counted(len(self.other), 'turn')}, but the same ranking for"
                f" {turns_in_words(self.other_alike)}; {verify}"
            )
        return notes


def fit(texts: Mapping[str, str], other_texts: Mapping[str, str], alike: Mapping[str, bool]) -> Fit:
    """Compare two systems by turn. ``alike``: turn that both systems rank → whether their rankings are equal."""
    turns = [turn for turn in texts if turn in other_texts and turn in alike]
    turns.sort(key=turn_sort_key)
    equal = tuple(turn for turn in turns if texts[turn].strip() == other_texts[turn].strip())
    other = tuple(turn for turn in turns if _words(texts[turn]) != _words(other_texts[turn]))
    return Fit(
        equal, tuple(turn for turn in equal if not alike[turn]),
        other, tuple(turn for turn in other if alike[turn]),
    )  # fmt: skip


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def digest(lines: Iterable[str]) -> str:
    """Return a short checksum of some lines, the same in every process."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digests_of(ranking: Ranking) -> dict[str, str]:
    """Map each turn to a checksum that is equal for equal rankings; :func:`ranked_alike` compares these checksums."""
    return {turn: digest(passages) for turn, passages in ranking.by_turn()}


def ranked_alike(rankings: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, bool]:
    """Map each turn that both systems rank to whether the rankings are equal; both come from :func:`digests_of`."""
    return {turn: one == others[turn] for turn, one in rankings.items() if turn in others}
