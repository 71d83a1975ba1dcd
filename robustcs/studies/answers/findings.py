"""Verdicts and findings on the outcomes and coverage of answers and the causes of missed items, and turns to read."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from robustcs.documents.document import TurnSet, Verdict
from robustcs.documents.words import (
    measure_label,
    percent,
    percent_range,
    whole_percent,
    with_interval,
)
from robustcs.evaluation.outcomes import ANSWERABLE, LOST
from robustcs.records.filter import term
from robustcs.studies.answers.analysis import COVERED, UNKNOWN, Answers
from robustcs.studies.answers.show import (
    answerable,
    answers_alone,
    criterion_words,
    golds,
    headline,
    main_causes,
    named,
    said,
)
from robustcs.wording import counted, first_of, system_name, verb

#: Outcomes to read, in this order; those that abstain are errors only on turns with an answer.
_TO_READ = tuple(dict.fromkeys(("made_up", "refused", "wrong", "hedged", *LOST)))
#: Largest number of systems whose turns are listed.
_LISTED = 4


def turns_to_read(result: Answers) -> tuple[TurnSet, ...]:
    """Return the errors of every system by outcome, and the turns that each component loses."""
    sets = []
    systems = list(dict.fromkeys(result.turns["system"]))
    for system in systems[:_LISTED]:
        whose = f"{system_name(system)}: " if len(systems) > 1 else ""
        own = result.turns[result.turns["system"] == system]
        for outcome in _TO_READ:
            chosen = own[own["outcome"] == outcome]
            where = term("outcome", outcome, system=system)
            if outcome in _SAID_ALONE:
                chosen = chosen[chosen["kind"].isin(ANSWERABLE)]
                where += f" {term('kind', *ANSWERABLE, system=system)}"
            sets.append(TurnSet(f"{whose}{named(outcome)}", where, len(chosen)))
        for cause in _LOSERS:
            count = int((own["cause"] == cause).sum())
            where = term("lost", cause, system=system)
            sets.append(TurnSet(f"{whose}lost by {_LOSERS[cause].lower()}", where, count))
    return tuple(sets)


#: Cause → subject and explanation in a finding.
_WORDS = {
    "generator": ("The generator", "the answer's passages contain them"),
    "rewriter": ("The rewriter", "only the human question retrieves them"),
    "retrieval": ("Retrieval", "no retrieved passage contains them"),
    "rewriter or retrieval": (
        "The rewriter or retrieval",
        "the system's passages do not contain them",
    ),
}


#: Outcomes with a number in a finding, and those for systems whose kinds of turns are unknown.
_SAID, _SAID_ALONE = ("made_up", "hedged", "asked_back"), ("abstained", "asked_back", "no_answer")
#: Largest number of systems named in a sentence; the tables list all.
_SYSTEMS = 4
_LOSERS = {
    "generator": "The generator",
    "retrieval": "Retrieval",
    "wording": "The wording",
    "ranker": "The ranker",
}


def verdicts(result: Answers) -> tuple[Verdict, ...]:
    """Return the component that loses most answerable turns, and the most frequent made-up answers, of the worst systems."""
    found = []
    lost = result.causes[result.causes["cause"].isin(list(_LOSERS)) & (result.causes["count"] > 0)]
    if len(lost):
        row = lost.loc[lost["share"].idxmax()]
        size = f"{whole_percent(row['share'])} of the {answerable(result)} turns"
        text = f"{_LOSERS[row['cause']]} of {system_name(row['system'])} loses {size}"
        basis, unknown = (
            f"{int(row['count']):,} of {counted(int(row['turns']), 'turn')}",
            unknown_causes(result, row["system"]),
        )
        caveat = (
            f"The cause of {unknown:,} further lost {verb(unknown, 'turn', 'turns')} is unknown."
            if unknown
            else ""
        )
        where = term("lost", row["cause"], system=row["system"])
        found.append(replace(_verdict(row, text, basis, "qa", where), caveat=caveat))
    made_up = result.outcomes[
        (result.outcomes["outcome"] == "made_up") & (result.outcomes["count"] > 0)
    ]
    if len(made_up):
        row = made_up.loc[made_up["of_kind"].idxmax()]
        row = {
            **row,
            "share": row["of_kind"],
            "ci_low": row["of_kind_low"],
            "ci_high": row["of_kind_high"],
        }
        text = f"{system_name(row['system'])} makes up an answer to {whole_percent(row['share'])} of the unanswerable turns"
        basis = f"{int(row['count']):,} of {counted(int(row['turns']), 'turn')}"
        # gold passages may split them; then the number is that of a part, which no filter selects
        whole = sum(made_up["system"] == row["system"]) == 1
        where = term("outcome", "made_up", system=row["system"]) if whole else ""
        found.append(_verdict(row, text, basis, "qr", where))
    return tuple(found)


def unknown_causes(result: Answers, system: object) -> int:
    """Return the number of lost turns of a system whose cause is unknown."""
    causes = result.causes
    return int(causes["count"][(causes["system"] == system) & (causes["cause"] == UNKNOWN)].sum())


def _verdict(row: Any, text: str, basis: str, tone: str, where: str) -> Verdict:
    return Verdict(
        whole_percent(row["share"]),
        percent_range(row["ci_low"], row["ci_high"]),
        text,
        basis,
        float(row["share"]),
        tone,
        turns=where,
        count=int(row["count"]) if where else 0,
    )


def answer_findings(result: Answers) -> tuple[str, ...]:
    """Return a sentence on the causes and outcomes of every system; then on gold items."""
    alone = answers_alone(result)
    sentences = [] if alone else [criterion_words(result)]
    for system, part in result.turns.groupby("system", sort=False):
        causes = result.causes[result.causes["system"] == system].set_index("cause")
        counts = part["outcome"].value_counts()
        kept, turns = (counts.get("answered", 0), len(part)) if alone else (0, 0)
        if len(causes):
            kept, turns = causes["count"].get("none", 0), causes["turns"].iloc[0]
        kind = "turn" if alone else f"{answerable(result)} turn"
        parts = (
            [f"{kept:,} of {counted(int(turns), kind)} answered ({percent(kept / turns)})"]
            if turns
            else []
        )
        parts += [
            f"{_LOSERS[one].lower()} loses {causes['count'][one]:,} ({percent(causes['share'][one])})"
            for one in _LOSERS if one in causes.index and causes["count"][one]
        ]  # fmt: skip
        if unknown := unknown_causes(result, system):
            parts.append(
                f"the cause of {unknown:,} lost {verb(unknown, 'turn', 'turns')} is unknown"
            )
        parts += [
            f"{counts[one]:,} {named(one)}"
            for one in (_SAID_ALONE if alone else _SAID)
            if one in counts
        ]
        sentences.append(
            f"{system_name(str(system))}: {'; '.join(parts or ['no answerable turns'])}."
        )
    return (*sentences, *(coverage_findings(result) if len(result.items) else ()))


def coverage_findings(result: Answers) -> tuple[str, ...]:
    """Return findings on the means, the pairs that differ, and the main cause of each system's misses."""
    metric = headline(result, golds(result)[-1])
    rows = result.measures[result.measures["metric"] == metric]
    means = [
        f"{with_interval(row, 'value')} for {system_name(row['system'])}"
        for _, row in rows.iterrows()
    ]
    sentences = [f"The mean {measure_label(metric)} is {first_of(means, _SYSTEMS)}."]
    pairs = result.pairs[result.pairs["metric"] == metric]
    if len(pairs):
        differ = int((pairs["p_corrected"] <= 0.05).sum())
        sentences.append(
            f"Pairs of systems that differ significantly (adjusted p ≤ 0.05): {differ} of {len(pairs)}."
        )
    missed = (
        _missed(result, str(system), part)
        for system, part in main_causes(result).groupby("system", sort=False)
    )
    return (*sentences, *filter(None, missed))


def _missed(result: Answers, system: str, part: Any) -> str:
    """Return the number of items that a system misses and the most frequent known cause; empty without misses."""
    count, items = part.set_index("cause")["count"], int(part["items"].iloc[0])
    missed = items - int(count[COVERED])
    if not missed:
        return ""
    sentence = f"{system_name(system)} misses {missed:,} of {items:,} {said(result)}."
    known = part[part["cause"].isin(list(_WORDS)) & (part["count"] > 0)]
    if len(known):
        first = known.loc[known["count"].idxmax()]
        between = (
            ""
            if math.isnan(first["ci_low"])
            else f", 95% CI {percent_range(first['ci_low'], first['ci_high'])}"
        )
        subject, why = _WORDS[str(first["cause"])]
        share = f"{percent(first['share'])} of all {items:,}{between}"
        sentence += f" {subject} loses the most, {int(first['count']):,} ({share}): {why}."
    unknown = int(count.get(UNKNOWN, 0))
    return sentence + (f" The cause of {counted(unknown, 'item')} is unknown." if unknown else "")
