"""The part of Ray that Drivelab uses, on this machine: an actor is a process, a node is a name."""

from __future__ import annotations

import base64
import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import cycle
from types import ModuleType, SimpleNamespace
from typing import Any

# Calls come as lines and each is answered when it is done, as an actor with several threads does.
PROGRAM = """
import base64, json, sys, threading, types
ray = types.ModuleType("ray")
ray.get_runtime_context = lambda: types.SimpleNamespace(get_node_id=lambda: sys.argv[1])
sys.modules["ray"] = ray
{before}
from drivelab.runs.workers.ray_place import _Worker
worker = _Worker()
saying = threading.Lock()
def answer(number, method, given):
    result = getattr(worker, method)(*[base64.b64decode(each) for each in given])
    result = result.encode() if isinstance(result, str) else result or b""
    with saying:
        print(json.dumps([number, base64.b64encode(result).decode()]), flush=True)
for line in sys.stdin:
    threading.Thread(target=answer, args=json.loads(line), daemon=True).start()
"""


class ActorDiedError(Exception):
    """As Ray's."""


class Actor:
    """A worker in a process of its own."""

    def __init__(self, node: str, before: str) -> None:
        command = [sys.executable, "-c", PROGRAM.format(before=before), node]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        self._waiting: dict[int, tuple[str, Future[Any]]] = {}
        self._changing = threading.Lock()
        self._has_ended = False
        threading.Thread(target=self._hear, daemon=True).start()

    def __getattr__(self, method: str) -> Any:
        return SimpleNamespace(remote=lambda *given: self._call(method, given))

    def _call(self, method: str, given: tuple[bytes, ...]) -> Future[Any]:
        found: Future[Any] = Future()
        with self._changing:
            number = len(self._waiting)
            self._waiting[number] = (method, found)
            if self._has_ended:
                found.set_exception(ActorDiedError("The actor died unexpectedly before its end."))
                return found
            words = [base64.b64encode(each).decode() for each in given]
            try:
                print(json.dumps([number, method, words]), file=self.process.stdin, flush=True)
            except (OSError, ValueError) as error:
                found.set_exception(ActorDiedError(str(error)))
        return found

    def _hear(self) -> None:
        for line in self.process.stdout or ():
            number, text = json.loads(line)
            method, found = self._waiting[number]
            result = base64.b64decode(text)
            found.set_result(result.decode() if method == "node" else result)
        self.process.wait()
        with self._changing:
            self._has_ended = True
            for pipe in (self.process.stdin, self.process.stdout):
                # Messages that were not yet sent are lost with it.
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            for _, found in self._waiting.values():
                if not found.done():
                    found.set_exception(ActorDiedError("The actor died unexpectedly.\nA log."))


class FakeRay(ModuleType):
    """The module; `actors` are those that were made."""

    __version__ = "2.60.0"

    def __init__(self, nodes: tuple[str, ...] = ("a", "b", "c"), before: str = "") -> None:
        super().__init__("ray")
        self.actors: list[Actor] = []
        self.asked: list[dict[str, Any]] = []
        self._nodes: Iterator[str] = cycle(nodes)
        self._before = before
        self._cpus = len(nodes)
        self.is_connected = False
        #: As in Ray, where it says whether what happens to nodes is printed.
        self._private = SimpleNamespace(worker=SimpleNamespace(_worker_logs_enabled=True))

    @property
    def prints(self) -> bool:
        return bool(self._private.worker._worker_logs_enabled)

    def init(self, _address: str, **_options: Any) -> None:
        self.is_connected = True

    def shutdown(self) -> None:
        self.is_connected = False

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self._cpus)}

    def remote(self, _kind: type) -> Any:
        def options(**asked: Any) -> Any:
            self.asked.append(asked)
            return SimpleNamespace(remote=self._made)

        return SimpleNamespace(options=options)

    def get(self, found: Future[Any]) -> Any:
        return found.result()

    def kill(self, actor: Actor) -> None:
        actor.process.kill()

    def _made(self) -> Actor:
        self.actors.append(Actor(next(self._nodes), self._before))
        return self.actors[-1]
