"""Choose the judgments of a folder, and join its collections."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from robustcs.evaluation.holes import grades_by_pair, only_relevant
from robustcs.evaluation.matrix import UNJUDGED, grade_matrix
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import first_cells
from robustcs.policy import EvaluationPolicy
from robustcs.project.scan import Proposal, ScannedFile, short_names, words_of
from robustcs.project.trust import customary_level, model_evidence
from robustcs.wording import counted

_NEVER = "model judgments are never used as qrels; add it to [judges], or, if assessors made it, set it as qrels"
#: Words of the names of new judgments, and of judges.
_NEW = frozenset(("new", "additional", "extra", "more", "later"))
_JUDGE = frozenset(("judge", "judges"))
_TRAIN = frozenset(("train", "training"))
#: Number of top passages of each turn that qrels should judge, and of runs to examine.
_TOP, _MOST_RUNS = 10, 20
#: Ids of clarifying questions and responses, which are not passages.
ITEM = re.compile(r"[QR]\d{2,}")


# ---------------------------------------------------------------- several collections


def join_collections(made: Proposal, known: Sequence[tuple[ScannedFile, Qrels]]) -> ScannedFile:
    """Join files of several collections whose names differ only in the words of their collections; return the judgments.

    Judgments of other turns than the first ones are another collection if a run answers turns of both, if two runs are joined,
    or if the folder has no runs.
    """
    apart: list[tuple[ScannedFile, Qrels]] = []
    for file, qrels in known:
        if all(set(qrels.turns).isdisjoint(other.turns) for _, other in apart):
            apart.append((file, qrels))
    if len(apart) == 1:
        return apart[0][0]
    common = set.intersection(*(_atoms(file.path) for file, _ in apart))
    words = [_atoms(file.path) - common for file, _ in apart]
    groups: dict[tuple[str, str], dict[int, ScannedFile]] = {}
    for file in made.files:
        own = [number for number, some in enumerate(words) if some & _atoms(file.path)]
        if len(own) == 1 and file.what and file.path not in made.taken and not file.is_a("qrels"):
            groups.setdefault((file.what.family, called(file.path, words[own[0]])), {}).setdefault(
                own[0], file
            )
    runs = [run for file in made.of("run") if (run := made.read(file, read_run))]
    links = [
        {
            number
            for number, (_, qrels) in enumerate(apart)
            if not set(run.turns).isdisjoint(qrels.turns)
        }
        for run in runs
    ]
    links += [set(group) for group in groups.values() if next(iter(group.values())).is_a("run")]
    chosen = (
        set().union({0}, *(link for link in links if 0 in link)) if runs else set(range(len(apart)))
    )
    judgments = [apart[number][0] for number in chosen]
    _join(made, judgments, judgments[0].name)
    for (_, name), group in groups.items():
        _join(made, [file for number, file in group.items() if number in chosen], name)
    return next(file for file in made.files if judgments[0].path in file.paths)


def _join(made: Proposal, files: Sequence[ScannedFile], name: str) -> None:
    """Replace several files by one; do nothing for a single file."""
    if len(files) > 1:
        paths = sorted(file.path for file in files)
        made.files = [file for file in made.files if file not in files[1:]]
        made.files[made.files.index(files[0])] = replace(files[0], paths=tuple(paths), name=name)


def called(path: str, words: Collection[str]) -> str:
    """Return ``path`` without these words: ``bm25_raw_clapnq.trec`` becomes ``bm25_raw.trec``.

    If no words remain, the stem is ``system``.
    """
    folder, slash, name = path.rpartition("/")
    stem, *suffixes = name.split(".")
    left = re.sub(
        r"[A-Za-z]+|[0-9]+",
        lambda found: "" if found[0].lower() in words else found[0],
        folder + slash + stem,
    )
    left = re.sub(r"[-_]+(?=[-_/]|$)|(?<=/)[-_/]+|^[-_/]+", "", left).rstrip("/")
    return ".".join((left if words_of(left) else "system", *suffixes))


def _atoms(path: str) -> set[str]:
    """Return the words of a path; numbers are separate words."""
    return set(re.findall(r"[a-z]+|[0-9]+", path.lower()))


# ---------------------------------------------------------------- qrels, new judgments, judges


def choose_judgments(made: Proposal) -> Qrels | None:
    """Choose the qrels that judge most of the runs' top passages; others are new judgments, judges, or ignored.

    Judgments that a model seems to have made are never used as qrels or new judgments.
    """
    known: list[tuple[ScannedFile, Qrels]] = []
    models: list[tuple[ScannedFile, Qrels]] = []
    for file in made.of("qrels", "labels"):
        evidence = model_evidence(made.folder / file.path)
        if evidence and not (file.is_a("qrels") and _named(file, _JUDGE)):
            made.leave(file.paths, f"{evidence}, and {_NEVER}", tell=True)
        elif qrels := made.read(file, read_qrels, tell=True):
            (models if evidence else known).append((file, qrels))
    if not known:
        for file, _ in models:
            made.leave(
                file.paths, f"{model_evidence(made.folder / file.path)}, and {_NEVER}", tell=True
            )
        return None
    others = [first_cells(made.folder / file.path) for file in made.of("run", "texts")]
    shares = _judged_shares(made, [one for _, one in known])
    known.sort(key=lambda one: _order(one[0], one[1], shares[id(one[1])], others))
    first = join_collections(made, known)
    qrels = read_qrels(made.place(first))
    pairs, best = grades_by_pair(qrels), shares[id(known[0][1])]
    also = [
        f"{file.path} ({_says(own, shares[id(own)])})" for file, own in known[1:]
        if file.path not in first.paths and not _named(file, _JUDGE | _NEW) and shares[id(own)] >= best / 2
        and not set(own.turns).isdisjoint(qrels.turns) and grades_by_pair(own) != pairs
    ]  # fmt: skip
    _use_qrels(made, first, qrels, also)
    judges: list[str] = []
    new: list[str] = []
    for file, own in (*known, *models):
        shared = len(grades_by_pair(own).keys() & pairs)
        if file.path in made.taken:
            continue
        if set(own.turns).isdisjoint(qrels.turns):
            made.leave(file.paths, f"it judges other turns, such as {own.turns[0]!r}")
        elif (
            _named(file, _JUDGE)
            and shared > len(own) / 2
            and own.grades.max() <= qrels.grades.max()
        ):
            judges.append(file.path)
        elif _named(file, _NEW) and shared <= len(own) / 2 and (file, own) in known:
            new.append(file.path)
        elif _named(file, _JUDGE) and own.grades.max() > qrels.grades.max():
            made.leave(
                file.paths,
                f"a judge with grade {own.grades.max()}, above the scale of {first.path}",
            )
        else:
            why = f"other judgments of the turns in {first.path}; add it to new_judgments, or with the same scale to [judges]"
            made.leave(file.paths, why)
    if new:
        made.use(
            ("new_judgments",), new, "by its name and its further passages", "for robustcs augment"
        )
    for name, path in zip(short_names(judges), judges, strict=True):
        made.use(("judges", name), [path], "by its folder or name", marked=True)
    return qrels


def _judged_shares(made: Proposal, known: Sequence[Qrels]) -> dict[int, float]:
    """Return id of qrels → the judged share of the top passages of the runs; 0 for all without runs or a choice."""
    judged, retrieved = dict.fromkeys(map(id, known), 0), 0
    for file in made.of("run")[:_MOST_RUNS] if len(known) > 1 else ():
        if (run := made.read(file, read_run)) is None:
            continue
        ranking = rank_run(run, EvaluationPolicy(depth=_TOP))
        retrieved += int(ranking.starts[-1])
        for qrels in known:
            judged[id(qrels)] += int((grade_matrix(ranking, qrels).grades > UNJUDGED).sum())
    return {key: count / max(retrieved, 1) for key, count in judged.items()}


def _says(qrels: Qrels, share: float) -> str:
    judged = f"{share:.0%} of the top {_TOP} judged, " if share else ""
    return f"{judged}grades {qrels.grades.min()} to {qrels.grades.max()}"


def _use_qrels(made: Proposal, file: ScannedFile, qrels: Qrels, also: Sequence[str]) -> None:
    """Put the qrels, their description, other qrels of these turns, and the relevance level of the collection."""
    low, high = int(qrels.grades.min()), int(qrels.grades.max())
    of = f"{counted(len(qrels.parts), 'collection')}, " if qrels.parts else ""
    says = f"{of}{counted(len(qrels.turns), 'turn')}, {counted(len(qrels), 'judgment')}, grades {low} to {high}"
    if also:
        says += f"\nAlso possible: {'; '.join(also)}"
        made.offered.append(f"qrels: {', '.join(file.paths)}; also possible: {'; '.join(also)}")
    level, collection = customary_level(qrels.documents.take(slice(100)).texts(), high)
    if only_relevant(qrels, level):
        made.use(("qrels", "file"), file.paths, "by its turns", says)
        made.put(("qrels", "selection"), "positives")
    else:
        advice = "If passages were not selected for judging by pooling runs, write [qrels] with file and selection instead."
        made.use(("qrels",), file.paths, "by its turns", f"{says}\n{advice}")
    usual = (
        f", as in {collection} (recognised by passage ids)"
        if collection
        else "; CAsT and iKAT use 2"
    )
    made.put(("policy", "relevance_level"), level, f"for binary measures{usual}")


def _order(
    file: ScannedFile, qrels: Qrels, share: float, others: Sequence[set[str]]
) -> tuple[object, ...]:
    """Return a sort key: the qrels that judge most of the runs' top passages come first, judges and new judgments last.

    Then those of most other files, by turns; graded before binary; test and dev before train; and those called qrels.
    """
    own = set(qrels.turns)
    called_qrels = any(word.startswith("qrel") for word in words_of(file.stem))
    return (
        _named(file, _JUDGE | _NEW), -round(share, 2), -sum(bool(own & cells) for cells in others),
        len(set(qrels.grades.clip(0).tolist())) <= 2, bool(_TRAIN & set(words_of(file.stem))), not called_qrels, -len(own),
        -len(qrels), len(file.stem), file.path,
    )  # fmt: skip


def _named(file: ScannedFile, words: Collection[str]) -> bool:
    """Return whether the folders or the name of a file contain one of these words."""
    return not set(words).isdisjoint(file.words)
