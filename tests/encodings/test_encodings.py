import random
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag import encodings
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name
from nestag.encodings import Absolute, Label, available, decode, encode, repairs
from nestag.encodings.depth import AbsoluteDepth, DepthEncoding
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import LabelError, UnknownNameError
from strategies import ENCODINGS, any_labels, random_sentence, sentences

FIGURE_1 = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"], [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")]
)
S = Name((), root=True)
PER, ORG, GPE = (Name((kind,)) for kind in ("PER", "ORG", "GPE"))


def written(labels: list[Label], encoding: str) -> list[str]:
    write_n = encodings.encoding(encoding).write_n
    return [f"{write_n(n)} {write_name(c)} {write_chain(u)}" for n, c, u in labels]


@pytest.mark.parametrize(
    ("encoding", "row"),
    [
        ("abs", ["1 S PER", "1 S -", "2 PER -", "2 PER -", "3 GPE -", "1 S -"]),
        ("rel", ["1 S PER", "0 S -", "1 PER -", "0 PER -", "1 GPE -", "-2 S -"]),
        ("dyn", ["1 S PER", "0 S -", "1 PER -", "0 PER -", "1 GPE -", "=1 S -"]),
        ("4tg", ["rR S PER", "rL S' -", "rL PER -", "rL PER' -", "rL GPE -", "l GPE -"]),
    ],
)
def test_labels_of_figure_1(encoding: str, row: list[str]) -> None:
    labels = encode(FIGURE_1, encoding)
    assert written(labels, encoding) == row
    assert decode(labels, encoding) == FIGURE_1.entities


@pytest.mark.parametrize(
    ("encoding", "row"),
    [
        ("abs", ["4 A+B -", "2 S+X -", "2 S+X C"]),
        ("rel", ["4 A+B -", "-2 S+X -", "0 S+X C"]),
        ("dyn", ["4 A+B -", "=2 S+X -", "0 S+X C"]),
        ("4tg", ["rR A+B -", "lR S+X -", "l S+X C"]),
    ],
)
def test_chains_count_one_level_each(encoding: str, row: list[str]) -> None:
    whole = [Entity(0, 3, "X"), Entity(0, 2, "A"), Entity(0, 2, "B"), Entity(2, 3, "C")]
    assert written(encode(Sentence(["x", "y", "z"], whole), encoding), encoding) == row


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_single_word_sentence_has_only_u(encoding: str) -> None:
    labels = encode(Sentence(["x"], [Entity(0, 1, "B"), Entity(0, 1, "A")]), encoding)
    assert labels == [Label("r" if encoding == "4tg" else 1, S, ("A", "B"))]
    assert encode(Sentence([]), encoding) == []
    assert decode([], encoding) == ()


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(sentence=sentences())
def test_round_trip(encoding: str, sentence: Sentence) -> None:
    labels = encode(sentence, encoding)
    assert len(labels) == len(sentence)
    assert decode(labels, encoding) == sentence.entities
    assert decode(labels, encoding, "majority") == sentence.entities
    assert repairs(labels, encoding) == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_round_trip_of_deep_and_long_sentences(encoding: str) -> None:
    rng = random.Random(encoding)
    for depth in (0, 1, 5, 20):
        for length in (1, 2, 30, 500):
            sentence = random_sentence(rng, length, depth)
            assert decode(encode(sentence, encoding), encoding) == sentence.entities
    deep = Sentence(["w"] * 5_000, [Entity(i, 5_000, "A") for i in range(4_999)])
    assert decode(encode(deep, encoding), encoding) == deep.entities


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=3 * settings.default.max_examples)
@given(data=st.data())
def test_any_labels_decode(encoding: str, data: st.DataObject) -> None:
    labels = data.draw(any_labels(encoding))
    naming = data.draw(st.sampled_from(["first", "majority"]))
    before = deepcopy(labels)
    entities = decode(labels, encoding, naming)
    assert labels == before
    assert decode(labels, encoding, naming) == entities
    sentence = Sentence(["w"] * len(labels), entities)  # refuses entities outside the sentence
    assert {entity.type for entity in entities} <= {kind for _, c, u in labels for kind in c.types + u}
    valid = encode(sentence, encoding)  # refuses entities that cross
    assert decode(valid, encoding) == entities
    assert repairs(valid, encoding) == 0
    assert repairs(labels, encoding, naming) <= len(labels)


