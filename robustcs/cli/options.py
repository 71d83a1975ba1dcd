"""The options that all commands share, and the project they make together with ``robustcs.toml``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robustcs.project.model import Project

#: The largest rank or count that an option takes: they are kept in 32 bits somewhere, such as in Java.
MOST = 2**31 - 1

FORMATS = ("table", "csv", "raw-csv", "json", "latex", "markdown")


@dataclass(frozen=True)
class Options:
    """The shared options of one call, as the user gave them."""

    qrels: str | None
    run: tuple[str, ...]
    original: str | None
    qr: tuple[str, ...]
    human: str | None
    scores: tuple[str, ...]
    rewrites: tuple[str, ...]
    answers: tuple[str, ...]
    gold: str | None
    metric: tuple[str, ...]
    threshold: tuple[str, ...]
    relevance_level: int | None
    missing: str | None
    order: str | None
    depth: int | None
    format: str | None
    output: tuple[str, ...]
    table: tuple[str, ...]
    seed: int | None
    jobs: int
    config: str | None


_OPTIONS = [
    click.option("--qrels", metavar="FILE", help="Judgments: a file, or irds:NAME with ir_datasets."),
    click.option("--run", multiple=True, metavar="NAME=FILE", help="A further system's run."),
    click.option("--original", metavar="FILE", help="Run of the raw turns."),
    click.option("--qr", multiple=True, metavar="[NAME=]FILE", help="Run of a rewriter; repeat with NAME= for several."),
    click.option("--human", metavar="FILE", help="Run of the manual rewrites."),
    click.option("--scores", multiple=True, metavar="ROLE=FILE",
                 help="Per-turn output of trec_eval -q instead of a run; ROLE is original, qr, qr:NAME or human, or answers"
                 " for how alike the answers to QR and Human are."),
    click.option("--rewrites", multiple=True, metavar="ROLE=FILE[:COLUMN]",
                 help="Question texts; of several files for a ROLE the earlier wins, turn by turn."),
    click.option("--answers", multiple=True, metavar="ROLE=FILE", help="Predicted answers (reading comprehension)."),
    click.option("--gold", metavar="FILE", help="Gold answers (reading comprehension)."),
    click.option("--metric", multiple=True, metavar="NAME",
                 help="Measure, as trec_eval or ir_measures name it: ndcg_cut_3, nDCG@3, P(rel=2)@1; f1 and em for answers."),
    click.option("--threshold", multiple=True, metavar="EXPR",
                 help="When an answer is correct: '>0', '>=0.5', '=1'; a bare number t means '>=t', a bare 0 '>0'."),
    click.option("--relevance-level", type=click.IntRange(1, MOST), metavar="N",
                 help="Grade from which a passage is relevant in binary measures (default 1; CAsT uses 2). nDCG uses the"
                 " grades themselves and does not change."),
    click.option("--missing", type=click.Choice(["zero", "drop"]),
                 help="A judged turn that a run lacks scores 0 (default), or is dropped from all runs."),
    click.option("--order", type=click.Choice(["score", "rank"]),
                 help="Order passages by score (default; ties by document id descending) or by the rank column."),
    click.option("--depth", type=click.IntRange(1, MOST), metavar="K", help="Evaluate only the top K of every turn."),
    click.option("--format", type=click.Choice(FORMATS),
                 help="Form of the output (default: by its suffix, or table). csv is safe in spreadsheets: texts that they"
                 " would run as formulas get an apostrophe in front; raw-csv leaves all texts as they are."),
    click.option("--output", "-o", multiple=True, metavar="FILE", help="Write here instead of the terminal; - is stdout."),
    click.option("--table", multiple=True, metavar="NAME", help="Only this table of the result."),
    click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of everything random (default 0)."),
    click.option("--jobs", type=click.IntRange(1, MOST), default=1, metavar="N",
                 help="Runs read at the same time (default 1); memory grows with it."),
    click.option("--config", metavar="FILE", help="Project file (default: robustcs.toml in this folder)."),
    click.option("--traceback", is_flag=True, expose_value=False, help="Show where in the program an error arose."),
]  # fmt: skip


def shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command all shared options; it receives them as one :class:`Options`."""

    @wraps(command)
    def call(**values: Any) -> Any:
        shared = {field.name: values.pop(field.name) for field in fields(Options)}
        return command(Options(**shared), **values)

    for option in reversed(_OPTIONS):
        option(call)
    return call


