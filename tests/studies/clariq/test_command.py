"""``robustcs clariq`` from the command line: published figures, the demo, multi-turn files, errors."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Command

DEMO = (
    "clariq --topics clariq/topics.tsv --questions clariq/question_bank.tsv --run stem=clariq/questions_stem.trec"
    " --run overlap=clariq/questions_overlap.trec --performance clariq/documents.trec --qrels clariq/qrels.txt"
    " --need stem=clariq/need_careful.txt --need overlap=clariq/need_hasty.txt --preferences clariq/preferences.tsv"
)


def tables(command: Command, line: str) -> tuple[dict[str, list[dict]], dict]:
    result = json.loads(command(f"{line} --format json").out)
    return result["tables"], result


def asked_in(
    folder: Path,
) -> tuple[dict[str, tuple[float, str]], dict[str, str], set[tuple[str, str]]]:
    """Topic → (score, question) of bm25's best question; facet → topic; and the (topic, question) of the data."""
    tops: dict[str, tuple[float, str]] = {}
    for line in (folder / "dev_bm25").read_text().splitlines():
        topic, _, question, _, score, _ = line.split()
        tops[topic] = max(tops.get(topic, (0.0, "")), (float(score), question))
    rows = [
        line.split("\t")
        for line in gzip.decompress((folder / "dev.tsv.gz").read_bytes()).decode().splitlines()[1:]
    ]
    return tops, {row[4]: row[0] for row in rows}, {(row[0], row[6]) for row in rows}


def test_published_figures(in_demo: Command, shared_data: Path) -> None:
    folder = shared_data / "clariq"
    evaluations = " ".join(
        f"--evaluations {name}={folder / file}.eval"
        for name, file in {
            "bm25": "dev_bm25",
            "no": "dev_no_q",
            "worst": "dev_worst_q",
            "best": "dev_best_q",
        }.items()
    )
    found, result = tables(
        in_demo,
        f"clariq --topics {folder / 'dev.tsv.gz'} --run bm25={folder / 'dev_bm25'} {evaluations}",
    )
    assert {row["k"]: round(row["recall"], 6) for row in found["question_relevance"]} == {
        5: 0.324557, 10: 0.563804, 20: 0.667500, 30: 0.691282,
    }  # fmt: skip
    published = json.loads((folder / "dev_bm25_question_relevance.eval").read_text())
    assert len(found["topics"]) == 200
    for row in found["topics"]:
        assert row["recall"] == pytest.approx(
            published[f"Recall{row['k']}"][row["topic"]], abs=1e-12
        )
    means = {
        (row["system"], row["metric"]): round(row["value"], 4)
        for row in found["document_relevance"]
    }
    expected = {
        "best": (0.2578, 0.2470, 0.3688, 0.4541), "bm25": (0.1608, 0.1530, 0.2313, 0.3096),
        "no": (0.1450, 0.1475, 0.2062, 0.3000), "worst": (0.0252, 0.0314, 0.0125, 0.0841),
    }  # fmt: skip
    for run, values in expected.items():
        # .20625 rounds either way
        assert tuple(
            means[run, metric] for metric in ("NDCG3", "NDCG5", "P1", "MRR100")
        ) == pytest.approx(values, abs=1e-4)
    assert {row["units"] for row in found["document_relevance"]} == {160}
    worst = {
        (row["unit"], row["metric"]): row["value"]
        for row in found["facets"]
        if row["system"] == "worst"
    }
    tops, topic_of, relevant = asked_in(folder)
    odd = [row for row in found["facets"] if row["system"] == "bm25"
           and (topic_of[row["unit"]], tops[topic_of[row["unit"]]][1]) not in relevant]  # fmt: skip
    assert len(odd) == 28 * 11 and all(
        row["value"] == worst[row["unit"], row["metric"]] for row in odd
    )
    assert (
        result["policy"]["line"]
        == "50 topics · missing topics score 0 (0) · ties by id descending · scores as float32"
    )
    assert [entry["rows"] for entry in result["inputs"]] == [2313, 1508, 160, 160, 160, 160]


