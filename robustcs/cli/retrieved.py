"""The project of a command that evaluates runs: what waits for a run is retrieved first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.cli.options import Options, load_project
from robustcs.cli.terminal import tell

if TYPE_CHECKING:
    from robustcs.project.model import Project


def load_project_with_runs(options: Options) -> Project:
    """As :func:`~robustcs.cli.options.load_project`, with a run for every text that waits for one, where ``[retrieval]`` names
    an index. What is retrieved and written is said on stderr.
    """
    project = load_project(options)
    return project if project.retrieval is None else answered(project, options)


def answered(project: Project, options: Options) -> Project:
    """The project with a run for every text that waits for one."""
    from robustcs.cli.progress import track
    from robustcs.project.retrieved import with_runs
    from robustcs.project.workspace import Workspace

    return with_runs(Workspace(project, options.jobs, track), tell)
