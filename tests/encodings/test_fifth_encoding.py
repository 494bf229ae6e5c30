"""A fifth encoding in one module, without a search, is trained, saved, loaded and used."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import nestag.encodings as registry
from fifth_encoding import FromTheRight
from nestag.decoding import decode
from nestag.model.recognizer import NestedNER
from nestag.training.run import train
from two_sentences import CORPUS, GOLD, MANY, quick


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    registry.register(FromTheRight())
    yield
    decode._decoder.cache_clear()


@pytest.mark.filterwarnings("ignore:encoding 'right' has no search")
def test_fifth_encoding_trains_saves_loads_and_predicts(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    run = train(MANY, CORPUS, tmp_path / "model", quick(tiny_encoder("bert"), encoding="right"), use_cpu=True)
    assert run.dev.f1 == 1.0
    loaded = NestedNER.from_pretrained(tmp_path / "model", "cpu")
    assert loaded.vocabulary.encoding == "right"
    assert loaded.predict(CORPUS) == GOLD
    rated = loaded(CORPUS)
    assert [tuple(scored.entity for scored in found) for found in rated] == GOLD
    assert all(0 < scored.confidence <= 1 for found in rated for scored in found)
    strict = NestedNER.from_pretrained(tmp_path / "model", "cpu", threshold=1.0)
    assert strict.predict(CORPUS) == [()] * len(CORPUS)
