"""Tables of frames, for tests of what writes them."""

from __future__ import annotations

import pandas as pd

from robustcs.table import Field, Kind, Table

_KINDS: dict[str, Kind] = {"f": "number", "i": "integer", "b": "boolean"}


def table_of(frame: pd.DataFrame) -> Table:
    """A table with the columns of a frame, each of the kind of its values."""
    columns = {str(name): one for name, one in frame.items()}
    fields = [Field(name, _KINDS.get(one.dtype.kind, "text")) for name, one in columns.items()]
    return Table(fields, columns)
