"""The command ``robustcs compare``: read two states from projects or reports, and compare them."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from robustcs.errors import ExitCode, UsageError
from robustcs.messages import Message, OptionName
from robustcs.studies.signature import File, Opt, at_least
from robustcs.studies.study import SCORING, SEED, UNIT, Call, Command
from robustcs.wording import merged

if TYPE_CHECKING:
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.studies.compare.analysis import Comparison


def ask(
    workspace: Workspace,
    *,
    old: Annotated[Any, Opt("OLD", argument=True)],
    new: Annotated[Any, Opt("NEW", argument=True)],
    fail_if: Annotated[tuple[str, ...], Opt("CONDITION")] = (),
    no_worse_than: Annotated[float, Opt("D")] | None = None,
    evidence: Literal["test", "expected", "bounds"] = "test",
    allow_missing: Annotated[int, at_least(0, rare=True)] = 0,
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
    from robustcs.evaluation.measure import parse_measure, refuse_given
    from robustcs.evaluation.outcomes import OUTCOMES
    from robustcs.policy import EvaluationPolicy
    from robustcs.result import Evaluated
    from robustcs.studies.compare.analysis import compare
    from robustcs.studies.compare.cases import SCORING as SCORING_KEYS
    from robustcs.studies.compare.cases import Gate
    from robustcs.studies.compare.files import SIDES
    from robustcs.studies.compare.gate import no_worse, parse_condition
    from robustcs.studies.compare.sides import called_by, opened
    from robustcs.studies.compare.steps import (
        common_turns,
        conversations_of_states,
        depth_notes,
        drawn_grades,
        refuse_without_condition,
        rescored_runs,
        retrieved_deeper,
    )
    from robustcs.studies.compare.turns import changes_between, record_of, with_change

    conditions = [parse_condition(text) for text in fail_if]
    if no_worse_than is not None:
        conditions.append(no_worse(no_worse_than))
    if not conditions:
        refuse_without_condition(**{"evidence": evidence != "test", "allow-missing": allow_missing})
    sides = opened(workspace, old, new, any(one.what in OUTCOMES for one in conditions))
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
    requested = workspace.averaged(workspace.project.metrics, given=True)
    named = [
        parse_measure(condition.metric, given=True) for condition in conditions if condition.metric
    ]
    refuse_given(
        [measure for measure in (*requested, *named) if measure.name not in metrics[0] | metrics[1]]
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
    if not conditions and not any(common_turns(first, second)):
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
    notes += depth_notes(sides, called)
    conversations = conversations_of_states(workspace, sides)
    evaluated = Evaluated(
        policy,
        basis,  # type: ignore[arg-type]
        0,
        second.missing,
        tuple(notes),
        conversations=conversations,
    )
    seed = workspace.project.seed
    drawn = drawn_grades(sides[0], sides[1], seed) if conditions and evidence == "expected" else ""
    gate = Gate(conditions, evidence, allow_missing, drawn, [measure.name for measure in requested])
    named_states = replace(first, name=called[0]), replace(second, name=called[1])
    deeper = retrieved_deeper(sides[0], second)
    result = compare(*named_states, evaluated, rescored_runs(*sides), gate, seed, deeper)
    changes = changes_between(first, second)
    return replace(
        result,
        records=(sides[0].turns, sides[1].turns),
        select=with_change(sides[1].turns.table, changes).where,
        record=partial(record_of, sides[1].turns, changes),
    )


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
    import click

    from robustcs.studies.compare.show import (
        check_suffix,
        github_lines,
        incomplete,
        page,
        rendered,
        summary,
        told,
    )
    from robustcs.studies.compare.steps import refuse_without_condition

    if not fail_if and own["no_worse_than"] is None:
        refuse_without_condition(**{"cannot-tell": cannot_tell, "gate-report": gate_report})
    workspace = call.workspace(call.on(lambda: start(**own)))
    if gate_report is not None:
        check_suffix(gate_report)
    result = ask(workspace, fail_if=fail_if, **own)
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
    from robustcs.project.model import Project
    from robustcs.project.reading import find_project
    from robustcs.studies.compare.files import are_projects

    return Project() if are_projects(old, new) else replace(find_project(None), metrics=())


COMMAND = Command(ask, ("qrels", "threshold", *SCORING, *UNIT, *SEED), retrieves=False, run=_run)
