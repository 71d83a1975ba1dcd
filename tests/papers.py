"""List every table and figure of the five papers: published values, values of robustcs, and reasons for differences.

``docs/update.py`` writes ``docs/papers.md`` from this module. ``tests/test_papers.py`` runs every command and compares the
values. Commands run in the folder of the public data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.published import REAL_RUNS, TABLE_1

Tables = dict[str, list[dict[str, Any]]]
Find = Callable[[Tables], str]


@dataclass(frozen=True)
class Row:
    """One value of a paper, or several that belong together, formatted as in the paper.

    place
        Table, figure or section of the paper.
    what
        What the values measure.
    published
        The published values; empty if the paper prints none.
    ours
        The values of the command, with as many digits; empty if they equal the published ones.
    command
        Name of a command in :data:`COMMANDS`.
    find
        Function that gets the values from the tables of the command, formatted like ``ours``.
    why
        Why the values differ or cannot be reproduced.
    """

    place: str
    what: str
    published: str = ""
    ours: str = ""
    command: str = ""
    find: Find | None = None
    why: str = ""

    @property
    def expected(self) -> str:
        """Return the values that the command must give."""
        return self.ours or self.published


@dataclass(frozen=True)
class Paper:
    """A paper: its title, its file, and its rows in the order of the paper."""

    title: str
    file: str
    rows: tuple[Row, ...]


_QRQA = " ".join(
    f"--scores {role}=cast2019/qrqa/{name}_query_metrics.txt"
    for role, name in (
        ("original", "original"),
        ("qr", "Transformer_Plus_Plus_Q"),
        ("human", "human"),
    )
)
_RUNS_2019 = " ".join(
    f"--{role} cast2019/runs/bert_base_{name}.trec.gz"
    for role, name in (("original", "raw"), ("qr", "cv"), ("human", "oracle"))
)
_SNIPPETS = "snippets/topic_1-paragraph-{0}.csv.gz snippets/topic_2-paragraph-{0}.csv.gz"
COMMANDS = {
    "bins": f"breakdown {_QRQA} --rewrites original=cast2019/qrqa/Human.tsv:original --rewrites human=cast2019/qrqa/Human.tsv"
    " --metric P_1 --metric ndcg_cut_3",
    "bins of runs": f"breakdown --qrels cast2019/qrels.txt.gz {_RUNS_2019} --relevance-level 2",
    "sweep": f"sweep {_QRQA} --metric ndcg_cut_3",
    "correlation": "correlate --scores answers=cast2019/qrqa/answer_overlap_r1000.txt"
    " --scores qr=cast2019/qrqa/Transformer_Plus_Plus_Q_query_metrics.txt --scores human=cast2019/qrqa/human_query_metrics.txt"
    " --rewrites qr=cast2019/qrqa/Transformer_Plus_Plus_Q.tsv --rewrites human=cast2019/qrqa/Human.tsv --metric P_1"
    " --x rouge1_recall --x rouge1_f",
    "paraphrases": "testsets --paraphrases ECAsT.csv.gz",
    "context 2020": "paraphrase --rewrites original=cast2020/topics_manual.json:raw --rewrites"
    " human=cast2020/topics_manual.json:manual --keep-feedback --with cat --number 1 --context-remover nouns",
    "context 2021": "paraphrase --rewrites original=cast2021/topics_manual.json.gz:raw --rewrites"
    " human=cast2021/topics_manual.json.gz:manual --with cat --number 1 --context-remover nouns",
    "diversity": "diversity --source cast2020/topics_manual.json:manual --target ECAsT.csv.gz:manual",
    "unjudged": "unjudged --qrels cast2020/qrels.txt.gz --run raw=cast2020/runs/bert_raw.trec.gz"
    " --run auto=cast2020/runs/bert_auto.trec.gz --run manual=cast2020/runs/bert_manual.trec.gz --relevance-level 2",
    "questions": "clariq --topics clariq/dev.tsv.gz --questions clariq/question_bank.tsv.gz"
    " --run bm25=clariq/dev_bm25 --evaluations bm25=clariq/dev_bm25.eval"
    " --evaluations no=clariq/dev_no_q.eval"
    " --evaluations worst=clariq/dev_worst_q.eval --evaluations best=clariq/dev_best_q.eval",
    "masters": f"agreement {_SNIPPETS.format('master')} "
    + " ".join(f"--reference {file}" for file in _SNIPPETS.format("expert").split()),
    "experts": f"agreement {_SNIPPETS.format('expert')}",
    "sentences": "agreement snippets/topic_1-sentence-master.csv.gz --reference snippets/topic_1-paragraph-expert.csv.gz",
    "crowd": "crowd --qrels cast2022-regin/question_relevance_all.qrel --qrels cast2022-regin/question_novelty.qrel"
    " --qrels cast2022-regin/question_diversity.qrel --bank cast2022-regin/question_bank.json"
    " --subset cast2022-regin/question_relevance_mi_subset.qrel --run bm25=cast2022-regin/bm25_baseline_mi_run.json.gz"
    " --run gpt3=cast2022-regin/GPT-3_raw_run.json",
    "responses": "crowd "
    + " ".join(
        f"--qrels cast2022-regin/response_{name}.qrel"
        for name in ("relevance", "conciseness", "naturalness")
    ),
}

# ---------------------------------------------------------------- values in tables


def _rows(tables: Tables, table: str, **wanted: Any) -> list[dict[str, Any]]:
    found = [
        row for row in tables[table] if all(row[key] == value for key, value in wanted.items())
    ]
    assert found, f"{table} has no row with {wanted}"
    return found


def _values(table: str, column: str, digits: int | None, **wanted: Any) -> Find:
    """Return a function that gets the values of a column, in the order of the table."""
    return lambda tables: _written((row[column] for row in _rows(tables, table, **wanted)), digits)


def _written(values: Iterable[float], digits: int | None) -> str:
    return " ".join(str(value) if digits is None else f"{value:.{digits}f}" for value in values)


def _bins(metric: str, threshold: str) -> Find:
    return _values("bins", "count", None, metric=metric, threshold=threshold)


def _unchanged(tables: Tables) -> str:
    """Return the number of turns that needed no rewriting, for each threshold of Table 1: bin ✗✗✗, bin ✓✓✓, and all bins."""
    cuts = [
        [row["unchanged"] for row in _rows(tables, "bins", metric=cut[0], threshold=cut[1])]
        for cut in TABLE_1
    ]
    return " · ".join(_written(some, None) for some in (
        (cut[0] for cut in cuts), (cut[-1] for cut in cuts), (sum(cut) for cut in cuts)
    ))  # fmt: skip


def _answerable(turns: str) -> Find:
    return _values("answerable", "share", 2, turns=turns)


def _rewritten_without_need(tables: Tables) -> str:
    row = _rows(tables, "bins", metric="P_1", threshold="=1")[-1]
    return f"{100 * (row['count'] - row['unchanged']) / 173:.0f}%"


def _causes(tables: Tables) -> str:
    rows = _rows(tables, "attribution", metric="P_1", threshold="=1")
    return " ".join(f"{100 * row['share']:.0f}%" for row in rows[:2])


def _swept(tables: Tables) -> str:
    return " · ".join(
        _written((row["count"] for row in _rows(tables, "bins", threshold=at)), None)
        for at in (0.0, 0.5, 1.0)
    )


def _areas(tables: Tables) -> str:
    area = {row["bin"]: row["area"] for row in tables["areas"]}
    qa, qr = (
        sum(area[one] for one in area if test(one))
        for test in (lambda b: b[2] == "0", lambda b: b[1:] == "01")
    )
    return _written((qa, qr, area["011"], area["111"]), 3)


def _correlation(x: str, subset: str, digits: int = 2) -> Find:
    return _values(
        "correlations", "value", digits, x=x, y="overlap_1000", subset=subset, method="pearson"
    )


def _bleu(turns: str) -> Find:
    return _values("bleu", "value", 2, turns=turns)


def _grades(tables: Tables) -> str:
    rows = tables["qrels"]
    return (
        f"{_written((row['count'] for row in rows), None)} of {sum(row['count'] for row in rows)}"
    )


def _unjudged(tables: Tables) -> str:
    return " ".join(f"{100 * row['share']:.0f}%" for row in tables["rates"])


def _words(what: str) -> Find:
    return lambda tables: _written(
        (_rows(tables, "statistics", what=what)[0][name] for name in ("terms", "terms_sd")), 2
    )


def _facets(run: str) -> Find:
    def find(tables: Tables) -> str:
        values = {
            row["metric"]: row["value"] for row in _rows(tables, "document_relevance", system=run)
        }
        return _written((values[name] for name in ("MRR100", "P1", "NDCG3", "NDCG5")), 4)

    return find


def _crowd(run: str, criterion: str = "question_relevance_all") -> Find:
    def find(tables: Tables) -> str:
        rows = _rows(tables, "measures", system=run, criterion=criterion, turn_set="all")
        return f"{_written((row['value'] for row in rows), 4)} ({rows[0]['answered']} of {rows[0]['turns']} turns)"

    return find


# ---------------------------------------------------------------- the papers

_CUTS = {("P_1", "=1"): "P@1 = 1", ("ndcg_cut_3", ">0"): "NDCG@3 > 0", ("ndcg_cut_3", ">=0.5"): "NDCG@3 ≥ 0.5",
         ("ndcg_cut_3", "=1"): "NDCG@3 = 1"}  # fmt: skip
_ANSWERS = (
    "the answers of the reading-comprehension model are not available; `breakdown --answers … --gold …` computes this from"
    " yours"
)
_COLLECTION = "requires MS MARCO, TREC CAR and monoT5-3B; for your own collection, use `robustcs robustness` with `[retrieval]`"
_RATINGS = "the ratings are not available; `robustcs agreement` computes this from your own ratings"

QR_ANALYSIS = Paper(
    "Vakulenko, Longpre, Tu and Anantha (2020): A Wrong Answer or a Wrong Question?", "qr-error-analysis-2020.txt",
    (
        *(
            Row("Table 1", f"CAsT 2019 turns by bin, {label}", " ".join(map(str, counts)), "",
                "bins", _bins(*cut))
            for (cut, label), counts in zip(_CUTS.items(), TABLE_1.values(), strict=True)
        ),
        Row("Table 1", "Turns that needed no rewriting (in brackets), four columns: ✗✗✗ · ✓✓✓ · all turns",
            "14 1 20 49 · 37 52 33 4 · 53 53 53 53",
            "14 1 19 49 · 38 51 33 4 · 53 53 53 53", "bins", _unchanged,
            "bin ✗✓✓ also has 1 1 1 0 such turns according to the texts; the published counts for P@1 = 1 add up to 51"),
        Row("Table 2", "CANARD questions by bin", "5571 in three columns", why=_ANSWERS),
        Row("Table 3", "Share of answerable turns on which Original is correct: P@1 = 1, NDCG@3 > 0, ≥ 0.5, = 1",
            "0.45 0.55 0.38 0.21", "", "bins", _answerable("all")),
        Row("Table 3", "Same, only turns with Human ≠ Original", "0.21 0.34 0.13 0", "0.20 0.35 0.13 0.00", "bins",
            _answerable("rewritten"),
            "17/83 = 0.205 and 38/110 = 0.345; 0.21 and 0.34 follow from the published numbers in brackets"),
        Row("Table 4", "Same for CANARD", "0.92 0.82 0.80 · 0.91 0.79 0.77",
            why="follows from the counts of Table 2 (tests/studies/breakdown/test_analysis.py::"
            "test_table_4_follows_from_table_2); "
            f"for single questions: {_ANSWERS}"),
        Row("Figure 1", "Left, CAsT: turns by bin at > 0 · ≥ 0.5 · = 1", "", 
            " · ".join(" ".join(map(str, TABLE_1["ndcg_cut_3", cut])) for cut in (">0", ">=0.5", "=1")), "sweep", _swept,
            "the figure has no numbers; at these thresholds it equals the columns of Table 1"),
        Row("Figure 1", "Left, areas: QA errors, rewriter errors, correct only after rewriting, correct without rewriting", "",
            "0.407 0.080 0.255 0.257", "sweep", _areas, "the figure has no numbers"),
        Row("Figure 1", "Right, CANARD", why=_ANSWERS),
        Row("Section 4", "Retrieval: QA errors, rewriter errors", "29% 11%", "", "bins", _causes),
        Row("Section 4", "Reading comprehension: QA errors, rewriter errors", "55% 5%",
            why=f"{_ANSWERS}; the counts of Table 2 give 55% and 5%"),
        Row("Figure 2", "Pearson's r between ROUGE-1 recall and answer overlap, 122 turns with Human correct (P@1)", "0.77", "",
            "correlation", _correlation("rouge1_recall", "correct"), ""),
        Row("Figure 2", "Same, 173 judged turns", "0.77", "0.76", "correlation",
            _correlation("rouge1_recall", "judged"), "0.7600; the paper does not state which turns it uses"),
        Row("Figure 2", "Same, all 479 turns", "0.77", "0.76", "correlation", _correlation("rouge1_recall", "all"),
            "0.7565; the paper does not state which turns it uses"),
        Row("Figure 2", "Same with ROUGE-1 F, 479 turns, from the analysis that the authors released", "0.7506", "",
            "correlation", _correlation("rouge1_f", "all", 4)),
        Row("Figure 3", "Pearson's r between ROUGE and the Jaccard similarity of answer tokens, CANARD", "0.31", why=_ANSWERS),
        Row("Section 6", "Turns that annotators rewrote although they needed no rewriting", "10%", "", "bins",
            _rewritten_without_need),
        Row("Section 2.3", "Correlation of ROUGE-1 recall and USE with human judgments", "0.69 0.71",
            why="values from another paper; the judgments are not available"),
    ),
)  # fmt: skip

ECAST = Paper(
    "Al-Thani et al. (2023): ECAsT", "ecast-2023.txt",
    (
        *(Row(place, what, why="examples or definitions, no values") for place, what in (
            ("Table 1", "A topic of CAsT 2020"), ("Table 2", "Paraphrases of a turn"), ("Table 3", "Notation"),
            ("Figure 1", "The stages"), ("Table 4", "Paraphrases of turns without reformulation"),
            ("Figure 2", "Example of such a turn"), ("Figure 3", "Example of removed context"),
            ("Table 5", "Rating criteria"), ("Table 6", "Guidelines for assessors"),
            ("Figure 4", "Rating interface"), ("Table 7", "Paraphrases before and after diversification"),
            ("Figure 5", "Pipeline of reformulation, retrieval and re-ranking"), ("Figure 6", "Construction of a test set"),
        )),
        Row("Table 8", "Topics, turns and paraphrases", "131 1203 9214", "", "paraphrases",
            lambda tables: _written((tables["statistics"][0][name] for name in ("topics", "turns", "paraphrases")), None)),
        Row("Section 4", "Paraphrases per turn", "7.6", "7.66", "paraphrases", _values("statistics", "per_turn", 2),
            "9214 / 1203 = 7.659; the paper truncates"),
        Row("Table 9", "BLEU of the original manual turns, 2020", "44.72", "", "context 2020", _bleu("as they are")),
        Row("Table 9", "Same, 2021", "44.92", "", "context 2021", _bleu("feedback taken off")),
        Row("Table 9", "Same, 2021, with feedback", "", "55.13", "context 2021", _bleu("as they are"),
            "not published; the paper removes feedback first"),
        Row("Table 9", "Entity removal, 2020", "30.16", "33.83", "context 2020", _bleu("nouns taken off"),
            "the paper uses the NLTK tagger, which must be downloaded; ours uses word lists and neighboring words"),
        Row("Table 9", "Entity removal, 2021", "34.09", "38.22", "context 2021", _bleu("nouns taken off"), "same reason"),
        Row("Table 9", "Rewrite, 2020 and 2021", "56.57 56.01", why="the author's rewrites are not available"),
        Row("Table 9", "T5-CR, 2020 and 2021", "53.70 51.85",
            why="the model is not available; `paraphrase --with COMMAND` prints this row for your model"),
        Row("Section 5", "Fleiss' κ of all ratings, and after filtering and grouping", "0.07–0.12 0.26–0.36", why=_RATINGS),
        Row("Figure 7", "Mean rating by criterion: meaning, raw meaning, entailment, passage, diversity", "4.2 4.1 4.6 4.4 2.7",
            why=f"{_RATINGS} (tables `means` and `grouped`, and the figure)"),
        Row("Table 10", "BLEU of ParaDiverse", "22.60", "25.74", "diversity", _values("bleu", "value", 2),
            "ours uses only the manual turns of CAsT 2020; the paper also uses other sources, including reformulated turns,"
            " which are not available"),
        Row("Table 10", "BLEU of ParaAuto", "32.06", why="the paraphrases before diversification are not available; `robustcs"
            " paraphrase` prints this for yours"),
        Row("Table 11", "Three manual and three raw test sets compared with the baselines, by year",
            "0.506 … 0.248", why=_COLLECTION),
        Row("Table 12", "Number of judgments with grade 0 to 4 in the CAsT 2020 qrels", "33781 2697 1834 1408 731 of 40451",
            "", "unjudged", _grades),
        Row("Table 13", "Unjudged passages in the top 3 of the CAsT 2020 baselines: manual, raw", "2% 2%", "38% 6% 3%",
            "unjudged", _unjudged, "the paper's runs are not available; ours are public BERT runs for raw, automatic"
            " and manual turns"),
        Row("Table 13", "Unjudged passages of the test sets, and their new grades", "16% to 26%",
            why="the runs and the new judgments are not available; `unjudged --new-judgments` prints this for yours"),
        Row("Table 14", "Scores before and after adding the new judgments", "0.490 … 0.306",
            why="the new judgments are not available; `robustcs augment` prints this for yours"),
        Row("Stage 4", "Published paraphrases that are too similar to another one of the same turn: manual, raw", "",
            "836 964", "paraphrases", _values("similar", "paraphrases", None), "the paper does not report these numbers"),
    ),
)  # fmt: skip

CLARIQ = Paper(
    "Aliannejadi, Kiseleva, Chuklin, Dalton and Burtsev (2021): ClariQ", "clariq-2021.txt",
    (
        *(Row(place, what, why="examples or diagrams, no values") for place, what in (
            ("Figure 1", "When to ask"), ("Figure 2", "Pipeline"), ("Figure 3", "Steps"), ("Table 1", "Facets of a topic"),
            ("Table 2", "Requests and their labels"), ("Figure 4", "Worker interface"), ("Figure 5", "Rating interface"),
        )),
        Row("Table 3", "Topics, facets, questions", "298 1070 3,304", "50 163 637", "questions",
            lambda tables: _written((row["number"] for row in tables["statistics"][:3]), None), "ours: dev set only"),
        Row("Table 3", "Words per question: mean, standard deviation", "9.74 2.62", "9.90 2.67", "questions", _words("bank"),
            "ours: the 3940 questions of the released question bank"),
        Row("Table 3", "Words per answer: mean, standard deviation", "8.48 4.40", "8.14 4.40", "questions", _words("answers"),
            "ours: dev set only"),
        Row("Table 3", "Multi-turn conversations", "1,596,757 … 499", why="the conversations are not available"),
        Row("Table 4", "Clarification need: precision, recall, F1, MSE of three models", "0.6039 … 0.6557",
            why="the predictions are not available; `robustcs clariq --need NAME=FILE` prints this for yours"),
        *(
            Row("Table 5", f"MRR, P@1, NDCG@3, NDCG@5, dev, {what}", published, ours, "questions", _facets(run), why)
            for what, run, published, ours, why in (
                ("worst question", "worst", "0.0841 0.0125 0.0252 0.0313", "0.0841 0.0125 0.0252 0.0314",
                 "0.031353 in the released file; the paper truncates"),
                ("no question", "no", "0.3000 0.2063 0.1475 0.1530", "0.3000 0.2062 0.1450 0.1475",
                 "0.20625, 0.1450 and 0.1475 in the released file; the paper prints its NDCG@5 as NDCG@3, and BM25's 0.1530 as"
                 " NDCG@5"),
                ("best question", "best", "0.4882 0.4187 0.3337 0.3064", "0.4541 0.3688 0.2578 0.2470",
                 "ours are the means of the released file; they differ from the published ones"),
                ("BM25", "bm25", "0.3096 0.2313 0.1608 0.1530", "", ""),
            )
        ),
        Row("Table 5", "Other models, and the test set", "0.3640 … 0.1025", why="the runs are not available"),
        Row("Table 6", "Recall at 5, 10, 20, 30, dev, BM25", "0.3245 0.5638 0.6675 0.6913", "0.3246 0.5638 0.6675 0.6913",
            "questions", _values("question_relevance", "recall", 4), "0.324557; the paper truncates"),
        Row("Table 6", "Other models, and the test set", "0.3649 … 0.8360", why="the runs are not available"),
        Row("Table 7", "Two models, multi-turn", "0.1798 … 0.0494",
            why="the runs and the contexts of the test set (a pickle file) are not available"),
        Row("Table 8", "Share of comparisons that ELECTRA wins: HU, EG, IN, KL, CL", "0.57 0.59 0.56 0.57 0.56",
            why="the judgments are not available; `robustcs clariq --preferences FILE` prints this with tests for yours"),
    ),
)  # fmt: skip

SNIPPETS = Paper(
    "Łajewska and Balog (2023): CAsT-snippets", "cast-snippets-2023.md",
    (
        Row("Figure 1", "Example: κ, J and alpha", why="the offsets of the example are not available"),
        Row("Figure 2", "Annotated passage", why="example, no values"),
        Row("Figure 3", "The two tasks", why="diagram, no values"),
        Row("Table 1", "Median seconds per paragraph: masters, experts", "63 96", "63.0 93.5", "masters",
            _values("work", "seconds", 1), "ours: the released rows"),
        Row("Table 1", "Same, sentence task: masters", "305", "399", "sentences", _values("work", "seconds", 0, of="paragraph"),
            "ours: snippets of topic 132; the paper also includes the selection of sentences, topic 133 and rejected rows"),
        Row("Table 1", "Acceptance rate of masters: paragraph task, sentence task", "90% 87%",
            why="every released row has the status Submitted, not Approved or Rejected; `robustcs agreement` prints the share"
            " for files with these statuses"),
        Row("Table 1", "Costs; regular workers and Prolific", "182s … $0.56", why="not available"),
        Row("Table 2", "J, J4, J3, J2 of five masters, paragraph task", "0.18 0.35 0.53 0.73", "", "masters",
            _values("jaccard", "value", 2)),
        Row("Table 2", "J, J2 of three experts, paragraph task", "0.25 0.54", "", "experts", _values("jaccard", "value", 2)),
        Row("Table 2", "J, J2 of three masters, sentence task", "0.47 0.76", "0.34 0.67", "sentences",
            _values("jaccard", "value", 2), "ours: topic 132 only; the sentences of topic 133 are not available"),
        Row("Table 3", "F1 of masters against experts, paragraph task: mean, majority, similarity", "0.54 0.60 0.61", "",
            "masters", _values("reference", "f1", 2)),
        Row("Table 3", "Same, sentence task", "0.41 0.43 0.44", "0.35 0.37 0.38", "sentences", _values("reference", "f1", 2),
            "ours: topic 132 only; in 58 of its 252 sentences no expert selected a snippet"),
        Row("Tables 2, 3", "Regular workers and Prolific", "0.02 … 0.57", why="the annotations are not available"),
        Row("Table 4", "Tokens per annotation, snippets per annotation", "39.6 2.3", "60.0 3.3", "masters",
            lambda tables: _written((tables["statistics"][0][name] for name in
                                     ("tokens_per_annotation", "snippets_per_annotation")), 1),
            "ours: masters of the preliminary study; the main collection is not available"),
        Row("Table 4", "SaaC and QuAC", "23.8 1.5 · 14.6 1", why="values from other papers"),
        Row("Section 6.2", "J, J2, F1 of the main collection", "0.38 0.62 0.54", why="the annotations are not available"),
        Row("Section 6.3", "Relationship between the confidence and the agreement of annotators", "no significant relationship",
            why="the annotations of the main collection are not available; `robustcs agreement` prints the table `confidence`"
            " for files with confidence ratings. The `jaccard_confidence.csv` that the authors released is reported to give"
            " ρ = .284, a relationship that the paper does not mention; robustcs has not recomputed it"),
    ),
)  # fmt: skip

REGIN = Paper(
    "CAsT-ReGIn (2022), the organisers' description", "cast-regin-readme.md",
    (
        Row("Evaluation", "BM25, relevance: P@1 and NDCG@3 at relevance level 2", "", "0.3268 0.2425 (205 of 205 turns)",
            "crowd", _crowd("bm25"),
            "no published value; NDCG@3 is 0.2438 without Q2173, an id that was judged but is not in the question bank"),
        Row("Evaluation", "GPT-3, relevance: P@1 and NDCG@3 at relevance level 2", "", "0.4098 0.2456 (149 of 205 turns)",
            "crowd", _crowd("gpt3"), "no published value"),
        Row("QRels", "Number of turns: all, with a relevant question, in the subset", "", "205 194 24", "crowd",
            _values("qrels", "turns", None, criterion="question_relevance_all"),
            "no published value; the released files have the same numbers"),
        Row("Evaluation", "BM25, relevance, novelty and diversity combined", "", "0.0878 0.2391 (205 of 205 turns)", "crowd",
            _crowd("bm25", "combined"), "announced but not published; ours gives each item the lowest of its grades"),
        Row("Evaluation", "GPT-3, relevance, novelty and diversity combined", "", "0.1659 0.1877 (149 of 205 turns)",
            "crowd", _crowd("gpt3", "combined"), "same reason"),
        Row("Response QRels", "Relevant responses of 2479: relevance, conciseness, naturalness, all", "", "1554 918 1008 579",
            "responses", _values("qrels", "relevant", None, turn_set="all"),
            "no published value; the runs of responses are not available"),
    ),
)  # fmt: skip

PAPERS = (QR_ANALYSIS, ECAST, CLARIQ, SNIPPETS, REGIN)

#: The same analysis of other public files; the expected values were computed outside this project.
RECOMPUTED = tuple(
    Row("CAsT 2019", f"Turns by bin for three BERT runs at relevance level 2, {_CUTS[cut]}", " ".join(map(str, counts)), "",
        "bins of runs", _bins(*cut))
    for cut, counts in REAL_RUNS.items()
)  # fmt: skip

# ---------------------------------------------------------------- the page

_HEAD = """# Published figures, table by table

