"""How well do annotators agree on the snippets of a text, with each other and with reference annotations?

Source: Łajewska and Balog (2023), "Towards Filling the Gap in Conversational Search", sections 4 and 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, TextKey
from robustcs.inputs.annotations import Unit as TextUnit
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Unit
from robustcs.result import Evaluated, Result, TableSpec, count, flag, number, score, share, table, text
from robustcs.statistics.agreement import (
    Chosen,
    agreement_estimate,
    alpha_of,
    alpha_sums,
    check_majority,
    chosen_characters,
    fleiss_of,
    fleiss_sums,
    jaccard_at_least,
    majority_of,
    most_similar,
    overlap_scores,
    similarity_to_others,
)
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units, units_of_items
from robustcs.studies.agreement.effort import (
    ALIGNMENT,
    CONFIDENCE,
    WORK,
    annotation_units,
    confidence_table,
    cut_references,
    work_table,
)

Texts = Mapping[TextKey, AnnotatedText]

#: An annotation is flagged as long when it takes more than this share of its text.
LONGEST_SHARE: Mapping[TextUnit, float] = {"paragraph": 0.5, "sentence": 0.75, "selection": 0.75}
#: What is chosen has to be chosen by so many others too, or the annotation is flagged as outside.
LEAST_OTHERS: Mapping[TextUnit, int] = {"paragraph": 2, "sentence": 2, "selection": 1}
AGGREGATES = ("mean", "majority", "similarity")
_BY_UNIT = "95 %, cluster-robust t over units on the logit; null for fewer than five"
_UNITS = (count("units", "independent conversations, turns or texts"), text("note", "what must be known beside the interval"))
_JACCARD = table(
    "jaccard", "J_k: the characters (sentences) that at least k annotators chose out of those that any chose; highest k first.",
    count("k", "the number of annotators: J"), *score("value").between(says=_BY_UNIT),
    count("texts", "with at least k annotators"), *_UNITS,
)  # fmt: skip
_REFERENCE = table(
    "reference", "Annotations against reference annotations. No rows without references.",
    text("aggregate", "mean, majority or similarity", "Annotation"),
    *score("precision").between("precision_low", "precision_high"),
    *score("recall").between("recall_low", "recall_high"), *score("f1", header="F1").between(says=f"of f1: {_BY_UNIT}"),
    count("texts"), text("rule", "what the aggregate takes"), *_UNITS,
    count("empty", "texts in which no reference has a snippet; all three are 0 there"),
)  # fmt: skip
_CHANCE = table(
    "chance", "Agreement on single characters (sentences where these are chosen), corrected for chance.",
    text("coefficient", "Fleiss' kappa, or Krippendorff's alpha (nominal)", "Coefficient"),
    *score("value").between(says="95 %, nested bootstrap-t over units; null for fewer than five"),
    count("texts", "with at least two annotators"), count("items", "characters, or sentences"), *_UNITS,
)  # fmt: skip
_CLUSTER = "95 %, cluster-robust t over units; null for fewer than five"
_STATISTICS = table(
    "statistics", "What was chosen; means over annotations or snippets, not over texts.",
    text("group", "annotators or reference", "Group"), count("texts"), count("annotations", header="given"),
    count("empty", "annotations without a snippet"), count("snippets"),
    *number("snippets_per_annotation", "", "snippets each").rounded(2).between(
        "snippets_per_annotation_low", "snippets_per_annotation_high", _CLUSTER),
    *number("tokens_per_snippet", "white space separates tokens", "tokens a snippet").rounded(1).between(
        "tokens_per_snippet_low", "tokens_per_snippet_high"),
    *number("tokens_per_annotation", "empty annotations count", "tokens each").rounded(1).between(
        "tokens_per_annotation_low", "tokens_per_annotation_high"),
    share("share", "of the text's characters that an annotation takes", "of the text"), *_UNITS,
)  # fmt: skip
_WORKERS = table(
    "workers", "Flagged annotations by worker, the most often flagged first.",
    text("worker", header="Worker"), count("annotations"),
    number("f1_others", "mean F1 to the other annotators of the text", "F1 to others").rounded(2),
    *(count(name, group="flagged as") for name in ("long", "outside", "empty")), count("flagged"),
)  # fmt: skip
_ANNOTATIONS = table(
    "annotations", "Every annotation with its flags.",
    text("turn"), text("passage"), text("worker"), count("snippets"), count("characters"), share("share", "of the text"),
    share("outside_share", "of the chosen characters, those that fewer than two others chose; null with fewer than two others;"
          " of chosen sentences, those that no other chose"),
    number("f1_others"), flag("long", "more than 50 % of a paragraph, 75 % of a sentence, or 75 % of the sentences"),
    flag("outside", "nothing of it was chosen by at least two others; of chosen sentences, by any other"), flag("empty"),
)  # fmt: skip


def _texts_table(most: int) -> TableSpec:
    """The table of texts that have up to ``most`` annotators."""
    return table(
        "texts", "Every text, the least agreement first.",
        text("turn", header="Turn"), text("passage", header="Passage"), count("annotators"), count("characters"),
        score("jaccard", "of all of its annotators", "J"), *(score(f"jaccard_{k}", header=f"J{k}") for k in range(2, most + 1)),
        *(score(f"f1_{name}", "against references", name, "F1 to references") for name in AGGREGATES),
        score("kappa", "Fleiss' kappa over its characters", "Fleiss' κ"),
    )  # fmt: skip


@dataclass(frozen=True)
class SnippetAgreement(Result):
    """All values are means over texts, with intervals by conversation, turn or text, unless said otherwise.

    read
        What the annotators read: paragraphs, sentences, or paragraphs whose sentences they chose (selection).
    """

    study = "agreement"

    jaccard: pd.DataFrame
    reference: pd.DataFrame
    alignment: pd.DataFrame
    chance: pd.DataFrame
    statistics: pd.DataFrame
    work: pd.DataFrame
    confidence: pd.DataFrame
    workers: pd.DataFrame
    annotations: pd.DataFrame
    texts: pd.DataFrame
    read: TextUnit

    @property
    def declared(self) -> tuple[TableSpec, ...]:  # type: ignore[override]
        """Its tables; that of the texts has a column for every number of annotators."""
        most = max(2, int(self.texts["annotators"].max()))
        first = (_JACCARD, _REFERENCE, ALIGNMENT, _CHANCE, _STATISTICS, WORK, CONFIDENCE, _WORKERS, _ANNOTATIONS)
        return (*first, _texts_table(most))


def snippet_agreement(
    texts: Texts, references: Texts, evaluated: Evaluated, majority: int | None = None, seed: int = 0
) -> SnippetAgreement:
    """Compare the annotations of every text with each other and, where the text has references, with those.

    Where sentences were chosen, everything that is counted in characters is counted in sentences. ``references`` of paragraphs
    are cut to sentences: :func:`~robustcs.studies.agreement.effort.cut_references`. ``majority``: how many annotators make a
    majority; None is more than half of those of the text. ``seed``: of the intervals of kappa and alpha.

    Raises :class:`UsageError` where no text has two annotators and no text has references, or none as many as the majority; or
    where the references are of sentences and the annotations of paragraphs.
    """
    texts, given = _in_order(texts), _in_order(references)
    references, alignment = cut_references(texts, given)
    chosen = {key: _chosen(text) for key, text in texts.items()}
    expected = {key: _chosen(references[key]) for key in texts if key in references}
    if not expected and all(len(some) < 2 for some in chosen.values()):
        advice = "give the files of several, or compare them with --reference FILE"
        raise UsageError("one-annotator", "no text has two annotators", advice)
    check_majority(majority, max(map(len, chosen.values()), default=0), "annotators")
    overlaps = {key: _against_reference(chosen[key], some, majority) for key, some in expected.items()}
    annotations = _ANNOTATIONS.frame([row for key, text in texts.items() for row in _annotations(text, chosen[key])])
    # sentences are made of references of paragraphs: what they cost and hold is told of these
    read = given if alignment else {key: given[key] for key in given if key in texts}
    groups = [(name, some) for name, some in (("annotators", texts), ("reference", read)) if some]
    unit = evaluated.policy.unit
    units = units_of_items([turn for turn, _ in texts], "text", unit)
    read_unit = next(iter(texts.values())).unit
    without = len(texts) - len(expected) if references else 0
    told = [f"without a reference and left out of that comparison: {without} of {len(texts)} texts"] if without else []
    texts_table = _texts(texts, chosen, overlaps)
    by_text = texts_table.set_index(["turn", "passage"])["jaccard"].to_dict()
    likeness = {key: similarity_to_others(some).tolist() for key, some in chosen.items()}
    rule = majority_rule(
        {len(chosen[key]) for key in overlaps}, majority, "sentences" if read_unit == "selection" else "characters"
    )
    compared = units.take([key in overlaps for key in texts])
    return SnippetAgreement(
        units.stated(replace(evaluated, notes=(*evaluated.notes, *told))),
        jaccard=_jaccard(list(chosen.values()), units),
        reference=_reference(list(overlaps.values()), rule, compared, sum(not some.any() for some in expected.values())),
        alignment=ALIGNMENT.frame(alignment),
        chance=_chance(list(chosen.values()), units, seed),
        statistics=_STATISTICS.frame([_statistics(name, some, unit) for name, some in groups]),
        work=work_table(groups, unit),
        confidence=confidence_table(texts, by_text, likeness, unit),
        workers=_workers(annotations),
        annotations=annotations,
        texts=texts_table,
        read=read_unit,
    )


def _chosen(text: AnnotatedText) -> Chosen:
    """bool[n, items]: what each of n annotators chose of the text's characters, or of its sentences where these are chosen."""
    characters = chosen_characters([annotation.spans for annotation in text.annotations], len(text.text))
    if not text.parts:
        return characters
    return np.column_stack([characters[:, start:end].any(axis=1) for start, end in text.parts])


