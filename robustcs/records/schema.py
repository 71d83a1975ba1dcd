"""The schema of ``turns.jsonl``, which ``docs/record.md`` describes field by field.

The first line is a :class:`Head`, each further line a :class:`TurnRecord` or :class:`PassageTexts`.
Optional fields are missing where nothing is known.
"""

# annotations are not postponed here: keys that are not required are found in them
from typing import Annotated, Any, NotRequired, TypedDict

#: Format and version of the file.
SCHEMA = "robustcs turns 1"

#: A passage and its grade, which is null if it is unjudged.
Graded = tuple[str, int | None]
#: A measure and threshold of correct answers, ``ndcg_cut_3>=0.5``, → a value.
ByCut = dict[str, str]


class InputFile(TypedDict):
    """A file that was read."""

    role: Annotated[str, "what it is; several roles are joined by commas"]
    path: Annotated[str, "its name"]
    sha256: Annotated[str | None, "its checksum; null for `irds:`"]
    rows: Annotated[int | None, "the number of its rows; null if they are not counted"]
    skipped: NotRequired[Annotated[int, "the number of rows that were skipped, if any"]]


class SystemGroup(TypedDict):
    """Systems that are compared with a baseline."""

    baseline: Annotated[str, "the baseline"]
    sets: Annotated[list[str], "the systems"]


class Head(TypedDict):
    """The first line of the file."""

    schema: Annotated[str, f"`{SCHEMA}`"]
    version: Annotated[str, "the version of robustcs that wrote the file"]
    name: Annotated[str, "the name of the project"]
    policy: Annotated[
        dict[str, Any],
        "the evaluation policy, as in JSON outputs, with the settings of the project",
    ]
    inputs: Annotated[list[InputFile], "every file that was read"]
    measures: Annotated[list[str], "the measures that the project names"]
    thresholds: Annotated[list[str], "the thresholds that the project names"]
    formulations: Annotated[dict[str, str], "formulation → its role: `original`, `qr` or `human`"]
    groups: Annotated[dict[str, SystemGroup], "the groups of systems"]
    absent: Annotated[
        list[str], "systems with a file of scores in which an absent score is missing, not 0"
    ]
    conversations: Annotated[
        str, "where conversations come from: `fields` of files, `pattern` of the ids, or `none`"
    ]
    judges: Annotated[
        dict[str, str],
        "measure → who or what made its judgments: `people`, `model`, `mixed`, `gold answers`,"
        " `answers` (a score in the file of answers), or empty if unknown",
    ]
    headline: Annotated[str, "the measure and threshold of texts, such as `ndcg_cut_3>=0.5`"]
    depth: Annotated[int, "the number of passages kept of each ranking"]
    turns: Annotated[int, "the number of turns in the file"]


class Said(TypedDict):
    """A message of the conversation."""

    who: Annotated[str, "`user`, or another speaker as the file names it"]
    text: Annotated[str, "what was said"]


class CoderLabels(TypedDict):
    """What a coder found in a turn."""

    tags: Annotated[list[str], "the categories; an empty list if none fits"]
    note: Annotated[str, "the note of the coder; may be empty"]


class RankingRest(TypedDict):
    """What the file leaves out of a ranking."""

    passages: Annotated[int, "number of passages"]
    unjudged: Annotated[int, "how many of them are unjudged"]


