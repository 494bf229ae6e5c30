"""Parallel processes: limits, failures, interruption. The processes here only sleep."""

import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.training.recipe import Recipe
from nestag_lab.experiment import runner
from nestag_lab.experiment.plan import ExperimentPlan
from nestag_lab.experiment.result import Key
from nestag_lab.experiment.runner import Ended, Task, TaskOutcome, environment, gpus, run_plan, run_tasks
from nestag_lab.experiment.spec import CorpusFiles, Spec, folder_of, write_spec
from two_sentences import CORPUS
from waiting import wait_until

NAP = """
import os, signal, sys, time
name, how, folder = sys.argv[1:]
def note(text):
    with open(f"{folder}/notes", "a") as stream:
        stream.write(f"{text} {name} {os.environ.get('CUDA_VISIBLE_DEVICES')}\\n")
note("begin")
try:
    if how == "fails":
        sys.exit("no luck today")
    if how == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "taken":
        sys.exit(75)
    while how == "sleeps":
        time.sleep(1)
    while how.startswith("after ") and f"begin {how[6:]} " not in open(f"{folder}/notes").read():
        time.sleep(0.01)
    note("end")
except KeyboardInterrupt:
    note("saved")
    sys.exit(130)
"""


@pytest.fixture
def nap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a module whose behaviour its arguments choose."""
    (tmp_path / "napping.py").write_text(NAP)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(runner, "PAUSE", 0.01)
    return tmp_path


def task(folder: Path, name: str, how: str = "ends", spec: Spec | None = None) -> Task:
    prepare = partial(write_spec, spec) if spec else lambda: None
    return Task(name, ("napping", name, how, str(folder)), folder / f"{name}.log", spec, prepare)


class Seen:
    """A watcher that records its events and then acts."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.outcomes: list[TaskOutcome] = []
        self.stops = 0
        self.then = then

    def __call__(self, outcome: TaskOutcome | None) -> None:
        if outcome is None:
            self.stops += 1
        else:
            self.outcomes.append(outcome)
            self.then()


def notes(folder: Path) -> list[list[str]]:
    file = folder / "notes"
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def spec_in(folder: Path) -> Spec:
    key = Key("c", "e", "rel", "r", 1)
    return Spec(key, CorpusFiles("c", "x", "x", "x"), Recipe(), ("constrained",), False, folder_of(folder, key))


def test_runs_are_concurrent_and_take_turns_on_gpus(nap: Path) -> None:
    tasks = [task(nap, name, f"after {other}") for name, other in ("ab", "ba", "cd", "dc")]
    ended = run_tasks(tasks, 2, ["0", "1"])
    assert [outcome.how for outcome in ended.outcomes] == ["finished"] * 4
    assert not ended.stopped
    running = most = 0
    for what, *_ in notes(nap):
        running += 1 if what == "begin" else -1
        most = max(most, running)
    assert most == 2
    assert sorted(note[2] for note in notes(nap) if note[0] == "begin") == ["0", "0", "1", "1"]
    assert [note[1] for note in notes(nap) if note[0] == "begin"][:2] in (["a", "b"], ["b", "a"])
    assert not list(nap.glob("*.log"))  # nothing was wrong


def test_failures_are_reported_and_stop_no_other_run(nap: Path) -> None:
    spec = spec_in(nap)
    watch = Seen()
    tasks = [task(nap, "a", "fails"), task(nap, "b", "dies", spec), task(nap, "c", "taken"), task(nap, "d")]
    ended = run_tasks(tasks, 1, [], watch)
    seen = watch.outcomes
    assert tuple(seen) == ended.outcomes
    assert [outcome.how for outcome in seen] == ["failed", "failed", "taken", "finished"]
    assert [outcome.task.title for outcome in ended.failures] == ["a", "b"]
    assert seen[0].reason == "no luck today"
    assert "SIGKILL" in seen[1].reason
    assert "SIGKILL" in (spec.folder / "failed.txt").read_text()


