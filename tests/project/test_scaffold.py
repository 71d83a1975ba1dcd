"""From a folder of files to a project file: what each file is taken for, and why."""

from __future__ import annotations

import json
import os
import random
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.project.guess import explanation, guess, write_config
from robustcs.project.reading import read_project
from robustcs.project.scan import look_through, role_of, set_of, short_names
from robustcs.reporting.folder import write_report

TURNS = [f"{topic}_{depth}" for topic in range(1, 7) for depth in range(1, 5)]
RAW = {
    turn: f"And what about it, number {turn[-1]}?"
    if turn[-1] > "1"
    else f"What is thing {turn[0]}?"
    for turn in TURNS
}
HUMAN = {
    turn: f"What about part {turn[-1]} of thing {turn[0]}?" if turn[-1] > "1" else RAW[turn]
    for turn in TURNS
}


def rewrites(seed: int) -> dict[str, str]:
    """A rewriter that finds the text of Human for some turns."""
    draw = random.Random(seed)
    return {
        turn: HUMAN[turn] if draw.random() < 0.5 else f"What about part {turn[-1]} of {seed}?"
        for turn in TURNS
    }


def ranked(texts: Mapping[str, str], ranker: str = "a", tag: str = "t") -> str:
    """A ranker: equal questions of a turn get equal rankings."""
    lines = []
    for turn, text in texts.items():
        documents = [f"MARCO_{number}" for number in range(20)]
        random.Random(f"{ranker} {turn} {text}").shuffle(documents)
        lines += [
            f"{turn} Q0 {document} {rank} {9 - rank / 10} {tag}\n"
            for rank, document in enumerate(documents[:10], 1)
        ]
    return "".join(lines)


def tsv(texts: Mapping[str, str]) -> str:
    return "id\tquery\n" + "".join(f"{turn}\t{text}\n" for turn, text in texts.items())


QRELS = "".join(
    f"{turn} 0 MARCO_{number} {(number * 7 + int(turn[0])) % 5}\n"
    for turn in TURNS
    for number in range(15)
)
#: Original and Human with their judgments, to which a test adds rewriters.
ENDS = {
    "qrels.txt": QRELS, "raw.trec": ranked(RAW), "human.trec": ranked(HUMAN), "raw.tsv": tsv(RAW), "human.tsv": tsv(HUMAN),
}  # fmt: skip


def fill(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def config(folder: Path) -> dict[str, Any]:
    return tomllib.loads(write_config(guess(folder), "x"))


def aside(folder: Path) -> Mapping[str, str]:
    return guess(folder).aside


def parts(made: Mapping[str, Any], key: str) -> dict[str, str]:
    return {name: part[key] for name, part in made["formulations"].items() if key in part}


def test_runs_of_passages_beside_judged_documents(tmp_path: Path) -> None:
    """They are evaluated by document; not where runs of documents stand beside them, whose ids may end in a number too."""
    passages = "".join(f"{turn} Q0 MARCO_{number}-{place} 1 {9 - place} t\n" for turn in TURNS for number in range(3)
                       for place in (1, 2))  # fmt: skip
    fill(tmp_path, {"qrels.txt": QRELS, "one.trec": passages, "two.trec": passages})
    made = config(tmp_path)
    assert made["policy"]["documents"] is True and list(made["runs"]) == ["one", "two"]
    (tmp_path / "robustcs.toml").write_text(write_config(guess(tmp_path), "x"))
    assert read_project(tmp_path / "robustcs.toml").policy.documents
    fill(tmp_path, {"two.trec": ranked(HUMAN)})
    made = config(tmp_path)
    assert "documents" not in made["policy"] and list(made["runs"]) == ["two"]
    assert (
        aside(tmp_path)["one.trec"]
        == "a run of passages DOC-N, but other runs rank the judged documents"
    )


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("bert_base_raw", "original"), ("Original", "original"), ("original_query_metrics", "original"),
        ("bert_base_oracle", "human"), ("Human", "human"), ("bm25_manual", "human"), ("topics_resolved", "human"),
        ("Transformer_Plus_Plus_Q", "qr"), ("bm25-T5", "qr"), ("rewrites_cv", "qr"),
        ("manual_1", None), ("raw_12", None), ("bm25", None), ("drawings", None), ("", None),
    ],
)  # fmt: skip
def test_roles_are_told_by_whole_words_of_the_name(name: str, role: str | None) -> None:
    assert role_of(name) == role


def test_sets_of_paraphrases_are_told_by_their_numbers() -> None:
    assert [set_of(name) for name in ("stem_manual_1", "raw_12", "human", "t5_2", "3")] == [
        "human", "original", None, None, None
    ]  # fmt: skip


