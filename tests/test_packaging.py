"""What a package index shows: links that work there, and the entry points that others find us by."""

import re
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))


def test_links_of_the_readme_are_made_absolute_and_exist_here() -> None:
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    (rule,) = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
    shown = re.sub(rule["pattern"], rule["replacement"], readme)
    home = PROJECT["project"]["urls"]["Homepage"]
    links = re.findall(r"\]\(([^)]+)\)", shown)
    assert links
    assert all(link.startswith(("https://", "http://", "#")) for link in links)
    for link in links:
        if link.startswith(f"{home}/"):
            assert (TOP / link.removeprefix(f"{home}/").partition("#")[0]).exists(), link


def test_the_address_stands_in_one_file_alone() -> None:
    home = PROJECT["project"]["urls"]["Homepage"]
    (rule,) = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
    addresses = [*PROJECT["project"]["urls"].values(), rule["replacement"].partition("](")[2]]
    assert [address for address in addresses if not address.startswith(home)] == []
    kept = subprocess.run(["git", "grep", "-lF", home], cwd=TOP, capture_output=True, text=True)
    if kept.returncode < 2:  # not in a copy without its history
        assert kept.stdout.split() == ["pyproject.toml"]


def test_every_direct_dependency_is_pinned() -> None:
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.split(r"[\[<>=]", name)[0] for name in asked} - {"nestag"}
    assert set(re.findall(r"^([^#=]+)==\S+$", (TOP / "constraints.txt").read_text(), re.MULTILINE)) == names


def test_entry_points_lead_somewhere() -> None:
    groups = PROJECT["project"]["entry-points"]
    for target in (*groups["spacy_factories"].values(), *PROJECT["project"]["scripts"].values()):
        module, _, name = target.partition(":")
        assert callable(getattr(import_module(module), name))
