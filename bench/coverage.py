"""Measure the coverage of the 95% intervals of ``robustcs/statistics`` on conversations drawn from public runs.

    PYTHONPATH=. python bench/coverage.py [--trials 2000] [--jobs 2] [--part NAME …] [--data FOLDER] [--print]

The script writes the tables between the markers of docs/statistics.md; ``--print`` only prints them. ``--part`` simulates and
replaces only the rows of that part. FOLDER defaults to ``$ROBUSTCS_DATA`` or ``../shared/data``.

:mod:`bench.coverage_cells` defines a trial. :mod:`bench.coverage_breakdown` and :mod:`bench.coverage_items` contain the trials
of the parts ``breakdown`` and ``items``. :mod:`bench.coverage_sparse` contains those of ``sparse`` and ``samples``, which have
separate tables.
"""

from __future__ import annotations

import os

# set before numpy is imported: two workers with two threads each would compete for two cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import multiprocessing
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from bench import coverage_cells as cells
from bench import coverage_items as items
from bench import coverage_sparse as sparse
from bench.coverage_breakdown import breakdown_trial
from bench.pages import between

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "statistics.md"
COLLECTIONS = ("CAsT 2019", "CAsT 2020", "DL 2021")
UNITS = (10, 20, 25)
ITEMS = (6, 10, 20, 30)
#: Part of the simulation → source of the units → numbers of units drawn.
PARTS: dict[str, dict[str, tuple[int, ...]]] = {
    "systems": dict.fromkeys(COLLECTIONS, UNITS),
    "breakdown": dict.fromkeys(COLLECTIONS, UNITS),
    "judges": {"LLMJudge topics": UNITS, "LLMJudge items": ITEMS},
    "items": {
        "CAsT 2019": UNITS, "CAsT 2020": UNITS, "CAsT 2022": UNITS, "ClariQ": UNITS, "CAsT-snippets": UNITS, "made up": UNITS,
        "LLMJudge topics": UNITS, "LLMJudge items": ITEMS,
    },
    "sparse": dict.fromkeys(COLLECTIONS, (10, 20, 50)),
    "samples": dict.fromkeys(COLLECTIONS[:2], (8, 20, 50)),
    "families": {"CAsT 2019": UNITS, "DL 2021": UNITS},
}  # fmt: skip
#: Trials per task of a worker.
CHUNK = 100
#: Kind of estimate → lowest and highest coverage in percent, for up to 10 units and for 20 or more.
DEMANDS = {
    "mean": ((92, 98), (93, 97)), "share": ((92, 98), (93, 97)), "rare": ((92, 100), (93, 100)),
    "gain": ((92, 98), (93, 97)), "area": ((92, 98), (93, 97)),
    "difference": ((88, 97), (91, 97)), "drop": ((88, 97), (91, 97)),
    "Pearson": ((90, 97.5), (92, 97.5)), "Spearman": ((90, 97.5), (92, 97.5)), "Partial": ((90, 97.5), (92, 97.5)),
    "items": ((93, 98), (93, 98)), "topic": ((88, 97), (91, 97)), "need": ((92, 100), (93, 99)),
    "preference": ((92, 100), (93, 99)),
}  # fmt: skip
#: Largest percentage of equal systems that a test may reject at 0.05 and at 0.01.
LEVELS = (6.5, 1.6)


@cache
def trials_of(data: Path, part: str, what: str) -> tuple[int, list[cells.Trial]]:
    """Return the number of units to draw from and the trials of a part and collection."""
    if part == "items":
        return _trials_of_items(data, what)
    if part == "judges":
        units, trial = cells.agreement_trial(cells.read_judgments(data), what.endswith("topics"))
        return units, [trial]
    if part == "sparse":
        units, trial = sparse.sparse_trial(data, what)
        return units, [trial]
    some = cells.read_collection(data, what)
    if part == "samples":
        return some.units.count, [sparse.samples_trial(some)]
    if part == "breakdown":
        return some.units.count, [breakdown_trial(some)]
    if part == "families":
        return some.units.count, [cells.families_trial(some)]
    makers = [cells.means_trial, cells.differences_trial, cells.correlations_trial]
    return some.units.count, [maker(some) for maker in makers]


def _trials_of_items(data: Path, what: str) -> tuple[int, list[cells.Trial]]:
    if what == "CAsT-snippets":
        return items.snippets_trial(data)
    if what == "ClariQ":
        return items.questions_trial(data)
    if what in ("CAsT 2022", "made up") or what.startswith("LLMJudge"):
        if what.startswith("LLMJudge"):
            count, trial = items.alphas_trial(cells.read_judgments(data), what.endswith("topics"))
        else:
            count, trial = (
                items.crowd_trial(data) if what == "CAsT 2022" else items.preferences_trial()
            )
        return count, [trial]
    some = cells.read_collection(data, what)
    count, judged = items.judgments_trial(data, what)
    return count, [
        items.variance_trial(some),
        items.slices_trial(some, items.turns_of(data, what)),
        judged,
    ]