def test_no_two_systems_get_one_name() -> None:
    assert short_names(["a/run.txt", "b/run.txt"], ["x", "y"]) == ["a", "b"]
    assert short_names(["runs/one/run.txt", "runs/bm25.trec"], ["", ""]) == ["one", "bm25"]
    assert short_names(["results/1/run.trec", "out/run.trec"], ["", "mine"]) == ["1", "mine"]
    assert short_names(["x/bm25.trec", "y/bm25.trec", "dense.res"], ["", "", ""]) == [
        "x_bm25",
        "y_bm25",
        "dense",
    ]
    assert short_names(["run.txt", "runs/run.txt"], ["t", "t"]) == ["run.txt", "runs/run.txt"]
    # judges: not "judged by qrels"
    assert short_names(["qrels.llm-judge-gpt4o.txt"]) == ["llm-judge-gpt4o"]
    assert short_names(["qrels.rag24.nist.txt.gz", "qrels.rag24.umbrela.txt"]) == [
        "rag24.nist",
        "rag24.umbrela",
    ]
    assert short_names(["qrels.txt.gz"]) == ["qrels"]


# ---------------------------------------------------------------- what is opened

NOT_OPENED = "a link to a folder, or not a regular file, so it is not opened"


def test_nothing_but_regular_files_is_opened(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "qrels.txt": QRELS,
            ".hidden.txt": QRELS,
            ".git/qrels.txt": QRELS,
            "sub/robustcs.toml": "",
            "sub/q.txt": QRELS,
        },
    )
    os.mkfifo(tmp_path / "raw.trec")
    (tmp_path / "human.trec").symlink_to("/dev/zero")
    found = look_through(tmp_path)
    assert [file.path for file in found.files] == ["qrels.txt"]
    assert found.aside == dict.fromkeys(("human.trec", "raw.trec"), NOT_OPENED)


# ---------------------------------------------------------------- rewriters and their texts


def five_rewriters(flat: bool) -> dict[str, str]:
    """A collection with five rewriters, whose texts and runs have the same names."""
    named = {"t5": 1, "QuReTeC": 2, "ConvGQR": 3, "llm4cs": 4, "gpt-4": 5}
    files = {"qrels.txt": QRELS, "texts/Original.tsv": tsv(RAW), "texts/Human.tsv": tsv(HUMAN)}
    for name, texts in {
        "raw": RAW,
        "manual": HUMAN,
        **{name: rewrites(seed) for name, seed in named.items()},
    }.items():
        files[f"runs/bm25_{name}.trec" if flat else f"runs/bm25/{name}/run.txt"] = ranked(texts)
        if name in named:
            files[f"texts/{name}.tsv"] = tsv(texts)
    return files


def test_what_a_report_wrote_is_no_input(tmp_path: Path) -> None:
    write_report(
        tmp_path / "reports" / "x",
        {"report.html": b"<p>", "tables/measures.csv": b"run,metric\n", "state.json": b"{}"},
    )
    own = ("qrels.txt", "reports/x/tables/mine.csv")
    for name in own:
        (tmp_path / name).write_text("1_1 0 a 1\n")
    assert [file.path for file in look_through(tmp_path).files] == list(own)
    (tmp_path / "reports" / "x" / "manifest.json").write_text('{"1_1": "a text of a turn"}')
    assert len(look_through(tmp_path).files) == 6


