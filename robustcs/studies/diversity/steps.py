"""Steps of ``robustcs diversity``: read the sets of texts to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.formats import Role
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.sniff import kind_of
from robustcs.inputs.texts import TextFile, without_empty
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.project.conversations import conversations_of
from robustcs.project.model import TextSource, parse_text_source
from robustcs.project.overrides import named_texts
from robustcs.project.requirements import compared_texts
from robustcs.project.sources import several
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.diversity.analysis import TextSet
from robustcs.studies.study import check_common_turns
from robustcs.wording import counted, told_once

Pair = tuple[TextSet, TextSet]
#: Formulations that a side uses if no field is named, the first one that the file contains.
_ROLES: dict[str, tuple[Role, ...]] = {
    "source": ("original", "human", "qr"),
    "target": ("human", "qr", "original"),
}
#: The same if any target contains the texts of a rewriter: the reference is then the human rewrite.
_OF_REWRITERS: dict[str, tuple[Role, ...]] = {
    "source": ("human", "original", "qr"),
    "target": ("qr", "human", "original"),
}


def read_text_sets(
    workspace: Workspace,
    sources: Sequence[str] | Mapping[str, Any],
    targets: Sequence[str] | Mapping[str, Any],
) -> tuple[list[Pair], Evaluated]:
    """Return every pair of a source and a target, both given as ``FILE[:FIELD]``, with their texts.

    A paraphrase file (ECAsT) has the fields ``manual`` (the default) and ``raw``. If no field is named, a target is the
    rewriter's text if the file has one, else the manual turn; a source is the manual turn if any target is a rewriter's, else
    the raw turn. Without files, the pairs are the formulations and paraphrases of the project.

    Raises :class:`UsageError` if only one side is given, there is nothing to compare, or no turn is on both sides.
    """
    sources, targets = (
        _checked(side, texts) for side, texts in (("sources", sources), ("targets", targets))
    )
    if bool(sources) != bool(targets):
        lacking = "target" if sources else "source"
        raise UsageError(
            "one-side",
            Message(OptionName(lacking), " is missing"),
            Message("name the other texts with ", OptionName(lacking, "FILE[:FIELD]")),
        )
    if sources:
        short = _short_names(
            [
                text
                for texts in (sources, targets)
                if not isinstance(texts, Mapping)
                for text in texts
            ]
        )
        named = {
            side: _named(side, texts, short)
            for side, texts in (("source", sources), ("target", targets))
        }
        opened = {
            text.path: TextFile(text.path)
            for some in named.values()
            for _, text in some
            if not _of_paraphrases(text)
        }
        rewriters = any(_is_rewriter(text, opened) for _, text in named["target"])
        ours, theirs = (
            [TextSet(name, _read(workspace, text, opened, side, rewriters)) for name, text in some]
            for side, some in named.items()
        )
        pairs = [(source, target) for source in ours for target in theirs]
    else:
        pairs = _of_project(workspace)
        workspace.note_names("formulations")
    left: list[tuple[str, str, str]] = []
    turns: set[str] = set()
    for source, target in pairs:
        check_common_turns(source.name, source.wordings, target.name, target.wordings)
        common = source.wordings.keys() & target.wordings.keys()
        for one, other in ((source, target), (target, source)):
            extra = len(one.wordings.keys() - common)
            if extra:
                left.append(
                    (f"{counted(extra, 'turn')} of {one.name} excluded: not in ", other.name, "")
                )
        turns |= common
    conversations = conversations_of(workspace, sorted(turns, key=turn_sort_key))
    notes = tuple(told_once(left))
    return pairs, Evaluated(
        workspace.project.policy, "texts", len(turns), 0, notes, conversations=conversations
    )


def _checked(keyword: str, texts: Any) -> Sequence[str] | Mapping[str, Any]:
    """Return texts by name, or a list of files. Raises :class:`UsageError` for anything else."""
    if not isinstance(texts, Mapping):
        texts = several(texts)
        if not all(isinstance(text, str) for text in texts):
            advice = f"write {keyword}={{NAME: TEXTS}}, or a list of FILE[:FIELD]"
            raise UsageError("bad-type", f"{keyword} contains texts without a name", advice)
    return texts  # type: ignore[no-any-return]


def _short_names(texts: Sequence[str]) -> dict[str, str]:
    """Return for each ``FILE[:FIELD]`` its last path components, as many as make all names different."""
    parts = 1
    while len({"/".join(text.split("/")[-parts:]) for text in texts}) < len(set(texts)):
        parts += 1
    # a file name may have any bytes, a name in a table must be valid text
    return {
        text: "/".join(text.split("/")[-parts:]).encode("utf-8", "replace").decode()
        for text in texts
    }


def _named(
    side: str, texts: Sequence[str] | Mapping[str, Any], short: Mapping[str, str]
) -> list[tuple[str, TextSource]]:
    """Return the name and the description of each file; the name is the given one or a short one."""
    if isinstance(texts, Mapping):
        return list(named_texts(f"{side}s", texts, _ROLES[side][0]).items())
    return [(short[text], parse_text_source(text)) for text in texts]


def _of_paraphrases(source: TextSource) -> bool:
    return kind_of(source.path) == "paraphrases"


def _is_rewriter(source: TextSource, opened: Mapping[Any, TextFile]) -> bool:
    """Return whether the source contains the texts of a rewriter and no field is named."""
    return source.path in opened and source.column is None and opened[source.path].is_rewrites


def _read(
    workspace: Workspace,
    source: TextSource,
    opened: Mapping[Any, TextFile],
    side: str,
    rewriters: bool,
) -> Mapping[str, tuple[str, ...]]:
    """Return the texts of every turn, including all samples; ``rewriters``: whether any target is the output of a rewriter."""
    wordings: Mapping[str, tuple[str, ...]]
    if _of_paraphrases(source):
        field = (source.column or "manual").lower().removesuffix("paraphrase").strip(" _")
        if field not in ("manual", "raw"):
            found = f"{source.path}:{source.column}: paraphrases have no field {source.column!r}"
            raise UsageError("no-such-field", found, "write manual or raw")
        read = read_paraphrases(source.path)
        wordings = {turn: tuple(getattr(one, field) for one in some) for turn, some in read.items()}
    else:
        file = opened[source.path]
        roles = (
            _OF_REWRITERS
            if rewriters and (side == "source" or _is_rewriter(source, opened))
            else _ROLES
        )[side]
        wordings = without_empty(
            file.samples(roles[0] if source.column else file.role(*roles), source.column)
        )
    workspace.remember(side, source.path, sum(map(len, wordings.values())))
    return wordings


def _of_project(workspace: Workspace) -> list[Pair]:
    """Pair Human with Original, each rewriter with Human, manual paraphrases with Human, and raw ones with Original."""
    compared_texts(workspace)
    workspace.takes_samples = True
    texts = {
        name: {turn: (text,) for turn, text in some.items()}
        for name, some in workspace.texts.items()
    } | workspace.samples
    sets = {name: TextSet(name, without_empty(some)) for name, some in texts.items() if some}
    rewriters = [part.name for part in workspace.project.formulations.values() if part.role == "qr"]
    pairs = [("original", "human"), *(("human", name) for name in rewriters)]
    if workspace.project.paraphrases:
        for field, source in (("manual", "human"), ("raw", "original")):
            name = f"{field} paraphrases"
            found = {
                turn: tuple(getattr(one, field) for one in some)
                for turn, some in workspace.paraphrases.items()
            }
            sets[name] = TextSet(name, found)
            pairs.append((source, name))
    return [
        (sets[source], sets[target])
        for source, target in pairs
        if source in sets and target in sets
    ]
