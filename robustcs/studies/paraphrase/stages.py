"""Paraphrases in stages: remove feedback, reformulate, paraphrase, remove the context, drop similar texts.

Source: Al-Thani et al. (2023), "ECAsT", stages 1, 2 and 4, Tables 9 and 10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result, computes, count, number, table, text
from robustcs.similarity.paraphrases import clean, text_key
from robustcs.similarity.rouge_bleu import bleu, bleu_counts, self_bleu_counts
from robustcs.similarity.stripping import Stripped, strip_feedback, without_nouns
from robustcs.studies.paraphrase.analysis import TurnTexts, earlier_texts
from robustcs.wording import counted, some_of

Stage = Literal["reformulate", "paraphrase", "remove_context"]
Source = Literal["raw", "manual"]
STAGES: tuple[Stage, ...] = ("reformulate", "paraphrase", "remove_context")
SOURCES: tuple[Source, ...] = ("raw", "manual")


@dataclass(frozen=True)
class Request:
    """A request for ``number`` texts made from ``text``; ``history`` are the earlier turns."""

    stage: Stage
    turn: str
    text: str
    history: tuple[str, ...]
    number: int = 1

    @property
    def content(self) -> dict[str, object]:
        """The parts of the request that decide the answer: all but the turn id."""
        return {
            "stage": self.stage,
            "text": self.text,
            "history": list(self.history),
            "n": self.number,
        }


@dataclass(frozen=True)
class Made:
    """The texts made for each request (none if it failed), and the counts of the table ``stages``."""

    by: str
    texts: Mapping[Request, Sequence[str]]
    known: int = 0
    useless: int = 0
    note: str = ""


Maker = Callable[[Sequence[Request]], Made]


def texts_of(answer: Mapping[str, Any]) -> list[str] | None:
    """Return the texts of a program's answer, from ``texts`` or ``text``; None if they are not strings."""
    texts = answer.get("texts", [answer.get("text")])
    return (
        list(texts)
        if texts and isinstance(texts, list) and all(isinstance(one, str) for one in texts)
        else None
    )


@dataclass(frozen=True)
class Paraphrased(Result):
    """Paraphrases made in stages, and what each stage did.

    generated, cleaned
        The paraphrases before and after cleaning.
    """

    study = "paraphrase"

    stages = table(
        "stages", "Requests and answers of each stage.",
        text("stage", "reformulate, paraphrase or remove_context"), text("by", "the program's command, or nouns for the rule"),
        count("requests", "different requests"), count("known", "answered from the store", "known before"),
        count("failed", "without an answer: the source is kept, and the next run retries"),
        count("empty", "empty texts, replaced by the source"),
        count("useless", "lines that repeat an answer, have an id that was not requested, or are not valid answers"),
    )  # fmt: skip
    bleu = table(
        "bleu", "BLEU of manual turns against raw turns, before and after each way of removing context (Table 9).",
        text("turns", "which manual turns", "manual turns"), count("texts"),
        number("value", "corpus BLEU, 0 to 100", "BLEU").rounded(2),
    )  # fmt: skip
    diversity = table(
        "diversity", "Diversity of the paraphrases before and after cleaning (Table 10).",
        text("stage", "generated or cleaned"), text("source", "manual or raw, or all"), count("paraphrases"), count("turns"),
        number("per_turn", "", "per turn").rounded(2),
        number("bleu", "manual paraphrases against their source, 0 to 100", "BLEU").rounded(2),
        number("self_bleu", "each manual paraphrase against the others of its turn", "self-BLEU").rounded(2),
        count("copies", "texts equal to their source"),
    )  # fmt: skip
    stripped = table(
        "stripped", "Text removed before the last sentence of a turn.",
        text("turn"), text("formulation", "raw or manual"), text("sentiment", "negative, neutral or positive, by VADER"),
        number("compound", "VADER's score, -1 to 1"), text("before", "the removed text"),
        text("question", "the text that is kept"),
    )  # fmt: skip
    dropped = table(
        "dropped", "Paraphrases dropped by cleaning.",
        text("turn"), text("kind", "manual or raw, or source"),
        text("relation", "exact, one word, few characters", "difference"),
        text("dropped", "the dropped text"), text("kept", "the text that it is too similar to"),
    )  # fmt: skip
    paraphrases = table(
        "paraphrases", "The paraphrases, as in paraphrases.csv.",
        text("turn"), text("source", "raw: from the reformulated raw turn; manual: from the manual turn"), text("source_text"),
        text("manual", "understood without the conversation"), text("raw", "depends on the conversation"),
    )  # fmt: skip

    generated: Sequence[_Row]
    cleaned: Sequence[_Row]

    @computes(diversity)
    def _diversity(self) -> list[tuple[Any, ...]]:
        return [*_diversity("generated", self.generated), *_diversity("cleaned", self.cleaned)]


