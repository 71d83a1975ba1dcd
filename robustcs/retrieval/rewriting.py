"""Stages before and after retrieval: rewrite context-dependent questions, and re-rank the top passages with a model that
reads question and passage together.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.conversations import Conversations
from robustcs.errors import NotInstalledError, ProgramError, UsageError, input_error
from robustcs.inputs.files import fingerprint, sha256
from robustcs.inputs.texts import read_texts
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.programs.runner import ProgramCall, Track, call_with_store
from robustcs.retrieval.settings import CONTEXT, RetrievalSettings
from robustcs.retrieval.store import Ranking, normalised
from robustcs.wording import counted, some_of

#: Seconds that a model may take for one batch.
_PATIENCE = 86_400.0


def history(
    texts: Mapping[str, str], conversations: Conversations | None = None
) -> dict[str, list[str]]:
    """Return turn → the texts of the earlier turns of its conversation, in order.

    ``conversations``: those of the project; default: those that the ids of ``texts`` show.
    """
    found = (conversations or Conversations.from_ids(texts)).earlier(
        sorted(texts, key=turn_sort_key)
    )
    return {turn: [texts[one] for one in found[turn]] for turn in texts}


def rewrite(
    settings: RetrievalSettings,
    texts: Mapping[str, str],
    track: Track,
    conversations: Conversations | None = None,
) -> tuple[dict[str, str], list[str]]:
    """Return turn → the question to search, from the ``rewriter`` of the settings, and the turns that kept their text.

    A turn keeps its text if the rewriter returns only white space.

    Raises :class:`UsageError` for a table without some turns, :class:`InputError` for a path that is neither table nor model,
    :class:`NotInstalledError` for a model without torch and transformers.
    """
    rewriter, before = settings.rewriter, history(texts, conversations)
    if rewriter in CONTEXT:
        most = None if rewriter == "previous" else 1
        found = {turn: " ".join([*before[turn][:most], text]) for turn, text in texts.items()}
    elif rewriter and Path(rewriter).is_dir():
        requests = {
            turn: {"stage": "reformulate", "text": text, "history": before[turn], "n": 1} for turn, text in texts.items()
        }  # fmt: skip
        made = _call_model("reformulate", Path(rewriter), requests, settings, track, "texts")
        found = {turn: one for turn, (one, *_) in made.items()}
    else:
        found = _from_table(rewriter, texts) if rewriter else dict(texts)
    empty = [turn for turn, text in found.items() if not normalised(text)]
    return {turn: texts[turn] if turn in empty else text for turn, text in found.items()}, empty


def rewriter_identity(rewriter: str) -> str:
    """Return a name that identifies a rewriter: ``previous``, ``first``, or the file or folder name with a checksum.

    The checksum is the beginning of the SHA-256 of the contents. If the rewriter is not on this machine, returns the name up to
    the checksum.

    Raises :class:`InputError` for a file that cannot be read.
    """
    if rewriter in CONTEXT:
        return rewriter
    path, column = (Path(rewriter), None) if Path(rewriter).is_dir() else _table(rewriter)
    name = f"{path.name}{f':{column}' if column else ''} ("
    if not path.exists():
        return name
    return f"{name}{(fingerprint(path) if path.is_dir() else sha256(path))[:12]})"


def rerank(
    settings: RetrievalSettings,
    questions: Mapping[str, str],
    rankings: Mapping[str, Ranking],
    passages: Callable[[set[str]], Mapping[str, str]],
    track: Track,
) -> dict[str, Ranking]:
    """Return the rankings (by question key) with their top passages re-ranked by the settings' model, the rest unchanged.

    ``passages`` returns the texts of passage ids. The scores of the rest decrease by one from the lowest score of the top.

    Raises :class:`UsageError` if a passage has no text, :class:`InputError` if the folder is not a re-ranker,
    :class:`NotInstalledError` if scores must be computed without torch and transformers.
    """
    assert settings.reranker is not None
    tops = {key: ids[: settings.rerank_depth] for key, (ids, _) in rankings.items()}
    wanted = {passage for top in tops.values() for passage in top}
    texts = passages(wanted)
    if lacking := sorted(wanted - texts.keys()):
        found = f"the collection has no text of {counted(len(lacking), 'passage')} to re-rank ({lacking[0]} …)"
        raise UsageError(
            "no-passage-text",
            found,
            Message("give the collection of this index with ", OptionName("collection")),
        )
    requests = {
        f"{key} {passage}": {"stage": "rerank", "text": questions[key], "passage": texts[passage]}
        for key, top in tops.items() for passage in top
    }  # fmt: skip
    scores = _call_model("rerank", settings.reranker, requests, settings, track, "score")
    return {
        key: _ordered(ids, [scores[f"{key} {passage}"] for passage in tops[key]])
        for key, (ids, _) in rankings.items()
    }


def _ordered(ids: list[str], top: list[float]) -> Ranking:
    # equal scores keep the order of the first ranker
    order = sorted(range(len(top)), key=lambda place: -top[place])
    rest = np.arange(1, len(ids) - len(top) + 1)
    scores = np.concatenate([[top[place] for place in order], min(top, default=0.0) - rest])
    return [*(ids[place] for place in order), *ids[len(top) :]], scores


def _call_model(
    stage: str,
    folder: Path,
    requests: Mapping[str, Mapping[str, Any]],
    settings: RetrievalSettings,
    track: Track,
    field: str,
) -> dict[str, Any]:
    """Return key → the ``field`` of a local model's answer (:mod:`robustcs.programs.models`); equal requests run once."""
    if not (folder / "config.json").is_file():
        found = (
            "no such folder"
            if not folder.exists()
            else "not a model: the folder has no config.json"
        )
        raise input_error(
            folder, None, found, "name the folder of a Hugging Face model", "not-a-model"
        )
    different = {repr(request): request for request in requests.values()}
    options = (
        f"--{stage}",
        str(folder),
        "--device",
        settings.device,
        "--batch",
        str(settings.batch),
    )
    command = shlex.join((sys.executable, "-m", "robustcs.programs.models", *options))
    maker = f"{stage} {fingerprint(folder)} {settings.device}"
    doing = {"reformulate": "rewriting", "rerank": "re-ranking"}[stage]
    try:
        made, _, replies = call_with_store(
            ProgramCall(command, timeout=_PATIENCE),
            maker,
            different,
            lambda answer: answer.get(field),
            doing,
            track,
        )
    except UsageError as error:
        if not all(map(find_spec, ("torch", "transformers"))):
            found = "a rewriter or re-ranker needs torch and transformers"
            raise NotInstalledError(
                "no-transformers", found, "install them with: pip install 'robustcs[neural]'"
            ) from None
        said = error.what if isinstance(error, ProgramError) else f" {error.found}"
        raise input_error(
            folder, None, f"the model{said}", f"give a model that can {stage}", "not-a-model"
        ) from None
    if replies.failed:
        found = f"the model gave no answer to {replies.failed} of {counted(len(different), 'text')} ({replies.complaint})"
        raise input_error(
            folder, None, found, "run the command again; answers so far are kept", "model-failed"
        )
    return {key: made[repr(request)] for key, request in requests.items()}


def _table(rewriter: str) -> tuple[Path, str | None]:
    """Return the file and column of a table of rewrites."""
    path = Path(rewriter)
    if path.exists() or ":" not in path.name:
        return path, None
    head, _, column = rewriter.rpartition(":")
    return Path(head), column


def _from_table(rewriter: str, texts: Mapping[str, str]) -> dict[str, str]:
    path, column = _table(rewriter)
    table = read_texts(path, "qr", column)
    if lacking := [turn for turn in texts if turn not in table]:
        found = f"{path} has no rewrite of {counted(len(lacking), 'turn')} ({some_of(lacking)})"
        raise UsageError("no-rewrite", found, "complete the file")
    return {turn: table[turn] for turn in texts}
