"""serve: a recognizer behind HTTP, with a page to try it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import Predicting
from nestag.cli.predict import loaded
from nestag.cli.terminal import tell
from nestag.errors import MissingExtraError


@dataclass(frozen=True)
class Capacity:
    """Limits of a server, as options."""

    max_body: Annotated[int, typer.Option(min=1, help="Maximum bytes in a request's body.")] = 1_000_000
    max_texts: Annotated[int, typer.Option(min=1, help="Maximum texts or sentences in a request.")] = 500
    max_characters: Annotated[int, typer.Option(min=1, help="Maximum characters in a request.")] = 50_000
    max_words: Annotated[int, typer.Option(min=1, help="Maximum words in a request.")] = 15_000
    max_queue: Annotated[int, typer.Option(min=1, help="Maximum requests waiting for an answer.")] = 64
    max_seconds: Annotated[float, typer.Option(min=0.01, help="Seconds until a request times out.")] = 60.0
    batch_words: Annotated[int, typer.Option(min=1, help="Maximum words in a batch of waiting requests.")] = 2_000


def serve(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or a name on the hub.")],
    host: Annotated[str, typer.Option(help="The address to bind; 0.0.0.0 binds all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 picks a free one.")] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A host name to accept in requests; may be repeated.")
    ] = None,
    token_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Require the bearer token in this file (or in NESTAG_TOKEN).")
    ] = None,
    predicting: Predicting,
    device: Annotated[
        str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1 (default: a GPU if there is one).")
    ] = None,
    capacity: Capacity,
) -> None:
    """Answer requests for entities over HTTP, and show a page to try it at /.

    Texts that arrive together are tagged together. SIGTERM or Ctrl-C finishes what was accepted, then ends.
    """
    try:
        from nestag.serve import app, limits, metrics, server, service
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "nestag":
            raise
        raise MissingExtraError(f"nestag serve needs {error.name}", "serve") from None
    address = server.Address(host, port)
    token = server.token_from(token_file)
    listening = server.listen(address)
    with listening:
        recognizer = loaded(model, device, predicting.changes)
        limit = limits.ServerLimits(
            capacity.max_body,
            capacity.max_texts,
            capacity.max_characters,
            capacity.max_words,
            capacity.max_queue,
            capacity.max_seconds,
            capacity.batch_words,
        )
        serving = service.Service(recognizer, Path(model).name or model, limit, metrics.Metrics())
        server.log_to_stderr()
        if host not in server.LOOPBACK and token is None:
            tell(f"nestag: everybody who reaches {host} can use this server; give --token-file to ask for a token")
        server.serve(
            app.app_of(serving, token, address.hosts(name or ())),
            listening,
            limit.seconds,
            lambda url: tell(f"serving {model} at {url}"),
        )
