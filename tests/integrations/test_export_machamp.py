"""MaChAmp's configuration, columns, and predictions."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl, sample
from nestag.training.recipe import load_recipe

ODD = Sentence(["#", "New York", "a\tb", "\\", "\u2028", "x\ry"], [Entity(0, 6, "cell line"), Entity(1, 2, "a|b")])


def export(tmp_path: Path, *options: str) -> Path:
    train = tmp_path / "train.jsonl"
    jsonl.write([ODD, *sample.sentences("dev")], train)
    arguments = ["export", "machamp", str(tmp_path / "a name"), "--train", str(train), "--dev", str(train), *options]
    made = CliRunner().invoke(app, arguments)
    assert made.exit_code == 0, made.output
    return tmp_path / "a name"


def machamp_rows(path: Path) -> list[list[list[str]]]:
    """Sentences as MaChAmp takes them: lines of open(), a blank one between sentences, columns parted by tabs."""
    found: list[list[list[str]]] = [[]]
    with open(path, encoding="utf-8") as file:
        for line in file:
            if len(line) < 2 or line.replace("\t", "") == "":
                found.append([])
            else:
                found[-1].append(line.rstrip("\n").split("\t"))
    return [rows for rows in found if rows]


def test_dataset_configuration_has_three_seq_tasks(tmp_path: Path) -> None:
    out = export(tmp_path)
    assert json.loads((out / "dataset.json").read_text("utf-8")) == {
        "a name": {
            "train_data_path": "train.tsv",
            "dev_data_path": "dev.tsv",
            "word_idx": 0,
            "tasks": {
                "n": {"task_type": "seq", "column_idx": 1},
                "c": {"task_type": "seq", "column_idx": 2},
                "u": {"task_type": "seq", "column_idx": 3},
            },
        }
    }


def test_parameters_match_the_published_ones(tmp_path: Path) -> None:
    params = json.loads((export(tmp_path) / "params.json").read_text("utf-8"))
    assert params["transformer_model"] == "roberta-large"
    assert params["encoder"] == {"dropout": 0.2, "max_input_length": 128, "update_weights_encoder": True}
    assert params["training"]["optimizer"] == {"betas": [0.9, 0.99], "lr": 1e-4, "weight_decay": 0.01}
    schedule = {"cut_frac": 0.3, "decay_factor": 0.38, "discriminative_fine_tuning": True, "gradual_unfreezing": True}
    assert params["training"]["learning_rate_scheduler"] == schedule
    assert params["training"]["num_epochs"] == 30
    assert (params["batching"]["batch_size"], params["batching"]["max_tokens"]) == (32, 1024)
    assert params["decoders"]["default_decoder"]["layers_to_use"] == [-1]


def test_paper_recipe_matches_the_parameters(tmp_path: Path) -> None:
    paper, params = load_recipe("paper"), json.loads((export(tmp_path) / "params.json").read_text("utf-8"))
    training, batching, encoder = (params[part] for part in ("training", "batching", "encoder"))
    optimizer, schedule = training["optimizer"], training["learning_rate_scheduler"]
    assert paper.epochs == training["num_epochs"]
    assert paper.head_learning_rate == optimizer["lr"]
    assert paper.learning_rate == pytest.approx(optimizer["lr"] * schedule["decay_factor"])
    assert schedule["discriminative_fine_tuning"]
    assert schedule["gradual_unfreezing"]
    assert (paper.lr_scheduler_type, paper.warmup_ratio) == ("slanted_triangular", schedule["cut_frac"])
    assert [paper.adam_beta1, paper.adam_beta2] == optimizer["betas"]
    assert (paper.weight_decay, paper.decay_all_parameters, paper.max_grad_norm) == (optimizer["weight_decay"], True, 0)
    assert (paper.batch_sentences, paper.batch_subwords) == (batching["batch_size"], batching["max_tokens"])
    assert batching["sort_by_size"]
    assert batching["shuffle"]
    assert not batching["diverse"]
    assert (paper.dropout, paper.max_length) == (encoder["dropout"], encoder["max_input_length"])


def test_encoder_epochs_and_seed_can_be_chosen(tmp_path: Path) -> None:
    out = export(tmp_path, "--encoder", "bert-large-uncased", "--epochs", "20", "--seed", "3")
    params = json.loads((out / "params.json").read_text("utf-8"))
    assert params["transformer_model"] == "bert-large-uncased"
    assert (params["training"]["num_epochs"], params["random_seed"]) == (20, 3)
    readme = (out / "README.md").read_text("utf-8")
    assert "--name 'a name' --seed 3\n" in readme
    assert '"$MACHAMP/predict.py" "$MODEL" dev.tsv dev.out\n' in readme


@pytest.mark.parametrize("by", ["rel", "4tg"])
def test_machamp_output_round_trips(tmp_path: Path, by: str) -> None:
    out = export(tmp_path, "-e", by)
    gold = list(jsonl.read(tmp_path / "train.jsonl"))
    rows = machamp_rows(out / "dev.tsv")
    assert [len(sentence) for sentence in rows] == [len(sentence) for sentence in gold]
    assert {len(row) for sentence in rows for row in sentence} == {4}
    assert all(all(row) for sentence in rows for row in sentence)
    # predict.py joins the columns again, a line feed after each sentence and one more from write_pred
    text = "".join("\n".join("\t".join(row) for row in sentence) + "\n" + "\n" for sentence in rows)
    (out / "dev.out").write_text(text, "utf-8", newline="\n")
    arguments = ["export", "back", str(out), str(tmp_path / "train.jsonl"), str(out / "dev.out"), "-o"]
    back = CliRunner().invoke(app, [*arguments, str(tmp_path / "back.jsonl")])
    assert back.exit_code == 0, back.output
    assert list(jsonl.read(tmp_path / "back.jsonl")) == gold
    assert "repaired 0 labels" in back.output
