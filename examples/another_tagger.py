"""Train a CRF on nestag's labels, and read nested entities from its predictions.

    pip install python-crfsuite
    python examples/another_tagger.py

Any tagger that gives each word one label can find nested entities this way. The corpus is a small one that comes with
nestag.
"""

import tempfile
from pathlib import Path

import pycrfsuite

import nestag
from nestag.formats import sample

ENCODING = "rel"


def features(words: list[str], i: int) -> list[str]:
    """Describe a word and its neighbours."""
    word = words[i]
    before = words[i - 1] if i else "<start>"
    after = words[i + 1] if i + 1 < len(words) else "<end>"
    shape = f"title={word.istitle()} digit={word.isdigit()}"
    return [word.lower(), word[-3:], shape, f"before={before.lower()}", f"after={after.lower()}"]


def main() -> None:
    """Train, predict and evaluate."""
    train, test = sample.sentences("train"), sample.sentences("test")
    encoded = [nestag.encode(sentence, ENCODING) for sentence in train]
    labels = sorted({label for sentence in encoded for label in sentence}, key=str)
    numbers = {label: str(number) for number, label in enumerate(labels)}  # a CRF wants strings

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, sentence_labels in zip(train, encoded, strict=True):
        words = list(sentence.tokens)
        trainer.append([features(words, i) for i in range(len(words))], [numbers[label] for label in sentence_labels])
    trainer.set_params({"max_iterations": 50})
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "crf")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)

        predicted = []
        for sentence in test:
            words = list(sentence.tokens)
            answer = tagger.tag([features(words, i) for i in range(len(words))])
            predicted.append(nestag.decode([labels[int(number)] for number in answer], ENCODING))

    scores = nestag.evaluate(test, predicted)
    print(f"F1 {100 * scores.overall.f1:.1f}")
    print(" ".join(test[0].tokens))
    for entity in predicted[0]:
        print(f"  {entity.type} {' '.join(test[0].tokens[entity.start : entity.end])}")


if __name__ == "__main__":
    main()
