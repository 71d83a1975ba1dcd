"""Every key of ``robustcs.toml``, declared once: the files of a project, and what is no file.

Options of the command line, keywords in Python, reading, ``check`` and the reference are made from these lists. A further kind
of input is one declaration here and one reader of :mod:`robustcs.inputs`.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from pathlib import Path
from typing import Any, Literal

from robustcs.errors import UsageError
from robustcs.inputs.pooled import rows_of

StrPath = str | os.PathLike[str]
#: How many files a source has: one, several, one for each name, or one for each formulation; ``texts`` are files of question
#: texts, ``FILE`` or ``FILE:COLUMN``.
Shape = Literal["one", "several", "named", "roles", "texts", "role texts"]


@dataclass(frozen=True)
class Source:
    """One kind of input.

    key
        In ``robustcs.toml`` and as keyword in Python.
    table
        The table of ``robustcs.toml`` that it stands in; empty at the top.
    role
        What a file is for, as the inputs of a result name it; ``{name}`` is the system that it belongs to.
    reader
        What reads it: a name of :data:`READERS`.
    rows
        How many rows what was read has.
    option, metavar, help
        On the command line; without an option it stands in the project file alone.
    irds
        May it be ``irds:NAME`` instead of a file?
    joins
        May several files take the place of one, such as those of several collections?
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
        """``TABLE.KEY`` in a study's table, else the key: what a command lists among what it uses."""
        return self.key if self.table in ("", "formulations") else f"{self.table}.{self.key}"

    def read(self, path: StrPath, name: str = "", by_rank: bool = False, bank: Path | None = None) -> Any:
        """What a file holds; the reader is imported here, so that options and help come without it.

        name
            The system that it belongs to.
        by_rank
            Of a run: is the rank column trusted?
        bank
            Of a run of clarifying questions: the file that gives question texts their ids.
        """
        place, *more = READERS[self.reader].split()
        if more == ["or_run"] and not _is_own(self.reader, path):
            place, *more = READERS["run"].split()
        known = {"name": name, "by_rank": by_rank, "known": _reader("clariq.read_question_bank")(bank) if bank else None}
        read = _reader(place)(path, *(known[one] for one in more if one in known))
        return next(iter(read.values())) if more == ["or_run"] and isinstance(read, dict) else read


#: Reader → module and function of :mod:`robustcs.inputs`, and what it takes beside the path. ``or_run``: it is a run where it
#: has not the form of this reader.
READERS = {
    "qrels": "qrels.read_qrels", "run": "runs.read_run name by_rank", "scores": "scores.read_scores",
    "labels": "labels.read_labels", "texts": "texts.read_texts", "passages": "collection.read_passages",
    "predicted_answers": "answers.read_predicted_answers name", "gold_answers": "answers.read_gold_answers",
    "nuggets": "nuggets.read_nuggets", "ratings": "ratings.read_ratings", "assignments": "nuggets.read_assignments name",
    "paraphrases": "paraphrases.read_paraphrases", "snippets": "annotations.read_annotations",
    "clariq_topics": "clariq.read_topics", "question_bank": "clariq.read_question_bank",
    "question_run": "clariq.read_question_run name known by_rank", "needs": "clariq.read_needs",
    "performance": "clariq_tables.read_performance or_run", "evaluation": "clariq_tables.read_evaluation or_run",
    "preferences": "preferences.read_preferences", "conversations": "clariq_tables.read_conversations",
    "crowd_grades": "ratings.read_grades", "gold_checks": "ratings.read_gold_checks", "bank": "ratings.read_bank",
    "turn_list": "ratings.read_turn_list", "crowd_run": "mixed_initiative.read_mixed_initiative or_run",
    "slices": "scores.read_slices",
}  # fmt: skip


def _reader(place: str) -> Callable[..., Any]:
    module, function = place.split(".")
    found: Callable[..., Any] = getattr(import_module(f"robustcs.inputs.{module}"), function)
    return found


