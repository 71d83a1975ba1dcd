"""From question to outcome: the figures of SPEC 19, the table of outcomes, causes in both orders, and planted changes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustcs
from robustcs.errors import RobustcsError
from robustcs.evaluation.outcomes import Traced, cause_of, outcome_of
from robustcs.inputs.answers import KINDS, RESPONSES, Kind, Response
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.similarity.responses import checked_sentences, response_of
from robustcs.similarity.texts import content_words
from robustcs.statistics.means import share_estimates
from robustcs.statistics.units import units_of
from robustcs.studies.answers.analysis import Answers, answers
from robustcs.studies.answers.outcomes import Journey, corrected_shares


def counts(
    result: Answers, *, by: Sequence[str] = ("kind", "outcome", "gold_given"), system: str = ""
) -> dict[Any, int]:
    rows = result.outcomes[(result.outcomes["system"] == system) | (not system)]
    return {key: n for key, n in rows.groupby(list(by), dropna=False)["count"].sum().items() if n}


@pytest.fixture(scope="module")
def mtragun(shared_data: Path) -> Answers:
    folder = shared_data / "mtragun"
    return robustcs.answers(
        tasks={name: folder / f"{name}.jsonl.gz" for name in ("gemini", "glm", "meno")},
        gold_passages=[folder / f"qrels_{name}.tsv" for name in ("clapnq", "cloud", "fiqa", "govt")],
        labels=folder / "reference.jsonl.gz", collection=folder / "reference.jsonl.gz",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "tasks", "given", "refusals", "not_given", "abstained", "whole"),
    [("clapnq", 224, 165, 31, 43, 26, 72), ("cloud", 205, 117, 27, 71, 36, 58)],
)
def test_gold_given_on_mtrag(
    shared_data: Path,
    name: str,
    tasks: int,
    given: int,
    refusals: int,
    not_given: int,
    abstained: int,
    whole: int,
) -> None:
    """SPEC 19: tasks, turns with gold passages, those whose passages include one, and refusals among them by a word list."""
    folder = shared_data / "mtrag-answers"
    result = robustcs.answers(
        tasks={name: folder / f"{name}.jsonl.gz"}, gold_passages=folder / f"qrels_{name}.tsv"
    )
    turns = result.turns
    assert len(turns) == result.evaluated.turns == tasks
    assert (turns["kind"] == "answerable").sum() == given + not_given
    got = turns["gold_given"] == True  # noqa: E712 (null is neither)
    assert got.sum() == given and (turns["gold_given"] == False).sum() == not_given  # noqa: E712
    assert ((turns["gold"] > 0) & (turns["given"] == turns["gold"])).sum() == whole
    # "about": the detector tells partial answers from refusals
    silent = turns["response"].isin(["abstained", "partly"])
    assert (
        abs((got & silent).sum() - refusals) <= 2
        and (turns["gold_given"].eq(False) & silent).sum() == abstained
    )
    assert (turns.loc[turns["cause"] == "retrieval", "outcome"] == "abstained").all()
    assert (
        result.outcomes["share"].sum() == pytest.approx(1)
        and result.outcomes["count"].sum() == tasks
    )


def test_kinds_and_published_scores_on_mtragun(mtragun: Answers) -> None:
    """SPEC 19: kinds of turns, and RL_F of gemini and meno on them, over the turns with a value."""
    kinds = mtragun.turns[mtragun.turns["system"] == "meno"]["kind"].value_counts()
    assert kinds.to_dict() == {
        "answerable": 285,
        "unanswerable": 97,
        "underspecified": 78,
        "partial": 47,
    }
    rows = mtragun.measures_by_kind[mtragun.measures_by_kind["metric"] == "RL_F"].set_index(
        ["system", "kind"]
    )["value"]
    published = {"gemini": (0.981, 0.914, 0.004, 0.555), "meno": (0.854, 0.546, 0.072, 0.525)}
    for system, values in published.items():
        found = [
            rows[system, kind]
            for kind in ("answerable", "partial", "unanswerable", "underspecified")
        ]
        assert found == pytest.approx(values, abs=0.0005)
    own = mtragun.outcomes.groupby("system")["share"].sum()
    assert own.to_numpy() == pytest.approx(np.ones(3))
    assert (mtragun.outcomes["outcome"] == "no_answer").any()
    empty = mtragun.turns[
        (mtragun.turns["system"] == "gemini") & (mtragun.turns["outcome"] == "no_answer")
    ]
    assert len(empty) == 3  # three empty answers, although idk_eval calls them refusals


def test_the_detector_finds_refusals(mtragun: Answers) -> None:
    """SPEC 19: at least 95% of the full refusals are found, and at most 8% of the full answers are called refusals.

    The detector was written on gemini; glm is new to it.
    """
    cells = mtragun.detector.set_index(["system", "label", "detected"])["count"]
    for system, refusals, full in (("gemini", 138, 321), ("glm", 133, 322)):
        own = cells[system]
        assert own["abstained"].sum() == refusals and own["answered"].sum() == full
        assert own["abstained", "abstained"] >= 0.95 * refusals
        assert (
            own.get(("answered", "abstained"), 0) + own.get(("answered", "partly"), 0)
            <= 0.08 * full
        )
    assert cells["glm", "abstained", "abstained"] == 132 and "132 of 133" in " ".join(
        mtragun.evaluated.notes
    )
    assert "meno" not in cells.index.get_level_values("system")


def test_asking_back_in_reference_answers(shared_data: Path) -> None:
    """People ask back in all 78 underspecified turns of MTRAG-UN; the detector finds 77, and 2 in the 429 other turns."""
    found: dict[bool, list[Response]] = {True: [], False: []}
    with gzip.open(shared_data / "mtragun" / "reference.jsonl.gz", "rt") as file:
        for task in map(json.loads, file):
            found[task["answerability"] == ["UNDERSPECIFIED"]].append(
                response_of(task["targets"][0]["text"])
            )
    assert len(found[True]) == 78 and found[True].count("asked_back") == 77
    assert len(found[False]) == 429 and found[False].count("asked_back") <= 2


def test_every_cell_of_the_table_of_outcomes() -> None:
    """SPEC 19, the table."""
    for kind in KINDS:
        for response in RESPONSES:
            for correct in (True, False, None):
                for given in (True, False, None):
                    found = outcome_of(kind, response, given, correct)
                    assert found == expected(kind, response, given, correct), (
                        kind,
                        response,
                        given,
                        correct,
                    )


def expected(kind: Kind, response: Response, given: bool | None, correct: bool | None) -> str:
    columns = ("answered", "partly", "abstained", "asked_back", "no_answer")
    one = {None: "answered", True: "correct", False: "wrong"}[correct]
    rows: dict[str, tuple[str, ...]] = {
        "answerable": (one, one, "refused" if given else "abstained", "asked_back", "no_answer"),
        "unanswerable": ("made_up", "hedged", "abstained", "asked_back", "no_answer"),
    }
    rows["partial"] = rows["answerable"]
    others = ("answered", "answered", "abstained", "asked_back", "no_answer")
    return rows.get(kind, others)[columns.index(response)]


# ---------------------------------------------------------------- hand-made journeys


def journey(
    *systems: tuple[str, str], kinds: Sequence[Kind] = (), turns: Sequence[str] = ()
) -> Answers:
    """Two letters per turn: gold given (+, -, or . without gold) and what the system did (Answered, aBstained, Wrong)."""
    count = len(systems[0][1].split())
    turns = turns or [f"{place // 2}_{place % 2}" for place in range(count)]
    kinds = kinds or ["answerable"] * count
    made = []
    for name, told in systems:
        cells = told.split()
        responses: tuple[Response, ...] = tuple(
            "abstained" if cell[1] == "B" else "answered" for cell in cells
        )
        given = tuple({"+": 1, "-": 0, ".": None}[cell[0]] for cell in cells)
        known = [None if one is None else one > 0 for one in given]
        outcomes = tuple(
            outcome_of(*one)
            for one in zip(kinds, responses, known, [cell[1] != "W" for cell in cells], strict=True)
        )
        causes = tuple(cause_of(*one) for one in zip(kinds, outcomes, known, strict=True))
        nothing, none = np.full(count, np.nan), (None,) * count
        gold = tuple(int(one is not None) for one in given)
        made.append(
            Traced(
                name,
                "detector",
                responses,
                gold,
                given,
                outcomes,
                causes,
                none,
                responses,
                none,
                nothing,
                nothing,
            )
        )
    evaluated = Evaluated(EvaluationPolicy(), "coverage", count, 0)
    return answers(Journey(turns, kinds, made, units_of(turns)), evaluated)


def test_causes_in_both_orders() -> None:
    result = journey(
        ("a", "+A +A +B -B -B -A +A +A +A +A +A +W"), ("b", "+A -A +A +A -B +A +A +A +A +A +A +A")
    )
    rows = result.causes.set_index(["system", "cause"])
    assert rows.loc["a"]["count"].to_dict() == {"none": 8, "generator": 2, "retrieval": 2}
    assert (rows.loc["a", "turns"] == 12).all()
    turned = result.causes_reversed.set_index(["system", "cause"])
    # turns where both got gold: 1, 3, 7 to 12; a loses two of these 8, and 4 of 12 in all
    assert turned.loc[("a", "generator"), ["count", "turns", "share"]].tolist() == [2, 8, 0.25]
    assert turned.loc[("a", "retrieval"), "share"] == pytest.approx(4 / 12 - 2 / 8)
    assert turned.loc[("b", "generator"), "count"] == 0 and turned.loc[
        ("b", "retrieval"), "share"
    ] == pytest.approx(1 / 12)
    shares = result.causes.groupby("system")["share"].sum()
    assert shares.to_numpy() == pytest.approx(np.ones(2))


def test_losses_of_unknown_cause_are_not_left_to_retrieval() -> None:
    known = "+A +A +B -B -B -A +A +A +A +A +A +W"
    columns = ["cause", "count", "turns", "share"]
    rows, alone = (
        journey(("a", told)).causes_reversed[columns] for told in (f"{known} .B .W .B .A", known)
    )
    assert rows.equals(alone) and rows["turns"].tolist() == [12, 9, 12]


def test_no_share_below_zero_in_the_opposite_order() -> None:
    result = journey(("a", "+B +B +B -A -A -A +A -A -A -A -A -A"))
    row = result.causes_reversed.set_index("cause").loc["retrieval"]
    assert (
        np.isnan(row["share"]) and row["note"] == "the generator alone loses at least as many turns"
    )


def test_transitions_and_pairs() -> None:
    result = journey(
        ("a", "+A +A +B +B +B +B +B +B +B +B +B +B"), ("b", "+A +B +A +A +A +A +A +A +A +A +A +A")
    )
    cells = {
        (row.first_outcome, row.second_outcome): row.count
        for row in result.transitions.itertuples()
    }
    assert cells == {
        ("correct", "correct"): 1,
        ("correct", "refused"): 1,
        ("refused", "correct"): 10,
    }
    assert result.transitions["share"].sum() == pytest.approx(1)
    pair = result.pairs.set_index("metric").loc["refused"]
    assert pair["difference"] == pytest.approx(9 / 12) and pair["p_corrected"] >= pair["p"] > 0


def test_shares_are_those_of_an_independent_count() -> None:
    random = np.random.default_rng(3)
    cells = " ".join(random.choice(["+A", "+B", "+W", "-A", "-B"]) for _ in range(40))
    result = journey(("a", cells))
    units = units_of([f"{place // 2}_{place % 2}" for place in range(40)])
    hits = np.array([cell == "+B" for cell in cells.split()], dtype=float)
    (whole,) = share_estimates(units.sums(hits), units.sizes, units.kind)
    row = result.outcomes[(result.outcomes["outcome"] == "refused")].iloc[0]
    assert (row["count"], row["share"], row["ci_low"], row["ci_high"]) == (
        hits.sum(),
        whole.value,
        whole.low,
        whole.high,
    )
    assert row["gold_given"] and row["of_kind"] == row["share"]


# ---------------------------------------------------------------- planted changes

Change = Callable[[dict[str, Any]], None]
INVENTED = " Purple elephants juggle seventeen violins beneath volcanic chandeliers."


def planted(
    shared_data: Path, folder: Path, change: Change, every: int = 4
) -> tuple[Answers, Answers, set[str]]:
    """The tasks of clapnq before and after ``change`` to every fourth answered turn with gold, and these turns."""
    source = shared_data / "mtrag-answers"
    given: dict[str, Any] = {
        "tasks": {"a": source / "clapnq.jsonl.gz"},
        "gold_passages": source / "qrels_clapnq.tsv",
    }
    before = robustcs.answers(**given)
    rows = before.turns[
        (before.turns["response"] == "answered") & before.turns["gold_given"].eq(True)
    ]
    changed = set(rows["turn"].iloc[::every])
    with gzip.open(source / "clapnq.jsonl.gz", "rt") as file:
        tasks = [json.loads(line) for line in file]
    for task in tasks:
        if task["task_id"] in changed:
            change(task)
    (folder / "new.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return before, robustcs.answers(**{**given, "tasks": {"a": folder / "new.jsonl"}}), changed


def moved(before: Answers, after: Answers, table: str, *keys: str) -> dict[Any, int]:
    column = "count" if "count" in getattr(before, table) else "unsupported"
    old, new = (
        getattr(one, table).groupby(list(keys), dropna=False)[column].sum()
        for one in (before, after)
    )
    apart = new.sub(old, fill_value=0)
    return {key: int(value) for key, value in apart[apart != 0].items()}


def test_invented_sentences_move_support_alone(shared_data: Path, tmp_path: Path) -> None:
    def invent(task: dict[str, Any]) -> None:
        task["predictions"][0]["text"] += INVENTED

    before, after, changed = planted(shared_data, tmp_path, invent)
    assert moved(before, after, "outcomes", "kind", "outcome") == {}
    old, new = before.turns.set_index("turn"), after.turns.set_index("turn")
    more = new["unsupported"] - old["unsupported"]
    assert set(more[more > 0].index) == changed and (more[list(changed)] == 1).all()
    assert after.support["unsupported"].iloc[0] > before.support["unsupported"].iloc[0]
    scores = [
        one.turn_scores.set_index(["metric", "turn"])["value"]["supported"]
        for one in (before, after)
    ]
    old_scores, new_scores = (one[sorted(changed)].to_numpy() for one in scores)
    assert (
        (new_scores < old_scores) | (old_scores == 0)
    ).all() and new_scores.mean() < 0.8 * old_scores.mean()


def test_refusals_move_from_answered_to_refused(shared_data: Path, tmp_path: Path) -> None:
    def refuse(task: dict[str, Any]) -> None:
        task["predictions"][0]["text"] = (
            "I am sorry, but the provided passages do not mention this."
        )

    before, after, changed = planted(shared_data, tmp_path, refuse)
    assert moved(before, after, "outcomes", "outcome") == {
        "answered": -len(changed),
        "refused": len(changed),
    }
    assert moved(before, after, "causes", "cause") == {
        "none": -len(changed),
        "generator": len(changed),
    }


def test_removed_gold_passages_move_refusals_to_retrieval(
    shared_data: Path, tmp_path: Path
) -> None:
    def remove(task: dict[str, Any]) -> None:
        task["contexts"] = []
        task["predictions"][0]["text"] = "I do not have that information."

    before, after, changed = planted(shared_data, tmp_path, remove)
    assert moved(before, after, "outcomes", "outcome") == {
        "answered": -len(changed),
        "abstained": len(changed),
    }
    assert moved(before, after, "causes", "cause") == {
        "none": -len(changed),
        "retrieval": len(changed),
    }


@pytest.mark.parametrize(("name", "least"), [("clapnq", 0.99), ("cloud", 0.84)])
def test_sentences_of_other_conversations_have_no_support(
    shared_data: Path, name: str, least: float
) -> None:
    """The claim of docs/answers.md: of planted sentences, 84 to 99% are found, and 2 to 5% of the answers' own."""
    with gzip.open(shared_data / "mtrag-answers" / f"{name}.jsonl.gz", "rt") as file:
        tasks = [json.loads(line) for line in file]
    made = [
        task
        for task in tasks
        if response_of(task["predictions"][0]["text"]) in ("answered", "partly")
    ]
    random, words = np.random.default_rng(0), cache(content_words)
    own, planted = [], []
    for task in made:
        passages = {one["document_id"]: one["text"] for one in task["contexts"]}
        others = [
            one for one in made if one["task_id"].split("<")[0] != task["task_id"].split("<")[0]
        ]
        for text, found in ((task["predictions"][0]["text"], own),
                            (others[random.integers(len(others))]["predictions"][0]["text"], planted)):  # fmt: skip
            found += [
                one.supported
                for one in checked_sentences(text, passages, words, 0.5)
                if one.supported is not None
            ]
    assert np.mean(own) >= 0.95 and 1 - np.mean(planted) >= least - 0.02


