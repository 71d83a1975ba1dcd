"""What nobody judged, in plain sentences with their numbers: what is expected first, what is proven second."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.holes import expected_drop
from robustcs.documents.words import FORMULATION_NAMES, measure_label, number_interval, percent, plain
from robustcs.evaluation.bounds import ROUNDING
from robustcs.evaluation.groups import Group
from robustcs.studies.unjudged.analysis import Unjudged
from robustcs.wording import and_more, counted

if TYPE_CHECKING:
    import pandas as pd

#: Pairs of runs that are named; the table has all.
_NAMED = 5


def unjudged_findings(result: Unjudged, roles: Mapping[str, str], groups: Mapping[str, Group]) -> tuple[str, ...]:
    """How much of each drop is holes (Human to QR and Original, baseline to sets), and which orders hold or are proven.

    ``roles``: run → original, qr or human; further runs are not in it.
    """
    shares = result.rates.set_index("run")["share"]
    bounded = result.bounds[result.bounds["low"].notna()]
    if not len(bounded):
        return (
            f"Nobody judged {percent(shares.min())} ({shares.idxmin()}) to {percent(shares.max())} ({shares.idxmax()}) of the"
            f" top {result.settings.depth} passages.",
        )
    metric = headline_measure(bounded["metric"])
    bounds = bounded[bounded["metric"] == metric].set_index("run")
    human = next((name for name, role in roles.items() if role == "human"), None)
    drops = [(human, name, [name], name) for name, role in roles.items() if human and role != "human"]
    drops += [(group.baseline, f"the sets of {name}", list(group.sets), name) for name, group in groups.items()]
    pairs = result.pairs[result.pairs["metric"] == metric]
    means = result.drops[result.drops["metric"] == metric].set_index("group")
    sentences = []
    for baseline, name, runs, group in drops:
        if {baseline, *runs} <= set(bounds.index):
            expected = means.loc[group] if group in means.index else None
            scores = bounds.loc[baseline, "score"], bounds.loc[runs, "score"].mean()
            sentences.append(_drop(str(baseline), name, scores, shares, runs, result, pairs, expected))
    doubts = (" ".join(["What is expected may be off.", *result.warnings]),) if result.warnings else ()
    return (*sentences, *_orders(pairs, metric, result), *doubts)


def verdicts(result: Unjudged, roles: Mapping[str, str], groups: Mapping[str, Group]) -> tuple[Verdict, ...]:
    """What the best rewriter and the worst group lose once holes are judged; where there is none, the holes.

    ``roles`` and ``groups`` as for :func:`unjudged_findings`.
    """
    metrics = list(dict.fromkeys(result.bounds[result.bounds["low"].notna()]["metric"]))
    drops = result.drops[result.drops["metric"] == headline_measure(metrics)] if metrics else result.drops
    rewriters = drops.loc[[roles.get(str(name)) == "qr" for name in drops["group"]]]
    others = drops.loc[[str(name) in groups for name in drops["group"]]]
    chosen = [rewriters.sort_values("drop", kind="stable").head(1), others.sort_values("drop", kind="stable").tail(1)]
    said = [_expected(row, result) for part in chosen for row in part.itertuples()]
    return tuple(said) or (_holes(result),)


def _expected(row: Any, result: Unjudged) -> Verdict:
    """A drop as it is expected, beside the measured one."""
    label = measure_label(row.metric)
    verb = "loses" if row.expected >= 0 else "gains"
    holes = (
        f", of which {100 * row.hole_share:.0f} % is due to unjudged passages"
        if row.drop > 0 and 0 <= row.hole_share <= 1 and row.hole_share_high - row.hole_share_low <= 1 else ""
    )  # fmt: skip
    return Verdict(
        plain(abs(row.expected)), _ends_of(row.expected_low, row.expected_high, row.expected >= 0),
        f"of {label} is what {_called(row.group)} {verb} against {_called(row.baseline)} once unjudged passages are judged;"
        f" measured: {plain(row.drop)}{holes}",
        f"mean of {result.evaluated.turns} turns", abs(float(row.expected)),
    )  # fmt: skip


def _called(name: str) -> str:
    return FORMULATION_NAMES.get(name, name)


def _ends_of(low: float, high: float, ahead: bool) -> str:
    return number_interval(*((low, high) if ahead else (-high, -low))).strip("–")


def _holes(result: Unjudged) -> Verdict:
    """The run of which least is judged, and what that leaves open."""
    rates = result.rates.set_index("run")
    worst, best = rates["share"].idxmax(), rates["share"].idxmin()
    if rates.loc[worst, "share"] == rates.loc[best, "share"]:
        best = worst
    open_ = result.pairs[~result.pairs["separable"].astype(bool)]
    bounded = list(dict.fromkeys(result.pairs["metric"]))
    said = f"of the top {result.settings.depth} passages of {worst if best != worst else 'every run'} were judged by nobody"
    if best != worst:
        said += f", of {best} {percent(rates.loc[best, 'share'])}"
    if bounded:
        metric = headline_measure(bounded)
        part = open_[open_["metric"] == metric]
        total = int((result.pairs["metric"] == metric).sum())
        said += f"; {len(part)} of {counted(total, 'order')} of two runs by {measure_label(metric)} are not proven"
    row = rates.loc[worst]
    basis = f"{int(row['unjudged']):,} of {int(row['retrieved']):,} passages"
    return Verdict(percent(row["share"]), "", said, basis, float(row["share"]))


def _scope(result: Unjudged, label: str) -> str:
    """Which unjudged passages the bounds grade."""
    scopes = {"cutoff": f"that {label} looks at in these runs", "run": "of these two runs", "pool": "of all runs here"}
    return scopes[result.settings.scope]


def _drop(
    baseline: str, name: str, scores: tuple[float, float], shares: pd.Series, runs: list[str], result: Unjudged,
    pairs: pd.DataFrame, expected: pd.Series | None,
) -> str:  # fmt: skip
    """One drop: as measured, what is expected of it, and what no grade could change."""
    drop = scores[0] - scores[1]
    least, most = _ends(pairs, baseline, runs)
    label, mean = measure_label(str(pairs["metric"].iloc[0])), " (mean)" if len(runs) > 1 else ""
    text = (
        f"From {baseline} to {name}, {label} goes from {scores[0]:.3f} to {scores[1]:.3f}{mean}, a drop of {plain(drop)} with"
        f" unjudged passages as not relevant ({percent(shares[runs].mean())} of the top {result.settings.depth} of {name},"
        f" {percent(shares[baseline])} of {baseline})."
    )
    if expected is not None:
        text += f" {expected_drop(drop, expected)}"
    if most - least <= ROUNDING:
        still = " Judging others still can, through ideal rankings." if result.settings.scope != "pool" else ""
        return f"{text} No grade of an unjudged passage {_scope(result, label)} could change it.{still}"
    sure = (
        "so the drop is proven for these turns" if least > 0
        else "so the judgments alone do not prove a loss on these turns" if most > 0
        else "so nothing is lost on these turns"
    )  # fmt: skip
    own = f", each set with {baseline} on its own" if len(runs) > 1 else ""
    return (
        f"{text} Bounds over all grades of the unjudged passages {_scope(result, label)}, however improbable: {plain(least)} to"
        f" {plain(most)}{own}, {sure}."
    )


def _ends(pairs: pd.DataFrame, baseline: str, runs: list[str]) -> tuple[float, float]:
    """The smallest and the largest drop from the baseline, each the mean over the runs."""
    ends = {(row.first, row.second): (row.low, row.high) for row in pairs.itertuples()}
    ends |= {(second, first): (-high, -low) for (first, second), (low, high) in ends.items()}
    # a baseline among its own sets does not differ from itself
    lows, highs = zip(*(ends.get((baseline, run), (0.0, 0.0)) for run in runs), strict=True)
    return sum(lows) / len(runs), sum(highs) / len(runs)


def _orders(pairs: pd.DataFrame, metric: str, result: Unjudged) -> tuple[str, ...]:
    """For how many pairs of runs a difference is expected, and whose order the judgments prove."""
    if not len(pairs):
        return ()
    label, total = measure_label(metric), counted(len(pairs), "pair") + " of runs"
    sentences = []
    told = pairs[pairs["expected_low"].notna()]
    if len(told):
        apart = int(((told["expected_low"] > 0) | (told["expected_high"] < 0)).sum())
        sentences.append(
            f"By {label} {apart} of {total} are expected to differ on other conversations as well: their 95 % intervals for"
            " sampling and unjudged passages together leave 0 out, each pair on its own."
        )
    open_ = pairs[~pairs["separable"].astype(bool)]
    if not len(open_):
        proven = f"No grade of an unjudged passage {_scope(result, label)} reverses any of {total} by {label} on these turns."
        return (" ".join([*sentences, proven]),)
    named = [f"{row.first} and {row.second}" for row in open_.head(_NAMED).itertuples()]
    would = "would" if open_["exact"].all() else "might"
    sentences.append(
        f"Proof is a stricter demand: of {len(open_)} of {total} the judgments do not prove the order by {label} on these turns"
        f" ({'; '.join(named)}{and_more(len(open_), len(named))}). Some grades of the unjudged passages"
        f" {_scope(result, label)} {would} level or reverse it, however improbable they are."
    )
    return (" ".join(sentences),)
