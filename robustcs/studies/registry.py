"""The studies in the order of the questions that they answer: command line, Python, report and documentation read this list."""

from __future__ import annotations

from robustcs.studies.study import Question, Study

#: What users ask, in the order of ``robustcs --help``.
START = "Where do I start?"
BLAME = "Is it the rewriter or the ranker?"
SYSTEMS = "Which system is better, and what changed?"
HOLES = "How much of it is holes in the judgments?"
WORDS = "Same question, other words?"
PEOPLE = "Systems that ask back, annotators and crowd workers?"
TOGETHER = "Everything at once, to send around?"
THEMES = (START, BLAME, SYSTEMS, HOLES, WORDS, PEOPLE, TOGETHER)

STUDIES: tuple[Study, ...] = (
    Study("breakdown", "Wrong answer or wrong question?", BLAME, ("formulations",), ("formulations", "rewrites")),
    Study("sweep", "How do the bins change with the threshold?", BLAME, ("formulations",), ("formulations",)),
    Study("correlate", "Do similar questions get similar answers?", BLAME, ("question_pairs",), ("question_pairs", "rewrites")),
    Study("evaluate", "Which systems differ significantly?", SYSTEMS, ("systems",), ("systems",)),
    Study("samples", "How much does a rewriter vary from draw to draw?", SYSTEMS, ("sampled",), ("sampled", "rewrites")),
    Study("unjudged", "How much is not judged, and how far could scores move?", HOLES,
          ("qrels", "runs"), ("qrels", "runs", "new_judgments", "judges"), holes=True),
    Study("augment", "What changes once more passages are judged?", HOLES,
          ("qrels", "runs", "new_judgments"), ("qrels", "runs", "new_judgments", "judges")),
    Study("audit", "Can this judge be trusted?", HOLES, ("qrels", "judges"), ("qrels", "judges")),
    Study("robustness", "How far do scores drop under other words?", WORDS, ("groups", "measures_of_rankings", "qrels"),
          ("qrels", "groups", "rewrites")),
    Study("judge", "Grade the unjudged passages that matter.", HOLES,
          ("qrels", "runs", "compared_runs", "measures_of_rankings"),
          ("qrels", "compared_runs"), in_report=False, holes=True, asked="--list"),
    Study("paraphrase", "Ask the same turns in other words.", WORDS, ("texts_of_turns",), ("rewrites_alone",), in_report=False),
    Study("testsets", "Draw disjoint test sets from paraphrases.", WORDS, ("paraphrases",), ("paraphrases",), in_report=False),
    Study("retrieve", "Answer the questions that no run answers yet.", WORDS,
          ("questions",), ("rewrites", "texts"), in_report=False),
    Study("diversity", "How different are paraphrases from their turns?", WORDS,
          ("compared_texts",), ("rewrites", "paraphrases")),
    Study("answers", "What do answers leave out, and whose fault is it?", BLAME, ("answers_and_gold",), ("answers",)),
    Study("clariq", "Which clarifying question is asked, and does it help?", PEOPLE, ("clariq",), ("clariq",)),
    Study("passages", "Which passages of each turn should be annotated?", PEOPLE,
          ("qrels", "collection", "scikit_learn"), ("qrels", "collection"), in_report=False),
    Study("agreement", "How far do annotators agree, on snippets or on ratings?", PEOPLE, ("annotated_texts",), ("agreement",)),
    Study("crowd", "From grades of crowd workers to qrels.", PEOPLE, ("crowd",), ("crowd",)),
    Study("compare", "What changed between two states, and may it pass?", SYSTEMS, ("two_states",), (), in_report=False),
    Study("check", "Do the inputs fit together?", START, (), (), in_report=False),
)  # fmt: skip


def study(name: str) -> Study:
    """The study of that name. Raises :class:`KeyError` where there is none."""
    return {one.name: one for one in STUDIES}[name]


def questions() -> list[list[Question]]:
    """The sections of the report, each as the question that opens it and those that join it."""
    every = [question for one in STUDIES if one.in_report for question in one.part("study").QUESTIONS]
    return [
        [first, *(other for other in every if other.joins and other.key == first.key)] for first in every if not first.joins
    ]