# ---------------------------------------------------------------- labels, programs, metrics by name, the gate


def tasks_of(folder: Path, name: str, answers_: Sequence[str], **more: Any) -> Path:
    """A file of tasks: two turns per conversation; a passage ``gold`` that says what the first answer says."""
    path = folder / f"{name}.jsonl"
    rows = [
        {"task_id": f"c{place // 2}<::>{place % 2}", "predictions": [{"text": text}],
         "contexts": [{"document_id": "gold", "text": "Oceans cover most of the planet."}],
         **{key: value[place] for key, value in more.items()}}
        for place, text in enumerate(answers_)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


ANSWERED, REFUSED = "Oceans cover most of the planet.", "I do not know the answer."


def test_labels_of_some_conversations_correct_the_shares(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    truth = random.random(40) < 0.4
    seen = np.where(random.random(40) < 0.2, ~truth, truth)  # the detector errs in a fifth
    path = tasks_of(tmp_path, "a", [REFUSED if one else ANSWERED for one in seen])
    turns = [f"c{place // 2}<::>{place % 2}" for place in range(40)]
    labels = tmp_path / "labels.csv"
    rows = [
        f"{turn},{'abstained' if one else 'answered'}"
        for turn, one in zip(turns, truth, strict=True)
    ]
    (tmp_path / "qrels.txt").write_text("".join(f"{turn} 0 gold 1\n" for turn in turns))
    given: dict[str, Any] = {
        "tasks": {"a": path},
        "gold_passages": tmp_path / "qrels.txt",
        "labels": labels,
    }

    labels.write_text("\n".join(["turn,response", *rows[:24]]) + "\n")
    result = robustcs.answers(**given)
    row = result.estimates.set_index("outcome").loc["refused"]
    assert (row["human_only"], row["judge_only"]) == (truth[:24].mean(), seen.mean()) and row[
        "judged_units"
    ] == 12
    assert row["ci_low"] < truth.mean() < row["ci_high"] and row["judge"] == "detector"
    assert (
        set(result.detector["label"]) == {"abstained", "answered"}
        and result.detector["count"].sum() == 24
    )
    assert (result.outcomes["outcome"] == "refused").any() and result.responses_by == {
        "a": "detector"
    }

    # single turns: the turn is the unit
    labels.write_text("\n".join(["turn,response", *rows[0:24:2]]) + "\n")
    assert robustcs.answers(**given).estimates["judged_units"].iloc[0] == 12

    # all turns: labels replace the detector
    labels.write_text("\n".join(["turn,response", *rows]) + "\n")
    result = robustcs.answers(**given)
    assert result.responses_by == {"a": "labels"} and not len(result.estimates)
    assert counts(result, by=["outcome"])["refused"] == truth.sum()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn,response\nc0<::>0,silent\n", "response is 'silent'; write answered, "),
        ("turn,answerability\nc0<::>0,maybe\n", "answerability is 'maybe'; write answerable, "),
        ("turn,correct\nc0<::>0,2\n", "correct is '2'"),
        ("turn,correct\nc0<::>0,1\nc0<::>0,0\n", "is labelled twice"),
        ("turn,note\nc0<::>0,x\n", "no labels; the columns are: turn, note"),
        ("turn,system,correct\nc0<::>0,b,1\n", "has labels of the system 'b'"),
        ("turn,correct\nx_1,1\n", "labels 1 turn without an answer: x_1; check that"),
    ],
)
def test_bad_labels_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(RobustcsError, match=message):
        robustcs.answers(
            tasks={"a": tasks_of(tmp_path, "a", [ANSWERED] * 4)}, labels=tmp_path / "labels.csv"
        )


