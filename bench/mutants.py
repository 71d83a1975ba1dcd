"""Mutation testing: do the tests detect small changes of the code?

    python bench/mutants.py --sample 400 --seed 0 [--rooms statistics]

Each mutant changes one place of one file: a comparison, an operator, a constant, ``min``/``max``, ``and``/``or``, or a returned
sign. In modules that write sentences, it may also change a column (``p`` for ``p_corrected``, ``ci_low`` for ``ci_high``) or a
row (last for first). Only the tests of that file run, in a temporary copy of the package: ``tests/statistics/test_X.py`` for
``statistics/X.py`` (or those of :data:`TESTED_BY`), ``tests/studies/S/test_X.py`` for ``studies/S/X.py``. Tests that need the
public data are skipped. A mutant that no test detects survives; some survivors are equivalent to the original code. ``--rooms``
also accepts paths of files.

One process runs at a time, forked from a process that has imported all unaffected modules. 400 mutants take about half an hour
on one idle core.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
ROOT = Path(__file__).resolve().parent.parent
PACKAGE, TESTS = Path("robustcs"), Path("tests")
#: Libraries to import before the fork, so that mutants do not import them again.
LIBRARIES = (
    "numpy", "pandas", "pyarrow.parquet", "scipy.stats", "scipy.optimize", "scipy.linalg", "statsmodels.api",
    "matplotlib.figure", "pytrec_eval", "pytest", "hypothesis", "click", "rich.console", "rich.table", "jinja2",
)  # fmt: skip
#: Room → its files.
ROOMS = {
    "statistics": ("statistics/*.py",), "evaluation": ("evaluation/*.py",),
    "sentences": ("studies/*/findings.py",),
    "records": ("records/*.py", "project/turns.py", "project/turn_scores.py", "studies/turns/*.py", "studies/*/fields.py"),
}  # fmt: skip
#: File → names of its tests, if they differ from the name of the file; paths are relative to the folder of tests.
TESTED_BY = {
    "evaluation/bins.py": ("bins", "studies/breakdown/test_analysis.py"),
    "evaluation/bounds.py": ("bounds", "pair_bounds"),
    "evaluation/extremes.py": ("extremes", "bounds", "pair_bounds"), "evaluation/precision_bounds.py": ("bounds", "pair_bounds"),
    "evaluation/hole_model.py": ("hole_model", "hole_many_turns", "hole_numbers"),
    "evaluation/hole_check.py": ("hole_expectation", "hole_model", "hole_numbers"),
    "evaluation/hole_expectation.py": ("hole_expectation", "hole_numbers"),
    "evaluation/hole_features.py": ("hole_features", "hole_numbers"),
    "evaluation/hole_order.py": ("hole_order", "hole_numbers"),
    "evaluation/hole_recalibration.py": ("hole_recalibration", "hole_stages", "hole_numbers"),
    "evaluation/hole_stages.py": ("hole_stages", "hole_numbers"),
    "evaluation/holes.py": ("holes", "studies/unjudged/test_analysis.py"),
    "evaluation/judgments.py": ("augmentation", "studies/augment/test_analysis.py"),
    "evaluation/grade_sources.py": ("provenance", "studies/augment/test_analysis.py"),
    "evaluation/measure.py": ("measures", "trec_eval"),
    "evaluation/measures.py": ("measures", "trec_eval"), "evaluation/outcomes.py": ("studies/answers/test_outcomes.py",),
    "evaluation/rating_scales.py": ("studies/agreement/test_ratings.py",),
    "evaluation/thresholds.py": ("thresholds", "terms"),
    "project/turn_scores.py": ("records/test_record.py", "studies/turns/test_command.py"),
    "project/turns.py": ("records/test_record.py", "studies/turns/test_command.py", "inputs/test_histories.py"),
    "records/schema.py": ("record",), "records/table.py": ("filter",),
    "statistics/__init__.py": ("quotient",), "statistics/agreement.py": ("agreement", "unit_agreement"),
    "statistics/families.py": ("families", "correction"),
    "statistics/means.py": ("means", "median"), "statistics/preference.py": ("preference", "paired"),
    "statistics/student.py": ("means",), "statistics/ranks.py": ("ranks", "rank_stability"),
    "statistics/samples.py": ("draws",), "statistics/columns.py": ("columns", "effect"),
    "studies/answers/fields.py": ("records/test_record.py",), "studies/breakdown/fields.py": ("records/test_record.py",),
    "studies/components/fields.py": ("studies/turns/test_real_data.py",),
    "studies/evaluate/fields.py": ("records/test_record.py", "studies/turns/test_filters.py"),
    "studies/review/fields.py": ("studies/turns/test_filters.py",), "studies/review/findings.py": ("analysis",),
    "studies/turns/analysis.py": ("command",), "studies/turns/differences.py": ("command",),
    "studies/turns/fields.py": ("filters",), "studies/turns/show.py": ("command",), "studies/turns/steps.py": ("command",),
    "studies/turns/study.py": ("command",),
}  # fmt: skip
#: Limits of a mutant: least CPU seconds, multiple of the usual time, wall seconds per CPU second, and bytes of memory.
LEAST, SLOWER, IDLE, MEMORY = 10.0, 4.0, 20.0, 8 * 2**30

_FLIPPED: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Pow: (ast.Mult,), ast.And: (ast.Or,), ast.Or: (ast.And,), ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,), ast.USub: (ast.UAdd,),
}  # fmt: skip


def _both_ways(*pairs: tuple[str, str]) -> dict[str, str]:
    return dict(pairs) | {second: first for first, second in pairs}


#: Functions, and methods or functions of numpy and pandas, that replace each other.
_BUILT_IN = _both_ways(("min", "max"), ("any", "all"))
_METHODS = _BUILT_IN | _both_ways(
    ("minimum", "maximum"), ("argmin", "argmax"), ("idxmin", "idxmax"), ("nanmin", "nanmax"), ("floor", "ceil"),
    ("cumsum", "cumprod"), ("sum", "prod"), ("mean", "sum"),
)  # fmt: skip
#: Columns and variable names that a sentence may confuse.
_COLUMNS = _both_ways(
    ("ci_low", "ci_high"), ("low", "high"), ("ratio_low", "ratio_high"), ("p", "p_corrected"), ("human_p", "human_p_corrected"),
    ("first", "second"), ("before", "after"), ("rank_before", "rank_after"), ("best", "worst"), ("least", "most"), ("qa", "qr"),
    ("wins", "losses"), ("human_share", "judge_share"), ("human_difference", "judge_difference"), ("lost", "gained"),
    ("human_apart", "judge_apart"), ("reversed", "swapped"), ("source", "target"), ("count", "items"), ("turns", "answered"),
    ("drop", "baseline"), ("retrieved", "judged"),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one file. ``place`` is the node's index in :func:`_nodes`, ``number`` the index of the change there."""

    path: Path
    place: int
    number: int
    line: int


