"""Hugging Face: models of nestag in `transformers` and `datasets`, without code from anywhere but this package.

    nestag.huggingface.register()
    find = transformers.pipeline("nested-ner", model="folder or hub name")
    find("The mayor of Utrecht resigned.")

Transformers finds tasks and models of others only once they are registered, so that one call is needed. The pipeline
calls the engine, whatever it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transformers import AutoConfig, AutoModel, Pipeline
from transformers.pipelines import PIPELINE_REGISTRY

from nestag.engine import CHUNK
from nestag.errors import InputError
from nestag.model_folder import local_folder
from nestag.predictor import Predictor, TextEntities
from nestag.recognizer import NestedNER
from nestag.tagger import Tagger, TaggerConfig

TASK = "nested-ner"
PipelineDict = dict[str, Any]


def register() -> None:
    """Make transformers know the models (`AutoConfig`, `AutoModel`) and the task `nested-ner`; again does no harm."""
    AutoConfig.register(TaggerConfig.model_type, TaggerConfig, exist_ok=True)
    AutoModel.register(TaggerConfig, WholeTagger, exist_ok=True)
    if TASK not in PIPELINE_REGISTRY.get_supported_tasks():
        PIPELINE_REGISTRY.register_pipeline(TASK, NestedNERPipeline, pt_model=AutoModel, type="text")


class WholeTagger(Tagger):
    """The tagger as transformers loads it: with all that lies beside its weights, so that a token is needed once."""

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: Any, *model_args: Any, revision: Any = None, token: Any = None, **more: Any
    ) -> Any:
        """Load the weights from a folder, or from the hub."""
        folder = local_folder(str(pretrained_model_name_or_path), revision, token)
        loading: Any = super().from_pretrained
        return loading(str(folder), *model_args, **more)


class NestedNERPipeline(Pipeline):
    """A pipeline of transformers around a recognizer; entities have the keys that its `ner` pipeline gives them."""

    _load_tokenizer: Any = False
    _load_feature_extractor: Any = False
    _load_image_processor: Any = False
    _load_processor: Any = False

    def __init__(self, model: Tagger, **rest: Any) -> None:
        """The model comes loaded; what else it needs lies in the folder that it came from."""
        super().__init__(model=model, **rest)
        if not model.name_or_path:
            raise InputError('the model was not saved; give its folder: pipeline("nested-ner", model=PATH)', "model")
        self.recognizer = NestedNER.around(model.train(False), local_folder(model.name_or_path))

    def __call__(
        self, inputs: Any, *args: Any, num_workers: int | None = None, batch_size: int | None = None, **kwargs: Any
    ) -> Any:
        """The entities of a text, of each text of a list, or, as they stream by, of any other source of texts."""
        if isinstance(inputs, str):
            return records(next(self.recognizer.pipe([inputs])))
        if not isinstance(inputs, Iterable):
            raise TypeError(f'{inputs!r:.80} is no text; call find("A text.") or find(["One text.", "Another."])')
        found = map(records, self.recognizer.pipe(inputs, batch_size or CHUNK))
        return list(found) if isinstance(inputs, list | tuple) else found

    def _sanitize_parameters(self, **given: Any) -> tuple[PipelineDict, PipelineDict, PipelineDict]:
        return {}, {}, {}

    def preprocess(self, input_: str, **_: Any) -> PipelineDict:
        """A text as a step of transformers has it."""
        return {"text": input_}

    def _forward(self, input_tensors: PipelineDict, **_: Any) -> Any:
        return {"found": records(next(self.recognizer.pipe([input_tensors["text"]])))}

    def postprocess(self, model_outputs: Any, **_: Any) -> Any:
        """Entities as a pipeline returns them."""
        return model_outputs["found"]


def records(found: TextEntities) -> list[PipelineDict]:
    """Entities with the keys of transformers' `ner` pipeline."""
    return [
        {"entity_group": one.type, "score": one.confidence, "word": one.text, "start": one.start, "end": one.end}
        for one in found
    ]


def with_entities(dataset: Any, recognizer: Predictor, column: str | None = None) -> Any:
    """A dataset of Hugging Face `datasets` with a column `entities`, counted in characters of texts or in tokens."""
    name = column or next((one for one in ("tokens", "words", "text") if one in dataset.column_names), None)
    if name is None or name not in dataset.column_names:
        raise InputError(f"no column {name or 'tokens or text'!r} among {', '.join(dataset.column_names)}", "dataset")
    return dataset.map(lambda batch: {"entities": _found(recognizer, batch[name])}, batched=True, batch_size=CHUNK)


def _found(recognizer: Predictor, cells: list[Any]) -> list[list[PipelineDict]]:
    rows: Iterable[Iterable[Any]] = recognizer(cells) if cells else []
    return [[_record(entity) for entity in row] for row in rows]


def _record(entity: Any) -> PipelineDict:
    return {"start": entity.start, "end": entity.end, "type": entity.type, "confidence": entity.confidence}
