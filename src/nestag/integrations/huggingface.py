"""Hugging Face: models of nestag in `transformers` and `datasets`, without code from anywhere but this package.

    nestag.integrations.huggingface.register()
    find = transformers.pipeline("nested-ner", model="folder or hub name")
    find("The mayor of Utrecht resigned.")

transformers finds models and tasks of other packages only after such a call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transformers import AutoConfig, AutoModel, Pipeline
from transformers.pipelines import PIPELINE_REGISTRY

from nestag.errors import InputError
from nestag.model.engine import CHUNK
from nestag.model.model_folder import CONFIG, WEIGHTS, local_folder, open_model
from nestag.model.predictor import Predictor
from nestag.model.recognizer import NestedNER
from nestag.model.tagger import Tagger, TaggerConfig

TASK = "nested-ner"


def register() -> None:
    """Register the models (`AutoConfig`, `AutoModel`) and the task `nested-ner` in transformers."""
    AutoConfig.register(TaggerConfig.model_type, TaggerConfig, exist_ok=True)
    AutoModel.register(TaggerConfig, WholeTagger, exist_ok=True)
    if TASK not in PIPELINE_REGISTRY.get_supported_tasks():
        PIPELINE_REGISTRY.register_pipeline(TASK, NestedNERPipeline, pt_model=AutoModel, type="text")


class WholeTagger(Tagger):
    """The tagger as transformers loads it, with all files of its folder, so that a token is needed only once."""

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: Any, *_: Any, revision: Any = None, token: Any = None, **__: Any
    ) -> Any:
        """Load the weights from a folder, or from the hub, as `NestedNER` does; other options are ignored."""
        saved = open_model(str(pretrained_model_name_or_path), WEIGHTS, {}, revision, token)
        model = cls.load(saved.json(CONFIG), saved.folder / WEIGHTS)
        model.name_or_path = str(saved.folder)
        return model


class NestedNERPipeline(Pipeline):
    """A transformers pipeline that returns the same records as all other interfaces."""

    _load_tokenizer: Any = False
    _load_feature_extractor: Any = False
    _load_image_processor: Any = False
    _load_processor: Any = False

    def __init__(self, model: Tagger, **rest: Any) -> None:
        """Load the rest of the recognizer from the model's folder."""
        super().__init__(model=model, **rest)
        if not model.name_or_path:
            raise InputError('the model was not saved; give its folder: pipeline("nested-ner", model=PATH)', "model")
        self.recognizer = NestedNER.around(model.train(False), local_folder(model.name_or_path))

    def __call__(self, inputs: Any, *_: Any, batch_size: int | None = None, **__: Any) -> Any:
        """Return the entities of a text or of each text in a list; stream those of any other iterable."""
        if isinstance(inputs, str):
            return self.recognizer(inputs).records()
        if not isinstance(inputs, Iterable):
            raise TypeError(f'{inputs!r:.80} is not text; call find("A text.") or find(["One text.", "Another."])')
        records = (entities.records() for entities in self.recognizer.pipe(inputs, batch_size or 0))
        return list(records) if isinstance(inputs, list | tuple) else records

    def _sanitize_parameters(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        return {}, {}, {}

    def preprocess(self, input_: str, **_: Any) -> dict[str, Any]:
        """Return a text as a model input."""
        return {"text": input_}

    def _forward(self, input_tensors: dict[str, Any], **_: Any) -> Any:
        return {"entities": self.recognizer(input_tensors["text"]).records()}

    def postprocess(self, model_outputs: Any, **_: Any) -> Any:
        """Return the entities."""
        return model_outputs["entities"]


def with_entities(dataset: Any, recognizer: Predictor, column: str | None = None) -> Any:
    """Return a dataset of Hugging Face `datasets` with a column `entities` for its texts or lists of tokens."""
    name = column or next((name for name in ("tokens", "words", "text") if name in dataset.column_names), None)
    if name is None or name not in dataset.column_names:
        raise InputError(f"no column {name or 'tokens or text'!r} among {', '.join(dataset.column_names)}", "dataset")

    def tag(batch: Any) -> dict[str, Any]:
        return {"entities": [entities.records() for entities in recognizer.pipe(batch[name])]}

    return dataset.map(tag, batched=True, batch_size=CHUNK)
