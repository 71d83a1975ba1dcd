"""Requirements of studies, checked before any file is read.

A study declares its requirements by name in the registry and checks them here before it reads files. ``robustcs check`` checks
those of all studies, so that both report the same errors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from importlib.util import find_spec
from operator import methodcaller
from pathlib import Path
from typing import TypeVar

from robustcs.errors import NotInstalledError, UsageError
from robustcs.evaluation.grid import Cell, parse_cell
from robustcs.evaluation.measure import ANSWER_FAMILIES, refuse_given
from robustcs.inputs.paths import shown
from robustcs.inputs.qrels import Qrels
from robustcs.messages import AnyOf, Either, Message, OptionName
from robustcs.project.model import Formulation, Project, measures, needs, of_rankings, only
from robustcs.project.open_questions import (
    SystemTexts,
    check_baselines,
    missing_runs,
    options_of_groups,
    raw_baseline,
    systems_of,
)
from robustcs.project.reader import REQUIRED
from robustcs.project.workspace import Workspace

T = TypeVar("T", bound=Collection[str])


def measures_of_rankings(workspace: Workspace) -> None:
    """Require measures of rankings, not of answers."""
    for measure in workspace.averaged(workspace.project.metrics):
        if measure.family in ANSWER_FAMILIES:
            raise UsageError(
                "not-a-ranking",
                f"{measure.name} does not score rankings",
                "use a measure such as ndcg_cut_3",
            )


def formulations(workspace: Workspace) -> None:
    """Require QR and Human, each with a run, scores or answers."""
    if any(file.kind == "runs" for file in workspace.formulation_files().values()):
        workspace.require("qrels")


def turns_to_read(workspace: Workspace) -> None:
    """Require scores, runs, texts or answers of any turns."""
    project = workspace.project
    parts = project.formulations.values()
    given = any(part.run or part.scores or part.answers or part.rewrites for part in parts)
    answers = project.answers and (project.answers.of_systems or project.answers.assignments)
    if not (given or project.runs or project.components or answers):
        raise UsageError(
            "no-turns",
            "no runs, texts or answers are given",
            Message("add runs with ", OptionName("run", "NAME=FILE")),
        )


def systems(workspace: Workspace) -> None:
    """Require at least one run, or per-turn scores of one formulation; with runs alone, measures that they allow."""
    kinds = {file.kind for file in workspace.scored_systems()}
    if "runs" in kinds:
        workspace.require("qrels")
    if kinds == {"runs"}:
        refuse_given(workspace.project.metrics)


def two_states(workspace: Workspace) -> None:
    """Require another state than that of this project."""
    raise UsageError("no-states", "two states are needed", "run robustcs compare OLD NEW")


def question_pairs(
    workspace: Workspace, with_original: bool = False
) -> tuple[Formulation, list[Formulation]]:
    """Require texts of Human and of at least one rewriter; return these formulations.

    ``with_original`` counts Originals as rewriters.
    """
    parts = [part for part in workspace.project.formulations.values() if part.rewrites]
    for role in ("original" if with_original else "qr", "human"):
        if not any(part.role == role for part in parts):
            raise UsageError(
                "no-texts",
                f"no question texts of the {role} formulation",
                Message("add ", OptionName("rewrites", f"{role}=FILE")),
            )
    human = next(part for part in parts if part.role == "human")
    rewriters = [
        part for part in parts if part.role == "qr" or (with_original and part.role == "original")
    ]
    similarity = workspace.project.answer_similarity
    if similarity is not None and len(rewriters) > 1:
        found = f"{similarity} belongs to one rewriter, but there are {len(rewriters)}"
        raise UsageError(
            "several-rewriters", found, "give the runs of all rewriters, or one rewriter only"
        )
    return human, rewriters


def sampled(workspace: Workspace) -> list[Formulation]:
    """Require at least one rewriter with several texts or several runs of the same turns; return these rewriters."""
    parts = [part for part in workspace.project.formulations.values() if part.role == "qr"]
    found = [
        part for part in parts
        if part.sample_runs or any(len(texts) > 1 for texts in workspace.samples[part.name].values())
    ]  # fmt: skip
    advice = Message(
        Either("repeat --qr NAME=FILE with the same NAME", "give qr={NAME: [FILE, FILE]}"),
        ", or give texts with several samples (",
        OptionName("rewrites"),
        ", ",
        OptionName("samples"),
        ")",
    )
    needs(found, "no-samples", "no rewriter has several samples", advice)
    return found


def grid(workspace: Workspace) -> dict[Cell, Path]:
    """Require at least two cells of a grid of wordings and rankers; return cell → run."""
    found: dict[Cell, Path] = {}
    for name, path in workspace.project.components.items():
        cell = parse_cell(name)
        if cell in found:
            raise UsageError(
                "repeated-run",
                f"two cells are named {'/'.join(cell)}",
                "use a different WORDING/RANKER for each",
            )
        if same := [one for one, other in found.items() if other == path]:
            what = f"the cells {'/'.join(same[0])} and {'/'.join(cell)} name the same file {path}"
            raise UsageError("repeated-run", what, "name the run of each cell")
        found[cell] = path
    what = "the grid has only one cell" if found else "no grid of wordings and rankers is given"
    needs(
        len(found) > 1,
        "no-grid",
        what,
        Message(
            "add ",
            OptionName("cell", "WORDING/RANKER=FILE"),
            " for each run, or [components] in robustcs.toml",
        ),
    )
    return found


def new_judgments(workspace: Workspace) -> None:
    """Require new judgments, or the grades of judges."""
    given = workspace.project.new_judgments or workspace.project.judges
    advice = Message(
        "add ",
        OptionName("new-judgments", "FILE"),
        ", ",
        OptionName("what-if", "N"),
        " or ",
        OptionName("leave-one-out"),
    )
    needs(given, "no-new-judgments", "no new judgments are given", advice)


def groups(workspace: Workspace) -> None:
    """Require groups of given runs; if sets were rewritten, their baseline must be rewritten too."""
    project = workspace.project
    given = (("manual", "human", project.texts), ("raw", raw_baseline(project), project.raw_texts))
    wanted = [(name, baseline, tuple(sets)) for name, baseline, sets in given if sets]
    example = options_of_groups(wanted or [("NAME", "BASELINE", ("SET", "SET"))])
    advice = Message("add ", example, ", or [groups] in robustcs.toml")
    needs(project.groups, "no-groups", "no groups of runs are given", advice)
    check_baselines(workspace.project)
    compared_runs(workspace)


def compared_runs(workspace: Workspace) -> None:
    """Require the runs of all groups."""
    groups = workspace.project.groups.values()
    workspace.system_files([name for group in groups for name in (group.baseline, *group.sets)])


def questions(workspace: Workspace) -> None:
    """Require questions, and an index if some of them have no run."""
    systems = systems_with_texts(workspace)
    waiting = [system for system in systems if system.open]
    if waiting and workspace.project.retrieval is None:
        raise missing_runs(waiting)


def systems_with_texts(workspace: Workspace) -> list[SystemTexts]:
    """Return the project's systems with texts. Raises :class:`UsageError` if there are none."""
    systems = systems_of(workspace, samples=True)
    needs(
        systems,
        "no-texts",
        "no questions are given",
        Message(
            "add ", OptionName("rewrites", "ROLE=FILE"), " or ", OptionName("texts", "NAME=FILE")
        ),
    )
    return systems


