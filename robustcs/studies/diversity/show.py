"""Tables of diversity: BLEU as in Tables 9 and 10 of the ECAsT paper, ROUGE, and the other measures."""

from __future__ import annotations

from robustcs.documents.document import Block, TableBlock
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import noted
from robustcs.lazy import pd
from robustcs.result import text
from robustcs.statistics.estimate import LEVELS
from robustcs.studies.diversity.analysis import DISTINCT, HEADLINE, Diversity, label
from robustcs.wording import counted, system_name, verb

#: Topics and pairs of targets shown; JSON and CSV contain all.
SHOWN = 10


def show(result: Diversity) -> tuple[Block, ...]:
    """Return BLEU, similarity, diversity, and the least diverse topics."""
    bleu = result_table(
        result, "bleu", "How close are the texts to their source?", ["source", "target", "sentences", "value"],
        "Corpus BLEU of the target texts against their source, not smoothed, 0 to 100; lower is more different.", by="source",
    )  # fmt: skip
    diversity = result_table(
        result, "diversity", "How different are the texts from each other?",
        ["target", "texts", "self_bleu", *(f"distinct_{n}" for n in DISTINCT), "copies", "duplicates", "near_duplicates"],
        "Self-BLEU: each text against the others of its turn. Distinct: share of different word n-grams. Repeats: texts equal"
        " to their source or to another text of their turn; nearly: up to one word or a few characters.",
    )  # fmt: skip
    topics = result_table(
        result, "topics", "Which topics are least diverse?", ["topic", "target", "turns", "texts", "bleu", "self_bleu"],
        "Those closest to their source come first. JSON and CSV contain all topics and turns.",
        rows=result.topics.sort_values("bleu", ascending=False, kind="stable"), most=SHOWN,
    )  # fmt: skip
    pairs = [_pairs(result)] if len(result.similarity_pairs) else []
    return (bleu, _similarity(result), *pairs, diversity, topics)


def _sources(rows: pd.DataFrame) -> list[Shown]:
    return ["source"] if rows["source"].nunique() > 1 else []


def _similarity(result: Diversity) -> TableBlock:
    of_row: Shown = text("measure", header="Measure"), lambda row: label(row.measure)
    note = (
        "Mean over the texts of each turn, then over turns. 1 means the same words. A text without letters or digits scores 0;"
        " empty texts are skipped, and the policy line counts them."
        f" Sampling unit of the 95% CI: {result.evaluated.unit}."
    )
    said = noted(
        (f"{system_name(row.target)} {label(row.measure)}", row.note)
        for row in result.similarity.itertuples()
    )
    columns: list[Shown] = [
        of_row,
        *_sources(result.similarity),
        "target",
        "turns",
        "texts",
        "value",
    ]
    caption = "How similar are the texts to their source?"
    return result_table(result, "similarity", caption, columns, note + said, by="measure")


def _pairs(result: Diversity) -> TableBlock:
    every = result.similarity_pairs[result.similarity_pairs["measure"] == HEADLINE]
    columns: list[Shown] = [*_sources(every), "first", "second", "difference", "p", "p_corrected"]
    told = int((every["p_corrected"] <= LEVELS[0]).sum())
    note = (
        f"{told} of {counted(len(every), 'pair')} {verb(told, 'differs', 'differ')} significantly (adjusted p ≤ {LEVELS[0]:g})."
        " First minus second. 95% CI and p are of one comparison; p adj.: max-T over the pairs of a source."
    )
    pairs = (
        (f"{system_name(row.first)} and {system_name(row.second)}", row.note)
        for row in every.head(SHOWN).itertuples()
    )
    caption = f"Which texts are more similar to their source ({label(HEADLINE)})?"
    return result_table(
        result, "similarity_pairs", caption, columns, note + noted(pairs), rows=every, most=SHOWN
    )
