"""The Python functions behind the commands."""

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import nestag
from nestag.cli import load
from nestag.formats import jsonl
from nestag.formats.corpus import CorpusFile, corpus_of, in_memory, reread
from nestag.inspect.table_forms import Tabular, to_text
from two_sentences import CORPUS, MANY

QUICK = {"steps": 2, "batch_subwords": 64, "evaluations": 1}
COMMANDS = ("stats", "doctor", "convert", "split", "thresholds", "report", "benchmark", "evaluate", "train")
ONLY_PYTHON = {"watch", "options", "use_cpu", "settings", "seed", "quiet"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    jsonl.write(CORPUS, tmp_path / "train.jsonl")
    return tmp_path / "train.jsonl"


@pytest.mark.parametrize("name", COMMANDS)
def test_arguments_have_the_names_of_options(name: str) -> None:
    options = {parameter.name for parameter in load(name).params}
    options |= {"format", "reading"}
    assert set(inspect.signature(getattr(nestag, name)).parameters) - ONLY_PYTHON <= options


def test_corpus_can_be_read_again_and_is_reported_once(file: Path) -> None:
    corpus = CorpusFile(file)
    assert list(corpus) == list(corpus) == list(CORPUS) == list(in_memory(corpus))
    assert list(reread(iter(CORPUS))) == list(CORPUS)
    with pytest.raises(nestag.InputError, match="more than once"):
        reread("-")
    assert corpus_of(corpus) is corpus


def test_paths_sentences_and_folders_give_equal_counts(file: Path) -> None:
    found = nestag.stats(train=list(CORPUS)).splits["train"]
    assert found == nestag.stats(file).splits["train"] == nestag.stats(file.parent).splits["train"]
    assert nestag.stats(CORPUS, CORPUS).splits.keys() == {"corpus 1", "corpus 2"}


def test_results_print_and_draw_as_tables(file: Path, tmp_path: Path) -> None:
    results: tuple[Tabular, ...] = (
        nestag.stats(file),
        nestag.split(MANY, tmp_path / "parts", by="sentence"),
        nestag.evaluate(CORPUS, CORPUS),
    )
    for result in results:
        assert repr(result).splitlines() == to_text(result.table()).splitlines()
        assert result._repr_html_().startswith("<table>")


def test_doctor_returns_findings_and_plan(file: Path) -> None:
    found = nestag.doctor(file)
    assert found.plan
    assert found.plan.steps == 600
    assert not nestag.doctor(dev=file).can_train
    assert repr(found) == found.text()
    assert repr(found).endswith("; training can start")


def test_sentences_can_be_converted_and_split(tmp_path: Path) -> None:
    done = nestag.convert(CORPUS, tmp_path / "out.conllu")
    assert (done.counts.sentences, done.format) == (2, "conllu")
    parts = nestag.split(MANY, tmp_path / "parts", shares=(50, 50, 0), by="sentence")
    assert [parts.splits[name].sentences for name in ("train", "dev", "test")] == [8, 8, 0]
    assert len(nestag.read_corpus(tmp_path / "parts" / "train.jsonl")) == 8
    with pytest.raises(nestag.InputError, match="shares"):
        nestag.split(MANY, tmp_path / "other", shares=(1, 2))


def test_train_scores_advises_and_writes_the_card(
    file: Path, tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    run = nestag.train(file, CORPUS, tmp_path / "m", test=file, encoder=tiny_encoder("bert"), use_cpu=True, **QUICK)
    assert set(run.scores) == {"dev", "test"}
    assert run.scores["dev"] == run.scores["test"]
    assert run.advice  # two sentences and two steps are not enough
    assert "| steps | 2 |" in (tmp_path / "m" / "README.md").read_text()


def test_wrong_recipe_is_refused_before_reading(tmp_path: Path) -> None:
    with pytest.raises(nestag.UnknownNameError, match="secret"):
        nestag.train("no.jsonl", "no.jsonl", tmp_path / "m", "secret")


def test_second_prediction_is_compared() -> None:
    found = nestag.evaluate(CORPUS, CORPUS, against=[[] for _ in CORPUS])
    assert found.comparison
    assert found.comparison.difference == 1
    assert nestag.evaluate(CORPUS, CORPUS).comparison is None


def test_export_returns_a_summary(tmp_path: Path) -> None:
    done = nestag.export.conll(tmp_path / "out", CORPUS, CORPUS, encoding="dyn")
    assert (done.vocabulary.encoding, done.tallies["dev"].sentences) == ("dyn", 2)
    back = nestag.export.back(tmp_path / "out", CORPUS, tmp_path / "out" / "dev.tsv", tmp_path / "back.jsonl")
    assert (back.counts.entities, back.counts.repaired) == (done.tallies["dev"].entities, 0)
