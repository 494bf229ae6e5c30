"""Files in and out: everything that nestag reads or writes is opened here.

`sources` reads bytes, text or numbered lines. `targets` writes files and folders atomically. `parts` names and locks
temporary files, so that those of killed processes can be removed.
"""

from nestag.formats.files.parts import is_part, new_part, remove_leftovers
from nestag.formats.files.sources import (
    LONGEST_LINE,
    PIPE,
    Line,
    is_stream,
    peek,
    read_blocks,
    read_lines,
    read_text,
    reading,
)
from nestag.formats.files.targets import sync_tree, writing, writing_bytes, writing_folder, writing_together

__all__ = [
    "LONGEST_LINE", "PIPE", "Line", "is_part", "is_stream", "new_part", "peek", "read_blocks", "read_lines",
    "read_text", "reading", "remove_leftovers", "sync_tree", "writing", "writing_bytes",
    "writing_folder", "writing_together",
]  # fmt: skip
