"""Build docs/record.md from the schema of records and the fields of all studies; docs/update.py writes the page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from robustcs.records import schema  # noqa: E402
from robustcs.records.table import TurnField  # noqa: E402
from robustcs.studies.fields import declared_fields  # noqa: E402

RECORD = ROOT / "docs" / "record.md"
_HEAD = """# The record of a turn

Made from the program by `python docs/update.py`. A record is everything that is known about one turn. The table `records` of
[robustcs turns](turns.md) has records, and the file `turns.jsonl` consists of them: one JSON object per line, first a head, then
a record for each turn, then texts of passages. What is unknown is left out.
"""
_SHAPES = {
    "Head": schema.Head,
    "Input": schema.InputFile,
    "Group": schema.SystemGroup,
    "Turn": schema.TurnRecord,
    "Message of the history": schema.Said,
    "System": schema.SystemRecord,
    "Rest of a ranking": schema.RankingRest,
    "Labels of a coder": schema.CoderLabels,
    "Texts of passages": schema.PassageTexts,
}
_FIELDS = """## Fields of filters

What a [filter](turns.md#filters) can ask. A field *per system* has a value for each system, `FIELD@SYSTEM`; without a system,
any system may have the value. A field *by threshold* is meant at the headline measure and threshold, or at those of `at:`. Each
measure is a field too, by its name (`ndcg_cut_3`) or its label in quotes (`"NDCG@3"`), and so are the metrics in files of
answers, properties of texts (`pronoun`, `ellipsis`, `length`, `shift`, `name`, `"name in rewrite"`) and the columns of files given
with `--slices`.

| Field | Values | | Study |
|---|---|---|---|
"""


def record_page() -> str:
    """Return the page: every field of the file, and every field of filters."""
    parts = [_HEAD]
    for title, shape in _SHAPES.items():
        parts.append(f"## {title}\n\n{shape.__doc__}\n")
        parts.append("\n".join(["| Field | |", "|---|---|", *map(_row, _entries(shape))]) + "\n")
    rows = [_field_row(field) for field in declared_fields()]
    return "\n".join(parts) + "\n" + _FIELDS + "\n".join(rows) + "\n"


def _entries(shape: type) -> list[tuple[str, str, bool]]:
    """Return name, description and whether it is always there, of each field."""
    found = []
    for name, hint in get_type_hints(shape, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        annotated: Any = get_args(hint)[0] if optional else hint
        found.append((name, annotated.__metadata__[0], not optional))
    return found


def _row(entry: tuple[str, str, bool]) -> str:
    name, says, always = entry
    return f"| `{name}` | {says}{'' if always else ' (optional)'} |"


def _field_row(field: TurnField) -> str:
    kinds = ["numbers" if field.kind == "number" else "words"]
    if field.per_system:
        kinds.append("per system")
    if field.by_cut:
        kinds.append("by threshold")
    return f"| `{field.name}` | {', '.join(kinds)} | {field.says} | {field.study} |"
