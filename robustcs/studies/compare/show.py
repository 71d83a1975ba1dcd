"""Tables of a comparison: the gate, changes by run, flipped conclusions, turns that crossed a threshold, and inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from robustcs.documents.data import to_json
from robustcs.documents.document import Block, Card, Cards, Paragraph, TableBlock
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.text import visible
from robustcs.documents.words import clustered, noted, number, threshold_label
from robustcs.errors import ExitCode, UsageError
from robustcs.lazy import pd
from robustcs.messages import Message, OptionName
from robustcs.result import count, difference
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.cases import EVERY
from robustcs.studies.compare.changes import ROUNDING
from robustcs.studies.compare.fit import DOUBTFUL, LOST, split_note
from robustcs.studies.compare.gate import ALPHA, DECISIONS, measure_label, subject
from robustcs.studies.compare.missing import OPEN
from robustcs.studies.compare.reasons import Line, lines_of
from robustcs.version import __version__
from robustcs.wording import counted, first_of, sentences, some_of, system_name

#: Turns printed with their texts.
SHOWN = 5
#: Changed turns in the table.
MOST_CHANGED = 10
NO_TURNS = "No turn is scored in both states."
#: Reasons printed below the gate.
REASONS = 10


def show(result: Comparison) -> tuple[Block, ...]:
    """Return the printed tables; of the turns only those that crossed a threshold, largest changes first."""
    frame = result.measures
    changed = set(zip(result.turns["system"], result.turns["metric"], strict=True))
    moved = frame[[(row.system, row.metric) in changed for row in frame.itertuples()]]
    blocks: list[Block] = (
        [_gate(result)] if len(result.gate) else [Paragraph(one) for one in result.doubts]
    )
    if len(moved):
        blocks += [_measures(result, moved), *_bounds(result, moved)]
    else:
        span = f"from {result.old.name} to {result.new.name}"
        turns = (
            f" on {counted(result.evaluated.turns, 'turn')} with scores in both states"
            if result.evaluated.unscored
            else ""
        )
        blocks.append(
            Paragraph(f"No score changed {span}{turns}." if result.evaluated.turns else NO_TURNS)
        )
    if max(len(result.old.systems), len(result.new.systems)) > 1:
        blocks.append(_conclusions(result))
    if len(moved):
        blocks.append(_reasons(result))
        blocks.append(_changed(result))
    crossed = _crossed(result.turns)
    if crossed:
        blocks.append(_cards(crossed))
    blocks.append(_changed_inputs(result))
    few = incomplete(result)
    return (Paragraph(" ".join(few)), *blocks) if few else tuple(blocks)


def incomplete(result: Comparison) -> list[str]:
    """Return a sentence for every system with many missing scores, or that answers less than half of the turns of a state."""
    found = result.missing
    for row in result.measures.itertuples():
        for when, state in (("old", result.old), ("new", result.new)):
            answered = getattr(row, f"answered_{when}")
            if 2 * answered < row.scored and (row.system, when) not in found:
                rest = (
                    "its other turns score 0"
                    if row.turns > answered
                    else "its other turns are excluded"
                )
                found[row.system, when] = (
                    f"{system_name(row.system)} answers {answered} of {counted(row.scored, 'turn')} in the {when} state"
                    f" ({state.name}); {rest}."
                )
    return list(found.values())


def _measures(result: Comparison, moved: pd.DataFrame) -> TableBlock:
    rescored = bool(((moved["rescored"] - moved["old"]).abs() > ROUNDING).any())
    unit = result.evaluated.unit
    still = sorted(set(result.measures["system"]) - set(moved["system"]))
    note = (
        f"Change: new minus old. 95% CI: two-sided sign-flip test{clustered(unit)}, one comparison at a time. p adj.: max-T"
        " over the runs of a measure."
        + (f" No change: {some_of([*map(system_name, still)])}." if still else "")
        + "".join(
            noted(
                (
                    f"{system_name(row.system)}, {measure_label(row.metric)}",
                    split_note(row.note)[part],
                )
                for row in moved.itertuples()
            )
            for part in (0, 1)
        )
    )
    columns: list[Shown] = [
        "system",
        "metric",
        "old",
        *(["rescored"] if rescored else []),
        "new",
        "change",
        "p_corrected",
    ]
    return result_table(
        result,
        "measures",
        f"From {result.old.name} to {result.new.name}",
        columns,
        note,
        rows=moved,
    )


def _bounds(result: Comparison, moved: pd.DataFrame) -> list[TableBlock]:
    """Return the bounds of the changes that unjudged passages could affect."""
    open_ = moved[(moved["high"] - moved["low"]) > ROUNDING]
    if not len(open_):
        return []
    caption = "How much could unjudged passages move the changes?"
    note = "Lowest and highest change that any grades of the unjudged passages could give; these are not confidence limits."
    return [
        result_table(
            result,
            "measures",
            caption,
            ["system", "metric", "low", "high"],
            note,
            rows=open_,
            slug="bounds",
        )
    ]


def _changed_inputs(result: Comparison) -> TableBlock | Paragraph:
    changed = result.files[result.files["state"] != "same"]
    same = len(result.files) - len(changed)
    if not len(changed):
        return Paragraph("No input changed.")
    note = f"{counted(same, 'other input')} did not change." if same else ""
    return result_table(
        result, "inputs", "Inputs that changed", ["role", "state", "path"], note, rows=changed
    )


def _gate(result: Comparison) -> TableBlock:
    """Return the cases that did not pass, worst first, or all cases if all passed, with reasons."""
    frame = result.gate
    rows = frame[frame["outcome"] != "passed"] if result.outcome != "passed" else frame
    rows = rows.sort_values(
        "outcome", key=lambda column: column.map(DECISIONS.index), kind="stable"
    )
    conditions = [
        condition for condition in dict.fromkeys(frame["condition"]) if condition != EVERY
    ]
    alone = conditions[0] if len(conditions) == 1 else ""
    field = result.spec("gate").field
    inside = alone.startswith("no worse than")
    columns: list[Shown] = [
        *([] if alone else ["condition"]), (field("system"), lambda row: row.system or "all"),
        (field("metric"), lambda row: measure_label(row.metric)),
        "drop" if inside else difference("drop", header="Drop").rounded(3), *([] if inside else ["p_corrected"]), "outcome",
    ]  # fmt: skip
    lines = lines_of(rows.itertuples())
    reasons = [
        f"{'' if alone else f'{line.condition}: '}{line.who(display=True)}: {line.reason}"
        for line in lines
    ]
    passed = len(frame) - len(rows)
    note = (
        first_of(reasons, REASONS)
        + "."
        + (f" {counted(passed, 'other case')} passed." if passed else "")
    )
    return result_table(
        result,
        "gate",
        f"Gate: {result.outcome}" + (f" ({alone})" if alone else ""),
        columns,
        note,
        rows=rows,
    )


def _conclusions(result: Comparison) -> Block:
    flipped = result.conclusions[result.conclusions["flipped"].astype(bool)]
    total = len(result.conclusions)
    if not total:
        return Paragraph(
            "Fewer than two systems are in both states, so no pair of systems is compared."
        )
    level = f"p ≤ {ALPHA:g}, adjusted by max-T over the pairs of a measure"
    open_ = int(result.conclusions[["old", "new"]].eq(OPEN).any(axis=1).sum())
    left = f" Missing scores leave {counted(open_, 'pair')} open." if open_ else ""
    if open_ == total:
        return Paragraph(
            f"Missing scores leave open whether conclusions about {counted(total, 'pair')} of systems changed."
        )
    if not len(flipped):
        return Paragraph(
            f"No conclusion about {counted(total - open_, 'pair')} of systems changed ({level}).{left}"
        )
    note = f"{len(flipped)} of {counted(total, 'pair')} flipped ({level}).{left} No significant difference does not mean equal."
    limits = {split_note(row.note)[0] for row in result.measures.itertuples()}
    note += sentences(limit for limit in (LOST, DOUBTFUL) if limit in limits)
    return result_table(
        result,
        "conclusions",
        "Conclusions that flipped",
        ["metric", "first", "second", "old", "new"],
        note,
        rows=flipped,
    )


def _crossed(turns: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the turns of each run that crossed a threshold, one frame each, largest change first."""
    crossed = turns[turns["crossed"] != ""]
    parts = [part for _, part in crossed.groupby(["system", "turn"], sort=False)]
    return sorted(parts, key=lambda part: -float(part["change"].abs().sum()))


