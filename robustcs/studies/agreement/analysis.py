"""How well do annotators agree on the snippets of a text, with each other and with reference annotations?

Source: Łajewska and Balog (2023), "Towards Filling the Gap in Conversational Search", sections 4 and 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, TextKey, Unit
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result, TableSpec, count, flag, number, score, share, table, text
from robustcs.statistics.agreement import (
    Chosen,
    check_majority,
    chosen_characters,
    jaccard_at_least,
    majority_of,
    most_similar,
    overlap_scores,
    similarity_to_others,
)
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units, units_of_items

if TYPE_CHECKING:
    import pandas as pd

Texts = Mapping[TextKey, AnnotatedText]

#: An annotation is flagged as long when it takes more than this share of its text.
LONGEST_SHARE: Mapping[Unit, float] = {"paragraph": 0.5, "sentence": 0.75}
AGGREGATES = ("mean", "majority", "similarity")
_BY_UNIT = "95 %, cluster-robust t over units on the logit; null for fewer than five"
_UNITS = (count("units", "independent conversations, turns or texts"), text("note", "what must be known beside the interval"))
_JACCARD = table(
    "jaccard", "J_k: the characters that at least k annotators chose out of those that any chose; highest k first.",
    count("k", "the number of annotators: J"), score("value"), number("ci_low", _BY_UNIT), number("ci_high"),
    count("texts", "with at least k annotators"), *_UNITS,
)  # fmt: skip
_REFERENCE = table(
    "reference", "Annotations against reference annotations. No rows without references.",
    text("aggregate", "mean, majority or similarity", "Annotation"), score("precision"), score("recall"),
    score("f1", header="F1"), number("ci_low", f"of f1: {_BY_UNIT}"), number("ci_high"), count("texts"),
    text("rule", "what the aggregate takes"), number("precision_low", "as that of f1"), number("precision_high"),
    number("recall_low"), number("recall_high"), *_UNITS,
)  # fmt: skip
_STATISTICS = table(
    "statistics", "What was chosen; means over annotations or snippets, not over texts.",
    text("group", "annotators or reference", "Group"), count("texts"), count("annotations"),
    count("empty", "annotations without a snippet"), count("snippets"),
    number("snippets_per_annotation", header="snippets each"),
    number("tokens_per_snippet", "white space separates tokens", "tokens a snippet"),
    share("share", "of the text's characters that an annotation takes", "of the text"),
)  # fmt: skip
_WORKERS = table(
    "workers", "Flagged annotations by worker, the most often flagged first.",
    text("worker", header="Worker"), count("annotations"),
    number("f1_others", "mean F1 to the other annotators of the text", "F1 to others"),
    *(count(name, group="flagged as") for name in ("long", "outside", "empty")), count("flagged"),
)  # fmt: skip
_ANNOTATIONS = table(
    "annotations", "Every annotation with its flags.",
    text("turn"), text("passage"), text("worker"), count("snippets"), count("characters"), share("share", "of the text"),
    share("outside_share", "of the chosen characters, those that fewer than two others chose; null with fewer than two others"),
    number("f1_others"), flag("long", "more than 50 % of a paragraph or 75 % of a sentence"),
    flag("outside", "nothing of it was chosen by at least two others"), flag("empty"),
)  # fmt: skip


def _texts_table(most: int) -> TableSpec:
    """The table of texts that have up to ``most`` annotators."""
    return table(
        "texts", "Every text, the least agreement first.",
        text("turn", header="Turn"), text("passage", header="Passage"), count("annotators"), count("characters"),
        score("jaccard", "of all of its annotators", "J"), *(score(f"jaccard_{k}", header=f"J{k}") for k in range(2, most + 1)),
        *(score(f"f1_{name}", "against references", name, "F1 to references") for name in AGGREGATES),
    )  # fmt: skip


@dataclass(frozen=True)
class SnippetAgreement(Result):
    """All values are means over texts, with intervals by conversation, turn or text, unless said otherwise."""

    study = "agreement"

    jaccard: pd.DataFrame
    reference: pd.DataFrame
    statistics: pd.DataFrame
    workers: pd.DataFrame
    annotations: pd.DataFrame
    texts: pd.DataFrame

    @property
    def declared(self) -> tuple[TableSpec, ...]:  # type: ignore[override]
        """Its tables; that of the texts has a column for every number of annotators."""
        most = max(2, int(self.texts["annotators"].max()))
        return (_JACCARD, _REFERENCE, _STATISTICS, _WORKERS, _ANNOTATIONS, _texts_table(most))


def snippet_agreement(texts: Texts, references: Texts, evaluated: Evaluated, majority: int | None = None) -> SnippetAgreement:
    """Compare the annotations of every text with each other and, where the text has references, with those.

    ``majority``: how many annotators make a majority; None is more than half of those of the text.

    Raises :class:`UsageError` where no text has two annotators and no text has references, or none as many as the majority.
    """
    texts = _in_order(texts)
    chosen = {key: _chosen(text) for key, text in texts.items()}
    expected = {key: _chosen(references[key]) for key in texts if key in references}
    if not expected and all(len(some) < 2 for some in chosen.values()):
        raise UsageError(
            "one-annotator", "no text has two annotators", "give the files of several, or compare them with --reference FILE"
        )
    check_majority(majority, max(map(len, chosen.values()), default=0), "annotators")
    overlaps = {key: _against_reference(chosen[key], some, majority) for key, some in expected.items()}
    annotations = _ANNOTATIONS.frame([row for key, text in texts.items() for row in _annotations(text, chosen[key])])
    groups = [("annotators", texts), ("reference", {key: references[key] for key in expected})]
    statistics = [_statistics(name, some) for name, some in groups if some]
    units = units_of_items([turn for turn, _ in texts], "text", evaluated.policy.unit)
    notes = (*evaluated.notes, *((units.note,) if units.note else ()))
    compared = units.take([key in overlaps for key in texts])
    return SnippetAgreement(
        replace(evaluated, notes=notes, unit=units.kind, units=units.count),
        jaccard=_jaccard(list(chosen.values()), units),
        reference=_reference(list(overlaps.values()), {len(chosen[key]) for key in overlaps}, majority, compared),
        statistics=_STATISTICS.frame(statistics),
        workers=_workers(annotations),
        annotations=annotations,
        texts=_texts(texts, chosen, overlaps),
    )


def _chosen(text: AnnotatedText) -> Chosen:
    return chosen_characters([annotation.spans for annotation in text.annotations], len(text.text))


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
        rows.append((k, found.value, found.low, found.high, len(values), found.units, found.note))
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


def _reference(overlaps: Sequence[np.ndarray], annotators: set[int], majority: int | None, units: Units) -> pd.DataFrame:
    rules = ("all pairs of annotator and reference", majority_rule(annotators, majority), "the annotator most like the others")
    rows = []
    for place, (aggregate, rule) in enumerate(zip(AGGREGATES, rules, strict=True)):
        if overlaps:
            precision, recall, f1 = _means(np.array(overlaps)[:, place].T, units)
            rows.append((
                aggregate, precision.value, recall.value, f1.value, f1.low, f1.high, len(overlaps), rule, precision.low,
                precision.high, recall.low, recall.high, f1.units, f1.note,
            ))  # fmt: skip
    return _REFERENCE.frame(rows)


def majority_rule(annotators: set[int], majority: int | None) -> str:
    """The majority rule in words, as it is printed."""
    wanted = {majority_of(number, majority) for number in annotators}
    of = f" of {min(annotators)}" if len(annotators) == 1 else ""
    many = f"at least {min(wanted)}{of}" if len(wanted) == 1 else "more than half of the"
    return f"characters that {many} annotators chose"


def _annotations(text: AnnotatedText, chosen: Chosen) -> list[dict[str, object]]:
    others = chosen.sum(axis=0) - chosen
    likeness = similarity_to_others(chosen)
    rows: list[dict[str, object]] = []
    for place, annotation in enumerate(text.annotations):
        own = chosen[place]
        size = int(own.sum())
        share = size / len(text.text)
        checked = len(chosen) > 2 and size > 0
        outside = float((own & (others[place] < 2)).sum() / size) if checked else math.nan
        rows.append(
            {
                "turn": text.turn, "passage": text.passage, "worker": annotation.worker, "snippets": len(annotation.spans),
                "characters": size, "share": share, "outside_share": outside, "f1_others": likeness[place],
                "long": share > LONGEST_SHARE[text.unit], "outside": outside == 1, "empty": size == 0,
            }
        )  # fmt: skip
    return rows


def _workers(annotations: pd.DataFrame) -> pd.DataFrame:
    flags = ["long", "outside", "empty"]
    frame = annotations.assign(flagged=annotations[flags].any(axis=1))
    by_worker = frame.groupby("worker", sort=True)
    workers = by_worker[[*flags, "flagged"]].sum().astype(int)
    workers.insert(0, "annotations", by_worker.size())
    workers.insert(1, "f1_others", by_worker["f1_others"].mean())
    return workers.reset_index().sort_values(["flagged", "worker"], ascending=[False, True], ignore_index=True)


def _statistics(group: str, texts: Texts) -> dict[str, object]:
    lengths, shares = [], []
    counts = []
    for own in texts.values():
        shares += list(_chosen(own).mean(axis=1))
        for annotation in own.annotations:
            counts.append(len(annotation.spans))
            lengths += [len(own.text[start:end].split()) for start, end in annotation.spans]
    return {
        "group": group,
        "texts": len(texts),
        "annotations": len(counts),
        "empty": counts.count(0),
        "snippets": sum(counts),
        "snippets_per_annotation": sum(counts) / len(counts),
        "tokens_per_snippet": sum(lengths) / len(lengths) if lengths else math.nan,
        "share": float(np.mean(shares)),
    }


def _texts(texts: Texts, chosen: Mapping[TextKey, Chosen], overlaps: Mapping[TextKey, np.ndarray]) -> pd.DataFrame:
    most = max(2, *map(len, chosen.values()))
    rows = []
    for key in texts:
        at_least = np.full(most, np.nan)
        annotators = len(chosen[key])
        if annotators > 1:
            at_least[:annotators] = jaccard_at_least(chosen[key])
        f1 = overlaps[key][:, 2] if key in overlaps else [math.nan] * len(AGGREGATES)
        rows.append((*key, annotators, len(texts[key].text), at_least[annotators - 1], *at_least[1:], *f1))
    return _texts_table(most).frame(rows).sort_values(["jaccard", "jaccard_2"], kind="stable", ignore_index=True)
