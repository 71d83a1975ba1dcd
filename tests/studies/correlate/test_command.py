"""``robustcs correlate``: the published figures by the command lines that a researcher would type, and what can go wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from tests.conftest import Command

QRQA = [
    "correlate", "--format", "json", "--metric", "P_1",
    "--rewrites", "human=Human.tsv", "--rewrites", "qr=Transformer_Plus_Plus_Q.tsv",
    "--rewrites", "original=Human.tsv:original",
    "--scores", "qr=Transformer_Plus_Plus_Q_query_metrics.txt", "--scores", "human=human_query_metrics.txt",
    "--scores", "answers=answer_overlap_r1000.txt",
]  # fmt: skip
RUNS = [
    "correlate", "--format", "json",
    "--original", "runs/bert_base_raw.trec.gz", "--qr", "runs/bert_base_cv.trec.gz",
    "--human", "runs/bert_base_oracle.trec.gz", "--qrels", "qrels.txt.gz", "--relevance-level", "2",
    "--rewrites", "qr=runs/rewrites_cv.jsonl", "--rewrites", "qr=topics.json:raw_utterance",
    "--rewrites", "human=runs/rewrites_cv.jsonl", "--rewrites", "human=topics.json:raw_utterance",
]  # fmt: skip


def value(result: dict[str, Any], **wanted: str) -> dict[str, Any]:
    wanted = {"method": "pearson", "subset": "all", **wanted}
    (row,) = (
        row
        for row in result["tables"]["correlations"]
        if all(row[key] == text for key, text in wanted.items())
    )
    return row


def test_published_correlations_and_outliers(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019" / "qrqa")
    assert run(QRQA) == 0
    result = json.loads(capfd.readouterr().out)
    found = value(result, x="rouge1_f", y="overlap_1000")
    assert round(found["value"], 10) == 0.7506224569
    assert (
        found["turns"] == 479 and found["ci_low"] < 0.7506 < found["ci_high"] and found["p"] < 1e-12
    )
    assert (found["units"], result["policy"]["units"], result["policy"]["unit"]) == (
        50,
        50,
        "conversation",
    )
    assert round(value(result, x="rouge1_recall", y="overlap_1000")["value"], 4) == 0.7565
    correct = value(result, x="rouge1_recall", y="overlap_1000", subset="correct")
    assert (round(correct["value"], 3), correct["turns"]) == (0.772, 122), (
        "what the paper prints as 0.77"
    )
    judged = value(result, x="rouge1_recall", y="overlap_1000", subset="judged")
    assert (round(judged["value"], 3), judged["turns"]) == (0.760, 173)
    assert value(result, x="rouge1_f", y="overlap_1000", subset="correct")["turns"] == 122
    corners = {}
    for row in result["tables"]["outliers"]:
        corners.setdefault(row["corner"], []).append(row["turn"])
    assert corners == {
        "different answers": ["45_5", "50_3", "50_4", "55_5", "55_6", "70_8", "72_7", "76_4"],
        "same answers": ["32_6", "44_6", "62_6"],
    }
    roles = [entry["role"].split(", ") for entry in result["inputs"]]
    assert {role for several in roles for role in several} >= {
        "answer similarity",
        "qr scores",
        "human texts",
    }


def test_runs_that_are_shallower_than_the_papers(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019")
    assert run(RUNS) == 0
    result = json.loads(capfd.readouterr().out)
    found = value(result, x="rouge1_f", y="overlap_100")
    # 0.7235432340 over all 479 turns; one of those with Human's text has another ranking
    assert found["turns"] == 478
    assert found["value"] == pytest.approx(0.7232339605, abs=1e-9)
    assert 0.64 < found["ci_low"] < found["value"] < found["ci_high"] < 0.80
    assert result["notes"][:2] == [
        "the shortest run ends at rank 100: overlap covers the top 100",
        "1 turn of qr excluded: same text as Human but a different ranking (72_7)",
    ]
    # the raw turns stand in for those that were not rewritten
    [texts] = result["notes"][2:]
    assert texts.startswith("qr (281 turns: 31_2, ") and ", human (344 turns: 31_2, " in texts
    assert texts.endswith(
        " more): topics.json has different texts; the text of the earlier file is used"
    )
    assert result["policy"]["turns"] == 478


def test_every_kind_of_answer_measure(in_demo: Command) -> None:
    names = ["overlap_10", "jaccard_10", "rbo", "rbo_0.95", "ndcg_cut_3", "P_1=1"]
    out = in_demo(
        "correlate --x rouge1_f --format json " + " ".join(f"--y '{name}'" for name in names)
    ).out
    pairs = json.loads(out)["tables"]["pairs"]
    assert len(pairs) == 70
    assert list(pairs[0])[2:9] == ["rouge1_f", *names]
    for row in pairs:
        assert (
            row["jaccard_10"] <= row["overlap_10"]
            and 0 <= row["rbo"] <= 1
            and -1 <= row["ndcg_cut_3"] <= 1
        )
        assert row["P_1=1"] in (0, 1)


def test_reading_comprehension(in_demo: Command) -> None:
    result = json.loads(in_demo("correlate --metric f1 --format json").out)
    assert {row["y"] for row in result["tables"]["correlations"]} == {"answer_jaccard", "f1>=0.5"}
    assert result["policy"]["basis"] == "answers"
    found = value(result, x="rouge1_f", y="answer_jaccard")
    assert found["turns"] == 70 and 0 < found["value"] < 1


def test_original_against_human_is_that_of_a_rewriter_that_changes_nothing(
    in_demo: Command, tmp_path: Path
) -> None:
    """By the files of Original in place of QR's; without a rewriter as well."""
    options = "--x rouge1_f --y overlap_10 --format json"
    both = json.loads(in_demo(f"correlate --with-original {options}").out)["tables"]
    assert list(dict.fromkeys(row["rewriter"] for row in both["correlations"])) == [
        "original",
        "qr",
    ]
    assert [row for row in both["correlations"] if row["rewriter"] == "qr"] == json.loads(
        in_demo(f"correlate {options}").out
    )["tables"]["correlations"]
    (tmp_path / "none.toml").write_text("")
    files = "--qrels qrels.txt --relevance-level 2 --human runs/stem_human.trec --rewrites human=topics.json:manual"
    as_qr = "--qr runs/stem_original.trec --rewrites qr=topics.json:raw"
    alone = "--original runs/stem_original.trec --rewrites original=topics.json:raw --with-original"
    rows = [
        [{**row, "rewriter": ""} for row in json.loads(
            in_demo(f"correlate --config {tmp_path}/none.toml {files} {given} {options}").out
        )["tables"]["correlations"]]
        for given in (as_qr, alone)
    ]  # fmt: skip
    assert (
        rows[0]
        == rows[1]
        == [
            {**row, "rewriter": ""} for row in both["correlations"] if row["rewriter"] == "original"
        ]
    )
    told = in_demo(
        f"correlate --config {tmp_path}/none.toml {files} {as_qr} --with-original", code=2
    ).err
    assert (
        told
        == "robustcs: no question texts of the original formulation; add --rewrites original=FILE\n"
    )


