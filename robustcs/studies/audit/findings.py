"""Findings of an audit, as verdicts and sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import (
    measure_label,
    number,
    number_interval,
    percent,
    plain,
    signed,
    with_interval,
)
from robustcs.lazy import pd
from robustcs.studies.audit.analysis import ALL, Audit
from robustcs.studies.audit.systems import ALPHA
from robustcs.wording import counted, verb


def verdicts(result: Audit) -> tuple[Verdict, ...]:
    """Return the agreement of the judge closest to human judgments, and the bias of the most biased judge."""
    return tuple(
        replace(one, text=result.said(one.text), basis=result.said(one.basis))
        for one in _verdicts(result)
    )


def _verdicts(result: Audit) -> tuple[Verdict, ...]:
    found = result.agreement[result.agreement["kappa"].notna()]
    if not len(found):
        return ()
    best, worst = found.loc[found["kappa"].idxmax()], found.loc[found["kappa"].idxmin()]
    kappa = float(best["kappa"])
    text = f"Judge {best['judge']} agrees with human judges at Cohen's κ = {number(kappa, 2)}"
    if len(found) > 1:
        text += f", the highest of {len(found)} judges; {worst['judge']} has the lowest, {number(worst['kappa'], 2)}"
    basis = f"{int(best['pairs']):,} passages, {counted(int(best['units']), result.evaluated.unit or 'unit')}"
    closest = Verdict(
        number(kappa, 2), number_interval(best["ci_low"], best["ci_high"], 2).strip("–"), text, basis, (1 - kappa) / 2,
        subject="agreement",
    )  # fmt: skip
    bias = result.bias[(result.bias["slice"] == ALL) & result.bias["ratio"].notna()]
    if not len(bias):
        return (closest,)
    row = bias.loc[(bias["judge_share"] - bias["human_share"]).abs().idxmax()]
    text = f"Judge {row['judge']} calls {number(row['ratio'], 2)} × as many passages relevant as human judges"
    text += f" (largest bias of {len(bias)})" if len(bias) > 1 else ""
    turned = "; ".join(_systems(result, str(row["judge"]))[:1])
    basis = f"human judges: {percent(row['human_share'])}, {row['judge']}: {percent(row['judge_share'])}"
    basis += f" of {counted(int(row['pairs']), 'passage')}"
    return (
        closest,
        Verdict(
            f"{number(row['ratio'], 2)} ×", number_interval(row["ratio_low"], row["ratio_high"], 2).strip("–"),
            f"{text}; {turned}" if turned else text, basis, abs(float(row["judge_share"] - row["human_share"])), "qr"
        ),
    )  # fmt: skip


def audit_findings(result: Audit) -> tuple[str, ...]:
    """Return the bias, the agreement and the pairs of systems of each judge, largest bias first."""
    bias = result.bias[result.bias["slice"] == ALL].set_index("judge")
    found = result.agreement.set_index("judge")
    order = sorted(
        found.index,
        key=lambda name: -abs((bias["judge_share"] - bias["human_share"]).get(name, 0.0)),
    )
    return tuple(result.said(_about(result, str(name), found.loc[name], bias)) for name in order)


def _about(result: Audit, name: str, found: pd.Series, bias: pd.DataFrame) -> str:
    sentences = [f"{name} and the human judges graded different passages."]
    if name in bias.index:
        kappa = with_interval(found, "kappa", 2)
        sentences = [
            f"{name} {_bias(bias.loc[name])}.",
            f"Cohen's κ with the human judges is {kappa}.",
        ]
    sentences += [f"{text[0].upper()}{text[1:]}." for text in _systems(result, name)]
    return " ".join(sentences)


def _bias(row: Any) -> str:
    """Return whether a judge over- or underrates relevance: whether the interval of the ratio excludes 1."""
    way = "overrates" if row["ratio_low"] > 1 else "underrates" if row["ratio_high"] < 1 else ""
    way = way or "does not significantly over- or underrate"
    ratio = f"calls {percent(row['judge_share'])} of the passages relevant, human judges none"
    if row["ratio"] == row["ratio"]:
        ratio = f"calls {plain(row['ratio'], 2)} times as many passages relevant as human judges do"
        ratio += _between(row, "ratio_low", "ratio_high")
    mean = f"Its mean grade differs from theirs by {signed(row['mean_difference'], 2)}{_between(row, 'ci_low', 'ci_high')}"
    return f"{way} relevance: it {ratio}. {mean}"


def _between(row: Any, low: str, high: str) -> str:
    return (
        "" if math.isnan(row[low]) else f" (95% CI {plain(row[low], 2)} to {plain(row[high], 2)})"
    )


def _systems(result: Audit, name: str) -> list[str]:
    """Return clauses on the pairs of systems that change order, and on the significant pairs that the judge confirms."""
    own = result.conclusions[result.conclusions["judge"] == name]
    if not len(own):
        return []
    metric = headline_measure(own["metric"])
    row = own[own["metric"] == metric].iloc[0]
    turned, significant, human = (
        int(row["reversed"] + row["swapped"]),
        int(row["reversed"]),
        int(row["human_apart"]),
    )
    text = f"by {measure_label(metric)}, {turned or 'none'} of {counted(int(row['pairs']), 'system pair')}"
    text += f" {verb(max(turned, 1), 'changes', 'change')} order"
    if turned:
        text += f", {significant or 'none'} significantly"
    if not human:
        return [text]
    pairs = result.reversals[
        (result.reversals["judge"] == name) & (result.reversals["metric"] == metric)
    ]
    other_way = int(((pairs["change"] == "reversed") & (pairs["human_p_corrected"] <= ALPHA)).sum())
    kept = human - int(row["lost"]) - other_way
    which = f"of {counted(human, 'pair')} that {verb(human, 'differs', 'differ')} significantly under human judgments"
    return [
        text,
        f"{which}, {kept or 'none'} {verb(max(kept, 1), 'does', 'do')} so under the judge",
    ]
