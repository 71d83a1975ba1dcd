"""The command ``robustcs answers``: read answers, gold information and passages, and compute coverage."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.turns import Expected, answered_by_turns, count_turns, strangers
from robustcs.inputs.annotations import AnnotatedText, join_annotations, read_annotations
from robustcs.inputs.answers import read_predicted_answers
from robustcs.inputs.collection import read_passages
from robustcs.inputs.nuggets import Assigned, Nugget, read_assignments, read_nuggets
from robustcs.inputs.paths import shown
from robustcs.inputs.pooled import rows_of
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import identify
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.model import AnswerFiles, Project, needs, only
from robustcs.project.requirements import answers_and_gold
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.similarity.texts import content_words
from robustcs.statistics.agreement import chosen_characters, majority_of
from robustcs.studies.answers.analysis import Coverage, Item, System, coverage
from robustcs.studies.answers.findings import coverage_findings
from robustcs.studies.answers.show import show
from robustcs.studies.signature import MOST, Opt
from robustcs.studies.study import SEED, UNIT, Answer, Call, Question, command
from robustcs.wording import counted, some_of, verb

Answers = Mapping[str, str]
Passages = Mapping[str, Sequence[str]]


def ask(workspace: Workspace) -> Coverage:
    """Compare answers with gold snippets or nuggets, and attribute missing information to its cause.

    The command computes recall, precision and length of each system's answers, with intervals, and tests every pair of systems.
    Nuggets are matched by a judge's assignments (nuggetizer's JSONL) if given, else by matching words. Answers are JSON {turn:
    answer}, JSONL with id and answer, answers of TREC RAG, or MTRAG tasks.

    A missed item has one of three causes. Generator: the answer's passages contain the item. Rewriter: only the passages of
    the human rewrite contain it. Retrieval: neither set of passages contains it. The passages of an answer are the top passages
    of the run with the system's name (--run or project). Without such a run, they are those that the answer file lists.

    Raises :class:`UsageError` if answers or gold information are missing or have no turn in common, and :class:`InputError` for
    a broken file.

    Examples:
      robustcs answers
      robustcs answers --response t5=t5.json --snippets experts.csv
      robustcs answers --response ours=ours.jsonl --nuggets nuggets.jsonl \\
          --run ours=ours.trec --human human.trec
      robustcs answers --assignments a=a.jsonl --assignments b=b.jsonl
      robustcs answers --output answers.svg
    """
    answers_and_gold(workspace)
    files = workspace.project.answers or AnswerFiles()
    assigned = _assignments(workspace, files)
    responses = _responses(workspace, files, assigned)
    notes: list[str] = []
    items = [*_snippets(workspace, files, notes), *_nuggets(workspace, files, assigned, notes)]
    items = _with_words(items, bool(assigned), notes)
    gold = sorted({item.turn for item in items}, key=turn_sort_key)
    turns, evaluated = _turns(workspace, files, gold, responses, notes)
    kept = set(turns)
    items = [item for item in items if item.turn in kept]
    made_of = _MadeOf(workspace, files, responses, gold)
    systems = [made_of.system(name, answers, assigned.get(name)) for name, answers in responses.items()]
    texts = made_of.texts(systems, kept)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *made_of.notes))
    return coverage(items, systems, turns, evaluated, files.covered, texts, workspace.project.seed)


def _assignments(workspace: Workspace, files: AnswerFiles) -> dict[str, dict[str, Assigned]]:
    """Return system → topic → assignments. Raises :class:`UsageError` if only some systems have assignments."""
    found = {}
    for name, path in files.assignments.items():
        found[name] = read_assignments(path, name)
        workspace.remember(f"{name} assignments", path, len(found[name]))
    without = [name for name in files.responses if name not in found]
    if found and without:
        raise UsageError(
            "some-assignments", f"no assignments for {some_of(without)}, but for {some_of(list(found))}",
            "give assignments for all systems or for none: word matching and assignments are not comparable",
        )  # fmt: skip
    return found


def _responses(workspace: Workspace, files: AnswerFiles, assigned: Mapping[str, Mapping[str, Assigned]]) -> dict[str, Answers]:
    """Return system → turn → answer, from assignments if a system has no file of answers."""
    found: dict[str, Answers] = {}
    for name, path in files.responses.items():
        answers = read_predicted_answers(path, name)
        workspace.remember(f"{name} answers", path, rows_of(answers))
        found[name] = answers
    for name, topics in assigned.items():
        if name not in found:
            found[name] = {topic: one.answer for topic, one in topics.items() if one.answer is not None}
            if not found[name]:
                advice = f"add the answers with --response {name}=FILE"
                raise UsageError("no-responses", f"the assignments of {name} have no answer_text", advice)
    return found


# ---------------------------------------------------------------- gold


def _snippets(workspace: Workspace, files: AnswerFiles, notes: list[str]) -> list[Item]:
    """Return the stretches of text that a majority of a passage's annotators selected, each as an item."""
    read = []
    for path in files.snippets:
        texts, _ = read_annotations(path)
        workspace.remember("gold snippets", path, sum(len(text.annotations) for text in texts.values()))
        read.append((path, texts))
    texts = join_annotations(read)
    items = [item for key in sorted(texts, key=lambda key: (turn_sort_key(key[0]), key[1])) for item in _of_text(texts[key])]
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
    return [Item("snippets", text.turn, text.text[start:end].strip(), "", holder) for start, end in spans]


