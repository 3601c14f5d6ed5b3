"""A minimal client of the NBD protocol, with simple and structured replies."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from pathlib import Path
from typing import Final, Self

READ: Final = 0
WRITE: Final = 1
DISCONNECT: Final = 2
FLUSH: Final = 3
TRIM: Final = 4
WRITE_ZEROES: Final = 6
FORCED: Final = 1

_GO: Final = 7
_STRUCTURED: Final = 8
_OPTION: Final = struct.Struct(">8sII")
_OPTION_REPLY: Final = struct.Struct(">QIII")
_REQUEST: Final = struct.Struct(">IHHQQI")


class RefusedError(Exception):
    """The server answered with an error's number."""


class NbdClient:
    """A connection to the export without a name."""

    def __init__(self, place: Path | int, *, structured: bool = False) -> None:
        if isinstance(place, int):
            self._socket = socket.create_connection(("127.0.0.1", place), timeout=30)
        else:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(30)
            try:
                self._socket.connect(str(place))
            except OSError:
                self._socket.close()
                raise
        assert self._receive(16) == b"NBDMAGICIHAVEOPT"
        self._receive(2)
        self._socket.sendall(struct.pack(">I", 3))
        self.structured = structured
        if structured:
            self._option(_STRUCTURED, b"")
        options = self._option(_GO, struct.pack(">IHH", 0, 1, 3))
        size, self.flags = struct.unpack(">QH", options[0])
        self.size_bytes: int = size
        self.block_sizes = struct.unpack(">III", options[3])
        self._cookie = 0

    def _receive(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            part = self._socket.recv(count - len(received))
            if not part:
                raise ConnectionResetError
            received += part
        return received

    def _option(self, number: int, data: bytes) -> dict[int, bytes]:
        self._socket.sendall(_OPTION.pack(b"IHAVEOPT", number, len(data)) + data)
        options: dict[int, bytes] = {}
        while True:
            _, _, kind, length = _OPTION_REPLY.unpack(self._receive(20))
            data = self._receive(length)
            if kind == 1:
                return options
            assert kind == 3, data
            options[struct.unpack(">H", data[:2])[0]] = data[2:]

    def send(self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0) -> int:
        """Send a request, and give its cookie."""
        self._cookie += 1
        header = _REQUEST.pack(0x25609513, flags, kind, self._cookie, offset, length)
        self._socket.sendall(header + data)
        return self._cookie

    def reply(self, length: int = 0) -> tuple[int, bytes]:
        """Take a reply to a read of so many bytes, or to what gives none."""
        magic = self._receive(4)
        if magic == b"\x67\x44\x66\x98":
            error, cookie = struct.unpack(">IQ", self._receive(12))
            if error:
                raise RefusedError(error)
            return cookie, self._receive(length)
        assert (magic, self.structured) == (b"\x66\x8e\x33\xef", True)
        flags, kind, cookie, size = struct.unpack(">HHQI", self._receive(16))
        chunk = self._receive(size)
        assert flags == 1
        if kind & 0x8000:
            raise RefusedError(struct.unpack(">I", chunk[:4])[0])
        assert len(chunk) == length + 8
        return cookie, chunk[8:]

    def ask(self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0) -> bytes:
        """Send a request and wait for its reply; give what was read."""
        cookie = self.send(kind, offset, length, data, flags)
        answered, read = self.reply(length if kind == READ else 0)
        assert answered == cookie
        return read

    def close(self) -> None:
        """Leave as the protocol wants it, if the server is still there."""
        with self._socket, contextlib.suppress(OSError):
            self.send(DISCONNECT, 0, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def when_served(path: Path, seconds: float = 60) -> NbdClient:
    """Connect as soon as somebody serves there."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return NbdClient(path)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
