"""Do the judgments fit the passages of the new state? Both rules at their borders, and on CAsT 2019 with renamed passages."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustcs
from robustcs.documents.document import Paragraph
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.studies.compare.analysis import Comparison, compare
from robustcs.studies.compare.cases import Drawn, Gate
from robustcs.studies.compare.changes import Rescored
from robustcs.studies.compare.fit import DOUBTFUL, LOST, Fits, Passage, spread
from robustcs.studies.compare.gate import no_worse, parse_condition
from robustcs.studies.compare.show import show
from robustcs.studies.compare.states import SystemState
from robustcs.studies.fields import turns_of
from tests.case_files import case
from tests.studies.compare.test_analysis import EVALUATED, METRIC, TURNS, compared, state, system

SCORES = dict.fromkeys(TURNS, 0.5)
TOP = 3
#: The 210 places of the top 3: first those of the first turn of each of ten conversations.
PLACES = [
    (turn, rank)
    for turn in sorted(TURNS, key=lambda turn: turn.split("_")[1])
    for rank in range(TOP)
]


def no_fit(old: object, new: object) -> str:
    """The reason of rule 1, up to the number of passages to judge."""
    return f"{LOST}: the judged share of the top 3 falls from {old}% to {new}%"


def run(
    scores: Mapping[str, float], judged: int = 210, new: int = 0, moved: int = 0, **more: Any
) -> SystemState:
    """A run with five passages for each of 70 turns, judged in the first ``judged`` places of the top 3.

    In the last places of the top 3 it holds ``new`` passages of its own, and before them ``moved`` from below the top.
    """
    heads: dict[str, list[tuple[str, int | None]]] = {
        turn: [(f"d{rank}", 0) for rank in range(5)] for turn in TURNS
    }
    for place, (turn, rank) in enumerate(PLACES):
        name = "new" if place >= 210 - new else "deep" if place >= 210 - new - moved else "d"
        heads[turn][rank] = (f"{name}{rank}", 0 if place < judged else None)
    return replace(system(scores, ranking=f"{judged} {new} {moved}", **more), heads=heads)


def fit(
    old: SystemState, new: SystemState, deeper: Set[Passage] = frozenset(), **others: SystemState
) -> Any:
    return Fits(state({"a": old, **others}), state({"a": new}), {}, deeper).of("a", METRIC, TURNS)


@pytest.mark.parametrize(("judged", "lost"), [(10, False), (9, True), (0, True)])
def test_the_border_of_the_first_rule(judged: int, lost: bool) -> None:
    """A twentieth of 200 judged passages are 10."""
    found = fit(run(SCORES, 200), run(SCORES, judged))
    assert found.lost == lost and len(found.unjudged) == 210 - judged
    assert (found.judged_old, found.judged_new) == pytest.approx((200 / 210, judged / 210))
    assert not fit(run(SCORES, 0), run(SCORES, 0)).lost  # there was nothing to lose


@pytest.mark.parametrize(("new", "doubtful"), [(10, False), (11, True)])
def test_the_second_rule_needs_a_fall_of_five_points(new: int, doubtful: bool) -> None:
    """10 of 210 are 4.8%."""
    assert fit(run(SCORES), run(SCORES, 210 - new, new)).doubtful == doubtful


@pytest.mark.parametrize(("new", "doubtful"), [(10, False), (11, True)])
def test_the_second_rule_needs_most_passages_that_entered_to_be_new(
    new: int, doubtful: bool
) -> None:
    """20 unjudged passages entered the top; the old run retrieved the others, or another run of the old state did."""
    other = {turn: [(f"deep{rank}", 0) for rank in range(TOP)] for turn in TURNS}
    after = run(SCORES, 190, new, 20 - new)
    deeper = {(turn, f"deep{rank}") for turn, rank in PLACES}
    for found in (
        fit(run(SCORES), after, deeper),
        fit(run(SCORES), after, set(), b=replace(system(SCORES), heads=other)),
    ):
        assert (found.entered, found.new_passages, found.possibly_new) == (20, new, 0)
        assert found.doubtful == doubtful


def test_unjudged_passages_that_were_in_the_top_before_do_not_count() -> None:
    """Of 40 unjudged passages in the new top, 25 were there before; all others are new."""
    found = fit(run(SCORES, 185), run(SCORES, 170, 15))
    assert (len(found.unjudged), found.entered, found.new_passages, found.doubtful) == (
        40,
        15,
        15,
        True,
    )


def test_a_report_does_not_know_deeper_passages() -> None:
    below = replace(run(SCORES), below=dict.fromkeys(TURNS, 95))
    found = fit(below, run(SCORES, 190, 12, 8))
    assert (found.new_passages, found.possibly_new, found.doubtful) == (0, 20, True)
    assert found.problems == [
        "the judged share of the top 3 falls from 100.0% to 90.5%, and the old state is a report, which does not show whether"
        " the 20 unjudged passages that entered it are new; name its project instead"
    ]
    some = replace(below, below=dict.fromkeys(TURNS[:-1], 95))  # of the last turn, all is known
    (said,) = fit(some, run(SCORES, 190, 12, 8)).problems
    assert said.endswith(
        "and 3 of the 20 unjudged passages that entered it are new (17 more may be: the old state is a report; name its project"
        " instead)"
    )
    # nothing unjudged lies deeper
    assert fit(run(SCORES), run(SCORES, 190, 12, 8)).possibly_new == 0


def test_scores_alone_have_no_passages() -> None:
    assert fit(system(SCORES), run(SCORES)) is None and fit(run(SCORES), system(SCORES)) is None


def test_the_old_top_counts_under_the_new_judgments() -> None:
    zero = {METRIC: SCORES}
    again = Rescored(
        {METRIC: SCORES}, zero, zero, {turn: [None] if turn == "1_1" else [0] * 5 for turn in TURNS}
    )
    found = Fits(state({"a": run(SCORES)}), state({"a": run(SCORES)}), {"a": again}, set()).of(
        "a", METRIC, TURNS
    )
    assert found and found.both.tolist() == [turn != "1_1" for turn in TURNS]


# ---------------------------------------------------------------- decisions


def by_turn(values: np.ndarray) -> dict[str, float]:
    return dict(zip(TURNS, values.tolist(), strict=True))


#: The last three turns of every conversation hold 90 new passages and score 0.
LATE = np.arange(70) % 7 >= 4
#: Differences of conversations without a mean.
TIDE = np.repeat([0.03, -0.03, 0.02, -0.02, 0.01, -0.01, 0.005, -0.005, 0.0, 0.0], 7)


def dropping(by: float) -> SystemState:
    """The first four turns of every conversation lose ``by``, more or less."""
    return run(by_turn(np.where(LATE, 0.0, 0.5 - by + TIDE)), 120, 90)


@pytest.mark.parametrize(
    ("by", "outcome", "rule", "reason"),
    [
        (0.1, "failed", "",
         "the mean drops by 0.271, significantly more than 0.02 (adjusted p = 0.0010); also on the 40 turns whose top 3"
         " passages are judged in both states, the mean drops by 0.100 (adjusted p = 0.0010); the judged share of the top 3"
         " falls from 100.0% to 57.1%, and all 90 unjudged passages that entered it are new"),
        (0.0, "cannot tell", "new passages",
         "the mean drops by 0.214 (adjusted p = 0.0010), but not significantly on the 40 turns whose top 3 passages are"
         " judged in both states: by 0.000 (adjusted p = 0.998); the judged share of the top 3 falls from 100.0% to"
         " 57.1%, and all 90 unjudged passages"
         " that entered it are new"),
    ],
)  # fmt: skip
def test_a_drop_must_hold_on_judged_turns(by: float, outcome: str, rule: str, reason: str) -> None:
    (row,) = compared(
        state({"a": run(SCORES)}), state({"a": dropping(by)}), "drop>0.02"
    ).gate.itertuples()
    assert (row.outcome, row.rule, row.turns_judged, row.new_passages) == (outcome, rule, 40, 90)
    assert row.drop_judged == pytest.approx(by, abs=1e-9) and row.reason == reason


@pytest.mark.parametrize(
    ("by", "p", "outcome"), [(0.030, 0.066, "cannot tell"), (0.031, 0.045, "failed")]
)
def test_the_border_of_significance_on_judged_turns(by: float, p: float, outcome: str) -> None:
    (row,) = compared(
        state({"a": run(SCORES)}), state({"a": dropping(by)}), "drop>0.02"
    ).gate.itertuples()
    assert (row.outcome, row.p_judged) == (
        outcome,
        pytest.approx(p, abs=5e-4),
    ) and row.p_corrected == 1 / 1024


def test_the_p_on_judged_turns_is_in_the_same_family() -> None:
    """Alone, the drop on 40 turns is significant; beside thirty others that differ, it is not."""
    rng = np.random.default_rng(3)
    others = {f"r{number}": system(by_turn(0.5 + rng.normal(0, 0.1, 70))) for number in range(30)}
    same = dict.fromkeys(others, system(SCORES))
    alone = compared(
        state({"a": run(SCORES)}), state({"a": dropping(0.04)}), "drop>0.02"
    ).gate.iloc[0]
    among = compared(
        state({"a": run(SCORES), **same}), state({"a": dropping(0.04), **others}), "drop>0.02"
    ).gate.iloc[0]
    assert (alone.outcome, among.outcome) == (
        "failed",
        "cannot tell",
    ) and among.rule == "new passages"
    assert alone.p_judged < 0.05 < among.p_judged and among.p_corrected < 0.05


@pytest.mark.parametrize("condition", ["drop>0.02", "p<0.05", "0.02"])
@pytest.mark.parametrize("evidence", ["test", "expected", "bounds"])
def test_every_kind_of_evidence_and_condition(condition: str, evidence: Any) -> None:
    """Nothing fails whose drop comes from new passages; what drops on judged turns, too, does."""
    what = no_worse(float(condition)) if condition[0].isdigit() else parse_condition(condition)
    for by, outcome in ((0.0, "cannot tell"), (0.1, "failed")):
        old, new = run(SCORES), dropping(by)
        values = np.array([list(one.scores[METRIC].values()) for one in (new, old)])
        drawn = Drawn(
            ("a", "a, old"), (METRIC,), TURNS, np.tile(values[None, :, None], (5, 1, 1, 1)), 0, ()
        )
        result = compare(
            state({"a": old}), state({"a": new}), EVALUATED, {}, Gate([what], evidence, drawn=drawn)
        )
        assert result.outcome == outcome
        assert result.gate["rule"][0] == ("new passages" if outcome == "cannot tell" else "")


@pytest.mark.parametrize("what", ["drop>0.02", "p<0.05", "qr>0.05", "qa>0.05"])
def test_judgments_that_do_not_fit_come_before_every_test(what: str) -> None:
    """Also in conditions on errors, where Human or the rewriter may be the one without judgments."""
    zero = dict.fromkeys(TURNS, 0.0)
    old = state(
        {"a": run(SCORES), "human": run(dict.fromkeys(TURNS, 1.0), role="human")},
        thresholds=(">=0.5",),
    )
    for name in ("a", "human"):
        new = replace(
            old,
            systems={**old.systems, name: replace(run(zero, 0, 210), role=old.systems[name].role)},
        )
        row = next(row for row in compared(old, new, what).gate.itertuples() if row.rule)
        assert (row.outcome, row.to_judge) == ("cannot tell", 210)
        assert row.reason == f"{no_fit(100, 0)}; judge 210 passages (robustcs judge) or map the ids"


def test_shares_of_errors_on_judged_turns() -> None:
    """The rewriter errs on the turns with new passages alone."""
    human = run(dict.fromkeys(TURNS, 1.0), role="human")
    old, new = (
        state({"a": one, "human": human}, thresholds=(">=0.5",))
        for one in (run(dict.fromkeys(TURNS, 1.0)), dropping(-0.3))
    )
    (row,) = compared(old, new, "qr>0.05").gate.itertuples()
    assert (row.outcome, row.rule, row.turns_judged) == ("cannot tell", "new passages", 40)
    assert row.reason == (
        "the share of rewriter errors grows by 42.9 percentage points (adjusted p = 0.0010), but not significantly on the"
        " 40 turns whose top 3 passages are judged in both states: by 0.0 percentage points (adjusted p = 1.000); the"
        " judged share of the top 3 of a"
        " falls from 100.0% to 57.1%, and all 90 unjudged passages that entered it are new"
    )


def test_no_turn_is_judged_in_both_states() -> None:
    """A passage of every turn is new, which leaves 66.7% judged."""
    after = run(dict.fromkeys(TURNS, 0.0))
    heads = {turn: [("new", None), *head[1:]] for turn, head in after.heads.items()}
    new = replace(after, heads=heads, rankings=dict.fromkeys(TURNS, "other"))
    (row,) = compared(state({"a": run(SCORES)}), state({"a": new}), "drop>0.02").gate.itertuples()
    assert (row.outcome, row.turns_judged) == ("cannot tell", 0) and np.isnan(row.p_judged)
    assert (
        "but there are no turns whose top 3 passages are judged in both states; the judged"
        in row.reason
    )


# ---------------------------------------------------------------- sentences


def lost(result: Comparison) -> list[str]:
    return [block.text for block in show(result) if isinstance(block, Paragraph)][
        : len(result.doubts)
    ]


def test_without_a_gate_the_limit_comes_first() -> None:
    """Shares that differ between systems are given as a range."""
    names = [*"abcdefg"]
    zero = dict.fromkeys(TURNS, 0.0)
    old = state({name: run(SCORES, 210 - place) for place, name in enumerate(names)})
    new = state({name: run(zero, place, 210) for place, name in enumerate(names)})
    result = compared(old, new)
    said = f"a, b, c, d, e and 2 more (NDCG@3): {no_fit('97–100', '0–3')}; judge 210 passages (robustcs judge) or map the ids."
    assert result.doubts == lost(result) == [said]
    assert all(note.startswith(LOST) for note in result.measures["note"])
    result = compared(state({"a": run(SCORES)}), state({"a": dropping(0.1)}))
    assert result.doubts == lost(result) == [
        "a, NDCG@3: missing judgments may explain part or all of the change of −0.271: on the 40 turns whose top 3 passages are"
        " judged in both states it is −0.100; the judged share of the top 3 falls from 100.0% to 57.1%, and all 90 unjudged"
        " passages that entered it are new."
    ]  # fmt: skip
    assert result.measures["note"][0].startswith(DOUBTFUL)
    assert result.reasons.values.tolist() == [
        ["", "", "a, NDCG@3", 1, result.doubts[0].partition(": ")[2][:-1]]
    ]
    assert not compared(state({"a": run(SCORES)}), state({"a": run(zero)})).doubts


def test_spread() -> None:
    assert spread([0.2, 0.1], "{:.1f}") == "0.1–0.2" and spread([-0.0001], "{:+.3f}") == "0.000"
    assert spread([-0.5, 0.25], "{:+.2f}", " to ") == "−0.50 to +0.25"


# ---------------------------------------------------------------- commands


def test_rechunked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the new state every passage id is another one."""
    from robustcs.cli.main import run as robustcs_

    monkeypatch.chdir(case("rechunked", tmp_path))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    reason = f"{no_fit(100, 0)}; judge 66 passages (robustcs judge) or map the ids"
    for form in ("table", "markdown", "json"):
        line = [
            "compare",
            "old",
            "new",
            "--fail-if",
            "drop>0.02",
            "--table",
            "gate",
            "--format",
            form,
        ]
        assert robustcs_([*line, "--gate-report", "gate.json"]) == 5
        out, err = capfd.readouterr()
        if form != "json":  # there every row has its reason
            assert " ".join(out.split()).count(reason) == 1
        annotation = reason.replace("%", "%25")
        assert err.count(f"cannot tell: original, qr, human (NDCG@3): {annotation}\n") == 1
    assert robustcs_(["compare", "old", "new"]) == 0
    assert capfd.readouterr().out.startswith(
        "Original, QR, Human (NDCG@3): the judgments no longer fit the passages: the\n"
    )
    assert robustcs_(["compare", "old", "old", "--fail-if", "drop>0.02"]) == 0


