"""How watchers connect: always by a unix socket of the user's, and by a port of 127.0.0.1 if asked.

```text
  usual folder/drivelab-PID.watch   only for the serving user; `drivelab watch` finds it there
  port of 127.0.0.1                 only if asked; for every user of the machine
```

Both speak HTTP. A door is bound early, so that a port in use is refused before a drive is prepared.
It answers later.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import threading
from http.server import HTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any, Final, Self

from drivelab.errors import UsageError
from drivelab.live.settings import usual_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.server import BaseHTTPRequestHandler

#: Watchers that are answered at the same time; further ones are disconnected.
MOST_WATCHERS: Final = 8
_PREFIX: Final = "drivelab-"
_SUFFIX: Final = ".watch"
_LOOK_SECONDS: Final = 0.25


class _Door(ThreadingMixIn, HTTPServer):
    """Answers a few watchers at the same time, one thread each."""

    daemon_threads = True
    # Do not wait for a watcher that hangs.
    block_on_close = False
    request_queue_size = 2 * MOST_WATCHERS
    timeout = _LOOK_SECONDS

    def __init__(self, address: Any, handler: type[BaseHTTPRequestHandler]) -> None:
        self._places = threading.BoundedSemaphore(MOST_WATCHERS)
        self._shut = threading.Event()
        #: The thread that accepts watchers, once it is started.
        self.hearing = threading.Thread(target=self._hear, name="drivelab-door", daemon=True)
        super().__init__(address, handler, bind_and_activate=False)
        try:
            self.server_bind()
            # If two bind at the same moment, one of them learns here that the port is taken.
            self.server_activate()
        except BaseException:
            self.server_close()
            raise

    def _hear(self) -> None:
        while not self._shut.is_set():
            try:
                self.handle_request()
            except (OSError, ValueError):
                # It was shut before this thread began.
                if not self._shut.is_set():
                    raise

    def shut(self) -> None:
        """Accept nobody any more; a signal may have come before the thread was known to run."""
        self._shut.set()
        if self.hearing.is_alive():
            self.hearing.join()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # The system has no more threads.
            self._places.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: a watcher that left or did not read is no error of ours."""


class _PortDoor(_Door):
    @property
    def hosts(self) -> frozenset[str]:
        """Return the host names that browsers may use; others came from a foreign page."""
        port = self.server_address[1]
        names = ("127.0.0.1", "localhost")
        return frozenset({*(f"{name}:{port}" for name in names), *(names if port == 80 else ())})


class _SocketDoor(_Door):
    address_family = socket.AF_UNIX
    hosts = None

    def server_bind(self) -> None:
        # HTTPServer would look up the name of a host.
        path = str(self.server_address)
        self.socket.bind(path)
        Path(path).chmod(0o600)
        self.server_name, self.server_port = "localhost", 0

    def get_request(self) -> tuple[Any, Any]:
        request, _ = self.socket.accept()
        return request, ("local", 0)


class Doors:
    """The ways for watchers to connect; use it as a context.

    Parameters
    ----------
    handler
        Answers requests.
    port
        Also a TCP port of 127.0.0.1, 0 for any free one; ``None`` for none.

    Raises
    ------
    UsageError
        If the port cannot be used; nothing is left behind then.
    """

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int | None) -> None:
        self._doors: list[_Door] = []
        self._path: Path | None = None
        #: Address for browsers; None without a port.
        self.url: str | None = None
        if port is not None:
            try:
                door = _PortDoor(("127.0.0.1", port), handler)
            except OSError as error:
                raise UsageError(
                    f"--monitor {port} cannot be used: {error.strerror}; give another port, or 0 "
                    "for any that is free"
                ) from None
            self._doors.append(door)
            self.url = f"http://127.0.0.1:{door.server_address[1]}/"
        self._open_socket(handler)

    def _open_socket(self, handler: type[BaseHTTPRequestHandler]) -> None:
        for path in _sockets():
            _remove_if_dead(path)
        path = usual_folder() / f"{_PREFIX}{os.getpid()}{_SUFFIX}"
        # Without the socket `drivelab watch` cannot find this server, but the drive is served.
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            self._doors.append(_SocketDoor(str(path), handler))
            self._path = path

    def open(self, answering: Callable[[], None]) -> None:
        """Accept watchers from now on; `answering` is called once before that."""
        answering()
        for door in self._doors:
            door.hearing.start()

    def close(self) -> None:
        """Shut the doors without waiting for connected watchers."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None
        for door in self._doors:
            door.shut()
        self._doors.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sockets() -> list[Path]:
    """Find the sockets of this user's servers, also of dead ones."""
    return list(_sockets())


def _sockets() -> Iterator[Path]:
    try:
        paths = sorted(usual_folder().glob(f"{_PREFIX}*{_SUFFIX}"))
    except OSError:
        return
    for path in paths:
        with contextlib.suppress(OSError):
            found = path.lstat()
            # Other users may write to this folder, too: ignore their sockets.
            if stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid():
                yield path


def _remove_if_dead(path: Path) -> None:
    """Remove the socket of a server that was killed."""
    number = path.name[len(_PREFIX) : -len(_SUFFIX)]
    if not number.isdecimal():
        return
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        pass
    except (OSError, OverflowError):
        return
    else:
        return
    with socket.socket(socket.AF_UNIX) as asked, contextlib.suppress(OSError):
        asked.settimeout(1)
        try:
            asked.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
