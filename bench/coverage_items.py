"""Trials of ``coverage.py`` for wordings, slices, new judgments, clarifying questions, annotators and preferences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.coverage_cells import (
    DRAWS,
    LABELS,
    POLICY,
    SCALE,
    Collection,
    Floats,
    Judgments,
    Tally,
    Trial,
    run_files,
)
from robustcs.conversations import Conversations
from robustcs.evaluation.clarification import recalls, weighted_scores
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.annotations import join_annotations, read_annotations
from robustcs.inputs.clariq import read_evaluation, read_question_run, read_topics
from robustcs.inputs.mixed_initiative import Bank, map_to_bank, read_bank, read_mixed_initiative
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.agreement import agreement_estimate, alpha_of, alpha_sums
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.preference import preferred_share
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units, units_of
from robustcs.statistics.variance import variance_components
from robustcs.studies.agreement.analysis import snippet_agreement
from robustcs.studies.clariq.tasks import weighted_statistic
from robustcs.studies.crowd.analysis import as_qrels

#: Resamples of a nested bootstrap-t; the program uses more.
RESAMPLES = 300
#: Rows of a table by unit.
Rows = list[np.ndarray]


def _drawn(units: Units) -> Callable[[np.ndarray], tuple[np.ndarray, Units]]:
    """Return a function of drawn units that gives the indices of their turns and the new units."""
    rows: Rows = [np.flatnonzero(units.codes == code) for code in range(units.count)]

    def take(drawn: np.ndarray) -> tuple[np.ndarray, Units]:
        codes = np.repeat(np.arange(len(drawn)), [len(rows[code]) for code in drawn])
        return np.concatenate([rows[code] for code in drawn]), Units(
            units.kind, codes, tuple(map(str, range(len(drawn))))
        )

    return take


def variance_trial(some: Collection) -> Trial:
    """Return a trial of shares of the variance over turns and wordings; the collection's formulations act as wordings."""
    tables = {"0": some.scores["ndcg_cut_3"][:3].T, "1": some.scores["map"][:3].T}
    if len(some.many) > 3:
        tables["2"] = some.scores["ndcg_cut_3"].T
    truths = {row: variance_components(table, some.units, 0, 1) for row, table in tables.items()}
    take = _drawn(some.units)

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        seed = int(generator.integers(2**31))
        taken, units = take(drawn)
        for row, table in tables.items():
            for part, truth in zip(
                variance_components(table[taken], units, seed, RESAMPLES), truths[row], strict=True
            ):
                # the remaining share belongs to the wording
                if part.name != "wording":
                    tally.interval(
                        f"share of variance: {part.name}", row, part.share, truth.share.value
                    )

    return trial


def slices_trial(some: Collection, turns: tuple[str, ...]) -> Trial:
    """Return a trial of drops of the pairs within first turns, and within turns from the fifth on."""
    conversations = Conversations.from_ids(turns)
    depths = np.array([conversations.depth(turn) or 0 for turn in turns])
    slices = {"first": depths == 1, "late": depths >= 5}
    ndcg = some.scores["ndcg_cut_3"]
    parts = {}
    for name, inside in slices.items():
        masked = np.array([(ndcg[second] - ndcg[first]) * inside for first, second in some.pairs])
        parts[name] = some.units.sums(masked), some.units.sums(inside)

    def trial(drawn: np.ndarray, _: np.random.Generator, tally: Tally) -> None:
        for name, (sums, sizes) in parts.items():
            # conversations without a turn in the slice are not units of the slice
            own = drawn[sizes[drawn] > 0]
            for row, found in enumerate(mean_estimates(sums[:, own], sizes[own])):
                tally.interval(
                    "drop within a slice",
                    f"{name} {row}",
                    found,
                    float(sums[row].sum() / sizes.sum()),
                )

    return trial