def test_reports_keep_what_the_rules_need(tmp_path: Path) -> None:
    """In place of one project or both; all four passages of a turn are kept."""
    folder = case("rechunked", tmp_path)
    for name in ("old", "new"):
        kept = folder / f"{name}_report" / "turns.jsonl"
        kept.parent.mkdir(parents=True)
        turns = TurnInputs(Workspace(read_project(folder / name / "robustcs.toml")), apart=True)
        turns_of(turns).write(kept)
    for old, new in (("old_report", "new"), ("old", "new_report"), ("old_report", "new_report")):
        found = robustcs.compare(old=folder / old, new=folder / new, fail_if=["drop>0.02"]).gate
        assert (
            set(found["rule"]) == {"no fit"}
            and set(found["possibly_new"]) == {0}
            and set(found["to_judge"]) == {66}
        )


@pytest.fixture(scope="module")
def cast(shared_data: Path) -> tuple[Path, list[list[str]]]:
    """The folder of CAsT 2019, and the rows of the run of its rewriter."""
    folder = shared_data / "cast2019"
    lines = (
        gzip.decompress((folder / "runs" / "bert_base_cv.trec.gz").read_bytes())
        .decode()
        .splitlines()
    )
    return folder, [line.split() for line in lines]


def project(folder: Path, data: Path, name: str, file: Path) -> str:
    text = f'qrels = "{data / "qrels.txt.gz"}"\nmetrics = ["ndcg_cut_3"]\npolicy.relevance_level = 2\n[runs]\nqr = "{file}"\n'
    (folder / f"{name}.toml").write_text(text)
    return str(folder / f"{name}.toml")


