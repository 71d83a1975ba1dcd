"""``robustcs unjudged`` from the command line: published figures, options, errors, output at 80 columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.walk import walked
from robustcs.cli.main import run


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(["unjudged", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def tables(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, list[dict]]:
    return json.loads(call(capsys, *arguments, "--format", "json"))["tables"]


def test_a_table_asked_for_alone_is_all_that_is_computed(demo: Path) -> None:
    """Neither bounds nor pairs, nor what shows them; ``bench/walk.py`` prints the files."""
    walk = walked(demo)
    assert (
        not {"evaluation/bounds.py", "evaluation/pair_bounds.py", "evaluation/run_pair.py"}
        & walk.keys()
    )
    assert len(walk) <= 53  # with those that compare the judgments with the collection


CAST2019 = {"raw": 132, "cv": 61, "oracle": 39}
CAST2020 = {"raw": 238, "auto": 36, "manual": 17}


@pytest.mark.parametrize(
    ("year", "pattern", "counts", "retrieved"),
    [
        ("cast2019", "bert_base_{}.trec.gz", CAST2019, 519),
        ("cast2020", "bert_{}.trec.gz", CAST2020, 621),
    ],
)
def test_unjudged_passages_of_the_top_3(
    capsys: pytest.CaptureFixture[str],
    shared_data: Path,
    year: str,
    pattern: str,
    counts: dict[str, int],
    retrieved: int,
) -> None:
    folder = shared_data / year
    runs = [
        part
        for name in counts
        for part in ("--run", f"{name}={folder / 'runs' / pattern.format(name)}")
    ]
    found = tables(capsys, "--qrels", folder / "qrels.txt.gz", *runs, "--relevance-level", 2)
    assert {row["system"]: row["unjudged"] for row in found["rates"]} == counts
    assert {row["retrieved"] for row in found["rates"]} == {retrieved}
    for row in found["bounds"]:
        assert row["low"] <= row["score"] <= row["high"]
        assert row["exact"] is True
    if year == "cast2020":
        assert [row["grade"] for row in found["qrels"]] == [0, 1, 2, 3, 4]
        assert [row["count"] for row in found["qrels"]] == [33_781, 2_697, 1_834, 1_408, 731]
        assert sum(row["count"] for row in found["qrels"]) == 40_451


@pytest.mark.parametrize(
    ("suffix", "options", "scores"),
    [
        ("run.gz", (), (0.3542, 0.5300, 0.3974)),
        ("passages.trec.gz", ("--documents",), (0.3611, 0.5482, 0.4069)),
    ],
)
def test_cast_2021_by_document_and_by_passage(
    capsys: pytest.CaptureFixture[str],
    shared_data: Path,
    suffix: str,
    options: tuple[str, ...],
    scores: tuple[float, ...],
) -> None:
    folder = shared_data / "cast2021"
    names = ("org_convdr", "org_manual_ance", "org_manual_bm25")
    runs = [
        part for name in names for part in ("--run", f"{name}={folder / 'runs' / name}.{suffix}")
    ]
    found = tables(
        capsys,
        "--qrels",
        folder / "qrels-docs.txt.gz",
        *runs,
        "--relevance-level",
        2,
        "--metric",
        "ndcg_cut_3",
        *options,
    )
    assert [round(row["score"], 4) for row in found["bounds"]] == list(scores)
    if not options:
        assert [round(row["share"], 3) for row in found["rates"]] == [0.179, 0.118, 0.019]


def test_passages_against_judged_documents_are_noticed(
    capsys: pytest.CaptureFixture[str], shared_data: Path
) -> None:
    folder = shared_data / "cast2021"
    file = folder / "runs" / "org_convdr.passages.trec.gz"
    text = call(
        capsys,
        "--qrels",
        folder / "qrels-docs.txt.gz",
        "--run",
        f"convdr={file}",
        "--format",
        "json",
    )
    notes = [
        note
        for note in json.loads(text)["notes"]
        if note.startswith("convdr: none of its passages is judged: its passage ids")
    ]
    assert len(notes) == 1
    assert notes[0].endswith(
        "; use --documents (documents = true in [policy]) to evaluate passages DOC-N as documents DOC"
    )


def demo_arguments(demo: Path) -> list[object]:
    names = ("stem_human", "stem_manual_1", "stem_raw_3")
    return [
        "--qrels",
        demo / "qrels.txt",
        *(p for n in names for p in ("--run", f"{n}={demo / 'runs' / n}.trec")),
    ]


@pytest.fixture(autouse=True)
def _away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No robustcs.toml stands here, and the terminal has 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def test_the_depth_is_that_of_the_shares_and_does_not_cut_the_measures(
    capsys: pytest.CaptureFixture[str], demo: Path
) -> None:
    shallow = tables(capsys, *demo_arguments(demo), "--top", 1, "--metric", "map")
    deep = tables(capsys, *demo_arguments(demo), "--top", 10, "--metric", "map")
    assert {row["depth"] for row in shallow["rates"]} == {1}
    assert [row["retrieved"] for row in shallow["rates"]] == [70, 70, 70]
    assert deep["rates"][0]["retrieved"] > 600
    assert shallow["bounds"] == deep["bounds"]


def test_scopes_and_the_highest_grade(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    arguments = [*demo_arguments(demo), "--metric", "ndcg_cut_3", "--metric", "P_1"]
    inside = tables(capsys, *arguments)["bounds"]
    whole = tables(capsys, *arguments, "--scope", "run")["bounds"]
    nothing = tables(capsys, *arguments, "--max-grade", "0")["bounds"]
    for narrow, wide, point in zip(inside, whole, nothing, strict=True):
        assert (narrow["scope"], wide["scope"], point["max_grade"], wide["max_grade"]) == (
            "cutoff",
            "run",
            0,
            4,
        )
        assert wide["low"] <= narrow["low"] <= narrow["score"] == point["low"] == point["high"]
        assert narrow["high"] == pytest.approx(wide["high"])
    # nothing is unjudged in the top 3 of the human run, so only what lies below can move it
    assert inside[0]["low"] == inside[0]["high"] > whole[0]["low"]


def test_two_runs_whose_intervals_overlap_can_be_apart(
    capsys: pytest.CaptureFixture[str], shared_data: Path
) -> None:
    folder = shared_data / "cast2019"
    runs = [
        part
        for name in ("oracle", "cv")
        for part in ("--run", f"{name}={folder}/runs/bert_base_{name}.trec.gz")
    ]
    found = tables(capsys, "--qrels", folder / "qrels.txt.gz", *runs, "--metric", "ndcg_cut_3")
    [pair] = found["pairs"]
    assert (round(pair["low"], 4), round(pair["high"], 4), pair["separable"], pair["exact"]) == (
        0.0128,
        0.1024,
        True,
        True,
    )
    oracle, model = found["bounds"]
    assert oracle["low"] < model["high"]


def test_the_scope_of_a_pair_and_what_is_not_exact(
    capsys: pytest.CaptureFixture[str], demo: Path
) -> None:
    arguments = [*demo_arguments(demo), "--metric", "ndcg_cut_3", "--metric", "map"]
    inside, whole = (
        tables(capsys, *arguments, "--scope", scope)["pairs"] for scope in ("cutoff", "run")
    )
    assert [row["exact"] for row in inside] == [True] * 3 + [False] * 3
    for narrow, wide in zip(inside, whole, strict=True):
        assert (
            wide["low"]
            <= narrow["low"]
            <= narrow["difference"]
            == wide["difference"]
            <= narrow["high"]
            <= wide["high"]
        )
    human = inside[0]
    assert (human["first"], human["second"]) == ("stem_human", "stem_manual_1")
    # what manual_1 alone finds lowers the human run too, though that one is judged completely
    assert human["low"] == pytest.approx(-0.1194, abs=1e-4) and not human["separable"]
    text = " ".join(call(capsys, *arguments).split())
    assert "The bounds of MAP are not exact: in fact, fewer orders may change." in text


def test_new_judgments_tell_the_grades(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    found = tables(capsys, *demo_arguments(demo), "--new-judgments", demo / "new_judgments.txt")
    grades = {
        row["grade"]: row["count"] for row in found["grades"] if row["system"] == "stem_raw_3"
    }
    assert grades == {0: 73, 1: 1, 2: 1, 3: 1, 4: 0}
    assert found["rates"][2]["judged_later"] == found["rates"][2]["unjudged"] == 76


def test_a_project_needs_no_options(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    text = call(capsys, "--config", demo / "robustcs.toml")
    assert max(map(len, text.splitlines())) <= 80
    for question in (
        "How many of the top 3 passages are unjudged?", "How much could judging change the scores?",
        "Which pairs of runs can unjudged passages reorder?", "Which grades did unjudged passages get later?",
    ):  # fmt: skip
        assert question in text
    found = tables(capsys, "--config", demo / "robustcs.toml")
    assert [row["group"] for row in found["unique"]] == ["manual", "raw", "all groups"]
    assert len(found["rates"]) == 12


def test_missing_turns_can_be_dropped(capsys: pytest.CaptureFixture[str], demo: Path) -> None:
    arguments = [
        "--qrels",
        demo / "qrels.txt",
        "--run",
        f"raw_2={demo / 'runs' / 'stem_raw_2.trec'}",
    ]
    report = json.loads(call(capsys, *arguments, "--missing", "drop", "--format", "json"))
    assert report["policy"]["turns"] == 69
    assert "raw_2 misses 1 turn: 4_4" in report["notes"]
    assert "fewer than 3 passages: raw_2 for 1 turn (8_6)" in report["notes"]


def test_new_judgments_leave_the_bounds_of_the_cut_off_and_never_those_of_the_pool(
    capsys: pytest.CaptureFixture[str], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new judgments of the demo reach deeper than any cut-off, into ideal rankings."""
    monkeypatch.chdir(demo)
    metrics = [part for name in ("ndcg_cut_3", "recall_10", "map") for part in ("--metric", name)]
    assert run(["augment", *metrics, "--format", "json"]) == 0
    after = {
        (row["system"], row["metric"]): row["after"]
        for row in json.loads(capsys.readouterr().out)["tables"]["measures"]
    }
    left: dict[tuple[str, str], int] = {}
    pairs_left: dict[tuple[str, str], int] = {}
    for scope in ("cutoff", "pool"):
        found = tables(capsys, *metrics, "--scope", scope)
        for row in found["bounds"]:
            outside = (
                not row["low"] - 1e-12 <= after[row["system"], row["metric"]] <= row["high"] + 1e-12
            )
            left[scope, row["metric"]] = left.get((scope, row["metric"]), 0) + outside
            assert row["exact"]
        for row in found["pairs"]:
            difference = after[row["first"], row["metric"]] - after[row["second"], row["metric"]]
            outside = not row["low"] - 1e-12 <= difference <= row["high"] + 1e-12
            pairs_left[scope, row["metric"]] = pairs_left.get((scope, row["metric"]), 0) + outside
    assert left["cutoff", "ndcg_cut_3"] == 12
    assert pairs_left["cutoff", "ndcg_cut_3"] > 0
    assert not any(
        number for (scope, _), number in [*left.items(), *pairs_left.items()] if scope == "pool"
    )


