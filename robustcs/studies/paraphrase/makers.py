"""Who makes the texts of a stage: a program of the user, or a model in a local folder; both ask only for what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robustcs.programs.copies import Asking, ask_copies
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import TIMEOUT, Track, program_identity
from robustcs.retrieval.generation import Decoding, generator
from robustcs.retrieval.rewriting import SEPARATOR
from robustcs.studies.paraphrase.stages import Made, Request

#: What a model gets: ``{text}`` is the text, ``{conversation}`` the earlier turns and the text, joined by the separator.
PROMPTS = {"reformulate": "{conversation}", "paraphrase": "{text}", "remove_context": "{text}"}


@dataclass(frozen=True)
class Program:
    """Asks ``command`` over JSONL, as docs/programs.md says; answers are kept by the program's content and the request."""

    command: str
    seed: int = 0
    timeout: float = TIMEOUT
    track: Track = lambda items, what, total: items
    store: OutputStore = field(default_factory=OutputStore)

    def __call__(self, requests: Sequence[Request]) -> Made:
        """Raises :class:`UsageError` where the program cannot be started, or ends badly without an answer."""
        asked = {str(place): request for place, request in enumerate(requests)}
        contents = {key: {**request.content, "seed": self.seed} for key, request in asked.items()}
        maker = program_identity(self.command)
        found: dict[str, Any] = self.store.get(maker, contents)
        known = len(found)
        lines = [{"id": key, "turn": asked[key].turn, **contents[key]} for key in asked if key not in found]
        replies = ask_copies(
            Asking(self.command, timeout=self.timeout), lines,
            lambda answers: self.store.put(maker, {key: texts_of(answer) for key, answer in answers.items()}, contents),
            accept=lambda answer: bool(texts_of(answer)), what=_doing(requests, len(lines)), track=self.track,
        )  # fmt: skip
        found |= {key: texts_of(answer) for key, answer in replies.answers.items()}
        return Made(
            self.command, {asked[key]: texts for key, texts in found.items()}, known, replies.repeated, replies.foreign,
            replies.unreadable, f"the program {replies.complaint}" if replies.complaint else "",
        )  # fmt: skip


def texts_of(answer: Mapping[str, Any]) -> list[str]:
    """Return the texts of an answer: ``texts``, or the one ``text``; none where these are something else."""
    texts = answer.get("texts", [answer.get("text")])
    return list(texts) if isinstance(texts, list) and all(isinstance(one, str) for one in texts) else []


@dataclass(frozen=True)
class Model:
    """A sequence-to-sequence model in ``folder``; what it wrote is kept by its content, its settings and the input."""

    folder: Path
    seed: int = 0
    decoding: Decoding = "sampling"
    device: str = "auto"
    batch: int = 16
    separator: str = SEPARATOR
    prompt: str = "{text}"
    track: Track = lambda items, what, total: items
    store: OutputStore = field(default_factory=OutputStore)

    def __call__(self, requests: Sequence[Request]) -> Made:
        """Raises :class:`NotInstalledError` without torch and transformers, :class:`InputError` for what is no model."""
        inputs = {request: self._input(request) for request in requests}
        if not requests:
            return Made(str(self.folder), {})
        number = requests[0].number
        # one best text is found by greedy search; several are drawn or beamed
        decoding = self.decoding if number > 1 else "beam"
        model = generator(self.folder, number, decoding, self.seed, self.device, self.batch)
        different = list(dict.fromkeys(inputs.values()))
        outputs: dict[str, Any] = self.store.get(model.identity, {text: text for text in different})
        known = sum(text in outputs for text in inputs.values())
        # whole batches, since what is drawn for a text depends on its batch
        left = [batch for batch in model.batches(different) if not outputs.keys() >= set(batch)]
        for made in self.track(model.generate(left), _doing(requests, sum(map(len, left))), len(left)):
            self.store.put(model.identity, made, {text: text for text in made})
            outputs |= made
        note = f"{self.folder.name} on {model.device}{' in half precision' if model.device == 'cuda' else ''}"
        return Made(str(self.folder), {request: outputs[text] for request, text in inputs.items()}, known, note=note)

    def _input(self, request: Request) -> str:
        conversation = self.separator.join([*request.history, request.text])
        # not str.format: a template is data
        return " ".join(self.prompt.replace("{conversation}", conversation).replace("{text}", request.text).split())


def _doing(requests: Sequence[Request], number: int) -> str:
    return f"{requests[0].stage.replace('_', ' ') if requests else 'nothing'}: {number} texts"
