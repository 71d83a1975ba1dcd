"""Write the unjudged passages to a CSV sheet for a spreadsheet, and read the sheet back.

The file starts with a byte order mark, because Excel garbles non-local scripts without it. An apostrophe precedes each cell
that a spreadsheet would run as a formula (it starts with ``=``, ``+``, ``-`` or ``@``), and each id that it would turn into a
number or a date (``000123``, ``1-3``). Reading removes it from ids.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from robustcs.conversations import Conversations
from robustcs.documents.files import write_text
from robustcs.documents.text import one_line
from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.text import delimiter_of, read_text
from robustcs.studies.judge.analysis import Pair
from robustcs.studies.judge.session import GradeScale, misfit_of

COLUMNS = ("topic", "turn", "question", "document", "passage", "grade")
#: A cell of a spreadsheet has at most 32,767 characters; longer text would spill into further rows.
_LONGEST = 30_000
_FORMULA = re.compile(r"[=+\-@]")
_NUMBER_OR_DATE = re.compile(r"[0-9.,:/eE+ -]+")
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
_GRADE = re.compile(r"([0-9]+)[.,]0+")
_CORRECT = "correct the grade, or clear the cell"
_CHECK = "check the id, which the spreadsheet may have changed; clear the grade if the sheet is of other runs or another --top"


def write_sheet(
    path: Path,
    pairs: Sequence[Pair],
    texts: Mapping[str, str],
    passages: Mapping[str, str],
    conversations: Conversations | None = None,
) -> None:
    """Write ``pairs`` with an empty grade column; as at the terminal, systems, ranks and influence are hidden.

    ``texts``: turn → question, ``passages``: document → text; missing texts stay empty.
    """
    refuse_existing(path)
    known = conversations or Conversations.from_ids(turn for turn, _ in pairs)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for turn, document in pairs:
        texts_of_pair = (
            _text_cell(texts.get(turn, "")),
            _id_cell(document),
            _text_cell(passages.get(document, "")),
        )
        writer.writerow([_id_cell(known.of(turn)), _id_cell(turn), *texts_of_pair, ""])
    write_text(path, "\ufeff" + out.getvalue())


def refuse_existing(path: Path) -> None:
    """Raise :class:`UsageError` if the file exists, since it may contain grades."""
    if path.is_file():
        raise UsageError(
            "file-exists",
            f"{path} exists and may contain grades",
            "name another file, or remove it first",
        )


def read_sheet(
    path: Path, scale: GradeScale, worklist: Collection[Pair], known: Mapping[Pair, int]
) -> tuple[dict[Pair, int], int]:
    """Read the grades of a filled-in sheet, and count its rows without a grade.

    Commas, semicolons and tabs are accepted as separators. Columns are found by their names (turn, document, grade). ``3.0``
    is 3. ``known``: earlier grades, which the sheet must not contradict.

    Raises :class:`InputError` with the line of every grade outside the scale, of every graded pair that is not in the
    worklist, and of every contradiction.
    """
    # read_text has normalized the line ends
    text = read_text(path).removeprefix("\ufeff")
    head = text.split("\n", 1)[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(head) or ",")
    names = [name.strip().lower() for name in next(rows, [])]
    lacking = [name for name in ("turn", "document", "grade") if name not in names]
    if lacking:
        found = f"no column {lacking[0]!r}; the columns are: {', '.join(names)}"
        raise input_error(
            path, 1, found, "keep the header line that --export wrote", "no-such-column"
        )
    turn_at, document_at, grade_at = (names.index(name) for name in ("turn", "document", "grade"))
    problems = ProblemList(path)
    grades: dict[Pair, int] = {}
    blank = 0
    last_line = 1
    try:
        for row in rows:
            line, last_line = last_line + 1, rows.line_num
            if not any(cell.strip() for cell in row):
                continue
            # spreadsheets may omit empty cells at the end of a row
            cells = [*row, *[""] * (len(names) - len(row))]
            grade = _GRADE.sub(r"\1", cells[grade_at].strip())
            if not grade:
                blank += 1
                continue
            pair = _id_of(cells[turn_at]), _id_of(cells[document_at])
            found = misfit_of(pair, grade, scale, worklist)
            if found:
                slug, advice = (
                    ("bad-grade", _CORRECT)
                    if found.startswith("grade")
                    else ("unknown-pair", _CHECK)
                )
                problems.add(line, found, advice, slug)
                continue
            for source, earlier in ((grades, "in an earlier line"), (known, "in the judgments")):
                if source.get(pair, int(grade)) != int(grade):
                    found = f"turn {pair[0]} document {pair[1]} has grade {grade} but grade {source[pair]} {earlier}"
                    problems.add(
                        line,
                        found,
                        "clear the cell, or write the same grade",
                        "contradicting-grades",
                    )
            grades.setdefault(pair, int(grade))
    except csv.Error as error:
        problems.add(
            rows.line_num,
            f"not valid CSV ({error})",
            "save the sheet again as CSV (UTF-8)",
            "not-csv",
        )
    problems.raise_if_any()
    return grades, blank


def _text_cell(text: str) -> str:
    text = one_line(text)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} … (cut: {len(text)} characters)"
    return f"'{text}" if _FORMULA.match(text) else text


def _id_cell(text: str) -> str:
    number = _NUMBER_OR_DATE.fullmatch(text) and not _PLAIN_NUMBER.fullmatch(text)
    return f"'{text}" if number or text.startswith("'") or _FORMULA.match(text) else text


def _id_of(cell: str) -> str:
    return cell.strip().removeprefix("'")
