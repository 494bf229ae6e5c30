"""Pipelines and auto classes of transformers, datasets with nested tags, and a local hub."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import transformers

from late_imports import datasets
from nestag.errors import InputError
from nestag.formats.corpus import read_corpus
from nestag.integrations import huggingface
from nestag.model.recognizer import NestedNER
from nestag.model.tagger import Tagger, TaggerConfig
from nestag.training.run import train
from stand_in_hub import stand_in
from two_sentences import CORPUS, GOLD, quick

TEXT = "lincoln was president of the usa."
FOUND = [("lincoln", "PER"), ("president of the usa", "PER"), ("the usa", "GPE")]


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    huggingface.register()
    huggingface.register()  # again does no harm


@pytest.fixture(scope="module")
def pipeline(trained_model: Path) -> Any:
    return transformers.pipeline("nested-ner", model=str(trained_model), device="cpu")


def named(records: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(record["text"], record["type"]) for record in records]


def test_pipeline_matches_the_recognizer(pipeline: Any, trained_model: Path) -> None:
    found = pipeline(TEXT)
    assert named(found) == FOUND
    assert [TEXT[record["start"] : record["end"]] for record in found] == [word for word, _ in FOUND]
    expected = NestedNER.from_pretrained(trained_model, "cpu")(TEXT)
    assert found == expected.records()
    assert pipeline.recognizer.settings == NestedNER.from_pretrained(trained_model, "cpu").settings


def test_pipeline_accepts_lists_and_streams(pipeline: Any) -> None:
    assert [named(one) for one in pipeline([TEXT, "x"])] == [FOUND, []]
    stream = pipeline(iter([TEXT, "x", TEXT]), batch_size=1)
    assert not isinstance(stream, list)
    assert [named(one) for one in stream] == [FOUND, [], FOUND]
    steps = pipeline.postprocess(pipeline.forward(pipeline.preprocess(TEXT)))
    assert named(steps) == FOUND


@pytest.mark.parametrize("wrong", [3, None])
def test_input_that_is_not_text_is_refused(pipeline: Any, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f'{wrong} is not text; call find\\("A text."\\)'):
        pipeline(wrong)


def test_pipeline_accepts_a_loaded_model(trained_model: Path) -> None:
    model = transformers.AutoModel.from_pretrained(trained_model)
    assert named(transformers.pipeline("nested-ner", model=model, device="cpu")(TEXT)) == FOUND


def test_auto_classes_load_models_without_remote_code(trained_model: Path) -> None:
    config = transformers.AutoConfig.from_pretrained(trained_model, trust_remote_code=False)
    assert isinstance(config, TaggerConfig)
    model = transformers.AutoModel.from_pretrained(trained_model, trust_remote_code=False)
    assert isinstance(model, Tagger)
    assert transformers.AutoTokenizer.from_pretrained(trained_model).is_fast
    assert "auto_map" not in json.loads((trained_model / "config.json").read_text())


def test_a_pipeline_needs_a_saved_model(trained_model: Path) -> None:
    model = Tagger(TaggerConfig(**json.loads((trained_model / "config.json").read_text())))
    with pytest.raises(InputError, match="give its folder"):
        huggingface.NestedNERPipeline(model=model, device="cpu")


def tagged(levels: int = 2) -> Any:
    """The two sentences with tags as numbers, a column for each level."""
    tags = ["O", "B-PER", "I-PER", "B-GPE", "I-GPE", "B-ORG", "I-ORG"]
    names = datasets.Sequence(datasets.ClassLabel(names=tags))
    rows = [
        ("a-1", CORPUS[0].tokens, [1, 0, 1, 2, 2, 2, 0], [0, 0, 0, 0, 3, 4, 0], [0] * 7),
        ("a-2", CORPUS[1].tokens, [1, 2, 2, 2, 2, 0], [0, 0, 0, 3, 4, 0], [0, 0, 0, 5, 6, 0]),
    ]
    columns = {
        "id": [row[0] for row in rows],
        "tokens": [list(row[1]) for row in rows],
        "ner_tags": [row[2] for row in rows],
        "inner_tags": [row[3] for row in rows],
        "innermost_tags": [row[4] for row in rows],
    }
    text = datasets.Value("string")
    kinds = {"id": text, "tokens": datasets.Sequence(text), **dict.fromkeys(list(columns)[2:], names)}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(kinds))


def test_nested_tags_of_a_dataset_can_be_trained_on(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    corpus = read_corpus(tagged())
    assert [sentence.entities for sentence in corpus] == GOLD
    assert [sentence.id for sentence in corpus] == ["a-1", "a-2"]
    assert [s.id for s in read_corpus(tagged().select([1]))] == ["a-2"]
    assert [s.entities for s in read_corpus(tagged().to_iterable_dataset())] == GOLD
    flat = read_corpus(tagged(), field="ner_tags")
    assert [[e.type for e in sentence.entities] for sentence in flat] == [["PER", "PER"], ["PER"]]
    run = train(tagged(), tagged(), tmp_path / "m", quick(tiny_encoder("bert"), steps=1), use_cpu=True)
    assert run.recognizer.vocabulary.types == ("GPE", "ORG", "PER")


def test_several_splits_at_once_are_refused() -> None:
    with pytest.raises(InputError, match=r'name one: dataset\["train"\]'):
        read_corpus(datasets.DatasetDict({"train": tagged()}))


def test_dataset_gets_a_readable_column_of_entities(trained_model: Path) -> None:
    ner = NestedNER.from_pretrained(trained_model, "cpu")
    bare = tagged().remove_columns(["ner_tags", "inner_tags", "innermost_tags"])
    found = huggingface.with_entities(bare, ner)
    assert [sentence.entities for sentence in read_corpus(found)] == GOLD
    texts = datasets.Dataset.from_dict({"text": [TEXT, "x"]})
    rows = huggingface.with_entities(texts, ner)["entities"]
    assert [(e["start"], e["end"], e["type"]) for e in rows[0]] == [(0, 7, "PER"), (12, 32, "PER"), (25, 32, "GPE")]
    assert rows[1] == []
    assert [named_entity.type for named_entity in ner(bare["tokens"])[0]] == ["PER", "PER", "GPE"]
    with pytest.raises(InputError, match="no column 'words' among text"):
        huggingface.with_entities(texts, ner, "words")


def test_model_is_pushed_with_its_card(trained_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed: dict[str, str] = {}

    def upload(
        folder: Path, files: Sequence[str], name: str, *, private: bool, token: str | None, revision: str | None
    ) -> str:
        assert (private, token, revision) == (True, "secret", "v1")
        assert {path.name for path in folder.iterdir()} <= set(files)
        pushed.update({path.name: path.read_text() for path in folder.iterdir() if path.suffix in (".md", ".json")})
        return "there"

    monkeypatch.setattr("nestag.model.recognizer.upload", upload)
    ner = NestedNER.from_pretrained(trained_model, "cpu")
    ner.card = ""
    assert ner.push_to_hub("you/model", token="secret", revision="v1") == "there"
    assert "library_name: nestag" in pushed["README.md"]
    assert 'nestag.load("you/model")' in pushed["README.md"]
    assert "manifest.json" in pushed
    ner.card = "---\nlibrary_name: nestag\n---\n# my own\n"
    ner.push_to_hub("you/model", token="secret", revision="v1")
    assert pushed["README.md"] == ner.card


UP_AND_DOWN = """
import sys
from pathlib import Path
import transformers
import nestag
from nestag.integrations import huggingface
from nestag.model.encoders import upload
from nestag.model.model_folder import FILES, local_folder
folder, text, example = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
huggingface.register()
print(upload(folder, FILES, "you/model", private=True, token="secret", revision=None))
scope = {"nestag": nestag, "transformers": transformers, "ner": nestag.NestedNER.from_pretrained(folder, "cpu")}
exec(example.replace("hf_...", "secret"), scope)
print([(record["text"], record["type"]) for record in scope["ner_pipeline"](text)])
print(local_folder("you/model", "v1", "secret"))
for attempt in (
    lambda: local_folder("you/none", token="secret"),
    lambda: upload(folder, FILES, "no name", private=True, token="secret", revision=None),
):
    try:
        attempt()
    except Exception as error:
        print(type(error).__name__, error)
