"""The stage before retrieval: texts that lean on their conversation become questions that stand alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robustcs.errors import UsageError
from robustcs.inputs.files import fingerprint, sha256
from robustcs.inputs.texts import read_texts
from robustcs.inputs.turns import conversation, turn_depth, turn_sort_key
from robustcs.retrieval.generation import Generator, generator
from robustcs.retrieval.index import Track
from robustcs.retrieval.settings import CONTEXT
from robustcs.retrieval.store import RankingStore, normalised

#: Between the turns of a history, as T5-CQR was trained.
SEPARATOR = " ||| "


def history(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Turn → the texts of the earlier turns of its conversation, in order."""
    turns = sorted(texts, key=turn_sort_key)
    earlier: dict[str, list[str]] = {}
    found = {}
    for turn in turns:
        known = earlier.setdefault(conversation(turn) if turn_depth(turn) else turn, [])
        found[turn] = list(known)
        known.append(texts[turn])
    return {turn: found[turn] for turn in texts}


def rewrite(
    rewriter: str | None, texts: Mapping[str, str], store: RankingStore, track: Track, device: str = "auto", batch: int = 16
) -> tuple[dict[str, str], list[str]]:
    """Turn → the question that is searched; see ``rewriter``, ``device`` and ``batch`` of
    :class:`~robustcs.retrieval.settings.RetrievalSettings`.

    A turn for which the rewriter has nothing but white space keeps its own text; the second value lists these turns.

    Raises :class:`UsageError` for a table that lacks turns, :class:`InputError` for a path that is neither table nor model,
    :class:`NotInstalledError` for a model without torch and transformers.
    """
    rewritten = _rewritten(rewriter, texts, store, track, device, batch)
    empty = [turn for turn, text in rewritten.items() if not normalised(text)]
    return rewritten | {turn: texts[turn] for turn in empty}, empty


def _rewritten(
    rewriter: str | None, texts: Mapping[str, str], store: RankingStore, track: Track, device: str, batch: int
) -> dict[str, str]:
    if rewriter is None:
        return dict(texts)
    before = history(texts)
    if rewriter == "previous":
        return {turn: " ".join([*before[turn], text]) for turn, text in texts.items()}
    if rewriter == "first":
        return {turn: " ".join([*before[turn][:1], text]) for turn, text in texts.items()}
    if Path(rewriter).is_dir():
        inputs = {turn: normalised(SEPARATOR.join([*before[turn], text])) for turn, text in texts.items()}
        model = generator(Path(rewriter), device=device, batch=batch)
        outputs = _generate(model, list(dict.fromkeys(inputs.values())), store, track)
        return {turn: outputs[text] for turn, text in inputs.items()}
    return _from_table(rewriter, texts)


def rewriter_identity(rewriter: str) -> str:
    """A name that two rewriters share only where they are the same: ``previous``, ``first``, or the name of the file or model
    folder with the beginning of the SHA-256 of its contents. Of what is not on this machine it is the beginning, up to the
    checksum.

    Raises :class:`InputError` for a file that cannot be read.
    """
    if rewriter in CONTEXT:
        return rewriter
    path, column = (Path(rewriter), None) if Path(rewriter).is_dir() else _table(rewriter)
    name = f"{path.name}{f':{column}' if column else ''} ("
    if not path.exists():
        return name
    return f"{name}{(fingerprint(path) if path.is_dir() else sha256(path))[:12]})"


def _table(rewriter: str) -> tuple[Path, str | None]:
    """File and column of a table of rewrites."""
    path = Path(rewriter)
    if path.exists() or ":" not in path.name:
        return path, None
    head, _, column = rewriter.rpartition(":")
    return Path(head), column


def _from_table(rewriter: str, texts: Mapping[str, str]) -> dict[str, str]:
    path, column = _table(rewriter)
    table = read_texts(path, "qr", column)
    lacking = [turn for turn in texts if turn not in table]
    if lacking:
        some = ", ".join(lacking[:5]) + (" …" if len(lacking) > 5 else "")
        raise UsageError("no-rewrite", f"{path} has no rewrite of {len(lacking)} turns ({some})", "complete the file")
    return {turn: table[turn] for turn in texts}


def _generate(model: Generator, inputs: list[str], store: RankingStore, track: Track) -> dict[str, str]:
    """The greedy output of the model for every input; those that the store knows are not computed again."""
    known = store.rewrites(model.identity, inputs)
    new = [text for text in inputs if text not in known]
    if not new:
        return known
    batches = model.batches(new)
    for found in track(model.generate(batches), f"rewriting {len(new)} turns", len(batches)):
        outputs = {text: one for text, (one,) in found.items()}
        store.put_rewrites(model.identity, outputs)
        known |= outputs
    return known