def test_a_program_replaces_words(tmp_path: Path) -> None:
    script = tmp_path / "judge.py"
    script.write_text(
        "import json, sys\nfor line in sys.stdin:\n    asked = json.loads(line)\n"
        "    assert [one['text'] for one in asked['passages']] == ['Oceans cover most of the planet.']\n"
        "    said = {'response': 'asked_back', 'supported': [False for _ in asked['sentences']]}\n"
        "    print(json.dumps({'id': asked['id'], **said}))\n"
    )
    given: dict[str, Any] = {
        "tasks": {"a": tasks_of(tmp_path, "a", [ANSWERED] * 4)},
        "with_": f"python {script}",
    }
    result = robustcs.answers(**given)
    assert set(result.turns["response"]) == {"asked_back"} and result.responses_by == {
        "a": "program"
    }
    assert result.support[["unsupported", "by"]].iloc[0].tolist() == [1.0, "program"]


def test_metrics_by_name_are_a_criterion_and_scores(tmp_path: Path) -> None:
    scores = [{"RL_F": [value]} for value in (0.9, 0.2, 0.5, None)]
    path = tasks_of(
        tmp_path, "a", [ANSWERED] * 4, metrics=scores, answerability=[["ANSWERABLE"]] * 4
    )
    result = robustcs.answers(tasks={"a": path}, metrics="RL_F", thresholds=">=0.5")
    assert result.turns["outcome"].tolist() == ["correct", "wrong", "correct", "answered"]
    assert result.evaluated.policy_line.endswith(
        "correct: RL_F ≥ 0.5 (a: 1 answer without a value)"
    )
    with pytest.raises(
        RobustcsError, match="no file of answers has the metric RLF; choose from RL_F"
    ):
        robustcs.answers(tasks={"a": path}, metrics="RLF")
    means = robustcs.evaluate(scores={"a": path}, metrics="RL_F", missing="own").measures
    assert means["value"].iloc[0] == pytest.approx((0.9 + 0.2 + 0.5) / 3)


