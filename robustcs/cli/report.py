"""``robustcs report``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, load_project, shared_options


@click.command(short_help="All analyses that the inputs allow, as HTML and PDF.")
@shared_options
def report(options: Options) -> None:
    """All analyses that the inputs allow, as one HTML and one PDF file.

    --output names the folder (default: reports/NAME, from the project's name); it gets report.html and report.pdf.
    """
    import re
    from pathlib import Path

    from robustcs.cli.formulations import thresholds
    from robustcs.cli.progress import track
    from robustcs.errors import UsageError
    from robustcs.report import make_report
    from robustcs.reports.files import write_bytes, write_text
    from robustcs.reports.html import render_html
    from robustcs.reports.pdf import render_pdf
    from robustcs.workspace import Workspace

    if options.format or options.table or len(options.output) > 1:
        raise UsageError("no-format", "a report is always one folder with HTML and PDF", "leave out --format and --table")
    project = load_project(options)
    document = make_report(Workspace(project, options.jobs, track), thresholds(project))
    name = re.sub(r"[^\w.-]+", "-", project.name).strip("-.").lower() or "report"
    folder = Path(options.output[0]) if options.output else Path("reports") / name
    html, pdf = render_html(document), render_pdf(document)
    write_text(folder / "report.html", html, make_parents=True)
    write_bytes(folder / "report.pdf", pdf)
    click.echo(f"wrote {folder / 'report.html'}")
    click.echo(f"wrote {folder / 'report.pdf'}")
