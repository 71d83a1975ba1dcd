"""Every input of a project, declared once.

Options of the command line, keys of ``robustcs.toml``, keywords in Python, reading, ``check`` and the reference are made from
this list. A further kind of input is one declaration here and one reader in :mod:`robustcs.project.readers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from robustcs.inputs.pooled import rows_of
from robustcs.project import readers
from robustcs.project.readers import Given

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
    read, rows
        Reads a file; how many rows what was read has.
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
    read: Callable[[Given], Any]
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
    Source("qrels", "", "one", "qrels", readers.qrels, _judgments, "--qrels", irds=True, joins=True,
           help="Judgments: a file, or irds:NAME with ir_datasets; repeat for several collections."),
    Source("runs", "", "named", "{name}", readers.run, option="--run", metavar="NAME=FILE", joins=True,
           help="A further system's run; repeat with the same NAME for other turns, such as those of another collection."),
    Source("run", "formulations", "roles", "{name}", readers.run),
    Source("scores", "formulations", "roles", "{name} scores", readers.scores, _cells, option="--scores", metavar="ROLE=FILE",
           help="Per-turn output of trec_eval -q instead of a run; ROLE is original, qr, human, or qr:NAME (original:NAME) for"
           " one of several, or answers for how alike the answers to QR and Human are."),
    Source("rewrites", "formulations", "role texts", "{name} texts", readers.texts, option="--rewrites",
           metavar="ROLE=FILE[:COLUMN]", irds=True,
           help="Question texts; of several files for a ROLE the earlier counts, turn by turn. COLUMN may be original, qr or"
           " human where a file has several formulations."),
    Source("samples", "formulations", "role texts", "{name} texts", readers.texts, option="--samples",
           metavar="ROLE=FILE[:COLUMN]",
           help="Question texts of a further sample of a rewriter, beside those of --rewrites; repeat for several."),
    Source("answers", "formulations", "roles", "{name} answers", readers.predicted_answers, option="--answers",
           metavar="ROLE=FILE[:MODEL]", joins=True,
           help="Predicted answers (reading comprehension); MODEL is one of an InspectorRAGet export. Repeat a ROLE for other"
           " turns."),
    Source("gold", "", "one", "gold answers", readers.gold_answers, option="--gold",
           help="Gold answers (reading comprehension); repeat for several collections.", joins=True),
    Source("new_judgments", "", "several", "new judgments", readers.qrels, option="--new-judgments", irds=True,
           help="Judgments made since the qrels; several files join them one after the other."),
    Source("judges", "", "named", "judge {name}", readers.labels, option="--judge", metavar="NAME=FILE",
           help="What a model or a second person says of passages: qrels, a table with columns turn, document and grade, or"
           " umbrela's JSONL; never part of the qrels."),
    Source("answer_similarity", "", "one", "answer similarity", readers.scores, _cells),
    Source("paraphrases", "", "one", "paraphrases", readers.paraphrases, lambda turns: sum(map(len, turns.values())),
           option="--paraphrases", help="CSV with TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE (ECAsT)."),
    Source("collection", "", "one", "collection", readers.passages, option="--collection",
           help="Texts of the passages: JSONL with id and contents, or id TAB text."),
    Source("texts", "", "texts", "{name} texts", readers.texts, option="--texts", metavar="NAME=FILE[:COLUMN]",
           help="Further questions, such as a manual test set."),
    Source("raw_texts", "", "texts", "{name} texts", readers.texts, option="--raw-texts", metavar="NAME=FILE[:COLUMN]",
           help="Questions that lean on their conversation, such as a raw test set: the rewriter comes first."),
    Source("topics", "clariq", "one", "topics", readers.clariq_topics, lambda topics: topics.parts, "--topics",
           help="ClariQ's train.tsv, dev.tsv or test_with_labels.tsv; repeat for several.", joins=True),
    Source("questions", "clariq", "one", "question bank", readers.question_bank, option="--questions",
           help="The question bank (question_bank.tsv): gives question texts of runs their ids."),
    Source("runs", "clariq", "named", "{name}", readers.question_run, lambda found: len(found.run), "--run", "NAME=FILE",
           "A system's ranked questions."),
    Source("qrels", "clariq", "one", "qrels", readers.qrels, _judgments, "--qrels", irds=True, joins=True,
           help="Judgments of documents for facets, where the performance or evaluations are runs."),
    Source("performance", "clariq", "one", "performance", readers.performance, option="--performance",
           help="Document relevance after every question: JSON of single_turn_*_eval.pkl or multi_turn_*_eval.pkl, or with"
           " --qrels a run of documents whose ids are FACET_QUESTION."),
    Source("evaluations", "clariq", "named", "{name} evaluation", readers.evaluation, option="--evaluations",
           metavar="NAME=FILE",
           help="Document relevance that a system reached per facet: JSON (*.eval), or with --qrels its run of documents;"
           " NAME no, worst or best is that baseline."),
    Source("needs", "clariq", "named", "{name} needs", readers.needs, option="--need", metavar="[NAME=]FILE",
           help="Predicted labels of clarification need: topic_id label."),
    Source("preferences", "clariq", "one", "preferences", readers.preferences, option="--preferences",
           help="Judgments of people (Acute-eval): TSV or JSONL with criterion, first, second, winner (or tie) and pair."),
    Source("conversations", "clariq", "one", "conversations", readers.conversations, option="--conversations",
           help="Multi-turn conversations (JSON of *_synthetic.pkl, or TSV): what topic a context belongs to."),
    Source("snippets", "agreement", "several", "annotations", readers.snippets, _annotations),
    Source("reference", "agreement", "several", "reference", readers.snippets, _annotations, "--reference",
           help="Snippets chosen by experts, to compare the others with."),
    Source("ratings", "agreement", "several", "ratings", readers.ratings, _first),
    Source("responses", "answers", "named", "{name} answers", readers.predicted_answers, option="--response",
           metavar="NAME=FILE", joins=True,
           help="Answers of a system: JSON {turn: answer}, JSONL with id and answer, TREC RAG or MTRAG; repeat a NAME for"
           " other turns."),
    Source("snippets", "answers", "several", "gold snippets", readers.snippets, _annotations, "--snippets",
           help="Snippets that answers should hold, as robustcs agreement takes them; several files together."),
    Source("nuggets", "answers", "one", "nuggets", readers.nuggets, _entries, "--nuggets",
           help="Nuggets that answers should hold: JSONL with a topic and its nuggets (text, importance, passages)."),
    Source("assignments", "answers", "named", "{name} assignments", readers.assignments, option="--assignments",
           metavar="NAME=FILE", help="Which nuggets a system's answers hold, as a judge said (nuggetizer's JSONL)."),
    Source("runs", "answers", "named", "{name} passages", readers.run, option="--run", metavar="NAME=FILE",
           help="The passages that a system's answers were made of; by default the project's run of that name."),
    Source("human", "answers", "one", "human passages", readers.run, option="--human",
           help="The run of the human questions, what a perfect rewriter would find; by default that of the project."),
    Source("grades", "crowd", "one", "grades", readers.crowd_grades, _first),
    Source("gold_checks", "crowd", "one", "gold checks", readers.gold_checks, option="--gold-checks",
           help="Grades that items are known to deserve: turn, item, criterion, grade."),
    Source("bank", "crowd", "one", "bank", readers.bank, option="--bank",
           help="JSON {id: text} of questions or responses, for runs that hold texts."),
    Source("qrels", "crowd", "several", "qrels", readers.qrels, option="--qrels", irds=True,
           help="Judgments in place of grades, of one criterion: a file, or irds:NAME with ir_datasets."),
    Source("subset", "crowd", "one", "subset", readers.turn_list, option="--subset",
           help="Turns to evaluate separately: a list, or qrels or a run with them."),
    Source("runs", "crowd", "named", "run {name}", readers.crowd_run, option="--run", metavar="NAME=FILE",
           help="A run: TREC, or mixed-initiative JSON."),
)  # fmt: skip

BY_NAME = {source.name: source for source in SOURCES}