def test_metrics_of_the_files_are_compared_by_name(tmp_path: Path) -> None:
    for name, value in (("old", 0.9), ("new", 0.4)):
        (tmp_path / name).mkdir()
        tasks_of(tmp_path / name, "a", [ANSWERED] * 40, metrics=[{"RL_F": [value]}] * 40)
        (tmp_path / name / "robustcs.toml").write_text(
            'name = "x"\n[answers.tasks]\na = "a.jsonl"\n'
        )
    found = robustcs.compare(
        tmp_path / "old", tmp_path / "new", metrics="RL_F", fail_if=["RL_F drop>0.1"]
    )
    assert found.measures[["system", "metric", "old", "new"]].to_numpy().tolist() == [
        ["a", "RL_F", 0.9, 0.4]
    ]
    assert found.gate["outcome"].tolist() == ["failed"]
    with pytest.raises(RobustcsError, match="choose from RL_F"):
        robustcs.compare(tmp_path / "old", tmp_path / "new", metrics="RLF")


def test_outcomes_are_conditions_of_the_gate(tmp_path: Path) -> None:
    states = {}
    for name, made_up in (("old", 2), ("new", 30)):
        folder = tmp_path / name
        folder.mkdir()
        tasks_of(
            folder,
            "a",
            [ANSWERED] * made_up + [REFUSED] * (40 - made_up),
            answerability=[["UNANSWERABLE"]] * 40,
        )
        (folder / "robustcs.toml").write_text('name = "x"\n[answers.tasks]\na = "a.jsonl"\n')
        states[name] = folder

    def rows(old: str, new: str, condition: str) -> list[str]:
        return list(robustcs.compare(states[old], states[new], fail_if=[condition]).gate["outcome"])

    assert rows("old", "new", "made_up>0.02") == ["failed"] and rows(
        "new", "old", "made_up>0.02"
    ) == ["passed"]
    assert rows("old", "old", ":a made_up>0.02") == ["passed"]
    assert (
        rows("old", "new", "wrong>0.02") == rows("old", "new", ":b made_up>0.02") == ["cannot tell"]
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("length", "labelled"), [(1, 20), (1, 50), (1, 200), (4, 20), (4, 40), (4, 80)]
)
def test_corrected_shares_cover_the_truth(shared_data: Path, length: int, labelled: int) -> None:
    """SPEC 19: shares corrected by labels of random units cover 93 to 97% on average (99 for few single turns); see METHODS B.

    Truth: idk_eval of gemini and glm on MTRAG-UN. Judge: the detector. Units: single turns, or four turns.
    """
    random, trials, hits = np.random.default_rng(length * labelled), 200, []
    for name in ("gemini", "glm"):
        with gzip.open(shared_data / "mtragun" / f"{name}.jsonl.gz", "rt") as file:
            tasks = [json.loads(line) for line in file][:504]
        said = [
            {1.0: "abstained", 0.5: "partly"}.get(task["metrics"]["idk_eval"][0], "answered")
            for task in tasks
        ]
        found = [response_of(task["predictions"][0]["text"]) for task in tasks]
        turns = [f"{place // length}_{place % length}" for place in range(504)]
        truth = [outcome_of("unanswerable", one, None, None) for one in said]  # type: ignore[arg-type]
        units = units_of(turns) if length > 1 else units_of(turns, "turn")
        for _ in range(trials):
            order = random.permutation(504)
            chosen = np.isin(units.codes, random.permutation(units.count)[:labelled])
            human = [
                truth[one] if there else None for one, there in zip(order, chosen, strict=True)
            ]
            seen = [outcome_of("unanswerable", found[one], None, None) for one in order]
            nothing, none = np.full(504, np.nan), (None,) * 504
            made = Traced(name, "detector", tuple(found), (0,) * 504, none, tuple(seen), ("",) * 504, none, tuple(found),
                          tuple(human), nothing, nothing)  # fmt: skip
            rows, _ = corrected_shares(Journey(turns, ["unanswerable"] * 504, [made], units))
            for row in rows:
                share = truth.count(row["outcome"]) / 504
                hits += [row["ci_low"] - 1e-9 <= share <= row["ci_high"] + 1e-9] * (
                    row["outcome"] != "no_answer"
                )
    assert 0.93 <= np.mean(hits) <= (0.97 if length * labelled > 20 else 0.995) + 0.01


