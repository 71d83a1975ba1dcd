"""Write the generated pages (docs/cli.md, docs/tables.md, docs/record.md, docs/papers.md) and the output of examples in other pages.

    python docs/update.py

Examples are the lines ``$ robustcs …`` in pages, and the cells of docs/python.ipynb. They run in a copy of the demo collection
(fixtures/). Those of docs/tutorial.md run on TREC CAsT 2019 if the public data are available (``$ROBUSTCS_DATA`` or
../shared/data). A line ``…`` in the output of an example marks omitted lines; the number of lines before and after it stays the
same.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs.notebook import NOTEBOOK, executed  # noqa: E402
from docs.record import RECORD, record_page  # noqa: E402
from docs.stub import STUB, stub  # noqa: E402
from docs.tables import TABLES, tables_reference  # noqa: E402
from robustcs.cli.commands import help_record  # noqa: E402
from robustcs.cli.main import cli, run  # noqa: E402
from robustcs.cli.options import SETTINGS, SHARED  # noqa: E402
from robustcs.project.sources import SOURCES  # noqa: E402
from tests.papers import page as papers_page  # noqa: E402

REFERENCE, PAPERS = (ROOT / "docs" / name for name in ("cli.md", "papers.md"))
TUTORIAL = ROOT / "docs" / "tutorial.md"
#: The files of the tutorial: name in the tutorial → name in the public data.
_STUDY = {
    "2019qrels.txt": "qrels.txt.gz",
    "evaluation_topics_v1.0.json": "topics.json",
    "evaluation_topics_annotated_resolved_v1.0.tsv": "topics_resolved.tsv",
    "rewrites_cv.jsonl": "runs/rewrites_cv.jsonl",
    "runs/bert_raw.trec": "runs/bert_base_raw.trec.gz",
    "runs/bert_cv.trec": "runs/bert_base_cv.trec.gz",
    "runs/bert_manual.trec": "runs/bert_base_oracle.trec.gz",
}
_EXAMPLE = re.compile(
    r"^```console\n\$ (robustcs(?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_LEFT_OUT = "…"
#: Shared options by name, inputs of the project first. Studies with separate inputs describe those themselves.
_NAMES = [
    *SETTINGS,
    *(source.name for source in SOURCES if source.option and source.table in ("", "formulations")),
]
_SHARED = {option.opts[0]: option.help for option in map(SHARED.__getitem__, _NAMES)}
_HEAD = """# Command line reference

Made from the program by `python docs/update.py`; `robustcs COMMAND --help` says the same.

Exit codes: 0 done · 1 a gate failed (compare --fail-if) · 2 usage error · 3 input error · 4 an optional package is missing ·
5 a gate could not decide · 70 internal error · 130 interrupted · 143 terminated by SIGTERM; see
[policy and conventions](policy.md).
"""


def pages() -> list[Path]:
    """Return the hand-written pages whose examples run in the demo collection."""
    others = (REFERENCE, TABLES, RECORD, TUTORIAL, PAPERS)
    return [
        ROOT / "README.md",
        *sorted(path for path in (ROOT / "docs").rglob("*.md") if path not in others),
    ]


def public_data() -> Path | None:
    """Return the folder of the public data, or None."""
    folder = Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data"))
    return folder if folder.is_dir() else None


# ---------------------------------------------------------------- examples


@contextlib.contextmanager
def working_in(name: str, fill: Callable[[Path], None]) -> Iterator[None]:
    """Work in a new folder of this name, with a terminal of 80 columns."""
    before, columns = os.getcwd(), os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / name
        fill(folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            if columns is not None:
                os.environ["COLUMNS"] = columns


def demo_copy() -> contextlib.AbstractContextManager[None]:
    """Work in a copy of the demo collection."""
    return working_in("demo", lambda folder: shutil.copytree(ROOT / "fixtures", folder) and None)


def study_of(data: Path) -> contextlib.AbstractContextManager[None]:
    """Work in the folder of the tutorial, built from the public data."""

    def fill(folder: Path) -> None:
        for name, source in _STUDY.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            content = (data / "cast2019" / source).read_bytes()
            (folder / name).write_bytes(
                gzip.decompress(content) if source.endswith(".gz") else content
            )

    return working_in("cast-2019", fill)


def examples(text: str) -> list[tuple[str, str]]:
    """Return (command line, output in the page) of every example."""
    return [(match[1], match[2]) for match in _EXAMPLE.finditer(text)]


def output_of(command: str) -> str:
    """Return the terminal output of a command line, including messages."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        run(shlex.split(command.replace("\\\n", " "))[1:])
    return shown.getvalue()


