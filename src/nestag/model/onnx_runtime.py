"""A recognizer without torch: onnxruntime runs a graph that `nestag export onnx` wrote.

    ner = OnnxNER.from_pretrained("folder")
    ner("The mayor of Utrecht resigned.")

It needs only onnxruntime, tokenizers and NumPy, and returns the same entities as `NestedNER`.

ONNX files can name other files and contain functions, subgraphs and operators of other libraries. A graph is therefore
parsed as protobuf first, and only the fields listed here are allowed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from nestag.data.arrays import Floats32, Ints
from nestag.data.cores import usable_cores
from nestag.data.validation import from_mapping, setting
from nestag.decoding import SpanCells, SpanScores
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, MissingExtraError, UnknownNameError, as_input_error
from nestag.model.engine import Batch, Heads, worker_threads
from nestag.model.model_folder import CONFIG, GRAPH, open_model
from nestag.model.predictor import Predictor
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer

OUTPUTS = ("n", "c", "u")
SPANS = "spans"  # the output of the span grid, in graphs with one
LARGEST_ID = 2**31 - 1
SILENT = 4  # onnxruntime raises its errors too, and prints names from the graph as they are
BATCH = 256  # subwords in a batch of a thread: small batches stay in the CPU's cache

_ANY, _DOMAIN, _LOCATION = "", "domain", "location"  # fields without messages
_VARINT, _LENGTH = 0, 2
_WIDTHS = {1: 8, 5: 4}

FIELDS = {
    "model": dict.fromkeys((1, 2, 3, 4, 5, 6, 8, 14), _ANY) | {7: "graph"},
    "graph": dict.fromkeys((2, 10, 11, 12, 13, 14, 16), _ANY) | {1: "node", 5: "tensor"},
    "node": dict.fromkeys((1, 2, 3, 4, 6, 9), _ANY) | {5: "attribute", 7: _DOMAIN},
    "attribute": dict.fromkeys((1, 2, 3, 4, 7, 8, 9, 13, 20), _ANY) | {5: "tensor"},
    "tensor": dict.fromkeys((1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 16), _ANY) | {14: _LOCATION},
}
"""Field numbers of each message in onnx.proto, and what they hold."""


@dataclass(frozen=True)
class GraphConfig:
    """The special subwords of a graph's tokenizer, and the precision of its weights."""

    begin: int = setting(minimum=0, maximum=LARGEST_ID, help="id of the subword that begins a sequence")
    end: int = setting(minimum=0, maximum=LARGEST_ID, help="id of the subword that ends a sequence")
    pad: int = setting(minimum=0, maximum=LARGEST_ID, help="id of the padding subword")
    unknown: int = setting(minimum=0, maximum=LARGEST_ID, help="id of the unknown subword")
    precision: Literal["float32", "int8"] = setting("float32", help="precision of the encoder's weights")


class OnnxNER(Predictor):
    """A trained recognizer of nested entities, exported to ONNX."""

    def __init__(
        self,
        session: Any,
        tokenizer: WordTokenizer,
        vocabulary: Vocabulary,
        settings: Settings = Settings(),  # noqa: B008
        threads: int = 1,
    ) -> None:
        """Combine a session of onnxruntime, a tokenizer and a vocabulary; `threads` batches run in parallel."""
        self.session, self.threads = session, threads
        self.tokenizer, self.vocabulary, self.settings = tokenizer, vocabulary, settings

    @classmethod
    def from_pretrained(
        cls,
        path: str | Path,
        device: str | None = None,
        *,
        threads: int = 0,
        revision: str | None = None,
        token: str | None = None,
        **settings: Any,
    ) -> OnnxNER:
        """Load it from a folder or the hub; keyword arguments change its settings, `threads` 0 uses all cores."""
        if device not in (None, "cpu"):
            raise UnknownNameError(f"the device {device!r} cannot be used; a model for onnxruntime runs on cpu")
        onnxruntime, _ = import_library("onnxruntime"), import_library("tokenizers")
        saved = open_model(path, GRAPH, settings, revision, token)
        config = from_mapping(GraphConfig, saved.json(CONFIG), str(saved.folder / CONFIG))
        session = _session(onnxruntime, saved.folder / GRAPH)
        outputs = {value.name: value.shape[-1] if value.shape else None for value in session.get_outputs()}
        saved.check_sizes(tuple(outputs.get(name) for name in OUTPUTS), outputs.get(SPANS, 0))
        tokenizer = saved.tokenizer((config.begin, config.end, config.pad, config.unknown))
        return cls(session, tokenizer, saved.vocabulary, saved.settings, threads or usable_cores())

    def scorer(self) -> GraphScorer:
        """Return the scorer with the current settings."""
        return GraphScorer(self.session, self.vocabulary.sizes, self.settings, self.threads)


