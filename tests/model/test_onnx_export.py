"""Models are exported, checked, and loaded without torch."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

import nestag
from nestag.cli import app
from nestag.errors import InputError, MissingExtraError, UnknownNameError
from nestag.formats import jsonl
from nestag.model import onnx_export as graph
from nestag.model.model_folder import GRAPH, write_manifest
from nestag.model.onnx_export import export, write_graph
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.recognizer import NestedNER, load_tokenizer
from nestag.model.settings import Settings
from nestag.model.subwords import Special, WordTokenizer
from nestag.model.tagger import Tagger
from nestag.model.windows import LayoutMaker
from two_sentences import CORPUS, GOLD

pytestmark = pytest.mark.slow  # an export takes many seconds

WITHOUT_TORCH = """
import sys
for name in ("torch", "transformers"):
    sys.modules[name] = None  # an import is now an ImportError
"""


@pytest.fixture(scope="module")
def exported(trained_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `plain`, which the command made of the model and `dev.jsonl`, and `small` of the same graph."""
    folder = tmp_path_factory.mktemp("exported")
    jsonl.write(CORPUS, folder / "dev.jsonl")
    result = command("export", "onnx", trained_model, folder / "plain", "--dev", folder / "dev.jsonl")
    assert result.exit_code == 0, result.stderr
    assert f"float32: F1 100.00 on {folder / 'dev.jsonl'}" in result.stderr
    with copied_graph(folder / "plain"):
        result = command("export", "onnx", trained_model, folder / "small", "--int8", "--max-loss", 50)
    assert result.exit_code == 0, result.stderr
    assert "on the entities of float32 in the sample" in result.stderr
    return folder


@pytest.mark.parametrize("name", ["plain", "small", "english"])
def test_graph_has_no_paths_of_the_machine_that_made_it(name: str, exported: Path) -> None:
    folder = Path(nestag.__file__).parent / "model" / name if name == "english" else exported / name
    content = (folder / GRAPH).read_bytes()
    assert b"name_scopes" in content
    assert not any(sign in content for sign in (b"stack_trace", b"site-packages"))


def command(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@contextmanager
def copied_graph(folder: Path) -> Iterator[None]:
    """Takes the graph of a folder instead of making it again, which takes seconds."""

    def copy(tagger: Tagger, path: Path, spans: bool = False) -> None:
        shutil.copy(folder / GRAPH, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph, "write_graph", copy)
        yield


def run(code: str, *arguments: object) -> str:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH + code, *map(str, arguments)],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_onnx_model_finds_the_same_without_torch(trained_model: Path, exported: Path) -> None:
    ner = NestedNER.from_pretrained(trained_model, "cpu")
    text = "lincoln was president of the usa."
    wanted = [ner(text), ner(CORPUS), list(ner.pipe([text, ""]))]
    out = run(
        """
import json
from nestag.formats import jsonl
from nestag.model.onnx_runtime import OnnxNER
ner, corpus = OnnxNER.from_pretrained(sys.argv[1]), list(jsonl.read(sys.argv[2]))
assert [s.entities for s in ner.annotate(corpus)] == [s.entities for s in corpus]
text = "lincoln was president of the usa."
print(json.dumps([ner(text), ner(corpus), list(ner.pipe([text, ""]))]))
""",
        exported / "plain",
        exported / "dev.jsonl",
    )
    flat, expected = _flat(json.loads(out)), _flat(json.loads(json.dumps(wanted)))
    assert len(flat) > 20
    assert flat == pytest.approx(expected, abs=1e-4)


def _flat(value: object) -> list[object]:
    return [one for inner in value for one in _flat(inner)] if isinstance(value, list) else [value]


def test_predict_runs_without_torch(exported: Path) -> None:
    out = run(
        "sys.argv[0] = 'nestag'\nfrom nestag.cli import main\nmain()",
        "predict", exported / "small", exported / "dev.jsonl", "--to", "jsonl",
    )  # fmt: skip
    assert [len(json.loads(line)["entities"]) for line in out.splitlines()] == [len(gold) for gold in GOLD]


def test_int8_graph_is_smaller(exported: Path) -> None:
    whole, small = exported / "plain", exported / "small"
    assert (small / GRAPH).stat().st_size < (whole / GRAPH).stat().st_size
    assert json.loads((small / "config.json").read_text())["precision"] == "int8"
    assert json.loads((whole / "config.json").read_text())["precision"] == "float32"
    a, b = OnnxNER.from_pretrained(whole).scores([["usa"]]), OnnxNER.from_pretrained(small).scores([["usa"]])
    assert 0 < np.abs(a.n - b.n).max() < 1  # int8 changes the scores a little


@pytest.mark.parametrize("batch", [1, 7, 4096])
def test_int8_scores_do_not_depend_on_the_batch(exported: Path, batch: int) -> None:
    tokens = [sentence.tokens for sentence in CORPUS]
    small = OnnxNER.from_pretrained(exported / "small")
    alone = [small.scores([sentence]) for sentence in tokens]
    small.settings = replace(small.settings, batch_subwords=batch)
    together = small.scores(tokens)
    for head in ("n", "c", "u"):
        expected = np.concatenate([getattr(one, head) for one in alone])
        np.testing.assert_allclose(getattr(together, head), expected, atol=1e-5)


def test_int8_without_sentences_is_refused(trained_model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="int8 calibration needs at least one"):
        export(NestedNER.from_pretrained(trained_model, "cpu"), tmp_path / "out", [], int8=True)
    assert not (tmp_path / "out").exists()