def renamed(cast: tuple[Path, list[list[str]]], folder: Path, percent: int, seed: int) -> Any:
    """The row of the gate after ``percent`` of the passages got other ids."""
    data, rows = cast
    ids = np.unique([row[2] for row in rows])
    chosen = set(
        ids[
            np.random.default_rng(seed).permutation(len(ids))[: round(len(ids) * percent / 100)]
        ].tolist()
    )
    lines = (
        f"{turn} Q0 {'v2-' * (name in chosen)}{name} 0 {score} x\n"
        for turn, _, name, _, score, _ in rows
    )
    (folder / "new.trec").write_text("".join(lines))
    old = project(folder, data, "old", data / "runs" / "bert_base_cv.trec.gz")
    result = robustcs.compare(
        old=old, new=project(folder, data, "new", folder / "new.trec"), fail_if=["drop>0.02"]
    )
    return result.gate.iloc[0]


@pytest.mark.parametrize(("percent", "rule"), [(10, "new passages"), (100, "no fit")])
def test_renamed_passages_do_not_fail(cast: Any, tmp_path: Path, percent: int, rule: str) -> None:
    row = renamed(cast, tmp_path, percent, 1)
    assert (
        (row.outcome, row.rule) == ("cannot tell", rule)
        and row.p_corrected < 0.05
        and row["drop"] > 0.02
    )


