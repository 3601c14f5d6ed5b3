"""Purging and write caches of real drives, with fake tools that only record their calls."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_view import add, hang_on, small_machine

from drivelab.drives.real import drive_tool, write_cache
from drivelab.drives.real import purge as purging
from drivelab.drives.real.block_devices import BlockDevice, SystemRoots, list_block_devices
from drivelab.drives.real.purge import METHODS, check_method, purge_drive
from drivelab.drives.real.target_device import TargetDevice
from drivelab.drives.real.write_cache import switch_write_cache
from drivelab.drives.session import Purge
from drivelab.drives.sessions import open_session
from drivelab.errors import UsageError

SECURITY = """Security:
	Master password revision code = 65534
		supported
	not	enabled
	not	locked
	{frozen}
	not	expired: security count
		supported: enhanced erase
"""


@pytest.fixture
def roots(tmp_path: Path) -> SystemRoots:
    roots = small_machine(tmp_path)
    add(roots, "sdb", "8:16", 4_000_000, device__vendor="ATA", device__model="SATA SSD")
    add(roots, "sdc", "8:32", 4_000_000, device__vendor="FAST", device__model="SAS SSD")
    return roots


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a tool in front of the machine's; each of its lines of shell sees `$*` as its call."""
    folder = tmp_path / "tools"
    folder.mkdir()

    # Only these: none of the machine's own tools may be reached by mistake.
    def found(name: str) -> str | None:
        return str(folder / name) if (folder / name).exists() else None

    monkeypatch.setattr(drive_tool, "find_tool", found)

    def make(name: str, *lines: str) -> Path:
        calls = folder / f"{name}.calls"
        script = folder / name
        body = "\n".join(lines)
        script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {calls}\n{body}\n')
        script.chmod(0o755)
        return calls

    return make


def device(roots: SystemRoots, name: str) -> BlockDevice:
    return next(each for each in list_block_devices(roots) if each.name == name)


def purged(roots: SystemRoots, name: str, method: str) -> Purge:
    return purge_drive(device(roots, name), METHODS[method], is_whole=True, roots=roots)


def test_nvme_format_erases_the_namespace(roots: SystemRoots, tool: Any) -> None:
    calls = tool("nvme", "exit 0")
    assert purged(roots, "nvme0n1", "nvme-format") == Purge("done", "nvme format")
    assert calls.read_text() == f"format {roots.dev}/nvme0n1 --ses=1 --force --timeout=2147483647\n"


def test_a_drive_that_says_no_refused(roots: SystemRoots, tool: Any) -> None:
    tool("nvme", 'echo "NVMe status: INVALID_OPCODE(0x2001)"', "exit 1")
    expected = Purge("refused", "nvme format", "nvme: NVMe status: INVALID_OPCODE(0x2001)")
    assert purged(roots, "nvme0n1", "nvme-format") == expected


