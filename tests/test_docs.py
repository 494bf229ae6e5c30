"""What the documents at the top say is so: every room, every command, every link."""

import re
from pathlib import Path

import nestag
from nestag.cli import COMMANDS

TOP = Path(__file__).parents[1]
ROOMS = Path(nestag.__file__).parent
README = (TOP / "README.md").read_text(encoding="utf-8")


def test_the_table_of_contributing_lists_every_module() -> None:
    table = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    first_cells = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    listed = set(re.findall(r"`(\w+/?)`", first_cells))
    packages = {f"{path.parent.name}/" for path in ROOMS.glob("*/__init__.py")}
    assert listed == packages | {path.stem for path in ROOMS.glob("[a-z]*.py")}


def test_every_command_is_in_the_readme() -> None:
    table = " ".join(line for line in README.splitlines() if line.startswith("| `nestag"))
    assert set(COMMANDS) - {"demo"} <= set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", table))))


PAGES = sorted((TOP / "docs").rglob("*.md"))


def test_what_pages_link_to_is_there() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            measured = "benchmarks/" in target  # a page that a command writes once something was measured
            assert "://" in target or measured or (page.parent / target).exists(), f"{page}: {target}"


def test_the_pages_of_the_site_are_there() -> None:
    listed = re.findall(r": (\S+\.md)$", (TOP / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert [page for page in listed if not (TOP / "docs" / page).exists()] == []
    assert {"install.md", "tutorial.md", "formats.md", "settings.md", "reference.md"} <= set(listed)


def test_the_api_page_names_the_whole_contract() -> None:
    page = (TOP / "docs" / "api.md").read_text(encoding="utf-8")
    assert [name for name in nestag.__all__ if not re.search(rf"\b{name}\b", page)] == []
