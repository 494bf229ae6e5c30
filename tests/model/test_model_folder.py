"""Missing, changed or executable content of a model folder is refused."""

import ast
import json
import logging
import os
import re
import shutil
import stat
import struct
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import transformers
from transformers import CONFIG_MAPPING

import faulty_runs
import nestag
from faulty_runs import attempt
from model_mutations import Watch
from nestag.errors import InputError, MissingExtraError, UnknownNameError
from nestag.model.model_folder import (
    FILES,
    HISTORY,
    MANIFEST,
    WEIGHTS,
    EditedModelWarning,
    change_settings,
    copy_model,
    local_folder,
    open_model,
    write_manifest,
)
from nestag.model.recognizer import NestedNER
from nestag.training.run import train
from two_sentences import CORPUS, MANY, quick

WATCH = Watch()


@pytest.fixture(scope="module")
def saved(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    train(MANY, CORPUS, folder, quick(tiny_encoder("bert"), steps=3), use_cpu=True)
    return folder


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "model"))


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


Change = Callable[[dict[str, Any]], object]
SAVED = ("model.safetensors", "vocabulary.json", "tokenizer.json", "config.json", "nestag.json", "history.json")


@pytest.mark.parametrize("name", SAVED)
def test_a_missing_file_is_refused(model: Path, name: str) -> None:
    (model / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize("name", [name for name in SAVED if name != "nestag.json"])
def test_a_changed_file_is_refused(model: Path, name: str) -> None:
    data = (model / name).read_bytes()
    (model / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(InputError, match=f"{name} is not the file that was saved"):
        NestedNER.from_pretrained(model, "cpu")


def test_edited_settings_are_used_with_a_warning(model: Path) -> None:
    edit(model / "nestag.json", lambda settings: settings | {"threshold": 0.25})
    with pytest.warns(EditedModelWarning, match=r"nestag\.json was edited"):
        assert NestedNER.from_pretrained(model, "cpu").settings.threshold == 0.25
    edit(model / "nestag.json", lambda settings: settings | {"threshold": "high"})
    with pytest.warns(EditedModelWarning), pytest.raises(ValueError, match="threshold is 'high'"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files as Linux shows them")
@pytest.mark.parametrize("kind", faulty_runs.FAULTS)
def test_interrupted_change_leaves_old_or_new_settings(model: Path, tmp_path: Path, kind: str) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        (model / name).write_bytes(b"{}")  # many copies of it are made
    write_manifest(model)
    stored: list[float] = []
    operations = 1
    while len(stored) <= operations:  # at first without a fault, which counts them
        copy = Path(shutil.copytree(model, tmp_path / str(len(stored))))
        done = attempt(partial(change_settings, copy, {"threshold": 0.25}), copy, kind, len(stored))
        operations = operations if stored else done.operations
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EditedModelWarning)
            stored.append(open_model(copy, WEIGHTS).settings.threshold)
        assert "Traceback" not in done.told
        change_settings(copy, {"threshold": 0.25})
        with warnings.catch_warnings(action="error"):
            open_model(copy, WEIGHTS)
        assert not list(copy.glob(".nestag-*"))
    assert sorted(set(stored)) == [0.0, 0.25]
    assert len(stored) > 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda manifest: manifest | {"format": 99}, "format 99"),
        (lambda manifest: {"files": manifest["files"]}, "format None"),
        (lambda manifest: [], "format None"),
        (lambda manifest: manifest | {"files": {"nestag.json": "0"}}, "does not list"),
        (lambda manifest: manifest | {"files": manifest["files"] | {"config.json": 0}}, "config.json is not the file"),
    ],
)
def test_invalid_manifest_is_refused(model: Path, change: Callable[[Any], Any], message: str) -> None:
    edit(model / MANIFEST, change)
    with pytest.raises(InputError, match=message):
        NestedNER.from_pretrained(model, "cpu")


OTHER = "other.safetensors"
INDEX = "x.safetensors.index.json"
PLANTED: list[tuple[str, Change]] = [
    ("config.json", lambda c: c.update(transformers_weights=INDEX)),
    ("config.json", lambda c: c.update(transformers_weights=OTHER)),
    ("config.json", lambda c: c.update(configuration_files=["config.4.0.0.json"])),
    ("config.json", lambda c: c.update(attn_implementation="evil/kernel", auto_map={"AutoModel": "planted.Planted"})),
    ("config.json", lambda c: c["encoder"].update(attn_implementation="evil/kernel", auto_map={"AutoModel": "p.P"})),
    ("config.json", lambda c: c["encoder"].update(quantization_config={"quant_method": "gptq"}, backbone="x")),
    ("config.json", lambda c: c["encoder"].update(return_dict=False, dtype="import os", num_labels=10**6)),
    ("tokenizer_config.json", lambda c: c.update(fast_tokenizer_files=["../outside/tokenizer.4.0.0.json"])),
    ("tokenizer_config.json", lambda c: c.update(auto_map={"AutoTokenizer": ["p.P", None]}, tokenizer_class="P")),
    ("manifest.json", lambda c: c["files"].update({"../outside/secret": "0", "chat_template.jinja": "0"})),
]


