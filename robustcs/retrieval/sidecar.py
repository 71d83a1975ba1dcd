"""Sidecar files of runs: the texts that a run was made for, and how, so that it is reused while both are unchanged.

The file ``RUN.texts.json`` contains the SHA-256 of the run and of the text of every turn, and the settings of the retrieval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from robustcs.conversations import Conversations
from robustcs.errors import input_error
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import parts_of, sidecar_path
from robustcs.inputs.text import read_json


@dataclass(frozen=True)
class Sidecar:
    """The texts of a run.

    run
        SHA-256 of the run's file.
    texts
        Turn → checksum of its text, from :func:`text_checksums`.
    made
        For a run that robustcs retrieved: index, parameters, depth and so on, from
        :class:`~robustcs.project.open_questions.Maker`. Empty for other runs.
    """

    run: str
    texts: Mapping[str, str]
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rewriter(self) -> str:
        """The rewriter of the texts, as :func:`~robustcs.retrieval.rewriting.rewriter_identity` names it.

        Empty if the texts were searched unchanged, and for runs from elsewhere.
        """
        return str(self.made.get("rewriter", ""))

    def as_text(self) -> str:
        """Return the content of the file."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    def changed(self, texts: Mapping[str, str]) -> list[str]:
        """Return the turns of ``texts`` (turn → checksum) whose text is new or differs from the text of the run."""
        return [turn for turn, checksum in texts.items() if self.texts.get(turn) != checksum]


def text_checksums(
    texts: Mapping[str, str], raw: bool, conversations: Conversations | None = None
) -> dict[str, str]:
    """Return turn → SHA-256 of its normalised text; ``raw`` texts include the earlier turns, as a rewriter sees them."""
    from robustcs.programs.models import SEPARATOR
    from robustcs.retrieval.rewriting import history
    from robustcs.retrieval.store import digest

    if not raw:
        return {turn: digest(text) for turn, text in texts.items()}
    before = history(texts, conversations)
    return {turn: digest(SEPARATOR.join([*before[turn], text])) for turn, text in texts.items()}


def read_sidecar(run: Path) -> Sidecar | None:
    """Return the sidecar of the run, or None. Raises :class:`InputError` for a file in another format."""
    path = sidecar_path(run)
    if not path.is_file():
        return None
    value = read_json(path)
    value = value if isinstance(value, dict) else {}
    run_checksum, texts, made = value.get("run"), value.get("texts"), value.get("made", {})
    if not (isinstance(run_checksum, str) and isinstance(texts, dict) and isinstance(made, dict)):
        raise input_error(
            path, None, "not a file that robustcs writes next to a run", "delete it", "bad-sidecar"
        )
    return Sidecar(run_checksum, texts, made)


def fits(run: Path, sidecar: Sidecar) -> bool:
    """Return whether the run is still the one of the sidecar."""
    return run.is_file() and sha256(run) == sidecar.run


def require_unchanged(run: Path) -> Sidecar | None:
    """Return the sidecar of the run. Raises :class:`InputError` if robustcs retrieved the run and it has changed since."""
    sidecar = read_sidecar(run)
    if sidecar is not None and sidecar.made and sha256(run) != sidecar.run:
        own = sidecar_path(run).name
        raise input_error(
            run, None, f"changed since robustcs retrieved it: {own} has another checksum",
            f"delete both files to retrieve it again; or, to use the run as it is, delete {own} and name the run in"
            f' robustcs.toml (run = "{run}")',
            "changed-run",
        )  # fmt: skip
    return sidecar


def changed_since(run: Path, checksums: Mapping[str, str]) -> list[str]:
    """Return the turns of ``checksums`` whose text is new or differs from the text that the run was made for.

    Without a sidecar, or with the sidecar of another run, the texts of a file are unknown and its turns count as unchanged.
    Raises :class:`InputError` as :func:`require_unchanged` does.
    """
    files = parts_of(run)
    told = [
        one
        for file in files
        if file.is_file() and (one := require_unchanged(file)) and fits(file, one)
    ]
    texts = {turn: checksum for one in told for turn, checksum in one.texts.items()}
    known = checksums if len(told) == len(files) else texts
    return [
        turn
        for turn, checksum in checksums.items()
        if turn in known and texts.get(turn) != checksum
    ]
