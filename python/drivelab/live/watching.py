"""Watch a served drive from another process: find its server, and ask for its state."""

from __future__ import annotations

import http.client
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_json import UnreadableJsonError, parse_json
from drivelab.errors import DrivelabError, UsageError
from drivelab.live.doors import sockets
from drivelab.plain_text import escaped

_MOST_BYTES: Final = 4 * 2**20
_PATIENCE_SECONDS: Final = 7.0
_URL: Final = re.compile(
    r"http://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:(?P<port>\d{1,5}))?/?\Z"
)
# The keys of a server's answer that are read here; a list contains its items' types.
_NUMBER: Final = (int, float)
_RATES: Final = {
    "requests": _NUMBER,
    "iops": _NUMBER,
    "bytes_per_second": _NUMBER,
    "operations": dict,
    "late_ratio": _NUMBER,
}
_SHAPE: Final[dict[str, Any]] = {
    "drive": str,
    "kind": str,
    "uri": str,
    "capacity_bytes": int,
    "members": int,
    "dilation": _NUMBER,
    "second": int,
    "wall_seconds": _NUMBER,
    "connected_clients": int,
    "now": {
        **_RATES,
        "queue_depth": _NUMBER,
        "channel_utilisation_ratio": list,
        "unit_utilisation_ratio": list,
        "disk_utilisation_ratio": list,
    },
    "total": _RATES,
    "row": dict,
}


class GoneError(DrivelabError):
    """Nobody answers at the address of a served drive, or something else does."""


@dataclass(frozen=True)
class Server:
    """The address of a served drive's monitor.

    Attributes
    ----------
    path
        The unix socket of its monitor; ``None`` if it is asked by TCP.
    host, port
        The TCP address in that case.
    """

    path: Path | None = None
    host: str = "localhost"
    port: int = 80

    def __str__(self) -> str:
        return f"http://{self.host}:{self.port}/" if self.path is None else str(self.path)

    def state(self) -> dict[str, Any]:
        """Ask for the state of the drive.

        Raises
        ------
        GoneError
            If nobody answers, or the answer is not from a served drive.
        """
        connection = _connection(self)
        try:
            connection.request("GET", "/state")
            answer = connection.getresponse()
            text = answer.read(_MOST_BYTES + 1)
            if answer.status == http.client.SERVICE_UNAVAILABLE:
                raise GoneError(f"{escaped(str(self))} has nothing to show yet; ask again")
            if answer.status == http.client.OK and len(text) <= _MOST_BYTES:
                answer = parse_json(text)
                if _fits(answer, _SHAPE):
                    return dict(answer)
        except OSError as error:
            why = error.strerror or "no answer in time"
            raise GoneError(f"nobody answers at {escaped(str(self))}: {why}") from None
        except (http.client.HTTPException, UnreadableJsonError):
            pass
        finally:
            connection.close()
        raise GoneError(
            f"{escaped(str(self))} answers, but not as a served drive: give the address that "
            "`drivelab serve --monitor` printed"
        )


def find(name: str | None) -> Server:
    """Find the server that `name` means.

    Parameters
    ----------
    name
        A URL, the socket or address at which programs connect to the drive, or the drive's name;
        ``None`` for the only one.

    Raises
    ------
    UsageError
        If there is none, or several could be meant.
    """
    if name is not None and name.startswith(("http:", "https:")):
        return _at_url(name)
    found = _running()
    if name is not None:
        found = [(server, answer) for server, answer in found if _is_meant(name, answer)]
    if len(found) == 1:
        return found[0][0]
    if found:
        raise UsageError(f"several drives are served: {_choices(found)}")
    running = _running() if name is not None else []
    if running:
        raise UsageError(
            f"no served drive is called {name!r}; these are served: {_choices(running)}"
        )
    what = "is served" if name is None else f"called {name!r} is served"
    raise UsageError(
        f"no drive {what} by this user; start one with `drivelab serve sim:x25m`, or give the "
        "URL of a monitor"
    )


def _at_url(name: str) -> Server:
    match = _URL.match(name)
    port = int(match["port"] or 80) if match else 0
    if match is None or not 0 < port < 65536:
        raise UsageError(
            f"{name!r} is not an address of a monitor; it looks like http://127.0.0.1:8080/, as "
            "`drivelab serve --monitor` prints it"
        )
    return Server(host=match["host"], port=port)


def _running() -> list[tuple[Server, dict[str, Any]]]:
    found = []
    for path in sockets():
        server = Server(path=path)
        try:
            found.append((server, server.state()))
        except GoneError:
            # It was killed, or is not ready.
            continue
    return found


def _is_meant(name: str, answer: dict[str, Any]) -> bool:
    is_path = answer["uri"].endswith(f"?socket={Path(name).absolute()}")
    return is_path or name in (answer["drive"], answer["uri"])


def _choices(found: list[tuple[Server, dict[str, Any]]]) -> str:
    """Return what to type for each."""
    said = []
    for _, answer in found:
        place = answer["uri"].partition("?socket=")[2] or answer["uri"]
        said.append(f"`drivelab watch {escaped(place)}` ({escaped(answer['drive'])})")
    return ", ".join(said)


def _connection(server: Server) -> http.client.HTTPConnection:
    if server.path is None:
        return http.client.HTTPConnection(server.host, server.port, timeout=_PATIENCE_SECONDS)
    return _SocketConnection(server.path)


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_PATIENCE_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_PATIENCE_SECONDS)
        self.sock.connect(str(self._path))


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, dict):
        is_object = isinstance(value, dict)
        return is_object and all(
            key in value and _fits(value[key], of) for key, of in shape.items()
        )
    return isinstance(value, shape) and not isinstance(value, bool)
