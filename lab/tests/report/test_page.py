"""The page loads nothing, escapes everything, and reports missing parts."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from finished_runs import evaluation, grid, percent, result, whole
from nestag_lab.experiment.result import RunResult
from nestag_lab.paper.pages import Pages, pages_of
from nestag_lab.report.page import ReportPage, facts, made

EVIL = ("<script>alert(1)</script>", '"onmouseover="alert(1)', "</style><img src=x>", "{{ 7 * 7 }}", "'-->", "a\ud800")


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
    return made("trial", results, pages or pages_of(results, {}, split), split, png=False)


@pytest.fixture(scope="module")
def page() -> str:
    return made_of(grid(corpora=1, seeds=2)).page


def test_page_loads_nothing_from_outside(page: str) -> None:
    read = Read(page)
    assert "://" not in page
    assert {tag for tag, _ in read.elements}.isdisjoint({"iframe", "object", "embed", "base", "audio", "video"})
    assert all(source.startswith("data:image/svg+xml;base64,") for source in read.values("src"))
    assert all(link.startswith("#") or link == "data:," for link in read.values("href"))
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest", page)


def test_links_and_labels_have_unique_targets(page: str) -> None:
    read = Read(page)
    ids = read.values("id")
    assert len(set(ids)) == len(ids)
    wanted = [link[1:] for link in read.values("href") if link.startswith("#")]
    wanted += [name for value in read.values("aria-labelledby") for name in value.split()]
    wanted += re.findall(r"url\(#([^)]*)\)", page)
    assert set(wanted) <= set(ids)


def test_screen_readers_get_descriptions(page: str) -> None:
    read = Read(page)
    figures = [attributes for tag, attributes in read.elements if tag == "img"]
    assert len(figures) == 6
    assert all(figure.get("alt") for figure in figures)
    assert all(attributes.get("scope") for tag, attributes in read.elements if tag == "th")
    tables = [tag for tag, _ in read.elements if tag == "table"]
    captions = [tag for tag, _ in read.elements if tag == "caption"]
    assert len(tables) == len(captions) > 5
    tags = [tag for tag, _ in read.elements]
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_page_has_the_tables_of_the_paper(page: str) -> None:
    titles = [one.table.title for one in pages_of(grid(corpora=1, seeds=2), {}).pages]
    assert Read(page).texts["caption"] == [text for title in titles for text in (title, "\n")]


def evil_run() -> RunResult:
    run = whole()
    found = run.evaluations["test"]["constrained"]
    named = {"test": {"constrained": replace(found, types={EVIL[0]: found.overall, EVIL[5]: found.overall})}}
    key = run.key._replace(recipe=EVIL[3])
    return replace(run, key=key, evaluations=named, device=EVIL[1], versions={EVIL[0]: EVIL[2]})


def test_hostile_names_are_escaped(page: str) -> None:
    report = made("<h1>&" + EVIL[1], [evil_run()], pages_of([evil_run()], {}), "test", png=False)
    read, plain = Read(report.page), Read(page)
    report.page.encode()  # nothing that UTF-8 cannot hold
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in plain.elements}
    assert {name for _, one in read.elements for name in one} <= {name for _, one in plain.elements for name in one}
    assert EVIL[3] in report.page
    assert "<script" not in report.page


def test_summary_lists_the_runs() -> None:
    runs = grid(corpora=2, seeds=3)
    found = {fact.name: fact.text for fact in facts(runs)}
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
    }


def test_missing_parts_are_reported() -> None:
    pages = Pages((), ("no result: genia minilm rel default, seed 3",))
    bare = made_of([result(test={"greedy-first": evaluation(percent(75))})], pages=pages).page
    assert "no result: genia minilm rel default, seed 3" in bare
    assert 'id="tables"' not in bare
    assert 'id="calibration"' not in bare


def test_run_without_evaluation_has_a_page() -> None:
    empty = made_of([result(test={})], pages=Pages((), ()))
    assert "<h1>trial</h1>" in empty.page
    assert empty.figures == {}


def test_page_does_not_depend_on_the_order_of_runs(page: str) -> None:
    runs = grid(corpora=1, seeds=2)
    assert made_of(runs[::-1], pages=pages_of(runs, {})).page == page


def test_dev_can_be_shown() -> None:
    assert "The best mean F1 on dev" in made_of([result(dev={"constrained": evaluation(percent(75))})], "dev").page
