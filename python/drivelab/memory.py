"""How much memory this process can still get, and what limits it.

::

    free memory          what Linux says is available without swapping
    a cgroup's limit     limit of this process's cgroup and of all above it (versions 1 and 2),
                         minus memory in use that cannot be reclaimed
    ulimit -v, -d        limit on this process's address space and data, minus what it has

The smallest of them counts. A limit that cannot be read is ignored: the kernel enforces it anyway.
"""

from __future__ import annotations

import re
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drivelab.errors import RunError, UsageError
from drivelab.units import format_size

_KIB: Final = 1024
# Version 1 writes "no limit" as the largest whole number of pages.
_NO_LIMIT_BYTES: Final = 2**60
# With less, Python starts, and then dies without a message when a library needs more.
LEAST_STACK_BYTES: Final = 512 * _KIB
# Small compared with the memory asked for: objects, results and stacks of threads.
_MARGIN_BYTES: Final = 32 * 2**20


@dataclass(frozen=True)
class MemoryRoots:
    """Where to read the kernel's figures; tests pass folders of their own."""

    proc: Path = Path("/proc")


THIS_PROCESS: Final = MemoryRoots()


@dataclass(frozen=True)
class Limit:
    """How much memory one limit leaves.

    Attributes
    ----------
    free_bytes
        Memory that can still be taken.
    what
        Name of the limit, for messages.
    remedy
        What the user can do if that is too little.
    counts_addresses
        Whether the limit counts reserved address space, not only memory that is touched.
    """

    free_bytes: int
    what: str
    remedy: str
    counts_addresses: bool = False


@dataclass(frozen=True)
class Need:
    """How much memory some work needs.

    Attributes
    ----------
    touched_bytes
        Memory that it touches.
    address_bytes
        Address space that it reserves: libraries and threads reserve more than they touch.
    """

    touched_bytes: int
    address_bytes: int


@dataclass(frozen=True)
class _Required:
    """What the running command needs, and what was free when it asked."""

    need: Need
    then: Need


# The last call counts. As a library, Drivelab requires nothing.
_required: Final = [_Required(Need(0, 0), Need(0, 0))]


def limits(roots: MemoryRoots = THIS_PROCESS) -> list[Limit]:
    """Return all limits on memory, the smallest first."""
    found = [*_free_memory(roots), *_cgroups(roots), *_own_limits(roots)]
    return sorted(found, key=lambda limit: limit.free_bytes)


def available_bytes(roots: MemoryRoots = THIS_PROCESS) -> int | None:
    """Return the most memory that is left for the request; ``None`` if nothing limits it."""
    least = _least(roots)
    return None if least is None else least[0]


def lacking(what: str, needed_bytes: int, instead: str) -> RunError:
    """Return the error that something needs more memory than is free, and the alternative."""
    least = _least(THIS_PROCESS)
    if least is None:
        return RunError(f"{what} needs {format_size(needed_bytes)} of memory: {instead}")
    free_bytes, limit = least
    return RunError(
        f"{what} needs {format_size(needed_bytes)} of memory, and {limit.what} leaves "
        f"{format_size(free_bytes)} in addition to the libraries: {instead}, or {limit.remedy}"
    )


def _least(roots: MemoryRoots) -> tuple[int, Limit] | None:
    """Return the limit that leaves the least memory for the request, and how much it leaves."""
    left = [
        (max(0, limit.free_bytes - _yet_to_come(limit, roots) - _MARGIN_BYTES), limit)
        for limit in limits(roots)
    ]
    return min(left, key=lambda pair: pair[0], default=None)


def _yet_to_come(limit: Limit, roots: MemoryRoots) -> int:
    """Return how much of the required memory has not been taken yet."""
    required = _required[-1]
    taken = _of(_taken(roots), limit) - _of(required.then, limit)
    return max(0, _of(required.need, limit) - taken)


def _taken(roots: MemoryRoots) -> Need:
    status = _numbers(roots.proc / "self" / "status")
    return Need(status.get("VmRSS", 0) * _KIB, status.get("VmSize", 0) * _KIB)


def _of(need: Need, limit: Limit) -> int:
    return need.address_bytes if limit.counts_addresses else need.touched_bytes


def require(what: str, need: Need, roots: MemoryRoots = THIS_PROCESS) -> None:
    """Check before some work begins that there is enough memory, and keep that memory free.

    Raises
    ------
    UsageError
        When there is too little. The message names the limit and what to do.
    """
    for limit in limits(roots):
        needed = _of(need, limit)
        if needed > limit.free_bytes:
            raise UsageError(
                f"{what} needs {format_size(needed)} of memory, and {limit.what} leaves "
                f"{format_size(limit.free_bytes)}: {limit.remedy}"
            )
    _required.append(_Required(need, _taken(roots)))


