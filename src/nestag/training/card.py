"""Model cards: what a model was trained on and how well it does, written for whoever finds it later."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.display import by_depth, by_type, overall
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import Evaluation
from nestag.inspect.table_forms import TableForm, write
from nestag.training.recipe import Recipe

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

TASK = "token-classification"
"""The task of the hub that nested entities are nearest to."""

PACKAGES = ("nestag", "torch", "transformers", "numpy")
"""Packages whose versions are named."""

Predictions = Sequence[Sequence[Entity]]


def card(
    name: str,
    recipe: Recipe,
    seed: int,
    splits: Mapping[str, Sequence[Sentence]],
    predicted: Mapping[str, Predictions],
    *,
    sections: Mapping[str, str] = {},
    **metadata: Any,
) -> str:
    """A model card in Markdown, with the scores also as metadata; `predicted` holds predictions for some splits.

    `sections` are further ones by their titles, `metadata` further fields of the hub's, e.g. `license`.
    """
    from huggingface_hub import ModelCard, ModelCardData

    found = {split: _evaluated(splits[split], guesses) for split, guesses in predicted.items()}
    results = [result for split, evaluation in found.items() for result in _results(split, evaluation)]
    data = ModelCardData(
        library_name="nestag",
        pipeline_tag=TASK,
        tags=["nested-ner", TASK],
        model_name=name,
        eval_results=results or None,
        **metadata,
    )
    body = "\n".join([*_opening(name), *_titled(sections), *_body(recipe, seed, splits, found)])
    return str(ModelCard(f"---\n{data.to_yaml()}\n---\n{body}\n"))


def _evaluated(sentences: Sequence[Sentence], guesses: Predictions) -> Evaluation:
    return evaluate_pairs(Pair(one, one.with_entities(guess)) for one, guess in zip(sentences, guesses, strict=True))


def _results(split: str, evaluation: Evaluation) -> Iterator[EvalResult]:
    """The strict scores of a split as the hub's leaderboards read them."""
    from huggingface_hub import EvalResult

    for metric in ("precision", "recall", "f1"):
        yield EvalResult(
            task_type=TASK,
            dataset_type=split,
            dataset_name=split,
            metric_type=metric,
            metric_value=round(getattr(evaluation.overall, metric), 4),
        )


def _opening(name: str) -> Iterator[str]:
    """What it is and how it is loaded."""
    yield f"# {name}\n"
    yield "A recognizer of nested named entities, trained with [nestag](https://pypi.org/project/nestag/).\n"
    yield "    import nestag"
    yield f'    nestag.load("{name}")("...")\n'


def _titled(sections: Mapping[str, str]) -> Iterator[str]:
    for title, text in sections.items():
        yield f"## {title}\n\n{text}\n"


def _body(
    recipe: Recipe,
    seed: int,
    splits: Mapping[str, Sequence[Sentence]],
    found: Mapping[str, Evaluation],
) -> Iterator[str]:
    """Data, scores and settings."""
    yield "## Data\n\n| split | sentences | tokens | entities |\n|---|---|---|---|"
    for split, sentences in splits.items():
        tokens, entities = sum(map(len, sentences)), sum(len(sentence.entities) for sentence in sentences)
        yield f"| {split} | {len(sentences):,} | {tokens:,} | {entities:,} |"
    for split, evaluation in found.items():
        yield f"\n## Scores on {split}\n"
        yield from (write(table(evaluation), TableForm.markdown) for table in (overall, by_type, by_depth))
    yield f"\n## Settings\n\nSeed {seed}.\n\n| setting | value |\n|---|---|"
    yield from (f"| {key} | {value} |" for key, value in asdict(recipe).items())
    yield "\n" + " · ".join([f"Python {platform.python_version()}", *map(_version, PACKAGES)])


def _version(package: str) -> str:
    from nestag import __version__

    return f"{package} {__version__ if package == 'nestag' else version(package)}"
