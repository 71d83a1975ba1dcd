"""The order of blocks in a report."""

from __future__ import annotations

from collections.abc import Sequence

from robustcs.documents.document import Block, Figure


def figures_first(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Figures before tables, otherwise as they come."""
    return tuple(sorted(blocks, key=lambda block: not isinstance(block, Figure)))