def _changed(result: Comparison) -> TableBlock:
    """Return the turns that changed most."""
    rows = result.turns.head(MOST_CHANGED)
    which = f"{len(rows)} of {counted(len(result.turns), 'changed score')}"
    columns: list[Shown] = ["turn", "system", "metric", "old", "new", "change", "why"]
    return result_table(
        result, "turns", f"Largest changes: {which}", columns, "", rows=rows, slug="changed"
    )


def _reasons(result: Comparison) -> TableBlock:
    """Return changed turns by run, measure and reason, with those that crossed a threshold up and down."""
    turns = result.turns.merge(result.measures[["system", "metric", "turns"]])
    turns["change"] /= turns["turns"]
    marks = {"up": "+", "down": "−"}
    turns = turns.assign(
        **{name: turns["crossed"].str.contains(mark, regex=False) for name, mark in marks.items()}
    )
    by = turns.groupby(["system", "metric", "why"], sort=False)
    rows = by.agg(
        turns=("turn", "size"), up=("up", "sum"), down=("down", "sum"), change=("change", "sum")
    ).reset_index()
    columns: list[Shown] = [
        "system", "metric", "why", count("turns"), count("up", header="now correct"), count("down", header="no longer"),
        difference("change", header="change of the mean").rounded(3),
    ]  # fmt: skip
    note = "Now correct and no longer correct: turns that crossed at least one threshold in that direction."
    return result_table(
        result, "turns", "Why scores changed", columns, note, rows=rows, slug="reasons"
    )


