"""Fill generated parts of the site: commands, settings, and the research notes of the lab."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nestag.cli import COMMANDS, LAB, load
from nestag.data.validation import described
from nestag.training.recipe import Recipe, load_recipe

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
LAB_DOCS = Path(__file__).parents[1] / "lab" / "docs"


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the research notes as pages under research/."""
    from mkdocs.structure.files import File  # here, so that tests can import this module without mkdocs

    for path in sorted(LAB_DOCS.iterdir()):
        files.append(File.generated(config, f"research/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Fill the markers, and replace links to files outside the site with their text."""
    here = posixpath.dirname(page.file.src_uri)

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match[2]))
        target = target.replace("../lab/docs/", "research/").removeprefix("../docs/")
        if files.get_file_from_path(target) is None:
            return match[1]
        return f"[{match[1]}]({posixpath.relpath(target, here or '.')}{match[3] or ''})"

    markdown = LINK.sub(link, markdown)
    for marker, fill in (("<!-- commands -->", commands), ("<!-- settings -->", settings)):
        if marker in markdown:
            markdown = markdown.replace(marker, "\n".join(fill()))
    return markdown


def commands() -> Iterator[str]:
    """Write a section for each command."""
    for name in (*COMMANDS, *LAB):
        yield from section(load(name), f"nestag {name}", level=2)


def section(command: Any, name: str, level: int) -> Iterator[str]:
    """Write the help, arguments and options of a command, then its subcommands."""
    context = command.make_context(name, [], resilient_parsing=True)
    yield f"\n{'#' * level} {name}\n\n{command.help or ''}\n"
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
        for kind in ("argument", "option"):
            yield from table(kind, [param for param in command.params if param.param_type_name == kind], context)
    for sub in subcommands.values():
        yield from section(sub, f"{name} {sub.name}", level + 1)


def table(kind: str, params: list[Any], context: Any) -> Iterator[str]:
    """Write a table of arguments or options."""
    if records := [record for param in params if (record := param.get_help_record(context))]:
        yield f"| {kind.capitalize()} | Meaning |\n|---|---|"
        yield from (f"| <code>{cell(names)}</code> | {cell(text)} |" for names, text in records)
        yield ""


def cell(text: str) -> str:
    """Escape a text for a cell of a table."""
    return html.escape(text.strip(), quote=False).replace("|", "&#124;")


def settings() -> Iterator[str]:
    """Write a row for each setting of a recipe."""
    default = load_recipe("default")
    yield "| Setting | Default | Meaning |\n|---|---|---|"
    for setting in described(Recipe):
        meaning = cell(f"{setting.help} ({setting.takes})")
        yield f"| `{setting.name}` | `{getattr(default, setting.name)}` | {meaning} |"
