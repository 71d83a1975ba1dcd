"""From a study to its command: options, project, output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from robustcs.cli.options import ALWAYS, RESULT, load_project, shared_options
from robustcs.cli.output import FIGURE_SUFFIXES
from robustcs.cli.pages import PagedCommand
from robustcs.cli.terminal import tell
from robustcs.studies.study import Study

if TYPE_CHECKING:
    from robustcs.documents.document import Block
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.result import Result


def study_command(study: Study) -> click.Command:
    """The command of a study: its own parameters, the shared options that it uses, and those of every result."""
    command = study.command
    uses = (*command.uses, *(["no_retrieve"] if command.retrieves else []), *RESULT, *ALWAYS)

    def callback(**values: Any) -> None:
        own = {parameter.name: values.pop(parameter.name) for parameter in command.parameters}
        call = StudyCall(study, uses, values)
        if command.run is not None:
            study.part("study").COMMAND.run(call, **own)
            return
        workspace = call.answered() if command.retrieves else call.workspace()
        own |= {name: True for name in command.on_request if name in values["table"]}
        result = call.ask(workspace, **own)
        figure = any(name.endswith(FIGURE_SUFFIXES) for name in values["output"])
        call.emit(workspace, result, study.blocks(result, () if figure else values["table"]))

    parameters = [*command.parameters, *shared_options(uses)]
    return PagedCommand(study.name, params=parameters, callback=callback, help=command.help, short_help=study.short)


class StudyCall:
    """One call of a study's command: see :class:`robustcs.studies.study.Call`."""

    def __init__(self, study: Study, uses: Sequence[str], given: Mapping[str, Any]):
        self.study = study
        self.uses = uses
        self.given = given

    @cached_property
    def project(self) -> Project:
        """The project of this folder or of ``--config``, with the options in place of what it says."""
        return load_project(self.uses, self.given)

    def workspace(self, project: Project | None = None) -> Workspace:
        """What ``project`` (default: that of the call) names, ready to be read."""
        from robustcs.cli.progress import track
        from robustcs.project.parallel_io import jobs_of
        from robustcs.project.workspace import Workspace

        return Workspace(project or self.project, jobs_of(self.given), track, not self.given.get("no_retrieve"))

    def answered(self, project: Project | None = None, samples: bool = False) -> Workspace:
        """As :meth:`workspace`, with a run for every text that waits for one, where ``[retrieval]`` names an index.

        ``samples``: also for further samples of rewriters.
        """
        workspace = self.workspace(project)
        if workspace.project.retrieval is None:
            return workspace
        from robustcs.project.retrieved import with_runs

        return workspace.of(with_runs(workspace, self.tell, samples))

    def ask(self, workspace: Workspace, **settings: Any) -> Any:
        """What the study finds, also by ``--by``."""
        from robustcs.project.collections import asked

        return asked(self.study.part("study").ask, workspace, self.given.get("by"), **settings)

    def emit(self, workspace: Workspace, result: Result, blocks: Sequence[Block]) -> None:
        """Write a result to every ``--output``, or to the terminal."""
        from robustcs.cli.output import Output, emit
        from robustcs.project.collections import stated

        output = Output(self.given["format"], self.given["output"], self.given["table"])
        emit(self.study.name, stated(workspace, result), blocks, workspace.inputs, output)

    def tell(self, message: str) -> None:
        """One line for people, on stderr."""
        tell(message)