@given(sentence=sentences(most=30))
def test_rel_and_dyn_are_equivalent_to_abs(sentence: Sentence) -> None:
    depths = {}
    for name in ("abs", "rel", "dyn"):
        encoding = encodings.encoding(name)
        assert isinstance(encoding, DepthEncoding)
        labels = encode(sentence, encoding)
        depths[name] = encoding.to_depths(label.n for label in labels), [label[1:] for label in labels]
    assert depths["abs"] == depths["rel"] == depths["dyn"]


def test_dyn_is_absolute_after_large_falls_to_low_depths() -> None:
    encoding = encodings.encoding("dyn")
    assert isinstance(encoding, DepthEncoding)
    assert encoding.to_ns([6, 4, 2, 1, 5, 3, 9, 6, 1]) == [
        6, -2, Absolute(2), -1, 4, Absolute(3), 6, -3, Absolute(1)
    ]  # fmt: skip


# The repair rules of the paper's appendix, one worked example each.


@pytest.mark.parametrize(("naming", "kind"), [("first", "PER"), ("majority", "ORG")])
def test_node_with_several_labels(naming: encodings.Naming, kind: str) -> None:
    labels = [Label(1, S, ()), Label(2, PER, ()), Label(2, ORG, ()), Label(2, ORG, ()), Label(1, S, ())]
    assert decode(labels, "abs", naming) == (Entity(1, 5, kind),)
    assert repairs(labels, "abs", naming) == (2 if naming == "first" else 1)


def test_first_of_equally_frequent_labels_is_kept() -> None:
    labels = [Label(2, ORG, ()), Label(2, PER, ()), Label(1, S, ()), Label(1, S, ())]
    assert decode(labels, "abs", "majority") == (Entity(0, 3, "ORG"),)


def test_nodes_without_a_label_are_removed() -> None:
    labels = [Label(1, S, ()), Label(4, GPE, ()), Label(1, S, ()), Label(1, S, ())]
    assert decode(labels, "abs") == (Entity(1, 3, "GPE"),)
    assert repairs(labels, "abs") == 1


def test_parent_is_labelled_after_its_children() -> None:
    labels = [Label(3, GPE, ()), Label(2, PER, ()), Label(1, S, ()), Label(1, S, ())]
    assert decode(labels, "abs") == (Entity(0, 3, "PER"), Entity(0, 2, "GPE"))


def test_out_of_range_depths_are_clipped() -> None:
    labels = [Label(1, S, ()), Label(1, PER, ()), Label(-7, S, ()), Label(0, S, ())]
    assert decode(labels, "rel") == (Entity(1, 3, "PER"),)
    assert encodings.encoding("rel").to_depths(label.n for label in labels) == [1, 2, 1, 1]  # type: ignore[attr-defined]
    assert decode([Label(Absolute(-3), S, ()), Label(-7, S, ())], "dyn") == ()


def test_root_labels_need_the_root_mark() -> None:
    assert decode([Label(1, PER, ()), Label(1, S, ()), Label(1, S, ())], "abs") == ()
    assert decode([Label(1, Name(("PER",), root=True), ()), Label(1, S, ())], "abs") == (Entity(0, 2, "PER"),)
    assert decode([Label(2, S, ()), Label(1, S, ()), Label(1, S, ())], "abs") == ()


def test_impossible_tetra_transition_is_skipped() -> None:
    # the second L has no subtree below to fill, so it is skipped and the third word starts anew
    labels = [Label("rR", PER, ()), Label("lL", ORG, ()), Label("r", S, ())]
    assert decode(labels, "4tg") == (Entity(0, 3, "PER"),)


def test_a_subtree_fills_the_slot_right_below_it() -> None:
    # the first word waits at the bottom of the stack, without a slot
    labels = [Label("r", S, ()), Label("rR", PER, ()), Label("rL", ORG, ()), Label("l", S, ())]
    assert decode(labels, "4tg") == (Entity(1, 4, "PER"), Entity(2, 4, "ORG"))


def test_leftover_words_attach_to_the_lowest_right_node() -> None:
    # PER holds the first two words; after the skipped L the third has no place and joins them
    labels = [Label("rR", S, ()), Label("rL", PER, ()), Label("lL", ORG, ()), Label("l", S, ())]
    assert decode(labels, "4tg") == (Entity(1, 4, "PER"),)


