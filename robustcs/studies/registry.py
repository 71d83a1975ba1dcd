"""The studies in the order of the questions that they answer: command line, Python, report and documentation read this list."""

from __future__ import annotations

from robustcs.studies.study import Question, Study

_RUNS = ("qrels", "original", "qr", "human")
#: Original, QR and Human, answered: runs and qrels, per-turn scores, or predicted and gold answers.
_FORMULATIONS = (_RUNS, ("scores",), ("gold", "answers"))

STUDIES: tuple[Study, ...] = (
    Study("breakdown", "Wrong answer or wrong question?", _FORMULATIONS),
    Study("sweep", "How do the bins change with the threshold?", _FORMULATIONS),
    Study("correlate", "Do similar questions get similar answers?", (("rewrites",),)),
    Study("evaluate", "Which systems can be told apart?", (("qrels", "runs"),), in_report=False),
    Study("unjudged", "How much is not judged, and how far could scores move?", (("qrels", "runs"),)),
    Study("augment", "What changes once more passages are judged?", (("qrels", "new_judgments", "runs"),)),
    Study("robustness", "How far do scores drop under other words?", (("qrels", "groups"),)),
    Study("judge", "Grade the unjudged passages that matter.", (("qrels", "runs"),), in_report=False),
    Study("paraphrase", "Ask the same turns in other words.", (("rewrites",),), in_report=False),
    Study("testsets", "Draw disjoint test sets from paraphrases.", (("paraphrases",),), in_report=False),
    Study("retrieve", "Answer the questions that no run answers yet.", (("retrieval",),), in_report=False),
    Study("diversity", "How different are paraphrases from their turns?", (("paraphrases",), ("rewrites",))),
    Study("clariq", "Which clarifying question is asked, and does it help?", (("clariq",),)),
    Study("passages", "Which passages of each turn should be annotated?", (("qrels", "collection"),), in_report=False),
    Study("agreement", "How far do annotators agree, on snippets or on ratings?", (("agreement",),)),
    Study("crowd", "From grades of crowd workers to qrels.", (("crowd",),)),
    Study("check", "Do the inputs fit together?", ((),), in_report=False),
)


def study(name: str) -> Study:
    """The study of that name. Raises :class:`KeyError` where there is none."""
    return {one.name: one for one in STUDIES}[name]


def questions() -> list[list[Question]]:
    """The sections of the report, each as the question that opens it and those that join it."""
    every = [question for one in STUDIES if one.in_report for question in one.part("question").QUESTIONS]
    return [
        [first, *(other for other in every if other.joins and other.key == first.key)] for first in every if not first.joins
    ]