def test_the_note_of_the_bounds_says_what_the_scope_leaves_out(
    capsys: pytest.CaptureFixture[str], demo: Path
) -> None:
    said = {
        scope: " ".join(
            call(
                capsys,
                *demo_arguments(demo),
                "--metric",
                "map",
                "--scope",
                scope,
                "--table",
                "bounds",
            ).split()
        )
        for scope in ("cutoff", "run", "pool")
    }
    assert (
        "--scope pool includes them" in said["cutoff"]
        and "--scope pool includes them" in said["run"]
    )
    assert "--scope pool" not in said["pool"] and "of all these runs" in said["pool"]
    assert "no bounds" not in said["pool"]
    without = " ".join(
        call(capsys, *demo_arguments(demo), "--metric", "bpref", "--table", "bounds").split()
    )
    assert (
        "–: bpref, the judged share and measures that only trec_eval computes have no bounds."
        in without
    )


def test_what_is_expected_of_every_difference(
    capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paraphrase sets' own finds are unjudged: holes are a part of their drop, and the output says what nobody knows."""
    plain = tables(capsys, *demo_arguments(demo), "--metric", "ndcg_cut_3")
    assert not plain["drops"] and all(row["expected"] is None for row in plain["pairs"])
    monkeypatch.chdir(demo)
    files = (tmp_path / "all.json", tmp_path / "all.txt")
    call(
        capsys,
        "--expected",
        "--metric",
        "ndcg_cut_3",
        "--scope",
        "pool",
        *(part for one in files for part in ("-o", one)),
    )
    report = json.loads(files[0].read_text())
    drops = {row["group"]: row for row in report["tables"]["drops"]}
    assert set(drops) == {"original", "qr", "manual", "raw"}
    for row in [*drops.values(), *report["tables"]["pairs"]]:
        measured = row.get("drop", row.get("difference"))
        assert row["holes_low"] < row["expected"] < row["holes_high"]
        assert row["expected_low"] < row["holes_low"] and row["holes_high"] < row["expected_high"]
        if row["hole_share"] is not None:
            assert row["hole_share"] == pytest.approx(1 - row["expected"] / measured, abs=1e-5)
            assert 0 <= row["hole_share_low"] <= row["hole_share_high"] <= 1
    assert 0 < drops["manual"]["hole_share_low"] < drops["manual"]["hole_share"]
    pair = next(
        row for row in report["tables"]["pairs"] if (row["first"], row["second"]) == ("qr", "human")
    )
    assert pair["expected"] == pytest.approx(-drops["qr"]["expected"], abs=1e-9)
    assert (
        pair["expected_p"] == pytest.approx(drops["qr"]["expected_p"])
        and drops["raw"]["hole_share"] is None
    )
    apart = [
        row
        for row in report["tables"]["pairs"]
        if row["expected_low"] > 0 or row["expected_high"] < 0
    ]
    assert sum(row["expected_p"] <= 0.05 for row in report["tables"]["pairs"]) < len(apart)
    tips = report["tables"]["tipping"]
    assert {(row["first"], row["second"]) for row in tips} == {
        ("human", "original"), ("human", "qr"), ("human", "manual"), ("original", "raw"),
    }  # fmt: skip
    order = next(row for row in tips if row["second"] == "raw" and row["scope"] == "all")
    assert (
        order["conclusion"] == "first > second expected"
        and 1 < order["factor_above"] < 4
        and order["factor_below"] is None
    )
    assert any(
        "that only the sets of manual retrieved, 0 are judged" in note for note in report["notes"]
    )
    assert report["policy"]["unit"] == "conversation" and report["policy"]["units"] == 10
    text = files[1].read_text()
    assert f"Shown: the 15 of {len(tips)} conclusions nearest to a change" in " ".join(text.split())
    assert (
        "How much of each drop is due to unjudged passages?" in text
        and "covers both the unknown grades and the sampling of conversations"
        in " ".join(text.split())
    )


def test_judgments_of_one_grade_teach_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "qrels").write_text("1_1 0 a 1\n1_2 0 b 1\n")
    (tmp_path / "run").write_text("1_1 Q0 a 1 2 t\n1_1 Q0 x 2 1 t\n1_2 Q0 b 1 2 t\n")
    assert run(["unjudged", "--qrels", "qrels", "--run", "r=run", "--expected"]) == 2
    assert (
        "the judged passages in the top 20 of the runs all have one grade"
        in capsys.readouterr().err
    )


