"""Every figure, from one run and from many, and what happens when there is nothing to draw."""

import sys
from base64 import b64decode
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finished_runs import evaluation, percent, result
from nestag.errors import MissingExtraError
from nestag.evaluation.result import Confused, OverSeeds
from nestag.evaluation.thresholds import Rated, calibration
from nestag.inspect.plotting import drawing
from nestag.inspect.tables import NOTHING
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures import mistakes, scores, training
from nestag_lab.report.gallery import TOPICS, Plate, gallery
from nestag_lab.report.groups import Method, best_way, setups, title_of, typical
from whole_runs import grid, judged, whole

SVG_TEXT = "{http://www.w3.org/2000/svg}text"
NAMES = [topic.name for topic in TOPICS]


@pytest.fixture(scope="module")
def plates() -> list[Plate]:
    return gallery([whole()], "test")


def test_one_run_gives_every_picture_in_both_forms(plates: list[Plate]) -> None:
    assert [plate.topic.name for plate in plates] == NAMES
    files = [name for plate in plates for name in plate.files]
    assert files == [f"{name}-genia.{end}" for name in NAMES for end in ("svg", "png")]
    assert all(plate.files[name].startswith(b"\x89PNG") for plate in plates for name in plate.files if "png" in name)


@pytest.mark.slow
def test_a_grid_of_48_runs_gives_every_picture_of_every_corpus() -> None:
    runs = grid(corpora=2, seeds=6)
    assert len(runs) == 48
    plates = gallery(runs, "test", png=False)
    assert [plate.topic.name for plate in plates] == [name for name in NAMES for _ in range(2)]
    assert [plate.title for plate in plates[:2]] == ["corpus0", "corpus1"]
    for plate in plates:
        ElementTree.fromstring(b64decode(plate.image))


def test_what_was_not_measured_is_not_drawn() -> None:
    bare = result(test={})
    assert gallery([bare], "test") == []
    scored = result(test={"greedy-first": evaluation(percent(75))})
    assert [plate.topic.name for plate in gallery([scored], "test", png=False)] == ["f1", "depth", "length", "kinds"]
    assert gallery([scored], "dev") == []
    nothing = replace(bare, calibration={"test": calibration([])})
    assert gallery([nothing], "test") == []


def test_scores_of_zero_are_drawn_on_a_scale_of_percent() -> None:
    with drawing():
        axes = scores.draw_f1([result(f1=0), result(seed=2, f1=0)], "test").axes[0]
    low, high = axes.get_ylim()
    assert -0.1 < low <= 0 < 0.5 <= high
    assert all(tick >= 0 for tick in axes.get_yticks() if low <= tick <= high)


def test_there_is_no_percentage_above_100() -> None:
    with drawing():
        axes = scores.draw_f1([result(f1=100), result(seed=2, f1=90)], "test").axes[0]
    low, high = axes.get_ylim()
    assert 100 < high < 102
    assert all(tick <= 100 for tick in axes.get_yticks() if low <= tick <= high)


def test_no_mistakes_are_bars_of_no_length() -> None:
    with drawing():
        axes = mistakes.draw_kinds([result(test={"greedy-first": evaluation(percent(100))})], "test").axes[0]
    assert axes.get_xlim()[0] == 0
    assert axes.get_xlim()[1] >= 1
    assert {text.get_text() for text in axes.texts} == {""}


def test_setups_with_the_same_name_for_files_do_not_share_a_file() -> None:
    runs = [result("a b", f1=70), result("a-b", f1=71)]
    names = [name for plate in gallery(runs, "test", png=False) for name in plate.files]
    assert names[:2] == ["f1-a-b.svg", "f1-a-b-2.svg"]
    assert len(set(names)) == len(names)


def test_names_that_libraries_would_obey_are_drawn_as_they_are() -> None:
    counts = [Confused("$x_1$ <b>&", "a\x07b", 3), Confused("中文", "$x_1$ <b>&", 1)]
    found = judged(3)
    worse = replace(found, mistakes=replace(found.mistakes, confusion=tuple(counts)))
    plates = gallery([result(encoding="rel", test={"constrained": worse})], "test")  # no font has 中文, and none warns
    matrix = next(plate for plate in plates if plate.topic.name == "confusion")
    texts = [element.text for element in ElementTree.fromstring(matrix.files["confusion-genia.svg"]).iter(SVG_TEXT)]
    assert {"$x_1$ <b>&", "a␇b", "中文"} <= set(texts)
    assert matrix.title == "genia: rel, constrained decoding, seed 1, test"


