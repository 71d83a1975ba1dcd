"""Crowd judgments as files that trec_eval and robustcs read: qrels, a pool, runs."""

from __future__ import annotations

from collections.abc import Sequence

from robustcs.documents.text import anchor
from robustcs.evaluation.judgments import qrels_text
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.runs import Run
from robustcs.lazy import pd
from robustcs.studies.crowd.analysis import Judgments


def files_of_crowd(judgments: Judgments, pool: pd.DataFrame, runs: Sequence[tuple[Run, Ranking]]) -> dict[str, str]:
    """File name → content.

    ``qrels_CRITERION.txt``, ``qrels_CRITERION_filtered.txt``, ``qrels_CRITERION_subset.txt``
        ``turn 0 item grade``.
    ``pool.txt``
        ``turn Q0 item 1 0.0 pool``, a line for every item to judge.
    ``NAME.trec``
        A run whose file was JSON, with ids of the bank.
    """
    files = {}
    for criterion, sets in judgments.items():
        for name, qrels in sets.items():
            files[f"qrels_{anchor(criterion)}{'' if name == 'all' else f'_{name}'}.txt"] = qrels_text(qrels)
    if len(pool):
        files["pool.txt"] = "".join(
            f"{turn} Q0 {item} 1 0.0 pool\n" for turn, item in zip(pool["turn"], pool["item"], strict=True)
        )
    for run, ranking in runs:
        files[f"{anchor(run.name)}.trec"] = run_text(run, ranking)
    return files


def run_text(run: Run, ranking: Ranking) -> str:
    """``turn Q0 item rank score tag`` in the order of ``ranking``, which is that of ``run``; the tag is the run's name."""
    tag = "_".join(run.name.split()) or "run"
    lines = []
    for place, turn in enumerate(ranking.turns):
        codes = ranking.document_codes[ranking.starts[place] : ranking.starts[place + 1]].tolist()
        for rank, code in enumerate(codes, 1):
            lines.append(f"{turn} Q0 {ranking.documents[code].as_py()} {rank} {float(run.scores[code])!r} {tag}\n")
    return "".join(lines)