@pytest.mark.long
@pytest.mark.parametrize("percent", [10, 20, 30, 40, 50, 60, 90, 100])
def test_renamed_passages_never_fail(cast: Any, tmp_path: Path, percent: int) -> None:
    """On the turns that are judged in both states nothing changes; a small drop may pass with a small fall of the share."""
    for seed in range(5):
        row = renamed(cast, tmp_path, percent, seed)
        if row.judged_old - row.judged_new > 0.05 or row["drop"] > 0.02:
            assert (row.outcome, row.rule) == (
                "cannot tell",
                "no fit" if percent == 100 else "new passages",
            )
        assert row.outcome != "failed" and (percent == 10 or row.rule)
        assert not row.turns_judged or row.drop_judged == 0


def test_other_systems_still_fail(cast: Any, tmp_path: Path) -> None:
    """Raw turns instead of rewrites lose on judged turns, too; rankings upside down hold no new passages."""
    data, rows = cast
    (tmp_path / "reversed.trec").write_text(
        "".join(f"{row[0]} Q0 {row[2]} 0 {-float(row[4])} x\n" for row in rows)
    )
    old = project(tmp_path, data, "old", data / "runs" / "bert_base_cv.trec.gz")
    raw, upside_down = (
        robustcs.compare(
            old=old, new=project(tmp_path, data, "new", file), fail_if=["drop>0.02"]
        ).gate.iloc[0]
        for file in (data / "runs" / "bert_base_raw.trec.gz", tmp_path / "reversed.trec")
    )
    assert (raw.outcome, raw.entered, raw.new_passages, raw.turns_judged) == (
        "failed",
        112,
        108,
        85,
    )
    assert (raw["drop"], raw.drop_judged) == pytest.approx((0.1638, 0.0855), abs=5e-5)
    assert raw.p_judged == pytest.approx(0.011, abs=1e-3)
    assert (upside_down.outcome, upside_down.new_passages) == ("failed", 0) and upside_down[
        "drop"
    ] > 0.45
    assert (upside_down.judged_old, upside_down.judged_new) == pytest.approx(
        (0.882, 0.204), abs=5e-4
    )
