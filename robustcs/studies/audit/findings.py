"""What an audit found, in plain sentences with their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, number, number_interval, percent, plain
from robustcs.studies.audit.analysis import Audit
from robustcs.studies.audit.labels import ALL
from robustcs.wording import counted, verb

if TYPE_CHECKING:
    import pandas as pd


def verdicts(result: Audit) -> tuple[Verdict, ...]:
    """The agreement of the judge that is closest to people, and the bias of the one that is furthest from them."""
    found = result.agreement[result.agreement["kappa"].notna()]
    if not len(found):
        return ()
    best, worst = found.loc[found["kappa"].idxmax()], found.loc[found["kappa"].idxmin()]
    said = f"is the agreement with people beyond chance (κ) of the judge {best['judge']}"
    if len(found) > 1:
        said += f", the closest of {len(found)} judges; {worst['judge']} is the furthest with {number(worst['kappa'], 2)}"
    pairs = f"{int(best['pairs']):,} passages of {counted(result.evaluated.turns, 'turn')}"
    kappa = float(best["kappa"])
    closest = Verdict(
        number(kappa, 2), number_interval(best["ci_low"], best["ci_high"], 2).strip("–"), said, pairs, (1 - kappa) / 2,
        subject="agreement",
    )  # fmt: skip
    bias = result.bias[(result.bias["slice"] == ALL) & result.bias["ratio"].notna()]
    if not len(bias):
        return (closest,)
    row = bias.loc[(bias["judge_share"] - bias["human_share"]).abs().idxmax()]
    far = f"as many passages relevant as people do is what {row['judge']} calls"
    far += f", the furthest of {len(bias)}" if len(bias) > 1 else ""
    turned = "; ".join(_systems(result, str(row["judge"]))[:1])
    basis = f"people: {percent(row['human_share'])}, {row['judge']}: {percent(row['judge_share'])}"
    return (
        closest,
        Verdict(
            f"{number(row['ratio'], 2)} ×", number_interval(row["ratio_low"], row["ratio_high"], 2).strip("–"),
            f"{far}; {turned}" if turned else far, basis, abs(float(row["judge_share"] - row["human_share"])), "qr",
        ),
    )  # fmt: skip


def audit_findings(result: Audit) -> tuple[str, ...]:
    """For each judge its bias, its agreement, and what becomes of the pairs of systems; the furthest from people first."""
    bias = result.bias[result.bias["slice"] == ALL].set_index("judge")
    found = result.agreement.set_index("judge")
    order = sorted(found.index, key=lambda name: -abs((bias["judge_share"] - bias["human_share"]).get(name, 0.0)))
    return tuple(_sentence(result, str(name), found.loc[name], bias) for name in order)


def _sentence(result: Audit, name: str, found: pd.Series, bias: pd.DataFrame) -> str:
    parts = []
    if name in bias.index:
        parts.append(_bias(bias.loc[name]))
        parts.append(f"agreement beyond chance, κ, is {plain(found['kappa'], 2)}{_between(found, 'ci_low', 'ci_high')}")
    else:
        parts.append("judged other topics than people")
    parts += _systems(result, name)
    return f"{name} {'; '.join(parts)}."


def verdict(row: Any) -> str:
    """``overrates`` or ``underrates`` where the interval of the ratio of relevant passages leaves 1 out; else empty."""
    return "overrates" if row["ratio_low"] > 1 else "underrates" if row["ratio_high"] < 1 else ""


def _bias(row: Any) -> str:
    told = verdict(row)
    if row["ratio"] == row["ratio"]:
        ratio = f"calls {plain(row['ratio'], 2)} times as many passages relevant as people do"
        ratio += _between(row, "ratio_low", "ratio_high")
    else:
        ratio = f"calls {100 * row['judge_share']:.0f} % of the passages relevant, people none"
    way = "higher" if row["mean_difference"] > 0 else "lower"
    mean = f"its grades are {plain(abs(row['mean_difference']), 2)} {way} on average"
    return f"{told or 'is not shown to over- or underrate'}: it {ratio}, and {mean}{_between(row, 'ci_low', 'ci_high')}"


def _between(row: Any, low: str, high: str) -> str:
    if row[low] != row[low]:
        return ""
    return f" ({plain(row[low], 2)} to {plain(row[high], 2)})"


def _systems(result: Audit, name: str) -> list[str]:
    own = result.conclusions[result.conclusions["judge"] == name]
    if not len(own):
        return []
    metric = headline_measure(own["metric"])
    row = own[own["metric"] == metric].iloc[0]
    turned = int(row["reversed"] + row["swapped"])
    said = (
        f"by {measure_label(metric)}, {turned or 'none'} of {counted(int(row['pairs']), 'pair')} of systems"
        f" {verb(turned, 'turns', 'turn')} round"
    )
    if turned:
        told = int(row["reversed"])
        said += f", {told or 'none'} of them told apart by people or by the judge"
    if row["human_apart"]:
        kept = int(row["human_apart"] - row["lost"])
        rest = result.reversals[(result.reversals["judge"] == name) & (result.reversals["metric"] == metric)]
        kept -= int(((rest["change"] == "reversed") & (rest["human_p_corrected"] <= 0.05)).sum())
        said += f"; of {counted(int(row['human_apart']), 'conclusion')} that people support, {kept} survive"
    return [said]
