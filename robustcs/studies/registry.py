"""The studies in the order of the questions that they answer: command line, Python, report and documentation read this list."""

from __future__ import annotations

from robustcs.studies.study import Question, Study

STUDIES: tuple[Study, ...] = (
    Study("breakdown", "Wrong answer or wrong question?", ("formulations",), ("formulations", "rewrites")),
    Study("sweep", "How do the bins change with the threshold?", ("formulations",), ("formulations",)),
    Study("correlate", "Do similar questions get similar answers?", ("question_pairs",), ("question_pairs", "rewrites")),
    Study("evaluate", "Which systems can be told apart?", ("systems",), ("systems",), in_report=False),
    Study("unjudged", "How much is not judged, and how far could scores move?",
          ("qrels", "runs"), ("qrels", "runs", "new_judgments"), holes=True),
    Study("augment", "What changes once more passages are judged?",
          ("qrels", "runs", "new_judgments"), ("qrels", "runs", "new_judgments", "judges")),
    Study("audit", "Can this judge be trusted?", ("qrels", "judges"), ("qrels", "judges")),
    Study("robustness", "How far do scores drop under other words?", ("groups", "measures_of_rankings", "qrels"),
          ("qrels", "groups", "rewrites")),
    Study("judge", "Grade the unjudged passages that matter.", ("qrels", "runs", "compared_runs", "measures_of_rankings"),
          ("qrels", "compared_runs"), in_report=False, holes=True, asked="--list"),
    Study("paraphrase", "Ask the same turns in other words.", ("texts_of_turns",), ("rewrites_alone",), in_report=False),
    Study("testsets", "Draw disjoint test sets from paraphrases.", ("paraphrases",), ("paraphrases",), in_report=False),
    Study("retrieve", "Answer the questions that no run answers yet.", ("questions",), ("rewrites", "texts"), in_report=False),
    Study("diversity", "How different are paraphrases from their turns?", ("compared_texts",), ("rewrites", "paraphrases")),
    Study("clariq", "Which clarifying question is asked, and does it help?", ("clarifying_questions",), ("clariq",)),
    Study("passages", "Which passages of each turn should be annotated?",
          ("qrels", "collection", "scikit_learn"), ("qrels", "collection"), in_report=False),
    Study("agreement", "How far do annotators agree, on snippets or on ratings?", ("annotated_texts",), ("agreement",)),
    Study("crowd", "From grades of crowd workers to qrels.", ("crowd_judgments",), ("crowd",)),
    Study("compare", "What changed between two states, and is it proven?", ("two_states",), (), in_report=False),
    Study("check", "Do the inputs fit together?", (), (), in_report=False),
)  # fmt: skip


def study(name: str) -> Study:
    """The study of that name. Raises :class:`KeyError` where there is none."""
    return {one.name: one for one in STUDIES}[name]


def questions() -> list[list[Question]]:
    """The sections of the report, each as the question that opens it and those that join it."""
    every = [question for one in STUDIES if one.in_report for question in one.part("question").QUESTIONS]
    return [
        [first, *(other for other in every if other.joins and other.key == first.key)] for first in every if not first.joins
    ]
