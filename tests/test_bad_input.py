"""What a user sees for malformed and mismatched inputs: exit code, the exact message, no traceback, nothing half-written."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from robustcs.cli.main import run
from tests.skipped_rows import without_count

QRELS = "1_1 0 d1 2\n1_1 0 d2 0\n1_2 0 d1 0\n1_2 0 d3 1\n"
RUN = "1_1 Q0 d1 1 9.5 t\n1_1 Q0 d2 2 8.5 t\n1_2 Q0 d3 1 7.5 t\n"
SCORES = "ndcg_cut_3\t1_1\t0.5\nndcg_cut_3\t1_2\t1\nndcg_cut_3\tall\t0.75\n"
TEXTS = "id\tquery\n1_1\tWhat is a throat?\n1_2\tAnd its cancer?\n"
PREDICTED = '{"1_1": "tube", "1_2": "yes"}\n'
#: Sound files; a case replaces some of them.
FILES = {
    "qrels.txt": QRELS, "raw.trec": RUN, "qr.trec": RUN, "human.trec": RUN, "raw.eval": SCORES, "qr.eval": SCORES,
    "human.eval": SCORES, "texts.tsv": TEXTS, "gold.json": '{"1_1": "a tube", "1_2": ["yes", "it is"]}\n',
    "raw.json": PREDICTED, "qr.json": PREDICTED, "human.json": PREDICTED,
}  # fmt: skip
ON_RUNS = "--qrels qrels.txt --original raw.trec --qr qr.trec --human human.trec"
RUNS = f"breakdown {ON_RUNS}"
#: The same without an Original, for a run that is broken.
RAW = "breakdown --qrels qrels.txt --qr qr.trec --human human.trec --original"
SWEEP = f"sweep {ON_RUNS}"
TEXT = f"{RUNS} --rewrites original=texts.tsv"
SCORED = "breakdown --metric ndcg_cut_3 --scores original=raw.eval --scores qr=qr.eval --scores human=human.eval"
ANSWERS = "breakdown --metric f1 --answers original=raw.json --answers qr=qr.json --answers human=human.json --gold gold.json"
TOML = (
    'qrels = "qrels.txt"\n[formulations.original]\nrun = "raw.trec"\n[formulations.qr]\nrun = "qr.trec"\n'
    '[formulations.human]\nrun = "human.trec"\n'
)
NO_ROWS = "raw.trec: the file has no rows; write lines of: turn Q0 document rank score tag"
RUN_WIDTH = ", but a run has 6 (turn Q0 document rank score tag)"
QRELS_WIDTH = ", but a qrels file has 4 (turn iteration document grade)"
SCORES_WIDTH = ", but per-turn scores have 3 (measure turn value)"
IS_RUN = "this is a TREC run; use it with --run, --original, --qr or --human"
IS_QRELS = "these are TREC qrels; use them with --qrels"
ONE_RUN = (
    ", another file of the same run; name two systems, or keep one of the two; if two collections use the"
    " same ids, add a prefix to the ids of one of them in all its files"
)
IS_SCORES = "these are per-turn scores; use them with --scores"
ROLES = "write original, qr or human; qr:NAME or original:NAME if there are several"
BINS = "write Original, QR, Human as 0 or 1: 000, 100, 010, 110, 001, 101, 011, 111"
THRESHOLDS = "use '>0', '>=0.5', '=1' or a number"
TEXT_FORMATS = "write TSV (id and query), JSONL, JSON {turn: text}, CAsT topic JSON or CANARD JSON"
ANSWER_FORMATS = "write JSON {turn: answer}, or JSONL with id and answer"
TOGETHER = "check that the files belong together"
OR_INIT = "or create a robustcs.toml with robustcs init"


class Case(NamedTuple):
    name: str
    command: str
    code: int
    message: str
    files: dict[str, str | bytes] = {}


def each_line(path: str, lines: int, message: str) -> str:
    return "\n".join(f"{path}:{number}: {message}" for number in range(1, lines + 1))


CASES = [
    # ---- files that cannot be read
    Case("missing run", f"{RAW} gone.trec", 3, "gone.trec: no such file; check the path"),
    Case("missing qrels", f"{RUNS} --qrels gone.txt", 3, "gone.txt: no such file; check the path"),
    Case("folder", f"{RAW} folder", 3, "folder: this is a folder; name a file"),
    Case("empty run", RUNS, 3, "raw.trec: the file is empty; write lines of: turn Q0 document rank score tag",
         {"raw.trec": ""}),
    Case("blank run", RUNS, 3, NO_ROWS, {"raw.trec": "\n\n"}),
    Case("header only", RUNS, 3, "raw.trec: the file has no passages; check the path",
         {"raw.trec": "query_id Q0 docno rank score tag\n"}),
    Case("comments only", RUNS, 3, NO_ROWS, {"raw.trec": "# ir_metadata\n"}),
    Case("UTF-16 run", RUNS, 3, "raw.trec:1: the file is UTF-16; save it as UTF-8", {"raw.trec": RUN.encode("utf-16")}),
    Case("UTF-16 texts", TEXT, 3, "texts.tsv:1: the file is UTF-16; save it as UTF-8",
         {"texts.tsv": TEXTS.encode("utf-16")}),
    Case("Latin-1 run", RUNS, 3, "raw.trec:2: document 'd�' is not UTF-8; save the file as UTF-8",
         {"raw.trec": RUN.replace("d2", "dé").encode("latin-1")}),
    Case("Latin-1 texts", TEXT, 3, "texts.tsv:2: this line is not UTF-8; save the file as UTF-8",
         {"texts.tsv": TEXTS.replace("throat", "café").encode("latin-1")}),
    Case("old line ends", RUNS, 3, "raw.trec: lines end in carriage returns only; save it with LF or CRLF line ends",
         {"raw.trec": RUN.replace("\n", "\r")}),
    Case("damaged gzip", f"{RAW} raw.gz", 3,
         "raw.gz: the compressed data are damaged (Compressed file ended before the end-of-stream marker was reached);"
         " copy the file again", {"raw.gz": gzip.compress(RUN.encode() * 50, mtime=0)[:-20]}),
    Case("binary file", RUNS, 3, f"raw.trec:1: 1 column{RUN_WIDTH}; write the six columns of a TREC run",
         {"raw.trec": b"%PDF-1.7\n"}),
    # ---- files in the wrong place
    Case("qrels as run", f"{RAW} qrels.txt", 3, f"qrels.txt: {IS_QRELS}"),
    Case("scores as run", f"{RAW} raw.eval", 3, f"raw.eval: {IS_SCORES}"),
    Case("run as qrels", f"{RUNS} --qrels raw.trec", 3, f"raw.trec: {IS_RUN}"),
    Case("scores as qrels", f"{RUNS} --qrels raw.eval", 3, f"raw.eval: {IS_SCORES}"),
    Case("run as scores", SCORED.replace("qr.eval", "qr.trec"), 3, f"qr.trec: {IS_RUN}"),
    Case("qrels as scores", SCORED.replace("qr.eval", "qrels.txt"), 3, f"qrels.txt: {IS_QRELS}"),
    Case("JSON as run", f"{RAW} gold.json", 3,
         "gold.json:1: JSON, not a run; write lines of: turn Q0 document rank score tag"),
    Case("run as texts", f"{RUNS} --rewrites original=raw.trec", 3, f"raw.trec: {IS_RUN}"),
    Case("qrels as texts", f"{RUNS} --rewrites original=qrels.txt", 3, f"qrels.txt: {IS_QRELS}"),
    Case("scores as texts", f"{RUNS} --rewrites original=raw.eval", 3, f"raw.eval: {IS_SCORES}"),
    Case("qrels as gold answers", ANSWERS.replace("gold.json", "qrels.txt"), 3, f"qrels.txt: {IS_QRELS}"),
    Case("gold answers as predictions", ANSWERS, 3,
         "qr.json: this is a data set with gold answers; give a file of predictions", {"qr.json": '{"data": []}'}),
    # ---- lines of runs and qrels
    Case("bad score", RUNS, 3, "raw.trec:2: score 'high' is not a number; write a decimal number",
         {"raw.trec": RUN.replace("8.5", "high")}),
    Case("score nan", RUNS, 3, "raw.trec:2: score 'nan' is not a number; write a decimal number",
         {"raw.trec": RUN.replace("8.5", "nan")}),
    Case("decimal comma", RUNS, 3, "raw.trec:2: score '8,5' is not a number; write a decimal number",
         {"raw.trec": RUN.replace("8.5", "8,5")}),
    Case("line without tag", RUNS, 3, f"raw.trec:2: 5 columns{RUN_WIDTH}; write the six columns of a TREC run",
         {"raw.trec": RUN.replace("8.5 t", "8.5")}),
    Case("several problems", RUNS, 3,
         "raw.trec:1: score 'x' is not a number; write a decimal number\n"
         f"raw.trec:3: 1 column{RUN_WIDTH}; write the six columns of a TREC run",
         {"raw.trec": "1_1 Q0 d1 1 x t\n1_1 Q0 d2 2 8 t\n1_2\n"}),
    Case("output over an input", f"{RUNS} --output qrels.txt", 2,
         "robustcs: qrels.txt is an input, which is never overwritten; choose another name for the output"),
    Case("output over a run by another path", f"{RUNS} --output ./raw.trec --format json", 2,
         "robustcs: ./raw.trec is an input, which is never overwritten; choose another name for the output"),
    Case("counts are no measures", f"{RUNS} --metric num_ret", 2,
         "robustcs: num_ret is not a mean over turns; use a mean such as map, or use robustcs evaluate"),
    Case("many problems", RUNS, 3,
         "raw.trec:1: score 'x' is not a number; write a decimal number (the same in 19 more lines)\n"
         "… and 5 more problems",
         {"raw.trec": "1_1 Q0 d1 1 x t\n" * 25}),
    Case("control characters", RUNS, 3, r"raw.trec:1: score '\x1b[31m' is not a number; write a decimal number",
         {"raw.trec": RUN.replace("9.5", "\x1b[31m")}),
    Case("bad rank", f"{RUNS} --order rank", 3, "raw.trec:2: rank 'second' is not a whole number; write a whole number",
         {"raw.trec": RUN.replace(" 2 8.5", " second 8.5")}),
    Case("grade in words", RUNS, 3, "qrels.txt:2: grade 'relevant' is not a whole number; write a whole number",
         {"qrels.txt": QRELS.replace("d2 0", "d2 relevant")}),
    Case("half a grade", RUNS, 3, "qrels.txt:2: grade '0.5' is not a whole number; write a whole number",
         {"qrels.txt": QRELS.replace("d2 0", "d2 0.5")}),
    Case("huge grade", RUNS, 3, "qrels.txt:2: grade 99999 is out of range; write small whole numbers such as 0 to 4",
         {"qrels.txt": QRELS.replace("d2 0", "d2 99999")}),
    Case("contradictory grades", RUNS, 3,
         "qrels.txt:5: turn 1_1 document d1 has grade 0 but grade 2 in line 1; keep one of the two",
         {"qrels.txt": QRELS + "1_1 0 d1 0\n"}),
    # ---- files that do not fit together
    Case("no qrels", "breakdown --original raw.trec --qr qr.trec --human human.trec", 2,
         "robustcs: no qrels are given; add --qrels FILE"),
    Case("threshold above all scores", f"{RUNS} --threshold 1.5", 2,
         "robustcs: no score of P_1 can be >=1.5: the highest is 1; use a threshold such as '>=0.5' or '=1'"),
    Case("threshold above all scores in the project file", "breakdown", 2,
         "robustcs: no score of ndcg can be >1: the highest is 1; use a threshold such as '>=0.5' or '=1'",
         {"robustcs.toml": 'metrics = ["ndcg"]\nthresholds = [">1"]\n' + TOML}),
    Case("threshold above all scores as a y", "correlate --y P_1=1.5 --rewrites qr=texts.tsv --rewrites human=texts.tsv"
         f" {ON_RUNS}", 2, "robustcs: no score of P_1 can be =1.5: the highest is 1; use a threshold such as '>=0.5' or '=1'"),
    Case("no formulation", "breakdown", 2,
         f"robustcs: no run or scores of the qr formulation; add --qr FILE or --scores qr=FILE, {OR_INIT}"),
    Case("two originals", f"{RUNS} --original human.trec", 3, f"human.trec: turn 1_1 is also in raw.trec{ONE_RUN}"),
    Case("missing formulation", "breakdown --qrels qrels.txt --original raw.trec --human human.trec", 2,
         "robustcs: no run or scores of the qr formulation (given: original, human); add --qr FILE or --scores qr=FILE,"
         f" {OR_INIT}"),
    Case("missing scores", "breakdown --scores original=raw.eval --scores qr=qr.eval", 2,
         "robustcs: no run or scores of the human formulation (given: original, qr);"
         f" add --human FILE or --scores human=FILE, {OR_INIT}"),
    Case("other turn ids", RUNS, 3, "\n".join(
        f"{name}.trec: none of its turns is in the qrels: its turn ids look like '1_1', those of the qrels like 't1-1';"
        f" {TOGETHER}"
        for name in ("raw", "qr", "human")), {"qrels.txt": QRELS.replace("1_", "t1-")}),
    Case("other turn ids in one run", RUNS, 3,
         f"raw.trec: none of its turns is in the qrels: its turn ids look like 't1-1', those of the qrels like '1_1';"
         f" {TOGETHER}",
         {"raw.trec": RUN.replace("1_", "t1-")}),
    Case("other passage ids", RUNS, 3,
         f"raw.trec: none of its passages is judged: its passage ids look like 'MARCO_1', those of the qrels like 'd1';"
         f" {TOGETHER}",
         {"raw.trec": RUN.replace("d", "MARCO_")}),
    Case("texts of other turns", TEXT, 3,
         f"texts.tsv: none of its turns is in the qrels: its turn ids look like '7_1', those of the qrels like '1_1';"
         f" {TOGETHER}",
         {"texts.tsv": TEXTS.replace("1_", "7_")}),
    Case("scores of other turns", SCORED, 3, "\n".join(
        f"{name}.eval: none of its turns is in raw.eval: its turn ids look like '{name[1]}_1', those of raw.eval like 'a_1';"
        f" {TOGETHER}"
        for name in ("qr", "human")).replace("'r_1'", "'b_1'"),
         {name: SCORES.replace("1_", f"{name[1]}_") for name in ("raw.eval", "human.eval")}
         | {"qr.eval": SCORES.replace("1_", "b_")}),
    Case("measure not in the scores", f"{SCORED} --metric map", 2, "robustcs: raw.eval has no map; it has ndcg_cut_3"),
    Case("averages only", SCORED, 3, "qr.eval: the file contains only averages (turn 'all'); write per-turn scores with"
                                     " trec_eval -q",
         {"qr.eval": "ndcg_cut_3\tall\t0.75\n"}),
    Case("turn scored twice", SCORED, 3,
         "qr.eval:4: ndcg_cut_3 of turn 1_1 is already in line 1; keep one of the two lines",
         {"qr.eval": SCORES + "ndcg_cut_3\t1_1\t0.5\n"}),
    Case("score in words", SCORED, 3, "qr.eval:1: ndcg_cut_3 of turn 1_1: 'half' is not a number; write a decimal number",
         {"qr.eval": SCORES.replace("0.5", "half")}),
    Case("no common turn to keep", f"{SCORED} --missing drop", 2,
         "robustcs: no turn is answered by all files; check that their turn ids agree",
         {"qr.eval": "ndcg_cut_3\t1_1\t1\n", "human.eval": "ndcg_cut_3\t1_2\t1\n"}),
    Case("answers to other turns", ANSWERS, 3,
         f"qr.json: none of its turns is in the gold answers: its turn ids look like '9_1', those of the gold answers like"
         f" '1_1'; {TOGETHER}",
         {"qr.json": '{"9_1": "a"}'}),
    Case("no gold answers", ANSWERS.replace(" --gold gold.json", ""), 2,
         "robustcs: no gold answers are given; add --gold FILE"),
    Case("mixed measures", f"{ANSWERS} --metric P_1", 2,
         "robustcs: measures of answers (f1, em) and of rankings use different turns; run two commands"),
    # ---- texts and answers
    Case("no such column", f"{TEXT}:raw", 3,
         "texts.tsv:1: no column 'raw'; the columns are: id, query; choose one of them as FILE:COLUMN"),
    Case("tab inside a text", TEXT, 3, "texts.tsv:4: 3 columns, but the header has 2; is there a tab inside a text?",
         {"texts.tsv": TEXTS + "1_3\ta\tb\n"}),
    Case("two texts of a turn", TEXT, 3,
         "texts.tsv:4: turn 1_1 has 'Another?' here but 'What is a throat?' in line 2; keep one of the two",
         {"texts.tsv": TEXTS + "1_1\tAnother?\n"}),
    Case("empty text", TEXT, 3, "texts.tsv:4: turn 1_3: empty text; write the text or remove the turn",
         {"texts.tsv": TEXTS + "1_3\t\n"}),
    Case("columns without names", TEXT, 3,
         "texts.tsv:1: 3 columns, but no header line that names one of id, qid, query_id, turn_id, turn, _id, sample_id,"
         " query-id, q_id; add a header line, or write id TAB text only", {"texts.tsv": "a\tb\tc\n"}),
    Case("topic without turn number", TEXT, 3, "texts.tsv: topic 1: turn 1 of the list has no number; complete the turn",
         {"texts.tsv": '[{"number": 1, "turn": [{"raw_utterance": "x"}]}]'}),
    Case("JSON without texts", TEXT, 3, f"texts.tsv: JSON, but an object without texts of turns; {TEXT_FORMATS}",
         {"texts.tsv": '{"a": 1}'}),
    Case("gold answers in a list", ANSWERS, 3, f"gold.json: JSON, but not an object {{turn: answer}}; {ANSWER_FORMATS}",
         {"gold.json": "[1]"}),
    Case("no gold turns", ANSWERS, 3, "gold.json: the file has no turns; check the path", {"gold.json": "{}"}),
    Case("broken JSON", ANSWERS, 3, "gold.json:3: not JSON (Expecting ':' delimiter); check the file",
         {"gold.json": '{\n"1_1": "a",\n"1_2" "b"}'}),
    Case("turn without gold answer", ANSWERS, 3,
         "gold.json: turn 1_1: no gold answer; write CANNOTANSWER if the passage contains no answer",
         {"gold.json": '{"1_1": []}'}),
    Case("two predictions", ANSWERS, 3,
         "qr.json: turn 1_1: 2 answers, but a prediction has one; keep one answer of the system",
         {"qr.json": '{"1_1": ["a", "b"]}'}),
    Case("prediction is a number", ANSWERS, 3, "qr.json: turn 1_1: 7 is not a text; write a text in quotes",
         {"qr.json": '{"1_1": 7}'}),
    Case("contradictory predictions", ANSWERS, 3,
         "qr.json:2: turn 1_1 has 'b' here but 'a' in line 1; keep one of the two",
         {"qr.json": '{"id": "1_1", "answer": "a"}\n{"id": "1_1", "answer": "b"}\n'}),
    # ---- options
    Case("misspelt measure", f"{RUNS} --metric ndgc_cut_3", 2,
         "robustcs: unknown measure 'ndgc_cut_3'; did you mean ndcg_cut_3 or ndcg_cut_5?"),
    Case("misspelt threshold", f"{RUNS} --threshold '<0.5'", 2, f"robustcs: cannot read threshold '<0.5'; {THRESHOLDS}"),
    Case("unknown role", f"{SCORED} --scores t5=qr.eval", 2, f"robustcs: unknown role 't5'; {ROLES}"),
    Case("no role", f"{SCORED} --scores qr.eval", 2,
         "robustcs: --scores qr.eval has no ROLE= or no file; write --scores ROLE=FILE"),
    Case("rewriter called human", f"{RUNS} --qr human=qr.trec", 2,
         "robustcs: 'qr:human' uses the role 'human' as a name; choose another name"),
    Case("run without a role", f"{RUNS} --run bm25=raw.trec", 2,
         "Error: No such option '--run'. (Did you mean one of: '--qr', '--trust', '--unit'?)"),
    Case("two runs of one name", "evaluate --qrels qrels.txt --run a=raw.trec --run a=qr.trec", 3,
         f"qr.trec: turn 1_1 is also in raw.trec{ONE_RUN}"),
    Case("two depths", f"{RUNS} --depth 3 --depth 5", 2, "robustcs: --depth is given twice: 3, 5; give it once"),
    Case("scores given twice", f"{SCORED} --scores qr=raw.eval", 2,
         "robustcs: two files of --scores have the same name; give each --scores a different NAME"),
    Case("unknown table", f"{RUNS} --table bin", 2,
         "robustcs: no table is named 'bin'; choose from bins, attribution, blame, answerable, tests, headroom,"
         " turns, rewriters, overview, rewriter_tests, rewriter_scores, repairs, best_of, error_types, slices,"
         " found_slices"),
    Case("unknown bin", f"{RUNS} --show 110x", 2, f"robustcs: there is no bin '110x'; {BINS}"),
    Case("thresholds for a sweep", f"{SWEEP} --threshold 0.5", 2,
         "Error: No such option '--threshold'."),
    Case("no step", f"{SWEEP} --step 0", 2,
         "robustcs: step 0 is not possible; write a number from 0.0001 to 1, such as 0.02"),
    Case("measure beyond 1", SWEEP.replace(ON_RUNS, SCORED.split(" ", 1)[1]), 2,
         "robustcs: ndcg_cut_3 has scores outside the range 0 to 1; choose a measure such as ndcg_cut_3",
         {"qr.eval": SCORES.replace("0.5", "5")}),
    Case("relevance level 0", f"{RUNS} --relevance-level 0", 2,
         "Error: Invalid value for '--relevance-level': 0 is not in the range 1<=x<=2147483647."),
    Case("depth 0", f"{RUNS} --depth 0", 2, "Error: Invalid value for '--depth': 0 is not in the range 1<=x<=2147483647."),
    Case("ir_datasets not installed", f"{RUNS} --qrels irds:trec-cast/v1/2020/judged", 4,
         "robustcs: irds:trec-cast/v1/2020/judged needs ir_datasets; pip install ir_datasets"),
    # ---- robustcs.toml
    Case("missing config", "breakdown --config gone.toml", 3, "gone.toml: no such file; check the path"),
    Case("TOML syntax", "breakdown", 3,
         "robustcs.toml:2: invalid TOML (Invalid value (at line 2, column 9)); check this line",
         {"robustcs.toml": 'name = "x"\nqrels = qrels.txt\n'}),
    Case("TOML cut off", "breakdown", 3,
         "robustcs.toml:2: invalid TOML (Unterminated string (at end of document)); check this line",
         {"robustcs.toml": 'name = "x"\nqrels = "qrels.txt'}),
    Case("unknown policy key", "breakdown", 3,
         "robustcs.toml:9: unknown key 'level' in [policy]; choose from relevance_level, missing, order, depth, documents,"
         " unit, conversation, strict",
         {"robustcs.toml": TOML + "[policy]\nlevel = 2\n"}),
    Case("policy value", "breakdown", 3, "robustcs.toml:9: the rule for missing turns is 'skip'; write zero, drop or own",
         {"robustcs.toml": TOML + '[policy]\nmissing = "skip"\n'}),
    Case("policy of the wrong kind", "breakdown", 3,
         "robustcs.toml:9: depth is 'ten'; write a whole number of at least 0",
         {"robustcs.toml": TOML + '[policy]\ndepth = "ten"\n'}),
    Case("unknown role in the config", "breakdown", 3, f"robustcs.toml:1: unknown role 't5'; {ROLES}",
         {"robustcs.toml": '[formulations.t5]\nrun = "qr.trec"\n'}),
    Case("run in place of a table", "breakdown", 3,
         'robustcs.toml:2: original is not a table; write [formulations.original] above its keys',
         {"robustcs.toml": '[formulations]\noriginal = "raw.trec"\n'}),
    Case("group without baseline", "breakdown", 3,
         "robustcs.toml:1: group 'manual' has no baseline or no sets; write both, with names of runs",
         {"robustcs.toml": '[groups.manual]\nsets = ["a"]\n'}),
    Case("seed in words", "breakdown", 3, "robustcs.toml:1: seed is 'x'; write a whole number of at least 0",
         {"robustcs.toml": 'seed = "x"\n'}),
    Case("measure and threshold in the config", "breakdown", 3,
         "robustcs.toml:1: unknown measure 'ndgc_cut_3'; did you mean ndcg_cut_3 or ndcg_cut_5?\n"
         f"robustcs.toml:2: cannot read threshold 'half'; {THRESHOLDS}",
         {"robustcs.toml": 'metrics = ["P_1", "ndgc_cut_3"]\nthresholds = ["half"]\n' + TOML}),
    Case("config names a missing file", "breakdown", 3, "gone.trec: no such file; check the path",
         {"robustcs.toml": TOML.replace("qr.trec", "gone.trec")}),
    # ---- outputs
    Case("output into no folder", f"{RUNS} --output gone/out.json", 3,
         "robustcs: gone/out.json: not written, its folder does not exist; create the folder first"),
    Case("output is a folder", f"{RUNS} --output folder", 3,
         "robustcs: folder: not written, this is a folder; name a file"),
    Case("output through a file", f"{RUNS} --output qrels.txt/out.json", 3,
         "robustcs: qrels.txt/out.json: not written, a part of its path is a file, not a folder; check the path"),
    Case("disk full", f"{RUNS} --output /dev/full", 3,
         "robustcs: /dev/full: not written, no space left on device; free some space, or write elsewhere"),
    Case("figure into no folder", f"{SWEEP} --output gone/out.png", 3,
         "robustcs: gone/out.png: not written, its folder does not exist; create the folder first"),
    Case("no figure", f"check {ON_RUNS} --output out.json --output out.png", 2,
         "robustcs: out.png: check has no figure; write .csv, .json, .tex, .md or .txt"),
    Case("unknown figure suffix", f"{SWEEP} --output out.json --output out.jpg", 2,
         "robustcs: out.jpg: unknown suffix .jpg; choose .csv, .json, .tex, .md, .txt, .png, .svg, .pdf,"
         " or set --format"),
    # ---- other commands
    Case("misspelt command", "breakdwon", 2, "Error: No such command 'breakdwon'. Did you mean 'breakdown'?"),
    Case("report in another form", f"report {ON_RUNS} --format json", 2,
         "Error: No such option '--format'."),
    Case("report into a file", f"report {ON_RUNS} --output qrels.txt", 3,
         "robustcs: qrels.txt/report.html: not written, a parent folder is a file; choose another name"),
    Case("check without inputs", "check", 2,
         "robustcs: no inputs are given; add options, or create a robustcs.toml with robustcs init"),
    Case("init over a config", "init", 2, "robustcs: robustcs.toml exists already; edit it, or move it first",
         {"robustcs.toml": ""}),
    Case("init without inputs", "init folder", 2,
         "robustcs: no runs, qrels, texts or answers in folder; name the folder with these files"),
    Case("init in no folder", "init gone", 2, "robustcs: gone: no such folder; name the folder with your files"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    (tmp_path / "folder").mkdir()
    return tmp_path


def write(folder: Path, files: dict[str, str | bytes]) -> dict[str, bytes]:
    """Write sound files and those of a case; the folder's contents."""
    for name, text in {**FILES, **files}.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_bad_input(case: Case, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = write(folder, case.files)
    code = run(shlex.split(case.command))
    out, err = capfd.readouterr()
    message = without_count(err.removesuffix("\n"))
    if message.startswith("Usage:"):
        message = message.splitlines()[-1]
    assert message == case.message
    assert code == case.code
    assert out == ""
    assert contents(folder) == before


@pytest.mark.parametrize("command", [RUNS, SWEEP, SCORED, ANSWERS, TEXT, f"check {ON_RUNS}"])
def test_the_sound_files_are_sound(
    command: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(folder, {})
    assert run(shlex.split(command)) == 0
    notes = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Note")]
    assert all(
        note.lower().startswith(
            "note: the sampling unit is the turn, because there is only 1 conversation"
        )
        for note in notes
    )


NOTED = [
    Case("swapped roles", RUNS, 0, "Human scores below Original (P_1, ndcg_cut_3); check that the two files are not swapped",
         {"human.trec": RUN.replace("d1", "d9").replace("d3", "d8")}),
    Case("turn missing from one run", RUNS, 0, "QR misses 1 turn: 1_2", {"qr.trec": RUN.replace("1_2 Q0 d3 1 7.5 t\n", "")}),
    Case("turns without judgments", RUNS, 0, "2 turns of the runs have no judgments and are excluded",
         {"qr.trec": RUN + RUN.replace("1_", "2_")}),
    Case("repeated passage", RUNS, 0, "qr: 1 repeated document skipped; the best-ranked row of each counts",
         {"qr.trec": RUN + "1_1 Q0 d1 3 1 t\n"}),
    Case("repeated judgment", RUNS, 0, "qrels.txt: 1 repeated judgment counted once",
         {"qrels.txt": QRELS + "1_1 0 d1 2\n"}),
    Case("header and comments", RUNS, 0, "qr: skipped the header line",
         {"qr.trec": "query_id Q0 docno rank score tag\n" + RUN}),
    Case("answers that gold lacks", ANSWERS, 0, "1 answer of qr to turns without gold answers excluded",
         {"qr.json": '{"1_1": "tube", "9_9": "no"}'}),
    Case("check: other passage ids", f"check {ON_RUNS}", 0,
         f"original: none of its passages is judged: its passage ids look like 'MARCO_1', those of the qrels like 'd1';"
         f" {TOGETHER}",
         {"raw.trec": RUN.replace("d", "MARCO_")}),
    Case("check: a run that did not answer these texts", f"check {ON_RUNS} --rewrites qr=a.tsv --rewrites human=texts.tsv", 0,
         "qr and Human have the same text for 2 turns, but different rankings for 1 turn (1_2); check that the run of qr was"
         " made for these texts",
         {"a.tsv": TEXTS, "qr.trec": RUN.replace("d3", "d1")}),
    Case("unjudged: other passage ids", RUNS.replace("breakdown", "unjudged"), 0,
         f"original: none of its passages is judged: its passage ids look like 'MARCO_1', those of the qrels like 'd1';"
         f" {TOGETHER}",
         {"raw.trec": RUN.replace("d", "MARCO_")}),
    Case("texts that lack a turn", f"{TEXT} --rewrites human=b.tsv", 0,
         "1 turn without an Original or Human text excluded from shares of rewritten turns: 1_1", {"b.tsv": "1_2\tx\n"}),
    Case("check: group of unknown runs", "check", 0, "group manual names unknown runs: manual_1",
         {"robustcs.toml": TOML + '[groups.manual]\nbaseline = "human"\nsets = ["manual_1"]\n'}),
    Case("check: answers to other turns", ANSWERS.replace("breakdown --metric f1", "check"), 0,
         "qr answers no turn with a gold answer; check that the turn ids agree", {"qr.json": '{"9_1": "a"}'}),
    Case("check: passages without text", "check", 0, "the collection contains 1 of the 3 judged passages",
         {"robustcs.toml": 'collection = "passages.tsv"\n' + TOML, "passages.tsv": "d1\tSome text.\n"}),
]  # fmt: skip


@pytest.mark.parametrize("case", NOTED, ids=[case.name for case in NOTED])
def test_what_can_be_evaluated_but_looks_wrong_is_noted(
    case: Case, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = write(folder, case.files)
    assert run([*shlex.split(case.command), "--format", "json"]) == case.code
    out, err = capfd.readouterr()
    assert f'"{case.message}"' in out.partition('"notes": ')[2]
    assert err == ""
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("role", "line", "file", "text", "turn"),
    [("original", f"check {ON_RUNS}", "raw.trec", RUN.replace("1_", "t1-"), "t1-1"),
     ("original texts", f"check {ON_RUNS} --rewrites original=texts.tsv", "texts.tsv", TEXTS.replace("1_", "7_"), "7_1")],
    ids=["run", "texts"],
)  # fmt: skip
def test_check_refuses_what_belongs_to_other_turns(
    role: str,
    line: str,
    file: str,
    text: str,
    turn: str,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = write(folder, {file: text})
    assert run([*shlex.split(line), "--format", "json"]) == 3
    out, err = capfd.readouterr()
    found = f"{file}: none of its turns is in the qrels: its turn ids look like {turn!r}, those of the qrels like '1_1'; {TOGETHER}"
    assert err == f"{found}\n"
    files = json.loads(out)["tables"]["files"]
    assert {entry["role"]: entry["problem"] for entry in files if entry["problem"]} == {role: found}
    assert contents(folder) == before


def test_check_shows_everything_and_then_fails(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(folder, {"raw.trec": RUN.replace("8.5", "high"), "human.trec": ""})
    assert run(shlex.split(f"check {ON_RUNS}")) == 3
    out, err = capfd.readouterr()
    assert err.splitlines() == [
        "raw.trec:2: score 'high' is not a number; write a decimal number",
        "human.trec: the file is empty; write lines of: turn Q0 document rank score tag",
    ]
    assert "original  raw.trec       –  unusable" in out.splitlines()
    assert "qr        qr.trec        3  ok" in out.splitlines()


def test_a_closed_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    opened = os.open

    def refuse(path: str, flags: int, *mode: int) -> int:
        if flags & os.O_EXCL:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *mode)

    before = write(folder, {})
    with monkeypatch.context() as patch:
        # permissions do not stop the administrator who may run this
        patch.setattr(os, "open", refuse)
        assert run(shlex.split(f"{RUNS} --output out.json")) == 3
    assert capfd.readouterr().err == (
        "robustcs: out.json: not written, no permission to write to its folder; check the permissions\n"
    )
    assert contents(folder) == before


def test_a_traceback_only_when_asked(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(folder, {})
    assert run(shlex.split(f"{RAW} gone.trec --traceback")) == 3
    err = capfd.readouterr().err
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("\ngone.trec: no such file; check the path\n")


def test_all_unusable_files_are_named_at_once_by_check(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(folder, {})
    assert (
        run(
            shlex.split(
                "check --qrels a --original b --qr c --human d --gold e --rewrites original=f"
            )
        )
        == 3
    )
    assert sorted(capfd.readouterr().err.splitlines()) == [
        f"{name}: no such file; check the path" for name in "abcdef"
    ]