"""


@pytest.mark.slow
def test_model_round_trips_through_the_hub(trained_model: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "huggingface.md").read_text(encoding="utf-8")
    (example,) = re.findall(r'```python\n(token = "hf_.*?)```', page, re.DOTALL)
    with stand_in() as hub:
        environment = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path), "no_proxy": "127.0.0.1"}
        run = subprocess.run(
            [sys.executable, "-c", UP_AND_DOWN, trained_model, TEXT, example],
            capture_output=True, text=True, env=os.environ | environment,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    first, found, folder, missing, bad = run.stdout.splitlines()
    assert found == str(FOUND)  # by a pipeline of a private model
    assert first.startswith(hub.url)
    assert hub.private == {"you/model": True}
    kept = {path.name for path in trained_model.iterdir()} - {"run.json", ".lock"}
    assert set(hub.files["you/model", "main"]) == kept
    assert set(hub.files["you/model", "v1"]) == kept - {"history.json"} | {"README.md"}
    files = {token for _, path, token in hub.asked if path.startswith("/you/")}
    assert files == {"secret"}  # transformers asks for tags without it, and does without
    assert missing.startswith("InputError you/none: neither a folder nor on the hub")
    assert bad.startswith("InputError no name: not a valid hub name")
    ner = NestedNER.from_pretrained(folder, "cpu")
    assert ner.predict(CORPUS) == GOLD
