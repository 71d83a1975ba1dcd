"""Run several copies of a program in parallel, and retry unanswered requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustcs.errors import UsageError
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import TIMEOUT, Replies, Track, ask_program
from robustcs.wording import counted


@dataclass(frozen=True)
class Asking:
    """Settings for running a program.

    copies
        Number of copies that run in parallel, each with a part of the requests.
    retries
        How often to retry a request without an answer or with ``error``. Answers that the caller rejects are not retried.
    timeout
        Seconds without a useful answer after which a copy is stopped.
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
    """Run a program as :func:`robustcs.programs.runner.ask_program` does, with retries.

    Raises :class:`UsageError` if the program cannot be started, or fails without a single answer.
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
        found, advice = f"--with {asking.command} {total.complaint}", "check it with robustcs try-program"
        raise UsageError("program-failed", found, advice)
    total.failed = len({str(request["id"]) for request in requests} - total.answers.keys())
    total.refused = {key: answer for key, answer in total.refused.items() if key not in total.answers}
    return total


def _open(key: str, replies: Replies) -> bool:
    """Return whether a request should be retried."""
    return key not in replies.answers and "error" in replies.refused.get(key, {"error": ""})


def ask_kept(
    asking: Asking,
    maker: str,
    requests: Mapping[str, Mapping[str, Any]],
    read: Callable[[Mapping[str, Any]], Any],
    doing: str,
    track: Track,
    about: Callable[[str], Mapping[str, Any]] = lambda key: {},
) -> tuple[dict[str, Any], int, Replies]:
    """Return key → ``read`` of its answer (None if it is useless), the number of stored answers, and the replies.

    Answers that ``maker`` gave to an equal request before are taken from the store. ``about`` returns fields of a request that
    do not affect the answer. Raises as :func:`ask_copies` does.
    """
    store = OutputStore()
    found = store.get(maker, requests)
    lines = [{"id": key, **about(key), **request} for key, request in requests.items() if key not in found]
    known = len(found)
    replies = ask_copies(
        asking, lines, lambda answers: store.put(maker, {key: read(answer) for key, answer in answers.items()}, requests),
        accept=lambda answer: read(answer) is not None, what=f"{doing} {counted(len(lines), 'text')}", track=track,
    )  # fmt: skip
    return found | {key: read(answer) for key, answer in replies.answers.items()}, known, replies
