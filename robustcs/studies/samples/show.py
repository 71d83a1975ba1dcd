"""Rewriters that vary: how alike their samples are, what a choice among them gives, and which turns move most."""

from __future__ import annotations

from typing import Any

from robustcs.documents.document import Block, Card, Cards, Figure, Table
from robustcs.documents.headline import headline_measure
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.words import (
    measure_label,
    noted,
    signed,
)
from robustcs.documents.words import number as written
from robustcs.lazy import Drawing, pd
from robustcs.result import number
from robustcs.studies.samples.analysis import Samples
from robustcs.wording import counted

#: Turns that are shown of a rewriter; JSON and CSV have all.
SHOWN = 5
#: What a reader sees of the variance: its component, and the head of its column.
_PARTS = {name: f"{name} (95% CI)" for name in ("turn", "sample", "interaction")}


def show(result: Samples) -> tuple[Block, ...]:
    """The figure, how alike the samples are, their scores and what a choice gives, the variance, and the turns that move."""
    blocks: list[Block] = [_consistency(result)]
    if len(result.sample_scores):
        variance = [_variance(result)] if len(result.sample_variance) else []
        blocks = [_figure(result), *blocks, _scores(result), _choice(result), *variance]
    rewriters = dict.fromkeys(result.samples["rewriter"])
    return (*blocks, *(cards for name in rewriters if (cards := _moving(result, name)).cards))


def _kind(result: Samples) -> str:
    return result.evaluated.unit


def _consistency(result: Samples) -> Table:
    frame = result.samples
    texts, runs = ["texts", "turns", "differing", "differ", "wording"], ["runs", "ranking"]
    columns: list[Shown] = ["rewriter", *(texts if frame["texts"].any() else ()), *(runs if frame["runs"].any() else ())]
    note = "Texts, runs: how many samples have them."
    if frame["texts"].any():
        note += (
            " Texts differ: of the turns with two texts or more, those whose texts are not all the same. ROUGE-1 F: of every"
            " two texts of a turn (1: the same words, whatever their order, form, case and punctuation)."
        )
    if frame["runs"].any():
        note += " RBO: rank-biased overlap of every two rankings of a turn (p = 0.9; 1: the same ranking)."
    note += f" 95 %: for other {_kind(result)}s with these samples."
    said = noted((row.rewriter, row.note) for row in frame.itertuples())
    return result_table(result, "samples", "How alike are the samples of a rewriter?", columns, note + said)


def _rule(result: Samples) -> str | None:
    """What a thin rule separates: measures, where each has several lines."""
    return "metric" if result.samples["rewriter"].nunique() > 1 else None


def _by_measure(frame: pd.DataFrame) -> pd.DataFrame:
    order = list(dict.fromkeys(frame["metric"]))
    return frame.sort_values("metric", key=lambda column: column.map(order.index), kind="stable")


def _scores(result: Samples) -> Table:
    within = float(result.sample_scores["within"].iloc[0])
    needed = result.spec("sample_scores").field("needed")
    columns: list[Shown] = ["metric", "rewriter", "mean", "half", (needed, _needed)]
    note = (
        f"Mean of all samples: its 95 % interval is for other {_kind(result)}s and other samples. ±: half the 95 % interval of"
        " the mean of one sample for other samples on the same turns (Student's t), and where 1.96 standard deviations of that"
        " mean lie, which few samples show only roughly. Samples: how"
        f" many an average needs to move by no more than ±{within:g} (--within); more of them do not narrow what other"
        f" {_kind(result)}s add."
    )
    said = noted((f"{row.rewriter} {measure_label(row.metric)}", row.note) for row in result.sample_scores.itertuples())
    caption = "How far does a score depend on the draw?"
    return result_table(
        result, "sample_scores", caption, columns, note + said, rows=_by_measure(result.sample_scores), by=_rule(result)
    )


def _needed(row: Any) -> str:
    if pd.isna(row.needed):
        return "–"
    exact = pd.isna(row.needed_low) or row.needed_low == row.needed_high
    return str(row.needed) if exact else f"{row.needed} ({row.needed_low}–{row.needed_high})"