def test_a_slot_is_filled_once() -> None:
    # the second word fills the slot, so the third and fourth find none and the L between them is skipped
    labels = [Label("rR", PER, ()), Label("lL", S, ()), Label("rL", ORG, ()), Label("l", S, ())]
    assert decode(labels, "4tg") == (Entity(0, 4, "PER"),)


def test_leftover_word_fills_the_slot_of_its_subtree() -> None:
    # the third word waits, and with it the fourth joins GPE; then both are ORG's right child
    labels = [Label("rR", PER, ()), Label("rR", GPE, ()), Label("r", S, ()), Label("lL", ORG, ()), Label("l", S, ())]
    assert decode(labels, "4tg") == (Entity(0, 5, "PER"), Entity(1, 5, "ORG"), Entity(1, 4, "GPE"))


def test_last_word_has_no_gap() -> None:
    assert decode([Label("r", S, ())] * 300 + [Label("rR", PER, ())], "4tg") == ()


def test_leftover_words_before_any_node_are_outside() -> None:
    labels = [Label("lL", PER, ("GPE",)), Label("l", S, ()), Label("rR", ORG, ()), Label("l", S, ())]
    assert decode(labels, "4tg") == (Entity(0, 1, "GPE"), Entity(2, 4, "ORG"))


@pytest.mark.parametrize(
    ("label", "encoding", "told"),
    [
        (Label("2", S, ()), "abs", "label 1: n is '2'; this encoding takes an integer"),
        (Label(1.0, S, ()), "rel", "label 1: n is 1.0"),  # type: ignore[arg-type]
        (Label(True, S, ()), "dyn", "label 1: n is True"),
        (Label(Absolute(1), S, ()), "rel", "label 1: n is Absolute"),
        (Label(10**7, S, ()), "abs", "label 1: n is 10000000"),
        (Label("xR", S, ()), "4tg", "label 1: n is 'xR'; this encoding takes one of rR"),
        (Label(1, S, ()), "4tg", "label 1: n is 1"),
        (Label(1, "S", ()), "abs", "label 1: c is 'S'"),  # type: ignore[arg-type]
        (Label(1, Name(("",)), ()), "abs", "label 1: c is Name"),
        (Label(1, Name(["PER"]), ()), "abs", "label 1: c is Name"),  # type: ignore[arg-type]
        (Label("r", S, "PER"), "4tg", "label 1: u is 'PER'"),  # type: ignore[arg-type]
        ((1, S), "abs", r"label 1 is \(1"),
    ],
)
def test_malformed_labels_are_named(label: Label, encoding: str, told: str) -> None:
    with pytest.raises(LabelError, match=told):
        decode([Label("r" if encoding == "4tg" else 1, S, ()), label], encoding)


def test_numpy_integers_are_accepted() -> None:
    labels = [Label(n._replace(n=np.int64(n.n)).n, n.c, n.u) for n in encode(FIGURE_1, "rel")]
    assert decode(labels, "rel") == FIGURE_1.entities


def test_encodings_are_found_by_name() -> None:
    assert set(available()) == set(ENCODINGS)
    with pytest.raises(UnknownNameError, match="no encoding is called 'bio'"):
        encodings.encoding("bio")


def test_encoding_of_another_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(AbsoluteDepth):
        name = "mine"

    asked = []

    def points(group: str, name: str) -> list[SimpleNamespace]:
        asked.append((group, name))
        return [SimpleNamespace(load=lambda: Mine)] if name == "mine" else []

    monkeypatch.setattr(encodings, "_registered", {})
    monkeypatch.setattr(encodings, "entry_points", points)
    assert isinstance(encodings.encoding("mine"), Mine)
    assert isinstance(encodings.encoding("mine"), Mine)  # known by now
    assert asked == [("nestag.encodings", "mine")]
    with pytest.raises(UnknownNameError, match="there are 4tg, abs, dyn, mine, rel"):
        encodings.encoding("yours")


@pytest.mark.parametrize("method", ["encode", "decode", "write_n", "read_n"])
def test_incomplete_encoding_cannot_be_created(method: str) -> None:
    methods = {name: getattr(AbsoluteDepth, name) for name in ("encode", "decode", "write_n", "read_n")}
    del methods[method]
    with pytest.raises(TypeError, match=method):
        type("Partial", (encodings.Encoding,), methods)()
