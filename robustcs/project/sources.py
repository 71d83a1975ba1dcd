"""Every key of ``robustcs.toml``, declared once: first the input files, then the settings.

Command line options, Python keywords, readers, ``check`` and the reference are made from these lists. A new kind of input needs
one declaration here and one reader in :mod:`robustcs.inputs`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from robustcs.errors import UsageError
from robustcs.inputs.paths import StrPath
from robustcs.inputs.readings import rows_of

#: Number of files of a source: one, several, one per name, or one per formulation; ``texts`` are files of question texts,
#: ``FILE`` or ``FILE:COLUMN``.
Shape = Literal["one", "several", "named", "roles", "texts", "role texts"]


@dataclass(frozen=True)
class Source:
    """One kind of input.

    key
        Key in ``robustcs.toml`` and keyword in Python.
    table
        Table of ``robustcs.toml`` that contains the key; empty at the top level.
    role
        Role of a file in the inputs of a result; ``{name}`` is the system to which the file belongs.
    reader
        Reader: a name in :data:`READERS`.
    rows
        Function that counts the rows of what was read.
    option, metavar, help
        Option on the command line; empty if only the project file can name the source.
    irds
        Accepts ``irds:NAME`` instead of a file.
    joins
        Accepts several files in place of one, such as those of several collections.
    """

    key: str
    table: str
    shape: Shape
    role: str
    reader: str
    rows: Callable[[Any], int | tuple[int, ...]] = rows_of
    option: str = ""
    metavar: str = "FILE"
    help: str = ""
    irds: bool = False
    joins: bool = False

    @property
    def name(self) -> str:
        """The name by which commands list the source: ``TABLE.KEY`` in a study's table, else the key."""
        return self.key if self.table in ("", "formulations") else f"{self.table}.{self.key}"

    def read(
        self, path: StrPath, name: str = "", by_rank: bool = False, bank: Path | None = None
    ) -> Any:
        """Read a file. The reader is imported here, so that options and help load without it.

        name
            System to which the file belongs.
        by_rank
            Order a run by its rank column.
        bank
            File that maps question texts to ids, for a run of clarifying questions.
        """
        place, *more = READERS[self.reader].split()
        if more == ["or_run"] and not _reader("clariq.is_json")(path):
            place, *more = READERS["run"].split()
        known = {
            "name": name,
            "by_rank": by_rank,
            "known": _reader("mixed_initiative.read_bank")(bank) if bank else None,
        }
        read = _reader(place)(path, *(known[one] for one in more if one in known))
        return next(iter(read.values())) if more == ["or_run"] and isinstance(read, dict) else read


#: Reader → module and function of :mod:`robustcs.inputs`, and its arguments after the path. ``or_run``: a file that is not in
#: the format of this reader is read as a run.
READERS = {
    "qrels": "qrels.read_qrels", "run": "runs.read_run name by_rank", "scores": "scores.read_scores",
    "labels": "labels.read_labels", "texts": "texts.read_texts", "passages": "collection.read_passages",
    "predicted_answers": "answers.read_predicted_answers name", "tasks": "answers.read_predicted_answers name",
    "gold_answers": "answers.read_gold_answers",
    "nuggets": "nuggets.read_nuggets", "ratings": "ratings.read_ratings", "assignments": "nuggets.read_assignments name",
    "paraphrases": "paraphrases.read_paraphrases", "snippets": "annotations.read_annotations",
    "clariq_topics": "clariq.read_topics", "bank": "mixed_initiative.read_bank",
    "question_bank": "mixed_initiative.read_question_bank",
    "question_run": "clariq.read_question_run name known by_rank", "needs": "clariq.read_needs",
    "performance": "clariq.read_performance or_run", "evaluation": "clariq.read_evaluation or_run",
    "preferences": "clariq.read_preferences", "conversations": "clariq.read_conversations",
    "crowd_grades": "ratings.read_grades", "gold_checks": "ratings.read_gold_checks",
    "turn_list": "ratings.read_turn_list", "crowd_run": "mixed_initiative.read_mixed_initiative or_run",
    "slices": "scores.read_slices", "answer_labels": "answers.read_answer_labels",
    "reviews": "reviews.read_reviews",
}  # fmt: skip


def _reader(place: str) -> Callable[..., Any]:
    module, function = place.split(".")
    found: Callable[..., Any] = getattr(import_module(f"robustcs.inputs.{module}"), function)
    return found


def _annotations(read: Any) -> int:
    return sum(len(text.annotations) for text in read[0].values())


def _entries(read: Any) -> int:
    return sum(map(len, read.values()))