def test_ctrl_c_saves_running_jobs_and_starts_no_more(nap: Path) -> None:
    def press() -> None:
        wait_until(lambda: len(notes(nap)) >= 2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    watch = Seen()
    ended = run_tasks([task(nap, "a", "sleeps"), task(nap, "b", "sleeps"), task(nap, "c")], 2, [], watch)
    thread.join()
    assert ended.stopped
    assert watch.stops == 1
    assert [outcome.how for outcome in ended.outcomes] == ["stopped"] * 2
    assert sorted(note[1] for note in notes(nap) if note[0] == "saved") == ["a", "b"]
    assert not [note for note in notes(nap) if note[1] == "c"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_failing_watcher_leaves_no_process(nap: Path) -> None:
    def fail() -> None:
        wait_until(lambda: len(notes(nap)) >= 2)
        raise RuntimeError("watcher")

    with pytest.raises(RuntimeError, match="watcher"):
        run_tasks([task(nap, "a", "fails"), task(nap, "b", "sleeps")], 2, [], Seen(fail))
    assert [note[1] for note in notes(nap) if note[0] == "saved"] == ["b"]


def test_job_that_cannot_start_is_one_failure(nap: Path) -> None:
    def full() -> None:
        raise InputError("cannot be written (No space left on device)", "spec.json")

    tasks = [task(nap, "a", "fails"), task(nap, "b")._replace(prepare=full), task(nap, "c")]
    tasks.append(task(nap, "d")._replace(log=nap / "no" / "such" / "folder"))
    ended = run_tasks(tasks, 1, [])
    assert [outcome.how for outcome in ended.outcomes] == ["failed", "failed", "finished", "failed"]
    assert ended.failures[1].reason == "spec.json: cannot be written (No space left on device)"


def test_unrecorded_failure_is_reported(nap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise InputError("cannot be written (No space left on device)", "failed.txt")

    monkeypatch.setattr("nestag_lab.experiment.runner.writing", full)
    tasks = [task(nap, "a", "dies", spec_in(nap)), task(nap, "b"), task(nap, "c", "fails", spec_in(nap))]
    ended = run_tasks(tasks, 1, [])
    assert [outcome.how for outcome in ended.outcomes] == ["failed", "finished", "failed"]
    assert "SIGKILL" in ended.failures[0].reason
    assert ended.failures[1].reason == "the process ended with code 1; the last line of c.log: no luck today"


def test_old_failure_reason_is_not_repeated(nap: Path) -> None:
    spec = spec_in(nap)
    write_spec(spec)
    (spec.folder / "failed.txt").write_text("nestag.errors.InputError: of yesterday\n")
    (outcome,) = run_tasks([task(nap, "a", "dies", spec)], 1, []).outcomes
    assert "SIGKILL" in outcome.reason
    (spec.folder / "failed.txt").write_text("Traceback\nnestag.errors.InputError: dev.jsonl:1: not JSON\n")
    (outcome,) = run_tasks([task(nap, "a", "fails", spec)], 1, []).outcomes
    assert outcome.reason == "dev.jsonl:1: not JSON"  # whose error it is says nothing


def test_runs_of_another_process_stay_marked_until_done(nap: Path) -> None:
    spec = spec_in(nap)
    assert run_tasks([], 3, []).outcomes == ()
    ended = run_tasks([task(nap, "a", "taken", spec)], 1, [])
    assert [outcome.task.title for outcome in ended.taken] == ["a"]
    (spec.folder / "result.json").write_text("{}")
    assert ended.taken == ()
    assert Ended((), stopped=False).taken == ()


def test_no_run_starts_on_a_changed_corpus(plan: ExperimentPlan) -> None:
    jsonl.write(CORPUS[:1], plan.corpora[0].dev)
    ended = run_plan(plan, cpu=True)
    assert [outcome.how for outcome in ended.outcomes] == ["failed"] * len(plan.left)
    assert "is not the dev split that runs on small were done with" in ended.failures[0].reason


def test_only_visible_gpus_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, 5")
    assert gpus() == ["2", "5"]
    assert [environment(slot, 3, gpus())["CUDA_VISIBLE_DEVICES"] for slot in range(3)] == ["2", "5", "2"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus() == []


def test_runs_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [environment(0, runs, [])["OMP_NUM_THREADS"] for runs in (3, 20)] == ["2", "1"]
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert environment(0, 3, [])["OMP_NUM_THREADS"] == "5"
