"""The evaluation policy, printed below each table.

Evaluation tools differ in which turns count, how ties are ordered, and which passages are relevant. robustcs follows trec_eval
(with ``-c``) and the CAsT guidelines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from robustcs.conversations import NONE, PATTERN, Conversations
from robustcs.errors import UsageError
from robustcs.wording import counted, merged, shortened

Missing = Literal["zero", "drop", "own"]
Order = Literal["score", "rank"]
Unit = Literal["conversation", "turn"]
#: What sampling units are made from: decided conversations, those of the ids at hand, or single turns.
Grouping = Conversations | Unit
#: Part of the policy line for runs of passages that are evaluated against judged documents.
BY_DOCUMENT = "documents by their best passage"


@dataclass(frozen=True)
class EvaluationPolicy:
    """Rules by which runs and qrels become scores.

    relevance_level
        Lowest grade of a relevant passage in binary measures (P, recall, map, recip_rank, success, bpref, rbp): 1 as in
        trec_eval, 2 in CAsT. It does not affect nDCG, which uses the grades.
    missing
        ``zero``: judged turns that a run does not answer score 0 (``trec_eval -c``). ``drop``: means cover the turns that all
        runs answer. ``own``: the mean of each run covers the judged turns that it answers (``trec_eval`` without ``-c``);
        comparisons turn by turn cover the turns that both runs answer.
    order
        ``score``: by descending score, then by descending document id; scores are compared as 32-bit floats, as in trec_eval.
        ``rank``: by the rank column, equal ranks in file order.
    depth
        Evaluate only the top ``depth`` passages of each turn; None means all.
    documents
        The runs rank passages ``DOC-N`` and the qrels judge documents ``DOC``: the best-ranked passage of each document counts,
        and its other passages are removed before ``depth`` applies.
    unit
        Sampling unit for intervals and tests: ``conversation`` (the topic if ids contain both; single turns if turn ids do not
        show conversations, or show fewer than five), or ``turn``.
    conversation
        Where conversations come from. Empty: from fields of the files, else from turn ids if these look like places in
        conversations. ``none``: each turn is its own. ``pattern``: from ids of any form that ends in a number. A file: a table
        or JSONL with turn ids, their conversations, and optionally their places.
    strict
        Reject files with any unusable row. Otherwise, up to 5% unusable rows are skipped, except in runs and judgments. Results
        do not record it, since it changes no score.
    """

    relevance_level: int = 1
    missing: Missing = "zero"
    order: Order = "score"
    depth: int | None = None
    documents: bool = False
    unit: Unit = "conversation"
    conversation: str | Path = ""
    strict: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        for key in ("relevance_level", "depth"):
            if (number := getattr(self, key)) is not None and number < 1:
                name = key.replace("_", " ")
                raise UsageError(
                    f"bad-{key.replace('_', '-')}",
                    f"{name} is {number}",
                    "write a whole number of at least 1",
                )
        for key, known in (
            ("missing", get_args(Missing)),
            ("order", get_args(Order)),
            ("unit", get_args(Unit)),
        ):
            if (word := getattr(self, key)) not in known:
                what = "the rule for missing turns" if key == "missing" else key
                raise UsageError(
                    f"bad-{key}",
                    f"{what} is {word!r}",
                    f"write {', '.join(known[:-1])} or {known[-1]}",
                )
        if isinstance(self.conversation, str) and self.conversation not in ("", NONE, PATTERN):
            raise UsageError(
                "bad-conversation",
                f"conversation is {self.conversation!r}",
                "write none, pattern or a file",
            )
        for key in ("documents", "strict"):
            if not isinstance(flag := getattr(self, key), bool):
                raise UsageError(f"bad-{key}", f"{key} is {flag!r}", "write true or false")

    def as_dict(self) -> dict[str, Any]:
        """Return the policy as in the JSON output."""
        more = {"conversation": str(self.conversation)} if self.conversation else {}
        return {
            key: value
            for key, value in asdict(self).items()
            if key not in ("strict", "conversation")
        } | more

    def describe(self) -> str:
        """Return order and relevance level in words, for the policy line below each table."""
        by_score = ["ties by docid descending", "scores as float32"]
        parts = by_score if self.order == "score" else ["order by the rank column"]
        if self.documents:
            parts.append(BY_DOCUMENT)
        if self.depth is not None:
            parts.append(f"top {self.depth} only")
        parts.append(f"relevant ≥ {self.relevance_level} (binary measures)")
        return " · ".join(parts)


#: Source of the scores: runs joined with qrels, files of per-turn scores, or predicted answers; ``coverage`` of gold snippets
#: and nuggets by answers; ``texts`` has no scores.
Basis = Literal["runs", "scores", "answers", "texts", "coverage"]


@dataclass(frozen=True)
class Evaluated:
    """The turns of a result and how they were scored.

    turns
        Number of evaluated turns, or of what ``counts`` names.
    missing
        Number of turns that at least one run (or file) does not answer; the policy states whether they score 0 or are dropped.
    unit, units
        Sampling unit of intervals and tests, and number of units; empty if the result has no units.
    unit_note
        Why the sampling unit is not the conversation or topic, if the user did not choose so; also among ``notes``.
    as_given
        Systems with per-turn scores, if others have runs.
    own_turns
        Run → number of turns that it answers, if each run is averaged over these turns.
    unscored
        Number of turns for which at least one file of scores has no score.
    unscored_by
        System → number of turns for which its file has no score, and of turns that need one; only systems without some.
    notes
        Notes, each once; those of one kind, such as missing turns of several runs, are one note.
    skipped
        Skipped rows of inputs, such as ``human: 1 of 332 texts empty``.
    collections
        Number of collections, if judgments of several were read; else 0.
    criterion
        What makes an answer correct, for results on answers; else empty.
    ranker
        The ranker of Original, QR and Human, if components name it; else empty.
    counts
        The word for a turn in the policy line.
    few
        System → number of turns that it answers, for each system that answers less than half of the turns.
    conversations
        The conversations of the project, decided once for all turns; None: those that the ids of the turns at hand show.
    """

    policy: EvaluationPolicy
    basis: Basis
    turns: int
    missing: int
    notes: tuple[str, ...] = ()
    _: KW_ONLY
    unit: str = ""
    units: int = 0
    unit_note: str = ""
    as_given: tuple[str, ...] = ()
    own_turns: Mapping[str, int] = field(default_factory=dict)
    unscored: int = 0
    unscored_by: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    collections: int = 0
    criterion: str = ""
    ranker: str = ""
    counts: str = "turn"
    few: Mapping[str, int] = field(default_factory=dict)
    conversations: Conversations | None = field(default=None, repr=False)

    @property
    def grouping(self) -> Grouping:
        """What sampling units are made from, for :func:`~robustcs.statistics.units.units_of`."""
        return "turn" if self.policy.unit == "turn" else self.conversations or "conversation"

    def conversations_of(self, turns: Iterable[str]) -> Conversations:
        """Return the conversations of the project, or those that the ids of ``turns`` show."""
        return self.conversations or Conversations.from_ids(turns)

    def __post_init__(self) -> None:
        """Merge notes that differ only in their subject, wherever they come from."""
        object.__setattr__(self, "notes", merged(self.notes))

    @property
    def missing_rule(self) -> Missing:
        """The rule that was applied to missing turns: ``drop`` instead of ``own`` if all runs use the same turns."""
        return (
            "drop" if self.policy.missing == "own" and not self.own_turns else self.policy.missing
        )

    @property
    def policy_line(self) -> str:
        """The policy line, which ends each table and report."""
        return " · ".join([self._scored, *filter(None, [self._grouped]), *shortened(self.skipped)])

    @property
    def _grouped(self) -> str:
        """Where conversations come from, if not from ids as usual and the result uses them."""
        return self.conversations.said if self.conversations and self.unit else ""

    @property
    def about(self) -> str:
        """The start of the policy line: ``208 turns in 29 conversations``."""
        turns = counted(self.turns, self.counts)
        if self.unit in ("conversation", "topic"):
            turns += f" in {counted(self.units, self.unit)}"
        return (
            f"{turns} of {counted(self.collections, 'collection')}" if self.collections else turns
        )

    @property
    def _scored(self) -> str:
        turns = self.about
        if self.basis == "texts":
            return f"{turns} · nothing is scored" if self.turns else "nothing is scored"
        missing = (
            "missing turns score 0" if self.policy.missing == "zero" else "missing turns dropped"
        )
        parts = [turns, f"{missing} ({self.missing})"]
        if self.unscored:
            left_out = f"missing scores left out ({counted(self.unscored, self.counts)})"
            parts = (
                [turns, left_out]
                if self.basis == "scores" and not self.missing
                else [*parts, left_out]
            )
        if self.own_turns:
            span = " to ".join(
                f"{turns:,}"
                for turns in sorted({min(self.own_turns.values()), max(self.own_turns.values())})
            )
            parts[1] = f"each run over the turns that it answers ({span}), as trec_eval without -c"
        if self.basis == "runs":
            parts.append(self.policy.describe())
            if self.as_given:
                parts.append(
                    f"{', '.join(self.as_given)}: scores as given, their own relevance level and order"
                )
        elif self.basis == "scores":
            parts.append("scores as given, their own relevance level and order")
        elif self.basis == "coverage":
            parts.append(self.criterion)
            parts += [BY_DOCUMENT] if self.policy.documents else []
        else:
            parts.append("best gold answer counts · SQuAD normalisation")
        return " · ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """Return the ``policy`` of the JSON output."""
        more = {
            "as_given": list(self.as_given), "skipped": list(self.skipped), "collections": self.collections,
            "ranker": self.ranker, "few": dict(self.few), "turns_with_missing_scores": self.unscored,
            "missing_scores": {name: lost for name, (lost, _) in self.unscored_by.items()},
            "conversations": self._grouped,
        }  # fmt: skip
        units = {"unit": self.unit, "units": self.units} if self.unit else {}
        policy = {
            key: value
            for key, value in self.policy.as_dict().items()
            if key not in ("unit", "conversation")
        }
        return {
            **policy, **units, **{key: one for key, one in more.items() if one}, "missing": self.missing_rule,
            "basis": self.basis, "turns": self.turns, "missing_turns": self.missing, "line": self.policy_line,
        }  # fmt: skip
