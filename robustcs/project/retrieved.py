"""Create missing runs of a project: known rankings come from the store, the others are retrieved.

``robustcs retrieve`` and all commands that find a text without a run use this module.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustcs.documents.files import write_text
from robustcs.documents.tables import Shown, result_table
from robustcs.errors import UsageError, input_error
from robustcs.inputs.collection import read_passages
from robustcs.inputs.paths import parts_of, sidecar_path
from robustcs.inputs.text import text_lines
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Either, Message, OptionName
from robustcs.project.model import Project
from robustcs.project.open_questions import (
    Maker,
    SystemTexts,
    cells_of,
    missing_runs,
    retrievable,
    systems_of,
    with_run,
)
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated, Result, count, share, table, text
from robustcs.retrieval.index import IndexState, index_state, ready_index
from robustcs.retrieval.java import pyserini_version
from robustcs.retrieval.rewriting import rerank, rewrite
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.sidecar import Sidecar, read_sidecar, text_checksums
from robustcs.retrieval.store import Ranker, Ranking, RankingStore, Searcher, digest, normalised
from robustcs.wording import counted, turns_in_words

if TYPE_CHECKING:
    from robustcs.documents.document import TableBlock

PLAN = table(
    "plan", "Turns that are answered already, one row per system, and one for all systems.",
    text("system"), count("turns", "turns with a text"),
    count("answered", "turns answered by a given run or by the store", "turns", "answered"),
    count("to_retrieve", "turns to retrieve", "turns", "to retrieve"),
    share("share", "share of answered turns", "share", "answered"),
    count("texts", "different questions to retrieve; in the row for all systems, each counts once", "texts", "to retrieve"),
    text("run", "existing or future run of the system; empty for all systems"),
)  # fmt: skip


@dataclass(frozen=True)
class Plan(Result):
    """Turns that are answered already, and turns to retrieve."""

    study = "retrieve"
    plan = PLAN


def plan_table(result: Result) -> TableBlock:
    """Return the plan as a table, with a rule above the row for all systems."""
    rows = result.tables["plan"]
    columns: list[Shown] = [
        PLAN.field("system").called(" "),
        "turns",
        "answered",
        "share",
        "to_retrieve",
        "texts",
        "run",
    ]
    note = "Texts: different questions; in the last row, a question of several systems counts once."
    return result_table(
        result, "plan", "Which turns are answered already?", columns, note, rules=[len(rows) - 1]
    )


#: Advice if --no-retrieve forbids retrieval.
_FORBIDDEN = Message("retrieve them with robustcs retrieve", Either(", or omit --no-retrieve", ""))
#: The tag of runs.
TAG = "robustcs"
#: Number of questions that are searched and stored together; an interruption loses at most these.
_BATCH = 64


class Retrieval:
    """Index, questions and known rankings of a project, each determined when it is needed.

    ``tell`` receives one line for each change on disk; ``changed`` is set if there was one.
    """

    def __init__(
        self,
        workspace: Workspace,
        tell: Callable[[str], None],
        systems: Sequence[SystemTexts] | None = None,
    ):
        self.workspace = workspace
        self.tell = tell
        self.changed = False
        self.systems = systems_of(workspace) if systems is None else list(systems)
        if workspace.project.retrieval is None:
            raise missing_runs(self.systems)
        self.settings: RetrievalSettings = workspace.project.retrieval
        self.store = RankingStore(self.settings.store)
        self.maker = Maker(self.settings)

    @cached_property
    def index(self) -> IndexState:
        """The index of the passages from which the runs were retrieved; created if absent.

        Raises :class:`UsageError` if it is absent and cannot be created.
        """
        workspace, collection = self.workspace, self.workspace.project.collection
        if not self.indexed and collection is None:
            raise missing_runs(
                self.systems,
                Message(
                    f"there is no index at {self.settings.index}; name one ",
                    Either("with robustcs retrieve --index", "in [retrieval]"),
                ),
            )
        sidecars = [read_sidecar(self.maker.run_path(system.name)) for system in self.systems]
        wanted = {
            str(sidecar.made["index"])
            for sidecar in sidecars
            if sidecar and "index" in sidecar.made
        }
        return ready_index(
            self.settings.index,
            collection,
            self.settings.heap,
            workspace.jobs.processes,
            workspace.track,
            self.tell,
            wanted,
        )

    @property
    def indexed(self) -> bool:
        """Whether the index exists."""
        return self.settings.index.exists()

    @cached_property
    def ranker(self) -> Ranker:
        """Index, parameters and software that determine the rankings."""
        return Ranker(
            str(self.index.path),
            self.index.checksum,
            self.settings.parameters(),
            f"pyserini {pyserini_version()}",
        )

    @cached_property
    def questions(self) -> dict[str, dict[str, str]]:
        """System → open turn → the question to search, after rewriting and normalisation."""
        found = {}
        for system in self.systems:
            if system.open:
                settings = self.settings if system.raw else replace(self.settings, rewriter=None)
                rewritten, empty = rewrite(
                    settings, system.texts, self.workspace.track, system.conversations
                )
                if empty:
                    kept = f"the rewriter returned an empty text for {turns_in_words(empty)} of {system.name}"
                    self.tell(f"{kept}; the text is searched without rewriting")
                found[system.name] = {turn: normalised(rewritten[turn]) for turn in system.open}
            else:
                found[system.name] = {}
        return found

    @cached_property
    def by_digest(self) -> dict[str, str]:
        """Digest → question, each different question once, in the order of systems and turns."""
        return {digest(text): text for some in self.questions.values() for text in some.values()}

    @cached_property
    def known(self) -> set[str]:
        """Digests of questions with a ranking of sufficient depth in the store, before retrieval."""
        if not self.by_digest or not self.indexed:
            return set()
        return self.store.known(self.ranker, list(self.by_digest), self.settings.depth)

    # ------------------------------------------------------------ answering

    def prepare(self) -> None:
        """Create the index if questions are open; the store identifies rankings by the content of the index.

        Raises :class:`UsageError`, before anything is retrieved, if a run would replace a file that robustcs did not write, or
        if runs are missing and the workspace may not retrieve.
        """
        for system in self.systems:
            if system.run is None:
                self._require_own(system)
        waiting = any(system.open for system in self.systems)
        if waiting and not self.workspace.may_retrieve:
            raise missing_runs(self.systems, _FORBIDDEN)
        if waiting:
            _ = self.index

    def complete(self) -> Project:
        """Retrieve missing rankings, write the runs, and return the project with all runs.

        Raises the errors of :meth:`prepare`.
        """
        self.prepare()
        self._retrieve([key for key in self.by_digest if key not in self.known])
        project = self.workspace.project
        for system in self.systems:
            run = system.run or self._write(system)
            if run != system.given:
                project = with_run(project, system, run)
        return project

    def _retrieve(self, missing: Sequence[str]) -> None:
        if not missing:
            return
        self.changed = True
        searcher = Searcher(self.index, self.settings, self.workspace.jobs.processes)
        batches = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        for batch in self.workspace.track(
            batches, f"retrieving {counted(len(missing), 'question')}", len(batches)
        ):
            found = searcher.search(
                {key: self.by_digest[key] for key in batch}, self.settings.depth
            )
            self.store.put(self.ranker, found, self.settings.depth)
        known = len(self.by_digest) - len(missing)
        self.tell(
            f"retrieved {counted(len(missing), 'question')} from {self.settings.index}"
            f" ({self.settings.describe()}); {known:,} known before"
        )

    def _require_own(self, system: SystemTexts) -> Sidecar | None:
        """Return the sidecar of an existing run. Raises :class:`UsageError` if robustcs did not write the run."""
        path = self.maker.run_path(system.name)
        there = read_sidecar(path) if path.is_file() else None
        if path.exists() and (there is None or not there.made):
            advice = Message(
                f"to use it, name it as the run of {system.name}; else choose another folder ",
                Either("with --folder or in", "in"),
                " [retrieval]",
            )
            found = f"{path} exists already, and robustcs did not write it"
            raise UsageError("file-exists", found, advice)
        return there

    def _write(self, system: SystemTexts) -> Path:
        path, there = self.maker.run_path(system.name), self._require_own(system)
        self.changed = True
        text = self._run_text(system)
        write_text(path, text, make_parents=True)
        by = (
            {"index": self.ranker.checksum, "software": self.ranker.software}
            if system.open or there is None
            else there.made
        )
        made = {**by, **self.maker.makes(system.raw, system.given), "index": by["index"]}
        checksum = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        write_text(
            sidecar_path(path),
            Sidecar(
                checksum, text_checksums(system.texts, system.raw, system.conversations), made
            ).as_text(),
        )
        empty = [turn for turn, key in self._keys(system).items() if not self._rankings[key][0]]
        if empty:
            self.tell(f"no passages found for {turns_in_words(empty)} of {system.name}")
        self.tell(f"wrote {path}")
        return path

    def _keys(self, system: SystemTexts) -> dict[str, str]:
        return {turn: digest(text) for turn, text in self.questions[system.name].items()}

    def _run_text(self, system: SystemTexts) -> str:
        """Return TREC lines: unchanged lines of the kept run for unchanged texts, and new lines for the others.

        Turns without texts are kept only from a given run.
        """
        keys = self._keys(system)
        lines = {turn: _lines(turn, self._rankings[key]) for turn, key in keys.items()}
        if system.kept is not None:
            kept: dict[str, list[str]] = {}
            for _, line in (line for file in parts_of(system.kept) for line in text_lines(file)):
                turn = line.split(None, 1)[0] if line.strip() else "#"
                if (
                    not turn.startswith("#")
                    and turn not in keys
                    and (system.given or turn in system.texts)
                ):
                    kept.setdefault(turn, []).append(f"{line}\n")
            lines |= {turn: "".join(some) for turn, some in kept.items()}
        head = (
            self.settings.metadata(TAG, self.ranker.software) if self.settings.ir_metadata else ""
        )
        return head + "".join(lines[turn] for turn in sorted(lines, key=turn_sort_key))

    @cached_property
    def _rankings(self) -> dict[str, Ranking]:
        """Digest → ranking of each question, re-ranked if there is a re-ranker."""
        rankings = self.store.get(self.ranker, list(self.by_digest), self.settings.depth)
        if lost := len(self.by_digest) - len(rankings):
            found = f"the store has lost {counted(lost, 'ranking')}"
            raise input_error(
                self.store.path, None, found, "delete the file, or name another store", "bad-store"
            )
        if self.settings.reranker is None:
            return rankings
        collection = self.workspace.project.collection
        if collection is None:
            raise UsageError(
                "no-collection",
                "re-ranking needs passage texts",
                Message("add ", OptionName("collection", "FILE")),
            )
        track = self.workspace.track
        return rerank(
            self.settings,
            self.by_digest,
            rankings,
            lambda wanted: read_passages(collection, wanted),
            track,
        )

    # ------------------------------------------------------------ explaining

    def explain(self, turn: str) -> list[tuple[str, str, str, str]]:
        """Return (system, question, ``hit`` or ``miss``, reason) for each system with the turn.

        Raises :class:`UsageError` if no system has it.
        """
        found = []
        for system in self.systems:
            if turn not in system.texts:
                continue
            if turn not in system.open:
                assert system.kept is not None
                known = (
                    "it was made for this text"
                    if sidecar_path(system.kept).is_file()
                    else "it is given by the user"
                )
                found.append(
                    (
                        system.name,
                        normalised(system.texts[turn]),
                        "hit",
                        f"{system.kept} answers the turn: {known}",
                    )
                )
                continue
            question = self.questions[system.name][turn]
            hit = digest(question) in self.known
            found.append(
                (
                    system.name,
                    question,
                    "hit" if hit else "miss",
                    self._why(system, turn, question, hit),
                )
            )
        if not found:
            raise UsageError("no-such-turn", f"no texts have a turn {turn!r}", "check the turn id")
        return found

    def _why(self, system: SystemTexts, turn: str, question: str, hit: bool) -> str:
        if hit:
            return (
                f"the store has its ranking with at least {counted(self.settings.depth, 'passage')}"
            )
        if not self.indexed:
            return f"there is no index at {self.settings.index} yet"
        if others := self.store.others(digest(question)):
            return min((self._differences(*other) for other in others), key=len)
        there = read_sidecar(system.given or self.maker.run_path(system.name))
        checksums = text_checksums(system.texts, system.raw, system.conversations)
        if there is not None and turn in there.texts and there.changed({turn: checksums[turn]}):
            return "its text changed after the run was made, and the new text was never retrieved"
        return "the question was never retrieved"

    def _differences(self, other: Mapping[str, object], depth: int) -> str:
        mine = json.loads(self.ranker.description)
        if mine == {**other, "index": mine["index"]}:
            return f"its ranking has only {counted(depth, 'passage')}, but the depth is {self.settings.depth}"
        told = {"checksum": f"from another state of the index {other['index']}", "software": f"from {other['software']}",
                "parameters": f"with {json.dumps(other['parameters'])}"}  # fmt: skip
        differ = [words for name, words in told.items() if mine[name] != other[name]]
        return "known only " + ", ".join(differ or ["in an older format"])


def _lines(turn: str, ranking: Ranking) -> str:
    passages, scores = ranking
    return "".join(
        f"{turn} Q0 {passage} {rank} {score:.6f} {TAG}\n"
        for rank, (passage, score) in enumerate(zip(passages, scores.tolist(), strict=True), 1)
    )


def with_runs(
    workspace: Workspace, tell: Callable[[str], None], samples: bool = False, cells: bool = False
) -> Project:
    """Retrieve the missing runs of a project with an index, and return the project with them.

    ``samples``: also retrieve for further samples of rewriters. ``cells``: also retrieve the missing cells of the grid.
    """
    project = Retrieval(workspace, tell, retrievable(workspace, samples)).complete()
    for retrieval in retrievals_of_cells(workspace.of(project), tell) if cells else ():
        project = replace(
            project, components={**project.components, **retrieval.complete().components}
        )
    return project


def retrievals_of_cells(workspace: Workspace, tell: Callable[[str], None]) -> list[Retrieval]:
    """Return the retrieval of the missing cells of the grid, one for each ranker."""
    project, found = workspace.project, []
    for ranker, systems in cells_of(workspace).items():
        assert project.retrieval is not None
        own = workspace.of(replace(project, retrieval=project.retrieval.of_ranker(ranker)))
        found.append(Retrieval(own, tell, systems))
    return found


def plan_of(retrieval: Retrieval, *others: Retrieval) -> Plan:
    """Return the plan: answered and open turns before retrieval. In the row for all systems, each question counts once.

    ``others``: retrievals of the same texts by other rankers.
    """
    rows, every, turns, mixed = [], list[tuple[str, str]](), 0, list[str]()
    for one in (retrieval, *others):
        for system in one.systems:
            keys = map(digest, one.questions[system.name].values())
            missing = [key for key in keys if key not in one.known]
            every += [(one.settings.describe(), key) for key in missing]
            turns += len(system.texts)
            rows.append(
                _row(
                    system.name,
                    len(system.texts),
                    missing,
                    str(system.run or one.maker.run_path(system.name)),
                )
            )
            mixed += [system.name] if system.given and system.open else []
    rows.append(_row("all", turns, every, ""))
    notes = [retrieval.settings.describe()]
    notes += [f"{one.settings.folder.name}: {one.settings.describe()}" for one in others]
    if mixed:
        notes.append(
            f"{', '.join(mixed)}: turns with changed texts are retrieved from this index, others are in the given run"
        )
    named = {
        turn for one in (retrieval, *others) for system in one.systems for turn in system.texts
    }
    evaluated = Evaluated(retrieval.workspace.project.policy, "texts", len(named), 0, tuple(notes))
    return Plan(evaluated, content=Plan.built(plan=rows))


def _row(name: str, turns: int, missing: Sequence[object], run: str) -> tuple[Any, ...]:
    covered = turns - len(missing)
    return (
        name,
        turns,
        covered,
        len(missing),
        covered / turns if turns else float("nan"),
        len(set(missing)),
        run,
    )


def index_states(rankers: Sequence[Mapping[str, object]], index: str) -> list[str]:
    """Return ``current``, ``changed`` (another index is at its path) or ``gone`` for each ranker description.

    ``index``: checksum of the project's index; empty if there is none.
    """
    states = []
    for ranker in rankers:
        path = Path(str(ranker["index"]))
        if ranker["checksum"] == index:
            states.append("current")
        elif not any(path.glob("segments_*")):
            states.append("gone")
        else:
            states.append(
                "current" if index_state(path).checksum == ranker["checksum"] else "changed"
            )
    return states
