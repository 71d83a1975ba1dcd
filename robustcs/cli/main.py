"""The command line: ``robustcs COMMAND``."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from types import FrameType

import click

from robustcs.cli.commands import Commands
from robustcs.cli.terminal import (
    agreed,
    tell,
    unforeseen,
    usable_streams,
    usable_width,
    without_reader,
)
from robustcs.errors import ExitCode, InputError, RobustcsError, Terminated, UntrustedError
from robustcs.overwrite_guard import is_trusted, protection, trust_projects
from robustcs.version import __version__


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="robustcs")
def cli() -> None:
    """Robustness and error analysis for conversational search.

    \b
    Examples:
      robustcs demo               write the report on the demo collection
      robustcs init               write a robustcs.toml for your own files
      robustcs breakdown          run a command; robustcs.toml names its inputs
      robustcs breakdown --help   show examples and options (all: --help-all)

    Exit codes: 0 done, 1 a gate failed (compare --fail-if), 2 usage error, 3 input error, 4 an optional package is missing, 5 a
    gate could not decide, 70 internal error, 130 interrupted, 143 terminated by SIGTERM.
    """


def main() -> None:
    """Run the command line; report each user error in one message with the documented exit code."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    usable_streams()
    # no window is opened, and matplotlib cannot even be imported if the backend of a notebook's kernel is not installed here
    os.environ.pop("MPLBACKEND", None)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)
    try:
        code = run(sys.argv[1:])
        for number in (signal.SIGINT, signal.SIGTERM):  # only cleaning up remains
            signal.signal(number, signal.SIG_IGN)
    except (KeyboardInterrupt, Terminated) as late:  # after the work
        code = ExitCode.TERMINATED if isinstance(late, Terminated) else ExitCode.INTERRUPTED
    gc.freeze()  # searching for reference cycles at the end would take 60 ms after a report
    sys.exit(code)


def _terminated(number: int, frame: FrameType | None) -> None:
    """Handle SIGTERM: end the work as after Ctrl-C, and ignore further signals."""
    signal.signal(number, signal.SIG_IGN)
    raise Terminated


def run(arguments: list[str]) -> int:
    """Run ``robustcs ARGUMENTS`` and return its exit code; messages go to stderr."""
    usable_width()
    with protection():
        return _run(arguments, "--traceback" in arguments)


def _run(arguments: list[str], show: bool) -> int:
    try:
        if "SOURCE_DATE_EPOCH" in os.environ:
            from robustcs.documents.dates import source_date

            source_date()  # check it first: with an invalid date even the import of scipy fails
        ended = cli.main(args=arguments, prog_name="robustcs", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        tell("robustcs: interrupted")
        return ExitCode.INTERRUPTED
    except Terminated:
        tell("robustcs: terminated")
        return ExitCode.TERMINATED
    except (BrokenPipeError, SystemExit):
        # the reader of our output closed it; this is the only case in which click raises SystemExit
        without_reader()
        return ExitCode.DONE
    except Exception as error:
        if isinstance(error, UntrustedError) and not is_trusted():
            tell(str(error))
            if not agreed("Do you trust this project?"):
                return error.exit_code
            trust_projects()
            return _run(arguments, show)
        if show:
            traceback.print_exc()
        message, code = _told(error, arguments)
        tell(message)
        return code
    # the exit code of a command that returns one
    return ended if isinstance(ended, int) else ExitCode.DONE


def _told(error: Exception, arguments: list[str]) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if isinstance(error, RobustcsError):
        return f"{'' if isinstance(error, InputError) else 'robustcs: '}{error}", error.exit_code
    if isinstance(error, OSError):
        return f"robustcs: {error.strerror or error}: {error.filename or ''}".rstrip(
            ": "
        ), ExitCode.BAD_INPUT
    if isinstance(error, MemoryError):
        return (
            "robustcs: not enough memory; read only the top K passages of each turn with --depth K",
            ExitCode.BAD_INPUT,
        )
    return f"robustcs: {unforeseen(error, arguments)}", ExitCode.UNFORESEEN
