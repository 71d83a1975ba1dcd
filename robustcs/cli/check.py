"""``robustcs check``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, load_project, shared_options


@click.command(short_help="Do the inputs fit together?")
@shared_options
def check(options: Options) -> None:
    """Do the inputs fit together? Reads everything and changes nothing.

    Says which files are unusable and why, which judged turns a run lacks, how deep it is, how much of its top is judged, and
    which texts are missing or have no run. Exit code 3 if a file is unusable.
    """
    from robustcs.analyses.check import check as analyse
    from robustcs.analyses.result import Evaluated
    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.errors import InputError, UsageError
    from robustcs.evaluation.matrix import no_judged_passage
    from robustcs.reports.present.check import present_check
    from robustcs.workspace import Workspace
    from robustcs.workspace.survey import Survey

    project = load_project(options)
    workspace = Workspace(project, options.jobs, track)
    survey = Survey(workspace)
    if not survey.files:
        raise UsageError("no-inputs", "no inputs are named", "give options, or write a robustcs.toml with robustcs init")
    turns = survey.qrels.turns if survey.qrels else ()
    missing = set()
    notes = [] if survey.qrels else ["without readable qrels nothing can be said about turns and judgments"]
    for matrix in survey.matrices:
        lacks = [turn for turn, gone in zip(matrix.turns, matrix.missing, strict=True) if gone]
        missing.update(lacks)
        if lacks:
            notes.append(f"{matrix.name} lacks {', '.join(lacks[:5])}{' …' if len(lacks) > 5 else ''}")
        notes += matrix.notes
        if no_judged_passage(matrix):
            notes.append(f"no passage of {matrix.name} is judged: are its passage ids those of the qrels?")
    notes += survey.notes
    evaluated = Evaluated(project.policy, "runs", len(turns), len(missing), tuple(dict.fromkeys(notes)))
    result = analyse(evaluated, survey.files, survey.matrices, survey.texts, survey.answered, turns)
    emit("check", result, present_check(result), workspace.inputs, options)
    if survey.problems:
        raise InputError(survey.problems, len(survey.problems) + survey.uncounted)
