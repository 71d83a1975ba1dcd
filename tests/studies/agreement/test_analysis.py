"""Agreement on snippets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy

from robustcs.errors import UsageError
from robustcs.inputs.annotation_tasks import Spans
from robustcs.inputs.annotations import (
    AnnotatedText,
    Annotation,
    Unit,
    join_annotations,
    read_annotations,
)
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.agreement.analysis import majority_rule, snippet_agreement
from robustcs.studies.agreement.effort import AnnotatedTexts

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 1, 0)


def texts(*annotations: Spans, unit: Unit = "paragraph", passage: str = "p") -> AnnotatedTexts:
    own = tuple(Annotation(f"w{place}", spans) for place, spans in enumerate(annotations, 1))
    return {("1_1", passage): AnnotatedText("1_1", passage, unit, "", "ten tokens" * 2, own)}


def read(shared_data: Path, kind: str) -> AnnotatedTexts:
    paths = [
        shared_data / "snippets" / f"topic_{topic}-paragraph-{kind}.csv.gz" for topic in (1, 2)
    ]
    return join_annotations([(path, read_annotations(path)[0]) for path in paths])


def test_tables_2_and_3_of_the_snippets_paper(shared_data: Path) -> None:
    masters, experts = read(shared_data, "master"), read(shared_data, "expert")
    result = snippet_agreement(masters, experts, EVALUATED)
    assert {row.k: round(row.value, 4) for row in result.jaccard.itertuples()} == {
        5: 0.1795,
        4: 0.3465,
        3: 0.5322,
        2: 0.7317,
    }
    assert set(result.jaccard["texts"]) == {110}
    reference = result.reference.set_index("aggregate")
    assert reference.loc["mean", ["precision", "recall", "f1"]].astype(float).round(4).tolist() == [
        0.5841,
        0.6117,
        0.5381,
    ]
    assert round(reference.loc["majority", "f1"], 4) == 0.5972
    assert round(reference.loc["similarity", "f1"], 4) == 0.6080
    assert (
        reference.loc["majority", "rule"] == "characters that at least 3 of 5 annotators selected"
    )
    for row in (
        *result.jaccard.itertuples(),
        *result.reference.rename(columns={"f1": "value"}).itertuples(),
    ):
        assert row.ci_low < row.value < row.ci_high
    assert result.statistics.set_index("group").loc["annotators", "annotations"] == 550
    own = snippet_agreement(experts, {}, EVALUATED)
    assert {row.k: round(row.value, 4) for row in own.jaccard.itertuples()} == {
        3: 0.2538,
        2: 0.5418,
    }
    assert own.reference.empty


def test_a_text_by_hand() -> None:
    result = snippet_agreement(
        texts(((0, 10),), ((5, 10), (15, 20)), ()),
        texts(((0, 5),), ((15, 20),)),
        EVALUATED,
        majority=2,
    )
    assert result.jaccard[["k", "value"]].values.tolist() == [[3, 0], [2, 5 / 15]]
    mean, majority, similarity = result.reference[["precision", "recall", "f1"]].values.tolist()
    assert mean == pytest.approx([(0.5 + 0.5) / 6, (1 + 1) / 6, (2 / 3 + 2 / 3) / 6])
    assert majority == [0, 0, 0]
    # the first of two that are equally alike
    assert similarity == pytest.approx([0.25, 0.5, 1 / 3])
    flags = result.annotations.set_index("worker")
    assert bool(flags.loc["w1", "outside"])
    assert bool(flags.loc["w3", "empty"]) and not bool(flags.loc["w3", "outside"])
    assert result.statistics.iloc[0]["snippets_per_annotation"] == 1


def test_nothing_chosen_by_anybody_is_full_agreement() -> None:
    result = snippet_agreement(texts((), ()), texts(()), EVALUATED)
    assert result.jaccard["value"].tolist() == [1]
    assert result.reference["f1"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("unit", "length", "long"),
    [
        ("paragraph", 10, False),
        ("paragraph", 11, True),
        ("sentence", 15, False),
        ("sentence", 16, True),
    ],
)
def test_an_annotation_is_long_past_its_share_of_the_text(
    unit: Unit, length: int, long: bool
) -> None:
    result = snippet_agreement(texts(((0, length),), (), unit=unit), {}, EVALUATED)
    assert result.annotations["long"].tolist() == [long, False]


def test_texts_may_have_different_numbers_of_annotators() -> None:
    some = {
        **texts(((0, 2),), ((0, 2),), ((0, 4),)),
        **texts(((0, 2),), ((0, 1),), passage="q"),
        **texts((), passage="r"),
    }
    result = snippet_agreement(some, {}, EVALUATED)
    assert result.jaccard[["k", "value", "texts"]].values.tolist() == [[3, 0.5, 1], [2, 0.5, 2]]
    by_text = result.texts.set_index("passage")
    assert by_text.loc[["p", "q"], "jaccard"].tolist() == [0.5, 0.5]
    assert by_text.loc["r", ["jaccard", "jaccard_2"]].isna().all()
    assert result.texts["passage"].tolist()[-1] == "r"


def test_the_majority_rule_in_words() -> None:
    assert majority_rule({3}, None) == "characters that at least 2 of 3 annotators selected"
    assert majority_rule({2, 3}, None) == "characters that at least 2 annotators selected"
    assert (
        majority_rule({3, 5}, None) == "characters that more than half of the annotators selected"
    )
    assert majority_rule({5}, 4) == "characters that at least 4 of 5 annotators selected"


def test_one_annotator_alone_cannot_agree() -> None:
    with pytest.raises(UsageError, match="no text has two annotators"):
        snippet_agreement(texts(((0, 1),)), {}, EVALUATED)
    result = snippet_agreement(texts(((0, 1),)), texts(((0, 1),)), EVALUATED)
    assert result.jaccard.empty and result.reference["f1"].tolist() == [1, 1, 1]


def test_two_annotators_agree_with_each_other_and_have_no_others_to_be_outside_of() -> None:
    result = snippet_agreement(texts(((0, 4),), ((2, 6),)), {}, EVALUATED)
    assert result.jaccard[["k", "value", "texts"]].values.tolist() == [[2, 2 / 6, 1]]
    assert result.texts[["annotators", "jaccard", "jaccard_2"]].values.tolist() == [
        [2, 2 / 6, 2 / 6]
    ]
    assert not result.annotations["outside"].any()
    assert result.workers["flagged"].sum() == 0
    # with a third, a selection that the two others did not both choose anywhere is outside
    three = snippet_agreement(texts(((0, 4),), ((2, 6),), ((3, 5),)), {}, EVALUATED).annotations
    assert three["outside"].tolist() == [False] * 3
    apart = snippet_agreement(texts(((0, 4),), ((2, 6),), ((6, 8),)), {}, EVALUATED).annotations
    assert apart["outside"].tolist() == [True] * 3


def test_tables_have_the_columns_that_they_declare() -> None:
    result = snippet_agreement(texts(((0, 10),), ((5, 10),), ()), {}, EVALUATED)
    assert list(result.tables) == [
        "jaccard", "reference", "chance", "statistics", "work", "confidence", "workers", "annotations", "texts",
    ]  # fmt: skip
    assert [name for name in result.texts if name.startswith("jaccard_")] == [
        "jaccard_2",
        "jaccard_3",
    ]
    for name, frame in result.tables.items():
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.assign(more=1)})
    with pytest.raises(TypeError, match="column long is"):
        result.changed(annotations=result.annotations.assign(long=1))


def test_intervals_on_the_snippets_take_the_turn_as_unit(shared_data: Path) -> None:
    """Two topics are too few, and the five texts of a turn depend on each other."""
    masters, experts = read(shared_data, "master"), read(shared_data, "expert")
    result = snippet_agreement(masters, experts, EVALUATED)
    assert (result.evaluated.unit, result.evaluated.units) == ("turn", 22)
    assert any(
        note.startswith("the sampling unit is the turn, because there are only 2 topics")
        for note in result.evaluated.notes
    )
    assert set(result.jaccard["units"]) == set(result.reference["units"]) == {22}
    # the CR2 interval on the logit, written out for J
    values = result.texts.set_index("turn")["jaccard_5"]
    sums, sizes = values.groupby(level=0).sum(), values.groupby(level=0).size()
    mean, total = values.mean(), len(values)
    rest = sums - mean * sizes
    error = np.sqrt((rest**2 / (1 - sizes / total)).sum()) / total
    reach = scipy.stats.t.ppf(0.975, 21) * error / (mean * (1 - mean))
    ends = scipy.special.expit(scipy.special.logit(mean) + np.array([-reach, reach]))
    assert result.jaccard.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx(ends.tolist())
    # with texts as independent it would be a third narrower
    alone = 2 * 1.98 * values.std() / np.sqrt(total)
    assert 0.5 < alone / (ends[1] - ends[0]) < 0.75
    for name in ("precision", "recall"):
        rows = result.reference
        assert (rows[f"{name}_low"] < rows[name]).all() and (
            rows[name] < rows[f"{name}_high"]
        ).all()


def test_the_order_of_files_and_lines_changes_nothing(shared_data: Path) -> None:
    masters, experts = read(shared_data, "master"), read(shared_data, "expert")
    one = snippet_agreement(masters, experts, EVALUATED)
    turned = {
        key: replace(masters[key], annotations=masters[key].annotations[::-1]) for key in reversed(list(masters))
    }  # fmt: skip
    other = snippet_agreement(turned, dict(reversed(list(experts.items()))), EVALUATED)
    for name, frame in one.tables.items():
        pd.testing.assert_frame_equal(frame, other.tables[name], check_exact=True)


def many(number: int, turns: int) -> AnnotatedTexts:
    """Texts of one conversation in which two annotators agree more or less."""
    return {
        (f"1_{1 + place % turns}", f"p{place}"): AnnotatedText(
            f"1_{1 + place % turns}", f"p{place}", "paragraph", "", "ten tokens" * 2,
            (Annotation("a", ((0, 10),)), Annotation("b", ((0, 2 + place % 8),))),
        )
        for place in range(number)
    }  # fmt: skip


def test_below_five_units_there_is_no_interval() -> None:
    few = snippet_agreement(many(4, 4), many(4, 4), EVALUATED)
    assert few.jaccard["ci_low"].isna().all() and few.reference["ci_low"].isna().all()
    assert few.jaccard.loc[0, "note"] == "no interval: only 4 texts (at least 5 required)"
    enough = snippet_agreement(many(12, 6), {}, EVALUATED)
    assert (
        enough.evaluated.unit == "turn"
        and enough.jaccard.loc[0, "note"] == "unstable: only 6 turns"
    )
    assert enough.jaccard.loc[0, "ci_low"] < enough.jaccard.loc[0, "value"]
    texts = snippet_agreement(many(12, 3), {}, EVALUATED)
    assert (texts.evaluated.unit, texts.evaluated.units) == ("text", 12)
