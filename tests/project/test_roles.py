"""What init guesses from names, and which contents confirm or refuse it: texts, grids, judgments."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.project.guess import guess, write_config
from robustcs.project.marks import marks_in
from robustcs.project.reading import read_project
from robustcs.project.text_run_match import fit, uncrossed
from tests.case_files import case
from tests.project.test_scaffold import (
    ENDS,
    HUMAN,
    QRELS,
    RAW,
    TURNS,
    aside,
    config,
    fill,
    parts,
    ranked,
    rewrites,
    tsv,
)


def text(folder: Path) -> str:
    return write_config(guess(folder), "x")


def marked(folder: Path) -> set[str]:
    return {".".join(mark) for mark in marks_in(text(folder))}


# ---------------------------------------------------------------- texts


def test_the_case_with_a_bag_of_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = case("human-by-name", tmp_path)
    assert parts(config(folder), "rewrites") == {
        "original": "1_Original.tsv", "human": "11_Human.tsv", "qr:2_Rewriter_A": "2_Rewriter_A.tsv",
        "qr:5_Rewriter_B": "5_Rewriter_B.tsv", "qr:7_Rewriter_C": "7_Rewriter_C.tsv",
    }  # fmt: skip
    assert 'rewrites = "11_Human.tsv"  # or 10_Human_bag_of_words.tsv\n' in text(folder)
    # Original and Human differ as they should; nothing but its name makes a file that of a rewriter
    assert marked(folder) == {
        f"formulations.qr:{name}.rewrites"
        for name in ("2_Rewriter_A", "5_Rewriter_B", "7_Rewriter_C")
    }
    assert run(["init", str(folder)]) == 0
    out = capfd.readouterr().out
    assert (
        "[formulations.human] rewrites: 11_Human.tsv; also possible: 10_Human_bag_of_words.tsv\n"
        in out
    )
    assert (
        "3 roles guessed from file names: 2_Rewriter_A, 5_Rewriter_B, 7_Rewriter_C; to confirm one,"
        in out
    )


def test_the_name_of_a_folder_is_no_role_of_texts(tmp_path: Path) -> None:
    whole = {turn: f"Hello. {text}" for turn, text in RAW.items()}
    fill(
        tmp_path,
        {
            "human/conversations.tsv": tsv(whole),
            "human/original.tsv": tsv(RAW),
            "x/manual.tsv": tsv(HUMAN),
        },
    )
    assert parts(config(tmp_path), "rewrites") == {
        "original": "human/original.tsv",
        "human": "x/manual.tsv",
    }
    (tmp_path / "x" / "manual.tsv").unlink()
    assert parts(config(tmp_path), "rewrites") == {"original": "human/original.tsv"}


@pytest.mark.parametrize(("equal", "taken"), [(4, False), (5, True), (19, True), (20, False)])
def test_further_wordings_without_runs_are_rewriters(
    tmp_path: Path, equal: int, taken: bool
) -> None:
    """Their texts show it: at least five turns equal the Original or Human, and at least five differ from each (of 24)."""
    other = {
        turn: RAW[turn] if place < equal else f"{RAW[turn]} And so on."
        for place, turn in enumerate(TURNS)
    }
    titles = {turn: f"Topic {turn}" for turn in TURNS}
    fill(
        tmp_path,
        {
            "original.tsv": tsv(RAW),
            "human.tsv": tsv(HUMAN),
            "a.tsv": tsv(other),
            "titles.tsv": tsv(titles),
        },
    )
    found = parts(config(tmp_path), "rewrites")
    assert ("qr" in found) == taken and found.get("qr", "a.tsv") == "a.tsv"
    assert "formulations.qr.rewrites" not in marked(tmp_path)


@pytest.mark.parametrize(("equal", "role"), [(21, True), (22, False), (24, False)])
def test_human_texts_that_equal_the_original_are_not_human(
    tmp_path: Path, equal: int, role: bool
) -> None:
    """At most nine tenths of 24 turns are 21.6."""
    texts = {
        turn: RAW[turn] if place < equal else f"{RAW[turn]} In full."
        for place, turn in enumerate(TURNS)
    }
    fill(tmp_path, {"original.tsv": tsv(RAW), "human.tsv": tsv(texts)})
    assert ("human" in config(tmp_path)["formulations"]) == role
    told = f"# Not used: human.tsv: equals the Original texts in {equal} of 24 turns, so it is not Human\n"
    assert (told in text(tmp_path)) != role
    fill(tmp_path, {"human_final.tsv": tsv(HUMAN)})
    assert parts(config(tmp_path), "rewrites")["human"] == (
        "human.tsv" if role else "human_final.tsv"
    )


def test_a_run_is_not_human_if_its_texts_or_rankings_are_not(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A run called human with the rankings of Original, or whose texts are refused, is another system."""
    fill(
        tmp_path,
        ENDS | {"human.trec": ranked(RAW), "human.tsv": tsv(RAW), "t5.trec": ranked(rewrites(1))},
    )
    made = config(tmp_path)
    assert set(made["formulations"]) == {"original", "qr"} and made["runs"] == {
        "human": "human.trec"
    }
    why = "equals the rankings of Original in 24 of 24 turns, so it is not Human"
    assert f'human = "human.trec"  # {why}\n' in text(
        tmp_path
    ) and "formulations.human.run" not in marked(tmp_path)
    assert run(["init", str(tmp_path)]) == 0 and f"human.trec: {why}\n" in capfd.readouterr().out
    (tmp_path / "robustcs.toml").unlink()
    # other rankings, but its texts are those of Original
    fill(tmp_path, {"human.trec": ranked(HUMAN)})
    assert set(config(tmp_path)["formulations"]) == {"original", "qr"} and config(tmp_path)[
        "runs"
    ] == {"human": "human.trec"}
    told = "its texts are rejected: human.tsv equals the Original texts in 24 of 24 turns, so it is not Human"
    assert f'human = "human.trec"  # {told}\n' in text(tmp_path)
    fill(tmp_path, {"human_final.tsv": tsv(HUMAN)})  # the right texts
    assert parts(config(tmp_path), "run")["human"] == "human.trec" and "runs" not in config(
        tmp_path
    )


