"""A recognizer without torch: a graph that `nestag export onnx` made, run by onnxruntime.

    ner = OnnxNER.from_pretrained("folder")
    ner("The mayor of Utrecht resigned.")

It needs onnxruntime, tokenizers and NumPy alone, and answers as `NestedNER` does.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nestag.arrays import Floats32
from nestag.cores import cores
from nestag.decoding import SpanPlaces
from nestag.engine import Batch, Heads, worker_threads
from nestag.errors import InputError, MissingExtraError, UnknownNameError
from nestag.model_folder import CONFIG, GRAPH, SPAN_GRAPH, read_json
from nestag.predictor import Predictor, Settings
from nestag.saved_model import SavedModel
from nestag.validation import from_mapping, setting
from nestag.vocabulary import Vocabulary

OUTPUTS = ("n", "c", "u")
VECTORS = "vectors"
"""The output with what a head for spans sees, in the graph of a model that has one."""
_LOCATION = b"\n\x08location\x12"  # how ONNX names another file
BATCH = 256
"""Subwords that a thread scores at once: so few stay in the processor's cache from one operation to the next."""


@dataclass(frozen=True)
class GraphConfig:
    """What a graph needs to know of its tokenizer, and what its numbers are."""

    begin: int = setting(minimum=0, help="id of the subword that begins a sequence")
    end: int = setting(minimum=0, help="id of the subword that ends a sequence")
    pad: int = setting(minimum=0, help="id of the padding subword")
    unknown: int = setting(minimum=0, help="id of the unknown subword")
    precision: Literal["float32", "int8"] = setting("float32", help="precision of the encoder's weights")


class OnnxNER(Predictor):
    """A trained recognizer of nested entities, exported to ONNX."""

    def __init__(
        self,
        session: Any,
        tokenizer: WordTokenizer,
        vocabulary: Vocabulary,
        settings: Settings = Settings(),  # noqa: B008
        judge: Any = None,
        threads: int = 1,
    ) -> None:
        """Put a session of onnxruntime, a tokenizer and a vocabulary together.

        `judge` is a session for spans; `threads` is how many batches are scored at once.
        """
        self.session = session
        self.judge = judge
        self.threads = threads
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.settings = settings

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
        """Load one from a folder or the hub; keyword arguments change its settings, `threads` 0 is all cores."""
        if device not in (None, "cpu"):
            raise UnknownNameError(f"the device {device!r} cannot be used; a model for onnxruntime runs on cpu")
        onnxruntime, tokenizers = installed("onnxruntime"), installed("tokenizers")
        threads = threads or cores()
        saved = SavedModel.opened(path, GRAPH, settings, revision, token)
        folder, vocabulary, used = saved
        config = from_mapping(GraphConfig, read_json(folder / CONFIG), str(folder / CONFIG))
        session = _session(onnxruntime, folder, GRAPH, threads=1)  # a batch in each thread is faster than all in one
        judge = _session(onnxruntime, folder, SPAN_GRAPH, threads) if (folder / SPAN_GRAPH).is_file() else None
        saved.check_labels(tuple(output.shape[-1] for output in session.get_outputs() if output.name in OUTPUTS))
        saved.check_verifier(judge.get_outputs()[0].shape[-1] if judge else 0)
        read = tokenizers.Tokenizer.from_file
        tokenizer = saved.tokenizer(lambda place: WordTokenizer(read(str(place / "tokenizer.json")), config))
        return cls(session, tokenizer, vocabulary, used, judge, threads)

    def scorer(self) -> GraphScorer:
        """What scores words, with the current settings."""
        judge = self.judge if self.settings.verified_by else None
        return GraphScorer(self.session, self.vocabulary.sizes, self.settings.batch_subwords, judge, self.threads)


