"""Tables and figures of correlate: correlations, scatter plot (Figures 2 and 3 of the error-analysis paper), outliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.document import Block, Card, Cards, Drawing, Figure, Heading, Table
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import measure_label, noted, number_interval, score, threshold_label
from robustcs.documents.words import number as written
from robustcs.errors import UsageError, refuse_unknown
from robustcs.lazy import pd
from robustcs.result import difference, text
from robustcs.studies.correlate.analysis import CORNERS, SUBSETS, Correlate
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from robustcs.studies.correlate.figure import Scatter

#: Number of outliers shown per corner; JSON and CSV contain all.
SHOWN = 20
METHOD_NAMES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall", "partial": "partial"}
_PARTS = {"precision": "precision", "recall": "recall", "f": "F"}


def show(result: Correlate, details: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the tables, the figure and the outliers of the rewriter; with several, their comparison and then ``details``.

    Raises :class:`UsageError` for an unknown rewriter.
    """
    rewriters = list(dict.fromkeys(result.pairs["rewriter"]))
    refuse_unknown(details, rewriters, "rewriter")
    blocks: list[Block] = []
    if len(rewriters) == 1:
        blocks += _one(result, rewriters[0], "")
    else:
        blocks += [_small_multiples(result), _side_by_side(result, rewriters)]
        for name in details:
            blocks += [Heading(f"Rewriter {name}", 2), *_one(result, name, f"-{name}")]
    if len(result.encoders):
        blocks.append(_encoders(result))
    return tuple(blocks)


def _one(result: Correlate, rewriter: str, slug: str) -> list[Block]:
    """Return the tables, the figure and the outliers of one rewriter."""
    tables = {name: _of(frame, rewriter) for name, frame in result.tables.items()}
    blocks: list[Block] = []
    for y in result.chosen[1]:
        blocks += [_by_subset(result, tables["correlations"], y, slug), _by_method(result, tables, y, slug)]
    blocks.append(_figure(result, rewriter, slug))
    blocks += [_outliers(tables["outliers"], result, corner, slug) for corner in CORNERS]
    return [*blocks, _differences(result, tables["differences"], slug)]


def similarity_label(name: str) -> str:
    """Return ``ROUGE-1 F`` for ``rouge1_f``."""
    if name in ("use", "sentence_transformer"):
        return {"use": "USE", "sentence_transformer": "sentence-transformers"}[name]
    kind, _, part = name.partition("_")
    return f"ROUGE-{kind.removeprefix('rouge')} {_PARTS[part]}"


def answers_label(name: str) -> str:
    """Return ``overlap of the top 1000`` for ``overlap_1000`` and ``QR correct (P@1 = 1)`` for ``P_1=1``; keep other names."""
    kind, _, depth = name.rpartition("_")
    if kind in ("overlap", "jaccard") and depth.isdigit():
        return f"{'overlap' if kind == 'overlap' else 'Jaccard similarity'} of the top {depth}"
    if name == "answer_jaccard":
        return "Jaccard similarity of the answers"
    if name == "rbo" or name.startswith("rbo_0") or name.startswith("rbo_."):
        return "rank-biased overlap" + (f" (p = {name[4:]})" if name != "rbo" else "")
    if rule := _rule_label(name):
        return f"QR correct ({rule})"
    try:
        return f"{measure_label(name)}, QR − Human"
    except UsageError:
        return name  # a column of the user's own file


def _rule_label(name: str) -> str | None:
    """Return ``P@1 > 0`` for ``P_1>0``; None for anything but a measure with a threshold."""
    for operator in (">=", ">", "="):
        measure, found, value = name.partition(operator)
        if found:
            return f"{measure_label(measure)} {threshold_label(operator + value)}"
    return None


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
    counts = _of(result.outliers, rewriter)["corner"].value_counts()
    first, second = (counts.get(corner, 0) for corner in CORNERS)
    similar, different = corner_labels(result.chosen[1][0])
    return f"Exceptions: {counted(first, 'turn')} with {similar}, {second} with {different}"


