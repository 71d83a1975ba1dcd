"""Split documents into passages of limited length that end at sentence boundaries.

Source: Al-Thani et al. (2023), "ECAsT": spaCy splits the documents of CAsT 2021 into passages of at most 250 words. As in
TREC's tool, sentences are added until the next one would not fit, and a sentence that is too long is its own passage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

from robustcs.errors import NotInstalledError, UsageError, not_written
from robustcs.overwrite_guard import refuse_protected
from robustcs.programs.runner import Track
from robustcs.retrieval.collection import checked_passages, index_line
from robustcs.similarity.stripping import sentence_spans
from robustcs.tempfiles import temporary

#: Splits a text into its sentences, including the white space between them, with the number of words of each.
Splitter = Callable[[str], Iterable[tuple[str, int]]]


def segment_collection(collection: Path, target: Path, words: int, split: Splitter, track: Track) -> tuple[int, int]:
    """Write every document ``D`` of ``collection`` as passages ``D-1``, ``D-2`` … (JSONL); return the numbers of both.

    Raises :class:`UsageError` if ``target`` exists, :class:`UntrustedError` if a link leads out of a project, and
    :class:`InputError` for bad lines of the collection; then nothing is written.
    """
    refuse_protected(target)
    if target.exists():
        raise UsageError("file-exists", f"{target} already exists", "delete it, or give another --folder")
    documents = passages = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary(target.parent) as path:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                for _, document, text in track(checked_passages(collection), "splitting documents", 0):
                    documents += 1
                    for number, passage in enumerate(gathered(split(text), words), 1):
                        file.write(index_line(f"{document}-{number}", passage))
                        passages += 1
            path.rename(target)
    except OSError as error:
        raise not_written(target, error) from None
    return documents, passages


def gathered(some: Iterable[tuple[str, int]], words: int) -> list[str]:
    """Return passages of whole sentences with at most ``words`` words; a longer sentence is its own passage."""
    passages: list[list[str]] = []
    room = 0
    for sentence, size in some:
        if size > room or not passages:
            passages.append([])
            room = words
        passages[-1].append(sentence)
        room -= size
    joined = ("".join(passage).strip() for passage in passages)
    return [passage for passage in joined if passage]


def by_rules(text: str) -> list[tuple[str, int]]:
    """Return sentences by NLTK's rules; words are separated by white space."""
    starts = [0, *(start for start, _ in sentence_spans(text)[1:]), len(text)]
    return [(text[start:end], len(text[start:end].split())) for start, end in pairwise(starts)]


def by_spacy(model: str) -> Splitter:
    """Return a splitter with the sentences and words (tokens) of a spaCy model, such as ``en_core_web_sm``.

    Raises :class:`NotInstalledError` without spaCy or the model; nothing is downloaded.
    """
    try:
        import spacy  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        found = f"spaCy cannot be imported ({error})"
        raise NotInstalledError("no-spacy", found, "install it with: pip install 'robustcs[spacy]'") from error
    try:
        pipeline = spacy.load(model, exclude=["parser", "tagger", "ner", "attribute_ruler", "lemmatizer", "tok2vec"])
    except OSError as error:
        advice = f"install it with: python -m spacy download {model}"
        raise NotInstalledError("no-spacy-model", f"spaCy has no model {model}", advice) from error
    if "senter" in pipeline.component_names:
        pipeline.enable_pipe("senter")
    else:
        pipeline.add_pipe("sentencizer")
    pipeline.max_length = sys.maxsize  # the default limit is for parsers

    def split(text: str) -> list[tuple[str, int]]:
        return [(sentence.text_with_ws, len(sentence)) for sentence in pipeline(text).sents]

    return split
