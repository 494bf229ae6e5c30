"""Requests, responses and errors."""

import json
import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from nestag.inspect.rendering import Mark, boxes

TEXT = "Ilse Brandt met the Mayor of 😀 Utrecht. They left."
JSON = {"content-type": "application/json"}
TOKEN = "a token of some length".replace(" ", "-")


def found(answer: Any) -> list[list[tuple[str, str]]]:
    assert answer.status_code == 200, answer.text
    return [[(entity["type"], entity["text"]) for entity in result["entities"]] for result in answer.json()["results"]]


def test_text_request(client: TestClient) -> None:
    (result,) = client.post("/v1/entities", json={"text": TEXT, "tokens_too": True}).json()["results"]
    assert [entity["type"] for entity in result["entities"]] == ["RUN", "WORD", "WORD", "WORD", "WORD", "WORD"]
    assert all(TEXT[entity["start"] : entity["end"]] == entity["text"] for entity in result["entities"])
    assert [sentence["tokens"][-1] for sentence in result["sentences"]] == [".", "."]
    for sentence in result["sentences"]:
        assert [TEXT[start:end] for start, end in sentence["offsets"]] == sentence["tokens"]


def test_texts_and_tokens_requests(client: TestClient) -> None:
    assert found(client.post("/v1/entities", json={"texts": ["A b", "", "c D"]})) == [
        [("WORD", "A")],
        [],
        [("WORD", "D")],
    ]
    assert found(client.post("/v1/entities", json={"tokens": ["Ab", "C."]})) == [
        [("RUN", "Ab C."), ("WORD", "Ab"), ("WORD", "C.")]
    ]
    answer = client.post("/v1/entities", json={"sentences": [["a", "B"], ["C"]], "tokens_too": True})
    assert found(answer) == [[("WORD", "B")], [("WORD", "C")]]
    assert answer.json()["results"][0]["sentences"] == [{"tokens": ["a", "B"], "offsets": [[0, 1], [2, 3]]}]


def test_threshold_of_a_request(client: TestClient) -> None:
    asked = {"text": "Ilse Brandt slept", "threshold": 0.5}
    assert found(client.post("/v1/entities", json=asked)) == [[("RUN", "Ilse Brandt"), ("WORD", "Brandt")]]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "not JSON"),
        (b"[" * 50_000, 400, "body"),
        (b'{"text": ' + b"9" * 5_000 + b"}", 400, "body"),
        (b"[]", 422, "valid dictionary"),
        (b"{}", 422, "exactly one of text, texts, tokens and sentences"),
        (b'{"text": "a", "tokens": ["a"]}', 422, "exactly one"),
        (b'{"text": 3}', 422, "text: "),
        (b'{"text": "a", "more": 1}', 422, "more: "),
        (b'{"text": "a", "\\ud800": 1}', 422, "unicode"),
        (b'{"text": "\\ud800"}', 422, "half a character"),
        (b'{"text": "a", "threshold": NaN}', 422, "threshold"),
        (b'{"tokens": ["a", ""]}', 422, "tokens.1: "),
        (b'{"sentences": [["a"], []]}', 422, "sentences.1: "),
        (b'{"texts": "a"}', 422, "texts: "),
    ],
)
def test_errors_name_the_problem(client: TestClient, body: bytes, status: int, said: str) -> None:
    refused = client.post("/v1/entities", content=body, headers=JSON)
    assert refused.status_code == status
    assert said in refused.json()["error"]


def test_size_limits_are_enforced(server: Callable[..., Any]) -> None:
    with server(max_body=300, max_texts=2, max_characters=20, max_words=5) as client:
        for asked, said in (
            ({"texts": ["a", "b", "c"]}, "3 texts in a request; the limit is 2"),
            ({"sentences": [["a"]] * 3}, "3 sentences"),
            ({"text": "a" * 21}, "21 characters in a request; the limit is 20"),
            ({"tokens": ["abc"] * 7}, "21 characters"),
            ({"text": "a b c d e f"}, "6 words in a request; the limit is 5"),
            ({"sentences": [["a"] * 3] * 2}, "6 words"),
            ({"text": "a" * 300}, "more than 300 bytes"),
        ):
            refused = client.post("/v1/entities", json=asked)
            assert refused.status_code == 413
            assert said in refused.json()["error"]
        chunks = (b'{"text": "' if i == 0 else b" " * 100 for i in range(10_000))
        refused = client.post("/v1/entities", content=chunks, headers=JSON)  # its length is not said beforehand
        assert refused.status_code == 413
        assert "nestag_requests_accepted 0.0" in client.get("/metrics").text
        assert client.post("/v1/entities", json={"text": "a" * 20}).status_code == 200