def _cells(frame: Any) -> int:
    return int(frame.notna().to_numpy().sum())


def _judgments(read: Any) -> int | tuple[int, ...]:
    return read.sizes  # type: ignore[no-any-return]


def _first(read: Any) -> int:
    return len(read[0])


SOURCES: tuple[Source, ...] = (
    Source("qrels", "", "one", "qrels", "qrels", _judgments, "--qrels", irds=True, joins=True,
           help="Judgments: a file, or irds:NAME from ir_datasets. Repeat for several collections."),
    Source("runs", "", "named", "{name}", "run", option="--run", metavar="NAME=FILE", joins=True,
           help="Run of another system. Repeat with the same NAME for other turns, such as those of another collection."),
    Source("components", "", "named", "{name} cell", "run", option="--cell", metavar="WORDING/RANKER=FILE", joins=True,
           help="Run of a ranker for a wording of the questions. Repeat for each cell of the grid."),
    Source("run", "formulations", "roles", "{name}", "run"),
    Source("scores", "formulations", "roles", "{name} scores", "scores", _cells, option="--scores", metavar="ROLE=FILE",
           help="Per-turn scores (output of trec_eval -q) instead of a run. ROLE is original, qr or human; qr:NAME or"
           " original:NAME if there are several; or answers, for the similarity of the answers to QR and Human."),
    Source("rewrites", "formulations", "role texts", "{name} texts", "texts", option="--rewrites",
           metavar="ROLE=FILE[:COLUMN]", irds=True,
           help="Question texts. ROLE is original, qr or human. COLUMN selects one formulation of a file with several. If"
           " several files have a text for the same ROLE and turn, the first counts."),
    Source("samples", "formulations", "role texts", "{name} texts", "texts", option="--samples",
           metavar="ROLE=FILE[:COLUMN]",
           help="Question texts of another sample of a rewriter, in addition to --rewrites. Repeat for several."),
    Source("answers", "formulations", "roles", "{name} answers", "predicted_answers", option="--answers",
           metavar="ROLE=FILE[:MODEL]", joins=True,
           help="Predicted answers (reading comprehension). MODEL selects one model of an InspectorRAGet export. Repeat a ROLE"
           " for other turns."),
    Source("gold", "", "one", "gold answers", "gold_answers", option="--gold",
           help="Gold answers (reading comprehension). Repeat for several collections.", joins=True),
    Source("new_judgments", "", "several", "new judgments", "qrels", option="--new-judgments", irds=True,
           help="Judgments made after the qrels. Repeat for several files, which are added in this order."),
    Source("judges", "", "named", "judge {name}", "labels", option="--judge", metavar="NAME=FILE",
           help="Grades of a model judge or a second assessor: qrels, a table with columns turn, document and grade, or JSONL"
           " of umbrela. They are never treated as qrels."),
    Source("answer_similarity", "", "one", "answer similarity", "scores", _cells),
    Source("paraphrases", "", "one", "paraphrases", "paraphrases", lambda turns: sum(map(len, turns.values())),
           option="--paraphrases", help="Paraphrases: CSV with TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE (ECAsT)."),
    Source("collection", "", "one", "collection", "passages", option="--collection", joins=True,
           help="Passage texts: JSONL with id and contents, or lines of id TAB text. Repeat for several files;"
           " for a passage in several of them, the first file counts."),
    Source("texts", "", "texts", "{name} texts", "texts", option="--texts", metavar="NAME=FILE[:COLUMN]",
           help="Additional self-contained questions, such as a manual test set."),
    Source("raw_texts", "", "texts", "{name} texts", "texts", option="--raw-texts", metavar="NAME=FILE[:COLUMN]",
           help="Context-dependent questions, such as a raw test set; they are rewritten before retrieval."),
    Source("topics", "clariq", "one", "topics", "clariq_topics", lambda topics: topics.parts, "--topics",
           help="ClariQ topics: train.tsv, dev.tsv or test_with_labels.tsv. Repeat for several.", joins=True),
    Source("questions", "clariq", "one", "question bank", "question_bank", option="--questions",
           help="Question bank (question_bank.tsv), which maps question texts in runs to ids."),
    Source("runs", "clariq", "named", "{name}", "question_run", lambda found: len(found.run), "--run", "NAME=FILE",
           "Run of a system: its ranked clarifying questions."),
    Source("qrels", "clariq", "one", "qrels", "qrels", _judgments, "--qrels", irds=True, joins=True,
           help="Judgments of documents per facet; needed if --performance or --evaluations name runs."),
    Source("performance", "clariq", "one", "performance", "performance", option="--performance",
           help="Document relevance after each question: JSON made from single_turn_*_eval.pkl or multi_turn_*_eval.pkl, or,"
           " with --qrels, a run of documents whose query ids are FACET_QUESTION."),
    Source("evaluations", "clariq", "named", "{name} evaluation", "evaluation", option="--evaluations",
           metavar="NAME=FILE",
           help="Document relevance of a system per facet: JSON (*.eval), or, with --qrels, its run of documents. The names no,"
           " worst and best are baselines."),
    Source("needs", "clariq", "named", "{name} needs", "needs", option="--need", metavar="[NAME=]FILE",
           help="Predicted clarification need: lines of topic_id and label."),
    Source("preferences", "clariq", "one", "preferences", "preferences", option="--preferences",
           help="Human preferences (Acute-eval): TSV or JSONL with criterion, first, second, winner (or tie) and pair."),
    Source("conversations", "clariq", "one", "conversations", "conversations", option="--conversations",
           help="Multi-turn conversations (JSON made from *_synthetic.pkl, or TSV), which map contexts to topics."),
    Source("snippets", "agreement", "several", "annotations", "snippets", _annotations),
    Source("reference", "agreement", "several", "reference", "snippets", _annotations, "--reference",
           help="Snippets chosen by experts, with which the others are compared."),
    Source("ratings", "agreement", "several", "ratings", "ratings", _first),
    Source("responses", "answers", "named", "{name} answers", "predicted_answers", option="--response",
           metavar="NAME=FILE", joins=True,
           help="Answers of a system: JSON {turn: answer}, JSONL with id and answer, TREC RAG or MTRAG. Repeat a NAME for other"
           " turns."),
    Source("tasks", "answers", "named", "{name} answers", "tasks", option="--tasks", metavar="NAME=FILE",
           joins=True,
           help="MTRAG tasks or an InspectorRAGet export: answers of a system with their passages, labels and metrics. Repeat a"
           " NAME for other turns."),
    Source("gold_passages", "answers", "one", "gold passages", "qrels", _judgments, "--gold-passages", irds=True, joins=True,
           help="Qrels of the passages that contain the answer (default: the project's qrels)."),
    Source("labels", "answers", "one", "labels", "answer_labels", option="--labels", joins=True,
           help="Labels: tasks with answerability, or a table with columns turn, answerability, system, response and correct."
           " Labels of some whole conversations correct the shares."),
    Source("snippets", "answers", "several", "gold snippets", "snippets", _annotations, "--snippets",
           help="Gold snippets that answers should contain, in the formats of robustcs agreement. Repeat for several files."),
    Source("nuggets", "answers", "one", "nuggets", "nuggets", _entries, "--nuggets",
           help="Nuggets that answers should contain: JSONL with a topic and its nuggets (text, importance, passages)."),
    Source("assignments", "answers", "named", "{name} assignments", "assignments", option="--assignments",
           metavar="NAME=FILE", help="Nuggets that a judge found in a system's answers (JSONL of nuggetizer)."),
    Source("runs", "answers", "named", "{name} passages", "run", option="--passages", metavar="NAME=FILE",
           help="Run with the passages from which a system generated its answers (default: the project's run NAME)."),
    Source("human", "answers", "one", "human passages", "run", option="--human",
           help="Run for the human rewrites; it stands for a perfect rewriter (default: the project's run)."),
    Source("files", "review", "several", "review", "reviews"),
    Source("grades", "crowd", "one", "grades", "crowd_grades", _first),
    Source("gold_checks", "crowd", "one", "gold checks", "gold_checks", option="--gold-checks",
           help="Known grades of test items: a table with turn, item, criterion and grade."),
    Source("bank", "crowd", "one", "bank", "bank", option="--bank",
           help="Question or response bank, JSON {id: text}, for runs that contain texts."),
    Source("qrels", "crowd", "several", "qrels", "qrels", option="--qrels", irds=True,
           help="Judgments of one criterion, in place of grades: a file, or irds:NAME from ir_datasets."),
    Source("subset", "crowd", "one", "subset", "turn_list", option="--subset",
           help="Turns to evaluate separately: a list, or the turns of qrels or of a run."),
    Source("runs", "crowd", "named", "run {name}", "crowd_run", option="--run", metavar="NAME=FILE",
           help="Run of a system, in TREC format or mixed-initiative JSON."),
)  # fmt: skip

