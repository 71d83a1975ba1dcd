"""Which texts are Original and which are Human, and what in their contents confirms it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from robustcs.project.families import FormulationTexts
from robustcs.project.model import Role
from robustcs.project.scan import plain_words
from robustcs.project.text_run_match import FEW, words
from robustcs.wording import counted

#: Human texts or rankings that equal those of Original in a larger share of turns are not of rewrites.
_MOST_EQUAL = 0.9
#: Smallest share of the turns with different texts in which Human must be longer than Original. It is 87% to 94% on CAsT 2019
#: to 2021 and CANARD, 61% for the rewrites of MTRAG's rewriter, and near 0 if the two are swapped.
_LONGER = 0.75
#: Files with this share of the turns of the most complete one count as equally complete.
_COMPLETE = 0.95


@dataclass
class Chosen:
    """Texts of Original and Human.

    texts
        Role → the texts that are used.
    offered
        Role → texts of other files with the same role by name or field, with other texts.
    refused
        Files that are Human by name or field, but not by their texts, and why.
    """

    texts: dict[Role, FormulationTexts] = field(default_factory=dict)
    offered: dict[Role, list[FormulationTexts]] = field(default_factory=dict)
    refused: list[tuple[FormulationTexts, str]] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the texts differ as Original and Human do: where they differ, Human is usually longer."""
        if len(self.texts) < 2:
            return False
        original, human = (self.texts[role].texts for role in ("original", "human"))
        pairs = [
            (words(original[turn]), words(human[turn])) for turn in original.keys() & human.keys()
        ]
        longer = [len(new) > len(old) for old, new in pairs if new != old]
        return len(longer) >= FEW and sum(longer) >= _LONGER * len(longer)


def choose(texts: Sequence[FormulationTexts], turns: Collection[str]) -> Chosen:
    """Choose the texts of Original and Human among all with this role by field or by the name of their own file.

    Of the most complete files, the one with fields for most formulations is used, then the one with the shortest name.
    """
    found = Chosen()
    for role in ("original", "human"):
        candidates = [one for one in texts if one.role == role]
        most = max((len(one.texts.keys() & turns) for one in candidates), default=0)
        ranks = {one: _rank(one, turns, most) for one in candidates}
        for one in sorted(candidates, key=ranks.__getitem__):
            same, of = (
                _equal(one.texts, found.texts["original"].texts)
                if "original" in found.texts
                else (0, 0)
            )
            if role == "human" and of >= FEW and same > _MOST_EQUAL * of:
                found.refused.append(
                    (one, f"equals the Original texts in {same} of {of} turns, so it is not Human")
                )
            elif role not in found.texts:
                found.texts[role] = one
            else:
                same, of = _equal(one.texts, found.texts[role].texts)
                if of and same <= _MOST_EQUAL * of:
                    found.offered.setdefault(role, []).append(one)
    return found


def no_human_run(found: Chosen, alike: Mapping[str, bool]) -> str:
    """Return why a run that is Human by name is not Human; empty if nothing shows this.

    alike
        Turn that it and the run of Original answer → whether their rankings are equal.
    """
    same = sum(alike.values())
    if len(alike) >= FEW and same > _MOST_EQUAL * len(alike):
        return f"equals the rankings of Original in {same} of {counted(len(alike), 'turn')}, so it is not Human"
    if found.refused and "human" not in found.texts:
        one, why = found.refused[0]
        return f"its texts are rejected: {one.named[0]} {why}"
    return ""


def are_rewrites(one: FormulationTexts, ends: Iterable[FormulationTexts]) -> bool:
    """Return whether texts are further wordings of the questions in ``ends``, the texts of Original and Human.

    They are if they equal one of them in some turns and differ from each in others: a rewriter keeps questions that need no
    context.
    """
    pairs = [_equal(one.texts, end.texts) for end in ends]
    return any(same >= FEW for same, _ in pairs) and all(of - same >= FEW for same, of in pairs)


def _rank(one: FormulationTexts, turns: Collection[str], most: int) -> tuple[object, ...]:
    own = len(one.texts.keys() & turns)
    further = 0 if one.column else len(plain_words(one.file.stem))
    return own < _COMPLETE * most, -one.fields, further, len(one.file.stem), -own, one.named


def _equal(texts: Mapping[str, str], others: Mapping[str, str]) -> tuple[int, int]:
    """Return the number of turns with equal texts, and of turns with both texts."""
    both = texts.keys() & others.keys()
    return sum(words(texts[turn]) == words(others[turn]) for turn in both), len(both)
