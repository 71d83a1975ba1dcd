"""Agreement of annotators on the snippets of a text, with each other and with reference annotations.

Source: Łajewska and Balog (2023), "Towards Filling the Gap in Conversational Search", sections 4 and 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, TextKey
from robustcs.inputs.annotations import Unit as TextUnit
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.messages import Message, OptionName
from robustcs.policy import Grouping
from robustcs.result import (
    Evaluated,
    Result,
    TableSpec,
    computes,
    count,
    flag,
    number,
    score,
    share,
    table,
    text,
)
from robustcs.statistics import agreement
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units, units_of_items
from robustcs.studies.agreement import effort
from robustcs.studies.agreement.effort import AnnotatedTexts
from robustcs.wording import counted

#: An annotation is flagged as long if it selects more than this share of its text.
LONGEST_SHARE: Mapping[TextUnit, float] = {"paragraph": 0.5, "sentence": 0.75, "selection": 0.75}
#: An annotation is flagged as outside if no part of it was selected by at least this number of other annotators.
LEAST_OTHERS: Mapping[TextUnit, int] = {"paragraph": 2, "sentence": 2, "selection": 1}
AGGREGATES = ("mean", "majority", "similarity")
_BY_UNIT = "95% CI, cluster-robust t over units on the logit scale; null for fewer than five"
_UNITS = (
    count("units", "independent conversations, turns or texts"),
    text("note", "caveats of the interval"),
)
_CLUSTER = "95% CI, cluster-robust t over units; null for fewer than five"


def _texts_table(most: int) -> TableSpec:
    """Return the table of texts that have up to ``most`` annotators."""
    return table(
        "texts", "The texts, lowest agreement first.",
        text("turn", header="Turn"), text("passage", header="Passage"), count("annotators"), count("characters"),
        score("jaccard", "over all annotators of the text", "J"),
        *(score(f"jaccard_{k}", header=f"J{k}") for k in range(2, most + 1)),
        *(score(f"f1_{name}", "against references", name, "F1 to references") for name in AGGREGATES),
    )  # fmt: skip


@dataclass(frozen=True)
class Selected:
    """What the tables are computed from.

    chosen
        Text → bool[n, items]: what each of its n annotators selected; ``units`` are the sampling units of the texts.
    overlaps
        Text with a reference → the agreement of its annotations with it; ``compared`` are the units of these texts.
    groups
        Annotators and references → their texts.
    rule
        What makes a majority, in words.
    empty
        Number of texts in which no reference has a snippet.
    seed
        Random seed of the intervals of kappa and alpha.
    """

    chosen: Mapping[TextKey, agreement.Chosen]
    overlaps: Mapping[TextKey, np.ndarray]
    groups: Sequence[tuple[str, AnnotatedTexts]]
    units: Units
    compared: Units
    rule: str
    empty: int
    seed: int


@dataclass(frozen=True)
class SnippetAgreement(Result):
    """Agreement on snippets. Values are means over texts unless stated, with intervals by conversation, turn or text.

    read
        What annotators read: paragraphs, sentences, or paragraphs of which they selected sentences (selection).
    compared, references
        The compared texts, and the references cut to them.
    selected
        What the tables are computed from.
    """

    study = "agreement"

    jaccard = table(
        "jaccard", "J_k: of the characters (sentences) that any annotator selected, the share that at least k annotators"
        " selected.",
        count("k", "J_k is J if k is the number of annotators"), *score("value").between(says=_BY_UNIT),
        count("texts", "with at least k annotators"), *_UNITS,
    )  # fmt: skip
    reference = table(
        "reference", "Annotations compared with reference annotations. No rows without references.",
        text("aggregate", "mean, majority or similarity", "Annotation"),
        *score("precision").between("precision_low", "precision_high"),
        *score("recall").between("recall_low", "recall_high"), *score("f1", header="F1").between(says=f"of f1: {_BY_UNIT}"),
        count("texts"), text("rule", "the annotations that the aggregate uses"), *_UNITS,
        count("empty", "texts in which no reference has a snippet; precision, recall and F1 are 0 there"),
    )  # fmt: skip
    chance = table(
        "chance", "Chance-corrected agreement on single characters (or on sentences, if annotators select sentences).",
        text("coefficient", "Fleiss' kappa, or Krippendorff's alpha (nominal)", "Coefficient"),
        *score("value").between(says="95% CI, nested bootstrap-t over units; null for fewer than five"),
        count("texts", "with at least two annotators"), count("items", "characters, or sentences"), *_UNITS,
    )  # fmt: skip
    statistics = table(
        "statistics", "Size of the selections; means over annotations or snippets, not over texts.",
        text("group", "annotators or reference", "Group"), count("texts"), count("annotations"),
        count("empty", "annotations without a snippet"), count("snippets"),
        *number("snippets_per_annotation", "", "snippets per annotation").rounded(2).between(
            "snippets_per_annotation_low", "snippets_per_annotation_high", _CLUSTER),
        *number("tokens_per_snippet", "white space separates tokens", "tokens per snippet").rounded(1).between(
            "tokens_per_snippet_low", "tokens_per_snippet_high"),
        *number("tokens_per_annotation", "empty annotations count", "tokens per annotation").rounded(1).between(
            "tokens_per_annotation_low", "tokens_per_annotation_high"),
        share("share", "mean share of the text's characters that an annotation selects", "of the text"), *_UNITS,
    )  # fmt: skip
    work = effort.WORK
    confidence = effort.CONFIDENCE
    workers = table(
        "workers", "Flagged annotations by worker, most flags first.",
        text("worker", header="Worker"), count("annotations"),
        number("f1_others", "mean F1 with the other annotators of the text", "F1 to others").rounded(2),
        *(count(name, group="flagged as") for name in ("long", "outside", "empty")), count("flagged"),
    )  # fmt: skip
    annotations = table(
        "annotations", "Each annotation with its flags.",
        text("turn"), text("passage"), text("worker"), count("snippets"), count("characters"), share("share", "of the text"),
        number("f1_others"), flag("long", "more than 50% of a paragraph, 75% of a sentence, or 75% of the sentences"),
        flag("outside", "no part was selected by at least two others (selected sentences: by any other)"), flag("empty"),
    )  # fmt: skip
    texts = _texts_table(2)

    read: TextUnit
    compared: AnnotatedTexts
    references: AnnotatedTexts
    selected: Selected

    @computes(jaccard)
    def _jaccard(self) -> Any:
        return _jaccard(list(self.selected.chosen.values()), self.selected.units)

    @computes(reference)
    def _reference(self) -> Any:
        own = self.selected
        return _reference(list(own.overlaps.values()), own.rule, own.compared, own.empty)

    @computes(chance)
    def _chance(self) -> Any:
        own = self.selected
        return _chance(list(own.chosen.values()), own.units, own.seed)

    @computes(statistics)
    def _statistics(self) -> Any:
        by = self.evaluated.grouping
        return [_statistics(name, some, by) for name, some in self.selected.groups]

    @computes(work)
    def _work(self) -> Any:
        return effort.work_rows(self.selected.groups, self.evaluated.grouping)

    @computes(confidence)
    def _confidence(self) -> Any:
        by_text = {(row.turn, row.passage): row.jaccard for row in self.table("texts")}
        return effort.confidence_rows(self.compared, by_text, self.selected.units)

    @computes(workers)
    def _workers(self) -> Any:
        return _workers(self.annotations)

    @computes(texts)
    def _texts(self) -> Any:
        return _texts(self.compared, self.selected.chosen, self.selected.overlaps)

    def spec(self, name: str) -> TableSpec:
        """Return the declaration of a table; that of ``texts`` has a column J_k for each number of annotators."""
        most = max(2, *(len(text.annotations) for text in self.compared.values()))
        return _texts_table(most) if name == "texts" else super().spec(name)


def snippet_agreement(
    texts: AnnotatedTexts,
    references: AnnotatedTexts,
    evaluated: Evaluated,
    majority: int | None = None,
    seed: int = 0,
) -> SnippetAgreement:
    """Compare the annotations of each text with each other and with its references, if there are any.

    If annotators selected sentences, all counts are of sentences instead of characters. ``references`` of paragraphs are cut
    to sentences by :func:`~robustcs.studies.agreement.effort.cut_references`.

    majority
        Number of annotators that make a majority; None: more than half of the annotators of the text.
    seed
        Random seed of the intervals of kappa and alpha.

    Raises :class:`UsageError` if no text has two annotators or a reference, if no text has ``majority`` annotators, or if the
    references are of sentences and the annotations of paragraphs.
    """
    texts, given = _in_order(texts), _in_order(references)
    references, cut_note = effort.cut_references(texts, given)
    annotators = max((len(text.annotations) for text in texts.values()), default=0)
    if annotators < 2 and not texts.keys() & references.keys():
        advice = Message(
            "add the files of other annotators, or compare with ", OptionName("reference", "FILE")
        )
        raise UsageError("one-annotator", "no text has two annotators", advice)
    agreement.check_majority(majority, annotators, "annotators")
    chosen = {key: _chosen(text) for key, text in texts.items()}
    expected = {key: _chosen(references[key]) for key in texts if key in references}
    overlaps = {
        key: _against_reference(chosen[key], some, majority) for key, some in expected.items()
    }
    # if references were cut to sentences, report the time and size of the original paragraph annotations
    read = given if cut_note else {key: given[key] for key in given if key in texts}
    groups = [(name, some) for name, some in (("annotators", texts), ("reference", read)) if some]
    by = evaluated.grouping
    units = units_of_items([turn for turn, _ in texts], "text", by)
    read_unit = next(iter(texts.values())).unit
    without = len(texts) - len(expected) if references else 0
    told = [cut_note] if cut_note else []
    told += (
        [
            f"no reference for {without} of {counted(len(texts), 'text')}: excluded from that comparison"
        ]
        if without
        else []
    )
    rule = majority_rule(
        {len(chosen[key]) for key in overlaps},
        majority,
        "sentences" if read_unit == "selection" else "characters",
    )
    compared = units.take([key in overlaps for key in texts])
    empty = sum(not some.any() for some in expected.values())
    evaluated = units.stated(replace(evaluated, notes=(*evaluated.notes, *told)))
    rows = [row for key, text in texts.items() for row in _annotations(text, chosen[key])]
    selected = Selected(
        chosen=chosen,
        overlaps=overlaps,
        groups=groups,
        units=units,
        compared=compared,
        rule=rule,
        empty=empty,
        seed=seed,
    )
    content = SnippetAgreement.built(annotations=rows)
    return SnippetAgreement(evaluated, read_unit, texts, references, selected, content=content)


def _chosen(text: AnnotatedText) -> agreement.Chosen:
    """Return bool[n, items]: the characters of the text (or its sentences) that each of n annotators selected."""
    characters = agreement.chosen_characters(
        [annotation.spans for annotation in text.annotations], len(text.text)
    )
    if not text.parts:
        return characters
    return np.column_stack([characters[:, start:end].any(axis=1) for start, end in text.parts])


def _in_order(texts: AnnotatedTexts) -> AnnotatedTexts:
    """Return the texts by turn and the annotations by worker, so that results do not depend on the order of lines."""
    return {
        key: replace(
            texts[key],
            annotations=tuple(
                sorted(texts[key].annotations, key=lambda one: (one.worker, one.spans))
            ),
        )
        for key in sorted(texts, key=lambda key: (turn_sort_key(key[0]), key[1]))
    }


def _jaccard(chosen: Sequence[agreement.Chosen], units: Units) -> list[Any]:
    rows = []
    for k in range(max(map(len, chosen)), 1, -1):
        enough = [len(some) >= k for some in chosen]
        values = [agreement.jaccard_at_least(some)[k - 1] for some in chosen if len(some) >= k]
        (found,) = _means(np.array([values]), units.take(enough))
        rows.append((k, found, len(values), found.units, found.note))
    return rows


def _means(values: np.ndarray, units: Units) -> tuple[Estimate, ...]:
    """Return the mean of each row of ``values`` (float[M, texts], 0 to 1)."""
    return mean_estimates(units.sums(values), units.sizes, units.kind, (0.0, 1.0))


def _against_reference(
    annotations: agreement.Chosen, references: agreement.Chosen, majority: int | None
) -> np.ndarray:
    """Return float[3 aggregates, 3 measures] for one text: precision, recall and F1, means over the references."""
    by_annotator = np.array(
        [scores.mean(axis=1) for scores in agreement.overlap_scores(annotations, references)]
    )
    enough = annotations.sum(axis=0) >= agreement.majority_of(len(annotations), majority)
    by_majority = np.array(
        [scores.mean() for scores in agreement.overlap_scores(enough[None, :], references)]
    )
    return np.array(
        [
            by_annotator.mean(axis=1),
            by_majority,
            by_annotator[:, agreement.most_similar(annotations)],
        ]
    )


def _reference(
    overlaps: Sequence[np.ndarray], majority: str, units: Units, empty: int
) -> list[Any]:
    """Return the rows of ``reference``. ``majority``: its rule in words; ``empty``: texts without a reference snippet."""
    rules = ("all pairs of annotator and reference", majority, "the annotator most like the others")
    rows = []
    for place, (aggregate, rule) in enumerate(zip(AGGREGATES, rules, strict=True)):
        if overlaps:
            precision, recall, f1 = _means(np.array(overlaps)[:, place].T, units)
            rows.append(
                (aggregate, precision, recall, f1, len(overlaps), rule, f1.units, f1.note, empty)
            )
    return rows


def majority_rule(annotators: set[int], majority: int | None, items: str = "characters") -> str:
    """Return the majority rule in words; ``items``: the word for the selected items."""
    wanted = {agreement.majority_of(number, majority) for number in annotators}
    of = f" of {min(annotators)}" if len(annotators) == 1 else ""
    many = f"at least {min(wanted)}{of}" if len(wanted) == 1 else "more than half of the"
    return f"{items} that {many} annotators selected"


def _annotations(text: AnnotatedText, chosen: agreement.Chosen) -> Iterator[tuple[object, ...]]:
    others, least = chosen.sum(axis=0) - chosen, LEAST_OTHERS[text.unit]
    rows = zip(
        text.annotations,
        chosen,
        others,
        agreement.similarity_to_others(chosen).tolist(),
        strict=True,
    )
    for annotation, own, other, likeness in rows:
        size, share = int(own.sum()), float(own.mean())
        outside = len(chosen) > least and size > 0 and not (own & (other >= least)).any()
        characters = sum(end - start for start, end in annotation.spans) if text.parts else size
        yield (
            text.turn, text.passage, annotation.worker, len(annotation.spans), characters, share, likeness,
            share > LONGEST_SHARE[text.unit], bool(outside), size == 0,
        )  # fmt: skip


def _workers(annotations: pd.DataFrame) -> pd.DataFrame:
    flags = ["long", "outside", "empty"]
    frame = annotations.assign(flagged=annotations[flags].any(axis=1))
    by_worker = frame.groupby("worker", sort=True)
    workers = by_worker[[*flags, "flagged"]].sum().astype(int)
    workers.insert(0, "annotations", by_worker.size())
    workers.insert(1, "f1_others", by_worker["f1_others"].mean())
    return workers.reset_index().sort_values(
        ["flagged", "worker"], ascending=[False, True], ignore_index=True
    )


def _chance(chosen: Sequence[agreement.Chosen], units: Units, seed: int) -> list[Any]:
    """Return kappa and alpha with each character of a text as an item, from sums over sampling units."""
    several = np.array([len(some) >= 2 for some in chosen])
    counted = [_character_counts(some) for some in chosen if len(some) >= 2]
    if not counted:
        return []
    some = units.take(several)
    characters = sum(int(times.sum()) for _, times in counted)
    rows = []
    for name, sums, statistic in (
        ("Fleiss' kappa", agreement.fleiss_sums, agreement.fleiss_of),
        ("Krippendorff's alpha", agreement.alpha_sums, agreement.alpha_of((0, 1), "nominal")),
    ):  # fmt: skip
        of_text = np.array([times @ sums(counts) for counts, times in counted])
        found = agreement.agreement_estimate(some.sums(of_text.T).T, statistic, seed, some.kind)
        rows.append((name, found, len(counted), characters, found.units, found.note))
    return rows


def _character_counts(chosen: agreement.Chosen) -> tuple[np.ndarray, np.ndarray]:
    """Count the characters by the number of annotators (0 to n) that selected them.

    Returns int64[n + 1, 2], the numbers of annotators without and with a selection, and int64[n + 1], the characters of each.
    """
    annotators = len(chosen)
    took = np.arange(annotators + 1)
    return np.column_stack([annotators - took, took]), np.bincount(
        chosen.sum(axis=0), minlength=annotators + 1
    )


def _statistics(group: str, texts: AnnotatedTexts, by: Grouping) -> tuple[object, ...]:
    shares = [share for own in texts.values() for share in _chosen(own).mean(axis=1).tolist()]
    # snippets and their tokens, per annotation
    numbers = np.array([
        (len(one.spans), sum(len(own.text[start:end].split()) for start, end in one.spans))
        for own in texts.values() for one in own.annotations
    ])  # fmt: skip
    units = effort.annotation_units(texts, by)
    snippets, tokens = units.sums(numbers.T)
    each, of_snippet, of_annotation = (
        mean_estimates(top, bottom, units.kind)[0]
        for top, bottom in ((snippets, units.sizes), (tokens, snippets), (tokens, units.sizes))
    )
    counts = (len(texts), len(numbers), int((numbers[:, 0] == 0).sum()), int(snippets.sum()))
    return (
        group,
        *counts,
        each,
        of_snippet,
        of_annotation,
        float(np.mean(shares)),
        each.units,
        each.note,
    )


def _texts(
    texts: AnnotatedTexts,
    chosen: Mapping[TextKey, agreement.Chosen],
    overlaps: Mapping[TextKey, np.ndarray],
) -> pd.DataFrame:
    most = max(2, *map(len, chosen.values()))
    rows = []
    for key in texts:
        at_least = np.full(most, np.nan)
        annotators = len(chosen[key])
        if annotators > 1:
            at_least[:annotators] = agreement.jaccard_at_least(chosen[key])
        f1 = overlaps[key][:, 2] if key in overlaps else [math.nan] * len(AGGREGATES)
        rows.append(
            (*key, annotators, len(texts[key].text), at_least[annotators - 1], *at_least[1:], *f1)
        )
    return (
        _texts_table(most)
        .frame(rows)
        .sort_values(["jaccard", "jaccard_2"], kind="stable", ignore_index=True)
    )
