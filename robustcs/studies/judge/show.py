"""The holes worth judging: by topic, and the first of them."""

from __future__ import annotations

from robustcs.documents.document import Block, Column, Table
from robustcs.documents.words import measure_label, score
from robustcs.studies.judge.analysis import Worklist

#: Holes that people are shown; CSV and JSON have all of them.
_SHOWN = 20


def present_worklist(result: Worklist) -> tuple[Block, ...]:
    """One table of topics and one of the first holes, both in the order of work."""
    holes, topics = result.worklist, result.topics
    judged = int(holes["grade"].notna().sum())
    by_topic = Table(
        "topics",
        f"{len(holes)} unjudged passages, {judged} of them judged since, by topic",
        (Column("topic", "left"), Column("turns"), Column("holes"), Column("judged"), Column("influence")),
        tuple(
            (row.topic, str(row.turns), str(row.holes), str(row.judged), score(row.influence))
            for row in topics.itertuples()
        ),
        f"Influence: the most that grades can change {_compared(result)}, added up over the comparisons and holes.",
    )
    shown = holes.head(_SHOWN)
    first = Table(
        "worklist",
        "Passages to judge, in this order" + (f": the first {_SHOWN} of {len(holes)}" if len(holes) > _SHOWN else ""),
        (
            Column("turn", "left"),
            Column("document", "left"),
            Column("systems"),
            Column("best rank"),
            Column("influence"),
            Column("grade"),
        ),
        tuple(
            (
                row.turn, row.document, str(row.systems), str(row.best_rank), score(row.influence),
                "–" if grade is None else str(grade),
            )
            for row, grade in zip(shown.itertuples(), shown["grade"].astype(object).where(shown["grade"].notna(), None),
                                  strict=True)
        ),
        "One topic at a time, topics by influence; in a topic by turn, then by influence. CSV and JSON have all passages.",
    )  # fmt: skip
    return by_topic, first


def _compared(result: Worklist) -> str:
    measures = ", ".join(measure_label(name) for name in dict.fromkeys(result.comparisons["metric"]))
    pairs = list(dict.fromkeys(zip(result.comparisons["baseline"], result.comparisons["system"], strict=True)))
    if not pairs[0][0]:
        return f"{measures} of {pairs[0][1]}"
    names = dict.fromkeys(name for pair in pairs for name in pair)
    if len(pairs) > 1 and len(pairs) == len(names) * (len(names) - 1) // 2:
        return f"the differences in {measures} between all pairs of {len(names)} systems"
    sets: dict[str, list[str]] = {}
    for baseline, system in pairs:
        sets.setdefault(baseline, []).append(system)
    return f"the differences in {measures} of " + "; ".join(f"{name} and {', '.join(of)}" for name, of in sets.items())