def test_too_large_loss_of_int8_is_refused(
    trained_model: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnx

    def ruin(path: Path, samples: object) -> None:
        model = onnx.load(path)
        for weight in model.graph.initializer:
            if weight.name == "tagger.heads.0.bias":
                weight.raw_data = np.full(weight.dims, 0, np.float32).tobytes()[:-4] + np.float32(99).tobytes()
        onnx.save(model, path)

    monkeypatch.setattr(graph, "quantize", ruin)
    with (
        copied_graph(exported / "plain"),
        pytest.raises(InputError, match=r"int8 costs \d+\.\d\d F1 against gold, and 1 is allowed"),
    ):
        export(NestedNER.from_pretrained(trained_model, "cpu"), tmp_path / "out", CORPUS, int8=True, gold=True)
    assert not (tmp_path / "out").exists()


def test_graph_with_other_scores_is_refused(
    trained_model: Path, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ner = NestedNER.from_pretrained(trained_model, "cpu")
    monkeypatch.setattr(graph, "TOLERANCE", -1.0)
    with (
        copied_graph(exported / "plain"),
        pytest.raises(InputError, match=r"does not score as torch does: .* entities are the same"),
    ):
        export(ner, tmp_path / "out", CORPUS)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("kind", "fused"), [("bert", 2), ("roberta", 2), ("electra", 2), ("distilbert", 2)])
def test_graph_has_the_scores_of_torch(
    kind: str, fused: int, tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    """Attention is one operation in each of the two layers."""
    import onnx
    import onnxruntime

    from nestag.model.engine import Batch
    from nestag.model.onnx_runtime import GraphScorer
    from nestag.model.scorer import TaggerScorer

    encoder = tiny_encoder(kind)
    tagger = Tagger.around(encoder, sizes=(3, 4, 5), pooling="mean", shape_size=4, conv_size=8)
    write_graph(tagger, tmp_path / "model.onnx")
    operations = [node.op_type for node in onnx.load(tmp_path / "model.onnx").graph.node]
    assert operations.count("Attention") == fused
    layout = LayoutMaker(load_tokenizer(encoder), 32).lay_out([["the", "usa", "."], ["x"], ["lincoln"] * 9])
    batch = np.arange(len(layout.windows))
    row, column, word = layout.labelled_words(batch)
    batches = [Batch(layout.arrays(batch), row, column, word)]
    scorer = GraphScorer(onnxruntime.InferenceSession(tmp_path / "model.onnx"), (3, 4, 5), Settings(), 1)
    wanted = TaggerScorer(tagger, Settings()).start(batches, len(word))()
    for mine, torchs in zip(scorer.start(batches, len(word))()[:3], wanted[:3], strict=True):
        np.testing.assert_allclose(mine, torchs, atol=1e-5)


def test_subwords_match_transformers(tiny_encoder: Callable[[str], str]) -> None:
    from tokenizers import Tokenizer

    encoder = tiny_encoder("bert")
    theirs = load_tokenizer(encoder)
    inner = Tokenizer.from_file(f"{encoder}/tokenizer.json")
    inner.enable_truncation(2)  # files may say so; words are cut by windows alone
    inner.enable_padding(length=9)
    special = theirs.cls_token_id, theirs.sep_token_id, theirs.pad_token_id
    mine = WordTokenizer(inner, *special, theirs.unk_token_id)
    assert Special.of(mine) == Special.of(WordTokenizer.of(load_tokenizer(encoder))) == special
    sentence = ["the", "Usa1984", "\u200b", "漢"]
    for words in (sentence, *([word] for word in sentence)):
        expected = theirs(words, is_split_into_words=True, add_special_tokens=False)
        (encoding,) = mine.encode([words])
        assert (encoding.ids, encoding.word_ids) == (expected["input_ids"], expected.word_ids())


def test_folder_of_the_other_runtime_is_refused(trained_model: Path, exported: Path) -> None:
    with pytest.raises(InputError, match=r"for torch; .* nestag export onnx"):
        OnnxNER.from_pretrained(trained_model)
    with pytest.raises(InputError, match="for onnxruntime"):
        NestedNER.from_pretrained(exported / "plain")
    with pytest.raises(UnknownNameError, match="'cuda' cannot be used"):
        OnnxNER.from_pretrained(exported / "plain", "cuda")


def test_missing_library_error_names_the_fix(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"needs onnxruntime, .* pip install 'nestag\[onnx\]'"):
        OnnxNER.from_pretrained(exported / "plain")
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingExtraError, match=r"needs onnxscript, .* pip install 'nestag\[onnx-export\]'"):
        write_graph(torch.nn.Identity(), exported / "x.onnx")  # type: ignore[arg-type]


def test_broken_onnx_file_is_refused(exported: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported / "plain", tmp_path / "model"))
    (folder / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"model\.onnx is not the file that was saved"):
        OnnxNER.from_pretrained(folder)
    write_manifest(folder)
    with pytest.raises(InputError, match="it is not a graph that nestag wrote"):
        OnnxNER.from_pretrained(folder)


def test_error_of_a_graph_is_one_line(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ner = OnnxNER.from_pretrained(exported / "plain")

    class Failing:
        def run(self, *_: object) -> None:
            raise RuntimeError("Non-zero status code\nreturned")

    monkeypatch.setattr(ner, "session", Failing())
    with pytest.raises(
        InputError, match=r"the graph cannot be computed \(RuntimeError: Non-zero status code returned\)"
    ):
        ner.predict([["a"]])
