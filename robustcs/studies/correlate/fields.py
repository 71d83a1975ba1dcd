"""Fields of turns: how similar texts, rankings and answers of a formulation are to those of Human.

They are the default measures of ``robustcs correlate``, for Original as well.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.answers import read_predicted_answers
from robustcs.inputs.readings import read_once
from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import Contribution, TurnField, Values, aligned_numbers
from robustcs.similarity.rankings import OVERLAP_DEPTH, overlap, pair_rankings, ranking_depth
from robustcs.similarity.texts import answer_jaccard

SIMILARITY = TurnField(
    "similarity",
    "number",
    "stemmed ROUGE-1 F of the text with the Human text, 0 to 1",
    "correlate",
    per_system=True,
    on_request=True,
    aliases=("rouge1_f",),
)
OVERLAP = TurnField(
    "overlap",
    "number",
    f"share of the Human run's top {OVERLAP_DEPTH} (or to the depth of the shortest run) that the"
    " top of the run has, too",
    "correlate",
    per_system=True,
    on_request=True,
)
ANSWER_SIMILARITY = TurnField(
    "answer_similarity",
    "number",
    "Jaccard similarity of the words of the predicted answer and of Human's, 0 to 1",
    "correlate",
    per_system=True,
    on_request=True,
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return what can be compared with Human: texts, runs, and predicted answers."""
    found = []
    if len(inputs.texts) > 1 and "human" in inputs.texts:
        found.append(Contribution(SIMILARITY, partial(_similarities, inputs)))
    parts = inputs.project.formulations.values()
    runs = {part.name: part.run for part in parts if part.run}
    if len(runs) > 1 and "human" in runs:
        found.append(Contribution(OVERLAP, partial(_overlaps, inputs, runs)))
    answers = {part.name: part.answers for part in parts if part.answers}
    if len(answers) > 1 and "human" in answers:
        found.append(Contribution(ANSWER_SIMILARITY, partial(_answers, inputs, answers)))
    return found


def _similarities(inputs: TurnInputs) -> Values:
    """Return formulation → similarity of the texts of every turn with both."""
    from robustcs.similarity.rouge_bleu import rouge

    human = inputs.texts["human"]
    found = {}
    for name, texts in inputs.texts.items():
        if name != "human":
            both = [turn for turn in texts if turn in human]
            values = rouge([texts[turn] for turn in both], [human[turn] for turn in both])
            known = dict(zip(both, values["rouge1_f"].tolist(), strict=True))
            found[name] = aligned_numbers(inputs.ids, known)
    return found


def _overlaps(inputs: TurnInputs, runs: dict[str, Path]) -> Values:
    """Return formulation → overlap of the rankings of every turn that both runs answer."""
    rankings = dict(zip(runs, inputs.workspace.per_run(list(runs.items()), _whole), strict=True))
    depth = min(OVERLAP_DEPTH, *map(ranking_depth, rankings.values()))
    found = {}
    for name, ranking in rankings.items():
        if name != "human":
            pair = pair_rankings(ranking, rankings["human"])
            values = overlap(pair, depth).tolist()
            answered = (pair.lengths[:, 0] > 0).tolist()
            known = {
                turn: value
                for turn, value, there in zip(pair.turns, values, answered, strict=True)
                if there
            }
            found[name] = aligned_numbers(inputs.ids, known)
    return found


def _whole(ranking: Ranking) -> Ranking:
    return ranking


def _answers(inputs: TurnInputs, files: dict[str, Path]) -> Values:
    """Return formulation → similarity of the predicted answers of every turn with both."""
    read = {name: read_once(read_predicted_answers, path) for name, path in files.items()}
    human = read["human"]
    found = {}
    for name, answers in read.items():
        if name != "human":
            known = {
                turn: answer_jaccard(answer, human[turn])
                for turn, answer in answers.items()
                if turn in human
            }
            found[name] = aligned_numbers(inputs.ids, known)
    return found