def test_the_lookup_gives_the_published_evaluation(
    in_demo: Command, shared_data: Path, tmp_path: Path
) -> None:
    """A lookup rebuilt from the evaluations: what bm25 asked has bm25's value, all else is between worst and best."""
    folder = shared_data / "clariq"
    tops, topic_of, relevant = asked_in(folder)
    parts = {
        name: json.loads((folder / f"dev_{name}.eval").read_text())
        for name in ("bm25", "no_q", "worst_q")
    }
    lookup: dict = {}
    for metric, facets in parts["bm25"].items():
        for facet, value in facets.items():
            fixed = {"MIN": "worst_q", "Q00001": "no_q"}
            entry = {
                question: {"with_answer": parts[name][metric][facet]}
                for question, name in fixed.items()
            }
            question = tops[topic_of[facet]][1]
            if (topic_of[facet], question) in relevant:
                entry[question] = {"no_answer": 0, "with_answer": value}
            lookup.setdefault(metric, {})[facet] = entry
    path = tmp_path / "lookup.json"
    path.write_text(json.dumps(lookup))
    runs = " ".join(
        f"--run {name}={folder / name}" for name in ("dev_bm25", "dev_no_q", "dev_worst_q")
    )
    found, _ = tables(
        in_demo, f"clariq --topics {folder / 'dev.tsv.gz'} {runs} --performance {path}"
    )
    values = {(row["system"], row["unit"], row["metric"]): row["value"] for row in found["facets"]}
    for name, part in parts.items():
        for metric, facets in part.items():
            for facet, value in facets.items():
                assert values[f"dev_{name}", facet, metric] == pytest.approx(value, abs=1e-11)


def test_the_demo(in_demo: Command) -> None:
    found, result = tables(in_demo, DEMO)
    assert all(found.values())
    assert {row["system"] for row in found["document_relevance"]} == {
        "worst",
        "no",
        "best",
        "stem",
        "overlap",
    }
    by_unit = {
        (row["system"], row["unit"]): row["value"]
        for row in found["facets"]
        if row["metric"] == "NDCG3"
    }
    for (run, unit), value in by_unit.items():
        if run in ("stem", "overlap") and value:
            assert by_unit["worst", unit] <= value <= by_unit["best", unit]
    assert by_unit["stem", "F0001"] == 0  # topic 101 has no output
    assert {
        "overlap: 2 topics with a tie for the first question; the higher id is asked",
        "stem (1 topic: 101), overlap (2 topics: 101, 105): no question for some topics",
        "overlap has no prediction for 1 topic: 106",
    } <= set(result["notes"])
    assert {row["criterion"] for row in found["preference"]} == {"humanness", "clarification"}
    assert result["policy"]["line"].endswith("relevant ≥ 2 (binary measures)")
    assert json.loads(in_demo(f"{DEMO} --format json").out) == result


def test_the_demo_on_a_terminal_of_80_columns(in_demo: Command) -> None:
    out = in_demo(DEMO).out
    assert max(map(len, out.splitlines())) <= 80
    for caption in (
        "How many of the topic's questions are retrieved?", "Do the documents improve after the question?",
        "Do the runs differ in document relevance?", "Is the need to ask predicted correctly?",
        "Which system do assessors prefer?",
    ):  # fmt: skip
        assert caption in out
    assert "stem − No question" in out and "stem − overlap" in out


def test_one_table(in_demo: Command) -> None:
    out = in_demo(f"{DEMO} --table document_relevance").out
    assert "NDCG5" in out and "NDCG20" not in out and "Recall" not in out
    assert "NDCG20" in in_demo(f"{DEMO} --table document_relevance --format csv").out


@pytest.mark.long
def test_rebuilding_the_demo_gives_the_same_bytes(demo: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(demo / "clariq" / "build.py"), str(tmp_path)], check=True)
    built = sorted(path.name for path in tmp_path.iterdir())
    assert built == ["documents.trec", "qrels.txt", "questions_overlap.trec", "questions_stem.trec"]
    assert all(
        (tmp_path / name).read_bytes() == (demo / "clariq" / name).read_bytes() for name in built
    )


