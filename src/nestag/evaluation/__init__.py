"""Scores of predictions: strict, in all and in parts, with intervals, mistakes and significance.

found = evaluate(matched(gold, recognizer.predict_stream(gold)))
found.overall.f1, found.intervals["all"].f1, found.figures()["depth ≥ 1"].recall
"""

from nestag.evaluation.judge import Judge, evaluate
from nestag.evaluation.matching import Pair, matched
from nestag.evaluation.result import Evaluation
from nestag.evaluation.score import Score, by_type, macro, score, spread, total
from nestag.evaluation.significance import compare

__all__ = [
    "Evaluation",
    "Judge",
    "Pair",
    "Score",
    "by_type",
    "compare",
    "evaluate",
    "macro",
    "matched",
    "score",
    "spread",
    "total",
]