@pytest.mark.parametrize(("equal", "role"), [(21, True), (22, False)])
def test_a_run_with_the_rankings_of_original_is_not_human(
    tmp_path: Path, equal: int, role: bool
) -> None:
    """At most nine tenths of 24 turns are 21.6."""
    texts = {
        turn: RAW[turn] if place < equal else f"{RAW[turn]} In full."
        for place, turn in enumerate(TURNS)
    }
    fill(
        tmp_path,
        {
            "qrels.txt": QRELS,
            "raw.trec": ranked(RAW),
            "human.trec": ranked(texts),
            "t5.trec": ranked(rewrites(1)),
        },
    )
    assert ("human" in parts(config(tmp_path), "run")) == role


def test_the_shortest_name_among_complete_files(tmp_path: Path) -> None:
    other = {turn: f"{text} Or not?" for turn, text in HUMAN.items()}
    fill(
        tmp_path,
        {
            "original.tsv": tsv(RAW),
            "a_human_long.tsv": tsv(other),
            "human.tsv": tsv(dict(list(HUMAN.items())[:12])),
        },
    )
    # the other has half of the turns
    assert parts(config(tmp_path), "rewrites")["human"] == "a_human_long.tsv"
    fill(tmp_path, {"human.tsv": tsv(dict(list(HUMAN.items())[:23]))})
    assert parts(config(tmp_path), "rewrites")[
        "human"
    ] == "human.tsv" and "# or a_human_long.tsv" in text(tmp_path)
    fill(
        tmp_path,
        {"a_human_long.tsv": tsv({turn: f"{text.upper()}!" for turn, text in HUMAN.items()})},
    )
    assert "# or" not in text(tmp_path)  # the same words are no alternative


def test_ratings_and_grades_are_no_texts(tmp_path: Path) -> None:
    rated = "turn\tquery\trating\n" + "".join(f"{turn}\t{HUMAN[turn]}\t3\n" for turn in TURNS)
    fill(tmp_path, {
        "original.tsv": tsv(RAW), "human.tsv": rated, "human_ratings.tsv": tsv(HUMAN),
        "manual.tsv": tsv(dict.fromkeys(TURNS, "3")),
    })  # fmt: skip
    made = guess(tmp_path)
    assert parts(made.values, "rewrites") == {"original": "original.tsv"}
    assert {name: why for name, why in made.aside.items() if name != "manual.tsv"} == {
        "human.tsv": "its column (rating) shows that these are ratings, not texts of turns",
        "human_ratings.tsv": "its name (ratings) shows that these are ratings, not texts of turns",
    }
    assert "manual.tsv" in made.aside


