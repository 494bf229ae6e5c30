"""Label coverage matches vocabularies, exhaustive search, and the published table."""

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Tree
from nestag.encodings import decode, encode, encoding
from nestag.encodings.base import Absolute, Label, N
from nestag.encodings.tetra import MARKS
from nestag.encodings.vocabulary import Vocabulary
from nestag.formats import jsonl
from nestag_lab.corpora.coverage import ENCODINGS, Coverage, count_coverage
from strategies import sentences

CORPORA = os.environ.get("NESTAG_CORPORA")


def rows(train: Sequence[Sentence], annotated: bool = True, **others: Sequence[Sentence]) -> dict[str, Coverage]:
    found = count_coverage(train, others)
    return {row.encoding: row for row in found.rows if row.annotated is annotated}


def sentence(text: str, *entities: tuple[int, int, str]) -> Sentence:
    return Sentence(text.split(), [Entity(*entity) for entity in entities])


@given(st.lists(sentences(), max_size=4), st.lists(sentences(), max_size=4))
def test_learned_order_counts_match_the_vocabulary(train: list[Sentence], dev: list[Sentence]) -> None:
    for name, row in rows(train, annotated=False, dev=dev).items():
        known = Vocabulary.learn(train, name)
        assert row.labels == (len(known.n), len(known.c), len(known.u))
        labels = [label for one in dev for label in known.encode(one)]
        ids = known.ids(labels)
        unseen = [min(part) < 0 for part in zip(*ids, strict=True)]
        assert row.missing == tuple(
            len({label[part] for label, number in zip(labels, ids[part], strict=True) if number < 0})
            for part in range(3)
        )
        covered = 100 * unseen.count(False) / len(unseen) if unseen else None
        assert (row.reach["dev"].covered if dev else None) == (pytest.approx(covered) if covered is not None else None)


@given(st.lists(sentences(), max_size=4))
def test_annotated_order_counts_match_the_trees(train: list[Sentence]) -> None:
    for name, row in rows(train).items():
        trees = [Tree.from_entities(len(one), one.annotated, None) for one in train]
        labels = [label for tree in trees for label in encoding(name).encode(tree)]
        assert row.labels == tuple(len({label[part] for label in labels}) for part in range(3))


def test_orders_differ_where_types_share_a_span() -> None:
    train = [sentence("a b c", (0, 1, "B"), (0, 1, "A")), sentence("a b c", (0, 1, "A"), (0, 1, "B"))]
    assert rows(train)["abs"].labels.u == 3
    assert rows(train, annotated=False)["abs"].labels.u == 2


NS: dict[str, list[N]] = {
    "abs": [1, 2, 3],
    "rel": [-2, -1, 0, 1, 2, 3],
    "dyn": [-1, 0, 1, 2, 3, Absolute(1)],
    "4tg": list(MARKS),
}
TRAIN = [
    sentence("x y z", (0, 3, "A"), (1, 3, "B"), (1, 2, "A"), (0, 1, "C")),
    sentence("x y z", (0, 2, "C"), (0, 2, "A"), (2, 3, "B"), (2, 3, "C")),
]
HARD = [
    sentence("x y z", (0, 3, "B")),  # a whole sentence of a type that never was one
    sentence("x y z", (0, 3, "A"), (0, 3, "B")),
    sentence("x y z", (0, 2, "A"), (0, 2, "B"), (2, 3, "A"), (2, 3, "B")),
    sentence("x y z", (0, 2, "D"), (1, 2, "D"), (0, 1, "A"), (0, 1, "B"), (0, 1, "C")),
    sentence("x y", (0, 2, "A"), (1, 2, "C")),
    sentence("x", (0, 1, "A"), (0, 1, "B")),
]


def best_by_search(name: str, test: Sentence) -> int:
    """The most entities that any sequence of seen c and u, with any n, decodes to."""
    labels = [label for one in TRAIN for label in encode(one, name)]
    parts = list(product(NS[name], {label.c for label in labels}, {label.u for label in labels}))
    best = 0
    # The u of a token is decided for itself; a node's chain depends on n and c alone.
    for shape in product({(n, c) for n, c, _ in parts}, repeat=len(test)):
        found = set(decode([Label(n, c, ()) for n, c in shape], name))
        best = max(best, len(found & {e for e in test.entities if e.end - e.start > 1}))
    for place in range(len(test)):
        here = {entity.type for entity in test.entities if entity[:2] == (place, place + 1)}
        best += max(len(here & set(u)) for _, _, u in parts)
    return best


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("test", HARD, ids=lambda one: str(one.entities and len(one.entities)))
def test_recall_matches_search_over_seen_labels(name: str, test: Sentence) -> None:
    expected = 100 * best_by_search(name, test) / len(test.entities)
    assert rows(TRAIN, test=[test])[name].reach["test"].recall == pytest.approx(expected)


@given(st.lists(sentences(), max_size=3))
def test_seen_labels_are_covered(train: list[Sentence]) -> None:
    for row in (*rows(train, dev=train).values(), *rows(train, annotated=False, dev=train).values()):
        assert row.missing == (0, 0, 0)
        if train:
            assert row.reach["dev"].covered in (None, 100)
            assert row.reach["dev"].recall in (None, 100)


def test_crossing_entities_are_dropped_and_counted() -> None:
    crossed = sentence("a b c d", (0, 1, "B"), (0, 1, "A"), (0, 2, "X"), (1, 4, "Y"))
    found = count_coverage([crossed], {"dev": [crossed, crossed]})
    assert found.crossing == {"train": 1, "dev": 2}
    expected = encoding("abs").encode(
        Tree.from_entities(4, [Entity(0, 1, "B"), Entity(0, 1, "A"), Entity(1, 4, "Y")], None)
    )
    assert found.rows[0].labels.u == len({label.u for label in expected}) == 2
    assert found.rows[0].reach["dev"] == (100, 100)


def test_only_dyn_chooses_how_to_write_n() -> None:
    deep = sentence("a b c d", (0, 3, "A"), (0, 2, "B"))
    steep = sentence("a b c d e", (1, 5, "A"), (2, 5, "B"), (3, 5, "C"))
    found = rows([deep, steep])
    assert found["dyn"].absolute_labels == pytest.approx(100 / 9)
    assert found["dyn"].absolute_sentences == 50
    assert found["rel"].absolute_labels is None


@pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA is not set")
@pytest.mark.parametrize(
    ("corpus", "labels", "absolute"),
    [
        ("genia", {"abs": (4, 8, 11), "rel": (8, 8, 11), "dyn": (8, 8, 11), "4tg": (5, 14, 11)}, (0.15, 3.81)),
        (
            "nne_notext",
            {"abs": (7, 262, 363), "rel": (10, 262, 363), "dyn": (11, 262, 363), "4tg": (6, 402, 363)},
            (1.16, 20.19),
        ),
    ],
)
def test_published_counts(corpus: str, labels: dict[str, tuple[int, ...]], absolute: tuple[float, float]) -> None:
    def read(name: str) -> Sequence[Sentence]:
        return list(jsonl.read(Path(CORPORA or "") / corpus / f"{name}.jsonl.gz"))

    found = rows(read("train"), dev=read("dev"), test=read("test"))
    assert {name: tuple(row.labels) for name, row in found.items()} == labels
    dyn = found["dyn"]
    assert (round(dyn.absolute_labels or 0, 2), round(dyn.absolute_sentences or 0, 2)) == absolute
