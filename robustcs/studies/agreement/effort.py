"""Time and acceptance of annotations, confidence of annotators, and references that are cut to sentences.

Source: the snippets paper, Table 1 and section 6.3; its Table 3 compares sentences with references selected in paragraphs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.annotation_tasks import Spans
from robustcs.inputs.annotations import AnnotatedText, TextKey
from robustcs.inputs.annotations import Unit as TextUnit
from robustcs.policy import Grouping
from robustcs.result import count, number, p_value, share, table, text
from robustcs.similarity.texts import Alignment, align
from robustcs.statistics.means import median_estimate, share_estimates
from robustcs.statistics.unit_correlation import unit_correlation
from robustcs.statistics.units import Units, units_of_items

AnnotatedTexts = Mapping[TextKey, AnnotatedText]

WORK = table(
    "work", "Time per annotation, and share of accepted annotations, if the files contain them.",
    text("group", "annotators or reference", "Group"),
    text("of", "annotation; paragraph: the sum of the mean times of its sentences", "Per"),
    count("timed", "with a time"),
    *number("seconds", "median", "median seconds").rounded(0).between(
        "seconds_low", "seconds_high", "95% CI, Woodruff's interval over units; null for fewer than five"),
    number("seconds_mean", header="mean").rounded(0),
    count("checked", "annotations with status Approved or Rejected (JSONL: accepted is true or false)"),
    *share("accepted", "of those checked").between(
        "accepted_low", "accepted_high", "95% CI, Wilson by units; null for fewer than five"),
    count("units"), text("note", "caveats of the intervals"),
)  # fmt: skip
CONFIDENCE = table(
    "confidence", "Spearman correlation of the mean confidence of a text's annotators with its J. No rows without confidence.",
    count("texts"),
    *number("value", header="correlation").between(says="95% CI, jackknife over units; null for fewer than five"), p_value(),
    count("units"), text("note"),
)  # fmt: skip


def annotation_units(texts: AnnotatedTexts, by: Grouping) -> Units:
    """Return the sampling units of all annotations: conversations or turns if there are at least five, else texts."""
    units = units_of_items([turn for turn, _ in texts], "text", by)
    codes = np.repeat(units.codes, [len(text.annotations) for text in texts.values()])
    return Units(units.kind, codes, units.labels, units.note)


def work_rows(
    groups: Sequence[tuple[str, AnnotatedTexts]], by: Grouping
) -> list[tuple[object, ...]]:
    """Return the rows of :data:`WORK` of the groups with times or acceptance, with rows for paragraphs read by sentence."""
    rows: list[tuple[object, ...]] = []
    for name, texts in groups:
        each = [one for text in texts.values() for one in text.annotations]
        units = annotation_units(texts, by)
        seconds = [one.seconds for one in each if one.seconds is not None]
        accepted = [one.accepted for one in each if one.accepted is not None]
        if seconds or accepted:
            time = _time(seconds, units.take([one.seconds is not None for one in each]))
            checked = _share(accepted, units.take([one.accepted is not None for one in each]))
            rows.append((name, "annotation", *time, *checked))
        if paragraphs := _paragraphs(texts):
            of_paragraphs = units_of_items([turn for turn, _ in paragraphs], "paragraph", by)
            time = _time([seconds for _, seconds in paragraphs], of_paragraphs)
            rows.append((name, "paragraph", *time, *_share([], of_paragraphs)))
    return rows


def _paragraphs(texts: AnnotatedTexts) -> list[tuple[str, float]]:
    """Return (turn, seconds) for each paragraph whose sentences all have times."""
    times: dict[tuple[str, str], list[float]] = {}
    for own in texts.values():
        if own.paragraph:
            known = [one.seconds for one in own.annotations if one.seconds is not None]
            times.setdefault((own.turn, own.paragraph), []).append(
                float(np.mean(known)) if known else math.nan
            )
    return [(turn, sum(of)) for (turn, _), of in times.items() if not math.isnan(sum(of))]


def _time(seconds: Sequence[float], units: Units) -> tuple[object, ...]:
    return (
        len(seconds),
        median_estimate(seconds, units),
        float(np.mean(seconds)) if seconds else math.nan,
    )


def _share(accepted: Sequence[bool], units: Units) -> tuple[object, ...]:
    if not accepted:
        return 0, math.nan, math.nan, math.nan, units.count, ""
    (found,) = share_estimates(units.sums(accepted), units.sizes, units.kind)
    return len(accepted), found, found.units, found.note


def confidence_rows(
    texts: AnnotatedTexts, agreement: Mapping[TextKey, float], units: Units
) -> list[tuple[object, ...]]:
    """Return the rows of :data:`CONFIDENCE`; ``agreement``: J of each text, nan for a single annotator; ``units`` of texts."""
    levels = [
        [one.confidence for one in own.annotations if one.confidence is not None]
        for own in texts.values()
    ]
    agreed = np.array([agreement[key] for key in texts])
    told = np.array([bool(some) for some in levels]) & ~np.isnan(agreed)
    if not told.any():
        return []
    sure = np.array([np.mean(some) if some else math.nan for some in levels])
    found = unit_correlation(sure[told], agreed[told], units.take(told), "spearman")
    return [(int(told.sum()), found, found.p, found.units, found.note)]


def cut_references(texts: AnnotatedTexts, references: AnnotatedTexts) -> tuple[AnnotatedTexts, str]:
    """Return the references cut to ``texts``, and a note on how the sentences were found; empty if nothing was cut.

    References of the same unit do not change. References of paragraphs are cut to sentences: each annotation of the paragraph
    becomes an annotation of the sentence (or of the sentences offered for selection), which may be empty. A sentence that is
    not found has no reference; if it was offered for selection, it counts as not selected by the references.

    Raises :class:`UsageError` if the units differ and the references are not of paragraphs.
    """
    units: set[TextUnit] = {text.unit for text in texts.values()}
    of_reference: set[TextUnit] = {text.unit for text in references.values()}
    if not references or units == of_reference:
        return references, ""
    if of_reference != {"paragraph"}:
        task, other = (", ".join(sorted(some)) for some in (units, of_reference))
        found = f"the annotations are of one task ({task}), but the references of another ({other})"
        raise UsageError(
            "two-units", found, "use references of paragraphs, which can be cut to sentences"
        )
    found_by: Counter[str] = Counter()
    cut: dict[TextKey, AnnotatedText] = {}
    for key, own in texts.items():
        paragraph = references.get((own.turn, own.paragraph or own.passage))
        parts = own.parts or ((0, len(own.text)),)
        aligned = [
            None if paragraph is None else align(own.text[start:end], paragraph.text)
            for start, end in parts
        ]
        for one in aligned:
            found_by[
                "without a reference"
                if paragraph is None
                else "not found"
                if one is None
                else one.how
            ] += 1
        if paragraph is not None and any(aligned):
            annotations = tuple(
                replace(one, spans=_moved(one.spans, parts, aligned))
                for one in paragraph.annotations
            )
            cut[key] = replace(own, annotations=annotations)
    counts = ", ".join(f"{number} {found}" for found, number in found_by.most_common())
    return (
        cut,
        f"references are cut to sentences, which are searched in the reference paragraphs: {counts}",
    )


def _moved(spans: Spans, parts: Spans, aligned: Sequence[Alignment | None]) -> Spans:
    """Return ``spans`` of a paragraph as spans of the text whose ``parts`` are its sentences."""
    return tuple(
        (start + first, start + last)
        for (start, _), one in zip(parts, aligned, strict=True) if one is not None for first, last in one.cut(spans)
    )  # fmt: skip
