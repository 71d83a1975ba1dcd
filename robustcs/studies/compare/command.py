"""``robustcs compare``."""

from __future__ import annotations

import os
from typing import Any

import click

from robustcs.studies.study import MOST, SEED, UNIT, Call, Command

#: Options that mean nothing without a condition.
_OF_A_GATE = ("evidence", "cannot_tell", "allow_missing", "gate_report")


def _run(call: Call, fail_if: tuple[str, ...], html: str | None, **own: Any) -> None:
    from robustcs.documents.files import write_text
    from robustcs.errors import ExitCode, UsageError
    from robustcs.studies.compare.ask import ask
    from robustcs.studies.compare.gate_report import check_suffix, gate_report, github_lines, summary, told
    from robustcs.studies.compare.show import show

    alone = [name.replace("_", "-") for name in _OF_A_GATE if own[name] is not None]
    if alone and not fail_if and own["no_worse_than"] is None:
        raise UsageError("no-condition", f"--{alone[0]} without a condition", "add --fail-if CONDITION or --no-worse-than D")
    cannot_tell, report = own.pop("cannot_tell"), own.pop("gate_report")
    workspace = call.workspace()
    if report is not None:
        check_suffix(report)
    asked = {name: value for name, value in own.items() if value is not None}
    result = ask(workspace, fail_if=fail_if, tops=html is not None, **asked)
    untold = {"pass": ExitCode.DONE, "fail": ExitCode.GATE_FAILED}.get(cannot_tell, ExitCode.CANNOT_TELL)
    code = {"failed": ExitCode.GATE_FAILED, "cannot tell": untold}.get(str(result.outcome), ExitCode.DONE)
    if report is not None:
        write_text(report, gate_report(report, result, workspace.inputs, code))
        call.tell(f"wrote {report}")
    if html:
        from robustcs.studies.compare.page import page

        write_text(html, page(result, workspace.inputs))
        call.tell(f"wrote {html}")
    given = call.given
    shown = not html or given["output"] or given["format"]
    if shown:
        call.emit(workspace, result, show(result))
    if result.outcome is None:
        return
    on_terminal = shown and not given["output"] and given["format"] in (None, "table")
    if not (on_terminal and (not given["table"] or "gate" in given["table"])):
        for line in told(result):
            call.tell(line)
    if os.environ.get("GITHUB_ACTIONS"):
        for line in github_lines(result):
            call.tell(line)
    call.tell(summary(result))
    if code:
        raise click.exceptions.Exit(code)


COMMAND = Command(
    """Compare two states of a project, and decide whether the change may pass.

    OLD and NEW are projects (their folder or their robustcs.toml) or folders of reports, which keep what is needed.

    --fail-if makes this a gate for continuous integration. Conditions: 'drop>0.02' (a mean score drops by more than 0.02),
    'p<0.05' (it drops, with an adjusted p below 0.05), 'qr>0.05' and 'qa>0.05' (the share of turns with a rewriter error, or
    with a QA error, grows by more than 0.05). Put MEASURE, :RUN or MEASURE:RUN and a space in front to restrict a condition.

    The gate fails (exit code 1) if a drop is significantly larger than a condition allows. It cannot tell (exit code 5) if a
    drop is larger but not significantly, if a run, turns or judgments are gone, if a condition matches nothing, or if the
    judged share of a run fell by more than 5 points. Otherwise it passes (exit code 0). Tests are one-sided, take the
    conversation as unit, and are adjusted by max-T over all cases of the call.

    \b
    Examples:
      robustcs compare before after
      robustcs compare before after --html changes.html
      robustcs compare reports/main . --fail-if 'drop>0.02'
      robustcs compare old.toml new.toml --fail-if 'ndcg_cut_3:qr p<0.05'
      robustcs compare old.toml new.toml --no-worse-than 0.01
    """,
    uses=("metric", "threshold", "jobs", "dask", *UNIT, *SEED),
    parameters=(
        click.Argument(["old"], metavar="OLD"),
        click.Argument(["new"], metavar="NEW"),
        click.Option(["--fail-if"], multiple=True, metavar="CONDITION", help="Condition that fails the gate; repeatable."),
        click.Option(["--no-worse-than"], type=float, metavar="D",
                     help="Pass only if the 95% CI of every mean drop excludes a drop larger than D (non-inferiority)."),
        click.Option(["--evidence"], type=click.Choice(["test", "expected", "bounds"]),
                     help="What a drop is tested on: the available judgments (test, default), unjudged passages filled in by"
                     " the hole model (expected), or the available judgments and the bounds for unjudged passages (bounds)."),
        click.Option(["--cannot-tell"], type=click.Choice(["pass", "fail"]),
                     help="Exit code of a gate that cannot tell: 0 (pass) or 1 (fail) instead of 5."),
        click.Option(["--allow-missing"], type=click.IntRange(0, MOST), metavar="N",
                     help="Turns that each run may lose before the gate cannot tell (default: 0)."),
        click.Option(["--gate-report"], metavar="FILE", help="Write the gate's outcome as JSON (.json) or JUnit (.xml)."),
        click.Option(["--html"], metavar="FILE", help="Write a page with every turn that changed, old beside new."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
