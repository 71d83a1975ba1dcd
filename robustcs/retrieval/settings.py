"""Settings of retrieval: the table ``[retrieval]`` of ``robustcs.toml``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.text import finite_number
from robustcs.version import __version__

MODELS, DEVICES = ("bm25", "ql"), ("auto", "cpu", "cuda")
#: Rewriters that need no file.
CONTEXT = ("previous", "first")
#: Smallest heap in KiB. With a few MiB Java starts, and then ends the whole process without an exception.
_LEAST_HEAP = 64 * 1024
#: Largest integer: Java counts in 32 bits.
_MOST = 2**31 - 1
_PATHS = ("index", "folder", "store", "reranker", "rewriter")
#: Settings that a ranker of a grid may change.
_OF_RANKER = ("model", "k1", "b", "mu", "rm3", "fb_terms", "fb_docs", "original_query_weight", "depth", "reranker",
              "rerank_depth")  # fmt: skip

#: A test of a value, and the advice if it fails.
_Check = tuple[Callable[[Any], bool], str]


def _number(low: float, high: float = math.inf) -> _Check:
    limits = f"from {low} to {high}" if high < math.inf else f"from {low}"
    return (
        lambda value: finite_number(value) is not None and low <= value <= high,
        f"write a number {limits}",
    )


_WHOLE: _Check = (
    lambda value: type(value) is int and 1 <= value <= _MOST,
    f"write a whole number from 1 to {_MOST}",
)
_FLAG: _Check = (lambda value: isinstance(value, bool), "write true or false")
_CHECKS: dict[str, _Check] = {
    "model": (MODELS.__contains__, "write bm25 or ql"),
    "device": (DEVICES.__contains__, "write auto, cpu or cuda"),
    **dict.fromkeys(("k1", "mu"), _number(0)),
    **dict.fromkeys(("b", "original_query_weight"), _number(0, 1)),
    **dict.fromkeys(("fb_terms", "fb_docs", "depth", "rerank_depth", "batch"), _WHOLE),
    **dict.fromkeys(("rm3", "ir_metadata"), _FLAG),
    "heap": (
        lambda value: (
            isinstance(value, str) and bool(re.fullmatch(r"[1-9][0-9]{0,11}[kmgKMG]", value))
        ),
        "write a size in Java's notation, such as 512m or 2g",
    ),
}


@dataclass(frozen=True)
class RetrievalSettings:
    """Settings for retrieving rankings and writing runs.

    index
        Folder of a Lucene index made by Anserini; if it does not exist, it is created from the project's collection.
    model, k1, b, mu
        ``bm25`` with k1 and b, or ``ql``: query likelihood with Dirichlet smoothing mu.
    rm3, fb_terms, fb_docs, original_query_weight
        Pseudo-relevance feedback with RM3; the defaults are Anserini's.
    depth
        Passages per question.
    heap
        Memory limit of Java in its notation: ``512m``, ``2g``.
    folder
        Folder for the runs.
    store
        The SQLite file of stored rankings; None for the one in the user's cache folder.
    rewriter
        How raw texts become independent of their conversation: ``previous`` (put all earlier turns before the turn), ``first``
        (put the first turn before the turn), a file of rewrites ``FILE[:COLUMN]``, or the folder of a sequence-to-sequence
        model.
    reranker, rerank_depth
        Folder of a monoT5 or cross-encoder model that re-ranks the top ``rerank_depth`` passages.
    device, batch
        Device of rewriter and re-ranker (``auto``, ``cpu``, ``cuda``), and the number of texts per batch.
    ir_metadata
        Whether runs begin with comment lines about how they were made.
    rankers
        Rankers of a grid (see ``robustcs components``): name → the settings that differ from these.
    """

    index: Path
    model: str = "bm25"
    k1: float = 0.9
    b: float = 0.4
    mu: float = 1000.0
    rm3: bool = False
    fb_terms: int = 10
    fb_docs: int = 10
    original_query_weight: float = 0.5
    depth: int = 1000
    heap: str = "2g"
    folder: Path = Path("retrieved")
    store: Path | None = None
    rewriter: str | None = None
    reranker: Path | None = None
    rerank_depth: int = 100
    device: str = "auto"
    batch: int = 16
    ir_metadata: bool = False
    rankers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, (holds, advice) in _CHECKS.items():
            if not holds(value := getattr(self, name)):
                raise UsageError("bad-retrieval", f"{name} is {value!r}", advice)
        if int(self.heap[:-1]) * 1024 ** "kmg".index(self.heap[-1].lower()) < _LEAST_HEAP:
            found = f"heap {self.heap}: too little for Java and Lucene"
            raise UsageError("bad-heap", found, "give it 64m or more, such as 2g")

    def of_ranker(self, name: str) -> RetrievalSettings:
        """Return the settings of a ranker of the grid; its runs are in a subfolder with its name."""
        return replace(self, rankers={}, folder=self.folder / name, **self.rankers[name])

    def parameters(self) -> dict[str, Any]:
        """Return what determines a ranking besides question, index, software and depth; only what the model uses."""
        own: dict[str, Any] = {"model": self.model, "analyser": "Anserini default English (Porter)"}
        own |= (
            {"k1": float(self.k1), "b": float(self.b)}
            if self.model == "bm25"
            else {"mu": float(self.mu)}
        )
        if self.rm3:
            weight = float(self.original_query_weight)
            own["rm3"] = {
                "fb_terms": self.fb_terms,
                "fb_docs": self.fb_docs,
                "original_query_weight": weight,
            }
        return own

    def describe(self) -> str:
        """Return a description of the ranker."""
        return f"{in_words(self.parameters())}, top {self.depth}"

    def metadata(self, tag: str, software: str) -> str:
        """Return the ir_metadata of a run (Breuer et al. 2022), YAML in comment lines: platform, implementation and method."""
        stages = [{"name": self.model, **self.parameters(), "depth": self.depth}]
        if self.reranker is not None:
            stages.append(
                {"name": self.reranker.name, "reranks": self.model, "depth": self.rerank_depth}
            )
        lines = [
            "ir_metadata.start", "schema version: 0.1", f"tag: {tag}",
            "platform:", "  software:", "    retrieval toolkit:", f"      - {software.replace(' ', '==')}",
            "implementation:", "  executable:", "    cmd: robustcs retrieve", f"  version: {__version__}",
            "method:", "  retrieval:", *(f"    - {json.dumps(stage)}" for stage in stages), "ir_metadata.end",
        ]  # fmt: skip
        return "".join(f"# {line}\n" for line in lines)


def in_words(parameters: Mapping[str, Any]) -> str:
    """Return a description of :meth:`RetrievalSettings.parameters`."""
    if parameters["model"] == "bm25":
        text = f"BM25 k1={parameters['k1']:g} b={parameters['b']:g}"
    else:
        text = f"query likelihood mu={parameters['mu']:g}"
    if rm3 := parameters.get("rm3"):
        text += f" + RM3 ({rm3['fb_terms']} terms, {rm3['fb_docs']} passages, weight {rm3['original_query_weight']:g})"
    return text


def from_table(values: Mapping[str, Any], folder: Path) -> RetrievalSettings:
    """Return the settings of a table, with paths relative to ``folder``. Raises :class:`UsageError` for a wrong value."""
    given = {"folder": folder / "retrieved", **_placed(values, folder)}
    if "index" not in given:
        raise UsageError(
            "bad-retrieval", "no index", 'write index = "FOLDER"; a missing index is created'
        )
    rankers = given.pop("rankers", {})
    if not isinstance(rankers, dict) or not all(isinstance(own, dict) for own in rankers.values()):
        advice = "write [retrieval.rankers.NAME] above the settings of each ranker"
        raise UsageError("bad-retrieval", f"rankers is {rankers!r}", advice)
    settings, placed = RetrievalSettings(**given), {}
    for name, own in rankers.items():
        if not re.fullmatch(r"[\w+-][\w.+-]*", name):
            raise UsageError(
                "bad-retrieval",
                f"rankers: the name {name!r}",
                "use letters, digits and . _ + - only",
            )
        try:
            if other := [key for key in own if key not in _OF_RANKER]:
                raise UsageError(
                    "bad-retrieval",
                    f"unknown key {other[0]!r}",
                    f"choose from {', '.join(_OF_RANKER)}",
                )
            placed[name] = _placed(own, folder)
            replace(settings, **placed[name])  # raises an error for a wrong value
        except UsageError as error:
            raise UsageError(
                error.slug, f"rankers: {error.found} in {name}", error.advice
            ) from None
    return replace(settings, rankers=placed)


def _placed(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return settings with paths relative to ``folder``. Raises :class:`UsageError` for a path that is no text."""
    given = dict(values)
    for name in _PATHS:
        if name not in given or (name == "rewriter" and given[name] in CONTEXT):
            continue
        if not (isinstance(given[name], str) and given[name]):
            raise UsageError(
                "bad-retrieval", f"{name} is {given[name]!r}", "write a text in quotes"
            )
        given[name] = str(folder / given[name]) if name == "rewriter" else folder / given[name]
    return given