@pytest.mark.parametrize(("name", "change"), PLANTED)
def test_files_and_keys_that_nestag_does_not_write_are_ignored(model: Path, name: str, change: Change) -> None:
    """Even if the manifest agrees: an attacker writes that too."""
    words = [sentence.tokens for sentence in CORPUS]
    expected = NestedNER.from_pretrained(model, "cpu").scores(words)
    outside = model.parent / "outside"
    outside.mkdir()
    for secret in ("secret", "tokenizer.4.0.0.json", OTHER):
        (outside / secret).write_text("{}")
    (model / "planted.py").write_text("raise SystemExit('it ran')")
    (model / OTHER).write_bytes(b"")
    (model / INDEX).write_text(json.dumps({"weight_map": {"heads.0.weight": f"../outside/{OTHER}"}}))
    (model / "model.safetensors.index.json").write_bytes((model / INDEX).read_bytes())
    (model / "adapter_config.json").write_text("{}")
    (model / "config.4.0.0.json").write_text('{"encoder": {"num_hidden_layers": 3000000}}')
    (model / "chat_template.jinja").symlink_to(outside / "secret")
    (model / "additional_chat_templates").symlink_to(outside)
    os.mkfifo(model / "added_tokens.json")
    if name != MANIFEST:
        edit(model / name, lambda stored: (change(stored), stored)[1])
    write_manifest(model)
    if name == MANIFEST:
        edit(model / name, lambda stored: (change(stored), stored)[1])
    with WATCH(model, outside):
        loaded = NestedNER.from_pretrained(model, "cpu")
    assert all((a == b).all() for a, b in zip(loaded.scores(words)[:3], expected[:3], strict=True))
    loaded.save_pretrained(model.parent / "again")
    names = {path.name for path in (model.parent / "again").iterdir()}
    assert names == {path.name for path in model.iterdir()} & set(FILES) - {HISTORY}
    assert "evil" not in (model.parent / "again" / "config.json").read_text()


def test_an_encoder_of_an_unknown_kind_is_refused(model: Path) -> None:
    edit(model / "config.json", lambda c: c | {"encoder": c["encoder"] | {"model_type": "no_such_kind"}})
    write_manifest(model)
    with pytest.raises(InputError, match="cannot be loaded"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize("what", ["missing", "unexpected", "mismatched"])
def test_mismatched_weights_are_refused(model: Path, what: str) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(model / "model.safetensors")
    if what == "missing":
        del weights["heads.1.weight"]
    elif what == "unexpected":
        weights["heads.9.weight"] = torch.zeros(1)
    else:
        weights["heads.1.weight"] = torch.zeros(1, 1)
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    write_manifest(model)
    with pytest.raises(InputError, match=r"do not fit|cannot be loaded"):
        NestedNER.from_pretrained(model, "cpu")


def test_vocabulary_of_another_size_is_refused(model: Path) -> None:
    edit(model / "vocabulary.json", lambda stored: stored | {"u": stored["u"][:-1]})
    write_manifest(model)
    with pytest.raises(InputError, match=r"its weights score \(.*\) labels and its vocabulary has"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["encoder"].update(model_type="timm_backbone"), "'timm_backbone' is not an encoder of text"),
        (
            lambda c: c["encoder"].update(model_type="modernvbert", text_config={}),
            "'modernvbert' is not an encoder of text",
        ),
        (
            lambda c: c["encoder"].update(model_type="reformer", num_hashes=10**6),
            "'reformer' is not an encoder of text",
        ),
        (lambda c: c["encoder"].update(num_hidden_layers=10**9), "too large a number"),
        (lambda c: c["encoder"].update(num_hidden_layers=3 * 10**6), "num_hidden_layers is 3,000,000"),
        (lambda c: c["encoder"].update(model_type="albert", num_hidden_layers=1_001), "num_hidden_layers is 1,001"),
        (lambda c: c["encoder"].update(model_type="longformer", attention_window=[2, 1_025]), "window is 1,025"),
        (lambda c: c.update(conv_size=200_000), "conv_size is 200000"),
        (lambda c: c.update(conv_size=8_000), r"asks for 768,\d+,\d+ weights and the file of weights has"),
        (lambda c: c["encoder"].update(vocab_size=4 * 10**6), r"asks for 64,\d+,\d+ weights"),
        (lambda c: c.update(conv_size=2**62), "too large a number"),
        (lambda c: c.update(conv_size=4, conv_layers=10**6), "conv_layers is 1000000"),
        (lambda c: c["encoder"].update(num_hidden_layers=1_000), "modules"),
        (lambda c: c["encoder"].update(model_type="diffllama", head_dim=2**22), "asks for 4,194,304 weights"),
        (lambda c: c["encoder"].update(model_type="markuplm", max_depth=2**22), "modules"),
        (lambda c: c["encoder"].update(hidden_size=10**6, num_attention_heads=1), "asks for"),
        (lambda c: c.update(sizes=[4 * 10**6, 1, 1]), "asks for"),
        (lambda c: c.update(sizes="abc"), "sizes is 'abc'"),
        (lambda c: c.update(pooling="most"), "pooling is 'most'; it takes one of first, last, mean"),
        (lambda c: c.update(dropout="x"), "dropout is 'x'"),
        (lambda c: c.update(encoder=3), "cannot be loaded"),
        (lambda c: c.update(dropout=float("nan")), "NaN is not a finite number"),
        (lambda c: c.update(dropout=7), "dropout is 7"),
    ],
)
def test_invalid_configuration_is_refused_in_one_line(model: Path, change: Change, message: str) -> None:
    """Nothing runs, nothing is endless, and no memory is taken for what the weights do not hold."""
    edit(model / "config.json", lambda stored: (change(stored), stored)[1])
    write_manifest(model)
    with pytest.raises(InputError, match=message):
        NestedNER.from_pretrained(model, "cpu")


