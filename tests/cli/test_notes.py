"""What a reader must know of a number stands beside it, whichever command prints it."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Command


@pytest.mark.parametrize(
    "command",
    [
        "breakdown",
        "robustness",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (
                "correlate",
                "crowd",
                "unjudged --metric P_1",
                "augment --new-judgments new_judgments.txt",
            )
        ),
    ],
)
def test_infap_without_sampled_passages_is_said_to_be_map(in_demo: Command, command: str) -> None:
    notes = json.loads(in_demo(f"{command} --metric infAP --format json").out)["notes"]
    assert (
        notes.count(
            "infAP equals MAP here, because the qrels have no passages with grade -1 (sampled but unjudged)"
        )
        == 1
    )
    assert not any(
        "infAP" in note
        for note in json.loads(in_demo(f"{command} --metric map --format json").out)["notes"]
    )
