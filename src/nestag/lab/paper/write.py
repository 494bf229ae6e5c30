"""Tables as files: NAME.md, NAME.tex and NAME.csv of each, and tables.md with all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nestag.files import writing, writing_together
from nestag.lab.paper.pages import NAMES, Pages
from nestag.lab.paper.published import published
from nestag.tables import TableForm, markdown_escaped, write

FORMS = {"md": TableForm.markdown, "tex": TableForm.latex, "csv": TableForm.csv}
ALL = "tables.md"


def write_tables(pages: Pages, folder: str | Path) -> None:
    """Write all files, or none; tables that were there before and cannot be made any more go away."""
    texts = table_files(pages)
    ours = (f"{name}.{end}" for name in NAMES for end in FORMS)
    with writing_together(folder, stale=ours) as part:
        for name, text in texts.items():
            with writing(part / name) as stream:
                stream.write(text)


def table_files(pages: Pages) -> dict[str, str]:
    """The text of each file."""
    texts = {f"{name}.{end}": write(table, form) for name, table in pages.pages for end, form in FORMS.items()}
    return {**texts, ALL: everything(pages)}


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
        parts += [f"## {markdown_escaped(table.title)}\n", write(replace(table, title=""), TableForm.markdown)]
    return "\n".join(parts)
