"""Measures and their names, in the spelling of trec_eval.

Names of ir_measures are accepted too: ``nDCG@3`` is ``ndcg_cut_3``; ``P(rel=2)@1`` is ``P_1`` with its own relevance level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from robustcs.errors import UsageError
from robustcs.inputs.ids import MAX_GRADE
from robustcs.inputs.text import whole_number
from robustcs.inputs.trec_lines import TEXTS
from robustcs.lazy import npt

#: Default persistence of rank-biased precision, as in ir_measures. trec_eval 10 uses 0.9.
RBP_PERSISTENCE = 0.8
#: Grade of a passage that was sampled for judging but not judged.
_SAMPLED = -1
_TITLES = {
    "P": "P", "recall": "R", "success": "Success", "recip_rank": "MRR", "map": "MAP", "ndcg": "NDCG",
    "bpref": "bpref", "rbp": "RBP", "judged": "Judged", "unj": "Unjudged", "f1": "F1", "em": "EM",
    "snippet_recall": "recall of snippets", "nuggets_vital": "support of vital nuggets", "nuggets_all": "support of nuggets",
}  # fmt: skip


@dataclass(frozen=True)
class Measure:
    """A measure.

    family
        A key of :data:`NATIVE`, ``trec_eval`` for any other measure that trec_eval knows, or ``given`` for any other name: a
        column of a file of scores, such as ``RL_F``.
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
        """The name as papers print it: ``NDCG@3``, ``P@1``, ``F1``; a score of a file keeps its name."""
        title = _TITLES.get(self.name if self.family == GIVEN else self.family)
        if title is None:
            return self.name
        arguments = [] if self.level is None else [f"rel={self.level}"]
        if self.family == "rbp":  # tools differ in their default
            arguments.append(
                f"p={RBP_PERSISTENCE if self.persistence is None else self.persistence:g}"
            )
        if arguments:
            title += f"({','.join(arguments)})"
        return title if self.cutoff is None else f"{title}@{self.cutoff}"


#: Families of binary measures.
_RELEVANT = ("P", "recall", "success", "recip_rank", "map", "bpref", "rbp")
#: Measures of predicted answers (reading comprehension); they need no qrels.
ANSWER_FAMILIES = ("f1", "em")
#: Kind of gold information → the measures of how much of it answers contain; the first compares systems in the output.
Gold = Literal["snippets", "nuggets"]
GOLD_MEASURES: Mapping[Gold, tuple[str, ...]] = {
    "snippets": ("snippet_recall", "snippet_precision", "snippet_f1"),
    "nuggets": ("nuggets_vital", "nuggets_vital_strict", "nuggets_all", "nuggets_all_strict"),
}
#: Family of measures that only files of scores have, and the form of their names.
GIVEN = "given"
#: Names to suggest, and the similarity from which a name is one of them with a typing error.
_NAMES = ("P_1", "P_5", "recall_1000", "success_1", "ndcg_cut_3", "ndcg_cut_5", "map", "map_cut_100", "recip_rank", "bpref",
          "rbp", "judged_3", "ndcg", "f1", "em")  # fmt: skip
_TYPO = 0.75
_GIVEN_NAME = re.compile(r"[^\W\d][\w.@-]{0,60}")
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
    """Return the highest possible score of a turn: 1, or None for unbounded measures of trec_eval, such as utility."""
    return (
        1.0
        if measure.family not in ("trec_eval", GIVEN) or measure.name.startswith(_SHARES)
        else None
    )


