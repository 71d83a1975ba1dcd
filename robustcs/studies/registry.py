"""The list of studies, which command line, Python, report and documentation read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.studies.study import Question, Study

if TYPE_CHECKING:
    from robustcs.project.model import Project

#: Questions of users, in the order of ``robustcs --help``.
START = "Where do I start?"
BLAME = "Does the rewriter or the ranker cause the errors?"
SYSTEMS = "Which system is better, and what changed?"
HOLES = "How much do unjudged passages matter?"
WORDS = "What happens when questions are paraphrased?"
PEOPLE = "How good are clarifying questions, annotations and crowd judgments?"
TOGETHER = "How do I run all analyses and share them?"
THEMES = (START, BLAME, SYSTEMS, HOLES, WORDS, PEOPLE, TOGETHER)

STUDIES: tuple[Study, ...] = (
    Study("breakdown", "Count rewriter errors and QA errors.", BLAME, ("formulations",), ("formulations", "rewrites"),
          gives_fields=True,
          input="runs or scores of a rewriter and of Human"),
    Study("sweep", "Count errors at every threshold for a correct answer.", BLAME, ("formulations",), ("formulations",),
          input="runs or scores of a rewriter and of Human"),
    Study("components", "Find which component loses answers in a grid of wordings and rankers.", BLAME,
          ("qrels", "grid"), ("qrels", "components"), own="components", gives_fields=True,
          input="a grid of runs"),
    Study("correlate", "Test whether similar questions get similar answers.", BLAME,
          ("question_pairs",), ("question_pairs", "rewrites"), gives_fields=True,
          input="texts of a rewriter and of Human"),
    Study("review", "Estimate how frequent each kind of failure is among all turns.", BLAME,
          ("reviews",), ("review",), own="review", gives_fields=True,
          input="categories of coders"),
    Study("turns", "List the turns that a filter selects, or read one.", BLAME, ("turns_to_read",), (), in_report=False,
          accepts_unjudged=True, gives_fields=True,
          input="runs, scores, texts or answers"),
    Study("evaluate", "Test which systems differ significantly.", SYSTEMS, ("systems",), ("systems",), own="runs", gives_fields=True,
          input="runs or scores"),
    Study("samples", "Measure how much a rewriter varies between samples.", SYSTEMS, ("sampled",), ("sampled", "rewrites"),
          gives_fields=True,
          input="several samples of a rewriter"),
    Study("unjudged", "Count unjudged passages and bound how much scores could change.", HOLES,
          ("qrels", "runs"), ("qrels", "runs", "new_judgments", "judges"), accepts_unjudged=True, own="systems",
          input="runs"),
    Study("augment", "Show what changes when more passages are judged.", HOLES,
          ("qrels", "runs", "new_judgments"), ("qrels", "runs", "new_judgments", "judges"), own="new_judgments",
          input="new judgments"),
    Study("audit", "Measure how well a judge agrees with human judges.", HOLES,
          ("qrels", "judges"), ("qrels", "judges"), own="judges",
          input="grades of a judge"),
    Study("robustness", "Measure how much scores drop for paraphrases.", WORDS, ("groups", "measures_of_rankings", "qrels"),
          ("qrels", "groups", "rewrites"), own="groups",
          input="runs of paraphrases"),
    Study("judge", "Judge the unjudged passages that matter most.", HOLES,
          ("qrels", "runs", "compared_runs", "measures_of_rankings"),
          ("qrels", "compared_runs"), in_report=False, accepts_unjudged=True, batch_option="--list",
          input="runs"),
    Study("paraphrase", "Generate paraphrases of the turns.", WORDS, ("texts_of_turns",), ("rewrites_alone",), in_report=False,
          input="question texts"),
    Study("testsets", "Draw disjoint test sets from paraphrases.", WORDS, ("paraphrases",), ("paraphrases",), in_report=False,
          input="paraphrases"),
    Study("retrieve", "Retrieve passages for questions without a run.", WORDS,
          ("questions",), ("rewrites", "texts"), in_report=False,
          input="question texts"),
    Study("diversity", "Measure how different paraphrases are from their turns.", WORDS,
          ("compared_texts",), ("rewrites", "paraphrases"), own="paraphrases",
          input="paraphrases"),
    Study("answers", "Evaluate generated answers; find the cause of errors.", BLAME,
          ("generated_answers",), ("answers",), own="answers", gives_fields=True,
          input="generated answers"),
    Study("clariq", "Evaluate clarifying questions and how much they help.", PEOPLE, ("clariq",), ("clariq",), own="clariq",
          input="clarifying questions"),
    Study("passages", "Select the passages of each turn to annotate.", PEOPLE,
          ("qrels", "collection", "scikit_learn"), ("qrels", "collection"), in_report=False,
          input="a collection"),
    Study("agreement", "Measure how well annotators agree on snippets or ratings.", PEOPLE,
          ("annotated_texts",), ("agreement",), own="agreement",
          input="annotations"),
    Study("crowd", "Aggregate grades of crowd workers into qrels.", PEOPLE, ("crowd",), ("crowd",), own="crowd",
          input="grades of crowd workers"),
    Study("compare", "Show what changed between two states; fail a build on a drop.", SYSTEMS, ("two_states",), (),
          in_report=False, gives_fields=True,
          input="another state"),
    Study("check", "Check that the input files fit together.", START, (), (), in_report=False),
)  # fmt: skip


def study(name: str) -> Study:
    """Return the study of that name. Raises :class:`KeyError` if there is none."""
    return {one.name: one for one in STUDIES}[name]


def questions(project: Project | None = None) -> list[Question]:
    """Return all questions of the report, or those that ``project`` may answer; those that join a section come last in it."""
    every = [question for one in STUDIES for question in one.questions(project)]
    keys = list(dict.fromkeys(question.key for question in every))
    return sorted(every, key=lambda question: keys.index(question.key))
