"""Numbers of things and lists of them in words, said once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(number: int, what: str, plural: str = "") -> str:
    """``1 turn``, ``2 turns``; ``plural`` where it is not formed with s."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def some_of(names: Sequence[str], most: int = 5) -> str:
    """``31_1, 31_2, 31_3 …``: at most ``most`` of the names."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def and_more(total: int, named: int) -> str:
    """`` and 7 more`` of what is not named, or nothing."""
    return f" and {total - named:,} more" if total > named else ""


def verb(number: int, one: str, several: str) -> str:
    """The form of a verb that goes with a number: ``verb(1, "has", "have")``."""
    return one if number == 1 else several


def told_once(notes: Iterable[tuple[str, str, str]]) -> list[str]:
    """Notes of (text, name, text) in one sentence where they differ in the name alone: ``no text of t5, gpt for 2 turns``."""
    names: dict[tuple[str, str], list[str]] = {}
    for before, name, after in notes:
        names.setdefault((before, after), []).append(name)
    return [f"{before}{', '.join(dict.fromkeys(found))}{after}" for (before, after), found in names.items()]


def first_of(parts: Sequence[str], most: int) -> str:
    """The first ``most`` of the parts, and how many more there are."""
    more = f"; {len(parts) - most} more stand in the table" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more


def sentences(notes: Iterable[str]) -> str:
    """Notes as sentences to be appended, each once: `` Each begins with a capital. And ends with a full stop.``"""
    return "".join(f" {note[0].upper()}{note[1:]}." for note in dict.fromkeys(notes) if note)
