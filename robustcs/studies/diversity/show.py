"""BLEU as Tables 9 and 10 of the ECAsT paper print it, with ROUGE and the other measures of diversity beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import noted, number, number_interval, signed, signed_interval, tested_p
from robustcs.result import Field, text
from robustcs.statistics.estimate import LEVELS
from robustcs.studies.diversity.analysis import DISTINCT, Diversity
from robustcs.studies.diversity.similarity import HEADLINE, label
from robustcs.wording import counted, verb

#: Topics, and pairs of texts, that are shown; JSON and CSV have all.
SHOWN = 10
_ENCODERS = {"distance_use": "USE", "distance_sentence_transformer": "sentence-transformers"}


def show(result: Diversity) -> tuple[Block, ...]:
    """BLEU with its changes, similarity, diversity, the least diverse topics, and texts that are nearly the same."""
    pairs = [_pairs(result)] if len(result.similarity_pairs) else []
    return (_bleu(result), _similarity(result), *pairs, _diversity(result), _repeats(result), _topics(result), _alike(result))


def _two_digits(result: Diversity, table: str, name: str) -> Shown:
    return result.spec(table).field(name), lambda row: number(getattr(row, name), 2)


def _bleu(result: Diversity) -> Table:
    rows: list[tuple[str, ...]] = []
    for source, lines in result.bleu.groupby("source", sort=False):
        first = next(lines.itertuples())
        for place, row in enumerate(lines.itertuples()):
            # before and after an edit there are as many texts
            comparable = place > 0 and row.sentences == first.sentences and first.value > 0
            change = f"{100 * (row.value / first.value - 1):+.1f} %".replace("-", "−") if comparable else ""
            rows.append((str(source), row.target, f"{row.sentences:,}", number(row.value, 2), change))
    columns = ready(*(result.spec("bleu").fields), Field("change", "number"))
    note = "Corpus BLEU of the target texts against their source, not smoothed, 0 to 100; lower is more different."
    if any(row[4] for row in rows):
        note += " Change: against the first target of the same source."
    else:
        columns.pop()
    return result_table(result, "bleu", "How close are the texts to their source?", columns, note, rows=rows)


_MEASURE: Shown = text("measure", header="Measure"), lambda row: label(row.measure)
_CI = text("interval", header="95% CI")


def _similarity(result: Diversity) -> Table:
    sources: list[Shown] = ["source"] if result.similarity["source"].nunique() > 1 else []
    value = result.spec("similarity").field("value")
    columns: list[Shown] = [
        _MEASURE, *sources, "target", "turns", "texts", (value, lambda row: number(row.value, 3)),
        (_CI, lambda row: number_interval(row.ci_low, row.ci_high)),
    ]  # fmt: skip
    note = (
        "Mean over the texts of a turn, then over turns; 1: the same words. A text without letters or digits scores 0;"
        " empty texts are skipped, and the policy line counts them."
        f" 95% CI: for other {result.evaluated.unit}s with these texts."
    )
    said = noted((f"{row.target} {label(row.measure)}", row.note) for row in result.similarity.itertuples())
    measures = list(dict.fromkeys(result.similarity["measure"]))
    order = result.similarity.sort_values("measure", kind="stable", key=lambda names: names.map(measures.index))
    caption = "How similar are the texts to their source?"
    return result_table(result, "similarity", caption, columns, note + said, rows=order, by="measure")


def _pairs(result: Diversity) -> Table:
    every = result.similarity_pairs[result.similarity_pairs["measure"] == HEADLINE]
    rows = every.head(SHOWN)
    spec = result.spec("similarity_pairs")
    sources: list[Shown] = ["source"] if every["source"].nunique() > 1 else []
    columns: list[Shown] = [
        *sources, "first", "second", (spec.field("difference").called("diff."), lambda row: signed(row.difference, 3)),
        (_CI, lambda row: signed_interval(row.ci_low, row.ci_high)),
        *((spec.field(name), partial(_chance, name)) for name in ("p", "p_corrected")),
    ]  # fmt: skip
    told = int((every["p_corrected"] <= LEVELS[0]).sum())
    note = (
        f"{told} of {counted(len(every), 'pair')} {verb(told, 'differs', 'differ')} significantly (adjusted p ≤ {LEVELS[0]:g})."
        " First minus second. 95% CI and p are of one comparison; p adj.: max-T over the pairs of a source."
    )
    if len(rows) < len(every):
        note += f" {len(rows)} pairs are shown; JSON and CSV have all."
    note += noted((f"{row.first} and {row.second}", row.note) for row in rows.itertuples())
    caption = f"Which texts are more similar to their source ({label(HEADLINE)})?"
    return result_table(result, "similarity_pairs", caption, columns, note, rows=rows)


def _chance(name: str, row: Any) -> str:
    return tested_p(getattr(row, name), row.p_floor, row.exact)


def _diversity(result: Diversity) -> Table:
    distances = [name for name in result.diversity if str(name).startswith("distance_")]
    note = "Self-BLEU: each text against the others of its turn. Distinct: different n-grams of words out of all."
    if distances:
        note += " Distance: mean of 1 − cosine to the source."
    columns: list[Shown] = [
        "target", "turns", "texts", _two_digits(result, "diversity", "self_bleu"), *(f"distinct_{n}" for n in DISTINCT),
        *(Field(name, "number", header=_ENCODERS[name], group="distance") for name in distances),
    ]  # fmt: skip
    return result_table(result, "diversity", "How different are the texts from each other?", columns, note)


def _repeats(result: Diversity) -> Table:
    shown = result_table(
        result, "diversity", "How many texts repeat another one?",
        ["target", "texts", "copies", "duplicates", "near_duplicates"],
        "Duplicates repeat another text of their turn; near-duplicates differ from one, or from the source, by one word or"
        " a few characters.",
        slug="repeats",
    )  # fmt: skip
    return replace(shown, of="")  # not among the tables that everybody should see


def _topics(result: Diversity) -> Table:
    chosen = result.topics.sort_values("bleu", ascending=False, kind="stable").head(SHOWN)
    return result_table(
        result, "topics", "Which topics are least diverse?",
        ["topic", "target", "turns", "texts", *(_two_digits(result, "topics", name) for name in ("bleu", "self_bleu"))],
        f"The {len(chosen)} of {len(result.topics)} topics closest to their source; JSON and CSV have all topics and turns.",
        rows=chosen,
    )  # fmt: skip


def _alike(result: Diversity) -> Table:
    chosen = result.alike[~((result.alike["relation"] == "exact") & result.alike["to_source"])]
    shown = chosen.head(SHOWN)
    return result_table(
        result, "alike", "Which texts are nearly the same?", ["turn", "target", "first", "second"],
        f"{len(shown)} of {len(chosen)} pairs that differ by one word, a few characters or not at all; JSON and CSV have all.",
        rows=shown,
    )  # fmt: skip
