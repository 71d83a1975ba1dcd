"""What annotations cost, whether annotators who are sure agree more, and references that are cut to sentences.

Source: the snippets paper, Table 1 and section 6.3; Table 3 compares sentences with references that were chosen in paragraphs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, Spans, TextKey
from robustcs.inputs.annotations import Unit as TextUnit
from robustcs.lazy import pd
from robustcs.policy import Unit
from robustcs.result import count, number, p_value, share, table, text
from robustcs.similarity.alignment import Alignment, How, align
from robustcs.statistics.means import median_estimate, share_estimates
from robustcs.statistics.unit_correlation import unit_correlation
from robustcs.statistics.units import Units, units_of_items

Texts = Mapping[TextKey, AnnotatedText]

NOT_FOUND = "not found"
NO_REFERENCE = "no reference"
ALIGNMENT = table(
    "alignment", "Sentences by how they were found in the paragraph of the references. No rows where nothing had to be cut.",
    text("found", f"as they stand, by their letters and digits, by those of ASCII alone; {NOT_FOUND}; {NO_REFERENCE}: of its"
         " paragraph there is none", "Sentences found"),
    count("texts", "sentences"), count("annotations", "of these sentences"),
)  # fmt: skip
WORK = table(
    "work", "The time that annotations took, and how many were accepted; where the files say it.",
    text("group", "annotators or reference", "Group"),
    text("of", "annotation; paragraph: the sum over its sentences of the mean of their annotations", "One"),
    count("timed", "how many have a time"),
    *number("seconds", "median", "median seconds").rounded(0).between(
        "seconds_low", "seconds_high", "95 %, Woodruff's interval over units; null for fewer than five"),
    number("seconds_mean", header="mean").rounded(0),
    count("checked", "annotations whose status is Approved or Rejected (JSONL: that say accepted true or false)"),
    *share("accepted", "of those checked").between(
        "accepted_low", "accepted_high", "95 %, Wilson by units; null for fewer than five"),
    count("units"), text("note", "what must be known beside the intervals"),
)  # fmt: skip
CONFIDENCE = table(
    "confidence", "Do annotators who say that they are sure agree more? No rows where nobody says how sure he is.",
    text("x", "mean confidence of a text's annotators, or an annotator's confidence", "Confidence of"),
    text("y", "J of the text, or the annotator's mean F1 to the others", "against"), text("method", header="Method"),
    count("items", "texts or annotations"),
    *number("value", header="correlation").between(says="95 %, jackknife over units; null for fewer than five"), p_value(),
    count("units"), text("note"),
)  # fmt: skip


def annotation_units(texts: Texts, unit: Unit) -> Units:
    """The units of all annotations, text by text: conversations or turns where there are five, else the texts."""
    units = units_of_items([turn for turn, _ in texts], "text", unit)
    codes = np.repeat(units.codes, [len(text.annotations) for text in texts.values()])
    return Units(units.kind, codes, units.labels, units.note)


def work_table(groups: Sequence[tuple[str, Texts]], unit: Unit) -> pd.DataFrame:
    """The table :data:`WORK` of the groups that say anything of it; paragraphs where the texts are sentences of one."""
    rows: list[tuple[object, ...]] = []
    for name, texts in groups:
        each = [one for text in texts.values() for one in text.annotations]
        units = annotation_units(texts, unit)
        seconds = [one.seconds for one in each if one.seconds is not None]
        accepted = [one.accepted for one in each if one.accepted is not None]
        if seconds or accepted:
            time = _time(seconds, units.take([one.seconds is not None for one in each]))
            checked = _share(accepted, units.take([one.accepted is not None for one in each]))
            rows.append((name, "annotation", *time, *checked))
        if paragraphs := _paragraphs(texts):
            of_paragraphs = units_of_items([turn for turn, _ in paragraphs], "paragraph", unit)
            time = _time([seconds for _, seconds in paragraphs], of_paragraphs)
            rows.append((name, "paragraph", *time, *_share([], of_paragraphs)))
    return WORK.frame(rows)


def _paragraphs(texts: Texts) -> list[tuple[str, float]]:
    """(turn, seconds) of every paragraph all of whose sentences have times."""
    times: dict[tuple[str, str], list[float]] = {}
    for own in texts.values():
        if own.paragraph:
            known = [one.seconds for one in own.annotations if one.seconds is not None]
            times.setdefault((own.turn, own.paragraph), []).append(float(np.mean(known)) if known else math.nan)
    return [(turn, sum(of)) for (turn, _), of in times.items() if not math.isnan(sum(of))]


def _time(seconds: Sequence[float], units: Units) -> tuple[object, ...]:
    return len(seconds), median_estimate(seconds, units), float(np.mean(seconds)) if seconds else math.nan


def _share(accepted: Sequence[bool], units: Units) -> tuple[object, ...]:
    if not accepted:
        return 0, math.nan, math.nan, math.nan, units.count, ""
    (found,) = share_estimates(units.sums(accepted), units.sizes, units.kind)
    return len(accepted), found, found.units, found.note


def confidence_table(
    texts: Texts, agreement: Mapping[TextKey, float], likeness: Mapping[TextKey, Sequence[float]], unit: Unit
) -> pd.DataFrame:
    """The table :data:`CONFIDENCE`.

    ``agreement``: J of every text, nan for a single annotator; ``likeness``: of every annotation its mean F1 to the others.
    """
    each = [(key, place, one.confidence) for key, own in texts.items() for place, one in enumerate(own.annotations)]
    told = np.array([level is not None and not math.isnan(agreement[key]) for key, _, level in each])
    by_annotation = [(level, likeness[key][place]) for (key, place, level), use in zip(each, told, strict=True) if use]
    by_text: list[tuple[float, float]] = []
    texts_told = []
    for key, own in texts.items():
        levels = [one.confidence for one in own.annotations if one.confidence is not None]
        texts_told.append(bool(levels) and not math.isnan(agreement[key]))
        if texts_told[-1]:
            by_text.append((float(np.mean(levels)), agreement[key]))
    of_texts = units_of_items([turn for turn, _ in texts], "text", unit)
    rows: list[tuple[object, ...]] = []
    for x, y, items, units in (
        ("text (mean)", "J", by_text, of_texts.take(texts_told)),
        ("annotation", "F1 to others", by_annotation, annotation_units(texts, unit).take(told)),
    ):
        for method in ("pearson", "spearman") if items else ():
            sure, agreed = np.array(items, dtype=np.float64).T
            found = unit_correlation(sure, agreed, units, method)
            rows.append((x, y, method, len(items), found, found.p, found.units, found.note))
    return CONFIDENCE.frame(rows)


def cut_references(texts: Texts, references: Texts) -> tuple[Texts, list[tuple[str, int, int]]]:
    """References on the same texts as ``texts``, and the rows of :data:`ALIGNMENT`.

    References of the same unit stay as they are. Those of paragraphs are cut to the sentences: every reference annotation of
    the paragraph becomes one of the sentence, or of the sentences that could be chosen; it may be empty. A sentence that is
    not found has no reference; one that could be chosen counts as passed over by the references.

    Raises :class:`UsageError` for references that are not of paragraphs, where the annotations are of something else.
    """
    units: set[TextUnit] = {text.unit for text in texts.values()}
    of_reference: set[TextUnit] = {text.unit for text in references.values()}
    if not references or units == of_reference:
        return references, []
    if of_reference != {"paragraph"}:
        task, other = (", ".join(sorted(some)) for some in (units, of_reference))
        found = f"the annotations are of one task ({task}), the references of another ({other})"
        raise UsageError("two-units", found, "name references of paragraphs, which can be cut to sentences")
    rows = {found: [0, 0] for found in (*get_args(How), NOT_FOUND, NO_REFERENCE)}
    cut: dict[TextKey, AnnotatedText] = {}
    for key, own in texts.items():
        paragraph = references.get((own.turn, own.paragraph or own.passage))
        parts = own.parts or ((0, len(own.text)),)
        aligned = [None if paragraph is None else align(own.text[start:end], paragraph.text) for start, end in parts]
        for one in aligned:
            found = NO_REFERENCE if paragraph is None else NOT_FOUND if one is None else one.how
            rows[found][0] += 1
            rows[found][1] += len(own.annotations)
        if paragraph is not None and any(aligned):
            annotations = tuple(replace(one, spans=_moved(one.spans, parts, aligned)) for one in paragraph.annotations)
            cut[key] = replace(own, annotations=annotations)
    return cut, [(found, *counts) for found, counts in rows.items()]  # type: ignore[misc]


def _moved(spans: Spans, parts: Spans, aligned: Sequence[Alignment | None]) -> Spans:
    """``spans`` of a paragraph as spans of the text whose ``parts`` are its sentences."""
    return tuple(
        (start + first, start + last)
        for (start, _), one in zip(parts, aligned, strict=True) if one is not None for first, last in one.cut(spans)
    )  # fmt: skip
