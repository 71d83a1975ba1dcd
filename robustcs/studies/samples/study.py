"""The command ``robustcs samples``: compare the samples of rewriters in a workspace's texts and runs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Annotated

import numpy as np

from robustcs.evaluation.measures import TurnScores
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.texts import without_empty
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.conversations import conversations_of
from robustcs.project.model import Formulation, Project, needs, of_rankings
from robustcs.project.requirements import sampled
from robustcs.project.scoring import ScoredFile
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.similarity.rankings import pair_rankings, rbo
from robustcs.studies.samples.analysis import Sampled, Samples, compare_samples
from robustcs.studies.samples.findings import samples_findings
from robustcs.studies.samples.show import show
from robustcs.studies.signature import Opt
from robustcs.studies.study import SCORING, SEED, UNIT, Answer, Command, Question
from robustcs.wording import Note, counted, some_of


def ask(workspace: Workspace, *, margin: Annotated[float, Opt("D")] = 0.01) -> Samples:
    """Measure how much the samples of a rewriter differ in words, rankings and scores.

    A rewriter based on a language model writes another text each time. Its samples are several texts of a turn in one file,
    several files of texts (--rewrites and --samples), or several runs (--qr with the same NAME). Every other command uses the
    first sample.

    Without runs, the command compares only texts. If [retrieval] names an index, it retrieves each distinct text once.

    margin
        Largest difference that does not matter; the output says how many samples bring their average within ±D.

    Examples:
      robustcs samples
      robustcs samples --qr llm=draw1.trec --qr llm=draw2.trec --qr llm=draw3.trec
      robustcs samples --rewrites qr=llm4cs.jsonl --output samples.json
      robustcs samples --margin 0.005 --output best_of_n.pdf
    """
    workspace.takes_samples = True
    parts = sampled(workspace)
    files = {part.name: _files(part) for part in parts if part.run and part.sample_runs}
    scores: dict[str, TurnScores] = {}
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0)
    if files and workspace.project.qrels:
        measures, notes = workspace.ranking_measures(())
        scores, evaluated = workspace.scores_of(
            [file for some in files.values() for file in some], measures
        )
        evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    rankings = {
        part.name: _rankings(workspace, files[part.name]) for part in parts if part.name in files
    }
    answered = (
        set(next(iter(scores.values())).turns)
        if scores
        else {turn for some in rankings.values() for turn in some}
    )
    samples = (
        workspace.samples_of(sorted(answered, key=turn_sort_key)) if answered else workspace.samples
    )
    known = {*answered, *(turn for texts in samples.values() for turn in texts)}
    evaluated = replace(
        evaluated, conversations=conversations_of(workspace, sorted(known, key=turn_sort_key))
    )
    found, notes = [], list[str]()
    for part in parts:
        texts = samples[part.name]
        frames = [scores[file.name] for file in files.get(part.name, []) if scores]
        turns = list(frames[0].turns) if frames else []
        # a single set of texts may accompany several runs: then no turn has a text for each run
        each = any(len(some) >= len(frames) for some in texts.values())
        fewer = {turn for turn, some in texts.items() if each and len(some) < len(frames)} & set(
            turns
        )
        if fewer:
            some, turns_ = some_of(sorted(fewer, key=turn_sort_key)), counted(len(fewer), "turn")
            alone = f"{turns_} of {part.name} excluded, with fewer texts than runs: {some}"
            notes.append(
                Note.of(part.name, turns_, "turns with fewer texts than runs excluded", alone)
            )
        kept = np.array([turn not in fewer for turn in turns], dtype=bool)
        turns = [turn for turn in turns if turn not in fewer]
        found.append(
            Sampled(
                part.name,
                dict(sorted(without_empty(texts).items(), key=lambda item: turn_sort_key(item[0]))),
                {
                    metric: np.column_stack([frame[metric][kept] for frame in frames])
                    for metric in (frames[0] if turns else ())
                },
                turns,
                rankings.get(part.name, {}),
                len(files.get(part.name, [])),
            )
        )
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    return compare_samples(found, evaluated, margin, workspace.project.seed)


def _files(part: Formulation) -> list[ScoredFile]:
    """Return the runs of a rewriter's samples, the first under the rewriter's name."""
    role = "qr" if part.name == "qr" else f"qr:{part.name}"
    assert part.run is not None
    named = {part.name: part.run, **Project(formulations={role: part}).sample_runs}
    return [ScoredFile(name, role, path, "runs") for name, path in named.items()]


def _whole(ranking: Ranking) -> Ranking:
    return ranking


def _rankings(workspace: Workspace, files: list[ScoredFile]) -> dict[str, float]:
    """Return turn → mean overlap of pairs of rankings, for the turns that all runs answer."""
    rankings = workspace.per_run([(file.role, file.path) for file in files], _whole)
    common = set.intersection(*(set(ranking.turns) for ranking in rankings))
    turns = sorted(common, key=turn_sort_key)
    total = np.zeros(len(turns))
    pairs = list(combinations(rankings, 2))
    for first, second in pairs:
        matched = pair_rankings(first, second)
        value = dict(zip(matched.turns, rbo(matched).tolist(), strict=True))
        total += [value[turn] for turn in turns]
    return dict(zip(turns, (total / len(pairs)).tolist(), strict=True))


COMMAND = Command(
    ask, ("qrels", "qr", "rewrites", "samples", *SCORING, *UNIT, *SEED), retrieves="samples"
)


_READING = (
    "How to read it: a language model writes another text each time, so a sample is one of several possible rewrites. Papers"
    " usually report one sample. The shares of sample and interaction in the variance show how much scores depend on the"
    " sample. The best of several samples is the result of a perfect choice. Part of its gain is noise, so compare it with the"
    " gain by chance."
)


def _inputs(project: Project) -> Project:
    varies = any(
        part.role == "qr" and (part.sample_runs or part.samples or part.rewrites)
        for part in project.formulations.values()
    )
    needs(
        varies,
        "no-samples",
        "no rewriter has several samples",
        "add several runs, or texts with several samples",
    )
    part = of_rankings(
        project, ("qrels", "policy", "seed"), ("run", "rewrites", "samples", "sample_runs")
    )
    part = replace(
        part, formulations={key: one for key, one in part.formulations.items() if one.role == "qr"}
    )
    sampled(Workspace(part))  # a file of texts may contain several samples: only its turns show it
    return part


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(result, show(result), samples_findings(result), _READING)


QUESTIONS = (
    Question(
        "samples", "How much does a rewriter vary between samples?", ("samples", "sample_scores"), _inputs, _answer,
        given=lambda project: any(part.sample_runs or part.samples for part in project.formulations.values())
    ),
)  # fmt: skip
