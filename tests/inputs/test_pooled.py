"""Several files in the place of one: the union, each row once, and every contradiction with both files."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.clariq import read_topics
from robustcs.inputs.paths import PooledFile, parts_of, pooled
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.readings import union_of_texts
from robustcs.inputs.runs import read_run, run_pieces

HEAD = "topic_id\tinitial_request\tclarification_need\tfacet_id\tquestion_id\tanswer\n"


def files(folder: Path, contents: Mapping[str, str]) -> PooledFile:
    """The files of these contents as one."""
    for name, text in contents.items():
        (folder / name).write_text(text)
    path = pooled([folder / name for name in contents])
    assert isinstance(path, PooledFile)
    return path


def test_one_file_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert pooled([path]) is path and parts_of(path) == (path,)
    joined = pooled([path, "irds:x"], ["one", "two"])
    assert pickle.loads(pickle.dumps(joined)).files == (path, "irds:x")
    assert parts_of(joined) == (path, Path("irds:x"))
    assert (
        pickle.loads(pickle.dumps(joined)).names == ("one", "two")
        and str(joined) == f"{path} + irds:x"
    )


def test_the_union_of_judgments(tmp_path: Path) -> None:
    path = files(
        tmp_path,
        {
            "a": "1_1 0 d1 2\n1_1 0 d2 0\n",
            "b": "query-id\tcorpus-id\tscore\n1_1\td2\t0\n2_1\td2\t1\n",
        },
    )
    read = read_qrels(path)
    assert (
        read.turns == ("1_1", "2_1")
        and read.grades.tolist() == [2, 0, 1]
        and read.turn_codes.tolist() == [0, 0, 1]
    )
    assert read.ids.texts() == ["d1", "d2", "d2"]
    assert read.parts == ((2, ("1_1",)), (2, ("1_1", "2_1"))) and read.sizes == (2, 2)
    assert read.notes[-1] == "1 judgment in several qrels files counted once"


def test_judgments_that_contradict_each_other(tmp_path: Path) -> None:
    path = files(
        tmp_path,
        {"a": "1_1 0 d1 2\n11_1 0 d2 1\n1_1 0 d2 0\n", "b": "3_1 0 d2 1\n1_1 0 d2 1\n1_1 0 d1 3\n"},
    )
    with pytest.raises(InputError) as error:
        read_qrels(path)
    told = str(error.value).replace(f"{tmp_path}/", "").split("\n")
    advice = "keep one of the two; if two collections use the same ids, add a prefix to the ids of one of them in all its files"
    assert told == [
        f"b:2: turn 1_1 document d2 has grade 1 here but 0 in a:3; {advice}",
        f"b:3: turn 1_1 document d1 has grade 3 here but 2 in a:1; {advice}",
    ]


def test_a_run_of_several_files_is_that_of_one(tmp_path: Path) -> None:
    first, second = (
        "2_1 Q0 d1 1 3 t\n2_1 Q0 d2 2 2 t\n1_1 Q0 d1 1 1 t\n",
        "3_1 Q0 d3 1 9 t\n3_1 Q0 d1 2 8 t\n",
    )
    path = files(tmp_path, {"a": first, "b": second})
    whole = files(tmp_path, {"all": first + second, "none": ""}).files[0]
    for ranks in (False, True):
        one, other = read_run(path, "x", ranks), read_run(whole, "x", ranks)
        assert one.turns == other.turns and one.turn_codes.tolist() == other.turn_codes.tolist()
        assert one.ids.texts() == other.ids.texts() and one.scores.tolist() == other.scores.tolist()
        assert ranks == (one.ranks is not None) and (
            not ranks or one.ranks.tolist() == other.ranks.tolist()
        )
        assert (one.parts, other.parts) == ((3, 2), ())
    pieces = list(run_pieces(path, "x"))
    assert [turn for piece in pieces for turn in piece.turns] == ["2_1", "1_1", "3_1"] and pieces[
        -1
    ].parts == (3, 2)


def test_a_turn_of_two_files_of_a_run(tmp_path: Path) -> None:
    path = files(tmp_path, {"a": "1_1 Q0 d1 1 1 t\n", "b": "2_1 Q0 d1 1 1 t\n1_1 Q0 d1 1 1 t\n"})
    with pytest.raises(
        InputError, match="b: turn 1_1 is also in .*a, another file of the same run"
    ):
        read_run(path)


def test_the_union_of_texts(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("id\tquery\n1_1\twhat is it\n2_1\twho is x\n")
    (tmp_path / "b").write_text("id\tquery\n3_1\twhere\n2_1\twho is y\n")
    same = [
        (tmp_path / "a", {"1_1": "what is it", "2_1": "who is x"}),
        (tmp_path / "b", {"2_1": "who is x", "3_1": "where"}),
    ]
    assert union_of_texts(same) == {"1_1": "what is it", "2_1": "who is x", "3_1": "where"}
    with pytest.raises(InputError) as error:
        union_of_texts([same[0], (tmp_path / "b", {"2_1": "who is y"})])
    told = str(error.value).replace(f"{tmp_path}/", "")
    assert told.startswith(
        "b:3: turn 2_1 has the text 'who is y' here but 'who is x' in a:3; keep one of the two"
    )


def test_the_union_of_topics(tmp_path: Path) -> None:
    row, again, more = (
        "1\ttell me\t2\tF1\tQ1\tno\n",
        "1\ttell me\t2\tF1\tQ2\tyes\n",
        "2\tand\t1\tF2\tQ1\tno\n",
    )
    topics = read_topics(files(tmp_path, {"a": HEAD + row + row + again, "b": HEAD + row + more}))
    assert topics.requests == {"1": "tell me", "2": "and"} and topics.questions["1"] == {"Q1", "Q2"}
    assert (topics.rows, topics.parts, len(topics.answers)) == (4, (3, 1), 4)
    with pytest.raises(
        InputError, match="b:2: topic 1 has the clarification need 3 here but 2 earlier"
    ):
        read_topics(files(tmp_path, {"a": HEAD + row, "b": HEAD + row.replace("\t2\t", "\t3\t")}))
    with pytest.raises(
        InputError,
        match="b:2: topic 1 has the request 'show me' here but 'tell me' in an earlier file",
    ):
        read_topics(files(tmp_path, {"a": HEAD + row, "b": HEAD + row.replace("tell", "show")}))
