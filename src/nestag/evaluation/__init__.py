"""Scores of predictions: strict, in all and in parts, with intervals, mistakes and significance."""

from nestag.evaluation.score import Score, by_type, macro, score, spread, total

__all__ = ["Score", "by_type", "macro", "score", "spread", "total"]