def _is_own(reader: str, path: StrPath) -> bool:
    is_own = "mixed_initiative.is_mixed_initiative" if reader == "crowd_run" else "clariq_tables.is_json"
    return bool(_reader(is_own)(path))


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
           help="Judgments: a file, or irds:NAME with ir_datasets; repeat for several collections."),
    Source("runs", "", "named", "{name}", "run", option="--run", metavar="NAME=FILE", joins=True,
           help="A further system's run; repeat with the same NAME for other turns, such as those of another collection."),
    Source("run", "formulations", "roles", "{name}", "run"),
    Source("scores", "formulations", "roles", "{name} scores", "scores", _cells, option="--scores", metavar="ROLE=FILE",
           help="Per-turn output of trec_eval -q instead of a run; ROLE is original, qr, human, or qr:NAME (original:NAME) for"
           " one of several, or answers for how alike the answers to QR and Human are."),
    Source("rewrites", "formulations", "role texts", "{name} texts", "texts", option="--rewrites",
           metavar="ROLE=FILE[:COLUMN]", irds=True,
           help="Question texts; of several files for a ROLE the earlier counts, turn by turn. COLUMN may be original, qr or"
           " human where a file has several formulations."),
    Source("samples", "formulations", "role texts", "{name} texts", "texts", option="--samples",
           metavar="ROLE=FILE[:COLUMN]",
           help="Question texts of a further sample of a rewriter, beside those of --rewrites; repeat for several."),
    Source("answers", "formulations", "roles", "{name} answers", "predicted_answers", option="--answers",
           metavar="ROLE=FILE[:MODEL]", joins=True,
           help="Predicted answers (reading comprehension); MODEL is one of an InspectorRAGet export. Repeat a ROLE for other"
           " turns."),
    Source("gold", "", "one", "gold answers", "gold_answers", option="--gold",
           help="Gold answers (reading comprehension); repeat for several collections.", joins=True),
    Source("new_judgments", "", "several", "new judgments", "qrels", option="--new-judgments", irds=True,
           help="Judgments made since the qrels; several files join them one after the other."),
    Source("judges", "", "named", "judge {name}", "labels", option="--judge", metavar="NAME=FILE",
           help="What a model or a second person says of passages: qrels, a table with columns turn, document and grade, or"
           " umbrela's JSONL; never part of the qrels."),
    Source("answer_similarity", "", "one", "answer similarity", "scores", _cells),
    Source("paraphrases", "", "one", "paraphrases", "paraphrases", lambda turns: sum(map(len, turns.values())),
           option="--paraphrases", help="CSV with TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE (ECAsT)."),
    Source("collection", "", "one", "collection", "passages", option="--collection",
           help="Texts of the passages: JSONL with id and contents, or id TAB text."),
    Source("texts", "", "texts", "{name} texts", "texts", option="--texts", metavar="NAME=FILE[:COLUMN]",
           help="Further questions, such as a manual test set."),
    Source("raw_texts", "", "texts", "{name} texts", "texts", option="--raw-texts", metavar="NAME=FILE[:COLUMN]",
           help="Questions that lean on their conversation, such as a raw test set: the rewriter comes first."),
    Source("topics", "clariq", "one", "topics", "clariq_topics", lambda topics: topics.parts, "--topics",
           help="ClariQ's train.tsv, dev.tsv or test_with_labels.tsv; repeat for several.", joins=True),
    Source("questions", "clariq", "one", "question bank", "question_bank", option="--questions",
           help="The question bank (question_bank.tsv): gives question texts of runs their ids."),
    Source("runs", "clariq", "named", "{name}", "question_run", lambda found: len(found.run), "--run", "NAME=FILE",
           "A system's ranked questions."),
    Source("qrels", "clariq", "one", "qrels", "qrels", _judgments, "--qrels", irds=True, joins=True,
           help="Judgments of documents for facets, where the performance or evaluations are runs."),
    Source("performance", "clariq", "one", "performance", "performance", option="--performance",
           help="Document relevance after every question: JSON of single_turn_*_eval.pkl or multi_turn_*_eval.pkl, or with"
           " --qrels a run of documents whose ids are FACET_QUESTION."),
    Source("evaluations", "clariq", "named", "{name} evaluation", "evaluation", option="--evaluations",
           metavar="NAME=FILE",
           help="Document relevance that a system reached per facet: JSON (*.eval), or with --qrels its run of documents;"
           " NAME no, worst or best is that baseline."),
    Source("needs", "clariq", "named", "{name} needs", "needs", option="--need", metavar="[NAME=]FILE",
           help="Predicted labels of clarification need: topic_id label."),
    Source("preferences", "clariq", "one", "preferences", "preferences", option="--preferences",
           help="Judgments of people (Acute-eval): TSV or JSONL with criterion, first, second, winner (or tie) and pair."),
    Source("conversations", "clariq", "one", "conversations", "conversations", option="--conversations",
           help="Multi-turn conversations (JSON of *_synthetic.pkl, or TSV): what topic a context belongs to."),
    Source("snippets", "agreement", "several", "annotations", "snippets", _annotations),
    Source("reference", "agreement", "several", "reference", "snippets", _annotations, "--reference",
           help="Snippets chosen by experts, to compare the others with."),
    Source("ratings", "agreement", "several", "ratings", "ratings", _first),
    Source("responses", "answers", "named", "{name} answers", "predicted_answers", option="--response",
           metavar="NAME=FILE", joins=True,
           help="Answers of a system: JSON {turn: answer}, JSONL with id and answer, TREC RAG or MTRAG; repeat a NAME for"
           " other turns."),
    Source("snippets", "answers", "several", "gold snippets", "snippets", _annotations, "--snippets",
           help="Snippets that answers should hold, as robustcs agreement takes them; several files together."),
    Source("nuggets", "answers", "one", "nuggets", "nuggets", _entries, "--nuggets",
           help="Nuggets that answers should hold: JSONL with a topic and its nuggets (text, importance, passages)."),
    Source("assignments", "answers", "named", "{name} assignments", "assignments", option="--assignments",
           metavar="NAME=FILE", help="Which nuggets a system's answers hold, as a judge said (nuggetizer's JSONL)."),
    Source("runs", "answers", "named", "{name} passages", "run", option="--run", metavar="NAME=FILE",
           help="The passages that a system's answers were made of; by default the project's run of that name."),
    Source("human", "answers", "one", "human passages", "run", option="--human",
           help="The run of the human questions, what a perfect rewriter would find; by default that of the project."),
    Source("grades", "crowd", "one", "grades", "crowd_grades", _first),
    Source("gold_checks", "crowd", "one", "gold checks", "gold_checks", option="--gold-checks",
           help="Grades that items are known to deserve: turn, item, criterion, grade."),
    Source("bank", "crowd", "one", "bank", "bank", option="--bank",
           help="JSON {id: text} of questions or responses, for runs that hold texts."),
    Source("qrels", "crowd", "several", "qrels", "qrels", option="--qrels", irds=True,
           help="Judgments in place of grades, of one criterion: a file, or irds:NAME with ir_datasets."),
    Source("subset", "crowd", "one", "subset", "turn_list", option="--subset",
           help="Turns to evaluate separately: a list, or qrels or a run with them."),
    Source("runs", "crowd", "named", "run {name}", "crowd_run", option="--run", metavar="NAME=FILE",
           help="A run: TREC, or mixed-initiative JSON."),
)  # fmt: skip

