"""A project whose ids, texts, tags, run names and passages try to break out of every output language."""

from __future__ import annotations

import json
from pathlib import Path

from tests.documents.conftest import HOSTILE


def write_hostile_project(folder: Path) -> Path:
    """Write runs, qrels, texts and a collection into ``folder``; the path of the project file."""
    ids = [f"{number}_{_word(text)[:300]}" for number, text in enumerate(HOSTILE)]
    documents = [f"d{number}{_word(text)[:60]}" for number, text in enumerate(HOSTILE)]
    texts = dict(zip(ids, map(clean, HOSTILE), strict=True))
    lines = ['name = "]]></style><script>touched = 1</script> $x$ \\\\input{x} #panic()"', 'qrels = "qrels.txt"',
             'collection = "collection.jsonl"']  # fmt: skip
    for place, role in enumerate(("original", "qr", "human")):
        rows = [
            f"{turn} Q0 {documents[(number + rank + place) % len(documents)]} {rank + 1} {9 - rank} <b>tag"
            for number, turn in enumerate(ids)
            for rank in range(4)
        ]
        (folder / f"{role}.run").write_text("\n".join(rows) + "\n", encoding="utf-8")
        reversed_or_not = {
            turn: text if role != "qr" else text[::-1] for turn, text in texts.items()
        }
        with (folder / f"{role}.jsonl").open("w", encoding="utf-8") as file:
            for turn, text in reversed_or_not.items():
                file.write(json.dumps({"id": turn, "query": text}) + "\n")
        key = role if role != "qr" else 'qr:"><img src=x onerror=touched=1>'
        lines += [
            f"[formulations.{json.dumps(key)}]",
            f'run = "{role}.run"',
            f'rewrites = "{role}.jsonl:query"',
        ]
    lines += ["[runs]", f'{json.dumps("</script><script>touched=1</script>")} = "human.run"']
    judged = [f"{turn} 0 {documents[number]} {number % 4}" for number, turn in enumerate(ids)]
    # that every run has: one without any would be refused
    judged.append(f"{ids[0]} 0 {documents[3]} 0")
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n", encoding="utf-8")
    (folder / "judge.txt").write_text("".join(f"{line[:-1]}{(place * 3) % 4}\n" for place, line in enumerate(judged)),
                                      encoding="utf-8")  # fmt: skip
    lines += ["[judges]", f'{json.dumps("</script><script>touched=1</script>")} = "judge.txt"']
    with (folder / "collection.jsonl").open("w", encoding="utf-8") as file:
        for document, text in zip(documents, HOSTILE, strict=True):
            file.write(json.dumps({"id": document, "contents": clean(text) or "x"}) + "\n")
    lines += _people(folder, ids, documents)
    path = folder / "robustcs.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _people(folder: Path, ids: list[str], documents: list[str]) -> list[str]:
    """Clarifying questions, annotations and crowd judgments; returns their tables of the project file."""
    first, second = "</script><script>touched=1</script>", r"\input{x} #panic() $y$"
    rows = [
        {"criterion": text, "first": first, "second": second, "winner": first}
        for text in map(clean, HOSTILE)
        if text
    ]
    _write_lines(folder / "preferences.jsonl", rows)
    marked = [
        {
            "turn": turn,
            "passage": document,
            "worker": worker,
            "query": text,
            "text": text,
            "snippets": [[0, min(len(text), 9)]],
        }
        for turn, document, text in zip(ids, documents, map(clean, HOSTILE), strict=True)
        for worker in (first, second)
    ]
    _write_lines(folder / "snippets.jsonl", [row for row in marked if row["text"].strip()])
    graded = [
        {"turn": turn, "item": document, "worker": worker, "criterion": criterion, "grade": grade}
        for turn, document in zip(ids, documents, strict=True)
        for criterion in (first, second)
        for grade, worker in enumerate((first, second, "w"))
    ]
    _write_lines(folder / "grades.jsonl", graded)
    (folder / "bank.json").write_text(
        json.dumps(dict(zip(documents, map(clean, HOSTILE), strict=True))), encoding="utf-8"
    )
    turns = [{"turn_id": turn, "questions": [{"question": clean(text), "score": 1}, {"question": f"{text}?", "score": 0.5}]}
             for turn, text in zip(ids, map(clean, HOSTILE), strict=True) if text.strip()]  # fmt: skip
    (folder / "mixed.json").write_text(
        json.dumps({"run_name": first, "turns": turns}), encoding="utf-8"
    )
    return [
        "[clariq]", 'preferences = "preferences.jsonl"', "[agreement]", 'snippets = "snippets.jsonl"',
        'ratings = "grades.jsonl"', "[crowd]", 'grades = "grades.jsonl"', 'bank = "bank.json"', "[crowd.runs]",
        f'{json.dumps(first)} = "mixed.json"',
    ]  # fmt: skip


def _write_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _word(text: str) -> str:
    """``text`` as a column of a run can hold it: without white space and the bytes of binary files."""
    return "".join(
        char
        for char in clean(text)
        if not char.isspace() and (char.isprintable() or ord(char) > 0x2000)
    )


def clean(text: str) -> str:
    """``text`` as a file in UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode()
