"""Rule-based variations of turns, each labelled with its category. Rules need no model, and a seed gives the same texts on
every machine.

Each rule returns the varied text, or None if the text does not meet the rule's conditions. Sources: Penha, Câmara and Hauff
(2022), "Evaluating the robustness of retrieval pipelines with query variation generators" (misspelling, ordering, naturality);
Dalton et al. (2020), "CAsT 2019" (references and omissions in conversations).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from robustcs.conversations import Conversations
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result, count, share, table, text
from robustcs.similarity import function_words as grammar
from robustcs.similarity.function_words import (
    Word,
    adjacent,
    end_of_run,
    is_negation,
    tidy,
    words_of,
)
from robustcs.similarity.paraphrases import text_key
from robustcs.wording import counted

#: A name that continues: Sanders', the Lotus Elise/Exige, Washington D.C., the regulation (GDPR).
_GOES_ON = re.compile(r"['’]|[/.]\w| *\(")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
#: The fewest letters of a word to misspell; in shorter ones a typo often makes another word.
_LEAST_LETTERS = 4


def drawn(seed: int, category: str, text: str, choices: int) -> int:
    """Return one of ``choices`` places by a hash: random, yet the same on every machine."""
    digest = hashlib.sha256(f"{seed}\0{category}\0{text}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") % choices


# ---------------------------------------------------------------- variations that depend on the conversation


@dataclass(frozen=True)
class Antecedent:
    """A phrase of this question that an earlier question contains: words ``first`` to ``last``, including a determiner."""

    first: int
    named: int
    last: int


def antecedent(text: str, earlier: Sequence[str]) -> Antecedent | None:
    """Return the longest run of content words that an earlier question contains too and that looks like a noun phrase.

    Conditions: a determiner, a preposition, an auxiliary other than a form of *to be*, a capital, or nothing comes before it,
    but not ``to``, which opens a verb; it is not a single word in -ing; no content word is directly before or after it, except
    the verb after an auxiliary (does honey spoil); it does not continue with ``of``, ``and``, ``or`` or a bracket.
    """
    words = words_of(text)
    known = [[word.name for word in words_of(other)] for other in earlier]
    best: Antecedent | None = None
    for start, word in enumerate(words):
        if word.grammar or (
            start and not words[start - 1].grammar and adjacent(text, words[start - 1], word)
        ):
            continue
        for last in range(end_of_run(text, words, start), start - 1, -1):
            names = [one.name for one in words[start : last + 1]]
            if any(_contains(other, names) for other in known):
                found = _noun_phrase(text, words, start, last)
                if found and (best is None or last - start > best.last - best.named):
                    best = found
                break
    return best


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    return any(
        words[place : place + len(part)] == part for place in range(len(words) - len(part) + 1)
    )


def _noun_phrase(text: str, words: Sequence[Word], named: int, last: int) -> Antecedent | None:
    determined = named > 0 and words[named - 1].plain in grammar.DETERMINERS
    first = named - 1 if determined else named
    before = words[first - 1].plain if first else ""
    capital = text[words[named].start].isupper() and named > 0
    auxiliary = before in grammar.AUXILIARIES
    if before == "to" or (named == last and words[last].plain.endswith("ing")):
        return None
    if auxiliary and before in grammar.TO_BE and not (determined or capital):
        return None
    if not (determined or not before or before in grammar.PREPOSITIONS or auxiliary):
        return None
    after = words[last + 1] if last + 1 < len(words) else None
    if _GOES_ON.match(text, words[last].end) or (after and after.plain in ("of", "and", "or")):
        return None
    genitive = words[last].plain.endswith("'s")
    end = end_of_run(text, words, last)
    # does honey spoil: one word after it, which is the verb
    subject = (
        auxiliary
        and before not in grammar.NO_VERB_AFTER
        and end == last + 1
        and text[words[end].start].islower()
    )
    return Antecedent(first, named, last) if end == last or genitive or subject else None


def drop_antecedent(text: str, earlier: Sequence[str]) -> str | None:
    """Omit a phrase from an earlier question, with its preposition: what licences are needed (for a food truck)?

    Conditions: a preposition comes before the phrase; two words or more remain, one of them a content word.
    """
    found = antecedent(text, earlier)
    if found is None or not found.first:
        return None
    words = words_of(text)
    if words[found.first - 1].plain not in grammar.PREPOSITIONS or words[found.last].plain.endswith(
        "'s"
    ):
        return None
    left = [*words[: found.first - 1], *words[found.last + 1 :]]
    if not _says_something(left):
        return None
    return tidy(text[: words[found.first - 1].start] + text[words[found.last].end :])


def use_pronoun(text: str, earlier: Sequence[str]) -> str | None:
    """Replace a phrase from an earlier question by a pronoun: why does (honey) it never rot?

    Conditions: two words or more remain besides the pronoun, one of them a content word.
    """
    found = antecedent(text, earlier)
    if found is None:
        return None
    words = words_of(text)
    if not _says_something([*words[: found.first], *words[found.last + 1 :]]):
        return None
    name = words[found.last]
    plural = name.name.endswith("s") and not name.name.endswith(("ss", "us", "is", "ics"))
    subject = not found.first or words[found.first - 1].plain in grammar.AUXILIARIES
    several = "they" if subject else "them"
    pronoun = "its" if name.plain.endswith("'s") else several if plural else "it"
    if not text[: words[found.first].start].strip():
        pronoun = pronoun.capitalize()
    return text[: words[found.first].start] + pronoun + text[name.end :]


# ---------------------------------------------------------------- variations of the wording alone


def misspell(text: str, seed: int) -> str | None:
    """Replace one letter of one content word by a neighbour on the keyboard, never the first letter.

    Conditions: a content word has four or more letters from a to z; the result is no other word of the text.
    """
    words = [
        word for word in words_of(text) if not word.grammar and len(word.plain) >= _LEAST_LETTERS
    ]
    words = [word for word in words if word.plain.isascii() and word.plain.isalpha()]
    if not words:
        return None
    word = words[drawn(seed, "typo word", text, len(words))]
    place = 1 + drawn(seed, "typo place", text, len(word.plain) - 1)
    near = _neighbours(word.plain[place])
    letter = near[drawn(seed, "typo letter", text, len(near))]
    at = word.start + place
    letter = letter.upper() if text[at].isupper() else letter
    varied = text[:at] + letter + text[at + 1 :]
    known = {other.plain for other in words_of(text)}
    return (
        None if word.plain[:place] + letter.lower() + word.plain[place + 1 :] in known else varied
    )


def _neighbours(letter: str) -> list[str]:
    """Return the keys next to a letter in its row, and those above and below it."""
    row = next(place for place, keys in enumerate(_ROWS) if letter in keys)
    column = _ROWS[row].index(letter)
    near = [
        (row, column - 1),
        (row, column + 1),
        (row - 1, column),
        (row - 1, column + 1),
        (row + 1, column - 1),
        (row + 1, column),
    ]
    return [_ROWS[i][j] for i, j in near if 0 <= i < len(_ROWS) and 0 <= j < len(_ROWS[i])]


def reorder(text: str, seed: int) -> str | None:
    """Exchange two content words. Condition: two content words differ."""
    words = [word for word in words_of(text) if not word.grammar]
    pairs = [
        (one, two)
        for place, one in enumerate(words)
        for two in words[place + 1 :]
        if one.plain != two.plain
    ]
    if not pairs:
        return None
    one, two = pairs[drawn(seed, "order", text, len(pairs))]
    first, second = text[one.start : one.end], text[two.start : two.end]
    return text[: one.start] + second + text[one.end : two.start] + first + text[two.end :]


def drop_function_words(text: str) -> str | None:
    """Keep only content words, pronouns and negations, like a query in a search box.

    Conditions: something is omitted; two words or more remain, one of them a content word.
    """
    words = words_of(text)
    kept = [
        word
        for word in words
        if not word.grammar or word.plain in grammar.PRONOUNS or is_negation(word.plain)
    ]
    if len(kept) == len(words) or not _says_something(kept):
        return None
    return " ".join(text[word.start : word.end] for word in kept)


def elide(text: str) -> str | None:
    """Omit the opening of the question: (What are) common treatments for it? The conversation provides it.

    Conditions: the opening has two words or more, begins with a question word or an auxiliary, and contains no negation; two
    words or more remain, one of them a content word.
    """
    words = words_of(text)
    content = grammar.DETERMINERS | grammar.POSSESSIVES
    opening = next(
        (place for place, word in enumerate(words) if not word.grammar or word.plain in content),
        len(words),
    )
    if opening < 2 or not ({words[0].plain} & (grammar.QUESTION_WORDS | grammar.AUXILIARIES)):
        return None
    if any(is_negation(word.plain) for word in words[:opening]) or not _says_something(
        words[opening:]
    ):
        return None
    rest = text[words[opening].start :]
    return rest[:1].upper() + rest[1:]


def _says_something(words: Sequence[Word]) -> bool:
    return len(words) > 1 and not all(word.grammar for word in words)


# ---------------------------------------------------------------- all rules


@dataclass(frozen=True)
class VariationRule:
    """A kind of variation: its category, a description, and the function ``(text, earlier texts, seed)``.

    leans
        The result depends on the conversation: it is made from the manual text and serves as a raw paraphrase only.
    later
        The rule applies only to later turns of a conversation.
    """

    category: str
    says: str
    make: Callable[[str, Sequence[str], int], str | None]
    leans: bool = False
    later: bool = False


RULES: tuple[VariationRule, ...] = (
    VariationRule("antecedent", "a phrase from an earlier question is omitted",
         lambda text, earlier, seed: drop_antecedent(text, earlier), leans=True, later=True),
    VariationRule("pronoun", "a pronoun replaces such a phrase", lambda text, earlier, seed: use_pronoun(text, earlier),
         leans=True, later=True),
    VariationRule("typo", "one letter becomes its neighbour on the keyboard", lambda text, earlier, seed: misspell(text, seed)),
    VariationRule("word order", "two content words are exchanged", lambda text, earlier, seed: reorder(text, seed)),
    VariationRule("function words", "function words are omitted", lambda text, earlier, seed: drop_function_words(text)),
    VariationRule("ellipsis", "the opening of the question is omitted", lambda text, earlier, seed: elide(text), later=True),
)  # fmt: skip


#: Turn → text.
TurnTexts = Mapping[str, str]


@dataclass(frozen=True)
class Variations(Result):
    """Labelled variations of turns."""

    study = "paraphrase"

    categories = table(
        "categories", "Variations by category.",
        text("category"), text("says", "what the rule changes", "change"), count("turns", "that the rule applies to"),
        count("valid", "turns with a variation: rows of the file"), share("share", "of the turns"),
    )  # fmt: skip
    variations = table(
        "variations", "Every variation, as in paraphrases.csv.",
        text("turn"), text("category"), text("manual", "understood without the conversation"),
        text("raw", "depends on the conversation"),
    )  # fmt: skip


def vary(original: TurnTexts, human: TurnTexts, evaluated: Evaluated, seed: int) -> Variations:
    """Apply every rule to every turn of ``original`` (raw) and ``human`` (manual): turn → text; either may be empty.

    A rule that omits or replaces a phrase from an earlier question changes the manual text. Its result depends on the
    conversation, so it becomes the raw paraphrase of the unchanged manual text. The other rules change both texts. A variation
    is skipped if nothing changed or an earlier row of the turn has the same texts. If a turn has only one of the two texts, it
    serves as both.
    """
    turns = sorted({*original, *human}, key=turn_sort_key)
    conversations = evaluated.conversations_of(turns)
    raw = {turn: original.get(turn) or human[turn] for turn in turns}
    manual = {turn: human.get(turn) or original[turn] for turn in turns}
    before = {
        kind: earlier_texts(turns, texts, conversations)
        for kind, texts in (("raw", raw), ("manual", manual))
    }
    rows: dict[str, list[tuple[str, str, str, str]]] = {rule.category: [] for rule in RULES}
    tried = dict.fromkeys(rows, 0)
    for turn in turns:
        seen = {(text_key(manual[turn]), text_key(raw[turn]))}
        for rule in RULES:
            if rule.later and not before["manual"][turn]:
                continue
            tried[rule.category] += 1
            found = _varied(
                rule, manual[turn], raw[turn], before["manual"][turn], before["raw"][turn], seed
            )
            key = text_key(found[0]), text_key(found[1])
            if key not in seen:
                seen.add(key)
                rows[rule.category].append((turn, rule.category, *found))
    categories = [
        (
            rule.category,
            rule.says,
            turns_,
            made := len(rows[rule.category]),
            made / turns_ if turns_ else math.nan,
        )
        for rule, turns_ in zip(RULES, tried.values(), strict=True)
    ]
    place = {turn: number for number, turn in enumerate(turns)}
    ordered = sorted((row for some in rows.values() for row in some), key=lambda row: place[row[0]])
    notes = (*evaluated.notes, *_notes(turns, original, human))
    evaluated = replace(evaluated, turns=len(turns), notes=notes)
    return Variations(
        evaluated, content=Variations.built(categories=categories, variations=ordered)
    )


def earlier_texts(
    turns: Sequence[str], texts: TurnTexts, conversations: Conversations
) -> dict[str, list[str]]:
    """Return for each turn the texts of the earlier turns of its conversation; ``turns`` are in natural order."""
    return {
        turn: [texts[one] for one in earlier]
        for turn, earlier in conversations.earlier(turns).items()
    }


def _varied(
    rule: VariationRule,
    manual: str,
    raw: str,
    before_manual: Sequence[str],
    before_raw: Sequence[str],
    seed: int,
) -> tuple[str, str]:
    """Return the manual and the raw text after a rule; a text that the rule cannot change stays as it is."""
    if rule.leans:
        found = rule.make(manual, before_manual, seed)
        return (manual, found) if found else (manual, raw)
    return rule.make(manual, before_manual, seed) or manual, rule.make(raw, before_raw, seed) or raw


def _notes(turns: Sequence[str], original: TurnTexts, human: TurnTexts) -> list[str]:
    notes = []
    for name, texts, other in (("Original", original, "Human"), ("Human", human, "Original")):
        lacking = [turn for turn in turns if turn not in texts]
        if lacking:
            notes.append(
                f"{counted(len(lacking), 'turn')} without the {name} text: {other} is used instead"
            )
    return notes
