"""Invalid scores of a tagger are refused with an exact error."""

import numpy as np
import pytest

from nestag.data.tree import Name
from nestag.decoding import Search, decode_batch, decode_scores
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError, UnknownNameError
from random_scores import random_scores
from strategies import loose_vocabulary


def test_nan_scores_are_refused() -> None:
    vocabulary = loose_vocabulary("abs")
    n, c, u = random_scores(vocabulary, [2, 0, 3], 8)
    c[4, 4] = np.nan
    with pytest.raises(LabelError, match="sentence 2, word 2: c scores label 4 with nan"):
        decode_scores(vocabulary, n, c, u, [2, 0, 3])
    c[4, 4] = np.inf
    with pytest.raises(LabelError, match="sentence 2, word 2: c scores label 4 with inf"):
        decode_scores(vocabulary, n, c, u, [2, 0, 3], "greedy")


def test_wrong_shapes_are_refused() -> None:
    vocabulary = loose_vocabulary("abs")
    n, c, u = random_scores(vocabulary, [2, 3], 8)
    with pytest.raises(LabelError, match=r"n holds float64 shaped \(5, 2\); give scores shaped \(5, 13\)"):
        decode_scores(vocabulary, n[:, :2], c, u, [2, 3])
    with pytest.raises(LabelError, match=r"n holds float64 shaped \(5, 13\); give scores shaped \(6, 13\)"):
        decode_scores(vocabulary, n, c, u, [2, 4])
    with pytest.raises(LabelError, match=r"u holds bool shaped"):
        decode_scores(vocabulary, n, c, u > 0, [2, 3])
    with pytest.raises(LabelError, match="u has no labels to choose from"):
        decode_scores(Vocabulary("abs", (1,), (Name((), root=True),), ()), *(np.zeros((1, k)) for k in (1, 1, 0)), [1])


@pytest.mark.parametrize("lengths", [[-1, 3], [[1, 1]], [0.5, 1.5], 2])
def test_lengths_must_match_the_scores(lengths: object) -> None:
    with pytest.raises(LabelError, match="give the number of words of each sentence"):
        decode_batch(loose_vocabulary("abs"), [0, 0], [0, 0], [0, 0], lengths)  # type: ignore[arg-type]


def test_ids_outside_the_vocabulary_are_refused() -> None:
    vocabulary = loose_vocabulary("abs")
    with pytest.raises(LabelError, match="sentence 1, word 0: c is number 99; the vocabulary has 0 to 23"):
        decode_batch(vocabulary, [0, 0, 0], [0, 0, 99], [0, 0, 0], [2, 1])
    with pytest.raises(LabelError, match="sentence 0, word 1: c is number 98"):  # the first of them
        decode_batch(vocabulary, [0, 0, 0], [0, 98, 99], [0, 0, 0], [2, 1])
    with pytest.raises(LabelError, match="sentence 0, word 1: n is number -1"):
        decode_batch(vocabulary, [0, -1, 0], [0, 0, 0], [0, 0, 0], [2, 1])
    with pytest.raises(LabelError, match=r"u holds float64 shaped \(2,\)"):
        decode_batch(vocabulary, [0, 0], [0, 0], [0.5, 0], [2])
    with pytest.raises(LabelError, match=r"c holds int64 shaped \(1,\); give integers shaped \(2,\)"):
        decode_batch(vocabulary, [0, 0], [0], [0, 0], [2])


def test_unknown_decoding_is_refused() -> None:
    vocabulary = loose_vocabulary("abs")
    with pytest.raises(UnknownNameError, match="no decoding is called 'best'; there are constrained and greedy"):
        decode_scores(vocabulary, *random_scores(vocabulary, [2], 8), [2], "best")  # type: ignore[arg-type]


def test_search_settings_out_of_range_are_refused() -> None:
    with pytest.raises(LabelError, match="deepest is 0"):
        Search(deepest=0)
    with pytest.raises(LabelError, match="temperature is 0; give a number above 0"):
        Search(temperature=0)
