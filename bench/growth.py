"""Draw the growth of time and memory from bench/results.json: ``python bench/growth.py`` writes bench/growth-*.svg."""

from __future__ import annotations

import json

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator
from rows import HERE, ROWS

#: robustcs has a strong colour; Python tools share one family of colours, C and the lower limit another.
COLOURS = {
    "robustcs": "#c2410c",
    "columns": "#9ca3af",
    "trec_eval": "#4b5563",
    "pytrec_eval": "#1d4ed8",
    "ir_measures": "#3b82c4",
    "ranx, cold": "#6d9f8c",
    "ranx, warm": "#3f7d68",
    "trectools": "#8b7bb5",
}
DASHES = {"columns": (0, (1, 1.5)), "trec_eval": (0, (4, 2)), "ranx, cold": (0, (2, 1.5))}
AXES = {
    "turns": "turns of one run, 1000 passages each",
    "runs": "runs of 208 turns, 1000 passages each",
}
STYLE = {"svg.hashsalt": "bench", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
         "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#6b7280"}  # fmt: skip


def main() -> None:
    """Draw one figure of three panels for turns and one for runs."""
    results = json.loads((HERE / "results.json").read_text("utf-8"))
    for axis, label in AXES.items():
        points = {row.growth[1]: results[name]["costs"] for name, row in ROWS.items()
                  if row.growth and row.growth[0] == axis and name in results}  # fmt: skip
        if len(points) < 2:
            continue
        with mpl.rc_context(STYLE):
            figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
            for panel, (place, title) in zip(
                panels, enumerate(("wall time, s", "CPU time, s", "peak memory, MB")), strict=True
            ):
                for tool, colour in COLOURS.items():
                    sizes = [size for size in sorted(points) if tool in points[size]]
                    costs = [points[size][tool][place] for size in sizes]
                    width, order = (2.4, 3) if tool == "robustcs" else (1.2, 2)
                    panel.plot(sizes, costs, color=colour, linestyle=DASHES.get(tool, "-"), linewidth=width, zorder=order,
                               marker="o", markersize=2.2 * width**0.5, label=tool)  # fmt: skip
                panel.set(
                    xscale="log", yscale="log", title=title, xlabel=label if place == 1 else ""
                )
                for one in (panel.xaxis, panel.yaxis):
                    one.set_major_locator(LogLocator(numticks=9))
                    one.set_major_formatter("{x:,g}")
                panel.minorticks_off()
                panel.grid(color="#e5e7eb", linewidth=0.6)
            figure.legend(
                *panels[0].get_legend_handles_labels(),
                loc="outside lower center",
                ncols=len(COLOURS),
                frameon=False,
            )
            figure.savefig(HERE / f"growth-{axis}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
