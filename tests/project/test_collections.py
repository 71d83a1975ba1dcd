"""Several collections in one project: pooled as one, and each alone exactly as if nothing else were there."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.errors import InputError, UsageError
from robustcs.inputs.paths import PooledFile, parts_of, pooled
from robustcs.project.collections import samples_of
from robustcs.project.guess_judgments import called
from robustcs.project.model import Project
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from tests.conftest import Command, _runner

DOMAINS = ("bank", "law")
SYSTEMS = ("lastturn", "rewrite", "manual")
ROLE = {"lastturn": "original", "rewrite": "qr", "manual": "human"}
#: What needs no more than three runs of formulations, and its options.
STUDIES = {
    "evaluate": "--metric ndcg_cut_3 --metric map", "breakdown": "--metric ndcg_cut_3 --threshold 0.5",
    "sweep": "--metric ndcg_cut_3", "unjudged": "--metric ndcg_cut_3", "robustness": "--metric ndcg_cut_3 --group g=human,qr",
}  # fmt: skip


def domain(folder: Path, name: str, seed: int) -> None:
    """Qrels, three runs and three files of texts of six conversations."""
    draw = random.Random(seed)
    turns = [f"{name}{talk}<::>{depth}" for talk in range(6) for depth in (1, 2, 3)]
    lines = [
        f"{turn} 0 {name}-d{place} {draw.randrange(3)}" for turn in turns for place in range(5)
    ]
    (folder / f"qrels_{name}.txt").write_text("\n".join(lines) + "\n")
    for system in SYSTEMS:
        rows = []
        for turn in turns:
            for rank, place in enumerate(draw.sample(range(7), 5), 1):
                rows.append(f"{turn} Q0 {name}-d{place} {rank} {10 - rank} x")
        (folder / f"bm25_{system}_{name}.trec").write_text("\n".join(rows) + "\n")
        texts = [
            {"_id": turn, "text": f"{system} asks {draw.randrange(9)} of {turn[:-4]}"}
            for turn in turns
        ]
        (folder / f"{name}_{system}.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in texts)
        )


@pytest.fixture
def in_domains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command line in a folder of two domains."""
    for seed, name in enumerate(DOMAINS):
        domain(tmp_path, name, seed)
    return _runner(tmp_path, monkeypatch, capfd)


def options(study: str, *names: str) -> str:
    """The command line of a study on some domains."""
    words = [study, STUDIES[study], "--format json"]
    for name in names:
        words.append(f"--qrels qrels_{name}.txt")
        for system in SYSTEMS:
            words.append(
                f"--{ROLE[system]} bm25_{system}_{name}.trec --rewrites {ROLE[system]}={name}_{system}.jsonl"
            )
    return " ".join(words)


