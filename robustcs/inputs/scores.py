"""Per-turn scores as ``trec_eval -q`` prints them: ``measure turn value``, one score per line.

Also read: tables with a measure, a turn and a value in every row, or with a column for every measure.
"""

from __future__ import annotations

from collections.abc import Iterator

from robustcs.errors import ProblemList, at_line, input_error
from robustcs.inputs import mtrag, tables
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.records import ID_NAMES, RowProblems, shape_of
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import find_column, need_column, read_rows, read_table, text_of
from robustcs.inputs.text import first_record, id_text, number_of, text_lines
from robustcs.inputs.trec_lines import MS_MARCO, measure_columns
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.wording import counted

#: The id of the row with averages over turns; it is not a turn.
ALL = "all"


def read_scores(path: StrPath, name: str = "") -> pd.DataFrame:
    """Return the scores of one run: a float frame indexed by turn (natural order), one column per measure as in the file.

    Of MTRAG tasks, the metrics of the answers and the scores of the retriever; ``name`` is the model of an export with several.

    Rows of the turn ``all`` are averages and are skipped. A measure without a score for a turn is NaN.

    Raises :class:`InputError` for malformed lines, a turn scored twice by one measure, and a file with averages only.
    """
    if mtrag.has_tasks(first_record(parts_of(path)[0]) or {}):
        return _in_order(_of_tasks(path, name))
    kind = refuse_other_kinds(path, "scores")
    named = shape_of(path) != "table" or read_table(path) is not None
    if kind is not None and kind.family in MS_MARCO.values():
        raise input_error(path, None, kind.says, kind.advice, "other-kind")
    values: dict[str, dict[str, float]] = {}
    lines: dict[tuple[str, str], int] = {}
    problems = ProblemList(path)
    averages = False
    for number, measure, turn, cell in (_of_rows if named else _of_lines)(path, problems):
        if turn == ALL:
            averages = True
            continue
        value = number_of(cell)
        if value is None:
            found = f"{measure} of turn {turn}: {str(cell)[:40]!r} is not a number"
            problems.add(number, found, "write a decimal number", "not-a-number")
            continue
        earlier = lines.setdefault((measure, turn), number)
        if earlier != number:
            found = f"{measure} of turn {turn} is already in {at_line(path, earlier)}"
            problems.add(number, found, "keep one of the two lines", "repeated-score")
            continue
        values.setdefault(measure, {})[turn] = value
    problems.raise_if_any()
    if not values:
        found = "the file contains only averages (turn 'all')" if averages else "the file has no scores"
        raise input_error(path, None, found, "write per-turn scores with trec_eval -q", "no-turns")
    return _in_order(values)


def _in_order(values: dict[str, dict[str, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(values)
    frame = frame.loc[sorted(frame.index, key=turn_sort_key)]
    frame.index.name = "turn"
    return frame


def has_scores(path: StrPath, name: str = "") -> bool:
    """Return whether a file of MTRAG tasks has scores."""
    return any(
        mtrag.has_tasks(first_record(part) or {}) and mtrag.scores(json_records(part, ProblemList(part)), name)
        for part in parts_of(path)
    )


def _of_tasks(path: StrPath, name: str) -> dict[str, dict[str, float]]:
    """Return measure → turn → score. Raises :class:`InputError` for tasks without scores, or without those of ``name``."""
    values: dict[str, dict[str, float]] = {}
    for part in parts_of(path):
        problems = RowProblems(part, "tasks")
        tasks = list(json_records(part, problems))
        problems.raise_if_any(len(tasks))
        models = mtrag.models_in(task.fields for task in tasks)
        if len(models) > 1 and name not in models:
            found = f"the file contains scores of {', '.join(models)}, but not of {name!r}"
            raise input_error(path, None, found, "use one of these names for the scores", "several-runs")
        for measure, own in mtrag.scores(tasks, name).items():
            values[measure] = values.get(measure, {}) | own
    if not values:
        raise input_error(path, None, "tasks without metrics and retriever_scores", "give a file with scores", "no-turns")
    return values


#: Line, measure, turn, raw value.
_Score = tuple[int, str, str, object]


def _of_lines(path: StrPath, problems: ProblemList) -> Iterator[_Score]:
    for number, line in text_lines(path):
        cells = line.split()
        if not cells or line.startswith("#"):
            continue
        if len(cells) == 3 or (len(cells) > 3 and cells[1] == ALL):
            yield number, cells[0], cells[1], cells[2]
            continue
        found = f"{counted(len(cells), 'column')}, but per-turn scores have 3 (measure turn value)"
        problems.add(number, found, "write the output of trec_eval -q", "wrong-columns")


def _of_rows(path: StrPath, problems: ProblemList) -> Iterator[_Score]:
    """Yield the scores of rows with names. Without columns for measure and value, each column of numbers is a measure.

    The first row decides whether a column other than the usual measures contains numbers.
    """
    names, rows = read_rows(path, problems)
    ids = need_column(path, names, tables.TURN_NAMES)
    measure, value = find_column(names, tables.MEASURE_NAMES), find_column(names, tables.VALUE_NAMES)
    others = [name for name in names if name and not find_column((name,), tables.TURN_NAMES)]
    wide: list[str] = []
    for line, row in rows:
        wide = wide or [name for name in others if name in measure_columns(names) or number_of(row.get(name)) is not None]
        turn = id_text(row.get(ids))
        if not turn:
            problems.add(line, "no turn id", "complete the row or delete it", "no-turn-id")
        elif measure and value:
            yield line, text_of(row.get(measure)), turn, row.get(value)
        else:
            yield from ((line, name, turn, row.get(name)) for name in wide)


def read_slices(path: StrPath) -> dict[str, dict[str, str]]:
    """Return column → turn → value, without surrounding white space; a turn with an empty value is not in that column.

    Raises :class:`InputError` with every bad row (bounded): a wrong number of columns, a repeated turn; or
    if there are no turn ids (:data:`~robustcs.inputs.records.ID_NAMES`), no other columns or no rows.
    """
    if mtrag.has_tasks(first_record(path) or {}):
        broken = ProblemList(path)
        labels = mtrag.labels(list(json_records(path, broken)))
        broken.raise_if_any()
        if not labels:
            found = "tasks without labels"
            raise input_error(path, None, found, "give tasks with labels such as answerability", "no-such-column")
        return labels
    problems = RowProblems(path)
    names, rows = read_rows(path, problems)
    ids = need_column(path, names, ID_NAMES)
    # a column without a name contains row numbers, as pandas writes them
    columns: dict[str, dict[str, str]] = {name: {} for name in names if name not in ("", ids)}
    if not columns:
        advice = "name every column in the first line, separated by tabs"
        raise input_error(path, 1, "no column besides the turn ids", advice, "wrong-columns")
    seen: dict[str, int] = {}
    for number, row in rows:
        turn = text_of(row.get(ids))
        if not turn:
            problems.skip(number, "no turn id", "complete the row or delete it", "no-turn-id")
            continue
        if turn in seen:
            found = f"turn {turn} is already in {at_line(path, seen[turn])}"
            problems.add(number, found, "give every turn one line", "repeated-turn")
            continue
        seen[turn] = number
        for name, values in columns.items():
            if cell := text_of(row.get(name)):
                values[turn] = cell
    problems.finish(seen, "rows")
    return columns
