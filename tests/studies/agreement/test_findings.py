"""Findings on raters where there is little to find."""

from __future__ import annotations

from robustcs.inputs.ratings import Rating
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.agreement.findings import rating_findings
from robustcs.studies.agreement.ratings import rating_agreement

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 1, 0)


def test_undefined_agreement_is_called_so() -> None:
    same = [Rating("1", item, worker, "fluency", "4", 1) for item in "ab" for worker in "xy"]
    [said] = rating_findings(rating_agreement(same, EVALUATED))
    assert said == "Raters agree by Fleiss' κ: fluency undefined, ordinal alpha undefined, 2 items."
