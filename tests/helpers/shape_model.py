"""A model for onnxruntime that is made and loaded in milliseconds and scores words by their shape."""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

from nestag.data.validation import to_mapping
from nestag.encodings.vocabulary import Vocabulary
from nestag.formats.labels import write_vocabulary
from nestag.model.model_folder import CONFIG, GRAPH, SETTINGS, VOCABULARY, write_manifest
from nestag.model.onnx_runtime import OUTPUTS, GraphConfig
from nestag.model.settings import Settings
from nestag.model.subwords import SHAPES
from two_sentences import CORPUS

INPUTS = {"input_ids": "subwords", "attention_mask": "subwords", "word": "subwords", "shape": "words"}


def save_shape_model(folder: Path, seed: int = 0) -> None:
    """Save a model that finds the types of the two sentences; which ones, the seed says."""
    folder.mkdir(parents=True)
    vocabulary = Vocabulary.learn(CORPUS, "rel")
    sizes = vocabulary.sizes
    onnx.save(graph_of(sizes, seed), folder / GRAPH)
    _tokenizer().save(str(folder / "tokenizer.json"))
    write_vocabulary(vocabulary, folder / VOCABULARY)
    for name, values in ((CONFIG, GraphConfig(2, 3, 0, 1)), (SETTINGS, Settings(max_length=64))):
        (folder / name).write_text(json.dumps(to_mapping(values)))
    write_manifest(folder)


def graph_of(sizes: tuple[int, int, int], seed: int = 0) -> onnx.ModelProto:
    rng = np.random.default_rng(seed)
    nodes, tables = [], []
    for name, size in zip(OUTPUTS, sizes, strict=True):
        table = 2 * rng.standard_normal((SHAPES + 1, size)).astype(np.float32)  # the last row is of no word at all
        tables.append(numpy_helper.from_array(table, f"table {name}"))
        nodes += [
            helper.make_node("Gather", [f"table {name}", "shape"], [f"scores {name}"]),
            helper.make_node("LogSoftmax", [f"scores {name}"], [name], axis=-1),
        ]
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["windows", length]) for name, length in INPUTS.items()
    ]
    found = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["windows", "words", size])
        for name, size in zip(OUTPUTS, sizes, strict=True)
    ]
    graph = helper.make_graph(nodes, "shapes", given, found, tables)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _tokenizer() -> Tokenizer:
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *string.ascii_letters,
        *(f"##{char}" for char in string.ascii_letters),
    ]
    inner = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return inner
