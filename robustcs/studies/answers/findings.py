"""Findings on the coverage of answers and the causes of missed items, and turns to read: conversation, rewrite, passages with
the gold ones marked, and the answer with its sentences marked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustcs.documents.document import Card, Cards, Verdict
from robustcs.documents.words import (
    measure_label,
    percent,
    percent_range,
    whole_percent,
    with_interval,
)
from robustcs.evaluation.outcomes import ANSWERABLE, LOST
from robustcs.lazy import pd
from robustcs.project.answer_inputs import AnswerInputs
from robustcs.project.answer_support import MadeOf
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

#: Outcomes to read, those that tell most first; turns of each for one system; turns in all; characters of a passage.
_ORDER = ("made_up", "refused", "wrong", "hedged", *LOST)
_EACH, _MOST, _LENGTH = 2, 24, 400
_NAMES = {"original": "Question", "qr": "Rewrite", "human": "Human rewrite"}


def turns_to_read(
    result: Answers, inputs: AnswerInputs, made_of: MadeOf, texts: Mapping[str, str] | None
) -> Cards | None:
    """Return the turns that tell most: of every system, the first with an error, and with sentences without support."""
    rows = result.turns
    # to abstain is right unless the turn has an answer
    errors = rows[~rows["outcome"].isin(LOST) | rows["kind"].isin(ANSWERABLE)]
    chosen = [
        errors[errors["outcome"] == outcome].groupby("system", sort=False).head(_EACH)
        for outcome in dict.fromkeys(_ORDER)
    ]
    invented = rows.sort_values("unsupported", ascending=False, kind="stable")
    chosen.append(invented[invented["unsupported"] > 0].groupby("system", sort=False).head(_EACH))
    listed = pd.concat(chosen).drop_duplicates(["system", "turn"]).head(_MOST)
    if not len(listed):
        return None
    read = tuple(_text(row, inputs, made_of, texts or {}) for row in listed.itertuples(index=False))
    return Cards(
        "read",
        "Turns with errors, the component that lost each, and the sentences that the passages support",
        read,
    )


def _text(row: Any, inputs: AnswerInputs, made_of: MadeOf, texts: Mapping[str, str]) -> Card:
    answer, turn = inputs.responses[row.system].get(row.turn, ""), row.turn
    told = [f"{named(row.kind)} question", named(row.outcome)]
    told += [f"lost by {row.cause}"] if row.cause not in ("", "none") else []
    conversation = inputs.conversation(turn)
    fields = (
        [("Conversation", "\n".join(f"{speaker}: {text}" for speaker, text in conversation))]
        if conversation
        else []
    )
    parts = inputs.workspace.project.formulations.values()
    for part in (part for part in parts if not (conversation and part.role == "original")):
        if text := inputs.workspace.texts.get(part.name, {}).get(turn, ""):
            fields.append(
                (_NAMES[part.role] + (f" ({part.name})" if part.name != part.role else ""), text)
            )
    gold, given = inputs.gold.get(turn, frozenset()), made_of.given[row.system]
    for place, passage in enumerate((given or {}).get(turn, ()), 1):
        text = texts.get(passage, "")
        shown = text if len(text) <= _LENGTH else f"{text[:_LENGTH].rstrip()}…"
        fields.append(
            (
                f"Passage {place}{' (gold)' if passage in gold else ''}",
                f"{passage}: {shown}".rstrip(": "),
            )
        )
    if lacking := [
        passage
        for passage in sorted(gold)
        if given is not None and passage not in given.get(turn, ())
    ]:
        fields.append(("Gold passages not given", ", ".join(lacking)))
    checked = None if given is None else inputs.checked(row.system, turn, given, texts)
    spans = {
        known: tuple((one.start, one.end) for one in checked or () if one.supported is known)
        for known in (True, False)
    }
    layers = (("supported by a passage", spans[True]), ("without support", spans[False]))
    return Card(
        f"{turn}, {system_name(row.system)}: {'; '.join(told)}",
        tuple(fields),
        answer or "(no answer)",
        layers,
    )


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
        found.append(replace(_verdict(row, text, basis, "qa"), caveat=caveat))
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
        found.append(
            _verdict(
                row, text, f"{int(row['count']):,} of {counted(int(row['turns']), 'turn')}", "qr"
            )
        )
    return tuple(found)


def unknown_causes(result: Answers, system: object) -> int:
    """Return the number of lost turns of a system whose cause is unknown."""
    causes = result.causes
    return int(causes["count"][(causes["system"] == system) & (causes["cause"] == UNKNOWN)].sum())


def _verdict(row: Any, text: str, basis: str, tone: str) -> Verdict:
    return Verdict(
        whole_percent(row["share"]),
        percent_range(row["ci_low"], row["ci_high"]),
        text,
        basis,
        float(row["share"]),
        tone,
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
