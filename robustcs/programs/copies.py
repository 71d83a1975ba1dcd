"""How a program is asked: by several copies at the same time, and again for what they leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustcs.errors import UsageError
from robustcs.programs.runner import TIMEOUT, Replies, Track, ask_program


@dataclass(frozen=True)
class Asking:
    """How a program is asked.

    copies
        How many of it work at the same time, each on a part of the requests.
    retries
        How often a request without an answer, or with ``error``, is asked again. One whose answer the caller refuses is not.
    timeout
        Seconds without a useful answer after which a copy is ended.
    """

    command: str
    copies: int = 1
    retries: int = 0
    timeout: float = TIMEOUT


def ask_copies(
    asking: Asking,
    requests: Sequence[Mapping[str, Any]],
    keep: Callable[[Mapping[str, dict[str, Any]]], None] = lambda answers: None,
    *,
    accept: Callable[[dict[str, Any]], bool] = lambda answer: True,
    what: str = "asking",
    track: Track = lambda items, what, total: items,
) -> Replies:
    """As :func:`robustcs.programs.runner.ask_program`, with further tries.

    Raises :class:`UsageError` where the program cannot be started, or ends badly without a single answer.
    """
    total = Replies()
    left = list(requests)
    for _ in range(1 + asking.retries):
        replies = ask_program(
            asking.command, left, keep, accept=accept, what=what, timeout=asking.timeout, track=track, copies=asking.copies
        )
        total.take(replies)
        total.complaint = replies.complaint or total.complaint
        left = [one for one in left if _open(str(one["id"]), total)]
        if not left:
            break
    if total.complaint and not (total.answers or total.refused):
        found, advice = f"--with {asking.command} {total.complaint}", "robustcs try-program tells what is wrong with it"
        raise UsageError("program-failed", found, advice)
    total.failed = len({str(request["id"]) for request in requests} - total.answers.keys())
    total.refused = {key: answer for key, answer in total.refused.items() if key not in total.answers}
    return total


def _open(key: str, replies: Replies) -> bool:
    """Is a request worth another try?"""
    return key not in replies.answers and "error" in replies.refused.get(key, {"error": ""})
