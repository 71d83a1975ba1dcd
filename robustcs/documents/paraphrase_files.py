"""Write paraphrases as CSV in the ECAsT form, which robustcs reads, and test sets as topic files for retrieval, rewriters and
robustcs.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence

from robustcs.conversations import Conversations
from robustcs.inputs.paraphrases import CATEGORY, COLUMNS
from robustcs.inputs.ratings import SHEET_CRITERIA
from robustcs.lazy import pd

#: Columns of a rating sheet between those of ECAsT and the criteria.
_SHEET = ("ITEM", "SOURCE", "SOURCE TEXT", "WORKER")


def paraphrases_csv(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Return a CSV with TURN_ID, MANUAL PARAPHRASE, RAW PARAPHRASE and CATEGORY of every row."""
    return _csv([*COLUMNS, CATEGORY], rows)


def sheet_csv(rows: Iterable[tuple[str, str, str, str, str]]) -> str:
    """Return a sheet to edit and rate paraphrases, from rows of turn, source, source text, manual, raw.

    The sheet is also a paraphrase file in ECAsT's form, so edits of its texts change the paraphrases. Raters enter their name
    under WORKER and ratings from 1 to 5 under the criteria; ``robustcs agreement`` reads any number of such sheets.
    """
    places: dict[str, int] = {}
    cells = []
    for turn, source, source_text, manual, raw in rows:
        places[turn] = places.get(turn, 0) + 1
        blank = [""] * len(SHEET_CRITERIA)
        cells.append(
            (turn, manual, raw, f"{turn} #{places[turn]}", source, source_text, "", *blank)
        )
    return _csv([*COLUMNS, *_SHEET, *SHEET_CRITERIA], cells)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


#: Ids that are written as numbers, as in CAsT's files.
_PLAIN_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


def files_of_testsets(
    sets: pd.DataFrame, conversations: Conversations | None = None
) -> dict[str, str]:
    """Return file name → content, for every set i of the table ``sets`` of a ``ParaphraseSets`` result.

    ``manual_i.tsv``, ``raw_i.tsv``
        ``turn TAB text`` without a header, for retrieval.
    ``topics_i.json``
        CAsT topic JSON with ``raw_utterance`` and ``manual_rewritten_utterance``.
    ``history_i.jsonl``
        For rewriters, in the form of ConversationQueryRewriter: ``input`` contains the raw turns of this set up to and
        including the turn itself; ``target`` is the manual text.

    Turns without a place in a conversation (``conversations``; default: by their ids) are only in the first two.
    """
    files = {}
    known = conversations or Conversations.from_ids(sets["turn"])
    in_conversation = any(known.depth(turn) is not None for turn in sets["turn"])
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
            if known.depth(row.turn) is None:
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


def _number(text: str) -> int | str:
    """Return a number as in CAsT's files; ids such as ``007`` stay texts, so that they can be restored."""
    return int(text) if _PLAIN_NUMBER.fullmatch(text) else text
