"""Measures and their names, in the spelling of trec_eval.

Names of ir_measures are accepted too: ``nDCG@3`` is ``ndcg_cut_3``; ``P(rel=2)@1`` is ``P_1`` with
its own relevance level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from robustcs.errors import UsageError
from robustcs.inputs.ids import MAX_GRADE
from robustcs.inputs.text import whole_number
from robustcs.inputs.trec_lines import TEXTS
from robustcs.lazy import npt
from robustcs.wording import verb

#: Default persistence of rank-biased precision, as in ir_measures. trec_eval 10 uses 0.9.
RBP_PERSISTENCE = 0.8
#: Grade of a passage that was sampled for judging but not judged.
_SAMPLED = -1
#: Largest cutoff.
_MAX_CUTOFF = 1_000_000
#: Family, or name of a measure of a file of scores → its name in papers.
_TITLES = {
    "P": "P",
    "recall": "R",
    "success": "Success",
    "recip_rank": "MRR",
    "map": "MAP",
    "ndcg": "NDCG",
    "bpref": "bpref",
    "rbp": "RBP",
    "judged": "Judged",
    "unj": "Unjudged",
    "f1": "F1",
    "em": "EM",
    "snippet_recall": "recall of snippets",
    "nuggets_vital": "support of vital nuggets",
    "nuggets_all": "support of nuggets",
}


@dataclass(frozen=True)
class Measure:
    """A measure.

    family
        A key of :data:`robustcs.evaluation.measures.NATIVE`, ``unj``, one of
        :data:`ANSWER_FAMILIES`, ``trec_eval`` for any other measure that trec_eval knows, or
        ``given`` for any other name: a column of a file of scores, such as ``RL_F``.
    cutoff
        Number of ranks that count; None for all.
    level
        Relevance level of the measure; None for that of the policy.
    persistence
        p of rank-biased precision.
    """

    name: str
    family: str
    cutoff: int | None = None
    level: int | None = None
    persistence: float | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def right_or_wrong(self) -> bool:
        """Whether every turn scores 0 or 1, as for P@1, success and em."""
        return self.family in ("success", "em") or (self.family == "P" and self.cutoff == 1)

    @property
    def label(self) -> str:
        """The name as papers print it: ``NDCG@3``, ``P@1``, ``F1``.

        A measure of a file of scores keeps its name.
        """
        title = _TITLES.get(self.name if self.family == GIVEN else self.family)
        if title is None:
            return self.name
        arguments = [] if self.level is None else [f"rel={self.level}"]
        if self.family == "rbp":  # tools differ in their default
            persistence = RBP_PERSISTENCE if self.persistence is None else self.persistence
            arguments.append(f"p={persistence:g}")
        if arguments:
            title += f"({','.join(arguments)})"
        return title if self.cutoff is None else f"{title}@{self.cutoff}"


#: Families of binary measures.
_BINARY = ("P", "recall", "success", "recip_rank", "map", "bpref", "rbp")
#: Measures of predicted answers (reading comprehension); they need no qrels.
ANSWER_FAMILIES = ("f1", "em")
#: Kind of gold information about answers.
Gold = Literal["snippets", "nuggets"]
#: Kind → the measures of how much of it answers contain; the first compares systems in the output.
GOLD_MEASURES: Mapping[Gold, tuple[str, ...]] = {
    "snippets": ("snippet_recall", "snippet_precision", "snippet_f1"),
    "nuggets": ("nuggets_vital", "nuggets_vital_strict", "nuggets_all", "nuggets_all_strict"),
}
#: Family of measures that only files of scores have.
GIVEN = "given"
#: The form of their names.
_GIVEN_NAME = re.compile(r"[^\W\d][\w.@-]{0,60}")
#: Names to suggest, the most usual ones first.
_SUGGESTED = (
    "P_1",
    "P_5",
    "recall_1000",
    "success_1",
    "ndcg_cut_3",
    "ndcg_cut_5",
    "map",
    "map_cut_100",
    "recip_rank",
    "bpref",
    "rbp",
    "judged_3",
    "ndcg",
    "f1",
    "em",
)
#: The number of these that any message on an unknown measure names.
_USUAL = 6
#: Similarity from which an unknown name is probably one of them with a typing error, and from which
#: it is suggested.
_TYPO, _SIMILAR = 0.75, 0.6
#: Prefixes of further measures of trec_eval whose scores do not exceed 1.
_SHARES = (
    "Rprec",
    "11pt_avg",
    "iprec_at_recall",
    "set_P",
    "set_recall",
    "set_F",
    "set_map",
    "relative_P",
    "set_relative_P",
)


def highest_score(measure: Measure) -> float | None:
    """Return the highest possible score of a turn: 1, or None if it is not known.

    It is not for measures of trec_eval without a limit, such as utility, and for columns of files.
    """
    unlimited = measure.family in ("trec_eval", GIVEN) and not measure.name.startswith(_SHARES)
    return None if unlimited else 1.0


#: Names of trec_eval for the measures on the grade matrix or on answers: with a cutoff k, without
#: one, and with a persistence p.
_TREC_NAMES = re.compile(
    r"(?P<cut>P|recall|success|judged|unj|ndcg_cut|map_cut|recip_rank_cut|rbp_cut)_(?P<k>[0-9]+)"
    r"|(?P<whole>ndcg|map|recip_rank|bpref|rbp|f1|em)"
    r"|rbp_(?P<p>0?\.[0-9]+)"
)
_IR_MEASURES = re.compile(r"(?P<name>[A-Za-z]+)(?:\((?P<arguments>[^)]*)\))?(?:@(?P<k>[0-9]+))?")


class _IrMeasure(NamedTuple):
    """The family of a measure of ir_measures, and whether its name has a cutoff."""

    family: str
    cutoff: Literal["required", "optional", "none"]


#: Name in ir_measures (lower case) → the measure.
_IR_FAMILIES = {
    "p": _IrMeasure("P", "required"),
    "precision": _IrMeasure("P", "required"),
    "r": _IrMeasure("recall", "required"),
    "recall": _IrMeasure("recall", "required"),
    "success": _IrMeasure("success", "required"),
    "judged": _IrMeasure("judged", "required"),
    "ndcg": _IrMeasure("ndcg", "optional"),
    "ap": _IrMeasure("map", "optional"),
    "map": _IrMeasure("map", "optional"),
    "rr": _IrMeasure("recip_rank", "optional"),
    "mrr": _IrMeasure("recip_rank", "optional"),
    "bpref": _IrMeasure("bpref", "none"),
    "rbp": _IrMeasure("rbp", "optional"),
    "em": _IrMeasure("em", "none"),
}
#: A measure of ir_measures that is refused: it is not the F1 of answers.
_IR_REFUSED = "f"
#: Letters that are names of ir_measures only with a cutoff or arguments; alone, they are columns.
_IR_LETTERS = ("P", "R", "F")
#: Families without a relevance level of their own.
_WITHOUT_LEVEL = ("ndcg", "judged", "em")


def parse_measure(text: str, given: bool = False) -> Measure:
    """Return the measure named ``text``, in the spelling of trec_eval or ir_measures.

    ``given``: a name unlike all these is a column of a file of scores. Otherwise raises
    :class:`UsageError` with similar names.
    """
    text = text.strip()
    measure = _parse_trec_name(text) or _parse_ir_measure(text)
    if measure is not None:
        return measure
    if given and any(text in names for names in GOLD_MEASURES.values()):
        return Measure(text, GIVEN)
    if trec_eval_knows(text):
        return Measure(text, "trec_eval")
    if given and _GIVEN_NAME.fullmatch(text) and not _similar(text, _TYPO):
        return Measure(text, GIVEN)
    raise _unknown(text)


def _parse_trec_name(text: str) -> Measure | None:
    """Return a measure on the grade matrix or on answers by its name in trec_eval; else None."""
    match = _TREC_NAMES.fullmatch(text)
    if match is None:
        return None
    if match["cut"]:
        return _native(match["cut"].removesuffix("_cut"), cutoff=_cutoff(text, match["k"]))
    if match["p"]:
        return _native("rbp", persistence=_persistence(text, match["p"]))
    return _native(match["whole"])


def _parse_ir_measure(text: str) -> Measure | None:
    """Return a measure by its name in ir_measures; None for a name unlike these.

    Raises :class:`UsageError` for such a name with a wrong cutoff or argument.
    """
    match = _IR_MEASURES.fullmatch(text)
    if match is None:
        return None
    is_plain = match["k"] is None and match["arguments"] is None
    if is_plain and match["name"] in _IR_LETTERS:
        return None
    name = match["name"].lower()
    if name == _IR_REFUSED:
        raise _unknown(text)
    if name not in _IR_FAMILIES:
        return None
    family, needs = _IR_FAMILIES[name]
    has_cutoff = match["k"] is not None
    if (needs == "required" and not has_cutoff) or (needs == "none" and has_cutoff):
        raise _unknown(text)
    level, persistence = _parse_arguments(text, match["arguments"] or "", family)
    cutoff = _cutoff(text, match["k"]) if has_cutoff else None
    return _native(family, cutoff, level, persistence)


def _parse_arguments(text: str, arguments: str, family: str) -> tuple[int | None, float | None]:
    """Return the relevance level and the persistence in ``rel=2,p=0.5``; None for those without.

    Raises :class:`UsageError` for an argument that the family does not accept.
    """
    level, persistence = None, None
    for argument in filter(None, arguments.split(",")):
        key, _, value = (part.strip() for part in argument.partition("="))
        grade = whole_number(value, MAX_GRADE) or 0
        if key == "rel" and grade >= 1 and family not in _WITHOUT_LEVEL:
            level = grade
        elif key == "p" and family == "rbp":
            persistence = _persistence(text, value)
        else:
            raise UsageError(
                "bad-measure",
                f"measure {text!r} does not accept the argument {argument.strip()!r}",
                "use rel=LEVEL with binary measures and p=PERSISTENCE with RBP",
            )
    return level, persistence


def known_measure(text: str) -> Measure | None:
    """Return the measure of a file of scores as :func:`parse_measure` does; None if it raises."""
    try:
        return parse_measure(text, given=True)
    except UsageError:
        return None


def usual_name(text: str) -> str:
    """Return the name that :func:`parse_measure` gives to a measure: ``ndcg_cut_3`` for ``nDCG@3``.

    Return ``text`` if it knows none.
    """
    measure = known_measure(text)
    return text if measure is None else measure.name


def _native(
    family: str,
    cutoff: int | None = None,
    level: int | None = None,
    persistence: float | None = None,
) -> Measure:
    """Return a measure on the grade matrix or on answers, with its name."""
    if family == "rbp" and level is not None and persistence is None:
        persistence = RBP_PERSISTENCE  # its name then includes it
    if level is not None or (persistence is not None and cutoff is not None):
        # trec_eval has no names for measures with their own relevance level
        name = Measure("", family, cutoff, level, persistence).label
    elif persistence is not None:
        name = f"{family}_{persistence:g}"
    elif cutoff is None:
        name = family
    elif family in ("ndcg", "map", "recip_rank", "rbp"):
        name = f"{family}_cut_{cutoff}"
    else:
        name = f"{family}_{cutoff}"
    return Measure(name, family, cutoff, level, persistence)


def _cutoff(text: str, digits: str) -> int:
    """Return the cutoff of the measure ``text``.

    Raises :class:`UsageError` unless it is from 1 to :data:`_MAX_CUTOFF`.
    """
    cutoff = whole_number(digits, _MAX_CUTOFF) or 0
    if cutoff < 1:
        raise UsageError(
            "bad-measure",
            f"measure {text!r} has the cutoff {digits}",
            f"use a cutoff from 1 to {_MAX_CUTOFF}",
        )
    return cutoff


def _persistence(text: str, value: str) -> float:
    """Return the persistence of the measure ``text``.

    Raises :class:`UsageError` unless it is between 0 and 1.
    """
    try:
        persistence = float(value)
    except ValueError:
        persistence = 0.0
    if not 0 < persistence < 1:
        raise UsageError(
            "bad-measure",
            f"measure {text!r} has the persistence {value!r}",
            "use a number between 0 and 1",
        )
    return persistence


def _similar(text: str, least: float) -> list[str]:
    """Return up to two known names that are at least this similar."""
    from difflib import get_close_matches

    return get_close_matches(text, _SUGGESTED, n=2, cutoff=least)


def _unknown(text: str) -> UsageError:
    """Return the error on an unknown measure, with similar names or the usual ones."""
    similar = _similar(text, _SIMILAR)
    advice = f"use a trec_eval name such as {', '.join(_SUGGESTED[:_USUAL])}"
    if similar:
        advice = f"did you mean {' or '.join(similar)}?"
    return UsageError("unknown-measure", f"unknown measure {text!r}", advice)


def refuse_given(measures: Sequence[Measure]) -> None:
    """Raise :class:`UsageError` for a measure that cannot be computed from a run."""
    for measure in measures:
        if measure.family == GIVEN:
            raise _unknown(measure.name)


def averaged(measures: Sequence[Measure], totals: bool = False) -> list[Measure]:
    """Return the measures, each once; totals and geometric means only if ``totals``.

    Raises :class:`UsageError` if no measure remains.
    """
    kept = [measure for measure in measures if totals or is_averaged(measure.name)]
    if measures and not kept:
        advice = "use a mean such as map, or use robustcs evaluate"
        raise UsageError("not-a-mean", f"{measures[0]} is not a mean over turns", advice)
    return list(dict.fromkeys(kept))


# ---------------------------------------------------------------- further measures of trec_eval

#: Measures whose result names contain a number, in the spelling of trec_eval. For other measures
#: with a number, or from 0 ranks on, trec_eval fails an assertion and ends the whole process.
_WITH_RANKS = re.compile(r"(relative_P)_([1-9][0-9]{0,5})")
_WITH_SHARE = re.compile(r"(Rprec_mult|iprec_at_recall)_([0-9]{1,5}\.[0-9]{2})")
#: Prefixes of measures that are not averaged over turns: totals, and geometric means (stored as
#: logarithms).
TOTAL, GEOMETRIC = "num_", "gm_"


def is_averaged(name: str) -> bool:
    """Return whether a run's score is the mean of its turns' scores.

    If so, turns can be compared, tested and resampled.
    """
    return not name.startswith((TOTAL, GEOMETRIC))


def trec_eval_request(name: str) -> str | None:
    """Return pytrec_eval's spelling of a trec_eval result name; None if unknown.

    It is ``Rprec_mult.0.20`` for ``Rprec_mult_0.20``.
    """
    import pytrec_eval

    if name in pytrec_eval.supported_measures:
        return name
    match = _WITH_RANKS.fullmatch(name) or _WITH_SHARE.fullmatch(name)
    return f"{match[1]}.{match[2]}" if match else None


def trec_eval_knows(name: str) -> bool:
    """Return whether trec_eval computes a measure of this name with one number per turn.

    ``P`` alone is no such name: it requires a cutoff.
    """
    import pytrec_eval

    request = trec_eval_request(name)
    if request is None or name in TEXTS:  # pytrec_eval returns 0 for texts
        return False
    evaluator = pytrec_eval.RelevanceEvaluator({"1": {"a": 1}}, {request})
    return name in evaluator.evaluate({"1": {"a": 1.0}})["1"]


def grade_notes(measures: Sequence[Measure], grades: npt.NDArray[Any], level: int) -> list[str]:
    """Return notes on measures for which the grades of the qrels are unsuitable.

    ``level``: the policy's relevance level. Without a passage of grade -1 (sampled but unjudged),
    infAP equals MAP. Without a relevant passage, a measure is always 0.
    """
    notes = []
    if any(measure.name == "infAP" for measure in measures) and not (grades == _SAMPLED).any():
        notes.append(
            "infAP equals MAP here, because the qrels have no passages with grade"
            f" {_SAMPLED} (sampled but unjudged)"
        )
    highest = int(grades.max(initial=0))
    for least, labels in _always_zero(measures, highest, level).items():
        notes.append(
            f"no passage has a grade of {least} or more (the highest grade is {highest}), so"
            f" {', '.join(labels)} {verb(len(labels), 'is', 'are')} 0 for every turn"
        )
    return notes


def _always_zero(measures: Sequence[Measure], highest: int, level: int) -> dict[int, list[str]]:
    """Return lowest relevant grade → labels of measures that have no relevant passage.

    ``highest``: the highest grade. ``level``: the policy's relevance level.
    """
    always: dict[int, list[str]] = {}
    for measure in measures:
        if measure.family not in (*_BINARY, "ndcg"):
            continue
        # each grade above 0 has a gain
        least = 1 if measure.family == "ndcg" else measure.level or level
        if least > highest:
            always.setdefault(least, []).append(measure.label)
    return always
