"""Verdicts and findings on a grid: which component loses more, which change gains most, and whether the lead holds."""

from __future__ import annotations

import math

from robustcs.documents.document import Verdict
from robustcs.documents.headline import Cut, at
from robustcs.documents.words import (
    cut_label,
    few_answers,
    in_brackets,
    measure_label,
    number,
    number_interval,
    percent_range,
    plain,
    signed_interval,
    whole_percent,
    with_interval,
)
from robustcs.records.filter import term
from robustcs.records.table import DISAGREEMENT
from robustcs.statistics.estimate import p_text
from robustcs.studies.components.analysis import Components
from robustcs.studies.components.show import cut_of
from robustcs.wording import and_more, counted

#: Largest adjusted p of a significant difference.
ALPHA = 0.05


def verdicts(result: Components) -> tuple[Verdict, ...]:
    """Return which component loses more turns, the turns that no system answers, the lead of the best, and the best change."""
    cut = cut_of(result)
    found = [_blamed(result, cut)] if len(result.factors) else []
    return (
        *found,
        _unanswered(result, cut),
        *([_leads(result, cut)] if len(result.choice) else []),
        *_changes(result, cut),
    )


def components_findings(result: Components) -> tuple[str, ...]:
    """Return effect sizes, the upper limit, and the missing cell that could show most."""
    cut = cut_of(result)
    said = [
        _thresholds(result),
        _sizes(result, cut[0]),
        *([_upper(result, cut[0])] if len(result.choice) else []),
    ]
    return tuple(filter(None, [*said, *([_to_fill(result, cut)] if len(result.missing) else [])]))


def _blamed(result: Components, cut: Cut) -> Verdict:
    row = next(at(result.factors, cut).itertuples())
    first, second = ("wording", "ranker") if row.difference >= 0 else ("ranker", "wording")
    share, other = getattr(row, first), getattr(row, second)
    few = in_brackets(few_answers(("/".join(cell) for cell in result.grid.cells), result.evaluated))
    said = f"The average system of the grid{few} loses {whole_percent(share)} of the turns to the {first} alone"
    p = f"adjusted {p_text(row.p_corrected)}"
    if row.p_corrected <= ALPHA:
        said += f", more than to the {second} ({whole_percent(other)}, {p})"
    else:
        said += f" and {whole_percent(other)} to the {second}; the data do not show which loses more ({p})"
    levels, caveat = {"wording": len(result.grid.wordings), "ranker": len(result.grid.rankers)}, ""
    if levels[first] > levels[second]:
        caveat = (
            f"The grid has {counted(levels[first], first)} and {counted(levels[second], second)}, and the component with more"
            " alternatives has more chances to help."
        )
    between = percent_range(getattr(row, f"{first}_low"), getattr(row, f"{first}_high"))
    basis = f"mean over {counted(row.systems, 'system')}; correct if {cut_label(cut)}"
    tone = {"wording": "qr", "ranker": "qa"}[first]
    return Verdict(whole_percent(share), between, said, basis, float(share), tone, caveat=caveat)


def _unanswered(result: Components, cut: Cut) -> Verdict:
    own = at(result.blame, cut)
    row = next(own[own["cause"] == "none"].itertuples())
    few = in_brackets(few_answers(("/".join(cell) for cell in result.grid.cells), result.evaluated))
    said = f"No system of the grid{few} answers {whole_percent(row.share)} of the turns"
    basis = f"{row.count} of {counted(result.evaluated.turns, 'turn')}; correct if {cut_label(cut)}"
    # without weight, because it names no component
    return Verdict(
        whole_percent(row.share),
        percent_range(row.ci_low, row.ci_high),
        said,
        basis,
        0.0,
        turns=term("blame", "none"),
        count=int(row.count),
        sort=DISAGREEMENT,
    )


