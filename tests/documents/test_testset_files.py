"""Test sets as files: read back by the readers of texts, never written over by accident."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from robustcs.documents.files import write_folder
from robustcs.documents.paraphrase_files import files_of_testsets
from robustcs.errors import UsageError
from robustcs.inputs.paraphrases import Paraphrase, read_paraphrases
from robustcs.inputs.texts import read_texts
from robustcs.studies.testsets.analysis import draw_testsets


@pytest.fixture(scope="module")
def sets(demo: Path) -> pd.DataFrame:
    return draw_testsets(read_paraphrases(demo / "paraphrases.csv"), 2, seed=0).sets


def test_read_back(sets: pd.DataFrame, tmp_path: Path) -> None:
    assert len(write_folder(tmp_path / "new" / "folder", files_of_testsets(sets))) == 8
    for number, part in sets.groupby("set"):
        folder = tmp_path / "new" / "folder"
        raw = dict(zip(part["turn"], part["raw"], strict=True))
        manual = dict(zip(part["turn"], part["manual"], strict=True))
        assert read_texts(folder / f"raw_{number}.tsv", "original") == raw
        assert read_texts(folder / f"manual_{number}.tsv", "human") == manual
        for name in (f"topics_{number}.json", f"history_{number}.jsonl"):
            assert read_texts(folder / name, "original") == raw
            assert read_texts(folder / name, "human") == manual
        lines = (folder / f"history_{number}.jsonl").read_text().splitlines()
        assert [json.loads(line)["input"][:-1] for line in lines] == list(part["history"])


@pytest.mark.parametrize("turn", ["31_4", "132_1-3", "007_2", "C_a_1_q#2", "7" * 5000 + "_1"])
def test_any_turn_id_survives(turn: str, tmp_path: Path) -> None:
    sets = draw_testsets({turn: (Paraphrase(turn, 'say "a"', "b", 2),)}, 1, seed=0).sets
    write_folder(tmp_path, files_of_testsets(sets))
    assert len(list(tmp_path.iterdir())) == 4
    for path in tmp_path.iterdir():
        assert list(read_texts(path, "original")) == [turn]


def test_nothing_is_replaced_unasked(sets: pd.DataFrame, tmp_path: Path) -> None:
    write_folder(tmp_path, files_of_testsets(sets))
    write_folder(tmp_path, files_of_testsets(sets))  # the same again is fine
    (tmp_path / "raw_2.tsv").write_text("mine")
    (tmp_path / "manual_1.tsv").unlink()
    with pytest.raises(UsageError) as caught:
        write_folder(tmp_path, files_of_testsets(sets))
    found = f"{tmp_path / 'raw_2.tsv'}: exists with other content"
    assert str(caught.value) == f"{found}; name another --folder, or add --overwrite"
    assert not (tmp_path / "manual_1.tsv").exists()
    write_folder(tmp_path, files_of_testsets(sets), overwrite=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files_of_testsets(sets)