def without_turns(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The tables that have rows, none of them of single turns."""
    return {name: rows for name, rows in tables.items() if rows and "turn" not in rows[0]}


@pytest.mark.parametrize("study", STUDIES)
def test_by_collection_is_each_alone(in_domains: Command, study: str) -> None:
    printed = json.loads(in_domains(f"{options(study, *DOMAINS)} --by collection").out)
    assert (
        printed["policy"]["collections"] == 2
        and " of 2 collections · " in printed["policy"]["line"]
    )
    for name in DOMAINS:
        alone = json.loads(in_domains(options(study, name)).out)
        assert "collections" not in alone["policy"]
        for table, rows in without_turns(alone["tables"]).items():
            own = [
                dict(row)
                for row in printed["tables"][f"{table}_by_collection"]
                if row["collection"] == f"qrels_{name}"
            ]
            assert [next(iter(row)) for row in own] == ["collection"] * len(own)
            assert [
                {key: value for key, value in row.items() if key != "collection"} for row in own
            ] == rows, table
        about = alone["policy"]["line"].partition(" · ")[0]
        assert any(
            note.startswith(f"collection qrels_{name}: {about}") for note in printed["notes"]
        )
    pooled_alone = json.loads(in_domains(options(study, *DOMAINS)).out)
    assert {
        name: rows
        for name, rows in printed["tables"].items()
        if not name.endswith("_by_collection")
    } == (pooled_alone["tables"])


def test_pooled_is_the_union(in_domains: Command) -> None:
    def turns(*names: str) -> list[tuple[Any, ...]]:
        rows = json.loads(in_domains(options("evaluate", *names)).out)["tables"]["turns"]
        return sorted(tuple(row.values()) for row in rows)

    assert turns(*DOMAINS) == sorted(turns("bank") + turns("law"))
    printed = json.loads(in_domains(options("evaluate", *DOMAINS)).out)
    assert [(one["role"], one["path"], one["rows"]) for one in printed["inputs"] if one["role"] in ("qrels", "human")] == [
        ("qrels", "qrels_bank.txt", 90), ("qrels", "qrels_law.txt", 90),
        ("human", "bm25_manual_bank.trec", 90), ("human", "bm25_manual_law.trec", 90),
    ]  # fmt: skip
    assert all(len(one["sha256"]) == 64 for one in printed["inputs"])


def test_init_joins_two_domains(in_domains: Command, tmp_path: Path) -> None:
    in_domains("init")
    written = (tmp_path / "robustcs.toml").read_text()
    assert (
        'qrels = ["qrels_bank.txt", "qrels_law.txt"]  # 2 collections, 36 turns, 180 judgments, grades 0 to 2'
        in written
    )
    assert (
        'run = ["bm25_rewrite_bank.trec", "bm25_rewrite_law.trec"]  # 36 turns, up to 5 deep'
        in written
    )
    project = read_project(tmp_path / "robustcs.toml")
    assert {
        key: part.run.files
        for key, part in project.formulations.items()
        if isinstance(part.run, PooledFile)
    } == {
        role: tuple(tmp_path / f"bm25_{system}_{name}.trec" for name in DOMAINS)
        for system, role in ROLE.items()
    }
    for system, role in ROLE.items():
        texts = project.formulations[role].rewrites
        assert [one.path.name for one in texts if isinstance(one.path, Path)] == [
            f"{name}_{system}.jsonl" for name in DOMAINS
        ]
    assert "ignored" not in in_domains("init --why").out.lower()
    by_file = json.loads(in_domains("breakdown --by collection --format json").out)
    by_option = json.loads(in_domains(f"{options('breakdown', *DOMAINS)} --by collection").out)
    wanted = [
        row
        for row in by_file["tables"]["bins_by_collection"]
        if (row["metric"], row["threshold"]) == ("ndcg_cut_3", ">=0.5")
    ]
    assert wanted == by_option["tables"]["bins_by_collection"]
    checked = in_domains("check").out
    assert "qrels_law.txt" in checked and "bm25_manual_law.trec" in checked
    shown = in_domains("evaluate --by collection --metric ndcg_cut_3").out
    named = in_domains("breakdown --by collection --table attribution_by_collection").out
    heads = " ".join(named.partition("\n───")[2].split("───")[0].split())
    assert (
        "Collection Rewriter Measure Threshold Cause" in " ".join(named.split())
        and "_" not in heads
        and "≥ 0.5" in named
    )
    assert (
        "Each collection separately" in shown
        and "36 turns in 12 conversations of 2 collections" in " ".join(shown.split())
    )


def tasks_of_domain(folder: Path, name: str) -> None:
    """MTRAG tasks of a domain: questions, ranked passages, reference answers, and answers of a system."""
    tasks = [
        {
            "task_id": f"{name}{talk}<::>1", "input": [{"speaker": "user", "text": f"who is {talk}?"}],
            "contexts": [{"document_id": f"{name}-d1", "score": 1.0, "text": "one"}],
            "targets": [{"text": f"answer {talk}"}], "predictions": [{"text": "answer 0"}],
        }
        for talk in range(6)
    ]  # fmt: skip
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in tasks))


def test_init_joins_tasks_of_two_domains(in_domains: Command, tmp_path: Path) -> None:
    for name in DOMAINS:
        for file in (*tmp_path.glob(f"bm25_*_{name}.trec"), *tmp_path.glob(f"{name}_*.jsonl")):
            file.unlink()
        tasks_of_domain(tmp_path, name)
    in_domains("init")
    files = tuple(tmp_path / f"{name}.jsonl" for name in DOMAINS)
    project = read_project(tmp_path / "robustcs.toml")
    assert project.answers is not None and list(project.runs) == list(
        project.answers.responses
    ) == ["system"]
    joined = (project.gold, project.runs["system"], project.answers.responses["system"])
    assert [parts_of(path) for path in joined if path] == [files] * 3
    assert tuple(one.path for one in project.formulations["original"].rewrites) == files
    assert project.collection is not None and parts_of(project.collection) == files
    explained = in_domains("init --why").out
    assert "cannot be read" not in explained
    assert "the texts of passages in tasks" in (tmp_path / "robustcs.toml").read_text()
    checked = " ".join(in_domains("check").out.split())
    assert (
        "gold answers law.jsonl 6 ok" in checked
        and "answers responses system law.jsonl 6 ok" in checked
    )
    # the references of both domains score answers to both
    answers = " ".join(
        f"--answers {role}={name}.jsonl" for role in ROLE.values() for name in DOMAINS
    )
    printed = json.loads(
        in_domains(f"breakdown --metric em {answers} --threshold =1 --format json").out
    )
    assert printed["policy"]["turns"] == 12
    counts = {
        (row["original"], row["qr"], row["human"]): row["count"]
        for row in printed["tables"]["bins"]
    }
    assert counts[1, 1, 1] == 2 and counts[0, 0, 0] == 10
    roles = "original answers, qr answers, human answers, gold answers"
    assert [(one["path"], one["rows"]) for one in printed["inputs"] if one["role"].startswith(roles)] == [
        ("bank.jsonl", 6), ("law.jsonl", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("bm25_raw_bank.trec", "bm25_raw.trec"), ("bank.jsonl.gz", "system.jsonl.gz"), ("runs/bank.trec", "runs.trec"),
        ("bank/bm25.trec", "bm25.trec"), ("runs/bank_bm25.trec", "runs/bm25.trec"),
    ],
)  # fmt: skip
def test_a_name_without_its_collection(path: str, name: str) -> None:
    assert called(path, {"bank"}) == name


def test_init_leaves_judgments_without_a_common_system_aside(
    in_domains: Command, tmp_path: Path
) -> None:
    for system in SYSTEMS:
        (tmp_path / f"bm25_{system}_law.trec").rename(tmp_path / f"dense_{system}_of.trec")
    in_domains("init")
    written = (tmp_path / "robustcs.toml").read_text()
    assert 'qrels = "qrels_' in written and "collections" not in written
    assert "it judges other turns, such as" in in_domains("init --why").out


def test_a_system_of_one_collection_is_left_out_of_the_other(in_domains: Command) -> None:
    line = options("evaluate", *DOMAINS).replace("--human bm25_manual_law.trec", "")
    printed = json.loads(in_domains(f"{line} --by collection").out)
    names = {
        (row["collection"], row["system"]) for row in printed["tables"]["measures_by_collection"]
    }
    assert names == {
        (f"qrels_{name}", run) for name in DOMAINS for run in ("original", "qr", "human")
    } - {("qrels_law", "human")}
    law = (
        "collection qrels_law: 18 turns in 6 conversations; without human: no answers to its turns"
    )
    assert law in printed["notes"]
    breakdown = options("breakdown", *DOMAINS).replace("--human bm25_manual_law.trec", "")
    printed = json.loads(in_domains(f"{breakdown} --by collection").out)
    assert {row["collection"] for row in printed["tables"]["bins_by_collection"]} == {"qrels_bank"}
    assert any(
        note.startswith("collection qrels_law skipped: no run answers ")
        for note in printed["notes"]
    )


def test_each_collection_has_its_own_slices(in_domains: Command, tmp_path: Path) -> None:
    line = options("evaluate", *DOMAINS)
    for name in DOMAINS:
        (tmp_path / f"{name}.tsv").write_text(
            f"turn\tkind\n{name}0<::>1\topening of {name}\n{name}1<::>2\tother\n"
        )
        line += f" --slices {name}.tsv"
    rows = json.loads(in_domains(f"{line} --by collection").out)["tables"]["slices_by_collection"]
    assert {(row["collection"], row["slice"]) for row in rows} == {
        (f"qrels_{name}", slice_) for name in DOMAINS for slice_ in (f"opening of {name}", "other")
    }


def test_contradictions_are_told(in_domains: Command, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("bank0<::>1 0 bank-d0 9\n")
    told = in_domains(f"{options('evaluate', *DOMAINS)} --qrels more.txt", code=3).err
    assert (
        told.startswith("more.txt:1: turn bank0<::>1 document bank-d0 has grade 9 here but ")
        and "in qrels_bank.txt:1;" in told
    )
    (tmp_path / "other.tsv").write_text("id\tquery\nbank0<::>1\tsomething else\n")
    line = f"{options('breakdown', *DOMAINS)} --rewrites human=other.tsv"
    note = "other.tsv has a different text for 1 turn of human (bank0<::>1); the text of the earlier file is used"
    assert note in json.loads(in_domains(line).out)["notes"]
    checked = line.replace("breakdown --metric ndcg_cut_3 --threshold 0.5", "check")
    assert note in json.loads(in_domains(checked).out)["notes"]
    for again in ("rewrite", "manual"):
        told = in_domains(
            f"{options('evaluate', 'bank')} --human bm25_{again}_bank.trec", code=3
        ).err
        assert (
            told.startswith(f"bm25_{again}_bank.trec: turn bank")
            and "is also in bm25_manual_bank.trec" in told
        )


def test_wrong_use(in_domains: Command, tmp_path: Path) -> None:
    said = "robustcs: --by collection needs qrels of several collections, which have no turn in common; name the qrels of each: "
    assert in_domains(f"{options('evaluate', 'bank')} --by collection", code=2).err.startswith(said)
    # files with a common turn are one collection
    (tmp_path / "more.txt").write_text("bank0<::>1 0 further 1\n")
    line = f"{options('evaluate', 'bank')} --qrels more.txt"
    assert in_domains(f"{line} --by collection", code=2).err.startswith(said)
    assert json.loads(in_domains(line).out)["policy"]["collections"] == 1
    with pytest.raises(UsageError, match="by is 'turn'; write collection"):
        robustcs.evaluate(
            qrels=["qrels_bank.txt", "qrels_law.txt"],
            runs={"a": "bm25_manual_bank.trec"},
            by="turn",
        )


def test_totals_by_collection(in_domains: Command) -> None:
    line = (
        options("evaluate", *DOMAINS)
        .replace("ndcg_cut_3", "num_rel")
        .replace("--metric map --format json", "--by collection")
    )
    shown, named = in_domains(line).out, in_domains(f"{line} --table measures_by_collection").out
    assert "Each collection separately" in named and "p_corrected" not in named
    for printed in (shown, named):
        head = next(row for row in printed.splitlines() if "System" in row and "Collection" in row)
        assert "value" in head and "mean" not in head


def test_python_and_names_of_collections(in_domains: Command, tmp_path: Path) -> None:
    runs = {
        "a": [f"bm25_manual_{name}.trec" for name in DOMAINS],
        "b": [f"bm25_rewrite_{name}.trec" for name in DOMAINS],
    }
    result = robustcs.evaluate(
        qrels=["qrels_bank.txt", "qrels_law.txt"], runs=runs, by="collection", metrics="map"
    )
    table = result.tables["measures_by_collection"]
    assert list(table["collection"]) == ["qrels_bank"] * 2 + ["qrels_law"] * 2
    path = tmp_path / "robustcs.toml"
    path.write_text(
        'metrics = ["map"]\n[qrels.file]\nBanking = "qrels_bank.txt"\nLaw = "qrels_law.txt"\n[runs]\n'
        + "".join(f"{name} = {json.dumps(paths)}\n" for name, paths in runs.items())
    )
    named = robustcs.evaluate(path, by="collection").tables["measures_by_collection"]
    assert list(named["collection"]) == ["Banking"] * 2 + ["Law"] * 2
    assert named.drop(columns="collection").equals(table.drop(columns="collection"))
    path.write_text("[qrels.file]\na = 1\n")
    with pytest.raises(InputError, match="robustcs.toml:2: a is 1; write a text in quotes"):
        read_project(path)


@pytest.mark.parametrize(
    ("missing", "line"), [("drop", "dropped (1)"), ("own", "dropped (1)"), ("zero", "score 0 (1)")]
)
def test_a_comparison_counts_the_turns_that_it_drops(
    in_domains: Command, tmp_path: Path, missing: str, line: str
) -> None:
    kept = [
        one
        for one in (tmp_path / "bm25_manual_law.trec").read_text().splitlines()
        if not one.startswith("law0<::>1 ")
    ]
    (tmp_path / "bm25_manual_law.trec").write_text("\n".join(kept) + "\n")
    (tmp_path / "robustcs.toml").write_text(
        f'qrels = "qrels_law.txt"\n[policy]\nmissing = "{missing}"\n[runs]\na = "bm25_manual_law.trec"\n'
        'b = "bm25_rewrite_law.trec"\n'
    )
    assert f"missing turns {line}" in " ".join(in_domains("compare . .").out.split())


def test_names_of_collections_come_from_folders_where_files_are_called_the_same(
    tmp_path: Path,
) -> None:
    for place, name in enumerate(("cast2019", "cast2020", "extra")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "qrels.txt").write_text(f"{place % 2}_1 0 d{place} 1\n")
    files = [tmp_path / name / "qrels.txt" for name in ("cast2019", "cast2020", "extra")]
    found = Workspace(Project(qrels=pooled(files))).collections
    # the third has a turn of the first
    assert {name: getattr(path, "files", path) for name, path in found.items()} == {
        "cast2019_qrels + extra_qrels": (files[0], files[2]), "cast2020_qrels": files[1],
    }  # fmt: skip


def test_runs_of_a_rewriter_with_other_turns_are_one_sample(
    in_domains: Command, tmp_path: Path
) -> None:
    bank, law = (Path(f"bm25_rewrite_{name}.trec") for name in DOMAINS)
    again = Path("again.trec")
    again.write_text("\n".join(reversed(bank.read_text().split("\n"))).strip() + "\n")
    assert samples_of([bank, law]) == [pooled([bank, law])]
    assert samples_of([bank, law, again]) == [pooled([bank, law]), again]
    assert samples_of([bank, again]) == [bank, again] and samples_of([bank]) == [bank]
    assert samples_of([bank, Path("absent")]) == [bank, Path("absent")]
    (tmp_path / "robustcs.toml").write_text(
        f'[formulations.qr]\nrun = ["{bank}", "{law}", "{again}"]\n'
    )
    part = read_project("robustcs.toml").formulations["qr"]
    assert part.run == pooled([bank, law]) and part.sample_runs == (again,)


def test_two_years_of_cast(shared_data: Path) -> None:
    years = {
        "cast2019": ("bert_base_raw", "bert_base_oracle"),
        "cast2020": ("bert_raw", "bert_manual"),
    }

    def evaluated(*names: str, by: str | None = None) -> Any:
        found = {
            system: [
                shared_data / name / "runs" / f"{years[name][place]}.trec.gz" for name in names
            ]
            for place, system in enumerate(("raw", "manual"))
        }
        qrels = [shared_data / name / "qrels.txt.gz" for name in names]
        return robustcs.evaluate(qrels=qrels, runs=found, metrics=["ndcg_cut_3"], by=by)

    whole, parts = evaluated(*years, by="collection"), [evaluated(name) for name in years]
    assert whole.evaluated.policy_line.startswith(
        "381 turns in 45 conversations of 2 collections · "
    )
    for run in ("raw", "manual"):
        rows = [part.measures.set_index("system").loc[run] for part in parts]
        mean = sum(row["value"] * row["turns"] for row in rows) / 381
        assert whole.measures.set_index("system").loc[run, "value"] == pytest.approx(
            mean, abs=1e-12
        )
    stacked = whole.tables["measures_by_collection"]
    for name, part in zip(years, parts, strict=True):
        own = (
            stacked[stacked["collection"] == f"{name}_qrels"]
            .drop(columns="collection")
            .reset_index(drop=True)
        )
        assert own.equals(part.measures)