def load_project(options: Options) -> Project:
    """The project of ``--config`` or of this folder, with the options in place of what it says.

    Raises :class:`InputError` for a wrong project file, :class:`UsageError` for an option that cannot be read.
    """
    from robustcs.errors import UsageError
    from robustcs.evaluation.measures import parse_measure
    from robustcs.evaluation.thresholds import parse_thresholds
    from robustcs.inputs.qrels import IRDS_PREFIX
    from robustcs.policy import EvaluationPolicy
    from robustcs.project.model import parse_role, parse_text_source
    from robustcs.project.reading import find_project

    project = find_project(options.config)
    if options.qrels:
        project = replace(project, qrels=options.qrels if options.qrels.startswith(IRDS_PREFIX) else Path(options.qrels))
    if options.gold:
        project = replace(project, gold=Path(options.gold))
    for role, path in (("original", options.original), ("human", options.human)):
        if path:
            project = project.with_formulation(role, run=Path(path))
    for text in options.qr:
        name, path = named(text)
        project = project.with_formulation(f"qr:{name}" if name else "qr", run=Path(path))
    for option, part in (("scores", "scores"), ("answers", "answers")):
        for text in getattr(options, option):
            key, path = assigned(f"--{option}", "ROLE", text)
            if (option, key) == ("scores", "answers"):
                project = replace(project, answer_similarity=Path(path))
                continue
            parse_role(key)
            project = project.with_formulation(key, **{part: Path(path)})
    given: dict[str, list[Any]] = {}
    for text in options.rewrites:
        key, path = assigned("--rewrites", "ROLE", text)
        parse_role(key)
        given.setdefault(key, []).append(parse_text_source(path))
    for key, sources in given.items():
        project = project.with_formulation(key, rewrites=tuple(sources))
    if options.run:
        runs = dict(assigned("--run", "NAME", text) for text in options.run)
        if len(runs) < len(options.run):
            raise UsageError("repeated-run", "two runs have the same name", "give every --run a NAME of its own")
        project = replace(project, runs={name: Path(path) for name, path in runs.items()})
    policy = project.policy
    project = replace(
        project,
        metrics=options.metric or project.metrics,
        thresholds=options.threshold or project.thresholds,
        seed=project.seed if options.seed is None else options.seed,
        policy=EvaluationPolicy(
            relevance_level=options.relevance_level or policy.relevance_level,
            missing=options.missing or policy.missing,  # type: ignore[arg-type]
            order=options.order or policy.order,  # type: ignore[arg-type]
            depth=options.depth or policy.depth,
        ),
    )
    # a misspelt name is told before any file is read, and a threshold that nothing reaches
    for name in project.metrics:
        parse_measure(name)
    parse_thresholds(project.thresholds, project.metrics)
    return project


def only_given(**values: Any) -> dict[str, Any]:
    """The values that a user gave: not None, and not empty."""
    return {name: value for name, value in values.items() if value or value == 0}


def as_path(text: str | None) -> Path | None:
    """The path that an option names, if any."""
    return Path(text) if text else None


def assigned(option: str, what: str, text: str) -> tuple[str, str]:
    """NAME and FILE of ``NAME=FILE``. Raises :class:`UsageError` for anything else."""
    from robustcs.errors import UsageError

    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError("bad-assignment", f"{option} {text}", f"write {option} {what}=FILE")
    return _utf8(name), value


def named(text: str) -> tuple[str | None, str]:
    """``NAME=FILE``, or a bare ``FILE`` (also one with an equals sign in its name, where that file exists)."""
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return _utf8(name), path
    return None, text


def _utf8(name: str) -> str:
    """``name``, where the terminal gave it in UTF-8: a file may have any bytes as its name, a system in a table may not."""
    from robustcs.errors import UsageError
    from robustcs.inputs.records import is_whole

    if not is_whole(name):
        raise UsageError("not-utf8", f"the name {name!r} is not UTF-8", "write it in UTF-8")
    return name
