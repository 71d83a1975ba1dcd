"""Other words for the turns of a workspace."""

from __future__ import annotations

from robustcs.errors import UsageError
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.paraphrase.analysis import Variations, vary


def ask(workspace: Workspace) -> Variations:
    """Labelled variations of the project's turns, by rules and the seed of the project.

    Raises :class:`UsageError` where neither raw nor manual turns are given, or no turn id says its place in a conversation.
    """
    texts = workspace.texts
    original, human = texts.get("original", {}), texts.get("human", {})
    if not original and not human:
        raise UsageError("no-texts", "no turns are given", "name them with --rewrites original=FILE and --rewrites human=FILE")
    if original and human and not original.keys() & human.keys():
        raise UsageError(
            "no-common-turns", "Original and Human have no turn in common",
            f"check their turn ids: {next(iter(original))!r} and {next(iter(human))!r}",
        )  # fmt: skip
    result = vary(original, human, Evaluated(workspace.project.policy, "texts", 0, 0), workspace.project.seed)
    if not result.evaluated.turns:
        some = next(iter({**original, **human}))
        raise UsageError(
            "no-turn-id", f"no turn id says its place in a conversation ({some!r})", "write TOPIC_DEPTH, such as 31_4"
        )
    return result
