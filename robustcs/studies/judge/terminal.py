"""Judge at a terminal: one passage on the screen, one key per grade."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import click
from rich.console import Console
from rich.text import Text

from robustcs.documents.text import one_line, visible
from robustcs.errors import input_error
from robustcs.inputs.turns import turn_sort_key
from robustcs.studies.judge.analysis import JudgingState, Pair
from robustcs.studies.judge.outlook import Outlook
from robustcs.studies.judge.session import GradeScale, Session
from robustcs.wording import counted

try:
    import termios
    import tty
except ImportError:  # Windows: click reads single keys there
    termios = None  # type: ignore[assignment]

#: The escape sequences of arrow and function keys.
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?")
_COMMANDS = "u undo, s skip, q quit, ? help"


@dataclass(eq=False)
class Sitting:
    """A dialog that shows passages and reads keys until the queue is empty or the judge quits.

    On a terminal, a key acts immediately. Otherwise each line of standard input is a key, and an invalid line raises
    :class:`InputError`, because all further lines would grade the wrong passages.
    """

    session: Session
    passages: Mapping[str, str]
    texts: Mapping[str, Mapping[str, str]]
    scale: GradeScale
    notes: Sequence[str]
    outlook: Outlook
    to_the_end: bool = False

    def __post_init__(self) -> None:
        self.human, self.raw = (self.texts.get(role, {}) for role in ("human", "original"))
        self.max_grade, self.conversations = self.scale.max_grade, self.outlook.holes.conversations
        self.state: JudgingState | None = None
        self._turn = ""
        self.live, screen = sys.stdin.isatty(), sys.stdout.isatty()
        width = None if screen else int(os.environ.get("COLUMNS", "80") or 80)
        self.console = Console(
            width=width, highlight=False, no_color=not screen or "NO_COLOR" in os.environ
        )
        self.messages = list(self.notes)
        self._keys: list[str] = []
        self._line = 0

    def run(self) -> None:
        """Judge until the end of the queue; print a summary at the end, even after an error or Ctrl-C."""
        try:
            with _single_keys() if self.live else nullcontext():
                while (pair := self.session.current()) is not None and not self._settled(pair[0]):
                    self._show(pair)
                    key = self._key()
                    if key is None or key == "q":
                        break
                    self._act(key)
        finally:
            self._end()

    def _settled(self, turn: str) -> bool:
        """Return whether the order of the systems is settled; updated at the start of each turn."""
        if turn != self._turn:
            self._turn = turn
            self.state = self.outlook.of(self.session.file.grades, self.session.pairs)
        return self.state is not None and self.state.settled and not self.to_the_end

    def _act(self, key: str) -> None:
        if key.isdecimal() and key.isascii() and int(key) <= self.max_grade and len(key) == 1:
            turn, document = self.session.grade(int(key))
            self.messages = [f"Saved: {key} for turn {turn}, passage {document}."]
        elif key == "u":
            back = self.session.undo()
            self.messages = [
                f"Undone: turn {back[0]}, passage {back[1]}." if back else "Nothing to undo."
            ]
        elif key == "s":
            turn, document = self.session.skip()
            self.messages = [f"Skipped until the next session: turn {turn}, passage {document}."]
        elif key in ("?", "h"):
            self.messages = self._help()
        elif self.live:
            unknown = f"Unknown key {key}." if key.isprintable() else "Unknown key."
            self.messages = [f"{unknown} Press 0–{self.max_grade}, {_COMMANDS}."]
        else:
            advice = f"write 0 to {self.max_grade}, u, s, q or ?"
            raise input_error(
                "standard input", self._line, f"{key!r} is not a valid key", advice, "bad-key"
            )

    def _key(self) -> str | None:
        """Return the next key; None at the end of the input."""
        if not self.live:
            for line in sys.stdin:
                self._line += 1
                if line.strip():
                    self.console.print(Text(line.strip()))
                    return line.strip()
            return None
        while not self._keys:
            typed = _typed()
            if typed in ("", "\x04"):  # the terminal was closed, or Ctrl-D
                return None
            self._keys = list(_SEQUENCE.sub("", typed))
        key = self._keys.pop(0)
        self.console.print(Text(key if key.isprintable() else ""))
        return key

    def _show(self, pair: Pair) -> None:
        turn, document = pair
        if self.live and self.console.is_terminal:
            self.console.clear()
        for message in self.messages:
            self._print(message, "dim")
        topic = self.conversations.of(turn)
        judged, all_ = self.session.progress()
        topic_judged, topic_all = self.session.progress(
            lambda one: self.conversations.of(one) == topic
        )
        progress = f"judged {judged} of {all_} · this topic {topic_judged} of {topic_all}"
        self._print(f"Topic {topic} · turn {turn} · {progress}", "bold")
        if self.state and self.state.told:
            self._print(self.state.told, "dim")
        self.console.print(Text("─" * self.console.width, "dim"))
        self._print("Conversation so far", "dim")
        for earlier in self._conversation(turn):
            self._print(f"{earlier}  {one_line(self.raw[earlier])}", indent=2)
        human = one_line(self.human.get(turn, ""))
        self._titled("Human", human or "(this turn has no Human text)", "bold")
        self._titled(f"Passage {document}", visible(self.passages[document]))
        self.console.print(Text("─" * self.console.width, "dim"))
        self._print(f"0–{self.max_grade}, {_COMMANDS}: ", end="")

    def _titled(self, title: str, text: str, style: str = "") -> None:
        self._print(title, "dim")
        self._print(text, style, 2)

    def _conversation(self, turn: str) -> list[str]:
        """Return the turns of the conversation up to this one that have a raw text."""
        earlier = self.conversations.earlier(sorted({*self.raw, turn}, key=turn_sort_key))[turn]
        return [known for known in (*earlier, turn) if known in self.raw]

    def _help(self) -> list[str]:
        return [
            *(
                f"{grade}  {meaning}"
                for grade, meaning in reversed(self.scale.meanings.items())
                if meaning
            ),
            "u  undo the last grade or skip, including grades of earlier sessions",
            "s  skip this passage until the next session",
            "q  quit; the same command continues from here",
            "Judge how well the passage answers the Human text. The conversation gives the context.",
        ]

    def _end(self) -> None:
        session = self.session
        judged, all_ = session.progress()
        skipped = f", {len(session.skipped)} skipped" if session.skipped else ""
        self._print("")
        self._print(
            f"{counted(session.graded_here, 'passage')} graded in this session{skipped}; {judged} of {all_} judged."
        )
        if self.state and self.state.settled and not self.to_the_end and judged < all_:
            self._print(f"{self.state.told}. No more judgments are needed; use --all to continue.")
        if judged:
            path = session.file.path
            self._print(
                f"The grades are in {path}. To add them to the qrels: robustcs augment --new-judgments {path}"
            )

    def _print(self, text: str, style: str = "", indent: int = 0, end: str = "\n") -> None:
        """Print the text wrapped to the width."""
        width = max(self.console.width - indent, 1)
        lines = Text(visible(text), style).wrap(self.console, width, overflow="fold", tab_size=4)
        for number, line in enumerate(lines):
            last = number == len(lines) - 1
            if not last or end == "\n":
                line.rstrip()
            self.console.print(
                Text(" " * indent).append_text(line),
                no_wrap=True,
                end=end if last else "\n",
                crop=False,
            )


@contextmanager
def _single_keys() -> Iterator[None]:
    """Read keys without Enter and without echo; Ctrl-C still interrupts, and keys typed early are kept."""
    if termios is None:
        yield
        return
    before = termios.tcgetattr(0)
    # back from Ctrl-Z
    known = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(0, termios.TCSADRAIN))
    try:
        tty.setcbreak(0, termios.TCSADRAIN)
        yield
    finally:
        signal.signal(signal.SIGCONT, known)
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _typed() -> str:
    """Return one or more pressed keys; empty at the end of the input."""
    if termios is None:
        return click.getchar()
    # an endless wait would miss a Ctrl-C that arrives just before it begins
    while not select.select([0], [], [], 1.0)[0]:
        pass
    return os.read(0, 64).decode("utf-8", "ignore")
