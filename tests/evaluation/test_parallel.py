"""Files judged in parts by several processes give what they give as a whole."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nestag import sample
from nestag.corpora.formats import jsonl
from nestag.data import Entity, Sentence
from nestag.evaluation import Judge, Pair, judged, matched, parallel, significance
from nestag.evaluation.parallel import LARGE, see_files, workers_for

SIZE = 2_100  # several blocks of lines


@pytest.fixture(scope="module", autouse=True)
def _few_draws() -> Iterator[None]:
    """Intervals are compared here, not judged: test_significance.py does that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "DRAWS", 50)
        yield


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Gold and a prediction with mistakes; some entities are given twice."""
    folder = tmp_path_factory.mktemp("files")
    some = sample.sentences("train")
    gold = [Sentence([*one.tokens, str(i)], one.entities, str(i)) for i, one in enumerate(some * (SIZE // len(some)))]
    rng = random.Random(1)
    predicted = [one.with_entities(entity for entity in one.entities if rng.random() < 0.8) for one in gold]
    paths = str(folder / "gold.jsonl"), str(folder / "predicted.jsonl.gz")
    jsonl.write(gold, paths[0])
    jsonl.write(predicted, paths[1])
    lines = Path(paths[0]).read_text().splitlines()
    twice = '"entities": [{"start": 0, "end": 1, "type": "X"}, {"start": 0, "end": 1, "type": "X"}'
    lines[-1] = lines[-1].replace('"entities": [', f"{twice}, ")
    Path(paths[0]).write_text("\n".join(lines) + "\n")
    return paths


def test_parts_give_what_the_whole_gives(files: tuple[str, str]) -> None:
    train = sample.sentences("dev")
    whole = judged(matched(*map(jsonl.read, files)), train)
    found = see_files(Judge(train), *files, workers=2)
    assert found
    assert found.judge.result() == whole
    assert found.gold.counts == {"duplicate entity merged": 1}
    alone = Judge(train)
    alone.see(matched(*map(jsonl.read, files)))
    assert found.judge.counts().rows.tolist() == alone.counts().rows.tolist()


def test_what_does_not_match_is_left_to_a_single_process(files: tuple[str, str], tmp_path: Path) -> None:
    sentences = list(jsonl.read(files[1]))
    shorter = str(tmp_path / "shorter.jsonl")
    jsonl.write(sentences[:-1], shorter)
    assert see_files(Judge(), files[0], shorter, workers=2) is None
    (tmp_path / "broken.jsonl").write_text("{\n")
    assert see_files(Judge(), files[0], str(tmp_path / "broken.jsonl"), workers=2) is None


def test_ids_that_differ_are_left_to_a_single_process_unless_order_decides(
    files: tuple[str, str], tmp_path: Path
) -> None:
    """Within a part all ids might have their partners, and yet those who match all of the files would not agree."""
    sentences = list(jsonl.read(files[1]))
    sentences[0], sentences[1] = (
        Sentence(one.tokens, one.entities, other.id) for one, other in zip(sentences[:2], sentences[1::-1], strict=True)
    )
    renamed = str(tmp_path / "renamed.jsonl")
    jsonl.write(sentences, renamed)
    assert see_files(Judge(), files[0], renamed, workers=2) is None
    found, expected = (see_files(Judge(), files[0], path, workers=2, any_ids=True) for path in (renamed, files[1]))
    assert found
    assert expected
    assert found.judge.result() == expected.judge.result()


def test_processes_that_die_leave_the_files_to_a_single_one(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_end_with_parent", os.abort)
    assert see_files(Judge(), *files, workers=2) is None


PROGRAM = """
import multiprocessing, sys, threading, time
from nestag.evaluation.judge import Judge
from nestag.evaluation.parallel import see_files

if __name__ == "__main__":
    threading.Thread(target=see_files, args=(Judge(), sys.argv[1], sys.argv[1], 2)).start()
    while len(multiprocessing.active_children()) < 2:
        time.sleep(0.05)
    print(*(child.pid for child in multiprocessing.active_children()), flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it, so that reading does not end
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "pipe")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        children = process.stdout.readline().split()
        assert len(children) == 2
        time.sleep(1)  # they may be on their way still
        assert all(map(alive, children))
        process.kill()
    patience = time.monotonic() + 20
    while any(map(alive, children)) and time.monotonic() < patience:
        time.sleep(0.1)
    assert not any(map(alive, children))


def alive(process: str) -> bool:
    """Whether a process runs: it is there, and not only waits to be forgotten."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_are_read_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "LARGE", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("some")
    Path("-").write_text("a file that is not meant by this name")
    os.mkfifo("pipe")
    assert [workers_for("file", name) for name in ("file", "pipe", "-", "no-such-file")] == [2, 1, 1, 1]


def test_only_large_files_are_worth_processes(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert workers_for(*files) == 1
    assert workers_for("-", files[1]) == 1
    for cores, size, workers in ((4, LARGE, 4), (4, LARGE - 1, 1), (40, LARGE, 16)):
        with open(tmp_path / "large", "wb") as stream:
            stream.truncate(size)
        here = {0: set(range(cores))}  # 0 is this process
        monkeypatch.setattr(os, "sched_getaffinity", here.__getitem__, raising=False)
        (tmp_path / "empty").write_bytes(b"")
        assert workers_for(str(tmp_path / "large"), str(tmp_path / "empty")) == workers
    assert LARGE == 2**25


def test_judges_join_whatever_their_types(files: tuple[str, str]) -> None:
    """Also where one has met so many types that its groups are fewer."""
    pairs = list(matched(*map(jsonl.read, files)))[:200]
    typed = Sentence(["a"], [Entity(0, 1, f"T{number}") for number in range(300)])
    many = [Pair(typed, typed.with_entities(typed.entities[::2]))]
    for first, second in ((pairs, many), (many, pairs)):
        one, two, whole = Judge(), Judge(), Judge()
        one.see(first)
        two.see(second)
        whole.see([*first, *second])
        one.join(two)
        assert one.result() == whole.result()
        assert one.counts().rows.tolist() == whole.counts().rows.tolist()
