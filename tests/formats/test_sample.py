"""The embedded corpus: complete, well formed, and balanced."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from nestag.data.crossing import crossing_pairs
from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.errors import UnknownNameError
from nestag.formats import brackets, sample
from nestag.formats.folders import Split

SHARES: dict[Split, float] = {"train": 0.70, "dev": 0.15, "test": 0.15}


def types(sentences: list[Sentence]) -> Counter[str]:
    return Counter(entity.type for sentence in sentences for entity in sentence.entities)


def test_sample_has_every_domain() -> None:
    documents = sample.documents()
    assert Counter(document_of(document[0]).rpartition("-")[0] for document in documents) == {
        "news": 36, "biomedical": 36, "legal": 36,
    }  # fmt: skip
    assert len(sample.sentences()) == 648
    assert len({sentence.id for sentence in sample.sentences()}) == 648


def test_entities_nest() -> None:
    assert not [pair for sentence in sample.sentences() for pair in crossing_pairs(sentence.entities)]
    assert sum(types(sample.sentences()).values()) > 2000


@pytest.mark.parametrize("domain", sample.DOMAINS)
def test_sample_files_are_canonical(domain: str, tmp_path: Path) -> None:
    text = (files(sample) / f"{domain}.nested").read_text(encoding="utf-8")
    (tmp_path / "f").write_text(text, encoding="utf-8")
    brackets.FORMAT.write(brackets.FORMAT.read(tmp_path / "f"), tmp_path / "g")
    assert (tmp_path / "g").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("split", "share"), SHARES.items())
def test_sample_splits_have_their_share(split: Split, share: float) -> None:
    assert abs(len(sample.sentences(split)) / len(sample.sentences()) - share) < 0.02
    domains = Counter(document_of(document[0]).rpartition("-")[0] for document in sample.documents(split))
    assert all(abs(count / 36 - share) < 0.04 for count in domains.values())
    assert set(domains) == set(sample.DOMAINS)


def test_every_frequent_type_is_in_every_split() -> None:
    frequent = {kind for kind, count in types(sample.sentences()).items() if count >= 20}
    assert len(frequent) == 13
    for split in SHARES:
        assert frequent <= set(types(sample.sentences(split)))


def test_no_sentence_or_document_is_in_two_splits() -> None:
    parts = [sample.sentences(split) for split in SHARES]
    assert sum(map(len, parts)) == len(sample.sentences())
    for what in (lambda s: s.id, lambda s: s.tokens, document_of):
        seen = [set(map(what, part)) for part in parts]
        assert sum(map(len, seen)) == len(set.union(*seen))


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="there are train, dev, test"):
        sample.sentences("validation")  # type: ignore[arg-type]
