"""Files of pairwise preferences."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.clariq import Preference, read_preferences


def test_both_forms(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text(
        "criterion\tpair\tfirst\tsecond\twinner\nclear\td1\ta\tb\ta\nclear\t\tb\ta\ttie\n"
    )
    expected = (Preference("clear", "a", "b", "a", "d1"), Preference("clear", "b", "a", "tie", ""))
    assert read_preferences(path) == expected
    path.write_text(
        '{"criterion": "clear", "first": "a", "second": "b", "winner": "a", "pair": "d1"}\n'
        '{"criterion": "clear", "first": "b", "second": "a", "winner": "tie"}\n'
    )
    assert read_preferences(path) == expected


def test_messages(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text(
        "criterion\tfirst\tsecond\twinner\nc\ta\tb\tx\nc\ta\ta\ta\n\ta\tb\ta\nc\ta\tb\n"
    )
    with pytest.raises(InputError) as caught:
        read_preferences(path)
    assert str(caught.value).replace(str(path), "F") == (
        "F:2: unknown winner 'x'; write a, b or tie\nF:3: a is compared with itself; name two different systems\n"
        "F:4: no criterion; complete the row or delete it\n"
        "F:5: 3 columns, but the header has 4; complete the row or delete it"
    )