def crossed_words(crossed: str) -> str:
    """Return crossed thresholds in words: ``+>0 −=1`` becomes ``now > 0, no longer = 1``."""
    found = [(mark[0], threshold_label(mark[1:])) for mark in crossed.split()]
    parts = [
        (word, ", ".join(label for sign, label in found if sign == of))
        for of, word in (("+", "now"), ("−", "no longer"))
    ]
    return ", ".join(f"{word} {labels}" for word, labels in parts if labels)


def _cards(crossed: list[pd.DataFrame]) -> Cards:
    cards = []
    for part in crossed[:SHOWN]:
        rows = list(part.itertuples())
        first = rows[0]
        scores = [
            f"{measure_label(row.metric)} {number(row.old, 3)} → {number(row.new, 3)} ({crossed_words(row.crossed)})"
            for row in rows
        ]
        fields = [
            ("Scores", "; ".join(scores)),
            ("What changed", ", ".join(dict.fromkeys(row.why for row in rows))),
        ]
        # None, or NaN if only other runs have texts
        old, new = (
            text if isinstance(text, str) else "" for text in (first.old_text, first.new_text)
        )
        texts = [("Text", new)] if old == new else [("Old text", old), ("New text", new)]
        fields += [(name, value) for name, value in texts if value]
        cards.append(Card(f"{first.turn} · {system_name(first.system)}", tuple(fields)))
    which = (
        f"{len(cards)} of {len(crossed)}, largest changes first"
        if len(crossed) > len(cards)
        else str(len(cards))
    )
    return Cards("crossed", f"Turns that crossed a threshold: {which}", tuple(cards))


def page(result: Comparison, inputs: Sequence[Mapping[str, Any]]) -> str:
    """Return the HTML page of a comparison; it lists ``inputs`` at its end."""
    from robustcs.documents.html import result_page
    from robustcs.documents.page.pack import packed_turns
    from robustcs.studies.compare.turns import changed_turns

    turns = {}
    if len(result.turns):
        turns = packed_turns(changed_turns(result), result.evaluated.policy.relevance_level)
    title = f"From {result.old.name} to {result.new.name}"
    return result_page(title, result, show(result), inputs, turns)


SUFFIXES = (".json", ".xml")
_LEVELS = {"failed": "error", "cannot tell": "warning"}