def judgments_trial(data: Path, name: str) -> tuple[int, Trial]:
    """Return a trial of the effect of new judgments: a random third, or the few that only the first run's top 3 contributed."""
    folder = data / name.lower().replace(" ", "")
    qrels = read_qrels(folder / "qrels.txt.gz")
    rankings = [rank_run(read_run(folder / file), POLICY) for file in run_files(data, name)]
    tops = [_tops(ranking) for ranking in rankings]
    documents = qrels.documents.texts()
    pairs = zip(
        qrels.turn_codes.tolist(), qrels.document_codes.tolist(), qrels.grades.tolist(), strict=True
    )
    judged = [(qrels.turns[turn], documents[document], grade) for turn, document, grade in pairs]
    third = np.random.default_rng(0).random(len(judged)) < 1 / 3
    few = tops[0].difference(*tops[1:])
    hidden = {
        "new judgments": third,
        "few new judgments": np.array([row[:2] in few for row in judged]),
    }
    after = _scores(rankings, qrels)
    whole = {turn: place for place, turn in enumerate(grade_matrix(rankings[0], qrels).turns)}
    parts: dict[str, tuple[Floats, Floats]] = {}
    for what, out in hidden.items():
        fewer = as_qrels(
            name, [row for row, gone in zip(judged, out.tolist(), strict=True) if not gone]
        )
        turns = grade_matrix(rankings[0], fewer).turns
        units, before = units_of(turns), _scores(rankings, fewer)
        same = [whole[turn] for turn in turns]
        for measure, scores in before.items():
            sums = units.sums(np.round(after[measure][:, same] - scores, 9))
            parts[f"difference by {what}, {LABELS[measure]}"] = sums, units.sizes

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        seed = int(generator.integers(2**31))
        signs = generator.choice([-1.0, 1.0], size=len(drawn))
        for kind, (table, sizes) in parts.items():
            _paired(tally, kind, table, sizes, drawn, signs, seed)

    return units.count, trial


def _paired(
    tally: Tally,
    kind: str,
    table: Floats,
    sizes: Floats,
    drawn: np.ndarray,
    signs: Floats,
    seed: int,
) -> None:
    """Count interval, power and level of every row of ``table`` [M, K]; ``signs`` swap the two sides for the level."""
    own = table[:, drawn]
    tests = paired_tests(np.concatenate([own, own * signs]), sizes[drawn], seed, draws=DRAWS)
    for row, (test, null) in enumerate(zip(tests, tests[len(own) :], strict=False)):
        tally.interval(kind, str(row), test, float(table[row].sum() / sizes.sum()))
        tally.power(kind, str(row), test.p <= 0.05)
        tally.level(kind, str(row), null.p)


def _tops(ranking: Ranking) -> set[tuple[str, str]]:
    documents = ranking.ids.take(ranking.document_codes).texts()
    bounds = zip(ranking.turns, ranking.starts.tolist(), ranking.starts[1:].tolist(), strict=False)
    return {
        (turn, documents[row])
        for turn, start, end in bounds
        for row in range(start, min(end, start + 3))
    }


def _scores(
    rankings: Sequence[Ranking], qrels: Qrels, names: Sequence[str] = ("ndcg_cut_3", "map")
) -> dict[str, Floats]:
    """Return measure → float64[runs, turns]."""
    measures = [parse_measure(name) for name in names]
    columns = [
        score_columns(grade_matrix(ranking, qrels), measures, POLICY) for ranking in rankings
    ]
    return {name: np.array([column[name] for column in columns]) for name in names}


def crowd_trial(data: Path) -> tuple[int, Trial]:
    """Return a trial of the means of the two runs of CAsT-ReGIn by topic."""
    folder = data / "cast2022-regin"
    bank = Bank(read_bank(folder / "question_bank.json"))
    files = ("bm25_baseline_mi_run.json.gz", "GPT-3_raw_run.json")
    rankings = [
        rank_run(map_to_bank(read_mixed_initiative(folder / file), bank, file).run, POLICY)
        for file in files
    ]
    qrels = read_qrels(folder / "question_relevance_all.qrel")
    scores = _scores(rankings, qrels, ["ndcg_cut_3", "P_1"])
    units = units_of(grade_matrix(rankings[0], qrels).turns)
    return units.count, _mean_trial({"NDCG@3": scores["ndcg_cut_3"], "P@1": scores["P_1"]}, units)


