"""The page in Chromium, driven by Selenium."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from capitals import Capitals
from nestag.formats import brat, jsonl
from nestag.inspect.rendering import colour_of

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="there is no Chromium here; apt-get install chromium chromium-driver"
)
SCRIPT = "<script>alert(1)</script> & <b>Bold</b>"
TEXT = f"The Head Of State met 😀 Ilse {SCRIPT} there. Then Utrecht slept."


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests; what it saves goes to `browser.saved`."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en"):
        options.add_argument(argument)
    saved = tmp_path_factory.mktemp("saved")
    options.add_experimental_option("prefs", {"download.default_directory": str(saved)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.saved = saved
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any, running: tuple[str, Capitals]) -> Iterator[Any]:
    """The page with a text that was tagged; nothing may have gone wrong in its scripts."""
    browser.set_window_size(1280, 900)
    browser.get(running[0])
    browser.get_log("browser")
    find(browser, TEXT)
    yield browser
    assert [entry for entry in browser.get_log("browser") if "status of 4" not in entry["message"]] == []


def at(page: Any, id: str) -> Any:
    return page.find_element(By.ID, id)


def wait(page: Any, ready: Any) -> Any:
    return WebDriverWait(page, 250, 0.02).until(lambda _: ready())


def find(page: Any, text: str) -> None:
    """Give the page a text and wait until it is drawn."""
    page.execute_script("document.getElementById('text').value = arguments[0]", text)
    at(page, "text").send_keys(Keys.CONTROL, Keys.ENTER)
    wait(page, lambda: at(page, "drawn").text and at(page, "find").text == "Find entities")


def boxes(page: Any) -> list[str]:
    """What the boxes on the page say of themselves."""
    shown = "[...document.querySelectorAll('#drawn .e:not(.off)')]"
    return list(page.execute_script(f"return {shown}.map((box) => box.getAttribute('aria-label'))"))


def test_nested_entities_are_drawn_and_text_is_escaped(page: Any) -> None:
    assert boxes(page)[:2] == [
        "RUN: The Head Of State, characters 0 to 17, confidence 0.95",
        "WORD: The, characters 0 to 3, confidence 0.30",
    ]
    nested = page.find_elements(By.CSS_SELECTOR, "#drawn .e .e")
    assert [box.text.split()[0] for box in nested[:4]] == ["The", "Head", "Of", "State"]
    assert SCRIPT in at(page, "drawn").get_property("textContent").replace(" WORD", "")
    assert page.find_elements(By.CSS_SELECTOR, "#drawn script, #drawn b b") == []
    assert at(page, "summary").text == f"{len(boxes(page))} of {len(boxes(page))} entities shown"


def test_pointing_and_arrow_keys_show_details(page: Any) -> None:
    webdriver.ActionChains(page).move_to_element(page.find_elements(By.CSS_SELECTOR, "#drawn .e")[2]).perform()
    assert at(page, "details").text == "WORD: Head, characters 4 to 8, confidence 0.40"
    page.find_element(By.CSS_SELECTOR, "#legend input").send_keys(Keys.TAB)
    page.switch_to.active_element.send_keys(Keys.TAB)
    assert at(page, "details").text == boxes(page)[0]
    page.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert at(page, "details").text == boxes(page)[1]
    page.switch_to.active_element.send_keys(Keys.END)
    assert at(page, "details").text == boxes(page)[-1]


def test_the_slider_and_the_legend_filter(page: Any) -> None:
    at(page, "threshold").send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * 50)
    assert at(page, "threshold-value").text == "0.50"
    assert all(float(label.rpartition(" ")[2]) >= 0.5 for label in boxes(page))
    kinds = {label.partition(":")[0] for label in boxes(page)}
    assert kinds == {"RUN", "WORD"}
    page.find_element(By.CSS_SELECTOR, "#legend input[value=WORD]").click()
    assert {label.partition(":")[0] for label in boxes(page)} == {"RUN"}


def test_the_tree_and_the_labels_are_shown_on_demand(page: Any) -> None:
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()
    wait(page, lambda: at(page, "labels").text)
    assert at(page, "labels").text.splitlines()[0] == "word abs rel dyn 4tg"
    tree = at(page, "tree").text.split()
    assert tree[:4] == ["S", "RUN", "WORD", "The"]
    at(page, "sentence").send_keys(Keys.ARROW_DOWN)
    wait(page, lambda: "Utrecht" in at(page, "labels").text)
    wait(page, lambda: at(page, "tree").text.split()[-3:] == ["Utrecht", "slept", "."])
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()


def test_crossing_entities_get_a_hint_in_place_of_a_tree(page: Any) -> None:
    page.execute_script("""
        const server = window.fetch;
        window.fetch = async (path, options) => {
            const answer = await server(path, options);
            if (path !== "/v1/entities") return answer;
            const body = await answer.json();
            const crossing = [[0, 7], [4, 13]];
            body.results[0].entities = crossing.map(([start, end]) => ({ start, end, type: "A", confidence: 1 }));
            return Response.json(body);
        };""")
    find(page, "One two three.")
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()
    wait(page, lambda: "cross" in at(page, "tree").text)
    assert (at(page, "labels").text, at(page, "problem").is_displayed()) == ("", False)
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()


def test_the_tree_is_drawn_above_its_words(page: Any) -> None:
    find(page, "Then Ilse Brandt slept.")
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()
    wait(page, lambda: "Brandt" in at(page, "tree").text)
    node, *_ = [box for box in page.find_elements(By.CSS_SELECTOR, "#tree b") if box.text == "RUN"]
    words = {word.text: word.rect for word in page.find_elements(By.CSS_SELECTOR, "#tree .word")}
    lowest = [rect["y"] + rect["height"] for rect in words.values()]
    assert max(lowest) - min(lowest) <= 1  # all on one line, but for rounding
    assert node.rect["y"] + node.rect["height"] < words["Ilse"]["y"] + words["Ilse"]["height"] - 10
    assert [*words] == sorted(words, key=lambda word: words[word]["x"]) == ["Then", "Ilse", "Brandt", "slept", "."]
    assert words["Ilse"]["x"] < node.rect["x"] + node.rect["width"] / 2 < words["slept"]["x"]
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_background_fills_the_window(page: Any, scheme: str) -> None:
    def schemed(value: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": value}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    schemed(scheme)
    elements = "[document.documentElement, document.body]"
    colours = page.execute_script(f"return {elements}.map((one) => getComputedStyle(one).backgroundColor)")
    assert colours == ["rgb(255, 255, 255)" if scheme == "light" else "rgb(13, 17, 23)"] * 2
    schemed("")


def saved(page: Any, form: str) -> Path:
    """A file that the page saved."""
    path: Path = page.saved / f"nestag.{form}"
    at(page, "form").find_element(By.CSS_SELECTOR, f"option[value={form}]").click()
    at(page, "download").click()
    wait(page, lambda: path.exists() and path.stat().st_size)  # it is there, empty, before it is written
    return path


def test_downloaded_files_can_be_read(page: Any) -> None:
    find(page, "The Head\nOf State met 😀 Ilse. Utrecht slept.")
    told = [(label.partition(":")[0], label.split("characters ")[1].split(",")[0]) for label in boxes(page)]
    record = json.loads(saved(page, "json").read_text(encoding="utf-8"))
    assert [(e["type"], f"{e['start']} to {e['end']}") for e in record["entities"]] == told
    sentences = list(jsonl.read(saved(page, "jsonl")))
    assert [sentence.tokens[-1] for sentence in sentences] == [".", "."]
    assert sum(len(sentence.entities) for sentence in sentences) == len(told)
    saved(page, "txt")
    from_brat = list(brat.FORMAT.read(saved(page, "ann")))
    assert [s.entities for s in from_brat] == [s.entities for s in sentences]


def test_errors_appear_and_disappear(page: Any) -> None:
    page.execute_script("document.getElementById('text').value = 'a'.repeat(60000)")
    at(page, "find").click()
    wait(page, lambda: at(page, "problem").is_displayed())
    assert "20,000 bytes" in at(page, "problem").text
    page.find_element(By.CSS_SELECTOR, "#examples button").click()
    wait(page, lambda: not at(page, "problem").is_displayed())
    wait(page, lambda: any(label.startswith("RUN: Ilse Brandt,") for label in boxes(page)))


def test_page_fits_a_phone(page: Any) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    )
    assert page.execute_script("return document.documentElement.scrollWidth <= 390")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_core_python.base").AXE_SCRIPT
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    for summary in page.find_elements(By.TAG_NAME, "summary"):
        summary.click()
    wait(page, lambda: at(page, "labels").text)
    page.execute_script(axe)
    found = page.execute_async_script("axe.run(document, arguments[0]).then(arguments[1])", RULES)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    hindrances = [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found["violations"]]
    assert (len(found["passes"]) > 15, hindrances) == (True, [])


def heard(page: Any) -> list[tuple[str, str]]:
    """Role and name of what a screen reader finds, in its order."""
    nodes = {node["nodeId"]: node for node in page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]}
    waiting, found = [next(iter(nodes))], []
    while waiting:
        node = nodes[waiting.pop()]
        waiting += reversed(node.get("childIds", []))
        if not node["ignored"]:
            found.append((node["role"]["value"], node.get("name", {}).get("value", "")))
    return found


def test_elements_have_roles_and_names(page: Any) -> None:
    tree = heard(page)
    for part in (
        ("main", ""),
        ("heading", "nestag"),
        ("heading", "Entities"),
        ("textbox", "Text"),
        ("button", "Find entities"),
        ("slider", "Minimum confidence"),
        ("group", "Types"),
        ("checkbox", f"RUN {sum(label.startswith('RUN:') for label in boxes(page))}"),
        ("region", "Entities"),
        ("combobox", "Save as"),
        ("button", "Download"),
    ):
        assert part in tree
    entities = [name for role, name in tree if role == "group" and ", characters " in name]
    assert entities == boxes(page)
    after = tree[tree.index(("group", entities[0])) :]
    assert after[1] == ("group", "WORD: The, characters 0 to 3, confidence 0.30")  # inside it, not after it
    text = "".join(name for role, name in tree if role == "StaticText")
    assert "WORD WORD" not in text  # the labels of boxes are in their names already
    assert ("status", "") in tree
    assert at(page, "said").get_property("textContent") == at(page, "summary").text


def test_docs_show_the_api(browser: Any, running: tuple[str, Capitals]) -> None:
    browser.get(f"{running[0]}/docs")
    browser.get_log("browser")
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#routes .card"))
    cards = {card.text.splitlines()[0]: card.text for card in browser.find_elements(By.CSS_SELECTOR, "#routes .card")}
    document = httpx.get(f"{running[0]}/openapi.json").json()
    assert list(cards) == [
        f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods
    ]
    entities = cards["POST /v1/entities"]
    assert "text string One text." in entities
    assert "threshold number, default 0" in entities
    assert "confidence number" in entities
    (body,) = re.findall(r"-d '(.*)'", entities)
    assert httpx.post(f"{running[0]}/v1/entities", json=json.loads(body)).status_code == 200
    assert browser.get_log("browser") == []


def test_examples_describe_what_they_show(page: Any) -> None:
    for button in page.find_elements(By.CSS_SELECTOR, "#examples button"):
        assert re.fullmatch(r"[A-Z][a-z ]+: .+", button.text)
        button.click()
        wait(page, lambda: at(page, "find").text == "Find entities")
        assert not at(page, "problem").is_displayed()
    assert "😀" in at(page, "drawn").text


def test_type_has_the_same_colour_everywhere(page: Any) -> None:
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "#tree b"))
    for kind in ("RUN", "WORD"):
        number = colour_of(kind)
        shown = page.find_elements(By.CSS_SELECTOR, f"#drawn .k{number}, #legend .k{number}, #tree .k{number}")
        assert {"RUN" if "RUN" in element.text else "WORD" for element in shown if element.text} >= {kind}
    at(page, "teaching").find_element(By.TAG_NAME, "summary").click()


def focused(page: Any) -> str:
    return str(page.execute_script("return document.activeElement.id || document.activeElement.className"))


def test_tab_order(page: Any) -> None:
    at(page, "text").click()
    order = [focused(page)]
    for _ in range(40):
        page.switch_to.active_element.send_keys(Keys.TAB)
        order.append(focused(page))
        if order[-1] == "download":
            break
    known = [name for name in order if name in ("text", "find", "threshold", "form", "copy", "download")]
    assert known == ["text", "find", "threshold", "form", "copy", "download"]
    assert sum(name.startswith("e k") for name in order) == 1  # one stop for all boxes; arrows go on
    at(page, "find").send_keys(Keys.ENTER)
    wait(page, lambda: at(page, "find").text == "Find entities")
    assert focused(page) == "find"
