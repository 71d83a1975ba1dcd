"""A project with inputs in place of what its file says: those of the command line and those of Python alike."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from numbers import Real
from pathlib import Path
from typing import Any

from robustcs.errors import UsageError
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.state import Group
from robustcs.evaluation.thresholds import Threshold, parse_threshold
from robustcs.inputs.paths import IRDS_PREFIX, pooled
from robustcs.policy import EvaluationPolicy
from robustcs.project import readers
from robustcs.project.collections import samples_of
from robustcs.project.model import (
    STUDY_TABLES,
    WHOLE_NUMBERS,
    Project,
    TextSource,
    answer_files,
    parse_role,
    parse_text_source,
)
from robustcs.project.sources import BY_NAME, SOURCES, Source


def assigned(option: str, what: str, text: str) -> tuple[str, str]:
    """NAME and FILE of ``NAME=FILE``. Raises :class:`UsageError` for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError("bad-assignment", f"{option} {text}", f"write {option} {what}=FILE")
    return _utf8(name), value


def named(text: str) -> tuple[str | None, str]:
    """``NAME=FILE``, or a bare ``FILE`` (also one with an equals sign in its name, where that file exists)."""
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return _utf8(name), path
    return None, text


def _utf8(name: str) -> str:
    """``name``, where the terminal gave it in UTF-8: a file may have any bytes as its name, a system in a table may not."""
    from robustcs.inputs.text import is_whole

    if not is_whole(name):
        raise UsageError("not-utf8", f"the name {name!r} is not UTF-8", "write it in UTF-8")
    return name


def distinct(option: str, names: Sequence[str], what: str = "") -> None:
    """Raises :class:`UsageError` where two files of an option, ``what`` they are, have the same name."""
    if len(set(names)) < len(names):
        found = f"two {what or f'files of {option}'} have the same name"
        raise UsageError("repeated-run", found, f"give every {option} a NAME of its own")


#: What may be several has a name in the plural, and takes one alone under the singular too.
SINGULARS = {"metric": "metrics", "threshold": "thresholds", "run": "runs", "judge": "judges"}
_POLICY = tuple(field.name for field in fields(EvaluationPolicy))


def with_inputs(project: Project, inputs: Mapping[str, Any], table: str = "", further: Collection[str] = ()) -> Project:
    """The project with ``inputs`` (key → value) in place of what it has.

    Values are files, or what Python has in place of one (:mod:`robustcs.inputs.forms`); for several of them a mapping by name
    or role, or a sequence. Inside ``table``, the table of a study with turns of its own, its keys come first. ``further`` are
    names that somebody else takes: whoever mistypes one is told of it.

    Raises :class:`UsageError` for an unknown key, role or type of value, and :class:`InputError` for an object that is no such
    input.
    """
    own = {field.name for field in fields(STUDY_TABLES[table])} if table else set()
    inputs = {SINGULARS.get(key, key): value for key, value in inputs.items()}
    inside = {key: value for key, value in inputs.items() if key in own}
    for key, value in inputs.items():
        if key not in own:
            if key not in _KEYS:
                raise _unknown(key, (*own, *_KEYS, *further))
            project = _with(project, key, value)
    if not inside:
        return project
    files = getattr(project, table) or STUDY_TABLES[table]()
    placed = {key: _placed(table, key, value) for key, value in inside.items()}
    return replace(project, **{table: files.given(**placed)})