#: By the name that a command lists; of the runs of formulations a command has an option for each.
BY_NAME = {source.name: source for source in SOURCES}


@dataclass(frozen=True)
class Setting:
    """A key that names no file.

    kind
        A whole number from ``least``, a share, a text, measures, thresholds, or texts by name.
    """

    key: str
    table: str
    kind: Literal["whole", "share", "text", "measures", "thresholds", "lists"]
    least: int = 0

    def checked(self, value: Any) -> Any:
        """A value of Python, or of the project file, as the project holds it. Raises :class:`UsageError` for a wrong one."""
        if self.kind in ("measures", "thresholds"):
            module, parser = ("measure", "parse_measure") if self.kind == "measures" else ("thresholds", "parse_threshold")
            parse = getattr(import_module(f"robustcs.evaluation.{module}"), parser)
            return tuple(parse(str(one)) if isinstance(one, str | Real) else one for one in several(value))
        if self.kind == "lists":
            return {name: tuple(map(str, several(some))) for name, some in value.items()}
        if value is None or self.kind == "text":
            return value if value is None else str(value)
        if self.kind == "share":
            if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1:
                return value
            raise UsageError("bad-setting", f"{self.key} {value!r}", "write a number from 0 to 1")
        if hasattr(value, "__index__") and not isinstance(value, bool) and operator.index(value) >= self.least:
            return operator.index(value)
        raise UsageError("bad-setting", f"{self.key} {value!r}", f"write a whole number from {self.least}")


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
    """The settings of a table of the project file, by their keys."""
    return {one.key: one for one in SETTINGS if one.table == table}


def several(value: Any) -> Any:
    """Return one value, or several of them, as several."""
    return value if isinstance(value, list | tuple) else (value,)


# ---------------------------------------------------------------- ``NAME=FILE``, as options give files a name


def assigned(option: str, what: str, text: str) -> tuple[str, str]:
    """NAME and FILE of ``NAME=FILE``. Raises :class:`UsageError` for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError("bad-assignment", f"{option} {text}", f"write {option} {what}=FILE")
    return _utf8(name), value


def named(text: str) -> tuple[str | None, str]:
    """``NAME=FILE``, or a bare ``FILE`` (also one with an equals sign in its name, where that file exists)."""
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return _utf8(name), path
    return None, text


def _utf8(name: str) -> str:
    """``name``, where the terminal gave it in UTF-8: a file may have any bytes as its name, a system in a table may not."""
    from robustcs.inputs.text import is_whole

    if not is_whole(name):
        raise UsageError("not-utf8", f"the name {name!r} is not UTF-8", "write it in UTF-8")
    return name


def distinct(option: str, names: Sequence[str], what: str = "") -> None:
    """Raises :class:`UsageError` where two files of an option, ``what`` they are, have the same name."""
    if len(set(names)) < len(names):
        found = f"two {what or f'files of {option}'} have the same name"
        raise UsageError("repeated-run", found, f"give every {option} a NAME of its own")
