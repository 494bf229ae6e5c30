"""The settings of a recognizer, which are stored with its weights, and those that a training recipe shares with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nestag.data.segment import Options, TokenizerName
from nestag.data.validation import setting
from nestag.decoding import Decoding
from nestag.encodings.base import Naming
from nestag.model.encoders import Precision
from nestag.model.windows import Cut

LEAST = 0.01  # minimum probability of candidates; below it nearly every span is one
ROUNDING = 1e-4  # subtracted from the lowest logit, so that rounding drops no span before its probability is compared


@dataclass(frozen=True)
class LayerSettings:
    """The layers of a tagger above its encoder."""

    pooling: Literal["first", "last", "mean"] = setting("mean", help="how the vectors of a word's subwords are pooled")
    shape_size: int = setting(0, minimum=0, maximum=4096, help="dimension of the word-shape embedding; 0 for none")
    conv_size: int = setting(0, minimum=0, maximum=8192, help="channels of the convolutions over words; 0 for none")
    conv_layers: int = setting(2, minimum=1, maximum=64, help="number of convolutions over words")
    dropout: float = setting(0.2, minimum=0, below=1, help="dropout before the heads")
    span_size: int = setting(128, minimum=1, maximum=1024, help="channels of the span grid")
    span_layers: int = setting(3, minimum=0, maximum=16, help="convolutions over the span grid")


@dataclass(frozen=True)
class PredictionSettings:
    """How a tagger is used, in training and afterwards."""

    max_length: int = setting(512, minimum=8, help="maximum subwords in a window; longer sentences are read in several")
    windows: Cut = setting("overlapping", help="how windows of longer sentences are laid out; MaChAmp's are disjoint")
    context: int = setting(0, minimum=0, help="add neighbouring sentences up to this many subwords; 0 for none")
    decoding: Decoding = setting(
        "constrained",
        help="entities of the span grid (spans), the best valid labels (constrained), or greedy labels",
    )
    min_node_probability: float = setting(
        0.0, minimum=0, maximum=1, help="drop spans of the grid that are improbable by the labels; 0 for none"
    )
    node_label_strategy: Naming = setting(
        "first", help="label of a node whose words disagree in greedy decoding: the first or the most frequent"
    )
    precision: Precision = setting(
        "auto", help="precision on a GPU: bfloat16 if supported, float32, or float32 with TF32 matrix products"
    )


@dataclass(frozen=True)
class Settings(PredictionSettings):
    """The settings of a recognizer, stored with the weights."""

    batch_subwords: int = setting(0, minimum=0, help="maximum subwords in a batch; 0 chooses by device")
    return_candidates: bool = setting(
        False, help="return all entities above their threshold instead of those of the best labels"
    )
    span_threshold: float = setting(
        0.5, minimum=0, maximum=1, help="minimum probability of a span of the grid, fitted on held-out sentences"
    )
    temperature: float = setting(1.0, above=0, help="temperature of confidences, fitted on held-out sentences")
    threshold: float = setting(0.0, minimum=0, maximum=1, help="minimum confidence of an entity")
    thresholds: dict[str, float] = setting(factory=dict, minimum=0, maximum=1, help="minimum confidence by type")
    tokenizer: TokenizerName = setting("spacy", help="tokenizer of raw text, as in training")
    language: str = setting("en", help="spaCy's language code for raw text, as in training")

    @property
    def least_span_logit(self) -> float | None:
        """The lowest logit of a span that can matter; None if the span grid is not used."""
        if self.decoding != "spans":
            return None
        least = LEAST if self.return_candidates else self.span_threshold
        odds = min(max(least, 1e-6), 1 - 1e-6)
        return self.temperature * (math.log(odds) - math.log1p(-odds)) - ROUNDING

    @property
    def floor(self) -> float:
        """The minimum probability of candidates."""
        return max(LEAST, min([self.threshold, *self.thresholds.values()]))

    @property
    def reading(self) -> Options:
        """How raw text is tokenized and split into sentences."""
        return Options(tokenizer=self.tokenizer, language=self.language)