#: Source by the name that commands list. Runs of formulations are not in the list: commands have an option for each.
BY_NAME = {source.name: source for source in SOURCES}


@dataclass(frozen=True)
class Setting:
    """A key that does not name a file.

    kind
        Type of the value: a whole number from ``least``, a share, a text, measures, thresholds, or texts by name.
    """

    key: str
    table: str
    kind: Literal["whole", "share", "text", "measures", "thresholds", "lists"]
    least: int = 0

    def checked(self, value: Any) -> Any:
        """Return a value from Python or the project file in the type of the project. Raises :class:`UsageError` for others."""
        if self.kind == "measures":
            from robustcs.evaluation.measure import parse_measure

            return tuple(parse_measure(str(one), given=True) for one in several(value))
        if self.kind == "thresholds":
            from robustcs.evaluation.thresholds import parse_threshold

            return tuple(parse_threshold(str(one)) for one in several(value))
        if self.kind == "lists":
            return {
                name: tuple(map(str, several(some)))
                for name, some in mapping_of(self.key, value, "[NAME, …]").items()
            }
        if value is None:
            return None
        if self.kind == "text":
            return text_of(self.key, value)
        if self.kind == "share":
            if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1:
                return value
            raise UsageError(
                "bad-setting", f"{self.key} is {value!r}", "write a number from 0 to 1"
            )
        if (
            hasattr(value, "__index__")
            and not isinstance(value, bool)
            and operator.index(value) >= self.least
        ):
            return operator.index(value)
        raise UsageError(
            "bad-setting",
            f"{self.key} is {value!r}",
            f"write a whole number of at least {self.least}",
        )