def test_exports_have_scores_of_every_model(tmp_path: Path) -> None:
    marks = {"a": (0.9, 0.7), "b": (0.1, 0.3)}
    export = {
        "models": [{"model_id": name} for name in marks], "metrics": [{"name": "RL_F"}], "documents": [],
        "tasks": [{"task_id": f"c{place}<::>1", "contexts": []} for place in range(6)],
        "evaluations": [
            {"task_id": f"c{place}<::>1", "model_id": name, "model_response": f"Dough {name}",
             "annotations": {"RL_F": {str(one): {"value": one} for one in values}, "kind": {"x": {"value": "good"}}}}
            for place in range(6) for name, values in marks.items()
        ],
    }  # fmt: skip
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export))
    means = robustcs.evaluate(scores={"a": path, "b": path}, metrics="RL_F").measures.set_index(
        "system"
    )["value"]
    assert means.to_dict() == pytest.approx({"a": 0.8, "b": 0.2})
    with pytest.raises(RobustcsError, match="the file contains scores of a, b, but not of 'c'"):
        robustcs.evaluate(scores={"c": path}, metrics="RL_F")
    result = robustcs.answers(tasks={"a": path, "b": path}, metrics="RL_F", thresholds=">=0.5")
    assert (
        set(result.turns["kind"]) == {"unknown"} and result.turns["sentences"].tolist() == [1] * 12
    )


