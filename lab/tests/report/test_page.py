"""The page: nothing is loaded from outside, nothing in it is obeyed, and whatever is missing is said."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from finished_runs import evaluation, percent, result
from nestag.data.sentence import Entity
from nestag.evaluation.result import Shown
from nestag_lab.experiment.result import RunResult
from nestag_lab.paper.pages import Pages, pages_of
from nestag_lab.report.browse import cases
from nestag_lab.report.groups import setups
from nestag_lab.report.page import ReportPage, Times, choices, facts, made
from whole_runs import WORDS, grid, whole

EVIL = ("<script>alert(1)</script>", '"onmouseover="alert(1)', "</style><img src=x>", "{{ 7 * 7 }}", "'-->", "a\ud800")
WHEN = Times(datetime(2026, 5, 1, 9, 30, tzinfo=UTC), datetime(2026, 5, 1, 11, 0, tzinfo=UTC))


class Read(HTMLParser):
    """All elements with their attributes, and the text of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.last = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        self.last = tag

    def handle_data(self, text: str) -> None:
        self.texts.setdefault(self.last, []).append(text)

    def values(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]


def made_of(results: list[RunResult], split: str = "test", pages: Pages | None = None) -> ReportPage:
    return made("trial", results, pages or pages_of(results, {}, split), split, WHEN, png=False)


@pytest.fixture(scope="module")
def page() -> str:
    return made_of(grid(corpora=1, seeds=2)).page


def test_nothing_is_loaded_from_outside(page: str) -> None:
    read = Read(page)
    assert "://" not in page
    assert {tag for tag, _ in read.elements}.isdisjoint({"iframe", "object", "embed", "base", "audio", "video"})
    assert all(source.startswith("data:image/svg+xml;base64,") for source in read.values("src"))
    assert all(link.startswith("#") or link == "data:," for link in read.values("href"))
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest", page)


def test_every_link_and_label_has_its_target_and_names_are_unique(page: str) -> None:
    read = Read(page)
    ids = read.values("id")
    assert len(set(ids)) == len(ids)
    wanted = [link[1:] for link in read.values("href") if link.startswith("#")]
    wanted += [name for value in read.values("aria-labelledby") for name in value.split()]
    wanted += re.findall(r"url\(#([^)]*)\)", page)
    assert set(wanted) <= set(ids)


def test_a_reader_who_listens_finds_words_for_pictures_tables_and_choices(page: str) -> None:
    read = Read(page)
    figures = [attributes for tag, attributes in read.elements if tag == "img"]
    assert len(figures) == 7
    assert all(figure.get("alt") for figure in figures)
    assert all(attributes.get("scope") for tag, attributes in read.elements if tag == "th")
    tables = [tag for tag, _ in read.elements if tag == "table"]
    captions = [tag for tag, _ in read.elements if tag == "caption"]
    assert len(tables) == len(captions) > 5
    tags = [tag for tag, _ in read.elements]
    assert tags.count("label") == tags.count("select")
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_are_exactly_those_of_the_paper(page: str) -> None:
    titles = [one.table.title for one in pages_of(grid(corpora=1, seeds=2), {}).pages]
    assert Read(page).texts["caption"] == [text for title in titles for text in (title, "\n")]


def evil_run() -> RunResult:
    bad = Shown(EVIL[0], EVIL, (Entity(0, 2, EVIL[1]),), (Entity(1, 3, EVIL[2]), Entity(3, 4, EVIL[5])))
    run = whole()
    found = run.evaluations["test"]["constrained"]
    worse = replace(
        found, mistakes=replace(found.mistakes, worst=(bad,)), types={EVIL[0]: found.overall, EVIL[3]: found.overall}
    )
    return replace(run, evaluations={"test": {"constrained": worse}}, device=EVIL[1], versions={EVIL[0]: EVIL[2]})


def test_hostile_names_and_words_are_shown_not_obeyed(page: str) -> None:
    report = made("<h1>&" + EVIL[1], [evil_run()], pages_of([evil_run()], {}), "test", WHEN, png=False)
    read, plain = Read(report.page), Read(page)
    report.page.encode()  # nothing that UTF-8 cannot hold
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in plain.elements}
    assert {name for _, one in read.elements for name in one} <= {name for _, one in plain.elements for name in one}
    assert read.texts["script"] == plain.texts["script"]
    assert EVIL[3] in report.page
    assert "<script>alert" not in report.page
    (types,) = read.values("data-types")
    assert '"onmouseover=' in types


