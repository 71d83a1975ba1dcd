"""Tables and figures of answers: the way from questions to outcomes, causes, support, and coverage of gold items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.drawing import INK, Drawing, Panel, letters, page_width, panels_across, room
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, cell, result_table, wide_table
from robustcs.documents.text import shortened
from robustcs.documents.words import clustered, measure_label
from robustcs.evaluation.measure import GOLD_MEASURES, Gold
from robustcs.evaluation.outcomes import ANSWERABLE, LOST, OUTCOMES
from robustcs.evaluation.outcomes import CAUSES as OF_TURNS
from robustcs.inputs.answers import KINDS
from robustcs.lazy import pd
from robustcs.result import Field, number, text
from robustcs.studies.answers.analysis import CAUSES, LENGTH, Answers
from robustcs.wording import counted, sentences, system_name

#: Pairs in the printed tables; JSON and CSV contain all.
SHOWN = 10
#: Systems in one table, panels of the figure, and metrics of the files in a table.
SIDE_BY_SIDE, PANELS, METRICS = 4, 4, 4
_GIVEN = text("gold_given", header="Gold")
_UNKNOWN = "no gold passage of the turn is known, or the passages of the answer are unknown"
_GOLD: dict[object, str] = {True: "given", False: "not given", None: "no gold"}
#: Outcome → colour: blue for what a system should do, orange and red for errors, grey for no answer.
COLOURS = {
    "correct": "#0b3a66", "answered": "#2f74b0", "wrong": "#cf5c0c", "hedged": "#f2bf62", "made up": "#a3204b",
    "refused": "#e9863b", "abstained": "#9aa3ab", "asked back": "#2fa585", "no answer": "#d9d9d9",
}  # fmt: skip
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


def overview(result: Answers) -> tuple[Table | Figure, ...]:
    """Return the table and the figure that may open a report: a row per system, and the flow of at most two systems.

    The figure shows the systems with the most and the fewest turns that are lost or made up.
    """
    systems = list(dict.fromkeys(result.outcomes["system"]))
    if answers_alone(result):
        return (_outcomes(result, systems, "overview"), _flow_figure(result, systems))

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
    return (table, _flow_figure(result, list(dict.fromkeys([order[-1], order[0]]))))


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


def _means(result: Answers, gold: Gold) -> Table:
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


def _pairs(result: Answers) -> Table:
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


def _outcomes(result: Answers, systems: Sequence[str], slug: str) -> Table:
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
    blocks: list[Block] = [_flow_figure(result, systems)]
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


def _flow_figure(result: Answers, systems: Sequence[str]) -> Figure:
    if answers_alone(result):
        rows = result.outcomes.assign(
            outcome=result.outcomes["outcome"].map(named), share=result.outcomes["of_kind"]
        )
        colours = {
            outcome: colour
            for outcome, colour in COLOURS.items()
            if (rows["outcome"] == outcome).any()
        }
        return share_figure("journey", "Turns by outcome.", rows, "system", "outcome", colours)
    shown = systems[:PANELS]
    flows: dict[str, dict[tuple[str, str, str], int]] = {system_name(name): {} for name in shown}
    for row in result.rows("outcomes"):
        if row.system in shown and row.count:
            flows[system_name(row.system)][
                named(row.kind), _GOLD[row.gold_given], named(row.outcome)
            ] = row.count
    words = (
        f"{name}: " + ", ".join(f"{' → '.join(path)} {count}" for path, count in flow.items())
        for name, flow in flows.items()
    )
    first = f" The first {PANELS} of {len(systems)} systems." if len(systems) > PANELS else ""
    caption = f"Turns by kind, by whether a gold passage was given to the generator, and by outcome.{first}"
    return Figure("journey", caption, f"{'; '.join(words)}.", lambda: _flows(flows))


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


#: A flow: kind, gold given (as shown), outcome → number or share of the turns.
Flow = Mapping[tuple[str, str, str], float]
#: Lengths: height of a panel and of its title in inches; the gap between nodes and the least height of a label, as shares of
#: the turns.
_PANEL, _TITLE, _GAP, _LABEL = 2.2, 0.22, 0.03, 0.06
_BESIDE = 0.1  # inches beside a label
#: Nodes of the three columns, in order; the labels of the middle column end before the last one.
_NODES = (
    [named(kind) for kind in KINDS],
    list(_GOLD.values()),
    [named(outcome) for outcome in OUTCOMES],
)
_PLACES = (0.0, 0.42, 1.0)
_NODE = 0.025
#: A band between two columns: its number of points, and the share of its way at each, level at both ends.
_STEPS = 25
_CURVE = (1 - np.cos(np.linspace(0, np.pi, _STEPS))) / 2
_GREY = "#8b949e"


def _flows(flows: Mapping[str, Flow]) -> Drawing:
    """Draw a panel per system."""
    across = panels_across(len(flows), 2)
    rows = -(-len(flows) // across)
    width, height, title = (
        page_width() / across,
        letters(_PANEL),
        letters(_TITLE) if len(flows) > 1 else 0.0,
    )
    before, after = (
        room(f"{path[place]} 99%" for flow in flows.values() for path in flow) + _BESIDE
        for place in (0, 2)
    )
    inside = width - before - after
    drawing = Drawing(page_width(), height * rows)
    for place, (name, flow) in enumerate(flows.items()):
        row, column = divmod(place, across)
        panel = drawing.panel(
            column * width, (rows - 1 - row) * height, width, height - title, frame="", marked=""
        )
        panel.x = -before / inside, 1 + after / inside
        if title:
            drawing.write(
                panel.left + 0.05,
                panel.bottom + panel.height + 0.07,
                shortened(name, 40),
                7.5,
                bold=True,
            )
        total = sum(flow.values())
        _panel(panel, {path: turns / total for path, turns in flow.items()})
    return drawing


def _panel(panel: Panel, flow: Flow) -> None:
    panel.y = 1.02 + _GAP * max(len({path[place] for path in flow}) for place in range(3)), -0.12
    # the outer heads are written outwards, so that they do not meet in a column
    panel.write(_NODE / 2, -0.035, "kind of turn", above="baseline", align="end")
    panel.write(_PLACES[1], -0.035, "gold passage", above="baseline", align="middle")
    panel.write(1 - _NODE / 2, -0.035, "outcome", above="baseline", align="start")
    tops = [_nodes(panel, flow, place) for place in range(3)]
    for left in (0, 1):
        _ribbons(panel, flow, left, dict(tops[left]), dict(tops[left + 1]))


def _nodes(panel: Panel, flow: Flow, place: int) -> dict[str, float]:
    """Draw the nodes of a column with their labels; return the top of each."""
    tops, top, free = {}, 0.0, -1.0
    for name in _NODES[place]:
        size = sum(share for path, share in flow.items() if path[place] == name)
        if not size:
            continue
        tops[name] = top
        x = _PLACES[place] - _NODE / 2
        panel.box(
            x,
            top,
            x + _NODE,
            top + size,
            COLOURS[name] if place == 2 else _GREY,
            edge=INK,
            edge_width=0.4,
        )
        free = max(top + size / 2, free + _LABEL)  # labels of thin nodes do not overlap
        label = f"{name} {100 * size:.0f}%" if size >= 0.005 else f"{name} <1%"
        panel.write(
            x - 0.015 if place == 0 else x + _NODE + 0.015,
            free,
            label,
            align="start" if place else "end",
        )
        top += size + _GAP
    return tops


def _ribbons(
    panel: Panel, flow: Flow, left: int, starts: dict[str, float], ends: dict[str, float]
) -> None:
    """Draw the bands between two columns, in the order of the nodes on both sides; each has the colour of its outcome."""

    def in_order(*columns: int) -> list[tuple[str, str, str]]:
        return sorted(
            flow, key=lambda path: [_NODES[column].index(path[column]) for column in columns]
        )

    third, begins = 0 if left else 2, {}
    for path in in_order(left, left + 1, third):
        begins[path] = starts[path[left]]
        starts[path[left]] += flow[path]
    x = np.linspace(_PLACES[left] + _NODE / 2, _PLACES[left + 1] - _NODE / 2, _STEPS)
    for path in in_order(left + 1, left, third):
        y = begins[path] + (ends[path[left + 1]] - begins[path]) * _CURVE
        ends[path[left + 1]] += flow[path]
        panel.band(x, y, y + flow[path], COLOURS[path[2]], alpha=0.55)
