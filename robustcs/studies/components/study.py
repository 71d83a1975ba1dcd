"""The command ``robustcs components`` and its section of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from robustcs.documents.forms import shown_blocks
from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.lazy import pd
from robustcs.messages import Message, OptionName
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.requirements import grid
from robustcs.project.scan import role_of
from robustcs.project.scoring import ScoredFile
from robustcs.project.workspace import Workspace
from robustcs.studies.components.analysis import Components, components
from robustcs.studies.components.findings import components_findings, verdicts
from robustcs.studies.components.show import cut_of, overview, show, to_read
from robustcs.studies.study import BY, SCORING, SEED, UNIT, Answer, Command, Question
from robustcs.wording import Note


def ask(workspace: Workspace) -> Components:
    """Which component loses the answer? Compare runs that cross wordings of the questions with rankers.

    The command does not need human rewrites; they count as one more wording.

    For each system (a wording with a ranker) and each turn that it does not answer, the command determines which change would
    have helped: another wording, another ranker, either, only both together, or none in the grid. The tables also show effect
    sizes of wording and ranker, the gain of every single change with an adjusted test, and the lead of the best system on
    conversations that were not used to choose it. Cells may be missing. Sets of paraphrases are wordings too.

    Raises :class:`UsageError` for fewer than two cells, and for a cell that is not named WORDING/RANKER.

    Examples:
      robustcs components
      robustcs components --qrels qrels.txt --metric ndcg_cut_3 --threshold 0.5 \\
          --cell raw/bm25=bm25_raw.trec --cell t5/bm25=bm25_t5.trec \\
          --cell raw/bert=bert_raw.trec --cell t5/bert=bert_t5.trec
      robustcs components --table swaps
      robustcs components --output causes.pdf
    """
    cells = grid(workspace)
    names = {"/".join(cell): cell for cell in cells}
    files = [ScoredFile(name, f"{name} cell", cells[cell], "runs") for name, cell in names.items()]
    chosen, notes = workspace.ranking_measures(())
    scored, evaluated = workspace.scores_of(files, chosen)
    workspace.note_names("formulations")
    frames = {name: one.frame() for name, one in scored.items()}
    thresholds = reachable_thresholds(workspace.project.thresholds, chosen)
    notes += [
        Note.of(f"{one} and {other}", "", "the same scores on every turn; check that the runs differ",
                f"{one} and {other} have the same scores on every turn; check that their runs differ")
        for one, other in combinations(names, 2) if frames[one].equals(frames[other])
    ]  # fmt: skip
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    scores: dict[tuple[str, str], pd.DataFrame] = {
        cell: frames[name] for name, cell in names.items()
    }
    texts = _texts(
        workspace, dict.fromkeys(wording for wording, _ in cells), next(iter(scored.values())).turns
    )
    return components(scores, evaluated, thresholds, texts, workspace.project.seed)


def _texts(
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


COMMAND = Command(
    ask, ("qrels", "components", "rewrites", "texts", "raw_texts", "threshold", *SCORING, *BY, *UNIT, *SEED),
    retrieves="cells",
)  # fmt: skip


_READING = (
    "How to read it: each system is one wording of the questions with one ranker. The cause of a turn that it does not answer"
    " is the change that would have answered it; none if no system of the grid answers it."
)


def _inputs(project: Project) -> Project:
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("add qrels = … to robustcs.toml or use ", OptionName("qrels")),
    )
    keys = ("qrels", "components", "texts", "raw_texts", "thresholds", "policy", "seed")
    return of_rankings(project, keys, ("rewrites",))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    opening = overview(result)
    shown = {block.slug for block in opening}
    rest = tuple(
        block
        for block in shown_blocks(result, show(result), ())
        if getattr(block, "slug", "") not in shown
    )
    family = result.families.get(cut_of(result)[0])
    return Answer(
        result,
        rest,
        components_findings(result),
        _READING,
        to_read(result),
        verdicts(result),
        opening,
        family,
    )


_TABLES = ("blame", "means", "factors", "effects", "swaps", "choice", "missing")

QUESTIONS = (
    Question("components", "Which component loses the answer?", _TABLES, _inputs, _answer),
)  # fmt: skip
