"""``robustcs try-program``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

import click

from robustcs.errors import ExitCode, ProgramError
from robustcs.programs.runner import ProgramCall, Replies, call_program, printable
from robustcs.studies.signature import Opt
from robustcs.studies.study import Call
from robustcs.wording import counted

#: Seconds per answer above which the program is reported as slow.
_SLOW = 10.0


def try_program(
    call: Call,
    command: Annotated[str, Opt("COMMAND", argument=True)],
    *,
    protocol: Annotated[Literal["judge", "paraphrase"], Opt(flag="--for")] = "judge",
    timeout: Annotated[int, Opt("SECONDS", 1, 604_800, rare=True)] = 600,
) -> int:
    """Send three requests to your program and report problems with its answers.

    COMMAND is the program as you would pass it to --with of judge or paraphrase. The requests are about an invented
    conversation, and the answers are discarded. Exit code 0: the program works. Exit code 3: it does not work; the output gives
    the reasons.

    protocol
        Command whose requests are sent.

    timeout
        Stop the program after SECONDS without a usable answer.

    Examples:
      robustcs try-program 'python ask_model.py'
      robustcs try-program 'python my_model.py' --for paraphrase
    """
    requests, usable, wanted = _judge() if protocol == "judge" else _paraphrase()
    begin = time.monotonic()
    try:
        replies = call_program(ProgramCall(command, timeout=timeout), requests, accept=usable)
    except ProgramError as error:
        if error.slug != "no-such-program":
            raise
        click.echo(f"The program does not work:\n- {error.command}{error.what}; {error.advice}")
        return ExitCode.BAD_INPUT
    seconds = time.monotonic() - begin
    answers = counted(len(replies.answers), "usable answer")
    click.echo(f"{counted(len(requests), 'request')} of {protocol}: {answers} in {seconds:.1f} s")
    works = len(replies.answers) == len(requests) and not replies.complaint
    remarks = _remarks(replies, len(requests), wanted)
    if seconds > _SLOW * len(requests):
        remarks.append(f"it is slow: {seconds / len(requests):.0f} s per request")
    click.echo(
        "The program works" + (", but:" if remarks else ".")
        if works
        else "The program does not work:"
    )
    for remark in remarks:
        click.echo(f"- {remark}")
    return ExitCode.DONE if works else ExitCode.BAD_INPUT


def _remarks(replies: Replies, sent: int, wanted: str) -> list[str]:
    """Return the problems of the answers, and then the ignored lines."""
    found = [f"it {replies.complaint}"] if replies.complaint else []
    if silent := sent - len(replies.answers) - len(replies.refused):
        early = "" if replies.complaint else "it ended early: "
        found.append(f'{early}{counted(silent, "request")} without an answer; for each request, print one line of JSON with'
                     ' its "id", and flush stdout')  # fmt: skip
    for key, answer in replies.refused.items():
        text = printable(json.dumps(answer.get("error", answer), ensure_ascii=False).encode())
        reason = "reports an error" if "error" in answer else f"has no {wanted}"
        found.append(f"the answer to request {key} {reason}: {text}")
    for why, line in replies.useless.items():
        said = f"{why}: {line}" if line else why
        found.append(
            f"a line on stdout {said}; print only answers to stdout, everything else to stderr"
        )
    return found


_Requests = tuple[list[dict[str, Any]], Callable[[dict[str, Any]], bool], str]
_HISTORY = ["What are interesting facts about bees?"]


def _judge() -> _Requests:
    import numpy as np

    from robustcs.inputs.ids import Ids
    from robustcs.inputs.qrels import Qrels
    from robustcs.studies.judge.program import grade_of, requests_for
    from robustcs.studies.judge.session import GradeScale

    first = np.zeros(1, dtype=np.int32)
    scale = GradeScale(Qrels("", ("1_1",), first, Ids.of(["p0"]), first.astype(np.int16)), 4)
    passages = {
        "p1": "Honey keeps for years: it holds little water, and bees add an enzyme that makes it acid.",
        "p2": "Bees dance to tell one another where flowers are.",
        "p3": "The café opens at nine.",
    }
    texts = {
        "original": {"1_1": _HISTORY[0], "1_2": "Why doesn't it spoil?"},
        "human": {"1_2": "Why doesn't honey spoil?"},
    }
    requests = requests_for([("1_2", passage) for passage in passages], texts, passages, scale)
    return (
        [{"id": str(place), **request} for place, request in enumerate(requests.values())],
        lambda answer: (grade := grade_of(answer)) is not None and 0 <= grade <= scale.max_grade,
        f'"grade" that is a whole number from 0 to {scale.max_grade}',
    )


def _paraphrase() -> _Requests:
    from robustcs.studies.paraphrase.stages import STAGES, Request, texts_of

    requests = [
        Request(stage, "1_2", "Why doesn't honey spoil?", tuple(_HISTORY), 2) for stage in STAGES
    ]
    return (
        [
            {"id": str(place), "turn": one.turn, **one.content, "seed": 0}
            for place, one in enumerate(requests)
        ],
        lambda answer: bool(texts_of(answer)),
        '"text" that is a string, and no "texts" that is a list of strings',
    )
