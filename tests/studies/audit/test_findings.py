"""The sentences of the report say what the tables have."""

from __future__ import annotations

from pathlib import Path

import robustcs
from robustcs.studies.audit.findings import audit_findings


def test_sentences(demo: Path) -> None:
    result = robustcs.audit(demo / "robustcs.toml", metrics="ndcg_cut_3", judges={
        "lexical": demo / "judges" / "lexical.txt", "self": demo / "qrels.txt"})  # fmt: skip
    first, second = audit_findings(result)
    assert first.startswith("lexical overrates: it calls 2.44 times as many passages relevant as people do (2.06 to 2.94)")
    assert "10 of 66 pairs of systems turn round, none of them told apart by people or by the judge" in first
    assert second.startswith("self is not shown to over- or underrate: it calls 1.00 times as many")
    assert "none of 66 pairs of systems turn round" in second
