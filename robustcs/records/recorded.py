"""Turns that are records already: of a file, or joined from several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from robustcs.records.schema import Graded, SystemRecord, TurnRecord

_NO_SYSTEM = cast(SystemRecord, {"scores": {}})


class RecordedTurns:
    """What records say about turns; see :class:`robustcs.records.record.Details`.

    records
        Turn → record.
    passages
        Passage → text.
    formulations
        The names of the formulations: Original, the rewriters, Human.
    cutoff
        The largest cutoff of the measures.
    """

    def __init__(
        self,
        records: Mapping[str, TurnRecord],
        passages: Mapping[str, str],
        formulations: Sequence[str] = (),
        cutoff: int = 0,
    ) -> None:
        self.records, self.passages = records, passages
        self.formulations, self.cutoff = list(formulations), cutoff
        self.systems = list(
            dict.fromkeys(name for one in records.values() for name in one["systems"])
        )

    @property
    def longest(self) -> int:
        """The number of passages in the longest ranking."""
        parts = [own for one in self.records.values() for own in one["systems"].values()]
        return max((len(own.get("ranking", ())) for own in parts), default=0)

    def history(self, turn: str) -> list[tuple[str, str]]:
        """Return (speaker, text) of every message before the turn."""
        return [(one["who"], one["text"]) for one in self.records[turn]["history"]]

    def texts_by_formulation(self, turn: str) -> Mapping[str, str]:
        """Return formulation → text."""
        return self.records[turn]["texts"]

    def gold_answers(self, turn: str) -> Sequence[str]:
        """Return the gold answers."""
        return self.records[turn]["gold"]

    def judged(self, turn: str) -> dict[int, int]:
        """Return grade → number of judged passages."""
        return {int(grade): number for grade, number in self.records[turn]["judged"].items()}

    def judgments(self, turn: str) -> str:
        """Return a checksum of the judgments; empty without judgments."""
        return self.records[turn].get("judgments", "")

    def labels(self, turn: str) -> dict[str, tuple[Sequence[str], str]]:
        """Return reader → tags and note."""
        found = self.records[turn]["labels"]
        return {coder: (own["tags"], own["note"]) for coder, own in found.items()}

    def ranking(self, system: str, turn: str) -> Sequence[Graded] | None:
        """Return the passages of the system, best first, with grades; None without a run."""
        return self._of(system, turn).get("ranking")

    def retrieved(self, system: str, turn: str) -> tuple[int, int]:
        """Return the number of passages of the whole run, and how many of them are unjudged."""
        own = self._of(system, turn)
        kept = own.get("ranking", [])
        unjudged = sum(grade is None for _, grade in kept)
        rest = own.get("rest", {"passages": 0, "unjudged": 0})
        return len(kept) + rest["passages"], unjudged + rest["unjudged"]

    def absent(self, system: str, turn: str) -> str:
        """Return what a file of per-turn scores lacks: ``turn``, ``score`` or nothing."""
        return self._of(system, turn).get("absent", "")

    def answer(self, system: str, turn: str) -> str | None:
        """Return the answer; None if there is none."""
        return self._of(system, turn).get("answer")

    def given(self, system: str, turn: str) -> Sequence[Graded] | None:
        """Return the passages from which the answer was generated; None if unknown."""
        return self._of(system, turn).get("given")

    def unsupported(self, system: str, turn: str) -> Sequence[str] | None:
        """Return sentences without support; None if unknown."""
        return self._of(system, turn).get("unsupported")

    def passage_texts(self, wanted: Collection[str]) -> dict[str, str]:
        """Return the texts of passages, as far as they are known."""
        return {one: self.passages[one] for one in wanted if one in self.passages}

    def _of(self, system: str, turn: str) -> SystemRecord:
        return self.records[turn]["systems"].get(system, _NO_SYSTEM)
