"""The two widths for which figures are drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Width:
    """A width for which figures are drawn.

    inches
        The width of the whole figure.
    letters
        The factor of all font sizes.
    """

    inches: float
    letters: float

    @property
    def narrow(self) -> bool:
        """Whether there is room for one panel only."""
        return self.inches < PAGE.inches


#: Both columns of a paper.
PAGE = Width(7.0, 1.0)
#: One column, and a phone: there, letters of this size are 11 pixels high on a screen of 390 pixels.
COLUMN = Width(3.4, 1.18)
