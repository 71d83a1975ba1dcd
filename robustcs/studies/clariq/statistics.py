"""What the data of clarifying questions have: Table 3 of the ClariQ paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from robustcs.inputs.clariq import Topics
from robustcs.lazy import pd
from robustcs.result import count, number, table, text

STATISTICS = table(
    "statistics", "What the data have.",
    text("what", "topics, facets, questions, answers; bank: questions of the question bank"), count("number"),
    number("terms", "words of a text, separated by white space: mean over texts that are not empty"),
    number("terms_sd", "their standard deviation"),
)  # fmt: skip


def statistics_table(topics: Topics | None, bank: Mapping[str, str] | None) -> pd.DataFrame:
    """The table ``statistics``: topics with the requests, facets with their descriptions, different questions, answers of all
    facets, and the questions of the bank; without topics or a bank it lacks their rows."""
    rows: list[tuple[object, ...]] = []
    if topics:
        parts = (("topics", topics.requests.values()), ("facets", topics.facet_texts.values()),
                 ("questions", topics.question_texts.values()), ("answers", topics.answers))  # fmt: skip
        rows += [(name, *_counted(texts)) for name, texts in parts]
    if bank is not None:
        rows.append(("bank", *_counted(bank.values())))
    return STATISTICS.frame(rows)


def _counted(texts: Iterable[str]) -> tuple[int, float, float]:
    """How many texts there are that are not empty, and the mean and standard deviation of their words."""
    words = np.array([len(text.split()) for text in texts if text.strip()])
    return len(words), float(words.mean()) if len(words) else np.nan, float(words.std()) if len(words) else np.nan