@pytest.mark.parametrize("flat", [True, False])
def test_all_rewriters_are_taken_with_their_texts(
    tmp_path: Path, flat: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = config(fill(tmp_path, five_rewriters(flat)))
    names = ("QuReTeC", "ConvGQR", "llm4cs", "t5", "gpt-4")
    runs = {
        "original": "raw",
        "human": "manual",
        **{f"qr:{name.lower().replace('-', '_')}": name for name in names},
    }
    assert parts(made, "run") == {
        key: f"runs/bm25_{name}.trec" if flat else f"runs/bm25/{name}/run.txt"
        for key, name in runs.items()
    }
    texts = {
        "original": "Original",
        "human": "Human",
        **{key: name for key, name in runs.items() if key.startswith("qr")},
    }
    assert parts(made, "rewrites") == {key: f"texts/{name}.tsv" for key, name in texts.items()}
    assert "runs" not in made and not aside(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == run(["sweep"]) == 0


def test_texts_go_to_the_run_that_answered_them_whatever_they_are_called(tmp_path: Path) -> None:
    files = ENDS | {
        f"t5_{letter}.trec": ranked(rewrites(seed)) for letter, seed in (("a", 1), ("b", 2))
    }
    files |= {
        f"rewritten_{letter}.tsv": tsv(rewrites(seed)) for letter, seed in (("x", 2), ("y", 1))
    }
    made = config(fill(tmp_path, files))
    assert parts(made, "rewrites") == {
        "original": "raw.tsv", "human": "human.tsv", "qr:t5_a": "rewritten_y.tsv", "qr:t5_b": "rewritten_x.tsv"
    }  # fmt: skip
    said = write_config(guess(tmp_path), "x")
    assert '"rewritten_y.tsv"  # texts and rankings agree on 24 of 24 turns\n' in said


def test_names_that_fit_come_before_rankings(tmp_path: Path) -> None:
    texts = rewrites(1)
    # some texts of cqr and some rankings of t5 changed, so each is nearer to those of the other name
    some = [turn for turn in TURNS if texts[turn] == HUMAN[turn]][:4]
    files = ENDS | {"t5.trec": ranked(texts | dict.fromkeys(some, "x")), "cqr.trec": ranked(texts)}
    files |= {"t5.tsv": tsv(texts), "cqr.tsv": tsv(texts | dict.fromkeys(some, "y"))}
    made = parts(config(fill(tmp_path, files)), "rewrites")
    assert {key: made[key] for key in ("qr:t5", "qr:cqr")} == {
        "qr:t5": "t5.tsv",
        "qr:cqr": "cqr.tsv",
    }


def test_texts_of_the_same_name_that_were_not_run_are_left_aside(tmp_path: Path) -> None:
    other = {turn: f"Something else, {turn}" for turn in TURNS}
    made = config(
        fill(tmp_path, {**ENDS, "t5.trec": ranked(HUMAN | {"1_1": "x"}), "t5.tsv": tsv(other)})
    )
    assert made["formulations"]["qr"] == {"run": "t5.trec"}
    assert aside(tmp_path)["t5.tsv"].startswith("other texts are used, or their run is unknown")


def test_complete_files_come_first(tmp_path: Path) -> None:
    half = dict(list(RAW.items())[:12])
    made = config(fill(tmp_path, {
        "qrels.txt": QRELS, "a_raw.trec": ranked(half), "b_raw.trec": ranked(RAW), "a_human.trec": ranked(HUMAN),
        "b_human.trec": ranked(HUMAN, "b"), "a_original.tsv": tsv(half), "b_original.tsv": tsv(RAW),
    }))  # fmt: skip
    assert parts(made, "run") == {"original": "b_raw.trec", "human": "b_human.trec"}
    assert parts(made, "rewrites") == {"original": "b_original.tsv"}
    # no grid: one ranker has one run of each
    assert made["runs"] == {
        "a_human": "a_human.trec",
        "a_raw": "a_raw.trec",
    }


def test_a_run_beside_runs_without_a_name_in_common_is_a_further_system(tmp_path: Path) -> None:
    made = config(
        fill(
            tmp_path,
            {
                "qrels.txt": QRELS,
                "raw.trec": ranked(RAW),
                "human.trec": ranked(HUMAN),
                "bm25.trec": ranked(RAW, "b"),
            },
        )
    )
    assert made["runs"] == {"bm25": "bm25.trec"} and set(made["formulations"]) == {
        "original",
        "human",
    }


def test_tags_name_runs_that_nothing_else_names(tmp_path: Path) -> None:
    made = config(
        fill(
            tmp_path,
            {
                "qrels.txt": QRELS,
                "1/run.txt": ranked(RAW, tag="bm25"),
                "2/run.txt": ranked(HUMAN, tag="dense"),
            },
        )
    )
    assert made["runs"] == {"1": "1/run.txt", "2": "2/run.txt"}
    made = config(
        fill(
            tmp_path / "o",
            {
                "qrels.txt": QRELS,
                "run.txt": ranked(RAW, tag="x raw"),
                "runs/run.txt": ranked(HUMAN, tag="x human"),
            },
        )
    )
    assert parts(made, "run") == {"original": "run.txt", "human": "runs/run.txt"}


def test_sets_of_paraphrases_become_groups(tmp_path: Path) -> None:
    texts = {
        name: RAW if "raw" in name else HUMAN
        for name in ("manual_10", "manual_2", "raw_1", "raw", "manual")
    }
    files = {f"bm25_{name}.trec": ranked(own | {"1_1": name}) for name, own in texts.items()}
    made = config(fill(tmp_path, {"qrels.txt": QRELS, **files}))
    assert made["groups"] == {
        "manual": {"baseline": "human", "sets": ["bm25_manual_2", "bm25_manual_10"]},
        "raw": {"baseline": "original", "sets": ["bm25_raw_1"]},
    }


def test_a_run_of_a_grid_has_the_name_of_its_cell(tmp_path: Path) -> None:
    files = {
        f"{ranker}_{name}.trec": ranked(texts, ranker) for ranker in ("bert", "bm25")
        for name, texts in (("raw", RAW), ("t5", rewrites(1)))
    }  # fmt: skip
    made = config(fill(tmp_path, {"qrels.txt": QRELS, **files}))
    assert set(made["components"]) == {"raw/bm25", "t5/bm25", "raw/bert", "t5/bert"}
    # without Human and texts, the roles of formulations would only be further names
    assert made["runs"] == made["components"] and "formulations" not in made
    fill(
        tmp_path,
        {"bert_manual.trec": ranked(HUMAN, "bert"), "bm25_manual.trec": ranked(HUMAN, "bm25")},
    )
    made = config(tmp_path)
    assert set(made["formulations"]) == {"original", "qr", "human"} and set(made["runs"]) < set(
        made["components"]
    )
    assert all(made["components"][name] == path for name, path in made["runs"].items())


# ---------------------------------------------------------------- judgments, levels, scores


def test_old_and_new_judgments(tmp_path: Path) -> None:
    further = "".join(f"{turn} 0 MARCO_{number} 1\n" for turn in TURNS for number in range(15, 20))
    fill(tmp_path, {
        "raw.trec": ranked(RAW), "qrels.txt": QRELS, "new_qrels.txt": further, "grades.txt": QRELS.replace(" 4\n", " 3\n"),
        "judge.txt": QRELS.replace(" 4\n", " 2\n"), "judges/far.txt": QRELS.replace(" 4\n", " 9\n"),
        "judges/a/q.txt": QRELS.replace(" 4\n", " 2\n"), "judges/b/q.txt": QRELS.replace(" 4\n", " 1\n"),
        "far.qrels": "9_1 0 D1 1\n9_2 0 D2 0\n", "other.trec": "9_1 Q0 D1 1 3 t\n9_1 Q0 D2 2 2 t\n",
    })  # fmt: skip
    made = config(tmp_path)
    assert (made["qrels"], made["new_judgments"]) == ("qrels.txt", "new_qrels.txt")
    left = aside(tmp_path)
    assert made["judges"] == {
        "judge": "judge.txt",
        "judges_a": "judges/a/q.txt",
        "judges_b": "judges/b/q.txt",
    }
    other = "other judgments of the turns in qrels.txt; add it to new_judgments, or with the same scale to [judges]"
    assert left["grades.txt"] == other
    assert left["judges/far.txt"] == "a judge with grade 9, above the scale of qrels.txt"
    assert left["far.qrels"] == "it judges other turns, such as '9_1'"
    assert (
        left["other.trec"]
        == "a run of other turns, such as '9_1'; the qrels have turns such as '1_1'"
    )


@pytest.mark.parametrize(
    ("turn", "passage", "highest", "level"),
    [
        ("31_1", "MARCO_955948", 4, 2), ("132_1-3", "KILT_10052", 4, 2), ("9-1_3", "clueweb22-en0000-00-00000:0", 4, 2),
        ("2082", "msmarco_passage_01_552803451", 3, 2), ("31_1", "MARCO_955948", 1, 1), ("q49", "p3659", 3, 1),
        ("31_1", "doc7", 4, 1),
    ],
)  # fmt: skip
def test_the_level_is_that_of_the_collection(
    tmp_path: Path, turn: str, passage: str, highest: int, level: int
) -> None:
    fill(tmp_path, {"qrels.txt": f"{turn} 0 {passage} {highest}\n{turn} 0 {passage}9 0\n"})
    assert config(tmp_path)["policy"] == {"relevance_level": level}


def test_judgments_of_statements_about_a_person_are_no_qrels(tmp_path: Path) -> None:
    ptkb = "".join(
        f"9-1_{turn} 0 {statement} {(turn + statement) % 2}\n"
        for turn in range(1, 6)
        for statement in range(1, 9)
    )
    fill(
        tmp_path,
        {
            "ptkb.qrels": ptkb,
            "qrels.txt": "9-1_1 0 clueweb22-en0000-00-00000:0 2\n9-1_2 0 clueweb22-x 0\n",
        },
    )
    assert config(tmp_path)["qrels"] == "qrels.txt"
    assert aside(tmp_path)["ptkb.qrels"].startswith(
        "these are iKAT's judgments of statements about a person"
    )


def scores(shift: int, measures: Iterable[str] = ("map", "ndcg_cut_3")) -> str:
    rows = [
        f"{name}\t{turn}\t{place * shift % 7 / 7:.4f}\n"
        for name in measures
        for place, turn in enumerate(TURNS)
    ]
    return "".join([*rows, "map\tall\t0.5\n"])


def test_a_run_that_gives_its_questions_to_original_is_still_a_run(tmp_path: Path) -> None:
    """Results in the form of DPR have questions and passages; those of whole conversations are a system of their own."""
    records = [
        {"conv_id": turn[0], "turn_id": turn[2], "question": f"What is it? [SEP] {text}", "answers": [],
         "ctxs": [{"id": f"MARCO_{number}", "score": str(9 - number)} for number in range(5)]}
        for turn, text in RAW.items()
    ]  # fmt: skip
    made = config(fill(tmp_path, {
        "qrels.txt": QRELS, "raw.trec": ranked(RAW), "human.trec": ranked(HUMAN), "history.json": json.dumps(records),
    }))  # fmt: skip
    assert parts(made, "run") == {"original": "raw.trec", "human": "human.trec"}
    assert parts(made, "rewrites") == {"original": "history.json:original"}
    assert made["runs"] == {"history": "history.json"} and not aside(tmp_path)


def test_scores_where_there_are_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {
        "original_metrics.txt": scores(2), "t5_metrics.txt": scores(3), "human_metrics.txt": scores(5),
        "overlap.txt": "".join(f"overlap_1000\t{turn}\t0.5\n" for turn in TURNS),
        "means.txt": "map\tall\t0.5\nndcg\tall\t0.5\n",
    })  # fmt: skip
    made = config(tmp_path)
    assert parts(made, "scores") == {
        "original": "original_metrics.txt",
        "qr": "t5_metrics.txt",
        "human": "human_metrics.txt",
    }
    assert (made["metrics"], made["answer_similarity"]) == (["ndcg_cut_3"], "overlap.txt")
    assert aside(tmp_path) == {
        "means.txt": "cannot be read: the file contains only averages (turn 'all'); write per-turn scores with trec_eval -q"
    }
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == run(["breakdown"]) == run(["sweep"]) == 0


# ---------------------------------------------------------------- other studies


def test_the_demo_collection(demo: Path) -> None:
    made = config(demo)
    real = tomllib.loads((demo / "robustcs.toml").read_text())
    assert parts(made, "run") == parts(real, "run") and parts(made, "answers") == parts(
        real, "answers"
    )
    assert parts(made, "rewrites") == {
        role: f"topics.json:{role}" for role in ("original", "qr", "human")
    }
    for key in ("qrels", "new_judgments", "gold", "paraphrases", "collection"):
        assert made[key] == real[key], key
    assert made["agreement"] == real["agreement"]
    # the labels of needs are named after what made them, which only people know
    needs = [sorted(table["clariq"].pop("needs").values()) for table in (made, real)]
    assert needs[0] == needs[1] and made["clariq"] == real["clariq"]
    assert made["answers"] == {
        key: value for key, value in real["answers"].items() if key != "depth"
    }
    assert made["crowd"] == {key: value for key, value in real["crowd"].items() if key != "subset"}
    assert {name: group["baseline"] for name, group in made["groups"].items()} == {
        "manual": "human",
        "raw": "original",
    }
    assert aside(demo)["grades.txt"].startswith("other judgments of the turns in qrels.txt")


def annotations(unit: str) -> str:
    texts = [{"turn": "1_1", "passage": "d1", "worker": worker, "text": "some words", "unit": unit, "snippets": [[0, 4]]}
             for worker in ("ada", "ben")]  # fmt: skip
    return "".join(json.dumps(text) + "\n" for text in texts)


def item_qrels(letter: str, turns: Iterable[str], shift: int = 0) -> str:
    """Judgments of three items a turn; ``shift`` makes another criterion of them."""
    return "".join(
        f"{turn} 0 {letter}{n:04d} {(n + shift) % 4}\n" for turn in turns for n in range(3)
    )


CRITERIA = {
    "relevance_all.qrel": item_qrels("Q", TURNS), "novelty.qrel": item_qrels("Q", TURNS, 1),
    "relevance_filtered.qrel": item_qrels("Q", TURNS[:9]), "relevance_mi_subset.qrel": item_qrels("Q", TURNS[:4]),
    "response_relevance.qrel": item_qrels("R", TURNS),
}  # fmt: skip


NOT_NEEDED = "judgments that [crowd] does not use: grades replace them, or they judge other items or fewer turns"


def test_every_criterion_of_the_same_items_is_taken(tmp_path: Path) -> None:
    made = config(fill(tmp_path, CRITERIA))
    assert made["crowd"] == {
        "qrels": ["novelty.qrel", "relevance_all.qrel"],
        "subset": "relevance_mi_subset.qrel",
    }
    assert aside(tmp_path) == dict.fromkeys(
        ("relevance_filtered.qrel", "response_relevance.qrel"), NOT_NEEDED
    )


def test_judgments_are_left_to_the_grades_that_they_were_made_of(tmp_path: Path) -> None:
    graded = "".join(f"{turn},Q{n:04d},w,relevance,{n}\n" for turn in TURNS for n in range(3))
    made = config(
        fill(tmp_path, CRITERIA | {"grades.csv": f"turn,item,worker,criterion,grade\n{graded}"})
    )
    assert made["crowd"] == {"grades": "grades.csv", "subset": "relevance_mi_subset.qrel"}
    fill(
        tmp_path,
        {
            "gold.csv": "turn,item,criterion,grade\n1_1,Q0001,relevance,2\n",
            "golden.csv": "a,b\n1,2\n",
        },
    )
    assert config(tmp_path)["crowd"]["gold_checks"] == "gold.csv"
    left = aside(tmp_path)
    assert left["novelty.qrel"] == left["response_relevance.qrel"] == NOT_NEEDED


def test_annotations_of_sentences_are_another_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(tmp_path, {"a.jsonl": annotations("sentence")})
    assert config(tmp_path)["agreement"] == {"snippets": "a.jsonl"}
    fill(tmp_path, {
        "b.jsonl": annotations("paragraph"), "b_experts.jsonl": annotations("paragraph"),
        "c_experts.csv": "Input.turn_id,Input.sentence_id,Input.sentence,WorkerId,Answer.taskAnswers\n"
        '1_1,s1,some words,w,"[{""t"": {""entities"": [{""startOffset"": 0, ""endOffset"": 4}]}}]"\n',
    })  # fmt: skip
    assert config(tmp_path)["agreement"] == {"snippets": "b.jsonl", "reference": "b_experts.jsonl"}
    assert aside(tmp_path) == dict.fromkeys(
        ("a.jsonl", "c_experts.csv"), "it annotates another task than the other files"
    )
    assert run(["init"]) == run(["agreement", "--format", "json"]) == 0, capfd.readouterr().err


# ---------------------------------------------------------------- the text


def test_every_config_is_read_back(tmp_path: Path) -> None:
    fill(tmp_path, {
        'odd "name"/my raw.trec': ranked(RAW), 'odd "name"/my human.trec': ranked(HUMAN), "a/bm25.trec": ranked(RAW, "a"),
        "b/bm25.trec": ranked(RAW, "b"), "qrels ä.txt": QRELS,
    })  # fmt: skip
    (tmp_path / "robustcs.toml").write_text(write_config(guess(tmp_path), 'My "project"'))
    project = read_project(tmp_path / "robustcs.toml")
    assert project.name == 'My "project"' and project.qrels == tmp_path / "qrels ä.txt"
    assert {name: path.relative_to(tmp_path).as_posix() for name, path in project.systems.items()} == {
        "original": 'odd "name"/my raw.trec', "human": 'odd "name"/my human.trec',
        "a_bm25": "a/bm25.trec", "b_bm25": "b/bm25.trec",
    }  # fmt: skip


def test_every_file_is_either_taken_or_left_aside(tmp_path: Path, demo: Path) -> None:
    for folder in (
        fill(
            tmp_path,
            {
                **five_rewriters(True),
                "README.md": "words",
                "broken_raw.trec": "1_1 Q0 d 1 x t\n" * 3,
            },
        ),
        demo,
    ):
        made = guess(folder)
        files = {
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        } - {"robustcs.toml"}
        assert {*made.taken} | {*made.aside} >= {
            name for name in files if "__pycache__" not in name
        }
        assert not {*made.taken} & {*made.aside}
        assert all(f"  {path}\n    {why}" in explanation(made) for path, why in made.aside.items())


@pytest.mark.parametrize("grade", [1, 3])
def test_qrels_of_relevant_passages_only_are_declared_as_such(tmp_path: Path, grade: int) -> None:
    positives = "".join(
        f"{turn} 0 MARCO_{number} {grade}\n" for turn in TURNS for number in range(3)
    )
    fill(tmp_path, {"qrels.txt": positives, "raw.trec": ranked(RAW), "human.trec": ranked(HUMAN)})
    made = config(tmp_path)
    assert made["qrels"] == {"file": "qrels.txt", "selection": "positives"}
    (tmp_path / "robustcs.toml").write_text(write_config(guess(tmp_path), "x"))
    project = read_project(tmp_path / "robustcs.toml")
    assert (project.qrels, project.qrels_selection) == (tmp_path / "qrels.txt", "positives")


def test_other_qrels_say_how_to_declare_a_selection(tmp_path: Path) -> None:
    fill(tmp_path, {"qrels.txt": QRELS, "raw.trec": ranked(RAW)})
    text = write_config(guess(tmp_path), "x")
    assert 'qrels = "qrels.txt"' in text and "write [qrels] with file and selection instead" in text
    assert (
        read_project(fill(tmp_path, {"robustcs.toml": text}) / "robustcs.toml").qrels_selection
        == "pool"
    )


# ---------------------------------------------------------------- judgments of models, tasks, links


def test_judgments_of_models_never_become_qrels(tmp_path: Path) -> None:
    """Larger, of more turns, and first by name: a model's judgments are left out, also as new judgments and as only ones."""
    human = "".join(line for line in QRELS.splitlines(keepends=True) if not line.startswith("6_"))
    further = "".join(f"{turn} 0 MARCO_{number} 1\n" for turn in TURNS for number in range(15, 20))
    umbrela = [{"query": "q", "passage": "p", "judgment": 2, "result_status": 1}]
    files = {
        "raw.trec": ranked(RAW), "a_gpt4.txt": QRELS, "new_llama3.txt": further, "labels.jsonl": json.dumps(umbrela[0]) + "\n",
        "table.csv": "query_id,doc_id,judgment,result_status\n1_1,MARCO_0,2,1\n",
    }  # fmt: skip
    alone = guess(fill(tmp_path / "alone", files))
    assert not {"qrels", "new_judgments", "judges"} & alone.values.keys()
    text = write_config(alone, "x")
    assert alone.told == ["a_gpt4.txt", "labels.jsonl", "new_llama3.txt", "table.csv"]
    never = "and model judgments are never used as qrels; add it to [judges], or, if assessors made it, set it as qrels"
    assert f"# Not used: a_gpt4.txt: its name contains a model name (gpt), {never}\n" in text
    assert (
        f"# Not used: labels.jsonl: it has the fields of a model judge's output, {never}\n" in text
    )
    assert "qrels" not in tomllib.loads(text) and "judges" not in tomllib.loads(text)
    judge = guess(fill(tmp_path / "judge", {"raw.trec": ranked(RAW), "judges/gpt4.txt": QRELS}))
    assert judge.told == ["judges/gpt4.txt"] and "qrels" not in judge.values
    both = guess(
        fill(
            tmp_path / "both",
            files | {"z.txt": human, "judges/gpt4.txt": human.replace(" 4\n", " 3\n")},
        )
    )
    assert (both.values["qrels"], both.values["judges"]) == ("z.txt", {"gpt4": "judges/gpt4.txt"})
    assert "new_judgments" not in both.values
    assert both.told == alone.told
    assert both.aside["a_gpt4.txt"] == f"its name contains a model name (gpt), {never}"
    assert tomllib.loads(write_config(both, "x"))["judges"] == {"gpt4": "judges/gpt4.txt"}


def test_init_prints_why_judgments_of_a_model_are_left_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, {"raw.trec": ranked(RAW), "gpt4.txt": QRELS})
    assert run(["init", str(tmp_path)]) == 0
    assert "gpt4.txt is not used: its name contains a model name (gpt), " in capfd.readouterr().out


