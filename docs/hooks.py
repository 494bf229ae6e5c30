"""What the site adds to its pages: the list of commands, and as text what is linked to but not in the site."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from nestag.cli import COMMANDS, LAB, load

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """The page with its commands; files outside the folder of documents, and pages not written yet, are only named."""

    def kept(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[2]))
        return link[0] if files.get_file_from_path(place) else link[1]

    markdown = _LINK.sub(kept, markdown)
    return markdown.replace("<!-- commands -->", commands()) if "<!-- commands -->" in markdown else markdown


def commands() -> str:
    """A row for each command, with the first line of its help."""
    rows = [f"| `nestag {name}` | {first_line(name)} |" for name in (*COMMANDS, *LAB)]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def first_line(name: str) -> str:
    """What a command does, in a line."""
    return str(load(name).help or "").strip().splitlines()[0]
