"""Tables of variations and paraphrases, with examples."""

from __future__ import annotations

from robustcs.documents.document import Block
from robustcs.documents.tables import result_table
from robustcs.lazy import pd
from robustcs.similarity.paraphrases import FEW_CHARACTERS
from robustcs.studies.paraphrase.analysis import Variations
from robustcs.studies.paraphrase.stages import Paraphrased

#: Examples per category, and rows of other long tables.
_SHOWN, _EXAMPLES = 2, 5


def show(result: Variations | Paraphrased) -> tuple[Block, ...]:
    """Return the counts of each stage or category, and examples."""
    if isinstance(result, Variations):
        rows = result.variations
        shown = pd.concat(
            [rows[rows["category"] == name].head(_SHOWN) for name in result.categories["category"]]
        )
        return (
            result_table(
                result, "categories", "Variations of the turns by category", ["category", "says", "turns", "valid", "share"],
                "Turns: those that the rule applies to. Antecedent, pronoun and ellipsis need an earlier turn."
            ),
            result_table(
                result, "variations", "Examples", ["category", "turn", "raw", "manual"],
                f"{len(shown)} of {len(result.variations):,}. Antecedent and pronoun do not change the manual text.",
                rows=shown, by="category"
            ),
        )  # fmt: skip
    blocks = (
        result_table(
            result, "stages", "What did each stage return?", ["stage", "requests", "known", "failed", "empty", "useless"],
            "A failed request or an empty text is replaced by its source text."
        ),
        result_table(
            result, "bleu", "How close are manual turns to the raw turns?", ["turns", "texts", "value"],
            "Corpus BLEU, not smoothed. Without feedback from row 2 on. Removing context should raise the last row."
        ),
        result_table(
            result, "diversity", "How different are the paraphrases?",
            ["stage", "source", "paraphrases", "turns", "per_turn", "bleu", "self_bleu", "copies"],
            "BLEU against the source; lower is more different. Cleaning drops copies of the source, and texts that differ from"
            f" another of their turn by one word or at most {FEW_CHARACTERS} characters.", by="stage"
        ),
        result_table(
            result, "stripped", "Removed feedback and revealments", ["turn", "sentiment", "before", "question"],
            "Before: the part before the last sentence.", most=_EXAMPLES
        ),
        result_table(
            result, "dropped", "Paraphrases dropped as too similar", ["turn", "relation", "dropped", "kept"], most=_EXAMPLES
        ),
        result_table(result, "paraphrases", "Paraphrases", ["turn", "source", "manual", "raw"], most=_EXAMPLES),
    )  # fmt: skip
    return tuple(
        block
        for block in blocks
        if block.rows or block.of in ("stages", "diversity", "paraphrases")
    )
