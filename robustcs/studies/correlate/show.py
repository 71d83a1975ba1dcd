"""Tables and figures of correlate: correlations, scatter plot (Figures 2 and 3 of the error-analysis paper), outliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Block, Card, Cards, Figure, Heading, TableBlock
from robustcs.documents.tables import result_table, wide_table
from robustcs.documents.words import noted, number, score
from robustcs.errors import UsageError
from robustcs.lazy import pd
from robustcs.result import Field, text
from robustcs.similarity.rankings import parse_answer_measure
from robustcs.studies.correlate.analysis import (
    ALIKE,
    CORNERS,
    DIFFERENT_ANSWERS,
    SAME_ANSWERS,
    SUBSETS,
    UNLIKE,
    Correlate,
)
from robustcs.wording import FORMULATION_NAMES, counted, system_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width
    from robustcs.studies.correlate.figure import Scatter

#: Number of outliers shown per corner; JSON and CSV contain all.
SHOWN = 20
METHOD_NAMES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "partial": "partial",
}
_PARTS = {"precision": "precision", "recall": "recall", "f": "F"}


def show(result: Correlate, details: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the tables, the figure and the outliers of the rewriter; with several, their comparison and then ``details``."""
    rewriters = list(dict.fromkeys(result.pairs["rewriter"]))
    blocks: list[Block] = []
    if len(rewriters) == 1:
        blocks += _one(result, rewriters[0], "")
    else:
        blocks += [_figure(result, rewriters), _side_by_side(result, rewriters)]
        for name in details:
            blocks += [Heading(f"Rewriter {name}", 2), *_one(result, name, f"-{name}")]
    if len(result.encoders):
        blocks.append(_encoders(result))
    return tuple(blocks)


def _one(result: Correlate, rewriter: str, slug: str) -> list[Block]:
    """Return the tables, the figure and the outliers of one rewriter."""
    blocks: list[Block] = []
    for y in result.chosen[1]:
        blocks += [_by_subset(result, rewriter, y, slug), _by_method(result, rewriter, y, slug)]
    return [
        *blocks,
        _figure(result, [rewriter], slug),
        *(_outliers(result, rewriter, corner, slug) for corner in CORNERS),
    ]


def similarity_label(name: str) -> str:
    """Return ``ROUGE-1 F`` for ``rouge1_f``."""
    if name in ("use", "sentence_transformer"):
        return {"use": "USE", "sentence_transformer": "sentence-transformers"}[name]
    kind, _, part = name.partition("_")
    return f"ROUGE-{kind.removeprefix('rouge')} {_PARTS[part]}"


def answers_label(name: str) -> str:
    """Return ``overlap of the top 1000`` for ``overlap_1000`` and ``QR correct (P@1 = 1)`` for ``P_1=1``; keep other names."""
    try:
        one = parse_answer_measure(name)
    except UsageError:
        return name  # a column of the user's own file
    if one.measure is not None:
        label = one.measure.label
        return (
            f"{label}, QR − Human"
            if one.threshold is None
            else f"QR correct ({label} {one.threshold.label})"
        )
    if one.kind == "rbo":
        return (
            f"rank-biased overlap (p = {one.persistence:g})"
            if "_" in name
            else "rank-biased overlap"
        )
    kind = "overlap" if one.kind == "overlap" else "Jaccard similarity"
    return f"{kind} of the top {one.depth}" if one.depth else f"{kind} of the answers"


def corner_labels(y: str) -> tuple[str, str]:
    """Return descriptions of the two corners for a measure of answers, such as ``similar questions but different answers``."""
    label = answers_label(y)
    if label.startswith("QR correct"):
        answers = "QR not correct", "QR correct"
    elif label == y or label.endswith("QR − Human"):
        answers = f"low {label}", f"high {label}"
    else:
        answers = "different answers", "the same answers"
    return f"similar questions but {answers[0]}", f"different questions but {answers[1]}"


def corner_counts(result: Correlate, rewriter: str) -> str:
    """Return the number of turns in each corner: ``Exceptions: 0 turns with similar questions but …, 12 with …``."""
    first, second = _corners(result, rewriter)
    similar, different = corner_labels(result.chosen[1][0])
    return f"Exceptions: {counted(first, 'turn')} with {similar}, {second} with {different}"


def _corners(result: Correlate, rewriter: str) -> list[int]:
    return [len(corner_turns(result, rewriter, corner)) for corner in CORNERS]


def corner_turns(result: Correlate, rewriter: str, corner: str) -> list[str]:
    """Return the turns of a rewriter in a corner."""
    part = _of(result.outliers, rewriter)
    return [str(turn) for turn in part["turn"][part["corner"] == corner]]


def _of(frame: pd.DataFrame, rewriter: str) -> pd.DataFrame:
    return frame[frame["rewriter"] == rewriter]


