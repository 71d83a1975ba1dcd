"""Steps of ``robustcs robustness``: categories of paraphrases, groups of options."""

from __future__ import annotations

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import categories_of


def paraphrase_categories(workspace: Workspace) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return set → turn → category of its paraphrase, by the texts of the sets, and notes.

    Empty if no paraphrase has a category.
    """
    project = workspace.project
    if project.paraphrases is None:
        return {}, []
    paraphrases = workspace.paraphrases
    if not any(row.category for rows in paraphrases.values() for row in rows):
        return {}, []
    found: dict[str, dict[str, str]] = {}
    sets = dict.fromkeys(name for group in project.groups.values() for name in group.sets)
    for name, texts in workspace.texts_of_sets.items():
        raw = name not in project.texts
        unchanged = workspace.texts.get("original" if raw else "human", {})
        found[name] = categories_of(paraphrases, texts, raw, unchanged)
    notes = list(paraphrases.notes)
    lacking = [name for name in sets if name not in found]
    if lacking:
        notes.append(
            f"no drops by category for {', '.join(lacking)}: add their texts to [texts] or [raw_texts]"
        )
    return found, notes


def group_of(text: str) -> tuple[str, Group]:
    """Return the name and the group of ``NAME=BASELINE,SET,SET``.

    Raises :class:`UsageError` for any other text.
    """
    name, equals, members = text.partition("=")
    baseline, *sets = members.split(",")
    if not (name and equals and sets and all(part.strip() for part in (baseline, *sets))):
        raise UsageError("bad-group", f"--group {text}", "write --group NAME=BASELINE,SET,SET")
    return name, Group(baseline.strip(), tuple(part.strip() for part in sets))
