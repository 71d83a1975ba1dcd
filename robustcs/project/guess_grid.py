"""Find a grid of wordings and rankers among runs, by the words of their names and by equal rankings; for ``robustcs init``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

from robustcs.evaluation.grid import Cell
from robustcs.project.scan import role_of, run_words, set_of, without_common

#: Words of wordings that name no formulation.
_WORDINGS = frozenset(("context", "conversation", "full", "history", "last", "paraphrase", "questions", "utterance"))


def find_grid(names: Mapping[str, str], rankings: Callable[[str], Mapping[str, int] | None]) -> tuple[dict[Cell, str], str]:
    """Return cell → file of the largest grid whose levels all have two cells, and how wordings were recognised.

    names
        File → the name that tells what it is, such as its path.
    rankings
        Function from a file to turn → a number for its ranking.

    Each name is split into two parts at every place; a part that occurs with fewer than two others is no level. The part
    with words such as raw, t5 or manual is the wording. Otherwise, runs of the same ranker have equal rankings on some turns,
    because some questions have the same text in all wordings. Empty if there is no grid or if neither tells.
    """
    edges: dict[tuple[str, str], str] = {}
    for file, name in names.items():
        words = run_words(name)
        for place in range(1, len(words)):
            edges.setdefault(("_".join(words[:place]), "_".join(words[place:])), file)
    found = max(_parts(_core(edges)), key=len, default={})
    if not found:
        return {}, ""
    spoken = [sum(map(_is_wording, {pair[side] for pair in found})) for side in (0, 1)]
    why = "by its name"
    if spoken[0] == spoken[1]:
        spoken = _apart(found, rankings)
        why = "by equal rankings of equal questions"
    if spoken[0] == spoken[1]:
        return {}, ""
    wording = int(spoken[1] > spoken[0])
    short = [_short({pair[side] for pair in found}) for side in (wording, 1 - wording)]
    return {(short[0][pair[wording]], short[1][pair[1 - wording]]): file for pair, file in found.items()}, why


def _short(levels: Iterable[str]) -> dict[str, str]:
    """Return level → its name without the words with which all levels start."""
    names = sorted(levels)
    return {
        name: "_".join(words) for name, words in zip(names, without_common([name.split("_") for name in names]), strict=True)
    }


def _core(edges: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Return the pairs whose two parts each occur with at least two others."""
    while True:
        counts = Counter((side, pair[side]) for pair in edges for side in (0, 1))
        kept = {pair: file for pair, file in edges.items() if counts[0, pair[0]] > 1 < counts[1, pair[1]]}
        if len(kept) == len(edges):
            return kept
        edges = kept


def _parts(edges: Mapping[tuple[str, str], str]) -> list[dict[tuple[str, str], str]]:
    """Return the connected parts: each is one way to split the names."""
    parts: list[dict[tuple[str, str], str]] = []
    for pair, file in edges.items():
        joined = [part for part in parts if any(pair[side] == other[side] for other in part for side in (0, 1))]
        parts = [part for part in parts if part not in joined]
        parts.append({key: one for part in joined for key, one in part.items()} | {pair: file})
    return parts


def _is_wording(level: str) -> bool:
    return bool(role_of(level) or set_of(level) or _WORDINGS & set(level.split("_")))


def _apart(found: Mapping[tuple[str, str], str], rankings: Callable[[str], Mapping[str, int] | None]) -> list[int]:
    """Return, for each side, the turns with equal rankings in pairs of runs that share only the other side."""
    known = {pair: rankings(file) or {} for pair, file in found.items()}
    counts = [0, 0]
    for one, other in combinations(known, 2):
        if (one[0] == other[0]) != (one[1] == other[1]):
            alike = sum(known[one][turn] == known[other].get(turn) for turn in known[one])
            counts[int(one[0] == other[0])] += alike
    return counts
