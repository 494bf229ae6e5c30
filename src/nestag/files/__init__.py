"""Files in and out. Everything that nestag reads or writes is opened here.

`sources` reads: bytes, text or numbered lines, `.gz` unpacked, `-` for the standard input, pipes opened only once.
`targets` writes one file, whole or not at all. `folders` does the same for a folder, or for several files together.
"""

from nestag.files.folders import (
    finish_moves,
    is_leftover,
    remove_leftovers,
    sync_tree,
    writing_folder,
    writing_together,
)
from nestag.files.paths import PIPE, is_stream
from nestag.files.sources import LONGEST_LINE, WHOLE, FileShare, Line, peek, read_blocks, read_lines, read_text, reading
from nestag.files.targets import writing, writing_bytes

__all__ = [
    "LONGEST_LINE",
    "PIPE",
    "WHOLE",
    "FileShare",
    "Line",
    "finish_moves",
    "is_leftover",
    "is_stream",
    "peek",
    "read_blocks",
    "read_lines",
    "read_text",
    "reading",
    "remove_leftovers",
    "sync_tree",
    "writing",
    "writing_bytes",
    "writing_folder",
    "writing_together",
]