def _of(frame: pd.DataFrame, rewriter: str) -> pd.DataFrame:
    return frame[frame["rewriter"] == rewriter] if "rewriter" in frame else frame


def first_rows(result: Correlate) -> pd.DataFrame:
    """Return Pearson's r of the first x and y over all turns, one row per rewriter."""
    x, y = (names[0] for names in result.chosen)
    rows = result.correlations
    return rows[(rows["x"] == x) & (rows["y"] == y) & (rows["subset"] == "all") & (rows["method"] == "pearson")]


def _r(row: Any) -> str:
    between = number_interval(row.ci_low, row.ci_high, 2)
    return written(row.value, 3) + ("" if between == "–" else f" ({between})")


_QUESTIONS: Shown = (text("Questions"), similarity_label)


def _by_subset(result: Correlate, correlations: pd.DataFrame, y: str, slug: str) -> Table:
    """Return the table of Pearson's r for every x, with one group of columns per subset."""
    part = correlations[(correlations["y"] == y) & (correlations["method"] == "pearson")]
    names = {"all": "all", "judged": "judged", "correct": "Human ✓"}
    turns = part.groupby("subset")["turns"].first()
    # if only judged turns have a value, the subset "all" would repeat them
    shown = [subset for subset in SUBSETS if subset in turns and (subset != "all" or turns["all"] > turns.get("judged", 0))]
    columns = [_QUESTIONS]
    for subset in shown:
        lines = {row.x: row for row in part[part["subset"] == subset].itertuples()}
        columns += group_columns(result, "correlations", f"{names[subset]} ({turns[subset]})", lines, "value")
    note = f"Pearson's r over turns (number of turns in brackets). {_jackknife(result)}"
    if {"all", "judged"} <= set(shown):
        note += " All: turns judged or not."
    if result.rule and "correct" in shown:
        note += f" Human ✓: turns on which Human is correct ({_rule_label(result.rule)})."
    told = part[part["subset"].isin(shown)].itertuples()
    return result_table(
        result, "correlations", f"Question similarity against {answers_label(y)}", columns,
        note + noted((f"{similarity_label(row.x)} ({names[row.subset]})", row.note) for row in told),
        rows=list(dict.fromkeys(part["x"])), slug=f"pearson-{y}{slug}",
    )  # fmt: skip


def _side_by_side(result: Correlate, rewriters: Sequence[str]) -> Table:
    """Return a table with a row per measure of answers and rewriter: Pearson's r with the first question similarity."""
    x, ys = result.chosen[0][0], result.chosen[1]
    frame = result.correlations
    frame = frame[(frame["x"] == x) & (frame["method"] == "pearson")]
    columns: list[Shown] = [
        (text("y", header="Answers"), lambda key: answers_label(key[0])),
        (text("rewriter", header="Rewriter"), lambda key: key[1]),
    ]
    for subset, group in (("all", "all"), ("correct", "Human ✓")):
        part = {(row.y, row.rewriter): row for row in frame[frame["subset"] == subset].itertuples()}
        if part:
            turns = dict.fromkeys(sorted(row.turns for row in part.values()))
            span = " to ".join(map(str, dict.fromkeys((min(turns), max(turns)))))
            columns += group_columns(result, "correlations", f"{group} ({span})", part, "value")
    corners = result.outliers.groupby(["rewriter", "corner"]).size()
    outliers = "; ".join(f"{name} {' and '.join(str(corners.get((name, one), 0)) for one in CORNERS)}" for name in rewriters)
    labels = corner_labels(ys[0])
    note = (
        f"Pearson's r with {similarity_label(x)} of QR and Human (number of turns in brackets). {_jackknife(result)}"
        " Overlapping intervals are no test of whether rewriters differ. Number of outliers per rewriter"
        f" ({labels[0]}, and {labels[1]}): {outliers}. --details NAME shows all results of one rewriter; --table correlations"
        " lists every similarity and method."
    )
    return result_table(
        result, "correlations", "Question similarity against answers: the rewriters side by side", columns,
        note + noted((f"{system_name(row.rewriter)} ({row.y}, {row.subset})", row.note) for row in frame.itertuples()),
        rows=[(y, rewriter) for y in ys for rewriter in rewriters],
        rules=[len(rewriters) * place for place in range(1, len(ys))], slug="rewriters",
    )  # fmt: skip


