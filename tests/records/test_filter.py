"""The filter language, against hand-written terms and a brute-force count."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.errors import UsageError
from robustcs.records.filter import (
    Filter,
    Search,
    Term,
    cut_term,
    field_name,
    normalised,
    parse_field,
    parse_filter,
    quoted,
    term,
)
from robustcs.records.table import Contribution, FieldColumns, TurnField, TurnTable, Values


def table_of(ids: list[str], columns: dict[TurnField, Values], texts: list[str]) -> TurnTable:
    """A table of hand-written columns."""
    contributed = [Contribution(one, lambda own=own: own) for one, own in columns.items()]  # type: ignore[misc]
    return TurnTable(ids, FieldColumns(contributed), lambda: texts, headline="ndcg_cut_3")


TABLE = table_of(
    ["1_1", "1_2", "2_1", "2:2"],
    {
        TurnField("cause", "words", "why the turn is wrong", per_system=True): {
            "qr": [("ranker",), ("rewriter",), ("correct",), ()],
            "acme:chat:small": [("ranker",), ("ranker",), ("Reader",), ("correct",)],
        },
        TurnField("type", "words", "kinds of difference", per_system=True): {
            "qr": [("name lost", "word added"), (), ("name_lost",), ()]
        },
        TurnField("ndcg_cut_3", "number", "NDCG@3", per_system=True, aliases=("NDCG@3",)): {
            "qr": np.array([0.0, 0.1 + 0.1, 1.0, np.nan]),
            "human": np.array([0.5, 0.5, 0.1, np.nan]),
        },
        TurnField("first", "number", "rank", per_system=True): {
            "qr": np.array([np.nan, 4, 1, np.nan]),
            "human": np.array([2.0, 3, 10, np.nan]),
        },
        TurnField("depth", "number", "place"): {"": np.array([1.0, 2, 1, 2])},
        TurnField("turn", "words", "id"): {"": [("1_1",), ("1_2",), ("2_1",), ("2:2",)]},
    },
    ["What about great white Sharks?", "its teeth", "Tell me more", "great  white"],
)


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("", ["1_1", "1_2", "2_1", "2:2"]),
        ("cause:ranker", ["1_1", "1_2"]),
        ("cause@qr:ranker", ["1_1"]),
        ("cause@qr:ranker,rewriter", ["1_1", "1_2"]),
        ('cause@"acme:chat:small":reader', ["2_1"]),
        ("-cause:ranker", ["2_1", "2:2"]),
        ("cause@QR:*", ["1_1", "1_2", "2_1"]),
        ("-cause@qr:*", ["2:2"]),
        ('type:"name lost"', ["1_1", "2_1"]),
        ("type:name_lost", ["1_1", "2_1"]),
        ("type:name", []),
        ("ndcg_cut_3@qr<0.2", ["1_1"]),
        ("ndcg_cut_3@qr<=0.2", ["1_1", "1_2"]),
        ("ndcg_cut_3<0.2", ["1_1", "2_1"]),
        ("ndcg_cut_3=0.5", ["1_1", "1_2"]),
        ("-ndcg_cut_3>=0", ["2:2"]),
        ("depth:1,3", ["1_1", "2_1"]),
        ("DEPTH>1", ["1_2", "2:2"]),
        ('"great white"', ["1_1", "2:2"]),
        ("great -shark", ["2:2"]),
        ('turn:"2:2"', ["2:2"]),
        ("cause:ranker depth:2", ["1_2"]),
        ('"nDCG@3"@qr<0.2', ["1_1"]),
    ],
)
def test_turns_of_a_filter(text: str, turns: list[str]) -> None:
    assert TABLE.where(text) == turns


def test_the_threshold_is_no_term() -> None:
    assert parse_filter("at:ndcg_cut_3>=0.2 shark") == Filter(
        (Search("shark"),), ("ndcg_cut_3", ">=0.2")
    )
    assert parse_filter('at:"NDCG@3">=1').cut == ("NDCG@3", ">=1")
    assert parse_filter("at:f1=1").cut == ("f1", "=1")
    assert parse_filter("at:P_1>0").cut == ("P_1", ">0")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cuase:ranker", "no turn has a field 'cuase'; did you mean cause?"),
        ("cause@q:ranker", "field cause has no system 'q'; its systems are qr, acme:chat:small"),
        ("cause<3", "field cause of the filter is not a number"),
        ("depth:shallow", "'shallow' is none"),
        ("depth<", "a value is missing, at character 7"),
        ('"great', "the quotation mark has no end, at character 1"),
        ("cause@acme:chat:small", "':' is not expected in a value, at character 16"),
        ("user@example.org", "nothing is asked of the system after @"),
        ("depth<1,2", "more than one number"),
        ("at:ndcg_cut_3", "no measure and threshold after at:"),
        ("at:ndcg_cut_3<0.2", "no measure and threshold after at:"),
        ("at:ndcg_cut_3>=0.2", "these turns have no threshold of correct answers"),
        ("-at:ndcg_cut_3>=0.2", "leave out its -"),
        ("at:ndcg_cut_3>=0.2 at:P_1=1", "at: twice"),
        ("-", "a term is empty"),
        ('shark ""', "a term is empty, at character 9"),
        (":x", "':' is not expected here"),
    ],
)
def test_what_cannot_be_read(text: str, found: str) -> None:
    with pytest.raises(UsageError) as error:
        TABLE.where(text)
    assert found in str(error.value)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('say "6"', '"say \\"6\\""'), ("a\\b c", '"a\\\\b c"'), ('"', '"\\""'),
        ("plain\\", "plain\\"), ("-x", '"-x"'), ("", '""'),
    ],
)  # fmt: skip
def test_quotation_marks(text: str, written: str) -> None:
    assert quoted(text) == written
    assert parse_filter(f"tag:{written}") == Filter((Term("tag", ":", (text,)),))


@given(st.text(min_size=1).filter(lambda text: text.strip()))
def test_any_name_can_be_written(text: str) -> None:
    assert parse_filter(quoted(text)) == Filter((Search(text),))
    term = Term(text, ":", (text, "x"), text, excludes=True)
    if normalised(text) != "at":
        written = f"-{quoted(text)}@{quoted(text)}:{quoted(text)},x"
        assert parse_filter(written) == Filter((term,))


@given(
    *(st.text(min_size=1).filter(lambda text: text.strip()) for _ in range(3)),
    st.text(min_size=1).filter(lambda text: text.strip() and text != "*"),
)
def test_any_term_can_be_written(field: str, system: str, other: str, value: str) -> None:
    if normalised(field) == "at":
        return
    written = " ".join(
        [term(field, value, other, system=system), term(field), cut_term(other, ">=0.5")]
    )
    assert parse_filter(written) == Filter(
        (Term(field, ":", (value, other), system), Term(field, ":", ("*",))), (other, ">=0.5")
    )
    assert parse_field(field_name(field, system)) == (field, system)
    assert parse_field(field_name(field)) == (field, "")


_VALUES = ("ranker", "made up", "Made_Up", "a:b", "-x")


@st.composite
def _tables_and_terms(draw: st.DrawFn) -> tuple[TurnTable, list[tuple[str, object]]]:
    turns = draw(st.integers(1, 6))
    words = st.lists(st.sampled_from(_VALUES), max_size=2).map(tuple)
    causes = {s: [draw(words) for _ in range(turns)] for s in ("qr", "b@c")}
    numbers = [draw(st.sampled_from((0.0, 0.2, 0.5, math.nan))) for _ in range(turns)]
    texts = [draw(st.sampled_from(("a shark", "A  SHARK_s", ""))) for _ in range(turns)]
    table = table_of(
        [str(turn) for turn in range(turns)],
        {
            TurnField("cause", "words", "x", per_system=True): causes,
            TurnField("first", "number", "x"): {"": np.array(numbers)},
        },
        texts,
    )
    terms: list[tuple[str, object]] = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(("cause", "system", "first", "word")))
        excludes = draw(st.booleans())
        value = draw(st.sampled_from(_VALUES))
        limit = draw(st.sampled_from((0.0, 0.2, 0.5)))
        system = draw(st.sampled_from(("qr", "b@c")))

        def holds(place: int, kind=kind, value=value, limit=limit, system=system) -> bool:  # type: ignore[no-untyped-def]
            if kind == "word":
                return "a shark" in " ".join(texts[place].lower().replace("_", " ").split())
            if kind == "first":
                return numbers[place] < limit
            some = [system] if kind == "system" else ["qr", "b@c"]
            same = value.lower().replace("_", " ")
            return any(same == w.lower().replace("_", " ") for s in some for w in causes[s][place])

        text = {
            "cause": f"cause:{quoted(value)}",
            "system": f"cause@{quoted(system)}:{quoted(value)}",
            "first": f"first<{limit}",
            "word": '"a shark"',
        }[kind]
        wanted = {str(place) for place in range(turns) if holds(place) != excludes}
        terms.append(("-" * excludes + text, wanted))
    return table, terms


@given(_tables_and_terms())
def test_all_terms_hold(drawn: tuple[TurnTable, list[tuple[str, set[str]]]]) -> None:
    table, terms = drawn
    wanted = set(table.ids).intersection(*(turns for _, turns in terms))
    assert table.where(" ".join(text for text, _ in terms)) == [
        turn for turn in table.ids if turn in wanted
    ]


@pytest.mark.parametrize(
    ("by", "turns"),
    [
        ("id", ["1_1", "1_2", "2_1", "2:2"]),
        ("ndcg_cut_3", ["1_1", "2_1", "1_2", "2:2"]),
        ("ndcg_cut_3@human", ["2_1", "1_1", "1_2", "2:2"]),
        ('"NDCG@3"@QR', ["1_1", "1_2", "2_1", "2:2"]),
        ("first", ["2_1", "1_2", "1_1", "2:2"]),
        ("first@qr", ["1_2", "2_1", "1_1", "2:2"]),
        ("disagreement", ["2_1", "1_1", "1_2", "2:2"]),
        ("depth", ["1_1", "2_1", "1_2", "2:2"]),
    ],
)
def test_order(by: str, turns: list[str]) -> None:
    assert TABLE.ordered(TABLE.ids, by) == turns
    assert TABLE.ordered(turns[1:3], by) == turns[1:3]


def test_random_order_follows_the_seed() -> None:
    drawn = {tuple(TABLE.ordered(TABLE.ids, "random", seed)) for seed in range(30)}
    assert len(drawn) > 10 and {tuple(sorted(one)) for one in drawn} == {tuple(sorted(TABLE.ids))}
    assert TABLE.ordered(TABLE.ids, "random", 3) == TABLE.ordered(TABLE.ids, "random", 3)


@pytest.mark.parametrize(
    ("by", "found"),
    [("cause", "not a number"), ("losss", "no turn has a field"), ("first@", "at character 7"),
     ("first@raw", "field first has no system 'raw'"), ("first:3", "this is not the name")],
)  # fmt: skip
def test_what_is_no_order(by: str, found: str) -> None:
    with pytest.raises(UsageError) as error:
        TABLE.ordered(TABLE.ids, by)
    assert found in str(error.value)


def test_one_field_one_study() -> None:
    fields = [TurnField("cause", "words", "x", "breakdown"), TurnField("Cause", "words", "x", "b")]
    with pytest.raises(UsageError, match="two fields named 'Cause': of breakdown and of b"):
        FieldColumns([Contribution(one, dict) for one in fields])


def test_a_column_is_computed_when_it_is_asked_for() -> None:
    asked: list[str] = []

    def values(name: str) -> Values:
        asked.append(name)
        return {"": np.array([1.0])}

    fields = [TurnField("a", "number", "x"), TurnField("b", "number", "x")]
    columns = FieldColumns(
        [Contribution(one, lambda name=one.name: values(name)) for one in fields]
    )  # type: ignore[misc]
    table = TurnTable(["1"], columns, lambda: ["x"])
    assert list(columns) == ["a", "b"] and asked == []
    assert table.where("b:1 b>0") == ["1"] and asked == ["b"]