robustcs is based on five papers. This page lists each of their tables and figures with the published values and the values
that robustcs computes from public data. A note explains every difference and every value that cannot be reproduced. "Not
available" means not in the public data used here.

Bins are in the order ✗✗✗ ✓✗✗ ✗✓✗ ✓✓✗ ✗✗✓ ✓✗✓ ✗✓✓ ✓✓✓ of Original, QR and Human. The [commands](#commands) at the end run in the
folder of the public data.

`python docs/update.py` writes this page from `tests/papers.py`. A test runs every command and compares every value.
"""


def page() -> str:
    """Return the text of ``docs/papers.md``."""
    parts = [_HEAD]
    parts += [f"## {paper.title}\n\n{_table(paper.rows)}" for paper in PAPERS]
    parts.append(
        "## Other public files\n\nThe published values are recomputed with pytrec_eval and a few lines of Python.\n\n"
        + _table(RECOMPUTED)
    )
    listed = "\n".join(
        f"{name}:\n\n```sh\nrobustcs {command}\n```\n" for name, command in COMMANDS.items()
    )
    return "\n".join([*parts, f"## Commands\n\n{listed}"])


def _table(rows: Iterable[Row]) -> str:
    lines = ["| Place | What | Published | Ours | Command | Note |", "|---|---|---|---|---|---|"]
    for row in rows:
        ours, why = (row.expected, row.why or "as published") if row.find else ("–", row.why)
        cells = (row.place, row.what, row.published or "–", ours, row.command or "–", why)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
