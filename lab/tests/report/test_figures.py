"""Every figure, for one run, for many, and without data."""

from base64 import b64decode
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import pytest

from finished_runs import evaluation, grid, percent, result, whole
from nestag.evaluation.thresholds import Candidate, calibration
from nestag.inspect.plotting import drawing
from nestag.inspect.tables import over_seeds
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.figures import scores, training
from nestag_lab.report.gallery import TOPICS, Plate, gallery
from nestag_lab.report.groups import Method, best_way, setups, title_of

SVG_TEXT = "{http://www.w3.org/2000/svg}text"
NAMES = [topic.name for topic in TOPICS]


@pytest.fixture(scope="module")
def plates() -> list[Plate]:
    return gallery([whole()], "test")


def test_one_run_gives_every_figure_in_both_formats(plates: list[Plate]) -> None:
    assert [plate.topic.name for plate in plates] == NAMES
    files = [name for plate in plates for name in plate.files]
    assert files == [f"{name}-genia.{end}" for name in NAMES for end in ("svg", "png")]
    assert all(plate.files[name].startswith(b"\x89PNG") for plate in plates for name in plate.files if "png" in name)


@pytest.mark.slow
def test_grid_of_48_runs_gives_every_figure() -> None:
    runs = grid(corpora=2, seeds=6)
    assert len(runs) == 48
    plates = gallery(runs, "test", png=False)
    assert [plate.topic.name for plate in plates] == [name for name in NAMES for _ in range(2)]
    assert [plate.title for plate in plates[:2]] == ["corpus0", "corpus1"]
    for plate in plates:
        ElementTree.fromstring(b64decode(plate.image))


def test_missing_measurements_are_not_drawn() -> None:
    bare = result(test={})
    assert gallery([bare], "test") == []
    scored = result(test={"greedy-first": evaluation(percent(75))})
    assert [plate.topic.name for plate in gallery([scored], "test", png=False)] == ["f1", "depth", "length", "kinds"]
    assert gallery([scored], "dev") == []
    assert gallery([replace(bare, calibration={"test": calibration([])})], "test") == []


@pytest.mark.parametrize(("values", "low", "high"), [((0, 0), 0, 0.5), ((100, 90), 86, 101)])
def test_scores_are_drawn_on_a_scale_of_percent(values: tuple[int, int], low: float, high: float) -> None:
    with drawing():
        axes = scores.draw_f1(runs_of(*values), "test").axes[0]
    assert axes.get_ylim() == pytest.approx((low, high), abs=1)
    assert all(0 <= tick <= 100 for tick in axes.get_yticks() if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1])


def test_zero_mistakes_are_empty_bars() -> None:
    with drawing():
        axes = scores.draw_kinds([result(test={"greedy-first": evaluation(percent(100))})], "test").axes[0]
    assert axes.get_xlim()[0] == 0
    assert axes.get_xlim()[1] >= 1
    assert {text.get_text() for text in axes.texts} == {""}


def test_setups_with_equal_file_names_get_different_files() -> None:
    runs = [result("a b", f1=70), result("a-b", f1=71)]
    names = [name for plate in gallery(runs, "test", png=False) for name in plate.files]
    assert names[:2] == ["f1-a-b.svg", "f1-a-b-2.svg"]
    assert len(set(names)) == len(names)


def test_markup_in_names_is_drawn_literally() -> None:
    encodings = {"$x_1$ <b>&", "中文"}  # no font has 中文, and none warns
    plate = gallery([result(encoding=name) for name in encodings], "test")[0]
    texts = {element.text for element in ElementTree.fromstring(plate.files["f1-genia.svg"]).iter(SVG_TEXT)}
    assert encodings <= texts


def test_figure_has_svg_and_description(plates: list[Plate]) -> None:
    assert b64decode(plates[0].image) == plates[0].files["f1-genia.svg"]
    assert plates[0].words.startswith("Mean F1 on test ± deviation over seeds: rel greedy-first 8")


def runs_of(*scores: float) -> list[RunResult]:
    return [result(seed=seed, f1=score) for seed, score in enumerate(scores, 1)]


def test_best_setup_has_the_highest_mean() -> None:
    runs = [*runs_of(70, 74, 78.5), result(encoding="4tg", f1=74.2)]
    assert best_way(runs, "test") == Method("4tg", "greedy-first")
    assert best_way(runs, "dev") is None


def test_descriptions_have_means_and_deviations() -> None:
    words = scores.f1_words(runs_of(70, 72), "test")
    assert words == "Mean F1 on test ± deviation over seeds: abs greedy-first 71.00 ± 1.41."
    one = over_seeds([70.0])
    assert one is not None
    assert one.deviation is None


def test_groups_of_a_breakdown_do_not_overlap() -> None:
    for breakdown in (scores.DEPTH, scores.LENGTH):
        for number in range(1, 30):
            holding = [g for g in breakdown.groups if g.least <= number and (g.most is None or number <= g.most)]
            assert len(holding) == 1


def test_calibrations_of_seeds_add_up() -> None:
    rated = [
        Candidate("", 0.1, False),
        Candidate("", 0.95, True),
        Candidate("", 0.93, False),
        Candidate("", 0.55, True),
    ]
    both = training.together([calibration(rated[:1]), calibration(rated[1:])])
    assert both.bins == calibration(rated).bins
    assert both.brier == pytest.approx(calibration(rated).brier)


def test_setups_are_named_by_their_differences() -> None:
    alone = setups([whole("a"), whole("b")])
    assert [title_of(setup, alone) for setup in alone] == ["a", "b"]
    several = setups([whole("a"), whole("a", recipe="paper")])
    assert [title_of(setup, several) for setup in several] == ["a · default", "a · paper"]


def test_figures_do_not_depend_on_user_settings() -> None:
    before = gallery([result()], "test")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert gallery([result()], "test") == before
        assert matplotlib.rcParams["font.size"] == 30