def test_ratings_of_people_as_what_is_predicted(in_demo: Command, tmp_path: Path) -> None:
    """The rating is a column of a file per turn: here it falls with the ROUGE of the rewrite, so that r is -1."""
    similar = json.loads(in_demo("correlate --x rouge1_recall --y overlap_10 --format json").out)[
        "tables"
    ]["pairs"]
    (tmp_path / "ratings.txt").write_text(
        "".join(f"rating\t{row['turn']}\t{5 - 4 * row['rouge1_recall']}\n" for row in similar)
    )
    out = in_demo(
        f"correlate --x rouge1_recall --scores answers={tmp_path}/ratings.txt --y rating --format json"
    ).out
    assert value(json.loads(out), x="rouge1_recall", y="rating")["value"] == pytest.approx(-1)


def test_the_terminal_shows_everything_in_80_columns(in_demo: Command) -> None:
    out = in_demo("correlate").out
    for part in ("Question similarity against overlap of the top 100", "Pearson", "Spearman", "Kendall", "partial",
                 "Different questions but the same answers",
                 "70 turns in 10 conversations · missing turns score"):  # fmt: skip
        assert part in out
    assert max(map(len, out.splitlines())) <= 80


TWO = (
    "correlate --qr stem=runs/stem_qr.trec --qr raw=runs/stem_original.trec --rewrites qr:stem=topics.json:automatic"
    " --rewrites qr:raw=topics.json:raw"
)