def _small_multiples(result: Correlate) -> Figure:
    x, y = (names[0] for names in result.chosen)
    rows = list(first_rows(result).itertuples())
    said = [f"{system_name(row.rewriter)}: Pearson's r {_r(row)} over {row.turns} turns" for row in rows]
    return Figure(
        "scatter",
        f"{similarity_label(x)} of QR and Human against {answers_label(y)} for {counted(len(rows), 'rewriter')}. Each point is"
        " a turn (larger: several turns). The dashed line is the diagonal; triangles are outliers.",
        f"One panel per rewriter. {'; '.join(said)}.",
        lambda: draw_rewriters(result),
    )


def _jackknife(result: Correlate) -> str:
    unit = result.evaluated.unit
    return f"95% CI: jackknife over {unit}s. A correlation over turns does not show that the two measures rank systems alike."


def _by_method(result: Correlate, tables: dict[str, pd.DataFrame], y: str, slug: str) -> Table:
    """Return the table of every x by all methods over all turns, with p-values, and the partial correlation."""
    rows = pd.concat([tables["correlations"], tables["partial"].assign(method="partial")], ignore_index=True)
    rows = rows[(rows["y"] == y) & (rows["subset"] == "all")]
    rows = rows.sort_values("x", key=lambda x: x.map(list(dict.fromkeys(x)).index), kind="stable")
    rows = rows.assign(x=rows["x"].map(similarity_label), method=rows["method"].map(METHOD_NAMES))
    given = {"depth": "turn depth", "length": "question length"}
    constant = " and ".join(given[name] for name in str(rows["given"].dropna().iloc[0]).split(", "))
    note = (
        f"{rows['turns'].iloc[0]} turns. {_jackknife(result)} p: test of no correlation, by the same jackknife; p adj.: Holm"
        f" over the {counted(rows['comparisons'].iloc[0], 'correlation')} of each method. Partial: Pearson's r with"
        f" {constant} held constant."
    )
    return result_table(
        result, "partial", f"Rank and partial correlations: question similarity against {answers_label(y)}",
        [text("x", header="Questions"), text("method", header="Method"), "value", "p", "p_corrected"],
        note + noted((f"{row.x} ({row.method})", row.note) for row in rows.itertuples()),
        rows=rows, by="x", slug=f"methods-{y}{slug}",
    )  # fmt: skip


def _outliers(outliers: pd.DataFrame, result: Correlate, corner: str, slug: str) -> Cards:
    x, y = (names[0] for names in result.chosen)
    part = outliers[outliers["corner"] == corner]
    cards = []
    for _, row in part.head(SHOWN).iterrows():
        fields = [(name, row[f"{role}_text"]) for name, role in (("Original", "original"), ("QR", "qr"), ("Human", "human"))]
        shown = [(name, text) for name, text in fields if isinstance(text, str)]
        found = (f" ({name}: {row[name]})" if row[name] else "" for name in ("missing", "added"))
        shown.append(("Difference", row["kinds"] + "".join(found)))
        title = f"{row['turn']} · questions {score(row['similarity'])} · answers {score(row['answers'])}"
        cards.append(Card(title, tuple(shown)))
    limits = result.corners
    box = f"{similarity_label(x)} > {limits.alike:g}, {answers_label(y)} < {limits.different_answers:g}"
    if corner == CORNERS[1]:
        box = f"{similarity_label(x)} < {limits.unlike:g}, {answers_label(y)} > {limits.same_answers:g}"
    many = f"{len(part)}, the first {SHOWN} shown" if len(part) > SHOWN else f"{len(part)}"
    title = _corner_titles(result)[corner]
    return Cards(f"{corner.replace(' ', '-')}{slug}", f"{title} ({many}; {box})", tuple(cards))


