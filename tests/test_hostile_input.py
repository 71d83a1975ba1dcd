"""What no careful user writes and every long-lived program meets: one line of message and the documented exit code.

Every case is a real command; each ended in a traceback, killed the process or took all memory before.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from robustcs.cli.main import run

QRELS = "1_1 0 d1 2\n1_1 0 d2 0\n1_2 0 d1 0\n1_2 0 d3 1\n"
RUN = "1_1 Q0 d1 1 9.5 t\n1_1 Q0 d2 2 8.5 t\n1_1 Q0 d9 3 8.2 t\n1_2 Q0 d3 1 7.5 t\n"
TEXTS = "id\tquery\n1_1\tWhat is a throat?\n1_2\tAnd its cancer?\n"
LONG = "9" * 5000
DEEP = "[" * 100_000 + "]" * 100_000
NESTED = "nested too deeply"
TOO_DEEP = f":1: invalid TOML ({NESTED}, more than 20 levels); check this line"
DIGITS = "a number with thousands of digits"
HALF = "half a character (a lone surrogate); save the file as UTF-8"
SYSTEMS = "--qrels qrels.txt --run a=run.trec --run b=short.trec"
FORMULATIONS = "--qrels qrels.txt --original run.trec --qr run.trec --human run.trec"
RUN_X = "breakdown --qrels qrels.txt --original x --qr run.trec --human run.trec"
CORRELATE = "correlate --qrels qrels.txt --qr run.trec --human run.trec --rewrites human=texts.tsv --rewrites qr=x"
ANSWERS = "breakdown --metric f1 --answers original=right.json --answers qr=right.json --answers human=right.json --gold x"
CLARIQ = "clariq --topics topics.tsv --run a=questions.trec"
CROWD_RUN = "crowd judged.json --bank bank.json --run a=x"
JUDGE = f"judge {SYSTEMS} --judgments given.txt"

FILES = {
    "qrels.txt": QRELS, "run.trec": RUN, "short.trec": "1_1 Q0 d1 1 9.5 t\n1_2 Q0 d3 1 7.5 t\n", "texts.tsv": TEXTS,
    "right.json": '{"1_1": "a", "1_2": "b"}', "questions.trec": "1 0 Q1 1 2.0 t\n", "bank.json": '{"Q1": "what"}',
    "topics.tsv": "topic_id\tinitial_request\tclarification_need\tfacet_id\tfacet_desc\tquestion_id\tquestion\n"
    "1\ta\t2\tF0001\tx\tQ1\twhat\n",
    "bank.tsv": "question_id\tquestion\nQ00001\t\nQ1\twhat\n",
    "judged.json": '{"1_1": {"Questions": [{"Question ID": "Q1", "Relevance": 1}]}}',
}  # fmt: skip

Call = Callable[[str], tuple[int, str]]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Call:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")

    def called(command: str) -> tuple[int, str]:
        code = int(run(shlex.split(command)))
        out, err = capfd.readouterr()
        assert "Traceback" not in err and "ignored" not in err
        assert not code or not out
        return code, err.rstrip("\n")

    return called


# ---------------------------------------------------------------- damaged archives


@pytest.mark.parametrize(
    ("compress", "kept"),
    [
        pytest.param(
            compress,
            kept,
            id=f"{name}-{kept}",
            marks=[pytest.mark.long] * (name != "gz" or kept != 0.5),
        )
        for name, compress in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress))
        for kept in (20, 0.5)
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        f"{CLARIQ} --performance x", f"{CLARIQ} --evaluations a=x", f"{CLARIQ} --conversations x", f"{CLARIQ} --questions x",
        f"{CLARIQ} --need x", "clariq --preferences x", "clariq --topics topics.tsv --run a=x", CORRELATE, ANSWERS, CROWD_RUN,
        "crowd x", "agreement x", "testsets --paraphrases x", RUN_X,
        f"breakdown {FORMULATIONS} --qrels x", "check --config x",
    ],
)  # fmt: skip
def test_half_an_archive(
    call: Call, command: str, kept: float, compress: Callable[[bytes], bytes]
) -> None:
    packed = compress(
        json.dumps({"NDCG3": {f"F{i:04}": {"Q1": i / 3} for i in range(3000)}}).encode()
    )
    Path("x").write_bytes(packed[: int(kept if kept > 1 else kept * len(packed))])
    code, message = call(command)
    assert code == 3
    assert message.startswith("x: the compressed data are damaged (") and message.endswith(
        "; copy the file again"
    )


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize(("value", "found"), [(DEEP, NESTED), (LONG, DIGITS)], ids=["deep", "long"])
@pytest.mark.parametrize(
    ("command", "text"),
    [
        (CORRELATE, '{"1_1": %s}'), (ANSWERS, '{"1_1": %s}'), (CROWD_RUN, '{"turns": %s}'), ("crowd x", '{"1_1": %s}'),
        ("crowd judged.json --bank x --run a=run.trec", '{"Q1": %s}'), (f"{CLARIQ} --performance x", '{"NDCG3": {"F1": %s}}'),
        (f"{CLARIQ} --evaluations a=x", '{"NDCG3": {"F1": %s}}'), (f"{CLARIQ} --conversations x", '{"a": %s}'),
    ],
)  # fmt: skip
def test_json_without_end(call: Call, command: str, text: str, value: str, found: str) -> None:
    Path("x").write_text(text % value)
    assert call(command) == (3, f"x: not JSON ({found}); check the file")


@pytest.mark.parametrize(("value", "found"), [(DEEP, NESTED), (LONG, DIGITS)], ids=["deep", "long"])
@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("agreement x", '{"item": "a", "worker": "w", "grade": 1}'), (CORRELATE, '{"id": "1_1", "text": "a"}'),
        ("crowd x", '{"turn": "1_1", "item": "a", "worker": "w", "grade": 1}'), (ANSWERS, '{"id": "1_1", "answer": "a"}'),
        ("clariq --preferences x", '{"criterion": "c", "first": "a", "second": "b", "winner": "b"}'),
    ],
)  # fmt: skip
def test_lines_of_json_without_end(
    call: Call, command: str, first: str, value: str, found: str
) -> None:
    Path("x").write_text(f'{first}\n{{"id": {value}}}\n')
    code, message = call(command)
    assert (code, message.splitlines()[-1]) == (
        3,
        f"x:2: not JSON ({found}); write one JSON object per line",
    )


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            CROWD_RUN,
            '{"turns": [{"turn_id": "\\ud800", "questions": [{"question": "Q1", "score": 1}]}]}',
        ),
        ("crowd x", '{"\\ud800": {"Questions": [{"Question ID": "Q1", "a": 1}]}}'),
        (
            "crowd x",
            '{"turn": "1_1", "item": "\\ud800", "worker": "w", "criterion": "c", "grade": 1}\n',
        ),
        ("crowd judged.json --bank x --run a=run.trec", '{"\\ud800": "a"}'),
        (f"{CLARIQ} --performance x", '{"NDCG3": {"\\ud800": {"Q1": 1}}}'),
        (f"{CLARIQ} --evaluations a=x", '{"NDCG3": {"\\ud800": 1}}'),
        (
            "clariq --preferences x",
            '{"criterion": "c", "first": "\\ud800", "second": "b", "winner": "b"}\n',
        ),
        (
            "agreement x",
            '{"turn": "1_1", "passage": "p", "worker": "\\ud800", "text": "abc", "snippets": [[0, 1]]}\n',
        ),
        ("agreement x", '{"item": "a", "worker": "w", "grade": 1, "criterion": "\\ud800"}\n'),
    ],
)
def test_half_a_character_in_an_id(call: Call, command: str, text: str) -> None:
    Path("x").write_text(text)
    assert call(command) == (3, f"x:1: {HALF}")


@pytest.mark.parametrize(
    "text",
    ['{"\\ud800": "a"}', '{"id": "\\ud800", "text": "a", "answer": "b"}\n{"id": 1, "text": "a"}\n'],
)
@pytest.mark.parametrize("command", [CORRELATE, ANSWERS])
def test_half_a_character_in_a_turn_id(call: Call, command: str, text: str) -> None:
    Path("x").write_text(text)
    code, message = call(command)
    assert code == 3
    assert "turn id '\\ud800' is not a text; add a turn id such as 31_4 to every entry" in message


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("performance", '{"NDCG3": {"F0001": {}}}', "x: NDCG3 of F0001 has no questions; complete it or delete it"),
        ("performance", '{"NDCG3": {"F0001": {"Q1": 1%s}}}' % ("0" * 400),
         f"x: NDCG3 of F0001, Q1: 1{'0' * 59} is not a value; write a number, or {{\"with_answer\": number}}"),
        ("evaluations a", '{"NDCG3": {"F0001": 1%s}}' % ("0" * 400), f"x: NDCG3 of F0001 is 1{'0' * 400}; write a number"),
    ],
)  # fmt: skip
def test_values_of_facets(call: Call, option: str, text: str, message: str) -> None:
    Path("x").write_text(text)
    name, _, system = option.partition(" ")
    assert call(f"{CLARIQ} --{name} {f'{system}=' * bool(system)}x") == (3, message)


def test_grades_and_scores_that_no_array_holds(call: Call) -> None:
    Path("x").write_text(
        '{"1_1": {"Questions": [{"Question ID": "Q1", "Relevance": 1%s}]}}' % ("0" * 400)
    )
    code, message = call("crowd x")
    assert code == 3 and message.startswith("x: turn 1_1, Q1: Relevance is 10000")
    Path("x").write_text(
        '{"turns": [{"turn_id": "1_1", "questions": [{"question": "Q1", "score": 1%s}]}]}'
        % ("0" * 400)
    )
    assert call(CROWD_RUN) == (3, "x: turn 1_1: a question without text or score; add both")
    Path("x").write_text(f"1_1 0 d1 {LONG}\n")
    code, message = call(f"breakdown {FORMULATIONS} --qrels x")
    assert code == 3 and message.startswith("x:1: grade '9999") and len(message) < 1200
    Path("x").write_text('1 0 "what" 99999999999999999999 2.0 t\n')
    code, message = call("clariq --topics topics.tsv --questions bank.tsv --order rank --run a=x")
    assert code == 3 and message.startswith("x:1: not a line of a run of texts")


# ---------------------------------------------------------------- ids, questions and cells


def test_turn_ids_of_thousands_of_digits(call: Call) -> None:
    for name in ("qrels.txt", "run.trec", "texts.tsv"):
        text = Path(name).read_text().replace("1_1", f"{LONG}_1").replace("1_2", f"1_{LONG}")
        Path(name).write_text(text)
    Path("x").write_text(Path("texts.tsv").read_text().replace("throat", "neck"))
    assert call(f"unjudged {SYSTEMS.replace('short', 'run')}")[0] == 0
    assert call(CORRELATE)[0] == 0


def test_two_rewriters_whose_runs_differ_in_depth(call: Call) -> None:
    Path("x").write_text(TEXTS.replace("throat", "neck"))
    command = CORRELATE.replace("--qr run.trec", "--qr a=short.trec --qr b=run.trec")
    command = command.replace("qr=x", "qr:a=x --rewrites qr:b=x")
    code, _ = call(f"{command} --output out.json")
    assert code == 0
    result = json.loads(Path("out.json").read_text())
    assert "the shortest run ends at rank 1: overlap covers the top 1" in result["notes"]
    found = {(row["rewriter"], row["y"]) for row in result["tables"]["correlations"]}
    assert {y for _, y in found} == {"overlap_1", "ndcg_cut_3>=0.5"}
    assert len(found) == 4


def test_a_question_as_long_as_a_book_is_named(call: Call) -> None:
    Path("x").write_text(f"id\tquery\n1_1\t{'word ' * 200_001}\n1_2\tb\n")
    advice = "the limit is 1,000,000; check that this is the right column"
    code, message = call(CORRELATE)
    assert (code, message.splitlines()[-1]) == (
        3,
        f"x:2: turn 1_1: the text has 1,000,005 characters; {advice}",
    )


def test_a_judging_sheet_with_a_long_passage(call: Call) -> None:
    Path("x").write_text(f"turn,document,passage,grade\n1_1,d9,{'x' * 200_000},1\n")
    assert call(f"{JUDGE} --import x") == (
        0,
        "added 1 grade to given.txt; 0 rows have no grade\n1 of 1 passages are judged",
    )
    for grade in (LONG, "0" * 5000):
        Path("x").write_text(f"turn,document,grade\n1_1,d9,{grade}\n")
        code, message = call(f"{JUDGE} --import x")
        assert code == 3 and message.startswith("x:2: grade '")


def test_zeros_without_end(call: Call) -> None:
    Path("x").write_bytes(gzip.compress(bytes(100 << 20)))
    end = "; check that this is the right file"
    assert call(CORRELATE) == (3, f"x: too large: it unpacks to more than 200 times its size{end}")
    assert call(RUN_X) == (3, f"x:1: this line is longer than 1 MiB{end}")


# ---------------------------------------------------------------- robustcs.toml and options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"seed = {LONG}", f":1: invalid TOML ({DIGITS}); check this line"),
        (
            f"seed = 0x{'f' * 6000}",
            ":1: seed is a number of more than 64 bits; write a smaller number",
        ),
        (
            "[policy]\ndepth = 9223372036854775808",
            ":2: depth is a number of more than 64 bits; write a smaller number",
        ),
        (f"metrics = {DEEP}", TOO_DEEP),
        (f"metrics = {'[' * 300}{']' * 300}", TOO_DEEP),
        (f"runs.{'.'.join('a' * 5000)} = 1", TOO_DEEP),
        (
            'name = "x"\nqrels = "a\\u0000b"',
            ":2: qrels contains a NUL character; remove it",
        ),
        ('[crowd.runs]\na = "a\\u0000b"', ":2: a contains a NUL character; remove it"),
        ('[runs]\n"a\\u0000b" = "run.trec"', ":2: a\\x00b contains a NUL character; remove it"),
    ],
    ids=range(9),
)
def test_project_files(call: Call, text: str, message: str) -> None:
    Path("robustcs.toml").write_text(text + "\n")
    assert call("check") == (3, f"robustcs.toml{message}")


@pytest.mark.parametrize(
    ("level", "in_file"), [(2**31 - 1, False), (3_000_000_000, True), (2**63 - 1, True)]
)
@pytest.mark.parametrize("measure", ["Rprec", "infAP", "P_1"])
def test_a_level_that_no_grade_reaches(call: Call, measure: str, level: int, in_file: bool) -> None:
    Path("robustcs.toml").write_text(f"[policy]\nrelevance_level = {level}\n" if in_file else "")
    option = "" if in_file else f"--relevance-level {level}"
    code, _ = call(f"unjudged {SYSTEMS} --metric {measure} {option} -o out.json")
    assert code == 0
    scores = [row["score"] for row in json.loads(Path("out.json").read_text())["tables"]["bounds"]]
    assert scores == [0, 0]


@pytest.mark.parametrize(
    "measure",
    ["infAP", "Rprec", "set_P", "iprec_at_recall_0.00", "ndcg_rel", "utility", "G", "binG"],
)
def test_measures_without_bounds_alone(call: Call, measure: str) -> None:
    code, _ = call(f"unjudged {SYSTEMS} --metric {measure} --top 1 -o out.json")
    assert code == 0
    tables = json.loads(Path("out.json").read_text())["tables"]
    assert [(row["system"], row["low"]) for row in tables["bounds"]] == [("a", None), ("b", None)]
    assert tables["pairs"] == []


@pytest.mark.long
def test_a_report_of_measures_without_bounds(call: Call) -> None:
    Path("deep.trec").write_text(
        "".join(f"1_{turn} Q0 d{i} {i} {100 - i} t\n" for turn in (1, 2) for i in range(60))
    )
    code, _ = call(
        "report --qrels qrels.txt --original run.trec --qr deep.trec --human run.trec --metric infAP -o out"
    )
    assert code == 0
    assert "infAP" in Path("out/report.html").read_text(encoding="utf-8")


def test_names_that_a_terminal_gave_in_another_encoding(call: Call) -> None:
    odd = "caf\udce9"  # how Python has a byte that is not UTF-8
    Path(f"{odd}.tsv").write_text(TEXTS)
    assert call(f"diversity --source {odd}.tsv --target texts.tsv -o out.json")[0] == 0
    assert json.loads(Path("out.json").read_text())["tables"]["bleu"][0]["source"] == "caf?.tsv"
    for command in ("unjudged --run", "correlate --qr"):
        message = f"robustcs: the name {odd!r} is not UTF-8; write it in UTF-8"
        assert call(f"{command} {odd}=run.trec {FORMULATIONS}") == (2, message)