#: Names of trec_eval for the measures on the grade matrix or on answers.
_TREC_NAMES = re.compile(
    r"(?P<cut>P|recall|success|judged|unj|ndcg_cut|map_cut|recip_rank_cut|rbp_cut)_(?P<k>[0-9]+)"
    r"|(?P<whole>ndcg|map|recip_rank|bpref|rbp|f1|em)"
    r"|rbp_(?P<p>0?\.[0-9]+)"
)
_IR_MEASURES = r"(?P<name>[A-Za-z]+)(?:\((?P<arguments>[^)]*)\))?(?:@(?P<k>[0-9]+))?"
#: ir_measures name (lower case) → family, and whether a cutoff is required (True), rejected (False) or optional (None).
_IR_FAMILIES: dict[str, tuple[str, bool | None]] = {
    "p": ("P", True), "precision": ("P", True), "r": ("recall", True), "recall": ("recall", True),
    "success": ("success", True), "judged": ("judged", True), "ndcg": ("ndcg", None), "ap": ("map", None),
    "map": ("map", None), "rr": ("recip_rank", None), "mrr": ("recip_rank", None), "bpref": ("bpref", False),
    "rbp": ("rbp", None), "f": ("f1", None), "em": ("em", False),
}  # fmt: skip


def parse_measure(text: str, given: bool = False) -> Measure:
    """Return the measure named ``text``, in the spelling of trec_eval or ir_measures.

    ``given``: a name unlike all these is a column of a file of scores. Otherwise raises :class:`UsageError` with similar names.
    """
    text = text.strip()
    match = _TREC_NAMES.fullmatch(text)
    if match:
        if match["cut"]:
            return _native(match["cut"].removesuffix("_cut"), _cutoff(text, match["k"]), None, None)
        if match["p"]:
            return _native("rbp", None, None, _persistence(text, match["p"]))
        return _native(match["whole"], None, None, None)
    match = re.fullmatch(_IR_MEASURES, text)
    family, wants_cutoff = (
        _IR_FAMILIES.get(match["name"].lower(), (None, None)) if match else (None, None)
    )
    if (
        match
        and family
        and (match["k"] or match["arguments"] is not None or match["name"] not in ("P", "R", "F"))
    ):
        if family == "f1" or (wants_cutoff is not None and wants_cutoff != bool(match["k"])):
            raise _unknown(text)
        level, persistence = None, None
        for argument in filter(None, (match["arguments"] or "").split(",")):
            key, _, value = (part.strip() for part in argument.partition("="))
            if (
                key == "rel"
                and (rel := whole_number(value, MAX_GRADE) or 0) >= 1
                and family not in ("ndcg", "judged", "em")
            ):
                level = rel
            elif key == "p" and family == "rbp":
                persistence = _persistence(text, value)
            else:
                raise UsageError(
                    "bad-measure", f"measure {text!r} does not accept the argument {argument.strip()!r}",
                    "use rel=LEVEL with binary measures and p=PERSISTENCE with RBP",
                )  # fmt: skip
        return _native(
            family, _cutoff(text, match["k"]) if match["k"] else None, level, persistence
        )
    if given and any(text in names for names in GOLD_MEASURES.values()):
        return Measure(text, GIVEN)
    if trec_eval_knows(text):
        return Measure(text, "trec_eval")
    if given and _GIVEN_NAME.fullmatch(text) and not _similar(text, _TYPO):
        return Measure(text, GIVEN)
    raise _unknown(text)


def known_measure(text: str) -> Measure | None:
    """Return the measure of a file of scores as :func:`parse_measure` does; None if it knows none of this name."""
    try:
        return parse_measure(text, given=True)
    except UsageError:
        return None


def usual_name(text: str) -> str:
    """Return the name that :func:`parse_measure` gives to a measure (``nDCG@3``: ``ndcg_cut_3``); ``text`` if it knows none."""
    found = known_measure(text)
    return text if found is None else found.name


