"""The paper's figures: a dozen typed again, and consistency of all."""

import pytest

from nestag.evaluation.result import DEPTHS, LENGTHS
from nestag.inspect.statistics import SPANS
from nestag_lab.corpora.coverage import ENCODINGS, Sizes
from nestag_lab.paper.published import Measured, PrecisionRecall, Reported, T, TypeSpread, published, published_name

PAPER = published()
BIOBERT, ROBERTA, BERT = (
    f"paper, {name}, greedy-majority" for name in ("BioBERT-large 340M", "RoBERTa-large 355M", "BERT-large 340M")
)
OTHERS = "other systems, as the paper cites them"


def of(table: tuple[Reported[T], ...], source: str, name: str, corpus: str) -> T:
    [found] = [row for row in table if (row.source, row.name) == (source, name)]
    return found.figures[corpus]


@pytest.mark.parametrize(
    ("source", "name", "corpus", "precision", "recall", "f1"),
    [
        (BIOBERT, "abs", "genia", (77.6, 0.4), (75.6, 0.3), (76.6, 0.3)),
        (BIOBERT, "4tg", "genia", (75.2, 1.1), (74.1, 0.9), (74.6, 0.8)),
        (ROBERTA, "dyn", "ace2004", (88.0, 0.3), (87.3, 0.2), (87.7, 0.2)),
        (BERT, "rel", "ace2005", (84.9, 0.7), (85.5, 0.0), (85.2, 0.3)),
        (OTHERS, "Wang et al. 2021, O(n)", "genia", (78.2,), (79.2,), (78.7,)),
        (OTHERS, "Fu et al. 2021, O(n³)", "ace2005", (84.5, 0.4), (86.4, 0.2), (85.4, 0.1)),
        (OTHERS, "Lou et al. 2022, O(n⁴)", "nne", (94.3,), (95.0,), (94.6,)),
    ],
)
def test_published_scores_match_the_paper(
    source: str, name: str, corpus: str, precision: tuple[float], recall: tuple[float], f1: tuple[float]
) -> None:
    assert of(PAPER.scores, source, name, corpus) == (Measured(*precision), Measured(*recall), Measured(*f1))


def test_other_published_figures_match_the_paper() -> None:
    assert of(PAPER.depths, BIOBERT, "rel", "genia")["≥ 1"] == PrecisionRecall(57.4, 23.5)
    assert of(PAPER.depths, OTHERS, "Shibuya and Hovy 2020, O(n²)", "ace2005")["≥ 2"] == PrecisionRecall(77.6, 57.5)
    assert of(PAPER.lengths, ROBERTA, "4tg", "nne")["≥ 10"] == PrecisionRecall(18.2, 30.0)
    assert of(PAPER.lengths, OTHERS, "Shen et al. 2021, O(n²)", "ace2004")["5–9"] == PrecisionRecall(84.3, 83.2)
    assert of(PAPER.types, BIOBERT, "abs", "genia") == TypeSpread("protein", "cell_type", 74.7, 3.4)
    assert of(PAPER.best_runs, BIOBERT, "abs", "genia").f1.mean == 76.3
    assert of(PAPER.best_runs, "paper, encoder not named, greedy-majority", "4tg", "nne").recall.mean == 94.2
    four = PAPER.labels["genia"]["4tg"]
    assert (four.labels, four.missing, four.dev) == (Sizes(5, 22, 13), Sizes(0, 1, 0), ">99.99")
    dyn = PAPER.labels["nne"]["dyn"]
    assert (dyn.test, dyn.absolute_labels, dyn.absolute_sentences) == (99.95, 1.16, 20.20)
    ace = PAPER.datasets["ace2004"]
    assert (ace.sentences, ace.length, ace.depths[0], ace.lengths[-1]) == (7_762, Measured(21.8, 12.8), 71.77, 5.54)


def test_published_tables_have_every_cell() -> None:
    own = [row for row in PAPER.scores if row.source != OTHERS]
    assert len(own) == 12
    assert sum(len(row.figures) for row in own) == 4 * 4 + 4 * 3
    assert len([row for row in PAPER.scores if row.source == OTHERS]) == 7
    for table, groups in ((PAPER.depths, DEPTHS), (PAPER.lengths, LENGTHS)):
        assert {tuple(pairs) for row in table for pairs in row.figures.values()} == {tuple(g.name for g in groups)}
        assert sum(len(row.figures) for row in table if row.source != OTHERS) == 16
    for other in (PAPER.types, PAPER.best_runs):
        assert sum(len(row.figures) for row in other) == 16
    assert all(tuple(rows) == ENCODINGS for rows in PAPER.labels.values())
    assert list(PAPER.labels) == list(PAPER.datasets) == ["ace2004", "ace2005", "genia", "nne"]
    assert {len(one.lengths) for one in PAPER.datasets.values()} == {len(SPANS)}


def test_f1_lies_between_precision_and_recall_as_rounded() -> None:
    for row in PAPER.scores:
        for scores in row.figures.values():
            ends = scores.precision.mean, scores.recall.mean
            assert min(ends) - 0.1 <= scores.f1.mean <= max(ends) + 0.1


def test_best_runs_are_below_the_means_as_noted() -> None:
    sources = {"genia": BIOBERT}
    for row in PAPER.best_runs:
        for corpus, best in row.figures.items():
            assert best.f1.mean < of(PAPER.scores, sources.get(corpus, ROBERTA), row.name, corpus).f1.mean


@pytest.mark.parametrize(
    ("corpus", "words", "name"),
    [
        ("GENIA", True, "genia"),
        ("ace-2005", True, "ace2005"),
        ("ACE_2004", True, "ace2004"),
        ("nne", True, "nne"),
        ("nne_notext", True, None),  # its scores cannot be compared, its annotations can
        ("nne_notext", False, "nne"),
        ("germeval2014", True, None),
        ("genia2", True, None),
    ],
)
def test_corpus_names_have_aliases(corpus: str, words: bool, name: str | None) -> None:
    assert published_name(corpus, words) == name
