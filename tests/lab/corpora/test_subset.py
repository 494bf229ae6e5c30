"""Random subsets of a corpus."""

from nestag import sample
from nestag.lab.corpora.subset import subset


def test_a_subset_keeps_the_order_of_the_corpus_and_grows() -> None:
    sentences = sample.sentences()
    small, large = (subset(sentences, size) for size in (5, 30))
    assert len(small) == 5
    assert large == [sentence for sentence in sentences if sentence in large]
    assert [sentence for sentence in large if sentence in small] == small
    assert subset(sentences, 0) == sentences
    assert subset(sentences, 5, seed=1) != small
