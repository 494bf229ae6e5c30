from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from nestag.errors import UnknownNameError
from nestag.model.encoders import locate, longest_window


@pytest.mark.parametrize(
    ("positions", "longest"),
    [(512, 512), (514, 512), (1026, 1024), (4098, 4096), (8192, 8192), (66, 66), (None, 10_000), (0, 10_000)],
)
def test_longest_window_of_an_encoder(positions: int | None, longest: int) -> None:
    config = SimpleNamespace(max_position_embeddings=positions)
    assert longest_window(config, 10_000) == longest  # RoBERTa numbers its positions from 2
    assert longest_window(config, 50) == 50
    assert longest_window(SimpleNamespace(), 512) == 512


def test_folder_without_an_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"holds no encoder; it needs config\.json"):
        locate(str(tmp_path))
    with pytest.raises(UnknownNameError, match="there is no folder"):
        locate(str(tmp_path / "nothing"))
    (tmp_path / "config.json").write_text("{}")
    assert locate(str(tmp_path)) == str(tmp_path)
    assert locate("org/model") == "org/model"
