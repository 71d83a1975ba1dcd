"""Steps of ``robustcs paraphrase``: run the user's program, and make the files of ``--folder``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustcs.documents.paraphrase_files import paraphrases_csv, sheet_csv
from robustcs.programs.runner import ProgramCall, call_with_store, program_identity
from robustcs.project.workspace import Workspace
from robustcs.studies.paraphrase import stages
from robustcs.studies.paraphrase.analysis import Variations
from robustcs.studies.paraphrase.stages import Paraphrased


def program(command: str, seed: int, timeout: float, workspace: Workspace) -> stages.Maker:
    """Return a maker that sends requests to ``command`` (docs/programs.md) and stores answers by program and request."""

    def make(requests: Sequence[stages.Request]) -> stages.Made:
        by_key = {str(place): request for place, request in enumerate(requests)}
        texts, known, replies = call_with_store(
            ProgramCall(command, timeout=timeout), program_identity(command),
            {key: {**request.content, "seed": seed} for key, request in by_key.items()}, stages.texts_of,
            f"{requests[0].stage.replace('_', ' ')}:" if requests else "", workspace.track,
            lambda key: {"turn": by_key[key].turn},
        )  # fmt: skip
        return stages.Made(
            command, {by_key[key]: some for key, some in texts.items()}, known,
            replies.repeated + replies.foreign + replies.unreadable,
            f"the program {replies.complaint}" if replies.complaint else "",
        )  # fmt: skip

    return make


def files_of(result: Variations | Paraphrased) -> Mapping[str, str]:
    """Return the files for ``--folder``: name → content."""
    if isinstance(result, Variations):
        rows = [
            (row.turn, row.manual, row.raw, row.category) for row in result.variations.itertuples()
        ]
        return {"paraphrases.csv": paraphrases_csv(rows)}
    made = list(result.paraphrases.itertuples(index=False, name=None))
    csv = paraphrases_csv((turn, manual, raw, "") for turn, _, _, manual, raw in made)
    return {"paraphrases.csv": csv, "sheet.csv": sheet_csv(made)}
