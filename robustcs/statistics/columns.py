"""What stands beside the p of a sign-flip test in tables of comparisons, declared once."""

from __future__ import annotations

from robustcs.result import flag, number

P_FLOOR = number("p_floor", "the smallest p that this design could have shown")
EXACT = flag("exact", "were all sign patterns tried? else a p at its floor is a bound")
EQUIVALENT = flag(
    "equivalent",
    "does the 95 % interval lie inside ± the margin, and does no unit carry more than 30 % of the spread? null without a margin"
    " or an interval",
    "within margin",
)
DETECTABLE = number("detectable", "the smallest true difference that such a design finds with 80 % power at .05")
EFFECT = (number("effect", "standardised mean difference over units"), number("effect_low"), number("effect_high"))
