"""A figure inside a page: the SVG of matplotlib with the page's colours and letters, and words for those who listen.

Colours become the page's variables, so that light and dark pages both suit; names get the figure's own beginning, so
that two figures on one page do not mix; the size is left to the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from defusedxml.ElementTree import fromstring

from nestag.errors import visible
from nestag.inspect.plotting import COLOURS
from nestag_lab.report.figures.look import INK, LINE, PAPER

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
DROPPED = ("metadata", "style")
"""What would count for the whole page, or for nobody."""

VARIABLES = {
    INK: "currentColor",
    PAPER: "var(--paper)",
    LINE: "var(--line)",
    **{colour: f"var(--colour-{place})" for place, colour in enumerate(COLOURS, 1)},
}
_FAMILY = re.compile(r"font-family:[^;]*(; )?")
_SHORT = re.compile(r"font: [^;]*?([\d.]+px)[^;]*")  # matplotlib before 3.11 writes size and family together
_FINE = re.compile(r"-?\d+\.\d{3,}")
_UPRIGHT = re.compile(r"rotate\(-?0 [^)]*\)")


def inline(svg: bytes, name: str, title: str, words: str) -> str:
    """The figure as an element of an HTML page."""
    root = fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        for child in [child for child in element if child.tag.removeprefix(SVG) in DROPPED]:
            element.remove(child)
        element.attrib = dict(_attributes(element, name))
        if element.tag != "text":
            element.text = element.tail = None
        element.tail = None
    view = root.get("viewBox", "")
    root.attrib = {"viewBox": view, "class": "figure", "role": "img", "aria-labelledby": f"{name}-title {name}-words"}
    root.insert(0, _text("title", f"{name}-title", title))
    root.insert(1, _text("desc", f"{name}-words", words))
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(element: ElementTree.Element, name: str) -> Iterator[tuple[str, str]]:
    """Those that the page needs; names of parts, and what points at them, begin with the figure's name."""
    for key, value in element.attrib.items():
        if key == "id":
            if element.tag != "g":  # nothing points at groups
                yield key, f"{name}-{value}"
        elif key == LINK:
            yield "href", f"#{name}-{value[1:]}"
        elif key == "clip-path":
            yield key, value.replace("url(#", f"url(#{name}-")
        elif key == "style":
            yield key, _coloured(value)
        elif key != "transform" or not _UPRIGHT.fullmatch(value):
            yield key, " ".join(_FINE.sub(_rounded, value).split())


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def _coloured(style: str) -> str:
    """A style in the page's own colours and letters."""
    for colour, variable in VARIABLES.items():
        style = style.replace(colour, variable)
    return _SHORT.sub(r"font-size: \1", _FAMILY.sub("", style))


def _text(tag: str, name: str, text: str) -> ElementTree.Element:
    element = ElementTree.Element(tag, {"id": name})
    element.text = visible(text)
    return element