def test_several_rewriters_stand_side_by_side(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    text = config.read_text()
    config.write_text(
        text[: text.index("[formulations.qr]")] + text[text.index("[formulations.human]") :]
    )
    out = in_copy(TWO).out
    assert len(out.splitlines()) < 40 and max(map(len, out.splitlines())) <= 80
    assert "the rewriters side by side" in out and "Spearman" not in out
    detailed = in_copy(f"{TWO} --details raw").out
    assert "the rewriters side by side" in detailed and "Spearman" in detailed
    assert "Rewriter raw" in detailed and "Rewriter stem" not in detailed
    assert (
        "no rewriter is named 'none'; choose one of stem, raw"
        in in_copy(f"{TWO} --details none", code=2).err
    )
    assert (
        "no rewriter is named 'none'" in in_copy(f"{TWO} --details none --format csv", code=2).err
    )


def test_files(in_copy: Command, tmp_path: Path) -> None:
    told = in_copy(
        "correlate -o scatter.svg -o scatter.png -o all.json -o all.tex -o all.md -o pairs.csv --table pairs"
    ).err
    assert "wrote scatter.svg" in told
    folder = tmp_path / "demo"
    assert (
        (folder / "pairs.csv")
        .read_text()
        .startswith("rewriter,turn,rouge1_f,rouge1_recall,rouge1_precision,rougeL_f,")
    )
    assert (folder / "scatter.png").read_bytes().startswith(b"\x89PNG")
    assert "ROUGE-1 F" in (folder / "scatter.svg").read_text()


def test_turns_without_texts_or_answers_are_told(in_copy: Command, tmp_path: Path) -> None:
    texts = tmp_path / "few.json"
    texts.write_text(
        json.dumps({"1_1": "what is a sourdough starter", "1_2": "how", "9_99": "no such turn"})
    )
    result = json.loads(in_copy(f"correlate --rewrites qr={texts} --format json").out)
    assert [row["turn"] for row in result["tables"]["pairs"]] == ["1_1", "1_2"]
    assert (
        "68 turns of qr excluded: no text of it or of human (1_3, 1_4, 1_5, 1_6, 1_7 …)"
        in result["notes"]
    )


def test_texts_that_a_run_did_not_answer_are_told(in_demo: Command) -> None:
    """Equal questions get equal rankings from one ranker."""

    def doubts(options: str) -> list[str]:
        notes = json.loads(
            in_demo(f"correlate --x rouge1_recall --y overlap_10 --format json {options}").out
        )["notes"]
        return [note for note in notes if "made for these texts" in note]

    assert doubts("") == []
    (said,) = doubts("--rewrites qr=topics.json:manual")
    assert said.startswith(
        "qr and Human have the same text for 70 turns, but different rankings for "
    )
    assert said.endswith(" …); check that the run of qr was made for these texts")


def test_turns_with_the_text_but_not_the_ranking_of_human_are_left_out(
    in_copy: Command, tmp_path: Path
) -> None:
    """They say nothing about rewriting: not in the correlation, not among the exceptions; a score file is taken as it is."""
    topics = tmp_path / "demo" / "topics.json"
    every = json.loads(topics.read_text())
    texts = tmp_path / "demo" / "qr.json"
    turns = {f"{one['number']}_{turn['number']}": turn for one in every for turn in one["turn"]}
    kinds = {name: "manual" if name in ("1_2", "1_3") else "automatic" for name in turns}
    texts.write_text(
        json.dumps(
            {name: turns[name][f"{kind}_rewritten_utterance"] for name, kind in kinds.items()}
        )
    )
    call = f"correlate --x rouge1_f --y overlap_10 --rewrites qr={texts} --format json"
    result = json.loads(in_copy(call).out)
    before = json.loads(in_copy("correlate --x rouge1_f --y overlap_10 --format json").out)
    same = {row["turn"]: row["overlap_10"] for row in before["tables"]["pairs"]}
    left = {
        name for name in turns if name not in {row["turn"] for row in result["tables"]["pairs"]}
    }
    assert left and left <= {"1_2", "1_3"} and result["policy"]["turns"] == 70 - len(left)
    (note,) = [note for note in result["notes"] if "excluded" in note]
    assert (
        note.startswith(f"{len(left)} turn")
        and "same text as Human but a different ranking (1_2" in note
    )
    assert value(result, x="rouge1_f", y="overlap_10")["turns"] == 70 - len(left)
    assert not left & {row["turn"] for row in result["tables"]["outliers"]}
    (tmp_path / "demo" / "mine.txt").write_text(
        "".join(f"mine {name} {same[name]}\n" for name in turns)
    )
    given = json.loads(
        in_copy(f"{call.replace('--y overlap_10', '')} --scores answers=mine.txt").out
    )
    assert value(given, x="rouge1_f", y="mine")["turns"] == 70


def test_a_rewriter_without_turns_to_compare_costs_only_its_own_rows(
    in_copy: Command, tmp_path: Path
) -> None:
    """Here another ranker ranks the texts of Human."""
    config = tmp_path / "demo" / "robustcs.toml"
    text = config.read_text()
    config.write_text(
        text[: text.index("[formulations.qr]")] + text[text.index("[formulations.human]") :]
    )
    call = "correlate --x rouge1_f --y overlap_10 --format json"
    good = " --qr stem=runs/stem_qr.trec --rewrites qr:stem=topics.json:automatic"
    alone = " --qr plain=runs/plain_human.trec --rewrites qr:plain=topics.json:manual"
    why = "plain cannot be compared with human: same text but different rankings for 70 turns"
    assert f"{why}; check that the turn ids" in in_copy(call + alone, code=2).err
    without, together = (
        json.loads(in_copy(call + good).out),
        json.loads(in_copy(call + alone + good).out),
    )
    assert why in together["notes"]
    assert together["tables"] == without["tables"]


def test_the_command_line_and_the_report_have_one_default(in_demo: Command) -> None:
    """Correct means NDCG@3 ≥ 0.5 unless the user says otherwise."""
    result = json.loads(in_demo("correlate --format json").out)
    assert {row["y"] for row in result["tables"]["correlations"]} == {
        "overlap_100",
        "ndcg_cut_3>=0.5",
    }
    chosen = json.loads(in_demo("correlate --metric P_1 --format json").out)
    assert {row["y"] for row in chosen["tables"]["correlations"]} == {"overlap_100", "P_1=1"}


def test_a_run_owes_no_answer_to_turns_that_nobody_judged(in_copy: Command, tmp_path: Path) -> None:
    qrels, run = tmp_path / "demo" / "qrels.txt", tmp_path / "demo" / "runs" / "stem_qr.trec"
    qrels.write_text("".join(line for line in qrels.open() if not line.startswith("2_")))
    run.write_text("".join(line for line in run.open() if not line.startswith(("2_", "3_1 "))))
    result = json.loads(in_copy("correlate --x rouge1_recall --y overlap_10 --format json").out)
    turns = [row for row in result["tables"]["pairs"] if row["turn"].startswith("2_")]
    assert not turns and any(
        "of qr excluded: missing in its run and without judgments" in note
        for note in result["notes"]
    )
    assert [row["overlap_10"] for row in result["tables"]["pairs"] if row["turn"] == "3_1"] == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--x rouge", "no similarity of questions is named 'rouge'; choose one of rouge1_precision"),
        ("--x use", "use requires a model; name it with --use MODEL"),
        ("--use model --x rouge1_f", "--use has no effect without --x use; add --x use, or leave the model out"),
        ("--y overlap", "no measure of answers is named 'overlap'; write overlap_K"),
        ("--metric f1 --y P_1", "measures of answers (f1, em) and of rankings use different turns"),
        ("--use nowhere", "nowhere: not a folder and not a TensorFlow Hub handle"),
        ("--scores wrong=x", "unknown role 'wrong'; write original, qr or human"),
        ("--rewrites qr:T5=topics.json --scores answers=x", "x belongs to one rewriter, but there are 2"),
    ],
)  # fmt: skip
def test_wrong_use(in_demo: Command, options: str, message: str) -> None:
    assert f"robustcs: {message}" in in_demo(f"correlate {options}", code=2).err


