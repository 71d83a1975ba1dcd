"""Questions of a project that no run answers: texts without a run, and texts that changed after their run was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from robustcs.conversations import Conversations
from robustcs.errors import InputError, UsageError
from robustcs.evaluation.grid import parse_cell
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN, Group
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import parts_of, sidecar_path
from robustcs.inputs.text import text_lines
from robustcs.inputs.texts import Samples, TextFile
from robustcs.messages import Either, Message, OptionName, quoted
from robustcs.overwrite_guard import refuse_outside
from robustcs.project.conversations import conversations_among
from robustcs.project.model import Project, Role
from robustcs.project.reader import Inputs
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.sidecar import (
    Sidecar,
    changed_since,
    fits,
    read_sidecar,
    require_unchanged,
    text_checksums,
)
from robustcs.wording import Note, counted, turns_in_words


def raw_baseline(project: Project) -> str:
    """Return the baseline of raw test sets: Original, rewritten like the sets if retrieval has a rewriter."""
    return ORIGINAL_REWRITTEN if project.retrieval and project.retrieval.rewriter else "original"


def wants_original_rewritten(project: Project) -> bool:
    """Return whether a group names :data:`ORIGINAL_REWRITTEN`, and it can be made: it has no run or texts, but a rewriter."""
    named = any(
        ORIGINAL_REWRITTEN in (group.baseline, *group.sets) for group in project.groups.values()
    )
    given = {*project.systems, *project.texts, *project.raw_texts}
    return bool(
        named
        and ORIGINAL_REWRITTEN not in given
        and project.retrieval
        and project.retrieval.rewriter
    )


def check_baselines(project: Project) -> None:
    """Raise :class:`UsageError` for the first group of rewritten sets whose baseline was not rewritten by the same rewriter."""
    for error in filter(None, (misfit_baseline(project, name) for name in project.groups)):
        raise error


def comparable_groups(project: Project) -> dict[str, Group]:
    """Return the groups that :func:`check_baselines` accepts."""
    return {
        name: group
        for name, group in project.groups.items()
        if misfit_baseline(project, name) is None
    }


def misfit_baseline(project: Project, name: str) -> UsageError | None:
    """Return the error if the sets of a group cannot be compared with its baseline, else None.

    An unknown baseline counts as not rewritten, unless its name is :data:`ORIGINAL_REWRITTEN`.
    """
    group, systems = project.groups[name], project.systems
    rewritten = {set_: how for set_ in group.sets if (how := _rewriter_of(set_, systems))}
    if not rewritten:
        return None
    baseline = _rewriter_of(group.baseline, systems)
    odd = [set_ for set_, how in rewritten.items() if how != baseline]
    if not odd or (baseline is None and group.baseline == ORIGINAL_REWRITTEN):
        return None
    how = " and ".join(dict.fromkeys(rewritten[set_] for set_ in odd))
    found = f"group {name}: {how} rewrote {', '.join(odd)}, but not the baseline {group.baseline}"
    advice = Message(
        "compare with a baseline of the same rewriter: ",
        options_of_groups([(name, ORIGINAL_REWRITTEN, odd)]),
    )
    return UsageError("unrewritten-baseline", found, advice)


def _rewriter_of(name: str, systems: Mapping[str, Path]) -> str | None:
    """Return the rewriter of a system's texts; empty if they were not rewritten, None if unknown."""
    run = systems.get(name)
    sidecar = read_sidecar(run) if run is not None else None
    return sidecar.rewriter if run and sidecar and sidecar.made and fits(run, sidecar) else None


