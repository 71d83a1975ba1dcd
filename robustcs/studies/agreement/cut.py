"""References that were chosen in paragraphs, cut to the sentences that other annotators read (snippets paper, Table 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, Spans, TextKey, Unit
from robustcs.result import count, table, text
from robustcs.similarity.alignment import Alignment, How, align

Texts = Mapping[TextKey, AnnotatedText]

NOT_FOUND = "not found"
NO_REFERENCE = "no reference"
ALIGNMENT = table(
    "alignment", "Sentences by how they were found in the paragraph of the references. No rows where nothing had to be cut.",
    text("found", f"as they stand, by their letters and digits, by those of ASCII alone; {NOT_FOUND}; {NO_REFERENCE}: of its"
         " paragraph there is none", "Sentences found"),
    count("texts", "sentences"), count("annotations", "of these sentences"),
)  # fmt: skip


def cut_references(texts: Texts, references: Texts) -> tuple[Texts, list[tuple[str, int, int]]]:
    """References on the same texts as ``texts``, and the rows of :data:`ALIGNMENT`.

    References of the same unit stay as they are. Those of paragraphs are cut to the sentences: every reference annotation of
    the paragraph becomes one of the sentence, or of the sentences that could be chosen; it may be empty. A sentence that is
    not found has no reference; one that could be chosen counts as passed over by the references.

    Raises :class:`UsageError` for references that are not of paragraphs, where the annotations are of something else.
    """
    units: set[Unit] = {text.unit for text in texts.values()}
    of_reference: set[Unit] = {text.unit for text in references.values()}
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
