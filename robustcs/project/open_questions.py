"""The questions of a project that no run answers: texts without a run, and texts that changed since their run was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustcs.documents.files import write_text
from robustcs.errors import InputError, UsageError
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN
from robustcs.inputs.files import sha256, text_lines
from robustcs.inputs.texts import Role, Samples, TextFile
from robustcs.project.reader import Inputs
from robustcs.project.rewritten import wants_original_rewritten
from robustcs.protected import refuse_outside
from robustcs.retrieval.sidecar import Sidecar, fits, read_sidecar, sidecar_path
from robustcs.retrieval.store import digest
from robustcs.wording import counted, some_of


@dataclass(frozen=True)
class System:
    """The texts of one system and what answers them already.

    texts
        Turn → text.
    given
        The run that the user names; None where there is none.
    open
        The turns of ``texts`` that ``given`` does not answer: all without it, those whose text has changed with it.
    raw
        Does the rewriter come first?
    sample
        Of a rewriter that varies: which of its samples, from 1; further samples are called ``NAME.2`` and so on.
    """

    name: str
    texts: Mapping[str, str]
    given: Path | None
    open: tuple[str, ...]
    raw: bool
    sample: int = 1

    @property
    def base(self) -> str:
        """The name of the system that this is a sample of: its own of a first sample."""
        return self.name if self.sample == 1 else self.name.rpartition(".")[0]


def systems_of(workspace: Inputs, samples: bool = False) -> list[System]:
    """Every system of the project that has texts, formulations first; last the rewritten original turns, where a group
    wants them.

    With ``samples`` the second and further samples of a rewriter follow its first as systems of their own.
    """
    project = workspace.project
    found = []
    for part in project.formulations.values():
        if part.rewrites:
            found.append(_system(part.name, workspace.texts[part.name], part.run, False))
        if samples and part.role == "qr":
            found += _further_samples(part.name, workspace.samples[part.name], part.sample_runs)
    for raw, sources in ((False, project.texts), (True, project.raw_texts)):
        for name, source in sources.items():
            if any(name == other.name for other in found):
                raise UsageError("repeated-run", f"two systems with texts are named {name!r}", "choose another name")
            file = TextFile(source.path)
            role: Role = "original" if raw else "human"
            texts = file.texts(role, source.column)
            workspace.remember(f"{name} texts", source.path, len(texts))
            found.append(_system(name, texts, project.runs.get(name), raw))
            if samples:
                found += _further_samples(name, file.samples(role, source.column), (), raw)
    if wants_original_rewritten(project) and workspace.texts.get("original"):
        found.append(_system(ORIGINAL_REWRITTEN, workspace.texts["original"], None, True))
    return found


def _further_samples(name: str, samples: Mapping[str, Samples], runs: Sequence[Path], raw: bool = False) -> list[System]:
    """The samples of a system from the second on; a turn that has fewer stands in those that it has."""
    found = []
    for place in range(1, max(map(len, samples.values()), default=1)):
        texts = {turn: texts[place] for turn, texts in samples.items() if place < len(texts)}
        run = runs[place - 1] if place <= len(runs) else None
        found.append(_system(f"{name}.{place + 1}", texts, run, raw, place + 1))
    return found


def _system(name: str, texts: Mapping[str, str], run: Path | None, raw: bool, sample: int = 1) -> System:
    if run is None:
        return System(name, texts, None, tuple(texts), raw, sample)
    sidecar = read_sidecar(run)
    # without a sidecar, or with one about another run, nothing says for which texts the run was made: it counts as it is
    changed = sidecar.changed(texts) if sidecar is not None and fits(run, sidecar) else []
    return System(name, texts, run, tuple(changed), raw, sample)


def changed_texts(runs: Mapping[str, Path], texts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """What the sidecars of runs say, in sentences: texts that changed since a run was made, runs that were replaced since.

    ``runs``: system → file; ``texts``: system → turn → text.
    """
    notes = []
    for name in runs.keys() & texts.keys():
        run = runs[name]
        try:
            sidecar = read_sidecar(run)
        except InputError as error:
            notes.append(str(error))
            continue
        if sidecar is None or not run.is_file():
            continue
        changed = sidecar.changed(texts[name])
        if not fits(run, sidecar):
            where = f"{sidecar_path(run)} is about another content of {run.name}"
            notes.append(f"{where}: robustcs retrieve --import notes it anew")
        elif changed:
            where = f"the run of {name} was made for other texts of {turns_in_words(changed)}"
            notes.append(f"{where}: robustcs retrieve answers them")
    return sorted(notes)


def turns_in_words(turns: Sequence[str]) -> str:
    """``3 turns (31_1, 31_2, 31_3)``, at most five of them by name."""
    return f"{counted(len(turns), 'turn')} ({some_of(turns)})"


def unanswered(systems: Sequence[System]) -> UsageError:
    """The error that names the turns without an answer where no index is configured, and the command that answers them."""
    samples = Counter(system.base for system in systems if system.open)
    waiting = [
        f"{turns_in_words(system.open)} of {system.name}"
        + (f" and {counted(samples[system.base] - 1, 'further sample')}" if samples[system.base] > 1 else "")
        for system in {system.base: system for system in reversed(systems) if system.open}.values()
    ][::-1]
    return UsageError(
        "no-index", f"no run answers {'; '.join(waiting)}" if waiting else "no index is named",
        "robustcs retrieve --index FOLDER does, or an index in [retrieval] of robustcs.toml",
    )  # fmt: skip


def import_runs(workspace: Inputs) -> list[tuple[str, Path, int]]:
    """Note beside every run that has texts for which texts it was made, so that later changes are seen.

    Only turns that the run answers are noted. Returns (system, sidecar, turns). Raises :class:`UsageError` where no system has
    both a run and texts.
    """
    done = []
    for system in systems_of(workspace):
        if system.given is None:
            continue
        answered = {line.split(None, 1)[0] for _, line in text_lines(system.given) if line.strip() and line[0] != "#"}
        texts = {turn: digest(text) for turn, text in system.texts.items() if turn in answered}
        path = sidecar_path(system.given)
        refuse_outside(path, beside=system.given)
        write_text(path, Sidecar(sha256(system.given), texts).as_text())
        done.append((system.name, path, len(texts)))
    if not done:
        raise UsageError("nothing-to-import", "no system has both a run and texts", "name them, such as --human and --rewrites")
    return done
