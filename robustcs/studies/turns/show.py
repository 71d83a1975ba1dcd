"""The list of turns, and one turn with everything known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from robustcs.documents.document import Block, Card, Cards, Column, Heading, Paragraph, TableBlock
from robustcs.documents.tables import result_table
from robustcs.documents.text import beginning
from robustcs.documents.words import cut_label, measure_label, score
from robustcs.records.record import READ
from robustcs.records.schema import Graded, SystemRecord, TurnRecord
from robustcs.studies.turns.analysis import TurnList
from robustcs.studies.turns.differences import marked_difference
from robustcs.wording import counted, system_name

#: Turns shown in a list, and characters shown of an answer in a list and of a passage.
MOST_SHOWN = 20
_ANSWER, _PASSAGE = 200, 200
#: Passages of each ranking whose texts are shown.
_TEXTS = 3
#: Rankings shown side by side.
_SIDES = 2
#: Cause → what it means.
_WHY = {
    "correct": "correct",
    "rewriter": "rewriter error: Human is correct, {system} is not",
    "ranker": "ranker error: even Human is not correct",
    "reader": "reader error: even Human is not correct",
}


def show(result: TurnList) -> tuple[Block, ...]:
    """Return the list of turns, or the details of one turn."""
    if result.one:
        return tuple(_one_turn(result, result.record(result.ids[0])))
    return _list(result), _scores(result)


# ---------------------------------------------------------------- the list


def _list(result: TurnList) -> Cards:
    records = [result.record(turn, complete=False) for turn in result.ids[:MOST_SHOWN]]
    cards = tuple(_listed(result, record) for record in records)
    return Cards("turns", _caption(result, len(records)), cards)


def _scores(result: TurnList) -> TableBlock:
    """Return the scores of all turns, which the terminal shows only on request."""
    table = result_table(
        result,
        "turns",
        _caption(result, len(result.ids)),
        ["turn", "system", "metric", "score", "first", "cause", "outcome"],
        "First: rank of the first relevant passage in the run.",
    )
    return replace(table, on_request=True)


def _caption(result: TurnList, shown: int) -> str:
    caption = counted(result.known, "turn")
    if result.where:
        caption = f"{result.selected} of {counted(result.known, 'turn')} selected by {result.where}"
    if result.sort != "id":
        caption += f", sorted by {result.sort}"
    if result.cut is not None and result.cut[1]:
        caption += f"; correct if {cut_label(result.cut)}"
    if shown < result.selected:
        caption += f"; shown: the first {shown}"
    return caption


def _listed(result: TurnList, record: TurnRecord) -> Card:
    """Return one turn of the list: scores, causes and texts of its systems."""
    fields = []
    texts = record["texts"]
    if "original" in texts and not any(name in texts for name in result.systems):
        fields.append(("Question", texts["original"]))
    for name in result.systems:
        own = record["systems"].get(name)
        if own is not None:
            fields.append((_facts(result, name, own), _said(record, name, own)))
    return Card(record["turn"], tuple(fields))


def _facts(result: TurnList, name: str, own: SystemRecord) -> str:
    """Return ``QR · NDCG@3 0.1234 · first relevant at 4 · rewriter error``."""
    parts = [system_name(name)]
    if result.cut is not None:
        measure, threshold = result.cut
        if measure in own["scores"]:
            parts.append(f"{measure_label(measure)} {score(own['scores'][measure])}")
        parts += _first(own)
        cause = own.get("cause", {}).get(f"{measure}{threshold}")
        if cause is not None:
            parts.append(cause if cause == "correct" else f"{cause} error")
        place = own.get("blame", {}).get(f"{measure}{threshold}")
        if place is not None:
            parts.append(f"blame {place}")
    else:
        parts += _first(own)
    outcome = own.get("outcome")
    if outcome is not None:
        parts.append(f"answer: {outcome.replace('_', ' ')}")
    return " · ".join(parts)


def _first(own: SystemRecord) -> list[str]:
    if "first_relevant" not in own:
        return []
    first = own["first_relevant"]
    return ["no relevant passage" if first is None else f"first relevant at {first}"]


def _said(record: TurnRecord, name: str, own: SystemRecord) -> str:
    """Return the text of a formulation and the beginning of an answer."""
    parts = []
    if name in record["texts"]:
        parts.append(record["texts"][name])
    if "answer" in own:
        parts.append(f"→ {beginning(own['answer'], _ANSWER) or '(no answer)'}")
    return "\n".join(parts) or "(no text)"


# ---------------------------------------------------------------- one turn


def _one_turn(result: TurnList, record: TurnRecord) -> list[Block]:
    blocks: list[Block] = [Heading(f"Turn {record['turn']}")]
    if record["history"]:
        said = [(one["who"], one["text"]) for one in record["history"]]
        blocks.append(Cards("history", "Conversation", (Card("Before the turn", tuple(said)),)))
    blocks += _texts(record)
    blocks += [Paragraph(text) for text in _causes(result, record)]
    blocks += _answers(result, record)
    rankings = _rankings(result, record)
    if rankings is not None:
        blocks += [rankings, *_passages(result, record)]
    return blocks


def _texts(record: TurnRecord) -> list[Block]:
    texts = record["texts"]
    if not texts:
        return []
    human = texts.get("human")
    fields = []
    for name, text in texts.items():
        compared = human is not None and name != "human"
        fields.append(
            (system_name(name), marked_difference(text, human or "") if compared else text)
        )
    title = "As each formulation has it"
    if human is not None and len(texts) > 1:
        title = "[-words of Human that are missing-] {+words that Human does not have+}"
    return [Cards("texts", "Question", (Card(title, tuple(fields)),))]


def _answers(result: TurnList, record: TurnRecord) -> list[Block]:
    """Return the answers of the systems, each with its passages and unsupported sentences."""
    cards = []
    for name in _with("answer", result, record):
        own = record["systems"][name]
        told = [
            system_name(name),
            *(own[key].replace("_", " ") for key in ("kind", "outcome") if key in own),
        ]  # type: ignore[literal-required]
        fields = [("Answer", own["answer"] or "(no answer)")]
        if own.get("unsupported"):
            fields.append(("Unsupported sentences", "\n".join(own["unsupported"])))
        for passage, grade in own.get("given", ()):
            text = beginning(result.passages.get(passage, ""), _PASSAGE) or "(no text)"
            fields.append((f"Given: {passage}{_graded(grade)}", text))
        cards.append(Card(" · ".join(told), tuple(fields)))
    gold = [("Gold answer", text) for text in record["gold"]]
    if gold:
        cards.append(Card("Gold", tuple(gold)))
    return [Cards("answers", "Answers", tuple(cards))] if cards else []


def _with(key: str, result: TurnList, record: TurnRecord) -> list[str]:
    """Return the shown systems whose record has a key, else the first systems that have it."""
    known = [name for name, own in record["systems"].items() if key in own]
    return [name for name in result.systems if name in known] or known[:_SIDES]


def _graded(grade: int | None) -> str:
    return " (unjudged)" if grade is None else f" (grade {grade})"


def _sides(result: TurnList, record: TurnRecord) -> list[str]:
    """Return the two systems whose rankings are compared: the last two shown, such as QR and Human."""
    return _with("ranking", result, record)[-_SIDES:]


def _rankings(result: TurnList, record: TurnRecord) -> TableBlock | None:
    """Return the top of two rankings side by side; the rank in the other joins equal passages."""
    names = _sides(result, record)
    if not names:
        return None
    tops = [record["systems"][name].get("ranking", []) for name in names]
    columns = [Column("Rank")]
    for name in names:
        columns += [
            Column("passage", "left", system_name(name)),
            Column("grade", "right", system_name(name)),
        ]
        if len(names) > 1:
            columns.append(Column("other", "right", system_name(name)))
    ranks = [{passage: rank for rank, (passage, _) in enumerate(top, 1)} for top in tops]
    rows = []
    for rank, row in enumerate(zip_longest(*(top[:READ] for top in tops)), 1):
        cells = [str(rank)]
        for side, graded in enumerate(row):
            cells += _cells(graded, ranks[1 - side] if len(names) > 1 else None)
        rows.append(tuple(cells))
    note = (
        "–: unjudged."
        if len(names) < _SIDES
        else "–: unjudged. Other: rank of the passage in the other ranking."
    )
    return TableBlock("rankings", f"Top {READ} passages", tuple(columns), tuple(rows), note)


def _cells(graded: Graded | None, other: dict[str, int] | None) -> list[str]:
    if graded is None:
        return [""] * (2 if other is None else 3)
    passage, grade = graded
    cells = [passage, "–" if grade is None else str(grade)]
    if other is not None:
        cells.append(str(other.get(passage, "")))
    return cells


def _passages(result: TurnList, record: TurnRecord) -> list[Block]:
    """Return the beginnings of the first passages of both rankings, each once."""
    grades: dict[str, int | None] = {}
    for name in _sides(result, record):
        for passage, grade in record["systems"][name].get("ranking", [])[:_TEXTS]:
            grades[passage] = grade
    fields = [
        (f"{passage}{_graded(grade)}", beginning(result.passages[passage], _PASSAGE))
        for passage, grade in grades.items()
        if passage in result.passages
    ]
    return (
        [
            Cards(
                "passages",
                "Passages",
                (Card(f"The first {_TEXTS} of each ranking", tuple(fields)),),
            )
        ]
        if fields
        else []
    )


def _causes(result: TurnList, record: TurnRecord) -> Sequence[str]:
    """Return scores, first relevant ranks and the cause of each system in words."""
    found = []
    for name in _with("scores", result, record):
        own = record["systems"][name]
        scores = [f"{measure_label(one)} {score(value)}" for one, value in own["scores"].items()]
        parts = [", ".join(scores)] if scores else []
        parts += _first(own)
        if result.cut is not None:
            cause = own.get("cause", {}).get("".join(result.cut))
            if cause is not None:
                why = _WHY[cause].format(system=system_name(name))
                parts.append(f"{why} (correct: {cut_label(result.cut)})")
        if parts:
            found.append(f"{system_name(name)}: {'; '.join(parts)}.")
    return found
