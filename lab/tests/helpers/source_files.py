"""Small files in the formats of the owners of the paper's corpora, with our own text."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from nestag.data.sentence import Entity, Sentence

CORPORA = os.environ.get("NESTAG_CORPORA")
real = pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA does not name the corpora")


def shared(name: str) -> dict[str, tuple[str, list[str], set[Entity]]]:
    sentences = {}
    for split in ("train", "dev", "test"):
        with gzip.open(f"{CORPORA}/{name}/{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                entities = {Entity(**found) for found in record["entities"]}
                sentences[record["id"]] = (split, record["tokens"], entities)
    return sentences


def joined(tokens: Sequence[str], entities: set[Entity] | tuple[Entity, ...]) -> set[tuple[int, str, str]]:
    """Entities by characters, white space aside."""
    bare = ["".join(token.split()) for token in tokens]
    return {(len("".join(bare[:start])), "".join(bare[start:end]), kind) for start, end, kind in entities}


def covered(sentence: Sentence) -> set[tuple[str, str]]:
    """Return the words of the entities."""
    return {(" ".join(sentence.tokens[start:end]), kind) for start, end, kind in sentence.entities}


HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE set SYSTEM "gpml.dtd">\n<set>\n'
MADE_BY_RULES = "sentence whose words are made by rules (GENIAcorpus3.02.merged.xml has them)"


def article(name: str, *marked: str) -> str:
    body = "\n".join(f"<sentence>{sentence}</sentence>" for sentence in marked)
    return (
        f"<article>\n<articleinfo>\n<bibliomisc>{name}</bibliomisc>\n</articleinfo>\n<title>\n{body}\n</title>"
        "\n<abstract>\n</abstract>\n</article>\n"
    )


def cons(text: str, meaning: str) -> str:
    return f'<cons lex="x" sem="G#{meaning}">{text}</cons>'


def genia_file(folder: Path, *articles: str, name: str = "GENIAcorpus3.02.xml") -> Path:
    path = folder / name
    path.write_text(HEAD + "".join(articles) + "</set>\n", encoding="utf-8")
    return path


NNE = """0 1 2 3
NNP NNP VBD .
0,1 PER|0,0 FIRST|1,1 NAME

0 1
PRP VBD


0 1 2
NN VBD .
2,1 DATE|0,0 NAME|0,0 NAME|0,0 ORG:X
"""


def nne_file(folder: Path, text: str = NNE, name: str = "wsj_0001.mrg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


BEFORE = "<DOC>\n<DOCID> d1 </DOCID>\n<HEADLINE>\nEve Wu\n</HEADLINE>\n<TEXT>"
SGM = (
    f"{BEFORE}\n<TURN>\nMs. Ada Li of AT&amp;T, the Anglo-Dutch firm. She\nslept.\n</TURN>\n\n"
    "The mayor of Rome. And its\nboats left.\n</TEXT>\n</DOC>\n"
)


def untagged(text: str) -> str:
    return "".join(piece.partition(">")[2] if number else piece for number, piece in enumerate(text.split("<")))


def charseq(shown: str, text: str = SGM) -> str:
    """Return the annotation of the first place with the text; `shown` is as in the source."""
    start = untagged(text).index(shown)
    return f'<charseq START="{start}" END="{start + len(shown) - 1}">{shown}</charseq>'


def entity(kind: str, extent: str, head: str) -> str:
    return (
        f'<entity ID="d-E" TYPE={quoteattr(kind)} SUBTYPE="x" CLASS="SPC">\n<entity_mention ID="d-E-1" TYPE="NAM">\n'
        f"<extent>\n{extent}\n</extent>\n<head>\n{head}\n</head>\n</entity_mention>\n"
        f'<entity_attributes><name NAME="x">{head}</name></entity_attributes>\n</entity>\n'
    )


def apf_text(*entities: str) -> str:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">\n<source_file URI="d1.sgm">\n'
        f'<document DOCID="d1">\n{"".join(entities)}'
        f'<timex2 ID="d-T1"><timex2_mention ID="d-T1-1"><extent>{charseq("slept")}</extent></timex2_mention></timex2>\n'
        f'<value ID="d-V1"><value_mention ID="d-V1-1"><extent>{charseq("slept")}</extent></value_mention></value>\n'
        f'<relation ID="d-R1"><relation_mention ID="d-R1-1"><extent>{charseq("Rome")}</extent></relation_mention>'
        "</relation>\n</document>\n</source_file>\n"
    )


def ace_document(folder: Path, *entities: str, name: str = "d1", sgm: str = SGM) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.sgm").write_bytes(sgm.encode())
    (folder / f"{name}.apf.xml").write_text(apf_text(*entities), encoding="utf-8")
    return folder / f"{name}.apf.xml"


PERSON = entity("PER", charseq("Ms. Ada Li of AT&amp;T, the Anglo-Dutch firm"), charseq("Li"))
FIRM = entity("ORG", charseq("AT&amp;T, the Anglo-Dutch firm"), charseq("firm"))
DUTCH = entity("GPE", charseq("Dutch"), charseq("Dutch"))
