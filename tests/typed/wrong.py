"""Calls that type checkers refuse, each in one line."""

import robustcs

robustcs.evaluate({}, {}, metrik="P_1")
robustcs.evaluate({}, {}, depth="three")
robustcs.unjudged(scope="everything")
robustcs.breakdown({}).measures
robustcs.compare({})
robustcs.nothing()
