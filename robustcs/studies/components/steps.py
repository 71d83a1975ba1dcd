"""Steps of ``robustcs components``: find the texts of wordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robustcs.project.scan import role_of
from robustcs.project.workspace import Workspace


def texts_of_wordings(
    workspace: Workspace, wordings: Iterable[str], turns: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the texts of wordings with the name of a formulation or set of texts, or with a word for Original or Human."""
    project = workspace.project
    known = workspace.texts_of(turns)
    for raw, sources in ((False, project.texts), (True, project.raw_texts)):
        for name, source in sources.items():
            own = workspace.text_file(source, "original" if raw else "human", name)
            workspace.refuse_strangers([(source.path, own)], turns)
            known.setdefault(name, own)
    found = {name: known.get(name) or known.get(role_of(name) or "", {}) for name in wordings}
    return {name: texts for name, texts in found.items() if texts}
