"""A project of a few lines a file, with every kind of input, and the command lines that read them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable

_TURNS = [f"{topic}_{depth}" for topic in range(1, 7) for depth in (1, 2)]


def _run(shift: int) -> str:
    return "".join(
        f"{turn} Q0 d{(place * (shift + len(turn)) + int(turn[0])) % 7} {rank} {9.5 - rank} t\n"
        for place, turn in enumerate(_TURNS)
        for rank, place in enumerate((place, place + 1, place + 3), 1)
        if len(
            {(p * (shift + len(turn)) + int(turn[0])) % 7 for p in (place, place + 1, place + 3)}
        )
        == 3
        or rank == 1
    )


def _scores(shift: int) -> str:
    rows = "".join(
        f"ndcg_cut_3\t{turn}\t{(place * shift % 7) / 7:.4f}\n" for place, turn in enumerate(_TURNS)
    )
    return f"{rows}ndcg_cut_3\tall\t0.5\n"


def _texts(wording: str) -> str:
    return "id\tquery\n" + "".join(
        f"{turn}\t{wording} {place}?\n" for place, turn in enumerate(_TURNS)
    )


def _jsonl(records: list[dict[str, object]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _snippets(workers: tuple[str, ...]) -> str:
    text = "some words of a short text"
    return _jsonl([{"turn": turn, "passage": "d1", "worker": worker, "text": text, "snippets": [[place, place + 9]]}
                   for turn in _TURNS[:4] for place, worker in enumerate(workers)])  # fmt: skip


_ASKED = [{"question": f"Q{place}", "score": 3.0 - place} for place in (1, 2)]
_UNITS = {
    "F11": {"Q1": 0.5, "Q2": 0.25, "MAX": 1, "MIN": 0},
    "F12": {"Q1": 0.5, "Q2": 0.25, "MAX": 1, "MIN": 0},
}
_MEASURES = (
    "NDCG1",
    "NDCG3",
    "NDCG5",
    "NDCG10",
    "NDCG20",
    "P1",
    "P3",
    "P5",
    "P10",
    "P20",
    "MRR100",
)
_ANSWERS = {turn: f"answer {place % 3}" for place, turn in enumerate(_TURNS)}
_TOPIC = "101\tTell me.\tdesc\t2\tF1{0}\tfacet {0}\tQ{1}\twhat {1}?\tno\n"

#: Name → (kind, contents).
_NUGGET = {"text": "bread and water", "importance": "vital", "passages": ["d1"]}
_FILES: dict[str, tuple[str, str]] = {
    "qrels.txt": ("qrels", "".join(f"{turn} 0 d{place} {(place + int(turn[0])) % 4}\n"
                                   for turn in _TURNS for place in range(5))),
    "new.txt": ("qrels", "".join(f"{turn} 0 d5 {int(turn[0]) % 3}\n" for turn in _TURNS)),
    "raw.trec": ("run", _run(1)), "qr.trec": ("run", _run(2)), "human.trec": ("run", _run(3)), "m1.trec": ("run", _run(4)),
    "some.txt": ("qrels", "".join(f"{turn} 0 d{place} {(place + int(turn[0])) % 4}\n"
                                  for turn in _TURNS[:10] for place in range(6))),
    "judge.txt": ("labels", "".join(f"{turn} 0 d{place} {(2 * place + int(turn[0])) % 4}\n"
                                    for turn in _TURNS for place in range(6))),
    "judge.csv": ("label sheet", "turn,document,grade\n" + "".join(f"{turn},d{place},{place % 4}\n"
                                                                   for turn in _TURNS for place in range(4))),
    "judge.jsonl": ("labels for texts", _jsonl([
        {"model": "m", "query": f"What is bread {place}?", "passage": f"Text {number} of bread.", "prediction": "…",
         "judgment": (place + number) % 4, "result_status": 1}
        for place in range(len(_TURNS)) for number in range(3)])),
    "raw.eval": ("scores", _scores(2)), "qr.eval": ("scores", _scores(3)), "human.eval": ("scores", _scores(5)),
    "raw.tsv": ("texts", _texts("And it")), "qr.tsv": ("texts", _texts("What about it")),
    "human.tsv": ("texts", _texts("What is bread")),
    "gold.json": ("gold", json.dumps({turn: [text, "other"] for turn, text in _ANSWERS.items()}, indent=1)),
    "raw.json": ("answers", json.dumps(dict.fromkeys(_TURNS, "answer 1"), indent=1)),
    "qr.json": ("answers", json.dumps(_ANSWERS, indent=1)), "human.json": ("answers", json.dumps(_ANSWERS, indent=2)),
    "paraphrases.csv": ("paraphrases", "TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n"
                        + "".join(f'{turn},"What, {n}?",it {n}\n' for turn in _TURNS for n in range(4))),
    "variations.csv": ("variations", "q_id,transformation_type,original_query,variation,valid\n"
                       + "".join(f'{turn},{kind},"What, {n}?","{kind}, {n}?",{n != 2}\n'
                                 for turn in _TURNS for n, kind in enumerate(("typo", "order", "typo")))),
    "collection.jsonl": ("collection", _jsonl([{"id": f"d{place}", "contents": f"Text {place} of bread."}
                                               for place in range(7)])),
    "answer_labels.tsv": ("slices", "turn\tcorrect\n" + "".join(f"{turn}\t{int(turn[-1]) % 2}\n" for turn in _TURNS)),
    "conversations.tsv": ("conversations", "turn\tconversation\n" + "".join(f"{turn}\tc{turn[0]}\n" for turn in _TURNS)),
    "slices.tsv": ("slices", "turn\tkind\n" + "".join(f"{turn}\tdepth {turn[-1]}\n" for turn in _TURNS)),
    "topics.tsv": ("clariq topics", "topic_id\tinitial_request\ttopic_desc\tclarification_need\tfacet_id\tfacet_desc"
                   "\tquestion_id\tquestion\tanswer\n"
                   + "".join(_TOPIC.format(facet, question) for facet in (1, 2) for question in (1, 2))),
    "bank.tsv": ("question bank", "question_id\tquestion\nQ00001\t\nQ1\twhat 1?\nQ2\twhat 2?\n"),
    "asked.trec": ("run", "101 0 Q1 1 2.5 t\n101 0 Q2 2 1.5 t\n"),
    "performance.json": ("performance", json.dumps(dict.fromkeys(_MEASURES, _UNITS), indent=1)),
    "system.json": ("evaluation", json.dumps(dict.fromkeys(_MEASURES, {"F11": 0.5, "F12": 0.75}), indent=1)),
    "need.txt": ("needs", "101 2\n"),
    "preferences.tsv": ("preferences", "criterion\tfirst\tsecond\twinner\nfluent\ta\tb\ta\nfluent\ta\tb\ttie\n"),
    "workers.jsonl": ("snippets", _snippets(("ada", "ben", "cem"))), "experts.jsonl": ("snippets", _snippets(("x1", "x2"))),
    "ratings.csv": ("ratings", "item,worker,grade\n"
                    + "".join(f"i{i},w{w},{(i + w) % 5 + 1}\n" for i in range(6) for w in range(3))),
    "grades.csv": ("grades", "turn,item,worker,criterion,grade\n"
                   + "".join(f"{turn},Q{q},w{w},relevance,{(q + w) % 4}\n"
                             for turn in _TURNS for q in (1, 2) for w in range(3))),
    "checks.csv": ("gold checks", "turn,item,criterion,grade\n1_1,Q1,relevance,2\n"),
    "bank.json": ("bank", json.dumps({"Q1": "what?", "Q2": "which?"}, indent=1)),
    "subset.txt": ("turn list", "1_1\n2_1\n"),
    "mixed.json": ("mixed-initiative run", json.dumps({"turns": [{"turn_id": turn, "questions": _ASKED}
                                                                 for turn in _TURNS]}, indent=1)),
    "item_qrels.txt": ("qrels", "".join(f"{turn} 0 Q1 {int(turn[0]) % 4}\n" for turn in _TURNS)),
    "said.json": ("answers", json.dumps(dict.fromkeys(_TURNS, "Text 1 of bread and water"), indent=1)),
    "gold_snippets.jsonl": ("snippets", _jsonl([
        {"turn": turn, "passage": "d1", "worker": "gold", "text": "Text 1 of bread.", "snippets": [[0, 15]]}
        for turn in _TURNS])),
    "nuggets.jsonl": ("nuggets", _jsonl([{"qid": turn, "nuggets": [_NUGGET]} for turn in _TURNS])),
    "assigned.jsonl": ("assignments", _jsonl([{"qid": turn, "run_id": "qr", "answer_text": "Text 1",
                                               "nuggets": [{**_NUGGET, "assignment": "support"}]} for turn in _TURNS])),
    "review.jsonl": ("reviews", _jsonl([
        {"turn": turn, "systems": ["qr"], "categories": ["lost entity"] * (turn[-1] == "1"), "coder": "ada",
         "sample": {"kind": "random", "seed": 0, "of": len(_TURNS), "size": len(_TURNS)}} for turn in _TURNS])),
    "sheet.csv": ("sheet", "topic,turn,human,document,passage,influence,grade\r\n1,1_1,What?,d6,Text,0.5,1\r\n"),
    "judged.txt": ("judgments", "1_1 0 d6 1\n"),
}  # fmt: skip
FILES = {name: text for name, (_, text) in _FILES.items()}
KINDS = {name: kind for name, (kind, _) in _FILES.items()} | {"robustcs.toml": "project"}

TOML = """\
qrels = "qrels.txt"
new_judgments = "new.txt"
gold = "gold.json"
paraphrases = "paraphrases.csv"
collection = "collection.jsonl"
[formulations.original]
run = "raw.trec"
answers = "raw.json"
rewrites = "raw.tsv"
[formulations.qr]
run = "qr.trec"
answers = "qr.json"
rewrites = "qr.tsv"
[formulations.human]
run = "human.trec"
answers = "human.json"
rewrites = "human.tsv"
[runs]
m1 = "m1.trec"
[judges]
j = "judge.txt"
[groups.manual]
baseline = "human"
sets = ["m1"]
[clariq]
topics = "topics.tsv"
questions = "bank.tsv"
performance = "performance.json"
preferences = "preferences.tsv"
[clariq.runs]
a = "asked.trec"
[clariq.needs]
a = "need.txt"
[agreement]
snippets = "workers.jsonl"
reference = "experts.jsonl"
ratings = "ratings.csv"
[answers]
snippets = "gold_snippets.jsonl"
nuggets = "nuggets.jsonl"
[answers.responses]
qr = "said.json"
[answers.assignments]
qr = "assigned.jsonl"
[review]
files = ["review.jsonl"]
[crowd]
grades = "grades.csv"
gold_checks = "checks.csv"
bank = "bank.json"
subset = "subset.txt"
[crowd.runs]
a = "mixed.json"
"""

_RUNS = "--qrels qrels.txt --original raw.trec --qr qr.trec --human human.trec"
_SCORES = "--scores original=raw.eval --scores qr=qr.eval --scores human=human.eval"
_ANSWERS = (
    "--gold gold.json --answers original=raw.json --answers qr=qr.json --answers human=human.json"
)
_SCORED, _ANSWERED = f"--metric ndcg_cut_3 {_SCORES}", f"--metric f1 {_ANSWERS}"
_PAIR = "--qrels qrels.txt --qr qr.trec --human human.trec"
_ANSWERED_PAIR = _ANSWERED.replace("--answers original=raw.json ", "")
_TEXTED = "--rewrites original=raw.tsv --rewrites qr=qr.tsv --rewrites human=human.tsv"
_SYSTEMS = f"{_RUNS} --run m1=m1.trec"
_GRID = "--qrels qrels.txt --cell raw/a=raw.trec --cell qr/a=qr.trec --cell human/a=human.trec --cell m1/b=m1.trec"
_BESIDE = "--new-judgments new.txt --judge j=judge.txt --paraphrases paraphrases.csv --collection collection.jsonl"
_OF = "--conversation conversations.tsv"
_CROWD = "--run a=mixed.json --bank bank.json --subset subset.txt"

#: Command → command lines that use every file option that means something to it; ``""`` is the project's file alone.
LINES: dict[str, tuple[str, ...]] = {
    "breakdown": ("", f"{_RUNS} {_TEXTED}", f"{_SCORED} {_OF}", _ANSWERED),
    "sweep": ("", _RUNS, f"{_SCORED} {_OF}", _ANSWERED),
    "correlate": ("", f"{_PAIR} {_TEXTED}", f"{_ANSWERED_PAIR} {_TEXTED}",
                  f"{_PAIR} {_TEXTED} --scores answers=qr.eval --y ndcg_cut_3 {_OF}"),
    "evaluate": ("", _SYSTEMS, f"--metric ndcg_cut_3 --scores o=raw.eval --scores h=human.eval {_OF}"),
    "components": (f"{_GRID} {_OF}",),  # texts are read for cells without a run only
    "samples": ("--qrels qrels.txt --qr s=qr.trec --qr s=raw.trec --rewrites qr:s=qr.tsv --samples qr:s=raw.tsv"
                f" {_OF}",),
    "unjudged": ("", f"{_SYSTEMS} --new-judgments new.txt --judge j=judge.txt"),
    "robustness": ("", f"{_SYSTEMS} --group manual=human,m1,original,qr --slices slices.tsv --rewrites human=human.tsv {_OF}",
                   f"{_PAIR} --run m1=m1.trec --group manual=human,m1,qr --paraphrases variations.csv"
                   " --texts m1=human.tsv --raw-texts qr=raw.tsv"),
    "augment": ("", f"{_SYSTEMS} --new-judgments new.txt {_OF}",
                "--qrels some.txt --run m1=m1.trec --run m2=raw.trec --judge j=judge.txt"),
    "audit": ("", f"{_SYSTEMS} --judge j=judge.txt {_OF}", "--qrels qrels.txt --judge c=judge.csv",
              "--qrels qrels.txt --judge t=judge.jsonl --rewrites human=human.tsv --collection collection.jsonl"),
    "judge": ("--list", f"--list {_SYSTEMS} --judgments judged.txt", f"{_SYSTEMS} --import sheet.csv --judgments judged.txt",
              f"{_SYSTEMS} --export out.csv --collection collection.jsonl --rewrites human=human.tsv",
              f"{_SYSTEMS} {_TEXTED} --judgments judged.txt --collection collection.jsonl"),
    "testsets": ("", "--paraphrases paraphrases.csv", "--paraphrases variations.csv"),
    "paraphrase": ("", "--vary --rewrites original=raw.tsv --rewrites human=human.tsv"),
    "retrieve": (f"--dry-run --index index --collection later.jsonl {_TEXTED} --texts m1=human.tsv"
                 " --raw-texts r1=raw.tsv --rewriter qr.tsv",),
    "diversity": ("", f"--source raw.tsv --target human.tsv {_OF}", f"{_TEXTED} --paraphrases paraphrases.csv",
                  f"{_TEXTED} --samples qr=raw.tsv"),
    "clariq": ("", "--topics topics.tsv --run a=asked.trec --questions bank.tsv --performance performance.json"
               " --need a=need.txt --evaluations x=system.json --preferences preferences.tsv"),
    "passages": ("", "--qrels qrels.txt --collection collection.jsonl"),
    "agreement": ("", f"workers.jsonl --reference experts.jsonl {_OF}", "ratings.csv"),
    "crowd": ("", f"grades.csv --gold-checks checks.csv {_CROWD} {_OF}", f"--qrels item_qrels.txt {_CROWD}"),
    "answers": ("", "--response qr=said.json --snippets gold_snippets.jsonl --passages qr=qr.trec --human human.trec"
                " --collection collection.jsonl --conversation conversations.tsv",
                "--nuggets nuggets.jsonl --assignments qr=assigned.jsonl",
                "--tasks qr=said.json --gold-passages qrels.txt --gold gold.json --metric f1 --labels answer_labels.tsv"),
    "review": ("", f"review.jsonl {_OF}"),
    "turns": ("", f"{_SYSTEMS} {_TEXTED} --collection collection.jsonl {_OF}", _SCORES, _ANSWERED, _GRID),
    "report": ("", f"{_SYSTEMS} {_TEXTED} {_ANSWERS} {_BESIDE}", f"{_SCORED} {_OF}", _GRID),
    "compare": (f"robustcs.toml robustcs.toml {_OF}",),
    "demo": ("--config robustcs.toml --output out",),
    "init": (),
    "try-program": (),
    "bundle": (),
    "check": ("", _GRID, f"{_SYSTEMS} {_TEXTED} {_BESIDE} --texts m1=human.tsv --raw-texts r1=raw.tsv", _SCORES, _ANSWERS),
}  # fmt: skip

#: How a file of any kind can be broken: name → its bytes, from sound ones.
BROKEN: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "blank": lambda data: b"\n \n",
    "binary": lambda data: bytes(range(256)) * 4,
    "half a gzip": lambda data: gzip.compress(data * 20, mtime=0)[:-30],
    "not UTF-8": lambda data: b"\n".join(
        line[:2] + b"\xe9" + line[2:] for line in data.split(b"\n")
    ),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "too few columns": lambda data: b"\n".join(
        re.split(rb"[\s,]", line)[0] for line in data.split(b"\n")
    ),
    "nested": lambda data: b"[" * 20_000,
    "other JSON": lambda data: b"[1, 2]\n",
    "PDF": lambda data: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
}
#: Files that stand in the place of others.
WRONG = (
    "qrels.txt",
    "raw.trec",
    "raw.eval",
    "raw.tsv",
    "raw.json",
    "paraphrases.csv",
    "collection.jsonl",
)
#: Kinds of file whose ids must be those of the judgments.
FOREIGN = ("run", "texts")
#: (kind, how) of what is sound after all.
SOUND_ALL_THE_SAME: set[tuple[str, ...]] = {
    ("diversity", "texts", "paraphrases in its place"),
    # of a rewriter with samples the other sample is compared
    ("diversity", "texts", "foreign ids"),
    # files of one rewriter without a common turn are one run; a note says how many of its turns nobody judged
    ("samples", "run", "foreign ids"),
    # one form of paraphrases stands in the place of the other
    ("variations", "paraphrases in its place"),
    # whatever is asked can be answered; no judgments say which turns there are
    ("retrieve", "texts", "foreign ids"),
    # people may be audited as any judge
    *((kind, "qrels in its place") for kind in ("labels", "label sheet", "labels for texts")),
    # a folder without a project file, or with one that says nothing, is a folder without a project
    *(("project", how) for how in ("empty", "blank", "missing", "a folder")),
    # one object {turn: text} holds texts, or one answer for every turn
    ("texts", "answers in its place"), ("gold", "answers in its place"), ("bank", "answers in its place"),
    # tables of two columns with tabs hold passages; tables with turns hold properties of turns, and lists of turns
    ("collection", "scores in its place"), ("collection", "texts in its place"), ("slices", "texts in its place"),
    *(("turn list", how) for how in ("too few columns", "qrels in its place", "run in its place", "texts in its place")),
    # these may be TREC runs, and judging may begin with no file or an empty one
    ("mixed-initiative run", "run in its place"), *(("judgments", how) for how in ("empty", "blank", "missing")),
}  # fmt: skip
#: What files are tried with that the project names: the same readers meet everything else on the command line.
FEW = ("binary", "missing")
#: Commands that read everything, which takes time: a few files stand for all.
READ_ALL = {
    "report": ("qrels.txt", "workers.jsonl"),
    "check": ("qrels.txt", "raw.trec", "human.tsv", "gold.json", "grades.csv"),
}