def shortened(output: str, like: str) -> str:
    """Return ``output`` with lines omitted as in ``like``."""
    kept = like.split("\n")
    if _LEFT_OUT not in kept:
        return output
    before = kept.index(_LEFT_OUT)
    after = len(kept) - before - 1
    lines = output.split("\n")
    return "\n".join([*lines[:before], _LEFT_OUT, *lines[len(lines) - after :]])


def refreshed(text: str, where: contextlib.AbstractContextManager[None] | None = None) -> str:
    """Return the page with the current outputs of its examples, run in order in ``where`` (default: the demo collection)."""

    def example(match: re.Match[str]) -> str:
        return f"```console\n$ {match[1]}\n{shortened(output_of(match[1]), match[2])}```"

    with where or demo_copy():
        return _EXAMPLE.sub(example, text)


def refreshed_notebook(text: str) -> str:
    """Return the notebook with the current outputs of its cells."""
    with demo_copy():
        return executed(text)


# ---------------------------------------------------------------- reference


def reference() -> str:
    """Return the text of docs/cli.md."""

    shared = click.Command("shared", params=[SHARED[name] for name in _NAMES])
    parts = [
        _HEAD,
        "## Shared options\n",
        "A command accepts those that its section names.\n",
        _table(shared),
    ]
    parts += [_section(name, command) for name, command in commands(cli)]
    return "\n".join(parts)


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Return every command by its words, including those of groups, in the order of ``--help``."""
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{word} ")
        elif command is not None:
            yield f"{before}{word}", command


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"robustcs {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"## robustcs {name}\n", f"    robustcs {name} {usage}\n"]
    for paragraph in (command.help or "").split("\n\n"):
        head, mark, rest = paragraph.partition("\b\n")
        if mark:
            title, _, lines = (
                rest.rpartition(":\n") if rest.partition("\n")[0].endswith(":") else ("", "", rest)
            )
            parts += [f"{title}:\n"] * bool(title) + [
                f"```text\n{textwrap.dedent(lines).rstrip()}\n```\n"
            ]
        else:
            parts.append(" ".join(head.split()) + "\n")
    options = [
        one
        for one in (*command.params, *getattr(command, "shared", ()))
        if isinstance(one, click.Option)
    ]
    own = [option for option in options if _SHARED.get(option.opts[0]) != option.help]
    if own:
        parts.append(_table(command, own))
    taken = [f"`{option.opts[0]}`" for option in options if option not in own]
    if taken:
        parts.append(f"Of the [shared options](#shared-options): {', '.join(taken)}.\n")
    return "\n".join(parts)


def _table(command: click.Command, options: list[click.Option] | None = None) -> str:
    context = click.Context(command)
    rows = ["| Option | |", "|---|---|"]
    for option in options or [
        option for option in command.params if isinstance(option, click.Option)
    ]:
        record = help_record(option, context)
        if record:
            names, text = (cell.replace("|", "\\|") for cell in record)
            rows.append(f"| `{names}` | {' '.join(text.split()).replace('<', '&lt;')} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Rewrite every page that has changed, and print its name."""
    for path in pages():
        text = path.read_text(encoding="utf-8")
        _write(path, text, refreshed(text))
    data = public_data()
    if data:
        text = TUTORIAL.read_text(encoding="utf-8")
        _write(TUTORIAL, text, refreshed(text, study_of(data)))
    text = NOTEBOOK.read_text(encoding="utf-8")
    _write(NOTEBOOK, text, refreshed_notebook(text))
    _write(
        REFERENCE, REFERENCE.read_text(encoding="utf-8") if REFERENCE.exists() else "", reference()
    )
    _write(PAPERS, PAPERS.read_text(encoding="utf-8") if PAPERS.exists() else "", papers_page())
    _write(RECORD, RECORD.read_text(encoding="utf-8") if RECORD.exists() else "", record_page())
    STUB.write_text(stub(), encoding="utf-8")
    _write(
        TABLES, TABLES.read_text(encoding="utf-8") if TABLES.exists() else "", tables_reference()
    )


def _write(path: Path, old: str, new: str) -> None:
    if new != old:
        path.write_text(new, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