def _unknown(key: str, known: Collection[str]) -> UsageError:
    near = difflib.get_close_matches(key, sorted(set(known)), n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return UsageError("no-such-input", f"no input is named {key!r}", f"{meant}help(robustcs.open_project) lists them")


def _with(project: Project, key: str, value: Any) -> Project:
    if key in ("original", "qr", "human"):
        for role, runs in _several_runs(key, value).items():
            first, *others = samples_of(runs) if key == "qr" else [pooled(runs)]
            project = project.with_formulation(role, run=first, sample_runs=tuple(others))
        return project
    if key in _POLICY:
        policy: dict[str, Any] = {key: _whole(key, value) if key in ("relevance_level", "depth") else value}
        return replace(project, policy=replace(project.policy, **policy))
    if key in _SETTINGS:
        return replace(project, **{key: _SETTINGS[key](value)})
    source = BY_NAME[key]
    placed = _files(source, value)
    if source.table != "formulations":
        return replace(project, **{key: placed})
    for role, one in placed.items():
        if key == "samples" and parse_role(role)[0] != "qr":
            raise UsageError("bad-role", f"samples of {role}", "only a rewriter has some: write qr or qr:NAME")
        if (key, role) == ("scores", "answers"):
            project = replace(project, answer_similarity=one)
            continue
        project = project.with_formulation(role, **{key: one})
    return project


def _several_runs(role: str, value: Any) -> dict[str, list[Path]]:
    """Key of the formulation → files of runs, of one formulation or of several by name."""
    from robustcs.inputs.objects import is_nested

    def runs(keyword: str, value: Any) -> list[Path]:
        parts = _parts(value)
        if not parts:
            raise UsageError("no-run", f"no run of {keyword}", "give one, or several in a list")
        return [file_of(readers.run, _at(keyword, place, parts), part) for place, part in enumerate(parts)]

    if isinstance(value, Mapping) and not is_nested(value):
        # without a name there is only one
        named = _by_name(role, value).items()
        return {f"{role}:{name}" if name else role: runs(_item(role, name), one) for name, one in named}
    return {role: runs(role, value)}


def _placed(table: str, key: str, value: Any) -> Any:
    """A value of a study's table: files, or a setting as it is."""
    source = BY_NAME.get(f"{table}.{key}")
    if source is not None:
        return _files(source, value)
    if key in WHOLE_NUMBERS.get(table, ()):
        return _whole(key, value)
    if key == "groups":  # of ratings
        return {name: tuple(map(str, several(members))) for name, members in _by_name(key, value, "[RATING, …]").items()}
    if not isinstance(value, Real):  # min_agreement
        raise UsageError("bad-setting", f"{key} {value!r}", "write a number")
    return value


# ---------------------------------------------------------------- files, and what Python has in place of one


def _files(source: Source, value: Any) -> Any:
    """The files of a source as the project holds them."""
    key = source.key
    if source.shape == "one":
        return _joined(source, key, value)
    if source.shape == "several":
        parts = _parts(value)
        return tuple(_one(source, _at(key, place, parts), part) for place, part in enumerate(parts))
    if source.shape == "role texts":
        found = {}
        for role, given in _by_name(key, value).items():
            formulation, _ = parse_role(role)
            parts, where = _parts(given, by_turn=True), _item(key, role)
            found[role] = tuple(text_source(_at(where, place, parts), part, formulation) for place, part in enumerate(parts))
        return found
    if source.shape == "texts":
        role = "original" if key == "raw_texts" else "human"
        return named_texts(key, value, role)
    if source.shape == "roles":
        for role in _by_name(key, value):
            if (key, role) != ("scores", "answers"):
                parse_role(role)
    return {name: _joined(source, _item(key, name), one) for name, one in _by_name(key, value).items()}


def _joined(source: Source, keyword: str, value: Any) -> Path | str:
    """One file, or several in its place."""
    parts = _parts(value) if source.joins else (value,)
    if source.key == "answers" and all(isinstance(part, str) for part in parts):
        return answer_files(parts)
    return pooled([_one(source, _at(keyword, place, parts), part) for place, part in enumerate(parts)])  # type: ignore[no-any-return]


def _one(source: Source, keyword: str, value: Any) -> Path | str:
    if source.irds and isinstance(value, str) and value.startswith(IRDS_PREFIX):
        return value
    return file_of(source.read, keyword, value)


def text_source(keyword: str, value: Any, role: str) -> TextSource:
    """``FILE`` or ``FILE:COLUMN``, or what Python has in place of the texts of a role; see :func:`file_of`."""
    if isinstance(value, TextSource):
        return value
    if isinstance(value, str | os.PathLike):
        return parse_text_source(os.fspath(value))
    return TextSource(file_of(readers.texts, keyword, value, role))


def named_files(read: Callable[[readers.Given], Any], keyword: str, value: Any) -> dict[str, Path]:
    """Name → file, of a mapping from names to what :func:`file_of` takes."""
    return {name: file_of(read, _item(keyword, name), one) for name, one in _by_name(keyword, value).items()}


def named_texts(keyword: str, value: Any, role: str) -> dict[str, TextSource]:
    """Name → texts, of a mapping from names to what :func:`text_source` takes."""
    return {name: text_source(_item(keyword, name), one, role) for name, one in _by_name(keyword, value).items()}


def file_of(read: Callable[[readers.Given], Any], keyword: str, value: Any, role: str = "") -> Path:
    """A path as it is; a frame, a dictionary or records as a file in memory that ``read`` takes.

    ``keyword`` names it in messages; ``role`` is the formulation of texts. Raises as
    :func:`~robustcs.inputs.forms.as_file` does.
    """
    if isinstance(value, Path):
        return value
    if isinstance(value, str | os.PathLike):
        return Path(value)
    from robustcs.inputs.forms import FORMS, as_file

    reader = next(name for name in FORMS if getattr(readers, name) is read)
    return as_file(reader, keyword, value, role)


def _by_name(keyword: str, value: Any, what: str = "FILE") -> Mapping[str, Any]:
    """A mapping by names. Raises :class:`UsageError` for anything else."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise UsageError("bad-type", f"{keyword} is not a dictionary by name", f"write {keyword}={{NAME: {what}}}")
    return value


def _item(keyword: str, name: str) -> str:
    return f'{keyword}["{name}"]'


def _parts(value: Any, by_turn: bool = False) -> Sequence[Any]:
    """One input, or a list of them, as several."""
    from robustcs.inputs.objects import is_records

    return (value,) if is_records(value, by_turn) else several(value)


def _at(keyword: str, place: int, parts: Sequence[Any]) -> str:
    return f"{keyword}[{place}]" if len(parts) > 1 else keyword


# ---------------------------------------------------------------- what is no file


def several(value: Any) -> Sequence[Any]:
    """One value, or several of them, as several."""
    return value if isinstance(value, list | tuple) else (value,)


def _measures(value: Any) -> tuple[Measure, ...]:
    return tuple(one if isinstance(one, Measure) else parse_measure(str(one)) for one in several(value))


def _thresholds(value: Any) -> tuple[Threshold, ...]:
    return tuple(one if isinstance(one, Threshold) else parse_threshold(str(one)) for one in several(value))


def _groups(value: Any) -> dict[str, Group]:
    """Name → group, of (baseline, [sets]) each."""
    found = {}
    for name, group in _by_name("groups", value, "(BASELINE, [SET, …])").items():
        if isinstance(group, Group):
            found[name] = group
            continue
        try:
            baseline, sets = group
        except (TypeError, ValueError):
            baseline = sets = None
        if not isinstance(baseline, str) or isinstance(sets, str) or not isinstance(sets, Sequence):
            found_text = f"group {name} is {str(group)[:60]!r}"
            raise UsageError("bad-type", found_text, "write (BASELINE, [SET, …]) with the names of runs")
        found[name] = Group(baseline, tuple(sets))
    return found


def _whole(key: str, value: Any) -> int | None:
    """A whole number, also of numpy; None as it is. Raises :class:`UsageError` for anything else."""
    if value is None:
        return None
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError("bad-setting", f"{key} {value!r}", "write a whole number") from None


def _seed(value: Any) -> int | None:
    seed = _whole("seed", value)
    if seed is not None and seed < 0:
        raise UsageError("bad-setting", f"seed {seed}", "write a whole number from 0")
    return seed


#: What is no file: key → how it is placed.
_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "groups": _groups, "metrics": _measures, "thresholds": _thresholds,
    "seed": _seed, "name": str,
}  # fmt: skip

#: Every key that is not one of a study's table.
_KEYS = {"original", "qr", "human", *_POLICY, *_SETTINGS,
         *(source.key for source in SOURCES if source.table in ("", "formulations") and source.key != "run")}  # fmt: skip
