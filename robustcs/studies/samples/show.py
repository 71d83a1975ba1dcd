"""Tables and figure of samples: their similarity, scores, the gain of a choice, and the turns that differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.document import Block, Card, Cards, Figure, TableBlock
from robustcs.documents.headline import headline_measure
from robustcs.documents.panels import (
    NOTE,
    add_legend,
    dots,
    grid_height,
    panel_grid,
    panel_title,
    panels_across,
    round_ticks,
    tell_left_out,
)
from robustcs.documents.style import COLUMN, INK, MAX_HEIGHT, Width, scaled
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.words import measure_label, noted, signed
from robustcs.documents.words import number as written
from robustcs.lazy import pd
from robustcs.result import number
from robustcs.studies.samples.analysis import Samples
from robustcs.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

#: Printed turns per rewriter; JSON and CSV contain all.
SHOWN = 5
#: Printed component of the variance → head of its column.
_PARTS = {name: name for name in ("turn", "sample", "interaction")}
_BEST, _WORST = "#2f74b0", "#cf5c0c"
# Lengths in inches.
_LEFT, _BETWEEN, _HEIGHT, _LEGEND = 0.5, 0.42, 1.5, 0.2


def show(result: Samples) -> tuple[Block, ...]:
    """Return the figure and the tables of similarity, scores, choice and variance, and the turns that differ most."""
    blocks: list[Block] = [_consistency(result)]
    if len(result.sample_scores):
        variance = [_variance(result)] if len(result.sample_variance) else []
        blocks = [_figure(result), *blocks, _scores(result), _choice(result), *variance]
    rewriters = dict.fromkeys(result.samples["rewriter"])
    return (*blocks, *(cards for name in rewriters if (cards := _moving(result, name)).cards))


def _same_samples(result: Samples) -> str:
    return f"95% CI for other {result.evaluated.unit}s with these samples."


def _consistency(result: Samples) -> TableBlock:
    frame = result.samples
    texts, runs = ["texts", "turns", "differing", "differ", "wording"], ["runs", "ranking"]
    columns: list[Shown] = [
        "rewriter",
        *(texts if frame["texts"].any() else ()),
        *(runs if frame["runs"].any() else ()),
    ]
    note = (
        "Texts, runs: number of samples. Differing: turns whose texts are not all the same. ROUGE-1 F: mean over pairs of texts"
        " of a turn (1: the same stemmed words in any order, ignoring case and punctuation). RBO: mean rank-biased overlap of"
        f" pairs of rankings of a turn (p = 0.9; 1: the same ranking). {_same_samples(result)}"
    )
    notes = noted((row.rewriter, row.note) for row in frame.itertuples())
    return result_table(
        result, "samples", "How similar are the samples of a rewriter?", columns, note + notes
    )


def _scores(result: Samples) -> TableBlock:
    within, unit = float(result.sample_scores["within"].iloc[0]), result.evaluated.unit
    needed = result.spec("sample_scores").field("needed")
    columns: list[Shown] = ["metric", "rewriter", "mean", "half", (needed, _needed)]
    note = (
        f"Mean of all samples: the 95% CI is for other {unit}s and other samples. ± of one sample: half the 95% CI of the mean"
        " of one sample, for other samples on the same turns (Student's t); in brackets, the 95% CI of 1.96 standard deviations"
        " of this mean, which is wide with few samples. Samples: number needed to keep the deviation of their average within"
        f" ±{within:g} (--margin); more samples do not reduce the variation between {unit}s."
    )
    notes = noted(
        (f"{row.rewriter} {measure_label(row.metric)}", row.note)
        for row in result.sample_scores.itertuples()
    )
    caption = "How much does a score depend on the sample?"
    return result_table(result, "sample_scores", caption, columns, note + notes, by="metric")


def _needed(row: Any) -> str:
    if pd.isna(row.needed):
        return "–"
    exact = pd.isna(row.needed_low) or row.needed_low == row.needed_high
    return str(row.needed) if exact else f"{row.needed} ({row.needed_low}–{row.needed_high})"


def _choice(result: Samples) -> TableBlock:
    columns: list[Shown] = [
        "metric", "rewriter", "worst",
        (number("a sample"), lambda row: f"{written(row.lowest, 3)} to {written(row.highest, 3)}"),
        "best", "gain", (number("chance"), lambda row: signed(row.by_chance, 3)),
    ]  # fmt: skip
    note = (
        "Worst and best of all: mean over turns of the lowest and the highest score. A sample: lowest and highest mean of a"
        " single sample. Gain: best of all minus the highest mean of a sample. The highest of several noisy scores is too high,"
        " so part of the gain is noise. Chance: the gain if samples were swapped at random in every turn, so that no sample is"
        f" better than another. {_same_samples(result)} --table best_of_n shows choices among fewer samples."
    )
    return result_table(
        result, "sample_scores", "What would be gained by choosing the best sample?", columns, note,
        by="metric", slug="sample_choice",
    )  # fmt: skip


def _variance(result: Samples) -> TableBlock:
    frame = result.sample_variance
    note = (
        "Shares of the variance of scores. Turn: some turns are harder. Sample: whole samples differ. Interaction: a sample"
        f" helps one turn and hurts another. {_same_samples(result)}"
    )
    notes = noted(
        (f"{row.rewriter} {measure_label(row.metric)}", row.note)
        for row in frame.itertuples()
        if row.component in _PARTS
    )
    return wide_table(
        result, "sample_variance", "Do scores vary more between turns or between samples?", ["metric", "rewriter"],
        "component", ["share"], note + notes, heads=_PARTS, by="metric",
    )  # fmt: skip


def moving(result: Samples, rewriter: str) -> tuple[pd.DataFrame, str, str]:
    """Return the turns whose samples differ, those that differ most first, what differs, and of which turns.

    Samples differ in score; if none is scored, in text.
    """
    part = result.sample_turns[result.sample_turns["rewriter"] == rewriter]
    if part["metric"].notna().any():
        metric = headline_measure(part["metric"])
        part = part[part["metric"] == metric]
        differ = part[part["range"] > 0].sort_values("range", ascending=False, kind="stable")
        what, of = f"samples differ in {measure_label(metric)}", "with scores"
    else:
        differ = part[part["texts"] > 1].sort_values("wording", kind="stable")
        what, of = "texts differ", "with at least two texts"
    return differ, what, f"{counted(len(part), 'turn')} {of}"


def _moving(result: Samples, rewriter: str) -> Cards:
    """Return the turns whose samples differ most."""
    differ, what, of = moving(result, rewriter)
    cards = []
    for row in differ.head(SHOWN).itertuples():
        values = [
            ("Lowest score", row.low),
            ("Highest score", row.high),
            ("ROUGE-1 F", row.wording),
            ("RBO", row.ranking),
        ]
        fields = [
            ("Texts", row.wordings),
            *((name, written(value, 3)) for name, value in values if not pd.isna(value)),
        ]
        cards.append(Card(str(row.turn), tuple(field for field in fields if field[1])))
    shown = f"; {SHOWN} are shown" if len(differ) > SHOWN else ""
    caption = f"Turns of {rewriter} whose {what} ({len(differ)} of {of}{shown})"
    return Cards(f"moving-{rewriter}", caption, tuple(cards))


def _figure(result: Samples) -> Figure:
    parts = [
        f"{row.rewriter}, {measure_label(row.metric)}: {written(row.worst, 3)} to {written(row.best, 3)} with"
        f" {counted(row.samples, 'sample')}, mean {written(row.mean, 3)}"
        for row in result.sample_scores.itertuples()
    ]
    fewest, most = (
        int(result.sample_scores["turns"].min()),
        int(result.sample_scores["turns"].max()),
    )
    turns = counted(most, "turn") if fewest == most else f"{fewest:,} to {counted(most, 'turn')}"
    return Figure(
        "best_of_n",
        f"Best and worst of n samples, mean over {turns}: the gain of a perfect choice and the loss of the worst choice."
        f" {_same_samples(result)}",
        f"Worst and best of n samples. {'; '.join(parts)}.",
        lambda width: draw(width, result),
    )


def draw(width: Width, result: Samples) -> MatplotlibFigure:
    """Draw the best and worst of n samples with intervals as bands, one panel per measure and rewriter, three to a row."""
    from matplotlib.lines import Line2D

    several, scores = result.samples["rewriter"].nunique() > 1, result.sample_scores
    full = COLUMN.inches if len(scores) == 1 else width.inches
    fitting = int((MAX_HEIGHT - scaled(_LEGEND + NOTE)) / grid_height(1, 1, _HEIGHT))
    most = fitting * panels_across(len(scores), width)
    shown = scores.head(most)
    gone = len(scores) - len(shown)
    below = scaled(_LEGEND) + (scaled(NOTE) if gone else 0)
    figure, grid = panel_grid(
        len(shown),
        width,
        _LEFT,
        _HEIGHT,
        between=_BETWEEN,
        below=below,
        full=full,
    )
    for row, (axes, leftmost) in zip(shown.itertuples(), grid, strict=True):
        frame = result.best_of_n
        rows = frame[(frame["rewriter"] == row.rewriter) & (frame["metric"] == row.metric)]
        title = measure_label(row.metric) + (f", {row.rewriter}" if several else "")
        panel_title(axes, title, _LEFT - 0.1 if leftmost else _BETWEEN - 0.1)
        axes.set_xlabel("samples to choose from")
        if leftmost:
            axes.set_ylabel("mean score")
        _curves(axes, rows, row.mean)
    keys = [
        ("best of n", Line2D([], [], color=_BEST, marker="o", markersize=4.0)),
        ("worst of n", Line2D([], [], color=_WORST, marker="o", markersize=4.0)),
        ("mean of all", Line2D([], [], color=INK, linewidth=0.6, linestyle="--")),
    ]
    add_legend(figure, keys, full / 2, below, align="center")
    tell_left_out(figure, gone)
    return figure


def _curves(axes: Axes, rows: pd.DataFrame, mean: float) -> None:
    """Draw the best and the worst of n as lines with bands, and the mean of all samples."""
    n = rows["n"].to_numpy()
    ends = [rows[f"{name}{end}"] for name in ("best", "worst") for end in ("", "_low", "_high")]
    known = np.concatenate([[mean], *ends])
    known = known[np.isfinite(known)]
    pad = 0.05 * (known.max() - known.min()) or 0.05
    low, high = known.min() - pad, known.max() + pad
    margin = 0.05 * (n[-1] - 1 or 1)
    axes.set(xlim=(1 - margin, n[-1] + margin), ylim=(low, high))
    heights = round_ticks(low, high, 5)
    axes.set_yticks([place for place, _ in heights], [label for _, label in heights])
    places = n if len(n) <= 10 else np.unique(np.linspace(1, len(n), 6).astype(int))
    axes.set_xticks(places, [str(place) for place in places])
    for name, colour in (("best", _BEST), ("worst", _WORST)):
        axes.fill_between(
            n, rows[f"{name}_low"], rows[f"{name}_high"], color=colour, alpha=0.15, linewidth=0
        )
        axes.plot(n, rows[name], color=colour)
        dots(axes, n, rows[name], colour, 4.0)
    axes.axhline(mean, color=INK, linewidth=0.6, linestyle="--", alpha=0.6)
