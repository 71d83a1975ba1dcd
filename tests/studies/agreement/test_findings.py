"""What annotators and raters agree on, in sentences: the numbers of their tables, each with what it goes over."""

from __future__ import annotations

from robustcs.inputs.annotations import AnnotatedText, Annotation
from robustcs.inputs.ratings import Rating
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.agreement.analysis import snippet_agreement
from robustcs.studies.agreement.findings import rating_findings, snippet_findings
from robustcs.studies.agreement.ratings import rating_agreement

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 1, 0)


def test_undefined_agreement_is_called_so() -> None:
    same = [Rating("1", item, worker, "fluency", "4", 1) for item in "ab" for worker in "xy"]
    [said] = rating_findings(rating_agreement(same, EVALUATED))
    assert (
        said
        == "Fleiss' κ of the raters by criterion: fluency undefined, Krippendorff's ordinal alpha undefined, 2 items."
    )


def test_what_annotators_chose_together_and_against_the_references() -> None:
    """Three chose 0-10, 0-8 and 0-4 of every text: all three share 4 of 10, a majority 8, the reference is 0-4."""

    def chosen(number: int, *ends: int) -> AnnotatedText:
        annotations = tuple(Annotation(f"w{place}", ((0, end),)) for place, end in enumerate(ends))
        return AnnotatedText(
            f"{number}_1", "p", "paragraph", "", "twenty characters ok", annotations
        )

    texts = {(f"{number}_1", "p"): chosen(number, 10, 8, 4) for number in range(1, 5)}
    references = {(f"{number}_1", "p"): chosen(number, 4) for number in (1, 2)}
    result = snippet_agreement(texts, references, EVALUATED)
    together, against = snippet_findings(result)
    assert (
        together
        == "All 3 annotators selected 40.0% of the characters that any of them selected (mean over 4 texts)."
    )
    # precision 4/8, recall 1
    assert (
        against
        == "The snippets that a majority of the annotators selected reach an F1 of 0.667 against the references (mean over 2"
        " texts)."
    )
    # four texts have no interval
    together, _ = snippet_findings(
        result.changed(jaccard=result.jaccard.assign(ci_low=0.31, ci_high=0.52))
    )
    assert together.endswith(" (mean over 4 texts, 95% CI 31% to 52%).")
