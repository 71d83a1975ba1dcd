"""Tables and figures of answers: the way from questions to outcomes, causes, support, and coverage of gold items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.document import Block, Figure, TableBlock
from robustcs.documents.panels import (
    add_legend,
    add_panel,
    dots,
    keys_across,
    legend_height,
    new_figure,
)
from robustcs.documents.style import FIRST, SECOND, Width, room, scaled
from robustcs.documents.tables import Shown, cell, result_table, wide_table
from robustcs.documents.text import one_line, shortened_names
from robustcs.documents.words import clustered, measure_label, percent
from robustcs.evaluation.measure import GOLD_MEASURES, Gold
from robustcs.evaluation.outcomes import ANSWERABLE, LOST, OUTCOMES
from robustcs.evaluation.outcomes import CAUSES as OF_TURNS
from robustcs.inputs.answers import KINDS
from robustcs.lazy import pd
from robustcs.result import Field, number, text
from robustcs.studies.answers.analysis import CAUSES, LENGTH, Answers
from robustcs.wording import counted, sentences, system_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure
    from matplotlib.lines import Line2D

#: Pairs in the printed tables; JSON and CSV contain all.
SHOWN = 10
#: Systems in one table, and metrics of the files in a table.
SIDE_BY_SIDE, METRICS = 4, 4
_GIVEN = text("gold_given", header="Gold")
_UNKNOWN = "no gold passage of the turn is known, or the passages of the answer are unknown"
_QUESTIONS: dict[Gold, str] = {
    "snippets": "How much of the gold snippets do answers contain?", "nuggets": "How many of the nuggets do answers contain?",
}  # fmt: skip
_HEADS = {
    "snippet_recall": "recall", "snippet_precision": "precision", "snippet_f1": "F1",
    "nuggets_vital": "vital", "nuggets_vital_strict": "strict", "nuggets_all": "all", "nuggets_all_strict": "strict, all",
    LENGTH: "words",
}  # fmt: skip
#: First measure of a table → definitions of its measures.
_SAYS: Mapping[str, str] = {
    "snippet_recall": "Recall: share of a snippet's content words in the answer, mean over snippets. Precision: share of the"
    " answer's content words in the snippets.",
    "nuggets_vital": "Vital: mean support of vital nuggets, including partial support. Strict: share with full support."
    " All: vital and okay nuggets.",
    "nuggets_all": "All: mean support of nuggets, including partial support. Strict, all: share with full support.",
}


def show(result: Answers) -> tuple[Block, ...]:
    """Return the way from questions to outcomes, the causes, scores and support, and the coverage of gold items."""
    return (*_journey(result), *([] if result.items.empty else _coverage(result)))


def overview(result: Answers) -> tuple[TableBlock | Figure, ...]:
    """Return the table and the figure that may open a report: a row per system, and the flow of at most two systems.

    The figure shows the systems with the most and the fewest turns that are lost or made up.
    """
    systems = list(dict.fromkeys(result.outcomes["system"]))
    if answers_alone(result):
        return (_outcomes(result, systems, "overview"), _outcome_figure(result, systems))

    def column(head: str, name: str, value: str, **chosen: str) -> list[Shown]:
        rows = {row.system: row for row in reversed(result.rows(name, **chosen))}
        field = result.spec(name).field(value).called(head)
        return (
            [(field, lambda system: cell(field, rows[system]) if system in rows else "–")]
            if rows
            else []
        )

    columns: list[Shown] = [
        (text("system", header="System"), str),
        *column("lost by generator", "causes", "share", cause="generator"),
        *column("lost by retrieval", "causes", "share", cause="retrieval"),
        *column("lost, unknown", "causes", "share", cause="unknown"),
        *column("made up", "outcomes", "of_kind", outcome="made_up"),
        *column("unsupported", "support", "unsupported"),
    ]
    note = (
        f"Lost: share of the {answerable(result)} turns whose answer is wrong or missing; by generator: a gold passage was"
        f" given, by retrieval: no gold passage was given.{_unknown(result)} Made up: share of the unanswerable turns that are"
        " answered."
        f" Unsupported: share of sentences. {criterion_words(result)} In brackets: 95% CI"
        f" (Wilson{clustered(result.evaluated.unit)})."
    )
    table = result_table(
        result, "causes", "Where do the systems fail?", columns, note, rows=systems, slug="overview"
    )
    turns = result.turns
    lost = turns["outcome"].isin(LOST) & turns["kind"].isin(ANSWERABLE)
    errors = turns[lost | (turns["outcome"] == "made_up")]["system"].value_counts()
    order = sorted(systems, key=lambda name: errors.get(name, 0))
    return (table, _outcome_figure(result, list(dict.fromkeys([order[-1], order[0]]))))


def _coverage(result: Answers) -> list[Block]:
    """Return means for each kind of gold, and the causes of missed items."""
    causes = main_causes(result)
    return [*(_means(result, gold) for gold in golds(result)), wide_table(
        result, "item_causes", f"Which component loses {said(result)}?", ["system", "items"], "cause", ["share"],
        "Generator: a passage of the answer contains the item. Rewriter: only a passage of the human rewrite contains it."
        " Retrieval: no passage of either contains it."
        f" In brackets: 95% CI (Wilson intervals{clustered(result.evaluated.unit)}).",
        rows=causes, hint="--table item_causes covers all items, --table items lists each.",
        heads={cause: cause for cause in CAUSES if (causes["cause"] == cause).any()}, group="covered, or lost by"
    )]  # fmt: skip


def main_importance(result: Answers) -> tuple[Gold, str]:
    """Return the most important kind of items: vital nuggets, else all nuggets, else snippets."""
    gold = golds(result)[-1]
    vital = (
        (result.item_causes["gold"] == gold) & (result.item_causes["importance"] == "vital")
    ).any()
    return gold, "vital" if vital else "all"


def headline(result: Answers, gold: Gold) -> str:
    """Return the measure that compares systems: the first of ``gold``, or all nuggets if none is vital."""
    without = gold == "nuggets" and not (result.items["importance"] == "vital").any()
    return "nuggets_all" if without else GOLD_MEASURES[gold][0]


def main_causes(result: Answers) -> pd.DataFrame:
    """Return the rows of table ``item_causes`` for the most important kind of items."""
    gold, importance = main_importance(result)
    return result.item_causes[
        (result.item_causes["gold"] == gold) & (result.item_causes["importance"] == importance)
    ]


def golds(result: Answers) -> tuple[Gold, ...]:
    """Return the kinds of gold with at least one item."""
    return tuple(gold for gold in GOLD_MEASURES if (result.items["gold"] == gold).any())


def said(result: Answers) -> str:
    """Return the name of these items, such as ``vital nuggets``."""
    gold, importance = main_importance(result)
    return f"vital {gold}" if importance == "vital" else gold


def _means(result: Answers, gold: Gold) -> TableBlock:
    first = headline(result, gold)
    metrics = [*GOLD_MEASURES[gold][GOLD_MEASURES[gold].index(first) :], LENGTH]
    rows = result.measures[result.measures["metric"].isin(metrics)]
    own = rows[rows["metric"] == first].set_index("system")
    value = result.spec("measures").field("value")
    others = rows.pivot(index="system", columns="metric", values="value")[metrics[1:]]
    columns: list[Shown] = ["system", value.called(f"{_HEADS[first]} (95% CI)")]
    columns += [
        number(name, header=_HEADS[name]).rounded(0 if name == LENGTH else 3)
        for name in metrics[1:]
    ]
    note = f"{_SAYS[first]} Means over {counted(int(own['turns'].iloc[0]), 'turn')}. 95% CI{clustered(result.evaluated.unit)}."
    note += sentences(sorted(own["note"]))
    rows = own.join(others).reset_index()
    return result_table(
        result, "measures", _QUESTIONS[gold], columns, note, rows=rows, slug=f"measures-{gold}"
    )


def _pairs(result: Answers) -> TableBlock:
    """Return the pairs of systems with the smallest adjusted p in an outcome or in the measure of gold items."""
    names: dict[str, str] = {outcome: named(outcome) for outcome in OUTCOMES}
    names |= {
        metric: measure_label(metric)
        for metric in (headline(result, gold) for gold in golds(result))
    }
    pairs = result.pairs[result.pairs["metric"].isin(list(names))].sort_values(
        "p_corrected", kind="stable"
    )
    families = [result.families[metric] for metric in dict.fromkeys(pairs["metric"].head(SHOWN))]
    return result_table(
        result, "pairs", "Which systems differ?",
        [text("metric", header="Outcome or measure"), "first", "second", "difference", "p", "p_corrected"],
        "First minus second: differences of shares of all turns, or of means; smallest adjusted p first. p adj.:"
        f" {families[0].describe('pair')} of an outcome or measure.{sentences(family.note for family in families)}",
        rows=pairs.assign(metric=pairs["metric"].map(names)), most=SHOWN,
    )  # fmt: skip


def answerable(result: Answers) -> str:
    """Return the kinds of turns that have an answer, as far as there are any: ``answerable and partial``."""
    kinds = set(result.outcomes["kind"])
    return " and ".join(kind for kind in ANSWERABLE if kind in kinds)


def named(value: str) -> str:
    """Return an outcome or kind as people read it: ``made up`` for ``made_up``."""
    return value.replace("_", " ")


def _outcomes(result: Answers, systems: Sequence[str], slug: str) -> TableBlock:
    """Return the shares of the outcomes of some systems, by kind of turn and gold if any kind is known."""
    rows = result.outcomes[result.outcomes["system"].isin(systems)]
    rows = rows.assign(kind=[f"{named(kind)} ({turns:,})" for kind, turns in zip(rows["kind"], rows["turns"], strict=True)],
                       outcome=rows["outcome"].map(named), gold_given=rows["gold_given"].map(_given))  # fmt: skip
    by = "; ".join(f"{system_name(name)}: {how}" for name, how in result.responses_by.items())
    alone = answers_alone(result)
    columns: list[str | Field] = ["outcome"] if alone else ["kind", "outcome", _GIVEN]
    note = f"Share of {counted(int(rows['turns'].iloc[0]), 'turn')}. " if alone else (
        "Share of the turns of each kind (their number in brackets). Gold: whether a gold passage was given to the generator"
        f"{f' (–: {_UNKNOWN})' * ('–' in set(rows['gold_given']))}. "
    )  # fmt: skip
    note += f"{criterion_words(result)} In brackets: 95% CI (Wilson{clustered(result.evaluated.unit)}). Responses by: {by}."
    return wide_table(
        result, "outcomes", "What are the outcomes of the turns?", columns, "system", ["of_kind"], note,
        rows=rows, heads={name: system_name(name) for name in systems}, by=None if alone else "kind", slug=slug,
    )  # fmt: skip


def _journey(result: Answers) -> list[Block]:
    """Return the flow from kinds to outcomes, and tables of outcomes, causes, scores, support, pairs and the detector."""
    systems, unit = list(dict.fromkeys(result.outcomes["system"])), result.evaluated.unit
    wilson = f"In brackets: 95% CI (Wilson{clustered(unit)})."
    blocks: list[Block] = [_outcome_figure(result, systems)]
    for start in range(0, len(systems), SIDE_BY_SIDE):
        slug = f"outcomes-{start}" if start else "outcomes"
        blocks.append(_outcomes(result, systems[start : start + SIDE_BY_SIDE], slug))
    if len(result.causes):
        present = [cause for cause in OF_TURNS if (result.causes["cause"] == cause).any()]
        blocks.append(wide_table(
            result, "causes", "Which component loses answerable turns?", ["system", "turns"], "cause", ["share"],
            f"Turns: {answerable(result)}. Generator: a gold passage was given, but the answer is wrong or missing. Retrieval:"
            f" no gold passage was given.{_unknown(result)}",
            hint="--table causes_reversed attributes errors to the generator first.",
            heads={cause: "not lost" if cause == "none" else cause for cause in present}, group="not lost, or lost by",
        ))  # fmt: skip
    if len(rows := result.measures_by_kind):
        shown = pd.concat(
            [rows[rows["metric"] == metric] for metric in dict.fromkeys(rows["metric"])][:METRICS]
        )
        blocks.append(wide_table(
            result, "measures_by_kind", "How do the scores of the answers differ between kinds of turns?",
            ["metric", "system"], "kind", [result.spec("measures_by_kind").field("value").bare],
            "Means over the turns that have a value. CSV and JSON contain all metrics, the intervals and the numbers of turns.",
            rows=shown, heads={kind: kind for kind in dict.fromkeys(rows["kind"])}, by="metric",
        ))  # fmt: skip
    if len(result.support):
        note = (
            f"A sentence is supported if one passage of the answer has {100 * result.covered:.0f}% of its content words."
            " In a test, 84% to 99% of sentences planted from other conversations were found unsupported (docs/answers.md)."
        )
        if (result.support["by"] == "program").all():
            note = "A program decided which sentences the passages support."
        columns: list[Shown] = ["system", "sentences", "unsupported", "turns", "by"]
        blocks.append(
            result_table(
                result,
                "support",
                "How many sentences of the answers are unsupported?",
                columns,
                note,
            )
        )
    if len(result.estimates):
        blocks.append(result_table(
            result, "estimates", "Which shares would human labels of all turns give?",
            ["system", "outcome", "corrected", "human_only", "judge_only", "judged_units"],
            "Corrected: shares by the judge on all turns, corrected by human labels of some turns (prediction-powered"
            f" inference). {wilson} The labelled turns must be a random sample.",
            rows=result.estimates.assign(outcome=result.estimates["outcome"].map(named)),
        ))  # fmt: skip
    if len(systems) > 1:
        blocks.append(_pairs(result))
    if len(result.detector):
        rows = result.detector.assign(
            **{name: result.detector[name].map(named) for name in ("label", "detected")}
        )
        blocks.append(wide_table(
            result, "detector", "How often does the detector agree with the labels?", ["system", "label"], "detected",
            ["count"], "Number of answers by label (rows) and by the detector (columns).", rows=rows, group="detector",
            by="system",
        ))  # fmt: skip
    return blocks


def _outcome_figure(result: Answers, systems: Sequence[str]) -> Figure:
    """Return the figure of the share of turns with each outcome, by kind of turn, with a dot for every system."""
    marked = list(systems)
    if len(systems) > len(_SYSTEM_COLOURS):
        lost = lost_or_made_up(result)
        ordered = sorted(systems, key=lost.__getitem__)
        marked = [ordered[0], ordered[-1]]
    rows = outcome_rows(result)
    parts = [f"{system_name(name)}: {_shares_in_words(rows, name)}" for name in marked]
    caption = "Turns by outcome" if answers_alone(result) else "Turns of each kind by outcome"
    caption += ", as a share of the turns of the kind, with a dot for each system."
    if not answers_alone(result) and any(row.label == _GOLD_GIVEN for row in rows):
        caption += " Gold passage given: to the generator."
    if len(marked) < len(systems):
        caption += f" Marked: of {len(systems)} systems, those with the fewest and the most turns that are lost or made up."
    return Figure(
        "journey",
        caption,
        f"{'. '.join(parts)}.",
        lambda width: outcome_dots(width, rows, systems, marked),
    )


def _shares_in_words(rows: Sequence[OutcomeRow], system: str) -> str:
    words = []
    for row in rows:
        if system in row.shares:
            of = f"{row.of}, " if row.of else ""
            words.append(f"{of}{row.label} {percent(row.shares[system])}")
    return "; ".join(words)


def lost_or_made_up(result: Answers) -> dict[str, int]:
    """Return system → number of its turns whose outcome is an answerable turn lost, or an answer made up."""
    rows = result.outcomes
    lost = rows["kind"].isin(ANSWERABLE) & rows["outcome"].isin(LOST)
    bad = rows[lost | (rows["outcome"] == "made_up")].groupby("system")["count"].sum()
    return {name: int(bad.get(name, 0)) for name in dict.fromkeys(rows["system"])}


def answers_alone(result: Answers) -> bool:
    """Return whether neither gold information nor labels tell the kind of any turn."""
    return bool((result.outcomes["kind"] == "unknown").all())


def criterion_words(result: Answers) -> str:
    """Return what makes an answer correct, as a sentence."""
    if result.criterion:
        return f"Correct: {result.criterion}."
    return "Without a criterion of correct answers (--metric, --nuggets, --labels), any answer counts as answered."


def _unknown(result: Answers) -> str:
    """Return what an unknown cause is, as a sentence after others; empty if all causes are known."""
    return f" Unknown: {_UNKNOWN}." if (result.causes["cause"] == "unknown").any() else ""


def _given(value: object) -> str:
    return "–" if pd.isna(value) else "given" if value else "not given"


@dataclass(frozen=True)
class OutcomeRow:
    """A row of the figure.

    of
        The kind of turn; empty if no kind is known.
    label
        The outcome, or that a gold passage was given to the generator.
    shares
        System → share of its turns of the kind; without systems that have none.
    """

    of: str
    label: str
    shares: Mapping[str, float]


_GOLD_GIVEN = "gold passage given"


def outcome_rows(result: Answers) -> list[OutcomeRow]:
    """Return the rows of the figure, kind by kind; outcomes that no system has are left out."""
    alone = answers_alone(result)
    outcomes = result.outcomes
    rows = []
    for kind in KINDS:
        of_kind = outcomes[outcomes["kind"] == kind]
        turns = of_kind.groupby("system")["count"].sum()
        turns = turns[turns > 0]
        of = "" if alone else named(kind)
        gold = of_kind[of_kind["gold_given"].notna()]
        if len(gold):
            given = gold[gold["gold_given"].astype(bool)].groupby("system")["count"].sum()
            rows.append(OutcomeRow(of, _GOLD_GIVEN, _shares(given, turns)))
        for outcome in OUTCOMES:
            counts = of_kind[of_kind["outcome"] == outcome].groupby("system")["count"].sum()
            if counts.any():
                rows.append(OutcomeRow(of, named(outcome), _shares(counts, turns)))
    return rows


def _shares(counts: pd.Series, turns: pd.Series) -> dict[str, float]:
    return {str(name): float(counts.get(name, 0) / total) for name, total in turns.items()}


#: Colours of systems, if each has one.
_SYSTEM_COLOURS = (FIRST, SECOND, "#147a5f", "#873a73", "#b07d12", "#7db0da")
_GREY = "#8b949e"
# Lengths in inches: a row, a heading of a kind, the axis below, the edge, and the indent of rows below a heading.
_ROW, _HEAD, _AXIS, _EDGE, _INDENT = 0.19, 0.24, 0.4, 0.15, 0.1
#: Vertical distance of the dots of two systems, as a share of a row.
_APART = 0.13


def outcome_dots(
    width: Width,
    rows: Sequence[OutcomeRow],
    systems: Sequence[str],
    marked: Sequence[str],
) -> MatplotlibFigure:
    """Draw a row for each outcome under its kind of turn, and in it a dot for each system; ``marked`` have a colour."""
    labels = [one_line(row.label) for row in rows]
    left = 0.2 + _INDENT + max(room(labels), room([row.of for row in rows], bold=True) - _INDENT)
    names = shortened_names([system_name(name) for name in marked], 30)
    keys = [*names, "other systems"] if len(marked) < len(systems) else names
    across = keys_across(keys, width.inches - 0.3)
    legend = legend_height(len(keys), across) + 0.08
    # places from the top, in inches
    places, heads = [], []
    down = 0.0
    for before, row in zip([None, *rows], rows, strict=False):
        if row.of and (before is None or before.of != row.of):
            heads.append((row.of, down + scaled(_HEAD) / 2))
            down += scaled(_HEAD)
        places.append(down + scaled(_ROW) / 2)
        down += scaled(_ROW)
    height = legend + down + scaled(_AXIS)
    figure = new_figure(width.inches, height)
    axes = add_panel(figure, left, scaled(_AXIS), width.inches - left - scaled(_EDGE), down)
    axes.set(xlim=(0, 1), ylim=(down, 0))
    ticks = np.arange(0, 101, 50 if width.narrow else 20)
    axes.set_xticks(ticks / 100, [f"{tick}%" for tick in ticks])
    axes.set_xlabel("share of the turns of the kind" if heads else "share of the turns")
    axes.set_yticks(places, labels)
    axes.tick_params(axis="y", length=0, pad=6)
    axes.grid(axis="both")
    for head, place in heads:
        x = -(left - 0.05) / (width.inches - left - scaled(_EDGE))
        axes.text(x, place, one_line(head), weight="bold", va="center")
    colours = dict(zip(marked, _SYSTEM_COLOURS, strict=False))
    for name in sorted(systems, key=lambda name: name in colours):  # marked ones are on top
        shift = (marked.index(name) - (len(marked) - 1) / 2) * _APART if name in colours else 0.0
        shares = [row.shares.get(name, np.nan) for row in rows]
        y = [place + shift * scaled(_ROW) for place in places]
        dots(axes, shares, y, colours.get(name, _GREY), alpha=1.0 if name in colours else 0.5)
    explained = _dots_explained([colours[name] for name in marked])
    pairs = list(zip(keys, explained, strict=False))
    add_legend(figure, pairs, width.inches / 2, height - 0.04, across, "center")
    return figure


def _dots_explained(colours: Sequence[str]) -> list[Line2D]:
    """Return the dots of a legend: one of each colour, and that of all other systems."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgewidth": 0}
    dots_of_systems = [Line2D([], [], color=colour, markersize=4.6, **look) for colour in colours]
    return [*dots_of_systems, Line2D([], [], color=_GREY, alpha=0.5, markersize=4.6, **look)]