def test_citations_decide_where_they_exist(tmp_path: Path) -> None:
    said = [{"text": text, "citations": cited} for text, cited in (
        (ANSWERED, [0]), ("Whales swim in rivers.", [0]), (ANSWERED, []),
    )]  # fmt: skip
    rows = [
        {"run_id": "a", "topic_id": f"{place}_1", "references": ["d1"], "answer": said}
        for place in range(5)
    ]
    (tmp_path / "rag.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "texts.jsonl").write_text(
        '{"id": "d1", "contents": "Oceans cover most of the planet."}\n'
    )
    (tmp_path / "qrels.txt").write_text("".join(f"{place}_1 0 d1 1\n" for place in range(5)))
    given: dict[str, Any] = {
        "responses": {"a": tmp_path / "rag.jsonl"},
        "gold_passages": tmp_path / "qrels.txt",
    }
    result = robustcs.answers(**given, collection=tmp_path / "texts.jsonl")
    assert result.turns[["sentences", "unsupported"]].drop_duplicates().to_numpy().tolist() == [
        [3, 2]
    ]
    assert (
        result.support["by"].tolist() == ["citations and words"]
        and (result.turns["given"] == 1).all()
    )
    # without the texts of passages nothing was compared, with citations or without
    assert robustcs.answers(**given).support.empty
    (tmp_path / "rag.jsonl").write_text(
        "".join(json.dumps({**row, "answer": [{"text": ANSWERED}]}) + "\n" for row in rows)
    )
    assert robustcs.answers(**given).support.empty