def test_a_plate_has_its_svg_and_words(plates: list[Plate]) -> None:
    assert b64decode(plates[0].image) == plates[0].files["f1-genia.svg"]
    assert plates[0].words.startswith("Mean F1 on test ± deviation over seeds: rel greedy-first 8")


types = st.sampled_from("ABCDEFGHIJKLMNOPQ")


@given(st.lists(st.builds(Confused, st.none() | types, types, st.integers(1, 9))), st.integers(1, 14))
def test_the_matrix_loses_no_count_however_many_types_are_joined(counts: list[Confused], most: int) -> None:
    found = mistakes.matrix(counts, most)
    assert sum(map(sum, found.counts)) == sum(one.times for one in counts)
    assert sum(found.counts[-1]) == sum(one.times for one in counts if one.gold is None)
    own = found.names[:-1] if not found.joined else found.names[:-2]
    for row, name in enumerate(own):
        assert sum(found.counts[row]) == sum(one.times for one in counts if one.gold == name)
    seen = {kind for one in counts for kind in one[:2] if kind}
    assert len(own) + found.joined == len(seen)
    assert len(found.names) <= most + 1
    assert found.names[-1] == NOTHING


def test_types_are_joined_from_the_rarest() -> None:
    counts = [Confused(kind, kind, 20 - place) for place, kind in enumerate("ABCDEFGHIJKLMN")]
    assert mistakes.matrix(counts).names == (*"ABCDEFGHIJK", "3 others", NOTHING)
    assert mistakes.matrix(counts[:12]).names == (*"ABCDEFGHIJKL", NOTHING)


def runs_of(*scores: float) -> list[RunResult]:
    return [result(seed=seed, f1=score) for seed, score in enumerate(scores, 1)]


def test_the_typical_run_is_the_closest_to_the_mean_and_the_best_way_has_the_highest() -> None:
    runs = [*runs_of(70, 74, 78.5), result(encoding="4tg", f1=74.2)]
    found = typical(runs, "test", Method("abs", "greedy-first"))
    assert found is not None
    assert found.key.seed == 2
    assert best_way(runs, "test") == Method("4tg", "greedy-first")
    assert best_way(runs, "dev") is None
    assert typical(runs, "test", Method("abs", "constrained")) is None


def test_words_say_means_and_deviations() -> None:
    words = scores.f1_words(runs_of(70, 72), "test")
    assert words == "Mean F1 on test ± deviation over seeds: abs greedy-first 71.00 ± 1.41."
    assert OverSeeds((70.0,)).deviation is None


def test_groups_of_a_breakdown_do_not_overlap() -> None:
    for breakdown in (scores.DEPTH, scores.LENGTH):
        for number in range(1, 30):
            holding = [g for g in breakdown.groups if g.least <= number and (g.most is None or number <= g.most)]
            assert len(holding) == 1


def test_calibrations_of_seeds_add_up() -> None:
    rated = [Rated(0.1, False), Rated(0.95, True), Rated(0.93, False), Rated(0.55, True)]
    both = training.together([calibration(rated[:1]), calibration(rated[1:])])
    assert both.bins == calibration(rated).bins
    assert both.brier == pytest.approx(calibration(rated).brier)


def test_setups_are_called_by_what_tells_them_apart() -> None:
    alone = setups([whole("a"), whole("b")])
    assert [title_of(setup, alone) for setup in alone] == ["a", "b"]
    several = setups([whole("a"), whole("a", recipe="paper")])
    assert [title_of(setup, several) for setup in several] == ["a · default", "a · paper"]


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"nestag\[report\]"), drawing(extra="report"):
        pass


def test_the_same_bytes_again_whatever_a_persons_own_settings_are() -> None:
    before = gallery([result()], "test")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert gallery([result()], "test") == before
        assert matplotlib.rcParams["font.size"] == 30
