"""schemathesis sends valid and invalid requests after the OpenAPI document."""

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

from late_imports import schemathesis

bounded = settings(
    max_examples=settings.default.max_examples // 4,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("name", ["POSITIVE", "NEGATIVE"])
def test_server_follows_its_openapi_document(client: TestClient, name: str) -> None:
    mode = schemathesis.GenerationMode[name]
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


def ask(operation: Any, mode: Any) -> None:
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    # entities may stand outside the sentence, which no schema can say
    unfit = [positive_data_acceptance] if operation.path in ("/v1/labels", "/v1/drawing") else []

    @bounded
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        case.call_and_validate(excluded_checks=unfit)

    check()
