"""Did a run answer these texts? Equal questions get equal rankings from one ranker, and other questions others.

Where texts and runs of CAsT 2019 and 2020 belong together, 99 to 100 % of the turns with equal texts get equal rankings, and at
most 1 % of those with other words. Where they do not, these are 70 to 100 % and 10 to 60 %.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.open_questions import turns_in_words
from robustcs.wording import counted

#: Of turns with different texts, this share with equal rankings is more than chance and small differences.
_ALIKE = 0.4
#: Of turns with equal texts, so many may be ranked otherwise: scores are rounded.
_CHANCE = 0.02
#: Fewer turns prove nothing.
FEW = 5


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

    def doubts(self, name: str, than: str) -> list[str]:
        """What somebody should look at before believing that the run of ``name`` answered its texts; ``than`` is the other."""
        notes = []
        if len(self.equal_apart) > _CHANCE * len(self.equal):
            sure = len(self.equal_apart) >= max(FEW, len(self.equal) / 2)
            said = "its run did not answer these texts" if sure else "did its run answer these texts?"
            notes.append(
                f"{name} has the text of {than} for {counted(len(self.equal), 'turn')}, but another ranking for"
                f" {turns_in_words(self.equal_apart)}: {said}"
            )
        if len(self.other) >= FEW and len(self.other_alike) > _ALIKE * len(self.other):
            notes.append(
                f"{name} has another text than {than} for {counted(len(self.other), 'turn')}, but the same ranking for"
                f" {turns_in_words(self.other_alike)}: did its run answer these texts?"
            )
        return notes


def fit(texts: Mapping[str, str], other_texts: Mapping[str, str], alike: Mapping[str, bool]) -> Fit:
    """Compare two systems by turn: their texts, and whether their rankings are equal, for the turns that both rank."""
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


def numbered(ranking: Ranking) -> dict[str, int]:
    """Turn → a number for its passages and their order: equal for equal rankings, which :func:`ranked_alike` compares."""
    pieces = zip(ranking.turns, ranking.starts[:-1], ranking.starts[1:], strict=True)
    numbers = {}
    for turn, start, end in pieces:
        passages = ranking.ids.take(ranking.document_codes[start:end]).texts()
        # not hash(): that of a text is another one in every process
        digest = hashlib.blake2b("\n".join(passages).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        numbers[turn] = int.from_bytes(digest)
    return numbers


def ranked_alike(rankings: Mapping[str, int], others: Mapping[str, int]) -> dict[str, bool]:
    """Turn that both rank → whether the rankings are equal; both as :func:`numbered` gives them."""
    return {turn: number == others[turn] for turn, number in rankings.items() if turn in others}