def test_other_content_types_are_refused(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        refused = client.post("/v1/entities", content=b'{"text": "a"}', headers={"content-type": kind})
        assert refused.status_code == 415
    refused = client.options(
        "/v1/entities", headers={"origin": "http://a.example", "access-control-request-method": "POST"}
    )
    assert refused.status_code == 405
    assert not [name for name in refused.headers if name.startswith("access-control")]


def test_token_is_required(server: Callable[..., Any]) -> None:
    with server(token=TOKEN) as client:
        for path in ("/v1/model", "/metrics"):
            assert client.get(path).status_code == 401
            assert client.get(path, headers={"authorization": f"Basic {TOKEN}"}).status_code == 401
            assert client.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        refused = client.post(
            "/v1/entities", json={"text": "A"}, headers={"authorization": "Bearer é".encode("latin-1")}
        )
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert [client.get(path).status_code for path in ("/", "/healthz", "/readyz", "/openapi.json")] == [200] * 4


def test_local_server_accepts_local_host_names(server: Callable[..., Any]) -> None:
    with server(hosts=("localhost", "::1")) as client:
        status = {
            name: client.get("/v1/model", headers={"host": name}).status_code
            for name in ("localhost:8000", "[::1]:8000", "rebound.example")
        }
        assert status == {"localhost:8000": 200, "[::1]:8000": 200, "rebound.example": 421}


def test_request_times_out(server: Callable[..., Any]) -> None:
    with server(max_seconds=0.05) as client:
        over = threading.Event()
        client.recognizer.wait = over.wait
        refused = client.post("/v1/entities", json={"text": "SLOW"})
        over.set()
        assert refused.status_code == 503
        assert "not answered within 0.05 s" in refused.json()["error"]
        assert refused.headers["retry-after"] == "1"


def test_failing_text_is_isolated_and_not_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "nestag.serve"):
        refused = client.post("/v1/entities", json={"text": "POISON and secrets"})
        client.get("/v1/entities/secrets?secrets")
        client.post("/v1/entities", json={"secrets": 1})
    assert refused.status_code == 500
    assert "secrets" not in refused.text
    assert "a text could not be tagged: ValueError" in caplog.text
    assert "secrets" not in caplog.text
    assert found(client.post("/v1/entities", json={"text": "A"})) == [[("WORD", "A")]]


def test_model_health_and_metrics_routes(client: TestClient) -> None:
    model = client.get("/v1/model").json()
    assert (model["name"], model["encoding"], model["limits"]["max_texts"]) == ("capitals", "rel", 500)
    assert client.get("/healthz").json() == client.get("/readyz").json() == {"status": "ok"}
    counted = client.get("/metrics").text
    assert 'nestag_requests_total{route="/v1/model",status="200"}' in counted
    assert "nestag_words_total" in counted
    assert client.get("/nothing").json() == {"error": "not found"}


def test_tree_and_labels_are_returned(client: TestClient) -> None:
    example = client.get("/openapi.json").json()["components"]["schemas"]["LabelsRequest"]["properties"]
    asked = {name: example[name]["examples"][0] for name in ("tokens", "entities")}
    answer = client.post("/v1/labels", json=asked).json()
    rel = [" ".join(row[part] for part in "ncu") for row in answer["labels"]["rel"]]
    assert rel == ["1 S PER", "0 S -", "1 PER -", "0 PER -", "1 GPE -", "-2 S -"]
    assert sorted(answer["labels"]) == ["4tg", "abs", "dyn", "rel"]
    drawn = " ".join(f"{node['depth']}{node['name']}" for node in answer["tree"])
    assert drawn == "0S 1PER 2Lincoln 1was 1PER 2president 2of 2GPE 3the 3USA"


def test_drawings_are_escaped_and_match_notebooks(client: TestClient) -> None:
    text = "<i>Ann</i> 😀 of Rome"
    entities = [(3, 19, "PER", 0.9), (15, 19, "<b>", 0.5), (3, 6, "PER", None)]
    asked = [dict(zip(("start", "end", "type", "confidence"), entity, strict=True)) for entity in entities]
    answer = client.post("/v1/drawing", json={"text": text, "entities": asked})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    drawn = re.sub(r' data-entity="\d"', "", answer.text)
    assert drawn == boxes(text, [Mark(*entity) for entity in entities])
    assert re.findall(r'title="(\S+), .*?" data-entity="(\d)"', answer.text) == [
        ("PER", "0"), ("PER", "2"), ("&lt;b&gt;", "1"),
    ]  # fmt: skip


def test_invalid_drawings_are_refused(server: Callable[..., Any]) -> None:
    def refused(length: int, *spans: tuple[int, int]) -> Any:
        entities = [{"start": start, "end": end, "type": "A"} for start, end in spans]
        answer = client.post("/v1/drawing", json={"text": "a" * length, "entities": entities})
        return answer.status_code, answer.json()["error"]

    with server(max_characters=1_000, max_body=200_000) as client:
        assert refused(1_001)[0] == 413
        entities = [{"start": 0, "end": 1, "type": "A" * 201}]  # each piece of a box repeats its type
        assert client.post("/v1/drawing", json={"text": "a", "entities": entities}).status_code == 422
        status, said = refused(3, (0, 4))
        assert (status, "is not inside the text" in said) == (422, True)
        status, said = refused(1_000, *((start, start + 500) for start in range(300)))
        assert (status, "20,000 pairs" in said) == (413, True)


def test_invalid_label_requests_are_refused(client: TestClient) -> None:
    def refused(tokens: int, *entities: tuple[int, int, str]) -> Any:
        given = [dict(zip(("start", "end", "type"), entity, strict=True)) for entity in entities]
        return client.post("/v1/labels", json={"tokens": ["a"] * tokens, "entities": given})

    assert refused(3, (0, 2, "A"), (1, 3, "B")).status_code == 422
    assert "ends outside" in refused(3, (0, 4, "A")).json()["error"]
    assert refused(2_000, *((0, 2_000, f"T{i:03}") for i in range(500))).status_code == 413


def test_every_response_has_security_headers(client: TestClient) -> None:
    for answer in (client.get("/"), client.get("/nothing"), client.post("/v1/entities")):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "charset=utf-8" in client.get("/").headers["content-type"]
    assert json.loads(client.get("/openapi.json").text)["info"]["title"] == "nestag"


def test_python_example_of_the_page_runs(running: tuple[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "serve.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(example.replace("http://127.0.0.1:8000", running[0]), {})
    assert capsys.readouterr().out.splitlines()[0] == "0 7 WORD Lincoln 0.7"
