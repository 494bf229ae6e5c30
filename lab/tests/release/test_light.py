"""The folder of a pretrained light encoder: saved, loaded, damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nestag.errors import InputError, SettingError
from nestag.model.pretrained import from_int8
from nestag.model.recognizer import load_tokenizer
from nestag.model.tagger import Tagger
from nestag.training.run import train
from nestag_lab.release.light import save_light, to_int8
from two_sentences import CORPUS, MANY, quick


@pytest.fixture(scope="module")
def light(tiny_encoder: Callable[[str], str]) -> str:
    return f"light:{tiny_encoder('bert')}"


def test_pretrained_weights_initialize_matching_layers(light: str, tmp_path: Path) -> None:
    settings = {"sizes": (3, 4, 5), "conv_size": 12, "conv_layers": 2}
    torch.manual_seed(1)
    body = Tagger.around(light, 6, **settings)
    save_light(tmp_path / "pretrained", {n: w for n, w in body.state_dict().items() if "heads" not in n},
               load_tokenizer(light))  # fmt: skip
    weights, pretrained = body.state_dict(), f"light:{tmp_path / 'pretrained'}"
    started = Tagger.around(pretrained, 6, **settings).state_dict()
    for name in (
        "encoder.embeddings.weight",
        "narrow.weight",
        "convolutions.1.conv.weight",
        "convolutions.0.norm.bias",
    ):
        assert (started[name] - weights[name]).abs().max() <= weights[name].abs().max() / 250, name
    shorter = Tagger.around(pretrained, 6, **(settings | {"conv_layers": 1, "shape_size": 4})).state_dict()
    assert torch.equal(shorter["convolutions.0.conv.weight"], started["convolutions.0.conv.weight"])
    assert shorter["narrow.weight"].shape == (12, 10)  # it does not fit and starts afresh
    with pytest.raises(SettingError, match="light_size is 7, and the pretrained vectors have 6"):
        Tagger.around(pretrained, 7, **settings)
    recipe = quick(pretrained, light_size=6, conv_size=12, conv_layers=2, epochs=1)
    assert train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True).recognizer.predict(CORPUS)


def test_int8_error_is_at_most_half_a_step() -> None:
    tensors = {"a": torch.randn(3, 4, 5), "b": torch.randn(7), "c": torch.zeros(2, 2)}
    back = from_int8(to_int8(tensors))
    assert back.keys() == tensors.keys()
    assert torch.equal(back["b"], tensors["b"])
    steps = tensors["a"].flatten(1).abs().amax(1) / 127
    assert bool(((back["a"] - tensors["a"]).abs().flatten(1) <= 0.51 * steps[:, None]).all())


def test_damaged_pretrained_encoder_is_a_one_line_error(light: str, tmp_path: Path) -> None:
    body = Tagger.around(light, 6, sizes=(1, 1, 1))
    save_light(tmp_path, {"encoder.embeddings.weight": body.encoder.embeddings.weight}, load_tokenizer(light))
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match="the light encoder cannot be loaded"):
        Tagger.around(f"light:{tmp_path}", 6)