def require_stack() -> None:
    """Check that the stack is large enough for the libraries.

    Raises
    ------
    UsageError
        When it is too small.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if 0 <= soft < LEAST_STACK_BYTES:
        raise UsageError(
            f"the stack may have {format_size(soft)}, and Drivelab needs "
            f"{format_size(LEAST_STACK_BYTES)}: type `ulimit -s 8192` first"
        )


def peak_bytes() -> int:
    """Return the most memory that this process has had at once (its resident set)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts KiB here, macOS bytes.
    return peak if sys.platform == "darwin" else peak * _KIB


def _free_memory(roots: MemoryRoots) -> Iterator[Limit]:
    available = _numbers(roots.proc / "meminfo").get("MemAvailable")
    if available is not None:
        yield Limit(available * _KIB, "free memory", "end other programs")


def _own_limits(roots: MemoryRoots) -> Iterator[Limit]:
    status = _numbers(roots.proc / "self" / "status")
    kinds = (("v", resource.RLIMIT_AS, "VmSize"), ("d", resource.RLIMIT_DATA, "VmData"))
    for letter, kind, used in kinds:
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY and soft >= 0:
            free = max(0, soft - status.get(used, 0) * _KIB)
            name = f"`ulimit -{letter}`"
            yield Limit(free, name, f"raise it with {name}", counts_addresses=True)


def _cgroups(roots: MemoryRoots) -> Iterator[Limit]:
    """Yield the limits of the process's cgroup and of all above it, as far as they are visible."""
    mounts = list(_cgroup_mounts(roots))
    for line in _text(roots.proc / "self" / "cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        version = 2 if not controllers else 1
        if version == 1 and "memory" not in controllers.split(","):
            continue
        for of_version, root, point in mounts:
            if of_version == version:
                yield from _upwards(version, point, _below(root, path))


def _cgroup_mounts(roots: MemoryRoots) -> Iterator[tuple[int, str, Path]]:
    for line in _text(roots.proc / "self" / "mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(kind) < 3:
            continue
        point = Path(_unescaped(fields[4]))
        if kind[0] == "cgroup2":
            yield 2, _unescaped(fields[3]), point
        elif kind[0] == "cgroup" and "memory" in kind[2].split(","):
            yield 1, _unescaped(fields[3]), point


def _below(root: str, path: str) -> str:
    """Return a cgroup's path relative to a mount whose own root is `root`."""
    if root != "/" and (path == root or path.startswith(f"{root}/")):
        path = path[len(root) :]
    # Inside a namespace, the path of a cgroup outside begins with two dots and does not exist.
    return "" if ".." in path.split("/") else path.strip("/")


def _upwards(version: int, point: Path, inside: str) -> Iterator[Limit]:
    folder = point / inside
    while True:
        free = _free_in_version_2(folder) if version == 2 else _free_in_version_1(folder)
        if free is not None:
            name = folder.relative_to(point)
            of = "this container" if str(name) == "." else f"the cgroup {name}"
            yield Limit(max(0, free), f"the memory limit of {of}", "raise that limit")
        if folder == point:
            return
        folder = folder.parent


def _free_in_version_2(folder: Path) -> int | None:
    wanted = (_number(folder / "memory.max"), _number(folder / "memory.high"))
    least = min((limit for limit in wanted if limit is not None), default=None)
    used = _number(folder / "memory.current")
    if least is None or used is None:
        return None
    return least - used + _numbers(folder / "memory.stat").get("inactive_file", 0)


def _free_in_version_1(folder: Path) -> int | None:
    limit = _number(folder / "memory.limit_in_bytes")
    used = _number(folder / "memory.usage_in_bytes")
    if limit is None or used is None or limit > _NO_LIMIT_BYTES:
        return None
    return limit - used + _numbers(folder / "memory.stat").get("total_inactive_file", 0)


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if re.fullmatch(r"\d{1,20}", text) else None


def _numbers(path: Path) -> dict[str, int]:
    """Read lines that hold a name and a number, with or without a colon and a unit."""
    found = re.findall(r"^(\w+):?\s+(\d{1,20})(?: kB)?$", _text(path), re.MULTILINE)
    return {name: int(number) for name, number in found}


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
