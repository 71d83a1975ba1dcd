"""``robustcs check``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, load_project, shared_options


@click.command(short_help="Do the inputs fit together?")
@shared_options
def check(options: Options) -> None:
    """Do the inputs fit together? Reads everything and changes nothing.

    Says which files are unusable and why, which judged turns a run lacks, how deep it is, how much of its top is judged, and
    which texts are missing or have no run. Exit code 3 if a file is unusable: it cannot be read, or has no judged turn.
    """
    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.errors import InputError, UsageError
    from robustcs.evaluation.turns import expected_of, notes_on
    from robustcs.project.workspace import Workspace
    from robustcs.result import Evaluated
    from robustcs.studies.check.analysis import check as analyse
    from robustcs.studies.check.show import present_check
    from robustcs.studies.check.survey import Survey

    project = load_project(options)
    workspace = Workspace(project, options.jobs, track)
    survey = Survey(workspace)
    if not survey.files:
        raise UsageError("no-inputs", "no inputs are named", "give options, or write a robustcs.toml with robustcs init")
    turns = survey.qrels.turns if survey.qrels else ()
    notes = [] if survey.qrels else ["without readable qrels nothing can be said about turns and judgments"]
    notes += [note for matrix in survey.matrices for note in matrix.notes]
    notes += notes_on(expected_of(survey.qrels), survey.runs) if survey.qrels else []
    notes += survey.notes
    lacking = sum(map(any, zip(*(run.missing for run in survey.runs), strict=True)))
    evaluated = Evaluated(project.policy, "runs", len(turns), lacking, tuple(dict.fromkeys(notes)))
    result = analyse(evaluated, survey.files, survey.matrices, survey.texts, survey.answered, turns)
    emit("check", result, present_check(result), workspace.inputs, options)
    if survey.problems:
        raise InputError(survey.problems, len(survey.problems) + survey.uncounted)
