"""Phrases to avoid do not occur in documents, comments, docstrings, messages and names of tests."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]

AVOID = {
    r"set aside|left alone|left out": "dropped, skipped, ignored",
    r"(is|are|was|were) told|is said of": "reported, printed, logged",
    r"goes on\b|go on with": "resumes, continues",
    r"hidden (sub)?words|guess(es|ed)? hidden": "masked language modelling",
    r"(eight|fewer) bits": "int8, lower precision",
    r"\bprocessors?\b": "CPU",
    r"(?<!--)(?<!\.)\bbeside\b": "next to, compared with",
    r"at the price of": "at the cost of",
    r"a head (that|for)": "span head",
    r"(you|we) can mend|(?<![{.`])\bremed(y|ies)\b(?!\))": "fix",
    r"again and again": "epochs, repeatedly",
    r"\bstrangers?\b": "untrusted",
    r"to take home": "pretrained",
    r"side by side|twice at once": "concurrently, next to each other",
    r"by itself|of its own\b": "automatically, separate",
    r"whoever|nobody": "anyone who, no one",
    r"(?<!there )\bis no (?!longer|more|such|need|limit|way|entity\b)[a-z]+": "is not a",
    r"\bstands (in|for|at|beside|alone)\b": "is",
    r"in silence": "silently",
    r"torn apart|\bthe fewest\b": "split, the smallest possible number",
}
"""A phrase -> what to write instead."""

PATTERN = re.compile("|".join(f"(?:{phrase})" for phrase in AVOID), re.IGNORECASE)
NAMES = re.compile(rf"{PATTERN.pattern}|\btold\b|\bwhat (is|are|was|cannot|comes)\b|\bcomes? back\b|\bare those of\b")
"""Phrases to avoid in names of tests, where the subject comes first."""


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a document, or the comments and strings of a Python file, with their line numbers."""
    if path.suffix != ".py":
        yield from enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        return
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)):
                for offset, line in enumerate(token.string.splitlines()):
                    yield token.start[0] + offset, line


def findings(path: Path) -> list[str]:
    """Return each place with a phrase to avoid, and the words to use instead."""
    return [
        f"{path.relative_to(TOP)}:{number}: {match[0]!r}; write: {instead(match[0])}"
        for number, line in texts_of(path)
        for match in PATTERN.finditer(line)
    ]


def instead(phrase: str) -> str:
    return next(plain for pattern, plain in AVOID.items() if re.search(pattern, phrase, re.IGNORECASE))


def folders() -> list[str]:
    """List the folders with Python files, and the files at the top of each package."""
    patterns = (
        "docs",
        "examples",
        "benchmarks",
        "lab/benchmarks",
        "src/nestag",
        "src/nestag/*",
        "lab/src/nestag_lab/*",
        "lab/tests",
        "tests",
        "tests/*",
    )
    found = {str(path.relative_to(TOP)) for pattern in patterns for path in TOP.glob(pattern) if path.is_dir()}
    return sorted(folder for folder in found if "__pycache__" not in folder)


def test_documents_use_plain_english() -> None:
    pages = [*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *TOP.glob("lab/docs/*.md"), *TOP.glob("examples/*.ipynb")]
    pages += [TOP / "Makefile", TOP / ".ci" / "run", *TOP.glob("docker/*"), *TOP.glob("lab/grids/*")]
    assert len(pages) > 30
    assert [finding for page in pages for finding in findings(page) if "<!--" not in finding] == []


@pytest.mark.parametrize("folder", folders())
def test_code_uses_plain_english(folder: str) -> None:
    files = (TOP / folder).glob("*") if folder in ("src/nestag", "tests") else (TOP / folder).rglob("*")
    kinds = (".py", ".js", ".html", ".jinja", ".toml", ".md")
    sources = [path for path in files if path.suffix in kinds and path != Path(__file__)]
    assert [finding for path in sources for finding in findings(path)] == []


def test_names_of_tests_use_plain_english() -> None:
    paths = [*TOP.glob("tests/**/test_*.py"), *TOP.glob("lab/tests/**/test_*.py")]
    names = [name for path in paths for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))]
    assert len(names) > 1_000
    assert [name for name in names if NAMES.search(name.replace("_", " "))] == []


def test_avoided_phrases_are_found(tmp_path: Path) -> None:
    assert [bool(PATTERN.search(text)) for text in ("2 files set aside", "the CPU beside it", "2 files skipped")] == [
        True,
        True,
        False,
    ]
