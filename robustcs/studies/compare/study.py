"""The command ``robustcs compare``: read two states from projects or reports, and compare them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Annotated, Any, Literal

import click
import numpy as np

from robustcs.conversations import NONE, PATTERN, Conversations
from robustcs.errors import ExitCode, UsageError
from robustcs.evaluation.bounds import PairMeasure, run_pairs
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.hole_expectation import fill_holes
from robustcs.evaluation.holes import JudgedRun, only_turns, passage_numbers, pool_holes
from robustcs.evaluation.matrix import ABSENT, UNJUDGED
from robustcs.evaluation.measure import Measure, parse_measure, refuse_given
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.ranking import Top
from robustcs.evaluation.state import DEEPEST, SHOWN, State
from robustcs.inputs.collection import read_passages
from robustcs.messages import Message, OptionName
from robustcs.policy import EvaluationPolicy
from robustcs.project.conversations import conversations_of
from robustcs.project.hole_imputation import read_pool, run_sources, selection_warnings
from robustcs.project.model import Project
from robustcs.project.reading import find_project
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.state import judged_runs, rejudged
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.statistics.units import units_of
from robustcs.studies.compare.analysis import Comparison, compare
from robustcs.studies.compare.cases import NO_RANKINGS, Drawn, Gate
from robustcs.studies.compare.cases import SCORING as SCORING_KEYS
from robustcs.studies.compare.changes import Rescored
from robustcs.studies.compare.files import SIDES, are_projects
from robustcs.studies.compare.fit import retrieved_deeper
from robustcs.studies.compare.gate import no_worse, parse_condition
from robustcs.studies.compare.sides import Opened, called_by, opened
from robustcs.studies.signature import File, Opt, at_least
from robustcs.studies.study import SCORING, SEED, UNIT, Call, Command
from robustcs.wording import merged


def ask(
    workspace: Workspace,
    *,
    old: Annotated[Any, Opt("OLD", argument=True)],
    new: Annotated[Any, Opt("NEW", argument=True)],
    fail_if: Annotated[tuple[str, ...], Opt("CONDITION")] = (),
    no_worse_than: Annotated[float, Opt("D")] | None = None,
    evidence: Literal["test", "expected", "bounds"] = "test",
    allow_missing: Annotated[int, at_least(0, rare=True)] = 0,
    tops: bool = False,  # add the best passages of changed runs, for the page
) -> Comparison:
    """Show what changed between two states, and decide whether the change may be merged.

    OLD and NEW are projects (a folder or a robustcs.toml) or report folders. They can also be two runs or two files of per-turn
    scores (output of trec_eval -q, or a table). Runs need --qrels, or the qrels of the project in the current folder.

    --fail-if adds a gate for continuous integration. Conditions: 'drop>0.02' (a mean score drops by more than 0.02), 'p<0.05'
    (it drops with an adjusted p below 0.05), 'qr>0.05' and 'qa>0.05' (the share of turns with a rewriter error, or with a QA
    error, grows by more than 0.05), 'made_up>0.02' (the share of answers with this outcome grows by more than 0.02; wrong and
    correct need a metric in the files of answers, or labels). To restrict a condition to a measure or a run, start it with
    MEASURE, :RUN or MEASURE:RUN and a space.

    The gate fails (exit code 1) if a drop is significantly larger than a condition allows. It cannot tell (exit code 5) if a
    drop is larger but not significantly so, if a run, turns or judgments are gone, if a condition matches nothing, or if the
    judged share of a run falls by more than 5 percentage points. Even a significant drop does not fail if more than 5% of the
    scores of a file are missing, if the judgments no longer fit the passages (the judged share falls below a twentieth of the
    old one), or if the share falls by more than 5 points because of new passages and the drop is not significant on the turns
    whose top is judged in both states. Otherwise it passes (exit code 0). Tests are one-sided, use the conversation as sampling
    unit, and are adjusted by max-T over all cases of the call.

    fail_if
        Condition that fails the gate; repeatable.

    no_worse_than
        Pass only if the 95% CI of every mean drop excludes a drop larger than D (non-inferiority).

    evidence
        Evidence for a drop. test: the available judgments. expected: the judgments with unjudged passages filled in
        by the hole model. bounds: the available judgments and the bounds for unjudged passages.

    allow_missing
        Number of turns that each run may lose; if it loses more, the gate cannot tell.

    Raises :class:`UsageError` for an invalid condition and, without a gate, if the states have no run, measure or turn in
    common.

    Examples:
      robustcs compare before after
      robustcs compare monday.trec tuesday.trec --qrels qrels.txt
      robustcs compare before after --html changes.html
      robustcs compare reports/main . --fail-if 'drop>0.02'
      robustcs compare old.toml new.toml --fail-if 'ndcg_cut_3:qr p<0.05'
      robustcs compare old.toml new.toml --no-worse-than 0.01
    """
    conditions = [parse_condition(text) for text in fail_if]
    if no_worse_than is not None:
        conditions.append(no_worse(no_worse_than))
    if not conditions:
        _refuse_without_condition(
            **{"evidence": evidence != "test", "allow-missing": allow_missing}
        )
    sides = opened(workspace, old, new)
    for name, side in zip(("old", "new"), sides, strict=True):
        for path, role, rows in side.read:
            workspace.remember(f"{name} {role}", path, rows)
        skipped = side.workspace.skipped if side.workspace else {}
        workspace.skipped |= {
            (path, f"{name} {role}"): rows for (path, role), rows in skipped.items()
        }
        if side.workspace and any(condition.what in ("qa", "qr") for condition in conditions):
            side.workspace.note_names("formulations")  # these shares depend on the roles
    first, second = (side.state for side in sides)
    metrics = [
        {metric for system in state.systems.values() for metric in system.scores}
        for state in (first, second)
    ]
    asked = workspace.averaged(workspace.project.metrics, given=True)
    named = [
        parse_measure(condition.metric, given=True) for condition in conditions if condition.metric
    ]
    refuse_given(
        [measure for measure in (*asked, *named) if measure.name not in metrics[0] | metrics[1]]
    )
    called = [called_by(given, keyword) for keyword, given in zip(SIDES, (old, new), strict=True)]
    if not conditions and not first.systems.keys() & second.systems.keys():
        found = f"{called[0]} ({', '.join(first.systems)}) and {called[1]} ({', '.join(second.systems)}) share no system name"
        raise UsageError(
            "nothing-in-common", found, "give the same system the same name in both states"
        )
    if not conditions and not metrics[0] & metrics[1]:
        raise UsageError(
            "nothing-in-common",
            "the two states have no measure in common",
            Message("add one with ", OptionName("metric")),
        )
    if not conditions and not any(_common_turns(first, second)):
        found = f"no turn is scored in both {called[0]} and {called[1]}"
        raise UsageError("nothing-in-common", found, "compare states with the same turns")
    unit = (
        "turn"
        if "turn" in (workspace.project.policy.unit, second.policy.get("unit"))
        else "conversation"
    )
    policy = EvaluationPolicy(**{key: second.policy[key] for key in SCORING_KEYS}, unit=unit)  # type: ignore[arg-type]
    ranked = [
        any(system.rankings for system in state.systems.values()) for state in (first, second)
    ]
    basis = "runs" if ranked[1] else "scores"
    notes = (
        []
        if first.policy == second.policy
        else [f"the policy changed; old policy: {first.policy['line']}"]
    )
    told = [
        merged([*side.workspace.misfits, *side.workspace.notes]) if side.workspace else ()
        for side in sides
    ]
    notes += [note if note in told[0] else f"new state: {note}" for note in told[1]]
    notes += [f"old state: {note}" for note in told[0] if note not in told[1]]
    if ranked[0] != ranked[1]:
        notes.append(
            f"the scores of the {SIDES[ranked[0]]} state are those in its files; the others are computed from runs"
        )
    conversations = _conversations(workspace, sides)
    evaluated = Evaluated(
        policy,
        basis,  # type: ignore[arg-type]
        0,
        second.missing,
        tuple(notes),
        conversations=conversations,
    )
    seed = workspace.project.seed
    drawn = _drawn(sides[0], sides[1], seed) if conditions and evidence == "expected" else ""
    gate = Gate(conditions, evidence, allow_missing, drawn, [measure.name for measure in asked])
    named_states = replace(first, name=called[0]), replace(second, name=called[1])
    runs = sides[0].runs
    deeper = None if runs is None else retrieved_deeper(first, runs.values(), second)
    result = compare(*named_states, evaluated, _rescored(*sides), gate, seed, deeper)
    best = _tops(sides, list(dict.fromkeys(result.turns["system"]))) if tops else {}
    return replace(result, tops=best, passages=_passages(sides, best))


def _conversations(workspace: Workspace, sides: Sequence[Opened]) -> Conversations:
    """Return the conversations of both states: those of the options, of fields that a state has, or else of all turn ids."""
    turns = list(dict.fromkeys(turn for side in sides for turn in side.state.turns))
    if workspace.project.policy.conversation:
        return conversations_of(workspace, turns)
    for side in reversed(sides):
        if side.state.conversations:
            return Conversations.from_fields(side.state.conversations, turns, side.state.name)
    words = (side.state.policy.get("conversation", "") for side in reversed(sides))
    return Conversations.from_ids(
        turns, next((word for word in words if word in (NONE, PATTERN)), "")
    )


def _refuse_without_condition(**given: object) -> None:
    """Raise :class:`UsageError` for a setting of the gate; ``given``: option → whether it is given."""
    for option, value in given.items():
        if value:
            raise UsageError(
                "no-condition",
                Message(OptionName(option), " needs a condition"),
                Message(
                    "add ",
                    OptionName("fail-if", "CONDITION"),
                    " or ",
                    OptionName("no-worse-than", "D"),
                ),
            )


def _rescored(old: Opened, new: Opened) -> dict[str, Rescored]:
    """Return the old runs under the new judgments, read from their files or from the passages that a report kept."""
    if new.workspace is None or not new.runs:
        return {}
    project, qrels = new.workspace.project, new.workspace.qrels
    measures = list(project.metrics or DEFAULT_MEASURES)
    below: dict[str, Mapping[str, int]] = {}
    if old.workspace is None:
        kept = {
            name: system
            for name, system in old.state.systems.items()
            if name in new.runs and system.heads
        }
        if any(
            old.state.policy.get(key) != getattr(project.policy, key)
            for key in ("order", "depth", "documents")
        ):
            return {}
        again: Mapping[str, JudgedRun] = {
            name: rejudged(name, system, qrels) for name, system in kept.items()
        }
        below = {name: system.below for name, system in kept.items()}
        deepest = max(
            (len(head) for system in kept.values() for head in system.heads.values()), default=0
        )
        measures = [one for one in measures if one.cutoff is not None and one.cutoff <= deepest]
    else:
        earlier = {
            name: path for name, path in old.workspace.project.systems.items() if name in new.runs
        }
        if not earlier:
            return {}
        if (
            old.state.judgments == new.state.judgments
            and old.workspace.project.policy == project.policy
        ):
            again = old.runs or {}
        else:
            again = judged_runs(new.workspace.of(project), earlier)[1]
    highest = max(int(qrels.grades.max()), 0)
    return {
        name: _pair_scores(
            run, new.runs[name], measures, project.policy, highest, below.get(name, {})
        )
        for name, run in again.items()
        if name in new.runs and set(run.matrix.turns) & set(new.runs[name].matrix.turns)
    }


def _common_turns(old: State, new: State) -> Iterator[Set[str]]:
    """Yield the turns that both states score, for each system and measure that both have."""
    for name, system in old.systems.items():
        after = new.systems[name].scores if name in new.systems else {}
        yield from (
            scores.keys() & after[metric].keys()
            for metric, scores in system.scores.items()
            if metric in after
        )


def _pair_scores(
    old: JudgedRun,
    new: JudgedRun,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    highest: int,
    below: Mapping[str, int],
) -> Rescored:
    """Return the scores of two runs under the same judgments, on their common turns.

    below
        Turn → number of unjudged passages of the old run without known ids. They may differ from those of the new run.
    """
    common = set(old.matrix.turns) & set(new.matrix.turns)
    first, second = (
        only_turns(run, np.array([turn in common for turn in run.matrix.turns]))
        for run in (new, old)
    )
    turns = second.matrix.turns
    frame = evaluate(second.matrix, measures, policy)
    scores = {metric: dict(zip(turns, frame[metric].tolist(), strict=True)) for metric in frame}
    numbers = passage_numbers([first, second])
    pool = pool_holes([first, second], numbers) + np.array(
        [below.get(turn, 0) for turn in turns], dtype=np.int64
    )
    low, high, tops = {}, {}, [first.top, second.top]
    (pair,) = run_pairs(tops, numbers, pool)
    for measure in measures:
        if measure.family in BOUNDED:
            bounds = PairMeasure(tops, measure, policy, highest, "pool").bounds(pair)
            low[measure.name] = dict(zip(turns, bounds.low.tolist(), strict=True))
            high[measure.name] = dict(zip(turns, bounds.high.tolist(), strict=True))
    grades = {
        turn: [None if grade == UNJUDGED else grade for grade in row if grade != ABSENT]
        for turn, row in zip(turns, second.matrix.grades[:, :DEEPEST].tolist(), strict=True)
    }
    return Rescored(scores, low, high, grades)


def _drawn(old: Opened, new: Opened, seed: int) -> Drawn | str:
    """Return all new runs and the old runs that differ, under drawn grades, or the reason why there are none."""
    for when, side in (("old", old), ("new", new)):
        if side.workspace is None:
            return f"the {when} state is a report, which lacks the data for the hole model; name its project instead"
    assert old.workspace is not None and new.workspace is not None
    project, kept = new.workspace.project, (old.state.systems, new.state.systems)
    if warnings := selection_warnings(project):
        return warnings[0]
    both = [name for name in old.runs or () if name in (new.runs or ())]
    differ = [name for name in both if kept[0][name].rankings != kept[1][name].rankings]
    if not differ:
        return NO_RANKINGS
    space = new.workspace.of(project)
    files = [
        *project.systems.items(),
        *((f"{name}, old", old.workspace.project.systems[name]) for name in differ),
    ]
    pool = read_pool(space, space.qrels, files=files).build()
    measures = new.workspace.ranking_measures(DEFAULT_MEASURES)[0]
    every = np.ones(len(pool.turns), dtype=bool)
    sources = run_sources(project, (*project.systems, *differ))
    try:
        units = units_of(pool.turns, "turn")
        filled = fill_holes(
            pool, pool.grades(space.qrels), measures, project.policy, every, units, seed, sources
        )
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        return str(error)
    return Drawn(
        pool.names,
        [measure.name for measure in measures],
        pool.turns,
        filled.sums,
        filled.holes,
        filled.warnings,
    )


def _tops(sides: Sequence[Opened], runs: Sequence[str]) -> dict[str, Top]:
    """Return the best passages of these runs in both states, as far as they are known."""
    return {
        f"{name}, {when}": {turn: list(top[:SHOWN]) for turn, top in system.heads.items()}
        for when, side in zip(("old", "new"), sides, strict=True)
        for name, system in side.state.systems.items() if name in runs and system.heads
    }  # fmt: skip


def _passages(sides: Sequence[Opened], tops: Mapping[str, Top]) -> dict[str, str]:
    """Return the texts of these passages from the collections of both states."""
    wanted = {document for top in tops.values() for best in top.values() for document, _ in best}
    found: dict[str, str] = {}
    for side in sides:
        collection = side.workspace.project.collection if side.workspace else None
        if collection and wanted - found.keys():
            found |= read_passages(collection, wanted - found.keys())
    return found


def _run(
    call: Call,
    fail_if: tuple[str, ...],
    html: File | None,
    *,
    cannot_tell: Annotated[Literal["pass", "fail"], Opt(rare=True)] | None,
    gate_report: File | None,
    **own: Any,
) -> None:
    """Write the result of :func:`ask`, and exit with the gate's code.

    html
        Write an HTML page with every changed turn, old and new side by side.

    cannot_tell
        Exit code if the gate cannot tell: 0 (pass) or 1 (fail) instead of 5.

    gate_report
        Write the gate's outcome as JSON (.json) or JUnit (.xml).
    """
    from robustcs.studies.compare.show import (
        check_suffix,
        github_lines,
        incomplete,
        page,
        rendered,
        summary,
        told,
    )

    if not fail_if and own["no_worse_than"] is None:
        _refuse_without_condition(**{"cannot-tell": cannot_tell, "gate-report": gate_report})
    workspace = call.workspace(call.on(lambda: start(**own)))
    if gate_report is not None:
        check_suffix(gate_report)
    result = ask(workspace, fail_if=fail_if, tops=html is not None, **own)
    undecided = {"pass": ExitCode.DONE, "fail": ExitCode.GATE_FAILED}.get(
        cannot_tell or "", ExitCode.CANNOT_TELL
    )
    code = {"failed": ExitCode.GATE_FAILED, "cannot tell": undecided}.get(
        str(result.outcome), ExitCode.DONE
    )
    if gate_report is not None:
        call.write(gate_report, rendered(gate_report, result, workspace.inputs, code))
    if html:
        call.write(html, page(result, workspace.inputs))
    given = call.given
    shown = not html or given["output"] or given["format"] or given["table"]
    if shown:
        call.emit(workspace, result)
    if result.outcome is None:
        return
    on_terminal = shown and not given["output"] and given["format"] in (None, "table")
    if not (on_terminal and (not given["table"] or "gate" in given["table"])):
        for line in (*incomplete(result), *told(result)):
            call.tell(line)
    if os.environ.get("GITHUB_ACTIONS"):
        for line in github_lines(result):
            call.tell(line)
    call.tell(summary(result))
    if code:
        raise click.exceptions.Exit(code)


def start(old: Any, new: Any, **_: Any) -> Project:
    """Return the project that options change: none for two projects, else that of the current folder without its measures."""
    return Project() if are_projects(old, new) else replace(find_project(None), metrics=())


COMMAND = Command(ask, ("qrels", "threshold", *SCORING, *UNIT, *SEED), retrieves=False, run=_run)
