"""``robustcs compare``."""

from __future__ import annotations

from typing import Any

import click

from robustcs.studies.study import SEED, UNIT, Call, Command


def _run(call: Call, fail_if: tuple[str, ...], html: str | None, **sides: Any) -> None:
    from robustcs.errors import ExitCode
    from robustcs.studies.compare.ask import ask
    from robustcs.studies.compare.show import show, told

    workspace = call.workspace()
    result = ask(workspace, fail_if=fail_if, tops=html is not None, **sides)
    if html:
        from robustcs.documents.files import write_text
        from robustcs.studies.compare.page import page

        write_text(html, page(result, workspace.inputs))
        call.tell(f"wrote {html}")
    if not html or call.given["output"] or call.given["format"]:
        call.emit(workspace, result, show(result))
    for line in told(result):
        call.tell(line)
    if result.failed:
        raise click.exceptions.Exit(ExitCode.GATE_FAILED)


COMMAND = Command(
    """What changed between OLD and NEW, and is it proven?

    OLD and NEW are projects (their folder or their robustcs.toml) or folders of reports, which keep what is needed.

    With --fail-if the exit code is 1 where a condition is met and proven: by a one-sided test with the conversation as unit,
    corrected by Holm, and by bounds that hold whatever grades unjudged passages get. What is met and not proven is told on
    stderr. Conditions: 'drop>0.02' (a mean score falls by more), 'p<0.05' (it falls, at that level), 'qr>0.05' and 'qa>0.05'
    (the share of turns with an error of the rewriter, or of the QA component, grows by more); in front, with a space,
    MEASURE, :RUN or MEASURE:RUN.

    \b
    Examples:
      robustcs compare before after
      robustcs compare before after --html changes.html
      robustcs compare reports/main . --fail-if 'drop>0.02'
      robustcs compare old.toml new.toml --fail-if 'ndcg_cut_3:qr p<0.05'
    """,
    uses=("metric", "threshold", "jobs", "dask", *UNIT, *SEED),
    parameters=(
        click.Argument(["old"], metavar="OLD"),
        click.Argument(["new"], metavar="NEW"),
        click.Option(["--fail-if"], multiple=True, metavar="CONDITION", help="Exit with 1 where this is met and proven."),
        click.Option(["--html"], metavar="FILE", help="Write a page with every turn that changed, old beside new."),
    ),
    run=_run,
)
