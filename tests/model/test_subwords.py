"""Words to subwords, with tokenizers of the three common kinds, made here."""

from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from nestag.model import subwords as module
from nestag.model.subwords import SHAPES, WordTable, WordTokenizer, shape, splits_words_alone

TEXT = ["the mayor of New York slept", "IL-2 gene expression and NF-kappa B activation", "un café naïve, 1984 ."] * 3
SENTENCES = [["IL-2", "gene", "slept"], [], ["\u200b", "漢", "the", "the"], ["of"], ["unbelievable" * 5, "."]]


def wordpiece() -> Tokenizer:
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.train_from_iterator(TEXT, trainers.WordPieceTrainer(vocab_size=80, special_tokens=["[PAD]", "[UNK]"]))
    return inner


def byte_level() -> Tokenizer:
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    inner.decoder = decoders.ByteLevel()
    inner.train_from_iterator(TEXT, trainers.BpeTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]"]))
    return inner


def unigram(scheme: str) -> Tokenizer:
    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    special = ["[PAD]", "[UNK]"]
    inner.train_from_iterator(TEXT, trainers.UnigramTrainer(vocab_size=60, unk_token="[UNK]", special_tokens=special))
    return inner


KINDS = {
    "wordpiece": (wordpiece, True),
    "byte-level": (byte_level, True),
    "unigram": (lambda: unigram("always"), True),
}


class FirstWordMarked(WordTokenizer):
    """A tokenizer that splits the first word of a sentence otherwise than the same word later."""

    splits_alone = False

    def __init__(self) -> None:
        self.unk_token_id = 0

    def encode(self, sentences: Iterable[Sequence[str]], add_special_tokens: bool = False) -> list[Any]:
        return [self.encode_sentence(sentence) for sentence in sentences]

    def encode_sentence(self, sentence: Sequence[str]) -> Any:
        pieces = [[ord(char) % 50 for char in word] for word in sentence]
        pieces[0] = [99, *pieces[0]]
        ids = [number for piece in pieces for number in piece]
        return SimpleNamespace(ids=ids, word_ids=[word for word, piece in enumerate(pieces) for _ in piece])


@pytest.fixture(scope="module", params=[*KINDS, "first word marked"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    if request.param not in KINDS:
        return FirstWordMarked()
    make, alone = KINDS[request.param]
    made = PreTrainedTokenizerFast(tokenizer_object=make(), unk_token="[UNK]", pad_token="[PAD]")
    made.splits_alone = alone
    return made


def plain(tokenizer: Any, sentence: Sequence[str], longest: int) -> list[list[int]]:
    """The subwords of each word, the slow way."""
    subwords: list[list[int]] = [[] for _ in sentence]
    if sentence:
        if isinstance(tokenizer, WordTokenizer):
            (encoding,) = tokenizer.encode([sentence])
            ids, word_ids = encoding.ids, encoding.word_ids
        else:  # as transformers tokenizes it
            encoded = tokenizer(list(sentence), is_split_into_words=True, add_special_tokens=False)
            ids, word_ids = encoded["input_ids"], encoded.word_ids()
        for number, word in zip(ids, word_ids, strict=True):
            subwords[word].append(number)
    return [pieces[:longest] or [tokenizer.unk_token_id] for pieces in subwords]


def test_tokenizers_that_split_words_alone_are_recognized(tokenizer: Any) -> None:
    assert splits_words_alone(WordTokenizer.of(tokenizer)) is tokenizer.splits_alone


def test_subwords_match_whole_sentences(tokenizer: Any) -> None:
    table = WordTable(WordTokenizer.of(tokenizer), longest=6)
    assert table.cached is tokenizer.splits_alone
    for _ in range(2):  # the second time from memory
        subwords = table.subwords(SENTENCES)
        expected = [pieces for sentence in SENTENCES for pieces in plain(tokenizer, sentence, 6)]
        assert subwords.ids.tolist() == [number for pieces in expected for number in pieces]
        assert subwords.counts.tolist() == [len(pieces) for pieces in expected]
        assert subwords.lengths.tolist() == [len(sentence) for sentence in SENTENCES]
        assert subwords.shapes.tolist() == [shape(word) for sentence in SENTENCES for word in sentence]


@pytest.mark.parametrize("limit", ["MOST_WORDS", "MOST_CHARACTERS"])
def test_cache_is_bounded(tokenizer: Any, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, limit, 2)
    table = WordTable(WordTokenizer.of(tokenizer), longest=6)
    for sentence in SENTENCES * 2:
        subwords = table.subwords([sentence])
        assert subwords.ids.tolist() == [number for pieces in plain(tokenizer, sentence, 6) for number in pieces]
        assert len(table._rows) <= 2 + len(sentence)


def test_no_sentences_have_no_subwords(tokenizer: Any) -> None:
    subwords = WordTable(WordTokenizer.of(tokenizer), longest=6).subwords([])
    assert [len(column) for column in subwords] == [0, 0, 0, 0]
    assert np.array_equal(subwords.word_offsets, [0])


@given(st.text(min_size=1))
def test_every_word_has_a_shape(word: str) -> None:
    assert 0 <= shape(word) < SHAPES


@pytest.mark.parametrize(("one", "other"), [("Paris", "paris"), ("USA", "Usa"), ("IL-2", "il-2"), ("1984", "word")])
def test_shapes_distinguish_case(one: str, other: str) -> None:
    assert shape(one) != shape(other)