SETTINGS = (
    Setting("name", "", "text"), Setting("metrics", "", "measures"), Setting("thresholds", "", "thresholds"),
    Setting("seed", "", "whole"), Setting("run_groups", "", "lists"),
    Setting("relevance_level", "policy", "whole"), Setting("depth", "policy", "whole"),
    Setting("majority", "agreement", "whole", 1), Setting("min_agreement", "agreement", "share"),
    Setting("groups", "agreement", "lists"),
    Setting("tolerance", "crowd", "whole"), Setting("depth", "crowd", "whole", 1),
    Setting("relevance_level", "crowd", "whole", 1),
    Setting("depth", "answers", "whole", 1), Setting("covered", "answers", "share"),
)  # fmt: skip


def settings_of(table: str) -> dict[str, Setting]:
    """Return the settings of a table of the project file, by key."""
    return {one.key: one for one in SETTINGS if one.table == table}


def several(value: Any) -> Any:
    """Return a list or tuple unchanged and any other value as a tuple of one."""
    return value if isinstance(value, list | tuple) else (value,)


def text_of(key: str, value: Any) -> str:
    """Return a text that is not empty. Raises :class:`UsageError` for anything else."""
    if isinstance(value, str) and value:
        return value
    raise UsageError("bad-type", f"{key} is {value!r}", "write a text in quotes")


def mapping_of(key: str, value: Any, what: str = "FILE") -> Mapping[str, Any]:
    """Return a mapping by name. Raises :class:`UsageError` for anything else."""
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return value
    raise UsageError(
        "bad-type", f"{key} is not a dictionary by name", f"write {key}={{NAME: {what}}}"
    )


# ---------------------------------------------------------------- ``NAME=FILE``: files named in options


#: Command → option of other commands for a kind of file → its own option for such files.
OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    "answers": {
        "qrels": "gold-passages",
        "run": "passages",
        "original": "passages",
        "qr": "passages",
        "human": "passages",
    },
}


def assigned(option: str, what: str, text: str) -> tuple[str, str]:
    """Split ``NAME=FILE``. Raises :class:`UsageError` for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError(
            "bad-assignment",
            f"{option} {text} has no {what}= or no file",
            f"write {option} {what}=FILE",
        )
    return _utf8(name), value


def named(text: str) -> tuple[str | None, str]:
    """Split ``NAME=FILE``; a bare ``FILE`` has no name, nor has an existing file with an equals sign in its name."""
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return _utf8(name), path
    return None, text


def _utf8(name: str) -> str:
    """Return ``name``. Raises :class:`UsageError` if it is not UTF-8: a file name may have any bytes, a system name may not."""
    from robustcs.inputs.text import is_whole

    if not is_whole(name):
        raise UsageError("not-utf8", f"the name {name!r} is not UTF-8", "write it in UTF-8")
    return name


def distinct(option: str, names: Sequence[str], what: str = "") -> None:
    """Raise :class:`UsageError` if two files of an option have the same name; ``what`` describes them."""
    if len(set(names)) < len(names):
        found = f"two {what or f'files of {option}'} have the same name"
        raise UsageError("repeated-run", found, f"give each {option} a different NAME")