def test_runs_beside_the_formulations_are_refused(in_demo: Command) -> None:
    assert "No such option '--run'" in in_demo("correlate --run a=b", code=2).err


def test_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.json").write_text('{"1_1": "a", "1_2": "b"}')
    assert run(["correlate"]) == 2
    assert (
        "no question texts of the qr formulation; add --rewrites qr=FILE" in capfd.readouterr().err
    )
    texts = ["correlate", "--rewrites", "human=h.json", "--rewrites", "qr=h.json"]
    assert run(texts) == 2
    assert capfd.readouterr().err == (
        "robustcs: there are no answers to compare, and no run answers 2 turns (1_1, 1_2) of human; 2 turns (1_1, 1_2)"
        " of qr; retrieve them with robustcs retrieve --index FOLDER, or set an index in [retrieval] of robustcs.toml, or give"
        " --scores answers=FILE or predicted answers (--answers)\n"
    )
    assert run([*texts, "--y", "P_1"]) == 2
    assert "there is no input to score answers" in capfd.readouterr().err
    assert run([*texts, "--y", "overlap_10"]) == 2
    assert "Human or a rewriter has no run" in capfd.readouterr().err
    (tmp_path / "s.txt").write_text("overlap 7_1 0.5\n")
    assert run([*texts, "--scores", "answers=s.txt"]) == 3
    assert capfd.readouterr().err == (
        "h.json: none of its turns is in the scores: its turn ids look like '1_1', those of the scores like '7_1'; check that"
        " the files belong together\n"
    )
    (tmp_path / "q.json").write_text('{"1_3": "c"}')
    (tmp_path / "s.txt").write_text("overlap 1_2 0.5\noverlap 1_3 0.5\n")
    assert (
        run(
            [
                "correlate",
                "--rewrites",
                "human=h.json",
                "--rewrites",
                "qr=q.json",
                "--scores",
                "answers=s.txt",
            ]
        )
        == 2
    )
    assert (
        "qr cannot be compared with human: no turn has texts of both; check that the turn ids"
        in capfd.readouterr().err
    )
    (tmp_path / "q.json").write_text('{"1_1": "c", "1_3": "c"}')
    assert (
        run(
            [
                "correlate",
                "--rewrites",
                "human=h.json",
                "--rewrites",
                "qr=q.json",
                "--scores",
                "answers=s.txt",
            ]
        )
        == 2
    )
    assert (
        "qr cannot be compared with human: no answers to compare for 1 turn; check"
        in capfd.readouterr().err
    )


def test_answer_similarity_in_the_project_file(in_copy: Command, tmp_path: Path) -> None:
    (tmp_path / "demo" / "mine.txt").write_text("mine 1_1 0.25\nmine 1_2 0.5\nmine 1_3 0.75\n")
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text('answer_similarity = "mine.txt"\n' + config.read_text())
    result = json.loads(in_copy("correlate --format json").out)
    assert value(result, x="rouge1_f", y="mine")["turns"] == 3
