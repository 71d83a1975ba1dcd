"""Test sets as topic files, in the forms that retrieval, rewriters and robustcs itself read."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from robustcs.documents.files import write_folder
from robustcs.inputs.turns import turn_depth
from robustcs.lazy import pd

#: Ids that are written as numbers, as CAsT's files have them.
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


def files_of_testsets(sets: pd.DataFrame) -> dict[str, str]:
    """File name → content, for every set i of the table ``sets`` of a ``ParaphraseSets`` result.

    ``manual_i.tsv``, ``raw_i.tsv``
        ``turn TAB text``, no header: what retrieval takes.
    ``topics_i.json``
        CAsT topic JSON with ``raw_utterance`` and ``manual_rewritten_utterance``.
    ``history_i.jsonl``
        For rewriters, in the form of ConversationQueryRewriter: ``input`` are the raw turns so far in this set, the turn
        itself last; ``target`` is the manual text.

    Turns whose id does not say their place in a conversation stand in the first two alone; the others need that place.
    """
    files = {}
    in_conversation = any(turn_depth(turn) is not None for turn in sets["turn"])
    for number, part in sets.groupby("set"):
        for kind in ("manual", "raw"):
            files[f"{kind}_{number}.tsv"] = "".join(
                f"{turn}\t{text}\n" for turn, text in zip(part["turn"], part[kind], strict=True)
            )
        if not in_conversation:
            continue
        topics: dict[str, list[dict[str, object]]] = {}
        records = []
        for row in part.itertuples():
            if turn_depth(row.turn) is None:
                continue
            topic, _, depth = row.turn.rpartition("_")
            texts = {"raw_utterance": row.raw, "manual_rewritten_utterance": row.manual}
            topics.setdefault(topic, []).append({"number": _number(depth), **texts})
            record = {"topic_number": _number(topic), "query_number": _number(depth),
                      "input": [*row.history, row.raw], "target": row.manual}  # fmt: skip
            records.append(json.dumps(record, ensure_ascii=False) + "\n")
        listed = [{"number": _number(topic), "turn": turns} for topic, turns in topics.items()]
        files[f"topics_{number}.json"] = json.dumps(listed, ensure_ascii=False, indent=1) + "\n"
        files[f"history_{number}.jsonl"] = "".join(records)
    return files


def write_testsets(sets: pd.DataFrame, folder: str | os.PathLike[str], overwrite: bool = False) -> list[Path]:
    """Write :func:`files_of_testsets` into ``folder``, as :func:`~robustcs.documents.files.write_folder` does."""
    return write_folder(folder, files_of_testsets(sets), overwrite)


def _number(text: str) -> int | str:
    """A number as CAsT's files have it; ids such as ``007`` stay texts, so that they can be put together again."""
    return int(text) if _PLAIN_NUMBER.fullmatch(text) else text