def test_init_takes_none_of_the_files_for_those_of_rankings(
    in_copy: Command, tmp_path: Path
) -> None:
    (tmp_path / "demo" / "robustcs.toml").unlink()
    in_copy("init")
    written = tomllib.loads((tmp_path / "demo" / "robustcs.toml").read_text("utf-8"))
    assert written["clariq"]["topics"] == "clariq/topics.tsv"
    assert "clariq/" not in json.dumps(
        {key: value for key, value in written.items() if key != "clariq"}
    )


def test_the_project_file_names_the_same_files(in_demo: Command) -> None:
    given = json.loads(in_demo(
        "clariq --topics clariq/topics.tsv --questions clariq/question_bank.tsv --run stem=clariq/questions_stem.trec"
        " --run overlap=clariq/questions_overlap.trec --performance clariq/documents.trec --qrels clariq/qrels.txt"
        " --need stem=clariq/need_careful.txt --need overlap=clariq/need_hasty.txt --preferences clariq/preferences.tsv"
        " --format json"
    ).out)  # fmt: skip
    bare = json.loads(in_demo("clariq --format json").out)
    assert bare == given and all(
        bare["tables"][name] for name in ("question_relevance", "document_relevance", "preference")
    )


def test_evaluations_from_rankings_of_facets(in_demo: Command, demo: Path, tmp_path: Path) -> None:
    """The documents of one question per facet, as a run of facets, give what the rule gives."""
    lines = [
        line
        for line in (demo / "clariq" / "documents.trec").read_text().splitlines()
        if "_Q00001 " in line
    ]
    (tmp_path / "no").write_text("".join(line.replace("_Q00001", "") + "\n" for line in lines))
    line = "clariq --topics clariq/topics.tsv --qrels clariq/qrels.txt"
    given, _ = tables(in_demo, f"{line} --evaluations no={tmp_path / 'no'}")
    ruled, _ = tables(in_demo, f"{line} --performance clariq/documents.trec")
    own = [row for row in ruled["facets"] if row["system"] == "no"]
    assert given["facets"] == own


