"""Sentences on the diversity of texts, from hand-made tables."""

from __future__ import annotations

from tests.sentences import said


def test_bleu_against_the_source_and_copies() -> None:
    pairs = [
        ("human", "qr", 55.14, 10, 40),
        ("human", "manual", 7.0, 0, 60),
        ("qr", "manual", 8.0, 3, 50),
    ]
    sides = [{"source": source, "target": target} for source, target, *_ in pairs]
    tables = {
        "bleu": [
            {**side, "sentences": 99, "value": value}
            for side, (_, _, value, _, _) in zip(sides, pairs, strict=True)
        ],
        "diversity": [
            {
                **side,
                "turns": 9,
                "copies": copies,
                "texts": texts,
                "duplicates": 5,
                "near_duplicates": 6,
            }
            for side, (_, _, _, copies, texts) in zip(sides, pairs, strict=True)
        ],
    }
    bleu, copies = said("diversity", tables)
    assert bleu == (
        "Corpus BLEU (100: same wording) is 55.1 for QR against Human; 7.0 for manual against Human; 8.0 for manual against QR."
    )
    assert copies == "10 of 40 texts of QR repeat Human; 3 of 50 texts of manual repeat QR."
    without = [{**row, "copies": 0} for row in tables["diversity"]]
    assert len(said("diversity", {**tables, "diversity": without})) == 1


def test_which_rewriters_are_more_similar_to_the_reference() -> None:
    sides = {"source": "human", "measure": "rouge1_f"}
    means = [
        ("rew", 0.926, 0.916, 0.935),
        ("cot", 0.903, 0.891, 0.914),
        ("few", 0.92, float("nan"), float("nan")),
    ]
    similarity = [
        {
            **sides,
            "target": name,
            "value": value,
            "ci_low": low,
            "ci_high": high,
            "texts": 2395,
            "turns": 479,
        }
        for name, value, low, high in means
    ]
    # raw p-values are all below 0.05, the adjusted one of the last pair is not
    pairs = [
        ("cot", "rew", -0.023, -0.034, -0.012, 0.002),
        ("rew", "few", 0.006, 0.001, 0.011, 0.0612),
    ]
    compared = [
        {**sides, "first": first, "second": second, "difference": difference, "ci_low": low, "ci_high": high, "p": 0.001,
         "p_corrected": corrected, "p_floor": 0.00002}
        for first, second, difference, low, high, corrected in pairs
    ]  # fmt: skip
    tables = {
        "similarity": [
            *similarity,
            *({**row, "measure": "rouge2_f", "value": 0.5} for row in similarity),
        ],
        "similarity_pairs": [
            *compared,
            *({**row, "measure": "rouge2_f", "difference": 0.5} for row in compared),
        ],
    }
    assert said("diversity", tables)[1:] == [
        "Mean ROUGE-1 F with Human is 0.926 (95% CI 0.916 to 0.935) for rew (2,395 texts of 479 turns); 0.903 (95% CI 0.891 to"
        " 0.914) for cot (2,395 texts of 479 turns); 0.920 for few (2,395 texts of 479 turns).",
        "Differences in ROUGE-1 F with Human: cot minus rew −0.023 (95% CI −0.034 to −0.012, adjusted p = 0.002); rew minus few"
        " +0.006 (95% CI +0.001 to +0.011, adjusted p = 0.061).",
    ]
