"""Pretraining: the light encoder learns to predict word vectors, and its folder starts a tagger."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nestag.model.tagger import Tagger
from nestag_lab.release import trials
from nestag_lab.release.pretrain import Options, pretrain
from nestag_lab.release.trials import Job, Places, run_all


def test_pretraining_writes_an_encoder(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("lincoln was president of the usa .\nthe mayor of new york slept\n" * 20)
    teacher = tiny_encoder("bert")
    options = Options(teacher, layers=(1, 2), masked=0.0, batch_subwords=64, rate=1e-2, epochs=1)
    short = pretrain(tmp_path / "short", [tmp_path / "text.txt"], options)
    longer = pretrain(tmp_path / "light", [tmp_path / "text.txt"], Options(**{**vars(options), "epochs": 6}))
    assert longer["explained"] > max(0.3, short["explained"])
    size = json.loads((tmp_path / "light" / "config.json").read_text())["hidden_size"]
    assert Tagger.around(f"light:{tmp_path / 'light'}", size).encoder.config.hidden_size == size


def test_jobs_wait_for_dependencies_and_fail_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    order: list[str] = []

    def do(job: Job, _: Places) -> dict[str, str]:
        order.append(job.name)
        if job.name == "bad":
            raise ValueError("no such corpus")
        (tmp_path / job.name).mkdir()
        return {"name": job.name}

    monkeypatch.setattr(trials, "do", do)
    monkeypatch.setattr(trials, "ProcessPoolExecutor", lambda count, mp_context: ThreadPoolExecutor(count))
    jobs = [
        Job("student", teachers=("teacher",), encoder="minilm"),
        Job("never", teachers=("bad",), encoder="minilm"),
        Job("bad", encoder="minilm"),
        Job("teacher", encoder="minilm"),
    ]
    places, results = Places(tmp_path, tmp_path, "minilm", tmp_path), tmp_path / "results.jsonl"
    run_all(jobs, places, results, 1, float("inf"))
    assert order == ["bad", "teacher", "student"]
    assert [json.loads(line)["name"] for line in results.read_text().splitlines()] == ["teacher", "student"]
    assert "no such corpus" in (shown := capsys.readouterr().out)
    assert "not done: never" in shown
    run_all(jobs, places, results, 1, float("inf"))
    assert order[3:] == ["bad"]  # the others are done
