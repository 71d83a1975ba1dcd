"""Which verdicts open a report: by what users ask, the worst first, and none that is barred."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import Verdict
from robustcs.reporting.headlines import headlines, in_order, of_question


def verdict(name: str, key: str, weight: float, **more: object) -> Verdict:
    return of_question(key, replace(Verdict(name, "", "", "", weight), **more))  # type: ignore[arg-type]


BLAME = [
    verdict("qa", "breakdown", 0.3),
    verdict("qr", "breakdown", 0.1),
    verdict("lost", "breakdown", 0.2, subject="drop"),
]
HOLES = [verdict("holes", "unjudged", 0.9), verdict("filled", "unjudged", 0.15, subject="drop")]
ALIKE = [verdict("alike", "correlate", 0.05)]
KAPPA = verdict("kappa", "audit", 0.99, subject="agreement")
EVERY = {
    "breakdown": BLAME,
    "correlate": ALIKE,
    "unjudged": HOLES,
    "audit": [KAPPA, verdict("bias", "audit", 0.95)],
}


def names(verdicts: object) -> list[str]:
    return [one.number for one in verdicts]  # type: ignore[attr-defined]


def test_one_of_every_subject_in_the_order_of_the_questions() -> None:
    assert names(headlines(EVERY)) == ["qa", "lost", "holes"]


def test_the_worst_of_a_subject_comes_first_and_a_second_one_where_there_is_room() -> None:
    turned = [replace(BLAME[0], weight=0.05), *BLAME[1:]]
    assert names(headlines({**EVERY, "breakdown": turned})) == ["qr", "lost", "holes"]
    assert names(headlines({"breakdown": BLAME})) == ["qa", "qr", "lost"]
    assert names(headlines({"breakdown": BLAME[:2], "correlate": ALIKE})) == ["qa", "qr", "alike"]


def test_a_barred_verdict_opens_no_report_and_no_section() -> None:
    barred = [replace(HOLES[0], barred=True, caveat="Why."), HOLES[1]]
    assert names(headlines({**EVERY, "unjudged": barred})) == ["qa", "lost", "alike"]
    assert names(in_order(barred)) == ["filled", "holes"]
    assert headlines({"unjudged": barred[:1]}) == ()


def test_the_agreement_of_a_judge_never_leads() -> None:
    assert headlines({"audit": [KAPPA]}) == ()
    assert names(headlines({"audit": EVERY["audit"]})) == ["bias", "kappa"]
    assert names(in_order(EVERY["audit"])) == ["bias", "kappa"]


def test_reading_comprehension_leads_only_where_no_rankings_are_studied() -> None:
    read = [verdict("reader", "answers", 0.8), verdict("read less", "answers", 0.6, subject="drop")]
    assert names(headlines({"answers": read, "correlate": ALIKE})) == [
        "reader",
        "read less",
        "alike",
    ]
    assert names(headlines({**EVERY, "answers": read})) == ["qa", "lost", "holes"]
    assert names(headlines({"breakdown": BLAME[:1], "answers": read})) == [
        "qa",
        "reader",
        "read less",
    ]