def _stretches(enough: np.ndarray) -> list[tuple[int, int]]:
    """Return the half-open interval [start, end) of every run of true values."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], enough.astype(np.int8), [0]]))).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


def _nuggets(
    workspace: Workspace, files: AnswerFiles, assigned: Mapping[str, Mapping[str, Assigned]], notes: list[str]
) -> list[Item]:
    """Return the nuggets of the file and all further nuggets of the assignments."""
    found: dict[str, dict[str, Item]] = {}

    def take(topic: str, one: Nugget) -> bool:
        """Add a nugget. Return whether it is new."""
        known = found.setdefault(topic, {})
        item = Item("nuggets", topic, one.text, one.importance, frozenset(one.passages))
        return known.setdefault(one.text, item) is item

    if files.nuggets is not None:
        read = read_nuggets(files.nuggets)
        workspace.remember("nuggets", files.nuggets, sum(map(len, read.values())))
        for topic, nuggets in read.items():
            for nugget in nuggets:
                take(topic, nugget)
    new = [
        take(topic, nugget) for topics in assigned.values() for topic, one in topics.items() for nugget in one.nuggets
    ]  # fmt: skip
    if files.nuggets is not None and any(new):
        notes.append(f"{counted(sum(new), 'nugget')} added from the assignments, since the file of nuggets does not list them")
    for name, topics in assigned.items():
        missing = sum(
            len(found.get(topic, {}).keys() - {nugget.text for nugget in one.nuggets}) for topic, one in topics.items()
        )
        if missing:
            notes.append(f"{name}: {counted(missing, 'nugget')} without an assignment count as not supported")
    return [item for topic in sorted(found, key=turn_sort_key) for item in found[topic].values()]


def _with_words(items: Sequence[Item], assigned: bool, notes: list[str]) -> list[Item]:
    """Return the items with a content word; nuggets with assignments need none."""
    kept = [item for item in items if (assigned and item.gold == "nuggets") or content_words(item.text)]
    if len(kept) < len(items):
        notes.append(f"{counted(len(items) - len(kept), 'item')} without a content word skipped")
    return kept


# ---------------------------------------------------------------- turns


def _turns(
    workspace: Workspace, files: AnswerFiles, gold: Sequence[str], responses: Mapping[str, Answers], notes: list[str]
) -> tuple[list[str], Evaluated]:
    """Return the turns with gold items, under the project's policy for missing answers."""
    expected = Expected(tuple(gold), "the gold information")
    answered = [
        answered_by_turns(name, files.responses.get(name, files.assignments.get(name, Path())), answers, expected)
        for name, answers in responses.items()
    ]
    kept = count_turns(expected, answered, workspace.project.policy.missing)
    told = (*notes, *kept.notes)
    evaluated = Evaluated(workspace.project.policy, "coverage", len(kept.names), int(kept.lacking.sum()), told)
    return list(kept.names), evaluated


# ---------------------------------------------------------------- passages of answers


