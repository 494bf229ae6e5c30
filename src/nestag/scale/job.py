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

    text: str = setting("text", help="the text column; not used for text files")
    tokens: str = setting("", help="a column of word lists; replaces the text column")
    keep: tuple[str, ...] = setting((), help="columns to copy to the output")
    kind: InputKind | None = setting(None, help="input format, if file names do not tell")
    form: OutputForm = setting("parquet", help="output format")
    tokenizer: TokenizerName | None = setting(None, help="tokenizer of text, if not the model's")
    language: str | None = setting(None, help="spaCy's code for the language of text, if not the model's")
    part_bytes: int = setting(0, minimum=0, help="bytes of text in a part; 0 chooses by device")
    device: Device = setting("", help="device of the model; empty uses a GPU if the cluster has one")
    changes: dict[str, Any] = setting(factory=dict, help="settings that override the model's")

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