Task = tuple[str, str, int, int, int]


def tasks(trials: int, parts: Sequence[str] = tuple(PARTS)) -> Iterator[Task]:
    """Yield (part, collection, units drawn, trials, seed) of every task. The seeds do not depend on the chosen parts."""
    wanted = [
        (part, what, count)
        for part, by_what in PARTS.items()
        for what, counts in by_what.items()
        for count in counts
    ]
    for start in range(0, trials, CHUNK):
        for place, (part, what, count) in enumerate(wanted):
            if part in parts:
                yield part, what, count, min(CHUNK, trials - start), 1_000_000 * place + start


def work(task: tuple[Path, Task]) -> tuple[str, str, int, dict[tuple[str, str], np.ndarray]]:
    """Run one task in a worker."""
    data, (part, what, count, trials, seed) = task
    units, made = trials_of(data, part, what)
    return part, what, count, dict(cells.run_trials(made, units, count, trials, seed).counts)


Found = dict[tuple[str, int], cells.Tally]


def simulate(
    data: Path, trials: int, jobs: int, parts: Sequence[str] = tuple(PARTS)
) -> dict[str, Found]:
    """Return part → (collection, units) → counts. Parts without separate tables are under the empty name."""
    found: dict[str, Found] = defaultdict(lambda: defaultdict(cells.Tally))
    todo = [(data, task) for task in tasks(trials, parts)]
    with multiprocessing.Pool(jobs) as pool:
        for done, (part, what, count, counts) in enumerate(pool.imap_unordered(work, todo), 1):
            found[part if part in sparse.TABLES else ""][what, count].add(counts)
            print(f"\r{done} of {len(todo)} ", end="", flush=True, file=sys.stderr)
    return found


# ---------------------------------------------------------------- tables


