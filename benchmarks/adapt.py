"""Go on pretraining an encoder on the text of a training set, before it learns entities from it.

    python benchmarks/adapt.py ENCODER NEW_FOLDER TRAIN.jsonl.gz ... --dev DEV.jsonl.gz [--passes 60] [--rate 2e-4]

The encoder guesses hidden words of whole sentences, as BERT did; what it becomes is saved as a folder that
`nestag train --encoder` takes. No entity is read, and no sentence of test. How well it guesses on dev is printed.
benchmarks/accuracy.py has variants with such encoders (`minilm-adapted`, `gte-small-adapted`).
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import AutoModelForMaskedLM, PreTrainedModel

from nestag.corpora.document import document_of
from nestag.corpora.formats import jsonl
from nestag.data import Sentence

WIDTH = 128
"""Subwords a window has at most: as many whole sentences of one document as fit."""

HIDDEN = 0.2
"""Share of the words that is to be guessed."""

FROZEN = 0.05
"""Share of the steps in which only the new head learns: its first gradients would do damage."""

CLS, SEP, MASK, PAD = "[CLS]", "[SEP]", "[MASK]", "[PAD]"


def windows(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
    """Subwords of every window, and the number of the word each belongs to (-1: none), padded to one width."""
    special = {name: tokenizer.token_to_id(name) for name in (CLS, SEP, PAD)}
    ids = torch.full((len(sentences), WIDTH), special[PAD])
    words = torch.full((len(sentences), WIDTH), -1)
    for row, (subwords, of_word) in enumerate(_packed(sentences, tokenizer)):
        size = len(subwords)
        ids[row, 0], ids[row, size + 1] = special[CLS], special[SEP]
        ids[row, 1 : size + 1] = torch.tensor(subwords)
        words[row, 1 : size + 1] = torch.tensor(of_word)
    rows = row + 1
    return ids[:rows], words[:rows]


def _packed(sentences: Sequence[Sentence], tokenizer: Tokenizer) -> Iterator[tuple[list[int], list[int]]]:
    """Subwords and their words, as many sentences of a document at a time as fit; longer sentences are cut."""
    subwords: list[int] = []
    of_word: list[int] = []
    document = None
    for sentence in sentences:
        encoding = tokenizer.encode(list(sentence.tokens), is_pretokenized=True, add_special_tokens=False)
        full = len(subwords) + len(encoding.ids) > WIDTH - 2
        if subwords and (full or document_of(sentence) != document):
            yield subwords, of_word
            subwords, of_word = [], []
        document = document_of(sentence)
        room = WIDTH - 2 - len(subwords)
        begun = of_word[-1] + 1 if of_word else 0
        subwords += encoding.ids[:room]
        of_word += [begun + (word or 0) for word in encoding.word_ids[:room]]
    yield subwords, of_word


def hide(ids: Tensor, words: Tensor, mask: int, vocabulary: int) -> tuple[Tensor, Tensor]:
    """Hide whole words: eight of ten masked, one replaced, one left; and where something is to be guessed."""
    chosen = torch.rand(ids.shape, device=ids.device) < HIDDEN
    asked = chosen.gather(1, words.clamp(min=0)) & (words >= 0)
    fate = torch.rand(ids.shape, device=ids.device)
    shown = torch.where(asked & (fate < 0.8), mask, ids)
    return torch.where(asked & (fate >= 0.9), torch.randint_like(ids, vocabulary), shown), asked


def guessed(model: PreTrainedModel, ids: Tensor, words: Tensor, mask: int, pad: int) -> tuple[Tensor, Tensor]:
    """The loss of guessing hidden words, and how many of their subwords are guessed right."""
    shown, asked = hide(ids, words, mask, model.config.vocab_size)
    found = model.base_model(input_ids=shown, attention_mask=(ids != pad).long()).last_hidden_state[asked]
    scores = model.cls(found).float()
    return cross_entropy(scores, ids[asked]), (scores.argmax(-1) == ids[asked]).float().mean()


def adapt(
    model: PreTrainedModel, ids: Tensor, words: Tensor, special: tuple[int, int], passes: float, batch: int, rate: float
) -> None:
    """Learn to guess the words of all windows."""
    steps = int(passes * len(ids) / batch)
    head, body = list(model.cls.parameters()), [*model.base_model.parameters()]
    known = {id(weight) for weight in body}
    head = [weight for weight in head if id(weight) not in known]
    optimizer = torch.optim.AdamW([{"params": body, "lr": rate}, {"params": head, "lr": 5 * rate}], weight_decay=0.01)
    begun = FROZEN * steps

    def of_body(step: int) -> float:
        return min(max(0.0, (step - begun) / (begun + 1)), 1.0) * (1 - step / steps)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, [of_body, lambda step: 1 - step / steps])
    order = torch.empty(0, dtype=torch.long)
    for _ in range(steps):
        if len(order) < batch:
            order = torch.cat([order, torch.randperm(len(ids))])
        rows, order = order[:batch].to(ids.device), order[batch:]
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.device.type == "cuda"):
            loss, _ = guessed(model, ids[rows], words[rows], *special)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def measured(model: PreTrainedModel, ids: Tensor, words: Tensor, special: tuple[int, int]) -> str:
    """How well hidden words are guessed."""
    torch.manual_seed(0)
    model.eval()
    loss, right = guessed(model, ids, words, *special)
    model.train()
    return f"loss {loss:.3f}, right {right:.1%}"


def main() -> None:
    """Adapt one encoder."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("encoder", type=Path)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("texts", type=Path, nargs="+")
    arguments.add_argument("--dev", type=Path, required=True)
    arguments.add_argument("--passes", type=float, default=60.0)
    arguments.add_argument("--batch", type=int, default=128, help="windows")
    arguments.add_argument("--rate", type=float, default=2e-4)
    options = arguments.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = tokenizer.token_to_id(MASK), tokenizer.token_to_id(PAD)
    sentences = [sentence for path in options.texts for sentence in jsonl.read(path)]
    ids, words = (tensor.to(device) for tensor in windows(sentences, tokenizer))
    dev = [tensor[:512].to(device) for tensor in windows(list(jsonl.read(options.dev)), tokenizer)]
    torch.manual_seed(1)
    model = AutoModelForMaskedLM.from_pretrained(options.encoder, dtype=torch.float32).to(device).train()
    begun = time.monotonic()
    print(
        f"{len(ids):,} windows of {len(sentences):,} sentences; dev before: {measured(model, *dev, special)}",
        flush=True,
    )
    torch.manual_seed(1)
    adapt(model, ids, words, special, options.passes, options.batch, options.rate)
    print(f"{options.passes:g} passes, {time.monotonic() - begun:.0f} s; dev after: {measured(model, *dev, special)}")
    model.base_model.save_pretrained(options.folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(options.encoder / name, options.folder / name)


if __name__ == "__main__":
    main()
