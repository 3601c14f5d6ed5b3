"""Which machines there are, from a file.

::

    [[host]]
    name = "lab@node1"                      # as ssh takes it
    threads = 16                            # worker threads there; one a core unless said
    drivelab = "/opt/drivelab/bin/drivelab" # the command there; `drivelab` unless said

    [[host]]
    name = "node2:2222"

A drive of such a machine is named by the machine and a path there: ``lab@node1:/dev/nvme0n1``, or
``node1:/dev/nvme0n1`` where one machine alone is called so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.errors import UsageError
from drivelab.named_file import read_text_file
from drivelab.near_names import meant
from drivelab.runs.workers.place import SshHost
from drivelab.ssh import SshPlace

_MAX_BYTES: Final = 1 << 20
_MOST_HOSTS: Final = 10_000
_MOST_THREADS: Final = 1024
_KEYS: Final = ("ssh_config", "host")
_HOST_KEYS: Final = ("name", "threads", "drivelab")
_MOST_NAMED: Final = 8
_ON_A_HOST: Final = re.compile(
    r"(?:[A-Za-z0-9_.-]+@)?(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?:/.*", re.DOTALL
)
_EXAMPLE: Final = 'write [[host]] and below it name = "USER@HOST", for each machine'


def read_cluster(path: Path) -> list[SshHost]:
    """Read the machines that a file names.

    Raises
    ------
    UsageError
        When it cannot be read, or names none, or says something that is not possible.
    """
    text = read_text_file(path, "a list of machines", _MAX_BYTES, "name one with [[host]] tables")
    try:
        found = parse_toml(text)
    except UnreadableTomlError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    try:
        return _hosts(found, path.parent)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def names_a_host(name: str) -> bool:
    """Return whether a drive's name has the form ``HOST:/PATH``."""
    return _ON_A_HOST.fullmatch(name) is not None


def host_of(name: str, hosts: Sequence[SshHost], path: Path) -> tuple[SshHost, str]:
    """Find the machine of a drive, and the drive's path there.

    Parameters
    ----------
    name
        ``HOST:/PATH``.
    hosts
        The machines that there are.
    path
        The file that lists them.

    Raises
    ------
    UsageError
        When no machine is called so, or several are.
    """
    called, _, there = name.partition(":/")
    exact = [host for host in hosts if host.name == called]
    found = exact or [host for host in hosts if called in (host.place.host, str(host.place))]
    if len(found) == 1:
        return found[0], f"/{there}"
    known = ", ".join(host.name for host in (found or hosts)[:_MOST_NAMED])
    if found:
        raise UsageError(f"{called} of {name} is several machines of {path}: write one of {known}")
    raise UsageError(f"{called} of {name} is not a machine of {path}; its machines are {known}")


def _hosts(found: dict[str, Any], folder: Path) -> list[SshHost]:
    _refuse_others(found, _KEYS, "a list of machines")
    config = found.get("ssh_config")
    if config is not None:
        if not isinstance(config, str) or not (folder / config).is_file():
            raise UsageError(f"ssh_config is {config!r}, and there is no such file")
        config = (folder / config).absolute()
    tables = found.get("host")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise UsageError(f"it names no machine: {_EXAMPLE}")
    if len(tables) > _MOST_HOSTS:
        raise UsageError(f"it names {len(tables):,} machines; allowed: at most {_MOST_HOSTS:,}")
    hosts = [_host(table, config) for table in tables]
    names = [host.name for host in hosts]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is named twice: say threads = N of one [[host]] instead")
    return hosts


def _host(table: dict[str, Any], config: Path | None) -> SshHost:
    _refuse_others(table, _HOST_KEYS, "a [[host]]")
    name = table.get("name")
    if not isinstance(name, str):
        raise UsageError(f"a [[host]] has no name: {_EXAMPLE}")
    threads = table.get("threads")
    if threads is not None and not (type(threads) is int and 1 <= threads <= _MOST_THREADS):
        raise UsageError(f"threads of {name} is {threads!r}; allowed: 1 to {_MOST_THREADS}")
    drivelab = table.get("drivelab", "drivelab")
    if not isinstance(drivelab, str) or not drivelab.strip() or not drivelab.isprintable():
        raise UsageError(f"drivelab of {name} is {drivelab!r}; it is the path of the command there")
    if drivelab.startswith("~"):
        raise UsageError(
            f"drivelab of {name} is {drivelab!r}; write the whole path, no shell reads it there"
        )
    return SshHost(SshPlace.parse(name, config, what="machine"), threads, drivelab)


def _refuse_others(table: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(
                f"{what} has no key {key!r}; {meant(key, known)}its keys are {', '.join(known)}"
            )
