"""Search with Anserini through pyserini's jar: BM25, query likelihood, RM3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.errors import InputError, UsageError, input_error
from robustcs.retrieval.index import IndexState
from robustcs.retrieval.java import first_line, java_error, said, start
from robustcs.retrieval.settings import RetrievalSettings

#: Passage ids, best first, and their float64 scores.
Ranking = tuple[list[str], npt.NDArray[np.float64]]


class Searcher:
    """An open index; ``documents`` is the number of its documents."""

    def __init__(self, index: IndexState, settings: RetrievalSettings, threads: int):
        """Open the index. Raises :class:`InputError` if Lucene cannot, :class:`UsageError` if Java fails."""
        self._threads = threads
        self._heap = settings.heap
        self._path = index.path
        simple_searcher = start(settings.heap)
        import jnius

        self._java_exception: type[Exception] = jnius.JavaException
        try:
            self._searcher = simple_searcher(str(index.path))
            self.documents = int(self._searcher.get_total_num_docs())
            if settings.model == "bm25":
                self._searcher.set_bm25(float(settings.k1), float(settings.b))
            else:
                self._searcher.set_qld(float(settings.mu))
            if settings.rm3:
                self._set_rm3(settings)
        except self._java_exception as error:
            raise self._error(str(error)) from error
        if index.documents is not None and index.documents != self.documents:
            found = f"the index contains {self.documents} passages, but {index.documents} were indexed"
            raise input_error(index.path, None, found, "delete the folder to create it again", "wrong-document-count")

    def _set_rm3(self, settings: RetrievalSettings) -> None:
        if self.documents and not self._searcher.reader.getTermVectors(0):
            found = "the index has no term vectors, which RM3 needs"
            raise input_error(self._path, None, found, "create it with -storeDocvectors, or turn RM3 off", "no-term-vectors")
        weight = float(settings.original_query_weight)
        self._searcher.set_rm3(None, settings.fb_terms, settings.fb_docs, weight, False, True)

    def search(self, questions: Mapping[str, str], depth: int) -> dict[str, Ranking]:
        """Return the ranking of every question by key; a question without any word of the index has an empty ranking."""
        from pyserini.pyclass import JArrayList, JString

        texts, keys = JArrayList(), JArrayList()
        for key, text in questions.items():
            texts.add(JString(text.encode("utf-8")))  # as bytes: pyjnius breaks characters beyond the 16-bit plane
            keys.add(JString(key))
        try:
            found = self._searcher.batch_search(texts, keys, depth, self._threads)
            rankings = {str(entry.getKey()): _ranking(entry.getValue()) for entry in found.entrySet().toArray()}
        except self._java_exception as error:
            raise self._error(str(error)) from error
        if rankings.keys() != questions.keys():  # a thread failed, and Anserini continued with the others
            raise self._error(said())
        return rankings

    def _error(self, told: str) -> InputError | UsageError:
        if "OutOfMemoryError" in told:
            return java_error(told, self._heap)
        found = f"Lucene cannot read this index ({first_line(told)})"
        return input_error(self._path, None, found, "create it again", "bad-index")


def _ranking(hits: Any) -> Ranking:
    return [str(hit.docid) for hit in hits], np.array([hit.score for hit in hits], dtype=np.float64)
