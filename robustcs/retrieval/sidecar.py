"""What stands beside a run: for which texts it was made, so that a changed text is seen.

The file ``RUN.texts.json`` holds the SHA-256 of the run, of the text of every turn, and of everything that made the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from robustcs.errors import input_error
from robustcs.inputs.files import read_json, sha256
from robustcs.retrieval.store import digest


@dataclass(frozen=True)
class Sidecar:
    """The texts of a run.

    run
        SHA-256 of the run's file.
    texts
        Turn → SHA-256 of its normalised text.
    origin
        SHA-256 of all that made the run (questions, ranker, depth, stages); empty for a run from elsewhere.
    ranker
        The ranker in words, for people.
    rewriter
        What the texts went through before they were searched, as
        :func:`~robustcs.retrieval.rewriting.rewriter_identity` names it; empty where they were searched as they are, and for a
        run from elsewhere.
    """

    run: str
    texts: Mapping[str, str]
    origin: str = ""
    ranker: str = ""
    rewriter: str = ""

    def as_text(self) -> str:
        """The file's content."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    def changed(self, texts: Mapping[str, str]) -> list[str]:
        """The turns of ``texts`` whose text is not the one of the run, new ones included."""
        return [turn for turn, text in texts.items() if self.texts.get(turn) != digest(text)]


def sidecar_path(run: Path) -> Path:
    """``RUN.texts.json`` beside the run."""
    return run.with_name(f"{run.name}.texts.json")


def read_sidecar(run: Path) -> Sidecar | None:
    """What stands beside the run, or None. Raises :class:`InputError` for a file of another form."""
    path = sidecar_path(run)
    if not path.is_file():
        return None
    value = read_json(path)
    if not isinstance(value, dict) or not isinstance(value.get("texts"), dict) or not isinstance(value.get("run"), str):
        raise input_error(path, None, "not what robustcs writes beside a run", "delete it", "bad-sidecar")
    words = (str(value.get(name, "")) for name in ("origin", "ranker", "rewriter"))
    return Sidecar(value["run"], value["texts"], *words)


def fits(run: Path, sidecar: Sidecar) -> bool:
    """Is the run still the one that the sidecar is about?"""
    return run.is_file() and sha256(run) == sidecar.run
