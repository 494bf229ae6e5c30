"""Connections: how many may be open, how long a client may take, and how they are closed.

uvicorn waits forever for headers and for clients that do not read, and it closes a connection while a client is still
sending, which resets it before the client has read the answer.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Any, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from nestag.serve.limits import RefusedError, ServerLimits, busy
from nestag.serve.middleware import Metrics

MAX_REFUSED = 64
"""Refused connections that get an answer at the same time; more are reset."""

SHORT_LINGER = 2.0
"""Seconds for a refused client to read the answer."""


class ServerConfig(uvicorn.Config):
    """The settings of uvicorn, and the state that all connections share."""

    def __init__(self, app: ASGIApp, limits: ServerLimits, metrics: Metrics) -> None:
        super().__init__(
            app,
            http=Connection,
            log_config=None,
            access_log=False,  # it would contain paths, and paths may contain text
            server_header=False,
            timeout_graceful_shutdown=int(limits.max_seconds) + 1,
            lifespan="off",
            ws="none",
        )
        self.limits, self.metrics = limits, metrics
        self.open: dict[Connection, str] = {}  # connections and their clients, the oldest first
        self.refused: set[Connection] = set()
        metrics.connections.set_function(lambda: len(self.open) + len(self.refused))

    def make_room(self, client: str) -> RefusedError | None:
        """Make room by dropping the oldest connection whose client is slow or idle, or return why there is none."""
        clients = Counter(self.open.values())
        if clients.total() >= self.limits.max_connections:
            full = busy("too many connections are open; try again")
            ((client, _),) = clients.most_common(1)
        elif clients[client] >= self.limits.max_connections_per_client:
            full = busy("too many connections from your address are open; close some, or try again", 429)
        else:
            return None
        for connection, name in self.open.items():
            if name == client and (connection.incomplete or connection.unread):
                connection.make_way(full)
                return None
        return full


class Connection(H11Protocol):
    """A connection over HTTP/1.1 with a timer that is always running."""

    config: ServerConfig

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept or refuse a connection."""
        self._socket = transport
        self._timer: asyncio.TimerHandle | None = None
        self._discarding = False
        super().connection_made(cast(asyncio.Transport, GentleTransport(self, transport)))
        client = client_of(self.client[0] if self.client else "")
        full = self.config.make_room(client)
        self.config.open[self] = client
        if full is None:
            self._wait_for_request()
        else:
            self.make_way(full)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        super().connection_lost(exc)
        self._cancel_timer()
        self.config.open.pop(self, None)
        self.config.refused.discard(self)

    def data_received(self, data: bytes) -> None:
        """Parse data, or discard it after the answer."""
        if not self._discarding:
            super().data_received(data)

    def handle_events(self) -> None:
        """Parse requests; limit the time until the client has read the answer."""
        cycle = self.cycle
        super().handle_events()
        if self.cycle is not cycle and not self.closing:
            limits = self.config.limits
            self._start_timer(limits.max_upload_seconds + 2 * limits.max_seconds, self._socket.abort)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        if not self.closing:
            self._wait_for_request()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(RefusedError(400, msg), self.config.limits.max_upload_seconds)

    def shutdown(self) -> None:
        """Close the connection, after the answer if a request is complete."""
        if self._discarding:
            self._socket.close()
        elif self.incomplete:
            self._drop(busy("the server is stopping; try again"))
        else:
            super().shutdown()

    def make_way(self, full: RefusedError) -> None:
        """Give up the place of this connection; the client may still read an answer."""
        del self.config.open[self]
        self.config.refused.add(self)
        if len(self.config.refused) > MAX_REFUSED:
            self._socket.abort()
        elif self.cycle is None:
            self._refuse(full, SHORT_LINGER)
        else:
            self._drop(full)

    @property
    def incomplete(self) -> bool:
        """Whether the server waits for a request or for the rest of one."""
        cycle = self.cycle
        waiting = cycle is None or cycle.response_complete or (cycle.more_body and not cycle.response_started)
        return waiting and not self.closing

    @property
    def unread(self) -> bool:
        """Whether the client does not read its answers."""
        return self.flow.write_paused and not self.closing

    @property
    def closing(self) -> bool:
        """Whether nothing more is read or answered."""
        return self._discarding or self._socket.is_closing()

    def close(self) -> None:
        """Close the connection once everything is written; first read what a client is still sending."""
        if self.closing:
            return
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR):
            self._linger(self.config.limits.max_upload_seconds)
        else:
            self._close_now()

    def _close_now(self) -> None:
        self._socket.close()
        self._start_timer(self.config.limits.max_seconds, self._socket.abort)

    def _wait_for_request(self) -> None:
        seconds = self.config.limits.max_upload_seconds
        late = RefusedError(408, f"the headers did not arrive within {seconds:g} s")
        self._start_timer(seconds, lambda: self._drop(late))

    def _drop(self, refused: RefusedError) -> None:
        """Close an incomplete connection; refuse the request if a part of one has arrived."""
        idle = self.conn.our_state is h11.IDLE and not self.conn.trailing_data[0]
        if idle or self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self._close_now()
        else:
            self._refuse(refused, SHORT_LINGER)

    def _refuse(self, refused: RefusedError, seconds: float) -> None:
        """Answer without the application if nothing was answered yet, and close."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            reason = HTTPStatus(refused.status).phrase.encode()
            headers = [*refused.headers, (b"connection", b"close")]
            start = h11.Response(status_code=refused.status, headers=headers, reason=reason)
            for event in (start, h11.Data(data=refused.body), h11.EndOfMessage()):
                self._socket.write(self.conn.send(event) or b"")
            self.config.metrics.requests.labels("other", str(refused.status)).inc()
        self._linger(seconds)

    def _linger(self, seconds: float) -> None:
        """Close the sending side and discard what arrives until the client closes its own."""
        self._discarding = True
        self._unset_keepalive_if_required()
        self._start_timer(seconds, self._socket.abort)
        with suppress(OSError):  # the client has disconnected
            self._socket.write_eof()
        self._socket.resume_reading()

    def _start_timer(self, seconds: float, action: Callable[[], None]) -> None:
        self._cancel_timer()
        self._timer = self.loop.call_later(seconds, action)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class GentleTransport:
    """The transport that uvicorn sees: it closes as the connection does."""

    def __init__(self, connection: Connection, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.close = connection.close
        self.is_closing = lambda: connection.closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def client_of(address: str) -> str:
    """Return the address by which connections are counted; an IPv6 client has a whole /64 network.

    >>> client_of("192.0.2.1"), client_of("::ffff:192.0.2.1"), client_of("2001:db8::1:2:3:4")
    ('192.0.2.1', '192.0.2.1', '2001:db8::')
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket, or a test
        return address
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Address(int(ip) >> 64 << 64))
