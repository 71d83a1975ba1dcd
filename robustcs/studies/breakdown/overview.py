"""What a breakdown comes to: the verdicts, and one table of all formulations with one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.document import Figure, Table, Verdict
from robustcs.documents.headline import Cut, at, headline_cut
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import (
    CAUSE_TITLES,
    FORMULATION_NAMES,
    cut_label,
    interval,
    measure_label,
    number,
    number_interval,
    percent,
    percent_interval,
    plain,
    signed,
)
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.result import number as number_field
from robustcs.result import share, text
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import units_of
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA
from robustcs.studies.breakdown.show import shown_cuts
from robustcs.studies.breakdown.show_rewriters import draw_rewriters, rewriter_names
from robustcs.studies.breakdown.squares import show_squares
from robustcs.wording import some_of

if TYPE_CHECKING:
    import pandas as pd


def verdicts(result: Breakdown) -> tuple[Verdict, ...]:
    """How often the QA component (a ranker or a reader) fails, how often the best rewriter does, and what it loses."""
    cut = headline_cut(shown_cuts(result.turns))
    best = _by_mean(result, cut)[0]
    causes = at(result.attribution[result.attribution["rewriter"] == best], cut).set_index("cause")
    blame = next(at(result.blame[result.blame["rewriter"] == best], cut).itertuples())
    told = blame.p_corrected <= ALPHA and blame.difference != 0
    who = _name(best)

    def verdict(cause: str, said: str) -> Verdict:
        line = causes.loc[cause]
        basis = f"{line['count']} of {result.evaluated.turns} turns; correct: {cut_label(cut)}"
        between = percent_interval(line["ci_low"], line["ci_high"]).strip("–")
        return Verdict(f"{100 * line['share']:.0f} %", between, said, basis, float(line["share"]), cause)

    part = "reader" if result.evaluated.basis == "answers" else "ranker"
    qa = f"of the turns fail even with the question that a person wrote: the {part} is to blame"
    qr = f"of the turns fail because of {who}"
    if len(rewriter_names(result)) > 1:
        qr += f", the best of {len(rewriter_names(result))} rewriters{_beside(result, cut)}"
    if not told:
        qr += f"; whether it or the {part} fails more often is open"
    elif blame.difference > 0:
        qa += f", more often than {who}{_elsewhere(result, blame, who)}"
    else:
        qr += f", more often than because of the {part}{_elsewhere(result, blame, f'the {part}')}"
    return verdict("qa", qa), verdict("qr", qr), _lost(result, cut, best, who)


def _name(rewriter: str) -> str:
    return "the rewriter" if rewriter == "qr" else rewriter


def _elsewhere(result: Breakdown, blame: Any, who: str) -> str:
    """Where the one that fails less often by the row ``blame`` fails more often: other measures and thresholds."""
    rows = result.blame[result.blame["rewriter"] == blame.rewriter]
    turned = rows[rows["difference"] * blame.difference < 0]
    told = turned[turned["p_corrected"] <= ALPHA]
    if len(told):
        return f"; at {_cuts(told)} it is {who}"
    if not len(turned):
        return ""
    counts = f" ({max(row.qa, row.qr)} turns to {min(row.qa, row.qr)})" if (row := _only(turned)) else ""
    return f"; at {_cuts(turned)} it is {who}{counts}, which may be chance"


def _only(rows: pd.DataFrame) -> Any:
    return next(rows.itertuples()) if len(rows) == 1 else None


def _cuts(rows: pd.DataFrame) -> str:
    return some_of([cut_label((row.metric, row.threshold)) for row in rows.itertuples()], 2)


def _by_mean(result: Breakdown, cut: Cut) -> list[str]:
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    return [str(name) for name in rows["rewriter"]]


def _beside(result: Breakdown, cut: Cut) -> str:
    """Which rewriters cannot be told from the best one."""
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    best, *others = rows.itertuples()
    near = [row.rewriter for row in others if set(row.letters.split()) & set(best.letters.split())]
    return f" ({some_of(near, 2)} cannot be told from it by {measure_label(cut[0])})" if near else ""


def _lost(result: Breakdown, cut: Cut, best: str, who: str) -> Verdict:
    row = result.choice[(result.choice["rewriter"] == best) & (result.choice["metric"] == cut[0])].iloc[0]
    label = measure_label(cut[0])
    loses = row["difference"] >= 0
    said = f"of {label} is what {who} {'loses' if loses else 'gains'} against Human"
    ends = (row["ci_low"], row["ci_high"]) if loses else (-row["ci_high"], -row["ci_low"])
    lost = abs(float(row["difference"]))
    return Verdict(plain(lost, 3), number_interval(*ends).strip("–"), said, f"mean of {result.evaluated.turns} turns", lost,
                   subject="drop")  # fmt: skip


def overview(result: Breakdown) -> tuple[Table | Figure, ...]:
    """One line per formulation, Human on top and the rewriters by their means; as a figure every turn, or every rewriter."""
    cut = headline_cut(shown_cuts(result.turns))
    names = _by_mean(result, cut)
    return _table(result, cut, names), _figure(result, cut, names)


def _table(result: Breakdown, cut: Cut, names: list[str]) -> Table:
    turns = at(result.turns, cut)
    first = turns[turns["rewriter"] == names[0]]
    scores = {"human": first["human"].to_numpy()}
    scores |= {name: turns[turns["rewriter"] == name]["qr"].to_numpy() for name in names}
    if first["original"].notna().all():
        scores["original"] = first["original"].to_numpy()
    table = np.stack(list(scores.values()))
    units = units_of(list(first["turn"]), result.evaluated.policy.unit)
    means = mean_estimates(units.sums(table), units.sizes, units.kind, (0.0, 1.0) if table.max() <= 1 else None)
    right = parse_threshold(cut[1]).holds(table)
    answered = share_estimates(units.sums(right), units.sizes, units.kind)
    wrong = at(result.attribution, cut)
    errors = {row.rewriter: row for row in wrong[wrong["cause"] == "qr"].itertuples()}
    letters = at(result.rewriters, cut).set_index("rewriter")["letters"].to_dict()
    rows = [
        (_label(name), one, mean, errors.get(name), letters.get(name, "")) for name, one, mean in
        zip(scores, answered, means, strict=True)
    ]  # fmt: skip
    human = means[0].value
    label = measure_label(cut[0])
    columns: list[Shown] = [
        (text("Question"), lambda row: row[0]),
        (share("answered"), lambda row: f"{percent(row[1].value)} {_bracketed(row[1].low, row[1].high)}"),
        (share("rewriter error"), lambda row: _share(row[3])),
        (number_field(label), lambda row: f"{number(row[2].value, 3)} {_scores(row[2])}"),
        (number_field("− Human"), lambda row: signed(row[2].value - human, 3) if row[0] != "Human" else ""),
    ]  # fmt: skip
    qa = at(result.attribution[result.attribution["rewriter"] == names[0]], cut).set_index("cause").loc["qa"]
    note = (
        f"Rewriter error: Human is answered and the rewrite is not; {percent(qa['share'])} fail with Human too. In brackets the"
        f" 95 % interval for other {result.evaluated.unit}s of this kind."
    )
    if len(names) > 1:
        columns.append((text("group"), lambda row: row[4]))
        note += f" Rewriters that share a letter are not told apart by their means (p ≤ {ALPHA:g}, Holm)."
    return result_table(
        result, "rewriters", f"Where every question stands: answered if {cut_label(cut)}", columns, note,
        rows=rows, rules=(1, len(names) + 1) if "original" in scores else (1,), slug="overview",
    )  # fmt: skip


def _label(name: str) -> str:
    return FORMULATION_NAMES.get(name, name)


def _share(row: Any) -> str:
    return f"{percent(row.share)} {_bracketed(row.ci_low, row.ci_high)}" if row else "–"


def _bracketed(low: float, high: float) -> str:
    between = percent_interval(low, high)
    return f"({between})" if between != "–" else ""


def _scores(one: Estimate) -> str:
    between = interval(one.low, one.high, 2)
    return f"({between})" if between != "–" else ""


def _figure(result: Breakdown, cut: Cut, names: list[str]) -> Figure:
    squares = show_squares(result)
    if squares:
        return squares[0]
    rows = at(result.rewriters, cut).set_index("rewriter").loc[names]
    words = "; ".join(
        f"{_label(str(row.Index))}: {CAUSE_TITLES['qr']} {percent(row.qr)}, answered {percent(row.correct)}"
        for row in rows.itertuples()
    )
    return Figure(
        "rewriters",
        f"Share of the turns by who is to blame, correct if {cut_label(cut)}; the highest mean score on top.",
        f"{words}. QA error for all: {percent(float(rows['qa'].iloc[0]))}.",
        lambda: draw_rewriters(result, cut),
    )