def first_rows(result: Correlate) -> pd.DataFrame:
    """Return Pearson's r of the first x and y over all turns, one row per rewriter."""
    x, y = (names[0] for names in result.chosen)
    rows = result.correlations
    return rows[
        (rows["x"] == x)
        & (rows["y"] == y)
        & (rows["subset"] == "all")
        & (rows["method"] == "pearson")
    ]


#: Subset → the head of its column.
_SUBSETS = {"all": "all", "judged": "judged", "correct": "Human ✓"}


def _pearson(
    result: Correlate,
    rows: pd.DataFrame,
    index: Sequence[Field],
    caption: str,
    note: str,
    slug: str,
) -> TableBlock:
    """Return a table of Pearson's r with a column per subset; ``rows`` have the columns ``index``.

    The subset "all" is not shown if it would repeat the judged turns.
    """
    turns = {
        name: rows[rows["subset"] == name]["turns"]
        for name in SUBSETS
        if name in set(rows["subset"])
    }
    shown = [
        name
        for name in turns
        if name != "all" or "judged" not in turns or turns["all"].max() > turns["judged"].max()
    ]
    heads = {}
    for name in shown:
        numbers = dict.fromkeys((turns[name].min(), turns[name].max()))
        heads[name] = f"{_SUBSETS[name]} ({' to '.join(map(str, numbers))})"
    told = rows[rows["subset"].isin(shown)]
    note = f"Pearson's r over turns{note} (number of turns in brackets). {_jackknife(result)}"
    if result.rule and "correct" in shown:
        note += f" Human ✓: turns on which Human is correct {answers_label(result.rule).removeprefix('QR correct ')}."
    names = [field.name for field in index]
    labels = [
        ", ".join((*own, _SUBSETS[row.subset]))
        for own, row in zip(told[names].values, told.itertuples(), strict=True)
    ]
    return wide_table(
        result, "correlations", caption, index, "subset", ["value"], note + noted(zip(labels, told["note"], strict=True)),
        rows=told, heads=heads, group="r (95% CI)", by=names[0], slug=slug,
    )  # fmt: skip


def _by_subset(result: Correlate, rewriter: str, y: str, slug: str) -> TableBlock:
    """Return the table of Pearson's r of one rewriter for every x."""
    rows = _of(result.correlations, rewriter)
    rows = rows[(rows["y"] == y) & (rows["method"] == "pearson")]
    rows = rows.assign(x=rows["x"].map(similarity_label))
    caption = f"Question similarity against {answers_label(y)}"
    return _pearson(
        result, rows, [text("x", header="Questions")], caption, "", f"pearson-{y}{slug}"
    )


def _side_by_side(result: Correlate, rewriters: Sequence[str]) -> TableBlock:
    """Return the table of Pearson's r with the first question similarity for every measure of answers and rewriter."""
    x, ys = result.chosen[0][0], result.chosen[1]
    rows = result.correlations
    rows = rows[(rows["x"] == x) & (rows["method"] == "pearson")]
    rows = rows.assign(place=rows["y"].map(ys.index), y=rows["y"].map(answers_label)).sort_values(
        "place", kind="stable"
    )
    counts = "; ".join(
        f"{system_name(name)} {' and '.join(map(str, _corners(result, name)))}"
        for name in rewriters
    )
    outliers = f"Number of outliers per rewriter ({', and '.join(corner_labels(ys[0]))}): {counts}."
    index = [text("y", header="Answers"), text("rewriter", header="Rewriter")]
    table = _pearson(
        result, rows, index, "Question similarity against answers: the rewriters side by side",
        f" with {similarity_label(x)} of QR and Human", "rewriters",
    )  # fmt: skip
    hint = "--details NAME shows all results of one rewriter; --table correlations lists every similarity and method."
    return replace(table, note=f"{table.note} {outliers}", hint=hint)


def _jackknife(result: Correlate) -> str:
    unit = result.evaluated.unit
    return f"95% CI: jackknife over {unit}s. A correlation over turns does not show that the two measures rank systems alike."


def _by_method(result: Correlate, rewriter: str, y: str, slug: str) -> TableBlock:
    """Return the table of every x by all methods over all turns, with p-values, and the partial correlation."""
    rows = pd.concat(
        [result.correlations, result.partial.assign(method="partial")], ignore_index=True
    )
    rows = rows[(rows["rewriter"] == rewriter) & (rows["y"] == y) & (rows["subset"] == "all")]
    rows = rows.assign(x=rows["x"].map(similarity_label), method=rows["method"].map(METHOD_NAMES))
    given = {"depth": "turn depth", "length": "question length"}
    constant = " and ".join(given[name] for name in str(rows["given"].dropna().iloc[0]).split(", "))
    note = (
        f"{counted(rows['turns'].iloc[0], 'turn')}. {_jackknife(result)} p: test of no correlation, by the same jackknife;"
        f" p adj.: Holm over the {counted(rows['comparisons'].iloc[0], 'correlation')} of each method. Partial: Pearson's r"
        f" with {constant} held constant."
    )
    return result_table(
        result, "partial", f"Rank and partial correlations: question similarity against {answers_label(y)}",
        [text("x", header="Questions"), text("method", header="Method"), "value", "p", "p_corrected"],
        note + noted((f"{row.x} ({row.method})", row.note) for row in rows.itertuples()),
        rows=rows, by="x", slug=f"methods-{y}{slug}",
    )  # fmt: skip


