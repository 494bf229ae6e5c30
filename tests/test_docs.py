"""Structure of the documents: every module, command, function and link is covered."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import nestag
from nestag.cli import COMMANDS, load
from nestag.data.validation import described
from nestag.training.recipe import Recipe

TOP = Path(__file__).parents[1]
PACKAGE = Path(nestag.__file__).parent
PAGES = [*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md"), *(TOP / "lab" / "docs").glob("*.md")]


def test_contributing_lists_every_module() -> None:
    table = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    first_cells = " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    listed = set(re.findall(r"`(\w+/?)`", first_cells)) - {"src/nestag/"}
    packages = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    assert listed == packages | {path.stem for path in PACKAGE.glob("[a-z]*.py")}


def test_contributing_names_files_that_exist() -> None:
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w./]+/[\w.]*\w\.(?:py|md|jinja))`", text):
        assert (TOP / name).exists() or (PACKAGE / name).exists(), name


def test_links_in_pages_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page}: {target}"


def test_every_page_is_in_the_menu() -> None:
    menu = re.findall(r": (\S+\.md)$", (TOP / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = [str(path.relative_to(TOP / "docs")) for path in (TOP / "docs").rglob("*.md")]
    notes = [f"research/{path.name}" for path in (TOP / "lab" / "docs").glob("*.md")]
    assert sorted(menu) == sorted([*pages, *notes])


def test_the_reference_has_every_public_name() -> None:
    page = (TOP / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    errors = {name for name in nestag.__all__ if name.endswith("Error")}
    assert [name for name in errors - {"NestagError"} if f"| `{name}` |" not in page] == []
    documented = set(re.findall(r"^::: nestag\.(?:integrations\.)?(\w+)$", page, re.MULTILINE))
    assert set(nestag.__all__) - errors == documented


def test_the_reference_has_every_option_and_setting() -> None:
    spec = spec_from_file_location("hooks", TOP / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = module_from_spec(spec)
    spec.loader.exec_module(hooks)
    page = "\n".join(hooks.commands())
    sections = dict(re.findall(r"^## nestag (\w+)$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for name in COMMANDS:
        commands = [load(name), *getattr(load(name), "commands", {}).values()]
        options = [option for command in commands for param in command.params for option in param.opts]
        assert [option for option in options if option.startswith("--") and option not in sections[name]] == []
    settings = "\n".join(hooks.settings())
    assert [setting.name for setting in described(Recipe) if f"| `{setting.name}` |" not in settings] == []


def test_the_readme_is_short() -> None:
    assert len((TOP / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
    changelog = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    assert len(changelog[changelog.index("## [0.1.0]") :].splitlines()) <= 40
