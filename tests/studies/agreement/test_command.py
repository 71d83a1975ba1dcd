"""``robustcs agreement``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

SNIPPETS = "agreement annotations/workers.jsonl --reference annotations/experts.jsonl"
RATINGS = "agreement annotations/ratings.csv"


def test_snippets_of_the_demo(in_demo: Command) -> None:
    out = in_demo(SNIPPETS).out
    assert max(map(len, out.splitlines())) <= 80
    for question in ("How much do the selections of the annotators overlap?", "How close are the annotators to the references?",
                     "Whose annotations should be checked?", "On which texts do annotators agree least?"):  # fmt: skip
        assert question in out
    assert "Majority: characters that at least 2 of 3 annotators selected." in " ".join(out.split())
    assert "Of the text: share of its characters. 95% CI: cluster-robust t over texts" in " ".join(
        out.split()
    )
    assert out.endswith("4 turns · nothing is scored\n")


def test_the_project_file_names_the_same_files(in_demo: Command) -> None:
    bare = in_demo("agreement --format json")
    assert bare.out == in_demo(f"{SNIPPETS} --format json").out
    assert bare.err == "[agreement] also has ratings; to compare them, name their files\n"
    assert in_demo("agreement --table jaccard").out == in_demo(f"{SNIPPETS} --table jaccard").out


def test_json_and_the_majority_rule(in_demo: Command) -> None:
    found = json.loads(in_demo(f"{SNIPPETS} --majority 3 --format json").out)
    assert list(found["tables"]) == [
        "jaccard", "reference", "chance", "statistics", "work", "confidence", "workers", "annotations", "texts",
    ]  # fmt: skip
    assert [row["k"] for row in found["tables"]["jaccard"]] == [3, 2]
    assert [row["aggregate"] for row in found["tables"]["reference"]] == [
        "mean",
        "majority",
        "similarity",
    ]
    assert (
        found["tables"]["reference"][1]["rule"]
        == "characters that at least 3 of 3 annotators selected"
    )
    assert [(entry["role"], entry["rows"]) for entry in found["inputs"]] == [
        ("annotations", 18),
        ("reference", 12),
    ]
    flagged = [
        row
        for row in found["tables"]["annotations"]
        if row["long"] or row["outside"] or row["empty"]
    ]
    # of three annotators, "two others" are all others
    assert [(row["passage"], row["worker"]) for row in flagged if row["outside"]] == [
        ("sourdough_06", "ada"), ("sourdough_06", "ben"), ("sourdough_06", "cem"), ("tides_15", "cem"),
    ]  # fmt: skip
    assert [row["passage"] for row in flagged if row["long"]] == ["sourdough_03"]
    assert [row["worker"] for row in flagged if row["empty"]] == ["ada", "ben"]


def test_the_page_has_every_text_with_its_layers(in_copy: Command, tmp_path: Path) -> None:
    answer = in_copy(f"{SNIPPETS} --html page.html")
    assert (answer.out, answer.err) == ("", "wrote page.html\n")
    page = (tmp_path / "demo" / "page.html").read_text()
    assert page.count('<p class="layered"') == 6 and "reference 2: expert_2" in page
    in_copy(f"{RATINGS} --html ratings.html --output ratings.svg --output ratings.csv")
    assert "fluency" in (tmp_path / "demo" / "ratings.svg").read_text()
    assert (
        (tmp_path / "demo" / "ratings.csv")
        .read_text()
        .startswith("criterion,items,raters,value,ci_low,ci_high,")
    )


def test_ratings_of_the_demo(in_demo: Command) -> None:
    out = in_demo(RATINGS).out
    assert max(map(len, out.splitlines())) <= 80
    found = json.loads(in_demo(f"{RATINGS} --format json").out)["tables"]
    kappa = [(row["criterion"], row["items"], row["raters"]) for row in found["kappa"]]
    assert kappa == [("meaning", 12, 5), ("fluency", 12, 5)]


def test_ratings_without_turns_count_items(in_demo: Command, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "item,worker,criterion,rating\n"
        + "".join(f"{item},w{place},fluency,{place}\n" for item in "abc" for place in (1, 2))
    )
    assert in_demo(f"agreement {path}").out.endswith("\n3 items · nothing is scored\n")
    assert in_demo(RATINGS).out.endswith(" turns · nothing is scored\n")


def test_groups_and_the_filter_of_the_project_file(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    groups = 'groups = { low = ["1", "2"], high = ["3", "4", "5"] }'
    config.write_text(
        config.read_text().replace("[agreement]\n", f"[agreement]\nmin_agreement = 0.5\n{groups}\n")
    )
    found = json.loads(in_copy(f"{RATINGS} --format json").out)["tables"]
    assert {row["group"] for row in found["grouped"]} == {"low", "high", "no majority"}
    assert all(row["kept"] < row["items"] for row in found["kappa"])


def test_released_annotations(in_demo: Command, shared_data: Path) -> None:
    folder = shared_data / "snippets"
    files = " ".join(str(folder / f"topic_{topic}-paragraph-master.csv.gz") for topic in (1, 2))
    experts = " ".join(
        f"--reference {folder}/topic_{topic}-paragraph-expert.csv.gz" for topic in (1, 2)
    )
    found = json.loads(in_demo(f"agreement {files} {experts} --format json").out)
    assert [round(row["value"], 4) for row in found["tables"]["jaccard"]] == [
        0.1795,
        0.3465,
        0.5322,
        0.7317,
    ]
    assert found["policy"]["turns"] == 22
    assert any("worker ids look shared: worker_477 (60 texts)" in note for note in found["notes"])
    sentences = folder / "topic_1-sentence-master.csv.gz"
    err = in_demo(f"agreement {files} {sentences}", code=2).err
    assert (
        f"sentences ({sentences}) are different tasks and cannot be pooled; analyze the files of each task separately"
        in err
    )
    assert in_demo(f"agreement {sentences}").out.startswith(
        "How much do the selections of the annotators overlap?"
    )


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (f"{RATINGS} --reference annotations/experts.jsonl", 2,
         "robustcs: --reference needs snippets, but these files contain ratings; remove --reference"),
        ("agreement annotations/gone.csv", 3, "annotations/gone.csv: no such file; check the path"),
        ("agreement topics.json", 3, "topics.json:"),
        ("agreement paraphrases.csv", 3, "paraphrases.csv:1: not a file of snippet annotations; write the CSV of MTurk or"),
    ],
)  # fmt: skip
def test_wrong_use(in_demo: Command, command: str, code: int, message: str) -> None:
    assert in_demo(command, code).err.startswith(message)


@pytest.mark.parametrize("command", [f"{SNIPPETS} --majority 4", f"{RATINGS} --majority 6"])
def test_a_majority_that_nothing_can_reach(in_demo: Command, command: str) -> None:
    assert " is impossible: no item has more than " in in_demo(command, code=2).err


def test_the_unit_and_the_order_of_files(in_copy: Command, tmp_path: Path) -> None:
    found = json.loads(in_copy(f"{SNIPPETS} --format json").out)
    assert (found["policy"]["unit"], found["policy"]["units"]) == ("text", 6)
    lines = (
        (tmp_path / "demo" / "annotations" / "workers.jsonl").read_text().splitlines(keepends=True)
    )
    for name, part in (("one", lines[:7]), ("two", lines[7:])):
        (tmp_path / "demo" / f"{name}.jsonl").write_text("".join(part))
    more = "--reference annotations/experts.jsonl --format json"
    one = json.loads(in_copy(f"agreement one.jsonl two.jsonl {more}").out)
    other = json.loads(in_copy(f"agreement two.jsonl one.jsonl {more}").out)
    assert one["tables"] == other["tables"] == found["tables"]
    assert (
        json.loads(in_copy(f"{SNIPPETS} --unit turn --format json").out)["policy"]["unit"] == "text"
    )
    assert "Invalid value for '--unit'" in in_copy(f"{SNIPPETS} --unit word", code=2).err


def test_the_sentence_task_and_the_choice_of_sentences(in_copy: Command, tmp_path: Path) -> None:
    experts = "--reference annotations/experts.jsonl"
    found = json.loads(
        in_copy(f"agreement annotations/sentences.jsonl {experts} --format json").out
    )["tables"]
    assert [row["texts"] for row in found["reference"]] == [8, 8, 8]
    out = in_copy(
        f"agreement annotations/selected.jsonl {experts} --html page.html --format table"
    ).out
    assert (
        "Sentences selected by at least k annotators" in out
        and max(map(len, out.splitlines())) <= 80
    )
    # what the experts chose stands over the sentences of the workers
    assert "reference 2: expert_2" in (tmp_path / "demo" / "page.html").read_text()
    err = in_copy("agreement annotations/selected.jsonl annotations/sentences.jsonl", code=2).err
    files = "choices of sentences (annotations/selected.jsonl) and sentences (annotations/sentences.jsonl)"
    assert f"{files} are different tasks" in err


def test_the_same_annotation_in_two_files(in_copy: Command, tmp_path: Path) -> None:
    ratings = tmp_path / "demo" / "annotations" / "ratings.csv"
    lines = ratings.read_text().splitlines()
    once = json.loads(in_copy(f"{RATINGS} --format json").out)
    (tmp_path / "demo" / "again.csv").write_text("\n".join(lines[:4]) + "\n")
    twice = json.loads(in_copy(f"{RATINGS} again.csv --format json").out)
    assert twice["tables"] == once["tables"]
    assert twice["notes"] == ["3 repeated ratings counted once", *once["notes"]]
    other = lines[1].rpartition(",")[0]
    (tmp_path / "demo" / "again.csv").write_text(f"{lines[0]}\n{other},77\n")
    answer = in_copy(f"{RATINGS} again.csv", 3)
    assert (
        answer.err.startswith("again.csv:2: ")
        and "gives '77' here but" in answer.err
        and "in an earlier file" in answer.err
    )
    doubled = in_copy(
        "agreement annotations/workers.jsonl annotations/workers.jsonl --table jaccard"
    ).out
    assert "Note: workers.jsonl, workers.jsonl: worker ids look shared: ada" in doubled
