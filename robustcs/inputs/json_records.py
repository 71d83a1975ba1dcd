"""The records of a JSON file: the objects of a list, those of JSONL lines, or the one object that the file is.

Of InspectorRAGet's exports they are the tasks.
"""

from __future__ import annotations

from collections.abc import Iterator

from robustcs.errors import ProblemList
from robustcs.inputs import mtrag
from robustcs.inputs.files import read_json
from robustcs.inputs.records import StrPath, json_lines, shape_of
from robustcs.inputs.text_format import Record


def json_records(path: StrPath, problems: ProblemList) -> Iterator[Record]:
    """Every record in file order; what is no object goes to the problems. None of them for a JSON value that is no container.

    Raises :class:`InputError` for a file that is empty or whose one value is not JSON.
    """
    if shape_of(path) == "jsonl":
        for place, (line, fields) in enumerate(json_lines(path, problems, halves=True), 1):
            yield Record(line, place, fields)
        return
    value = read_json(path, halves=True)
    if isinstance(value, dict):
        tasks = mtrag.tasks_in(value) if mtrag.is_export(value) else [value]
        yield from (Record(None, place, fields) for place, fields in enumerate(tasks, 1))
    elif isinstance(value, list):
        for place, fields in enumerate(value, 1):
            if isinstance(fields, dict):
                yield Record(None, place, fields)
            else:
                problems.skip(None, f"entry {place} of the list is not an object", "complete the entry", "not-an-object")
