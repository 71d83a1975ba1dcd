"""``robustcs evaluate`` as users run it."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
import pytrec_eval

from robustcs.cli.main import run
from robustcs.statistics.families import holm
from tests.conftest import Command


def test_demo(in_demo: Command) -> None:
    printed = json.loads(in_demo("evaluate --format json").out)
    measures = printed["tables"]["measures"]
    assert (
        len(measures) == 24
        and len(printed["tables"]["pairs"]) == 2 * 66
        and len(printed["tables"]["turns"]) == 24 * 70
    )
    assert (printed["policy"]["unit"], printed["policy"]["units"]) == ("conversation", 10)
    assert printed["policy"]["line"].startswith("70 turns in 10 conversations")
    best = next(row for row in measures if row["metric"] == "ndcg_cut_3")
    assert best["system"] == "human" and best["ci_low"] < best["value"] < best["ci_high"]
    assert all(0 <= row["ci_low"] <= row["ci_high"] <= 1 for row in measures)


def test_max_t_finds_in_ten_conversations_what_holm_cannot(in_demo: Command) -> None:
    """NDCG@3 of 12 systems: of 66 pairs 19 differ significantly by max-T, none by Holm (SPEC 15)."""
    line = "evaluate --metric ndcg_cut_3"
    tables = json.loads(in_demo(f"{line} --format json").out)["tables"]
    assert (holm([row["p"] for row in tables["pairs"]]) > 0.05).all()
    apart = {(row["first"], row["second"]) for row in tables["pairs"] if row["p_corrected"] <= 0.05}
    letters = {row["system"]: set(row["letters"].split()) for row in tables["measures"]}
    assert len(apart) == 19
    assert apart == {
        (a, b) for a, b in combinations(systems_of(tables), 2) if not letters[a] & letters[b]
    }
    shown = " ".join(in_demo(line).out.split())
    assert (
        "Of 66 pairs of systems, 19 differ significantly (adjusted p ≤ 0.05, max-T over 66 pairs)"
        in shown
    )
    assert (
        "do not differ significantly; this does not show that they are equal" in shown
        and "cannot reach" not in shown
    )


def systems_of(tables: dict[str, list[dict[str, str]]]) -> list[str]:
    """The systems in the order in which pairs name them."""
    return list(dict.fromkeys(row[side] for row in tables["pairs"] for side in ("first", "second")))


def test_a_baseline_and_a_margin(in_demo: Command) -> None:
    line = "evaluate --metric ndcg_cut_3 --baseline human --margin 0.05"
    rows = json.loads(in_demo(f"{line} --format json").out)["tables"]["pairs"]
    assert len(rows) == 11 and {row["second"] for row in rows} == {"human"}
    assert all(row["equivalent"] is False for row in rows)
    shown = " ".join(in_demo(line).out.split())
    assert "inside ±0.05" in shown and "p adj.: max-T over 11 pairs" in shown


def test_scores_give_what_runs_give(in_demo: Command, tmp_path: Path) -> None:
    """Per-turn scores that were written from the runs, joined by turn."""
    from_runs = json.loads(in_demo("evaluate --metric ndcg_cut_3 --format json").out)["tables"]
    for name in ("qr", "human"):
        rows = [row for row in from_runs["turns"] if row["system"] == name]
        (tmp_path / name).write_text(
            "".join(f"ndcg_cut_3\t{row['turn']}\t{row['value']!r}\n" for row in reversed(rows))
        )
    options = (
        f"--scores qr={tmp_path / 'qr'} --scores human={tmp_path / 'human'} --metric ndcg_cut_3"
    )
    printed = json.loads(in_demo(f"evaluate {options} --format json").out)
    pair = next(
        row for row in from_runs["pairs"] if (row["first"], row["second"]) == ("qr", "human")
    )
    only = next(
        row
        for row in printed["tables"]["pairs"]
        if (row["first"], row["second"]) == ("qr", "human")
    )
    for column in ("difference", "ci_low", "ci_high", "p", "effect", "detectable"):
        assert only[column] == pytest.approx(pair[column])
    assert {"qr scores", "human scores", "original"} <= {
        entry["role"] for entry in printed["inputs"]
    }
    assert (printed["policy"]["basis"], printed["policy"]["as_given"]) == ("runs", ["qr", "human"])
    assert printed["policy"]["line"].endswith(
        " · qr, human: scores as given, their own relevance level and order"
    )


def test_scores_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, scores in (("a", (0.5, 1, 0, 0.25, 1, 1)), ("b", (0, 1, 0, 0, 0.5, 0))):
        lines = [f"ndcg_cut_3\t{turn}_1\t{score}\n" for turn, score in enumerate(scores)]
        (tmp_path / name).write_text("".join(lines))
    monkeypatch.chdir(tmp_path)
    assert run(["evaluate", "--scores", "a=a", "--scores", "b=b", "--format", "json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert printed["policy"]["basis"] == "scores" and "as_given" not in printed["policy"]
    assert [row["value"] for row in printed["tables"]["measures"]] == pytest.approx([0.625, 0.25])


@pytest.mark.parametrize("measure", ["f1", "satisfaction"])
@pytest.mark.parametrize(
    "table",
    [
        "query_id,satisfaction,f1,comment\n1_1,0.5,0.5,good\n2_1,1,1,\n",
        "query_id,measure,value\n1_1,satisfaction,0.5\n1_1,f1,0.5\n2_1,satisfaction,1\n2_1,f1,1\n",
        "query_id\tf1\tsatisfaction\n1_1\t0.5\t0.5\n2_1\t1\t1\n",
    ],
)
def test_scores_of_any_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    table: str,
    measure: str,
) -> None:
    (tmp_path / "a.csv").write_text(table)
    monkeypatch.chdir(tmp_path)
    assert run(["evaluate", "--scores", "a=a.csv", "--metric", measure, "--format", "json"]) == 0
    rows = json.loads(capfd.readouterr().out)["tables"]["measures"]
    assert [(row["metric"], row["value"]) for row in rows] == [(measure, 0.75)]


@pytest.mark.parametrize(
    "measure", ["", " --metric nDCG@3 --metric AP", " --metric ndcg_cut_3 --metric map"]
)
def test_scores_with_the_names_of_ir_measures(
    in_demo: Command, tmp_path: Path, measure: str
) -> None:
    (tmp_path / "a.csv").write_text(
        "qid,measure,value\n1_1,nDCG@3,0.5\n1_1,AP,0.25\n2_1,nDCG@3,1\n2_1,AP,0.75\n"
    )
    found = json.loads(
        in_demo(
            f"evaluate --config /dev/null --scores a={tmp_path / 'a.csv'}{measure} --format json"
        ).out
    )
    scores = {row["metric"]: row["value"] for row in found["tables"]["measures"]}
    assert scores == {"ndcg_cut_3": 0.75, "map": 0.5}


@pytest.mark.parametrize("measure", ["f1", "satisfaction"])
def test_runs_have_no_scores_of_any_name(in_demo: Command, tmp_path: Path, measure: str) -> None:
    (tmp_path / "a.csv").write_text("query_id,satisfaction,f1\n1_1,0.5,0.5\n")
    told = in_demo(f"evaluate --scores a={tmp_path / 'a.csv'} --metric {measure}", code=2).err
    assert f"{measure} cannot be computed from the project's runs (original, qr, human" in told
    assert "use --config /dev/null to evaluate only the files of scores" in told


def test_the_turn_as_unit(in_demo: Command) -> None:
    printed = json.loads(in_demo("evaluate --unit turn --metric P_1 --format json").out)
    assert (printed["policy"]["unit"], printed["policy"]["units"]) == ("turn", 70)
    assert printed["policy"]["line"].startswith("70 turns · ")
    assert all(not row["exact"] for row in printed["tables"]["pairs"] if row["p"] < 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--metric nonsense", "unknown measure 'nonsense'"),
        ("--metric map --metric nonsense", "unknown measure 'nonsense'"),
        ("--format xml", "Try 'robustcs evaluate --help' for help."),
        ("--baseline nobody", "no run is named 'nobody'"),
        ("--margin 0", "margin 0; use a difference above 0"),
        ("--scores a", "write --scores NAME=FILE"),
        ("--scores a=x --scores a=y", "two files of --scores have the same name"),
        ("--missing none", "'none' is not one of"),
        ("--unit topic", "'topic' is not one of"),
    ],
)
def test_wrong_use(in_demo: Command, options: str, message: str) -> None:
    assert message in in_demo(f"evaluate {options}", code=2).err


@pytest.fixture
def gappy(demo: Path, tmp_path: Path) -> dict[str, Path]:
    """Runs that lack turns: the first of every conversation; conversations 2, 4 and 7; none."""
    keep: dict[str, Callable[[str], bool]] = {
        "qr": lambda turn: not turn.endswith("_1"),
        "original": lambda turn: int(turn.split("_")[0]) not in (2, 4, 7),
        "human": lambda turn: True,
    }
    files = {}
    for name, kept in keep.items():
        lines = (demo / "runs" / f"stem_{name}.trec").read_text().splitlines(keepends=True)
        files[name] = tmp_path / f"{name}.trec"
        files[name].write_text("".join(line for line in lines if kept(line.split()[0])))
    return files


def by_trec_eval(demo: Path, file: Path, names: set[str]) -> dict[str, list[float]]:
    """What trec_eval gives every turn that run and qrels share, at relevance level 2."""
    judged: dict[str, dict[str, int]] = {}
    for turn, _, document, grade in map(str.split, (demo / "qrels.txt").read_text().splitlines()):
        judged.setdefault(turn, {})[document] = int(grade)
    ranked: dict[str, dict[str, float]] = {}
    for turn, _, document, _, score, _ in map(str.split, file.read_text().splitlines()):
        ranked.setdefault(turn, {})[document] = float(score)
    found = pytrec_eval.RelevanceEvaluator(judged, names, relevance_level=2).evaluate(ranked)
    return {
        name: [values[name] for values in found.values()] for name in next(iter(found.values()))
    }


@pytest.mark.parametrize("missing", ["own", "zero"])
def test_runs_are_summed_up_as_trec_eval_does(
    in_demo: Command, demo: Path, gappy: dict[str, Path], missing: str
) -> None:
    """Means, totals and geometric means over all judged turns (trec_eval -c), or over those that a run answers (without -c)."""
    names = {"map", "gm_map", "gm_bpref", "num_ret", "num_rel", "num_rel_ret", "num_q"}
    runs = " ".join(f"--{name} {file}" for name, file in gappy.items())
    metrics = " ".join(f"--metric {name}" for name in sorted(names))
    line = f"evaluate --config plain.toml {runs} {metrics} --missing {missing}"
    result = json.loads(in_demo(f"{line} --format json").out)
    found = {(row["system"], row["metric"]): row for row in result["tables"]["measures"]}
    whole = by_trec_eval(demo, demo / "runs" / "stem_human.trec", {"num_rel"})["num_rel"]
    for name, file in gappy.items():
        by_turn = by_trec_eval(demo, file, names)
        for metric, values in by_turn.items():
            row, answered = found[name, metric], len(values)
            if missing == "zero":
                # as trec_eval -c patches up averages and totals
                floor = {"gm_map": math.log(1e-5), "gm_bpref": math.log(1e-5), "num_q": 1.0}.get(
                    metric, 0.0
                )
                values = [*values, *[floor] * (70 - answered)]
                if metric == "num_rel":
                    values = whole
            expected = pytrec_eval.compute_aggregated_measure(metric, values)
            assert row["value"] == pytest.approx(expected, abs=1e-9), (name, metric)
            assert row["turns"] == (70 if missing == "zero" else answered)
            if metric != "map":
                assert row["ci_low"] is None and row["ci_high"] is None and row["letters"] == ""
                assert (
                    row["note"]
                    == f"a {'total' if metric[:3] == 'num' else 'geometric mean'} over turns: no interval"
                )
            rows = [
                one
                for one in result["tables"]["turns"]
                if (one["system"], one["metric"]) == (name, metric)
            ]
            assert sorted(one["value"] for one in rows) == pytest.approx(sorted(values), abs=1e-9)
    assert {row["metric"] for row in result["tables"]["pairs"]} == {"map"}
    answered = len(by_trec_eval(demo, gappy["original"], {"map"})["map"])
    said = f"each run over the turns that it answers ({answered} to 70), as trec_eval without -c"
    assert result["policy"]["missing"] == missing and (said in result["policy"]["line"]) == (
        missing == "own"
    )


def test_totals_are_shown_without_intervals(in_demo: Command) -> None:
    shown = " ".join(in_demo("evaluate --metric num_ret --metric gm_map").out.split())
    assert (
        "num_ret of every system ───────────────────── System total ───────────────────── plain_human 6,836"
        in shown
    )
    assert "A total over turns: no interval, and pairs of systems are not tested." in shown
    assert "A geometric mean over turns: no interval, and pairs of systems are not tested." in shown
    assert "differ significantly" not in shown


def test_only_evaluate_takes_totals_and_only_it_gives_each_run_its_turns(
    in_demo: Command, gappy: dict[str, Path]
) -> None:
    told = in_demo("breakdown --metric gm_map", code=2).err
    assert told == (
        "robustcs: gm_map is not a mean over turns; use a mean such as map, or use robustcs evaluate\n"
    )
    files = " ".join(f"--{name} {file}" for name, file in gappy.items())
    own, drop = (
        json.loads(
            in_demo(f"breakdown --config plain.toml {files} --missing {way} --format json").out
        )
        for way in ("own", "drop")
    )
    assert own["tables"] == drop["tables"] and own["policy"] == drop["policy"]
    assert own["policy"]["missing"] == "drop" and "missing turns dropped" in own["policy"]["line"]


def test_others_leave_totals_out_where_a_mean_is_asked_for(in_demo: Command) -> None:
    both, one = (
        json.loads(in_demo(f"breakdown {metrics} --format json").out)
        for metrics in (
            "--metric num_rel --metric gm_map --metric ndcg_cut_3",
            "--metric ndcg_cut_3",
        )
    )
    assert both["tables"] == one["tables"]
    assert set(both["notes"]) - set(one["notes"]) == {
        "num_rel, gm_map: not a mean over turns; reported only by evaluate"
    }


def test_check_agrees_on_totals(in_copy: Command, tmp_path: Path) -> None:
    given = (tmp_path / "demo" / "robustcs.toml").read_text()

    def runs(metrics: str) -> tuple[dict[str, bool], list[str]]:
        (tmp_path / "demo" / "robustcs.toml").write_text(f"metrics = [{metrics}]\n{given}")
        result = json.loads(in_copy("check --format json").out)
        rows = result["tables"]["commands"]
        return {row["command"].split()[0]: row["runs"] for row in rows}, result["notes"]

    both, notes = runs('"num_rel", "ndcg_cut_3"')
    assert both["breakdown"] and both["unjudged"] and both["robustness"] and both["evaluate"]
    assert "num_rel: not a mean over turns; reported only by evaluate" in notes
    alone, _ = runs('"num_rel"')
    assert alone["evaluate"] and not any(
        alone[name] for name in ("breakdown", "sweep", "unjudged", "robustness", "correlate")
    )


def test_what_needs_a_mean_is_noted_where_there_is_none(in_demo: Command) -> None:
    note = "slices and pairs of systems skipped: gm_map is not a mean over turns"
    result = json.loads(
        in_demo("evaluate --metric gm_map --slices depth --find-slices --format json").out
    )
    assert note in result["notes"] and not result["tables"]["slices"]
    shown = in_demo("evaluate --metric gm_map --baseline human --margin 0.02 --table pairs").out
    assert (
        "Table pairs has no rows." in shown
        and "p_corrected" not in shown
        and note in " ".join(shown.split())
    )
    assert (
        note
        not in json.loads(in_demo("evaluate --metric gm_map --metric map --format json").out)[
            "notes"
        ]
    )


def test_model_judgments_are_noted(in_copy: Command, tmp_path: Path) -> None:
    qrels = (tmp_path / "demo" / "qrels.txt").read_text()
    (tmp_path / "demo" / "qrels-gpt4o.txt").write_text(qrels)
    named = "the qrels are qrels-gpt4o.txt, and its name contains a model name (gpt)"
    note = f"Based on judgments of a model, not of people: {named}"
    assert (
        note in json.loads(in_copy("evaluate --qrels qrels-gpt4o.txt --format json").out)["notes"]
    )
    assert note not in json.loads(in_copy("evaluate --format json").out)["notes"]


def test_every_run_over_its_own_turns_is_shown(in_demo: Command, gappy: dict[str, Path]) -> None:
    runs = " ".join(f"--{name} {file}" for name, file in gappy.items())
    line = f"evaluate --config plain.toml {runs} --metric map --missing own"
    shown = " ".join(in_demo(line).out.split())
    assert re.search(r"mean \(95% CI\) turns group", shown) and re.search(
        r"Human 0\.\d+ \(\S+ to \S+\) 70 ", shown
    )
    assert (
        "the turns that the run answers; pairs compare the turns that both answer. Of 3 pairs of systems, 2 differ"
        in shown
    )
    assert "Means of 3 systems over the turns that each answers (95% CI" in shown
    assert (
        "Original and Human" in shown
        and " turns that both answer; unstable: only 7 conversations" in shown
    )


def test_cast_2021_passages_by_the_best_of_each_document(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """NDCG@3 as published; turn by turn what trec_eval gives a run of documents with the score of their best passage.

    The figures of org_convdr_bert and org_manual_ance_bert stand beside them in SPEC 17, and the data lack those runs.
    """
    folder, published = (
        shared_data / "cast2021",
        {"org_convdr": ".3611", "org_manual_ance": ".5482", "org_manual_bm25": ".4069"},
    )
    files = {name: folder / "runs" / f"{name}.passages.trec.gz" for name in published}
    runs = [f"--run={name}={file}" for name, file in files.items()]
    qrels = folder / "qrels-docs.txt.gz"
    line = [
        "evaluate",
        f"--qrels={qrels}",
        *runs,
        "--metric=ndcg_cut_3",
        "--documents",
        "--format=json",
    ]
    assert run(line) == 0
    result = json.loads(capsys.readouterr().out)
    assert {
        row["system"]: f"{row['value']:.4f}"[1:] for row in result["tables"]["measures"]
    } == published
    assert (
        result["policy"]["documents"] is True
        and "documents by their best passage" in result["policy"]["line"]
    )
    judged: dict[str, dict[str, int]] = {}
    for turn, _, document, grade in map(
        str.split, gzip.decompress(qrels.read_bytes()).decode().splitlines()
    ):
        judged.setdefault(turn, {})[document] = int(grade)
    for name, file in files.items():
        best: dict[str, dict[str, float]] = {}
        for turn, _, passage, _, score, _ in map(
            str.split, gzip.decompress(file.read_bytes()).decode().splitlines()
        ):
            own, document = best.setdefault(turn, {}), passage.rpartition("-")[0]
            own[document] = max(own.get(document, -math.inf), float(score))
        expected = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.3"}).evaluate(best)
        ours = {
            row["turn"]: row["value"] for row in result["tables"]["turns"] if row["system"] == name
        }
        assert ours == pytest.approx(
            {turn: values["ndcg_cut_3"] for turn, values in expected.items()}, abs=1e-9
        )


def test_without_runs(in_copy: Command, tmp_path: Path) -> None:
    (tmp_path / "demo" / "robustcs.toml").unlink()
    assert "no runs are given" in in_copy("evaluate --qrels qrels.txt", code=2).err


def test_slices_by_ids_texts_and_a_file(in_demo: Command, tmp_path: Path) -> None:
    kinds = tmp_path / "kinds.tsv"
    kinds.write_text(
        "turn\tkind\n"
        + "".join(f"{topic}_1\topening\n{topic}_2\tsecond\n" for topic in range(1, 11))
    )
    line = f"evaluate --slices depth --slices texts --slices conversation --slices {kinds} --find-slices --metric ndcg_cut_3"
    tables = json.loads(in_demo(f"{line} --format json").out)["tables"]
    rows = [row for row in tables["slices"] if row["system"] == "qr"]
    every = {row["slicing"] for row in rows}
    assert every == {
        "depth",
        "pronoun",
        "ellipsis",
        "length",
        "shift",
        "name",
        "name in rewrite",
        "conversation",
        "kind",
    }
    scores = {row["turn"]: row["value"] for row in tables["turns"] if row["system"] == "qr"}
    for row in rows:
        if row["slicing"] in ("depth", "conversation"):
            own = [
                score
                for turn, score in scores.items()
                if row["slice"] in turn.split("_")[row["slicing"] == "depth"]
            ]
            if row["slice"] not in ("1", "10"):
                assert row["turns"] == len(own) and row["value"] == pytest.approx(
                    sum(own) / len(own)
                )
        assert row["units"] >= 5 or row["ci_low"] is None is row["p"]
    assert sum(row["turns"] for row in rows if row["slicing"] == "kind") == 20
    # a rewriter's texts say nothing of other systems
    assert {row["system"] for row in tables["slices"] if row["slicing"] == "name in rewrite"} == {
        "qr"
    }
    found = [
        row for row in tables["found_slices"] if row["system"] == "original" and not row["like"]
    ]
    assert found and all(
        row["p"] <= 0.05 and row["difference"] < row["at_most"] < 0 for row in found
    )
    shown = " ".join(in_demo(line).out.split())
    assert "Human: NDCG@3 by slice" in shown and "On which turns is NDCG@3 low?" in shown
    assert "slices: column kind has no value for 50 of the 70 turns" in shown
    assert (
        "Shown: the system with the highest mean NDCG@3 of 12; CSV and JSON contain all." in shown
    )
    shown = " ".join(
        in_demo("evaluate --slices depth --metric ndcg_cut_3 --baseline original").out.split()
    )
    assert "Shown: the baseline, one of 12; CSV and JSON contain all." in shown


def test_slices_that_are_none(in_demo: Command, tmp_path: Path) -> None:
    assert (
        "--slices deepth: neither a file nor a known property; name a file, or choose from first, depth"
        in in_demo("evaluate --slices deepth", 2).err
    )
    config = tmp_path / "robustcs.toml"
    config.write_text('qrels = "qrels.txt"\n[runs]\na = "a.txt"\n')
    (tmp_path / "qrels.txt").write_text("".join(f"{topic}_1 0 d 1\n" for topic in range(7)))
    (tmp_path / "a.txt").write_text("".join(f"{topic}_1 Q0 d 1 1 a\n" for topic in range(7)))
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"id": "d", "contents": "bread"}\n')
    told = in_demo(f"evaluate --config {config} --slices {passages}", 3).err
    assert (
        told.startswith(f"{passages}: none of its turns is in the qrels: ")
        and told.count("\n") == 1
    )
    assert "no slices by pronoun" in in_demo(f"evaluate --config {config} --slices pronoun", 2).err
    assert (
        "--find-slices requires 10 turns: there are 7 turns"
        in in_demo(f"evaluate --config {config} --find-slices", 2).err
    )


def test_files_of_the_same_column_are_one(in_demo: Command, tmp_path: Path) -> None:
    one, two, again = (tmp_path / f"{name}.tsv" for name in ("one", "two", "again"))
    one.write_text("turn\tkind\n" + "".join(f"{topic}_1\topening\n" for topic in range(1, 11)))
    two.write_text("turn\tkind\n" + "".join(f"{topic}_2\tsecond\n" for topic in range(1, 11)))
    again.write_text("turn\tkind\n1_2\tthird\n")
    line = f"evaluate --slices {one} --slices {two} --metric ndcg_cut_3"
    rows = json.loads(in_demo(f"{line} --format json").out)["tables"]["slices"]
    assert {(row["slice"], row["turns"]) for row in rows if row["slicing"] == "kind"} == {
        ("opening", 10),
        ("second", 10),
    }
    assert (
        "again.tsv: another file also has column kind for 1_2; keep each"
        in in_demo(f"{line} --slices {again}", 2).err
    )


@pytest.mark.parametrize("command", ["evaluate", "breakdown"])
def test_a_search_in_nothing_is_refused(in_demo: Command, tmp_path: Path, command: str) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q{letter} 0 d 1\n" for letter in "abcdefghijkl"))
    (tmp_path / "a.txt").write_text("".join(f"q{letter} Q0 d 1 1 a\n" for letter in "abcdefghijkl"))
    config = tmp_path / "robustcs.toml"
    config.write_text(
        'qrels = "qrels.txt"\n[formulations]\nqr.run = "a.txt"\nhuman.run = "a.txt"\n'
    )
    told = in_demo(f"{command} --config {config} --find-slices", 2).err
    assert (
        "--find-slices has nothing to search: neither turn ids nor texts split these turns; add properties with"
        in told
    )


def test_many_systems_are_compared_with_each_other_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [f"{conversation}_1" for conversation in range(1, 8)]
    scores = []
    for system in range(51):
        lines = [
            f"P_1\t{turn}\t{(system * place + system) % 11 / 10}\n"
            for place, turn in enumerate(turns)
        ]
        (tmp_path / f"s{system}").write_text("".join(lines))
        scores += ["--scores", f"s{system}={tmp_path / f's{system}'}"]
    line = ["evaluate", "--metric", "P_1", *scores]

    def tables(*arguments: str) -> dict[str, list[dict[str, object]]]:
        assert run([*line, *arguments, "--format", "json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        told = "pairs of 51 systems skipped (more than 50); --table pairs compares them"
        assert (told in printed["notes"]) == (not arguments)
        return dict(printed["tables"])

    few = tables()
    assert (
        few["pairs"] == []
        and len(few["measures"]) == 51
        and {row["letters"] for row in few["measures"]} == {""}
    )
    assert len(tables("--table", "pairs")["pairs"]) == 1181  # the others have the same scores
    assert len(tables("--baseline", "s3")["pairs"]) == 46
    assert run([*line, "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert (
        "significantly" not in shown
        and "the pairs are tested" not in shown
        and "pairs of 51 systems skipped" in shown
    )
