"""A breakdown as Tables 1, 3 and 4 of the error-analysis paper print it, with intervals and tests beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robustcs.documents.bins import BIN_RULES, bin_columns
from robustcs.documents.document import Block, Card, Cards, Heading, Table
from robustcs.documents.headline import Cut, headline_cut
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import (
    CAUSE_TITLES,
    FORMULATION_NAMES,
    interval,
    marks,
    measure_label,
    percent,
    percent_interval,
    score,
    threshold_label,
)
from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS, CAUSES
from robustcs.result import count, number, text
from robustcs.studies.breakdown.analysis import Breakdown

if TYPE_CHECKING:
    import pandas as pd


def show(result: Breakdown) -> tuple[Block, ...]:
    """All tables of a breakdown, rewriter by rewriter."""
    rewriters = list(dict.fromkeys(result.bins["rewriter"]))
    blocks: list[Block] = []
    for rewriter in rewriters:
        tables = {name: frame[frame["rewriter"] == rewriter] for name, frame in result.tables.items()}
        if len(rewriters) > 1:
            blocks.append(Heading(f"Rewriter {rewriter}", 2))
        slug = f"-{rewriter}" if len(rewriters) > 1 else ""
        cuts = shown_cuts(tables["turns"])
        blocks += [
            _bins(result, tables["bins"], cuts, slug),
            _attribution(result, tables["attribution"], cuts, slug),
            _answerable(result, tables["answerable"], cuts, slug),
            _tests(result, tables["tests"], cuts, slug),
            _headroom(result, tables["headroom"], slug),
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


_CORRECT_IF: Shown = (text("Correct if"), cut_label)
_INTERVAL: Shown = (number("95 %"), lambda row: percent_interval(row.ci_low, row.ci_high))


def _by_cut(frame: pd.DataFrame) -> dict[Cut, Any]:
    return {(row.metric, row.threshold): row for row in frame.itertuples()}


def _bins(result: Breakdown, bins: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    known = not bins["unchanged"].isna().any()
    (original, mark), *others = bin_columns()
    columns: list[Shown] = [(original, lambda row: mark(row) or row), *others]
    for metric, threshold in cuts:
        part = _at(bins, (metric, threshold))[["count", "unchanged"]]
        numbers = [*part.itertuples(index=False, name=None), tuple(part.sum())]
        cells = [f"{turns} ({unchanged})" if known else f"{turns}" for turns, unchanged in numbers]
        head = count(threshold_label(threshold), group=measure_label(metric))
        columns.append((head, dict(zip((*BINS, "Total"), cells, strict=True)).__getitem__))
    note = "Rows 1–4: errors of the QA component; rows 5–6: of the rewriter; rows 7–8: answered."
    if known:
        note += " In brackets: turns whose Human text equals the Original."
    return result_table(
        result, "bins", "Turns per bin: is the answer to each formulation correct?", columns, note,
        rows=(*BINS, "Total"), rules=(*BIN_RULES, len(BINS)), slug=f"bins{slug}",
    )  # fmt: skip


def _attribution(result: Breakdown, attribution: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [_CORRECT_IF]
    for cause in CAUSES:
        lines = _by_cut(attribution[attribution["cause"] == cause])
        columns += group_columns(
            result, "attribution", CAUSE_TITLES[cause], lines, (count("turns"), lambda row: str(row.count)), "share", _INTERVAL
        )
    turns = _at(attribution, cuts[0])["count"].sum()
    return result_table(
        result, "attribution", "Who is to blame?", columns,
        f"Shares of all {turns} turns. 95 %: Wilson interval in per cent.",
        rows=cuts, slug=f"attribution{slug}",
    )  # fmt: skip


def _answerable(result: Breakdown, answerable: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [_CORRECT_IF]
    for turns, group in {"all": "all turns", "rewritten": "turns that needed rewriting"}.items():
        if lines := _by_cut(answerable[answerable["turns"] == turns]):
            answered = (count("answered"), lambda row: f"{row.answered} of {row.answerable}")
            columns += group_columns(result, "answerable", group, lines, answered, "share", _INTERVAL)
    return result_table(
        result, "answerable", "How much does the Original question answer alone?", columns,
        "Out of the turns that the Human question answers. 95 %: Wilson interval in per cent.",
        rows=cuts, slug=f"answerable{slug}",
    )  # fmt: skip


def _tests(result: Breakdown, tests: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [_CORRECT_IF]
    for (first, second), part in tests.groupby(["first", "second"], sort=False):
        group = f"{FORMULATION_NAMES[first]} : {FORMULATION_NAMES[second]}"
        turns = (count("turns"), lambda row: f"{row.only_first} : {row.only_second}")
        columns += group_columns(result, "tests", group, _by_cut(part), turns, "p")
    return result_table(
        result, "tests", "Does one formulation answer more turns than another?", columns,
        "Turns that only the one or only the other answers; McNemar's exact test, two-sided.",
        rows=cuts, slug=f"tests{slug}",
    )  # fmt: skip


def _headroom(result: Breakdown, headroom: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        (text("Rewriter error if"), lambda row: f"not {cut_label((row.metric, row.threshold))}"),
        "original", "qr", "human", "repaired", "gain", (number("95 %"), lambda row: interval(row.ci_low, row.ci_high)),
    ]  # fmt: skip
    return result_table(
        result, "headroom", "What would a perfect rewriter gain?", columns,
        "Mean scores; repaired: the Human score in place of the QR score wherever the rewriter is to blame;"
        " bootstrap interval over turns.",
        rows=headroom, slug=f"headroom{slug}",
    )  # fmt: skip


def show_turns(result: Breakdown, bin_: str, cut: Cut | None = None) -> Cards:
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
