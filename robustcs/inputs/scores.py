"""Per-turn scores as ``trec_eval -q`` prints them: ``measure turn value``, one score per line.

Also read: tables with a measure, a turn and a value in every row, or with a column for every measure. A measure is parsed when
it is asked for, so that a broken value of another measure does not matter. An empty value is missing, not 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from robustcs.errors import ProblemList, at_line, input_error
from robustcs.inputs import mtrag, tables
from robustcs.inputs.heads import first_record
from robustcs.inputs.mtrag import json_records
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.records import ID_NAMES, RowProblems, shape_of
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import find_column, need_column, read_rows, read_table, text_of
from robustcs.inputs.text import id_text, number_of, text_lines
from robustcs.inputs.trec_lines import MS_MARCO, TEXTS, measure_columns
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.wording import counted

#: The id of the row with averages over turns; it is not a turn.
ALL = "all"
#: Columns that are no scores, whatever their values.
_NO_SCORES = frozenset({"category", "type", "kind", "split", "level"})
#: Values that stand for a missing score, in lower case.
MISSING = frozenset({"", "nan", "null", "none", "n/a", "-"})


def is_missing(cell: object) -> bool:
    """Return whether a value stands for a missing score."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """The values of one file of scores, by measure, before they are parsed.

    lines
        Whether the file has the form of trec_eval's output, so that a turn that it lacks found nothing.
    cells
        Measure → line, turn and value of every row, in the order of the file.
    turns
        The turns of all measures, in order of appearance.
    averages
        Measures in rows of averages → whether the value is a number.
    """

    path: StrPath
    lines: bool = False
    cells: dict[str, list[tuple[int, str, object]]] = field(default_factory=dict)
    turns: dict[str, None] = field(default_factory=dict)
    averages: dict[str, bool] = field(default_factory=dict)

    def add(self, line: int, measure: str, turn: str, cell: object) -> None:
        """Add a value."""
        if turn == ALL:
            self.averages[measure] = number_of(cell) is not None
            return
        self.turns[turn] = None
        self.cells.setdefault(measure, []).append((line, turn, cell))

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures with at least one number; of trec_eval's output all but texts and those whose values are missing."""
        return tuple(
            name
            for name in self.cells
            if self._has_number(name) or (self.lines and self._is_broken(name))
        )

    def _has_number(self, measure: str) -> bool:
        return any(number_of(cell) is not None for _, _, cell in self.cells[measure])

    def _is_broken(self, measure: str) -> bool:
        return measure not in TEXTS and not all(
            is_missing(cell) for _, _, cell in self.cells[measure]
        )

    @property
    def known(self) -> list[str]:
        """The measures that are scores: by their names, or because their values are 0 and 1 or not all whole numbers."""
        named = {*measure_columns(self.measures)} if not self.lines else {*self.measures}
        return [
            name
            for name in self.measures
            if name in named or (name.lower() not in _NO_SCORES and self._varies(name))
        ]

    def _varies(self, measure: str) -> bool:
        numbers = {number_of(cell) for _, _, cell in self.cells[measure]} - {None}
        return numbers <= {0.0, 1.0} or any(
            number != int(number) for number in numbers if number is not None
        )

    @property
    def size(self) -> int:
        """The number of values of all measures that are not missing."""
        return sum(
            not is_missing(cell) for name in self.measures for _, _, cell in self.cells[name]
        )

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The measures of trec_eval's output whose values are texts, such as relstring; empty if no turn has such a value."""
        found = [name for name in self.cells if name in TEXTS and not self._has_number(name)]
        more = [
            name for name, known in self.averages.items() if not known and name not in self.cells
        ]
        return (*found, *more) if self.lines and found else ()

    def frame(self, measures: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the scores by ``measures`` (default: all): a float frame of all turns in natural order, nan where missing.

        Raises :class:`InputError` for values that are not numbers, and for a turn scored twice by one measure.
        """
        problems = ProblemList(self.path)
        values = self.parsed(self.measures if measures is None else measures, problems)
        problems.raise_if_any()
        return pd.DataFrame(
            values, index=pd.Index(sorted(self.turns, key=turn_sort_key), name="turn"), dtype=float
        )

    def parsed(self, measures: Iterable[str], problems: ProblemList) -> dict[str, dict[str, float]]:
        """Return measure → turn → score, nan where missing; problems go to the list, which is then in the order of lines."""
        values: dict[str, dict[str, float]] = {}
        for measure in measures:
            scores: dict[str, float] = {}
            lines: dict[str, int] = {}
            for number, turn, cell in self.cells[measure]:
                value = math.nan if is_missing(cell) else number_of(cell)
                earlier = lines.setdefault(turn, number) if value is not None else number
                if value is None:
                    found = f"{measure} of turn {turn}: {str(cell)[:40]!r} is not a number"
                    problems.add(number, found, "write a decimal number", "not-a-number")
                elif earlier != number:
                    found = f"{measure} of turn {turn} is already in {at_line(self.path, earlier)}"
                    problems.add(number, found, "keep one of the two lines", "repeated-score")
                else:
                    scores[turn] = value
            values[measure] = scores
        problems.problems.sort(key=lambda one: one.line or 0)
        return values


def read_scores(path: StrPath, name: str = "") -> pd.DataFrame:
    """Return the scores of one run: a float frame indexed by turn (natural order), one column per measure as in the file.

    Of MTRAG tasks, the metrics of the answers and the scores of the retriever; ``name`` is the model of an export with several.

    Rows of the turn ``all`` are averages and are skipped. A measure without a score for a turn is NaN.

    Raises :class:`InputError` for malformed lines, a turn scored twice by one measure, and a file with averages only.
    """
    return read_score_file(path, name).frame()


def read_score_file(path: StrPath, name: str = "") -> ScoreFile:
    """Return the values of one file of scores; see :func:`read_scores`.

    Raises :class:`InputError` for malformed lines, and for a file without scores of turns.
    """
    if mtrag.has_tasks(first_record(parts_of(path)[0]) or {}):
        found = ScoreFile(path)
        for measure, scores in _of_tasks(path, name).items():
            for turn, value in scores.items():
                found.add(0, measure, turn, value)
        return found
    kind = refuse_other_kinds(path, "scores")
    named = shape_of(path) != "table" or read_table(path) is not None
    if kind is not None and kind.family in MS_MARCO.values():
        raise input_error(path, None, kind.says, kind.advice, "other-kind")
    problems = ProblemList(path)
    found = ScoreFile(path, lines=not named)
    for row in (_of_rows if named else _of_lines)(path, problems):
        found.add(*row)
    if problems.total:
        found.parsed(found.cells, problems)  # so that all problems are named together
    problems.raise_if_any()
    if not any(map(found._has_number, found.cells)):
        if found.lines:
            found.frame(found.cells)  # raises if its values are not numbers
        averages = found.averages and not found.cells
        told = (
            "the file contains only averages (turn 'all')" if averages else "the file has no scores"
        )
        raise input_error(path, None, told, "write per-turn scores with trec_eval -q", "no-turns")
    return found


def has_scores(path: StrPath, name: str = "") -> bool:
    """Return whether a file of MTRAG tasks has scores."""
    return any(
        mtrag.has_tasks(first_record(part) or {})
        and mtrag.scores(json_records(part, ProblemList(part)), name)
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
            raise input_error(
                path, None, found, "use one of these names for the scores", "several-runs"
            )
        for measure, own in mtrag.scores(tasks, name).items():
            values[measure] = values.get(measure, {}) | own
    if not values:
        raise input_error(
            path,
            None,
            "tasks without metrics and retriever_scores",
            "give a file with scores",
            "no-turns",
        )
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

    The first value of a column that is not missing decides whether a column other than the usual measures contains numbers.
    """
    names, rows = read_rows(path, problems)
    ids = need_column(path, names, tables.TURN_NAMES)
    measure, value = (
        find_column(names, tables.MEASURE_NAMES),
        find_column(names, tables.VALUE_NAMES),
    )
    wide = dict.fromkeys(measure_columns(names), True)  # column → whether it contains numbers
    wide |= {name: False for name in names if not name or find_column((name,), tables.TURN_NAMES)}
    waiting: dict[str, list[_Score]] = {}  # of columns whose values are all missing so far
    for line, row in rows:
        turn = id_text(row.get(ids))
        if not turn:
            problems.add(line, "no turn id", "complete the row or delete it", "no-turn-id")
        elif measure and value:
            yield line, text_of(row.get(measure)), turn, row.get(value)
        else:
            for name in dict.fromkeys((*names, *row)):
                cell = row.get(name)
                if name not in wide and not is_missing(cell):
                    wide[name] = number_of(cell) is not None
                    yield from waiting.pop(name, ()) if wide[name] else ()
                if name not in wide:
                    waiting.setdefault(name, []).append((line, name, turn, cell))
                elif wide[name]:
                    yield line, name, turn, cell


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
            raise input_error(
                path, None, found, "give tasks with labels such as answerability", "no-such-column"
            )
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
