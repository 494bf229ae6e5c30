"""The ONNX graph of a recognizer: from ids to scores, so that it runs without torch (onnx_runtime.py).

Attention becomes one operation of onnxruntime, and norms and activations are fused with what precedes them. Written
out, attention alone is a dozen operations in each layer, most of which only copy. An export is checked before it is
kept: its scores and entities must be those of torch. int8 changes scores, so its cost is measured in F1, and too high
a cost is refused.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from nestag.data.arrays import Ints
from nestag.data.sentence import Sentence
from nestag.data.validation import to_mapping
from nestag.decoding import SpanPlaces
from nestag.errors import InputError, MissingExtraError, either, named
from nestag.evaluation import score
from nestag.formats.files import writing_folder
from nestag.model.engine import Chunk, ChunkScores
from nestag.model.model_folder import CONFIG, GRAPH, SPAN_GRAPH, save_model
from nestag.model.onnx_runtime import OUTPUTS, VECTORS, GraphConfig, OnnxNER, installed
from nestag.model.predictor import Predictor, item_of
from nestag.model.pretrained import LightConfig, LightEncoder
from nestag.model.quantization import quantize
from nestag.model.recognizer import NestedNER
from nestag.model.subwords.layout import Special
from nestag.model.tagger import Tagger

NAME = "nestag_one_operation"
HIDDEN = -10_000.0
"""Added to the score of a subword that is not to be seen; its weight is zero then."""


@contextmanager
def attention_as_one(encoder: Any, plain_masks: bool) -> Iterator[None]:
    """Let an encoder be exported with one operation for attention, if its masks say no more than what is padding."""
    recent = hasattr(torch.onnx, "ops")  # torch 2.8 or later
    if not (recent and plain_masks) or encoder.config.model_type == LightConfig.model_type:
        yield
        return
    import_module("transformers").AttentionInterface.register(NAME, _attention)
    import_module("transformers.masking_utils").AttentionMaskInterface.register(NAME, _mask)
    before = encoder.config._attn_implementation
    encoder.set_attn_implementation(NAME)
    try:
        yield
    finally:
        encoder.set_attn_implementation(before)


def _attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scaling: float, **_: Any
) -> tuple[Tensor, None]:
    """A place for the operation: windows x heads x subwords x size -> windows x subwords x heads x size."""
    windows, heads, subwords, size = query.shape
    flat = [part.transpose(1, 2).reshape(windows, -1, heads * size) for part in (query, key, value)]
    found = torch.onnx.ops.symbolic(
        "com.microsoft::MultiHeadAttention",
        (*flat, None, mask.to(torch.int32)),
        {"num_heads": heads, "scale": scaling, "mask_filter_value": HIDDEN},
        dtype=query.dtype,
        shape=(windows, subwords, heads * size),
        version=1,
    )
    return found.view(windows, subwords, heads, size), None


def _mask(*_: Any, attention_mask: Tensor, **__: Any) -> Tensor:
    """The mask as it was given: windows x subwords."""
    return attention_mask


def fuse(path: Path) -> None:
    """Join norms with the sums before them, and activations with biases, in the graph of a file."""
    optimizer = installed("onnxruntime.transformers.optimizer")
    options = installed("onnxruntime.transformers.fusion_options").FusionOptions("bert")
    options.enable_attention = False  # it is one operation already, or of a kind that is not known there
    joined = optimizer.optimize_model(str(path), model_type="bert", optimization_options=options, opt_level=0)
    joined.save_model_to_file(str(path))


TOLERANCE = 1e-4
"""How far log-probabilities of the graph may be from torch's."""

SAMPLES = 200
"""About how many sentences show in which ranges numbers of eight bits are needed."""

OPSET = 18
"""The first version of ONNX that can pool subwords with a minimum or maximum."""


class Exported(NamedTuple):
    """What was measured of an export."""

    difference: float  # the largest between log-probabilities of the graph and of torch
    f1: float  # on gold entities, or 1.0 if there are none
    int8_f1: float | None  # the same in eight bits; without gold, on the entities that torch finds


class LogProbabilities(nn.Module):
    """A tagger whose outputs are log-probabilities, and the vectors of words if somebody needs them."""

    def __init__(self, tagger: Tagger, vectors: bool) -> None:
        super().__init__()
        self.tagger, self.vectors = tagger, vectors

    def forward(self, input_ids: Tensor, attention_mask: Tensor, word: Tensor, shape: Tensor) -> tuple[Tensor, ...]:
        """The three heads' log-probabilities, windows x words x labels, and vectors."""
        found = self.tagger(input_ids, attention_mask, word, shape)
        heads = tuple(torch.log_softmax(head, dim=-1) for head in found[:3])
        return (*heads, found.vectors) if self.vectors else heads


def export(
    recognizer: NestedNER,
    folder: str | Path,
    sentences: Sequence[Sentence],
    *,
    int8: bool = False,
    gold: bool = False,
    max_loss: float = 1.0,
) -> Exported:
    """Write a recognizer as a folder for onnxruntime, checked on sentences.

    `gold` says that the sentences' entities are right; otherwise those that torch finds are. `max_loss` is how many
    points of F1 eight bits may cost; their ranges are seen on the sentences too.
    """
    if int8 and not any(sentence.tokens for sentence in sentences):
        raise InputError("there is no word to see on which numbers eight bits must hold; give sentences", str(folder))
    with writing_folder(folder) as part:
        write_graph(recognizer.model, part / GRAPH, vectors=recognizer.settings.verification is not None)
        if recognizer.settings.verification is not None:
            write_span_graph(recognizer.model, part / SPAN_GRAPH)
        _write_rest(recognizer, part, int8=False)
        plain = OnnxNER.from_pretrained(part)
        difference = _checked(recognizer, plain, sentences, str(folder))
        found = plain.predict(sentences)
        right = [sentence.entities for sentence in sentences] if gold else found
        f1, int8_f1 = score(right, found).f1, None
        if int8:
            with _hushed():
                quantize(part / GRAPH, _samples(plain, sentences))
            _write_rest(recognizer, part, int8=True)
            int8_f1 = score(right, OnnxNER.from_pretrained(part).predict(sentences)).f1
            if 100 * (f1 - int8_f1) > max_loss:
                raise InputError(_too_lossy(f1, int8_f1, gold, max_loss), str(folder))
        return Exported(difference, f1, int8_f1)


