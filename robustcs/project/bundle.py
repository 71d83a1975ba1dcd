"""Copy all files of a study into one folder, so that it can be repeated elsewhere; for ``robustcs bundle``."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from robustcs.errors import InputError, UsageError, not_written
from robustcs.inputs import mtrag
from robustcs.inputs.collection import passage_lines, read_passages
from robustcs.inputs.heads import first_record
from robustcs.inputs.paths import IRDS_PREFIX, parts_of, sidecar_path, url_of
from robustcs.inputs.runs import read_run
from robustcs.inputs.text import first_bytes, read_text
from robustcs.overwrite_guard import CONFIG_NAME, refuse_protected
from robustcs.project.marks import MARK
from robustcs.project.model import Project, input_files, new_judgment_files, parse_text_source
from robustcs.project.toml import quoted, read_toml, toml_text
from robustcs.project.workspace import Workspace
from robustcs.retrieval.sidecar import require_unchanged
from robustcs.tempfiles import temporary

#: Keys of ``[retrieval]`` that name files and folders.
_PLACES = ("index", "folder", "store", "reranker", "rewriter")
#: Keys of a project file that never name a file.
_NAMES = ("name", "groups", "run_groups")


@dataclass(frozen=True)
class Bundle:
    """Content of a bundle.

    files, size
        Number of files, and total size in bytes.
    passages, of
        Number of copied passages, and of all passages of the collection; equal, or both 0, if the collection is complete.
    outside
        Files copied from outside the project's folder.
    left
        URLs and datasets of ir_datasets, which are not copied.
    """

    files: int
    size: int
    passages: int
    of: int
    outside: tuple[str, ...]
    left: tuple[str, ...]


def require_bundle_folder(out: Path) -> None:
    """Raise :class:`UsageError` if ``out`` is an input or a folder that is not empty."""
    refuse_protected(out)
    if out.exists() and not (out.is_dir() and next(out.iterdir(), None) is None):
        raise UsageError(
            "folder-exists",
            f"{out} exists already and is not an empty folder",
            "name another folder",
        )


def write_bundle(config: Path, project: Project, workspace: Workspace, out: Path) -> Bundle:
    """Copy all files that the project reads into the folder ``out``, completely or not at all.

    Files in the folder of ``config`` keep their relative paths; others go to ``files``. Of the collection, only retrieved or
    judged passages are copied, unless these are all passages or the project uses the file for another input too.

    project, workspace
        The project of ``config``; the same project with a run for each text.

    Raises :class:`InputError` for a file that cannot be read, :class:`OutputError` if the folder cannot be written.
    """
    require_bundle_folder(out)
    places = _Places(config.parent, project)
    left = []
    texts, kept, whole = _pool(workspace)
    for source in texts:
        own = places.own(source)
        places.add(source, str(own.with_name(f"{own.name.partition('.')[0]}_pool.jsonl")))
    for path in dict.fromkeys([*_named(project), *_named(workspace.project)]):
        if url_of(path):
            left.append(str(url_of(path)))
            continue
        first_bytes(path, 1)  # raises an error if the file cannot be read
        require_unchanged(path)
        places.add(path)
        sidecar = sidecar_path(path)
        if sidecar.is_file():
            places.add(sidecar, str(sidecar_path(Path(places.add(path)))))
    text = _config(config, project, places)
    left += re.findall(f'"({IRDS_PREFIX}[^"]*)"', toml_text(read_toml(config, text)))
    try:
        with temporary(out.parent) as folder:
            folder.mkdir()
            for source, place in places.of.items():
                target = folder / place
                target.parent.mkdir(parents=True, exist_ok=True)
                if source in texts:
                    with target.open("w", encoding="utf-8", newline="\n") as stream:
                        stream.writelines(
                            f"{json.dumps({'id': id_, 'contents': one})}\n"
                            for id_, one in texts[source].items()
                        )
                else:
                    shutil.copyfile(source, target)
            (folder / CONFIG_NAME).write_text(text, encoding="utf-8", newline="\n")
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            folder.rename(out)
    except OSError as error:
        raise not_written(out, error) from None
    outside = tuple(str(path) for path in places.of if not path.is_relative_to(places.root))
    return Bundle(len(sizes), sum(sizes), kept, whole, outside, tuple(dict.fromkeys(left)))


def _named(project: Project) -> list[Path]:
    """Return the files that a project reads, without the index and models, which only retrieval needs."""
    settings = project.retrieval
    models = (
        {}
        if settings is None
        else {settings.index, settings.reranker, Path(settings.rewriter or "")}
    )
    files = [*input_files(project), *new_judgment_files(project)]
    return [path for path in files if path not in models or path.is_file()]


class _Places:
    """Relative paths of files in a bundle; ``of``: absolute path of each added file → its path in the bundle."""

    def __init__(self, root: Path, project: Project):
        self.root = self.absolute(root)
        self.retrieved = (
            None if project.retrieval is None else self.absolute(project.retrieval.folder)
        )
        self.of: dict[Path, str] = {}

    @staticmethod
    def absolute(path: Path) -> Path:
        """Return the absolute path without resolving links."""
        return Path(os.path.abspath(path))

    def add(self, path: Path, place: str = "") -> str:
        """Add a file at ``place``, or at a free path, and return its path in the bundle."""
        path = self.absolute(path)
        if path not in self.of:
            found = PurePath(place) if place else self.own(path)
            taken, number = {CONFIG_NAME, *map(str.casefold, self.of.values())}, 1
            while found.as_posix().casefold() in taken:
                number += 1
                found = PurePath("files", str(number), path.name)
            self.of[path] = found.as_posix()
        return self.of[path]

    def own(self, path: Path) -> PurePath:
        """Return the preferred path of a file in the bundle."""
        if path.is_relative_to(self.root):
            return path.relative_to(self.root)
        if self.retrieved is not None and path.is_relative_to(self.retrieved):
            return PurePath("retrieved") / path.relative_to(self.retrieved)
        return PurePath("files") / path.name

    def named(self, value: Any) -> Any:
        """Replace files in a value of the project file by their paths in the bundle."""
        if isinstance(value, dict):
            return {key: self.named(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.named(item) for item in value]
        if not isinstance(value, str):
            return value
        try:
            source = parse_text_source(value, self.root)
        except OSError:  # not a possible file name
            return value
        column = f":{source.column}" if source.column else ""
        place = self.of.get(self.absolute(Path(source.path)))
        same = place is None or PurePath(value.removesuffix(column)).as_posix() == place
        return value if same else f"{place}{column}"


def _config(config: Path, project: Project, places: _Places) -> str:
    """Return the project file of the bundle; unchanged, with its comments, if all files keep their relative paths."""
    text = read_text(config)
    values = read_toml(config, text)
    moved = {key: value if key in _NAMES else places.named(value) for key, value in values.items()}
    settings = moved.get("retrieval", {})
    paths = {key: places.absolute(places.root / settings.get(key, "")) for key in _PLACES}
    outside = {key for key, path in paths.items() if not path.is_relative_to(places.root)}
    for key in outside:
        settings[key] = {"index": "index", "folder": "retrieved"}.get(key, Path(settings[key]).name)
    if "store" in outside:
        del settings["store"]
    if moved != values:
        return toml_text(
            {"name": project.name, **moved}, comments=dict.fromkeys(project.marks, MARK)
        )
    return text + "\n" if "name" in values else f"name = {quoted(project.name)}\n{text}\n"


def _pool(workspace: Workspace) -> tuple[dict[Path, dict[str, str]], int, int]:
    """Return absolute path → texts of the retrieved or judged passages, for files of which only these are copied.

    Also return the number of copied passages and of all passages of the collection.
    """
    found: dict[Path, dict[str, str]] = {}
    kept = whole = 0
    project = workspace.project
    every = () if project.collection is None else parts_of(project.collection)
    files = [file for file in every if _contains_only_passages(file, project)]
    wanted = _retrieved_or_judged(workspace) if files else set()
    for file in files:
        texts, passages = read_passages(file, wanted), sum(1 for _ in passage_lines(file)[0])
        kept, whole = kept + len(texts), whole + passages
        if len(texts) < passages:
            found[_Places.absolute(file)] = texts
    return found, kept, whole


def _contains_only_passages(file: Path, project: Project) -> bool:
    """Return whether a file of the collection is local and only contains passages (files of tasks contain other inputs too)."""
    if url_of(file) or mtrag.has_tasks(first_record(file) or {}):
        return False
    return _Places.absolute(file) not in map(
        _Places.absolute, input_files(replace(project, collection=None))
    )


def _retrieved_or_judged(workspace: Workspace) -> set[str]:
    """Return all retrieved or judged passages."""
    project = workspace.project
    runs = [*project.systems.values(), *project.sample_runs.values(), *project.components.values()]
    if project.answers:
        runs += [*project.answers.runs.values(), *filter(None, [project.answers.human])]
        runs += project.answers.of_systems.values()
    wanted: set[str] = set()
    for run in runs:
        with suppress(InputError):  # answers without references to passages
            wanted.update(read_run(run).ids.texts())
    judged = [workspace.qrels] if project.qrels else []
    judged += [
        *workspace.new_judgments,
        *(labels.qrels for labels in (workspace.judges if project.judges else {}).values()),
    ]
    wanted.update(*(qrels.ids.texts() for qrels in judged))
    return wanted