def test_answers_in_another_language_are_told(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"{place}_1 0 d1 1\n" for place in range(6)))
    for name, said in {
        "de": "Dazu habe ich leider keine Informationen gefunden.",
        "fr": "Je n'ai pas trouvé d'informations dans les documents.",
        "en": "The bill is in your account.",
        "names": "Paris",  # too short to tell
    }.items():
        (tmp_path / f"{name}.json").write_text(
            json.dumps({f"{place}_1": said for place in range(6)})
        )
    given = {name: tmp_path / f"{name}.json" for name in ("de", "fr", "en", "names")}
    notes = robustcs.answers(responses=given, gold_passages=tmp_path / "qrels.txt").evaluated.notes
    (told,) = [note for note in notes if "frequent English words" in note]
    assert told.startswith(
        "few answers of de, fr contain frequent English words; the detector does not recognise refusals"
    )
    assert any(note.startswith("a detector (English word lists) determines") for note in notes)


def test_a_passage_without_text_decides_nothing() -> None:
    passages = {"d1": "Oceans cover most of the planet.", "d2": ""}
    answer = "Oceans cover the planet. Whales swim in rivers."

    def supported(cited: Any = None) -> list[bool | None]:
        return [
            one.supported for one in checked_sentences(answer, passages, content_words, 0.5, cited)
        ]

    first, second = "Oceans cover the planet.", "Whales swim in rivers."
    assert supported() == [True, None]
    assert supported([(first, ("d1", "d2")), (second, ("d1",))]) == [True, False]
    assert supported([(first, ("d2",)), (second, ())]) == [None, False]


