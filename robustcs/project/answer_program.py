"""A program of the user that says what each answer did and which of its sentences the passages support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from robustcs.errors import UsageError
from robustcs.inputs.answer_traces import RESPONSES, Response
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import Track, ask_program, program_identity
from robustcs.wording import counted

#: (system, turn).
Key = tuple[str, str]


class Said(NamedTuple):
    """What the program said of an answer; None for what it left open. ``supported``: by sentence, None if not compared."""

    response: Response | None
    supported: Sequence[bool | None] | None


@dataclass(frozen=True)
class Program:
    """The command, and what it said of every answer; ``notes`` report failures."""

    command: str
    track: Track
    store: OutputStore = field(default_factory=OutputStore)

    def ask(self, requests: Mapping[Key, Mapping[str, Any]]) -> tuple[dict[Key, Said], list[str]]:
        """Return the answers of the program by key, and a note on those without one. Stored answers are not asked again.

        Each request has ``question``, ``answer``, ``sentences`` and ``passages`` (id and text). An answer has ``response``,
        ``supported`` (true, false or null by sentence), or both.

        Raises :class:`UsageError` if the program cannot be started or gives no usable answer.
        """
        keys = {str(number): key for number, key in enumerate(requests)}
        asked: dict[str, Mapping[str, Any]] = {number: requests[key] for number, key in keys.items()}
        maker = f"answers {program_identity(self.command)}"
        found = dict(self.store.get(maker, asked))
        open_ = [{"id": number, **request} for number, request in asked.items() if number not in found]
        complaint = ""
        if open_:
            replies = ask_program(
                self.command, open_, lambda fresh: self.store.put(maker, fresh, asked), accept=_usable, what="asking",
                track=self.track,
            )  # fmt: skip
            found |= replies.answers
            complaint = replies.complaint
        said = {keys[number]: one for number, reply in found.items() if (one := _said(reply, asked[number]))}
        lacking = len(requests) - len(said)
        if requests and not said:
            why = f"it {complaint}" if complaint else "its answers have neither response nor supported"
            raise UsageError("no-answers", f"--with {self.command}: no usable answer ({why})", "see docs/programs.md")
        note = f"the program gave no usable answer to {counted(lacking, 'request')}; words decide there"
        return said, [note] if lacking else []


def _usable(reply: Mapping[str, Any]) -> bool:
    supported = reply.get("supported")
    fits = supported is None or (isinstance(supported, list) and all(one in (True, False, None) for one in supported))
    return fits and reply.get("response") in (None, *RESPONSES) and ("response" in reply or "supported" in reply)


def _said(reply: Mapping[str, Any], request: Mapping[str, Any]) -> Said | None:
    supported = reply.get("supported")
    if supported is not None and len(supported) != len(request["sentences"]):
        return None
    return Said(reply.get("response"), None if supported is None else [None if one is None else bool(one) for one in supported])
