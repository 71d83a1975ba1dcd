"""Options that several commands share, with the same spelling in each.

Input options are made from :data:`robustcs.project.sources.SOURCES`, the others from :data:`SETTINGS`. A command lists
the names of the options that it uses and rejects all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.overwrite_guard import trust_projects
from robustcs.project.sources import BY_NAME, Source, assigned, distinct, named
from robustcs.studies.study import MOST

if TYPE_CHECKING:
    from robustcs.project.model import Project


def _help_all(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        context.meta[WHOLE] = True
        click.echo(context.get_help())
        context.exit()


def _trust(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        trust_projects()


#: Whether a help page shows all options.
WHOLE = "robustcs.whole"


class SharedOption(click.Option):
    """An option that several commands share.

    group
        One of :data:`robustcs.cli.commands.GROUPS`.
    rare
        See :class:`robustcs.studies.signature.Opt`.
    """

    def __init__(self, *args: Any, group: str, rare: bool, **settings: Any):
        super().__init__(*args, **settings)
        self.group = group
        self.rare = rare


FORMATS = ("table", "csv", "raw-csv", "json", "latex", "markdown")

#: Option that names no input file → its group (one of :data:`robustcs.cli.commands.GROUPS`) and its declaration.
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "original": ("Inputs", {"multiple": True, "metavar": "[NAME=]FILE",
        "help": "Run for the original questions. Repeat with NAME= for variants, such as the whole conversation as query."}),
    "qr": ("Inputs", {"multiple": True, "metavar": "[NAME=]FILE",
        "help": "Run for a rewriter. Repeat with another NAME= for another rewriter. Files with the same NAME are joined if"
        " their turns differ; if the turns are the same, each file is a sample."}),
    "human": ("Inputs", {"multiple": True, "metavar": "FILE",
        "help": "Run for the human rewrites. Repeat for other turns, such as those of another collection."}),
    "metric": ("Scores", {"multiple": True, "metavar": "NAME",
        "help": "Measure, named as in trec_eval or ir_measures: ndcg_cut_3, nDCG@3, P(rel=2)@1; f1 or em for answers. Repeat"
        " for several."}),
    "threshold": ("Scores", {"multiple": True, "metavar": "EXPR",
        "help": "Score that makes an answer correct: '>0', '>=0.5', '=1'. A bare number t means '>=t'; a bare 0 means '>0'."
        " Repeat for several."}),
    "relevance_level": ("Scores", {"type": click.IntRange(1, MOST), "metavar": "N",
        "help": "Lowest grade that counts as relevant in binary measures (default: 1; CAsT uses 2). It does not affect nDCG,"
        " which uses the grades."}),
    "missing": ("Scores", {"type": click.Choice(["zero", "drop", "own"]),
        "help": "Judged turns that a run does not answer. zero: they score 0 (default). drop: they are dropped from all runs."
        " own: they are dropped from the mean of that run only (evaluate and crowd; other commands treat it as drop)."}),
    "order": ("Scores", {"type": click.Choice(["score", "rank"]),
        "help": "Order of passages: by score (default; ties by descending document id) or by the rank column."}),
    "depth": ("Scores", {"type": click.IntRange(1, MOST), "metavar": "K",
        "help": "Evaluate only the top K passages of each turn."}),
    "documents": ("Scores", {"is_flag": True, "default": None,
        "help": "Score documents: the runs rank passages DOC-N, the qrels judge documents DOC (CAsT 2021). Ids are cut at the"
        " last hyphen, and the best-ranked passage of each document counts."}),
    "by": ("Scores", {"type": click.Choice(["collection"]),
        "help": "If the qrels are of several collections, also compute each table per collection (TABLE_by_collection)."}),
    "seed": ("Intervals and tests", {"type": click.IntRange(min=0), "metavar": "N",
        "help": "Random seed (default: 0)."}),
    "unit": ("Intervals and tests", {"type": click.Choice(["conversation", "turn"]),
        "help": "Sampling unit for confidence intervals and tests (default: conversation)."}),
    "conversation": ("Intervals and tests", {"metavar": "none|pattern|FILE",
        "help": "Source of conversations (default: fields of the files, else turn ids such as 31_4). none: no conversations."
        " pattern: turn ids of any form that ends in a number. FILE: a table with columns turn and conversation."}),
    "format": ("Output", {"type": click.Choice(FORMATS),
        "help": "Output format (default: from the suffix of --output, else table). csv is safe for spreadsheets: an apostrophe"
        " precedes texts that a spreadsheet would run as formulas. raw-csv leaves texts unchanged."}),
    "output": ("Output", {"multiple": True, "metavar": "FILE",
        "help": "Output file, or folder for report and demo; - is stdout (default). Repeat for several files."}),
    "table": ("Output", {"multiple": True, "metavar": "NAME", "help": "Show only this table. Repeat for several."}),
    "jobs": ("Running", {"type": click.IntRange(1, MOST), "default": 1, "metavar": "N",
        "help": "Number of processes that read runs (default: 1). Each needs memory; small runs are read by one process."}),
    "dask": ("Running", {"metavar": "ADDRESS",
        "help": "Address of a Dask scheduler, such as tcp://node1:8786. The workers of its cluster read the runs."}),
    "no_retrieve": ("Running", {"is_flag": True,
        "help": "Do not retrieve, so Java is not needed. A question without a run is an error."}),
    "config": ("Running", {"metavar": "FILE", "help": "Project file (default: robustcs.toml in the current folder)."}),
    "strict": ("Running", {"is_flag": True, "default": None,
        "help": "Reject a file with any unusable row. By default, up to 5% unusable rows are skipped and reported, except in"
        " runs and qrels."}),
    "trust": ("Running", {"is_flag": True, "expose_value": False, "callback": _trust,
        "help": "Allow the project file to name URLs, pipes, and output paths outside its folder (see docs/safety.md)."}),
    "help_all": ("Running", {"is_flag": True, "expose_value": False, "is_eager": True, "callback": _help_all,
        "help": "Show all options of the command."}),
    "traceback": ("Running", {"is_flag": True, "expose_value": False,
        "help": "Show the Python traceback of an error."}),
}  # fmt: skip

#: Shared options that only --help-all shows, unless all options of a command fit on the page of --help.
RARE = frozenset((
    "strict", "trust", "traceback", "jobs", "dask", "no_retrieve", "seed", "unit", "conversation", "by", "order",
    "missing", "documents", "answers", "gold", "scores",
))  # fmt: skip
#: Options of every command.
ALWAYS = ("config", "strict", "trust", "traceback", "help_all")
#: Options of every command that writes a result.
RESULT = ("format", "output", "table")


def _setting(name: str) -> click.Option:
    group, declared = SETTINGS[name]
    return SharedOption(
        [f"--{name.replace('_', '-')}", *(["-o"] if name == "output" else [])],
        group=group,
        rare=name in RARE,
        **declared,
    )


def _source_option(source: Source) -> click.Option:
    multiple = source.shape != "one" or source.joins
    return SharedOption(
        [source.option],
        group="Inputs",
        rare=source.name in RARE,
        multiple=multiple,
        metavar=source.metavar,
        help=source.help,
    )


#: Name → option; each is declared once for all commands.
SHARED: Mapping[str, click.Option] = {
    **{name: _setting(name) for name in SETTINGS},
    **{name: _source_option(source) for name, source in BY_NAME.items() if source.option},
}


def load_project(
    uses: Iterable[str], given: Mapping[str, Any], start: Callable[[], Project] | None = None
) -> Project:
    """Return the project of ``--config``, else of ``start`` (default: of the current folder); options replace its entries.

    uses
        Names of shared options.
    given
        Parameter → value, as parsed by click.

    Raises :class:`InputError` for an invalid project file, :class:`UsageError` for an invalid option.
    """
    from robustcs.project.overrides import with_inputs
    from robustcs.project.reading import find_project

    table = ""
    inputs: dict[str, Any] = {}
    for name in (*uses, "strict"):
        source = BY_NAME.get(name)
        value = given.get(source.option.removeprefix("--").replace("-", "_") if source else name)
        if source:
            table = source.table if source.table not in ("", "formulations") else table
        if value in (None, ()):
            continue
        if source:
            inputs[source.key] = _parsed(source, value)
        elif name in ("original", "qr"):
            inputs[name] = _by_name((system or "", path) for system, path in map(named, value))
        elif name not in (*RESULT, "jobs", "dask", "by", "no_retrieve"):
            inputs[name] = value
    config = given.get("config")
    return with_inputs(start() if start and not config else find_project(config), inputs, table)


def _parsed(source: Source, value: Any) -> Any:
    """Return the value of a source's option as the Python API expects it."""
    if source.shape in ("one", "several"):
        return value
    what = source.metavar.partition("=")[0]
    if source.shape == "role texts" or source.joins:
        return _by_name(assigned(source.option, what, text) for text in value)
    if what == "[NAME":
        pairs = [(name or Path(path).stem, path) for name, path in map(named, value)]
    else:
        pairs = [assigned(source.option, what, text) for text in value]
    distinct(source.option, [name for name, _ in pairs], "runs" if source.key == "runs" else "")
    return dict(pairs)


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Group files by name."""
    several: dict[str, list[str]] = {}
    for name, file in pairs:
        several.setdefault(name, []).append(file)
    return several