@dataclass(frozen=True)
class SystemTexts:
    """The texts of one system, and the runs that answer them.

    texts
        Turn → text.
    given
        The run that the user names, or None.
    open
        Turns of ``texts`` that ``kept`` does not answer: those with changed texts, or all turns without ``kept``.
    raw
        Rewrite the texts before retrieval.
    sample
        Number of the rewriter's sample, from 1; further samples are named ``NAME.2`` and so on.
    run
        The run that answers all texts, ``given`` or retrieved before; None if a run must be written.
    kept
        The run that answers the turns that are not ``open``.
    cell
        Whether it is a cell of the grid, named ``WORDING/RANKER``.
    conversations
        The conversations of ``raw`` texts, whose earlier turns a rewriter sees.
    """

    name: str
    texts: Mapping[str, str]
    given: Path | None
    open: tuple[str, ...]
    raw: bool
    sample: int = 1
    run: Path | None = None
    kept: Path | None = None
    cell: bool = False
    conversations: Conversations | None = None

    @property
    def base(self) -> str:
        """The name of the system without the number of the sample."""
        return self.name if self.sample == 1 else self.name.rpartition(".")[0]


def systems_of(workspace: Inputs, samples: bool = False) -> list[SystemTexts]:
    """Return the systems of the project with texts: formulations, other texts, and the rewritten Original if a group names it.

    With ``samples``, the second and further samples of a rewriter follow its first as separate systems.
    """
    project = workspace.project
    maker = Maker(project.retrieval) if project.retrieval else None
    found = []
    for part in project.formulations.values():
        if part.rewrites:
            found.append(_system(maker, part.name, workspace.texts[part.name], part.run, False))
        if samples and part.role == "qr":
            found += _further_samples(
                maker, part.name, workspace.samples[part.name], part.sample_runs
            )
    for raw, sources in ((False, project.texts), (True, project.raw_texts)):
        for name, source in sources.items():
            if any(name == other.name for other in found):
                raise UsageError(
                    "repeated-run",
                    f"two systems with texts are named {name!r}",
                    "choose another name",
                )
            file = TextFile(source.path)
            role: Role = "original" if raw else "human"
            texts = file.texts(role, source.column)
            workspace.remember(f"{name} texts", source.path, len(texts))
            known = conversations_among(workspace, texts) if raw else None
            found.append(
                _system(maker, name, texts, project.runs.get(name), raw, conversations=known)
            )
            if samples:
                found += _further_samples(maker, name, file.samples(role, source.column), (), known)
    if wants_original_rewritten(project) and workspace.texts.get("original"):
        texts = workspace.texts["original"]
        known = conversations_among(workspace, texts)
        found.append(_system(maker, ORIGINAL_REWRITTEN, texts, None, True, conversations=known))
    return found


def cells_of(workspace: Inputs) -> dict[str, list[SystemTexts]]:
    """Return ranker of the grid → the missing cells of this ranker: one for each system with texts and no given cell.

    Empty if ``[retrieval]`` names no rankers.
    """
    project = workspace.project
    settings = project.retrieval
    if settings is None or not settings.rankers:
        return {}
    given = {parse_cell(name) for name in project.components}
    wordings, found = systems_of(workspace), {}
    for ranker in settings.rankers:
        maker = Maker(settings.of_ranker(ranker))
        missing = [one for one in wordings if (one.name, ranker) not in given]
        cells = [
            _system(
                maker,
                f"{one.name}/{ranker}",
                one.texts,
                None,
                one.raw,
                conversations=one.conversations,
            )
            for one in missing
        ]
        found[ranker] = [replace(cell, cell=True) for cell in cells]
    return found


def _further_samples(
    maker: Maker | None,
    name: str,
    samples: Mapping[str, Samples],
    runs: Sequence[Path],
    raw: Conversations | None = None,
) -> list[SystemTexts]:
    """Return the second and further samples of a system, each with the turns for which it has a text.

    ``raw``: the conversations of texts that are rewritten before retrieval.
    """
    found = []
    for place in range(1, max(map(len, samples.values()), default=1)):
        texts = {
            turn: texts[place] for turn, texts in samples.items() if any(texts[place : place + 1])
        }
        run = runs[place - 1] if place <= len(runs) else None
        found.append(
            _system(maker, f"{name}.{place + 1}", texts, run, raw is not None, place + 1, raw)
        )
    return found


