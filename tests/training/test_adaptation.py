"""Encoder adaptation: masking, packing, learning, resuming, and refused input."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from nestag import adapt
from nestag.cli import app
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.model.model_folder import WEIGHTS, is_finished
from nestag.model.pretrained import load_encoder
from nestag.model.recognizer import load_tokenizer
from nestag.model.windows import LayoutMaker
from nestag.training import adaptation
from nestag.training.adaptation import (
    AdaptationProgress,
    MaskedLanguageModel,
    _schedule,
    lay_out_text,
    mask_words,
)
from nestag.training.run import train
from nestag.training.run_folder import CHECKPOINTS
from tiny_encoders import KINDS
from two_sentences import CORPUS, MANY, quick

MASK = 4


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates for encoders of width 16."""
    monkeypatch.setattr(adaptation, "RATE", 1e-2)
    monkeypatch.setattr(adaptation, "HEAD_RATE", 3e-2)


def test_only_whole_words_are_masked() -> None:
    torch.manual_seed(0)
    ids = torch.randint(10, 60, (400, 20))
    word = torch.arange(20).div(2, rounding_mode="floor").sub(1).clamp(max=8).repeat(400, 1)  # -1 -1 0 0 1 1 ...
    corrupted, predicted = mask_words(ids, word, MASK, 60)
    assert not predicted[:, :2].any()
    for first in range(2, 18, 2):
        assert torch.equal(predicted[:, first], predicted[:, first + 1])
    assert predicted[:, 2:].float().mean().item() == pytest.approx(0.2, abs=0.03)
    assert torch.equal(corrupted[~predicted], ids[~predicted])
    masked = corrupted[predicted] == MASK
    unchanged = corrupted[predicted] == ids[predicted]
    assert masked.float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert unchanged.float().mean().item() == pytest.approx(0.1, abs=0.03)
    assert corrupted.max() < 60


def test_encoder_is_frozen_while_the_head_warms_up() -> None:
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizer = torch.optim.AdamW([{"params": [weight], "lr": 1.0} for weight in weights])
    schedule = _schedule(optimizer, 200)
    rates = []
    for _ in range(200):
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        schedule.step()
    encoder, head = zip(*rates, strict=True)
    assert head == pytest.approx([1 - step / 200 for step in range(200)])
    assert set(encoder[:11]) == {0.0}
    assert all(earlier < later for earlier, later in pairwise(encoder[10:21]))
    assert encoder[21:] == pytest.approx(head[21:])


def test_batch_without_masked_words_has_no_loss(tiny_encoder: Callable[[str], str]) -> None:
    model = MaskedLanguageModel(load_encoder(tiny_encoder("bert")), MASK)
    ids = torch.full((1, 3), 7)
    loss, correct, masked = model(ids, torch.ones_like(ids), torch.full_like(ids, -1))
    assert (loss.item(), correct.item(), masked.item()) == (0.0, 0, 0)
    loss.backward()


