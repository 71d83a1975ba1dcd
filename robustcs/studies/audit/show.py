"""A judge's agreement, bias and reversals as tables and one figure."""

from __future__ import annotations

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.words import number, signed
from robustcs.lazy import Drawing, pd
from robustcs.studies.audit.analysis import ALL, FOUND, Audit
from robustcs.studies.audit.findings import verdict
from robustcs.studies.audit.systems import ALPHA
from robustcs.wording import counted, sentences, verb

#: Judges that are shown one by one and in the overview, and rows of tables that grow with pairs; JSON and CSV have all.
_JUDGES, _BEST, _SHOWN = 3, 10, 10
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "rbo": "RBO"}


def show(result: Audit) -> tuple[Block, ...]:
    """All judges in one table each of agreement, bias and rankings; for a few judges what lies behind them."""
    blocks: list[Block] = [_agreement(result)]
    judges = list(result.bias["judge"].unique())
    if judges:
        blocks += [_bias(result), _figure(result, judges[:_JUDGES])]
    if 0 < len(judges) <= _JUDGES:
        blocks.append(
            wide_table(
                result, "confusion", "Which grades does the judge give?", ["judge", "human"], "model", ["count"],
                "Pairs that people and judge graded.", group="grade of the judge", by="judge",
            )
        )  # fmt: skip
        if (result.bias["slice"] != ALL).any():
            blocks.append(_slices(result))
    if len(result.systems):
        blocks += [_systems(result), _conclusions(result)]
    far = "Grades at least two apart, the furthest first."
    parts: tuple[tuple[str, str, list[Shown], str], ...] = (
        ("reversals", "Where does the judge say something else?",
         ["judge", "metric", "first", "second", *(result.spec("reversals").field(f"{side}_difference").bare
                                                  for side in ("human", "judge")), "change"],
         "First minus second. Reversed: opposite order, significant under at least one; swapped: under neither; lost:"
         " significant under people alone; gained: under the judge alone."),
        ("conflicts", "Which passages do judge and people see otherwise?",
         ["judge", "turn", "document", "human", "model"], far),
        ("judge_conflicts", "Which passages do two judges see otherwise?",
         ["first", "second", "turn", "document", "first_grade", "second_grade"], far),
        ("off_scale", "Grades off the scale", ["judge", "grade", "count", "kept"], ""),
    )  # fmt: skip
    for name, caption, columns, note in parts:
        rows = result.tables[name]
        if name == "judge_conflicts":
            rows = rows.sort_values("difference", key=abs, ascending=False, kind="stable")
        cut = f" The first {_SHOWN} of {counted(len(rows), 'row')}; JSON and CSV have all." if len(rows) > _SHOWN else ""
        if len(rows):
            blocks.append(result_table(result, name, caption, columns, note + cut, rows=rows.head(_SHOWN)))
    return tuple(blocks)


def _agreement(result: Audit) -> Table:
    bare = [result.spec("agreement").field(name).bare for name in ("kappa_weighted", "kappa_level", "alpha")]
    notes = [
        f"κ: Cohen's, on all grades, with its interval for other {result.evaluated.unit}s of this kind; weighted: by squared"
        f" distance; level: relevant (≥ {result.evaluated.policy.relevance_level}) or not. α: Krippendorff's, ordinal."
    ]
    for row in result.agreement.itertuples():
        if row.human_only or row.judge_only:
            notes.append(f"{row.judge}: {row.human_only:,} more pairs judged by people alone, {row.judge_only:,} by the judge.")
        if row.note:
            notes.append(f"{row.judge}: {row.note}.")
    columns: list[Shown] = ["judge", "pairs", result.spec("agreement").field("agree").bare, "kappa", *bare]
    return result_table(result, "agreement", "How far does the judge agree with people?", columns, " ".join(notes))


def _bias(result: Audit) -> Table:
    rows = _whole(result)
    told = [verdict(row) for _, row in rows.iterrows()]
    over, under = (told.count(which) for which in ("overrates", "underrates"))
    note = (
        f"Relevant: grade ≥ {result.evaluated.policy.relevance_level}; ratio: judge over people. Judge − people: of the mean"
        f" grades. Beyond chance, {over} of {counted(len(rows), 'judge')} {verb(over, 'overrates', 'overrate')} and {under}"
        f" {verb(under, 'underrates', 'underrate')}."
    )
    columns = ["judge", "human_share", "judge_share", "ratio", "mean_difference"]
    return result_table(result, "bias", "In which direction does the judge err?", columns, note, rows=rows)


def _whole(result: Audit) -> pd.DataFrame:
    """The rows of table ``bias`` on all pairs."""
    return result.bias[result.bias["slice"] == ALL]


