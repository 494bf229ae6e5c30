"""Model cards: what a model was trained on, with which settings, and its scores."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation.display import tables
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import Evaluation
from nestag.inspect.table_forms import TableForm, write
from nestag.training.recipe import Recipe

TASK = "token-classification"  # the hub's task that is closest to nested entities
PACKAGES = ("torch", "transformers", "numpy")


def card(
    name: str,
    recipe: Recipe,
    seed: int,
    splits: Mapping[str, Sequence[Sentence]],
    predicted: Mapping[str, Sequence[Sequence[Entity]]],
    *,
    sections: Mapping[str, str] = {},
    **metadata: Any,
) -> str:
    """Return a model card in Markdown, with the scores also as metadata; `predicted` has predictions for some splits.

    `sections` are further ones by their titles, `metadata` further fields of the hub, e.g. `license`.
    """
    from huggingface_hub import EvalResult, ModelCard, ModelCardData

    evaluations = {
        split: evaluate_pairs(Pair(s, s.with_entities(e)) for s, e in zip(splits[split], entities, strict=True))
        for split, entities in predicted.items()
    }
    results = [
        EvalResult(TASK, split, split, metric, round(getattr(evaluation.overall, metric), 4))
        for split, evaluation in evaluations.items()
        for metric in ("precision", "recall", "f1")
    ]
    data = ModelCardData(
        library_name="nestag",
        pipeline_tag=TASK,
        tags=["nested-ner", TASK],
        model_name=name,
        eval_results=results or None,
        **metadata,
    )
    opening = f"""# {name}

A recognizer of nested named entities, trained with nestag.

    import nestag
    nestag.load("{name}")("...")
"""
    further = [f"## {title}\n\n{text}\n" for title, text in sections.items()]
    body = "\n".join([opening, *further, *_body(recipe, seed, splits, evaluations)])
    return str(ModelCard(f"---\n{data.to_yaml()}\n---\n{body}\n"))


def _body(
    recipe: Recipe,
    seed: int,
    splits: Mapping[str, Sequence[Sentence]],
    evaluations: Mapping[str, Evaluation],
) -> Iterator[str]:
    from nestag import __version__

    yield "## Data\n\n| split | sentences | tokens | entities |\n|---|---|---|---|"
    for split, sentences in splits.items():
        tokens, entities = sum(map(len, sentences)), sum(len(sentence.entities) for sentence in sentences)
        yield f"| {split} | {len(sentences):,} | {tokens:,} | {entities:,} |"
    for split, evaluation in evaluations.items():
        yield f"\n## Scores on {split}\n"
        yield from (write(tables(evaluation)[name], TableForm.markdown) for name in ("overall", "types", "depths"))
    yield f"\n## Settings\n\nSeed {seed}.\n\n| setting | value |\n|---|---|"
    yield from (f"| {key} | {value} |" for key, value in asdict(recipe).items())
    versions = [f"{package} {version(package)}" for package in PACKAGES]
    yield "\n" + " · ".join([f"Python {platform.python_version()}", f"nestag {__version__}", *versions])
