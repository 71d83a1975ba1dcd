"""Messages that name options. What a message says is data, and each interface words it.

One error reaches users of the command line, who write ``--run NAME=FILE``, and users of Python, who write
``runs={NAME: FILE}``. So a message keeps an option as an :class:`OptionName`, not as a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias


class OptionName(NamedTuple):
    """An option.

    name
        Its name on the command line, without the hyphens before it: ``run``.
    value
        What to write for its value: ``FILE``, ``NAME=FILE``, ``own``. Empty if only the option is named.
    """

    name: str
    value: str = ""


class AnyOf(NamedTuple):
    """Options of which any serves: ``--run, --qr or --human``."""

    names: tuple[str, ...]


class Either(NamedTuple):
    """Words for what the interfaces do not only name differently."""

    command_line: str
    python: str


Part: TypeAlias = str | OptionName | AnyOf | Either


class Interface(Protocol):
    """The words of one interface."""

    def words(self, part: OptionName | AnyOf | Either) -> str:
        """Return a part of a message in words."""


class Message(str):
    """A message that names options. As a string, it has the words of the command line.

    parts
        Texts and options in order. A message among them counts as its parts.
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Message:
        """Join the parts."""
        flat: list[Part] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else [part]
        message = super().__new__(cls, _joined(flat, CommandLine()))
        message.parts = tuple(flat)
        return message


def worded(text: str, interface: Interface) -> str:
    """Return a message in the words of an interface; any other text is unchanged."""
    return _joined(text.parts, interface) if isinstance(text, Message) else text


def _joined(parts: tuple[Part, ...] | list[Part], interface: Interface) -> str:
    return "".join(part if isinstance(part, str) else interface.words(part) for part in parts)


@dataclass(frozen=True)
class CommandLine:
    """The words of the command line.

    names
        Option of other commands → the option of this command for the same files.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def words(self, part: OptionName | AnyOf | Either) -> str:
        """Return ``--run NAME=FILE``."""
        if isinstance(part, Either):
            return part.command_line
        if isinstance(part, AnyOf):
            return _or([self._option(name) for name in part.names])
        option = self._option(part.name)
        return f"{option} {part.value}" if part.value else option

    def _option(self, name: str) -> str:
        return f"--{self.names.get(name, name)}"


@dataclass(frozen=True)
class Python:
    """The words of Python.

    names
        See :class:`CommandLine`.
    keywords
        Option → keyword, where its name differs not only in hyphens.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    keywords: Mapping[str, str] = field(default_factory=dict)

    def words(self, part: OptionName | AnyOf | Either) -> str:
        """Return ``runs={NAME: FILE}``: placeholders in upper case as they are, other words in quotes."""
        if isinstance(part, Either):
            return part.python
        if isinstance(part, AnyOf):
            return _or([self._keyword(name) for name in part.names])
        keyword = self._keyword(part.name)
        if not part.value:
            return keyword
        key, equals, value = part.value.partition("=")
        if equals:
            return f"{keyword}={{{quoted(key)}: {quoted(value)}}}"
        return f"{keyword}={quoted(key)}"

    def _keyword(self, name: str) -> str:
        option = self.names.get(name, name)
        return self.keywords.get(option, option.replace("-", "_"))


def quoted(word: str) -> str:
    """Return a word of a message for Python: a placeholder or a number as it is, any other word in quotes."""
    return word if word.upper() == word else repr(word)


def _or(words: list[str]) -> str:
    """Return ``a, b or c``, each word once."""
    *most, last = dict.fromkeys(words)
    return f"{', '.join(most)} or {last}" if most else last
