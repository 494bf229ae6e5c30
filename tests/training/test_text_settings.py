"""How raw text is cut is part of a model: it comes from the training corpus and is told apart from other runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nestag.data.segment import Options
from nestag.errors import InputError, UnknownNameError
from nestag.formats.corpus import Corpus, read_corpus, write_corpus
from nestag.training.run import train
from two_sentences import CORPUS, quick


def test_a_model_keeps_the_language_and_the_words_of_its_corpus(
    tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    write_corpus(CORPUS, tmp_path / "train.jsonl")
    corpus = read_corpus(tmp_path / "train.jsonl", language="da", tokenizer="whitespace")
    recipe = quick(tiny_encoder("bert"), steps=1)
    run = train(corpus, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert run.recognizer.settings.reading == Options(tokenizer="whitespace", language="da")
    run = train(corpus, CORPUS, tmp_path / "model", recipe, use_cpu=True)  # the same run
    with pytest.raises(InputError, match="text is tokenized differently"):
        train(list(corpus), CORPUS, tmp_path / "model", recipe, use_cpu=True)


def test_a_language_that_spacy_lacks_is_refused_before_training(
    tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    corpus = Corpus(CORPUS, options=Options(language="danish"))
    with pytest.raises(UnknownNameError, match="'danish'"):
        train(corpus, CORPUS, tmp_path / "model", quick(tiny_encoder("bert")), use_cpu=True)
    assert not (tmp_path / "model").exists()
