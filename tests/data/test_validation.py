"""Dataclasses from TOML, JSON and text, and their errors."""

import json
from collections import Counter
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.validation import changed, described, from_mapping, setting, to_mapping
from nestag.errors import InputError, NestagError, SettingError


class Point(NamedTuple):
    x: int
    y: float = 0.0


@dataclass(frozen=True)
class Inner:
    name: str = "inner"
    share: float = setting(0.5, above=0, below=1, help="a share")


@dataclass(frozen=True)
class Plan:
    title: str
    epochs: int = setting(3, minimum=1, maximum=100, help="passes over the corpus")
    rate: float = setting(0.1, minimum=0, help="learning rate")
    fast: bool = False
    pooling: Literal["first", "last"] = "first"
    encoding: str = setting("rel", choices=lambda: ("abs", "rel"), help="of trees")
    limit: int | None = setting(None, minimum=1)
    seeds: int | tuple[int, ...] = 1
    shares: tuple[float, ...] = setting((), minimum=0, maximum=1)
    pair: tuple[int, str] = (0, "")
    thresholds: dict[str, float] = setting(factory=dict, maximum=1)
    depths: Counter[int] = field(default_factory=Counter)
    point: Point = field(default_factory=lambda: Point(0))
    points: tuple[Point, ...] = ()
    inner: Inner = field(default_factory=Inner)
    parts: dict[str, Inner] = field(default_factory=dict)
    anything: Any = None


GOOD: dict[str, Any] = {
    "title": "x",
    "epochs": 7,
    "rate": 2,
    "fast": True,
    "pooling": "last",
    "encoding": "abs",
    "limit": 4,
    "seeds": [1, 2],
    "shares": [0.1, 1],
    "pair": [1, "a"],
    "thresholds": {"PER": 0.5},
    "depths": {"0": 3},
    "point": [1, 2.5],
    "points": [[1], {"x": 2, "y": 3}],
    "inner": {"name": "y"},
    "parts": {"a": {"share": 0.25}},
    "anything": [1, "two"],
}


def test_every_field_type_is_accepted() -> None:
    plan = from_mapping(Plan, GOOD, "a.toml")
    assert plan == Plan(
        "x", 7, 2.0, True, "last", "abs", 4, (1, 2), (0.1, 1.0), (1, "a"), {"PER": 0.5}, Counter({0: 3}),
        Point(1, 2.5), (Point(1), Point(2, 3.0)), Inner("y"), {"a": Inner(share=0.25)}, [1, "two"],
    )  # fmt: skip
    assert isinstance(plan.rate, float)
    assert isinstance(plan.shares[1], float)
    assert isinstance(plan.depths, Counter)
    with pytest.raises(FrozenInstanceError):
        plan.epochs = 4  # type: ignore[misc]
    plain = to_mapping(plan)
    assert plain["points"] == [[1, 0.0], [2, 3.0]]
    assert plain["depths"] == {"0": 3}
    assert from_mapping(Plan, json.loads(json.dumps(plain)), "again") == plan
    for none in (None, "none"):
        assert from_mapping(Plan, {"title": "x", "limit": none}, "a.toml").limit is None


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("epochs", 0, "epochs is 0; it takes a whole number of at least 1 and of at most 100"),
        ("epochs", 101, "epochs is 101; it takes"),
        ("epochs", 3.0, "epochs is 3.0; it takes a whole number"),
        ("epochs", "3", "epochs is '3'; it takes a whole number"),
        ("epochs", True, "epochs is True; it takes a whole number"),
        ("rate", float("nan"), "rate is nan; it takes a number"),
        ("rate", float("inf"), "rate is inf; it takes a number"),
        ("epochs", 10**400, "epochs is 1000"),  # more than any float
        ("rate", 10**400, "rate is 1000"),
        ("rate", -0.1, "rate is -0.1; it takes a number of at least 0"),
        ("fast", 1, "fast is 1; it takes true or false"),
        ("title", None, "title is None; it takes text"),
        ("pooling", "max", "pooling is 'max'; it takes one of first, last"),
        ("encoding", "dyn", "encoding is 'dyn'; it takes one of abs, rel"),
        ("limit", 0, "limit is 0; it takes a whole number of at least 1"),
        ("seeds", "one", "seeds is 'one'; it takes a whole number, or a list, each a whole number"),
        ("shares", [0.5, 1.5], "shares.1 is 1.5; it takes a number of at least 0 and of at most 1"),
        ("shares", 0.5, "shares is 0.5; it takes a list, each a number"),
        ("pair", [1], "pair is"),
        ("thresholds", {"PER": 2}, "thresholds.PER is 2; it takes a number of at most 1"),
        ("thresholds", [], "thresholds is []; it takes a table"),
        ("depths", {"x": 1}, "depths.x is 'x'; it takes a whole number"),
        ("depths", {"1": 1.5}, "depths.1 is 1.5; it takes a whole number"),
        ("point", [], "point is []; it takes a list"),
        ("point", [1, 2, 3], "point is"),
        ("point", {"y": 1}, "point is"),
        ("points", [[1], ["a"]], "points.1.x is 'a'; it takes a whole number"),
        ("inner", 3, "inner is 3; it takes a table"),
        ("inner", {"share": 1}, "inner.share is 1; it takes a number above 0 and below 1"),
        ("inner", {"nam": "x"}, "there is no setting 'inner.nam'; did you mean 'name'?"),
        ("parts", {"a": {"share": "x"}}, "parts.a.share is 'x'; it takes a number"),
        ("epoch", 3, "there is no setting 'epoch'; did you mean 'epochs'?"),
        ("zzz", 3, "there is no setting 'zzz'; there are title, epochs, "),
    ],
)
def test_errors_name_the_field(key: str, value: object, told: str) -> None:
    with pytest.raises(SettingError) as caught:
        from_mapping(Plan, {"title": "x", key: value}, "my.toml")
    assert str(caught.value).startswith(f"my.toml: {told}")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, NestagError)