def tasks(scored: bool, **more: Any) -> str:
    contexts = [
        {"document_id": f"MARCO_{number}", **({"score": 9 - number} if scored else {})}
        for number in range(3)
    ]
    return "".join(
        json.dumps({"task_id": turn, "contexts": contexts, **more}) + "\n" for turn in TURNS
    )


def test_tasks_of_mtrag(tmp_path: Path) -> None:
    """Passages with scores are a run; those without are what an answer was made of, and no ranking."""
    said = {"predictions": [{"text": "x"}]}
    made = config(fill(tmp_path, {
        "qrels.txt": QRELS, "bm25_lastturn.jsonl": tasks(True), "bm25_rewrite.jsonl": tasks(True),
        "own.jsonl": tasks(True, **said),
        "given.jsonl": tasks(False, **said), "reference.jsonl": tasks(False, targets=[{"text": "y"}]),
    }))  # fmt: skip
    assert parts(made, "run") == {"original": "bm25_lastturn.jsonl", "qr": "bm25_rewrite.jsonl"}
    assert made["runs"] == {"own": "own.jsonl"} and made["gold"] == "reference.jsonl"
    assert made["answers"] == {"responses": {"given": "given.jsonl", "own": "own.jsonl"}}
    assert not aside(tmp_path)


def answers_of(system: str) -> str:
    """Answers of TREC RAG; ``references`` are the passages from which they were generated."""
    said = {
        "topic": "What?",
        "references": ["MARCO_1"],
        "answer": [{"text": "x", "citations": [0]}],
    }
    return "".join(
        json.dumps({"run_id": system, "topic_id": turn, **said}) + "\n" for turn in TURNS
    )