def test_multi_turn(in_demo: Command, tmp_path: Path) -> None:
    (tmp_path / "bank.tsv").write_text(
        "question_id\tquestion\nQ00001\t\nQ1\twhich one\nQ2\twhat colour\n"
    )
    (tmp_path / "run").write_text(
        '968 0 "which one" 0 5 x\n969 0 "" 0 5 x\n9765 0 "Something new?" 0 4 x\n9765 0 "which one" 1 3 x\n'
    )
    entry = {"Q00001": {"with_answer": 0.4}, "Q1": {"with_answer": 0.8}, "Q2": {"with_answer": 0.2}}
    (tmp_path / "eval.json").write_text(
        json.dumps({"MRR100": dict.fromkeys(("968", "969", "9765", "9766"), entry)})
    )
    turn = {"question": "q", "answer": "a"}
    records = {
        str(i): {
            "topic_id": 8,
            "facet_id": "F0968",
            "context_id": int(unit),
            "conversation_context": [turn] * (i // 2),
        }
        for i, unit in enumerate(("968", "969", "9765", "9766"))
    }
    (tmp_path / "conversations.json").write_text(json.dumps(records))
    line = (f"clariq --questions {tmp_path}/bank.tsv --run bm25={tmp_path}/run --performance {tmp_path}/eval.json"
            f" --conversations {tmp_path}/conversations.json")  # fmt: skip
    found, result = tables(in_demo, line)
    own = {
        row["unit"]: (row["value"], row["outcome"])
        for row in found["facets"]
        if row["system"] == "bm25"
    }
    assert own == {
        "968": (0.8, "asked"), "969": (0.4, "asked"), "9765": (0.2, "no candidate"), "9766": (0.0, "no output"),
    }  # fmt: skip
    assert "bm25: 1 row with a question that is not in the question bank" in result["notes"]
    assert result["policy"]["turns"] == 1


REFUSED = (
    "{run}: this is a multi-turn run: its ids are contexts of conversations, even if they look like topics; add the values of"
    " its contexts with --performance FILE; a single-turn run has question ids, not texts\n"
)


@pytest.mark.parametrize(
    "performance", ["", " --performance clariq/documents.trec --qrels clariq/qrels.txt"]
)
def test_contexts_are_not_topics_though_both_are_numbers(
    in_demo: Command, tmp_path: Path, performance: str
) -> None:
    run = tmp_path / "multi"
    run.write_text('101 0 "Are you looking for a specific web site?" 1 9 x\n102 0 "" 1 8 x\n')
    line = f"clariq --topics clariq/topics.tsv --questions clariq/question_bank.tsv --run a={run}{performance}"
    assert in_demo(line, code=3).err == REFUSED.format(run=run)


def test_a_multi_turn_run_has_its_own_values(in_demo: Command, tmp_path: Path) -> None:
    """Contexts whose numbers are those of topics, beside topics: documents by context, no recall of the topics' questions."""
    (tmp_path / "texts").write_text(
        '101 0 "Are you looking for a specific web site?" 1 9 x\n102 0 "" 1 8 x\n'
    )
    (tmp_path / "ids").write_text("101 0 Q00002 1 9 x\n103 0 Q00001 1 8 x\n")
    entry = {"Q00001": 0.4, "Q00002": 0.8, "MIN": 0.1, "MAX": 1}
    (tmp_path / "eval.json").write_text(json.dumps({"NDCG3": dict.fromkeys(("101", "102"), entry)}))
    records = {
        str(place): {
            "topic_id": 104,
            "facet_id": "F0007",
            "context_id": place,
            "conversation_context": [{}],
        }
        for place in (101, 102, 7)
    }
    (tmp_path / "conversations.json").write_text(json.dumps(records))
    (tmp_path / "bank.tsv").write_text(
        "question_id\tquestion\nQ00001\t\nQ00002\tAre you looking for a specific web site?\n"
    )
    files = f"--topics clariq/topics.tsv --questions {tmp_path}/bank.tsv --performance {tmp_path}/eval.json"
    found, _ = tables(
        in_demo,
        f"clariq {files} --conversations {tmp_path}/conversations.json --run a={tmp_path}/texts",
    )
    assert not found["question_relevance"]
    own = {
        row["unit"]: (row["value"], row["topic"]) for row in found["facets"] if row["system"] == "a"
    }
    assert own == {"101": (0.8, "104"), "102": (0.4, "104")}
    # ids that are all contexts, and not all topics, are contexts too
    (tmp_path / "few").write_text("101 0 Q00002 1 9 x\n7 0 Q00001 1 8 x\n")
    found, _ = tables(
        in_demo,
        f"clariq {files} --conversations {tmp_path}/conversations.json --run a={tmp_path}/few",
    )
    assert not found["question_relevance"]
    assert {row["unit"]: row["value"] for row in found["facets"] if row["system"] == "a"} == {
        "101": 0.8,
        "102": 0,
    }
    # a run of topics is not evaluated on contexts of the same numbers
    err = in_demo(f"clariq {files} --run a={tmp_path}/ids", code=3).err
    assert err == (
        f"{tmp_path}/ids: a answers topics, but no value is for a facet of these topics; use the values of the single-turn"
        " task for a single-turn run\n"
    )


def test_preferences_alone(in_demo: Command) -> None:
    out = in_demo("clariq --preferences clariq/preferences.tsv").out
    assert out.endswith("human preferences · ties count for neither side\n")
    assert in_demo("clariq --preferences clariq/preferences.tsv --format csv").out.startswith(
        "criterion,first,second,wins"
    )


def test_topics_alone_give_the_statistics_of_the_data(in_demo: Command, shared_data: Path) -> None:
    """Table 3 of the paper, from the file that it is about."""
    found, result = tables(in_demo, f"clariq --topics {shared_data / 'clariq' / 'dev.tsv.gz'}")
    counts = {row["what"]: (row["number"], round(row["terms"], 2)) for row in found["statistics"]}
    assert counts == {
        "topics": (50, 6.46),
        "facets": (163, 9.05),
        "questions": (637, 9.74),
        "answers": (2161, 8.14),
    }
    assert result["policy"]["line"] == "nothing is scored"
    out = in_demo("clariq --questions clariq/question_bank.tsv").out
    assert (
        out.startswith("How many topics, facets, questions and answers are there?")
        and "bank" in out
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "--qrels clariq/qrels.txt",
            "no files of clarifying questions are given; add --topics for statistics of the data, and --run",
        ),
        ("--run a=clariq/questions_stem.trec", "--run needs topics; add --topics FILE"),
        ("--need clariq/need_hasty.txt", "--need needs topics; add --topics FILE"),
        (
            "--topics x --run best=y",
            "'best' is the name of a baseline; choose another name for the system",
        ),
        (
            "--need a=x --need a=y",
            "two files of --need have the same name; give each --need a different NAME",
        ),
        (
            "--performance clariq/documents.trec",
            "no qrels of facets are given; add --qrels FILE, or qrels in [clariq]",
        ),
    ],
)
def test_messages(in_demo: Command, line: str, message: str) -> None:
    assert in_demo(f"clariq {line}", code=2).err.startswith(f"robustcs: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--topics clariq/topics.tsv --run a=runs/stem_qr.trec",
         "answers none of the 6 topics; check the ids: the topics have '101', the run '1_1'"),
        ("--evaluations a=runs/stem_qr.trec --qrels clariq/qrels.txt",
         "contains none of the 12 facets in the qrels; check the ids: the qrels have 'F0001', the run '1_1'"),
    ],
)  # fmt: skip
def test_runs_of_something_else(in_demo: Command, line: str, message: str) -> None:
    assert in_demo(f"clariq {line}", code=3).err == f"runs/stem_qr.trec: {message}\n"