def test_stated_references_precede_the_run_of_the_same_name(tmp_path: Path) -> None:
    rows = [
        {"topic_id": f"{place}_1", "references": ["d1"], "answer": [{"text": REFUSED}]}
        for place in range(6)
    ]
    for name, some in {"whole": rows, "first": rows[:3], "rest": rows[3:]}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    (tmp_path / "plain.json").write_text(json.dumps({f"{place}_1": REFUSED for place in range(6)}))
    (tmp_path / "a.trec").write_text("".join(f"{place}_1 Q0 gold 1 1 x\n" for place in range(6)))
    (tmp_path / "qrels.txt").write_text("".join(f"{place}_1 0 gold 1\n" for place in range(6)))

    def causes(answers_: str, more: str = "") -> set[str]:
        (tmp_path / "robustcs.toml").write_text(
            f'name = "x"\nqrels = "qrels.txt"\n[runs]\na = "a.trec"\n[answers.responses]\na = {answers_}\n{more}'
        )
        return set(robustcs.answers(project=tmp_path / "robustcs.toml").turns["cause"])

    assert causes('"whole.jsonl"') == causes('["first.jsonl", "rest.jsonl"]') == {"retrieval"}
    assert (
        causes('"whole.jsonl"', '[answers.runs]\na = "a.trec"\n')
        == causes('"plain.json"')
        == {"generator"}
    )


def test_the_cell_of_a_run_names_the_component(tmp_path: Path) -> None:
    """Another wording finds gold in turn 0, another ranker in turn 1, either in 2, only both in 3, and none in 4."""
    hits = {"raw/a": (), "t5/a": (0, 2), "raw/b": (1, 2), "t5/b": (3,)}
    for name, found in hits.items():
        lines = [f"{turn}_1 Q0 {'gold' if turn in found else 'other'} 1 1 x\n" for turn in range(5)]
        (tmp_path / f"{name.replace('/', '_')}.trec").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("".join(f"{turn}_1 0 gold 1\n" for turn in range(5)))
    (tmp_path / "answers.json").write_text(json.dumps({f"{turn}_1": REFUSED for turn in range(5)}))
    cells = "".join(f'"{name}" = "{name.replace("/", "_")}.trec"\n' for name in hits)
    (tmp_path / "robustcs.toml").write_text(
        f'name = "x"\nqrels = "qrels.txt"\n[components]\n{cells}[answers.responses]\nours = "answers.json"\n'
        '[answers.runs]\nours = "raw_a.trec"\n'
    )
    causes = robustcs.answers(project=tmp_path / "robustcs.toml").turns["cause"].tolist()
    assert causes == ["wording", "ranker", "either", "both", "retrieval"]


def test_tasks_and_labels_as_python_objects() -> None:
    tasks = [{"task_id": f"c{place}<::>1", "predictions": [{"text": REFUSED}], "contexts": [{"document_id": "gold"}]}
             for place in range(6)]  # fmt: skip
    labels = [{"turn": task["task_id"], "answerability": "partial"} for task in tasks]
    gold = {str(task["task_id"]): {"gold": 1} for task in tasks}
    result = robustcs.answers(tasks={"a": tasks}, labels=labels, gold_passages=gold)
    assert set(result.turns["kind"]) == {"partial"} and set(result.turns["outcome"]) == {"refused"}
