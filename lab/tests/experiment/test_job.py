"""One run: its files, and resuming to the same result."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

import nestag_lab.experiment.job as job
from nestag.data.sentence import Sentence
from nestag.evaluation import score
from nestag.formats import jsonl
from nestag.formats.files import writing
from nestag.formats.files.parts import HERE
from nestag_lab.experiment.result import RESULT, Key, read_result, write_result
from nestag_lab.experiment.spec import FAILED, LOCK, CorpusFiles, Spec, read_spec, write_spec
from two_sentences import CORPUS, MANY, quick

DEV = [*CORPUS, Sentence(["someone", "slept"], id="a-3")]


@pytest.fixture(scope="module")
def spec(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Spec:
    """Describe a run with a corpus and without a folder."""
    folder = tmp_path_factory.mktemp("job")
    paths = {name: str(folder / f"{name}.jsonl") for name in ("train", "dev", "test")}
    for sentences, path in zip((MANY, DEV, DEV[:1]), paths.values(), strict=True):
        jsonl.write(sentences, path)
    recipe = quick(tiny_encoder("bert"), epochs=6, early_stopping_patience=0, ema_decay=0.5)
    key = Key("small", "tiny", "rel", "quick", 1)
    return Spec(key, CorpusFiles("small", **paths), recipe, ("greedy-first", "constrained"), False, folder / "run")


@pytest.fixture(scope="module")
def done(spec: Spec) -> Spec:
    write_spec(spec)
    assert job.main([str(spec.folder), "--cpu"]) == 0
    return spec


def test_spec_round_trips_through_a_file(spec: Spec, tmp_path: Path) -> None:
    mine = replace(spec, folder=tmp_path / "a" / "b")
    write_spec(mine)
    assert read_spec(mine.folder) == mine


def test_result_round_trips_through_a_file(done: Spec, tmp_path: Path) -> None:
    result = read_result(done.folder / "result.json")
    write_result(result, tmp_path)
    assert read_result(tmp_path / RESULT) == result
    assert result.key == done.key
    assert result.settings == done.settings
    assert len(result.scorings) == 6
    assert all(scoring.loss > 0 for scoring in result.scorings)
    assert result.seconds > 0
    assert "CPU" in result.device
    assert {"nestag", "torch", "transformers"} <= set(result.versions)
    assert {split: set(found) for split, found in result.evaluations.items()} == {
        "dev": {"greedy-first", "constrained"},
        "test": {"greedy-first", "constrained"},
    }
    assert set(result.calibration) == {"dev", "test"}
    assert result.evaluations["dev"]["constrained"].familiar  # train was given


def test_saved_predictions_have_the_reported_scores(done: Spec) -> None:
    result = read_result(done.folder / "result.json")
    for split, gold in (("dev", DEV), ("test", DEV[:1])):
        for decoding in done.decodings:
            predicted = list(jsonl.read(done.folder / f"{split}.{decoding}.jsonl.gz"))
            assert [sentence.id for sentence in predicted] == [sentence.id for sentence in gold]
            found = score([s.entities for s in gold], [s.entities for s in predicted])
            assert result.evaluations[split][decoding].overall == found
    constrained = list(jsonl.read(done.folder / "dev.constrained.jsonl.gz"))
    assert result.calibration["dev"].entities == sum(len(sentence.entities) for sentence in constrained)
    assert max(scoring.score.f1 for scoring in result.scorings) == result.evaluations["dev"]["constrained"].overall.f1
    assert not done.model.exists()


def test_finished_run_is_not_repeated(done: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(job, "do")
    assert job.main([str(done.folder), "--cpu"]) == 0


def test_folder_of_a_running_process_is_skipped(done: Spec) -> None:
    with FileLock(done.folder / LOCK):
        code = "import sys; from nestag_lab.experiment.job import main; sys.exit(main(sys.argv[1:]))"
        assert subprocess.run([sys.executable, "-c", code, str(done.folder), "--cpu"]).returncode == job.TAKEN
    assert job.main([str(done.folder), "--cpu"]) == 0


BARE = """
import os, signal, sys
for name in ("matplotlib", "jinja2", "spacy", "cassis"):
    sys.modules[name] = None  # importing it fails, as on a machine that has only what training needs
from nestag_lab.experiment import facts, job, runner
assert "torch" not in sys.modules
import nestag.training.checkpoints as checkpoints
import nestag.training.trainer as trainer
checkpoints.CHECKPOINT_SECONDS = 0.0
finish = trainer.save_state
def save_and_die(*given):
    finish(*given)
    os.kill(os.getpid(), signal.SIGKILL)
trainer.save_state = save_and_die
import nestag.formats.registry, nestag.evaluation.evaluator, nestag.evaluation.matching
assert "jsonl" in nestag.formats.registry.available()
sys.exit(job.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_killed_run_resumes_to_the_same_result(done: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = replace(done, folder=tmp_path / "cut", keep_model=True)
    write_spec(cut)
    process = subprocess.Popen([sys.executable, "-c", BARE, str(cut.folder), "--cpu"])
    assert process.wait() == -signal.SIGKILL
    assert cut.interrupted
    with monkeypatch.context() as patched:  # stopped once more: trained, but not scored
        patched.setattr(job, "evaluate_split", _stop)
        assert job.main([str(cut.folder), "--cpu"]) == job.STOPPED
    assert not (cut.folder / FAILED).exists()
    assert not cut.finished
    monkeypatch.setattr("nestag.training.run.NestedTrainer", _stop)  # and now it only has to be scored
    assert job.main([str(cut.folder), "--cpu"]) == 0
    whole, again = (read_result(one.folder / "result.json") for one in (done, cut))
    assert [scoring[:3] for scoring in again.scorings] == [scoring[:3] for scoring in whole.scorings]
    assert again.evaluations == whole.evaluations
    assert again.calibration == whole.calibration
    assert (cut.model / "model.safetensors").exists()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_terminated_job_leaves_no_partial_file(
    sent: signal.Signals, done: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = replace(done, folder=tmp_path / "cut")
    write_spec(cut)
    (cut.folder / f".nestag-{HERE}-0123abcd.part").write_text("of a process that was killed")

    def told(*_: object) -> None:
        with writing(cut.folder / "result.json") as stream:
            stream.write("{")
            os.kill(os.getpid(), sent)
            time.sleep(10)

    with monkeypatch.context() as patched:
        patched.setattr(job, "do", told)
        with pytest.raises(SystemExit) as ended:
            job.main([str(cut.folder), "--cpu"])
    assert ended.value.code == 128 + sent
    assert not cut.finished
    assert not (cut.folder / FAILED).exists()
    assert not list(cut.folder.glob(".nestag-*"))
    monkeypatch.setattr(job, "do", lambda *_: None)
    assert job.main([str(cut.folder), "--cpu"]) == 0


def _stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_failure_is_recorded_until_a_retry_succeeds(
    done: Spec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.jsonl").write_text("no json\n")
    broken = replace(done, corpus=replace(done.corpus, dev=str(tmp_path / "broken.jsonl")), folder=tmp_path / "run")
    write_spec(broken)
    assert job.main([str(broken.folder), "--cpu"]) == job.BROKEN
    told = (broken.folder / FAILED).read_text()
    assert told.startswith("Traceback")
    assert "broken.jsonl:1: not JSON" in told.splitlines()[-1]
    assert "broken.jsonl:1: not JSON" in capsys.readouterr().err
    monkeypatch.setattr(job, "do", lambda *_: None)
    assert job.main([str(broken.folder), "--cpu"]) == 0
    assert not (broken.folder / FAILED).exists()