def _in_order(texts: Texts) -> Texts:
    """The texts in the order of their turns, the annotations of each by worker: no result follows that of the lines."""
    return {
        key: replace(texts[key], annotations=tuple(sorted(texts[key].annotations, key=lambda one: (one.worker, one.spans))))
        for key in sorted(texts, key=lambda key: (turn_sort_key(key[0]), key[1]))
    }


def _jaccard(chosen: Sequence[Chosen], units: Units) -> pd.DataFrame:
    rows = []
    for k in range(max(map(len, chosen)), 1, -1):
        enough = [len(some) >= k for some in chosen]
        values = [jaccard_at_least(some)[k - 1] for some in chosen if len(some) >= k]
        (found,) = _means(np.array([values]), units.take(enough))
        rows.append((k, found, len(values), found.units, found.note))
    return _JACCARD.frame(rows)


def _means(values: np.ndarray, units: Units) -> tuple[Estimate, ...]:
    """The means of every row of ``values`` [M, texts], which lie between 0 and 1."""
    return mean_estimates(units.sums(values), units.sizes, units.kind, (0.0, 1.0))


def _against_reference(annotations: Chosen, references: Chosen, majority: int | None) -> np.ndarray:
    """float[3 aggregates, 3 measures] of one text: precision, recall and F1, mean over the references."""
    by_annotator = np.array([scores.mean(axis=1) for scores in overlap_scores(annotations, references)])
    enough = annotations.sum(axis=0) >= majority_of(len(annotations), majority)
    by_majority = np.array([scores.mean() for scores in overlap_scores(enough[None, :], references)])
    return np.array([by_annotator.mean(axis=1), by_majority, by_annotator[:, most_similar(annotations)]])