@pytest.mark.parametrize(("different", "texts"), [(2, False), (3, True)])
def test_labels_are_no_texts(tmp_path: Path, different: int, texts: bool) -> None:
    """Fewer than a tenth of 24 turns have different texts: 2."""
    labels = {turn: ("good", "bad", "fair")[place % different] for place, turn in enumerate(TURNS)}
    fill(tmp_path, {"original.tsv": tsv(RAW), "human.tsv": tsv(labels)})
    assert ("human" in parts(config(tmp_path), "rewrites")) == texts
    assert aside(tmp_path) == (
        {} if texts else {"human.tsv": "only 2 different texts for 24 turns, so these are labels"}
    )
    many = {
        f"{turn}{more}": f"{place % 11}th label"
        for more in range(9)
        for place, turn in enumerate(TURNS)
    }
    fill(tmp_path, {"original.tsv": tsv(many), "human.tsv": tsv(many)})  # 11 of 216
    assert "original" in parts(config(tmp_path), "rewrites")


def test_agreement_is_not_vacuous() -> None:
    """Different texts with different rankings show nothing; equal ones do, and so do equal rankings."""
    ours, theirs = {"a": "x", "b": "y"}, {"a": "z", "b": "y"}
    assert (
        fit(ours, theirs, {"a": False, "b": True}).agreement
        == "texts and rankings agree on 2 of 2 turns"
    )
    assert (
        fit(ours, {"a": "z", "b": "z"}, {"a": False, "b": False}).agreement
        == "no turn has equal texts"
    )
    assert (
        fit(ours, {"a": "z", "b": "z"}, {"a": True, "b": False}).agreement
        == "texts and rankings agree on 1 of 2 turns"
    )


# ---------------------------------------------------------------- marks


def test_contents_confirm_roles(tmp_path: Path) -> None:
    runs = {"t5.trec": ranked(rewrites(1)), "t5.tsv": tsv(rewrites(1))}
    assert marked(fill(tmp_path, ENDS | runs)) == set()
    (tmp_path / "t5.tsv").unlink()
    assert marked(tmp_path) == {"formulations.qr.run"}
    fill(tmp_path, {"raw.trec": ranked({turn: f"something else {turn}" for turn in TURNS})})
    assert marked(tmp_path) == {
        "formulations.original.run",
        "formulations.qr.run",
        "formulations.human.run",
    }


def test_swapped_names_are_not_confirmed(tmp_path: Path) -> None:
    """Texts and rankings fit as well, but Human's questions are the shorter ones."""
    fill(tmp_path, {
        "qrels.txt": QRELS, "raw.trec": ranked(HUMAN), "human.trec": ranked(RAW), "raw.tsv": tsv(HUMAN), "human.tsv": tsv(RAW),
    })  # fmt: skip
    assert marked(tmp_path) == {
        f"formulations.{role}.{what}"
        for role in ("original", "human")
        for what in ("run", "rewrites")
    }
    (tmp_path / "robustcs.toml").write_text(text(tmp_path))
    assert len(read_project(tmp_path / "robustcs.toml").marks) == 4


def test_names_alone_are_marked(tmp_path: Path, demo: Path) -> None:
    fill(tmp_path, {"qrels.txt": QRELS} | {
        f"a_{name}.trec": ranked(rewrites(seed)) for seed, name in enumerate(("raw", "human", "manual_1"))
    })  # fmt: skip
    assert marked(tmp_path) == {
        "formulations.original.run",
        "formulations.human.run",
        "groups.manual.sets",
    }
    # fields name the texts of the demo, and they fit its runs
    assert marked(demo) == {
        "judges.lexical", "judges.six_conversations", "groups.manual.sets", "groups.raw.sets",
        "agreement.reference", "crowd.gold_checks",
        *(f"formulations.{role}.answers" for role in ("original", "qr", "human")),
    }  # fmt: skip


# ---------------------------------------------------------------- grids


