"""Write the input of a row of the benchmark: ``python bench/collection.py FOLDER KIND [NUMBERS]``.

- ``made RUNS TURNS DEPTH [DECIMALS]``: generated runs and qrels of this size, always the same. Scores have 5 decimals; 15 are
  common for neural rankers.
- ``cast2019``: three runs of TREC CAsT 2019 to depth 100 (raw turns, a rewriter, manual rewrites).
- ``dl2021 RUNS``: runs of TREC DL 2021, repeated. Without the public data, both are generated in the same size.
- ``pairs N``: N pairs of questions.
- ``scores SYSTEMS TURNS``: generated scores of systems.

Runs become ``FOLDER/runs/NUMBER.trec``, uncompressed, since most tools read nothing else.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
from pathlib import Path

import numpy as np

SEED = 20
#: Passages of the generated collection, the same number as in MS MARCO.
PASSAGES = 8_841_823
#: Judged share of the passages that any system retrieves, and the distribution of grades 0 to 4 in CAsT 2020.
JUDGED = 0.1
GRADES = (0.835, 0.067, 0.045, 0.035, 0.018)
#: The folder of the public data (docs/collections); it may be missing.
DATA = Path(
    os.environ.get(
        "ROBUSTCS_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    )
)


def made(folder: Path, runs: int, turns: int, depth: int, decimals: int = 5) -> None:
    """Write runs of turns × depth rows, best first. The runs retrieve different parts of one pool per turn."""
    random = np.random.default_rng(SEED)
    pool = depth * 3 // 2
    files = [(folder / "runs" / f"{number:03}.trec").open("w") for number in range(runs)]
    with (folder / "qrels.txt").open("w") as qrels:
        for turn in (f"{1 + number // 10}_{1 + number % 10}" for number in range(turns)):
            numbers = dict.fromkeys(random.integers(PASSAGES, size=pool + 50).tolist())
            passages = [f"MARCO_{number}" for number in numbers][:pool]
            for number, run in enumerate(files):
                scores = np.sort(random.gamma(4.0, 3.0, size=depth))[::-1].round(decimals).tolist()
                found = random.permutation(pool)[:depth].tolist()
                run.writelines(
                    f"{turn} Q0 {passages[place]} {rank} {score} made{number}\n"
                    for rank, (place, score) in enumerate(zip(found, scores, strict=True), 1)
                )
            judged = np.flatnonzero(random.random(pool) < JUDGED).tolist()
            grades = random.choice(len(GRADES), size=len(judged), p=GRADES).tolist()
            qrels.writelines(
                f"{turn} 0 {passages[place]} {grade}\n"
                for place, grade in zip(judged, grades, strict=True)
            )
    for file in files:
        file.close()


def cast2019(folder: Path) -> None:
    """Write Original, QR and Human."""
    data = DATA / "cast2019"
    if not data.is_dir():
        made(folder, 3, 173, 100)
        return
    (folder / "qrels.txt").write_bytes(gzip.decompress((data / "qrels.txt.gz").read_bytes()))
    for number, name in enumerate(("raw", "cv", "oracle")):
        run = gzip.decompress((data / "runs" / f"bert_base_{name}.trec.gz").read_bytes())
        (folder / "runs" / f"{number:03}.trec").write_bytes(run)


def dl2021(folder: Path, runs: int) -> None:
    """Write the topics with human judgments, with spaces as separators. After the last system, start again with the first."""
    data = DATA / "dl2021"
    if not data.is_dir():
        made(folder, runs, 53, 100)
        return
    qrels = gzip.decompress((data / "qrels_human.txt.gz").read_bytes())
    (folder / "qrels.txt").write_bytes(
        b"".join(b" ".join(line.split()) + b"\n" for line in qrels.splitlines())
    )
    topics = {line.split()[0] for line in qrels.splitlines()}
    systems = []
    for path in sorted((data / "runs").iterdir())[:runs]:
        rows = (line.split() for line in gzip.decompress(path.read_bytes()).splitlines())
        # some files contain tabs, which a CSV reader for spaces rejects
        systems.append(b"".join(b" ".join(row) + b"\n" for row in rows if row[0] in topics))
    for number in range(runs):
        (folder / "runs" / f"{number:03}.trec").write_bytes(systems[number % len(systems)])


def pairs(folder: Path, number: int) -> None:
    """Write two questions per line, drawn from ECAsT, or else from generated words with Zipf frequencies."""
    random = np.random.default_rng(SEED)
    if (DATA / "ECAsT.csv.gz").is_file():
        with gzip.open(DATA / "ECAsT.csv.gz", "rt", encoding="utf-8", newline="") as file:
            texts = [" ".join(row["MANUAL PARAPHRASE"].split()) for row in csv.DictReader(file)]
    else:
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        words = ["".join(random.choice(letters, size=random.integers(2, 10))) for _ in range(5000)]
        texts = [
            " ".join(words[int(place) % 5000] for place in random.zipf(1.3, size=8)) + "?"
            for _ in range(9000)
        ]
    drawn = random.integers(len(texts), size=(number, 2)).tolist()
    (folder / "pairs.tsv").write_text(
        "".join(f"{texts[one]}\t{texts[two]}\n" for one, two in drawn), encoding="utf-8"
    )


def scores(folder: Path, systems: int, turns: int) -> None:
    """Write scores between 0 and 1, one system per line. Turns differ more than systems."""
    random = np.random.default_rng(SEED)
    table = (
        random.beta(1, 1, size=turns)
        + random.normal(0, 0.15, (systems, turns))
        + random.normal(0, 0.03, (systems, 1))
    )
    np.savetxt(folder / "scores.txt", table.clip(0, 1), fmt="%.6f")


if __name__ == "__main__":
    place, kind, *given = sys.argv[1:]
    (Path(place) / "runs").mkdir()
    {one.__name__: one for one in (made, cast2019, dl2021, pairs, scores)}[kind](
        Path(place), *map(int, given)
    )
