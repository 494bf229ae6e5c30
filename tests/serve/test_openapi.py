"""schemathesis asks what the OpenAPI document allows, and what it forbids."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

bounded = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_the_server_does_as_its_document_says(client: TestClient, mode: "schemathesis.GenerationMode") -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
    seen = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode is schemathesis.GenerationMode.NEGATIVE and not operation.body:
            continue  # there is nothing to get wrong

        ask(operation, mode)
        seen.add(operation.path)
    paths = {"/v1/entities", "/v1/labels", "/v1/drawing"}
    if mode is schemathesis.GenerationMode.POSITIVE:
        paths |= {"/v1/model", "/healthz", "/readyz", "/metrics"}
    assert seen == paths


def ask(operation: "schemathesis.APIOperation", mode: "schemathesis.GenerationMode") -> None:
    # entities may stand outside the sentence, which no schema can say
    unfit = [positive_data_acceptance] if operation.path in ("/v1/labels", "/v1/drawing") else []

    @bounded
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: "schemathesis.Case") -> None:
        case.call_and_validate(excluded_checks=unfit)

    check()
