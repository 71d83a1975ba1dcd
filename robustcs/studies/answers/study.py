"""The command ``robustcs answers``: trace answers from question to outcome, and compare them with gold information."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from robustcs.documents.document import Cards
from robustcs.inputs.annotations import AnnotatedText, join_annotations, read_annotations
from robustcs.inputs.nuggets import Assigned, Nugget, read_nuggets
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.answer_support import MadeOf, Program
from robustcs.project.answered import AnswerInputs
from robustcs.project.model import AnswerFiles, Project, needs, only
from robustcs.project.requirements import generated_answers
from robustcs.project.workspace import Workspace
from robustcs.similarity.responses import MEASURED, are_english
from robustcs.similarity.texts import has_content
from robustcs.statistics.agreement import chosen_characters, majority_of
from robustcs.statistics.units import units_of
from robustcs.studies.answers.analysis import (
    Answers,
    Coverage,
    Item,
    System,
    answers,
    coverage,
    measures_of,
)
from robustcs.studies.answers.findings import answer_findings, turns_to_read, verdicts
from robustcs.studies.answers.outcomes import Journey
from robustcs.studies.answers.show import overview, show
from robustcs.studies.signature import MOST, Opt
from robustcs.studies.study import SEED, UNIT, Answer, Call, Command, Question
from robustcs.wording import Note, counted, some_of, system_name

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
    return prepare(workspace, with_)()[0]


def prepare(
    workspace: Workspace, command_: str | None = None
) -> Callable[[], tuple[Answers, Callable[[], Cards | None]]]:
    """Read the inputs. Return the function that computes the result and a function that returns turns to read."""
    generated_answers(workspace)
    inputs = AnswerInputs(workspace)
    files, assigned, notes = inputs.files, inputs.assigned, inputs.notes
    items = [*_snippets(workspace, files, notes), *_nuggets(workspace, files, assigned, notes)]
    items = _with_words(items, bool(assigned), notes)
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
    metric = inputs.metric(names, _headline(items, names))
    scored = {} if metric in names else inputs.scores(metric)
    lost_by = inputs.lost_by(turns)

    def found() -> tuple[Answers, Callable[[], Cards | None]]:
        systems = [
            System(
                name,
                own,
                _support(assigned.get(name)),
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
            _by_turn(items_found, metric, list(inputs.responses), turns)
            if items_found and metric in names
            else scored
        )
        criterion, correct = inputs.criterion(metric, of_metric)
        kinds = inputs.kinds(turns, set(with_items))
        if command_ is not None:
            inputs.ask(Program(command_, workspace.track), turns, made_of.given, texts)
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
        result = answers(
            journey, stated, items_found, files.covered, criterion, workspace.project.seed
        )
        return result, lambda: turns_to_read(result, inputs, made_of, texts)

    return found


def _support(assigned: Mapping[str, Assigned] | None) -> dict[str, dict[str, float]] | None:
    if assigned is None:
        return None
    return {
        topic: {nugget.text: nugget.support or 0.0 for nugget in one.nuggets}
        for topic, one in assigned.items()
    }


def _by_turn(
    items: Coverage, name: str, systems: Sequence[str], turns: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return system → turn → value of a measure, for turns with a value."""
    values = items.values[:, items.names.index(name)].tolist()
    return {
        system: {turn: value for turn, value in zip(turns, row, strict=True) if value == value}
        for system, row in zip(systems, values, strict=True)
    }


def _headline(items: Sequence[Item], measures: Collection[str]) -> str:
    """Return the measure of gold items that makes an answer correct: of vital nuggets, all nuggets, or snippets."""
    vital = any(item.importance == "vital" for item in items)
    names = (
        ("nuggets_vital", "nuggets_all", "snippet_recall")
        if vital
        else ("nuggets_all", "snippet_recall")
    )
    return next((name for name in names if name in measures), "")


# ---------------------------------------------------------------- gold


def _snippets(workspace: Workspace, files: AnswerFiles, notes: list[str]) -> list[Item]:
    """Return the stretches of text that a majority of a passage's annotators selected, each as an item."""
    read = []
    for path in files.snippets:
        texts, _ = read_annotations(path)
        workspace.remember(
            "gold snippets", path, sum(len(text.annotations) for text in texts.values())
        )
        read.append((path, texts))
    texts = join_annotations(read)
    items = [
        item
        for key in sorted(texts, key=lambda key: (turn_sort_key(key[0]), key[1]))
        for item in _of_text(texts[key])
    ]
    several = sorted({len(text.annotations) for text in texts.values()})
    if several and several[-1] > 1:
        notes.append(
            f"snippets: text that at least {' or '.join(str(majority_of(number, None)) for number in several)} of"
            f" {' or '.join(map(str, several))} annotators selected"
        )
    return items


