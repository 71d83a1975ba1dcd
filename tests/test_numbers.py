"""Every number that a verdict or a finding prints on public collections is in an exported table (the demo: test_report.py)."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path

import pytest

from robustcs.documents.data import to_json
from robustcs.errors import UsageError
from robustcs.project.parallel_io import HERE
from robustcs.project.reader import untracked
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.studies.registry import questions
from tests.numbers import unexplained

#: Qrels, runs of Original, QR and Human where there are any, and further runs.
COLLECTIONS = {
    "cast2019": (
        "qrels.txt.gz",
        ("bert_base_raw.trec.gz", "bert_base_cv.trec.gz", "bert_base_oracle.trec.gz"),
        "decaf/*.run.gz",
    ),
    "cast2020": (
        "qrels.txt.gz",
        ("bert_raw.trec.gz", "bert_auto.trec.gz", "bert_manual.trec.gz"),
        "",
    ),
    "cast2021": ("qrels-docs.txt.gz", (), "runs/*.run.gz"),
}


_LONG = [pytest.param(name, True, marks=pytest.mark.long) for name in ("cast2019", "cast2020")]


@pytest.mark.parametrize(("name", "further"), [("cast2019", False), ("cast2021", True), *_LONG])
def test_numbers_of_public_collections(
    shared_data: Path, tmp_path: Path, name: str, further: bool
) -> None:
    """``further``: with the further runs."""
    folder = shared_data / name
    qrels, formulations, more = COLLECTIONS[name]
    more = more if further else ""
    lines = [f'name = "{name}"', f'qrels = "{folder / qrels}"', "[policy]", "relevance_level = 2"]
    for role, run in zip(("original", "qr", "human"), formulations, strict=False):
        lines += [f"[formulations.{role}]", f'run = "{folder / "runs" / run}"']
    lines += [
        "[runs]",
        *(
            f'r{place} = "{run}"'
            for place, run in enumerate(sorted(folder.glob(more)) if more else ())
        ),
    ]
    (tmp_path / "robustcs.toml").write_text("\n".join(lines))
    project = read_project(tmp_path / "robustcs.toml")
    checked = 0
    for _, section in groupby(questions(), key=lambda question: question.key):
        group = list(section)
        with suppress(UsageError):  # the collection does not have what every question needs
            workspace = Workspace(group[0].inputs(project), HERE, untracked)
            answers = [question.content(workspace) for question in group]
            results = [answer.result for answer in answers]
            exported = [
                to_json(
                    "",
                    "",
                    one.evaluated.as_dict(),
                    [],
                    {name: one.table(name) for name in one.tables},
                    [],
                )
                for one in results
            ]
            tables = [rows for text in exported for rows in json.loads(text)["tables"].values()]
            for answer in answers:
                for sentence in (
                    *(verdict.sentence for verdict in answer.verdicts),
                    *answer.findings,
                ):
                    assert not unexplained(
                        sentence,
                        tables,
                        answer.result.evaluated.as_dict(),
                        answer.result.evaluated.notes,
                    ), sentence
                    checked += 1
    assert checked >= 2


def test_a_number_that_no_table_has_is_found() -> None:
    rows = [
        {
            "system": run,
            "metric": metric,
            "value": value,
            "p_corrected": p,
            "pairs": 7,
            "count": 1_200,
            "share": 0.128,
        }
        for run, metric, value, p in (
            ("a", "ndcg_cut_3", 0.1234, 0.01),
            ("b", "ndcg_cut_3", 0.4, 0.2),
            ("a", "P_1", 0.9, 0.9),
        )
    ]
    wrong = partial(
        unexplained,
        tables=[rows, [{"turn": "1_1", "value": 0.777}]],
        policy={"turns": 65, "units": 9},
    )
    assert (
        wrong(
            "a has NDCG@3 −0.123 (95% CI 0.400 to 0.4000), p ≤ 0.05 over 65 turns; adjusted p = 0.010, p < 0.003"
        )
        == []
    )
    assert wrong("1 of 2 runs, 50 %, 12.8 % of 1,200, 2,400 in all") == []
    assert wrong("0.124 NDCG@3, 0.1234 of 66 turns, 11 % of 1,201") == ["0.124", "66", "11", "1201"]
    # of another measure, of a single turn, a share as a number, a number as a share
    assert wrong("NDCG@3 is 0.900, 0.777, 0.14, 7 %") == ["0.900", "0.777", "0.14", "7"]
