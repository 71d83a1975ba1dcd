"""Rule-based variations of turns, each labelled with its category.

Sources: Penha, Câmara and Hauff (2022), "Evaluating the robustness of retrieval pipelines with query variation generators"
(misspelling, ordering, naturality); Dalton et al. (2020), "CAsT 2019" (references and omissions in conversations).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustcs.inputs.turns import conversation, turn_depth, turn_sort_key
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, share, table, text
from robustcs.similarity.near_duplicates import text_key
from robustcs.studies.paraphrase.vary import RULES, Rule
from robustcs.wording import counted, some_of

Texts = Mapping[str, str]

_CATEGORIES = table(
    "categories", "Variations by category.",
    text("category"), text("says", "what the rule changes", "change"), count("turns", "that the rule applies to"),
    count("valid", "turns with a variation: rows of the file"), share("share", "of the turns"),
    count("manual", "manual texts that changed"), count("raw", "raw texts that changed"),
)  # fmt: skip
_VARIATIONS = table(
    "variations", "Every variation, as in paraphrases.csv.",
    text("turn"), text("category"), text("manual", "understood without the conversation"),
    text("raw", "depends on the conversation"),
)  # fmt: skip


@dataclass(frozen=True)
class Variations(Result):
    """Labelled variations of turns."""

    study = "paraphrase"
    declared = (_CATEGORIES, _VARIATIONS)

    categories: pd.DataFrame
    variations: pd.DataFrame


def vary(original: Texts, human: Texts, evaluated: Evaluated, seed: int) -> Variations:
    """Apply every rule to every turn of ``original`` (raw) and ``human`` (manual): turn → text; either may be empty.

    A rule that omits or replaces a phrase from an earlier question changes the manual text. Its result depends on the
    conversation, so it becomes the raw paraphrase of the unchanged manual text. The other rules change both texts. A variation
    is skipped if nothing changed or an earlier row of the turn has the same texts. If a turn has only one of the two texts, it
    serves as both.
    """
    known = sorted({*original, *human}, key=turn_sort_key)
    turns = [turn for turn in known if turn_depth(turn) is not None]
    raw = {turn: original.get(turn) or human[turn] for turn in turns}
    manual = {turn: human.get(turn) or original[turn] for turn in turns}
    before = {kind: earlier_texts(turns, texts) for kind, texts in (("raw", raw), ("manual", manual))}
    rows: dict[str, list[tuple[str, str, str, str]]] = {rule.category: [] for rule in RULES}
    tried = dict.fromkeys(rows, 0)
    for turn in turns:
        seen = {(text_key(manual[turn]), text_key(raw[turn]))}
        for rule in RULES:
            if rule.later and not before["manual"][turn]:
                continue
            tried[rule.category] += 1
            found = _varied(rule, manual[turn], raw[turn], before["manual"][turn], before["raw"][turn], seed)
            key = text_key(found[0]), text_key(found[1])
            if key not in seen:
                seen.add(key)
                rows[rule.category].append((turn, rule.category, *found))
    categories = [
        (rule.category, rule.says, tried[rule.category], *_counts(rows[rule.category], tried[rule.category], manual, raw))
        for rule in RULES
    ]
    place = {turn: number for number, turn in enumerate(turns)}
    ordered = sorted((row for some in rows.values() for row in some), key=lambda row: place[row[0]])
    notes = (*evaluated.notes, *_notes(known, turns, original, human))
    evaluated = Evaluated(evaluated.policy, "texts", len(turns), 0, notes)
    return Variations(evaluated, _CATEGORIES.frame(categories), _VARIATIONS.frame(ordered))


def earlier_texts(turns: Sequence[str], texts: Texts) -> dict[str, list[str]]:
    """Return for each turn the texts of the earlier turns of its conversation; ``turns`` are in natural order."""
    so_far: dict[str, list[str]] = {}
    found = {}
    for turn in turns:
        known = so_far.setdefault(conversation(turn), [])
        found[turn] = list(known)
        known.append(texts[turn])
    return found


def _varied(
    rule: Rule, manual: str, raw: str, before_manual: Sequence[str], before_raw: Sequence[str], seed: int
) -> tuple[str, str]:
    """Return the manual and the raw text after a rule; a text that the rule cannot change stays as it is."""
    if rule.leans:
        found = rule.make(manual, before_manual, seed)
        return (manual, found) if found else (manual, raw)
    return rule.make(manual, before_manual, seed) or manual, rule.make(raw, before_raw, seed) or raw


def _counts(rows: Sequence[tuple[str, str, str, str]], tried: int, manual: Texts, raw: Texts) -> tuple[int, float, int, int]:
    changed = [sum(row[2 + place] != texts[row[0]] for row in rows) for place, texts in enumerate((manual, raw))]
    return len(rows), len(rows) / tried if tried else float("nan"), *changed  # type: ignore[return-value]


def _notes(known: Sequence[str], turns: Sequence[str], original: Texts, human: Texts) -> list[str]:
    notes = []
    if len(turns) < len(known):
        placeless = [turn for turn in known if turn_depth(turn) is None]
        notes.append(f"{counted(len(placeless), 'turn')} excluded: no place in a conversation in the id ({some_of(placeless)})")
    for name, texts, other in (("Original", original, "Human"), ("Human", human, "Original")):
        lacking = [turn for turn in turns if turn not in texts]
        if lacking:
            notes.append(f"{counted(len(lacking), 'turn')} without the {name} text: {other} is used instead")
    return notes