def test_transformers_prints_nothing_of_a_configuration(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It would print values with their control characters."""
    red = {"model_type": "llama", "rope_scaling": {"rope_type": "\x1b[31mred", "factor": 2}}
    edit(model / "config.json", lambda c: c | {"encoder": c["encoder"] | red})
    write_manifest(model)
    library = logging.getLogger("transformers")
    caplog.set_level(logging.WARNING, library.name)  # training sets a higher one
    library.addHandler(caplog.handler)
    with pytest.raises(InputError, match="cannot be loaded"):
        NestedNER.from_pretrained(model, "cpu")
    library.removeHandler(caplog.handler)
    assert caplog.messages == []


def test_no_kind_of_encoder_downloads_code() -> None:
    """With a GPU and the library `kernels`, transformers would download code for some."""
    from nestag.model.pretrained import TEXT_ENCODERS

    sources = Path(transformers.__file__).parent / "models"
    assert len(TEXT_ENCODERS) > 50
    for kind in TEXT_ENCODERS:
        for path in (sources / CONFIG_MAPPING[kind].__module__.split(".")[-2]).glob("modeling_*.py"):
            assert "get_kernel" not in path.read_text(encoding="utf-8"), kind


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b"[]", b"{}", b"\xff", b""], ids=["deep", "list", "table", "bytes", "empty"]
)
@pytest.mark.parametrize("name", ["config.json", "vocabulary.json", "tokenizer.json", "nestag.json", "manifest.json"])
def test_arbitrary_json_is_refused_in_one_line(model: Path, name: str, data: bytes) -> None:
    (model / name).write_bytes(data)
    if name != MANIFEST:
        write_manifest(model)
    if (name, data) == ("nestag.json", b"{}"):  # all of them have defaults, but the encoder reads less than that
        with pytest.raises(InputError, match="max_length is 512; the encoder takes 66 at most"):
            NestedNER.from_pretrained(model, "cpu")
        return
    with pytest.raises(InputError):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("vocabulary.json", lambda v: v["c"].__setitem__(0, "S" + "+X" * 99), "99 types over the same tokens"),
        ("vocabulary.json", lambda v: v["u"].__setitem__(0, v["u"][1]), "in the table of u twice"),
        ("vocabulary.json", lambda v: v["n"].__setitem__(0, "999999999"), "n is 999999999"),
        ("vocabulary.json", lambda v: v.update(c="abcd"), "are lists"),
        ("nestag.json", lambda s: s.update(threshold=float("nan")), "NaN is not a finite number"),
        ("nestag.json", lambda s: s.update(threshold=5), "threshold is 5"),
        ("nestag.json", lambda s: s.update(threshold=10**400), "0 is not a finite number"),
        ("nestag.json", lambda s: s.update(context=10**400), "0 is not a finite number"),
        ("config.json", lambda c: c["encoder"].update(hidden_size=-(10**400)), "0 is not a finite number"),
        ("nestag.json", lambda s: s.update(thresholds={"PER": float("inf")}), "Infinity is not"),
        ("tokenizer.json", lambda t: t["model"].update(vocab={}), "cannot be tokenized"),
        ("tokenizer.json", lambda t: t["model"]["vocab"].update(a=10**6), "a subword number 1,000,000"),
    ],
)
def test_invalid_values_are_refused_in_one_line(model: Path, name: str, change: Change, message: str) -> None:
    edit(model / name, lambda stored: (change(stored), stored)[1])
    write_manifest(model)
    with pytest.raises(InputError, match=message):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[" * 9_000,
        b'{"a":' * 2_000,
        b'{"a":{"dtype":"F32","shape":[1099511627776,1099511627776],"data_offsets":[0,4]}}',
    ],
    ids=["empty", "deep", "deeper", "overflow"],
)
@pytest.mark.parametrize("length", [None, 2**63], ids=["as long", "longer"])
def test_arbitrary_weights_are_refused_in_one_line(model: Path, header: bytes, length: int | None) -> None:
    (model / "model.safetensors").write_bytes(struct.pack("<Q", length or len(header)) + header + b"0000")
    write_manifest(model)
    with pytest.raises(InputError, match=r"Error while deserializing header"):
        NestedNER.from_pretrained(model, "cpu")


@pytest.mark.parametrize("name", [*SAVED, "tokenizer_config.json", "manifest.json", "README.md"])
def test_symlinks_out_of_the_folder_are_refused(model: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path.parent / "blobs"  # as the hub's cache has them, but the folder is not in "snapshots"
    outside.mkdir(exist_ok=True)
    (model / "README.md").write_text("# a card")
    (model / name).rename(outside / "0123")
    (model / name).symlink_to(outside / "0123")
    for load in (partial(NestedNER.from_pretrained, model, "cpu"), partial(copy_model, model, tmp_path / "copy")):
        with pytest.raises(InputError, match=f"{name} is a link that leads out of the folder"):
            load()
    assert not (tmp_path / "copy" / name).exists()


def test_error_without_huggingface_hub_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"no folder you/model, .* pip install 'nestag\[model\]'"):
        local_folder("you/model")


def test_symlinks_of_the_hub_cache_are_followed(model: Path, tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "hub" / "blobs", tmp_path / "hub" / "snapshots" / "4711"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, path in enumerate(path for path in model.iterdir() if path.is_file()):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(Path("../../blobs") / str(number))
    assert NestedNER.from_pretrained(snapshot, "cpu").predict([["a"]])


def test_saved_files_follow_the_umask(model: Path, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        NestedNER.from_pretrained(model, "cpu").save_pretrained(tmp_path / "again")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "again").iterdir()} == {0o640}


@pytest.mark.parametrize("language", ["en.examples", "punctuation", "../x", ""])
def test_language_cannot_name_a_module(model: Path, language: str) -> None:
    change_settings(model, {"language": language})
    with pytest.raises(UnknownNameError, match="spaCy cannot tokenize"):
        NestedNER.from_pretrained(model, "cpu")("A text.")


def test_encoder_with_code_is_refused(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    planted = Path(shutil.copytree(tiny_encoder("bert"), tmp_path / "planted"))
    edit(planted / "config.json", lambda stored: stored | {"attn_implementation": "unknown/kernel"})
    with pytest.raises(InputError, match="unknown/kernel names code that would run"):
        train(MANY, CORPUS, tmp_path / "m", quick(str(planted), steps=1), use_cpu=True)


def test_encoder_without_weights_is_refused(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    broken = Path(shutil.copytree(tiny_encoder("bert"), tmp_path / "broken"))
    weights = load_file(broken / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "layer.1.attention" not in name}
    save_file(kept, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"of its weights are missing, e\.g\. encoder\.layer\.1\.attention"):
        train(MANY, CORPUS, tmp_path / "m", quick(str(broken), steps=1), use_cpu=True)


def test_transformers_never_trusts_remote_code() -> None:
    """What loads by the kind that a file names would ask whether code may run, and a pipe may answer."""
    loaders, careful = 0, 0
    for path in Path(nestag.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not re.match(r"Auto\w+\.from_\w+$", ast.unparse(node.func)):
                continue
            loaders += 1
            careful += any(
                word.arg == "trust_remote_code" and ast.unparse(word.value) == "False" for word in node.keywords
            )
    assert loaders == careful > 3


def test_report_follows_no_link_in_the_folder(model: Path, tmp_path: Path) -> None:
    """It would overwrite a file outside."""
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (model / "report.html").symlink_to(outside)
    with pytest.raises(InputError, match=r"report\.html: it is a link"):
        nestag.report(model, CORPUS, device="cpu")
    assert outside.read_text() == "mine"
    assert nestag.report(model, CORPUS, tmp_path / "own.html", device="cpu").output == str(tmp_path / "own.html")