def _choice(result: Samples) -> Table:
    columns: list[Shown] = [
        "metric", "rewriter", "worst",
        (number("a sample"), lambda row: f"{written(row.lowest, 3)} to {written(row.highest, 3)}"),
        "best", "gain", (number("chance"), lambda row: signed(row.by_chance, 3)),
    ]  # fmt: skip
    note = (
        "Worst, best of all: mean of the lowest and of the highest score of every turn. A sample: lowest and highest mean of a"
        " whole sample. Gain: best of all minus the highest mean, for whoever could choose in every turn. The highest of"
        " several scores is a maximum over noise, so chance: the gain if the samples were exchanged at random in every turn,"
        f" and no sample were better than another. 95 %: for other {_kind(result)}s with these samples. --table best_of_n has"
        " fewer samples to choose from."
    )
    return result_table(
        result, "sample_scores", "What would choosing the best sample give?", columns, note,
        rows=_by_measure(result.sample_scores), by=_rule(result), slug="sample_choice",
    )  # fmt: skip


def _variance(result: Samples) -> Table:
    frame = result.sample_variance
    note = (
        "Shares of the variance of scores: turn, some turns are harder; sample, whole samples differ; interaction, a draw helps"
        f" one turn and hurts another. 95 %: for other {_kind(result)}s with these samples."
    )
    said = noted(
        (f"{row.rewriter} {measure_label(row.metric)}", row.note) for row in frame.itertuples() if row.component in _PARTS
    )
    return wide_table(
        result, "sample_variance", "Where do scores vary: from turn to turn, or from draw to draw?", ["metric", "rewriter"],
        "component", ["share"], note + said, rows=_by_measure(frame), heads=_PARTS, by=_rule(result),
    )  # fmt: skip


def _moving(result: Samples, rewriter: str) -> Cards:
    """The turns whose samples differ most: in score, else in ranking, else in their texts."""
    part = result.sample_turns[result.sample_turns["rewriter"] == rewriter]
    scored = part["metric"].notna().any()
    if scored:
        metric = headline_measure(part["metric"])
        part = part[part["metric"] == metric]
        moving = part[part["range"] > 0].sort_values("range", ascending=False, kind="stable")
        what, of = f"samples differ in {measure_label(metric)}", "that are scored"
    elif part["ranking"].notna().any():
        part = part[part["ranking"].notna()]
        moving = part[part["ranking"] < 1].sort_values("ranking", kind="stable")
        what, of = "samples differ in ranking", "that all samples answer"
    else:
        moving = part[part["texts"] > 1].sort_values("wording", kind="stable")
        what, of = "texts differ", "with two texts or more"
    cards = []
    for row in moving.head(SHOWN).itertuples():
        title = str(row.turn)
        if scored:
            title += f" · {written(row.low, 3)} to {written(row.high, 3)}"
        fields = [("Texts", row.wordings)] if row.wordings else []
        alike = [("ROUGE-1 F", row.wording), ("RBO", row.ranking)]
        told = ", ".join(f"{name} {written(value, 3)}" for name, value in alike if not pd.isna(value))
        cards.append(Card(title, (*fields, *([("Alike", told)] if told else []))))
    many = f"{len(moving)} of {counted(len(part), 'turn')} {of}"
    shown = f"; the first {SHOWN} are shown" if len(moving) > SHOWN else ""
    return Cards(f"moving-{rewriter}", f"Turns of {rewriter} whose {what} ({many}{shown})", tuple(cards))


def _figure(result: Samples) -> Figure:
    said = [
        f"{row.rewriter}, {measure_label(row.metric)}: {written(row.worst, 3)} to {written(row.best, 3)} with"
        f" {counted(row.samples, 'sample')}, mean {written(row.mean, 3)}"
        for row in _by_measure(result.sample_scores).itertuples()
    ]
    fewest, most = int(result.sample_scores["turns"].min()), int(result.sample_scores["turns"].max())
    turns = counted(most, "turn") if fewest == most else f"{fewest:,} to {counted(most, 'turn')}"
    return Figure(
        "best_of_n",
        f"Mean over {turns} of the best and of the worst of n samples, with 95 % intervals for other {_kind(result)}s with"
        " these samples: what a perfect choice would gain, and what an unlucky one would lose.",
        f"Worst and best of n samples. {'; '.join(said)}.",
        lambda: draw(result),
    )


def draw(result: Samples) -> Drawing:
    """The best and the worst of n samples, one panel per measure and rewriter."""
    from robustcs.studies.samples.figure import BestPanel, best_of_n_figure

    several = result.samples["rewriter"].nunique() > 1
    panels = []
    for row in _by_measure(result.sample_scores).itertuples():
        frame = result.best_of_n
        part = frame[(frame["rewriter"] == row.rewriter) & (frame["metric"] == row.metric)]
        title = measure_label(row.metric) + (f", {row.rewriter}" if several else "")
        curves = (part[name].to_numpy() for name in ("best", "best_low", "best_high", "worst", "worst_low", "worst_high"))
        panels.append(BestPanel(title, row.mean, *curves))
    return best_of_n_figure(panels)
