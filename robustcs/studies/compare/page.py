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
    title = f"From {result.old.name} to {result.new.name}"
    return result_page(title, result, show(result), inputs, turns if turns["turns"] else {})


def _turns(result: Comparison) -> dict[str, Any]:
    """Return every changed turn in the form of :mod:`robustcs.reporting.turns`, with each run in its old and new state."""
    frame = result.turns
    runs = list(dict.fromkeys(frame["system"]))
    metrics = list(dict.fromkeys(frame["metric"]))
    sides = [
        (f"{run}, {when}", state.systems[run]) for run in runs for when, state in (("old", result.old), ("new", result.new))
    ]
    passages: dict[str, int] = {}
    turns = []
    for turn in dict.fromkeys(frame["turn"]):
        tops = [result.tops.get(name, {}).get(str(turn), []) for name, _ in sides]
        turns.append({
            "turn": str(turn),
            "topic": conversation(str(turn)),
            "texts": [system.texts.get(turn) for _, system in sides],
            "scores": [[system.scores.get(metric, {}).get(turn) for _, system in sides] for metric in metrics],
            "bins": [],
            "top": [[(passages.setdefault(name, len(passages)), grade) for name, grade in top] for top in tops],
        })  # fmt: skip
    names = [name for name, _ in sides]
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
