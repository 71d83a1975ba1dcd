"""Whether judgments fit a collection: judged passages that it lacks, and retrieved ones with a text judged under another id.

Such judgments score the ids that a system returns, not its passages: of two systems with the same texts under other ids, one
scores 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from robustcs.evaluation.ranking import Ranking

#: Passages of each turn whose texts are compared.
DEPTH = 10
#: Largest share of misfits without consequences.
MOST = 0.05
#: Smallest share of retrieved passages in a whole collection; otherwise its file is a part of the one that was searched.
_WHOLE = 0.95
#: Turns from whose complete rankings that share is computed.
_TURNS = 20


@dataclass(frozen=True)
class TopFit:
    """Passages in the top of a system.

    judged
        Number of judged passages.
    twins
        Number of unjudged passages whose text is that of a passage judged for the turn under another id.
    """

    judged: int
    twins: int

    @property
    def share(self) -> float:
        """Share of twins in the passages whose text is judged; 0 if there are none."""
        return self.twins / (self.judged + self.twins) if self.twins else 0.0


@dataclass(frozen=True)
class CollectionFit:
    """How far the judgments fit the collection and the runs.

    judged, lacking
        Number of judgments, and of those whose passage the collection does not contain (0 if it is only a part of the
        collection that was searched).
    tops
        System → its top.
    """

    judged: int
    lacking: int
    tops: Mapping[str, TopFit]

    @property
    def share(self) -> float:
        """Share of judgments whose passage the collection does not contain."""
        return self.lacking / self.judged if self.judged else 0.0

    @property
    def worst(self) -> str:
        """The system with the largest share of twins."""
        return max(self.tops, key=lambda name: self.tops[name].share)

    @property
    def fits(self) -> bool:
        """Whether both shares are at most :data:`MOST`."""
        return self.share <= MOST and self.tops[self.worst].share <= MOST

    def apart(self, first: str, second: str) -> bool:
        """Return whether two systems differ by twins, so that the judgments cannot order them."""
        shares = [self.tops[name].share if name in self.tops else 0.0 for name in (first, second)]
        return abs(shares[0] - shares[1]) > MOST


def some_rankings(ranking: Ranking) -> tuple[dict[str, list[str]], set[str]]:
    """Return the top :data:`DEPTH` of every turn, and all passages of :data:`_TURNS` turns."""
    step = max(1, len(ranking.turns) // _TURNS)
    lengths = (ranking.starts[1:] - ranking.starts[:-1]).tolist()
    chosen = [
        (start, length) for start, length in zip(ranking.starts.tolist(), lengths, strict=False)
    ][::step][:_TURNS]
    whole = {
        name
        for start, length in chosen
        for name in ranking.ids.take(ranking.document_codes[start : start + length]).texts()
    }
    return dict(ranking.by_turn(DEPTH)), whole


def collection_fit(
    judged: Iterable[tuple[str, str]],
    tops: Mapping[str, Mapping[str, Sequence[str]]],
    retrieved: set[str],
    texts: Mapping[str, int],
) -> CollectionFit:
    """Compare the judgments with the collection and the runs.

    judged
        (turn, passage) of each judgment.
    tops
        System → turn → its top passages.
    retrieved
        Retrieved passages, from which it is found whether the file is the whole collection.
    texts
        Passage → a checksum of its text, of those that the collection contains.
    """
    by_turn: dict[str, set[str]] = {}
    for turn, passage in judged:
        by_turn.setdefault(turn, set()).add(passage)
    whole = len(retrieved & texts.keys()) >= _WHOLE * len(retrieved)
    known = {turn: {texts[one] for one in own if one in texts} for turn, own in by_turn.items()}
    found = {}
    for name, top in tops.items():
        hits = twins = 0
        for turn, own in by_turn.items():
            for passage in top.get(turn, ()):
                hits += passage in own
                twins += passage not in own and passage in texts and texts[passage] in known[turn]
        found[name] = TopFit(hits, twins)
    count = sum(map(len, by_turn.values()))
    lacking = sum(len(own - texts.keys()) for own in by_turn.values()) if whole else 0
    return CollectionFit(count, lacking, found)