class GraphScorer:
    """A graph as the engine calls it: arrays in, log-probabilities out."""

    def __init__(
        self,
        session: Any,
        sizes: tuple[int, int, int],
        batch_subwords: int = 0,
        judge: Any = None,
        threads: int = 1,
    ) -> None:
        """`batch_subwords` is how many subwords each of some threads scores at once; 0 is what suits a CPU."""
        self.session = session
        self.judge = judge
        self.threads = threads
        self.sizes = sizes
        self.batch_subwords = batch_subwords or BATCH
        self.ahead = 0
        self.reach: int | None = None

    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        """Score the words of a chunk; nothing is left to wait for."""
        names, sizes = list(OUTPUTS), list(self.sizes)
        if self.judge is not None:
            names.append(VECTORS)
            sizes.append(self.judge.get_inputs()[0].shape[-1])
        heads = [np.zeros((words, size), dtype=np.float32) for size in sizes]

        def score(batch: Batch) -> None:
            arrays, row, column, word = batch
            with _explained(GRAPH):
                scores = self.session.run(names, arrays._asdict())  # each windows x words x labels
                for head, found in zip(heads, scores, strict=True):
                    head[word] = found[row, column]

        with worker_threads(self.threads) as pool:
            deque(pool.map(score, batches), maxlen=0)
        n, c, u, *vectors = heads
        judge = GraphJudge(self.judge, vectors[0]) if vectors else None
        return lambda: Heads(n, c, u, judge)


class GraphJudge:
    """Judges spans of words by a graph of its own."""

    def __init__(self, session: Any, vectors: Floats32) -> None:
        """`vectors` is words x width."""
        self.session, self.vectors = session, vectors

    def __call__(self, places: SpanPlaces) -> Floats32:
        """The logits of every type: spans x types."""
        with _explained(SPAN_GRAPH):
            found: Floats32 = self.session.run(None, {VECTORS: self.vectors, **places._asdict()})[0]
        return found


@contextmanager
def _explained(graph: str) -> Iterator[None]:
    """An InputError for whatever goes wrong in a graph."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a stranger's graph can fail in any way
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"the graph cannot be computed ({reason}); export it again", graph) from None


class WordTokenizer:
    """A tokenizer of the library tokenizers, with the interface that laying out words needs."""

    def __init__(self, tokenizer: Any, config: GraphConfig) -> None:
        """Padding and truncation set in the file are turned off."""
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.inner = tokenizer
        self.cls_token_id, self.sep_token_id, self.pad_token_id = config.begin, config.end, config.pad
        self.unk_token_id: int | None = config.unknown

    def __call__(self, text: Any, *, is_split_into_words: bool = True, add_special_tokens: bool = False) -> Encoded:
        """The subwords of the words of a sentence, or of several."""
        assert is_split_into_words
        one = isinstance(text[0], str)
        found = self.inner.encode_batch(
            [text] if one else text, is_pretokenized=True, add_special_tokens=add_special_tokens
        )
        return Encoded(found, one)


class Encoded:
    """What a tokenizer call returns, with the interface of transformers."""

    def __init__(self, encodings: Sequence[Any], one: bool) -> None:
        """Keep the encodings; `one` says that they are of a sentence alone."""
        self._encodings, self._one = encodings, one

    def __getitem__(self, name: Literal["input_ids"]) -> Any:
        found = [encoding.ids for encoding in self._encodings]
        return found[0] if self._one else found

    def word_ids(self) -> list[int | None]:
        """The word of each subword of the first sentence."""
        found: list[int | None] = self._encodings[0].word_ids
        return found


def _session(onnxruntime: Any, folder: Path, graph: str, threads: int) -> Any:
    """What runs a graph of a folder."""
    _refuse_other_files(folder / graph)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(folder / graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - the library raises kinds of its own
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"the graph cannot be loaded ({reason}); export it again", str(folder)) from None


def _refuse_other_files(graph: Path) -> None:
    """Refuse a graph that takes weights from other files, which nothing binds to it and which may be anywhere."""
    if not graph.stat().st_size:
        raise InputError("it is empty; export it again", str(graph))
    with graph.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        if data.find(_LOCATION) >= 0:
            raise InputError("the graph takes weights from other files; export it again", str(graph))


def installed(name: str) -> Any:
    """A library of the extra `onnx`; onnxruntime is told not to report to its makers, as it would from 1.29 on."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(f"nestag.runtime needs {name}", "onnx") from None
