"""The command ``robustcs crowd``: turn grades of crowd workers into judgments, and score runs on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import MOST, Folder, Opt
from robustcs.studies.study import SEED, UNIT, Call, Command
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.crowd.analysis import Crowd


def ask(workspace: Workspace, *, metrics: str | Sequence[str] = ()) -> Crowd:
    """Turn grades of crowd workers into qrels, and pool and score runs.

    GRADES is CSV or JSONL with turn, item, worker, criterion and grade (or the published judgments of CAsT-ReGIn). A worker
    whose grade differs from a gold check by more than 1 (or tolerance in [crowd]) loses all grades for that topic. The final
    grade of an item is the mode of its workers' grades. Without a clear mode, it is their mean, rounded half up.

    --run NAME=FILE names runs in TREC format or mixed-initiative JSON. They are pooled to --pool-depth K (default: 1) and
    scored on the judgments, or on --qrels FILE, by default at relevance level 2. There are scores over all
    turns, over the turns with a relevant grade, and over --subset. If no file is given, the command uses the files of [crowd]
    in robustcs.toml.

    Examples:
      robustcs crowd
      robustcs crowd grades.csv --gold-checks checks.csv --folder judged
      robustcs crowd --bank bank.json --run a=a.json --run b=b.json \\
          --pool-depth 3 --folder pool
      robustcs crowd --qrels relevance.qrel --bank bank.json --run a=a.json \\
          --subset turns.txt
      robustcs crowd grades.csv --run a=a.trec --output crowd.json
    """
    from robustcs.evaluation.measure import parse_measure
    from robustcs.studies.crowd.steps import crowd_and_files

    names = (metrics,) if isinstance(metrics, str) else metrics
    return crowd_and_files(workspace, [parse_measure(name) for name in names])[0]


#: Options that GRADES is combined with; without them, GRADES replaces all files of the project.
_FILES = ("gold_checks", "bank", "qrels", "subset", "run")


def _run(
    call: Call,
    grades: Annotated[str, Opt("[GRADES]", argument=True)] | None,
    folder: Folder | None,
    overwrite: Annotated[bool, Opt(needs="--folder")],
    *,
    depth: Annotated[int, Opt("K", low=1, high=MOST, flag="--pool-depth")] | None,
) -> None:
    """Run the command.

    folder
        Folder for the qrels, the pool and the converted runs (default: do not write them).

    overwrite
        Replace files in --folder that have other content.

    depth
        Depth of the pool (default: 1).
    """
    from robustcs.documents.files import write_folder
    from robustcs.project.model import CrowdFiles
    from robustcs.studies.crowd.steps import crowd_and_files

    files = (call.project.crowd or CrowdFiles()).given(
        **({} if depth is None else {"depth": depth})
    )
    if grades:
        beside = any(call.given[name] for name in _FILES)
        files = replace(files, grades=Path(grades)) if beside else files.given(grades=Path(grades))
    workspace = call.workspace(replace(call.project, crowd=files))
    result, parts = crowd_and_files(workspace, call.project.metrics if call.given["metric"] else ())
    written = write_folder(folder, parts, overwrite) if folder else []
    call.emit(workspace, result)
    if written:
        call.tell(
            f"wrote {counted(len(written), 'file')} to {folder}: {', '.join(path.name for path in written)}"
        )
    else:
        call.tell("to write the qrels, the pool and the converted runs, add --folder DIR")


COMMAND = Command(ask, ("crowd.gold_checks", "crowd.bank", "crowd.qrels", "crowd.subset", "crowd.runs", "metric",
    "relevance_level", "missing", "order", *UNIT, *SEED), retrieves=False, run=_run,
)  # fmt: skip
