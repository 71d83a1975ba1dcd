"""The order of blocks in a report."""

from __future__ import annotations

from collections.abc import Sequence

from robustcs.documents.document import Block, Figure


def figures_first(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks with figures first, otherwise in their order."""
    return tuple(sorted(blocks, key=lambda block: not isinstance(block, Figure)))