class GraphScorer:
    """A scorer with onnxruntime: arrays in, log-probabilities out."""

    def __init__(self, session: Any, sizes: tuple[int, int, int], settings: Settings, threads: int) -> None:
        self.session, self.sizes, self.threads = session, sizes, threads
        self.batch_subwords, self.least_span_logit = settings.batch_subwords or BATCH, settings.least_span_logit
        self.ahead = 0
        self.reach: int | None = None

    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Score the words of a chunk before returning."""
        least = self.least_span_logit
        names = [*OUTPUTS, *([] if least is None else [SPANS])]
        heads = [np.zeros((words, size), dtype=np.float32) for size in self.sizes]
        limit = np.ones(words, dtype=np.int64)

        def score(batch: Batch) -> SpanCells | None:
            arrays, row, column, word = batch
            with as_input_error("the graph cannot be computed", GRAPH):
                scores = self.session.run(names, arrays._asdict())  # each windows x words x labels
                for head, labels in zip(heads, scores, strict=False):
                    head[word] = labels[row, column]
                if least is None:
                    return None
                logits = scores[-1][row, column]  # words x width x types
                limit[word] = np.minimum(logits.shape[1], batch.remaining)
                return _best_cells(logits, word, least)

        with worker_threads(self.threads) as pool:
            cells = list(pool.map(score, batches))
        spans = None if least is None else SpanScores.of([batch for batch in cells if batch is not None], limit)
        n, c, u = heads
        return lambda: Heads(n, c, u, spans)


def _best_cells(logits: Floats32, word: Ints, least: float) -> SpanCells:
    """Return the cells with at least this logit: words x width x types."""
    place, column, kind = (logits >= least).nonzero()
    return SpanCells(word[place], column + 1, kind, logits[place, column, kind])


def _session(onnxruntime: Any, graph: Path) -> Any:
    check_graph(graph)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # one batch per thread is faster
    options.log_severity_level = SILENT
    with as_input_error("the graph cannot be loaded", str(graph)):
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def import_library(name: str, need: str = "nestag.model.onnx_runtime", extra: str = "onnx") -> Any:
    """Import a library of an extra, without onnxruntime's telemetry, which is on by default from 1.29."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"{need} needs {name}", extra) from None


class _Field(NamedTuple):
    number: int
    wire: int
    start: int  # of its value
    end: int
    value: int  # of a varint


def check_graph(path: Path) -> None:
    """Refuse a file that is not a plain graph."""
    if not path.stat().st_size:
        raise InputError("it is empty; export it again", str(path))
    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        try:
            _check(data, "model", 0, len(data))
        except ValueError as error:
            raise InputError(f"it is not a graph that nestag wrote: {error}; export it again", str(path)) from None


def _check(data: mmap, message: str, start: int, end: int) -> None:
    for field in _fields(data, start, end):
        kind = FIELDS[message].get(field.number)
        if kind is None:
            raise ValueError(f"a {message} has field {field.number}")
        if kind == _LOCATION and (field.wire, field.value) != (_VARINT, 0):
            raise ValueError("its weights are in other files")
        if kind in FIELDS:
            if field.wire != _LENGTH:
                raise ValueError(f"field {field.number} of a {message} has the wire type {field.wire}")
            _check(data, kind, field.start, field.end)
        elif kind == _DOMAIN and (field.wire, field.start) != (_LENGTH, field.end):
            raise ValueError(f"it has an operator of {data[field.start : field.end][:99]!r}")


def _fields(data: mmap, start: int, end: int) -> Iterator[_Field]:
    while start < end:
        key, start = _varint(data, start, end)
        number, wire = key >> 3, key & 7
        value = 0
        if wire == _VARINT:
            value, stop = _varint(data, start, end)
        elif wire == _LENGTH:
            size, start = _varint(data, start, end)
            stop = start + size
        elif wire in _WIDTHS:
            stop = start + _WIDTHS[wire]
        else:
            raise ValueError(f"there is a wire type {wire}")
        if stop > end:
            raise ValueError("it is cut short")
        yield _Field(number, wire, start, stop, value)
        start = stop


def _varint(data: mmap, start: int, end: int) -> tuple[int, int]:
    """Return a number and where it ends."""
    value = 0
    for at in range(start, min(end, start + 10)):
        value |= (data[at] & 127) << 7 * (at - start)
        if data[at] < 128:
            return value, at + 1
    raise ValueError("a number is malformed")