@dataclass(frozen=True)
class _Row:
    turn: str
    source: Source
    source_text: str
    manual: str
    raw: str = ""

    @property
    def copies(self) -> bool:
        """Whether the paraphrase repeats its source."""
        return text_key(self.manual) == text_key(self.source_text)


def without_context(
    requests: Sequence[Request], nouns: Callable[[str], str] = without_nouns
) -> Made:
    """Remove context by removing nouns: see :mod:`robustcs.similarity.stripping`."""
    return Made("nouns", {request: [nouns(request.text)] for request in requests})


def paraphrase(
    original: TurnTexts,
    human: TurnTexts,
    makers: Mapping[Stage, Maker],
    count_: int,
    sources: Sequence[Source],
    evaluated: Evaluated,
    stripped: bool = True,
    nouns: Callable[[str], str] = without_nouns,
) -> Paraphrased:
    """Make ``count_`` paraphrases of every turn and source in stages, each by its maker.

    ``original`` (raw turns) and ``human`` (manual turns) are turn → text; ``sources`` selects the turns to paraphrase;
    ``stripped`` removes feedback and revealments; ``nouns`` removes the nouns of a text, for Table 9.
    Raw turns are reformulated first, except those that open a conversation or are in none, which need no context. If a stage
    makes no text for a turn, the source text is kept.
    """
    steps = _StagesRun(makers)
    strip = strip_feedback if stripped else Stripped
    turns = sorted({*original, *human}, key=turn_sort_key)
    conversations = evaluated.conversations_of(turns)
    raw = {turn: strip(original[turn]) for turn in turns if turn in original}
    manual = {turn: strip(human[turn]) for turn in turns if turn in human}
    said = earlier_texts([turn for turn in turns if turn in original], original, conversations)
    before = earlier_texts(
        turns, {turn: human.get(turn) or original[turn] for turn in turns}, conversations
    )

    sources_of: dict[str, dict[Source, str]] = {turn: {} for turn in turns}
    if "manual" in sources:
        for turn, one in manual.items():
            sources_of[turn]["manual"] = one.question
    if "raw" in sources:
        with_context = {
            turn: Request("reformulate", turn, raw[turn].question, tuple(said[turn]))
            for turn in raw
            if said[turn]
        }
        reformulated = steps.take("reformulate", list(with_context.values()))
        for turn, one in raw.items():
            found = reformulated[with_context[turn]][0] if turn in with_context else one.question
            if text_key(found) != text_key(sources_of[turn].get("manual", "")):
                sources_of[turn]["raw"] = found

    wanted = {
        (turn, source): Request("paraphrase", turn, found, tuple(before[turn]), count_)
        for turn, own in sources_of.items() for source, found in own.items()
    }  # fmt: skip
    texts = steps.take("paraphrase", list(wanted.values()))
    rows = [
        _Row(*key, request.text, one)
        for key, request in wanted.items()
        for one in texts[request][:count_]
    ]
    rows, bleu_rows = _context_removed(steps, rows, raw, manual, original, human, before, nouns)
    kept, dropped = _cleaned(rows)
    lost = [turn for turn in turns if sources_of[turn] and turn not in {row.turn for row in kept}]
    notes = [*evaluated.notes, *steps.notes]
    if lost:
        notes.append(f"{counted(len(lost), 'turn')} without any paraphrase: {some_of(lost)}")
    removed = [
        (turn, name, one.sentiment, one.compound, one.before, one.question)
        for name, texts in (("raw", raw), ("manual", manual))
        for turn, one in texts.items()
        if one.before
    ]
    content = Paraphrased.built(
        stages=steps.counts,
        bleu=bleu_rows,
        stripped=removed,
        dropped=dropped,
        paraphrases=[(row.turn, row.source, row.source_text, row.manual, row.raw) for row in kept],
    )
    evaluated = replace(evaluated, turns=len(turns), notes=tuple(notes))
    return Paraphrased(evaluated, rows, kept, content=content)


