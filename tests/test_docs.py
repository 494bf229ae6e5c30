"""What the documents at the top say is so: every room, every command, every option, every example."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from typer import Exit

import nestag
from nestag.cli import COMMANDS, load

TOP = Path(__file__).parents[1]
ROOMS = Path(nestag.__file__).parent
README = (TOP / "README.md").read_text(encoding="utf-8")


def test_every_room_is_in_the_table_and_nothing_else() -> None:
    table = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    first_cells = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    told = set(re.findall(r"`(\w+/?)`", first_cells))
    there = {f"{path.name}/" if path.is_dir() else path.stem for path in ROOMS.iterdir() if path.name != "py.typed"}
    assert told == {name for name in there if name[0].isalpha()}  # not caches, nor __init__


def test_every_command_is_in_the_readme() -> None:
    table = " ".join(line for line in README.splitlines() if line.startswith("| `nestag"))
    assert set(COMMANDS) - {"demo"} <= set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", table))))


@pytest.mark.parametrize("line", re.findall(r"^    nestag (.*?)(?: +#.*)?$", README, re.MULTILINE))
def test_commands_of_the_readme_are_understood(line: str) -> None:
    name, *words = line.split()
    context = load(name).make_context(name, list(words))
    values = (value for given in context.params.values() for value in (given if isinstance(given, list) else [given]))
    given = {value for value in values if isinstance(value, str)}
    assert {word for word in words if not word.startswith("-")} - {"3"} <= given


PAGES = sorted((TOP / "docs").rglob("*.md"))
LINES = sorted(
    {
        (str(page.relative_to(TOP)), line)
        for page in PAGES
        for line in re.findall(r"^    nestag (.*?)(?: +#.*)?$", page.read_text(encoding="utf-8"), re.MULTILINE)
        if not line.startswith("-")
    }
)


@pytest.mark.parametrize(("page", "line"), LINES)
def test_commands_of_the_pages_are_understood(page: str, line: str) -> None:
    name, *words = line.split()
    with suppress(Exit):  # of an option such as --settings, which prints and ends
        load(name).make_context(name, words)


def test_what_pages_link_to_is_there() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            measured = "benchmarks/" in target  # a page that a command writes once something was measured
            assert "://" in target or measured or (page.parent / target).exists(), f"{page}: {target}"


def test_the_pages_of_the_site_are_there() -> None:
    listed = re.findall(r": (\S+\.md)$", (TOP / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert [page for page in listed if not (TOP / "docs" / page).exists()] == []
    assert {"install.md", "tutorial.md", "formats.md", "settings.md", "reference.md"} <= set(listed)


@pytest.mark.parametrize("page", ["encodings.md", "evaluation.md"])
def test_python_of_the_pages_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entities = [nestag.Entity(0, 4, "PER"), nestag.Entity(2, 4, "GPE")]
    for name, found in (("gold", entities), ("predicted", entities[:1])):
        nestag.write_corpus([nestag.Sentence(["mayor", "of", "the", "USA"], found)], f"{name}.jsonl")
    (example,) = re.findall(r"```python\n(.*?)```", (TOP / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)
    exec(example, {})


def test_the_readmes_encodings_run() -> None:
    (example,) = re.findall(r"```python\n(from nestag import Entity.*?)```", README, re.DOTALL)
    *lines, last = example.strip().splitlines()
    scope: dict[str, object] = {}
    exec("\n".join(lines), scope)
    assert eval(last, scope)


def test_the_examples_of_the_api_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (TOP / "docs" / "api.md").read_text(encoding="utf-8")
    scope: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(example, scope)
    assert (tmp_path / "train.jsonl").exists()


def test_the_api_page_names_the_whole_contract() -> None:
    page = (TOP / "docs" / "api.md").read_text(encoding="utf-8")
    assert [name for name in nestag.__all__ if not re.search(rf"\b{name}\b", page)] == []
