"""Several copies of a program asked at the same time, and what they leave open asked again."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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
        Seconds without any line after which a copy is ended.
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
    """As :func:`robustcs.programs.runner.ask_program`, of several copies and with further tries.

    Whatever ends it, such as Ctrl-C, ends all copies with what they started, and what they had answered is kept.

    Raises :class:`UsageError` where the program cannot be started, or ends badly without a single answer.
    """
    total = Replies()
    left = list(requests)
    failure: UsageError | None = None
    for _ in range(1 + asking.retries):
        try:
            replies = _round(asking, left, keep, accept, what, track)
        except UsageError as error:
            if error.slug != "program-failed":
                raise
            failure = error
            continue
        total.take(replies)
        total.complaint = replies.complaint or total.complaint
        left = [one for one in left if _open(str(one["id"]), total)]
        if not left:
            break
    if failure and not (total.answers or total.refused):
        raise failure
    total.failed = len({str(request["id"]) for request in requests} - total.answers.keys())
    total.refused = {key: answer for key, answer in total.refused.items() if key not in total.answers}
    return total


def _open(key: str, replies: Replies) -> bool:
    """Is a request worth another try?"""
    return key not in replies.answers and "error" in replies.refused.get(key, {"error": ""})


def _round(
    asking: Asking,
    requests: Sequence[Mapping[str, Any]],
    keep: Callable[[Mapping[str, dict[str, Any]]], None],
    accept: Callable[[dict[str, Any]], bool],
    what: str,
    track: Track,
) -> Replies:
    """Ask every request once."""
    parts = [part for start in range(asking.copies) if (part := requests[start :: asking.copies])]
    answered: queue.Queue[None] = queue.Queue()
    stop, one_at_a_time = threading.Event(), threading.Lock()

    def kept(answers: Mapping[str, dict[str, Any]]) -> None:
        with one_at_a_time:
            keep(answers)

    def counted(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
        for item in items:
            answered.put(None)
            yield item

    def ask(part: Sequence[Mapping[str, Any]]) -> Replies:
        return ask_program(asking.command, part, kept, accept=accept, timeout=asking.timeout, track=counted, stop=stop)

    with ThreadPoolExecutor(max(len(parts), 1)) as pool:
        asked = [pool.submit(ask, part) for part in parts]
        try:
            for _ in track(_seen(answered, asked), what, len(requests)):
                pass
        finally:
            stop.set()
    return _joined(asked)


def _seen(answered: queue.Queue[None], asked: Sequence[Future[Replies]]) -> Iterator[None]:
    """One item for every answer, until all copies have ended."""
    while True:
        ended = all(one.done() for one in asked)
        try:
            yield answered.get(timeout=0.05)
        except queue.Empty:
            if ended:
                return


def _joined(asked: Sequence[Future[Replies]]) -> Replies:
    """What all copies said. Raises what the first of them raised, where no other answered anything."""
    errors = [error for one in asked if (error := one.exception())]
    for error in errors:
        if not isinstance(error, UsageError) or len(errors) == len(asked):
            raise error
    total = Replies(complaint=errors[0].found if errors and isinstance(errors[0], UsageError) else "")
    for one in asked:
        if one.exception():
            continue
        said = one.result()
        total.take(said)
        total.complaint = total.complaint or said.complaint
    return total
