"""Export of a recognizer to ONNX, so that it runs without torch (onnx_runtime.py).

An export is checked before it is saved: its log-probabilities and entities must be those of torch. int8 changes scores,
so its loss is measured in F1, and a loss above the limit is an error.

In int8, weights use seven bits, so that sums do not overflow on CPUs without VNNI. Embeddings are only looked up and
use all eight. The ranges of activations are calibrated on samples. Ranges computed for each batch would take time, and
a result would depend on the rest of its batch.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from nestag.data.arrays import Ints
from nestag.data.sentence import Sentence
from nestag.data.validation import to_mapping
from nestag.errors import InputError, either, named
from nestag.evaluation import score
from nestag.formats.files import writing_folder
from nestag.model.engine import Chunk
from nestag.model.model_folder import CONFIG, GRAPH, save_model, to_json
from nestag.model.onnx_runtime import OUTPUTS, SPANS, GraphConfig, OnnxNER, import_library
from nestag.model.predictor import Predictor, item_of
from nestag.model.recognizer import NestedNER
from nestag.model.subwords import Special
from nestag.model.tagger import Tagger
from nestag.model.windows import Arrays

TOLERANCE = 1e-4  # between log-probabilities of the graph and of torch
SAMPLES = 200  # about how many sentences calibrate int8
OPSET = 23  # the first version of ONNX in which attention is one operation
INT8_PARTS = ("tagger.encoder", "tagger.narrow", "tagger.convolutions")  # the rest stays in float32
INT8_OPERATIONS = ["MatMul", "Gather"]


_library = partial(import_library, need="an export to ONNX", extra="onnx-export")


class Exported(NamedTuple):
    """The measurements of an export."""

    difference: float  # the largest between log-probabilities of the graph and of torch
    f1: float  # compared with gold entities, or 1.0 without gold
    int8_f1: float | None  # the same in int8; without gold, compared with the entities of float32


def export(
    recognizer: NestedNER,
    folder: str | Path,
    sentences: Sequence[Sentence],
    *,
    int8: bool = False,
    gold: bool = False,
    max_loss: float = 1.0,
) -> Exported:
    """Write a recognizer as a folder for onnxruntime, checked on sentences, which also calibrate int8.

    With `gold`, int8 is scored on the entities of the sentences, otherwise on those of float32. `max_loss` is the
    maximum F1 loss of int8, in points.
    """
    if int8 and not any(sentence.tokens for sentence in sentences):
        raise InputError("int8 calibration needs at least one non-empty sentence", str(folder))
    with writing_folder(folder) as part:
        write_graph(recognizer.model, part / GRAPH, spans=recognizer.settings.decoding == "spans")
        _write_rest(recognizer, part, "float32")
        plain = OnnxNER.from_pretrained(part)
        difference = _compare(recognizer, plain, sentences, str(folder))
        predicted = plain.predict(sentences)
        reference = [sentence.entities for sentence in sentences] if gold else predicted
        f1, int8_f1 = score(reference, predicted).f1, None
        if int8:
            with _silence():
                quantize(part / GRAPH, _samples(plain, sentences))
            _write_rest(recognizer, part, "int8")
            int8_f1 = score(reference, OnnxNER.from_pretrained(part).predict(sentences)).f1
            if 100 * (f1 - int8_f1) > max_loss:
                raise InputError(_too_lossy(f1, int8_f1, gold, max_loss), str(folder))
        return Exported(difference, f1, int8_f1)


def _write_rest(recognizer: NestedNER, folder: Path, precision: Literal["float32", "int8"]) -> None:
    """Write everything but the graph; the manifest comes last."""
    tokenizer = recognizer.tokenizer
    config = GraphConfig(*Special.of(tokenizer), tokenizer.unk_token_id or 0, precision)
    texts = {CONFIG: to_json(to_mapping(config))}
    save_model(folder, recognizer.vocabulary, recognizer.settings, tokenizer, texts)


def _compare(recognizer: NestedNER, plain: OnnxNER, sentences: Sequence[Sentence], place: str) -> float:
    """Return the largest difference between log-probabilities; raise an error if it is too large."""
    tokens = [sentence.tokens for sentence in sentences]
    pairs = zip(recognizer.scores(tokens)[:3], plain.scores(tokens)[:3], strict=True)
    difference = max(float(np.abs(a - b).max(initial=0)) for a, b in pairs)
    same = recognizer.predict(sentences) == plain.predict(sentences)
    if difference > TOLERANCE or not same:
        raise InputError(
            f"the graph does not score as torch does: log-probabilities differ by {difference:.1g}, entities are"
            f" {'the same' if same else 'different'}; try other versions of torch and onnxscript",
            place,
        )
    return difference


def _too_lossy(f1: float, int8_f1: float, gold: bool, max_loss: float) -> str:
    against = "gold" if gold else f"float32; {either('gold=True', '--dev FILE')} would compare with gold"
    return (
        f"int8 costs {100 * (f1 - int8_f1):.2f} F1 against {against}, and {max_loss:g} is allowed;"
        f" export without {named('int8', True)}, or raise {named('max_loss')}"
    )


class _LogProbabilities(nn.Module):
    """A tagger whose outputs are log-probabilities, and the logits of its span grid if it is used."""

    def __init__(self, tagger: Tagger, spans: bool) -> None:
        super().__init__()
        self.tagger, self.spans = tagger, spans

    def forward(self, input_ids: Tensor, attention_mask: Tensor, word: Tensor, shape: Tensor) -> tuple[Tensor, ...]:
        """Return windows x words x labels for each head, and windows x words x width x types."""
        output = self.tagger(input_ids, attention_mask, word, shape)
        heads = tuple(torch.log_softmax(head, dim=-1) for head in output[:3])
        return (*heads, output.spans) if self.spans else heads


def write_graph(tagger: Tagger, path: Path, spans: bool = False) -> None:
    """Write the graph of a tagger, for any number of windows, subwords and words."""
    windows, subwords, words = (torch.export.Dim(name) for name in ("windows", "subwords", "words"))
    by_subword, by_word = {0: windows, 1: subwords}, {0: windows, 1: words}
    example = (
        torch.tensor([[1, 2, 2, 3, 0], [1, 2, 2, 2, 3]]),  # windows x subwords
        torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        torch.tensor([[-1, 0, 1, -1, -1], [-1, 0, 1, 2, -1]]),
        torch.tensor([[0, 1, -1], [0, 1, 2]]),  # windows x words
    )
    tagger.train(False)
    onnx, optimizer = _library("onnx"), _library("onnxscript").optimizer
    with _silence():
        program = torch.onnx.export(
            _LogProbabilities(tagger, spans),
            example,
            input_names=Arrays._fields,
            output_names=[*OUTPUTS, SPANS] if spans else OUTPUTS,
            dynamic_shapes=(by_subword, by_subword, by_subword, by_word),
            optimize=False,  # onnxscript's fusion of rotary embeddings fails for ModernBERT
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
        assert program is not None
        limits = {"input_size_limit": 2**40, "output_size_limit": 2**40}  # weights too, or they stay in float32
        model = optimizer.optimize(program.model_proto, **limits)
        drop_stack_traces(model.graph)
        onnx.save(model, path)


def drop_stack_traces(graph: Any) -> None:
    """Remove the stack traces that torch adds, because they contain paths of this machine."""
    for part in (graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        kept = [entry for entry in part.metadata_props if not entry.key.endswith("stack_trace")]
        del part.metadata_props[:]
        part.metadata_props.extend(kept)


def quantize(path: Path, samples: Iterable[Mapping[str, Ints]]) -> None:
    """Quantize the large parts of a graph to int8, calibrated on samples of its inputs."""
    onnx, quantization = _library("onnx"), import_library("onnxruntime.quantization")
    model = onnx.load(path)
    nodes = [node for node in model.graph.node if _is_large(node)]
    weights = {weight.name for weight in model.graph.initializer}
    tables = weights & {node.input[0] for node in nodes if node.op_type == "Gather"}
    all_bits = {"quant_type": quantization.QuantType.QUInt8, "reduce_range": False}
    quantization.quantize_static(
        path,
        path,
        SimpleNamespace(get_next=partial(next, iter(samples), None)),
        op_types_to_quantize=INT8_OPERATIONS,
        nodes_to_quantize=[node.name for node in nodes],
        per_channel=True,
        reduce_range=True,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8,
        extra_options={
            "OpTypesToExcludeOutputQuantization": INT8_OPERATIONS,
            "TensorQuantOverrides": {table: [all_bits] for table in tables},
        },
    )
    model = onnx.load(path)
    keep_residuals(model.graph)
    onnx.save(model, path)


def keep_residuals(graph: Any) -> None:
    """Let all operations but matrix products read float32 values, as residual connections must.

    onnxruntime has no option for this: it quantizes a value for all operations that read it.
    """
    quantized = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"}
    dequantized = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "DequantizeLinear"}
    factors = {name for node in graph.node if node.op_type == "MatMul" for name in node.input}
    for node in graph.node:
        for place, name in enumerate(node.input):
            if node.op_type != "MatMul" and name in factors and dequantized.get(name) in quantized:
                node.input[place] = quantized[dequantized[name]]


def _is_large(node: Any) -> bool:
    """Return whether a node comes from a large part of the tagger, by the module names that torch adds."""
    scopes = next((entry.value for entry in node.metadata_props if entry.key == "pkg.torch.onnx.name_scopes"), "")
    return any(f"'{part}'" in scopes or f"'{part}." in scopes for part in INT8_PARTS)


def _samples(predictor: Predictor, sentences: Sequence[Sentence]) -> Iterator[dict[str, Ints]]:
    """Yield the input of a graph for some of the sentences, one window at a time, so without padding."""
    items = list(map(item_of, sentences[:: max(1, len(sentences) // SAMPLES)]))
    layout, _, batches = predictor.engine().lay_out(Chunk(items, 0, len(items)))
    for window in chain.from_iterable(batches):
        yield layout.arrays(window[None])._asdict()


@contextmanager
def _silence() -> Iterator[None]:
    """Silence the notices of libraries; errors are still raised."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)