def compared_texts(workspace: Workspace) -> None:
    """Require texts of two formulations, or of one and its paraphrases."""
    project = workspace.project
    roles = {part.role for part in project.formulations.values() if part.rewrites}
    compared = (
        roles >= {"original", "human"}
        or roles >= {"human", "qr"}
        or (project.paraphrases and roles - {"qr"})
    )
    advice = Message(
        "add ",
        OptionName("rewrites", "ROLE=FILE"),
        " for each, or name two files with ",
        OptionName("source", "FILE[:FIELD]"),
        " and ",
        OptionName("target", "FILE[:FIELD]"),
    )
    needs(compared, "no-texts", "texts of Human and of another formulation are needed", advice)


def scikit_learn(workspace: Workspace) -> None:
    """Require scikit-learn, which clusters passages."""
    if find_spec("sklearn") is None:
        raise NotInstalledError(
            "no-scikit-learn", "scikit-learn is not installed", "pip install 'robustcs[passages]'"
        )


#: What to add for texts of Original and Human.
_ADD_TEXTS = Message(
    "add ",
    Either(
        "--rewrites original=FILE and --rewrites human=FILE",
        "rewrites={'original': FILE, 'human': FILE}",
    ),
)


def texts_of_turns(workspace: Workspace) -> None:
    """Require texts of Original or Human."""
    parts = workspace.project.formulations.values()
    require_turns(any(part.rewrites and part.role != "qr" for part in parts))


def require_turns(given: object) -> None:
    """Raise :class:`UsageError` unless texts of Original or Human are ``given``."""
    needs(given, "no-texts", "no turns are given", _ADD_TEXTS)


def annotated_texts(workspace: Workspace) -> None:
    """Require ``[agreement]`` with snippets or ratings."""
    known = workspace.project.agreement
    advice = "name the files, or add [agreement] with snippets or ratings to robustcs.toml"
    needs(
        known and (known.snippets or known.ratings), "no-inputs", "no annotations are given", advice
    )


def generated_answers(workspace: Workspace) -> None:
    """Require ``[answers]`` with answers."""
    known = workspace.project.answers
    if known is None or not (known.of_systems or known.assignments):
        raise UsageError(
            "no-responses",
            "no answers of systems are given",
            Message(
                "add ",
                OptionName("tasks", "NAME=FILE"),
                " or ",
                OptionName("response", "NAME=FILE"),
            ),
        )
    if twice := sorted(known.responses.keys() & known.tasks.keys()):
        raise UsageError(
            "repeated-run",
            f"{twice[0]} has two files of answers",
            Message("give ", AnyOf(("tasks", "response")), " for a system"),
        )


