"""What answers hold and why they miss the rest, in plain sentences with their numbers."""

from __future__ import annotations

from robustcs.documents.words import percent, with_interval
from robustcs.studies.answers.analysis import COVERED, Coverage
from robustcs.studies.answers.show import headline, main_causes, said
from robustcs.wording import counted

_WORDS = {
    "generator": "its passages held them and the generator passed them over",
    "rewriter": "only the human question would have found them",
    "retrieval": "no passage at hand held them",
    "rewriter or retrieval": "no passage of the system held them",
}


def coverage_findings(result: Coverage) -> tuple[str, ...]:
    """How much the best system holds, how often systems differ, and the main cause of what each misses."""
    gold = result.golds[-1]
    metric = headline(result, gold)
    rows = result.measures[result.measures["metric"] == metric]
    best, worst = rows.iloc[0], rows.iloc[-1]
    what = f"the {said(result)}" if gold == "nuggets" else "the gold snippets' words"
    sentences = [f"Answers of {best['system']} hold most of {what}: {with_interval(best, 'value')}."]
    if len(rows) > 1:
        pairs = result.pairs[result.pairs["metric"] == metric]
        told = int((pairs["p_corrected"] <= 0.05).sum())
        sentences.append(
            f"Those of {worst['system']} hold least: {with_interval(worst, 'value')}; {told} of"
            f" {counted(len(pairs), 'pair')} of systems {'is' if told == 1 else 'are'} told apart (p ≤ 0.05 by Holm)."
        )
    causes = main_causes(result)
    for system, part in causes.groupby("system", sort=False):
        missed = part[(part["cause"] != COVERED) & (part["cause"] != "unknown")].sort_values("share", ascending=False)
        if len(missed) and missed.iloc[0]["count"]:
            first = missed.iloc[0]
            whole = int(part["items"].iloc[0]) - int(part.loc[part["cause"] == COVERED, "count"].sum())
            sentences.append(
                f"{system} misses {whole} of {int(first['items'])} {said(result)}; {int(first['count'])} of them because"
                f" {_WORDS[str(first['cause'])]} ({percent(first['share'])} of all)."
            )
    return tuple(sentences)
