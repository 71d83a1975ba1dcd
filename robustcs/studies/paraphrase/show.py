"""Other words for people: what each kind of variation or each stage made, and some of it to read."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import result_table
from robustcs.documents.words import number
from robustcs.similarity.near_duplicates import FEW_CHARACTERS
from robustcs.studies.paraphrase.analysis import Variations
from robustcs.studies.paraphrase.stages import Paraphrased

#: Examples of every category or source, and of other long tables, that are shown.
_SHOWN, _EXAMPLES = 2, 5


def show(result: Variations | Paraphrased) -> tuple[Block, ...]:
    """Counts, and examples."""
    if isinstance(result, Variations):
        return (_categories(result), _variations(result))
    blocks = [_stages(result)]
    if len(result.bleu):
        blocks.append(_bleu(result))
    blocks.append(_diversity(result))
    if len(result.stripped):
        blocks.append(_stripped(result))
    if len(result.dropped):
        blocks.append(_dropped(result))
    return (*blocks, _paraphrases(result))


def _categories(result: Variations) -> Table:
    return result_table(
        result, "categories", "Variations of the turns by category",
        ["category", "says", "turns", "valid", "share"],
        "Turns: those that a category could change. Antecedent, pronoun and ellipsis need an earlier turn.",
    )  # fmt: skip


def _variations(result: Variations) -> Table:
    part = result.variations.groupby("category", sort=False)
    order = {category: place for place, category in enumerate(result.categories["category"])}
    shown = part.head(_SHOWN).sort_values("category", key=lambda column: column.map(order), kind="stable")
    note = f"{len(shown)} of {len(result.variations):,}. Antecedent and pronoun leave the manual text as it is."
    columns = ["category", "turn", "raw", "manual"]
    return result_table(result, "variations", "Examples", columns, note, rows=shown, by="category")


def _stages(result: Paraphrased) -> Table:
    useless = (
        ["repeated", "foreign", "unreadable"] if result.stages[["repeated", "foreign", "unreadable"]].any(axis=None) else []
    )
    return result_table(
        result, "stages", "What was asked, and what came of it", ["stage", "requests", "known", "failed", "empty", *useless],
        "In place of what failed or is empty stands the source.",
    )  # fmt: skip


def _bleu(result: Paraphrased) -> Table:
    value = (result.spec("bleu").field("value"), lambda row: number(row.value, 2))
    return result_table(
        result, "bleu", "How close are manual turns to the raw turns?", ["turns", "texts", value],
        "Corpus BLEU, not smoothed. Feedback is taken off both; a context remover should bring the last row up.",
    )  # fmt: skip


def _diversity(result: Paraphrased) -> Table:
    fields = {name: result.spec("diversity").field(name) for name in ("per_turn", "bleu", "self_bleu")}
    return result_table(
        result, "diversity", "How different are the paraphrases?",
        ["stage", "source", "paraphrases", "turns", *(
            (field, lambda row, name=name: number(getattr(row, name), 2)) for name, field in fields.items()
        ), "copies"],
        "BLEU against the source; lower is more different. Cleaning drops copies, and what differs from another of its turn by"
        f" one word or at most {FEW_CHARACTERS} characters.",
        by="stage",
    )  # fmt: skip


def _stripped(result: Paraphrased) -> Table:
    shown = result.stripped.head(_EXAMPLES)
    note = f"{len(shown)} of {len(result.stripped):,}: what stands before the last sentence."
    return result_table(
        result, "stripped", "Feedback and revealments taken off", ["turn", "sentiment", "before", "question"], note, rows=shown
    )


def _dropped(result: Paraphrased) -> Table:
    shown = result.dropped.head(_EXAMPLES)
    note = f"{len(shown)} of {len(result.dropped):,}."
    return result_table(
        result, "dropped", "Too similar, and left out", ["turn", "relation", "dropped", "kept"], note, rows=shown
    )


def _paraphrases(result: Paraphrased) -> Table:
    shown = result.paraphrases.head(_EXAMPLES)
    note = f"{len(shown)} of {len(result.paraphrases):,}."
    return result_table(result, "paraphrases", "Paraphrases", ["turn", "source", "manual", "raw"], note, rows=shown)
