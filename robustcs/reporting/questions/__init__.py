"""The questions of the report in their order: a new analysis gets a module here and a place in :data:`QUESTIONS`."""

from __future__ import annotations

from robustcs.reporting.question import Question
from robustcs.reporting.questions.annotations import CROWD, RATINGS, SNIPPETS
from robustcs.reporting.questions.clarification import CLARIQ
from robustcs.reporting.questions.formulations import RANKINGS, READING
from robustcs.reporting.questions.judgments import NEW_JUDGMENTS, UNJUDGED
from robustcs.reporting.questions.similarity import SIMILARITY
from robustcs.reporting.questions.wording import DIVERSITY, ROBUSTNESS

QUESTIONS: tuple[Question, ...] = (
    RANKINGS, READING, SIMILARITY, UNJUDGED, NEW_JUDGMENTS, ROBUSTNESS, DIVERSITY, CLARIQ, SNIPPETS, RATINGS, CROWD,
)  # fmt: skip
