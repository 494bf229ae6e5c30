"""Calibration: bins of confidences, and both errors."""

import pytest

from nestag.evaluation.thresholds import Bin, Calibration, Candidate, calibration


def test_confidences_are_binned_in_tenths() -> None:
    found = calibration(Candidate("", confidence, True) for confidence in (0.0, 0.05, 0.1, 0.19, 0.5, 0.95, 1.0))
    assert [one.entities for one in found.bins] == [2, 2, 0, 0, 0, 1, 0, 0, 0, 2]
    assert found.entities == 7


def test_calibration_errors_follow_their_definitions() -> None:
    found = calibration(
        [Candidate("", 0.9, True), Candidate("", 0.95, False), Candidate("", 0.2, True), Candidate("", 0.25, False)]
    )
    assert found.bins[9] == pytest.approx((2, 1, 1.85))
    assert (found.bins[9].mean, found.bins[9].share) == pytest.approx((0.925, 0.5))
    assert found.error == pytest.approx((2 * (0.925 - 0.5) + 2 * (0.5 - 0.225)) / 4)
    assert found.brier == pytest.approx((0.1**2 + 0.95**2 + 0.8**2 + 0.25**2) / 4)


def test_calibration_of_nothing_is_zero() -> None:
    found = calibration([])
    assert (found.entities, found.error, found.brier) == (0, 0, 0)
    assert set(found.bins) == {Bin(0, 0, 0.0)}
    assert (Bin().mean, Bin().share) == (0, 0)
    assert calibration([Candidate("", 0.5, True)]).error == 0.5


def test_calibration_error_does_not_depend_on_the_python_version() -> None:
    """The built-in sum of ten tenths is less than 1 before Python 3.12."""
    assert Calibration((Bin(1, 0, 0.1),) * 10, 0.0).error == 0.1
