"""Workers on a Ray cluster: each is an actor, and is talked to in the same lines as any other.

::

    here                                       a node of the cluster
    pool <── queue ── RayTalk ──(hear, tell)──>  actor: pipes ── Worker, the same as of a process

An actor takes one processor of its node and the memory that the drive needs. When it is lost, with
its process or with its node, it is a worker that was lost: the others do its work, and it starts
again wherever Ray finds room. Ray is imported only here, and only when it is asked for.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from drivelab.errors import DrivelabError, RunError, UsageError
from drivelab.runs.workers.messages import (
    ALIVE,
    HELLO,
    SIGN_SECONDS,
    Message,
    line_of,
    message_of,
    this_version,
)

if TYPE_CHECKING:
    from drivelab.runs.workers.talk import Heard, Talking

#: The oldest release whose calls are those that are used here, and the first that may not be.
LEAST: Final = (2, 40)
_TOO_NEW: Final = 3
_CONNECT_SECONDS: Final = 5.0
_END_SECONDS: Final = 5.0
_PIECE_BYTES: Final = 1 << 20
_LONGEST_REASON: Final = 200
_INSTALL: Final = "pip install 'drivelab[ray]'"


class _Worker:
    """What an actor is: a worker in threads of its process, and the ends of its pipes."""

    def __init__(self) -> None:
        from drivelab.runs.workers.worker import Worker

        given, self._give = os.pipe()
        self._answers, told = os.pipe()
        worker = Worker(given, os.fdopen(told, "wb"))
        threading.Thread(target=worker.run, daemon=True).start()

    def node(self) -> str:
        """Name the node that it is on."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def tell(self, lines: bytes) -> None:
        """Give lines to the worker."""
        while lines:
            lines = lines[os.write(self._give, lines) :]

    def hear(self) -> bytes:
        """Wait until the worker says something."""
        return os.read(self._answers, _PIECE_BYTES)


@dataclass(frozen=True)
class RayPlace:
    """Room for one actor, wherever in the cluster that is.

    Attributes
    ----------
    number
        Tells it from others.
    memory_bytes
        What the drive takes there.
    threads
        As in `drivelab.runs.workers.place.Place`.
    """

    number: int
    memory_bytes: int
    threads: int | None = 1

    @property
    def name(self) -> str:
        """See `drivelab.runs.workers.place.Place`."""
        return f"actor {self.number}"

    @property
    def is_elsewhere(self) -> bool:
        """See `drivelab.runs.workers.place.Place`."""
        return True

    def begin(self, heard: queue.SimpleQueue[tuple[Talking, Heard]]) -> RayTalk:
        """Start the actor; see `drivelab.runs.workers.talk.Talking`."""
        return RayTalk(self, heard)


class RayTalk:
    """An actor that is under way, seen from here; see `drivelab.runs.workers.talk.Talking`.

    Parameters
    ----------
    place
        What it takes.
    heard
        Gets what it says, with this.
    """

    def __init__(self, place: RayPlace, heard: queue.SimpleQueue[tuple[Talking, Heard]]) -> None:
        import ray

        self.place = place
        self.machine: str | None = None
        self._ray: Any = ray
        self._heard = heard
        self._why: DrivelabError | None = None
        self._is_over = threading.Event()
        self._to_tell: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        # Hearing waits; telling and asking must not wait behind it.
        made = ray.remote(_Worker).options(
            num_cpus=1,
            memory=place.memory_bytes or None,
            max_concurrency=3,
            max_restarts=0,
            scheduling_strategy="SPREAD",
        )
        self._actor = made.remote()
        targets = (self._tell_all, self._hear_all)
        self._threads = [threading.Thread(target=each, daemon=True) for each in targets]
        for thread in self._threads:
            thread.start()

    def tell(self, message: Message) -> None:
        """Send a message; one that it does not live to read is lost, and `heard` says so."""
        self._to_tell.put(line_of(message))

    def why_it_ended(self) -> DrivelabError:
        """Return the error for its end."""
        return self._why or RunError(f"{self.place.name} ended")

    def end(self) -> None:
        """Have it end; `wait` for it."""
        self._is_over.set()
        self._to_tell.put(None)
        with contextlib.suppress(Exception):
            self._ray.kill(self._actor)

    def wait(self, until: float) -> None:
        """Wait until it has ended, or until that moment of the monotonic clock."""
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))

    def close(self) -> None:
        """End it, if it has not ended."""
        self.end()
        self.wait(time.monotonic() + _END_SECONDS)

    def _tell_all(self) -> None:
        # If it cannot be sent, the other thread notices.
        with contextlib.suppress(Exception):
            while True:
                try:
                    line = self._to_tell.get(timeout=SIGN_SECONDS)
                except queue.Empty:
                    line = line_of({ALIVE: True})
                if line is None:
                    return
                self._ray.get(self._actor.tell.remote(line))

    def _hear_all(self) -> None:
        left = b""
        try:
            self.machine = self._ray.get(self._actor.node.remote())
            while not self._is_over.is_set():
                left += self._ray.get(self._actor.hear.remote())
                *lines, left = left.split(b"\n")
                for line in lines:
                    self._take(line)
        except DrivelabError as error:
            self._heard.put((self, type(error)(f"{self.place.name}: {error}")))
        except Exception as error:
            self._why = _loss(self.place.name, error)
        finally:
            self._heard.put((self, None))

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        message = message_of(line)
        found = message.get(HELLO)
        if found not in (None, this_version()):
            raise UsageError(
                f"it has Drivelab {found}, and this is {this_version()}: install the same on every "
                "node"
            )
        self._heard.put((self, message))


