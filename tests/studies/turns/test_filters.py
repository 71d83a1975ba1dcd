"""The same filters give the same turns in the command, in Python, in the page, and by a count of records by brute force."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import robustcs
from robustcs.inputs.turns import turn_sort_key
from robustcs.records.filter import quoted
from tests.browsing import Watched, page_of_turns
from tests.conftest import Command, _runner

Record = dict[str, Any]
#: A term of a filter, and whether it holds for a record.
Asked = tuple[str, Callable[[Record], bool]]

#: Systems and turns with characters that mean something in filters.
RUN = "acme:chat <small>@v2, b=1"
TURNS = ["1_1", "1_2", "a:b", "c<d", "e@f", "7", "g>h", 'i"j', "-k", "l=m"]
TURNS_IN_ORDER = sorted(TURNS, key=turn_sort_key)
WORDS = ["shark", "Great White", "teeth", "sing_a_song", "Don't", "a:b"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten turns, Original, QR, Human and another run, with texts, passages, reviews and slices."""
    folder = tmp_path_factory.mktemp("filters")
    draw = random.Random(3)
    texts = {
        name: {turn: " ".join(draw.sample(WORDS, 3)) for turn in TURNS}
        for name in ("original", "qr", "human")
    }
    passages = [f"p{number}" for number in range(12)]
    qrels = {
        turn: {passage: draw.choice([0, 0, 1, 2, 3]) for passage in draw.sample(passages, 8)}
        for turn in TURNS[:8]
    }

    def run() -> str:
        lines = []
        for turn in TURNS:
            for rank, passage in enumerate(draw.sample(passages, 6), 1):
                lines.append(f"{turn} Q0 {passage} {rank} {1 - rank / 10} t")
        return "\n".join(lines) + "\n"

    judged = [
        f"{turn} 0 {passage} {grade}"
        for turn, own in qrels.items()
        for passage, grade in own.items()
    ]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n", "utf-8")
    for name in ("original", "qr", "human", "other"):
        (folder / f"{name}.trec").write_text(run(), "utf-8")
    for name, content in texts.items():
        rows = [json.dumps({"id": turn, "text": text}) for turn, text in content.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    collection = [
        json.dumps({"id": passage, "contents": f"about {draw.choice(WORDS)} {passage}"})
        for passage in passages
    ]
    (folder / "collection.jsonl").write_text("\n".join(collection) + "\n", "utf-8")
    reviews = [
        {"turn": turn, "categories": draw.sample(["name lost", "Topic_Shift"], 1), "coder": coder,
         "note": draw.choice(["a riddle", "nothing"])}
        for turn in TURNS[:6] for coder in ("ann", "ben")
    ]  # fmt: skip
    rows = [json.dumps(review) for review in reviews]
    (folder / "review.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    (folder / "robustcs.toml").write_text(
        f"""
qrels = "qrels.txt"
collection = "collection.jsonl"
metrics = ["P_1", "ndcg_cut_3"]
[policy]
relevance_level = 2
[formulations.original]
run = "original.trec"
rewrites = "original.jsonl"
[formulations.qr]
run = "qr.trec"
rewrites = "qr.jsonl"
[formulations.human]
run = "human.trec"
rewrites = "human.jsonl"
[runs]
{json.dumps(RUN)} = "other.trec"
[review]
files = ["review.jsonl"]
""",
        "utf-8",
    )
    return folder


@pytest.fixture(scope="module")
def records(project: Path) -> list[Record]:
    result = robustcs.turns(project / "robustcs.toml")
    return [dict(result.record(turn)) for turn in result.ids]


def plain(text: str) -> str:
    """A text as filters compare it."""
    return " ".join(text.replace("_", " ").lower().split())


def systems_of(record: Record, system: str) -> list[Record]:
    """The part of a record of one system, or of each."""
    found = [own for name, own in record["systems"].items() if plain(system) in ("", plain(name))]
    assert found
    return found


def has(values: list[Any], wanted: str) -> bool:
    return any(plain(str(value)) == plain(wanted) for value in values if value is not None)


def drawn(draw: random.Random, passages: dict[str, str]) -> Asked:
    """A random term, with its meaning on records."""
    system = draw.choice(["", "", "qr", "QR", "human", "original", RUN])
    at = f"@{quoted(system)}" if system else ""
    kind = draw.choice(
        ["cause", "score", "first", "place", "correct", "type", "dropped", "turn", "depth",
         "conversation", "judged", "unjudged", "loss", "tag", "coder", "word", "slice", "any"]
    )  # fmt: skip
    limit, operator = draw.choice([0, 0.2, 0.5, 1, 2, 4]), draw.choice(["<", "<=", ">", ">=", "="])
    compare: dict[str, Callable[[float], bool]] = {
        "<": lambda value: value < limit,
        "<=": lambda value: value <= limit,
        ">": lambda value: value > limit,
        ">=": lambda value: value >= limit,
        "=": lambda value: value == limit,
    }
    holds = compare[operator]
    cut = "ndcg_cut_3>=0.5"
    if kind == "cause":
        value = draw.choice(["ranker", "Rewriter", "correct", "reader"])
        return f"cause:{value}", lambda record: has(
            [own.get("cause", {}).get(cut) for own in systems_of(record, "")], value
        )
    if kind == "score":
        measure = draw.choice(["ndcg_cut_3", "P_1"])
        name = draw.choice([measure, {"ndcg_cut_3": '"NDCG@3"', "P_1": '"p@1"'}[measure]])
        return f"{name}{at}{operator}{limit}", lambda record: any(
            holds(own["scores"][measure])
            for own in systems_of(record, system)
            if measure in own["scores"]
        )
    if kind == "first":
        return f"first{at}{operator}{limit}", lambda record: any(
            holds(own["first_relevant"])
            for own in systems_of(record, system)
            if own.get("first_relevant") is not None
        )
    if kind == "place":
        value = draw.choice(["top", "10", "absent", "none"])
        return f"place{at}:{value}", lambda record: has(
            [own.get("place", {}).get(cut) for own in systems_of(record, system)], value
        )
    if kind == "correct":
        return f"correct{at}:yes", lambda record: any(
            own["scores"].get("ndcg_cut_3", 0) >= 0.5 for own in systems_of(record, system)
        )
    if kind == "type":
        value = draw.choice(["words dropped", "name_lost", "words_added", "word order"])
        return f"type:{quoted(value)}", lambda record: has(
            [one for own in systems_of(record, "") for one in own.get("type", [])], value
        )
    if kind == "dropped":
        value = draw.choice(["shark", "teeth", "WHITE"])
        return f"dropped:{value}", lambda record: has(
            [one for own in systems_of(record, "") for one in own.get("dropped", [])], value
        )
    if kind == "turn":
        value = draw.choice(TURNS)
        return f"turn:{quoted(value)}", lambda record: record["turn"] == value
    if kind == "conversation":
        value = draw.choice(TURNS)
        return f"conversation:{quoted(value)}", lambda record: record["conversation"] == value
    if kind == "depth":
        return (
            f"depth{operator}{limit}",
            lambda record: record["depth"] is not None and holds(record["depth"]),
        )
    if kind == "judged":
        return f"judged{operator}8", lambda record: bool(record["judged"]) and {
            "<": False, ">": False}.get(operator, True)  # fmt: skip
    if kind == "unjudged":
        return (
            f"unjudged{at}{operator}{limit}",
            lambda record: (
                bool(record["judged"])
                and any(
                    holds(sum(grade is None for _, grade in own["ranking"][:10]))
                    for own in systems_of(record, system)
                )
            ),
        )
    if kind == "loss":
        return f"loss{operator}{limit}", lambda record: any(
            holds(record["systems"]["human"]["scores"]["ndcg_cut_3"] - own["scores"]["ndcg_cut_3"])
            for name, own in record["systems"].items()
            if name != "human" and "ndcg_cut_3" in own["scores"]
        )
    labels = lambda record: record["labels"]  # noqa: E731
    if kind == "tag":
        value = draw.choice(["name_lost", "topic shift"])
        return f"tag:{quoted(value)}", lambda record: has(
            [tag for one in labels(record).values() for tag in one["tags"]], value
        )
    if kind == "coder":
        return "coder:ANN,ben", lambda record: bool(labels(record))
    if kind == "slice":
        return "pronoun:no", lambda record: has([record["slices"].get("pronoun")], "no")
    if kind == "any":
        return f"first{at}:*", lambda record: any(
            own.get("first_relevant") is not None for own in systems_of(record, system)
        )
    word = draw.choice(["shark", "great white", "SING A SONG", "riddle", "p7", "don't", "nowhere"])

    def found(record: Record) -> bool:
        parts = [*record["texts"].values()]
        for own in record["systems"].values():
            parts += [passages[passage] for passage, _ in own["ranking"][:10]]
        for one in labels(record).values():
            parts += [*one["tags"], one["note"]]
        return any(plain(word) in plain(part) for part in parts)

    return f'"{word}"', found


#: A filter, and the turns that it selects.
Selected = tuple[str, list[str]]


@pytest.fixture(scope="module")
def selections(project: Path, records: list[Record]) -> list[Selected]:
    """Two hundred random filters, with the turns that a count of records by brute force gives."""
    lines = (project / "collection.jsonl").read_text("utf-8").splitlines()
    passages = {one["id"]: one["contents"] for one in map(json.loads, lines)}
    draw = random.Random(56)
    found = []
    for _ in range(200):
        terms = [drawn(draw, passages) for _ in range(draw.choice([1, 1, 2, 3]))]
        excluded = [draw.random() < 0.3 for _ in terms]
        where = " ".join(f"{'-' * no}{text}" for no, (text, _) in zip(excluded, terms, strict=True))
        wanted = [
            record["turn"]
            for record in records
            if all(meaning(record) != no for no, (_, meaning) in zip(excluded, terms, strict=True))
        ]
        found.append((where, wanted))
    assert sum(bool(wanted) for _, wanted in found) > 100
    return found


def test_two_hundred_filters(
    project: Path,
    selections: list[Selected],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    command: Command = _runner(project, monkeypatch, capfd)
    monkeypatch.chdir(project)
    opened = robustcs.turns("robustcs.toml")
    for where, wanted in selections:
        assert list(opened.turns_where(where)) == wanted, where
        given = command(f"turns --where={_shell(where)} --format json --table records")
        told = json.loads(given.out)["tables"]["records"]
        assert [row["turn"] for row in told] == wanted, where


#: Types filters into the search box, and returns the listed turns and the message of each.
_TYPE = """filters => {
  const box = document.getElementById("where");
  return filters.map((filter) => {
    box.value = filter;
    box.dispatchEvent(new Event("input"));
    const turns = [...document.querySelectorAll(".rows li")].map((row) => row.dataset.turn);
    return [turns, document.querySelector(".wrong").textContent];
  });
}"""


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return page_of_turns(project / "robustcs.toml", project)


def test_the_same_two_hundred_filters_in_the_page(
    page: str, selections: list[Selected], watched: Watched
) -> None:
    shown = watched.open(page).evaluate(_TYPE, [where for where, _ in selections])
    for (where, wanted), (turns, message) in zip(selections, shown, strict=True):
        assert (turns, message) == (wanted, ""), where


def test_thresholds_and_orders_in_the_page(project: Path, page: str, watched: Watched) -> None:
    """Filters with every threshold of the page, each in every order, as robustcs turns gives them."""
    config = project / "robustcs.toml"
    orders = ["", "loss", "first", "disagreement", "ndcg_cut_3", '"P@1"@human', "depth", "loss@qr"]
    orders += [f"first@{name}" for name in ("qr", "human", quoted(RUN))]
    filters = [
        "at:ndcg_cut_3>0 cause:rewriter",
        'at:"nDCG@3"=1 correct:no',
        "at:P_1=1 place:*",
        "loss>0",
        "at:P_1=1 loss>0",
        # thresholds that the project does not have
        "at:ndcg_cut_3>=0.2 cause:rewriter",
        "at:ndcg_cut_3>=0.7 cause:ranker",
        "at:ndcg_cut_3>=0.37 bin:001,011",
        "at:P_1>=0.3 -bin:111",
        "at:ndcg_cut_3>0.3 place@qr:*",
        "at:ndcg_cut_3>=.4 correct@qr:no -cause:correct",
        "at:P_1>=0.3 cause:correct",
        "at:P_1>=0.3 loss<0",
        f"unjudged@{quoted(RUN)}>=0",
        'turn:1_1,1_2,"a:b"',
    ]
    opened = watched.open(page)
    for order in orders:
        wanted = [
            list(robustcs.turns(config, where=where, sort=order or "id").ids) for where in filters
        ]
        opened.evaluate("hash => { location.hash = hash }", f"#turns?{urlencode({'sort': order})}")
        opened.wait_for_function(
            "order => document.getElementById('order').value === order", arg=order
        )
        shown = opened.evaluate(_TYPE, filters)
        assert [turns for turns, _ in shown] == wanted, order


def test_wrong_filters_have_the_same_words_in_the_page(
    project: Path, page: str, watched: Watched
) -> None:
    wrong = [
        "cuase:ranker", "cause@nobody:ranker", "cause<3", "depth:shallow", "depth<", '"great', ":x", "-",
        "cause@acme:chat:small", "user@example.org", "depth<1,2", "at:ndcg_cut_3", "at:map>=0.5", "blame:ranker",
        "at:ndcg_cut_3>=many", "zzz:1", "ndcg_cut3<0.2", "turn@qr:1_1", "sharkk:3", "a\tb<c",
    ]  # fmt: skip
    shown = watched.open(page).evaluate(_TYPE, wrong)
    opened = robustcs.turns(project / "robustcs.toml")
    for where, (turns, message) in zip(wrong, shown, strict=True):
        with pytest.raises(robustcs.errors.UsageError) as error:
            opened.turns_where(where)
        assert message == str(error.value), where
        assert turns == TURNS_IN_ORDER, "the list stays as it was"


def test_turns_and_systems_with_special_characters_in_the_page(page: str, watched: Watched) -> None:
    opened = watched.open(page)
    for turn in TURNS:
        where = f"turn:{quoted(turn)} unjudged@{quoted(RUN)}:*"
        wanted = [turn] if turn in TURNS[:8] else []
        assert opened.evaluate(_TYPE, [where])[0] == [wanted, ""]
        if wanted:
            opened.locator(".rows a").click()
            reader = opened.locator("#reader")
            assert reader.locator("h2").inner_text() == f"Turn {turn}"
            assert reader.get_by_label("Ranking on the left").locator("option").all_inner_texts() == [
                "Original", "QR", "Human", RUN
            ]  # fmt: skip
            address = opened.url
            opened = watched.open(address)
            assert opened.locator("#reader h2").inner_text() == f"Turn {turn}"
            opened.keyboard.press("Escape")


def _shell(text: str) -> str:
    """A text as a shell reads it whole."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("cuase:ranker", "did you mean cause?"),
        ("cause@nobody:ranker", "field cause has no system 'nobody'; its systems are qr"),
        ("at:map>=0.5", "turns have no scores in 'map'; choose from ndcg_cut_3, P_1"),
        ("at:ndcg_cut_3>=many", "cannot read threshold '>=many'"),
        ("blame:ranker", "no turn has a field 'blame'"),
        ("ndcg_cut_3<", "a value is missing"),
    ],
)
def test_a_filter_that_cannot_be_used(project: Path, where: str, found: str) -> None:
    with pytest.raises(robustcs.errors.UsageError) as error:
        robustcs.turns(project / "robustcs.toml", where=where)
    assert found in str(error.value)


def test_thresholds_of_filters(project: Path, records: list[Record]) -> None:
    path = project / "robustcs.toml"
    for threshold, passes in (
        (">0", lambda score: score > 0),
        (">=0.2", lambda score: score >= 0.2),
        ("=1", lambda score: score == 1),
    ):
        wanted = [
            record["turn"]
            for record in records
            if "ndcg_cut_3" in record["systems"]["human"]["scores"]
            and passes(record["systems"]["human"]["scores"]["ndcg_cut_3"])
            and not passes(record["systems"]["qr"]["scores"]["ndcg_cut_3"])
        ]
        result = robustcs.turns(path, where=f'at:"nDCG@3"{threshold} cause:rewriter')
        assert list(result.ids) == wanted
        for turn in result.ids:
            assert (
                result.record(turn)["systems"]["qr"]["cause"][f"ndcg_cut_3{threshold}"]
                == "rewriter"
            )


def test_a_column_with_the_name_of_a_field_is_refused(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("turn\tCause\n1_1\tx\n", "utf-8")
    with pytest.raises(robustcs.errors.UsageError, match="two fields named 'cause'"):
        robustcs.turns(project / "robustcs.toml", slices=str(path))
    path.write_text("turn\tquestion type\n1_1\tHow To\na:b\tother\n", "utf-8")
    result = robustcs.turns(
        project / "robustcs.toml", slices=str(path), where='"question type":how_to,other'
    )
    assert result.ids == ("1_1", "a:b")
    assert result.record("1_1")["slices"]["question type"] == "How To"
