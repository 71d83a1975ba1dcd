"""The judges of an audit on the first screen of a report: the closest to people as a table and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.document import Figure, Table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import number, number_interval, percent
from robustcs.result import number as number_field
from robustcs.result import share
from robustcs.studies.audit.analysis import Audit
from robustcs.studies.audit.labels import ALL
from robustcs.wording import counted

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

#: Judges that are shown; the tables have all.
_BEST = 10


def overview(result: Audit) -> tuple[Table | Figure, ...]:
    """Agreement beyond chance and bias of the judges, the closest first."""
    found = result.agreement[result.agreement["kappa"].notna()].sort_values("kappa", ascending=False, kind="stable")
    if not len(found):
        return ()
    cut = f" The {_BEST} closest of {counted(len(found), 'judge')}." if len(found) > _BEST else ""
    best = found.head(_BEST)
    bias = result.bias[result.bias["slice"] == ALL].set_index("judge")
    columns: list[Shown] = [
        "judge",
        (number_field("κ"), lambda row: f"{number(row.kappa, 2)} ({number_interval(row.ci_low, row.ci_high, 2)})"),
        (share("calls relevant"), lambda row: percent(bias["judge_share"].get(row.judge, float("nan")))),
        (share("people"), lambda row: percent(bias["human_share"].get(row.judge, float("nan")))),
        (number_field("ratio"), lambda row: number(bias["ratio"].get(row.judge, float("nan")), 2)),
    ]
    note = (
        f"Cohen's κ: 1 is full agreement, 0 that of chance; in brackets its 95 % interval for other {result.evaluated.unit}s."
        " Ratio: passages that the judge calls relevant for each that people do."
    )
    table = result_table(
        result, "agreement", f"How close is each judge to people?{cut}", columns, note, rows=best, slug="overview"
    )
    words = "; ".join(f"{row.judge} {number(row.kappa, 2)}" for row in best.itertuples())
    caption = f"Agreement of judges with people beyond chance (Cohen's κ) with 95 % intervals.{cut}"
    return table, Figure("closest", caption, f"Cohen's κ: {words}.", lambda: _draw(best))


def _draw(rows: pd.DataFrame) -> matplotlib.figure.Figure:
    from robustcs.documents.forest import MeanPanel, forest

    low, value, high = (rows[name].to_numpy() for name in ("ci_low", "kappa", "ci_high"))
    return forest(
        [str(name) for name in rows["judge"]], [MeanPanel("Agreement with people", low, value, high)], "κ, 95 % interval"
    )