def _mean_trial(scores: Mapping[str, Floats], units: Units) -> Trial:
    """Return a trial of the mean of every row of the tables [M, items]."""
    sums, sizes = {name: units.sums(table) for name, table in scores.items()}, units.sizes

    def trial(drawn: np.ndarray, _: np.random.Generator, tally: Tally) -> None:
        for name, table in sums.items():
            for row, found in enumerate(
                mean_estimates(table[:, drawn], sizes[drawn], bounds=(0, 1))
            ):
                tally.interval(
                    f"mean {name}", str(row), found, float(table[row].sum() / sizes.sum())
                )

    return trial


def snippets_trial(data: Path) -> tuple[int, list[Trial]]:
    """Return trials of J of CAsT-snippets' master workers and their F1 to the experts, by turn and with the text as unit."""
    masters, experts = (
        join_annotations([
            (path, read_annotations(path)[0])
            for path in (data / "snippets" / f"topic_{topic}-paragraph-{kind}.csv.gz" for topic in (1, 2))
        ])
        for kind in ("master", "expert")
    )  # fmt: skip
    texts = snippet_agreement(masters, experts, Evaluated(EvaluationPolicy(), "texts", 22, 0)).texts
    jaccard = texts[[f"jaccard_{k}" for k in (2, 3, 4, 5)]].to_numpy().T
    f1 = texts[["f1_mean", "f1_majority", "f1_similarity"]].to_numpy().T
    turns, codes = np.unique(texts["turn"], return_inverse=True)
    units = Units("turn", codes, tuple(turns))
    take = _drawn(units)

    def alone(drawn: np.ndarray, _: np.random.Generator, tally: Tally) -> None:
        taken, _units = take(drawn)
        for row, found in enumerate(
            mean_estimates(jaccard[:, taken], np.ones(len(taken)), bounds=(0, 1))
        ):
            tally.interval(
                "mean J over texts, the text as unit", str(row), found, float(jaccard[row].mean())
            )

    return units.count, [
        _mean_trial({"J over texts": jaccard, "F1 to references": f1}, units),
        alone,
    ]


def questions_trial(data: Path) -> tuple[int, list[Trial]]:
    """Return trials of ClariQ dev: question recall, document relevance by facet, and need for three synthetic predictors."""
    folder = data / "clariq"
    topics = read_topics(folder / "dev.tsv.gz")
    names = sorted(topics.questions)
    lists: dict[str, list[str]] = {}
    run = read_question_run(folder / "dev_bm25", "bm25", None).run
    ranking = rank_run(run, POLICY)
    for place, topic in enumerate(ranking.turns):
        codes = ranking.document_codes[ranking.starts[place] : ranking.starts[place + 1]]
        lists[topic] = ranking.ids.take(codes).texts()
    found = recalls(lists, {topic: topics.questions[topic] for topic in names}).T
    each = Units("topic", np.arange(len(names)), tuple(names))
    tables = [
        read_evaluation(folder / f"dev_{name}.eval")
        for name in ("worst_q", "no_q", "bm25", "best_q")
    ]
    facets = sorted(tables[0]["NDCG3"])
    place = {topic: number for number, topic in enumerate(names)}
    units = Units(
        "topic", np.array([place[topics.facets[facet]] for facet in facets]), tuple(names)
    )
    scores = {
        name: np.array([[table[measure][facet] for facet in facets] for table in tables])
        for name, measure in (("NDCG@3 over facets", "NDCG3"), ("MRR over facets", "MRR100"))
    }
    trials = [_mean_trial({"R@k of questions": found}, each), _mean_trial(scores, units)]
    trials += [
        _differences_trial(scores, units),
        _need_trial(np.array([topics.needs[topic] for topic in names])),
    ]
    return len(names), trials


def _differences_trial(scores: Mapping[str, Floats], units: Units) -> Trial:
    """Return the differences between the third system and each of the others."""
    sums = {
        name: units.sums(table[2] - np.delete(table, 2, axis=0)) for name, table in scores.items()
    }
    sizes = units.sizes

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        seed = int(generator.integers(2**31))
        signs = generator.choice([-1.0, 1.0], size=len(drawn))
        for name, table in sums.items():
            _paired(tally, f"difference {name}", table, sizes, drawn, signs, seed)

    return trial


