"""Joint labels are one word each and round-trip."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.tree import Name
from nestag.encodings import encoding
from nestag.encodings.base import Label
from nestag.encodings.notation import read_field
from nestag.errors import LabelError
from nestag.formats.labels import parts
from nestag.integrations.taggers import label_writer, last_columns, read_joint, write_word
from strategies import ENCODINGS, numbers, types, words

chains = st.lists(types, max_size=3).map(tuple)
names = st.builds(Name, chains, st.booleans(), st.booleans())


@given(st.data(), st.sampled_from(ENCODINGS))
def test_joint_labels_round_trip_in_one_word(data: st.DataObject, by: str) -> None:
    label = data.draw(st.builds(Label, st.sampled_from(numbers(by)), names, chains))
    text = label_writer(encoding(by), "|")(label)
    assert text.split() == [text]
    assert read_joint(parts(encoding(by)), text) == label


@given(st.data(), st.sampled_from(ENCODINGS), words)
def test_separate_columns_round_trip(data: st.DataObject, by: str, token: str) -> None:
    label = data.draw(st.builds(Label, st.sampled_from(numbers(by)), names, chains))
    line = "\t".join((write_word(token), label_writer(encoding(by), "\t")(label)))
    parse = last_columns(parts(encoding(by)), 3)
    assert parse(line) == parse(line.replace("\t", "  ")) == (token, label)


@given(words)
def test_tokens_round_trip_in_one_word(token: str) -> None:
    assert write_word(token).split() == [write_word(token)]
    assert read_field(write_word(token)) == token


@pytest.mark.parametrize("text", ["O", "1|S", "1|S|PER|-", "", "||", "x|S|-", "1||-", "1|S|", "1|S|PER'", r"1|S|\q"])
def test_invalid_joint_labels_are_refused(text: str) -> None:
    with pytest.raises(LabelError):
        read_joint(parts(encoding("rel")), text)