def _differences(result: Correlate, differences: pd.DataFrame, slug: str) -> Table:
    metrics = list(dict.fromkeys(differences["metric"].dropna()))
    rows = differences.drop_duplicates("kind")
    note = f"Answers: mean {answers_label(result.chosen[1][0])}."
    columns: list[Shown] = ["kind", "turns", "share", "answers"]
    if metrics:
        columns.append("judged")
        note += " Cost: mean Human − QR over the judged turns with this difference."
    for metric in metrics:
        costs = differences[differences["metric"] == metric].set_index("kind")["cost"]
        rows = rows.assign(**{metric: rows["kind"].map(costs)})
        columns.append(difference(metric, header=measure_label(metric), group="cost").rounded(3))
    return result_table(
        result, "differences", "Which differences are frequent, and what do they cost?", columns,
        f"{note} A turn may have several differences.", rows=rows, slug=f"differences{slug}",
    )  # fmt: skip


def _encoders(result: Correlate) -> Table:
    frame = result.encoders
    rows = frame.assign(x=frame["x"].map(similarity_label), fingerprint=frame["fingerprint"].str[:16])
    note = "Fingerprint: start of the SHA-256 of the model's files; JSON contains all of it."
    return result_table(result, "encoders", "Sentence encoders", ["x", "model", "fingerprint"], note, rows=rows)


def _figure(result: Correlate, rewriter: str, slug: str) -> Figure:
    x, y = (names[0] for names in result.chosen)
    (row,) = _of(first_rows(result), rewriter).itertuples()
    return Figure(
        f"scatter{slug}",
        f"{similarity_label(x)} of QR and Human against {answers_label(y)}. Each point is a turn (larger: several turns). The"
        " dashed line is the diagonal; triangles are outliers; the margins show both distributions.",
        f"One point per turn; x-axis: {similarity_label(x)}, y-axis: {answers_label(y)}. Pearson's r is"
        f" {written(row.value, 3)} over {row.turns} turns. {corner_counts(result, rewriter)}.",
        lambda: draw_scatter(result, rewriter),
    )


def _corner_titles(result: Correlate) -> dict[str, str]:
    labels = corner_labels(result.chosen[1][0])
    return {corner: label[0].upper() + label[1:] for corner, label in zip(CORNERS, labels, strict=True)}


def draw_scatter(result: Correlate, rewriter: str) -> Drawing:
    """Draw the scatter plot of the first x and y of one rewriter."""
    from robustcs.studies.correlate.figure import scatter_figure

    (row,) = _of(first_rows(result), rewriter).itertuples()
    return scatter_figure(_scatter(result, rewriter, f"Pearson {_r(row)}, {row.turns} turns"))


def draw_rewriters(result: Correlate) -> Drawing:
    """Draw the scatter plots of all rewriters as small multiples."""
    from robustcs.studies.correlate.figure import scatter_panels

    rows = list(first_rows(result).itertuples())
    titles = [f"{system_name(row.rewriter)}: r = {written(row.value, 3)}" for row in rows]
    return scatter_panels([_scatter(result, row.rewriter, title) for row, title in zip(rows, titles, strict=True)])


def _scatter(result: Correlate, rewriter: str, title: str) -> Scatter:
    from robustcs.studies.correlate.figure import Scatter, ScatterCorner

    x, y = (names[0] for names in result.chosen)
    pairs = _of(result.pairs, rewriter).dropna(subset=y)
    outliers, limits = _of(result.outliers, rewriter), result.corners
    boxes = ((limits.alike, 1.1, -0.1, limits.different_answers), (-0.1, limits.unlike, limits.same_answers, 1.1))
    first, second = (
        ScatterCorner(box, title, np.flatnonzero(pairs["turn"].isin(outliers["turn"][outliers["corner"] == corner])))
        for box, (corner, title) in zip(boxes, _corner_titles(result).items(), strict=True)
    )
    labels = f"questions: {similarity_label(x)}", f"answers: {answers_label(y)}"
    return Scatter(title, *labels, pairs["turn"].tolist(), pairs[x].to_numpy(), pairs[y].to_numpy(), (first, second))