def _slices(result: Audit) -> Table:
    """All slices of every judge."""
    names = result.bias["slice"]
    rows = result.bias.assign(slice=names.str.removeprefix("found by "), part=result.bias["judge"] + names.str.split().str[0])
    columns: list[Shown] = ["judge", "slice", "pairs", "human_share", "judge_share", "mean_difference"]
    note = f"By the depth of the turn, and by the runs that have the passage in their top {FOUND}."
    return result_table(result, "bias", "Where does the judge err?", columns, note, rows=rows, by="part", slug="bias-slices")


def _systems(result: Audit) -> Table:
    frame = result.systems
    note = (
        "On these topics; at least: one-sided 95 % limit for as many other ones. No upper limit is given: noise pulls the"
        " correlation of two rankings down, so that no interval holds what it says."
    )
    apart = frame[frame["note"].str.startswith("people and")]
    if len(apart):
        first = apart.iloc[0]
        note += f" {', '.join(apart['judge'].unique())}: different topics, {first['turns']} of people and"
        note += f" {first['judge_turns']} of the judge."
    return wide_table(
        result, "systems", "Do the systems stand in the same order?", ["judge", "metric"], "method", ["value", "ci_low"], note,
        heads=_METHODS,
    )  # fmt: skip


def _conclusions(result: Audit) -> Table:
    columns = ["judge", "metric", "pairs", "human_apart", "judge_apart", "reversed", "swapped", "lost", "gained"]
    note = (
        f"Significant: adjusted p ≤ {ALPHA:g} by a sign-flip test of whole {result.evaluated.unit}s, max-T over all pairs of"
        " systems of a measure, for people and for each judge. Opposite order: significant under at least one, or neither."
    )
    note += sentences(result.conclusions["note"])
    return result_table(result, "conclusions", "Which conclusions survive?", columns, note)


def _figure(result: Audit, judges: list[str]) -> Figure:
    words = [
        f"{row.judge}: {number(100 * row.judge_share, 0)} % relevant, people {number(100 * row.human_share, 0)} %; mean grade"
        f" {signed(row.mean_difference, 2)}"
        for row in _whole(result).head(len(judges)).itertuples()
    ]
    more = result.bias["judge"].nunique() - len(judges)
    left_out = f" {counted(more, 'further judge')} in the tables." if more else ""
    caption = (
        "Judge beside people. Left: pairs by both grades, shaded by the share of a row. Middle: mean difference of grades with"
        f" 95 % intervals, over all pairs, by depth of the turn, and by the runs that found the passage in their top {FOUND}."
    )
    if len(result.means):
        caption += " Right: mean scores of the systems; lines join pairs that turn round."
    return Figure("audit", caption + left_out, f"Judges beside people. {'; '.join(words)}.", lambda: _draw(result, judges))


def _draw(result: Audit, judges: list[str]) -> Drawing:
    from robustcs.studies.audit.figure import audit_figure

    return audit_figure(result, judges)


def overview(result: Audit) -> tuple[Table | Figure, ...]:
    """Agreement beyond chance and bias of the judges, the closest first."""
    found = result.agreement[result.agreement["kappa"].notna()].sort_values("kappa", ascending=False, kind="stable")
    if not len(found):
        return ()
    cut = f" The {_BEST} closest of {counted(len(found), 'judge')}." if len(found) > _BEST else ""
    bias = result.spec("bias")
    shares: list[Shown] = [bias.field(name).called(title) for name, title in (
        ("judge_share", "calls relevant"), ("human_share", "people"), ("ratio", "ratio"))]  # fmt: skip
    of_bias = ["judge", "judge_share", "human_share", "ratio", "ratio_low", "ratio_high"]
    best = found.head(_BEST).merge(_whole(result)[of_bias], on="judge", how="left")
    note = (
        f"Cohen's κ: 1 is full agreement, 0 that of chance; in brackets 95 % intervals for other {result.evaluated.unit}s."
        " Ratio: passages that the judge calls relevant for each that people do."
    )
    caption = f"How close is each judge to people?{cut}"
    table = result_table(result, "agreement", caption, ["judge", "kappa", *shares], note, rows=best, slug="overview")
    words = "; ".join(f"{row.judge} {number(row.kappa, 2)}" for row in best.itertuples())
    caption = f"Agreement of judges with people beyond chance (Cohen's κ) with 95 % intervals.{cut}"
    return table, Figure("closest", caption, f"Cohen's κ: {words}.", lambda: _closest(best))


def _closest(rows: pd.DataFrame) -> Drawing:
    from robustcs.documents.forest import MeanPanel, forest

    limits = (rows[name].to_numpy() for name in ("ci_low", "kappa", "ci_high"))
    return forest(list(rows["judge"]), [MeanPanel("Agreement with people", *limits)], "κ, 95 % interval")