def test_references_of_answers_are_no_ranking_beside_runs(tmp_path: Path) -> None:
    """They would be a third ranker of the grid, and each system would be there twice."""
    cells = {
        f"{ranker}/{name}.trec": ranked(texts, ranker) for ranker in ("bm25", "monot5")
        for name, texts in (("raw", RAW), ("t5", rewrites(1)), ("human", HUMAN))
    }  # fmt: skip
    fill(tmp_path, {"qrels.txt": QRELS, **cells})
    grid = set(config(tmp_path)["components"])
    made = config(
        fill(
            tmp_path, {"answers/raw.jsonl": answers_of("raw"), "answers/t5.jsonl": answers_of("t5")}
        )
    )
    assert (
        set(made["components"]) == grid
        and len(grid) == 6
        and not any("answers" in path for path in made["runs"].values())
    )
    assert made["answers"] == {"responses": {"raw": "answers/raw.jsonl", "t5": "answers/t5.jsonl"}}
    assert not aside(tmp_path)


def test_references_of_answers_are_runs_if_there_are_no_others(tmp_path: Path) -> None:
    nuggets = json.dumps(
        {"qid": "1_1", "query": "q", "nuggets": [{"text": "a fact", "importance": "vital"}]}
    )
    fill(
        tmp_path,
        {
            "qrels.txt": QRELS,
            "nuggets.jsonl": nuggets,
            "a.jsonl": answers_of("a"),
            "b.jsonl": answers_of("b"),
        },
    )
    made = config(tmp_path)
    assert made["runs"] == made["answers"]["responses"] == {"a": "a.jsonl", "b": "b.jsonl"}
    assert not aside(tmp_path)  # a used file is not also listed as ignored


