import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.tree import Name
from nestag.encodings import available
from nestag.encodings.notation import read_chain, read_field, read_name, write_chain, write_field, write_name
from nestag.errors import LabelError
from strategies import ENCODINGS, numbers, types

chains = st.lists(types, max_size=3).map(tuple)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.builds(Name, chains, st.booleans(), st.booleans()))
def test_node_labels_round_trip_in_one_column(name: Name) -> None:
    text = write_name(name)
    assert read_name(text) == name
    assert "\t" not in text
    assert len(text.splitlines()) == 1


@given(chains)
def test_chains_round_trip(chain: tuple[str, ...]) -> None:
    assert read_chain(write_chain(chain)) == chain


@given(chains, chains)
def test_different_chains_are_written_differently(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (write_chain(one) == write_chain(other)) == (one == other)


@given(anything)
def test_fields_round_trip_in_one_column(text: str) -> None:
    assert read_field(write_field(text)) == text
    assert "\t" not in write_field(text)
    assert len(write_field(text).splitlines()) <= 1


@given(anything)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for read in (read_name, read_chain, read_field, *(encoding.read_n for encoding in available().values())):
        try:
            read(text)
        except LabelError:
            continue


def test_type_named_like_the_root_is_escaped() -> None:
    assert write_name(Name(("S",))) == r"\S"
    assert write_name(Name(("S", "S"), root=True)) == r"S+\S+\S"
    assert read_name("S") == Name((), root=True)


@pytest.mark.parametrize("text", ["", "+", "A+", "+A", "A++B", "A'B", "A'+B", r"a\x", "A+S", "A+-", "\\"])
def test_invalid_node_labels_are_refused(text: str) -> None:
    with pytest.raises(LabelError):
        read_name(text)


@pytest.mark.parametrize("text", ["S", "S+A", "A'", "", "-+A"])
def test_invalid_chains_are_refused(text: str) -> None:
    with pytest.raises(LabelError):
        read_chain(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_numbers_round_trip(encoding: str) -> None:
    chosen = available()[encoding]
    for n in numbers(encoding):
        assert chosen.read_n(chosen.write_n(n)) == n


@pytest.mark.parametrize("text", ["", "-", "1_0", "٣", " 1", "1.0", "+1", "=1", "--1", "9999999999"])
def test_invalid_numbers_are_refused(text: str) -> None:
    for name in ("abs", "rel", "4tg"):
        with pytest.raises(LabelError):
            available()[name].read_n(text)


def test_out_of_range_numbers_are_refused() -> None:
    with pytest.raises(LabelError, match="depths go from"):
        available()["abs"].read_n("100000000")  # the longest that is read at all
