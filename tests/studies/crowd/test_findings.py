"""Findings on crowd workers where there is little to find."""

from __future__ import annotations

from robustcs.inputs.crowd import GoldCheck, Grade
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import GradesPart, crowd, judgments_of
from robustcs.studies.crowd.findings import crowd_findings
from robustcs.studies.crowd.grades import aggregate, exclude_workers, qrels_by_criterion

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 1, 0)


def test_a_criterion_that_loses_its_second_workers_has_no_change() -> None:
    grades = [Grade("1_1", item, worker, "use", grade) for item in "ab" for worker, grade in (("w", 1), ("v", 3))]
    after, exclusions, unseen = exclude_workers(grades, [GoldCheck("1_1", "a", "use", 3)], 1)
    assert len(after) == 2 and not unseen
    part = GradesPart(grades, after, exclusions, aggregate(after), True)
    result = crowd(judgments_of(qrels_by_criterion(part.final), 2, None), [], [], EVALUATED, part, [], None, 0)
    assert crowd_findings(result) == ("1 worker contradicted gold checks; 2 grades of theirs are left out.",)
