"""The component in real spaCy pipelines."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Example

from nestag.errors import InputError
from nestag.formats.corpus import read_corpus
from nestag.model.recognizer import NestedNER
from nestag.training.run import train
from two_sentences import CORPUS, quick

TEXT = "lincoln was president of the usa.\n\nthe mayor of new york slept"
FOUND = [
    ("lincoln", "PER"),
    ("president of the usa", "PER"),
    ("the usa", "GPE"),
    ("the mayor of new york", "PER"),
    ("new york", "GPE"),
    ("new york", "ORG"),
]


def pipeline(model: Path | str, language: str = "en", **config: object) -> Language:
    """A blank pipeline with sentences and the component, which spaCy finds by its entry point."""
    nlp = spacy.blank(language)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("nestag", config={"model": str(model), "device": "cpu", **config})
    return nlp


def spans(doc: Doc, key: str = "nestag") -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.spans[key]]


def test_component_sets_spans_and_scores(trained_model: Path) -> None:
    doc = pipeline(trained_model)(TEXT)
    assert spans(doc) == FOUND
    assert doc.ents == ()
    scores = doc.spans["nestag"].attrs["scores"]
    ner = NestedNER.from_pretrained(trained_model, "cpu")
    assert [float(score) for score in scores] == pytest.approx([entity.confidence for entity in ner(TEXT)], abs=1e-6)
    assert [(e.text, e.type) for e in ner(TEXT)] == FOUND


def test_outermost_entities_extend_existing_ents(trained_model: Path) -> None:
    nlp = pipeline(trained_model, ents=True, spans_key="sc")
    nlp.add_pipe("entity_ruler", before="nestag").add_patterns(  # type: ignore[attr-defined]
        [{"label": "CITY", "pattern": "york"}, {"label": "VERB", "pattern": "slept"}]
    )
    doc = nlp(TEXT)
    outermost = [("lincoln", "PER"), ("president of the usa", "PER"), ("the mayor of new york", "PER")]
    assert [(span.text, span.label_) for span in doc.ents] == [*outermost, ("slept", "VERB")]
    assert spans(doc, "sc") == FOUND


def test_batches_match_single_texts(trained_model: Path) -> None:
    nlp = pipeline(trained_model)
    texts = [TEXT, "", "  \n ", "new york", *["lincoln was president of the usa."] * 5]
    docs = list(nlp.pipe(texts, batch_size=3))
    assert [spans(doc) for doc in docs] == [spans(nlp(text)) for text in texts]
    assert [doc.text for doc in docs] == texts
    assert spans(docs[1]) == []


def test_saved_pipeline_contains_the_model(trained_model: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "first"
    NestedNER.from_pretrained(trained_model, "cpu").save_pretrained(elsewhere)
    pipeline(elsewhere).to_disk(tmp_path / "saved")
    for file in elsewhere.iterdir():
        file.unlink()
    nlp = spacy.load(tmp_path / "saved")
    assert spans(nlp(TEXT)) == FOUND
    assert nlp.get_pipe("nestag").labels == ("GPE", "ORG", "PER")


def test_saved_docs_keep_spans_and_scores(trained_model: Path, tmp_path: Path) -> None:
    nlp = pipeline(trained_model)
    doc = nlp(TEXT)
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "x.spacy")
    (again,) = DocBin().from_disk(tmp_path / "x.spacy").get_docs(nlp.vocab)
    assert spans(again) == FOUND
    assert again.spans["nestag"].attrs["scores"].tolist() == doc.spans["nestag"].attrs["scores"].tolist()
    drawn = displacy.render(doc, style="span", options={"spans_key": "nestag"}, jupyter=False)
    assert all(kind in drawn for kind in ("PER", "GPE", "ORG"))


def test_several_processes_give_the_same(trained_model: Path) -> None:
    nlp = pipeline(trained_model)
    texts = [TEXT, "new york", TEXT, "lincoln slept"]
    one = [spans(doc) for doc in nlp.pipe(texts)]
    assert [spans(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)] == one


def test_component_works_with_another_tokenizer(trained_model: Path) -> None:
    text = "lincoln was president of the-usa."
    ner = NestedNER.from_pretrained(trained_model, "cpu")
    expected = {(entity.start, entity.end, entity.type) for entity in ner(text)}
    cut = spacy.blank("xx")
    doc = Doc(cut.vocab, ["lincoln", "was", "president", "of", "the-usa."], [True] * 4 + [False])
    nestag = pipeline(trained_model, "xx").get_pipe("nestag")  # trained with English words, and xx has others
    found = {(span.start_char, span.end_char, span.label_) for span in nestag(doc).spans["nestag"]}
    words = {(start, 33 if start >= 25 or end > 25 else end, kind) for start, end, kind in expected}
    assert {(25 if start >= 25 else start, end, kind) for start, end, kind in words} == found
    taken = pipeline(trained_model, "xx", words="doc").get_pipe("nestag")
    assert taken(doc).spans["nestag"] is not None


def test_words_option_uses_the_tokenizer_of_the_pipeline(trained_model: Path) -> None:
    text = "lincoln was president of the usa."
    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: Doc(nlp.vocab, words=text.split())  # type: ignore[assignment]
    nlp.add_pipe("nestag", config={"model": str(trained_model), "device": "cpu"})
    as_trained = [entity.confidence for entity in NestedNER.from_pretrained(trained_model, "cpu")(text)]
    assert nlp(text).spans["nestag"].attrs["scores"].tolist() == pytest.approx(as_trained, abs=1e-6)
    nlp.get_pipe("nestag").words = "doc"  # type: ignore[attr-defined]
    assert nlp(text).spans["nestag"].attrs["scores"].tolist() != pytest.approx(as_trained, abs=1e-6)


def test_missing_model_error_shows_the_config() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("nestag")
    with pytest.raises(InputError, match=r'nestag: no model is named; nlp.add_pipe\("nestag", config='):
        nlp("lincoln slept")


def test_whitespace_tokens_do_not_break_spans(trained_model: Path) -> None:
    nlp = pipeline(trained_model)
    text = "the mayor   of\nnew york slept"
    found = {("the mayor   of\nnew york", "PER"), ("new york", "GPE"), ("new york", "ORG")}
    assert set(spans(nlp(text))) == found
    nlp.remove_pipe("sentencizer")
    assert set(spans(nlp(text))) == found


def test_thresholds_apply_and_wrong_settings_are_refused(trained_model: Path) -> None:
    assert spans(pipeline(trained_model, threshold=1.0)(TEXT)) == []
    with pytest.raises(ValueError, match="'mine' is not"):  # spaCy checks what a component takes
        pipeline(trained_model, words="mine")
    with pytest.raises(InputError, match="there is no such folder"):
        pipeline("/no/such/folder")(TEXT)


def test_errors_go_to_the_error_handler(trained_model: Path) -> None:
    nlp = pipeline("/no/such/folder")
    seen: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: seen.append(f"{name}: {len(docs)} {error}"))
    assert list(nlp.pipe(["a", "b"])) == []
    assert len(seen) == 1
    assert seen[0].startswith("nestag: 2 /no/such/folder")


def test_a_docbin_trains_a_model(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    docs = []
    for sentence in CORPUS:
        doc = Doc(nlp.vocab, list(sentence.tokens), sent_starts=[True] + [False] * (len(sentence) - 1))
        entities = [Span(doc, e.start, e.end, e.type) for e in sentence.entities]
        doc.spans["sc"] = SpanGroup(doc, name="sc", spans=entities)
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "train.spacy")
    corpus = read_corpus(tmp_path / "train.spacy", field="sc")
    assert [sentence.entities for sentence in corpus] == [sentence.entities for sentence in CORPUS]
    train(corpus, corpus, tmp_path / "model", quick(tiny_encoder("bert"), steps=1), use_cpu=True)
    assert pipeline(tmp_path / "model").get_pipe("nestag").labels == ("GPE", "ORG", "PER")


def test_evaluate_scores_the_span_group(trained_model: Path) -> None:
    nlp = pipeline(trained_model, words="doc")
    examples = []
    for sentence in CORPUS:
        gold = Doc(nlp.vocab, words=list(sentence.tokens))
        gold.spans["nestag"] = [Span(gold, *entity) for entity in sentence.entities]
        examples.append(Example(Doc(nlp.vocab, words=list(sentence.tokens)), gold))
    scores = nlp.evaluate(examples)
    assert scores["spans_nestag_f"] == 1
    assert set(scores["spans_nestag_per_type"]) == {"PER", "GPE", "ORG"}
    examples[0].reference.spans["nestag"] = []
    assert nlp.evaluate(examples)["spans_nestag_p"] < 1
