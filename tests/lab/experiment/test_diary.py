"""The diary of a run that is resumed."""

import json
from pathlib import Path

import pytest

from nestag.errors import InputError
from nestag.evaluation.score import Score
from nestag.lab.experiment.diary import DIARY, Diary

FIRST, SECOND, OTHER = Score.of(1, 2, 3), Score.of(2, 2, 3), Score.of(3, 3, 3)


def test_epochs_are_written_as_they_come(tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    assert not diary.see(0.9, [])
    assert diary.see(0.8, [FIRST])
    assert not diary.see(0.7, [FIRST])
    assert diary.see(0.6, [FIRST, SECOND])
    again = Diary(tmp_path)
    assert again.entries == diary.entries
    assert [(epoch.loss, epoch.dev) for epoch in again.epochs] == [(0.8, FIRST), (0.6, SECOND)]
    assert 0 < again.entries[0].seconds <= again.entries[1].seconds <= again.elapsed


def test_epochs_after_the_checkpoint_are_forgotten(tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    diary.see(0.8, [FIRST])
    diary.see(0.6, [FIRST, SECOND])
    again = Diary(tmp_path)  # killed before the checkpoint of the second epoch was whole
    again.see(0.5, [FIRST])
    assert again.seconds == diary.entries[0].seconds
    again.see(0.4, [FIRST, OTHER])
    assert [(epoch.loss, epoch.dev) for epoch in again.epochs] == [(0.8, FIRST), (0.4, OTHER)]


def test_an_epoch_that_ends_before_a_loss_is_told_has_the_last_one(tmp_path: Path) -> None:
    diary = Diary(tmp_path)
    diary.see(0.8, [])
    diary.save()  # stopped near the end of the first epoch
    again = Diary(tmp_path)
    assert again.seconds > 0
    again.see(0.0, [])
    again.see(0.0, [FIRST])
    assert again.epochs[0].loss == 0.8


def test_a_broken_diary_is_refused(tmp_path: Path) -> None:
    (tmp_path / DIARY).write_text(json.dumps({"epochs": 3}))
    with pytest.raises(InputError, match="delete its folder to begin anew"):
        Diary(tmp_path)
