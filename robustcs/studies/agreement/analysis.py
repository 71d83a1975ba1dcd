"""How well do annotators agree on the snippets of a text, with each other and with reference annotations?

Source: Łajewska and Balog (2023), "Towards Filling the Gap in Conversational Search", sections 4 and 5.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, TextKey, Unit
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result
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
from robustcs.statistics.intervals import bootstrap_mean

if TYPE_CHECKING:
    import pandas as pd

Texts = Mapping[TextKey, AnnotatedText]

#: An annotation is flagged as long when it takes more than this share of its text.
LONGEST_SHARE: Mapping[Unit, float] = {"paragraph": 0.5, "sentence": 0.75}
AGGREGATES = ("mean", "majority", "similarity")


@dataclass(frozen=True)
class SnippetAgreement(Result):
    """All values are means over texts, with bootstrap intervals over texts, unless said otherwise.

    jaccard
        k, value, ci_low, ci_high, texts: J_k, the characters that at least k annotators chose out of those that any chose,
        over the texts with at least k annotators; k = the number of annotators is J. Highest k first.
    reference
        aggregate [mean, majority, similarity], precision, recall, f1, ci_low, ci_high (of f1), texts, rule (what the aggregate
        takes): annotations against reference annotations. No rows without references.
    statistics
        group [annotators, reference], texts, annotations, empty (annotations without a snippet), snippets,
        snippets_per_annotation, tokens_per_snippet (white space separates tokens), share (of the text's characters that an
        annotation takes). Means over annotations or snippets, not over texts.
    workers
        worker, annotations, f1_others (mean F1 to the other annotators of the text), long, outside, empty, flagged: counts of
        flagged annotations; the most often flagged first.
    annotations
        turn, passage, worker, snippets, characters, share, outside_share (of the chosen characters, those that fewer than two
        others chose; missing with fewer than two others), f1_others, and the flags long (more than 50 % of a paragraph or
        75 % of a sentence), outside (nothing of it was chosen by at least two others), empty.
    texts
        turn, passage, annotators, characters, jaccard (of all of its annotators), jaccard_2, jaccard_3 …, f1_mean,
        f1_majority, f1_similarity (against references); the least agreement first.
    """

    jaccard: pd.DataFrame
    reference: pd.DataFrame
    statistics: pd.DataFrame
    workers: pd.DataFrame
    annotations: pd.DataFrame
    texts: pd.DataFrame


def snippet_agreement(
    texts: Texts, references: Texts, evaluated: Evaluated, majority: int | None = None, seed: int = 0
) -> SnippetAgreement:
    """Compare the annotations of every text with each other and, where the text has references, with those.

    ``majority``: how many annotators make a majority; None is more than half of those of the text.

    Raises :class:`UsageError` where no text has two annotators and no text has references, or none as many as the majority.
    """
    import pandas as pd

    chosen = {key: _chosen(text) for key, text in texts.items()}
    expected = {key: _chosen(references[key]) for key in texts if key in references}
    if not expected and all(len(some) < 2 for some in chosen.values()):
        raise UsageError(
            "one-annotator", "no text has two annotators", "give the files of several, or compare them with --reference FILE"
        )
    check_majority(majority, max(map(len, chosen.values()), default=0), "annotators")
    overlaps = {key: _against_reference(chosen[key], some, majority) for key, some in expected.items()}
    annotations = pd.DataFrame([row for key, text in texts.items() for row in _annotations(text, chosen[key])])
    groups = [("annotators", texts), ("reference", {key: references[key] for key in expected})]
    statistics = [_statistics(name, some) for name, some in groups if some]
    return SnippetAgreement(
        evaluated,
        jaccard=_jaccard(list(chosen.values()), seed),
        reference=_reference(list(overlaps.values()), {len(chosen[key]) for key in overlaps}, majority, seed),
        statistics=pd.DataFrame(statistics),
        workers=_workers(annotations),
        annotations=annotations,
        texts=_texts(texts, chosen, overlaps),
    )


def _chosen(text: AnnotatedText) -> Chosen:
    return chosen_characters([annotation.spans for annotation in text.annotations], len(text.text))


def _jaccard(chosen: Sequence[Chosen], seed: int) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for k in range(max(map(len, chosen)), 1, -1):
        values = [jaccard_at_least(some)[k - 1] for some in chosen if len(some) >= k]
        low, high = bootstrap_mean(values, seed)
        rows.append((k, float(np.mean(values)), low, high, len(values)))
    return pd.DataFrame(rows, columns=["k", "value", "ci_low", "ci_high", "texts"])


def _against_reference(annotations: Chosen, references: Chosen, majority: int | None) -> np.ndarray:
    """float[3 aggregates, 3 measures] of one text: precision, recall and F1, mean over the references."""
    by_annotator = np.array([scores.mean(axis=1) for scores in overlap_scores(annotations, references)])
    enough = annotations.sum(axis=0) >= majority_of(len(annotations), majority)
    by_majority = np.array([scores.mean() for scores in overlap_scores(enough[None, :], references)])
    return np.array([by_annotator.mean(axis=1), by_majority, by_annotator[:, most_similar(annotations)]])


def _reference(overlaps: Sequence[np.ndarray], annotators: set[int], majority: int | None, seed: int) -> pd.DataFrame:
    import pandas as pd

    rules = ("all pairs of annotator and reference", majority_rule(annotators, majority), "the annotator most like the others")
    rows = []
    for place, (aggregate, rule) in enumerate(zip(AGGREGATES, rules, strict=True)):
        if overlaps:
            values = np.array(overlaps)[:, place]
            rows.append((aggregate, *values.mean(axis=0), *bootstrap_mean(values[:, 2], seed), len(values), rule))
    columns = ["aggregate", "precision", "recall", "f1", "ci_low", "ci_high", "texts", "rule"]
    return pd.DataFrame(rows, columns=columns)


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
    for text in texts.values():
        chosen = _chosen(text)
        shares += list(chosen.mean(axis=1))
        for annotation in text.annotations:
            counts.append(len(annotation.spans))
            lengths += [len(text.text[start:end].split()) for start, end in annotation.spans]
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
    import pandas as pd

    most = max(map(len, chosen.values()))
    rows = []
    for key in sorted(texts, key=lambda key: (turn_sort_key(key[0]), key[1])):
        at_least = np.full(max(most, 2), np.nan)
        annotators = len(chosen[key])
        if annotators > 1:
            at_least[:annotators] = jaccard_at_least(chosen[key])
        f1 = overlaps[key][:, 2] if key in overlaps else [math.nan] * len(AGGREGATES)
        rows.append((*key, annotators, len(texts[key].text), at_least[annotators - 1], *at_least[1:], *f1))
    by_k = [f"jaccard_{k}" for k in range(2, max(most, 2) + 1)]
    columns = ["turn", "passage", "annotators", "characters", "jaccard", *by_k, *(f"f1_{name}" for name in AGGREGATES)]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["jaccard", "jaccard_2"], kind="stable", ignore_index=True)
