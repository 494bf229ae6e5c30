"""Distillation: a student is trained on annotated sentences and on raw text that a teacher tagged.

A teacher is any saved recognizer, usually a larger and slower one. Several teachers vote. Tagged text is saved in the
student's folder chunk by chunk, so an interrupted call resumes there, or else from a checkpoint of the training.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from nestag.data.crossing import drop_crossing
from nestag.data.segment import Options, segments
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError, named
from nestag.formats import jsonl
from nestag.formats.corpus import CorpusSource, corpus_of, in_memory
from nestag.formats.files import writing
from nestag.model.model_folder import CARD, MANIFEST, load, local_folder
from nestag.model.predictor import Predictor, TextEntities
from nestag.training import run as training_run
from nestag.training.plan import ProgressCallback
from nestag.training.recipe import Recipe
from nestag.training.run import Run
from nestag.training.run_folder import TAGGED

CHUNK = 4_096  # sentences of raw text that are tagged and saved together
GOLD_SHARE = 0.25  # default share of annotated sentences in the student's training data, reached by repeating them
MAX_REPEATS = 8


@dataclass
class TaggedText:
    """The counts of what the teachers tagged."""

    teachers: tuple[str, ...]
    sentences: int = 0  # tagged, and used
    entities: int = 0
    unsure: int = 0  # sentences dropped because an entity was below the minimum confidence
    held_out: int = 0  # sentences dropped because they are in dev or test

    def __str__(self) -> str:
        return (
            f"{self.sentences:,} sentences with {self.entities:,} entities tagged by {', '.join(self.teachers)};"
            f" dropped {self.unsure:,} below the minimum confidence and {self.held_out:,} that are in dev or test"
        )


@dataclass(frozen=True)
class Distillation:
    """A finished distillation."""

    run: Run
    text: TaggedText
    gold_repeats: int


class TaggedSentence(NamedTuple):
    """A sentence as the teachers tagged it."""

    sentence: Sentence
    confidence: float  # of its least probable entity; 1 without entities

    def to_line(self) -> str:
        """Return a line of JSON, which `read_corpus` can read."""
        return json.dumps({**json.loads(jsonl.to_line(self.sentence)), "confidence": self.confidence}) + "\n"

    @classmethod
    def from_line(cls, line: str) -> TaggedSentence:
        """Return the sentence of a line of JSON."""
        record = json.loads(line)
        return cls(jsonl.sentence_from(record), record["confidence"])


@dataclass
class Panel:
    """One or several teachers that tag text together: an entity needs the votes of more than half of them."""

    teachers: Sequence[Predictor]
    names: Sequence[str]
    digests: Sequence[str]  # of their manifests

    @classmethod
    def load(cls, teacher: str | Path | Sequence[str | Path], device: str | None) -> Panel:
        """Load the recognizers of one or several folders or hub names."""
        paths = [teacher] if isinstance(teacher, str | Path) else list(teacher)
        if not paths:
            raise InputError("there is no teacher; give a model folder", named("teacher"))
        folders = [local_folder(str(path)) for path in paths]
        teachers = [load(folder, device) for folder in folders]  # this checks the folders before anything is read
        digests = [hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest() for folder in folders]
        return cls(teachers, [Path(path).name for path in paths], digests)

    def sentences(self, texts: CorpusSource | Iterable[str]) -> Iterator[Sentence]:
        """Stream the sentences of texts; strings are tokenized as by the first teacher."""
        options = self.teachers[0].settings.reading
        for text in corpus_of(texts):
            if isinstance(text, str):
                for segment in segments(text, options):
                    yield Sentence([text[start:end] for start, end in segment])
            else:
                yield text

    def tag(self, sentences: Sequence[Sentence]) -> list[TaggedSentence]:
        """Tag sentences."""
        predictions = zip(*[list(teacher.pipe(sentences)) for teacher in self.teachers], strict=True)
        return [self._vote(sentence, entities) for sentence, entities in zip(sentences, predictions, strict=True)]

    def _vote(self, sentence: Sentence, predictions: Iterable[TextEntities[Sentence]]) -> TaggedSentence:
        votes: dict[Entity, list[float]] = defaultdict(list)
        for predicted in chain.from_iterable(predictions):
            votes[predicted.entity].append(predicted.confidence)
        chosen = {entity: sum(v) / len(v) for entity, v in votes.items() if 2 * len(v) > len(self.teachers)}
        tagged = Sentence(sentence.tokens, drop_crossing(list(chosen)).nested, sentence.id)
        return TaggedSentence(tagged, min((chosen[entity] for entity in tagged.entities), default=1.0))


def distill(
    teacher: str | Path | Sequence[str | Path],
    texts: CorpusSource | Iterable[str],
    train: CorpusSource,
    dev: CorpusSource,
    output: str | Path,
    recipe: str | Recipe | None = None,
    *,
    encoder: str = "light",
    test: CorpusSource | None = None,
    gold_repeats: int | None = None,
    min_confidence: float = 0.0,
    max_sentences: int | None = None,
    seed: int = 1,
    watch: ProgressCallback | None = None,
    quiet: bool | None = None,
    device: str | None = None,
    use_cpu: bool = False,
    options: Options | None = None,
    **settings: Any,
) -> Distillation:
    """Train a student on the sentences of `train` and on raw text that a teacher tags; the same call resumes.

    `texts` are a file or folder, sentences, or strings of raw text; their entities are ignored. At most `max_sentences`
    of them are used. Those in dev or test are dropped, and those with an entity below `min_confidence`. The sentences
    of `train` are repeated until they are a quarter of the student's training data, or `gold_repeats` times.
    Everything else is as in `nestag.train`.
    """
    gold, dev = in_memory(train), in_memory(dev)
    test = None if test is None else in_memory(test)
    panel = Panel.load(teacher, "cpu" if use_cpu else device)
    held_out = {tuple(sentence.tokens) for sentence in (*dev, *(test or ()))}
    report = TaggedText(tuple(panel.names))
    sentences = _tag(panel, islice(panel.sentences(texts), max_sentences), Path(output))
    tagged = list(_select(sentences, held_out, min_confidence, report))
    del panel  # its memory is free for training
    if not tagged:
        raise InputError("there is no sentence to learn from in it; give more text", "text")
    repeats = gold_repeats or repeats_for(len(gold), len(tagged))
    training = [*list(gold) * repeats, *tagged]
    run = training_run.train(
        training, dev, output, recipe, test=test, seed=seed, watch=watch, quiet=quiet, use_cpu=use_cpu, options=options,
        encoder=encoder, **settings,
    )  # fmt: skip
    model_card = Path(output) / CARD
    text = model_card.read_text(encoding="utf-8").rstrip()
    with writing(model_card) as stream:
        stream.write(f"{text}\n\n## Distillation\n\n{len(gold):,} annotated sentences, {repeats} times. {report}.\n")
    return Distillation(run, report, repeats)


def repeats_for(gold: int, tagged: int) -> int:
    """Return how often annotated sentences are repeated by default.

    >>> [repeats_for(7_000, tagged) for tagged in (1_000, 60_000, 500_000)]
    [1, 3, 8]
    """
    needed = GOLD_SHARE / (1 - GOLD_SHARE) * tagged
    return max(1, min(MAX_REPEATS, round(needed / max(1, gold))))


def _tag(panel: Panel, texts: Iterable[Sentence], output: Path) -> Iterator[TaggedSentence]:
    """Tag text chunk by chunk; a chunk that the same teachers have tagged before is read from its file."""
    folder, sentences = output / TAGGED, (sentence for sentence in texts if sentence.tokens)
    while chunk := list(islice(sentences, CHUNK)):
        content = json.dumps([list(panel.digests), [sentence.tokens for sentence in chunk]])
        path = folder / f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.jsonl"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with writing(path) as stream:
                stream.writelines(map(TaggedSentence.to_line, panel.tag(chunk)))
        with path.open(encoding="utf-8") as lines:
            yield from map(TaggedSentence.from_line, lines)


def _select(
    tagged: Iterable[TaggedSentence], held_out: set[tuple[str, ...]], min_confidence: float, report: TaggedText
) -> Iterator[Sentence]:
    """Yield the sentences for the student, and count them and the dropped ones in the report."""
    for sentence, confidence in tagged:
        if tuple(sentence.tokens) in held_out:
            report.held_out += 1
        elif confidence < min_confidence:
            report.unsure += 1
        else:
            report.sentences += 1
            report.entities += len(sentence.entities)
            yield sentence