def _reference(overlaps: Sequence[np.ndarray], majority: str, units: Units, empty: int) -> pd.DataFrame:
    """``majority``: its rule in words; ``empty``: texts without a snippet of any reference."""
    rules = ("all pairs of annotator and reference", majority, "the annotator most like the others")
    rows = []
    for place, (aggregate, rule) in enumerate(zip(AGGREGATES, rules, strict=True)):
        if overlaps:
            precision, recall, f1 = _means(np.array(overlaps)[:, place].T, units)
            rows.append((aggregate, precision, recall, f1, len(overlaps), rule, f1.units, f1.note, empty))
    return _REFERENCE.frame(rows)


def majority_rule(annotators: set[int], majority: int | None, items: str = "characters") -> str:
    """The majority rule in words, as it is printed; ``items`` are what is chosen."""
    wanted = {majority_of(number, majority) for number in annotators}
    of = f" of {min(annotators)}" if len(annotators) == 1 else ""
    many = f"at least {min(wanted)}{of}" if len(wanted) == 1 else "more than half of the"
    return f"{items} that {many} annotators chose"


def _annotations(text: AnnotatedText, chosen: Chosen) -> Iterator[tuple[object, ...]]:
    others, least = chosen.sum(axis=0) - chosen, LEAST_OTHERS[text.unit]
    rows = zip(text.annotations, chosen, others, similarity_to_others(chosen).tolist(), strict=True)
    for annotation, own, other, likeness in rows:
        size, share = int(own.sum()), float(own.mean())
        outside = float((own & (other < least)).sum() / size) if len(chosen) > least and size else math.nan
        characters = sum(end - start for start, end in annotation.spans) if text.parts else size
        yield (
            text.turn, text.passage, annotation.worker, len(annotation.spans), characters, share, outside, likeness,
            share > LONGEST_SHARE[text.unit], outside == 1, size == 0,
        )  # fmt: skip