def test_missing_keys_and_wrong_types_are_refused() -> None:
    with pytest.raises(SettingError, match=r"my.toml: the key 'title' is missing"):
        from_mapping(Plan, {}, "my.toml")
    with pytest.raises(SettingError, match=r"my.toml: it is \[\]; it takes a table"):
        from_mapping(Plan, [], "my.toml")  # type: ignore[arg-type]


def test_text_is_parsed_by_field_type() -> None:
    texts = {
        "title": "3",
        "epochs": "5",
        "rate": "1e-3",
        "fast": "true",
        "pooling": "last",
        "limit": "none",
        "seeds": "1, 2",
        "shares": "0.5,1",
    }
    plan = changed(Plan(""), texts, "--set", text=True)
    assert plan == Plan("3", 5, 1e-3, True, "last", limit=None, seeds=(1, 2), shares=(0.5, 1.0))
    assert changed(plan, {"fast": "False", "shares": ""}, "--set", text=True).shares == ()
    for key, text in (("epochs", "x"), ("epochs", "0"), ("rate", "nan"), ("fast", "yes"), ("pooling", "max")):
        with pytest.raises(SettingError, match=f"--set: {key} is '{text}'; it takes"):
            changed(plan, {key: text}, "--set", text=True)


def test_changed_copy_leaves_the_original() -> None:
    plan = Plan("x")
    assert changed(plan, {"epochs": 9}, "train()") == Plan("x", 9)
    assert changed(plan, {"epochs": "9"}, "--set", text=True) == Plan("x", 9)
    assert plan == Plan("x")
    with pytest.raises(SettingError, match=r"train\(\): there is no setting 'epoch'"):
        changed(plan, {"epoch": 9}, "train()")


def test_settings_have_help_texts() -> None:
    epochs, rate, *_ = described(Plan)[0:2]
    assert epochs == ("epochs", "a whole number of at least 1 and of at most 100", 3, "passes over the corpus")
    assert rate == ("rate", "a number of at least 0", 0.1, "learning rate")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(GOOD)), VALUES)
def test_any_value_is_accepted_or_a_validation_error(key: str, value: object) -> None:
    try:
        plan = from_mapping(Plan, {"title": "x", key: value}, "a")
    except SettingError:
        return
    assert from_mapping(Plan, to_mapping(plan), "a") == plan
