"""The command line: ``robustcs COMMAND``."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import FrameType
from typing import Any

import click

from robustcs.cli.commands import Commands
from robustcs.cli.options import PROGRAM
from robustcs.cli.terminal import agreed, tell, unforeseen, usable_streams, usable_width, without_reader
from robustcs.errors import ExitCode, InputError, RobustcsError, Terminated, UntrustedError, UsageError
from robustcs.overwrite_guard import is_trusted, protection, trust_projects
from robustcs.version import __version__


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
             params=list(PROGRAM.values()))  # fmt: skip
@click.version_option(__version__, prog_name="robustcs")
def cli(**shared: Any) -> None:
    """Robustness and error analysis for conversational search, from files on disk.

    \b
    Examples:
      robustcs demo               a report on the demo collection
      robustcs init               your own files: writes a robustcs.toml from them
      robustcs breakdown          with a robustcs.toml no command needs arguments
      robustcs breakdown --help   examples of a command, and its usual options (--help-all: all)

    Exit codes: 0 done, 1 a gate failed (compare --fail-if), 2 wrong use, 3 bad input, 4 something optional is not installed,
    5 a gate cannot tell, 70 an error of the program itself, 130 interrupted, 143 ended by SIGTERM.
    """


def main() -> None:
    """Run the command line and turn every error of a user into one message and the documented exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    usable_streams()
    # numpy is not loaded yet; the matrices here are small, and threads that wait for one another cost more than they give
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["MPLBACKEND"] = "agg"  # notebooks set one that matplotlib cannot import outside of them
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)
    code = run(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM):  # what is left to do is cleaning up
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _terminated(number: int, frame: FrameType | None) -> None:
    """What SIGTERM does: the work ends as after Ctrl-C, once, however often the signal comes."""
    signal.signal(number, signal.SIG_IGN)
    raise Terminated


def run(arguments: list[str]) -> int:
    """The exit code of ``robustcs ARGUMENTS``; messages go to stderr."""
    usable_width()
    with protection():
        return _run(arguments, "--traceback" in arguments)


def _run(arguments: list[str], show: bool) -> int:
    try:
        if any("\0" in argument for argument in arguments):  # only a Python program can give one
            raise UsageError("bad-argument", "an argument with a NUL character", "leave it out")
        if "SOURCE_DATE_EPOCH" in os.environ:
            from robustcs.documents.dates import source_date

            source_date()  # scipy cannot even be imported with a wrong one
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
        # the reader of our output has seen enough (click exits then, and only then)
        without_reader()
        return ExitCode.DONE
    except RobustcsError as error:
        if isinstance(error, UntrustedError) and not is_trusted():
            tell(str(error))
            if not agreed("Do you trust this project?"):
                return error.exit_code
            trust_projects()
            return _run(arguments, show)
        if show:
            traceback.print_exc()
        prefix = "" if isinstance(error, InputError) else "robustcs: "
        tell(f"{prefix}{error}")
        return error.exit_code
    except OSError as error:
        if show:
            traceback.print_exc()
        tell(f"robustcs: {error.strerror or error}: {error.filename or ''}".rstrip(": "))
        return ExitCode.BAD_INPUT
    except MemoryError:
        tell("robustcs: not enough memory; --depth K keeps only the top K of every turn")
        return ExitCode.BAD_INPUT
    except Exception as error:
        if show:
            traceback.print_exc()
        tell(f"robustcs: {unforeseen(error, arguments)}")
        return ExitCode.UNFORESEEN
    # a command that ends itself by click's Exit gives its code
    return ended if isinstance(ended, int) else ExitCode.DONE
