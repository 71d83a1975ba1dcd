"""The command ``robustcs samples``: compare the samples of rewriters in a workspace's texts and runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import Opt
from robustcs.studies.study import SCORING, SEED, UNIT, Command
from robustcs.wording import Note, counted, some_of

if TYPE_CHECKING:
    from robustcs.evaluation.measures import TurnScores
    from robustcs.project.workspace import Workspace
    from robustcs.studies.samples.analysis import Samples


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
    import numpy as np

    from robustcs.inputs.texts import without_empty
    from robustcs.inputs.turns import turn_sort_key
    from robustcs.project.conversations import conversations_of
    from robustcs.project.requirements import sampled
    from robustcs.result import Evaluated
    from robustcs.studies.samples.analysis import Sampled, compare_samples
    from robustcs.studies.samples.steps import files_of_samples, overlap_of_rankings

    workspace.takes_samples = True
    parts = sampled(workspace)
    files = {part.name: files_of_samples(part) for part in parts if part.run and part.sample_runs}
    scores: dict[str, TurnScores] = {}
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0)
    if files and workspace.project.qrels:
        measures, notes = workspace.ranking_measures(())
        scores, evaluated = workspace.scores_of(
            [file for some in files.values() for file in some], measures
        )
        evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    rankings = {
        part.name: overlap_of_rankings(workspace, files[part.name])
        for part in parts
        if part.name in files
    }
    covered = (
        set(next(iter(scores.values())).turns)
        if scores
        else {turn for some in rankings.values() for turn in some}
    )
    samples = (
        workspace.samples_of(sorted(covered, key=turn_sort_key)) if covered else workspace.samples
    )
    known = {*covered, *(turn for texts in samples.values() for turn in texts)}
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


COMMAND = Command(
    ask, ("qrels", "qr", "rewrites", "samples", *SCORING, *UNIT, *SEED), retrieves="samples"
)
