"""serve: a recognizer behind HTTP, with a page to try it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import DeviceOption, ModelArgument, Predicting, file_option
from nestag.cli.terminal import log
from nestag.errors import MissingExtraError
from nestag.model.model_folder import load
from nestag.serve.limits import ServerLimits


def serve(
    *,
    model: ModelArgument,
    host: Annotated[str, typer.Option(help="The address to bind; 0.0.0.0 binds all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 picks a free one.")] = 8000,
    name: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A host name to accept in requests; may be repeated.")
    ] = None,
    token_file: Annotated[
        str | None, file_option("Require the bearer token in this file (or in NESTAG_TOKEN).")
    ] = None,
    predicting: Predicting,
    device: DeviceOption = None,
    limits: ServerLimits,
) -> None:
    """Serve entities over HTTP, with a page to try it at /.

    Concurrent requests are tagged in batches. SIGTERM, SIGHUP or Ctrl-C finishes accepted requests, then stops.
    """
    try:
        from nestag.serve import app, server, service
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "nestag":
            raise
        raise MissingExtraError(f"nestag serve needs {error.name}", "serve") from None
    token = server.read_token(token_file)
    listening = server.listen(host, port)
    with listening:
        recognizer = load(model, device, **predicting.changes)
        serving = service.Service(recognizer, Path(model).name or model, limits)
        server.log_to_stderr()
        if host not in server.LOOPBACK and token is None:
            log(f"nestag: anyone who can reach {host} can use this server; require a token with --token-file")
        application = app.app_of(serving, token, server.accepted_hosts(host, name or ()))
        server.serve(application, serving, listening, lambda url: log(f"serving {model} at {url}"))
