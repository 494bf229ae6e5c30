"""The routes. Each parses a request and calls one function."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nestag.errors import visible
from nestag.inspect.rendering import style
from nestag.serve.limits import busy
from nestag.serve.middleware import DEADLINE, Gate, WatchMiddleware
from nestag.serve.schema import (
    DrawingRequest,
    EntitiesAnswer,
    EntitiesRequest,
    LabelsAnswer,
    LabelsRequest,
    ModelAnswer,
    Problem,
    Status,
)
from nestag.serve.service import Service, describe_labels, draw

PROBLEMS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    408: "The body did not arrive in time.",
    413: "The request is over a limit.",
    415: "The body is not declared to be JSON.",
    421: "Unknown host name.",
    422: "The request does not match the schema.",
    500: "The model failed on this request.",
    503: "Too many requests are waiting, or the server is stopping; try again.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the refusals of a route."""
    return {status: {"model": Problem, "description": PROBLEMS[status]} for status in statuses}


def app_of(service: Service, token: str | None = None, hosts: Sequence[str] = ()) -> FastAPI:
    """Return the application of a service; `hosts` are the accepted Host names; empty accepts all."""
    app = FastAPI(
        title="nestag",
        version=version("nestag"),
        description="Nested named entity recognition: entities inside entities, from text or tokens.",
        docs_url=None,  # FastAPI's pages load scripts from other sites
        redoc_url=None,
        responses=problems(421),
    )
    _add_api(app, service)
    _add_state_routes(app, service)
    _add_pages(app)
    app.add_exception_handler(RequestValidationError, _refuse_invalid)
    app.add_exception_handler(HTTPException, _refuse_http)
    routes = frozenset(route.path for route in app.routes if isinstance(route, Route))
    app.add_middleware(Gate, limits=service.limits, metrics=service.metrics, token=token, hosts=hosts)
    app.add_middleware(WatchMiddleware, metrics=service.metrics, routes=routes)
    return app


def _add_api(app: FastAPI, service: Service) -> None:
    @app.post("/v1/entities", responses=problems(*PROBLEMS), summary="Find entities in texts or sentences")
    async def entities(request: Request, body: EntitiesRequest) -> EntitiesAnswer:
        """Return a result for each text or sentence, in the same order."""
        return await service.entities(body, request.scope[DEADLINE])

    @app.get("/v1/model", responses=problems(401), summary="Describe the model")
    async def model() -> ModelAnswer:
        """Return the model's types, encoding and settings, and the limits of a request."""
        return service.model()

    drawing_answers = {**problems(*PROBLEMS), 200: {"content": {"text/html": {"schema": {"type": "string"}}}}}

    @app.post("/v1/drawing", responses=drawing_answers, response_class=Response, summary="Draw nested entities as HTML")
    def drawing(body: DrawingRequest) -> HTMLResponse:
        """Return the escaped text with boxes in boxes, for the style sheet /page/entities.css. No model is used."""
        return HTMLResponse(draw(body, service.limits))

    @app.post("/v1/labels", responses=problems(*PROBLEMS), summary="Show a sentence as a tree and as labels")
    def labels(body: LabelsRequest) -> LabelsAnswer:
        """Return the tree of nested entities, and a label for each word in each encoding. No model is used."""
        return describe_labels(body)


def _add_state_routes(app: FastAPI, service: Service) -> None:
    @app.get("/healthz", summary="Check that the server runs")
    async def health() -> Status:
        """Answer 200."""
        return Status()

    @app.get("/readyz", responses=problems(503), summary="Check that the server accepts requests")
    async def readiness() -> Status:
        """Answer 200, or 503 while the server is stopping."""
        if not service.ready:
            raise busy("the server is stopping")
        return Status()

    plain = {**problems(401), 200: {"content": {"text/plain": {}}}}

    @app.get("/metrics", responses=plain, response_class=Response, summary="Show counters for Prometheus")
    async def metrics() -> Response:
        """Return requests by route and status, latency, batches, words and memory."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4")


def _add_pages(app: FastAPI) -> None:
    """Add the pages with their scripts and styles; drawings have the same style as in notebooks and reports."""
    folder = Path(__file__).with_name("page")
    app.router.routes += [
        Route("/", lambda _: FileResponse(folder / "index.html")),
        Route("/docs", lambda _: FileResponse(folder / "docs.html")),
        Route("/page/entities.css", lambda _: Response(style(), media_type="text/css")),
        Mount("/page", StaticFiles(directory=folder)),
    ]


async def _refuse_invalid(_: Request, error: Exception) -> Response:
    """Answer what is wrong with a request, without its content."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return JSONResponse({"error": "the body is not JSON"}, 400)
    place = ".".join(map(str, first["loc"][1:]))
    message = f"{place}: {first['msg']}" if place else str(first["msg"])
    return JSONResponse({"error": visible(message)[:300]}, 422)


async def _refuse_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail).lower()}, error.status_code, error.headers)
