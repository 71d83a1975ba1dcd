"""The command ``robustcs answers``: trace answers from question to outcome, and compare them with gold information."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from robustcs.studies.signature import MOST, Opt
from robustcs.studies.study import SEED, UNIT, Call, Command
from robustcs.wording import counted, some_of, system_name

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.answers.analysis import Answers


#: Agreement of word matching with people, for the note of results that depend on it.
WORDS_AGREE = "word matching of nuggets agreed with 1,086 human labels of another collection at κ = 0.40 (precision 0.46, recall 0.53)"


def ask(workspace: Workspace, *, with_: Annotated[str, Opt("COMMAND")] | None = None) -> Answers:
    """Evaluate generated answers: the kind of each turn, the passages given to the generator, and the outcome.

    Every turn has a kind (answerable, partial, unanswerable, underspecified) and an outcome. Answers to answerable turns are
    correct or wrong by a criterion: --metric and --threshold, nuggets or snippets, or human labels. If the system abstains from
    an answerable turn, the outcome is refused if a gold passage was given to the generator, else abstained. If the system
    answers an unanswerable turn, the answer is made up. An answerable turn is lost if its outcome is neither correct nor
    answered. The cause is the generator if a gold passage was given, else retrieval.

    The command also measures how many nuggets and snippets the answers contain, by a judge's assignments (JSONL of nuggetizer)
    or else by word matching, and finds the cause of each missing one. It also counts the sentences that no passage supports.
    Without gold information and labels, the kinds of turns are unknown: the output then tells how often each system answers,
    abstains, asks back or gives no answer.

    Answers are JSON {turn: answer}, JSONL with id and answer, answers of TREC RAG, MTRAG tasks or InspectorRAGet exports. The
    passages of an answer are the top passages of a run given for the answers (--passages), else those that the file of answers
    states (contexts of tasks, or references), else the top passages of the project's run with the system's name.

    with_
        Program that determines the response of each answer and its supported sentences. It replaces English word lists and word
        matching; see docs/programs.md. Its output is stored.

    Raises :class:`UsageError` if answers are missing or for an unknown metric, and :class:`InputError` for a broken file.

    Examples:
      robustcs answers
      robustcs answers --response old=old.jsonl --response new=new.jsonl
      robustcs answers --tasks ours=ours.jsonl --gold-passages qrels.tsv
      robustcs answers --tasks a=a.jsonl --tasks b=b.jsonl \\
          --labels reference.jsonl --metric RL_F
      robustcs answers --response ours=ours.jsonl --nuggets nuggets.jsonl \\
          --passages ours=ours.trec --human human.trec
      robustcs answers --assignments a=a.jsonl --assignments b=b.jsonl
    """
    return prepare(workspace, with_)()


def prepare(workspace: Workspace, command_: str | None = None) -> Callable[[], Answers]:
    """Read the inputs. Return the function that computes the result."""
    from robustcs.inputs.turns import turn_sort_key
    from robustcs.project.answer_inputs import AnswerInputs
    from robustcs.project.answer_support import MadeOf, Program
    from robustcs.project.requirements import generated_answers
    from robustcs.similarity.responses import MEASURED, are_english
    from robustcs.statistics.units import units_of
    from robustcs.studies.answers.analysis import SystemAnswers, answers, coverage, measures_of
    from robustcs.studies.answers.outcomes import Journey
    from robustcs.studies.answers.steps import (
        by_turn,
        headline_of,
        nugget_items,
        snippet_items,
        support_of,
        with_words,
    )

    generated_answers(workspace)
    inputs = AnswerInputs(workspace)
    files, assigned, notes = inputs.files, inputs.assigned, inputs.notes
    items = [
        *snippet_items(workspace, files, notes),
        *nugget_items(workspace, files, assigned, notes),
    ]
    items = with_words(items, bool(assigned), notes)
    with_items = sorted({item.turn for item in items}, key=turn_sort_key)
    turns, evaluated = inputs.counted(with_items)
    kept = set(turns)
    items = [item for item in items if item.turn in kept]
    gold = sorted({*with_items, *inputs.gold}, key=turn_sort_key)
    made_of = MadeOf(workspace, inputs.traces, gold, notes)
    wanted = {passage for known in (*made_of.given.values(), made_of.of_human) if known
              for turn in turns for passage in known.get(turn, ())}  # fmt: skip
    texts = inputs.texts(wanted)
    units, names = units_of(turns, evaluated.grouping), measures_of(items)
    metric = inputs.metric(names, headline_of(items, names))
    scored = {} if metric in names else inputs.scores(metric)
    lost_by = inputs.lost_by(turns)

    def found() -> Answers:
        systems = [
            SystemAnswers(
                name,
                own,
                support_of(assigned.get(name)),
                made_of.given[name],
                made_of.of_human,
                made_of.is_human(name),
            )
            for name, own in inputs.responses.items()
        ]
        items_found = (
            coverage(items, systems, turns, units, files.covered, texts) if items else None
        )
        of_metric = (
            by_turn(items_found, metric, list(inputs.responses), turns)
            if items_found and metric in names
            else scored
        )
        criterion, correct = inputs.criterion(metric, of_metric)
        kinds = inputs.kinds(turns, set(with_items))
        if command_ is not None:
            inputs.call_program(Program(command_, workspace.track), turns, made_of.given, texts)
        traced = [
            inputs.traced(
                name,
                turns,
                kinds,
                made_of.given[name],
                correct.get(name, {}),
                texts or {},
                lost_by.get(name),
            )
            for name in inputs.responses
        ]
        by_detector = [one.name for one in traced if "detector" in one.by]
        if by_detector:
            notes.append(f"a detector (English word lists) determines the responses; {MEASURED}")
        if other := [
            system_name(name)
            for name in by_detector
            if not are_english(inputs.responses[name].values())
        ]:
            notes.append(
                f"few answers of {some_of(other)} contain frequent English words; the detector does not recognise refusals in"
                " other languages: label the answers (--labels), or use a program (--with)"
            )
        if items_found is not None and not assigned:
            notes.append(WORDS_AGREE)
        without = ", ".join(
            f"{system_name(one.name)}: {counted(number, 'answer')} without a value" for one in traced if correct
            if (number := sum(turn not in correct[one.name] for turn, said in zip(turns, one.responses, strict=True)
                              if said in ("answered", "partly")))
        )  # fmt: skip
        basis = (
            f"correct: {criterion}" + f" ({without})" * bool(without)
            if criterion
            else "no criterion of correct answers"
        )
        stated = replace(evaluated, notes=tuple(dict.fromkeys(notes)), criterion=basis)
        journey = Journey(turns, kinds, traced, units)
        return answers(
            journey, stated, items_found, files.covered, criterion, workspace.project.seed
        )

    return found


def _run(
    call: Call,
    *,
    depth: Annotated[int, Opt("K", low=1, high=MOST, flag="--read-depth", rare=True)] | None,
    **settings: Any,
) -> None:
    """Run the command line.

    depth
        Number of top passages of a run from which answers were generated (default: 5).
    """
    from robustcs.project.model import AnswerFiles

    files = (call.project.answers or AnswerFiles()).given(
        **({} if depth is None else {"depth": depth})
    )
    workspace = call.workspace(replace(call.project, answers=files))
    result = ask(workspace, **settings)
    call.emit(workspace, result)


COMMAND = Command(ask, ("answers.responses", "answers.tasks", "answers.gold_passages", "answers.labels", "answers.snippets",
    "answers.nuggets", "answers.assignments", "answers.runs", "answers.human", "collection", "gold", "metric", "threshold",
    "missing", "order", "documents", *UNIT, *SEED), retrieves=False, run=_run,
)  # fmt: skip
