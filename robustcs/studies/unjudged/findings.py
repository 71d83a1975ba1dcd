"""Findings on unjudged passages: expected drops first, proven ones second."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.holes import expected_drop, is_significant, tipping_sentence
from robustcs.documents.words import measure_label, number_interval, p_equals, plain, whole_percent
from robustcs.lazy import pd
from robustcs.records.filter import field_name, term
from robustcs.studies.unjudged.analysis import ONLY_RELEVANT, Unjudged
from robustcs.wording import and_more, counted, system_name

#: Most pairs of runs named in a finding. The table has all.
_NAMED = 5


def unjudged_findings(result: Unjudged, groups: Collection[str]) -> tuple[str, ...]:
    """Return how much of each drop is due to unjudged passages, and which orders hold.

    Drops are those from Human to the other formulations, and from each baseline to its sets. ``groups``: names of the groups.
    """
    bounded = result.bounds[result.bounds["low"].notna()]
    if not len(bounded):
        return (ONLY_RELEVANT if result.settings.positives else f"{_unjudged(result).text}.",)
    metric = headline_measure(bounded["metric"])
    means = result.drops[result.drops["metric"] == metric].set_index("group")
    sentences = []
    for row in result.measured[result.measured["metric"] == metric].itertuples():
        expected = means.loc[row.group] if row.group in means.index else None
        name = f"the sets of {row.group}" if row.group in groups else system_name(str(row.group))
        sentences.append(_drop(row, name, result, expected))
    doubts = (
        (" ".join(["The expected values may be wrong.", *result.warnings]),)
        if result.warnings
        else ()
    )
    first = (ONLY_RELEVANT,) if result.settings.positives else ()
    return (
        *first,
        *sentences,
        *_orders(result.pairs[result.pairs["metric"] == metric], metric, result),
        *doubts,
    )


def verdicts(
    result: Unjudged, roles: Mapping[str, str], groups: Collection[str]
) -> tuple[Verdict, ...]:
    """Return the expected losses of the best rewriter and the worst group; if there are none, the largest unjudged share.

    Expected losses are omitted if passages were not selected by pooling. If the qrels contain relevant passages only, there is
    no verdict, because a judged share is then a precision. ``roles``: run → original, qr or human. ``groups``: see
    :func:`unjudged_findings`.
    """
    if result.settings.positives or result.settings.selection == "positives":
        return ()
    metrics = list(dict.fromkeys(result.bounds[result.bounds["low"].notna()]["metric"]))
    drops = (
        result.drops[result.drops["metric"] == headline_measure(metrics)]
        if metrics
        else result.drops
    )
    if result.settings.selection != "pool":
        drops = drops[:0]
    rewriters = drops.loc[[roles.get(str(name)) == "qr" for name in drops["group"]]]
    others = drops.loc[[str(name) in groups for name in drops["group"]]]
    chosen = [
        rewriters.sort_values("drop", kind="stable").head(1),
        others.sort_values("drop", kind="stable").tail(1),
    ]
    said = [_expected(row, result, groups) for part in chosen for row in part.itertuples()]
    return tuple(said) or (_unjudged(result),)


def _expected(row: Any, result: Unjudged, groups: Collection[str]) -> Verdict:
    """Return the verdict on an expected drop, with the measured drop as its basis; its turns are all that were scored."""
    size, label = plain(abs(row.expected)), measure_label(row.metric)
    group, baseline = (system_name(name) for name in (row.group, row.baseline))
    ends = (
        (row.expected_low, row.expected_high)
        if row.expected >= 0
        else (-row.expected_high, -row.expected_low)
    )
    moves = (
        f"loses an estimated {size} {label} to"
        if row.expected >= 0
        else f"gains an estimated {size} {label} over"
    )
    said = f"{group} {moves} {baseline} if a model grades the unjudged passages"
    if not is_significant(row._asdict()):
        said = (
            f"If a model grades the unjudged passages, the data do not show whether {group} or {baseline} has the higher mean"
            f" {label} (they differ by {size})"
        )
    several = row.group in groups
    systems = [row.baseline] if several else [row.group, row.baseline]
    if result.evaluated.missing_rule != "zero":  # then only turns count that all runs answer
        systems = list(result.rates["system"])
    return Verdict(
        size, number_interval(*ends).strip("–"), said,
        f"adjusted p {p_equals(row.expected_p)}; measured drop {plain(row.drop)}, if they count as not relevant; mean over"
        f" {counted(result.evaluated.turns, 'turn')}",
        abs(float(row.expected)),
        turns=" ".join(term(row.metric, system=name) for name in systems),
        count=result.evaluated.turns,
        sort=field_name("loss", "" if several else row.group),
    )  # fmt: skip


def _unjudged(result: Unjudged) -> Verdict:
    """Return the verdict on the run with the largest unjudged share, and on the orders that its grades can change."""
    rates = result.rates.set_index("system")
    worst, best = rates["share"].idxmax(), rates["share"].idxmin()
    row, size = rates.loc[worst], whole_percent(rates.loc[worst, "share"])
    said = f"{size} of the top {result.settings.depth} passages of {system_name(str(worst))} are unjudged"
    if len(rates) > 1:
        said += f" ({system_name(str(best))}: {whole_percent(rates.loc[best, 'share'])})"
    if len(result.pairs):
        metric = headline_measure(result.pairs["metric"])
        part = result.pairs[result.pairs["metric"] == metric]
        open_ = int((~part["separable"].astype(bool)).sum())
        orders = f"{counted(len(part), 'order')} by {measure_label(metric)}"
        said += f"; their grades can change {open_} of {orders}" if open_ else ""
    basis = f"{int(row['unjudged']):,} of {counted(int(row['retrieved']), 'passage')}"
    return Verdict(size, "", said, basis, float(row["share"]))


def _scope(result: Unjudged, label: str) -> str:
    """Return which unjudged passages get grades for the bounds."""
    scopes = {
        "cutoff": f"within the cutoff of {label} in these runs",
        "run": "of these two runs",
        "pool": "of all runs",
    }
    return scopes[result.settings.scope]


def _drop(row: Any, name: str, result: Unjudged, expected: pd.Series | None) -> str:
    """Return the finding on one drop, a ``row`` of the table ``measured``: as measured, as expected, and its bounds."""
    drop, least, most, baseline = row.drop, row.low, row.high, system_name(str(row.baseline))
    label, mean = measure_label(row.metric), f" (mean of {row.sets} sets)" if row.sets > 1 else ""
    moves = f"{'drops' if drop >= 0 else 'rises'} by {plain(abs(drop))}"
    unjudged = (
        "" if result.settings.positives
        else f" Of the top {result.settings.depth} passages, {whole_percent(row.unjudged)} of {name} and"
        f" {whole_percent(row.baseline_unjudged)} of {baseline} are unjudged."
    )  # fmt: skip
    text = (
        f"From {baseline} to {name}, {label} {moves}, from {row.baseline_score:.3f} to {row.score:.3f}{mean}, if unjudged"
        f" passages count as not relevant.{unjudged}"
    )
    if expected is not None:
        tips = tipping_sentence(
            result.tipping, str(row.baseline), str(row.group), row.metric, is_significant(expected)
        )
        text += " ".join(["", expected_drop(drop, expected), *filter(None, (tips,))])
    if math.isnan(least):
        return text
    sure = (
        "a loss on these turns is proven" if least > 0 else "these turns may show a loss or a gain"
    )
    sure = sure if most > 0 else "there is no loss on these turns"
    own = f" (each set compared with {baseline} separately)" if row.sets > 1 else ""
    return (
        f"{text} Whatever grades the unjudged passages {_scope(result, label)} have, the drop lies between {plain(least)} and"
        f" {plain(most)}{own}: {sure}."
    )


def _orders(pairs: pd.DataFrame, metric: str, result: Unjudged) -> tuple[str, ...]:
    """Return how many pairs of runs differ with unjudged passages filled in, and which orders their grades can change."""
    if not len(pairs):
        return ()
    label, total = measure_label(metric), counted(len(pairs), "pair") + " of systems"
    sentences = []
    told = pairs[pairs["expected_p"].notna()]
    if len(told):
        apart = sum(map(is_significant, told.to_dict("records")))
        differ = "differs" if apart == 1 else "differ"
        sentences.append(
            f"With unjudged passages graded by the hole model, {apart or 'none'} of {total} {differ} significantly in {label}"
            " (max-T over the draws, adjusted for all pairs and groups)."
        )
    open_ = pairs[~pairs["separable"].astype(bool)]
    named = [
        f"{system_name(row.first)} and {system_name(row.second)}"
        for row in open_.head(_NAMED).itertuples()
    ]
    sentences.append(
        f"Whatever grades the unjudged passages {_scope(result, label)} have, the order by {label} on these turns is the same"
        f" for {len(pairs) - len(open_)} of {total}."
        + (
            f" Some grades change the order of {'; '.join(named)}{and_more(len(open_), len(named))}."
            if named
            else ""
        )
    )
    return (" ".join(sentences),)
