"""Findings on raters and crowd workers where there is little to find."""

from __future__ import annotations

from robustcs.inputs.crowd import GoldCheck, Grade
from robustcs.inputs.ratings import Rating
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.agreement.findings import crowd_findings, rating_findings
from robustcs.studies.agreement.ratings import rating_agreement
from robustcs.studies.crowd.analysis import GradesPart, crowd, judgments_of
from robustcs.studies.crowd.grades import aggregate, exclude_workers, qrels_by_criterion

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 1, 0)


def test_undefined_agreement_is_called_so() -> None:
    same = [Rating("1", item, worker, "fluency", "4", 1) for item in "ab" for worker in "xy"]
    [said] = rating_findings(rating_agreement(same, EVALUATED))
    assert said == "Raters agree by Fleiss' κ: fluency undefined, ordinal alpha undefined, 2 items."


def test_a_criterion_that_loses_its_second_workers_has_no_change() -> None:
    grades = [Grade("1_1", item, worker, "use", grade) for item in "ab" for worker, grade in (("w", 1), ("v", 3))]
    after, exclusions, unseen = exclude_workers(grades, [GoldCheck("1_1", "a", "use", 3)], 1)
    assert len(after) == 2 and not unseen
    part = GradesPart(grades, after, exclusions, aggregate(after), True)
    result = crowd(judgments_of(qrels_by_criterion(part.final), 2, None), [], [], EVALUATED, part, [], None, 0)
    assert crowd_findings(result) == ("1 worker contradicted gold checks; 2 grades of theirs are left out.",)
