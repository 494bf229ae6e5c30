"""Raw text for pretraining and distillation: files of tokenized sentences, one a line, plain or compressed (.xz).

    python -m nestag_lab.release.text text --litbank litbank --gum gum --amalgum amalgum --craft CRAFT

The folders are copies of github.com/dbamman/litbank, amir-zeldes/gum, gucorpling/amalgum and UCDenver-ccp/CRAFT. The
novels are those of LitBank's training split. Sentences that are in dev or test of LitBank or GUM are dropped.
"""

from __future__ import annotations

import argparse
import lzma
import random
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nestag.data.segment import Options, segments
from nestag.data.sentence import Sentence
from nestag.formats import conllu
from nestag_lab.corpora import gum, litbank
from nestag_lab.corpora.split import published_list

GENRES = ("news", "interview", "academic")
"""The genres of AMALGUM whose texts are CC BY."""

SHORTEST, LONGEST, LONGEST_WORD = 4, 80, 60
"""Words in a sentence, and characters in a word."""

MOST_NOVEL_SENTENCES = 170_000
LEAST_SHARED = 6
"""Minimum words of a dev or test sentence that is removed from the text."""

Texts = Mapping[str, Iterable[Sequence[str]]]


def read_lines(path: str | Path) -> list[list[str]]:
    """Read the words of each line that has some."""
    data = Path(path).read_bytes()
    text = (lzma.decompress(data) if Path(path).suffix == ".xz" else data).decode()
    return [line.split() for line in text.split("\n") if line.strip()]


def read_texts(paths: Sequence[str | Path]) -> Iterator[Sentence]:
    """Stream the sentences of several files in turn, in proportion to their lengths."""
    texts = [read_lines(path) for path in paths]
    longest = max(map(len, texts))
    for at in range(longest):
        for lines in texts:
            begin, end = (place * len(lines) // longest for place in (at, at + 1))
            yield from map(Sentence, lines[begin:end])


def novels(folder: Path) -> Iterator[Sequence[str]]:
    """Yield the sentences of the novels in LitBank's training split."""
    for book, split in published_list("litbank").items():
        if split == "train":
            text = (folder / "original" / f"{book}.txt").read_text(encoding="utf-8", errors="replace")
            unwrapped = re.sub(r"[ \t]*\n(?!\s*\n)[ \t]*", " ", text)
            yield from _tokenized(unwrapped.replace("--", " -- ").replace("_", ""))


def amalgum(folder: Path, genre: str) -> Iterator[Sequence[str]]:
    """Yield the sentences of a genre of AMALGUM."""
    for path in sorted(folder.glob(f"amalgum*/{genre}/dep/*.conllu")):
        yield from (sentence.tokens for sentence in conllu.FORMAT.read(path))


def craft(folder: Path) -> Iterator[Sequence[str]]:
    """Yield the sentences of CRAFT's articles."""
    for path in sorted((folder / "articles" / "txt").glob("*.txt")):
        yield from _tokenized(path.read_text(encoding="utf-8"))


def _tokenized(text: str) -> Iterator[Sequence[str]]:
    for segment in segments(text, Options()):
        yield [text[start:end] for start, end in segment]


def select(sentences: Iterable[Sequence[str]], held_out: set[str], seed: int = 1) -> list[str]:
    """Shuffle different sentences of usual lengths that are not held out, as lines."""
    lines: dict[str, str] = {}
    for words in sentences:
        usual = SHORTEST <= len(words) <= LONGEST and all(word.strip() and len(word) < LONGEST_WORD for word in words)
        if usual and (same := identity(words)) not in held_out:
            lines.setdefault(same, " ".join(word.replace(" ", "") for word in words))
    chosen = list(lines.values())
    random.Random(seed).shuffle(chosen)  # noqa: S311 - an order, not a secret
    return chosen


def identity(words: Sequence[str]) -> str:
    """Return a text that ignores case and tokenization."""
    return "".join(words).lower()


def main() -> None:
    """Write a file for each text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    for name in ("--litbank", "--gum", "--amalgum", "--craft"):
        parser.add_argument(name, type=Path, required=True)
    given = parser.parse_args()
    placed = [*litbank.read(given.litbank), *gum.read(given.gum)]
    unseen = [one.sentence.tokens for one in placed if one.split != "train"]
    held_out = {identity(words) for words in unseen if len(words) >= LEAST_SHARED}
    texts: Texts = {
        "novels": novels(given.litbank),
        **{genre: amalgum(given.amalgum, genre) for genre in GENRES},
        "craft": craft(given.craft),
    }
    given.output.mkdir(parents=True, exist_ok=True)
    for name, sentences in texts.items():
        lines = select(sentences, held_out)[: MOST_NOVEL_SENTENCES if name == "novels" else None]
        packed = lzma.compress(("\n".join(lines) + "\n").encode(), preset=9)
        (given.output / f"{name}.txt.xz").write_bytes(packed)
        sys.stdout.write(f"{name}: {len(lines):,} sentences, {sum(map(len, map(str.split, lines))):,} words\n")


if __name__ == "__main__":
    main()