class SystemRecord(TypedDict):
    """What a system made of a turn."""

    scores: Annotated[dict[str, float], "measure → score of the turn"]
    absent: NotRequired[
        Annotated[
            str,
            "only if a file of per-turn scores has no score for the turn: `turn` if it scores 0,"
            " `score` if the score is missing",
        ]
    ]
    ranking: NotRequired[
        Annotated[list[Graded], "the best passages, each with its grade (null: unjudged)"]
    ]
    rest: NotRequired[Annotated[RankingRest, "the passages below them, if there are some"]]
    first_relevant: NotRequired[
        Annotated[
            int | None,
            "rank of the first relevant passage in the whole run; null if it has none, missing if"
            " the turn is not judged",
        ]
    ]
    answer: NotRequired[Annotated[str, "the generated or predicted answer"]]
    kind: NotRequired[
        Annotated[
            str,
            "answerable, partial, unanswerable, underspecified, other or unknown"
            " ([answers](answers.md))",
        ]
    ]
    outcome: NotRequired[Annotated[str, "the outcome of the answer ([answers](answers.md))"]]
    lost: NotRequired[Annotated[str, "the component that lost an answerable turn"]]
    given: NotRequired[
        Annotated[list[Graded], "the passages from which the answer was generated, with grades"]
    ]
    unsupported: NotRequired[
        Annotated[list[str], "sentences of the answer that none of these passages supports"]
    ]
    cause: NotRequired[
        Annotated[
            ByCut,
            "measure and threshold → `correct`, `rewriter`, `ranker` or `reader`"
            " ([breakdown](breakdown.md))",
        ]
    ]
    bin: NotRequired[
        Annotated[
            ByCut,
            "measure and threshold → whether Original, the rewriter and Human are correct, as `0`"
            " or `1`: `001`; `-` for an unknown Original ([breakdown](breakdown.md))",
        ]
    ]
    blame: NotRequired[
        Annotated[
            ByCut,
            "measure and threshold → `correct`, `wording`, `ranker`, `either`, `both` or `none`"
            " ([components](components.md))",
        ]
    ]
    place: NotRequired[
        Annotated[
            ByCut,
            "measure and threshold → where the first relevant passage of a turn that is not"
            " correct is: `top` (within the cutoff), `10`, `100`, `deeper`, `absent` (not in the"
            " run) or `none` (no passage is judged relevant)",
        ]
    ]
    similarity: NotRequired[
        Annotated[float, "similarity of the text to the Human text ([correlate](correlate.md))"]
    ]
    overlap: NotRequired[Annotated[float, "share of the Human ranking that the ranking has, too"]]
    answer_similarity: NotRequired[
        Annotated[float, "similarity of the predicted answer to that of Human"]
    ]
    wordings: NotRequired[
        Annotated[int, "different texts among the samples of the rewriter ([samples](samples.md))"]
    ]
    spread: NotRequired[
        Annotated[float, "highest minus lowest score of the samples, in the headline measure"]
    ]
    type: NotRequired[Annotated[list[str], "kinds of difference from the Human text"]]
    dropped: NotRequired[Annotated[list[str], "words of the Human text that the text lacks"]]
    added: NotRequired[Annotated[list[str], "words of the text that the Human text lacks"]]
    slices: NotRequired[Annotated[dict[str, str | float], "property of the text → value"]]


class TurnRecord(TypedDict):
    """One turn."""

    turn: Annotated[str, "its id"]
    conversation: Annotated[str, "the conversation; the turn itself if none is known"]
    depth: Annotated[int | None, "its place in the conversation, from 1; null if unknown"]
    history: Annotated[
        list[Said],
        "the conversation before the turn: messages in files of tasks or topics, with answers of"
        " the system if the files have them, else earlier questions",
    ]
    texts: Annotated[dict[str, str], "formulation → text of the question"]
    gold: Annotated[list[str], "the gold answers"]
    judged: Annotated[dict[str, int], "grade → number of judged passages with this grade"]
    judgments: NotRequired[Annotated[str, "a checksum of the judgments of the turn"]]
    systems: Annotated[dict[str, SystemRecord], "system → what it made of the turn"]
    slices: Annotated[dict[str, str | float], "property or column of a file → value"]
    labels: Annotated[dict[str, CoderLabels], "coder → what the coder found"]
    change: NotRequired[
        Annotated[dict[str, dict[str, float]], "system → measure → difference of two states"]
    ]


class PassageTexts(TypedDict):
    """Texts of passages in the top 10 of rankings, or from which answers were generated."""

    passages: Annotated[dict[str, str], "passage → text; each passage is in one line only"]
