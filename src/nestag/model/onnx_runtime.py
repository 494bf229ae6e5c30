"""A recognizer without torch: onnxruntime runs a graph that `nestag export onnx` wrote.

    ner = OnnxNER.from_pretrained("folder")
    ner("The mayor of Utrecht resigned.")

It needs only onnxruntime, tokenizers and NumPy, and returns the same entities as `NestedNER`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nestag.data.arrays import Floats32, Ints
from nestag.data.cores import usable_cores
from nestag.data.validation import from_mapping, setting
from nestag.decoding import SpanCells, SpanScores
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import MissingExtraError, UnknownNameError, as_input_error
from nestag.model.engine import Batch, Heads, worker_threads
from nestag.model.model_folder import CONFIG, GRAPH, open_model
from nestag.model.onnx_file import check_graph
from nestag.model.predictor import Predictor
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer

OUTPUTS = ("n", "c", "u")
SPANS = "spans"  # the output of the span grid, in graphs with one
LARGEST_ID = 2**31 - 1
SILENT = 4  # onnxruntime raises its errors too, and prints names from the graph as they are
BATCH = 256  # subwords in a batch of a thread: small batches stay in the CPU's cache


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
    """Check a graph and load it."""
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
