"""Requests and answers as JSON; the OpenAPI document is made from these classes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag


def whole(text: str) -> str:
    """The text, if it is made of whole characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("a half of a character (a lone surrogate) is in it; send whole characters") from None
    return text


def integral(number: Any) -> Any:
    """The number, with 3.0 as 3: JSON does not tell them apart."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Whole = Annotated[str, AfterValidator(whole)]
Position = Annotated[int, BeforeValidator(integral)]
TextField = Annotated[Whole, Field(description="A text; offsets count its characters (code points).")]
Token = Annotated[Whole, Field(min_length=1, description="A word.")]
TokenList = Annotated[list[Token], Field(min_length=1, description="The words of a sentence.")]
LINCOLN = "Lincoln was president of the USA."


class StrictModel(BaseModel):
    """What all of them share: unknown fields are refused, and "1" is not 1."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Asked(StrictModel):
    """What every request may say."""

    threshold: float = Field(0.0, ge=0, le=1, description="The least confidence of an entity that is returned.")
    tokens_too: bool = Field(False, description="Whether the answer has the sentences and their tokens, too.")


class AskedText(Asked):
    """One text."""

    text: TextField = Field(examples=[LINCOLN])


class AskedTexts(Asked):
    """Several texts."""

    texts: list[TextField] = Field(min_length=1, examples=[[LINCOLN, "The mayor of Utrecht resigned."]])


class AskedTokens(Asked):
    """One sentence whose words are known."""

    tokens: TokenList = Field(examples=[LINCOLN[:-1].split()])


class AskedSentences(Asked):
    """Several sentences whose words are known."""

    sentences: list[TokenList] = Field(min_length=1, examples=[[LINCOLN[:-1].split(), ["Ilse", "Brandt", "slept"]]])


KINDS = ("text", "texts", "tokens", "sentences")


def kind_of(request: Any) -> str | None:
    """Which of the four a request is; None if it is none of them, or several."""
    given = [kind for kind in KINDS if isinstance(request, dict) and kind in request]
    return given[0] if len(given) == 1 else None


EntitiesRequest = Annotated[
    Annotated[AskedText, Tag("text")]
    | Annotated[AskedTexts, Tag("texts")]
    | Annotated[AskedTokens, Tag("tokens")]
    | Annotated[AskedSentences, Tag("sentences")],
    Discriminator(
        kind_of,
        custom_error_type="kind",
        custom_error_message="give exactly one of text, texts, tokens and sentences",
    ),
]


class FoundEntity(StrictModel):
    """An entity; ends are exclusive."""

    start: int = Field(ge=0, description="Its first character (code point); given tokens are joined by single spaces.")
    end: int = Field(ge=1)
    type: str
    text: str = Field(description="The characters it covers.")
    confidence: float = Field(ge=0, le=1)
    start_token: int = Field(ge=0, description="Its first token, counted over all sentences of the text.")
    end_token: int = Field(ge=1)


class FoundSentence(StrictModel):
    """A sentence of a text: its tokens, and where each stands in the text."""

    tokens: list[str]
    offsets: list[tuple[int, int]] = Field(description="Start and end of each token, in characters of the text.")


class Result(StrictModel):
    """What was found in a text or sentence."""

    entities: list[FoundEntity]
    sentences: list[FoundSentence] | None = Field(None, description="If tokens_too was asked for, else null.")


class EntitiesAnswer(StrictModel):
    """A result for each text or sentence, in their order."""

    results: list[Result]


class GivenEntity(StrictModel):
    """An entity of tokens, the end exclusive."""

    start: Position = Field(ge=0)
    end: Position = Field(ge=1)
    type: Whole = Field(min_length=1, max_length=200)


class EntityToDraw(StrictModel):
    """An entity of characters, the end exclusive."""

    start: Position = Field(ge=0)
    end: Position = Field(ge=1)
    type: Whole = Field(min_length=1, max_length=200)
    confidence: float | None = Field(None, ge=0, le=1)


class DrawingRequest(StrictModel):
    """A text and its entities, which may cross."""

    text: TextField = Field(examples=[LINCOLN])
    entities: list[EntityToDraw] = Field(
        max_length=5_000,
        examples=[[{"start": 12, "end": 32, "type": "PER"}, {"start": 25, "end": 32, "type": "GPE"}]],
    )


class LabelsRequest(StrictModel):
    """A sentence and its entities, which must nest."""

    tokens: TokenList = Field(max_length=2_000, examples=[LINCOLN[:-1].split()])
    entities: list[GivenEntity] = Field(
        max_length=2_000,
        examples=[
            [
                {"start": 0, "end": 1, "type": "PER"},
                {"start": 2, "end": 6, "type": "PER"},
                {"start": 4, "end": 6, "type": "GPE"},
            ]
        ],
    )


class Node(StrictModel):
    """A node of the tree, in the order of reading; a leaf is a token."""

    depth: int = Field(description="How many nodes are above it.")
    name: str = Field(description="The types of a node, or the token of a leaf.")
    token: int | None = Field(description="The position of a leaf's token, null for other nodes.")


class LabelRow(StrictModel):
    """The label of a word in one encoding: how many ancestors it shares, their lowest, and what is over it alone."""

    n: str
    c: str
    u: str


class LabelsAnswer(StrictModel):
    """The tree of a sentence, and its labels in every encoding."""

    tree: list[Node]
    labels: dict[str, list[LabelRow]]


class ModelAnswer(StrictModel):
    """What is served."""

    name: str
    version: str = Field(description="Of nestag.")
    runtime: Literal["torch", "onnxruntime", "other"]
    encoding: str
    decoding: str
    types: list[str]
    threshold: float
    thresholds: dict[str, float]
    limits: dict[str, int | float]


class Status(StrictModel):
    """How the server is."""

    status: str


class Problem(StrictModel):
    """Why a request was not answered."""

    error: str
