"""Texts by a sequence-to-sequence model in a local Hugging Face folder: one or several for every input."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from robustcs.inputs.files import fingerprint
from robustcs.retrieval.models import chosen_device, in_batches, load_model, transformers
from robustcs.retrieval.store import normalised

Decoding = Literal["beam", "sampling"]
MAX_INPUT, MAX_OUTPUT = 512, 64
#: Of sampling, as Fan et al. (2018) and Holtzman et al. (2019) have them.
TOP_K, TOP_P = 50, 0.95


@dataclass(frozen=True)
class Generator:
    """A model and how it is asked.

    number
        Texts for every input.
    decoding
        ``beam``: the best ``number`` of a beam search, greedy for one; ``sampling``: drawn from the likely words.
    device
        ``cpu`` or ``cuda``.
    """

    folder: Path
    number: int = 1
    decoding: Decoding = "beam"
    seed: int = 0
    device: str = "cpu"
    batch: int = 16

    @property
    def identity(self) -> str:
        """What decides the outputs besides the inputs. Precision does, and of sampling the batches do."""
        drawn = f"{self.seed} {self.batch} {TOP_K} {TOP_P}" if self.decoding == "sampling" else ""
        made = f"{self.number} {self.decoding} {drawn} {self.device} {MAX_INPUT} {MAX_OUTPUT}"
        return hashlib.sha256(f"generator {fingerprint(self.folder)} {made}".encode()).hexdigest()

    def batches(self, inputs: Sequence[str]) -> list[list[str]]:
        """The different inputs, as :func:`in_batches` has them."""
        return in_batches(inputs, self.batch)

    def generate(self, batches: Sequence[Sequence[str]]) -> Iterator[dict[str, list[str]]]:
        """Input → its ``number`` outputs, normalised, batch by batch.

        A batch of the same inputs gives the same outputs: its seed is made of it.

        Raises :class:`NotInstalledError` without torch and transformers, :class:`InputError` for a folder without a model.
        """
        library, torch = transformers()
        model, tokenizer = load_model(self.folder, library.AutoModelForSeq2SeqLM, self.device)
        for batch in batches:
            outputs = self._outputs(model, tokenizer, batch, torch)
            yield {text: outputs[place * self.number : (place + 1) * self.number] for place, text in enumerate(batch)}

    def _outputs(self, model: Any, tokenizer: Any, batch: Sequence[str], torch: Any) -> list[str]:
        # the end of a long history is what the turn leans on
        tokenizer.truncation_side = "left"
        encoded = tokenizer(list(batch), return_tensors="pt", padding=True, truncation=True, max_length=MAX_INPUT)
        if self.decoding == "sampling":
            digest = hashlib.sha256("\0".join([str(self.seed), *batch]).encode("utf-8", "replace")).digest()
            torch.manual_seed(int.from_bytes(digest[:4], "big"))
            how = {"do_sample": True, "top_k": TOP_K, "top_p": TOP_P, "num_beams": 1}
        else:
            how = {"do_sample": False, "num_beams": self.number}
        with torch.inference_mode():
            ids = model.generate(
                input_ids=encoded["input_ids"].to(self.device), attention_mask=encoded["attention_mask"].to(self.device),
                max_new_tokens=MAX_OUTPUT, num_return_sequences=self.number, **how,
            )  # fmt: skip
        return [normalised(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]


def generator(
    folder: Path, number: int = 1, decoding: Decoding = "beam", seed: int = 0, device: str = "auto", batch: int = 16
) -> Generator:
    """A :class:`Generator` on the device that ``device`` (auto, cpu, cuda) comes to; see :func:`chosen_device`."""
    return Generator(folder, number, decoding, seed, chosen_device(device), batch)
