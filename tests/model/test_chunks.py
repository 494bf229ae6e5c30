from hypothesis import given
from hypothesis import strategies as st

from nestag.model.engine import Item, chunks

items = st.lists(
    st.builds(Item, st.lists(st.just("w"), max_size=4), st.sampled_from(["", "a", "b"]), st.none()), max_size=20
)


@given(items, st.integers(1, 6), st.integers(0, 7))
def test_every_item_is_in_one_chunk_with_the_neighbours_it_needs(found: list[Item], size: int, context: int) -> None:
    numbered = [item._replace(source=number) for number, item in enumerate(found)]
    cut = list(chunks(iter(numbered), size, context))
    assert [item.source for chunk in cut for item in chunk.own] == list(range(len(found)))
    assert all(len(chunk.own) <= size for chunk in cut)
    for chunk in cut:
        places = [item.source for item in chunk.items]
        assert places == list(range(places[0], places[-1] + 1))  # neighbours as they stood
        for step in (-1, 1):
            for item in chunk.own:
                words, at = 0, item.source + step
                while (
                    0 <= at < len(found) and item.document and found[at].document == item.document and words < context
                ):
                    assert at in places, (item.source, at)
                    words += len(found[at].tokens)
                    at += step
