"""NestedNER: what a user loads, calls and saves. Training makes one (training.py)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from nestag.batching import batches
from nestag.corpora.document import Document, document_of, sentences_of
from nestag.corpora.format import Options
from nestag.corpora.labelling import read_vocabulary, write_vocabulary
from nestag.corpora.report import Report
from nestag.data import Entity, Sentence
from nestag.decoding import Decoding, EntityTable, Search, decode_scores, filter_entities
from nestag.errors import InputError
from nestag.files import writing
from nestag.inputs import Reader, Reading, chunked, load_tokenizer
from nestag.model import Tagger
from nestag.vocabulary import Vocabulary

CHUNK = 2_000
"""Sentences that are sorted by length and tagged together; more would only cost memory."""

BLOCK = 2**25
"""Scores, of all three heads, that are held at once."""

Floats = NDArray[np.float32]
T = TypeVar("T")

SETTINGS = "nestag.json"
VOCABULARY = "vocabulary.json"


@dataclass(frozen=True)
class Settings:
    """How a recognizer reads and decodes; stored beside the weights."""

    window: int = 512  # subwords read at once
    context: int = 0  # subwords up to which neighbouring sentences are added
    decoding: Decoding = "legal"  # legal or greedy
    budget: int = 8_192  # subwords in a batch
    temperature: float = 1.0  # of confidences, chosen on held-out sentences (calibrating.py)
    threshold: float = 0.0  # the least confidence of an entity
    thresholds: dict[str, float] = dataclasses.field(default_factory=dict)  # the same for single types


class Found(NamedTuple):
    """An entity in a text: its characters, its type, what it says, and how sure the model is."""

    start: int
    end: int
    type: str
    text: str
    confidence: float


class Scored(NamedTuple):
    """An entity of tokens and how sure the model is of it."""

    entity: Entity
    confidence: float


class NestedNER:
    """A trained recognizer of nested entities."""

    def __init__(
        self,
        model: Tagger,
        tokenizer: PreTrainedTokenizerBase,
        vocabulary: Vocabulary,
        settings: Settings = Settings(),  # noqa: B008
    ) -> None:
        """Put a model, its tokenizer and its vocabulary together."""
        self.model = model
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.settings = settings

    @classmethod
    def from_pretrained(cls, path: str | Path, device: str | None = None, **changes: Any) -> NestedNER:
        """Load one from a folder or the hub; keyword arguments change its settings, e.g. `decoding="greedy"`."""
        folder = _local(str(path))
        settings = dataclasses.replace(_read_settings(folder), **changes)
        try:
            model: Tagger = Tagger.from_pretrained(str(folder), use_safetensors=True)
        except (OSError, ValueError) as error:
            raise InputError(
                f"the model cannot be loaded ({error}); was it saved by save_pretrained?", str(path)
            ) from None
        model.to(device or ("cuda" if torch.cuda.is_available() else "cpu"))  # type: ignore[arg-type]
        model.train(False)
        tokenizer = load_tokenizer(str(folder), model.config)
        return cls(model, tokenizer, read_vocabulary(folder / VOCABULARY), settings)

    def save_pretrained(self, path: str | Path) -> None:
        """Save it as a folder: safetensors and JSON, nothing that could run."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        write_vocabulary(self.vocabulary, folder / VOCABULARY)
        with writing(folder / SETTINGS) as stream:
            stream.write(json.dumps(dataclasses.asdict(self.settings), indent=1) + "\n")

    def push_to_hub(self, name: str, private: bool = True) -> None:
        """Upload the saved folder to the hub under a name such as `you/model`."""
        import tempfile

        from huggingface_hub import HfApi

        with tempfile.TemporaryDirectory() as folder:
            self.save_pretrained(folder)
            hub = HfApi()
            hub.create_repo(name, private=private, exist_ok=True)
            hub.upload_folder(repo_id=name, folder_path=folder)

    def predict(self, sentences: Iterable[Sequence[str] | Sentence]) -> list[tuple[Entity, ...]]:
        """The entities of each sentence of tokens, in canonical order."""
        tables = self._tables(sentences, confidence=self._thresholded)
        return [entities for order, table in tables for entities in reordered(order, table.to_lists())]

    def predict_scored(self, sentences: Iterable[Sequence[str] | Sentence]) -> list[tuple[Scored, ...]]:
        """The same with the confidence of each entity."""
        tables = self._tables(sentences, confidence=True)
        return [entities for order, table in tables for entities in reordered(order, scored(table))]

    def predict_stream(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with the entities found in them, a chunk at a time, in their order."""
        for chunk in chunked(iter(sentences), CHUNK):
            for sentence, entities in zip(chunk, self.predict(chunk), strict=True):
                yield sentence.with_entities(entities)

    def predict_text(self, text: str, options: Options = Options()) -> list[Found]:  # noqa: B008
        """The entities of a raw text, with character offsets."""
        sentences = list(sentences_of(Document("text", text), options, Report()))
        found: list[Found] = []
        for sentence, entities in zip(sentences, self.predict_scored(sentences), strict=True):
            assert sentence.origin is not None
            offsets = sentence.origin.offsets
            for (first, last, kind), confidence in entities:
                start, end = offsets[first][0], offsets[last - 1][1]
                found.append(Found(start, end, kind, text[start:end], confidence))
        return found

    @property
    def _thresholded(self) -> bool:
        return bool(self.settings.threshold or self.settings.thresholds)

    def _tables(
        self, sentences: Iterable[Sequence[str] | Sentence], confidence: bool
    ) -> Iterator[tuple[list[int], EntityTable]]:
        """The entities of each chunk of sentences, sorted by length, and where each stood in its chunk."""
        for chunk in chunked(iter(sentences), CHUNK):
            tokens = [item.tokens if isinstance(item, Sentence) else tuple(item) for item in chunk]
            documents = [document_of(item) if isinstance(item, Sentence) else "" for item in chunk]
            reading = self._reader.read(tokens, documents)
            order = sorted(range(len(tokens)), key=lambda index: len(tokens[index]))
            blocks = [self._decoded(reading, block, confidence) for block in self._blocks(order, tokens)]
            table = joined(blocks)
            if self._thresholded:
                table = filter_entities(table, self.settings.threshold, self.settings.thresholds)
            yield order, table

    @property
    def _reader(self) -> Reader:
        return Reader(self.tokenizer, self.settings.window, self.settings.context)

    def _blocks(self, order: list[int], tokens: Sequence[Sequence[str]]) -> Iterator[list[int]]:
        """Sentences of like length whose scores, padded, take bounded memory."""
        most = max(1, BLOCK // sum(self.model.config.sizes))
        block: list[int] = []
        for index in order:
            if block and (len(block) + 1) * len(tokens[index]) > most:
                yield block
                block = []
            block.append(index)
        yield block

    def _decoded(self, reading: Reading, block: list[int], confidence: bool) -> EntityTable:
        n, c, u = self._scores(reading, block)
        lengths = [len(reading.texts[index]) for index in block]
        search = Search(temperature=self.settings.temperature)
        return decode_scores(
            self.vocabulary, n, c, u, lengths, self.settings.decoding, confidence=confidence, search=search
        )

    def scores(self, sentences: Sequence[Sequence[str]], documents: Sequence[str] | None = None) -> tuple[Floats, ...]:
        """The log-probabilities of the three heads: words x labels, the sentences one after the other."""
        return self._scores(self._reader.read(sentences, documents), range(len(sentences)))

    @torch.inference_mode()
    def _scores(self, reading: Reading, block: Sequence[int]) -> tuple[Floats, ...]:
        ends = np.cumsum([len(reading.texts[index]) for index in block], dtype=np.int64).tolist()
        first = dict(zip(block, [0, *ends], strict=False))
        windows = [window for window in reading.windows if window.sentence in first]
        heads = [np.zeros((max(ends, default=0), size), dtype=np.float32) for size in self.model.config.sizes]
        was_training = self.model.training
        self.model.train(False)
        for group in batches(windows, self.settings.budget):
            chosen = [windows[index] for index in group]
            inputs = self._reader.tensors(reading, chosen)
            scores = self.model(**{name: value.to(self.model.device) for name, value in inputs.items()})
            for head, score in zip(heads, scores[:3], strict=True):
                values = torch.log_softmax(score.float(), dim=-1).cpu().numpy()
                for window, words in zip(chosen, values, strict=True):
                    kept = words[window.keep_first - window.first : window.keep_last - window.first]
                    at = first[window.sentence]
                    head[at + window.keep_first : at + window.keep_last] = kept
        self.model.train(was_training)
        return tuple(heads)


def joined(blocks: Sequence[EntityTable]) -> EntityTable:
    """The tables of blocks that follow each other as one."""
    first = np.cumsum([0, *(block.sentences for block in blocks)])
    sentence = np.concatenate([block.sentence + start for block, start in zip(blocks, first, strict=False)])
    start, end, kind = (np.concatenate(column) for column in zip(*(block[1:4] for block in blocks), strict=True))
    rated = [block.confidence for block in blocks if block.confidence is not None]
    confidence = np.concatenate(rated) if len(rated) == len(blocks) else None
    return EntityTable(sentence, start, end, kind, blocks[0].types, int(first[-1]), confidence)


def reordered(order: Sequence[int], found: list[T]) -> list[T]:
    """What was found in sentences taken in an order, in the order they came in."""
    back: list[T] = list(found)
    for index, entities in zip(order, found, strict=True):
        back[index] = entities
    return back


def scored(table: EntityTable) -> list[tuple[Scored, ...]]:
    """A table's entities with their confidences, sentence by sentence."""
    assert table.confidence is not None
    values = iter(table.confidence.tolist())
    return [tuple(Scored(entity, next(values)) for entity in entities) for entities in table.to_lists()]


def _local(path: str) -> Path:
    """The folder of a model: the path itself, or what the hub holds under that name."""
    if Path(path).is_dir():
        return Path(path)
    if path.startswith((".", "/", "~")) or path.count("/") != 1:
        raise InputError(
            "there is no such folder; give a folder saved by training, or a hub name such as you/model", path
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(path, allow_patterns=["*.json", "*.safetensors", "*.txt", "*.model"]))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise InputError(f"neither a folder nor on the hub ({type(error).__name__}); check the name", path) from None


def _read_settings(folder: Path) -> Settings:
    try:
        return Settings(**json.loads((folder / SETTINGS).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError(f"there is no {SETTINGS} in it; give a folder saved by training", str(folder)) from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{SETTINGS} cannot be read ({error}); save the model again", str(folder)) from None