def _by_kind(
    found: dict[tuple[str, int], cells.Tally],
) -> dict[tuple[str, str], dict[int, np.ndarray]]:
    """Return (kind of estimate, collection) → units drawn → counts [rows, fields], in the order of the trials."""
    places = {
        what: place
        for place, what in enumerate(
            dict.fromkeys(what for part in PARTS.values() for what in part)
        )
    }
    rows: dict[tuple[str, str], dict[int, list[np.ndarray]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for (what, count), tally in sorted(
        found.items(), key=lambda item: (places[item[0][0]], item[0][1])
    ):
        for (kind, _), counts in sorted(tally.counts.items(), key=lambda item: item[0][1]):
            rows[kind, what][count].append(counts)
    return {
        key: {count: np.array(parts) for count, parts in by_count.items()}
        for key, by_count in rows.items()
    }


def _with_intervals(rows: np.ndarray) -> np.ndarray:
    """Return the rows with at least a twentieth of the intervals of the row with most."""
    intervals = rows[:, 1]
    return rows[(intervals > 0) & (intervals >= intervals.max() / 20)]


def _percent(part: float, whole: float, digits: int = 1) -> str:
    return f"{100 * part / whole:.{digits}f}" if whole else "–"


def interval_table(found: dict[tuple[str, int], cells.Tally]) -> list[str]:
    """Return the Markdown table of coverage (mean and lowest of a kind's rows) and mean width."""
    lines = [
        "| estimate | collection | units K | coverage of 95% CI (lowest) | width |",
        "|---|---|---|---|---|",
    ]
    for (kind, what), by_count in sorted(_by_kind(found).items(), key=lambda item: _place(item[0])):
        if not any(rows[:, 1].any() for rows in by_count.values()):
            continue
        shown, widths = [], []
        for rows in by_count.values():
            covers, intervals, width = _with_intervals(rows)[:, :3].T
            shares = 100 * covers / intervals
            shown.append(
                f"{shares.mean():.1f}" + (f" ({shares.min():.1f})" if len(shares) > 1 else "")
            )
            widths.append(f"{width.sum() / intervals.sum():.3f}" if width.any() else "–")
        units = " · ".join(map(str, by_count))
        lines.append(f"| {kind} | {what} | {units} | {' · '.join(shown)} | {' · '.join(widths)} |")
    return lines


def test_table(found: dict[tuple[str, int], cells.Tally]) -> list[str]:
    """Return the Markdown table of the tests' levels for equal systems and their power for real differences."""
    lines = [
        "| test | collection | units K | % rejected at .05, equal | at .01 | % found |",
        "|---|---|---|---|---|---|",
    ]
    for (kind, what), by_count in sorted(_by_kind(found).items(), key=lambda item: _place(item[0])):
        counts = [rows.sum(axis=0) for rows in by_count.values()]
        if not any(row[5] or row[7] for row in counts):
            continue
        cells_ = [
            " · ".join(_percent(row[part], row[whole], digits) for row in counts)
            for part, whole, digits in ((3, 5, 1), (4, 5, 2), (6, 7, 0))
        ]
        lines.append(
            f"| {kind} | {what} | {' · '.join(map(str, by_count))} | {' | '.join(cells_)} |"
        )
    return lines


def misses(found: dict[tuple[str, int], cells.Tally]) -> list[str]:
    """Return rows more than two Monte Carlo standard errors outside :data:`DEMANDS`, and cells outside :data:`LEVELS`."""
    lines = []
    for (kind, what), by_count in sorted(_by_kind(found).items(), key=lambda item: _place(item[0])):
        demand = _demand(kind)
        for count, rows in by_count.items() if demand else ():
            low, high = demand[0] if count < 20 else demand[1]
            if kind.startswith("share") and what == "DL 2021":
                high = 99  # single turns: a share has few possible values
            for covers, intervals in _with_intervals(rows)[:, :2]:
                share = covers / intervals
                error = 200 * np.sqrt(max(share * (1 - share), 0.0025) / intervals)
                if not low - error <= 100 * share <= high + error:
                    lines.append(
                        f"- {kind}, {what}, {count} units: {100 * share:.1f}% (wanted: {low:g} to {high:g})"
                    )
        for count, rows in by_count.items() if not kind.startswith("equivalent") else ():
            for part, most in ((3, LEVELS[0]), (4, LEVELS[1])):
                tests = rows[:, 5].sum()
                share = rows[:, part].sum() / tests if tests else 0.0
                if 100 * share > most + 200 * np.sqrt(share * (1 - share) / max(tests, 1)):
                    wanted = f"rejects {100 * share:.1f}% (wanted: at most {most:g})"
                    lines.append(f"- {kind}, {what}, {count} units: {wanted}")
    return list(dict.fromkeys(lines)) or ["- none"]


def _demand(kind: str) -> tuple[tuple[float, float], tuple[float, float]] | None:
    if kind.endswith("as unit"):
        return None
    return next(
        (
            demand
            for word, demand in DEMANDS.items()
            if kind.startswith(word) or kind.endswith(word)
        ),
        None,
    )


def _place(key: tuple[str, str]) -> tuple[int, str, str]:
    """Return a sort key that gives the order of kinds in the documentation."""
    order = ("mean", "share", "rare", "difference", "drop", "effect", "detectable", "equivalent")
    return next(
        (place for place, word in enumerate(order) if key[0].startswith(word)), len(order)
    ), *key


def with_rows_of_others(
    text: str, name: str, lines: list[str], found: dict[tuple[str, int], cells.Tally]
) -> list[str]:
    """Return ``lines`` for ``found`` together with the page's other rows, in the order of the documentation."""
    made = {(kind, what) for (what, _), tally in found.items() for kind, _ in tally.counts}
    old = text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- /{name} -->")[0].splitlines()
    if name == "misses":
        kept = [
            line
            for line in old
            if not any(line.startswith(f"- {kind}, {what}, ") for kind, what in made)
        ]
        both = [line for line in [*kept, *lines] if line != "- none"]
        return both or ["- none"]

    def key(line: str) -> tuple[str, str]:
        kind, what, *_ = line.strip("| ").split(" | ")
        return kind, what

    rows = [line for line in old[2:] if key(line) not in made]
    return [*lines[:2], *sorted([*rows, *lines[2:]], key=lambda line: _place(key(line)))]


def main() -> None:
    """Simulate, and write or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=list(PARTS),
        help="only this part of the simulation (repeatable)",
    )
    parser.add_argument("--print", action="store_true", help="do not write docs/statistics.md")
    options = parser.parse_args()
    start = time.monotonic()
    found = simulate(options.data, options.trials, options.jobs, options.part or tuple(PARTS))
    minutes = (time.monotonic() - start) / 60
    print(
        f"\n{options.trials} trials per cell, {minutes:.1f} minutes with {options.jobs} processes",
        file=sys.stderr,
    )
    tables: dict[str, Callable[[Found], list[str]]] = {
        "intervals": interval_table,
        "tests": test_table,
        "misses": misses,
    }
    made = {name: make(found[""]) for name, make in tables.items()} if found[""] else {}
    own = {
        name: make(found[part])
        for part, by_name in sparse.TABLES.items()
        if part in found
        for name, make in by_name.items()
    }
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    for name, lines in made.items():
        print("\n".join(lines), end="\n\n")
        text = between(
            text, name, with_rows_of_others(text, name, lines, found[""]) if options.part else lines
        )
    for name, lines in own.items():
        print("\n".join(lines), end="\n\n")
        text = between(text, name, lines)
    if not options.print:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
