"""Two sentences that any tagger can overfit, and a recipe that does it in seconds."""

from nestag.data.sentence import Entity, Sentence
from nestag.training.recipe import Recipe

CORPUS = [
    Sentence(
        ["lincoln", "was", "president", "of", "the", "usa", "."],
        [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
        "a-1",
    ),
    Sentence(
        ["the", "mayor", "of", "new", "york", "slept"],
        [Entity(0, 5, "PER"), Entity(3, 5, "GPE"), Entity(3, 5, "ORG")],
        "a-2",
    ),
]
MANY = CORPUS * 8
GOLD = [sentence.entities for sentence in CORPUS]


def quick(encoder: str, **changes: object) -> Recipe:
    """A recipe for a tiny encoder and the two sentences."""
    base: dict[str, object] = {
        "encoder": encoder, "epochs": 15, "batch_subwords": 64, "learning_rate": 3e-3, "head_learning_rate": 1e-2,
        "dropout": 0.0, "lr_scheduler_type": "constant_with_warmup", "warmup_ratio": 0.0,
        "early_stopping_patience": 3, "ema_decay": 0.0,
    }  # fmt: skip
    if "steps" in changes:
        del base["epochs"]
    return Recipe().changed(base | changes)