def check_suffix(path: str) -> None:
    """Raise :class:`UsageError` for a report that is neither JSON nor JUnit."""
    if not path.lower().endswith(SUFFIXES):
        raise UsageError(
            "bad-suffix",
            Message(OptionName("gate-report"), f" {path}: unknown format"),
            "name a file that ends in .json or .xml",
        )


def rendered(
    path: str, result: Comparison, inputs: Sequence[Mapping[str, Any]], code: ExitCode
) -> str:
    """Return the report in the format of ``path``; ``code`` is the exit code of the command."""
    if path.lower().endswith(".xml"):
        return junit(result, code)
    evaluated = result.evaluated
    tables = {"gate": result.table("gate")}
    text = to_json("compare", __version__, evaluated.as_dict(), inputs, tables, evaluated.notes)
    head = {"outcome": result.outcome, "exit_code": int(code), "old": result.old.name, "new": result.new.name,
            "reasons": told(result)}  # fmt: skip
    return json.dumps(head, ensure_ascii=False)[:-1] + "," + text.removeprefix("{")


def junit(result: Comparison, code: ExitCode) -> str:
    """Return the gate as JUnit XML, one test case for each row.

    "Cannot tell" becomes an error, or is skipped if the command ends with exit code 0, so that report and exit code agree.
    """
    undecided = "skipped" if code == ExitCode.DONE else "error"
    rows = list(result.gate.itertuples())
    counts = {
        outcome: str(sum(row.outcome == outcome for row in rows))
        for outcome in ("failed", "cannot tell")
    }
    open_cases = counts["cannot tell"]
    root = ElementTree.Element("testsuites", name="robustcs compare")
    suite = ElementTree.SubElement(
        root, "testsuite", name=visible(f"{result.old.name} to {result.new.name}"), tests=str(len(rows)),
        failures=counts["failed"], errors=open_cases if undecided == "error" else "0",
        skipped=open_cases if undecided == "skipped" else "0",
    )  # fmt: skip
    for row in rows:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=visible(f"robustcs compare: {row.condition}"),
            name=visible(subject(row)),
            time="0",
        )
        if row.outcome != "passed":
            element = ElementTree.SubElement(
                case, "failure" if row.outcome == "failed" else undecided
            )
            element.set("message", visible(f"{row.outcome}: {row.reason}"))
            if element.tag != "skipped":
                element.set("type", row.outcome)
        else:
            ElementTree.SubElement(case, "system-out").text = visible(row.reason)
    output = ElementTree.SubElement(suite, "system-out")
    output.text = visible("\n".join([*result.evaluated.notes, result.evaluated.policy_line]))
    ElementTree.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + ElementTree.tostring(root, encoding="unicode")
        + "\n"
    )


def told(result: Comparison) -> list[str]:
    """Return a line for every kind of reason of rows that did not pass, failures first."""
    return [
        f"{line.outcome}: {line.condition}: {line.who()}: {line.reason}" for line in _open(result)
    ]


def github_lines(result: Comparison) -> list[str]:
    """Return the same lines as workflow commands, which GitHub Actions shows as annotations."""
    found = []
    for line in _open(result):
        title = (
            _escaped(f"robustcs compare: {line.condition}").replace(":", "%3A").replace(",", "%2C")
        )
        message = _escaped(f"{line.outcome}: {line.who()}: {line.reason}")
        found.append(f"::{_LEVELS[line.outcome]} title={title}::{message}")
    return found


def _open(result: Comparison) -> list[Line]:
    lines = lines_of(row for row in result.gate.itertuples() if row.outcome != "passed")
    return sorted(lines, key=lambda line: line.outcome != "failed")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def summary(result: Comparison) -> str:
    """Return the outcome in one line, such as ``gate: failed (1 failed, 2 cannot tell, 3 passed)``."""
    counts = [
        (int((result.gate["outcome"] == outcome).sum()), outcome)
        for outcome in ("failed", "cannot tell", "passed")
    ]
    return f"gate: {result.outcome} ({', '.join(f'{number} {outcome}' for number, outcome in counts if number)})"
