"""BLEU as Tables 9 and 10 of the ECAsT paper print it, with the other measures of diversity beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Column, Table
from robustcs.documents.words import number
from robustcs.studies.diversity.analysis import DISTINCT, Diversity

if TYPE_CHECKING:
    import pandas as pd

#: Topics, and pairs of texts, that are shown; JSON and CSV have all.
SHOWN = 10
_ENCODERS = {"distance_use": "USE", "distance_sentence_transformer": "sentence-transformers"}


def present_diversity(result: Diversity) -> tuple[Block, ...]:
    """BLEU with its changes, diversity, the least diverse topics, and texts that are nearly the same."""
    return (_bleu(result.bleu), *_diversity(result.diversity), _topics(result.topics), _alike(result.alike))


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _bleu(bleu: pd.DataFrame) -> Table:
    rows: list[tuple[str, ...]] = []
    for source, lines in bleu.groupby("source", sort=False):
        first = lines.iloc[0]
        for place, (_, row) in enumerate(lines.iterrows()):
            # before and after an edit there are as many texts
            comparable = place > 0 and row["sentences"] == first["sentences"] and first["value"] > 0
            change = f"{100 * (row['value'] / first['value'] - 1):+.1f} %".replace("-", "−") if comparable else ""
            rows.append((str(source), row["target"], str(row["sentences"]), number(row["value"], 2), change))
    columns: tuple[Column, ...] = (
        Column("Source", "left"), Column("Target", "left"), Column("sentences"), Column("BLEU"), Column("change"),
    )  # fmt: skip
    note = "Corpus BLEU of the target texts against their source, not smoothed, 0 to 100; lower is more different."
    if any(row[4] for row in rows):
        note += " Change: against the first target of the same source."
    else:
        columns, rows = columns[:4], [row[:4] for row in rows]
    return Table("bleu", "How close are the texts to their source?", columns, tuple(rows), note)


def _diversity(diversity: pd.DataFrame) -> list[Table]:
    distances = [name for name in diversity if str(name).startswith("distance_")]
    columns = [
        Column("Target", "left"), Column("turns"), Column("texts"), Column("self-BLEU"),
        *(Column(str(n), group="distinct n-grams") for n in DISTINCT),
        *(Column(_ENCODERS[name], group="distance") for name in distances),
    ]  # fmt: skip
    rows = [
        (
            row["target"], str(row["turns"]), str(row["texts"]), number(row["self_bleu"], 2),
            *(_share(row[f"distinct_{n}"]) for n in DISTINCT), *(_share(row[name]) for name in distances),
        )
        for _, row in diversity.iterrows()
    ]  # fmt: skip
    note = "Self-BLEU: each text against the others of its turn. Distinct: different n-grams of words out of all."
    if distances:
        note += " Distance: mean of 1 − cosine to the source."
    repeats = [
        (row["target"], *(str(row[name]) for name in ("texts", "copies", "duplicates", "near_duplicates")))
        for _, row in diversity.iterrows()
    ]
    titles = ("texts", "copies of the source", "duplicates", "near-duplicates")
    return [
        Table("diversity", "How different are the texts from each other?", tuple(columns), tuple(rows), note),
        Table(
            "repeats", "How many texts repeat another one?",
            (Column("Target", "left"), *(Column(title) for title in titles)), tuple(repeats),
            "Duplicates repeat another text of their turn; near-duplicates differ from one, or from the source, by one word or"
            " a few characters.",
        ),
    ]  # fmt: skip


def _topics(topics: pd.DataFrame) -> Table:
    chosen = topics.sort_values("bleu", ascending=False, kind="stable").head(SHOWN)
    rows = tuple(
        (row["topic"], row["target"], str(row["turns"]), str(row["texts"]), number(row["bleu"], 2), number(row["self_bleu"], 2))
        for _, row in chosen.iterrows()
    )
    columns = (
        Column("Topic", "left"), Column("Target", "left"), Column("turns"), Column("texts"), Column("BLEU"),
        Column("self-BLEU"),
    )  # fmt: skip
    note = f"The {len(rows)} of {len(topics)} topics closest to their source; JSON and CSV have all topics and turns."
    return Table("topics", "Which topics are least diverse?", columns, rows, note)


def _alike(alike: pd.DataFrame) -> Table:
    columns = (
        Column("Turn", "left"), Column("Target", "left"), Column("Text", "left"), Column("Other text", "left"),
    )  # fmt: skip
    chosen = alike[~((alike["relation"] == "exact") & alike["to_source"])]
    rows = tuple(tuple(row[name] for name in ("turn", "target", "first", "second")) for _, row in chosen.head(SHOWN).iterrows())
    return Table(
        "alike", "Which texts are nearly the same?", columns, rows,
        f"{len(rows)} of {len(chosen)} pairs that differ by one word, a few characters or not at all; JSON and CSV have all.",
    )  # fmt: skip
