"""WebAnno TSV 3: layers, stacked annotations, offsets, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import webanno
from nestag.formats.registry import format_of
from raw_texts import LINES, read_all, saved

NER = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n"
POS = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue|coarseValue\n"
REFERENT = "#T_SP=webanno.custom.Referent|entity|infstat\n"


def tsv(header: str, *lines: str) -> str:
    return f"#FORMAT=WebAnno TSV 3.3\n{header}\n\n" + "\n".join(lines) + "\n"


def field(name: str) -> Options:
    return Options("whitespace", field=name)


def test_inception_with_stacked_annotations_and_other_layers(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        "a.tsv",
        tsv(
            POS + NER,
            "#Text=Ada of Rome slept.",
            "1-1\t0-3\tAda\tNNP\tPROPN\t*[1]\tPER[1]\t",
            "1-2\t4-6\tof\t_\t_\t*[1]\tPER[1]\t",
            "1-3\t7-11\tRome\t_\t_\t*[1]|http://x/Q1\tPER[1]|LOC\\_city\t",
            "1-4\t12-17\tslept\t_\t_\t*\t*\t",
            "1-5\t17-18\t.\t_\t_\t_\t_\t",
            "",
            "#Text=She woke",
            "2-1\t20-23\tShe\t_\t_\t*\tPER\t",
            "2-2\t24-28\twoke\t_\t_\t_\t_\t",
        ),
    )
    assert format_of(path).name == "webanno"
    found, report = read_all(webanno.FORMAT, path)
    assert found == [
        Sentence(["Ada", "of", "Rome", "slept", "."], [Entity(0, 3, "PER"), Entity(2, 3, "LOC_city")], "a-1"),
        Sentence(["She", "woke"], [Entity(0, 1, "PER")], "a-2"),
    ]
    assert found[1].origin
    assert found[1].origin.offsets == ((20, 23), (24, 28))
    assert report.counts == {"annotation of POS dropped": 1, "annotation without value dropped": 1}


def test_webanno_with_relations_subtokens_and_emoji(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        "a.tsv",
        tsv(
            REFERENT + "#T_RL=webanno.custom.Coref|type|BT_webanno.custom.Referent\n",
            "#Text=😀 Unhappy Bob",
            "1-1\t0-2\t😀\t_\t_\t_\t_",
            "1-2\t3-10\tUnhappy\tperson[1]\tnew[1]\tana\t1-3[2_1]",
            "1-2.1\t5-10\thappy\tabstract\tnew\t_\t_",
            "1-3\t11-14\tBob\tperson[1]|person[2]\tnew[1]|giv[2]\t_\t_",
        ),
    )
    (sentence,), report = read_all(webanno.FORMAT, path)
    assert sentence.tokens == ("😀", "Unhappy", "Bob")
    assert sentence.entities == (Entity(1, 3, "person"), Entity(1, 2, "abstract"), Entity(2, 3, "person"))
    assert report.counts == {"relation dropped": 1, "span widened to token borders": 1}
    types = [entity.type for entity in read_all(webanno.FORMAT, path, field("Referent:infstat"))[0][0].entities]
    assert sorted(types) == ["giv", "new", "new"]


def test_webanno_layers_without_features(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        "a.tsv",
        tsv(
            "#T_SP=webanno.custom.Event|\n",
            "#Text=something else",
            "1-1\t0-3\tAda\t*[1]",
            "1-2\t9-14\tslept\t*[1]",
            "1-3\t15-16\t.\t_",
        ),
    )
    (sentence,), _ = read_all(webanno.FORMAT, path)
    assert (sentence.tokens, sentence.entities) == (("Ada", "slept", "."), (Entity(0, 2, "Event"),))


def test_discontinuous_annotation_is_dropped(tmp_path: Path) -> None:
    lines = ["#Text=a b c", "1-1\t0-1\ta\t*[1]\tX[1]", "1-2\t2-3\tb\t_\t_", "1-3\t4-5\tc\t*[1]\tX[1]"]
    (sentence,), report = read_all(webanno.FORMAT, saved(tmp_path, "a.tsv", tsv(NER, *lines)))
    assert not sentence.entities
    assert report.counts == {"discontinuous entity dropped": 1}


def test_ambiguous_layer_is_an_error(tmp_path: Path) -> None:
    two = tsv(REFERENT + "#T_SP=webanno.custom.Other|a|b\n", "#Text=a", "1-1\t0-1\ta\tX\t_\tY\tZ")
    path = saved(tmp_path, "a.tsv", two)
    with pytest.raises(InputError, match=r"layer of the entities is unclear.*field=.*webanno\.custom\.Other:a\|b"):
        read_all(webanno.FORMAT, path)
    with pytest.raises(InputError, match=r"feature of webanno\.custom\.Other .* is unclear"):
        read_all(webanno.FORMAT, path, field("Other"))
    with pytest.raises(InputError, match="has no feature 'c'"):
        read_all(webanno.FORMAT, path, field("Other:c"))
    assert read_all(webanno.FORMAT, path, field("webanno.custom.Other:b"))[0][0].entities == (Entity(0, 1, "Z"),)
    sentences, report = read_all(webanno.FORMAT, path, field("Referent"))
    assert sentences[0].entities == (Entity(0, 1, "X"),)
    assert report.counts == {"annotation of Other dropped": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Ada\tPER", r"a\.tsv:6: 'Ada\\tPER' is not a token"),
        ("1-1\t0-3\tAda\t_", r"a\.tsv:6: column 5 is missing"),
        ("1-1\t3-0\tAda\t_\t_", "an offset is not inside"),
    ],
)
def test_line_errors_name_the_place(line: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "a.tsv", tsv(NER, "#Text=Ada", line))
    with pytest.raises(InputError, match=message):
        read_all(webanno.FORMAT, path)
    assert read_all(webanno.FORMAT, path, Options("whitespace", skip_bad=True))[1].counts == {"bad record skipped": 1}


def test_webanno_output_matches_inception(tmp_path: Path) -> None:
    given = [
        Sentence(["New_York", "😀", "x"], [Entity(0, 2, "L|P"), Entity(0, 1, "X")], "d-1"),
        Sentence(["y"], [], "d-2"),
    ]
    webanno.FORMAT.write(given, tmp_path / "d.tsv")
    assert (tmp_path / "d.tsv").read_text(encoding="utf-8") == tsv(
        NER,
        "#Text=New_York 😀 x",
        "1-1\t0-8\tNew\\_York\t*[1]|*[2]\tL\\|P[1]|X[2]",
        "1-2\t9-11\t😀\t*[1]\tL\\|P[1]",
        "1-3\t12-13\tx\t_\t_",
        "",
        "#Text=y",
        "2-1\t14-15\ty\t_\t_",
    )
    assert read_all(webanno.FORMAT, tmp_path / "d.tsv", LINES)[0] == given


def test_several_webanno_documents_need_a_folder(tmp_path: Path) -> None:
    given = [Sentence(["a"], [Entity(0, 1, "X")], "d-1"), Sentence(["b"], [], "e-1")]
    with pytest.raises(InputError, match=r"one \.tsv file holds one document"):
        webanno.FORMAT.write(given, tmp_path / "x.tsv")
    webanno.FORMAT.write(given, tmp_path / "x")
    assert format_of(tmp_path / "x").name == "webanno"
    assert read_all(webanno.FORMAT, tmp_path / "x")[0] == given
