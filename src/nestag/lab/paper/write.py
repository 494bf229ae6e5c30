"""Tables as files: NAME.md, NAME.tex and NAME.csv of each, and tables.md with all of them."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from nestag.corpora.files import writing
from nestag.errors import InputError
from nestag.lab.paper.pages import NAMES, Pages
from nestag.lab.paper.published import published
from nestag.tables import Form, markdown_escaped, write

FORMS = {"md": Form.markdown, "tex": Form.latex, "csv": Form.csv}
ALL = "tables.md"


def write_tables(pages: Pages, folder: str | Path) -> None:
    """Write all files, or none; tables that were there before and cannot be made any more go away."""
    target = Path(folder)
    texts = {f"{name}.{end}": write(table, form) for name, table in pages.pages for end, form in FORMS.items()}
    texts[ALL] = everything(pages)
    stale = {f"{name}.{end}" for name in NAMES for end in FORMS} - texts.keys()
    try:
        target.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=target, prefix=".tables.", suffix=".part"))
        try:
            for name, text in texts.items():
                with writing(part / name) as stream:
                    stream.write(text)
            for name in texts:
                (part / name).replace(target / name)
            for name in stale:
                (target / name).unlink(missing_ok=True)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", str(folder)
        ) from None


def everything(pages: Pages) -> str:
    """One Markdown text with all tables under their titles, and what is missing."""
    parts = [
        "# Tables\n",
        f"The tables of *{published().title}*, made from finished runs, with its own figures where the corpus is the"
        " same.\n",
    ]
    if pages.missing:
        parts += ["What is missing:\n", "".join(f"- {markdown_escaped(line)}\n" for line in pages.missing)]
    for _, table in pages.pages:
        parts += [f"## {markdown_escaped(table.title)}\n", write(replace(table, title=""), Form.markdown)]
    return "\n".join(parts)
