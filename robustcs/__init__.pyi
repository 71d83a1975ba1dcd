"""Robustness and error analysis for conversational search.

Made from the signatures of the studies by `python docs/update.py`.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from robustcs.api import open_project as open_project
from robustcs.api import report as report
from robustcs.project.model import Project
from robustcs.project.retrieved import Plan
from robustcs.studies.agreement.analysis import SnippetAgreement
from robustcs.studies.agreement.ratings import RatingAgreement
from robustcs.studies.answers.analysis import Answers
from robustcs.studies.audit.analysis import Audit
from robustcs.studies.augment.analysis import Augmentation
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.check.analysis import Check
from robustcs.studies.clariq.analysis import Clariq
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.components.analysis import Components
from robustcs.studies.correlate.analysis import Correlate
from robustcs.studies.crowd.analysis import Crowd
from robustcs.studies.diversity.analysis import Diversity
from robustcs.studies.evaluate.analysis import Evaluation
from robustcs.studies.judge.analysis import Worklist
from robustcs.studies.paraphrase.analysis import Variations
from robustcs.studies.paraphrase.stages import Paraphrased
from robustcs.studies.passages.analysis import PassageChoice
from robustcs.studies.review.analysis import Reviews
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.experiment import Experiment
from robustcs.studies.samples.analysis import Samples
from robustcs.studies.sweep.analysis import Sweep
from robustcs.studies.testsets.analysis import ParaphraseSets
from robustcs.studies.turns.analysis import TurnList
from robustcs.studies.unjudged.analysis import Unjudged

StrPath = str | os.PathLike[str]
#: A file, or what Python has in place of one: a frame, a dictionary, or records.
Input = StrPath | pd.DataFrame | Mapping[str, Any] | Iterable[Any]
__version__: str

def breakdown(
    qrels: Project | Input | Sequence[Input] | None = ...,
    *,
    slices: Any = ...,
    find_slices: bool = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    scores: Mapping[str, Any] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    answers: Mapping[str, Any] | None = ...,
    gold: Input | None = ...,
    thresholds: str | float | Sequence[str | float] | None = ...,
    threshold: str | float | Sequence[str | float] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    by: Literal["collection"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Breakdown:
    """Wrong answer or wrong question? Attribute each failure to the rewriter or to the ranker (or reader)."""

def sweep(
    qrels: Project | Input | Sequence[Input] | None = ...,
    *,
    step: float = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    scores: Mapping[str, Any] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    answers: Mapping[str, Any] | None = ...,
    gold: Input | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    by: Literal["collection"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Sweep:
    """How do the bins change with the threshold? Count the turns per bin at every threshold and draw them as a figure."""

def components(
    qrels: Project | Input | Sequence[Input] | None = ...,
    *,
    project: Project | StrPath | None = ...,
    components: Mapping[str, Any] | None = ...,
    cells: Mapping[str, Any] | None = ...,
    cell: Mapping[str, Any] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    texts: Mapping[str, Any] | None = ...,
    raw_texts: Mapping[str, Any] | None = ...,
    thresholds: str | float | Sequence[str | float] | None = ...,
    threshold: str | float | Sequence[str | float] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    by: Literal["collection"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Components:
    """Which component loses the answer? Compare runs that cross wordings of the questions with rankers."""

def correlate(
    qrels: Project | Input | Sequence[Input] | None = ...,
    *,
    answers_by: Sequence[str] = ...,
    similarities: Sequence[str] = ...,
    use: str | None = ...,
    sentence_transformer: str | None = ...,
    stem: bool = ...,
    with_original: bool = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    scores: Mapping[str, Any] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    answers: Mapping[str, Any] | None = ...,
    gold: Input | None = ...,
    thresholds: str | float | Sequence[str | float] | None = ...,
    threshold: str | float | Sequence[str | float] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
) -> Correlate:
    """Do similar questions get similar answers? Correlate the two similarities over turns and list the exceptions."""

def review(
    *,
    project: Project | StrPath | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
    files: Input | Sequence[Input] | None = ...,
) -> Reviews:
    """Estimate how frequent each kind of failure is, from categories that coders assigned to turns."""

def turns(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    where: str = ...,
    sort: str = ...,
    limit: int | None = ...,
    turn: str | None = ...,
    show: Sequence[str] = ...,
    slices: Any = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    scores: Mapping[str, Any] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    answers: Mapping[str, Any] | None = ...,
    gold: Input | None = ...,
    components: Mapping[str, Any] | None = ...,
    cells: Mapping[str, Any] | None = ...,
    cell: Mapping[str, Any] | None = ...,
    collection: Input | None = ...,
    thresholds: str | float | Sequence[str | float] | None = ...,
    threshold: str | float | Sequence[str | float] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> TurnList:
    """Which turns should I read? List the turns that a filter selects, or show one of them."""

def evaluate(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    scores: Mapping[str, Any] | None = ...,
    baseline: str | None = ...,
    margin: float | None = ...,
    slices: Any = ...,
    find_slices: bool = ...,
    pairs: bool | None = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    by: Literal["collection"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Evaluation:
    """Which systems differ significantly? Compute the mean of every system with its confidence interval, and compare all pairs."""

def samples(
    qrels: Project | Input | Sequence[Input] | None = ...,
    *,
    margin: float = ...,
    project: Project | StrPath | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    samples: Mapping[str, Any] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Samples:
    """Measure how much the samples of a rewriter differ in words, rankings and scores."""

def unjudged(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    top: int | None = ...,
    scope: Literal["cutoff", "run", "pool"] = ...,
    max_grade: int | None = ...,
    expected: bool = ...,
    pairs: bool | None = ...,
    tipping: bool | None = ...,
    slices: Any = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    new_judgments: Input | Sequence[Input] | None = ...,
    judges: Mapping[str, Any] | None = ...,
    judge: Mapping[str, Any] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    by: Literal["collection"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Unjudged:
    """How many top passages are unjudged, and how much could scores change?"""

def augment(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    conflicts: Literal["keep", "replace", "max", "fail"] = ...,
    what_if: int | None = ...,
    leave_one_out: bool = ...,
    pool_depth: int = ...,
    within: float | None = ...,
    off_scale: Literal["refuse", "drop", "clip"] = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    new_judgments: Input | Sequence[Input] | None = ...,
    judges: Mapping[str, Any] | None = ...,
    judge: Mapping[str, Any] | None = ...,
    collection: Input | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Augmentation:
    """How do scores and the ranking of systems change when more passages are judged?"""

def audit(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    off_scale: Literal["refuse", "drop", "clip"] = ...,
    project: Project | StrPath | None = ...,
    judges: Mapping[str, Any] | None = ...,
    judge: Mapping[str, Any] | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    collection: Input | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Audit:
    """Compare a judge with human judgments to find out whether it can be trusted."""

def robustness(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    slices: Any = ...,
    margin: float | None = ...,
    sets: int | None = ...,
    tell: Callable[[str], None] = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    paraphrases: Input | None = ...,
    texts: Mapping[str, Any] | None = ...,
    raw_texts: Mapping[str, Any] | None = ...,
    new_judgments: Input | Sequence[Input] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    by: Literal["collection"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
    groups: Any = ...,
) -> Robustness | Experiment:
    """How much do scores drop when questions are paraphrased?"""

def judge(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    top: int | None = ...,
    max_grade: int | None = ...,
    pairs: Sequence[tuple[str, str]] = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    collection: Input | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
) -> Worklist:
    """Judge the unjudged passages that matter most for the comparison."""

def paraphrase(
    *,
    command: str | None = ...,
    context_remover: Literal["nouns", "nltk"] | None = ...,
    sources: Sequence[Literal["raw", "manual"]] = ...,
    keep_feedback: bool = ...,
    number: int = ...,
    timeout: int = ...,
    project: Project | StrPath | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    seed: int | None = ...,
) -> Variations | Paraphrased:
    """Create other wordings of each turn, by rules or with a program."""

def testsets(
    *,
    sets: int = ...,
    clean: bool = ...,
    project: Project | StrPath | None = ...,
    paraphrases: Input | None = ...,
    seed: int | None = ...,
) -> ParaphraseSets:
    """Draw disjoint test sets of paraphrases: the same conversations in other words."""

def retrieve(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    dry_run: bool = ...,
    tell: Callable[[str], None] = ...,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    texts: Mapping[str, Any] | None = ...,
    raw_texts: Mapping[str, Any] | None = ...,
    collection: Input | None = ...,
    jobs: int = ...,
) -> Plan:
    """Retrieve passages for questions without a run."""

def diversity(
    *,
    sources: Any = ...,
    targets: Any = ...,
    use: str | None = ...,
    sentence_transformer: str | None = ...,
    project: Project | StrPath | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    samples: Mapping[str, Any] | None = ...,
    paraphrases: Input | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Diversity:
    """Measure how much texts differ from their source and from each other: BLEU, ROUGE, self-BLEU, duplicates."""

def answers(
    runs: Project | Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Project | Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    with_: str | None = ...,
    project: Project | StrPath | None = ...,
    responses: Mapping[str, Any] | None = ...,
    tasks: Mapping[str, Any] | None = ...,
    gold_passages: Input | None = ...,
    labels: Input | None = ...,
    snippets: Input | Sequence[Input] | None = ...,
    nuggets: Input | None = ...,
    assignments: Mapping[str, Any] | None = ...,
    human: Input | None = ...,
    collection: Input | None = ...,
    gold: Input | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    thresholds: str | float | Sequence[str | float] | None = ...,
    threshold: str | float | Sequence[str | float] | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    documents: bool | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
    depth: int | None = ...,
    covered: float | None = ...,
) -> Answers:
    """Evaluate generated answers: the kind of each turn, the passages given to the generator, and the outcome."""

def clariq(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    project: Project | StrPath | None = ...,
    topics: Input | None = ...,
    questions: Input | None = ...,
    performance: Input | None = ...,
    evaluations: Mapping[str, Any] | None = ...,
    needs: Mapping[str, Any] | None = ...,
    preferences: Input | None = ...,
    conversations: Input | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    seed: int | None = ...,
) -> Clariq:
    """Evaluate systems that ask clarifying questions, as the ClariQ challenge does."""

def passages(
    qrels: Project | Input | Sequence[Input] | None = ...,
    *,
    number: int = ...,
    project: Project | StrPath | None = ...,
    collection: Input | None = ...,
    relevance_level: int | None = ...,
    seed: int | None = ...,
) -> PassageChoice:
    """Choose relevant passages of each turn for annotation."""

def agreement(
    *,
    project: Project | StrPath | None = ...,
    reference: Input | Sequence[Input] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
    snippets: Input | Sequence[Input] | None = ...,
    ratings: Input | Sequence[Input] | None = ...,
    majority: int | None = ...,
    min_agreement: float | None = ...,
    groups: Mapping[str, Sequence[str]] | None = ...,
) -> SnippetAgreement | RatingAgreement:
    """Measure how well annotators agree on snippets or on ratings."""

def crowd(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    metrics: str | Sequence[str] = ...,
    metric: str | Sequence[str] = ...,
    project: Project | StrPath | None = ...,
    gold_checks: Input | None = ...,
    bank: Input | None = ...,
    subset: Input | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
    grades: Input | None = ...,
    tolerance: int | None = ...,
    depth: int | None = ...,
) -> Crowd:
    """Turn grades of crowd workers into qrels, and pool and score runs."""

def compare(
    old: Project | Input,
    new: Project | Input,
    *,
    fail_if: Sequence[str] = ...,
    no_worse_than: float | None = ...,
    evidence: Literal["test", "expected", "bounds"] = ...,
    allow_missing: int = ...,
    project: Project | StrPath | None = ...,
    qrels: Input | Sequence[Input] | None = ...,
    thresholds: str | float | Sequence[str | float] | None = ...,
    threshold: str | float | Sequence[str | float] | None = ...,
    metrics: str | Sequence[str] | None = ...,
    metric: str | Sequence[str] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
    unit: Literal["conversation", "turn"] | None = ...,
    conversation: StrPath | None = ...,
    seed: int | None = ...,
) -> Comparison:
    """Show what changed between two states, and decide whether the change may be merged."""

def check(
    qrels: Project | Input | Sequence[Input] | None = ...,
    runs: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    run: Input | Sequence[StrPath] | Mapping[str, Input] | None = ...,
    *,
    project: Project | StrPath | None = ...,
    original: Input | Mapping[str, Input] | None = ...,
    qr: Input | Mapping[str, Input] | None = ...,
    human: Input | None = ...,
    scores: Mapping[str, Any] | None = ...,
    rewrites: Mapping[str, Any] | None = ...,
    answers: Mapping[str, Any] | None = ...,
    gold: Input | None = ...,
    components: Mapping[str, Any] | None = ...,
    cells: Mapping[str, Any] | None = ...,
    cell: Mapping[str, Any] | None = ...,
    new_judgments: Input | Sequence[Input] | None = ...,
    judges: Mapping[str, Any] | None = ...,
    judge: Mapping[str, Any] | None = ...,
    paraphrases: Input | None = ...,
    collection: Input | None = ...,
    texts: Mapping[str, Any] | None = ...,
    raw_texts: Mapping[str, Any] | None = ...,
    relevance_level: int | None = ...,
    missing: Literal["zero", "drop", "own"] | None = ...,
    order: Literal["score", "rank"] | None = ...,
    depth: int | None = ...,
    documents: bool | None = ...,
    jobs: int = ...,
    dask: str | None = ...,
) -> Check:
    """Check that the input files fit together. All inputs are read and none is changed."""
