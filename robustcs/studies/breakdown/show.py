"""A breakdown as Tables 1, 3 and 4 of the error-analysis paper print it, with intervals and tests beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Card, Cards, Column, Heading, Table
from robustcs.documents.headline import Cut, headline_cut
from robustcs.documents.words import (
    CAUSE_TITLES,
    FORMULATION_NAMES,
    marks,
    measure_label,
    p_value,
    percent,
    percent_interval,
    score,
    threshold_label,
)
from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS, CAUSES
from robustcs.studies.breakdown.analysis import Breakdown

if TYPE_CHECKING:
    import pandas as pd


def present_breakdown(result: Breakdown) -> tuple[Block, ...]:
    """All tables of a breakdown, rewriter by rewriter."""
    rewriters = list(dict.fromkeys(result.bins["rewriter"]))
    blocks: list[Block] = []
    for rewriter in rewriters:
        tables = {name: frame[frame["rewriter"] == rewriter] for name, frame in result.tables.items()}
        if len(rewriters) > 1:
            blocks.append(Heading(f"Rewriter {rewriter}", 2))
        slug = "" if len(rewriters) == 1 else f"-{rewriter}"
        cuts = shown_cuts(tables["turns"])
        blocks += [
            _bins(tables["bins"], cuts, slug),
            _attribution(tables["attribution"], cuts, slug),
            _answerable(tables["answerable"], cuts, slug),
            _tests(tables["tests"], cuts, slug),
            _headroom(tables["headroom"], cuts, slug),
        ]
    return tuple(blocks)


def shown_cuts(turns: pd.DataFrame) -> list[Cut]:
    """The (metric, threshold) pairs of the result, each a column of its tables."""
    return list(dict.fromkeys(zip(turns["metric"], turns["threshold"], strict=True)))


def cut_label(cut: Cut) -> str:
    """``NDCG@3 ≥ 0.5``."""
    return f"{measure_label(cut[0])} {threshold_label(cut[1])}"


def _at(frame: pd.DataFrame, cut: Cut) -> pd.DataFrame:
    return frame[(frame["metric"] == cut[0]) & (frame["threshold"] == cut[1])]


def _bins(bins: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    known = not bins["unchanged"].isna().any()
    columns = [Column(FORMULATION_NAMES[role], "left") for role in FORMULATION_NAMES]
    columns += [Column(threshold_label(threshold), group=measure_label(metric)) for metric, threshold in cuts]
    cells = [["✓" if bit == "1" else "×" for bit in bin_] for bin_ in BINS]
    total = ["Total", "", ""]
    for cut in cuts:
        part = _at(bins, cut)
        numbers = list(zip(part["count"], part["unchanged"], strict=True))
        for row, (count, unchanged) in zip(cells, numbers, strict=True):
            row.append(f"{count} ({unchanged})" if known else str(count))
        count = part["count"].sum()
        total.append(f"{count} ({part['unchanged'].sum()})" if known else str(count))
    note = "Rows 1–4: errors of the QA component; rows 5–6: of the rewriter; rows 7–8: answered."
    if known:
        note += " In brackets: turns whose Human text equals the Original."
    return Table(
        f"bins{slug}", "Turns per bin: is the answer to each formulation correct?", tuple(columns),
        tuple(map(tuple, [*cells, total])), note, frozenset({4, 6, 8}),
    )  # fmt: skip


def _attribution(attribution: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [Column("Correct if", "left")]
    for cause in CAUSES:
        columns += [Column(title, group=CAUSE_TITLES[cause]) for title in ("turns", "share", "95 %")]
    rows = []
    for cut in cuts:
        part = _at(attribution, cut).set_index("cause")
        row = [cut_label(cut)]
        for cause in CAUSES:
            line = part.loc[cause]
            row += [str(line["count"]), percent(line["share"]), percent_interval(line["ci_low"], line["ci_high"])]
        rows.append(tuple(row))
    return Table(
        f"attribution{slug}", "Who is to blame?", tuple(columns), tuple(rows),
        f"Shares of all {_turns(attribution)} turns. 95 %: Wilson interval in per cent.",
    )  # fmt: skip


def _turns(attribution: pd.DataFrame) -> int:
    return int(attribution.groupby(["metric", "threshold"])["count"].sum().iloc[0])


def _answerable(answerable: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    groups = {"all": "all turns", "rewritten": "turns that needed rewriting"}
    shown = [turns for turns in groups if turns in set(answerable["turns"])]
    columns = [Column("Correct if", "left")]
    for turns in shown:
        columns += [Column(title, group=groups[turns]) for title in ("answered", "share", "95 %")]
    rows = []
    for cut in cuts:
        part = _at(answerable, cut).set_index("turns")
        row = [cut_label(cut)]
        for turns in shown:
            line = part.loc[turns]
            row += [
                f"{line['answered']} of {line['answerable']}", percent(line["share"]),
                percent_interval(line["ci_low"], line["ci_high"]),
            ]  # fmt: skip
        rows.append(tuple(row))
    return Table(
        f"answerable{slug}", "How much does the Original question answer alone?", tuple(columns), tuple(rows),
        "Out of the turns that the Human question answers. 95 %: Wilson interval in per cent.",
    )  # fmt: skip


def _tests(tests: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    pairs = list(dict.fromkeys(zip(tests["first"], tests["second"], strict=True)))
    columns = [Column("Correct if", "left")]
    for first, second in pairs:
        group = f"{FORMULATION_NAMES[first]} : {FORMULATION_NAMES[second]}"
        columns += [Column("turns", group=group), Column("p", group=group)]
    rows = []
    for cut in cuts:
        part = _at(tests, cut)
        row = [cut_label(cut)]
        for _, line in part.iterrows():
            row += [f"{line['only_first']} : {line['only_second']}", p_value(line["p"])]
        rows.append(tuple(row))
    return Table(
        f"tests{slug}", "Does one formulation answer more turns than another?", tuple(columns), tuple(rows),
        "Turns that only the one or only the other answers; McNemar's exact test, two-sided.",
    )  # fmt: skip


def _headroom(headroom: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [
        Column("Rewriter error if", "left"), Column("Original"), Column("QR"), Column("Human"), Column("repaired"),
        Column("gain"), Column("95 %"),
    ]  # fmt: skip
    rows = []
    for cut in cuts:
        line = _at(headroom, cut).iloc[0]
        rows.append(
            (
                f"not {cut_label(cut)}",
                *(score(line[name]) for name in ("original", "qr", "human", "repaired", "gain")),
                f"{line['ci_low']:.3f}–{line['ci_high']:.3f}",
            )
        )
    return Table(
        f"headroom{slug}", "What would a perfect rewriter gain?", tuple(columns), tuple(rows),
        "Mean scores; repaired: the Human score in place of the QR score wherever the rewriter is to blame;"
        " bootstrap interval over turns.",
    )  # fmt: skip


def present_turns(result: Breakdown, bin_: str, cut: Cut | None = None) -> Cards:
    """The turns of one bin with scores and texts, by the first rewriter; ``cut`` defaults to the result's first.

    Raises :class:`UsageError` for anything that is not a bin.
    """
    if bin_ not in BINS:
        raise UsageError("bad-bin", f"bin {bin_!r}", f"write Original, QR, Human as 0 or 1: {', '.join(BINS)}")
    turns = result.turns
    first = turns.iloc[0]
    cut = cut or (first["metric"], first["threshold"])
    chosen = _at(turns[turns["rewriter"] == first["rewriter"]], cut)
    chosen = chosen[chosen["bin"] == bin_]
    cards = []
    for _, row in chosen.iterrows():
        scores = " · ".join(f"{FORMULATION_NAMES[role]} {score(row[role])}" for role in FORMULATION_NAMES)
        texts = tuple(
            (FORMULATION_NAMES[role], row[f"{role}_text"] if isinstance(row[f"{role}_text"], str) else "(no text given)")
            for role in FORMULATION_NAMES
        )
        cards.append(Card(f"{row['turn']} · {scores}", texts))
    caption = (
        f"{len(cards)} of {result.evaluated.turns} turns in bin {bin_}"
        f" (Original {marks(bin_[0])}, QR {marks(bin_[1])}, Human {marks(bin_[2])}), correct if {cut_label(cut)}"
    )
    return Cards(f"turns-{bin_}", caption, tuple(cards))


def finding(result: Breakdown) -> tuple[str, ...]:
    """Who is to blame, in one sentence per rewriter, with counts, shares and intervals."""
    sentences = []
    for rewriter, rows in result.attribution.groupby("rewriter", sort=False):
        cuts = shown_cuts(result.turns[result.turns["rewriter"] == rewriter])
        cut = headline_cut(cuts)
        part = _at(rows, cut).set_index("cause")
        said = {}
        for cause, line in part.iterrows():
            interval = percent_interval(line["ci_low"], line["ci_high"])
            said[cause] = f"{line['count']} ({percent(line['share'])}, 95 % interval {interval})"
        who = "The rewriter" if rewriter == "qr" else f"The rewriter {rewriter}"
        sentences.append(
            f"Of {result.evaluated.turns} turns, correct if {cut_label(cut)}: {said['correct']} are answered by QR and Human."
            f" {who} is to blame for {said['qr']}, the QA component for {said['qa']}."
        )
    return tuple(sentences)