def _outliers(result: Correlate, rewriter: str, corner: str, slug: str) -> Cards:
    x, y = (names[0] for names in result.chosen)
    part = _of(result.outliers, rewriter)
    part = part[part["corner"] == corner]
    cards = []
    for _, row in part.head(SHOWN).iterrows():
        fields = [(name, row[f"{role}_text"]) for role, name in FORMULATION_NAMES.items()]
        shown = [(name, text) for name, text in fields if isinstance(text, str)]
        found = (f" ({name}: {row[name]})" if row[name] else "" for name in ("missing", "added"))
        shown.append(("Difference", row["kinds"] + "".join(found)))
        title = f"{row['turn']} · questions {score(row['similarity'])} · answers {score(row['answers'])}"
        cards.append(Card(title, tuple(shown)))
    box = f"{similarity_label(x)} > {ALIKE:g}, {answers_label(y)} < {DIFFERENT_ANSWERS:g}"
    if corner == CORNERS[1]:
        box = f"{similarity_label(x)} < {UNLIKE:g}, {answers_label(y)} > {SAME_ANSWERS:g}"
    many = f"{len(part)}, the first {SHOWN} shown" if len(part) > SHOWN else f"{len(part)}"
    title = _corner_titles(result)[corner]
    return Cards(f"{corner.replace(' ', '-')}{slug}", f"{title} ({many}; {box})", tuple(cards))


def _encoders(result: Correlate) -> TableBlock:
    frame = result.encoders
    rows = frame.assign(
        x=frame["x"].map(similarity_label), fingerprint=frame["fingerprint"].str[:16]
    )
    note = "Fingerprint: start of the SHA-256 of the model's files; JSON contains all of it."
    return result_table(
        result, "encoders", "Sentence encoders", ["x", "model", "fingerprint"], note, rows=rows
    )


def _figure(result: Correlate, rewriters: Sequence[str], slug: str = "") -> Figure:
    x, y = (names[0] for names in result.chosen)
    rows = [row for row in first_rows(result).itertuples() if row.rewriter in rewriters]
    said = [
        f"{system_name(row.rewriter)}: Pearson's r {number(row.value, 3)} over {counted(row.turns, 'turn')};"
        f" {corner_counts(result, row.rewriter)}" for row in rows
    ]  # fmt: skip
    return Figure(
        f"scatter{slug}",
        f"{similarity_label(x)} of QR and Human against {answers_label(y)}. Each point is a turn (larger: several turns). The"
        " dashed line is the diagonal; triangles are outliers"
        + (
            "; the margins show both distributions."
            if len(rows) == 1
            else "; one panel per rewriter."
        ),
        f"{'. '.join(said)}.",
        lambda width: draw_scatter(width, result, rewriters),
    )


def _corner_titles(result: Correlate) -> dict[str, str]:
    labels = corner_labels(result.chosen[1][0])
    return {
        corner: label[0].upper() + label[1:] for corner, label in zip(CORNERS, labels, strict=True)
    }


def draw_scatter(width: Width, result: Correlate, rewriters: Sequence[str]) -> MatplotlibFigure:
    """Draw the scatter plot of the first x and y of one rewriter; of several, as small multiples."""
    from robustcs.studies.correlate.figure import scatter_figure, scatter_panels

    rows = [row for row in first_rows(result).itertuples() if row.rewriter in rewriters]
    titles = [f"{system_name(row.rewriter)}: r = {number(row.value, 3)}" for row in rows]
    scatters = [
        _scatter(result, row.rewriter, title) for row, title in zip(rows, titles, strict=True)
    ]
    if len(scatters) == 1:
        return scatter_figure(scatters[0])
    return scatter_panels(width, scatters)


def _scatter(result: Correlate, rewriter: str, title: str) -> Scatter:
    from robustcs.studies.correlate.figure import Scatter, ScatterCorner

    x, y = (names[0] for names in result.chosen)
    pairs = _of(result.pairs, rewriter).dropna(subset=y)
    outliers = _of(result.outliers, rewriter)
    boxes = ((ALIKE, 1.1, -0.1, DIFFERENT_ANSWERS), (-0.1, UNLIKE, SAME_ANSWERS, 1.1))
    first, second = (
        ScatterCorner(
            box,
            title,
            np.flatnonzero(pairs["turn"].isin(outliers["turn"][outliers["corner"] == corner])),
        )
        for box, (corner, title) in zip(boxes, _corner_titles(result).items(), strict=True)
    )
    labels = f"questions: {similarity_label(x)}", f"answers: {answers_label(y)}"
    return Scatter(
        title,
        *labels,
        pairs["turn"].tolist(),
        pairs[x].to_numpy(),
        pairs[y].to_numpy(),
        (first, second),
    )
