"""Counts and lists in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: Role of a formulation → its name in output for people.
FORMULATION_NAMES = {"original": "Original", "qr": "QR", "human": "Human"}


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


def told_once(notes: Iterable[tuple[str, str, str]]) -> list[str]:
    """Merge notes (text, name, text) that differ only in the name: ``no text of t5, gpt for 2 turns``."""
    names: dict[tuple[str, str], list[str]] = {}
    for before, name, after in notes:
        names.setdefault((before, after), []).append(name)
    return [f"{before}{', '.join(dict.fromkeys(found))}{after}" for (before, after), found in names.items()]


def first_of(parts: Sequence[str], most: int) -> str:
    """Return the first ``most`` parts, and the number of further parts."""
    more = f"; {len(parts) - most:,} more in the table" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more


def sentences(notes: Iterable[str]) -> str:
    """Turn notes into sentences to append, each once, with a capital letter and a full stop."""
    return "".join(f" {note[0].upper()}{note[1:]}." for note in dict.fromkeys(notes) if note)
