"""Missing scores in ``evaluate``, ``breakdown`` and the gate of ``compare``: told, never 0, never an order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import Formulation, Project
from robustcs.project.trust import limits_of_result
from robustcs.project.workspace import Workspace
from robustcs.studies.breakdown import study as breakdown
from robustcs.studies.breakdown.findings import finding as breakdown_finding
from robustcs.studies.breakdown.findings import verdicts as breakdown_verdicts
from robustcs.studies.evaluate.findings import verdicts
from robustcs.studies.evaluate.study import ask
from robustcs.studies.sweep import study as sweep
from robustcs.studies.sweep.findings import finding as sweep_finding
from tests.case_files import case


@pytest.fixture
def days(tmp_path: Path) -> Path:
    """Equal scores of two days; 8 of 45 judge calls of the second day failed."""
    return case("missing-scores", tmp_path)


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["evaluate", "--config", "/dev/null", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def check(found: dict[str, Any], metric: str) -> None:
    """Check the right result of the case."""
    rows = {row["system"]: row for row in found["tables"]["measures"]}
    (pair,) = found["tables"]["pairs"]
    assert (
        pair["difference"] == 0
        and pair["p_corrected"] == 1
        and pair["lowest"] < 0 < pair["highest"]
    )
    assert [rows[name]["turns"] for name in ("monday", "tuesday")] == [37, 37]
    assert [rows[name]["missing"] for name in ("monday", "tuesday")] == [0, 8]
    assert (
        rows["tuesday"]["lowest"]
        < rows["monday"]["lowest"]
        == rows["monday"]["highest"]
        < rows["tuesday"]["highest"]
    )
    assert rows["monday"]["letters"] == rows["tuesday"]["letters"] == "a"
    assert f"8 of 45 scores of tuesday are missing ({metric})" in found["notes"]
    assert (
        found["policy"]["turns_with_missing_scores"] == 8 and found["policy"]["missing_turns"] == 0
    )


def test_two_files(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = (
        "--scores",
        f"monday={days / 'monday.tsv'}",
        "--scores",
        f"tuesday={days / 'tuesday.tsv'}",
    )
    check(evaluated(capsys, *files), "faithfulness")
    check(evaluated(capsys, *files, "--metric", "faithfulness"), "faithfulness")


@pytest.mark.parametrize("word", ["", "nan", "NaN", "null", "None", "N/A", "-"])
def test_one_file_with_both_columns(
    days: Path, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    one, two = ((days / f"{day}.tsv").read_text().splitlines()[1:] for day in ("monday", "tuesday"))
    rows = [f"{a}\t{b.partition(chr(9))[2] or word}\n" for a, b in zip(one, two, strict=True)]
    (days / "both.tsv").write_text("".join(["turn\tmonday\ttuesday\n", *rows]))
    files = [
        part for day in ("monday", "tuesday") for part in ("--scores", f"{day}={days / 'both.tsv'}")
    ]
    check(evaluated(capsys, *files), "score")
    check(evaluated(capsys, *files, "--metric", "faithfulness"), "faithfulness")


def test_absent_rows_are_missing_scores(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        line
        for line in (days / "tuesday.tsv").read_text().splitlines(keepends=True)
        if line.split("\t")[1].strip()
    ]
    (days / "tuesday.tsv").write_text("".join(rows))
    files = (
        "--scores",
        f"monday={days / 'monday.tsv'}",
        "--scores",
        f"tuesday={days / 'tuesday.tsv'}",
    )
    check(evaluated(capsys, *files), "faithfulness")


def test_missing_scores_are_told_first(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = ask(
        Workspace(Project()),
        scores={day: str(days / f"{day}.tsv") for day in ("monday", "tuesday")},
    )
    [first] = verdicts(result)
    assert first.text == (
        "8 of 45 scores of tuesday are missing; on the 37 turns with scores from all systems, mean faithfulness is 0.625"
        " for monday and 0.625 for tuesday, difference 0.000; the missing scores could change which mean is highest"
    )
    files = [
        part
        for day in ("monday", "tuesday")
        for part in ("--scores", f"{day}={days / f'{day}.tsv'}")
    ]
    assert run(["evaluate", "--config", "/dev/null", *files]) == 0
    out = capsys.readouterr().out
    assert "8 of 45 scores of tuesday are missing; faithfulness of every system" in out
    assert max(map(len, out.splitlines())) <= 80 and "missing scores left out (8 turns)" in out


def test_few_missing_scores_are_not_told_first(tmp_path: Path) -> None:
    scores = {
        name: {f"{place}_1": high - place / 100 for place in range(1, 30)}
        for name, high in (("a", 0.9), ("b", 0.5))
    }
    scores["b"]["4_1"] = float("nan")
    table = {
        name: [{"turn": turn, "s": value} for turn, value in one.items()]
        for name, one in scores.items()
    }
    result = ask(
        Workspace(Project()),
        scores={name: _file(tmp_path / name, rows) for name, rows in table.items()},
    )
    assert verdicts(result)[0].text == "a scores 0.400 s higher than b"
    assert result.measures.set_index("system").loc["b", "missing"] == 1
    assert "1 of 29 scores of b is missing (s)" in result.evaluated.notes


def _file(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def claim(folder: Path, missing: str = "drop", **systems: list[float]) -> str:
    """Return the claim on scores of turns in conversations of four; nan is missing."""
    folder.mkdir(exist_ok=True)
    named = {
        name: [
            {"turn": f"{1 + place // 4}_{1 + place % 4}", "s": value}
            for place, value in enumerate(values)
        ]
        for name, values in systems.items()
    }
    workspace = Workspace(Project(policy=EvaluationPolicy(missing=missing)))  # type: ignore[arg-type]
    [first] = verdicts(
        ask(workspace, scores={name: _file(folder / name, rows) for name, rows in named.items()})
    )
    return first.sentence


NAN = float("nan")
#: Scores of 48 turns around 0.
WAVE = [(place % 5 - 2) / 100 for place in range(48)]


def test_means_over_own_turns_are_not_of_common_turns(tmp_path: Path) -> None:
    complete = [0.2 + one if place < 24 else 0.8 - one for place, one in enumerate(WAVE)]
    some = [NAN if place < 24 else 0.7 + one / 2 for place, one in enumerate(WAVE)]
    said = claim(tmp_path, "own", a=complete, b=some)
    both = [one - other for one, other in zip(complete, some, strict=True) if other == other]
    mean = sum(both) / len(both)
    start = "24 of 48 scores of b are missing; on the 24 turns with scores from both systems, the difference in mean s, a − b, is"
    assert said.startswith(f"{start} {mean:.3f} (95% CI 0.0")
    assert (
        "; 24 turns); each over its own turns, mean s is 0.700 for b and 0.500 for a; the missing scores could change which"
        in said
    )


def test_no_common_turns_no_difference(tmp_path: Path) -> None:
    first = [0.5 + one if place < 24 else NAN for place, one in enumerate(WAVE)]
    second = [NAN if place < 24 else 0.6 + one for place, one in enumerate(WAVE)]
    assert claim(tmp_path, "own", a=first, b=second) == (
        "24 of 48 scores of b are missing; 24 of 48 scores of a are missing; each over its own turns, mean s is 0.600 for b and"
        " 0.499 for a (24 turns of b; 24 turns of a); the missing scores could change which mean is highest."
    )


def test_missing_scores_of_a_third_system_do_not_open_the_order_of_equal_ones(
    tmp_path: Path,
) -> None:
    high, low = (
        [0.7 + one for one in WAVE],
        [NAN if place < 3 else 0.3 - one for place, one in enumerate(WAVE)],
    )
    said = claim(tmp_path, a=high, b=high, c=low)
    assert said.startswith(
        "3 of 48 scores of c are missing; a and b, which have equal scores, score 0.40"
    )
    assert "s higher than c (95% CI" in said and "45 turns)" in said
    may_win = [NAN if place < 30 else 0.3 - one for place, one in enumerate(WAVE)]
    assert claim(tmp_path, a=high, b=high, c=may_win).endswith(
        "the missing scores could change which mean is highest."
    )


def test_complete_systems_are_ordered_over_all_turns(tmp_path: Path) -> None:
    """On the turns that the third system has, the other two have the other order."""
    first = [1.0 if place < 12 else 0.5 + one for place, one in enumerate(WAVE)]
    second = [0.2 if place < 12 else 0.6 + one for place, one in enumerate(WAVE)]
    low = [NAN if place < 12 else 0.1 for place, one in enumerate(WAVE)]
    said = claim(tmp_path, a=first, b=second, c=low)
    assert said.startswith(
        "12 of 48 scores of c are missing; a scores 0.400 s higher than c"
    ) and said.endswith("a ties with 1 system (b).")


def test_basis_and_verb_of_several_systems(tmp_path: Path) -> None:
    high, same = (
        [0.5 + one for one in WAVE],
        [0.5 - one + (place % 2) / 50 for place, one in enumerate(WAVE)],
    )
    wide = [0.505 + 8 * one for one in WAVE]
    assert "whether c or a and b, which have equal scores, score higher" in claim(
        tmp_path, a=high, b=high, c=wide
    )
    lost = [NAN if place < 20 else one for place, one in enumerate(same)]
    said = claim(tmp_path, a=high, b=wide, c=lost)
    assert (
        " for " in said
        and "(28 turns); the missing scores could" in said
        and "; 28 turns)" not in said
    )


def project(folder: Path, lost: int) -> Path:
    """A project with scores of three roles over 40 turns; QR lacks the first ``lost``."""
    folder.mkdir()
    lines = ['metrics = ["faithfulness"]']
    for role, level in (("original", 0.3), ("qr", 0.5), ("human", 0.8)):
        cells = [
            ("" if role == "qr" and place < lost else f"{level + place / 500:.3f}")
            for place in range(40)
        ]
        rows = [f"{1 + place // 4}_{1 + place % 4}\t{cell}\n" for place, cell in enumerate(cells)]
        (folder / f"{role}.tsv").write_text("".join(["turn\tfaithfulness\n", *rows]))
        lines += [f"[formulations.{role}]", f'scores = "{role}.tsv"']
    (folder / "robustcs.toml").write_text("\n".join(lines))
    return folder / "robustcs.toml"


@pytest.mark.parametrize("command", ["breakdown", "sweep"])
def test_turns_with_a_missing_score_are_in_no_bin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    config = project(tmp_path / "p", 3)
    assert run([command, "--config", str(config), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["policy"]["turns"] == 37 and found["policy"]["turns_with_missing_scores"] == 3
    assert "3 turns left out, because a score is missing: qr 1_1, 1_2, 1_3" in [
        note.replace("QR", "qr") for note in found["notes"]
    ]
    if command == "breakdown":
        assert (
            sum(row["count"] for row in found["tables"]["bins"] if row["threshold"] == ">=0.5")
            == 37
        )


@pytest.mark.parametrize(("old", "new", "code"), [(0, 4, 5), (4, 0, 5), (4, 4, 5), (0, 0, 0)])
def test_the_gate_cannot_tell_if_scores_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: int, new: int, code: int
) -> None:
    states = [str(project(tmp_path / name, lost)) for name, lost in (("old", old), ("new", new))]
    assert run(["compare", *states, "--fail-if", "faithfulness:qr drop>0.1"]) == code
    out = "".join(capsys.readouterr())
    assert ("of 40 scores are missing in the" in " ".join(out.split())) == (code == 5)


def _lost_low(folder: Path, lost: int) -> tuple[str, ...]:
    """Return options with scores of 40 turns; ``lost`` of the lowest 10 of Human are missing."""
    folder.mkdir()
    options: list[str] = []
    for role, low, high in (("original", 0.1, 0.2), ("qr", 0.2, 0.4), ("human", 0.3, 0.8)):
        rows = []
        for place in range(40):
            cell = (
                ""
                if role == "human" and place < lost
                else f"{(low if place < 10 else high) + place / 500:.3f}"
            )
            rows.append(f"{1 + place // 4}_{1 + place % 4}\t{cell}\n")
        (folder / f"{role}.tsv").write_text("".join(["turn\tfaith\n", *rows]))
        options += ["--scores", f"{role}={folder / f'{role}.tsv'}"]
    return tuple(options)


FEWER = ("more often", "p adj.", "p <", "p =")


@pytest.mark.parametrize("command", ["breakdown", "sweep"])
def test_no_order_of_causes_if_many_scores_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    told = "10 of 40 scores of Human are missing; 30 turns have all scores."
    many, none = (_lost_low(tmp_path / str(lost), lost) for lost in (10, 0))
    assert run([command, "--config", "/dev/null", *many]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"Figure: {told}") and not [one for one in FEWER if one in out]
    assert f"{told} Errors on these turns" in out
    assert run([command, "--config", "/dev/null", *many, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row[p] for row in found["tables"]["blame"] for p in ("p", "p_corrected")} == {None}
    assert found["policy"]["missing_scores"] == {"human": 10}
    assert run([command, "--config", "/dev/null", *none]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "more often" in out and "missing;" not in out


def _formulations(folder: Path, lost: int) -> Workspace:
    options = dict(one.split("=") for one in _lost_low(folder, lost)[1::2])
    return Workspace(
        Project(
            formulations={
                role: Formulation(role, role, scores=Path(file)) for role, file in options.items()
            }
        )
    )


def test_claims_on_causes_begin_with_many_missing_scores(tmp_path: Path) -> None:
    for lost, first in ((10, "10 of 40 scores of Human are missing"), (2, "")):
        result = breakdown.ask(_formulations(tmp_path / str(lost), lost))
        claims = breakdown_verdicts(result)
        assert all(one.text.startswith(first) for one in claims)
        assert any("more often" in one.text or "loses" in one.text for one in claims) == (not first)
        said = breakdown_finding(result)
        assert ("(adjusted p" in said[1] or "; adjusted p" in said[1]) == (not first)
        if first:
            assert (
                said[1]
                == f"{first}: the data do not show whether the ranker or the rewriter fails more often."
            )
        [*limits] = [
            limit for limit in limits_of_result(result.evaluated) if "missing" in limit.reason
        ]
        assert [limit.bars for limit in limits] == ([True] if first else [])
        swept = sweep_finding(sweep.ask(_formulations(tmp_path / f"{lost}s", lost)))
        assert swept[0].startswith(first) and ("max-T" in swept[0]) == (not first)
