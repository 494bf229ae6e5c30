"""An in-memory object store with the part of the S3 protocol that Arrow needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase, BytesIO
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class ObjectStore:
    """What is stored, by "bucket/key", and the uploads that are not ended yet."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}

    def address(self, path: str) -> str:
        """The address by which Arrow reaches a path."""
        return f"s3://key:secret@{path}?scheme=http&endpoint_override=127.0.0.1:{self.port}&region=here"


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """A store that listens as long as the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Requests)
    server.store = ObjectStore(server.server_address[1])  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.store  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every body waits 40 ms for the headers to be acknowledged

    def setup(self) -> None:
        super().setup()
        self.store: ObjectStore = self.server.store  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        pass

    @property
    def key(self) -> str:
        return unquote(urlsplit(self.path).path).lstrip("/")

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query, keep_blank_values=True).items()}

    def do_HEAD(self) -> None:
        if "/" not in self.key.rstrip("/"):  # a bucket
            bucket = f"{self.key.rstrip('/')}/"
            return self._answer(200 if any(name.startswith(bucket) for name in self.store.objects) else 404)
        return self._send_object()

    def do_GET(self) -> None:
        if "list-type" in self.query:
            return self._answer(200, self._listing())
        return self._send_object()

    def do_PUT(self) -> None:
        data = self._body()
        if "uploadId" in self.query:
            self.store.uploads[self.query["uploadId"]][int(self.query["partNumber"])] = data
        elif "/" in self.key.rstrip("/"):
            self.store.objects[self.key] = data
        self._answer(200, headers={"ETag": '"x"'})

    def do_POST(self) -> None:
        self._body()
        if "uploads" in self.query:
            name = str(len(self.store.uploads))
            self.store.uploads[name] = {}
            return self._answer(
                200, f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            )
        if "uploadId" in self.query:
            parts = self.store.uploads.pop(self.query["uploadId"])
            self.store.objects[self.key] = b"".join(parts[number] for number in sorted(parts))
            return self._answer(200, "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
        return self._answer(200, "<DeleteResult/>")

    def do_DELETE(self) -> None:
        self.store.objects.pop(self.key, None)
        self._answer(204)

    def _send_object(self) -> None:
        data = self.store.objects.get(self.key)
        if data is None:
            return self._answer(404, "<Error><Code>NoSuchKey</Code></Error>")
        headers = {"ETag": '"x"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None:
            return self._answer(200, data, headers)
        first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return self._answer(206, data[first : last + 1], headers)

    def _listing(self) -> str:
        bucket = f"{self.key.rstrip('/')}/"
        prefix, delimiter = self.query.get("prefix", ""), self.query.get("delimiter", "")
        keys = sorted(name.removeprefix(bucket) for name in self.store.objects if name.startswith(bucket))
        keys = [key for key in keys if key.startswith(prefix)]
        below = {key: key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "") for key in keys}
        folders = dict.fromkeys(prefix + first + mark for first, mark, _ in below.values() if mark)
        found = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.store.objects[bucket + key])}</Size>"
            "<LastModified>2024-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, (_, mark, _) in below.items()
            if not mark
        )
        found += "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders)
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{found}</ListBucketResult>"

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = _joined(self.rfile)
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return _joined(BytesIO(data)) if "aws-chunked" in self.headers.get("Content-Encoding", "") else data

    def _answer(self, status: int, body: bytes | str = b"", headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _joined(stream: BufferedIOBase) -> bytes:
    """What is sent in pieces, each after its size in hexadecimal digits; the last one is empty."""
    found = b""
    while size := int(stream.readline().partition(b";")[0], 16):
        found += stream.read(size)
        stream.readline()
    return found
