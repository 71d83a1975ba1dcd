"""The page on public data: what the list finds, and what the reader shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

import robustcs
from tests.browsing import Watched, open_turn, page_of_turns, rows


@pytest.fixture(scope="module")
def answers(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of three systems that answer, with labels, gold passages and conversations."""
    folder = shared_data / "mtragun"
    qrels = [str(folder / f"qrels_{name}.tsv") for name in ("clapnq", "cloud", "fiqa", "govt")]
    lines = [f'{name} = "{folder / name}.jsonl.gz"' for name in ("gemini", "glm", "meno")]
    path = tmp_path_factory.mktemp("answers") / "robustcs.toml"
    path.write_text(
        f"[answers]\ngold_passages = {qrels!r}\nlabels = '{folder / 'reference.jsonl.gz'}'\n"
        "[answers.tasks]\n" + "\n".join(lines) + "\n",
        "utf-8",
    )
    return path


@pytest.fixture(scope="module")
def answers_page(answers: Path) -> str:
    return page_of_turns(answers, answers.parent)


@pytest.fixture(scope="module")
def cast_page(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """CAsT 2020 with passages."""
    folder = shared_data / "cast2020"
    path = tmp_path_factory.mktemp("cast2020") / "robustcs.toml"
    texts = {"original": "raw", "qr": "auto", "human": "manual"}
    parts = [f'[formulations.{name}]\nrun = "{folder}/runs/bert_{of}.trec.gz"\n' for name, of in texts.items()]  # fmt: skip
    path.write_text(
        f'qrels = "{folder}/qrels.txt.gz"\ncollection = "{folder}/passages.jsonl.gz"\n'
        f"policy = {{ relevance_level = 2 }}\n{''.join(parts)}",
        "utf-8",
    )
    return page_of_turns(path, path.parent)


def selected(page: Any) -> str:
    return str(page.locator("#turns output").inner_text())


def test_made_up_answers_are_listed_and_read(
    watched: Watched, answers: Path, answers_page: str
) -> None:
    page = watched.open(f"{answers_page}#turns?where=outcome%3A%22made%20up%22")
    assert selected(page) == "42 of 507 turns"
    wanted = robustcs.turns(answers, where="outcome@meno:made_up")
    assert rows(page) == list(wanted.ids)[: len(rows(page))]
    page.locator(".rows a").first.click()
    reader = page.locator("#reader")
    record = wanted.record(wanted.ids[0])
    text = reader.text_content().replace("(unsupported) ", "")
    for name, own in record["systems"].items():
        assert own["answer"].strip()[:60] in text, name
    assert "unanswerable · made up" in text and record["gold"][0] in text
    said = reader.locator(".messages li").all_inner_texts()
    assert len(said) == len(record["history"]) > 1
    assert record["history"][-1]["text"].strip()[:40] in said[-1]
    assert record["texts"]["original"] in text


def test_an_answer_stands_beside_its_passages_and_shows_what_they_do_not_support(
    watched: Watched, answers: Path, answers_page: str
) -> None:
    result = robustcs.turns(answers)
    records = map(result.record, result.ids)
    record = next(
        one
        for one in records
        if one["systems"]["meno"].get("unsupported") and one["systems"]["meno"].get("given")
    )
    own = record["systems"]["meno"]
    page = watched.open(answers_page)
    anchor = f"turn-{record['turn'].replace('<::>', '.3c..3a..3a..3e.')}"
    open_turn(page, anchor, record["turn"])
    answer = page.locator("#reader section.answer", has_text="meno")
    marked = answer.locator("mark").all_text_contents()
    assert [one.removeprefix("(unsupported) ") for one in marked] == own["unsupported"]
    beside = page.locator("#reader .beside").filter(has=page.locator("h4", has_text="meno"))
    names = beside.locator("li .name").all_text_contents()
    assert names == [passage for passage, _ in own["given"]]
    assert all(len(text) > 40 for text in beside.locator("li p").all_text_contents())


def test_ranker_errors_passages_and_deep_ranks(watched: Watched, cast_page: str) -> None:
    page = watched.open(f"{cast_page}#turns?where=cause%3Aranker&sort=first%40human")
    assert selected(page) == "112 of 208 turns"
    page.get_by_label("Filter", exact=True).fill('"garage door" -cause:correct')
    assert 0 < int(selected(page).split()[0]) < 20
    open_turn(page, "turn-81_3", "81_3")
    sides = page.locator("#reader .sides section")
    assert all(sides.nth(side).locator("li p").count() > 0 for side in (0, 1))
    assert sides.first.locator("li", has_text="first relevant").locator(".name").count() == 1
    page.get_by_text("Show all 100 ranks").click()
    assert sides.first.locator("li").count() == 100


def test_the_review_draws_scored_turns(watched: Watched, cast2019_page: str) -> None:
    page = watched.open(cast2019_page)
    page.keyboard.press("r")
    form = page.locator("#review form")
    assert form.get_by_label("Turns (a filter)").input_value() == "ndcg_cut_3:*"
    assert "30 of 173 turns" in form.inner_text()
    page.keyboard.press("Enter")
    about = page.locator("#review .about")
    assert "random sample of the 173 turns selected by ndcg_cut_3:*" in about.inner_text()
    for _ in range(30):
        assert "Judged passages: " in page.locator("#review .turn").inner_text()
        page.keyboard.press("j")
    page.evaluate("localStorage.clear()")


@pytest.fixture(scope="module")
def cast2019_page(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = shared_data / "cast2019"
    path = tmp_path_factory.mktemp("cast2019") / "robustcs.toml"
    files = {
        "original": ("runs/bert_base_raw.trec.gz", "topics.json"),
        "qr": ("runs/bert_base_cv.trec.gz", "runs/rewrites_cv.jsonl"),
        "human": ("runs/bert_base_oracle.trec.gz", "topics_resolved.tsv"),
    }
    parts = []
    for name, (run, texts) in files.items():
        parts.append(f'[formulations.{name}]\nrun = "{folder}/{run}"\n')
        parts.append(f'rewrites = "{folder}/{texts}"\n')
    path.write_text(
        f'qrels = "{folder}/qrels.txt.gz"\npolicy = {{ relevance_level = 2 }}\n{"".join(parts)}',
        "utf-8",
    )
    return page_of_turns(path, path.parent)


def test_an_elliptical_turn_without_judgments_has_its_conversation(
    watched: Watched, cast2019_page: str
) -> None:
    page = watched.open(f"{cast2019_page}#turns?where=cause%3Aranker")
    assert selected(page) == "69 of 479 turns"
    open_turn(page, "turn-31_4", "31_4")
    said = page.locator("#reader .messages li span").all_inner_texts()
    assert said == ["What is throat cancer?", "Is it treatable?", "Tell me about lung cancer."]
    assert "What are its symptoms?" not in said


def test_any_threshold_gives_the_turns_of_the_command(watched: Watched, cast2019_page: str) -> None:
    """The page has causes at a few thresholds, and finds those at others from the scores."""
    config = Path(urlparse(cast2019_page).path).with_name("robustcs.toml")
    result = robustcs.turns(config)
    page = watched.open(cast2019_page)
    for where in (
        "at:ndcg_cut_3>=0.2 cause:rewriter",
        "at:ndcg_cut_3>0.35 cause:ranker place@human:top,10",
        "at:ndcg_cut_3>=0.8 correct@original:yes",
        "at:P_1>=1 loss>0",
    ):
        wanted = result.turns_where(where)
        page.get_by_label("Filter", exact=True).fill(where)
        assert selected(page) == f"{len(wanted)} of 479 turns" and wanted, where
        assert rows(page) == wanted[: len(rows(page))]