class _MadeOf:
    """The passages from which answers were generated: the top of the system's run, else the references in its answers.

    ``notes`` explain them to the reader.
    """

    def __init__(self, workspace: Workspace, files: AnswerFiles, responses: Mapping[str, Answers], gold: Sequence[str]):
        project = workspace.project
        self.workspace = workspace
        self.files = files
        self.notes: list[str] = []
        self.human_names = {part.name for part in project.formulations.values() if part.role == "human"}
        own = next((part.run for part in project.formulations.values() if part.role == "human" and part.run), None)
        runs = {name: path for name, path in {**project.systems, **files.runs}.items() if name in responses}
        human = files.human or own
        every = list(dict.fromkeys([*runs.values(), *([human] if human and runs else [])]))
        read: list[Passages] = workspace.per_run([("passages", path) for path in every], partial(_best, depth=files.depth))
        tops = dict(zip(every, read, strict=True))
        given = {*files.runs.values(), files.human}
        unrelated = {path for path in every if tops[path].keys().isdisjoint(gold)}
        expected = Expected(tuple(gold), "the gold information")
        if wrong := [path for path in every if path in unrelated & given]:
            raise InputError(strangers(expected, [answered_by_turns("", path, tops[path], expected) for path in wrong]))
        if unrelated:
            self.notes.append(f"runs of other turns ignored: {some_of([shown(path) for path in unrelated])}")
        self.runs = {name: path for name, path in runs.items() if path not in unrelated}
        self.human = human if human and human in tops and human not in unrelated else None
        self.tops = tops
        if self.runs:
            self.notes.append(
                f"assumption: each answer was generated from the top {counted(files.depth, 'passage')} of its run"
            )
        if self.human is not None and any(not self._is_human(name) for name in self.runs):
            self.notes.append(f"assumption: a perfect rewriter would retrieve the passages of {self.human}")

    def _is_human(self, name: str) -> bool:
        return name in self.human_names or (self.human is not None and self.runs.get(name) == self.human)

    def system(self, name: str, answers: Answers, assigned: Mapping[str, Assigned] | None) -> System:
        """Return one system with its answers, support and passages."""
        human, is_human = None if self.human is None else self.tops[self.human], self._is_human(name)
        given = self.tops[self.runs[name]] if name in self.runs else self._references(name)
        if given is None:
            self.notes.append(f"the passages of {name} are unknown, and so are the causes of its missed items")
        support = None
        if assigned is not None:
            support = {topic: {nugget.text: nugget.support or 0.0 for nugget in one.nuggets} for topic, one in assigned.items()}
        return System(name, answers, support, given, human, is_human)

    def _references(self, name: str) -> Passages | None:
        """Return the passages that the file of answers lists, or None if it lists none."""
        path = self.files.responses.get(name)
        if path is None or (found := identify(path)) is None or "run" not in found.kinds:
            return None
        self.notes.append(f"{name}: assumption: each answer was generated from its references alone")
        return _best(rank_run(read_run(path, name), self.workspace.project.policy), None)

    def texts(self, systems: Sequence[System], turns: Collection[str]) -> dict[str, str] | None:
        """Return the texts of these systems' passages, or None without a collection or passages."""
        path = self.workspace.project.collection
        wanted = {passage for system in systems for known in (system.given, system.human) if known
                  for turn in turns for passage in known.get(turn, ())}  # fmt: skip
        if path is None or not wanted:
            return None
        texts = read_passages(path, wanted)
        self.workspace.remember("collection", path, len(texts))
        if without := len(wanted) - len(texts):
            has = verb(without, "has", "have")
            self.notes.append(f"{without:,} of {counted(len(wanted), 'passage')} {has} no text in {shown(path)}")
        return dict(texts)


def _best(ranking: Ranking, depth: int | None) -> Passages:
    """Return turn → top ``depth`` passages, or all passages if ``depth`` is None."""
    ends = ranking.starts[1:] if depth is None else np.minimum(ranking.starts[1:], ranking.starts[:-1] + depth)
    return {
        turn: ranking.ids.take(ranking.document_codes[start:end]).texts()
        for turn, start, end in zip(ranking.turns, ranking.starts[:-1], ends, strict=True)
    }


def _run(call: Call, *, depth: Annotated[int, Opt("K", low=1, high=MOST, flag="--read-depth")] | None) -> None:
    """Run the command line.

    depth
        Number of top passages of a run from which answers were generated (default: 5).
    """
    files = (call.project.answers or AnswerFiles()).given(**({} if depth is None else {"depth": depth}))
    workspace = call.workspace(replace(call.project, answers=files))
    result = ask(workspace)
    call.emit(workspace, result, show(result))


COMMAND = command(ask, ("answers.responses", "answers.snippets", "answers.nuggets", "answers.assignments",
    "answers.runs", "answers.human", "collection", "missing", "order", "documents", *UNIT, *SEED), retrieves=False, run=_run,
)  # fmt: skip


_READING = (
    "How to read it: an item counts as covered if the answer has enough of its words, or if a judge assigned enough support."
    " Word matching recognises neither paraphrases nor negations. The cause of a missed item follows from two sets of passages:"
    " those of the answer and those that the human question retrieves."
)


def _part(project: Project) -> Project:
    files = project.answers or AnswerFiles()
    needs(files.responses or files.assignments, "no-responses", "no answers", "add them under [answers.responses]")
    return only(project, ("answers", "collection", "runs", "policy", "seed"), ("run",))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(coverage_findings(result), _READING, show(result), result.evaluated, {"answers": result})


QUESTIONS = (Question("answers", "Do answers contain the gold information?", ("measures", "causes"), _part, answer=_answer),)
