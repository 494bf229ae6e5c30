"""Packaging: links of the README, pinned versions, entry points."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import nestag

TOP = Path(__file__).parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
PINS = (TOP / "constraints.txt").read_text(encoding="utf-8")


def test_every_direct_dependency_is_pinned() -> None:
    extras = PROJECT["project"]["optional-dependencies"].values()
    requirements = [*PROJECT["project"]["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.split(r"[\[<>=]", name)[0] for name in requirements} - {"nestag"}
    assert set(re.findall(r"^([^#=]+)==\S+$", PINS, re.MULTILINE)) == names


def test_entry_points_resolve() -> None:
    groups = PROJECT["project"]["entry-points"]
    for target in (*groups["spacy_factories"].values(), *PROJECT["project"]["scripts"].values()):
        module, _, name = target.partition(":")
        assert callable(getattr(import_module(module), name))


def test_pre_commit_uses_the_pinned_ruff() -> None:
    (revision,) = re.findall(r"rev: v(\S+)", (TOP / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert f"ruff=={revision}\n" in PINS


def test_versions_agree() -> None:
    lab = tomllib.loads((TOP / "lab" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert lab["version"] == nestag.__version__
    assert f"version: {nestag.__version__}\n" in (TOP / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{nestag.__version__}]" in (TOP / "CHANGELOG.md").read_text(encoding="utf-8")


def test_no_placeholder_address_remains() -> None:
    assert "urls" not in PROJECT["project"]
    assert "example.org" not in (TOP / "README.md").read_text(encoding="utf-8")