def _system(
    maker: Maker | None,
    name: str,
    texts: Mapping[str, str],
    given: Path | None,
    raw: bool,
    sample: int = 1,
    conversations: Conversations | None = None,
) -> SystemTexts:
    checksums = text_checksums(texts, raw, conversations)
    changed = list(texts) if given is None else changed_since(given, checksums)
    system = SystemTexts(
        name, texts, given, tuple(changed), raw, sample, kept=given, conversations=conversations
    )
    if given is not None and not changed:
        return replace(system, run=given)
    run = None if maker is None else maker.run_path(name)
    sidecar = require_unchanged(run) if run is not None and run.is_file() else None
    if maker is None or sidecar is None or not maker.made(sidecar, raw, given):
        return system
    changed, gone = sidecar.changed(checksums), sidecar.texts.keys() - checksums.keys()
    if given is not None and gone:
        return system  # it is unknown which run covered them before
    return replace(system, open=tuple(changed), run=None if changed or gone else run, kept=run)


class Maker:
    """The index and models that retrieve the runs of a project; they may be absent on this machine."""

    def __init__(self, settings: RetrievalSettings):
        self.settings = settings

    def run_path(self, name: str) -> Path:
        """Return the path of a system's run."""
        return self.settings.folder / f"{name.replace('/', '_')}.trec"

    @cached_property
    def index(self) -> str:
        """The checksum of the index; empty if there is none."""
        from robustcs.retrieval.index import index_state

        return index_state(self.settings.index).checksum if self.settings.index.exists() else ""

    @cached_property
    def _models(self) -> tuple[str, str]:
        """Identities of rewriter and re-ranker; empty if there is none."""
        from robustcs.retrieval.rewriting import rewriter_identity

        settings = self.settings
        return (
            rewriter_identity(settings.rewriter) if settings.rewriter else "",
            rewriter_identity(str(settings.reranker)) if settings.reranker else "",
        )

    def makes(self, raw: bool, given: Path | None) -> dict[str, Any]:
        """Return all that determines a run in addition to its texts; for absent index and models, only the known prefix.

        ``given``: the run that answers the unchanged texts.
        """
        settings, (rewriter, reranker) = self.settings, self._models
        made = {"index": self.index, "parameters": settings.parameters(), "depth": settings.depth}
        made |= {"rewriter": rewriter} if raw and rewriter else {}
        made |= {"reranker": reranker, "rerank_depth": settings.rerank_depth} if reranker else {}
        made |= {"ir_metadata": True} if settings.ir_metadata else {}
        return made | ({"given": " ".join(map(sha256, parts_of(given)))} if given else {})

    def made(self, sidecar: Sidecar, raw: bool, given: Path | None) -> bool:
        """Return whether a run was made as it would be made now; for absent index and models, the sidecar is trusted."""
        there = {name: value for name, value in sidecar.made.items() if name != "software"}
        here = self.makes(raw, given)
        believed = ("index", "rewriter", "reranker")
        return there.keys() == here.keys() and all(
            str(there[name]).startswith(value) if name in believed else there[name] == value
            for name, value in here.items()
        )


def with_run(project: Project, system: SystemTexts, run: Path) -> Project:
    """Return the project with this run of a system."""
    if system.cell:
        return replace(project, components={**project.components, system.name: run})
    key = next(
        (key for key, part in project.formulations.items() if part.name == system.base), None
    )
    if key is None:
        return replace(project, runs={**project.runs, system.name: run})
    runs = [project.formulations[key].run, *project.formulations[key].sample_runs]
    runs[system.sample - 1 : system.sample] = [run]
    return project.with_formulation(key, run=runs[0], sample_runs=tuple(runs[1:]))


def retrievable(workspace: Inputs, samples: bool = False) -> list[SystemTexts]:
    """Return the systems that commands retrieve: all with texts, except formulations with scores or answers but no run."""
    parts = workspace.project.formulations.values()
    scored = {part.name for part in parts if not part.run and (part.scores or part.answers)}
    return [system for system in systems_of(workspace, samples) if system.base not in scored]