def _workers(annotations: pd.DataFrame) -> pd.DataFrame:
    flags = ["long", "outside", "empty"]
    frame = annotations.assign(flagged=annotations[flags].any(axis=1))
    by_worker = frame.groupby("worker", sort=True)
    workers = by_worker[[*flags, "flagged"]].sum().astype(int)
    workers.insert(0, "annotations", by_worker.size())
    workers.insert(1, "f1_others", by_worker["f1_others"].mean())
    return workers.reset_index().sort_values(["flagged", "worker"], ascending=[False, True], ignore_index=True)


def _chance(chosen: Sequence[Chosen], units: Units, seed: int) -> pd.DataFrame:
    """Kappa and alpha with every character of a text as an item; what a text adds to their sums is added up over units."""
    several = np.array([len(some) >= 2 for some in chosen])
    counted = [_character_counts(some) for some in chosen if len(some) >= 2]
    if not counted:
        return _CHANCE.frame([])
    some = units.take(several)
    characters = sum(int(times.sum()) for _, times in counted)
    rows = []
    for name, sums, statistic in (
        ("Fleiss' kappa", fleiss_sums, fleiss_of), ("Krippendorff's alpha", alpha_sums, alpha_of((0, 1), "nominal")),
    ):  # fmt: skip
        of_text = np.array([times @ sums(counts) for counts, times in counted])
        found = agreement_estimate(some.sums(of_text.T).T, statistic, seed, some.kind)
        rows.append((name, found, len(counted), characters, found.units, found.note))
    return _CHANCE.frame(rows)


def _character_counts(chosen: Chosen) -> tuple[np.ndarray, np.ndarray]:
    """int64[n + 1, 2]: how many of n annotators passed a character over and how many chose it; how many such characters."""
    annotators = len(chosen)
    took = np.arange(annotators + 1)
    return np.column_stack([annotators - took, took]), np.bincount(chosen.sum(axis=0), minlength=annotators + 1)


def _text_kappa(chosen: Chosen) -> float:
    counts, times = _character_counts(chosen)
    return float(fleiss_of(times @ fleiss_sums(counts)))


def _statistics(group: str, texts: Texts, unit: Unit) -> tuple[object, ...]:
    shares = [share for own in texts.values() for share in _chosen(own).mean(axis=1).tolist()]
    # snippets and their tokens, of every annotation
    numbers = np.array([
        (len(one.spans), sum(len(own.text[start:end].split()) for start, end in one.spans))
        for own in texts.values() for one in own.annotations
    ])  # fmt: skip
    units = annotation_units(texts, unit)
    snippets, tokens = units.sums(numbers.T)
    each, of_snippet, of_annotation = (
        mean_estimates(top, bottom, units.kind)[0]
        for top, bottom in ((snippets, units.sizes), (tokens, snippets), (tokens, units.sizes))
    )
    counts = (len(texts), len(numbers), int((numbers[:, 0] == 0).sum()), int(snippets.sum()))
    return (group, *counts, each, of_snippet, of_annotation, float(np.mean(shares)), each.units, each.note)


def _texts(texts: Texts, chosen: Mapping[TextKey, Chosen], overlaps: Mapping[TextKey, np.ndarray]) -> pd.DataFrame:
    most = max(2, *map(len, chosen.values()))
    rows = []
    for key in texts:
        at_least = np.full(most, np.nan)
        annotators = len(chosen[key])
        if annotators > 1:
            at_least[:annotators] = jaccard_at_least(chosen[key])
        f1 = overlaps[key][:, 2] if key in overlaps else [math.nan] * len(AGGREGATES)
        kappa = _text_kappa(chosen[key])
        rows.append((*key, annotators, len(texts[key].text), at_least[annotators - 1], *at_least[1:], *f1, kappa))
    return _texts_table(most).frame(rows).sort_values(["jaccard", "jaccard_2"], kind="stable", ignore_index=True)
