"""A job: everything that decides what is written, besides the model and the inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from nestag.corpora.format import Options, TokenizerName
from nestag.errors import InputError
from nestag.validation import setting

InputKind = Literal["parquet", "jsonl", "text"]
"""What files of rows are read."""

OutputForm = Literal["parquet", "jsonl"]
"""What is written."""

Device = Literal["", "cpu", "cuda"]
"""What a model runs on; empty if the cluster is to say."""

FILE, POSITION, ENTITIES = "file", "position", "entities"
"""The columns that every output has."""

PART_BYTES = {"cpu": 2**20 // 2, "cuda": 32 * 2**20}
"""Bytes of text in a part by what the model runs on: some seconds to a minute of work (docs/scale.md)."""


@dataclass(frozen=True)
class Job:
    """How rows are read, tagged and written."""

    text: str = setting("text", help="the column with text; lines of text files have no name")
    tokens: str = setting("", help="the column with lists of words, instead of text")
    keep: tuple[str, ...] = setting((), help="columns that are copied to the output")
    kind: InputKind | None = setting(None, help="what the files are, where their names do not say it")
    form: OutputForm = setting("parquet", help="what is written")
    tokenizer: TokenizerName | None = setting(None, help="how text becomes words, if not as the model was trained")
    language: str | None = setting(None, help="of the text, as spaCy calls it, if not the model's")
    part_bytes: int = setting(0, minimum=0, help="bytes of text in a part; 0 for what suits the device")
    device: Device = setting("", help="what the model runs on; a GPU if the cluster has any")
    changes: dict[str, Any] = setting(factory=dict, help="settings of the model that differ from the stored ones")

    def __post_init__(self) -> None:
        for name in self.keep:
            if name in (FILE, POSITION, ENTITIES):
                raise InputError(f"{name!r} is a column that is written anyway; rename it in the input", "--keep")
        if len(set(self.keep)) < len(self.keep):
            raise InputError("a column is named twice; name each once", "--keep")

    def on(self, device: Device) -> Job:
        """The job on a device, with nothing left open."""
        return replace(self, device=device, part_bytes=self.part_bytes or PART_BYTES[device])

    @property
    def column(self) -> str:
        """The column that is tagged."""
        return self.tokens or self.text

    def options_for(self, usual: Options) -> Options:
        """How text becomes sentences, as usual where nothing else was asked for."""
        return Options(tokenizer=self.tokenizer or usual.tokenizer, language=self.language or usual.language)