def test_the_case_of_rerankers_has_no_grid(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = case("rerankers", tmp_path)
    made = config(folder)
    assert run(["init", str(folder)]) == 0
    why = "a ranker ranks no turn equally for two wordings"
    assert (
        f"names of 4 runs suggest a grid, but their rankings do not: {why}; see"
        in capfd.readouterr().out
    )
    assert f"Only their names suggest this, not their rankings:\n# {why}.\n" in text(folder)
    assert "components" not in made and "formulations" not in made
    assert made["runs"] == {path.stem: path.name for path in folder.glob("*.run")}
    assert '# [components]\n# "bert/zs" = "bm25+bert(zs).run"\n' in text(folder)
    remade = tomllib.loads(
        text(folder).replace("# [components]", "[components]").replace('# "', '"')
    )
    assert set(remade["components"]) == {"bert/zs", "bert/rm3_zs", "t5/zs", "t5/rm3_zs"}


def shuffled(*words: Any) -> str:
    return str(random.Random(" ".join(map(str, words))).random())


def grid(equal: int, of: int = 40) -> dict[tuple[str, str], dict[str, str]]:
    """Two wordings with the same text for some turns, two rankers."""
    return {
        (wording, ranker): {f"{turn}": shuffled(ranker, turn, "" if turn < equal else wording) for turn in range(of)}
        for wording in ("a", "b") for ranker in ("x", "y")
    }  # fmt: skip


def test_rankings_show_a_grid() -> None:
    assert not uncrossed(grid(5)) and not uncrossed(grid(36))
    assert uncrossed(grid(4)) == "a ranker ranks only 4 turns equally for two wordings"
    assert uncrossed(grid(0)) == "a ranker ranks no turn equally for two wordings"
    assert uncrossed(grid(37)) == "nearly all turns are ranked equally for two wordings"
    assert uncrossed({cell: some for cell, some in grid(20).items() if cell != ("b", "y")}), (
        "one ranker has both wordings"
    )
    turned = {(ranker, wording): some for (wording, ranker), some in grid(20).items()}
    assert uncrossed(turned), "rankers taken for wordings"
    noisy = grid(20)
    noisy["b", "y"] |= {f"{turn}": "rounded" for turn in range(3)}
    assert not uncrossed(noisy), "17 of 17"
    noisy["b", "y"] |= {f"{turn}": noisy["a", "y"][f"{turn}"] for turn in range(20, 24)}
    assert uncrossed(noisy), "17 of 20 and 21"
    single = {
        cell: some | {f"s{turn}": "d1" for turn in range(20)} for cell, some in grid(0).items()
    }
    assert uncrossed(single), "turns with one passage"


# ---------------------------------------------------------------- judgments


def qrels(numbers: range, grades: int = 5, turns: list[str] = TURNS) -> str:
    return "".join(
        f"{turn} 0 MARCO_{number} {number % grades}\n" for turn in turns for number in numbers
    )


def test_judgments_of_the_passages_that_runs_retrieve_come_first(tmp_path: Path) -> None:
    """The file of other passages is first by its name, and has more judgments."""
    more = "".join(f"{turn} 0 D_{number} {number % 3}\n" for turn in TURNS for number in range(90))
    fill(
        tmp_path,
        {"raw.trec": ranked(RAW), "a.qrels": more + qrels(range(2)), "b.txt": qrels(range(20))},
    )
    assert config(tmp_path)["qrels"] == "b.txt" and "Also possible" not in text(tmp_path)
    fill(
        tmp_path,
        {
            "b.txt": qrels(range(20), 2),
            "c.txt": qrels(range(20)),
            "c_train.txt": qrels(range(20), 4),
        },
    )
    assert config(tmp_path)["qrels"] == "c.txt", "graded before binary, and not for training"
    also = "c_train.txt (100% of the top 10 judged, grades 0 to 3); b.txt (100% of the top 10 judged, grades 0 to 1)"
    assert f"# Also possible: {also}\n" in text(tmp_path)
    assert f"qrels: c.txt; also possible: {also}" in guess(tmp_path).offered
    (tmp_path / "c.txt").rename(tmp_path / "c_dev.txt")
    assert config(tmp_path)["qrels"] == "c_dev.txt"


def test_topic_numbers_show_no_relevance_level(tmp_path: Path) -> None:
    fill(tmp_path, {"qrels.txt": "31_1 0 d1 2\n31_2 0 d2 0\n"})
    assert config(tmp_path)["policy"] == {"relevance_level": 1}
    fill(tmp_path, {"qrels.txt": "billing-01 0 MARCO_1 2\nbilling-02 0 CAR_2 0\n"})
    assert config(tmp_path)["policy"] == {"relevance_level": 2}


@pytest.mark.parametrize(("name", "cells"), [("cast2019", 6), ("cast2020", 0), ("mtrag-grid", 9)])
def test_contents_confirm_the_roles_and_grids_of_public_data(
    shared_data: Path, name: str, cells: int
) -> None:
    assert marked(shared_data / name) == set()
    assert (
        len(config(shared_data / name).get("components", {})) == cells
        and not guess(shared_data / name).grid
    )