def test_sanitizing_is_waited_for(
    roots: SystemRoots, tool: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(purging, "_LOOK_SECONDS", 0.0)
    count = tmp_path / "count"
    calls = tool(
        "nvme",
        '[ "$1" = sanitize ] && exit 0',
        f"echo >> {count}",
        f'[ "$(wc -l < {count})" -lt 3 ] && s=0x102 || s=0x101',
        'echo "Sanitize Progress                      (SPROG) :  65535"',
        'echo "Sanitize Status                        (SSTAT) :  $s"',
    )
    assert purged(roots, "nvme0n1", "nvme-sanitize").outcome == "done"
    node = f"{roots.dev}/nvme0"
    assert calls.read_text().splitlines() == [
        f"sanitize {node} --sanact=2",
        *[f"sanitize-log {node}"] * 3,
    ]


@pytest.mark.parametrize(("status", "outcome"), [("0x3", "refused"), ("0x104", "done")])
def test_the_end_of_sanitizing_is_the_drive_s(
    roots: SystemRoots, tool: Any, status: str, outcome: str
) -> None:
    tool("nvme", f'echo "Sanitize Status (SSTAT) : {status}"')
    assert purged(roots, "nvme0n1", "nvme-sanitize").outcome == outcome


def test_other_namespaces_are_not_erased_with_it(roots: SystemRoots, tool: Any) -> None:
    calls = tool("nvme", "exit 0")
    add(roots, "nvme0n2", "259:2", 1000)
    hang_on(roots, "nvme0n2", "nvme0")
    for method in ("nvme-format", "nvme-sanitize"):
        purge = purged(roots, "nvme0n1", method)
        assert purge.outcome == "unavailable"
        assert purge.reason == f"{roots.dev}/nvme0 has nvme0n2 too, which might be erased with it"
    assert not calls.exists()


def test_the_controller_is_the_one_that_the_kernel_reports(roots: SystemRoots, tool: Any) -> None:
    """With several paths the number in a namespace's name is its subsystem's."""
    calls = tool("nvme", 'echo "Sanitize Status (SSTAT) : 0x1"')
    add(roots, "nvme7n1", "259:7", 1000)
    subsystem = hang_on(roots, "nvme7n1", "nvme-subsys7")
    assert purged(roots, "nvme7n1", "nvme-sanitize").outcome == "unavailable"
    (subsystem / "nvme3").mkdir()
    assert purged(roots, "nvme7n1", "nvme-sanitize").outcome == "done"
    assert calls.read_text().splitlines()[0] == f"sanitize {roots.dev}/nvme3 --sanact=2"
    calls.unlink()
    (subsystem / "nvme4").mkdir()
    reason = purged(roots, "nvme7n1", "nvme-sanitize").reason
    assert reason == f"{roots.dev}/nvme7n1 is reached by nvme3 and nvme4; it takes exactly one"
    assert not calls.exists()


def test_a_tool_is_waited_for_when_drivelab_is_to_stop(tool: Any, tmp_path: Path) -> None:
    done = tmp_path / "done"
    tool("hdparm", "sleep 0.6", f"touch {done}")
    interrupt = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        drive_tool.run_tool("hdparm", "--security-erase")
    assert done.exists()


def test_a_stopped_secure_erase_leaves_no_password(
    roots: SystemRoots, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def run_tool(name: str, *words: str, **_: float) -> drive_tool.Answer:
        calls.append(" ".join(words))
        if "--security-erase" in words:
            raise KeyboardInterrupt
        return drive_tool.Answer(0, SECURITY.format(frozen="not	frozen"))

    monkeypatch.setattr(purging, "run_tool", run_tool)
    with pytest.raises(KeyboardInterrupt):
        purged(roots, "sdb", "ata-secure-erase")
    assert calls[-1] == f"--user-master u --security-disable drivelab {roots.dev}/sdb"


def test_ata_secure_erase_sets_a_password_first(roots: SystemRoots, tool: Any) -> None:
    text = SECURITY.format(frozen="not	frozen")
    calls = tool("hdparm", f'[ "$1" = -I ] && cat <<"END"\n{text}END', "exit 0")
    assert purged(roots, "sdb", "ata-secure-erase") == Purge("done", "ATA secure erase")
    node, user = f"{roots.dev}/sdb", "--user-master u --security-"
    assert calls.read_text().splitlines() == [
        f"-I {node}",
        f"{user}set-pass drivelab {node}",
        f"{user}erase drivelab {node}",
    ]


def test_a_frozen_drive_is_left_alone(roots: SystemRoots, tool: Any) -> None:
    calls = tool("hdparm", f'cat <<"END"\n{SECURITY.format(frozen="	frozen")}END')
    purge = purged(roots, "sdb", "ata-secure-erase")
    assert (purge.outcome, "frozen or locked" in purge.reason) == ("refused", True)
    assert calls.read_text() == f"-I {roots.dev}/sdb\n"


def test_a_password_that_was_left_is_reported(roots: SystemRoots, tool: Any) -> None:
    text = SECURITY.format(frozen="not	frozen").replace("not	enabled", "	enabled")
    calls = tool("hdparm", f'cat <<"END"\n{text}END')
    purge = purged(roots, "sdb", "ata-secure-erase")
    assert purge.outcome == "unavailable"
    assert purge.reason.endswith(f"--user-master u --security-disable drivelab {roots.dev}/sdb")
    assert calls.read_text() == f"-I {roots.dev}/sdb\n"


@pytest.mark.parametrize(("code", "said"), [(0, ""), (1, "; the password 'drivelab' is still set")])
def test_a_password_is_taken_back_when_erasing_fails(
    roots: SystemRoots, tool: Any, code: int, said: str
) -> None:
    text = SECURITY.format(frozen="not	frozen")
    calls = tool(
        "hdparm",
        f'case "$*" in -I*) cat <<"END"\n{text}END\nexit 0;; *erase*) echo broken; exit 5;;',
        f"*disable*) exit {code};; esac",
    )
    purge = purged(roots, "sdb", "ata-secure-erase")
    assert purge == Purge("refused", "ATA secure erase", f"hdparm: broken{said}")
    last = calls.read_text().splitlines()[-1]
    assert last == f"--user-master u --security-disable drivelab {roots.dev}/sdb"


def test_scsi_format(roots: SystemRoots, tool: Any) -> None:
    calls = tool("sg_format", "exit 0")
    assert purged(roots, "sdc", "scsi-format") == Purge("done", "SCSI format unit")
    assert calls.read_text() == f"--format --quick {roots.dev}/sdc\n"


def test_a_missing_tool_says_where_it_is(roots: SystemRoots, tool: Any) -> None:
    purge = purged(roots, "nvme0n1", "nvme-format")
    assert purge.outcome == "unavailable"
    assert purge.reason == "nvme is not installed (package nvme-cli)"


def test_the_command_of_another_kind_says_which_there_are(roots: SystemRoots, tool: Any) -> None:
    calls = tool("nvme", "exit 0")
    purge = purged(roots, "sdb", "nvme-format")
    assert purge.outcome == "unavailable"
    assert purge.reason.endswith("sdb is a drive of ata commands; for it there is ata-secure-erase")
    assert not calls.exists()


def test_only_whole_drives_are_purged(roots: SystemRoots, tool: Any) -> None:
    calls = tool("nvme", "exit 0")
    method = METHODS["nvme-format"]
    for one in (None, device(roots, "nvme0n1")):
        assert purge_drive(one, method, is_whole=False, roots=roots).outcome == "unavailable"
    assert purge_drive(device(roots, "nvme0n1"), None, is_whole=True, roots=roots).outcome == (
        "unavailable"
    )
    assert not calls.exists()


def test_a_purge_has_to_be_named_and_allowed() -> None:
    with pytest.raises(UsageError, match=r"--purge=format; allowed: nvme-format, nvme-sanitize"):
        check_method("format", "/dev/nvme0n1")
    with pytest.raises(UsageError, match="add --allow-destructive=PATH"):
        check_method("nvme-format", None)


@pytest.mark.parametrize("name", ["loop", "file"])
def test_what_is_no_whole_drive_says_so(
    require_tool: Callable[[str], Path],
    drive_folder: Path,
    loop_device: Callable[..., Path],
    tool: Any,
    name: str,
) -> None:
    require_tool("fio")
    calls = [tool(each, "exit 0") for each in ("nvme", "hdparm", "sg_format", "sdparm")]
    path = str(loop_device()) if name == "loop" else str(drive_folder / "purged.bin")
    size = None if name == "loop" else 2**20
    with open_session(
        path, size_bytes=size, allow_destructive=path, purge="nvme-format", write_cache="off"
    ) as session:
        purge = session.purge()
        assert (purge.outcome, purge.method) == ("unavailable", "nvme format")
        assert session.header()["write cache"].startswith("as found: a file, partition")
    assert not any(each.exists() for each in calls)


def test_a_session_sends_the_command_and_puts_the_cache_back(
    require_tool: Callable[[str], Path],
    loop_device: Callable[..., Path],
    tool: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A loop device stands for a SCSI drive."""
    require_tool("fio")
    for module in (purging, write_cache):
        monkeypatch.setattr(module, "command_set", lambda *_: "scsi")
    monkeypatch.setattr(TargetDevice, "is_whole", True)
    node = str(loop_device())
    state = tmp_path / "state"
    state.write_text("1")
    formats = tool("sg_format", "exit 0")
    caches = tool(
        "sdparm",
        f'case "$*" in *=0*) echo 0 > {state};; *=1*) echo 1 > {state};;',
        f'*) echo "WCE  $(cat {state})";; esac',
    )
    options: dict[str, Any] = {"purge": "scsi-format", "write_cache": "off"}
    with open_session(node, allow_destructive=node, **options) as session:
        assert session.header()["write cache"] == "off, by sdparm"
        assert not formats.exists()
        assert session.purge() == Purge("done", "SCSI format unit")
        assert formats.read_text() == f"--format --quick {node}\n"
        assert state.read_text() == "0\n"
    assert state.read_text() == "1\n"
    asked = [line.split()[0] for line in caches.read_text().splitlines()]
    sets = [each for each in asked if each.startswith("--set")]
    assert sets == ["--set=WCE=0", "--set=WCE=1"]
    # Who may only read may do neither.
    formats.unlink()
    with pytest.raises(UsageError, match="add --allow-destructive"):
        open_session(node, purge="scsi-format")
    with open_session(node, write_cache="off") as session:
        assert session.purge().outcome == "unavailable"
    assert (formats.exists(), state.read_text()) == (False, "1\n")


CACHES = [
    (
        "nvme0n1",
        "nvme",
        'echo "get-feature:0x06 (Volatile Write Cache), Current value:0x0000000$v"',
        [
            "get-feature {dev}/nvme0 --feature-id=6",
            "set-feature {dev}/nvme0 --feature-id=6 --value=0",
        ],
        "nvme set-feature",
    ),
    (
        "sdb",
        "hdparm",
        'printf "\\n/dev/sdb:\\n write-caching =  $v (on)\\n"',
        ["-W {dev}/sdb", "-W0 {dev}/sdb"],
        "hdparm -W",
    ),
    (
        "sdc",
        "sdparm",
        'printf "    /dev/sdc: FAST\\nWCE           $v  [cha: y, def:  1, sav:  1]\\n"',
        ["--get=WCE {dev}/sdc", "--set=WCE=0 {dev}/sdc"],
        "sdparm",
    ),
]


@pytest.mark.parametrize("case", CACHES, ids=[case[1] for case in CACHES])
def test_a_write_cache_is_switched_and_asked_again(
    roots: SystemRoots, tool: Any, tmp_path: Path, case: tuple[str, str, str, list[str], str]
) -> None:
    name, program, says, asked, by = case
    state = tmp_path / "state"
    state.write_text("1")
    switches = "*=1|-W1*) echo 1" if program != "nvme" else "*value=1) echo 1"
    calls = tool(
        program,
        f'case "$*" in {switches} > {state};; *value=0|*=0*|-W0*) echo 0 > {state};;',
        f"*) v=$(cat {state}); {says};; esac",
    )
    found = switch_write_cache(device(roots, name), "off", is_whole=True, roots=roots)
    assert (found.found, found.now, found.words) == ("on", "off", f"off, by {by}")
    expected = [each.format(dev=roots.dev) for each in asked]
    assert calls.read_text().splitlines() == [*expected, expected[0]]
    # Asked for what it is already, nothing is switched.
    calls.unlink()
    assert switch_write_cache(device(roots, name), "off", is_whole=True, roots=roots).now == "off"
    assert calls.read_text().splitlines() == [expected[0]] * 2


def test_a_cache_that_cannot_be_switched_is_reported(roots: SystemRoots, tool: Any) -> None:
    tool("hdparm", 'echo " write-caching =  1 (on)"')
    found = switch_write_cache(device(roots, "sdb"), "off", is_whole=True, roots=roots)
    assert (found.now, found.words) == ("on", "as found (on): the drive does not switch it off")


def test_a_cache_that_nobody_reports_is_as_found(roots: SystemRoots, tool: Any) -> None:
    found = switch_write_cache(device(roots, "sdc"), "off", is_whole=True, roots=roots)
    assert found.words == "as found: sdparm is not installed (package sdparm)"
    tool("sdparm", "echo no medium; exit 2")
    found = switch_write_cache(device(roots, "sdc"), "off", is_whole=True, roots=roots)
    assert found.words == "as found: the drive does not report its write cache: no medium"