def test_answers_alone_are_those_of_systems(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(f'{{"id": "1_{turn}", "answer": "a tube"}}\n' for turn in range(1, 7))
        )
    assert config(tmp_path)["answers"] == {"responses": {"new": "new.jsonl", "old": "old.jsonl"}}
    (tmp_path / "gold.jsonl").write_text((tmp_path / "old.jsonl").read_text())
    assert "answers" not in config(tmp_path)  # gold answers are for reading comprehension


def test_an_export_has_the_answers_of_its_models(tmp_path: Path) -> None:
    export = {
        "models": [{"model_id": "a"}, {"model_id": "b"}], "metrics": [], "documents": [],
        "tasks": [{"task_id": "1_1", "contexts": [], "input": "q?", "targets": [{"text": "t"}]}],
        "evaluations": [{"task_id": "1_1", "model_id": model, "model_response": model} for model in "ab"],
    }  # fmt: skip
    made = config(fill(tmp_path, {"export.json": json.dumps(export)}))
    assert (
        made["answers"] == {"responses": {"a": "export.json", "b": "export.json"}}
        and made["gold"] == "export.json"
    )


def test_a_formulation_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A column with too many empty texts is left out of the project file, which says so; the others of the file stand."""
    rows = "".join(
        f"{turn}\t{RAW[turn]}\t{HUMAN[turn] if turn[0] != '6' else ''}\n" for turn in TURNS
    )
    folder = fill(tmp_path, {"topics.tsv": f"id\toriginal\thuman\n{rows}"})
    why = "4 of 24 texts cannot be used; correct them: at most 5% of a file may be skipped"
    assert parts(config(folder), "rewrites") == {"original": "topics.tsv:original"}
    made = guess(folder)
    assert f"# Not used: topics.tsv:human: {why}\n" in write_config(made, "x")
    assert f"Ignored\n  topics.tsv:human\n    {why}" in explanation(made)


def test_the_most_complete_of_several_rankers_is_taken(tmp_path: Path) -> None:
    less = {turn: text for turn, text in RAW.items() if turn != "1_1"}
    files = {f"{ranker}_{wording}.trec": ranked(texts, ranker) for ranker in ("a", "b")
             for wording, texts in (("raw", RAW), ("t5", less if ranker == "a" else HUMAN), ("manual", HUMAN))}  # fmt: skip
    fill(tmp_path, {"qrels.txt": QRELS, **files})
    assert parts(config(tmp_path), "run") == {
        "original": "b_raw.trec",
        "qr": "b_t5.trec",
        "human": "b_manual.trec",
    }
    # as complete as the other, and first by name
    (tmp_path / "a_t5.trec").write_text(ranked(HUMAN, "a"))
    assert parts(config(tmp_path), "run") == {
        "original": "a_raw.trec",
        "qr": "a_t5.trec",
        "human": "a_manual.trec",
    }


def test_links_to_folders_are_skipped_and_said_to_be(tmp_path: Path) -> None:
    fill(tmp_path, {"elsewhere/raw.trec": ranked(RAW), "project/qrels.txt": QRELS})
    (tmp_path / "project/runs").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    left = aside(tmp_path / "project")
    assert left == {"runs": NOT_OPENED}


def test_nuggets_without_answers_are_called_what_they_are(tmp_path: Path) -> None:
    nuggets = [{"qid": "1_1", "query": "q", "nuggets": [{"text": "a fact", "importance": "vital"}]}]
    fill(tmp_path, {"raw.trec": ranked(RAW), "n.jsonl": json.dumps(nuggets[0]) + "\n"})
    assert aside(tmp_path) == {
        "n.jsonl": "these are nuggets; use them with robustcs answers --nuggets"
    }
