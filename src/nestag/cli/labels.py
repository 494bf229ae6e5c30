"""encode, decode, vocabulary and show: sentences as labels, and back."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from nestag.cli.options import From, Reading, file_option, named, output_option
from nestag.cli.terminal import log, log_all, progress
from nestag.encodings import available
from nestag.encodings import encoding as encoding_named
from nestag.encodings.base import Naming
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError
from nestag.formats.corpus import CorpusFile, Watch, handle_crossing
from nestag.formats.files import PIPE
from nestag.formats.labels import decode_file, encode_file, read_vocabulary, write_vocabulary
from nestag.integrations.export import ExportCrossing

Sentences = Annotated[
    str, typer.Argument(metavar="IN", help="A corpus in any format, also .gz; - reads JSON Lines from standard input.")
]
Output = Annotated[str, output_option("OUT", "The output file; .gz is compressed, - is standard output.")]
EncodingOption = Annotated[str, named(available, "E", f"One of {', '.join(sorted(available()))}.", "-e", "--encoding")]
StrategyOption = Annotated[
    Naming, typer.Option(help="Label of a node whose words disagree: the first or the most frequent.")
]
CrossingOption = Annotated[
    ExportCrossing, typer.Option(help="Crossing entities: stop at the first, or drop a minimum.")
]


def encode(
    source: Sentences,
    *,
    output: Output = PIPE,
    encoding: EncodingOption = "rel",
    crossing: CrossingOption = "error",
    vocabulary: Annotated[
        str | None,
        file_option("A vocabulary that orders same-span types; unseen labels are counted."),
    ] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Encode sentences as one label per word: token, n, c and u, tab-separated, a blank line between sentences."""
    by = encoding_named(encoding)
    known = read_vocabulary(vocabulary) if vocabulary else None
    if known and known.encoding != by.name:
        raise InputError(f"the vocabulary is for {known.encoding}; use --encoding {known.encoding}", str(vocabulary))
    corpus = _corpus(source, format, reading)
    nested = handle_crossing(corpus, source, crossing, corpus.report)
    tally = encode_file(nested, output, by, known)
    log(f"encoded {tally} as {by.name}")
    if known:
        log(f"{tally.unseen:,} label parts are not in the vocabulary")
    log_all(corpus.report.summary())


def decode(
    source: Annotated[str, typer.Argument(metavar="IN", help="A label file, also .gz; - is standard input.")],
    output: Output = PIPE,
    encoding: EncodingOption = "rel",
    node_label_strategy: StrategyOption = "first",
) -> None:
    """Decode labels into sentences with entities, repairing invalid labels; the inverse of encode."""
    tally = decode_file(source, output, encoding_named(encoding), node_label_strategy)
    log(f"decoded {tally} from {encoding}")
    log(f"repaired {tally.repaired:,} labels in {tally.repaired_sentences:,} sentences")


def vocabulary(
    source: Sentences,
    *,
    output: Output = PIPE,
    encoding: EncodingOption = "rel",
    crossing: CrossingOption = "error",
    format: From = None,
    reading: Reading,
) -> None:
    """Collect the labels of a training corpus, and the order of types over the same tokens."""
    corpus = _corpus(source, format, reading)
    learned = Vocabulary.learn(handle_crossing(corpus, source, crossing, corpus.report), encoding)
    write_vocabulary(learned, output)
    log(f"learned {len(learned.n):,} n, {len(learned.c):,} c and {len(learned.u):,} u for {encoding}")
    log_all(corpus.report.summary())


def show(
    source: Sentences,
    *,
    encoding: Annotated[
        str | None, named(available, "E", "Show the labels of this encoding too.", "-e", "--encoding")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="The number of sentences to show; 0 shows all.")] = 10,
    html: Annotated[str | None, file_option("Write a page for a browser instead.")] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Draw sentences in the terminal: nested entities below the words, the tree, and the labels."""
    from rich.console import Console

    from nestag.inspect.terminal import draw_sentence, print_lines, write_page

    console = Console(highlight=False)
    by = encoding_named(encoding) if encoding else None
    corpus = _corpus(source, format, reading, watch=None)
    sentences = iter(corpus)
    if html:
        write_page(islice(sentences, limit or None), html, source)
    else:
        for sentence in islice(sentences, limit or None):
            print_lines(console, draw_sentence(sentence, by, console.width))
    if limit and next(sentences, None):
        log(f"stopped after {limit} sentences; --limit 0 shows all")
    log_all(corpus.report.summary())


def _corpus(source: str, format: str | None, reading: Reading, watch: Watch | None = progress) -> CorpusFile:
    """Return a file; a pipe holds JSON Lines unless another format is named."""
    return reading.corpus(source, "jsonl" if source == PIPE and format is None else format, watch=watch)
