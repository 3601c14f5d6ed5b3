"""Answers to watchers of a served drive over HTTP: the page, metrics and JSON.

```text
  core ── once a second ──> Monitor: the last second, rows of the last minutes
                               │ answers
              /  /metrics  /state  /history   <── any number of watchers, a few at a time
```

Watchers cannot change anything. Their own threads answer them from what was gathered before, so no
watcher ever disturbs the thread that keeps time.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Final, Self

from drivelab.live.doors import Doors
from drivelab.live.metrics import CONTENT_TYPE, metrics
from drivelab.live.state import state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from drivelab.live.serving import Serving
    from drivelab.live.state import About

#: The most seconds that lines over time show.
HISTORY_SECONDS: Final = 600
# A watcher that neither asks nor reads for this long is disconnected.
_PATIENCE_SECONDS: Final = 5.0
# The core has news once a second: poll from shortly before until it is there.
_REST_SECONDS: Final = 0.9
_LOOK_SECONDS: Final = 0.05
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class Monitor:
    """Shows a served drive to watchers; use it as a context.

    Parameters
    ----------
    port
        A TCP port of 127.0.0.1 for browsers and Prometheus, 0 for any free one; ``None`` if only
        `drivelab watch` connects.
    page
        Returns the page, the first time that somebody asks for it.

    Raises
    ------
    UsageError
        If the port cannot be used.
    """

    def __init__(self, port: int | None, page: Callable[[], bytes]) -> None:
        self._page = page
        self._stop = threading.Event()
        self._news = threading.Condition()
        self._last: tuple[About, Mapping[str, Any]] | None = None
        self._rows: deque[dict[str, Any]] = deque(maxlen=HISTORY_SECONDS)
        handler = type("Handler", (_Handler,), {"monitor": self})
        self._doors = Doors(handler, port)

    @property
    def url(self) -> str | None:
        """Return the address for browsers; None without a port."""
        return self._doors.url

    def show(self, serving: Serving) -> None:
        """Let watchers see this drive from now on."""
        gathering = threading.Thread(
            target=self._gather, args=(serving,), name="drivelab-monitor", daemon=True
        )
        self._doors.open(gathering.start)

    def _gather(self, serving: Serving) -> None:
        after = 0
        while not self._stop.wait(_LOOK_SECONDS):
            watched = serving.watched(after)
            if watched is None:
                continue
            after = watched["number"]
            row = state(serving.about, watched)["row"]
            with self._news:
                self._last = (serving.about, watched)
                self._rows.append(row)
                self._news.notify_all()
            self._stop.wait(_REST_SECONDS)

    def answer(self, path: str) -> tuple[str, bytes] | None:
        """Return the content of a path and its type; None if the path does not exist.

        Raises
        ------
        TimeoutError
            If the first second has not passed yet.
        """
        match path:
            case "/":
                return "text/html; charset=utf-8", self._page()
            case "/metrics":
                return CONTENT_TYPE, metrics(*self._known()).encode()
            case "/state":
                return "application/json", _json(state(*self._known()))
            case "/history":
                self._known()
                with self._news:
                    rows = list(self._rows)
                return "application/json", _json({"rows": rows})
        return None

    def _known(self) -> tuple[About, Mapping[str, Any]]:
        with self._news:
            self._news.wait_for(lambda: self._last is not None, _PATIENCE_SECONDS)
            if self._last is None:
                raise TimeoutError
            return self._last

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._doors.close()


def _json(values: object) -> bytes:
    return json.dumps(values, allow_nan=False, separators=(",", ":")).encode()


class _Handler(BaseHTTPRequestHandler):
    monitor: Monitor
    timeout = _PATIENCE_SECONDS
    server_version = "drivelab"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a watcher."""
        hosts = getattr(self.server, "hosts", None)
        if hosts is not None and self.headers.get("Host", "").lower() not in hosts:
            self._send(HTTPStatus.FORBIDDEN, b"ask 127.0.0.1 or localhost by that name\n")
            return
        try:
            found = self.monitor.answer(self.path.partition("?")[0])
        except TimeoutError:
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, b"the first second has not passed yet\n")
            return
        if found is None:
            self._send(HTTPStatus.NOT_FOUND, b"there are /, /metrics, /state and /history\n")
            return
        self._send(HTTPStatus.OK, found[1], found[0])

    do_HEAD = do_GET  # noqa: N815 - as http.server looks for it

    def _refuse(self) -> None:
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, b"nothing can be changed here: GET or HEAD\n")

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _refuse  # noqa: N815

    def _send(
        self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8"
    ) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""