def test_text_has_the_same_windows_when_read_in_chunks(
    tiny_encoder: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 40)
    text = [Sentence(s.tokens, id=f"{number // 5}-{number}") for number, s in enumerate([*MANY, Sentence([])])]
    whole = lay_out_text(maker, text)
    monkeypatch.setattr(adaptation, "CHUNK", 3)
    chunks = lay_out_text(maker, iter(text))
    assert chunks.fingerprint == whole.fingerprint
    assert lay_out_text(maker, text[:-2]).fingerprint != whole.fingerprint
    for name in ("input_ids", "attention_mask", "word"):
        batch = np.arange(len(whole.layout.windows))
        both = [getattr(text.layout.arrays(batch), name) for text in (whole, chunks)]
        assert np.array_equal(*both)
    first = whole.layout.arrays(np.array([0]))
    letters = "".join(word for sentence in text[:5] for word in sentence.tokens)  # one document; more than fits
    subwords = [maker.table.tokenizer.inner.id_to_token(number) for number in first.input_ids[0][1:-1]]
    assert letters.startswith("".join(subwords).replace("#", ""))


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_encoder_can_be_adapted(kind: str, tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    before = load_file(Path(tiny_encoder(kind)) / WEIGHTS)
    losses: list[float | None] = []
    done = adapt(
        MANY, tmp_path / "new", tiny_encoder(kind), dev=CORPUS, epochs=40, use_cpu=True,
        watch=lambda progress: losses.append(progress.loss),
    )  # fmt: skip
    assert done.steps == 40
    assert done.accuracy is not None
    assert 0 <= done.accuracy <= 1
    logged = [loss for loss in losses if loss is not None]
    assert logged[-1] < logged[0] - 0.1
    after = load_file(tmp_path / "new" / WEIGHTS)
    assert after.keys() == before.keys()
    assert any(not torch.equal(after[name], before[name]) for name in before)
    assert not (tmp_path / "new" / CHECKPOINTS).exists()


@pytest.mark.usefixtures("fast")
def test_accuracy_rises_with_more_epochs(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    short, long = (
        adapt(MANY, tmp_path / str(epochs), tiny_encoder("bert"), dev=MANY, epochs=epochs, use_cpu=True)
        for epochs in (1, 150)
    )
    assert short.accuracy is not None
    assert long.accuracy is not None
    assert long.accuracy > short.accuracy + 0.2


def test_adapted_encoder_can_be_trained(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    adapt(MANY, tmp_path / "encoder", tiny_encoder("bert"), epochs=2, use_cpu=True)
    run = train(MANY, CORPUS, tmp_path / "model", quick(str(tmp_path / "encoder"), steps=2), use_cpu=True)
    assert len(run.recognizer.predict(CORPUS)) == 2
    with pytest.raises(InputError, match="it is an adapted encoder and not a model"):
        type(run.recognizer).from_pretrained(tmp_path / "encoder")


@pytest.mark.parametrize(("at", "sent"), [(1, signal.SIGINT), (4, signal.SIGTERM)])
def test_interrupted_adaptation_resumes_to_the_same_encoder(
    at: int, sent: signal.Signals, tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adaptation, "BATCH", 2)  # several steps in an epoch
    encoder = tiny_encoder("bert")
    text = [Sentence(sentence.tokens, id=f"{number}-1") for number, sentence in enumerate(CORPUS * 3)]
    adapt(text, tmp_path / "whole", encoder, epochs=2, use_cpu=True)

    def stop(progress: AdaptationProgress) -> None:
        if progress.step == at:
            os.kill(os.getpid(), sent)

    with pytest.raises((KeyboardInterrupt, SystemExit)):
        adapt(text, tmp_path / "cut", encoder, epochs=2, use_cpu=True, watch=stop)
    assert not is_finished(tmp_path / "cut")
    assert (tmp_path / "cut" / CHECKPOINTS / f"checkpoint-{at}" / "complete").exists()
    steps: list[int] = []
    done = adapt(
        text, tmp_path / "cut", encoder, epochs=2, use_cpu=True, watch=lambda progress: steps.append(progress.step)
    )
    assert steps == list(range(at + 1, done.steps + 1))
    assert (tmp_path / "cut" / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()


def test_finished_adaptation_is_loaded_and_another_is_refused(
    tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    encoder = tiny_encoder("bert")
    done = adapt(MANY, tmp_path / "new", encoder, epochs=1, use_cpu=True)

    def never(progress: AdaptationProgress) -> None:
        raise AssertionError("it must not learn again")

    assert adapt(MANY, tmp_path / "new", encoder, epochs=1, use_cpu=True, watch=never) == done
    with pytest.raises(InputError, match="another run is in this folder \\(epochs 1 instead of 2\\)"):
        adapt(MANY, tmp_path / "new", encoder, epochs=2, use_cpu=True)
    with pytest.raises(InputError, match="other sentences in text"):
        adapt(CORPUS, tmp_path / "new", encoder, epochs=1, use_cpu=True)
    (tmp_path / "new" / "adaptation.json").write_text("[]")
    with pytest.raises(InputError, match="it is \\[\\]; it takes a table"):
        adapt(MANY, tmp_path / "new", encoder, epochs=1, use_cpu=True)


def test_invalid_input_is_refused(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'light' has no layers to adapt"):
        adapt(CORPUS, tmp_path / "new", "light")
    with pytest.raises(InputError, match="0 epochs are too few"):
        adapt(CORPUS, tmp_path / "new", tiny_encoder("bert"), epochs=0)
    with pytest.raises(InputError, match="no sentence with words"):
        adapt([], tmp_path / "new", tiny_encoder("bert"))
    assert not (tmp_path / "new").exists()


def test_tokenizer_without_mask_token_is_refused(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder("bert"))
    tokenizer.mask_token = None
    tokenizer.save_pretrained(tmp_path / "encoder")
    AutoModel.from_pretrained(tiny_encoder("bert")).save_pretrained(tmp_path / "encoder")
    with pytest.raises(InputError, match="no mask token"):
        adapt(CORPUS, tmp_path / "new", str(tmp_path / "encoder"), use_cpu=True)


def test_command_adapts(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    jsonl.write(CORPUS, tmp_path / "text.jsonl")
    arguments = ["adapt", *[str(tmp_path / "text.jsonl")] * 2, "-o", str(tmp_path / "new"), "--cpu"]
    arguments += ["--encoder", tiny_encoder("bert"), "--epochs", "20", "--dev", str(tmp_path / "text.jsonl")]
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    assert "windows, 20 steps" in ran.stderr
    assert "more on this machine" in ran.stderr  # even if no bar is shown
    assert "step 10 of 20" in ran.stderr
    assert "accuracy on masked subwords of dev; train with --encoder" in ran.stderr
