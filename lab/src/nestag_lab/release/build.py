"""A trained recognizer -> a small folder to share: int8, and a card with scores, speed and sources."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from nestag.data.sentence import Sentence
from nestag.evaluation import Score, score
from nestag.formats.files import writing, writing_folder
from nestag.model.benchmark import time_in_turn
from nestag.model.model_folder import CARD
from nestag.model.onnx_export import Exported, export
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.recognizer import NestedNER
from nestag.training.card import card
from nestag.training.recipe import Recipe
from nestag_lab.release.english import SOURCES, TEXTS, SplitCorpora, joined

LICENCE = "cc-by-4.0"

SCOPE = """\
English news, literature and other prose. It finds mentions of persons, places and organizations, by name or described
(`the mayor of [Utrecht]`), inside each other; no pronouns. Places are countries, cities, landscapes and buildings.
Scores on literature are those of LitBank's test set, on news, interviews, court opinions and more those of GUM's.
Names without capitals, greetings (`Dear Ms Li`), companies that are mentioned without context and people named by
their work (`NASA engineers`) are often missed or found with wrong borders."""


MADE_BY = """\
The text is collected by `python -m nestag_lab.release.text`, then:

    {command}"""


class Released(NamedTuple):
    """What was measured of a recognizer in int8."""

    exported: Exported
    scores: dict[str, Score]  # on the test set of each corpus
    megabytes: float
    words_per_second: float  # in one thread


def release(
    recognizer: NestedNER, folder: str | Path, found: SplitCorpora, recipe: Recipe, seed: int, made_by: str
) -> Released:
    """Export a recognizer to a folder in int8, measure it and write its card."""
    with writing_folder(folder) as part:
        exported = export(recognizer, part, joined(found, "dev"), int8=True, gold=True)
        small = OnnxNER.from_pretrained(part, threads=1)
        tests = {f"test of {name}": splits["test"] for name, splits in found.items()}
        predicted = {name: small.predict(sentences) for name, sentences in tests.items()}
        done = Released(
            exported,
            {name: score([one.entities for one in tests[name]], guesses) for name, guesses in predicted.items()},
            sum(file.stat().st_size for file in part.iterdir()) / 1e6,
            _words_per_second(small, joined(found, "test")),
        )
        splits = {"train": joined(found, "train"), "dev": joined(found, "dev"), **tests}
        sections = {
            "What it finds": SCOPE,
            "Sources": sources(),
            "Size and speed": describe(done),
            "Made by": MADE_BY.format(command=made_by),
        }
        text = card(
            "english", recipe, seed, splits, predicted,
            sections=sections, license=LICENCE, language="en",
        )  # fmt: skip
        with writing(part / CARD) as stream:
            stream.write(text)
    return done


def sources() -> str:
    """List what a model that learned from the corpora and the text has to name."""
    lines = [f"- **{one.name}** ({one.address}): {one.licence}. {one.cited}." for one in (*SOURCES, *TEXTS)]
    minilm = "- **all-MiniLM-L6-v2** (Apache-2.0): the subwords, and the teacher of the encoder and of the model."
    return "\n".join(["You may use and change the model if you name these:\n", *lines, minilm])


def describe(done: Released) -> str:
    """Describe size, loss and speed in a sentence."""
    exact, small = 100 * done.exported.f1, 100 * (done.exported.int8_f1 or 0)
    return (
        f"{done.megabytes:.1f} MB; {done.words_per_second:,.0f} words a second in one thread of the CPU that made it."
        f" F1 on dev is {small:.2f} in int8 and {exact:.2f} in float32."
    )


def _words_per_second(recognizer: OnnxNER, sentences: list[Sentence]) -> float:
    words = sum(map(len, sentences))
    (seconds,) = time_in_turn([lambda: recognizer.predict(sentences)])
    return words / seconds
