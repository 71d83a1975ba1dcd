"""What the report says of answers."""

from __future__ import annotations

from robustcs.documents.document import Table
from robustcs.studies.answers.analysis import Item, System
from robustcs.studies.answers.findings import coverage_findings
from robustcs.studies.answers.show import headline, main_importance, said, show
from tests.studies.answers.test_analysis import held


def test_sentences_name_the_main_cause() -> None:
    items = [Item("nuggets", f"{place}_1", f"fact number{place}", "vital", frozenset(["d"])) for place in range(6)]
    given = {f"{place}_1": ["d"] for place in range(2)}
    human = {f"{place}_1": ["d"] for place in range(5)}
    result = held(items, System("qr", {"5_1": "fact number5"}, None, given, human), System("none", {}))
    first, second, cause = coverage_findings(result)
    assert first.startswith("Answers of qr hold most of the vital nuggets: 0.167")
    assert second.startswith("Those of none hold least: 0.000") and "of 1 pair of systems" in second
    assert cause.startswith("qr misses 5 of 6 vital nuggets; 3 of them because only the human question would have found them")
    assert said(result) == "vital nuggets"
    # every block has a name of its own, which pages and files take
    slugs = [getattr(block, "slug", "") for block in show(result)]
    assert len(slugs) == len(set(slugs)) > 3


def test_without_importance_all_nuggets_and_without_nuggets_snippets_matter() -> None:
    plain = held([Item("nuggets", "1_1", "flour")], System("a", {}))
    assert main_importance(plain) == ("nuggets", "all") and said(plain) == "nuggets"
    assert coverage_findings(plain)[0].startswith("Answers of a hold most of the nuggets: 0.000")
    snippets = held([Item("snippets", "1_1", "flour")], System("a", {"1_1": "flour"}))
    assert said(snippets) == "snippets"
    assert coverage_findings(snippets) == ("Answers of a hold most of the gold snippets' words: 1.000.",)


def test_tables_without_vital_nuggets_are_of_all() -> None:
    items = [Item("nuggets", "1_1", "flour", "okay"), Item("nuggets", "1_1", "water")]
    result = held(items, System("a", {"1_1": "flour"}), System("b", {}))
    assert headline(result, "nuggets") == "nuggets_all"
    means, pairs = (block for block in show(result) if isinstance(block, Table) and block.of in ("measures", "pairs"))
    assert [row[1] for row in means.rows] == ["0.500", "0.000"] and "Means over 1 turn;" in means.note
    assert pairs.caption == "Which systems differ in nuggets?" and "+0.500" in pairs.rows[0][2]