def main() -> None:
    """Sample and run mutants, and print the score and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--sample", type=int, default=400, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--rooms",
        default="statistics,evaluation,sentences",
        help="rooms or files of robustcs/, comma-separated",
    )
    given = parser.parse_args()
    files = [path for room in given.rooms.split(",") for path in _files(room)]
    every = [mutant for path in files for mutant in mutants(path)]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    # run the tests of one file in sequence
    chosen.sort(key=lambda mutant: (mutant.path, mutant.line, mutant.place, mutant.number))
    print(f"{len(chosen)} of {len(every)} mutants of {len(files)} files", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        survivors, late = _tried(chosen, Path(folder))
    killed = len(chosen) - len(survivors)
    print(
        f"{killed} of {len(chosen)} mutants killed ({100 * killed / len(chosen):.1f}%), {late} of them by the time limit"
    )
    for said in survivors:
        print(f"survived: {said}")


def _files(room: str) -> list[Path]:
    """Return the files of a room, relative to the package, or ``room`` itself if it is a file."""
    if room not in ROOMS:
        return [Path(room).relative_to(PACKAGE) if room.startswith(f"{PACKAGE}/") else Path(room)]
    found = [
        path
        for pattern in ROOMS[room]
        for path in (ROOT / PACKAGE).glob(pattern)
        if path.stat().st_size
    ]
    return sorted(path.relative_to(ROOT / PACKAGE) for path in found)


def tests_of(path: Path) -> list[Path]:
    """Return the tests of a file of the package, relative to the folder of tests."""
    names = TESTED_BY.get(path.as_posix(), (path.stem,))
    return [Path(name) if "/" in name else path.with_name(f"test_{name}.py") for name in names]


# ---------------------------------------------------------------- mutants


def mutants(path: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    nodes = _nodes(ast.parse((ROOT / PACKAGE / path).read_bytes()))
    return [
        Mutant(path, place, number, getattr(node, "lineno", 0))
        for place, node in enumerate(nodes)
        for number, _ in enumerate(_changes(node, path))
    ]


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the executed nodes in a fixed order, without annotations, error messages and code for type checkers."""
    yield tree
    if isinstance(tree, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom):
        return
    if (
        isinstance(tree, ast.If)
        and isinstance(tree.test, ast.Name)
        and tree.test.id == "TYPE_CHECKING"
    ):
        return
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not (
                isinstance(child, ast.keyword) and child.arg in ("strict", "stacklevel")
            ):
                yield from _nodes(child)


