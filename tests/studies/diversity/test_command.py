"""``robustcs diversity``."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

import pytest
from rouge_score.rouge_scorer import RougeScorer

from robustcs.cli.main import run
from robustcs.inputs.texts import read_texts
from robustcs.project.model import Project
from robustcs.project.workspace import Workspace
from robustcs.studies.diversity.steps import read_text_sets
from tests.conftest import Command


def test_cast_2020_manual_against_raw_turns(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2020")
    files = [
        "--source",
        "topics_manual.json:raw_utterance",
        "--target",
        "topics_manual.json:manual_rewritten_utterance",
    ]
    assert run(["diversity", *files, "--format", "json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["tables"]["bleu"]
    assert (round(row["value"], 2), row["sentences"]) == (44.72, 216)
    assert (row["source"], row["target"]) == (files[1], files[3])
    # a source is the raw turn and a target the manual one where no field is named
    assert (
        run(
            [
                "diversity",
                "--source",
                files[1].split(":")[0],
                "--target",
                files[3].split(":")[0],
                "--format",
                "csv",
            ]
        )
        == 0
    )
    assert "44.72" in capfd.readouterr().out


def test_a_project_compares_its_formulations_and_paraphrases(in_demo: Command) -> None:
    result = json.loads(in_demo("diversity --format json").out)
    bleu = {(row["source"], row["target"]): row["sentences"] for row in result["tables"]["bleu"]}
    assert bleu == {
        ("original", "human"): 70, ("human", "qr"): 70, ("human", "manual paraphrases"): 350,
        ("original", "raw paraphrases"): 350,
    }  # fmt: skip
    assert result["policy"]["line"] == "70 turns in 10 conversations · nothing is scored"
    compared = [
        (row["source"], row["first"], row["second"]) for row in result["tables"]["similarity_pairs"]
    ]
    assert set(compared) == {
        ("original", "human", "raw paraphrases"),
        ("human", "qr", "manual paraphrases"),
    }
    out = in_demo("diversity").out
    assert max(map(len, out.splitlines())) <= 80
    assert (
        "How close are the texts to their source?" in out
        and "Which topics are least diverse?" in out
    )


def test_llm4cs_samples_against_human_rewrites(
    shared_data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """ROUGE-1 F over all samples is .926 for the prompt REW (computed by hand); no field has to be named."""
    folder = shared_data / "formats" / "llm4cs"
    topics, rewrites = str(folder / "cast19_test.json"), str(folder / "cast19_rewrites.jsonl")
    targets = ["--target", rewrites, "--target", f"{topics}:original"]
    assert run(["diversity", "--source", topics, *targets, "--format", "json"]) == 0
    tables = json.loads(capfd.readouterr().out)["tables"]
    rew, raw = [row for row in tables["similarity"] if row["measure"] == "rouge1_f"]
    assert (round(rew["value"], 3), rew["turns"], rew["texts"], rew["samples"]) == (
        0.926,
        479,
        2395,
        5,
    )
    assert 0.91 < rew["ci_low"] < rew["value"] < rew["ci_high"] < 0.94
    assert tables["bleu"][0]["sentences"] == 2395
    human, original = read_texts(topics, "human"), read_texts(topics, "original")
    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    samples = [
        (human[turn["sample_id"]], text)
        for turn in map(json.loads, Path(rewrites).read_text().splitlines()) for text in turn["predicted_rewrite"]
    ]  # fmt: skip
    assert rew["value"] == pytest.approx(
        mean(scorer.score(one, other)["rouge1"].fmeasure for one, other in samples)
    )
    assert raw["value"] == pytest.approx(
        mean(scorer.score(human[turn], original[turn])["rouge1"].fmeasure for turn in human)
    )
    pair = tables["similarity_pairs"][0]
    assert (pair["first"], pair["second"]) == ("cast19_rewrites.jsonl", "cast19_test.json:original")
    assert pair["difference"] == pytest.approx(rew["value"] - raw["value"], abs=1e-6)
    assert pair["p_corrected"] < 0.001


def test_all_samples_of_a_projects_rewriters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    human = {
        f"{topic}_{turn}": f"What is moraine {topic} made of?"
        for topic in range(1, 7)
        for turn in (1, 2)
    }
    Path("human.json").write_text(json.dumps(human))
    for name, other in (("one", "What is moraine made of?"), ("two", "Why?")):
        lines = [
            {"sample_id": turn, "predicted_rewrite": [text, other]} for turn, text in human.items()
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rewrites = ["human=human.json", "qr:one=one.jsonl", "qr:two=two.jsonl"]
    assert (
        run(
            [
                "diversity",
                *(word for one in rewrites for word in ("--rewrites", one)),
                "--format",
                "json",
            ]
        )
        == 0
    )
    found = json.loads(capfd.readouterr().out)
    one, two = [row for row in found["tables"]["similarity"] if row["measure"] == "rouge1_f"]
    # 5 of 6 words are the same: precision 1, recall 5/6
    assert (one["value"], two["value"]) == (pytest.approx((1 + 10 / 11) / 2), pytest.approx(1 / 2))
    assert [row["texts"] for row in (one, two)] == [24, 24]
    assert not any("first stands for it" in note for note in found["notes"])
    [pair] = [row for row in found["tables"]["similarity_pairs"] if row["measure"] == "rouge1_f"]
    # all six conversations differ in the same way: 2 of 2**6 sign patterns
    assert (pair["first"], pair["p"], pair["p_corrected"]) == (
        "one",
        pytest.approx(2 / 64),
        pytest.approx(2 / 64),
    )


@pytest.mark.parametrize(
    ("source", "target", "texts"),
    [
        # of a rewriter's file what it wrote, and beside it what a person wrote
        ('{"sample_id": "1_1", "cur_utt_text": "it", "oracle_utt_text": "a b c"}',
         '{"sample_id": "1_1", "predicted_rewrite": ["a b c d"], "cot": ["x", "y"]}', ("a b c", "a b c d")),
        ('{"topic_number": 1, "query_number": 1, "input": ["it"], "target": "a b c", "output": "a b c d"}', None,
         ("a b c", "a b c d")),
        # without a rewriter's texts the raw turn and the manual one
        ('{"sample_id": "1_1", "cur_utt_text": "it", "oracle_utt_text": "a b c"}', None, ("it", "a b c")),
        # questions with their rewrites are no rewriter's file
        ('{"id": "1_1", "question": "it", "rewrite": "a b c"}', None, ("it", "a b c")),
        # what a file has, where it has no other
        ('{"sample_id": "1_1", "cur_utt_text": "it"}', '{"turn_id": "1_1", "raw_utterance": "a"}', ("it", "a")),
    ],
)  # fmt: skip
def test_fields_of_known_kinds(
    tmp_path: Path, source: str, target: str | None, texts: tuple[str, str]
) -> None:
    (tmp_path / "source.jsonl").write_text(source)
    (tmp_path / "target.jsonl").write_text(target or source)
    pairs, _ = read_text_sets(
        Workspace(Project()), [str(tmp_path / "source.jsonl")], [str(tmp_path / "target.jsonl")]
    )
    assert tuple(one.wordings["1_1"] for one in pairs[0]) == ((texts[0],), (texts[1],))


def test_before_and_after(in_copy: Command, tmp_path: Path) -> None:
    rows = ["TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE"]
    before = [
        *rows,
        "1_1,What is a sourdough starter made of?,a",
        "1_2,How do I make a sourdough starter at home?,b",
    ]
    after = [*rows, "1_1,Explain starter dough,a", "1_2,Any way to begin sourdough from scratch?,b"]
    for name, lines in (("before", before), ("after", after)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    targets = f"--target {tmp_path}/before.csv --target {tmp_path}/after.csv:MANUAL_PARAPHRASE"
    answer = in_copy(f"diversity --source topics.json:manual {targets}")
    assert "68 turns of topics.json:manual excluded: not in before.csv" in " ".join(
        answer.out.split()
    )


def test_names_have_as_many_folders_as_they_need(tmp_path: Path) -> None:
    files = [
        tmp_path / name for name in ("one/REW/rewrites.json", "one/COT/rewrites.json", "human.json")
    ]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('{"1_1": "a"}')
    pairs, _ = read_text_sets(Workspace(Project()), [str(files[2])], [*map(str, files[:2])])
    assert [target.name for _, target in pairs] == ["REW/rewrites.json", "COT/rewrites.json"]
    pairs, _ = read_text_sets(Workspace(Project()), [str(files[2])], [str(files[2])])
    assert [(source.name, target.name) for source, target in pairs] == [
        ("human.json", "human.json")
    ]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            "--source topics.json",
            2,
            "--target is missing; name the other texts with --target FILE[:FIELD]",
        ),
        ("--target topics.json", 2, "--source is missing; name the other texts"),
        (
            "--source topics.json --target paraphrases.csv:both",
            2,
            "paraphrases have no field 'both'; write manual or raw",
        ),
        (
            "--source topics.json --target nowhere.tsv",
            3,
            "nowhere.tsv: no such file; check the path",
        ),
    ],
)
def test_wrong_use(in_demo: Command, options: str, code: int, message: str) -> None:
    assert message in in_demo(f"diversity {options}", code=code).err


def test_nothing_to_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["diversity"]) == 2
    lacks = "texts of Human and of another formulation are needed; add --rewrites ROLE=FILE for each, or name two files with"
    assert lacks in capfd.readouterr().err
    (tmp_path / "a.json").write_text('{"1_1": "a"}')
    (tmp_path / "b.json").write_text('{"2_1": "a"}')
    line = ["diversity", "--rewrites", "qr=a.jsonl", "--rewrites", "original=b.json"]
    Path("a.jsonl").write_text('{"sample_id": "1_1", "predicted_rewrite": ["a", "b"]}\n')
    assert run(line) == 2
    assert lacks in capfd.readouterr().err
    assert run(["check", *line[1:]]) == 0
    assert "texts of Human and of another formulation are needed" in " ".join(
        capfd.readouterr().out.split()
    )
    assert run(["diversity", "--rewrites", "human=a.json"]) == 2
    assert lacks in capfd.readouterr().err
    assert run(["diversity", "--source", "a.json", "--target", "b.json"]) == 2
    assert (
        "a.json and b.json have no turn in common; check their turn ids: '1_1' and '2_1'"
        in capfd.readouterr().err
    )
