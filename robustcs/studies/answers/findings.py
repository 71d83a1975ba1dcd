"""Findings on the coverage of answers and the causes of missed items."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.words import percent, percent_interval, with_interval
from robustcs.studies.answers.analysis import COVERED, UNKNOWN, Coverage
from robustcs.studies.answers.show import headline, main_causes, said
from robustcs.wording import counted, verb

#: Cause → subject and explanation in a finding.
_WORDS = {
    "generator": ("The generator", "the answer's passages contain them"),
    "rewriter": ("The rewriter", "only the human question retrieves them"),
    "retrieval": ("Retrieval", "no retrieved passage contains them"),
    "rewriter or retrieval": ("The rewriter or retrieval", "the system's passages do not contain them"),
}


def coverage_findings(result: Coverage) -> tuple[str, ...]:
    """Return findings on the best and worst system, the pairs that differ, and the main cause of each system's misses."""
    gold = result.golds[-1]
    metric = headline(result, gold)
    rows = result.measures[result.measures["metric"] == metric]
    best, worst = rows.iloc[0], rows.iloc[-1]
    what = f"mean coverage of {said(result)}" if gold == "nuggets" else "mean recall of the words of gold snippets"
    sentences = [f"{best['system']} has the highest {what}: {with_interval(best, 'value')}."]
    if len(rows) == 1:
        sentences = [f"{best['system']} has a {what} of {with_interval(best, 'value')}."]
    else:
        sentences.append(f"{worst['system']} has the lowest: {with_interval(worst, 'value')}.")
        pairs = result.pairs[result.pairs["metric"] == metric]
        differ = int((pairs["p_corrected"] <= 0.05).sum())
        many = f"{differ or 'None'} of {len(pairs)} pairs of systems {verb(max(differ, 1), 'differs', 'differ')}"
        if len(pairs) == 1:
            many = f"The two systems {'differ' if differ else 'do not differ'}"
        sentences.append(f"{many} significantly (adjusted p ≤ 0.05).")
    causes = main_causes(result)
    missed = (_missed(result, str(system), part) for system, part in causes.groupby("system", sort=False))
    return (*sentences, *filter(None, missed))


def _missed(result: Coverage, system: str, part: Any) -> str:
    """Return the number of items that a system misses and the most frequent known cause; empty without misses."""
    count = part.set_index("cause")["count"]
    items = int(part["items"].iloc[0])
    missed = items - int(count[COVERED])
    if not missed:
        return ""
    sentence = f"{system} misses {missed:,} of {items:,} {said(result)}."
    known = part[part["cause"].isin(list(_WORDS)) & (part["count"] > 0)]
    if len(known):
        first = known.loc[known["count"].idxmax()]
        between = "" if math.isnan(first["ci_low"]) else f", 95% CI {percent_interval(first['ci_low'], first['ci_high'])}"
        subject, why = _WORDS[str(first["cause"])]
        items_missed = counted(int(first["count"]), "item")
        sentence += f" {subject} is the most frequent cause: {items_missed} ({percent(first['share'])} of all{between}); {why}."
    unknown = int(count.get(UNKNOWN, 0))
    return sentence + (f" The cause of {counted(unknown, 'item')} is unknown." if unknown else "")