class _StagesRun:
    """The stages run so far, each counted."""

    def __init__(self, makers: Mapping[Stage, Maker]):
        self.makers = makers
        self.counts: list[tuple[object, ...]] = []
        self.notes: list[str] = []

    def take(self, stage: Stage, requests: Sequence[Request]) -> dict[Request, list[str]]:
        """Return the texts of each request: at least one, none empty; the source text replaces what is missing."""
        different = list(dict.fromkeys(requests))
        made = self.makers[stage](different)
        found: dict[Request, list[str]] = {}
        failed = empty = 0
        for request in different:
            texts = [" ".join(one.split()) for one in made.texts.get(request, ())]
            failed += not texts
            empty += sum(not one for one in texts)
            found[request] = [one or request.text for one in texts] or [request.text]
        self.counts.append(
            (stage, made.by, len(different), made.known, failed, empty, made.useless)
        )
        self.notes += [f"{stage}: {made.note}"] if made.note else []
        return found


def _context_removed(
    steps: _StagesRun, rows: Sequence[_Row], raw: Mapping[str, Stripped], manual: Mapping[str, Stripped], original: TurnTexts,
    human: TurnTexts, before: Mapping[str, Sequence[str]], without: Callable[[str], str],
) -> tuple[list[_Row], list[tuple[object, ...]]]:  # fmt: skip
    """Return the rows with raw texts, and Table 9: BLEU of manual against raw turns before and after removing context."""
    both = [turn for turn in manual if turn in raw]
    stripped = {turn: manual[turn].question for turn in both}
    plain = {turn: raw[turn].question for turn in both}

    def request(turn: str, one: str) -> Request:
        return Request("remove_context", turn, one, tuple(before[turn]))

    # turns without earlier turns keep their context
    with_context = {
        ("row", place): request(row.turn, row.manual)
        for place, row in enumerate(rows)
        if before[row.turn]
    }
    turns = {("turn", turn): request(turn, stripped[turn]) for turn in both if before[turn]}
    found = steps.take("remove_context", [*with_context.values(), *turns.values()])
    done = [
        replace(
            row,
            raw=found[with_context["row", place]][0]
            if ("row", place) in with_context
            else row.manual,
        )
        for place, row in enumerate(rows)
    ]
    removed = {
        turn: found[turns["turn", turn]][0] if ("turn", turn) in turns else one
        for turn, one in stripped.items()
    }
    nouns = {turn: without(one) for turn, one in stripped.items()}
    compared = [
        ("as they are", human, original), ("feedback taken off", stripped, plain), ("nouns taken off", nouns, plain),
        ("context removed", removed, plain),
    ]  # fmt: skip
    table_9: list[tuple[object, ...]] = [
        (name, len(both), bleu(bleu_counts([texts[turn] for turn in both], [[against[turn]] for turn in both])))
        for name, texts, against in compared if both
    ]  # fmt: skip
    return done, table_9


def _cleaned(rows: Sequence[_Row]) -> tuple[list[_Row], list[tuple[str, str, str, str, str]]]:
    """Split the rows into those to keep, and copies of their source or texts too similar to another of their turn."""
    kept: list[_Row] = []
    dropped: list[tuple[str, str, str, str, str]] = []
    for turn, some in groupby(rows, lambda row: row.turn):
        own = list(some)
        dropped += [
            (turn, "source", "exact", row.manual, row.source_text) for row in own if row.copies
        ]
        left = [row for row in own if not row.copies]
        stay, go = clean(
            [Paraphrase(turn, row.manual, row.raw, place) for place, row in enumerate(left)]
        )
        kept += [left[one.line] for one in stay]
        dropped += [
            (
                turn,
                one.kind,
                one.relation,
                getattr(one.dropped, one.kind),
                getattr(one.kept, one.kind),
            )
            for one in go
        ]
    return kept, dropped


def _diversity(stage: str, rows: Sequence[_Row]) -> list[tuple[object, ...]]:
    """Return a row for each source, and one for all if there are several."""
    found: list[tuple[object, ...]] = []
    names = [*dict.fromkeys(row.source for row in rows)]
    for name in [*names, *(["all"] if len(names) > 1 else [])]:
        some = [row for row in rows if name in (row.source, "all")]
        by_turn: dict[str, list[str]] = {}
        for row in some:
            by_turn.setdefault(row.turn, []).append(row.manual)
        against = bleu_counts([row.manual for row in some], [[row.source_text] for row in some])
        found.append((
            stage, name, len(some), len(by_turn), len(some) / len(by_turn), bleu(against),
            bleu(np.concatenate(self_bleu_counts(list(by_turn.values())))), sum(row.copies for row in some),
        ))  # fmt: skip
    return found
