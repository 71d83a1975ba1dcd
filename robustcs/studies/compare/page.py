"""HTML page of a comparison; every changed turn opens as a card with old and new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustcs.documents.headline import headline_measure
from robustcs.documents.html import result_page
from robustcs.documents.text import shortened
from robustcs.documents.words import measure_label
from robustcs.evaluation.state import SHOWN
from robustcs.inputs.turns import conversation
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.show import show

#: Characters of a passage's text.
_LENGTH = 300


def page(result: Comparison, inputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the HTML page of a comparison; it lists ``inputs`` at its end."""
    turns = _turns(result)
    title = f"From {result.old_name} to {result.new_name}"
    return result_page(title, result, show(result), inputs, turns if turns["turns"] else {})


def _turns(result: Comparison) -> dict[str, Any]:
    """Return every changed turn in the form of :mod:`robustcs.reporting.turns`, with each run in its old and new state."""
    frame = result.turns
    runs = list(dict.fromkeys(frame["system"]))
    metrics = list(dict.fromkeys(frame["metric"]))
    sides = [(run, when) for run in runs for when in ("old", "new")]
    passages: dict[str, int] = {}
    turns = []
    for turn in dict.fromkeys(frame["turn"]):
        tops = [result.tops.get(f"{run}, {when}", {}).get(str(turn), []) for run, when in sides]
        turns.append({
            "turn": str(turn),
            "topic": conversation(str(turn)),
            "texts": [text for run in runs for text in result.texts[run][turn]],
            "scores": [
                [score for run in runs for score in result.scores.get((run, metric), {}).get(turn, (None, None))]
                for metric in metrics
            ],
            "bins": [],
            "top": [[(passages.setdefault(name, len(passages)), grade) for name, grade in top] for top in tops],
        })  # fmt: skip
    names = [f"{run}, {when}" for run, when in sides]
    return {
        "formulations": names,
        "systems": names,
        "measures": [measure_label(metric) for metric in metrics],
        "headline": metrics.index(headline_measure(metrics)) if metrics else 0,
        "cuts": [],
        "labels": {},
        "runs": names if result.tops else [],
        "depth": SHOWN,
        "relevant": result.evaluated.policy.relevance_level,
        "passages": [(name, shortened(result.passages.get(name, ""), _LENGTH)) for name in passages],
        "turns": turns,
        "left_out": 0,
    }