def _loss(name: str, error: Exception) -> DrivelabError:
    """Return the error for an actor that is lost; what a node lacks it will lack again."""
    words = str(error)
    if "ModuleNotFoundError" in words or "No module named" in words:
        return UsageError(
            f"{name}: its node has no Drivelab: install Drivelab {this_version()} and Ray on every "
            "node"
        )
    return RunError(f"{name} was lost: {_short(error)}")


def _short(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def installed_ray() -> ModuleType:
    """Import Ray.

    Raises
    ------
    UsageError
        When it is not installed, or another release than Drivelab knows.
    """
    # Else each start says what Ray will do one day.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise UsageError(f"--executor ray needs Ray: {_INSTALL}") from error
    parts = str(ray.__version__).split(".")
    release = tuple(int(part) for part in parts[:2] if part.isdigit())
    if not LEAST <= release < (_TOO_NEW,):
        least = ".".join(map(str, LEAST))
        raise UsageError(
            f"--executor ray needs Ray from {least} on, and not {_TOO_NEW}; here is "
            f"{ray.__version__}: {_INSTALL}"
        )
    return ray  # type: ignore[no-any-return]


@contextlib.contextmanager
def ray_places(
    address: str | None, workers: int | None, memory_bytes: int
) -> Iterator[list[RayPlace]]:
    """Connect to a Ray cluster, and give room for actors there; afterwards leave it.

    Parameters
    ----------
    address
        ``HOST:PORT`` of its head node; ``None`` is what ``RAY_ADDRESS`` says, or the cluster that
        this machine is part of.
    workers
        How many actors; ``None`` is one for each processor of the cluster.
    memory_bytes
        What an actor's drive takes.

    Raises
    ------
    UsageError
        When there is no such cluster.
    """
    ray = installed_ray()
    _quieten(ray)
    named = address or os.environ.get("RAY_ADDRESS") or "auto"
    _refuse_silent(named)
    before = _handlers()
    try:
        ray.init(named, namespace="drivelab", log_to_driver=False, logging_level="ERROR")
    except Exception as error:
        at = "on this machine" if named == "auto" else f"at {named}"
        raise UsageError(
            f"no Ray cluster takes work {at} ({_short(error)}): start one with `ray start --head`, "
            "and have this machine join with `ray start --address HOST:PORT`"
        ) from error
    finally:
        # Ray takes SIGTERM for itself.
        for number, handler in before.items():
            signal.signal(number, handler)
    try:
        count = workers or max(int(ray.cluster_resources().get("CPU", 1)), 1)
        yield [RayPlace(number + 1, memory_bytes) for number in range(count)]
    finally:
        ray.shutdown()


def _quieten(ray: Any) -> None:
    """Have Ray print nothing about its nodes: on standard output that would be in the result.

    A node that ends is a worker that is lost, which is said here. Ray has no public switch for it.
    """
    worker = getattr(getattr(ray, "_private", None), "worker", None)
    if worker is not None:
        worker._worker_logs_enabled = False


def _handlers() -> dict[int, Any]:
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}


def _refuse_silent(address: str) -> None:
    """Raise at once where nobody listens: Ray itself tries for a long time."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        if address != "auto":
            raise UsageError(f"{address!r} is not an address of a Ray cluster: write HOST:PORT")
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"no Ray cluster answers at {address} ({reason}): --address takes HOST:PORT of its "
            "head node"
        ) from error