def test_a_run_needs_the_questions_of_the_topics(in_copy: Command, tmp_path: Path) -> None:
    topics = tmp_path / "demo" / "clariq" / "topics.tsv"
    topics.write_text(topics.read_text().replace("\tquestion_id\t", "\tqid\t", 1))
    err = in_copy(
        "clariq --topics clariq/topics.tsv --run bm25=clariq/questions_stem.trec", code=3
    ).err
    assert err.startswith("clariq/topics.tsv:1: no topic has questions,")


def test_an_option_that_says_nothing_here_is_refused(in_demo: Command) -> None:
    assert "No such option '--human'" in in_demo("clariq --preferences x --human y", code=2).err


def test_the_help_says_that_pickles_are_not_loaded(in_demo: Command) -> None:
    out = " ".join(in_demo("clariq --help").out.split())
    assert "robustcs never loads pickles" in out
    assert "json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'))" in out


def test_json_is_no_run_of_questions(in_demo: Command) -> None:
    answer = in_demo("clariq --topics clariq/topics.tsv --run a=crowd/bank.json", code=3)
    assert answer.err == (
        "crowd/bank.json:1: this is JSON, not a run of questions; write lines of topic_id 0 question_id rank score tag\n"
    )


def test_check_reads_runs_of_texts_with_the_bank(in_copy: Command, tmp_path: Path) -> None:
    (tmp_path / "demo" / "texts.run").write_text('101 0 "do you want to bake" 1 9 x\n')
    (tmp_path / "demo" / "robustcs.toml").write_text(
        '[clariq]\ntopics = "clariq/topics.tsv"\nquestions = "clariq/question_bank.tsv"\nruns = { a = "texts.run" }\n'
    )
    out = " ".join(in_copy("check").out.split())
    assert (
        "clariq run a" in out
        and "[clariq]: texts.run: this is a multi-turn run: its ids are contexts of conversations"
        in out
    )