def _changes(node: ast.AST, path: Path) -> Iterator[Callable[[], None]]:
    """Return the possible changes of a node, in place."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in _FLIPPED[type(operator)]:
                yield lambda place=place, other=other: node.ops.__setitem__(place, other())  # type: ignore[misc]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield lambda: setattr(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp | ast.UnaryOp):
        words = isinstance(node, ast.BinOp) and (_is_text(node.left) or _is_text(node.right))
        # a union of types looks like an operation
        types = (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _is_none(node.right)
        )
        for other in () if words or types else _FLIPPED.get(type(node.op), ()):
            yield lambda other=other: setattr(node, "op", other())  # type: ignore[misc]
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield lambda: setattr(node, "value", not node.value)
        elif isinstance(node.value, int | float):
            yield lambda: setattr(
                node,
                "value",
                node.value + 1 if isinstance(node.value, int) else 2 * node.value or 1.0,
            )
        elif isinstance(node.value, str) and node.value in _COLUMNS and path.parts[0] == "studies":
            yield lambda: setattr(node, "value", _COLUMNS[str(node.value)])
    elif isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id in _BUILT_IN:
            yield lambda: setattr(function, "id", _BUILT_IN[function.id])
        elif isinstance(function, ast.Attribute) and function.attr in _METHODS:
            yield lambda: setattr(function, "attr", _METHODS[function.attr])
    elif (
        isinstance(node, ast.Name) and path.parts[0] == "studies" and isinstance(node.ctx, ast.Load)
    ):
        if _COLUMNS.get(node.id) in _names(path):
            yield lambda: setattr(node, "id", _COLUMNS[node.id])
    elif isinstance(node, ast.Attribute) and path.parts[0] == "studies" and node.attr in _COLUMNS:
        yield lambda: setattr(node, "attr", _COLUMNS[node.attr])
    elif (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "iloc"
    ):
        if isinstance(node.slice, ast.Constant) and node.slice.value == 0:
            yield lambda: setattr(node, "slice", ast.UnaryOp(ast.USub(), ast.Constant(1)))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.BinOp) and not (
        _is_text(node.value.left) or _is_text(node.value.right)
    ):  # fmt: skip
        yield lambda: setattr(node, "value", ast.UnaryOp(ast.USub(), node.value))


@cache
def _names(path: Path) -> frozenset[str]:
    """Return the names that a file uses; any other name would crash it."""
    tree = ast.parse((ROOT / PACKAGE / path).read_bytes())
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        or (isinstance(node, ast.BinOp) and (_is_text(node.left) or _is_text(node.right)))
    )


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def changed(mutant: Mutant, source: bytes) -> tuple[str, ast.AST, ast.AST]:
    """Return the changed file, and the node before and after."""
    tree = ast.parse(source)
    node = list(_nodes(tree))[mutant.place]
    before = copy.deepcopy(node)
    list(_changes(node, mutant.path))[mutant.number]()
    return ast.unparse(ast.fix_missing_locations(tree)), before, node


def _told(mutant: Mutant, source: bytes, before: ast.AST, after: ast.AST) -> str:
    """Return a description such as ``robustcs/statistics/means.py:12: a < b → a <= b``."""
    line = source.decode().splitlines()[mutant.line - 1].strip()
    found = f"{PACKAGE / mutant.path}:{mutant.line}: {ast.unparse(before)} → {ast.unparse(after)}"
    return found if len(found) > 120 else f"{found}    in: {line[:90]}"


# ---------------------------------------------------------------- tests


def _tried(chosen: Sequence[Mutant], folder: Path) -> tuple[list[str], int]:
    """Return the mutants that no test detects, and the number of timeouts."""
    for name in (PACKAGE, TESTS):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("fixtures", "bench", "docs", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    survivors: list[str] = []
    late, usual = 0, 0.0
    sys.path[:] = [
        str(folder),
        *(path for path in sys.path if path not in (str(ROOT), str(ROOT / "bench"))),
    ]
    importers = _loaded(folder)
    for place, mutant in enumerate(chosen):
        tests = [test for name in tests_of(mutant.path) if (test := folder / TESTS / name).exists()]
        stale = _stale(mutant.path, importers)
        if place == 0 or mutant.path != chosen[place - 1].path:
            if not tests:
                print(f"{PACKAGE / mutant.path} has no tests", flush=True)
            else:
                started = _used()
                if _outcome(folder, tests, stale, None) != 0:
                    raise SystemExit(f"the tests of {mutant.path} fail without a mutation")
                usual = _used() - started
        if not tests:
            survivors.append(f"{PACKAGE / mutant.path}:{mutant.line}: no tests")
            continue
        file = folder / PACKAGE / mutant.path
        as_it_is = file.read_bytes()
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
            compiled.unlink()
        text, before, after = changed(mutant, as_it_is)
        file.write_text(text, "utf-8")
        outcome = _outcome(folder, tests, stale, max(LEAST, SLOWER * usual))
        file.write_bytes(as_it_is)
        late += outcome is None
        said = _told(mutant, as_it_is, before, after)
        if outcome == 0:
            survivors.append(said)
        word = {None: "late", 0: "SURVIVED"}.get(outcome, "killed")
        print(f"{place + 1:4d} {word:9s}{said}", file=sys.stderr, flush=True)
    return survivors, late


def _loaded(folder: Path) -> dict[str, set[str]]:
    """Import the libraries and the whole package. Return module → modules that import it."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    files = {
        ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (
            *(folder / PACKAGE).rglob("*.py"),
            folder / TESTS / "__init__.py",
            folder / TESTS / "conftest.py",
        )
        if path.stem != "__main__"
    }
    importers: dict[str, set[str]] = {}
    for name, path in files.items():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            found = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                found = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
            for other in found:
                importers.setdefault(other, set()).add(name)
    return importers


