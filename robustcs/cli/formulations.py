"""What the commands on Original / QR / Human share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robustcs.cli.options import Options
    from robustcs.evaluation.thresholds import Threshold
    from robustcs.project.model import Project


def refuse_runs(options: Options) -> None:
    """These commands compare formulations; a run without a role has no place in them."""
    from robustcs.errors import UsageError

    if options.run:
        raise UsageError("no-role", f"--run {options.run[0]} has no role here", "use --original, --qr and --human")


def thresholds(project: Project) -> tuple[Threshold, ...]:
    """The project's thresholds, each once, or the paper's three."""
    from robustcs.evaluation.thresholds import parse_thresholds

    return parse_thresholds(project.thresholds, project.metrics)
