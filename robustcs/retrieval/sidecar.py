"""What stands beside a run: for which texts it was made, and by what, so that it is used as it is wherever that still holds.

The file ``RUN.texts.json`` holds the SHA-256 of the run, of the text of every turn, and what made the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from robustcs.errors import input_error
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import PooledFile
from robustcs.inputs.text import read_json
from robustcs.programs.models import SEPARATOR
from robustcs.retrieval.rewriting import history
from robustcs.retrieval.store import digest


@dataclass(frozen=True)
class Sidecar:
    """The texts of a run.

    run
        SHA-256 of the run's file.
    texts
        Turn → checksum of its text, as :func:`text_checksums` gives it.
    made
        What made a run that robustcs retrieved, as :class:`~robustcs.project.open_questions.Maker` tells it: index, parameters,
        depth and so on. Empty for a run from elsewhere.
    """

    run: str
    texts: Mapping[str, str]
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rewriter(self) -> str:
        """What the texts went through before they were searched, as
        :func:`~robustcs.retrieval.rewriting.rewriter_identity` names it; empty where they were searched as they are, and for a
        run from elsewhere.
        """
        return str(self.made.get("rewriter", ""))

    def as_text(self) -> str:
        """The file's content."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    def changed(self, texts: Mapping[str, str]) -> list[str]:
        """The turns of ``texts`` (turn → checksum) whose text is not the one of the run, new ones included."""
        return [turn for turn, checksum in texts.items() if self.texts.get(turn) != checksum]


def text_checksums(texts: Mapping[str, str], raw: bool) -> dict[str, str]:
    """Turn → SHA-256 of its normalised text; of ``raw`` texts with all earlier ones of the conversation, as a rewriter sees
    them.
    """
    if not raw:
        return {turn: digest(text) for turn, text in texts.items()}
    before = history(texts)
    return {turn: digest(SEPARATOR.join([*before[turn], text])) for turn, text in texts.items()}


def sidecar_path(run: Path) -> Path:
    """``RUN.texts.json`` beside the run."""
    return run.with_name(f"{run.name}.texts.json")


def read_sidecar(run: Path) -> Sidecar | None:
    """What stands beside the run, or None. Raises :class:`InputError` for a file of another form."""
    path = sidecar_path(run)
    if not path.is_file():
        return None
    value = read_json(path)
    value = value if isinstance(value, dict) else {}
    # an earlier program told of a run that it made only that, and the rewriter
    made = value.get("made", {"rewriter": str(value.get("rewriter", ""))} if value.get("origin") else {})
    run_checksum, texts = value.get("run"), value.get("texts")
    if not (isinstance(run_checksum, str) and isinstance(texts, dict) and isinstance(made, dict)):
        raise input_error(path, None, "not a file that robustcs writes next to a run", "delete it", "bad-sidecar")
    return Sidecar(run_checksum, texts, made)


def files_of(run: Path) -> list[Path]:
    """The files of a run, each with a sidecar of its own: several where it is joined of those of several collections."""
    return list(map(Path, run.files)) if isinstance(run, PooledFile) else [run]


def fits(run: Path, sidecar: Sidecar) -> bool:
    """Is the run still the one that the sidecar is about?"""
    return run.is_file() and sha256(run) == sidecar.run


def require_unchanged(run: Path, checksum: str | None = None) -> Sidecar | None:
    """What stands beside the run. Raises :class:`InputError` where robustcs retrieved the run and it has changed since.

    ``checksum``: of the run's file, where it is known.
    """
    sidecar = read_sidecar(run)
    if sidecar is not None and sidecar.made and (checksum or sha256(run)) != sidecar.run:
        beside = sidecar_path(run).name
        raise input_error(
            run, None, f"changed since robustcs retrieved it: {beside} has another checksum",
            f"delete both files to retrieve it again; or, to use the run as it is, delete {beside} and name the run in"
            f' robustcs.toml (run = "{run}")',
            "changed-run",
        )  # fmt: skip
    return sidecar


def changed_since(run: Path, checksums: Mapping[str, str]) -> list[str]:
    """The turns of ``checksums`` whose text is not the one that the run was made for, new ones included.

    Without a sidecar, or with one about another run, nothing says for which texts a file was made: its turns count as they are.
    Raises :class:`InputError` as :func:`require_unchanged` does.
    """
    files = files_of(run)
    told = [one for file in files if file.is_file() and (one := require_unchanged(file)) and fits(file, one)]
    texts = {turn: checksum for one in told for turn, checksum in one.texts.items()}
    known = checksums if len(told) == len(files) else texts
    return [turn for turn, checksum in checksums.items() if turn in known and texts.get(turn) != checksum]