def _stale(path: Path, importers: dict[str, set[str]]) -> set[str]:
    """Return the module of a file and all direct and indirect importers, which must be imported again."""
    found: set[str] = set()
    waiting = {".".join((PACKAGE / path).with_suffix("").parts).removesuffix(".__init__")}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= importers.get(name, set()) - found
    return found - {str(PACKAGE)}


def _outcome(
    folder: Path, tests: Sequence[Path], stale: set[str], limit: float | None
) -> int | None:
    """Return the exit code of pytest in a separate process; None after ``limit`` CPU seconds or if it hangs."""
    child = os.fork()
    if not child:
        _run(folder, tests, stale, limit)
    end = time.monotonic() + IDLE * limit if limit else float("inf")
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGXCPU else code
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _used() -> float:
    """Return the CPU seconds of finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(folder: Path, tests: Sequence[Path], stale: set[str], limit: float | None) -> None:
    """Run the tests in this process and exit. Without a limit, later processes reuse the byte code."""
    code = 70
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(folder)
        silence = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(silence, descriptor)
        os.environ["PYTHONPATH"] = str(folder)
        os.environ["ROBUSTCS_DATA"] = str(folder / "none")
        sys.dont_write_bytecode = limit is not None
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
        for name in stale & set(sys.modules):
            del sys.modules[name]
            package, _, last = name.rpartition(".")
            with contextlib.suppress(AttributeError):
                delattr(sys.modules.get(package), last)
        pytest = importlib.import_module("pytest")
        code = int(
            pytest.main(
                [*map(str, tests), "-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder)]
            )
        )
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
