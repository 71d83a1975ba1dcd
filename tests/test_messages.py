"""Messages that name options: each interface words them, and no error in Python names an option of the command line."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import robustcs
from robustcs.errors import RobustcsError, UsageError, input_error
from robustcs.messages import AnyOf, CommandLine, Either, Message, OptionName, Python, worded
from tests.conftest import ROOT

PACKAGE = ROOT / "robustcs"
PYTHON = Python({"qrels": "gold-passages"}, {"run": "runs", "with": "with_", "metric": "metrics"})
_OPTION = re.compile(r"(?<![\w-])--[a-z]")


@pytest.mark.parametrize(
    ("part", "command_line", "python"),
    [
        (OptionName("run"), "--run", "runs"),
        (OptionName("run", "NAME=FILE"), "--run NAME=FILE", "runs={NAME: FILE}"),
        (OptionName("rewrites", "qr=FILE"), "--rewrites qr=FILE", "rewrites={'qr': FILE}"),
        (OptionName("relevance-level", "N"), "--relevance-level N", "relevance_level=N"),
        (OptionName("missing", "own"), "--missing own", "missing='own'"),
        (OptionName("top", "5"), "--top 5", "top=5"),
        (OptionName("qrels", "FILE"), "--gold-passages FILE", "gold_passages=FILE"),
        (AnyOf(("run", "original", "human")), "--run, --original or --human", "runs, original or human"),
        (AnyOf(("qrels", "gold-passages")), "--gold-passages", "gold_passages"),
        (Either("--with 'cat'", "'cat'"), "--with 'cat'", "'cat'"),
    ],
)  # fmt: skip
def test_an_option_in_both_interfaces(
    part: OptionName | AnyOf | Either, command_line: str, python: str
) -> None:
    message = Message("use ", part, ".")
    assert worded(message, CommandLine({"qrels": "gold-passages"})) == f"use {command_line}."
    assert worded(message, PYTHON) == f"use {python}."


def test_a_message_is_the_text_of_the_command_line_and_stays_in_parts() -> None:
    inner = Message("add ", OptionName("run", "NAME=FILE"))
    message = Message(inner, "; or not")
    assert message == "add --run NAME=FILE; or not"
    assert message.parts == ("add ", OptionName("run", "NAME=FILE"), "; or not")
    # words of a user are text, whatever they look like
    assert worded(Message(OptionName("with"), " x --run A=B"), PYTHON) == "with_ x --run A=B"
    assert worded("--run A=B", PYTHON) == "--run A=B"


def test_errors_are_worded_also_after_they_came_from_another_process() -> None:
    advice = Message("add ", OptionName("run", "NAME=FILE"))
    errors: list[RobustcsError] = [
        UsageError("no-runs", "no runs", advice),
        input_error("a.txt", 3, "no runs", advice, "no-runs"),
    ]
    for error in errors:
        received = pickle.loads(pickle.dumps(error))
        assert str(received).endswith("no runs; add --run NAME=FILE")
        received.word(PYTHON)
        assert str(received).endswith("no runs; add runs={NAME: FILE}")
        assert received.args == (str(received),) or received.args[1:] == (str(received),)


def write(path: str, text: str) -> str:
    Path(path).write_text(text)
    return path


RUN = "1_1 Q0 a 1 2.0 x\n1_1 Q0 b 2 1.0 x\n"
QRELS = "1_1 0 a 1\n1_1 0 b 0\n"
TEXTS = "1_1\twhat is it\n"


def run() -> str:
    return write("run.trec", RUN)


def qrels() -> str:
    return write("qrels.txt", QRELS)


def texts() -> str:
    return write("texts.tsv", TEXTS)


#: Wrong calls in Python and a part of their message.
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no formulation": (lambda: robustcs.breakdown(), "scores={'qr': FILE}"),
    "no answers": (lambda: robustcs.breakdown(metrics="f1"), "answers={'qr': FILE}"),
    "no runs": (lambda: robustcs.evaluate(), "runs={NAME: FILE}"),
    "no qrels": (lambda: robustcs.evaluate(runs={"a": run()}), "add qrels=FILE"),
    "no texts": (lambda: robustcs.correlate(), "rewrites={'qr': FILE}"),
    "no model": (
        lambda: robustcs.correlate(similarities="use", rewrites={"qr": texts(), "human": texts()}),
        "use=MODEL",
    ),
    "no samples": (lambda: robustcs.samples(), "qr={NAME: [FILE, FILE]}"),
    "no grid": (lambda: robustcs.components(), "components={WORDING/RANKER: FILE}"),
    "no new judgments": (
        lambda: robustcs.augment(runs={"a": run()}, qrels=qrels()),
        "new_judgments=FILE, what_if=N or leave_one_out",
    ),
    "within without judges": (
        lambda: robustcs.augment(runs={"a": run()}, qrels=qrels(), within=0.1),
        "within requires judges; add judges={NAME: FILE}",
    ),
    "no judges": (lambda: robustcs.audit(qrels=qrels()), "judges={NAME: FILE}"),
    "no groups": (
        lambda: robustcs.robustness(qrels=qrels(), runs={"a": run()}),
        "groups={NAME: (BASELINE, [SET, SET])}",
    ),
    "no experiment": (lambda: robustcs.robustness(sets=2), "sets requires the whole experiment"),
    "no compared texts": (lambda: robustcs.diversity(), "sources=FILE[:FIELD]"),
    "one side": (lambda: robustcs.diversity(sources="f.txt"), "targets is missing"),
    "no turns": (lambda: robustcs.paraphrase(), "rewrites={'original': FILE, 'human': FILE}"),
    "no paraphrases": (lambda: robustcs.testsets(), "paraphrases=FILE"),
    "no clarifying questions": (lambda: robustcs.clariq(), "topics"),
    "no grades": (lambda: robustcs.crowd(), "runs={NAME: FILE}"),
    "no responses": (lambda: robustcs.answers(), "responses={NAME: FILE}"),
    "an idle condition": (
        lambda: robustcs.compare(".", ".", allow_missing=3),
        "allow_missing needs a condition; add fail_if=CONDITION or no_worse_than=D",
    ),
    "a bad condition": (lambda: robustcs.compare(".", ".", fail_if="x"), "fail_if 'x' cannot be read"),
    "a bad margin": (lambda: robustcs.compare(".", ".", no_worse_than=3), "no_worse_than 3 is not"),
    "no qrels of a run": (lambda: robustcs.compare(run(), run()), "add qrels=FILE"),
    "one collection": (
        lambda: robustcs.evaluate(runs={"a": run()}, qrels=qrels(), by="collection"),
        "by='collection' needs qrels",
    ),
    "no such slices": (
        lambda: robustcs.evaluate(runs={"a": run()}, qrels=qrels(), slices="colour"),
        "slices colour: neither",
    ),
    "few conversations": (
        lambda: robustcs.evaluate(runs={"a": run()}, qrels=qrels(), find_slices=True),
        "find_slices",
    ),
    "too deep": (
        lambda: robustcs.unjudged(runs={"a": run()}, qrels=qrels(), depth=2, top=3),
        "use at most top=2",
    ),
    "a run as qrels": (lambda: robustcs.evaluate(runs={"a": run()}, qrels=run()), "with runs, original"),
    "qrels as a run": (lambda: robustcs.evaluate(runs={"a": qrels()}, qrels=qrels()), "with qrels"),
    "nuggets as a run": (
        lambda: robustcs.evaluate(
            qrels=qrels(), runs={"a": write("n.jsonl", '{"qid": "1", "nuggets": [{"text": "a", "importance": "vital"}]}\n')}
        ),
        "robustcs.answers(nuggets=FILE)",
    ),
    "a run as gold passages": (
        lambda: robustcs.answers(responses={"a": write("r.json", '{"1_1": "x"}')}, gold_passages=run()),
        "with runs",
    ),
    "documents": (
        lambda: robustcs.evaluate(
            runs={"a": write("d.trec", "1_1 Q0 MARCO_D1-1 1 2.0 x\n")}, qrels=write("d.txt", "1_1 0 MARCO_D1 1\n")
        ),
        "use documents (documents = true in [policy])",
    ),
    "an untrusted project": (
        lambda: robustcs.open_project(write("robustcs.toml", 'qrels = "https://example.org/q.txt"\n')),
        "use open_project(FILE, trust=True)",
    ),
    "an untrusted project of a report": (
        lambda: robustcs.report(write("robustcs.toml", 'qrels = "https://example.org/q.txt"\n')),
        "use open_project(FILE, trust=True)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_no_error_in_python_names_an_option(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, part = WRONG[name]
    with pytest.raises(RobustcsError) as caught:
        call()
    assert part in str(caught.value)
    assert not _OPTION.search(str(caught.value))
    assert str(caught.value) in map(str, caught.value.args)


# ---------------------------------------------------------------- the source

#: Calls that make errors, and names of their parts.
_MAKERS = {
    "UsageError",
    "NotInstalledError",
    "InterruptedWorkError",
    "input_error",
    "Problem",
    "needs",
    "add",
    "skip",
}
_NAMES = {"found", "advice", "why", "told", "what", "have", "option"}
#: Files, or functions of them, that only a command runs.
ONLY_COMMANDS = (
    "cli/",
    "studies/judge/",
    "studies/retrieve/study.py",
    "studies/retrieve/steps.py",
    "studies/agreement/show.py",
)
FUNCTIONS = {"_run", "accept_marks", "group_of"}


def spelled(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of each text of an error that spells an option; not the words of :class:`Either`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS:
            continue
        of_error = (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in _MAKERS
        ) or (
            isinstance(node, ast.Assign)
            and any(getattr(target, "id", "") in _NAMES for target in node.targets)
        )
        if of_error:
            yield from texts_of(node)
        yield from spelled(node)


def texts_of(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Either":
        return
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _OPTION.search(node.value)
    ):
        yield node.lineno, node.value
    for child in ast.iter_child_nodes(node):
        yield from texts_of(child)


def test_no_error_spells_an_option() -> None:
    found = [
        f"{name}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith(ONLY_COMMANDS)
        for line, text in sorted(set(spelled(ast.parse(path.read_text("utf-8")))))
    ]
    assert not found, "\n".join(found)