def reviews(workspace: Workspace) -> None:
    """Require ``[review]`` with files."""
    known = workspace.project.review
    advice = "name the files that the page of a report exports, or add [review] with files to robustcs.toml"
    needs(known and known.files, "no-reviews", "no reviews are given", advice)


def judged_runs(project: Project, keys: tuple[str, ...]) -> Project:
    """Return the project with all runs, the qrels, the new judgments, and ``keys`` only.

    Raises :class:`UsageError` without qrels or runs.
    """
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("add ", Either("qrels = … or --qrels", "qrels")),
    )
    needs(
        project.systems,
        "no-runs",
        "no runs",
        Message("add them to robustcs.toml or with ", OptionName("run", "NAME=FILE")),
    )
    return of_rankings(
        project,
        ("qrels", "qrels_selection", "qrels_source", "runs", "policy", "new_judgments", *keys),
    )


def formulations_by_rankings(project: Project) -> Project:
    """Return what determines the scores of the formulations' rankings, with the texts of these formulations.

    It includes the cells that tell the name of the ranker.
    """
    part = of_rankings(
        project, ("qrels", "thresholds", "policy", "seed"), ("run", "scores", "rewrites")
    )
    runs = {formulation.run for formulation in part.formulations.values()}
    return replace(
        part, components={name: path for name, path in project.components.items() if path in runs}
    )


def formulations_by_answers(project: Project) -> Project:
    """Return what determines the scores of the formulations' predicted answers, with the texts of these formulations.

    Raises :class:`UsageError` without gold answers or predicted answers.
    """
    needs(
        project.gold,
        "no-gold",
        "no gold answers",
        Message("name them with ", Either("gold = … or --gold", "gold")),
    )
    answers = any(part.answers for part in project.formulations.values())
    needs(
        answers,
        "no-answers",
        "no predicted answers",
        Message(
            "name them with ",
            Either("--answers qr=FILE and human=FILE", "answers={'qr': FILE, 'human': FILE}"),
        ),
    )
    part = only(project, ("gold", "thresholds", "policy", "seed"), ("answers", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=True))


# ---------------------------------------------------------------- what files must contain


def highest_grade(qrels: Qrels) -> int:
    """Return the highest grade of the qrels. Raises :class:`UsageError` if it is not in 1 to 9: one key assigns one grade."""
    highest = int(qrels.grades.max())
    advice = Message("set the highest grade of the scale with ", OptionName("max-grade", "N"))
    needs(
        1 <= highest <= 9,
        "no-scale",
        f"the highest grade in the qrels is {highest}, not in 1 to 9",
        advice,
    )
    return highest


def relevant_passages(
    qrels: Qrels, level: int, path: Path, read: Callable[[set[str]], T]
) -> tuple[set[str], T]:
    """Return the passages with a grade of at least ``level``, and what ``read`` finds of them in the collection ``path``.

    Raises :class:`UsageError` if there are none, or if the collection has none of them.
    """
    wanted = set(qrels.ids.take(qrels.grades >= level).texts())
    needs(
        wanted,
        "nothing-relevant",
        f"no passage has a grade of {level} or more",
        Message("lower ", OptionName("relevance-level")),
    )
    found = read(wanted)
    what = f"{shown(path)} contains none of the relevant passages"
    needs(found, "no-common-passages", what, "compare its passage ids with the qrels")
    return wanted, found


def is_experiment(project: Project) -> bool:
    """Return whether the project has paraphrases and an index, but no groups of runs: ``robustness`` makes the runs."""
    return bool(project.paraphrases and project.retrieval and not project.groups)


def experiment_turns(
    texts: Mapping[str, Mapping[str, str]], paraphrased: Collection[str]
) -> set[str]:
    """Return the turns with paraphrases and texts of Original and Human. Raises :class:`UsageError` if there are none."""
    human, original = texts.get("human"), texts.get("original")
    if not human or not original:
        found = "the experiment needs texts of Original and Human"
        raise UsageError("no-baseline", found, _ADD_TEXTS)
    turns = human.keys() & original.keys() & set(paraphrased)
    if not turns:
        found = "no turn with texts of Original and Human has paraphrases"
        raise UsageError("no-common-turns", found, f"check the turn ids: {next(iter(human))!r}")
    return turns


#: Name in the registry → function that raises :class:`UsageError` or :class:`NotInstalledError` if the requirement is not met.
REQUIREMENTS: Mapping[str, Callable[[Workspace], object]] = {
    "runs": Workspace.require_runs,
    **{key: methodcaller("require", key) for key in REQUIRED},
    **{
        check.__name__: check
        for check in (
            systems, grid, two_states, measures_of_rankings, formulations, question_pairs, new_judgments, groups, compared_runs,
            questions, compared_texts, scikit_learn, annotated_texts, texts_of_turns, sampled, generated_answers, reviews,
            turns_to_read,
        )
    },
}  # fmt: skip