def write_graph(tagger: Tagger, path: Path, vectors: bool = False) -> None:
    """Write the graph of a tagger, for any number of windows, subwords and words."""
    _installed("onnx"), _installed("onnxscript")
    windows, subwords, words = (torch.export.Dim(name) for name in ("windows", "subwords", "words"))
    by_subword, by_word = {0: windows, 1: subwords}, {0: windows, 1: words}
    example = (
        torch.tensor([[1, 2, 2, 3, 0], [1, 2, 2, 2, 3]]),  # windows x subwords
        torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        torch.tensor([[-1, 0, 1, -1, -1], [-1, 0, 1, 2, -1]]),
        torch.tensor([[0, 1, -1], [0, 1, 2]]),  # windows x words
    )
    tagger.train(False)
    outputs = [*OUTPUTS, VECTORS] if vectors else list(OUTPUTS)
    shapes = (by_subword, by_subword, by_subword, by_word)
    names = ["input_ids", "attention_mask", "word", "shape"]
    with attention_as_one(tagger.encoder, tagger.mask_whole):
        _write(LogProbabilities(tagger, vectors), example, path, names, outputs, shapes)
    if not isinstance(tagger.encoder, LightEncoder):  # it has nothing to fuse, and would lose its unused mask
        with _hushed():
            fuse(path)


def write_span_graph(tagger: Tagger, path: Path) -> None:
    """Write the graph of a tagger's head for spans, for any number of words and spans."""
    assert tagger.spans is not None
    words, spans = {0: torch.export.Dim("words")}, {0: torch.export.Dim("spans")}
    first, last = torch.tensor([0, 1, 2]), torch.tensor([1, 3, 2])
    example = (torch.zeros(4, tagger.width), first, last, first == 0, last == 3)
    names = [VECTORS, *SpanPlaces._fields]
    _write(tagger.spans.train(False), example, path, names, ["logits"], (words, spans, spans, spans, spans))


def _write(
    module: nn.Module, example: tuple[Tensor, ...], path: Path, inputs: list[str], outputs: list[str], shapes: Any
) -> None:
    with _hushed():
        torch.onnx.export(
            module,
            example,
            path,
            input_names=inputs,
            output_names=outputs,
            dynamic_shapes=shapes,
            opset_version=OPSET,
            dynamo=True,
            external_data=False,
            verbose=False,
        )


@contextmanager
def _hushed() -> Iterator[None]:
    """Silence the notices of libraries; errors are still raised."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _write_rest(recognizer: NestedNER, folder: Path, int8: bool) -> None:
    """Everything but the graph; the manifest comes last."""
    tokenizer = recognizer.tokenizer
    config = GraphConfig(*Special.of(tokenizer), tokenizer.unk_token_id or 0, "int8" if int8 else "float32")
    texts = {CONFIG: json.dumps(to_mapping(config), indent=1) + "\n"}
    save_model(folder, recognizer.vocabulary, recognizer.settings, tokenizer, texts)


def _checked(recognizer: NestedNER, plain: OnnxNER, sentences: Sequence[Sentence], place: str) -> float:
    """The largest difference between two ways to score; an InputError if it is too large or changes an entity."""
    here, there = _scores(recognizer, sentences), _scores(plain, sentences)
    difference = max(float(np.abs(a - b).max(initial=0)) for a, b in zip(here[:3], there[:3], strict=True))
    same = recognizer.predict(sentences) == plain.predict(sentences)
    if difference > TOLERANCE or not same:
        raise InputError(
            f"the graph does not score as torch does: log-probabilities differ by {difference:.1g}, entities are"
            f" {'the same' if same else 'others'}; try other versions of torch and onnxscript",
            place,
        )
    return difference


def _samples(predictor: Predictor, sentences: Sequence[Sentence]) -> Iterator[dict[str, Ints]]:
    """What a graph is given for some of the sentences, each window by itself and so without padding."""
    chosen = sentences[:: max(1, len(sentences) // SAMPLES)]
    items = list(map(item_of, chosen))
    laid_out = predictor.engine().lay_out(Chunk(items, 0, len(items)))
    for batch in laid_out.batches:
        for window in batch:
            yield laid_out.layout.arrays(window[None])._asdict()


def _scores(predictor: Predictor, sentences: Sequence[Sentence]) -> ChunkScores:
    return predictor.scores([sentence.tokens for sentence in sentences])


def _too_lossy(f1: float, int8_f1: float, gold: bool, max_loss: float) -> str:
    against = "gold" if gold else f"what torch finds; {either('gold=True', '--dev FILE')} would compare with gold"
    return (
        f"int8 costs {100 * (f1 - int8_f1):.2f} F1 against {against}, and {max_loss:g} is allowed;"
        f" export without {named('int8', True)}, or raise {named('max_loss')}"
    )


def _installed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"an export to ONNX needs {name}", "onnx-export") from None
