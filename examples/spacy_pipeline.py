"""Find nested entities in a spaCy pipeline.

    python examples/spacy_pipeline.py [MODEL]

MODEL is a folder, a name on the Hugging Face hub, or "english" (the default).
"""

import sys

import spacy

TEXTS = [
    "The governor of the Bank of Norway met Ilse Brandt in Oslo.",
    "Lincoln was president of the USA.",
]


def main(model: str) -> None:
    """Print the entities of each text; those inside another entity are indented."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("nestag", config={"model": model})
    for doc in nlp.pipe(TEXTS):
        print(doc.text)
        spans = doc.spans["nestag"]
        for span, confidence in zip(spans, spans.attrs["scores"], strict=True):
            depth = sum(other.start <= span.start and span.end <= other.end for other in spans)
            print(f"{'  ' * depth}{span.label_} {confidence:.2f} {span.text}")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["english"])
