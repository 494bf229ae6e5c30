"""The routes. Each parses a request, calls one function and returns what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any, TypeVar

from fastapi import Body, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from nestag.errors import visible
from nestag.inspect.rendering import style
from nestag.serve.limits import RefusedError, busy
from nestag.serve.middleware import DEADLINE, Gate, WatchMiddleware
from nestag.serve.schema import (
    LINCOLN,
    DrawingRequest,
    EntitiesAnswer,
    EntitiesRequest,
    LabelsAnswer,
    LabelsRequest,
    ModelAnswer,
    Problem,
    Status,
)
from nestag.serve.service import Service
from nestag.serve.views import drawing_of, labels_of

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PAGE = "index.html"
ENTITIES = "/v1/entities"
T = TypeVar("T")
GONE = 499
"""The status of a request that nobody waits for any more; nobody sees it but the log."""

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is not JSON."},
    401: {"model": Problem, "description": "The token is missing or wrong."},
    408: {"model": Problem, "description": "The body did not arrive in time."},
    413: {"model": Problem, "description": "The request is over a limit of size."},
    415: {"model": Problem, "description": "The body is not declared to be JSON."},
    422: {"model": Problem, "description": "The request is not as the schema says."},
    500: {"model": Problem, "description": "The text could not be tagged."},
    503: {"model": Problem, "description": "Too many requests wait, or time was over; try again."},
}
EXAMPLES: dict[str, Any] = {
    "a text": {"value": {"text": LINCOLN}},
    "texts": {"value": {"texts": [LINCOLN, "The mayor of Utrecht resigned."], "threshold": 0.5}},
    "the words of a sentence": {"value": {"tokens": LINCOLN[:-1].split()}},
    "the words of sentences": {"value": {"sentences": [LINCOLN[:-1].split(), ["Ilse", "Brandt", "slept"]]}},
}
UNREADY: dict[int | str, dict[str, Any]] = {503: {"model": Problem, "description": "No."}}
GUARDED: dict[int | str, dict[str, Any]] = {401: PROBLEMS[401]}
DRAWN: dict[int | str, dict[str, Any]] = {**PROBLEMS, 200: {"content": {"text/html": {"schema": {"type": "string"}}}}}


def app_of(service: Service, token: str | None = None, hosts: Sequence[str] = ()) -> FastAPI:
    """The application of a service; `hosts` are the Host names it accepts; empty accepts all."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="nestag",
        version=version("nestag"),
        description="Nested named entity recognition: entities inside entities, from text or tokens.",
        docs_url=None,  # the pages of FastAPI load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses={421: {"model": Problem, "description": "The server is called by a name that is not its own."}},
    )
    _add_entities(app, service)
    _add_views(app, service)
    _add_states(app, service)
    _add_page(app)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    routes = frozenset(route.path for route in app.routes if isinstance(route, APIRoute)) | {"/openapi.json"}
    app.add_middleware(Gate, limits=service.limits, metrics=service.metrics, token=token, hosts=hosts)
    app.add_middleware(WatchMiddleware, metrics=service.metrics, routes=routes)
    return app


def _add_entities(app: FastAPI, service: Service) -> None:
    @app.post(ENTITIES, responses=PROBLEMS, summary="Find entities in one or many texts or sentences")
    async def entities(
        request: Request, asked: Annotated[EntitiesRequest, Body(openapi_examples=EXAMPLES)]
    ) -> EntitiesAnswer:
        """A result for each text or sentence, in their order. Offsets count characters, or tokens if tokens came."""
        return await unless_gone(request, service.entities(asked, request.scope[DEADLINE]))


def _add_views(app: FastAPI, service: Service) -> None:
    """Other views of a sentence; no model is used."""

    @app.post("/v1/drawing", responses=DRAWN, response_class=Response, summary="Draw nested entities as HTML")
    def drawing(asked: DrawingRequest) -> HTMLResponse:
        """The text with boxes in boxes, for the style sheet /page/entities.css; all of it is escaped."""
        return HTMLResponse(drawing_of(asked, service.predictor.vocabulary.types, service.limits))

    @app.post("/v1/labels", responses=PROBLEMS, summary="Show a sentence as a tree and as labels")
    def labels(asked: LabelsRequest) -> LabelsAnswer:
        """The tree of nested entities, and one label for each word in each encoding."""
        return labels_of(asked)


async def unless_gone(request: Request, answer: Coroutine[Any, Any, T]) -> T:
    """The answer, unless whoever asked has gone: then nothing more is done for it."""
    work, gone = asyncio.ensure_future(answer), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise RefusedError(GONE, "whoever asked has gone")
        return await work
    finally:
        work.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _add_states(app: FastAPI, service: Service) -> None:
    @app.get("/v1/model", responses=GUARDED, summary="What is served")
    async def model() -> ModelAnswer:
        """The model's types, encoding and settings, and the limits of a request."""
        return service.model()

    @app.get("/healthz", responses=UNREADY, summary="Whether the server lives")
    async def health() -> Status:
        """200 if so, else 503."""
        return _status(service.alive)

    @app.get("/readyz", responses=UNREADY, summary="Whether requests are taken")
    async def readiness() -> Status:
        """200 if so, else 503."""
        return _status(service.ready)

    @app.get("/metrics", responses={**GUARDED, 200: {"content": {"text/plain": {}}}}, response_class=Response)
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response(service.metrics.page(), media_type="text/plain; version=0.0.4")


def _status(well: bool) -> Status:
    if not well:
        raise busy("the server is stopping")
    return Status(status="ok")


def _add_page(app: FastAPI) -> None:
    """Each file of the page is a route of its own, read once; the drawings of entities have the style of all others."""
    folder = files("nestag.serve") / "page"
    for file in folder.iterdir():
        kind = KINDS.get("." + file.name.rpartition(".")[2])
        if kind is None:
            continue
        path = "/" if file.name == PAGE else f"/page/{file.name}"
        answer = Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})
        app.add_api_route(path, _always(answer), include_in_schema=False, methods=["GET", "HEAD"])
    drawings = Response(style(), media_type="text/css", headers={"Cache-Control": "no-cache"})
    app.add_api_route("/page/entities.css", _always(drawings), include_in_schema=False, methods=["GET", "HEAD"])


def _always(answer: Response) -> Any:
    async def route() -> Response:
        return answer

    return route


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong with a request, without what it holds."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _problem(400, "the body is not JSON")
    path = first["loc"][2 if request.url.path == ENTITIES else 1 :]  # there, the kind of request comes before
    place = ".".join(map(str, path))
    line = f"{place}: {first['msg']}" if place else str(first["msg"])
    return _problem(422, visible(line)[:300])


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem(error.status_code, str(error.detail).lower(), error.headers)


def _problem(status: int, message: str, headers: Any = None) -> Response:
    return JSONResponse({"error": message}, status, headers)
