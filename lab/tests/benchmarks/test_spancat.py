"""The comparison with spaCy's SpanCategorizer, rehearsed with twelve sentences and two steps."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from nestag.formats import jsonl, sample

pytest.importorskip("spacy")

SCRIPT = Path(__file__).parents[2] / "benchmarks/peers/spancat.py"
ARGUMENTS = "results.jsonl --corpora gum --sentences 12 --work work --set max_steps=2 eval_frequency=1 longest=2"


@pytest.fixture
def spancat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, in an empty folder and with the arguments of a short run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["spancat.py", *ARGUMENTS.split()])
    monkeypatch.setenv("NESTAG_CORPORA", str(tmp_path))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    spec = spec_from_file_location("spancat", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "spancat", module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")  # spaCy's and thinc's own
def test_a_run_is_one_line_and_is_not_repeated(spancat: ModuleType) -> None:
    sentences = sample.sentences()[:20]
    Path("gum").mkdir()
    for split in ("train", "dev", "test"):
        jsonl.write(sentences, f"gum/{split}.jsonl.gz")
    spancat.main()
    spancat.main()
    (line,) = map(json.loads, Path("results.jsonl").read_text().splitlines())
    assert (line["sentences"], line["steps"]) == (12, 2)
    assert line["train_cpu_s"] > 0
    (run,) = Path("work").glob("gum-12-0-*")
    found = spancat.score(spancat.gold_of(sentences), spancat.gold_of(jsonl.read(run / "test.jsonl")))
    assert line["test"] == spancat.shares(found)
    assert not any(spancat.piped(spancat.loaded(run, threshold=1.1), sentences))


def test_more_threads_than_one_are_refused(spancat: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with pytest.raises(SystemExit, match="OMP_NUM_THREADS"):
        spancat.main()