def test_the_summary_says_what_was_run() -> None:
    runs = grid(corpora=2, seeds=3)
    found = {fact.name: fact.text for fact in facts(runs, WHEN)}
    assert found == {
        "runs": "24",
        "corpora": "corpus0, corpus1",
        "encoders": "minilm (23M parameters)",
        "encodings": "abs, rel, dyn, 4tg",
        "decodings": "greedy-first, constrained",
        "recipes": "default",
        "seeds": "1, 2, 3",
        "trained on": "one CPU",
        "training time": "24 min 0 s in all",
        "versions": "nestag 1.0, torch 2.7.1",
        "finished": "2026-05-01 09:30 to 2026-05-01 11:00 UTC",
    }


def test_what_is_missing_is_said() -> None:
    pages = Pages((), ("no result: genia minilm rel default, seed 3",))
    bare = made_of([result(test={"greedy-first": evaluation(percent(75))})], pages=pages).page
    assert "no result: genia minilm rel default, seed 3" in bare
    assert 'id="tables"' not in bare
    assert 'id="mistakes"' not in bare
    assert 'id="confusion"' not in bare


def test_a_run_without_any_evaluation_still_gives_a_page() -> None:
    empty = made_of([result(test={})], pages=Pages((), ()))
    assert "<h1>trial</h1>" in empty.page
    assert empty.figures == {}


def test_equal_input_gives_equal_bytes_in_whatever_order(page: str) -> None:
    runs = grid(corpora=1, seeds=2)
    assert made_of(runs[::-1], pages=pages_of(runs, {})).page == page


def test_dev_can_be_shown() -> None:
    assert "The best mean F1 on dev" in made_of([result(dev={"constrained": evaluation(percent(75))})], "dev").page


def test_mistakes_are_of_the_typical_run_and_lists_are_closed_without_scripts(page: str) -> None:
    found = cases([whole(seed=1), whole(seed=2), whole(seed=3)])
    assert [(case.split, case.way.decoding, case.seed) for case in found] == [
        ("test", "greedy-first", 2),
        ("test", "constrained", 2),
        ("dev", "greedy-first", 2),
        ("dev", "constrained", 2),
    ]
    assert [len(case.sentences) for case in found] == [case.kept for case in found] == [5, 4, 5, 4]
    assert found[0].whole == 10
    assert '<form class="choose" hidden>' in page
    assert page.count('<article class="sentence nestag"') == sum(
        len(case.sentences) for case in cases(grid(corpora=1, seeds=2))
    )


def test_what_does_not_fit_is_left_out_from_the_least_bad_on_and_said() -> None:
    run = whole()
    everything = cases([run])
    room = sum(len(case.sentences[0].encode()) for case in everything)
    few = cases([run], room)
    assert [case.sentences for case in few] == [case.sentences[:1] for case in everything]
    assert [len(case.sentences) for case in cases([run], room - 1)] == [0, 0, 0, 0]


def test_a_page_of_a_large_grid_stays_small() -> None:
    many = tuple(
        Shown(str(number), WORDS * 5, (Entity(0, 60, "PER"),), (Entity(1, 60, "PER"),)) for number in range(50)
    )
    runs = []
    for run in grid(corpora=1, seeds=1):
        worse = {
            way: replace(found, mistakes=replace(found.mistakes, worst=many))
            for way, found in run.evaluations["test"].items()
        }
        runs += [
            replace(run, key=run.key._replace(corpus=f"c{number}"), evaluations={"test": worse, "dev": worse})
            for number in range(12)
        ]
    found = cases(runs)
    assert len(runs) == 48
    assert len(found) == 192
    assert sum(len(text.encode()) for case in found for text in case.sentences) < 3 * 2**20
    assert {len(case.sentences) for case in found} < {50} | set(range(5, 50))


def test_the_page_opens_on_the_best_of_the_first_corpus() -> None:
    better = whole(encoding="dyn", seed=5)  # fewer mistakes than the others: see whole()
    worse = whole(encoding="abs", seed=4)
    runs = [worse, better]
    best = max(runs, key=lambda run: run.evaluations["test"]["constrained"].overall.f1)
    found = {choice.key: choice.chosen for choice in choices(runs, cases(runs), list(setups(runs)), "test")}
    assert found == {"setup": "genia", "encoding": best.key.encoding, "decoding": "constrained", "split": "test"}
