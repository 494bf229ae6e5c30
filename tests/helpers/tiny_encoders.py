"""Encoders small enough to train in a second, with random weights."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

KINDS = ("bert", "roberta", "deberta-v2", "modernbert", "xlm-roberta", "electra", "distilbert")


def save_encoder(kind: str, folder: Path) -> None:
    """Save a random encoder of a kind, two layers of width 16, with a tokenizer of single characters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *string.ascii_lowercase, *(f"##{char}" for char in string.ascii_lowercase), *string.digits, "."]
    inner = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=64, **names).save_pretrained(folder)
    size: dict[str, Any] = {"vocab_size": len(pieces), "pad_token_id": 0, "max_position_embeddings": 66}
    size |= {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    if kind == "distilbert":
        size |= {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
    if kind == "electra":
        size |= {"embedding_size": 16}
    torch.manual_seed(0)
    AutoModel.from_config(AutoConfig.for_model(kind, **size)).save_pretrained(folder)
