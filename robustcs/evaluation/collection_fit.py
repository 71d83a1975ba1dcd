"""Whether judgments fit a collection.

They do not if it lacks judged passages, or if systems retrieve passages whose text is judged under
another id. Such judgments score the ids that a system returns, not its passages: of two systems
with the same texts under other ids, one scores 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from robustcs.evaluation.ranking import Ranking

#: Passages of each turn whose texts are compared.
DEPTH = 10
#: Largest share of misfits without consequences.
MOST = 0.05
#: Smallest share of retrieved passages in a whole collection; with a smaller one, its file is only
#: a part of the collection that was searched.
_WHOLE = 0.95
#: Turns from whose complete rankings that share is computed.
_TURNS = 20


@dataclass(frozen=True)
class TopFit:
    """Passages in the top of a system.

    judged
        Number of judged passages.
    twins
        Number of unjudged passages whose text is that of a passage judged for the turn under
        another id.
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
        Number of judgments, and of those whose passage the collection does not contain (0 if it is
        only a part of the collection that was searched).
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
        return abs(self._share_of_twins(first) - self._share_of_twins(second)) > MOST

    def _share_of_twins(self, system: str) -> float:
        """Return the share of twins in the top of a system; 0 for a system without one."""
        return self.tops[system].share if system in self.tops else 0.0


def some_rankings(ranking: Ranking) -> tuple[dict[str, list[str]], set[str]]:
    """Return the top :data:`DEPTH` of every turn, and all passages of :data:`_TURNS` turns.

    The turns whose passages are returned are spread evenly over the run.
    """
    step = max(1, len(ranking.turns) // _TURNS)
    passages: set[str] = set()
    for turn in range(0, len(ranking.turns), step)[:_TURNS]:
        codes = ranking.document_codes[ranking.starts[turn] : ranking.starts[turn + 1]]
        passages.update(ranking.ids.take(codes).texts())
    return dict(ranking.by_turn(DEPTH)), passages


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
        Retrieved passages, which show whether the file is the whole collection.
    texts
        Passage → a checksum of its text, of those that the collection contains.
    """
    judged_of_turn: dict[str, set[str]] = {}
    for turn, passage in judged:
        judged_of_turn.setdefault(turn, set()).add(passage)
    fits = {name: _top_fit(top, judged_of_turn, texts) for name, top in tops.items()}
    judgments = sum(len(passages) for passages in judged_of_turn.values())
    lacking = 0
    is_whole = len(retrieved & texts.keys()) >= _WHOLE * len(retrieved)
    if is_whole:
        lacking = sum(len(passages - texts.keys()) for passages in judged_of_turn.values())
    return CollectionFit(judgments, lacking, fits)


def _top_fit(
    top: Mapping[str, Sequence[str]],
    judged_of_turn: Mapping[str, set[str]],
    texts: Mapping[str, int],
) -> TopFit:
    """Return the numbers of judged passages and twins in a system's ``top`` (turn → passages)."""
    hits = twins = 0
    for turn, judged in judged_of_turn.items():
        judged_texts = {texts[passage] for passage in judged if passage in texts}
        for passage in top.get(turn, ()):
            if passage in judged:
                hits += 1
            elif passage in texts and texts[passage] in judged_texts:
                twins += 1
    return TopFit(hits, twins)