def _native(
    family: str, cutoff: int | None, level: int | None, persistence: float | None
) -> Measure:
    if family == "rbp" and level is not None and persistence is None:
        persistence = RBP_PERSISTENCE  # its name then includes it
    if level is not None or (persistence is not None and cutoff is not None):
        # trec_eval has no names for measures with their own relevance level
        name = Measure("", family, cutoff, level, persistence).label
    elif cutoff is None:
        name = family if persistence is None else f"{family}_{persistence:g}"
    else:
        name = (
            f"{family}_cut_{cutoff}"
            if family in ("ndcg", "map", "recip_rank", "rbp")
            else f"{family}_{cutoff}"
        )
    return Measure(name, family, cutoff, level, persistence)


def _cutoff(text: str, digits: str) -> int:
    cutoff = whole_number(digits, 1_000_000) or 0
    if cutoff < 1:
        raise UsageError(
            "bad-measure",
            f"measure {text!r} has the cutoff {digits}",
            "use a cutoff from 1 to 1000000",
        )
    return cutoff


def _persistence(text: str, value: str) -> float:
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

    return get_close_matches(text, _NAMES, n=2, cutoff=least)


def _unknown(text: str) -> UsageError:
    close = _similar(text, 0.6)
    advice = (
        f"did you mean {' or '.join(close)}?"
        if close
        else f"use a trec_eval name such as {', '.join(_NAMES[:6])}"
    )
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

#: Measures whose result names contain a number, in the spelling of trec_eval. For other measures with a number, or from 0 ranks
#: on, trec_eval fails an assertion and ends the whole process.
_WITH_CUT = r"(relative_P)_([1-9][0-9]{0,5})|(Rprec_mult|iprec_at_recall)_([0-9]{1,5}\.[0-9]{2})"
#: Prefixes of measures that are not averaged over turns: totals, and geometric means (stored as logarithms).
TOTAL, GEOMETRIC = "num_", "gm_"


def is_averaged(name: str) -> bool:
    """Return whether a run's score is the mean of its turns' scores, so that turns can be compared, tested and resampled."""
    return not name.startswith((TOTAL, GEOMETRIC))


def trec_eval_request(name: str) -> str | None:
    """Return pytrec_eval's spelling of a trec_eval result name (``Rprec_mult_0.20`` → ``Rprec_mult.0.20``), None if unknown."""
    import pytrec_eval

    if name in pytrec_eval.supported_measures:
        return name
    match = re.fullmatch(_WITH_CUT, name)
    return f"{match[1] or match[3]}.{match[2] or match[4]}" if match else None


def trec_eval_knows(name: str) -> bool:
    """Return whether trec_eval computes a measure of this name with one number per turn (``P`` requires a cutoff)."""
    import pytrec_eval

    request = trec_eval_request(name)
    if request is None or name in TEXTS:  # pytrec_eval returns 0 for texts
        return False
    tried = pytrec_eval.RelevanceEvaluator({"1": {"a": 1}}, {request}).evaluate({"1": {"a": 1.0}})
    return name in tried["1"]


def grade_notes(measures: Sequence[Measure], grades: npt.NDArray[Any], level: int) -> list[str]:
    """Return notes on measures for which the grades of the qrels are unsuitable; ``level``: the policy's relevance level.

    Without a passage of grade -1 (sampled but unjudged), infAP equals MAP. Without a relevant passage, a measure is always 0.
    """
    notes = []
    if any(measure.name == "infAP" for measure in measures) and not (grades == _SAMPLED).any():
        notes.append(
            f"infAP equals MAP here, because the qrels have no passages with grade {_SAMPLED} (sampled but unjudged)"
        )
    highest = int(grades.max(initial=0))
    always: dict[int, list[str]] = {}
    for measure in measures:
        least = 1 if measure.family == "ndcg" else measure.level or level
        if least > highest and measure.family in (*_RELEVANT, "ndcg"):
            always.setdefault(least, []).append(measure.label)
    for least, labels in always.items():
        found = f"no passage has a grade of {least} or more (the highest grade is {highest})"
        notes.append(
            f"{found}, so {', '.join(labels)} {'is' if len(labels) == 1 else 'are'} 0 for every turn"
        )
    return notes
