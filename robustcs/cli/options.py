"""Options that several commands take, spelled the same wherever a command uses them.

Those of inputs are made from :data:`robustcs.project.sources.SOURCES`. :data:`PROGRAM` are options of the program itself,
declared once, which stand before or after the command. A command lists by name what it uses; any other is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.cli.terminal import tell
from robustcs.overwrite_guard import trust_projects
from robustcs.project.sources import BY_NAME, Source, assigned, distinct, named
from robustcs.studies.study import MOST

if TYPE_CHECKING:
    from robustcs.project.model import Project


def _trust(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        trust_projects()


class SharedOption(click.Option):
    """An option that several commands take; ``group`` is one of :data:`robustcs.cli.commands.GROUPS`."""

    def __init__(self, *args: Any, group: str, **settings: Any):
        super().__init__(*args, **settings)
        self.group = group


FORMATS = ("table", "csv", "raw-csv", "json", "latex", "markdown")

#: Name → what it is about (:data:`robustcs.cli.commands.GROUPS`) and its declaration, of what is no file.
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "original": ("Inputs", {"multiple": True, "metavar": "[NAME=]FILE",
        "help": "Run of the raw turns; repeat with NAME= for others, such as whole conversations."}),
    "qr": ("Inputs", {"multiple": True, "metavar": "[NAME=]FILE",
        "help": "Run of a rewriter; repeat with NAME= for several, with the same NAME for other turns, and for samples of one"
        " where the turns are the same."}),
    "human": ("Inputs", {"multiple": True, "metavar": "FILE",
        "help": "Run of the manual rewrites; repeat for other turns, such as those of another collection."}),
    "metric": ("Scores", {"multiple": True, "metavar": "NAME",
        "help": "Measure, as trec_eval or ir_measures name it: ndcg_cut_3, nDCG@3, P(rel=2)@1; f1 and em for answers."}),
    "threshold": ("Scores", {"multiple": True, "metavar": "EXPR",
        "help": "When an answer is correct: '>0', '>=0.5', '=1'; a bare number t means '>=t', a bare 0 '>0'."}),
    "relevance_level": ("Scores", {"type": click.IntRange(1, MOST), "metavar": "N",
        "help": "Grade from which a passage is relevant in binary measures (default 1; CAsT uses 2). nDCG uses the grades"
        " themselves and does not change."}),
    "missing": ("Scores", {"type": click.Choice(["zero", "drop", "own"]),
        "help": "A judged turn that a run lacks scores 0 (default), is dropped from all runs, or only from that run's own mean"
        " (evaluate and crowd; elsewhere as drop)."}),
    "order": ("Scores", {"type": click.Choice(["score", "rank"]),
        "help": "Order passages by score (default; ties by document id descending) or by the rank column."}),
    "depth": ("Scores", {"type": click.IntRange(1, MOST), "metavar": "K",
        "help": "Evaluate only the top K of every turn."}),
    "documents": ("Scores", {"is_flag": True, "default": None,
        "help": "The runs hold passages DOC-N and the qrels documents DOC: cut ids at the last hyphen, the best-ranked passage"
        " of a document counts (CAsT 2021)."}),
    "by": ("Scores", {"type": click.Choice(["collection"]),
        "help": "Where the qrels are of several collections, add every table for each alone: TABLE_by_collection."}),
    "seed": ("Intervals and tests", {"type": click.IntRange(min=0), "metavar": "N",
        "help": "Seed of everything random (default 0)."}),
    "unit": ("Intervals and tests", {"type": click.Choice(["conversation", "turn"]),
        "help": "What intervals and tests take as independent (default: conversation)."}),
    "format": ("Output", {"type": click.Choice(FORMATS),
        "help": "Form of the output (default: by its suffix, or table). csv is safe in spreadsheets: texts that they would run"
        " as formulas get an apostrophe in front; raw-csv leaves all texts as they are."}),
    "output": ("Output", {"multiple": True, "metavar": "FILE",
        "help": "Write here instead of the terminal; - is stdout."}),
    "table": ("Output", {"multiple": True, "metavar": "NAME", "help": "Only this table of the result."}),
    "jobs": ("Running", {"type": click.IntRange(1, MOST), "default": 1, "metavar": "N",
        "help": "Processes that read runs (default 1); small runs are read by one. Memory grows with it."}),
    "dask": ("Running", {"metavar": "ADDRESS",
        "help": "Runs are read by the workers of the Dask cluster whose scheduler stands there, such as tcp://node1:8786."}),
    "no_retrieve": ("Running", {"is_flag": True,
        "help": "Never retrieve (no Java): a question that no run answers is an error."}),
    "config": ("Running", {"metavar": "FILE", "help": "Project file (default: robustcs.toml in this folder)."}),
    "strict": ("Running", {"is_flag": True, "default": None,
        "help": "Refuse a file for one row that cannot be used; by default up to 5% are skipped, never of runs and qrels."}),
    "trust": ("Running", {"is_flag": True, "expose_value": False, "callback": _trust,
        "help": "Let the project file name addresses, pipes, and places outside its folder to write to (docs/safety.md)."}),
    "set": ("Output", {"multiple": True, "metavar": "KEY=VALUE",
        "help": "Change a setting that few change; --help-all lists those of a command."}),
    "help_all": ("Running", {"is_flag": True, "expose_value": False, "help": "Show all options of the command."}),
    "traceback": ("Running", {"is_flag": True, "expose_value": False,
        "help": "Show where in the program an error arose."}),
}  # fmt: skip

#: What every command takes.
ALWAYS = ("config", "strict", "trust", "traceback", "help_all", "set")
#: What every command takes that writes a result.
RESULT = ("format", "output", "table")


def _setting(name: str) -> click.Option:
    group, declared = SETTINGS[name]
    return SharedOption([f"--{name.replace('_', '-')}", *(["-o"] if name == "output" else [])], group=group, **declared)


def _source_option(source: Source) -> click.Option:
    multiple = source.shape != "one" or source.joins
    return SharedOption([source.option], group="Inputs", multiple=multiple, metavar=source.metavar, help=source.help)


#: Name → option of the program. What a command does not list among what it uses is refused there.
PROGRAM: Mapping[str, click.Option] = {
    name: _setting(name) for name in SETTINGS if name not in ("original", "qr", "human", "metric", "threshold")
}
#: Shared options that help pages leave to --help-all.
RARE = frozenset((
    "strict", "trust", "traceback", "set", "jobs", "dask", "no_retrieve", "seed", "unit", "by", "order", "missing", "documents",
    "answers", "gold", "scores",
))  # fmt: skip
#: Command → what few change of it: no options of their own, but keys of --set.
SET: Mapping[str, Sequence[str]] = {
    "sweep": ("step",),
    "correlate": ("stemmer", "corners", "with-original"),
    "answers": ("read-depth",),
    "compare": ("cannot-tell", "allow-missing"),
    "unjudged": ("max-grade",),
    "augment": ("conflicts", "off-scale"),
    "audit": ("off-scale",),
    "judge": ("max-grade", "also-judged", "batch", "copies", "retries", "timeout"),
    "robustness": ("alpha", "figure"),
    "paraphrase": ("keep-feedback", "timeout"),
    "retrieve": ("model", "k1", "b", "rm3", "heap", "spacy", "size", "prune"),
    "agreement": ("majority",),
    "try-program": ("timeout",),
}
#: Command → old name of an option → its name now; the old one works for one release more, as do options that keys replaced.
RENAMED: Mapping[str, Mapping[str, str]] = {
    "init": {"--explain": "--why"},
    "unjudged": {"--depth": "--top"},
}


def shared_options(names: Iterable[str]) -> list[click.Option]:
    """The shared options of these names that commands declare themselves: sources, then settings."""
    return [_setting(name) if name in SETTINGS else _source_option(BY_NAME[name]) for name in names if name not in PROGRAM]


def program_first(arguments: Sequence[str], partial: bool) -> list[str]:
    """The command line with the program's options before the command, wherever they stand, and old names replaced.

    ``partial``: it may end in an option without its value. Raises :class:`click.BadOptionUsage` where it must not.
    """
    takes = {word: not option.is_flag for option in PROGRAM.values() for word in option.opts}
    old: Mapping[str, str] = {}
    keys: Sequence[str] = ()
    first: list[str] = []
    others: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if name in old:
            tell(f"{name} is now called {old[name]}; the old name goes away with the next release")
            word, name = f"{old[name]}{equals}{value}", old[name]
        elif name.removeprefix("--") in keys:
            tell(f"{name} is now written --set {name.removeprefix('--')}=VALUE; the old form goes away with the next release")
        if word == "--":
            others += [word, *words]
        elif name not in takes and word[:2] not in takes:
            if not others:  # the command
                old, keys = RENAMED.get(word, {}), SET.get(word, ())
            others.append(word)
        elif equals or name not in takes or not takes[name]:  # with its value, or without any
            first.append(word)
        elif given := list(islice(words, 1)):
            first += [word, *given]
        elif partial:
            others.append(word)
        else:
            raise click.BadOptionUsage(name, f"Option {name!r} requires an argument.")
    return first + others


def load_project(uses: Iterable[str], given: Mapping[str, Any]) -> Project:
    """The project of ``--config`` or of this folder, with the options in place of what it says.

    uses
        Names of shared options.
    given
        Parameter → value, as click has them.

    Raises :class:`InputError` for a wrong project file, :class:`UsageError` for an option that cannot be read.
    """
    from robustcs.project.overrides import with_inputs
    from robustcs.project.reading import find_project

    table = ""
    inputs: dict[str, Any] = {}
    for name in uses:
        source = BY_NAME.get(name)
        value = given.get(_parameter(source) if source else name)
        if source:
            table = source.table if source.table not in ("", "formulations") else table
        if value in (None, ()):
            continue
        if source:
            inputs[source.key] = _parsed(source, value)
        elif name in ("original", "qr"):
            inputs[name] = _by_name((system or "", path) for system, path in map(named, value))
        elif name == "strict" or name not in (*RESULT, *ALWAYS, "jobs", "dask", "by", "no_retrieve"):
            inputs[{"metric": "metrics", "threshold": "thresholds"}.get(name, name)] = value
    return with_inputs(find_project(given.get("config")), inputs, table)


def _parameter(source: Source) -> str:
    return source.option.removeprefix("--").replace("-", "_")


def _parsed(source: Source, value: Any) -> Any:
    """The value of a source's option as Python would give it."""
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
    """Name → its files."""
    several: dict[str, list[str]] = {}
    for name, file in pairs:
        several.setdefault(name, []).append(file)
    return several
