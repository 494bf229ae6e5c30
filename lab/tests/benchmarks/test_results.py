"""The numbers in the docs match the packs."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from finished_runs import evaluation, result
from nestag.evaluation.result import Score
from nestag_lab.experiment.pack import FoundCounts, GoldCounts, Pack, write_pack

TOP = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def results() -> ModuleType:
    """Import the script."""
    spec = spec_from_file_location("results", TOP / "lab" / "benchmarks" / "results.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pack() -> Pack:
    """Two runs, six sentences of two entities each; greedy decoding misses more of them."""
    scores = {"greedy-first": 6, "greedy-majority": 8, "constrained": 9}
    gold = GoldCounts(np.full(6, 2), np.zeros(0, dtype=np.int64))
    runs = [
        result("genia", by, 1, test={way: evaluation(Score.of(n, 12, 12)) for way, n in scores.items()})
        for by in ("rel", "dyn")
    ]
    found = {
        way: FoundCounts(np.array([2] * (n // 2) + [0] * (6 - n // 2)), np.full(6, 2)) for way, n in scores.items()
    }
    return Pack(tuple(runs), {}, (), {"genia": gold}, {run.key: found for run in runs})


def test_docs_match_the_packs(results: ModuleType) -> None:
    """Differences are drawn ten thousand times, so they are left to `lab/benchmarks/results.py --check`."""
    assert results.rebuilt(TOP, change=False, differences=False) == []


def test_recipe_tables_average_over_seeds(results: ModuleType, tmp_path: Path) -> None:
    runs = [{"model": "light", "trial": "", "corpus": "gum", "seed": seed, "test": 60.0 + seed} for seed in (1, 2)]
    trial = {**runs[0], "trial": "dropout 0.4", "test": 0.0}
    facts = [{"model": model, "megabytes": 28} for model in ("cnn-ner", "light", "default", "accurate")]
    facts[3]["sentences_per_second"] = 58_763
    file = tmp_path / "recipes.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in [*facts, *runs, trial]))
    tables = results.recipe_tables(file)
    assert "| nestag `light` | – | – | 61.5 | – | – | 28 MB |\n" in tables["comparison"]
    assert "| nestag `accurate` | – | – | – | – | 58,763 | 28 MB |\n" in tables["comparison"]
    assert "| nestag `light` | – | – | 61.50 ± 0.71 (2) | – |\n" in tables["f1"]


def test_filled_pages_match_their_pack(results: ModuleType, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    write_pack(pack(), tmp_path / "lab" / "results" / "small")
    page = docs / "page.md"
    page.write_text(
        "before\n<!-- results small gain -->\nold\n<!-- end -->\nbetween <!-- results none f1 -->\nkept\n<!-- end -->\n"
    )
    (tmp_path / "README.md").write_text("<!-- results small gains -->\n<!-- end -->\n")
    stale = results.rebuilt(tmp_path, change=True)
    assert stale == [Path("README.md"), Path("docs/page.md")]
    assert results.rebuilt(tmp_path, change=False) == []
    text = page.read_text()
    assert "old" not in text
    assert "kept" in text
    assert "+25.00" in text
    told = (tmp_path / "README.md").read_text()
    assert "over greedy-first +25.00 for `rel`, +25.00 for `dyn`; over greedy-majority +8.33" in told
    page.write_text(text.replace("+25.00", "+26.00"))
    assert results.rebuilt(tmp_path, change=False) == [Path("docs/page.md")]
