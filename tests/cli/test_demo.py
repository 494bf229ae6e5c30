"""The demo: entities in new sentences without torch, the idea, and the next commands."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.cli.demo import ENGLISH

NO_TORCH = """
import sys
sys.modules["torch"] = None
from nestag.cli import main
main()
"""


def test_demo_runs_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", NO_TORCH, "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    entities, idea, following = (done.stdout.find(text) for text in ("─person─", "The idea.", "nestag predict english"))
    assert 0 < entities < idea < following
    assert "4tg" in done.stdout


def test_demo_folder_needs_train() -> None:
    done = CliRunner().invoke(app, ["demo", "-o", "x"])
    assert (done.exit_code, "add --train" in done.stderr) == (2, True)


@pytest.mark.parametrize("text", ENGLISH)
def test_demo_sentences_have_nested_entities(text: str) -> None:
    import nestag

    found = [entity.entity for entity in nestag.load("english")(text)]
    assert any(a != b and a.start <= b.start and b.end <= a.end for a in found for b in found), found
