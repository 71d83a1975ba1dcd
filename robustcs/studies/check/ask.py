"""Do the inputs of a workspace fit together?"""

from __future__ import annotations

from collections.abc import Sequence

from robustcs.errors import InputError, Problem, UsageError
from robustcs.evaluation.turns import expected_of, notes_on
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.open_questions import believed, retrievable, with_run
from robustcs.project.trust import limits_of_qrels, limits_of_rows, limits_of_sources, limits_of_turns
from robustcs.project.workspace import Workspace
from robustcs.result import Basis, Evaluated
from robustcs.studies.check.analysis import Check, check
from robustcs.studies.check.doubts import doubts
from robustcs.studies.check.readiness import Readiness
from robustcs.studies.check.survey import Survey


def ask(workspace: Workspace) -> Check:
    """What every file holds, and what does not fit together; nothing is changed and nothing is scored.

    A broken file is told among ``files`` and in ``problems``. Raises :class:`UsageError` where no inputs are named.
    """
    waiting: dict[str, Sequence[str]] = {}
    notes: list[str] = []
    changed: list[Problem] = []
    if workspace.project.retrieval is not None:
        try:
            systems = retrievable(workspace, samples=True)
        except InputError as error:
            changed += error.problems  # an edited run; what is broken beside it, the survey tells
        except UsageError:
            pass  # two systems of one name: so does the survey
        else:
            notes += believed(workspace.project, systems)
            waiting = {system.name: system.open for system in systems}
            for system in systems:
                if system.run and not system.given:
                    workspace = workspace.of(with_run(workspace.project, system, system.run))
    survey = Survey(workspace, waiting)
    survey.problems += [problem for problem in changed if problem not in survey.problems]
    if not survey.files:
        raise UsageError("no-inputs", "no inputs are named", "give options, or write a robustcs.toml with robustcs init")
    turns = survey.qrels.turns if survey.qrels else sorted(survey.scored, key=turn_sort_key)
    notes += [] if turns else ["there are no readable qrels or scores, so that turns cannot be checked against them"]
    notes += [note for matrix in survey.matrices for note in matrix.notes]
    notes += notes_on(expected_of(survey.qrels), survey.runs) if survey.qrels else []
    notes += [*survey.notes, *doubts(workspace.project, survey)]
    limits = [
        *limits_of_rows(workspace.skipped),
        *limits_of_sources(workspace.project),
        *(limits_of_qrels(survey.qrels) if survey.qrels else []),
    ]
    notes += [limit.reason.rstrip(".") for limit in (*limits, *limits_of_turns(turns, workspace.project.policy.unit))]
    lacking = sum(map(any, zip(*(run.missing for run in survey.runs), strict=True)))
    basis: Basis = "runs" if survey.qrels else "scores" if turns else "texts"
    evaluated = Evaluated(workspace.project.policy, basis, len(turns), lacking, tuple(dict.fromkeys(notes)))
    problems = (tuple(survey.problems), len(survey.problems) + survey.uncounted)
    commands = Readiness(workspace, survey).rows()
    return check(
        evaluated, survey.files, survey.skipped, survey.matrices, survey.texts, survey.answered, turns, commands, problems
    )