def changed_texts(
    runs: Mapping[str, Path],
    texts: Mapping[str, Mapping[str, str]],
    raw: Mapping[str, Conversations | None] = MappingProxyType({}),
) -> list[str]:
    """Return notes on texts that changed after their run was made, and on runs that were replaced since their import.

    ``runs``: system → file; ``texts``: system → turn → text; ``raw``: the conversations of systems whose texts are
    rewritten before retrieval.
    """
    notes = []
    for name in runs.keys() & texts.keys():
        run = runs[name]
        try:
            told = [(file, read_sidecar(file)) for file in parts_of(run) if file.is_file()]
            replaced = [
                file
                for file, one in told
                if one is not None and not one.made and not fits(file, one)
            ]
        except InputError as error:
            notes.append(str(error))
            continue
        changed: list[str] = []
        with suppress(InputError):  # reading an edited run reports it
            changed = changed_since(run, text_checksums(texts[name], name in raw, raw.get(name)))
        for file in replaced:
            where = f"{sidecar_path(file)} describes other content of {file.name}"
            kind = "other content than in the record of the run; update it with robustcs retrieve --record"
            notes.append(
                Note.of(
                    file.name,
                    "",
                    kind,
                    f"{where}; update it with robustcs retrieve --record",
                )
            )
        if changed:
            kind = "runs made for other texts; retrieve them with robustcs retrieve"
            where = f"the run of {name} was made for other texts of {turns_in_words(changed)}"
            notes.append(
                Note.of(
                    name,
                    counted(len(changed), "turn"),
                    kind,
                    f"{where}; retrieve them with robustcs retrieve",
                )
            )
    return sorted(notes)


def options_of_groups(groups: Sequence[tuple[str, str, Sequence[str]]]) -> Either:
    """Return what to write for groups of (name, baseline, sets)."""
    options, entries = [], []
    for name, baseline, sets in groups:
        options.append(f"--group {name}={','.join([baseline, *sets])}")
        compared = ", ".join(map(quoted, sets))
        entries.append(f"{quoted(name)}: ({quoted(baseline)}, [{compared}])")
    return Either(" ".join(options), f"groups={{{', '.join(entries)}}}")


#: Advice if the project names no index.
_RETRIEVE = Message(
    "retrieve them with ",
    Either(
        "robustcs retrieve --index FOLDER, or set", "the command robustcs retrieve after setting"
    ),
    " an index in [retrieval] of robustcs.toml",
)


def missing_runs(systems: Sequence[SystemTexts], advice: str = _RETRIEVE) -> UsageError:
    """Return the error that names the turns without a run, if retrieval is not possible or not allowed."""
    # samples are not listed one by one
    first = {system.base: system for system in reversed(systems) if system.open}
    waiting = [
        f"{turns_in_words(system.open)} of {system.name}" for system in reversed(first.values())
    ]
    return UsageError(
        "no-index",
        f"no run answers {'; '.join(waiting)}" if waiting else "no index is named",
        advice,
    )


def import_runs(workspace: Inputs) -> list[tuple[str, Path, int]]:
    """Write a sidecar next to each run that has texts, which records these texts, so that later changes are noticed.

    Only turns that the run answers are recorded. Returns (system, sidecar, turns). Raises :class:`UsageError` if no system has
    both a run and texts.
    """
    from robustcs.documents.files import write_text

    done = []
    for system in systems_of(workspace):
        if system.given is None:
            continue
        checksums = text_checksums(system.texts, system.raw, system.conversations)
        for run in parts_of(system.given):
            covered = {
                line.split(None, 1)[0]
                for _, line in text_lines(run)
                if line.strip() and line[0] != "#"
            }
            texts = {turn: one for turn, one in checksums.items() if turn in covered}
            path = sidecar_path(run)
            refuse_outside(path, owner=run)
            write_text(path, Sidecar(sha256(run), texts).as_text())
            done.append((system.name, path, len(texts)))
    if not done:
        raise UsageError(
            "nothing-to-import",
            "no system has both a run and texts",
            Message("add both, such as ", OptionName("human"), " and ", OptionName("rewrites")),
        )
    return done