def _of_text(text: AnnotatedText) -> list[Item]:
    chosen = chosen_characters([one.spans for one in text.annotations], len(text.text)).sum(axis=0)
    enough = chosen >= majority_of(len(text.annotations), None)
    # adjacent snippets of a single annotator remain separate items
    spans = text.annotations[0].spans if len(text.annotations) == 1 else _stretches(enough)
    holder = frozenset([text.paragraph or text.passage])
    return [
        Item("snippets", text.turn, text.text[start:end].strip(), "", holder)
        for start, end in spans
    ]


def _stretches(enough: np.ndarray) -> list[tuple[int, int]]:
    """Return the half-open interval [start, end) of every run of true values."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], enough.astype(np.int8), [0]]))).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


def _nuggets(
    workspace: Workspace,
    files: AnswerFiles,
    assigned: Mapping[str, Mapping[str, Assigned]],
    notes: list[str],
) -> list[Item]:
    """Return the nuggets of the file and all further nuggets of the assignments."""
    found: dict[str, dict[str, Item]] = {}

    def add(topics: Mapping[str, Sequence[Nugget]]) -> int:
        """Add the nuggets that are not yet known. Return their number."""
        before = sum(map(len, found.values()))
        for topic, nuggets in topics.items():
            for one in nuggets:
                item = Item("nuggets", topic, one.text, one.importance, frozenset(one.passages))
                found.setdefault(topic, {}).setdefault(one.text, item)
        return sum(map(len, found.values())) - before

    if files.nuggets is not None:
        read = read_nuggets(files.nuggets)
        workspace.remember("nuggets", files.nuggets, sum(map(len, read.values())))
        add(read)
    new = sum(
        add({topic: one.nuggets for topic, one in topics.items()}) for topics in assigned.values()
    )
    if files.nuggets is not None and new:
        notes.append(
            f"{counted(new, 'nugget')} added from the assignments, since the file of nuggets does not list them"
        )
    for name, topics in assigned.items():
        missing = sum(
            len(found.get(topic, {}).keys() - {nugget.text for nugget in one.nuggets})
            for topic, one in topics.items()
        )
        if missing:
            notes.append(
                Note.of(
                    name, counted(missing, "nugget"), "without an assignment count as not supported"
                )
            )
    return [item for topic in sorted(found, key=turn_sort_key) for item in found[topic].values()]


def _with_words(items: Sequence[Item], assigned: bool, notes: list[str]) -> list[Item]:
    """Return the items with a content word; nuggets with assignments need none."""
    kept = [
        item for item in items if (assigned and item.gold == "nuggets") or has_content(item.text)
    ]
    if len(kept) < len(items):
        notes.append(f"{counted(len(items) - len(kept), 'item')} without a content word skipped")
    return kept


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


_READING = (
    "How to read it: turns that have an answer should end as correct (or answered), all others as abstained or asked back."
    " Made up: an answer to a question that has none. Refused: no answer although a gold passage was given. Word matching"
    " recognises neither paraphrases nor negations."
)


def _inputs(project: Project) -> Project:
    files = project.answers or AnswerFiles()
    needs(
        files.answered or files.assignments,
        "no-responses",
        "no answers",
        "add them under [answers.responses]",
    )
    keys = (
        "answers",
        "collection",
        "runs",
        "policy",
        "seed",
        "qrels",
        "gold",
        "metrics",
        "thresholds",
    )
    return only(project, keys, ("run", "rewrites"))


def _answer(workspace: Workspace) -> Answer:
    result, to_read = prepare(workspace)()
    cards = tuple(filter(None, [to_read()]))
    return Answer(
        result,
        show(result),
        answer_findings(result),
        _READING,
        cards,
        verdicts(result),
        overview(result),
    )


QUESTIONS = (
    Question("outcomes", "What are the outcomes of the turns, and which component loses them?", ("outcomes", "causes"),
             _inputs, _answer),
)  # fmt: skip
