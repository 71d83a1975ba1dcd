"""Input of ``robustcs correlate``: texts, answers and scores of QR and Human, read from the files of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from robustcs.conversations import Conversations
from robustcs.documents.headline import Cut, headline_of
from robustcs.errors import UsageError
from robustcs.evaluation.matrix import GradeMatrix, grade_matrix
from robustcs.evaluation.measure import Measure, grade_notes
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.thresholds import parse_threshold, reachable_thresholds
from robustcs.evaluation.turns import (
    count_turns,
    covered_by_run,
    expected_of,
    lacks_note,
    union_of_turns,
)
from robustcs.inputs.answers import read_predicted_answers
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.readings import rows_of
from robustcs.inputs.scores import read_scores
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.messages import Either, Message, OptionName
from robustcs.project import scoring
from robustcs.project.conversations import conversations_of
from robustcs.project.model import Formulation
from robustcs.project.requirements import question_pairs
from robustcs.project.scoring import ScoredFile, ScoredFrames
from robustcs.project.text_run_match import fit
from robustcs.project.workspace import Workspace
from robustcs.result import Basis, Evaluated
from robustcs.similarity.rankings import (
    OVERLAP_DEPTH,
    AnswerMeasure,
    RankingPair,
    equal_rankings,
    jaccard,
    overlap,
    pair_rankings,
    parse_answer_measure,
    ranking_depth,
    ranking_rbo,
)
from robustcs.similarity.texts import answer_jaccard
from robustcs.studies.correlate.analysis import QuestionPairs
from robustcs.wording import counted, some_of, told_once


def read_question_pairs(
    workspace: Workspace, answers: Sequence[str], with_original: bool = False
) -> tuple[list[QuestionPairs], Evaluated]:
    """Read texts, measures of answers and scores of Human and of every rewriter with texts; similarities are added later.

    answers
        Names of the y: columns of the project's answer similarity, or names that
        :func:`~robustcs.similarity.rankings.parse_answer_measure` reads. The default is every column of the answer similarity,
        else the overlap of the runs' top 1000, else the Jaccard similarity of predicted answers; and, if there are scores,
        whether QR is correct, by the measure and threshold of :func:`~robustcs.documents.headline.headline_of`.
    with_original
        Whether Original is compared with Human as well, as if it were a rewriter.

    If answers are compared by runs, turns with the same text as Human but a different ranking are excluded: the run answered
    another text or the ranker is not deterministic, and neither is an effect of rewriting. A note names each rewriter that has
    no turn to compare, with the reason.

    Raises :class:`UsageError` if texts are missing, or the input of a y, or if no rewriter has a turn to compare.
    """
    reader = _PairReader(workspace, with_original)
    pairs = reader.pairs(answers)
    missing = set().union(*reader.missing.values())
    reader.notes += told_once(reader.left_out)
    reader.notes += [
        lacks_note(name, sorted(turns, key=turn_sort_key)) for name, turns in reader.missing.items()
    ]
    turns = len(set().union(*(pair.answers.index for pair in pairs)))
    conversations, notes = reader.conversations, tuple(dict.fromkeys(reader.notes))
    evaluated = Evaluated(
        workspace.project.policy,
        reader.basis,
        turns,
        len(missing),
        notes,
        conversations=conversations,
    )
    return pairs, evaluated


def _joined(qrels: Qrels | None, ranking: Ranking) -> tuple[Ranking, GradeMatrix | None]:
    return ranking, grade_matrix(ranking, qrels) if qrels else None


class _PairReader:
    """Reads each input once; ``missing`` collects the turns that Human or a rewriter does not answer, by its name."""

    def __init__(self, workspace: Workspace, with_original: bool):
        self.workspace = workspace
        self.project = workspace.project
        self.thresholds = reachable_thresholds(self.project.thresholds, self.project.metrics)
        self.notes: list[str] = []
        self.left_out: list[tuple[str, str, str]] = []
        self.missing: dict[str, set[str]] = {}
        self.basis: Basis = "runs"
        self.human, self.rewriters = question_pairs(workspace, with_original)
        self.parts = [self.human, *self.rewriters]

    @cached_property
    def conversations(self) -> Conversations:
        """The conversations of the turns with texts."""
        return conversations_of(
            self.workspace,
            dict.fromkeys(turn for own in self.workspace.texts.values() for turn in own),
        )

    # ------------------------------------------------------------ inputs about answers

    def _choose_basis(self, wanted: Sequence[AnswerMeasure]) -> Basis:
        """Return where scores come from, depending on the measures, the y, and the inputs of Human and the rewriters."""
        measures = [
            *self.workspace.averaged(self.project.metrics),
            *(one.measure for one in wanted if one.measure),
        ]
        of_answers = scoring.of_answers(measures)
        with_answers = all(part.answers for part in self.parts)
        only_answers = bool(wanted) and all(one.kind == "answer_jaccard" for one in wanted)
        if of_answers or (not measures and with_answers and (only_answers or not self.with_runs)):
            return "answers"
        return "runs" if self.with_runs else "scores"

    @property
    def with_runs(self) -> bool:
        """Whether Human and every rewriter have a run."""
        return all(part.run for part in self.parts)

    @cached_property
    def runs(self) -> dict[str, tuple[Ranking, GradeMatrix | None]]:
        """Name of a formulation → its ranking and, with qrels, its grades."""
        if not self.with_runs:
            raise UsageError(
                "no-runs",
                "Human or a rewriter has no run",
                Message("give the runs with ", OptionName("human"), " and ", OptionName("qr")),
            )
        qrels = self.workspace.qrels if self.project.qrels else None

        files = [(part.name, part.run) for part in self.parts if part.run]
        built = self.workspace.per_run(files, partial(_joined, qrels))
        for ranking, _ in built:
            self.notes += ranking.notes
        if qrels is None:  # else the turns are compared with the qrels
            union_of_turns(
                [
                    (path, ranking.turns)
                    for (_, path), (ranking, _) in zip(files, built, strict=True)
                ],
                "the runs",
            )
        return {part.name: one for part, one in zip(self.parts, built, strict=True)}

    @cached_property
    def given(self) -> pd.DataFrame | None:
        """The project's answer similarity, turns × columns."""
        path = self.project.answer_similarity
        if path is None:
            return None
        frame = read_scores(path)
        self.workspace.remember("answer similarity", path, int(frame.notna().to_numpy().sum()))
        return frame

    @cached_property
    def predicted(self) -> dict[str, dict[str, str]]:
        """Name of a formulation → its predicted answers."""
        answers = {}
        for part in self.parts:
            if part.answers is None:
                raise UsageError(
                    "no-answers",
                    f"no predicted answers of {part.name}",
                    Message("give ", OptionName("answers", f"{part.role}=FILE")),
                )
            answers[part.name] = read_predicted_answers(part.answers)
            self.workspace.remember(
                f"{part.name} answers", part.answers, rows_of(answers[part.name])
            )
        return answers

    def scores(self, measures: Sequence[Measure]) -> dict[str, pd.DataFrame] | None:
        """Return name → scores of every formulation over the same turns; None if there is no input to score answers.

        The columns are the project's measures, or the default ones, and then ``measures``.
        """
        if self.basis == "answers":
            if self.project.gold is None:
                return None
            scored = self._answer_scores(self._wanted(scoring.DEFAULT_ANSWER_MEASURES, measures))
        elif self.with_runs and self.project.qrels:
            scored = self._run_scores(self._wanted(scoring.DEFAULT_MEASURES, measures))
        elif all(part.scores for part in self.parts):
            scored = self._score_files(measures)
        else:
            return None
        frames, expected, covered, notes = scored
        turns = count_turns(expected, covered, self.project.policy.missing)
        self.notes += notes
        for name, lacking in turns.missing.items():
            self.missing.setdefault(name, set()).update(lacking)
        return {
            part.name: one.take(turns.counted).frame()
            for part, one in zip(self.parts, frames, strict=True)
        }

    def _run_scores(self, measures: Sequence[Measure]) -> ScoredFrames:
        qrels = self.workspace.qrels
        matrices = [
            (part, matrix) for part in self.parts if (matrix := self.runs[part.name][1]) is not None
        ]
        covered = [
            covered_by_run(part.name, part.run, matrix) for part, matrix in matrices if part.run
        ]
        frames = [evaluate(matrix, measures, self.project.policy) for _, matrix in matrices]
        notes = [
            *qrels.notes,
            *grade_notes(measures, qrels.grades, self.project.policy.relevance_level),
        ]
        return frames, expected_of(qrels, self.project.policy.documents), covered, notes

    def _wanted(self, defaults: Sequence[Measure], measures: Sequence[Measure]) -> list[Measure]:
        return list(
            dict.fromkeys([*self.workspace.averaged(self.project.metrics or defaults), *measures])
        )

    def _answer_scores(self, measures: Sequence[Measure]) -> ScoredFrames:
        files = [
            ScoredFile(part.name, f"{part.name} answers", part.answers, "answers")
            for part in self.parts
            if part.answers
        ]
        return scoring.scored_answers(
            self.workspace, files, [self.predicted[file.name] for file in files], measures
        )

    def _score_files(self, measures: Sequence[Measure]) -> ScoredFrames:
        files = [
            ScoredFile(part.name, f"{part.name} scores", part.scores, "scores")
            for part in self.parts
            if part.scores
        ]
        requested = (
            self._wanted(scoring.DEFAULT_MEASURES, measures)
            if self.project.metrics or measures
            else []
        )
        return scoring.join_scores(files, scoring.score_files(self.workspace, files, requested))

    # ------------------------------------------------------------ the pairs

    def pairs(self, answers: Sequence[str]) -> list[QuestionPairs]:
        """Return one pair per rewriter that has turns to compare."""
        columns = [] if self.given is None else [str(column) for column in self.given.columns]
        wanted = [
            AnswerMeasure(name, "given") if name in columns else parse_answer_measure(name)
            for name in answers or columns
        ]
        self.basis = self._choose_basis(wanted)
        scores = self.scores([one.measure for one in wanted if one.measure])
        if not answers:
            if not wanted and self.basis != "scores":
                name = "answer_jaccard" if self.basis == "answers" else f"overlap_{OVERLAP_DEPTH}"
                wanted.append(parse_answer_measure(name))
            if scores is not None:
                wanted.append(parse_answer_measure("".join(self._rule(scores))))
        if not wanted:
            waiting = self.workspace.missing_runs(
                [part.name for part in self.parts if not part.run]
            )
            advice = Message(
                waiting.advice,
                ", or give ",
                OptionName("scores", "answers=FILE"),
                " or predicted answers (",
                OptionName("answers"),
                ")",
            )
            raise UsageError(
                "no-answers", f"there are no answers to compare, and {waiting.found}", advice
            )
        if scores is None and any(one.measure for one in wanted):
            advice = Message(
                "give runs and ",
                OptionName("qrels"),
                ", ",
                Either("--scores qr=FILE and human=FILE", "scores={'qr': FILE, 'human': FILE}"),
                ", or ",
                OptionName("answers"),
                " and ",
                OptionName("gold"),
            )
            raise UsageError("no-scores", "there is no input to score answers", advice)
        wanted = self._within_depth(wanted)
        alone: list[str] = []
        pairs = []
        for part in self.rewriters:
            pair = self._pair(part, wanted, scores)
            if isinstance(pair, str):
                alone.append(f"{part.name} cannot be compared with {self.human.name}: {pair}")
            else:
                pairs.append(pair)
        if not pairs:
            check = "check that the turn ids of texts, runs and scores agree, and that the runs were made for these texts"
            raise UsageError("no-common-turns", "; ".join(alone), check)
        self.notes += alone
        return pairs

    def _pair(
        self,
        part: Formulation,
        wanted: Sequence[AnswerMeasure],
        scores: dict[str, pd.DataFrame] | None,
    ) -> QuestionPairs | str:
        """Return the pair of a rewriter; if it has no turn to compare, the reason."""
        values = dict(self._values(one, part, scores) for one in wanted)
        known = (
            set().union(*(series.index for series in values.values()))
            if scores is None
            else scores[self.human.name].index
        )
        texts = self.workspace.texts_of(sorted(known, key=turn_sort_key), self.basis)
        ours, theirs = texts[part.name], texts[self.human.name]
        apart: tuple[str, ...] = ()
        equal = 0
        if self.basis == "runs" and not any(one.kind == "given" for one in wanted):
            pair = self._paired[part.name]
            ranked = zip(pair.turns, equal_rankings(pair), pair.lengths[:, 0] > 0, strict=True)
            found = fit(
                ours, theirs, {turn: bool(same) for turn, same, covered in ranked if covered}
            )
            apart, equal = found.equal_apart, len(found.equal)
            self.notes += found.doubts(part.name, "Human")
        turns = sorted((ours.keys() & theirs.keys()).difference(apart), key=turn_sort_key)
        frame = pd.DataFrame(
            {name: series.reindex(turns) for name, series in values.items()},
            index=turns,
            dtype=float,
        )
        unknown = frame.index[frame.isna().all(axis=1)]
        if len(unknown) == len(turns):
            why = {"same text but different rankings": apart, "no answers to compare": turns}
            told = (f"{what} for {counted(len(on), 'turn')}" for what, on in why.items() if on)
            return ", ".join(told) or "no turn has texts of both"
        self._exclude(part, apart, "same text as Human but a different ranking")
        values_of = set().union(*(series.dropna().index for series in values.values()))
        self._exclude(
            part, values_of.difference(turns, apart), f"no text of it or of {self.human.name}"
        )
        self._exclude(part, unknown, "no answers to compare")
        frame = frame.drop(index=unknown)
        turns = frame.index.tolist()
        judged = correct = rule = None
        if scores is not None:
            human = scores[self.human.name]
            judged = np.isin(turns, human.index.tolist())
            measure, threshold = self._rule(scores)
            correct = judged & parse_threshold(threshold).holds(
                human[measure].reindex(turns).fillna(-1.0)
            )
            rule = f"{measure}{threshold}"
        depths = [self.conversations.depth(turn) for turn in turns]
        return QuestionPairs(
            rewriter=part.name,
            similarity=pd.DataFrame(index=frame.index),
            answers=frame,
            judged=judged,
            correct=correct,
            depth=np.array([np.nan if depth is None else depth for depth in depths], dtype=float),
            original=[texts.get("original", {}).get(turn) for turn in turns],
            qr=[ours[turn] for turn in turns],
            human=[theirs[turn] for turn in turns],
            rule=rule,
            apart=(len(apart), equal),
        )

    def _exclude(self, part: Formulation, turns: Iterable[str], why: str) -> None:
        """Note that these turns of a rewriter are excluded."""
        if some := sorted(turns, key=turn_sort_key):
            self.left_out.append(
                (
                    f"{counted(len(some), 'turn')} of ",
                    part.name,
                    f" excluded: {why} ({some_of(some)})",
                )
            )

    def _rule(self, scores: dict[str, pd.DataFrame]) -> Cut:
        """Return the measure and threshold that make an answer correct, as in every headline."""
        return headline_of(map(str, scores[self.human.name].columns), self.thresholds)

    def _within_depth(self, wanted: Sequence[AnswerMeasure]) -> list[AnswerMeasure]:
        """Return the measures, limited to the depth of the shortest run; a note reports the change.

        All rewriters get the same depth, so that they can be compared.
        """
        if not any(one.depth for one in wanted):
            return list(wanted)
        depth = min(ranking_depth(ranking) for ranking, _ in self.runs.values())
        for one in wanted:
            if one.depth > depth:
                self.notes.append(
                    f"the shortest run ends at rank {depth}: {one.kind} covers the top {depth}"
                )
        return [
            replace(one, name=f"{one.kind}_{depth}", depth=depth) if one.depth > depth else one
            for one in wanted
        ]

    @cached_property
    def _paired(self) -> dict[str, RankingPair]:
        """Rewriter → its ranking paired with that of Human."""
        human = self.runs[self.human.name][0]
        return {part.name: pair_rankings(self.runs[part.name][0], human) for part in self.rewriters}

    def _values(
        self, one: AnswerMeasure, part: Formulation, scores: dict[str, pd.DataFrame] | None
    ) -> tuple[str, pd.Series]:
        """Return the name of one y and its values by turn."""
        if one.kind == "given":
            assert self.given is not None
            return one.name, self.given[one.name]
        if one.measure is not None:
            assert scores is not None
            ours = scores[part.name][one.measure.name]
            if one.threshold is not None:
                return one.name, pd.Series(one.threshold.holds(ours).astype(float), ours.index)
            return one.name, ours - scores[self.human.name][one.measure.name]
        if one.kind == "answer_jaccard":
            first, second = self.predicted[part.name], self.predicted[self.human.name]
            both = first.keys() & second.keys()
            return one.name, pd.Series(
                {turn: answer_jaccard(first[turn], second[turn]) for turn in both}, dtype=float
            )
        pair = self._paired[part.name]
        if one.kind == "rbo":
            values = ranking_rbo(pair, one.persistence)
        else:
            values = (overlap if one.kind == "overlap" else jaccard)(pair, one.depth)
        series = pd.Series(values, list(pair.turns))
        uncovered = series.index[pair.lengths[:, 0] == 0]
        if self.project.qrels:
            # a run must answer judged turns only
            free = uncovered.difference(list(self.workspace.qrels.turns))
            self._exclude(part, free, "missing in its run and without judgments")
            series, uncovered = series.drop(free), uncovered.difference(free)
        if len(uncovered):
            self.missing.setdefault(part.name, set()).update(uncovered)
        return one.name, series.drop(uncovered) if self.project.policy.missing != "zero" else series