def _leads(result: Components, cut: Cut) -> Verdict:
    [row], label = result.rows("choice", metric=cut[0]), measure_label(cut[0])
    best, second = f"{row.wording}/{row.ranker}", f"{row.second_wording}/{row.second_ranker}"
    size, leads = number(abs(row.other_lead), 3), "leads" if row.other_lead >= 0 else "trails"
    few = in_brackets(few_answers((best, second), result.evaluated))
    said = f"{best} leads {second} by {number(row.lead, 3)} {label}{few} with the highest mean, {number(row.value, 3)}"
    if not row.lead:
        said = f"{best} and {second}{few} have the same mean {label}, the highest of the grid ({number(row.lead, 3)} apart)"
    if not row.splits:
        turns = result.evaluated.turns
        return Verdict(
            number(row.lead, 3),
            "",
            said,
            f"mean over {counted(turns, 'turn')}",
            abs(row.lead),
            subject="systems",
            turns=term("blame", system=best),
            count=turns,
            sort=DISAGREEMENT,
        )
    said += f"; on {result.evaluated.unit}s that did not choose them, the best system {leads} the second best by {size}"
    basis = f"means over {counted(row.splits, 'random half', 'random halves')}; {best} is best in {whole_percent(row.chosen)}"
    limits = (
        (row.other_lead_low, row.other_lead_high)
        if leads == "leads"
        else (-row.other_lead_high, -row.other_lead_low)
    )
    between = number_interval(*limits).strip("–")
    return Verdict(size, between, said, basis, abs(float(row.other_lead)), subject="systems")


def _changes(result: Components, cut: Cut) -> list[Verdict]:
    gains = [row for row in result.rows("swaps", metric=cut[0]) if row.difference > 0]
    if not gains:
        return []
    row = max(gains, key=lambda one: one.difference)
    old, kept = (row.wording, row.ranker) if row.changed == "wording" else (row.ranker, row.wording)
    size = number(row.difference, 3)
    cells = (
        (row.wording, row.ranker),
        (row.to, kept) if row.changed == "wording" else (kept, row.to),
    )
    few = in_brackets(few_answers(("/".join(cell) for cell in cells), result.evaluated))
    said = f"The single change with the largest gain is from {old} to {row.to} with {kept}{few}: {size} {measure_label(cut[0])}"
    said += "" if row.p_corrected <= ALPHA else ", which is not significant"
    basis = f"adjusted {p_text(row.p_corrected)}, {result.families[cut[0]].describe('pair')}"
    between = number_interval(row.ci_low, row.ci_high).strip("–")
    return [Verdict(size, between, said, basis, float(row.difference), subject="differences")]


def _thresholds(result: Components) -> str:
    """Return that the answer depends on the threshold, if both components lose significantly more at some threshold."""
    sides: dict[str, list[str]] = {"wording": [], "ranker": []}
    for row in result.rows("factors"):
        if row.p_corrected <= ALPHA and row.difference:
            sides["wording" if row.difference > 0 else "ranker"].append(
                cut_label((row.metric, row.threshold))
            )
    if not all(sides.values()):
        return ""
    where = [
        f"the {name} loses more at {', '.join(cuts[:3])}{and_more(len(cuts), 3)}"
        for name, cuts in sides.items()
    ]
    return f"Which component loses more turns depends on the threshold: {'; '.join(where)} (adjusted p ≤ {ALPHA:g})."


def _sizes(result: Components, metric: str) -> str:
    rows = result.effects[
        (result.effects["metric"] == metric) & result.effects["omega2"].notna()
    ].set_index("factor")
    if not len(rows):
        return ""
    said = [
        f"{with_interval(row, 'omega2', 3)} for the {name}"
        for name, row in rows.loc[["wording", "ranker"]].iterrows()
    ]
    return f"The effect size ω² on {measure_label(metric)} is {' and '.join(said)}."


def _upper(result: Components, metric: str) -> str:
    [row] = result.rows("choice", metric=metric)
    between = (
        ""
        if math.isnan(row.gain_low)
        else f", 95% CI {signed_interval(row.gain_low, row.gain_high)}"
    )
    return (
        f"The best system of every turn would reach {number(row.upper, 3)} {measure_label(metric)}, {number(row.gain, 3)} more"
        f" than {row.wording}/{row.ranker}{between}. This is an upper limit; if systems were exchanged at random in every turn,"
        f" so that none is better, the same choice would gain {plain(row.by_chance)}."
    )


def _to_fill(result: Components, cut: Cut) -> str:
    rows = at(result.missing, cut)
    row = next(rows.loc[[rows["turns"].idxmax()]].itertuples())
    return (
        f"Of {counted(len(rows), 'missing cell')}, {row.wording}/{row.ranker} could show most: if correct, it would change the"
        f" cause of some system on {row.turns} of {counted(result.evaluated.turns, 'turn')}."
    )
