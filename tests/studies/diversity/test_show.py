"""The blocks of ``robustcs diversity``."""

from __future__ import annotations

from robustcs.documents.document import Table
from robustcs.documents.tables import plain_tables
from robustcs.studies.diversity.analysis import Diversity, diversity
from robustcs.studies.diversity.show import show
from tests.studies.diversity.test_analysis import EVALUATED, SOURCE, TARGET


def result() -> Diversity:
    found = diversity([(SOURCE, TARGET)], EVALUATED)
    return Diversity(
        EVALUATED, found.bleu, found.diversity.assign(distance_use=0.25), found.turns.assign(distance_use=0.25), found.topics,
        found.alike,
    )  # fmt: skip


def test_tables_and_what_they_show() -> None:
    tables = {block.slug: block for block in show(result()) if isinstance(block, Table)}
    assert {slug: table.of for slug, table in tables.items()} == {
        "bleu": "bleu", "diversity": "diversity", "repeats": "", "topics": "topics", "alike": "alike",
    }  # fmt: skip
    assert [column.title for column in tables["bleu"].columns] == ["Source", "Target", "sentences", "BLEU"]
    assert (tables["diversity"].columns[-1].title, tables["diversity"].rows[0][-1]) == ("USE", "0.250")
    assert tables["repeats"].rows == (("target", "6", "1", "1", "1"),)


def test_a_change_is_told_between_as_many_texts() -> None:
    [table] = [block for block in show(diversity([(SOURCE, TARGET)] * 2, EVALUATED)) if getattr(block, "slug", "") == "bleu"]
    assert isinstance(table, Table)
    assert [row[4] for row in table.rows] == ["", "+0.0 %"]


def test_a_table_without_a_block_has_its_further_columns() -> None:
    [table] = plain_tables(result(), ["turns"])
    assert table.of == "turns" and table.columns[-1].title == "distance_use"
    assert [row[-1] for row in table.rows] == ["0.2500", "0.2500"]
