"""Several collections in one folder, such as domains or years: which judgments, runs and texts ``robustcs init`` joins."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from robustcs.errors import InputError
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.project.found import Folder, Found, words_of
from robustcs.project.text_choice import Texts


def join_collections(folder: Folder, known: Sequence[tuple[Found, Qrels]]) -> Found:
    """Join the judgments of further collections to the first, and the runs of each system; return what stands for them.

    Judgments of other turns are a further collection where a run answers turns of both, where two runs have the same name but
    for the words of their collections, and where the folder has no runs.
    """
    apart: list[tuple[Found, Qrels]] = []
    for file, qrels in known:
        if all(set(qrels.turns).isdisjoint(other.turns) for _, other in apart):
            apart.append((file, qrels))
    apart.sort(key=lambda one: one[0].path)
    common = set.intersection(*(_atoms(file.path) for file, _ in apart))
    collections = [(frozenset(qrels.turns), _atoms(file.path) - common) for file, qrels in apart]
    groups: dict[tuple[str, ...], dict[int, Found]] = {}
    links: list[set[int]] = []
    runs = folder.of("run") if len(apart) > 1 else []
    for file in runs:
        with suppress(InputError):
            numbers = _collections_of(read_run(folder.place(file)).turns, collections)
            links.append(set(numbers))
            if len(numbers) == 1 and numbers[0] >= 0:
                name = tuple(words_of(called(file.path, collections[numbers[0]][1])))
                groups.setdefault(name, {}).setdefault(numbers[0], file)
    links += [set(files) for files in groups.values()]
    chosen = {apart.index(known[0])} if runs else set(range(len(apart)))
    for _ in apart:
        chosen.update(*(link for link in links if link & chosen))
    folder.collections = [collections[number] for number in sorted(chosen)]
    judgments = [apart[number][0] for number in sorted(chosen)]
    _join(folder, [file.path for file in judgments], "qrels")
    for files in groups.values():
        paths = [file.path for number, file in sorted(files.items()) if number in chosen]
        _join(folder, paths, "run", called(paths[0], collections[min(files)][1]) if paths else "")
    return judgments[0]


def join_texts(folder: Folder, texts: Sequence[Texts]) -> list[Texts]:
    """Return the texts with those joined that have the same name but for the words of their collections."""
    groups: dict[tuple[object, ...], dict[int, Texts]] = {}
    for one in texts:
        numbers = _collections_of(one.texts, folder.collections)
        name: tuple[object, ...] = (one.named,)
        if len(numbers) == 1 and numbers[0] >= 0:
            path = called(one.file.path, folder.collections[numbers[0]][1])
            name = (one.role, one.named.removeprefix(one.file.path), *words_of(path))
        groups.setdefault(name if numbers[0] not in groups.get(name, ()) else (one.named,), {})[numbers[0]] = one
    found = []
    for group in groups.values():
        first, *others = (group[number] for number in sorted(group))
        if others:
            folder.joined[first.named] = [one.named for one in (first, *others)]
            for one in others:
                folder.take(one.file.path, f"texts of a further collection, beside {first.file.path}")
            first = replace(first, texts={turn: text for one in (first, *others) for turn, text in one.texts.items()})
        found.append(first)
    return found


def called(path: str, words: Collection[str]) -> str:
    """Return ``path`` without these words: ``bm25_raw_clapnq.trec`` becomes ``bm25_raw.trec``.

    Files whose names have no other words are those of one ``system``.
    """
    folder, slash, name = path.rpartition("/")
    stem, *suffixes = name.split(".")
    left = re.sub(r"[A-Za-z]+|[0-9]+", lambda found: "" if found[0].lower() in words else found[0], folder + slash + stem)
    left = re.sub(r"[-_]+(?=[-_/]|$)|(?<=/)[-_/]+|^[-_/]+", "", left).rstrip("/")
    return ".".join((left if words_of(left) else "system", *suffixes))


def _atoms(path: str) -> set[str]:
    """The words of a path, those with a year at their end in two."""
    return set(re.findall(r"[a-z]+|[0-9]+", path.lower()))


def _collections_of(turns: Collection[str], collections: Sequence[tuple[frozenset[str], set[str]]]) -> list[int]:
    """The numbers of the collections that have some of the turns; −1 where none has."""
    return [number for number, (own, _) in enumerate(collections) if not own.isdisjoint(turns)] or [-1]


def _join(folder: Folder, paths: Sequence[str], what: str, name: str = "") -> None:
    """Read the first file together with the others from now on."""
    if len(paths) < 2:
        return
    folder.joined[paths[0]] = list(paths)
    folder.called[paths[0]] = name or paths[0]
    for path in paths[1:]:
        folder.take(path, f"{what} of a further collection, beside {paths[0]}")