def _need_trial(true: np.ndarray) -> Trial:
    """Return predictors that are correct on 40%, 60% and 80% of topics, else off by one or two labels or missing."""
    generator = np.random.default_rng(0)
    guesses = []
    for right in (0.4, 0.6, 0.8):
        off = np.clip(true + generator.choice([-2, -1, 1, 2], len(true)), 0, 4)
        guesses.append(np.where(generator.random(len(true)) < right, true, off))
    cells = [np.eye(20)[(true - 1) * 5 + guess] for guess in guesses]
    errors = [(guess > 0) * (true - guess) ** 2.0 for guess in guesses]

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        seed = int(generator.integers(2**31))
        for row, (guess, own, error) in enumerate(zip(guesses, cells, errors, strict=True)):
            truth = weighted_scores(own.sum(axis=0).reshape(4, 5))
            for name, place in (("precision", 0), ("F1", 2)):
                found = agreement_estimate(
                    own[drawn], weighted_statistic(place), seed, resamples=RESAMPLES
                )
                tally.interval(f"need: weighted {name}", str(row), found, float(truth[place]))
            (found,) = share_estimates((guess == true)[drawn], np.ones(len(drawn)))
            tally.interval("need: share predicted right", str(row), found, float(truth[1]))
            answered = (guess > 0).astype(float)
            (found,) = mean_estimates(error[drawn], answered[drawn], bounds=(0, 9))
            tally.interval(
                "need: squared error", str(row), found, float(error.sum() / answered.sum())
            )

    return trial


def preferences_trial() -> tuple[int, Trial]:
    """Return trials of synthetic preferences: 400 pairs with correlated judgments, one per pair or one to four."""
    generator = np.random.default_rng(0)
    number = 400
    parts = {}
    for row, share in enumerate((0.5, 0.65, 0.8)):
        lean = generator.beta(share * 6, (1 - share) * 6, number)
        for kind, judged in (
            ("one judgment a pair", np.ones(number, int)),
            ("1 to 4 a pair", generator.integers(1, 5, number)),
        ):
            parts[f"preference, {kind}", str(row)] = generator.binomial(judged, lean), judged

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        swapped = generator.random(len(drawn)) < 0.5
        for key, (wins, judged) in parts.items():
            won, size = wins[drawn], judged[drawn]
            found = preferred_share(won, size)
            tally.interval(*key, found, float(wins.sum() / judged.sum()))
            tally.power(*key, found.p <= 0.05)
            tally.level(*key, preferred_share(np.where(swapped, size - won, won), size).p)

    return number, trial


def alphas_trial(judgments: Judgments, by_topic: bool) -> tuple[int, Trial]:
    """Return the number of units, and a trial of nominal and interval alpha of human and model judges."""
    sums = alpha_sums(
        np.stack([(judgments.grades == grade).sum(axis=0) for grade in SCALE], axis=1)
    )
    if by_topic:
        topics = Units(
            "topic", judgments.topics, tuple(map(str, range(judgments.topics.max() + 1)))
        )
        sums = topics.sums(sums.T).T
    statistics = {"nominal": alpha_of(SCALE, "nominal"), "interval": alpha_of(SCALE, "interval")}
    truths = {level: float(statistic(sums.sum(axis=0))) for level, statistic in statistics.items()}
    where = "by topic" if by_topic else "over items"

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        seed = int(generator.integers(2**31))
        for level, statistic in statistics.items():
            found = agreement_estimate(sums[drawn], statistic, seed, resamples=RESAMPLES)
            tally.interval(f"{level} alpha {where}", "0", found, truths[level])

    return len(sums), trial


def turns_of(data: Path, name: str) -> tuple[str, ...]:
    """Return the turns of a collection in the order of its scores."""
    folder = data / name.lower().replace(" ", "")
    ranking = rank_run(read_run(folder / run_files(data, name)[0]), POLICY)
    return grade_matrix(ranking, read_qrels(folder / "qrels.txt.gz")).turns
