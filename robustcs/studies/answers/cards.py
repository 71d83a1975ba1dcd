"""Turns to read: conversation, rewrite, passages with the gold ones marked, and the answer with its sentences marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import LayeredText, Layers
from robustcs.evaluation.outcomes import ANSWERABLE, LOST
from robustcs.lazy import pd
from robustcs.project.answer_passages import MadeOf
from robustcs.project.answered import AnswerInputs
from robustcs.similarity.texts import content_words
from robustcs.studies.answers.analysis import Answers
from robustcs.studies.answers.show import named
from robustcs.wording import system_name

#: Outcomes to read, those that tell most first; turns of each for one system; turns in all; characters of a passage.
_ORDER = ("made_up", "refused", "wrong", "hedged", *LOST)
_EACH, _MOST, _LENGTH = 2, 24, 400
_NAMES = {"original": "Question", "qr": "Rewrite", "human": "Human rewrite"}


def turns_to_read(result: Answers, inputs: AnswerInputs, made_of: MadeOf, texts: Mapping[str, str] | None) -> Layers | None:
    """Return the turns that tell most: of every system, the first with an error, and with sentences without support."""
    rows = result.turns
    # to abstain is right unless the turn has an answer
    errors = rows[~rows["outcome"].isin(LOST) | rows["kind"].isin(ANSWERABLE)]
    chosen = [
        errors[errors["outcome"] == outcome].groupby("system", sort=False).head(_EACH) for outcome in dict.fromkeys(_ORDER)
    ]
    invented = rows.sort_values("unsupported", ascending=False, kind="stable")
    chosen.append(invented[invented["unsupported"] > 0].groupby("system", sort=False).head(_EACH))
    listed = pd.concat(chosen).drop_duplicates(["system", "turn"]).head(_MOST)
    if not len(listed):
        return None
    read = tuple(_text(row, inputs, made_of, texts or {}) for row in listed.itertuples(index=False))
    return Layers("read", "Turns with errors, the component that lost each, and the sentences that the passages support", read)


def _text(row: Any, inputs: AnswerInputs, made_of: MadeOf, texts: Mapping[str, str]) -> LayeredText:
    answer, turn = inputs.responses[row.system].get(row.turn, ""), row.turn
    told = [f"{named(row.kind)} question", named(row.outcome)]
    told += [f"lost by {row.cause}"] if row.cause not in ("", "none") else []
    conversation = inputs.conversation(turn)
    fields = [("Conversation", "\n".join(f"{speaker}: {text}" for speaker, text in conversation))] if conversation else []
    parts = inputs.workspace.project.formulations.values()
    for part in (part for part in parts if not (conversation and part.role == "original")):
        if text := inputs.workspace.texts.get(part.name, {}).get(turn, ""):
            fields.append((_NAMES[part.role] + (f" ({part.name})" if part.name != part.role else ""), text))
    gold, given = inputs.gold.get(turn, frozenset()), made_of.given[row.system]
    for place, passage in enumerate((given or {}).get(turn, ()), 1):
        text = texts.get(passage, "")
        shown = text if len(text) <= _LENGTH else f"{text[:_LENGTH].rstrip()}…"
        fields.append((f"Passage {place}{' (gold)' if passage in gold else ''}", f"{passage}: {shown}".rstrip(": ")))
    if lacking := [passage for passage in sorted(gold) if given is not None and passage not in given.get(turn, ())]:
        fields.append(("Gold passages not given", ", ".join(lacking)))
    checked = None if given is None else inputs.checked(row.system, turn, given, texts, content_words)
    spans = {known: tuple((one.start, one.end) for one in checked or () if one.supported is known) for known in (True, False)}
    layers = (("supported by a passage", spans[True]), ("without support", spans[False]))
    return LayeredText(f"{turn}, {system_name(row.system)}: {'; '.join(told)}", tuple(fields), answer or "(no answer)", layers)
