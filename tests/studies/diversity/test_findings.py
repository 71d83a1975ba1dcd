"""Sentences on the diversity of texts, from hand-made tables."""

from __future__ import annotations

from tests.sentences import said


def test_bleu_against_the_source_and_copies() -> None:
    pairs = [("human", "qr", 55.14, 10, 40), ("human", "manual", 7.0, 0, 60), ("qr", "manual", 8.0, 3, 50)]
    sides = [{"source": source, "target": target} for source, target, *_ in pairs]
    tables = {
        "bleu": [{**side, "sentences": 99, "value": value} for side, (_, _, value, _, _) in zip(sides, pairs, strict=True)],
        "diversity": [
            {**side, "turns": 9, "copies": copies, "texts": texts, "duplicates": 5, "near_duplicates": 6}
            for side, (_, _, _, copies, texts) in zip(sides, pairs, strict=True)
        ],
    }
    bleu, copies = said("diversity", tables)
    assert bleu == (
        "BLEU of the texts against their source (100: same wording) is: qr against human 55.1; manual against human 7.0;"
        " manual against qr 8.0."
    )
    assert copies == "10 of 40 texts of qr repeat human; 3 of 50 texts of manual repeat qr."
    without = [{**row, "copies": 0} for row in tables["diversity"]]
    assert len(said("diversity", {**tables, "diversity": without})) == 1
