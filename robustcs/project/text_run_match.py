"""Check whether a run was made for given texts: one ranker ranks equal questions equally and different questions differently.

On CAsT 2019 and 2020, if texts and runs belong together, 99% to 100% of the turns with equal texts have equal rankings, and at
most 1% of the turns with different words. If they do not belong together, these shares are 70% to 100% and 10% to 60%.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
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
#: Smallest share of the turns that one ranker ranks equally for two wordings, and another ranker too, for a grid; largest share
#: of such turns.
_CROSSED, _MOST_EQUAL = 0.9, 0.9


@dataclass(frozen=True)
class TextRunMatch:
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
        return (
            1 - (len(self.equal_apart) + len(self.other_alike)) / turns if turns else float("nan")
        )

    @property
    def agreement(self) -> str:
        """The number of turns on which texts and rankings agree, in words, if any turn could disagree."""
        if not self.equal and not self.other_alike:
            return "no turn has equal texts"  # any two runs agree with this
        turns = len(self.equal) + len(self.other)
        agree = turns - len(self.equal_apart) - len(self.other_alike)
        return f"texts and rankings agree on {agree} of {counted(turns, 'turn')}"

    @property
    def confirms(self) -> bool:
        """Whether the turns show that texts and runs belong together: enough equal and different texts, and no doubts."""
        return min(len(self.equal), len(self.other)) >= FEW and not self.doubts("", "")

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


def fit(
    texts: Mapping[str, str], other_texts: Mapping[str, str], alike: Mapping[str, bool]
) -> TextRunMatch:
    """Compare two systems by turn. ``alike``: turn that both systems rank → whether their rankings are equal."""
    turns = [turn for turn in texts if turn in other_texts and turn in alike]
    turns.sort(key=turn_sort_key)
    equal = tuple(turn for turn in turns if texts[turn].strip() == other_texts[turn].strip())
    other = tuple(turn for turn in turns if words(texts[turn]) != words(other_texts[turn]))
    return TextRunMatch(
        equal, tuple(turn for turn in equal if not alike[turn]),
        other, tuple(turn for turn in other if alike[turn]),
    )  # fmt: skip


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
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


def uncrossed(rankings: Mapping[tuple[str, str], Mapping[str, str]]) -> str:
    """Return why rankings of runs (wording, ranker) do not show that they cross wordings with rankers; empty if they do.

    Two wordings have equal texts for some turns, and every ranker ranks these turns equally for both: the turns with equal
    rankings are nearly the same for all rankers. Rerankers that are taken for wordings have no such turns. On CAsT 2019, MTRAG
    and the demo collection, 96% to 100% of these turns agree. Turns that two rankers rank equally are left out, such as those
    with a single passage.

    rankings
        (wording, ranker) → :func:`digests_of`.
    """
    common = fewest = turns = 0
    wordings, rankers = (list(dict.fromkeys(cell[place] for cell in rankings)) for place in (0, 1))
    for one, other in combinations(wordings, 2):
        both = [
            ranker
            for ranker in rankers
            if (one, ranker) in rankings and (other, ranker) in rankings
        ]
        for first, second in combinations(both, 2):
            apart = [
                _unlike(rankings[wording, first], rankings[wording, second])
                for wording in (one, other)
            ]
            shared = apart[0] & apart[1]
            equal = [
                {
                    turn
                    for turn in shared
                    if rankings[one, ranker][turn] == rankings[other, ranker][turn]
                }
                for ranker in (first, second)
            ]
            common, fewest, turns = (
                common + len(equal[0] & equal[1]),
                fewest + min(map(len, equal)),
                turns + len(shared),
            )
    if not turns:
        return "no two wordings have runs of the same two rankers"
    if not fewest:
        return "a ranker ranks no turn equally for two wordings"
    if fewest < FEW:
        return f"a ranker ranks only {counted(fewest, 'turn')} equally for two wordings"
    if common < _CROSSED * fewest:
        return "the turns that are ranked equally for two wordings depend on the ranker"
    return (
        ""
        if fewest <= _MOST_EQUAL * turns
        else "nearly all turns are ranked equally for two wordings"
    )


def _unlike(rankings: Mapping[str, str], others: Mapping[str, str]) -> set[str]:
    return {turn for turn, alike in ranked_alike(rankings, others).items() if not alike}
