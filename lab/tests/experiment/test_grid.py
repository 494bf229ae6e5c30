"""Grids in TOML, and their errors."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nestag.data.segment import Options
from nestag.errors import InputError
from nestag_lab.experiment.grid import Grid, load_grid
from nestag_lab.experiment.result import Key

ONE = '[corpora.one]\nfolder = "corpora/one"\n'
SENTENCE = '{"tokens": ["a"], "entities": [{"start": 0, "end": 1, "type": "X"}]}\n'


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        folder = tmp_path / "corpora" / name
        folder.mkdir(parents=True)
        for split in ("train", "dev", "test"):
            (folder / f"{split}.jsonl").write_text(SENTENCE)
    return tmp_path / "corpora"


def grid(corpora: Path, text: str = "", tables: str = ONE) -> Grid:
    file = corpora.parent / "grid.toml"
    file.write_text(text + "\n" + tables)
    return load_grid(file)


def test_missing_settings_come_from_the_recipe(corpora: Path) -> None:
    (run,) = grid(corpora).runs("out")
    assert run.key == Key("one", "minilm", "rel", "default", 1)
    assert run.folder == Path("out/runs/one/minilm/rel/default/1")
    assert run.decodings == ("greedy-first", "greedy-majority", "constrained")
    assert run.corpus.dev == str(corpora / "one" / "dev.jsonl")
    assert not run.keep_model


def test_grid_is_the_product_of_its_lists_ordered_by_seed(corpora: Path) -> None:
    (corpora.parent / "mine.toml").write_text('epochs = 3\nencoding = "dyn"\n')
    tables = '[corpora.one]\nfolder = "corpora/one"\n[corpora.two]\nfolder = "corpora/two"\n'
    tables += "[settings]\nbatch_subwords = 64\n"
    text = (
        'encoders = ["minilm", "org/model"]\nencodings = ["abs", "4tg"]\nrecipes = ["paper", "mine.toml"]\nseeds = 2\n'
    )
    runs = grid(corpora, text, tables).runs(corpora)
    assert len(runs) == len({run.folder for run in runs}) == 2**5
    assert [run.key.seed for run in runs] == [1] * 16 + [2] * 16
    assert [run.key.corpus for run in runs] == ["one", "two"] * 16
    first = {run.key._replace(seed=0) for run in runs[:16]}
    assert first == {run.key._replace(seed=0) for run in runs[16:]}
    chosen = next(run for run in runs if run.key == Key("two", "org--model", "4tg", "mine", 2))
    recipe = chosen.recipe
    assert (recipe.encoder, recipe.encoding, recipe.epochs, recipe.batch_subwords) == ("org/model", "4tg", 3, 64)


def test_grid_sets_how_corpora_are_read(corpora: Path) -> None:
    said = ONE + 'format = "columns"\nlanguage = "nl"\ncolumns = [1, 3]\ntokenizer = "whitespace"\n'
    (run,) = grid(corpora, tables=said).runs("out")
    assert run.corpus.format == "columns"
    assert run.corpus.options == Options(tokenizer="whitespace", language="nl", columns=(1, 3))
    with pytest.raises(InputError, match=r"corpora.one: tokenizer is 'nltk'; it takes one of spacy, whitespace"):
        grid(corpora, tables=ONE + 'tokenizer = "nltk"\n')


def test_seeds_may_be_a_list(corpora: Path) -> None:
    assert [run.key.seed for run in grid(corpora, "seeds = [7, 3]").runs("out")] == [7, 3]


def test_environment_variables_are_replaced(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = '[corpora.one]\nfolder = "$SOME_CORPORA/one"\ntest = "${SOME_CORPORA}/two/test.jsonl"\n'
    monkeypatch.setenv("SOME_CORPORA", str(corpora))
    assert grid(corpora, tables=tables).corpora[0].test == str(corpora / "two" / "test.jsonl")
    monkeypatch.delenv("SOME_CORPORA")
    with pytest.raises(
        InputError, match=r"grid\.toml: .*variable SOME_CORPORA is not set; set it: export SOME_CORPORA"
    ):
        grid(corpora, tables=tables)


def test_encoder_folders_are_named_by_their_last_part(corpora: Path) -> None:
    (run,) = grid(corpora, 'encoders = ["./my/bert"]').runs("out")
    assert run.key.encoder == "bert"
    assert run.recipe.encoder == str(corpora.parent / "my" / "bert")


def test_recipes_may_be_tables_of_changes(corpora: Path) -> None:
    tables = '[corpora.one]\nfolder = "corpora/one"\n[recipes.default]\n[recipes.linear]\nbase = "default"\n'
    default, linear = grid(corpora, "", tables + "conv_size = 0\n[settings]\nepochs = 2\n").runs("out")
    assert (default.key.recipe, linear.key.recipe) == ("default", "linear")
    assert default.recipe.conv_size > linear.recipe.conv_size == 0
    assert default.recipe == replace(linear.recipe, conv_size=default.recipe.conv_size)
    assert default.recipe.epochs == 2


@pytest.mark.parametrize(
    ("text", "tables", "told"),
    [
        ("seed = 3", None, "there is no setting 'seed'; did you mean 'seeds'?"),
        ("seeds = 0", None, "seeds is 0; give their number"),
        ("seeds = [1, 1]", None, "seeds has 1 twice; name it once"),
        ("seeds = true", None, "seeds is True; it takes a whole number of at least 0, or a list"),
        ('encodings = ["bio"]', None, "encodings.0 is 'bio'; it takes one of abs, rel"),
        ('encodings = "rel"', None, "encodings is 'rel'; it takes a list, each one of abs, rel"),
        ("encodings = []", None, "encodings is empty"),
        ('decodings = ["lucky"]', None, "decodings.0 is 'lucky'; it takes one of greedy-first"),
        ('encoders = ["a/b", "a--b"]', None, "'a/b' and 'a--b' would both be called 'a--b'"),
        ('recipes = ["default", "x/default.toml"]', None, "would both be called 'default'"),
        ('recipes = ["nothing"]', None, "no recipe is called 'nothing'"),
        ('recipes = ["nothing.toml"]', None, "nothing.toml"),
        ('keep_models = "yes"', None, "keep_models is 'yes'; it takes true or false"),
        ("", "", "it names no corpus; add [corpora.NAME]"),
        ("", '[corpora."../x"]\nfolder = "corpora/one"', "'../x' cannot be the name of a folder"),
        ("", '[corpora.one]\nfolder = "corpora/none"', "there is no folder"),
        ("", '[corpora.one]\nfolder = "corpora"', "corpora.one has no train split; name its file with train ="),
        ("", '[corpora.one]\nfolder = "corpora/one"\ndev = "x"', "there is no file"),
        ("", '[corpora.one]\nfile = "x"', "corpora.one: there is no setting 'file'; did you mean 'folder'?"),
        ("", '[corpora.one]\nfolder = "corpora/one"\n[settings]\nepoch = 1', "settings: there is no setting 'epoch'"),
        ("", '[corpora.one]\nfolder = "corpora/one"\n[settings]\nencoding = "abs"', 'write encodings = ["abs"] above'),
        ("", f"{ONE}[recipes]", "recipes is empty"),
        ("", f"{ONE}[recipes.mine]\nepochs = 1", "no recipe is called 'mine'"),
        ("", f"{ONE}[recipes.default]\nepoch = 1", "recipes.default: there is no setting 'epoch'"),
        ("", f'{ONE}[recipes.default]\nencoding = "abs"', 'write encodings = ["abs"] above'),
        ("recipes = { default = 1 }", None, "recipes is {'default': 1}; it takes a list, each text, or a table"),
        ("= 3", None, "not TOML"),
    ],
)
def test_invalid_grids_name_the_file_and_the_fix(text: str, tables: str | None, told: str, corpora: Path) -> None:
    with pytest.raises(InputError) as error:
        grid(corpora, text, *([] if tables is None else [tables]))
    assert str(error.value).startswith(str(corpora.parent / "grid.toml") + ": ")
    assert told in str(error.value)


def test_missing_grid_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        load_grid(tmp_path / "no.toml")


def test_published_grids_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpora = ("genia", "germeval2014", "gum", "litbank")
    for name in corpora:
        (tmp_path / name).mkdir()
        for split in ("train", "dev", "test"):
            (tmp_path / name / f"{split}.jsonl.gz").touch()
    monkeypatch.setenv("NESTAG_CORPORA", str(tmp_path))
    docs = Path(__file__).parents[2] / "grids"
    runs = load_grid(docs / "grid.toml").runs("out")
    assert len(runs) == 48
    assert {(run.key.corpus, run.key.encoding) for run in runs[:16]} == {
        (corpus, encoding) for corpus in corpora for encoding in ("abs", "rel", "dyn", "4tg")
    }
    assert len(load_grid(docs / "ablations.toml").runs("out")) == 24


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[2] / "grids").glob("*.toml")), ids=lambda file: file.stem
)
def test_published_grids_have_the_documented_runs(file: Path, corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("genia", "germeval2014", "gum", "litbank"):
        (corpora / name).symlink_to(corpora / "one")
    monkeypatch.setenv("NESTAG_CORPORA", str(corpora))
    told = re.search(r": (\d+) runs", file.read_text().splitlines()[0])
    assert told
    assert len(load_grid(file).runs("out")) == int(told[1])
