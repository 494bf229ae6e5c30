"""Requests and answers as JSON; the OpenAPI document is generated from these classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError


def check_characters(text: str) -> str:
    """Refuse lone surrogates, which JSON allows and UTF-8 does not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it contains half a character (a lone surrogate); send whole characters") from None
    return text


def to_integer(number: Any) -> Any:
    """Read 3.0 as 3, because JSON has only one type of number."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


String = Annotated[str, AfterValidator(check_characters)]
Position = Annotated[int, BeforeValidator(to_integer)]
Token = Annotated[String, Field(min_length=1)]
WordList = Annotated[list[Token], Field(min_length=1)]
LINCOLN = "Lincoln was president of the USA."
WORDS = LINCOLN.removesuffix(".").split()
ENTITIES = [{"start": a, "end": b, "type": kind} for a, b, kind in ((0, 1, "PER"), (2, 6, "PER"), (4, 6, "GPE"))]
INPUTS = ("text", "texts", "tokens", "sentences")


class StrictModel(BaseModel):
    """The base of all models: unknown fields are refused, and "1" is not 1."""

    model_config = ConfigDict(extra="forbid", strict=True)


def optional(description: str, example: Any) -> Any:
    """Describe a field that may be missing, but not null."""
    return Field(default_factory=lambda: None, description=description, examples=[example])


class EntitiesRequest(StrictModel):
    """Exactly one of text, texts, tokens and sentences."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in INPUTS]})

    text: String = optional("One text.", LINCOLN)
    texts: Annotated[list[String], Field(min_length=1)] = optional("Several texts.", [LINCOLN, "She left Utrecht."])
    tokens: WordList = optional("The tokens of one sentence.", WORDS)
    sentences: Annotated[list[WordList], Field(min_length=1)] = optional("The tokens of several sentences.", [WORDS])
    threshold: float = Field(0.0, ge=0, le=1, description="The minimum confidence of an entity.")
    tokens_too: bool = Field(False, description="Whether to return sentences and tokens as well.")

    @model_validator(mode="after")
    def check_input(self) -> EntitiesRequest:
        """Require exactly one input."""
        if len(self.model_fields_set.intersection(INPUTS)) != 1:
            raise PydanticCustomError("input", "send exactly one of text, texts, tokens and sentences")
        return self

    @property
    def items(self) -> Sequence[str] | Sequence[list[str]]:
        """The texts, or the tokens of each sentence."""
        (name,) = self.model_fields_set.intersection(INPUTS)
        return [getattr(self, name)] if name in ("text", "tokens") else getattr(self, name)


class EntityAnswer(StrictModel):
    """An entity; ends are exclusive."""

    start: int = Field(ge=0, description="The first character (code point); tokens are joined by single spaces.")
    end: int = Field(ge=1, description="The end in characters, exclusive.")
    type: str
    text: str = Field(description="The characters of the entity.")
    confidence: float = Field(ge=0, le=1)
    start_token: int = Field(ge=0, description="The first token, counted over all sentences of the text.")
    end_token: int = Field(ge=1, description="The end in tokens, exclusive.")


class SentenceAnswer(StrictModel):
    """A sentence of a text."""

    tokens: list[str]
    offsets: list[tuple[int, int]] = Field(description="Start and end of each token, in characters of the text.")


class Result(StrictModel):
    """The entities of a text or sentence."""

    entities: list[EntityAnswer]
    sentences: list[SentenceAnswer] | None = Field(None, description="The sentences, or null without tokens_too.")


class EntitiesAnswer(StrictModel):
    """A result for each text or sentence, in the same order."""

    results: list[Result]


class EntityRequest(StrictModel):
    """An entity to show, in characters of a text or in tokens of a sentence."""

    start: Position = Field(ge=0, description="The first character or token.")
    end: Position = Field(ge=1, description="The end, exclusive.")
    type: Annotated[String, Field(min_length=1, max_length=200)]


class EntityToDraw(EntityRequest):
    """An entity to draw, in characters of a text."""

    confidence: float | None = Field(None, ge=0, le=1)


class DrawingRequest(StrictModel):
    """A text and its entities, which may cross."""

    text: String = Field(examples=[LINCOLN])
    entities: list[EntityToDraw] = Field(
        max_length=5_000,
        examples=[[{"start": 12, "end": 32, "type": "PER"}, {"start": 25, "end": 32, "type": "GPE"}]],
    )


class LabelsRequest(StrictModel):
    """A sentence and its entities, which must nest."""

    tokens: WordList = Field(max_length=2_000, examples=[WORDS])
    entities: list[EntityRequest] = Field(max_length=2_000, examples=[ENTITIES])


class Node(StrictModel):
    """A node of a tree; nodes are listed top down and from left to right."""

    depth: int = Field(description="The number of ancestors.")
    name: str = Field(description="The types of a node, or the token of a leaf.")
    token: int | None = Field(description="The position of a leaf's token; null for other nodes.")


class LabelRow(StrictModel):
    """The label of a word: how many ancestors it shares with the next word, the lowest of them, and its own types."""

    n: str
    c: str
    u: str


class LabelsAnswer(StrictModel):
    """The tree of a sentence, and its labels in every encoding."""

    tree: list[Node]
    labels: dict[str, list[LabelRow]]


Runtime = Literal["torch", "onnxruntime", "other"]


class ModelAnswer(StrictModel):
    """The model and the limits of a request."""

    name: str
    version: str = Field(description="The version of nestag.")
    runtime: Runtime
    encoding: str
    decoding: str
    types: list[str]
    threshold: float
    thresholds: dict[str, float]
    limits: dict[str, int | float]


class Status(StrictModel):
    """The state of the server."""

    status: Literal["ok"] = "ok"


class Problem(StrictModel):
    """Why a request was refused."""

    error: str
