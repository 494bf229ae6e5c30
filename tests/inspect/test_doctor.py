"""The doctor finds each problem, and none in a healthy corpus."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl
from nestag.formats.corpus import Corpus
from nestag.inspect.doctor import Diagnosis, Severity, examine
from nestag.inspect.symptoms import DoctorLimits

ERROR, WARNING, HINT = Severity
CORPORA = os.environ.get("NESTAG_CORPORA")
NAMES = ("Ada", "Grace", "Edsger", "Alan", "Barbara", "Donald", "Frances", "John", "Niklaus", "Ken", "Dennis", "Kurt")


def told(text: str, *entities: tuple[int, int, str], id: str | None = None) -> Sentence:
    return Sentence(text.split(), [Entity(*entity) for entity in entities], id)


def healthy(start: str) -> list[Sentence]:
    return [told(f"{start} {name} sleeps", (1, 2, "PER")) for name in NAMES]


def diagnosis(limits: DoctorLimits | None = None, **splits: Iterable[Sentence]) -> Sequence[Diagnosis]:
    return examine(splits, limits or DoctorLimits()).findings


def the_one(found: Sequence[Diagnosis], part: str) -> Diagnosis:
    matching = [finding for finding in found if part in finding.what]
    assert len(matching) == 1, found
    return matching[0]


def test_healthy_corpus_has_no_findings() -> None:
    assert diagnosis(train=healthy("Today"), dev=healthy("Yesterday"), test=healthy("Tomorrow")) == ()


def test_missing_training_split_is_found() -> None:
    assert the_one(diagnosis(dev=healthy("Today")), "no training split").severity is ERROR


@pytest.mark.parametrize(("name", "severity"), [("train", ERROR), ("dev", WARNING)])
def test_corpus_without_entities_is_found(name: str, severity: Severity) -> None:
    for bad, part in (
        ([], "no words at all"),
        ([told("Ada sleeps")], "no entities at all"),
        ([told("_ _ _", (0, 1, "PER"))] * 12, "the text is missing"),
    ):
        splits = {"train": healthy("Today"), "dev": healthy("Yesterday"), name: bad}
        found = the_one(diagnosis(**splits), part)
        assert (found.severity, found.split) == (severity, name)


def test_corpus_without_words_is_not_repetitive() -> None:
    bare = [told("_ _ _", (0, 1, "PER"))] * 20
    assert [finding.split for finding in diagnosis(train=bare, dev=bare)] == ["train", "dev"]


def test_rare_and_unseen_types_are_found() -> None:
    rare = [told("Rome sleeps too", (0, 1, "GPE"), id="r-1")]
    found = diagnosis(train=healthy("Today") + rare, dev=[told("an X here", (1, 2, "ORG"))])
    few = the_one(found, "fewer than 10")
    assert few.what == "1 type has fewer than 10 examples: GPE 1"
    assert few.examples[0] == ("train: sentence 13 (r-1)", "Rome")
    assert the_one(found, "no examples of").what == "the training split has no examples of ORG 1"
    assert not [f for f in diagnosis(DoctorLimits(rare=1), train=healthy("Today") + rare) if "fewer" in f.what]


def test_crossing_entities_are_a_warning_if_few_and_an_error_if_many() -> None:
    crossed = told("a b c", (0, 2, "PER"), (1, 3, "PER"))
    few = the_one(diagnosis(train=[*healthy("Today"), crossed]), "cross others")
    assert (few.severity, few.what) == (WARNING, "1 of 14 entities cross others and cannot be encoded")
    assert few.examples[0].text in ("PER a b", "PER b c")
    assert the_one(diagnosis(train=[crossed] * 10), "cross others").severity is ERROR


def test_too_many_crossing_entities_are_found() -> None:
    knot = Sentence(["w"] * 3000, [Entity(i, i + 1500, "A") for i in range(1200)])
    found = the_one(
        diagnosis(DoctorLimits(sentence=9999, entity=9999), train=[*healthy("Today"), knot]), "too many crossing"
    )
    assert found.severity is ERROR


def test_long_sentences_in_words_and_subwords() -> None:
    train = [*healthy("Today"), told("w " * 600, (0, 1, "PER"))]
    assert "over 512 words" in the_one(diagnosis(train=train), "1 of 13 sentences").what
    splits = {"train": healthy("Today")}
    found = examine(splits, DoctorLimits(sentence=14, measure=lambda tokens: len("".join(tokens)))).findings
    assert "over 14 subwords" in the_one(found, "sentences have over").what


def test_leaks_are_an_error_only_if_most_of_a_split_leaks() -> None:
    some = the_one(
        diagnosis(train=healthy("Today"), test=healthy("Later") + healthy("Today")[:3]), "in the training split too"
    )
    assert (some.severity, some.split) == (WARNING, "test")
    assert some.what.startswith("3 of 15 sentences (20.0%)")
    assert (
        the_one(diagnosis(train=healthy("Today"), dev=healthy("Today")), "in the training split too").severity is ERROR
    )


def test_suspicious_commas_in_entities() -> None:
    def train(odd: int) -> list[Sentence]:
        ends = [3 if number < odd else 2 for number in range(5)]
        return [told(f"so {name} , slept", (1, end, "PER")) for name, end in zip(NAMES, ends, strict=False)]

    found = the_one(diagnosis(DoctorLimits(rare=1), train=train(1)), "end with punctuation")
    assert found.what == "1 entities end with punctuation, unlike most of their type: 1 of 5 PER"
    assert found.examples[0].text == "Ada ,"
    assert diagnosis(DoctorLimits(rare=1), train=train(3)) == ()


def test_determiners_and_brackets_are_found() -> None:
    train = [
        *healthy("Today"),
        told("see the Ada here", (1, 3, "PER")),
        told("see Ada ( Lovelace ) here", (1, 5, "PER")),
        told("see Grace ) here", (1, 3, "PER")),
    ]
    found = diagnosis(train=train)
    assert the_one(found, "begin with a determiner").examples[0].text == "the Ada"
    assert the_one(found, "bracket").examples[0].text == "Grace )"


def test_inconsistent_mentions_are_found() -> None:
    as_place = [told(f"{name} saw Paris", (2, 3, "GPE")) for name in NAMES]
    as_person = [told(f"{name} met Paris", (2, 3, "PER")) for name in NAMES[:4]]
    forgotten = [told(f"{name} left Paris yesterday", id=f"f-{name}") for name in NAMES[:5]]
    inside = [told(f"{name} read Paris Today", (2, 4, "ORG")) for name in NAMES]
    found = diagnosis(train=as_place + as_person + forgotten + inside)
    assert the_one(found, "different types").examples[0].text == "'Paris': GPE 12, PER 4"
    none = the_one(found, "not annotated at all")
    assert none.examples[0].place == "train: sentence 17 (f-Ada)"
    assert none.examples[0].text == "'Paris': 16 times annotated, 5 times not, as in 'Ada left Paris yesterday'"
    assert not [
        f for f in diagnosis(DoctorLimits(frequent=17), train=as_place + as_person + forgotten) if "mentions" in f.what
    ]


def test_several_types_of_one_mention_are_consistent() -> None:
    train = [told(f"{name} saw Paris", (2, 3, "GPE"), (2, 3, "NAME")) for name in NAMES]
    assert diagnosis(train=train) == ()


def test_empty_long_and_repeated_sentences_are_found() -> None:
    train = [*healthy("Today"), Sentence([]), told("w " * 40, (0, 35, "PER")), *healthy("Today")[:2]]
    found = diagnosis(train=train)
    assert the_one(found, "no words").what == "1 sentence has no words"
    assert the_one(found, "more than 30 tokens").severity is HINT
    assert the_one(found, "repeat earlier").what == "2 of 16 sentences repeat earlier ones of the split"


def test_findings_are_sorted_and_include_changes_while_reading() -> None:
    report = Report()
    report.add("duplicate entity merged", "t:1", "[0, 1) PER")
    report.add("span widened to token borders", "t:2", "x")
    found = diagnosis(train=Corpus(healthy("Today"), report), dev=[])
    assert [finding.severity for finding in found] == [WARNING, WARNING, HINT]
    assert the_one(found, "widened").examples[0] == ("t:2", "x")


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    def write(**splits: Iterable[Sentence]) -> Path:
        for name, sentences in splits.items():
            jsonl.write(sentences, tmp_path / f"{name}.jsonl")
        return tmp_path

    return write


def test_doctor_exits_with_0_without_errors(save: Callable[..., Path]) -> None:
    done = CliRunner().invoke(app, ["doctor", str(save(train=healthy("Today"), dev=healthy("Later")))])
    assert done.exit_code == 0
    steps, verdict = done.stdout.splitlines()
    assert steps.startswith("nestag train would take about 600 steps of up to 256 subwords (")
    assert verdict == "nothing found; training can start"


def test_doctor_exits_with_1_on_errors(save: Callable[..., Path]) -> None:
    folder = save(train=[told("Ada\x1b[31m sleeps")], dev=healthy("Later"))
    done = CliRunner().invoke(
        app, ["doctor", "--train", str(folder / "train.jsonl"), "--dev", str(folder / "dev.jsonl")]
    )
    assert done.exit_code == 1
    assert "error    train: the split has no entities at all\n         → check the format" in done.stdout
    assert done.stdout.endswith("1 error, 1 warning; training should not start\n")
    asked = CliRunner().invoke(app, ["doctor", str(folder), "--json"])
    answer = json.loads(asked.stdout)
    assert (asked.exit_code, answer["error"], answer["warning"], answer["hint"]) == (1, 1, 1, 0)
    assert answer["training"]["steps"] == 600
    assert answer["findings"][1]["examples"][0] == {"place": f"{folder}/dev.jsonl: sentence 1", "text": "Ada"}


def test_control_characters_of_a_corpus_are_escaped(save: Callable[..., Path]) -> None:
    folder = save(train=[*healthy("Today"), told("see \x1b[31mAda , here", (1, 3, "PER"))])
    done = CliRunner().invoke(app, ["doctor", str(folder)])
    assert "␛[31mAda ," in done.stdout
    assert "\x1b" not in done.stdout


def test_unreadable_input_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("{}\n")
    done = CliRunner().invoke(app, ["doctor", str(tmp_path)])
    assert done.exit_code == 2
    assert "train.jsonl:1: no list 'tokens'" in done.stderr


@pytest.fixture
def encoder(tmp_path: Path) -> str:
    """A tokenizer of single characters, as save_pretrained leaves it."""
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("transformers")
    pieces = ["[UNK]", *"abcdefghijklmnopqrstuvwxyz", *(f"##{char}" for char in "abcdefghijklmnopqrstuvwxyz")]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.enable_truncation(16)  # as some saved tokenizers have it; lengths must be counted all the same
    folder = tmp_path / "encoder"
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"})
    )
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "max_position_embeddings": 64}))
    return str(folder)


def test_encoder_counts_its_own_subwords(save: Callable[..., Path], encoder: str) -> None:
    folder = save(train=[*healthy("Today"), told("a" * 40 + " " + "b" * 40, (0, 1, "PER"))])
    files = ["--train", str(folder / "train.jsonl"), "--encoder"]
    done = CliRunner().invoke(app, ["doctor", *files, encoder])
    assert "1 of 13 sentences have over 64 subwords, more than the encoder takes" in done.stdout
    assert "80 long: aaaa" in done.stdout
    wide = CliRunner().invoke(app, ["doctor", *files, encoder, "--max-length", "80"])
    assert "more than the encoder takes" not in wide.stdout
    missing = CliRunner().invoke(app, ["doctor", *files, str(folder / "no")])
    assert (missing.exit_code, "no such folder" in missing.stderr) == (2, True)
    (Path(encoder) / "tokenizer.json").write_text("{")
    broken = CliRunner().invoke(app, ["doctor", *files, encoder])
    assert (broken.exit_code, "no tokenizer can be loaded" in broken.stderr) == (2, True)


@pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA is not set")
def test_real_corpora_have_expected_findings() -> None:
    genia = CliRunner().invoke(app, ["doctor", f"{CORPORA}/genia", "--json"])
    assert genia.exit_code == 0
    assert any(finding["what"].startswith("6 of 1,855 sentences") for finding in json.loads(genia.stdout)["findings"])
    assert CliRunner().invoke(app, ["doctor", f"{CORPORA}/nne_notext"]).exit_code == 1


def test_code_next_to_an_encoder_never_runs(save: Callable[..., Path], encoder: str, tmp_path: Path) -> None:
    """Not even where the answer to transformers' question is piped in."""
    ran = tmp_path / "ran"
    (Path(encoder) / "planted.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Planted: ...\n")
    code = {"auto_map": {"AutoTokenizer": ["planted.Planted", None]}, "tokenizer_class": "Planted"}
    (Path(encoder) / "tokenizer_config.json").write_text(json.dumps(code))
    (Path(encoder) / "config.json").write_text(json.dumps({"auto_map": {"AutoConfig": "planted.Planted"}}))
    train = save(train=[Sentence(["Ada"], [Entity(0, 1, "PER")])]) / "train.jsonl"
    CliRunner().invoke(app, ["doctor", "--train", str(train), "--encoder", encoder], input="y\n" * 9)
    assert not ran.exists()


@pytest.mark.parametrize("longest", ["1e400", "-5", '"many"', "null", "[]"])
def test_invalid_encoder_limit_is_a_one_line_error(save: Callable[..., Path], encoder: str, longest: str) -> None:
    (Path(encoder) / "tokenizer_config.json").write_text(f'{{"model_max_length": {longest}}}')
    train = save(train=[Sentence(["Ada"], [Entity(0, 1, "PER")])]) / "train.jsonl"
    done = CliRunner().invoke(app, ["doctor", "--train", str(train), "--encoder", encoder])
    assert done.exit_code in (0, 1, 2)
    assert "this is a bug in nestag" not in done.stderr
