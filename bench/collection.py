"""Writes a made run and qrels of a wanted size: ``python bench/collection.py FOLDER TURNS DEPTH``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

SEED = 20
#: Passages of the made collection; as many as MS MARCO has.
PASSAGES = 8_841_823
#: Share of the retrieved passages that is judged, and their grades 0 to 4 as CAsT 2020 has them.
JUDGED = 0.1
GRADES = (0.835, 0.067, 0.045, 0.035, 0.018)


def write_collection(folder: Path, turns: int, depth: int) -> None:
    """``folder/run.trec`` with turns × depth rows, best first, and ``folder/qrels.txt``; the same for the same size."""
    random = np.random.default_rng(SEED)
    with (folder / "run.trec").open("w") as run, (folder / "qrels.txt").open("w") as qrels:
        for turn in (f"{1 + number // 10}_{1 + number % 10}" for number in range(turns)):
            passages = [f"MARCO_{number}" for number in dict.fromkeys(random.integers(PASSAGES, size=depth + 50).tolist())]
            scores = np.sort(random.gamma(4.0, 3.0, size=depth))[::-1].round(5).tolist()
            run.writelines(
                f"{turn} Q0 {passage} {rank} {score} made\n"
                for rank, (passage, score) in enumerate(zip(passages[:depth], scores, strict=True), 1)
            )
            # the passages after the first ``depth`` are judged too, by the pool of other systems
            chosen = np.flatnonzero(random.random(len(passages)) < JUDGED)
            judged = [passages[place] for place in chosen]
            grades = random.choice(len(GRADES), size=len(judged), p=GRADES).tolist()
            qrels.writelines(f"{turn} 0 {passage} {grade}\n" for passage, grade in zip(judged, grades, strict=True))


if __name__ == "__main__":
    write_collection(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
