"""Nested entities as HTML: one way of drawing them for notebooks, reports and pages. The terminal has its own."""

from nestag.rendering.boxes import COLOURS, Mark, boxes, colours_of
from nestag.rendering.drawing import Drawing, render, sentence_html, style
from nestag.rendering.html import Html, harmless

__all__ = [
    "COLOURS",
    "Drawing",
    "Html",
    "Mark",
    "boxes",
    "colours_of",
    "harmless",
    "render",
    "sentence_html",
    "style",
]
