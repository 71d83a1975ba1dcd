"""ROUGE beside rouge-score, jackknife intervals beside scipy, and USE: ``PYTHONPATH=. python bench/similarity.py [DATA]``.

200,000 pairs of ECAsT questions are scored with ROUGE-1, 2 and L; rouge-score and scipy do a part of the work, which must give
the same numbers. Where TensorFlow is installed, 5,000 texts go through a tiny SavedModel of USE's signature.
"""

from __future__ import annotations

import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.similarity.rouge import KINDS, rouge, tokenizer
from robustcs.statistics.unit_correlation import METHODS, unit_correlation
from robustcs.statistics.units import units_of

PAIRS = 200_000
SENTENCES = 5_000


def main(data: Path) -> None:
    """Print a table of processor seconds, which a busy machine does not change."""
    texts = [one.manual for some in read_paraphrases(data / "ECAsT.csv.gz").values() for one in some]
    rng = np.random.default_rng(0)
    ours, theirs = ([texts[place] for place in rng.integers(0, len(texts), PAIRS)] for _ in range(2))
    tokenizer()  # imports nltk, which takes longer than many pairs
    _rouge(ours, theirs)
    _jackknife(rng)
    if find_spec("tensorflow"):
        _use(texts[:SENTENCES])
    else:
        print("TensorFlow is not installed: no USE")


def _rouge(ours: list[str], theirs: list[str]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    start = time.process_time()
    columns = rouge(ours, theirs)
    mine = time.process_time() - start
    scorer, part = RougeScorer(list(KINDS), use_stemmer=True), PAIRS // 50
    start = time.process_time()
    scores = [scorer.score(human, qr) for qr, human in zip(ours[:part], theirs[:part], strict=True)]
    package = (time.process_time() - start) * PAIRS / part
    for kind in KINDS:
        assert [score[kind].fmeasure for score in scores] == columns[f"{kind}_f"][:part].tolist()
    times = f"{package / mine:.0f} times"
    print(f"ROUGE-1, 2, L of {PAIRS:,} pairs: {mine:.1f} s, rouge-score {package:.1f} s (from {part:,}): {times}")


def _jackknife(rng: np.random.Generator) -> None:
    from scipy import stats

    x = np.round(rng.random(479), 2)
    y = np.round(0.6 * x + 0.4 * rng.random(479), 3)
    turns = units_of([str(turn) for turn in range(479)])
    for method, function in zip(METHODS, (stats.pearsonr, stats.spearmanr, stats.kendalltau), strict=True):
        start = time.process_time()
        found = unit_correlation(x, y, turns, method)
        mine = time.process_time() - start
        start = time.process_time()
        for turn in range(479):
            function(np.delete(x, turn), np.delete(y, turn))
        package = time.process_time() - start
        assert abs(found.value - function(x, y)[0]) < 1e-9
        print(f"{method}, each of 479 turns left out: {mine:.3f} s, scipy {package:.2f} s: {package / mine:.0f} times")


def _use(texts: list[str]) -> None:
    import tensorflow as tf

    from robustcs.similarity.encoders import embed, load_use
    from robustcs.similarity.store import EmbeddingStore

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, strings: tf.Tensor) -> tf.Tensor:
            return tf.one_hot(tf.strings.to_hash_bucket_fast(strings, 512), 512)

    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), f"{folder}/model")
        encoder, store = load_use(f"{folder}/model"), EmbeddingStore(Path(folder))
        for what in ("encoded and stored", "found in the store"):
            start = time.perf_counter()
            found = embed(encoder, texts, store)
            print(f"{len(found):,} different texts {what}: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
