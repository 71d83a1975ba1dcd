"""Sentence encoders: the real loading code on tiny models that the tests build, and every way it can fail."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.errors import InputError, NotInstalledError, UsageError
from robustcs.inputs.files import fingerprint
from robustcs.programs.outputs import OutputStore
from robustcs.similarity.encoders import (
    BATCH,
    Encoder,
    check_similarities,
    cosine,
    embed,
    load_sentence_transformer,
    load_use,
    question_similarities,
)

# ---------------------------------------------------------------- TensorFlow


@pytest.fixture(scope="module")
def tensorflow() -> Any:
    return pytest.importorskip(
        "tensorflow", reason="TensorFlow is not installed: pip install 'robustcs[use]'"
    )


@pytest.fixture(scope="module")
def models(tensorflow: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """SavedModels with USE's signature: a text's vector is one-hot at its hash; and some that are no encoders."""
    tf = tensorflow
    folder = tmp_path_factory.mktemp("models")
    texts = [tf.TensorSpec([None], tf.string)]

    def vectors(strings: Any) -> Any:
        return tf.one_hot(tf.strings.to_hash_bucket_fast(strings, 512), 512)

    functions = {
        "callable": vectors,
        "outputs": lambda strings: {"outputs": vectors(strings)},
        "default": lambda strings: {"default": vectors(strings), "sequence_output": strings},
        "one vector": lambda strings: tf.reduce_sum(vectors(strings), axis=0),
        "integers": lambda strings: tf.cast(vectors(strings), tf.int32),
        "many outputs": lambda strings: {"a": vectors(strings), "b": vectors(strings)},
        "not a number": lambda strings: vectors(strings) * float("nan"),
    }

    def save(name: str, function: Any, signature: Any = texts) -> None:
        call = tf.function(lambda self, x: function(x), input_signature=signature)
        tf.saved_model.save(type("Model", (tf.Module,), {"__call__": call})(), str(folder / name))

    for name, function in functions.items():
        save(name, function)
    save("no texts", lambda numbers: numbers, [tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(tf.Module(), str(folder / "neither"))
    named = tf.function(
        lambda text: {"outputs": vectors(text)},
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
    )
    tf.saved_model.save(tf.Module(), str(folder / "signature"), signatures=named)
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("form", ["callable", "outputs", "default", "signature"])
def test_every_form_of_use(models: dict[str, Path], form: str) -> None:
    encoder = load_use(str(models[form]))
    vectors = encoder.encode(
        ["What is throat cancer?", "Is it treatable?", "What is throat cancer?"]
    )
    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])
    assert encoder.fingerprint == fingerprint(models[form])


@pytest.mark.parametrize(
    ("form", "found"),
    [
        (
            "one vector",
            r"the model returns float32 of shape \[512\] for 2 texts, not one vector per text \(\[2, 512\]",
        ),
        ("integers", r"the model returns int32 of shape \[2, 512\] for 2 texts"),
        ("no texts", "the model does not accept texts"),
        ("many outputs", "the model returns a, b, but no outputs or default"),
        ("not a number", "the model returns vectors with values that are not finite numbers"),
    ],
)
def test_models_that_are_no_encoders(models: dict[str, Path], form: str, found: str) -> None:
    with pytest.raises(InputError, match=found) as error:
        load_use(str(models[form])).encode(["a", "b"])
    assert str(error.value).endswith(
        "; name a sentence encoder, such as the Universal Sentence Encoder"
    )


def test_a_model_that_cannot_be_called(models: dict[str, Path]) -> None:
    with pytest.raises(
        InputError, match="the model is not callable and has no signature serving_default"
    ):
        load_use(str(models["neither"]))


def test_a_damaged_model(tensorflow: Any, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"no protocol buffer")
    with pytest.raises(InputError, match="TensorFlow cannot load it"):
        load_use(str(tmp_path))


def test_a_handle_that_cannot_be_reached(
    tensorflow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(
        "tensorflow_hub", reason="tensorflow-hub is not installed: pip install 'robustcs[use]'"
    )
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path))
    with pytest.raises(
        UsageError,
        match="https://localhost:1/use/4: the model cannot be downloaded .*; check the handle",
    ):
        load_use("https://localhost:1/use/4")


def test_a_handle_in_the_cache_is_not_downloaded(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib
    import shutil

    pytest.importorskip(
        "tensorflow_hub", reason="tensorflow-hub is not installed: pip install 'robustcs[use]'"
    )
    handle = "https://localhost:1/use/4"
    shutil.copytree(models["callable"], tmp_path / hashlib.sha1(handle.encode()).hexdigest())
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path))
    encoder = load_use(handle)
    assert encoder.model == handle
    assert encoder.fingerprint == fingerprint(models["callable"])
    assert encoder.encode(["a"]).shape == (1, 512)


# ---------------------------------------------------------------- sentence-transformers


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_sentence_transformers_folder(tmp_path: Path) -> None:
    missing = (
        "sentence-transformers is not installed: pip install 'robustcs[sentence-transformers]'"
    )
    package = pytest.importorskip("sentence_transformers", reason=missing)
    words = import_module("sentence_transformers.models").BoW(
        vocab=["cancer", "throat", "treatable"]
    )
    package.SentenceTransformer(modules=[words], device="cpu").save(str(tmp_path / "model"))
    encoder = load_sentence_transformer(str(tmp_path / "model"))
    assert encoder.name == "sentence_transformer"
    assert encoder.encode(["throat cancer", "is it treatable"]).tolist() == [[1, 1, 0], [0, 0, 1]]
    (tmp_path / "model" / "modules.json").write_text("[]{")
    with pytest.raises(InputError, match="sentence-transformers cannot load it"):
        load_sentence_transformer(str(tmp_path / "model"))


# ---------------------------------------------------------------- without any of them


@pytest.mark.parametrize(
    ("load", "file", "message"),
    [
        (load_use, "saved_model.pb", "tensorflow cannot be imported (not here); install it with: pip install 'robustcs[use]'"),
        (
            load_sentence_transformer, "modules.json", "sentence-transformers cannot be imported (not here);"
            " install it with: pip install 'robustcs[sentence-transformers]'",
        ),
    ],
)  # fmt: skip
def test_a_missing_package(
    load: Any, file: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).write_text("")
    _hide(monkeypatch, "tensorflow", "sentence_transformers")
    with pytest.raises(NotInstalledError) as error:
        load(str(tmp_path))
    assert str(error.value) == message


def test_a_handle_needs_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    _hide(monkeypatch, "tensorflow_hub")
    with pytest.raises(
        NotInstalledError,
        match=r"tensorflow-hub cannot be imported .* pip install 'robustcs\[use\]'",
    ):
        load_use("https://localhost:1/use/4")


def _hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = builtins.__import__

    def importing(name: str, *rest: Any) -> Any:
        if name.split(".")[0] in packages:
            raise ImportError("not here")
        return real(name, *rest)

    for package in packages:
        monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(builtins, "__import__", importing)
    monkeypatch.setattr("importlib.import_module", importing)


def test_folders_that_hold_no_model(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"nowhere: not a folder and not a TensorFlow Hub handle; name a SavedModel folder",
    ):
        load_use("nowhere")
    with pytest.raises(
        InputError, match=r"not a TensorFlow SavedModel: the folder has no saved_model\.pb"
    ):
        load_use(str(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(
        InputError, match="this is a file; name the folder that contains saved_model.pb"
    ):
        load_use(str(tmp_path / "file"))
    with pytest.raises(
        InputError, match="no such folder; name the folder of a sentence-transformers model"
    ):
        load_sentence_transformer(str(tmp_path / "nowhere"))
    with pytest.raises(
        InputError, match=r"not a sentence-transformers model: the folder has no modules\.json"
    ):
        load_sentence_transformer(str(tmp_path))


def test_a_fingerprint_is_of_names_and_contents(tmp_path: Path) -> None:
    def folder(name: str, files: dict[str, str]) -> str:
        for file, text in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return fingerprint(tmp_path / name)

    one = folder("one", {"a": "x", "sub/b": "y"})
    assert one == folder("two", {"sub/b": "y", "a": "x"})
    assert (
        len(
            {
                one,
                folder("three", {"a": "x", "sub/c": "y"}),
                folder("four", {"a": "y", "sub/b": "x"}),
            }
        )
        == 3
    )


def test_nothing_is_encoded_twice(tmp_path: Path) -> None:
    calls: list[list[str]] = []

    def run(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return np.array([[len(text), 1.0] for text in texts])

    shown: list[tuple[str, int]] = []

    def track(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
        shown.append((what, total))
        return items

    encoder, store = Encoder("use", "model", "print", run), OutputStore(tmp_path / "outputs.sqlite")
    texts = [f"{n}" * (n % 7 + 1) for n in range(BATCH + 10)]
    first = embed(encoder, [*texts, *texts], store, track)
    assert [len(call) for call in calls] == [BATCH, 10]
    assert shown == [(f"encoding {BATCH + 10} texts", 2)]
    again = embed(encoder, [*texts, "new"], store)
    assert calls[2:] == [["new"]]
    assert all(np.array_equal(first[text], again[text]) for text in texts)
    embed(Encoder("use", "model", "another print", run), texts[:1], store)
    assert calls[3:] == [texts[:1]]


def test_cosine() -> None:
    first = [np.array(v, dtype=np.float32) for v in ([1, 0], [1, 1], [0, 0], [2, 2])]
    second = [np.array(v, dtype=np.float32) for v in ([0, 3], [-1, -1], [1, 0], [5, 5])]
    assert cosine(first, second) == pytest.approx([0, -1, 0, 1])
    assert cosine([], []).shape == (0,)


def test_columns_in_the_order_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path))
    encoder = Encoder("use", "m", "f", lambda texts: np.array([[len(text), 1.0] for text in texts]))
    found = question_similarities(
        ["a", "bb"], ["a", "b"], ["use", "rouge1_f"], [encoder], True, lambda items, *_: items
    )
    assert list(found) == ["use", "rouge1_f"]
    assert found["use"] == pytest.approx([1.0, 3 / np.sqrt(10)])
    assert found["rouge1_f"].tolist() == [1.0, 0.0]


def test_wrong_names() -> None:
    with pytest.raises(
        UsageError,
        match=r"no similarity of questions is named .rouge.; choose one of rouge1_.*, use",
    ):
        check_similarities(["rouge1_f", "rouge"], [])
    with pytest.raises(UsageError, match="use requires a model; name it with --use MODEL"):
        check_similarities(["use"], ["sentence_transformer"])
    check_similarities(["use", "rougeL_f"], ["use"])
