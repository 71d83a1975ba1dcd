"""Small projects with what is hard to draw: long names, very many systems, ties, unknown scores, a single turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tests.documents.hostile_project import write_hostile_project
from tests.small_project import FILES, TOML

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "robustcs.toml"
_LONG = "a_system_with_a_very_long_name_that_no_figure_can_show_as_a_whole"
_NAMES = (
    "中文系统的名字很长很长",
    "система поиска ответов",
    "نظام البحث",
    "検索システム✓",
    "e\u0301te\u0301 ñandú",
)
_PASSAGES = 14


def write_project(
    folder: Path,
    *,
    turns: int = 12,
    runs: Sequence[str] = ("one", "two"),
    rewriters: Sequence[str] = ("qr",),
    original: bool = True,
    texts: bool = True,
    same: bool = False,
    answered: float = 1.0,
    more: str = "",
) -> Path:
    """Write a project and return its file.

    texts
        Whether it has formulations with texts and answers, and a judge, all of which take time.
    same
        Whether all systems return the same passages: every score is a tie.
    answered
        The share of the turns for which the further ``runs`` have a ranking.
    more
        Further lines at the beginning of the project file.
    """
    rng = np.random.default_rng(5)
    ids = [f"{1 + number // 3}_{1 + number % 3}" for number in range(turns)]
    judged = [f"{turn} 0 d{place} {grade}" for turn in ids
              for place, grade in enumerate(rng.integers(0, 4, _PASSAGES - 2))]  # fmt: skip
    _write(folder / "qrels.txt", judged)
    new = [f"{turn} 0 d{place} {place % 3}" for turn in ids for place in (12, 13)]
    _write(folder / "new.txt", new)
    _write(folder / "judge.txt", [f"{row[:-1]}{(int(row[-1]) + 1) % 4}" for row in judged])
    (folder / "gold.json").write_text(json.dumps({turn: f"answer {turn} of it" for turn in ids}))
    lines = ['qrels = "qrels.txt"', 'new_judgments = "new.txt"', more]
    lines += ['gold = "gold.json"'] if texts else []
    roles = [*(["original"] if original else []), *rewriters, "human"] if texts else []
    for number, name in enumerate(roles):
        key = f"qr:{name}" if name in rewriters and name != "qr" else name
        _write(folder / f"role{number}.run", _ranking(rng, ids, same))
        words = [
            f"{turn}\tWhat is {turn}{' of it' * (number + place % 2)}?"
            for place, turn in enumerate(ids)
        ]
        _write(folder / f"role{number}.tsv", ["id\tquery", *words])
        said = {
            turn: f"answer {turn if place % (number + 2) else 'none'} of it"
            for place, turn in enumerate(ids)
        }
        (folder / f"role{number}.json").write_text(json.dumps(said))
        lines += [f"[formulations.{json.dumps(key, ensure_ascii=False)}]", f'run = "role{number}.run"',
                  f'rewrites = "role{number}.tsv"', f'answers = "role{number}.json"']  # fmt: skip
    lines.append("[runs]")
    for number, name in enumerate(runs):
        some = ids[: max(1, round(answered * turns))]
        _write(folder / f"run{number}.run", _ranking(rng, some, same))
        lines.append(f'{json.dumps(name, ensure_ascii=False)} = "run{number}.run"')
    if texts:
        lines += ["[judges]", f'{json.dumps(runs[0], ensure_ascii=False)} = "judge.txt"']
    if texts and len(runs) > 1:
        sets = json.dumps(list(runs[:2]), ensure_ascii=False)
        lines += ["[groups.manual]", 'baseline = "human"', f"sets = {sets}"]
    _write(folder / "robustcs.toml", lines)
    return folder / "robustcs.toml"


def _ranking(rng: np.random.Generator, ids: Sequence[str], same: bool) -> list[str]:
    rows = []
    for turn in ids:
        order = np.arange(_PASSAGES) if same else rng.permutation(_PASSAGES)
        rows += [
            f"{turn} Q0 d{place} {rank} {20 - rank} t" for rank, place in enumerate(order[:10], 1)
        ]
    return rows


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _small(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "robustcs.toml").write_text(TOML, encoding="utf-8")
    return folder / "robustcs.toml"


def _single(folder: Path) -> Path:
    """One run and nothing else."""
    write_project(folder, runs=("alone",))
    lines = ['qrels = "qrels.txt"', "[runs]", 'alone = "run0.run"']
    _write(folder / "robustcs.toml", lines)
    return folder / "robustcs.toml"


def _grid(folder: Path) -> Path:
    """Nine combinations of wording and ranker with long names."""
    names = [f"wording_{one}/{_LONG}_{other}" for one in "abc" for other in "def"]
    write_project(folder, runs=names)
    cells = [f'{json.dumps(name)} = "run{number}.run"' for number, name in enumerate(names)]
    _write(folder / "robustcs.toml", ['qrels = "qrels.txt"', "[components]", *cells])
    return folder / "robustcs.toml"


_METRICS = [
    f"{measure}_{depth}" for measure in ("ndcg_cut", "P", "recall") for depth in (1, 3, 5, 10)
]

#: Name → function that writes the project into a folder and returns its file.
PROJECTS: dict[str, Callable[[Path], Path]] = {
    "demo": lambda folder: DEMO,
    "every kind of input": _small,
    "hostile texts": write_hostile_project,
    "long names": lambda folder: write_project(
        folder, runs=[f"{_LONG}_{n}" for n in range(4)], rewriters=[f"{_LONG}_a", f"{_LONG}_b"]
    ),
    "other scripts": lambda folder: write_project(folder, runs=_NAMES[:3], rewriters=_NAMES[3:]),
    "one system": _single,
    "forty systems": lambda folder: write_project(
        folder, runs=[f"system_number_{n}" for n in range(45)], texts=False
    ),
    "no Original": lambda folder: write_project(folder, original=False),
    "ties": lambda folder: write_project(folder, same=True),
    "missing scores": lambda folder: write_project(folder, answered=0.3),
    "one turn": lambda folder: write_project(folder, turns=1),
    "twelve rewriters": lambda folder: write_project(folder, rewriters=[f"rewriter_{n}" for n in range(12)]),
    "twelve measures": lambda folder: write_project(
        folder, runs=[f"system_{n}" for n in range(9)], texts=False, more=f"metrics = {json.dumps(_METRICS)}"
    ),
    "a grid": _grid,
}  # fmt: skip
