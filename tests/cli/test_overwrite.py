"""No command writes to an input or a project file, whatever option names it, whether it read the file or not."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.conftest import Command

#: Files of the demo project that hardly any command reads together.
INPUTS = ["robustcs.toml", "my.toml", "qrels.txt", "topics.json", "answers/gold.json", "paraphrases.csv", "crowd/grades.csv",
          "runs/plain_human.trec"]  # fmt: skip
#: Commands with ``{}`` where they write.
WRITERS = [
    "breakdown --output {}", "sweep --step 0.5 --format json --output {}", "correlate --format csv --output {}",
    "unjudged --format csv --output {}", "robustness --format json --output {}", "augment --leave-one-out --format json -o {}",
    "augment --new-judgments new.txt --write-qrels {}", "judge --list --format csv --output {}", "judge --judgments {}",
    "testsets --format json --output {}", "paraphrase --format json --output {}", "diversity --format csv --output {}",
    "clariq --format json --output {}", "crowd --format json --output {}", "agreement --format json --output {}",
    "agreement --html {}", "check --format json --output {}", "report --output {}", "judge --export {}",
]  # fmt: skip


def sums(folder: Path) -> dict[str, str]:
    """Of every file."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def demo_copy(in_copy: Command, tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    (folder / "my.toml").write_text((folder / "robustcs.toml").read_text())
    (folder / "new.txt").write_text((folder / "qrels.txt").read_text())
    assert Path(os.getcwd()) == folder
    return folder


@pytest.mark.parametrize("command", WRITERS)
def test_an_input_is_never_written_to(
    demo_copy: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    os.link("topics.json", "hard.json")
    Path("soft.json").symlink_to("crowd/grades.csv")
    before = sums(demo_copy)
    for target in (*INPUTS, "hard.json", "soft.json"):
        code = run([*command.format(target).split(), "--config", "my.toml"])
        err = capfd.readouterr().err
        assert code in (2, 3) and target in err and "Traceback" not in err, (target, code, err)
        if "judge --judgments" in command and target == "qrels.txt":
            assert (
                err == "robustcs: qrels.txt is the qrels file; name another file with --judgments\n"
            )
        elif "--export" not in command and not command.startswith("report"):
            assert (
                err.splitlines()[-1]
                == f"robustcs: {target} is an input, which is never overwritten; choose another name for the output"
            )
        assert sums(demo_copy) == before, target


def test_a_folder_of_files_spares_inputs_in_it(
    demo_copy: Path, capfd: pytest.CaptureFixture[str], undrawn: None
) -> None:
    for folder, name, command in (
        ("sets", "manual_1.tsv", "testsets"),
        ("varied", "paraphrases.csv", "paraphrase"),
        ("made", "pool.txt", "crowd"),
        ("page", "report.html", "report"),
        ("page", "tables/breakdown-turns.csv", "report"),
    ):
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("precious")
        text = Path("plain.toml" if command == "report" else "robustcs.toml").read_text()
        Path("my.toml").write_text(f'{text}\n[texts]\nlater = "{path}"\n')
        before = sums(demo_copy)
        option = f"--output {folder}" if command == "report" else f"--folder {folder} --overwrite"
        code = run([*command.split(), "--config", "my.toml", *option.split()])
        err = capfd.readouterr().err
        assert (
            f"{path} is an input, which is never overwritten; choose another name for the output"
            in err
        ), err
        assert code == 2
        assert sums(demo_copy) == before
        path.unlink()


def test_an_output_that_is_judged_already_is_kept(
    demo_copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("judgments.txt").write_text("")
    assert run(["judge", "--list", "--format", "json", "--output", "judgments.txt"]) == 2
    assert "judgments.txt is an input, which is never overwritten" in capfd.readouterr().err


def test_the_new_judgments_of_a_project_are_added_to(
    demo_copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = Path("robustcs.toml").read_text()
    Path("my.toml").write_text(text.replace("new_judgments.txt", "mine.txt"))
    assert (
        run(["judge", "--config", "my.toml", "--export", "sheet.csv", "--judgments", "mine.txt"])
        == 0
    )
    lines = Path("sheet.csv").read_text("utf-8-sig").splitlines()
    Path("sheet.csv").write_text("\n".join([lines[0], lines[1] + "1"]) + "\n")
    assert (
        run(["judge", "--config", "my.toml", "--import", "sheet.csv", "--judgments", "mine.txt"])
        == 0
    )
    assert Path("mine.txt").read_text().count("\n") == 1
    assert (
        run(["breakdown", "--config", "my.toml", "--format", "json", "--output", "mine.txt"]) == 2
    )


def test_a_store_is_never_made_of_an_input(
    demo_copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("empty.txt").write_text("")
    Path("my.toml").write_text(
        'gold = "empty.txt"\n[retrieval]\nindex = "index"\nstore = "empty.txt"\n'
    )
    assert run(["retrieve", "--size", "--config", "my.toml"]) == 2
    assert (
        "empty.txt is an input, which is never overwritten" in capfd.readouterr().err
        and Path("empty.txt").read_bytes() == b""
    )


def test_the_python_report_spares_inputs(demo_copy: Path, undrawn: None) -> None:
    import robustcs
    from robustcs.errors import UsageError

    Path("page/results").mkdir(parents=True)
    Path("page/results/breakdown.json").symlink_to(demo_copy / "topics.json")
    before = Path("topics.json").read_bytes()
    with pytest.raises(
        UsageError, match="page/results/breakdown.json is an input, which is never overwritten"
    ):
        robustcs.report("plain.toml", "page")
    assert Path("topics.json").read_bytes() == before


def test_an_output_does_not_replace_data_that_the_command_does_not_read(
    in_copy: Command, tmp_path: Path
) -> None:
    for name, found in (
        ("mine.txt", "these are TREC qrels"),
        ("mine.csv", "these are paraphrases"),
    ):
        before = (
            tmp_path / "demo" / {"mine.txt": "qrels.txt", "mine.csv": "paraphrases.csv"}[name]
        ).read_bytes()
        (tmp_path / "demo" / name).write_bytes(before)
        err = in_copy(f"unjudged --table rates --output {name}", code=2).err
        assert (
            err
            == f"robustcs: {name} exists, and {found}; remove it, or choose another name for the output\n"
        )
        assert (tmp_path / "demo" / name).read_bytes() == before
    # outputs are replaced, also by other tables; so are files of other content
    (tmp_path / "demo" / "notes.md").write_text("My notes\n")
    for table in ("turns", "measures"):
        in_copy(
            f"evaluate --table {table} --output t.csv --output t.json --output t.txt --output notes.md"
        )


def test_a_page_or_gate_report_does_not_replace_data(in_copy: Command, tmp_path: Path) -> None:
    data = tmp_path / "demo" / "data.html"
    for command in (
        "compare plain.toml plain.toml --html",
        "agreement annotations/experts.jsonl --html",
    ):
        data.write_bytes((tmp_path / "demo" / "qrels.txt").read_bytes())
        err = in_copy(f"{command} data.html", code=2).err
        assert (
            "data.html exists, and these are TREC qrels; remove it, or choose another name for the output\n"
            in err
        )
        assert data.read_bytes() == (tmp_path / "demo" / "qrels.txt").read_bytes()
        data.unlink()
        for _ in range(2):  # its own page is replaced
            in_copy(f"{command} data.html")