def test_the_figure_is_written(demo: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        assert run(["unjudged", *map(str, demo_arguments(demo)), "--output", name]) == 0
    text = (tmp_path / "a.svg").read_text()
    assert "stem_manual_1" in text and "NDCG@3" in text
    assert text == (tmp_path / "b.svg").read_text()


def test_wrong_use(capsys: pytest.CaptureFixture[str], demo: Path, tmp_path: Path) -> None:
    qrels = ["--qrels", str(demo / "qrels.txt")]
    assert run(["unjudged", *qrels]) == 2
    assert "robustcs: no runs are given; add them with --run NAME=FILE" in capsys.readouterr().err
    (tmp_path / "robustcs.toml").write_text("[policy]\ndepth = 2\n")
    arguments = ["unjudged", *map(str, demo_arguments(demo))]
    assert run([*arguments, "--top", "5"]) == 2
    assert (
        "--top 5 is deeper than the top 2 that the project evaluates; use at most --top 2"
        in capsys.readouterr().err
    )
    assert {row["depth"] for row in tables(capsys, *demo_arguments(demo))["rates"]} == {2}
    (tmp_path / "other").write_text("77_1 Q0 a 1 1 t\n")
    assert run(["unjudged", *qrels, "--run", "other=other"]) == 3
    assert capsys.readouterr().err == (
        "other: none of its turns is in the qrels: its turn ids look like '77_1', those of the qrels like '1_1'; check that"
        " the files belong together\n"
    )


def test_many_runs_are_compared_with_each_other_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.txt").write_text("1_1 0 a 1\n1_1 0 b 0\n1_2 0 a 2\n")
    runs = []
    for number in range(51):
        passages = ["a", "b", "c", f"d{number}"]
        lines = [f"Q0 {passages[(rank + number) % 4]} {rank} {9 - rank} t\n" for rank in range(4)]
        (tmp_path / f"r{number}").write_text(
            "".join(f"{turn} {line}" for turn in ("1_1", "1_2") for line in lines)
        )
        runs += ["--run", f"r{number}={tmp_path / f'r{number}'}"]
    asked = (
        "--qrels",
        tmp_path / "qrels.txt",
        "--metric",
        "ndcg_cut_3",
        "--metric",
        "map",
        "--scope",
        "pool",
    )
    found = json.loads(call(capsys, *asked, *runs, "--format", "json"))
    assert found["tables"]["pairs"] == [] and len(found["tables"]["rates"]) == 51
    assert (
        "the pairs of 51 runs are not compared (more than 50 runs); use --table pairs"
        in found["notes"]
    )
    assert len(tables(capsys, *asked, *runs[:-2])["pairs"]) == 2 * 50 * 49 // 2
    pairs = tables(capsys, *asked, *runs, "--table", "pairs")["pairs"]
    assert len(pairs) == 2 * 51 * 50 // 2
    assert [(row["first"], row["second"]) for row in pairs[:51]] == [
        ("r0", f"r{n}") for n in range(1, 51)
    ] + [("r1", "r2")]
    assert all(row["low"] <= row["difference"] <= row["high"] for row in pairs)
