"""Counts and lists in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: Role of a formulation → its name in output for people.
FORMULATION_NAMES = {"original": "Original", "qr": "QR", "human": "Human"}
#: Share of the turns, or of the scores of a system, that may be missing without a limit.
MOST_MISSING = 0.05


def system_name(name: str) -> str:
    """Return the name of a system in output for people: ``QR`` for ``qr``; other names are unchanged."""
    return FORMULATION_NAMES.get(name, name)


def counted(number: int, what: str, plural: str = "") -> str:
    """Return ``1 turn``, ``2 turns``; ``plural`` is for plurals not formed with s."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def some_of(names: Sequence[str], most: int = 5) -> str:
    """Return at most ``most`` of the names: ``31_1, 31_2, 31_3 …``."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def turns_in_words(turns: Sequence[str]) -> str:
    """Return ``3 turns (31_1, 31_2, 31_3)``, with at most five turn ids."""
    return f"{counted(len(turns), 'turn')} ({some_of(turns)})"


def and_more(total: int, named: int) -> str:
    """Return `` and 7 more`` for the items that are not named, or an empty text."""
    return f" and {total - named:,} more" if total > named else ""


def verb(number: int, one: str, several: str) -> str:
    """Return the form of a verb for a number: ``verb(1, "has", "have")``."""
    return one if number == 1 else several


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return at most ``most`` of the names and the number of others: ``a, b, c, d, e and 2 others``."""
    every = list(names)
    return ", ".join(every[:most]) + (
        f" and {counted(len(every) - most, 'other')}" if len(every) > most else ""
    )


def shortened(files: Sequence[str], most: int = 5) -> list[str]:
    """Return the skipped rows of at most ``most`` files, and the number of other files."""
    more = len(files) - most
    return [
        *files[:most],
        *([f"rows of {counted(more, 'other file')} skipped"] if more > 0 else []),
    ]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that is most like a misspelled one; empty if none is like it."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1)), "")


def told_once(notes: Iterable[tuple[str, str, str]]) -> list[str]:
    """Merge notes (text, name, text) that differ only in the name: ``no text of t5, gpt for 2 turns``."""
    names: dict[tuple[str, str], dict[str, None]] = {}
    for before, name, after in notes:
        names.setdefault((before, after), {})[name] = None
    return [f"{before}{listed(found)}{after}" for (before, after), found in names.items()]


class Note(str):
    """A note on a system, a file or another subject; :func:`merged` joins notes of one kind.

    kind
        What is true of every subject; notes of one kind have the same.
    about
        Subjects, each with what is true of it alone.
    """

    kind: str
    about: tuple[tuple[str, str], ...]

    @classmethod
    def made(cls, text: str, kind: str, about: Iterable[tuple[str, str]]) -> Note:
        """Return a note from its parts."""
        note = cls(text)
        note.kind, note.about = kind, tuple(about)
        return note

    @classmethod
    def of(cls, name: str, detail: str, kind: str, alone: str = "") -> Note:
        """Return a note on one subject: ``NAME: DETAIL KIND``, or the text ``alone``."""
        return cls.made(
            alone or " ".join(filter(None, (f"{name}:", detail, kind))), kind, [(name, detail)]
        )

    @classmethod
    def renamed(cls, note: str, old: str, new: str) -> str:
        """Return a note with another name of its subject."""
        text, kind, about = cls.parts(note)
        names = ((new if name == old else name, detail) for name, detail in about)
        return (
            cls.made(text.replace(old, new, 1), kind, names) if about else text.replace(old, new, 1)
        )

    @classmethod
    def parts(cls, note: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """Return text, kind and subjects of any note; one without a subject is its own kind."""
        return (str(note), note.kind, note.about) if isinstance(note, cls) else (note, note, ())


def merged(notes: Iterable[str]) -> tuple[str, ...]:
    """Return each note once, those of one kind as one note: ``a (2 turns), b (1 turn) and 3 others: KIND``."""
    found: dict[tuple[str, bool], list[str]] = {}
    for note in notes:
        _, kind, about = Note.parts(note)
        found.setdefault((kind, bool(about)), []).append(note)
    return tuple(_merged(kind, some) for (kind, _), some in found.items())


def _merged(kind: str, notes: Sequence[str]) -> str:
    about = dict.fromkeys(one for note in notes for one in Note.parts(note)[2])
    if len(about) < 2:
        return notes[0]
    names = listed(f"{name} ({detail})" if detail else name for name, detail in about)
    return Note.made(f"{names}: {kind}", kind, about)


def first_of(parts: Sequence[str], most: int) -> str:
    """Return the first ``most`` parts, and the number of further parts."""
    more = f"; {len(parts) - most:,} more in the table" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more


def missing_scores(system: str, missing: int, turns: int) -> str:
    """Return ``8 of 45 scores of tuesday are missing``."""
    return f"{missing} of {counted(turns, 'score')} of {system_name(system)} {verb(missing, 'is', 'are')} missing"


def many_missing(missing: Mapping[str, tuple[int, int]]) -> str:
    """Return :func:`missing_scores` of the systems, the start of every claim; empty if at most 5% of each are missing.

    missing
        System → number of missing scores, and of all.
    """
    some = {name: (lost, turns) for name, (lost, turns) in missing.items() if lost}
    if not any(lost > MOST_MISSING * turns for lost, turns in some.values()):
        return ""
    return first_of([missing_scores(name, *numbers) for name, numbers in some.items()], 3)


def sentences(notes: Iterable[str]) -> str:
    """Turn notes into sentences to append, each once, with a capital letter and a full stop."""
    return "".join(f" {note[0].upper()}{note[1:]}." for note in dict.fromkeys(notes) if note)
