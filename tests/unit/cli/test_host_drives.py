"""`drivelab model HOST:/PATH ... --on`: drives of several machines, and one page about all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ssh_server import Server, serving

from drivelab.cli.main import main
from drivelab.cli.side_by_side import run_side_by_side
from drivelab.store import RunStore

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
ASKED = ("--design", "huang2011:20", "--check", "0", "--no-sweeps")
HERE = "import sys; from drivelab.cli.main import main; sys.exit(main())"


@pytest.fixture
def server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require_tool: Callable[[str], Path]
) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path / "ssh", require_tool("sshd")) as found:
        yield found


def machines(server: Server, *names: str) -> None:
    """Write a list of machines, each with the server's address under a name of its own."""
    with server.config.open("a") as config:
        config.write(f"Host {' '.join(names)}\n  HostName 127.0.0.1\n  Port {server.port}\n")
        config.write(f"  HostKeyAlias [127.0.0.1]:{server.port}\n")
    drivelab = server.folder / "drivelab"
    path = os.environ.get("PYTHONPATH", "")
    state = server.folder / "state"
    drivelab.write_text(
        f'#!/bin/sh\nexport PYTHONPATH="{path}" XDG_STATE_HOME="{state}"\n'
        f'exec {sys.executable} -c "{HERE}" "$@"\n'
    )
    drivelab.chmod(0o755)
    lines = [f'ssh_config = "{server.config}"']
    for name in names:
        lines += ["[[host]]", f'name = "{name}"', f'drivelab = "{drivelab}"', "threads = 2"]
    Path("cluster.toml").write_text("\n".join(lines))


@pytest.mark.usefixtures("models_in_outline", "without_drawings")
def test_drives_of_machines_are_measured_and_compared(
    server: Server,
    drive_folder: Path,
    require_tool: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    require_tool("fio")
    machines(server, "node1", "node2")
    file = drive_folder / "far.bin"
    words = ["model", f"node1:{file}", SMALL, *ASKED, "--size", "4MiB", "--seconds", "0.2"]
    words += ["--on", "cluster.toml", "--out", "runs", "--json"]
    assert main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["kind"] for one in answer["models"]] == ["real", "simulated"]
    assert [one["drive"] for one in answer["runs"]] == [f"node1:{file}", SMALL]
    assert Path(answer["report"]) == Path("runs/compared/report.html")
    with RunStore.open(Path(answer["models"][0]["run"])) as store:
        held = list(store.measurements())
        journal = store.header["drive"]["identity"]["volatile"]["journal"]
    with RunStore.open(server.folder / "state/drivelab/runs" / journal) as kept:
        assert list(kept.measurements()) == held
    assert not file.exists()
    # Complete, it is reported again without the machine.
    server.config.write_text("Host *\n  HostName 192.0.2.1\n")
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["models"] == answer["models"]


def test_what_drives_of_machines_would_cost(
    server: Server, drive_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines(server, "node1", "node2")
    file = drive_folder / "far.bin"
    asked = [*ASKED, "--size", "4MiB", "--seconds", "0.2", "--endurance", "1TB", "--dry-run"]
    assert main(["model", str(file), *asked, "--json"]) == 0
    here = json.loads(capsys.readouterr().out)
    words = ["model", f"node1:{file}", *asked, "--on", "cluster.toml"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == here | {"drive": f"node1:{file}"}
    # What may not be written there is seen there, and every drive has its plan.
    kept = drive_folder / "kept.bin"
    kept.write_bytes(bytes(4 << 20))
    try:
        several = ["model", f"node1:{file}", f"node2:{kept}", *asked, "--on", "cluster.toml"]
        several[several.index("--size") : several.index("--size") + 2] = []
        assert main([*several, "--json"]) == 0
        plans = json.loads(capsys.readouterr().out)["plans"]
        assert [one["drive"] for one in plans] == [f"node1:{file}", f"node2:{kept}"]
        assert plans[0]["write_refusal"] is None
        assert "--allow-destructive" in plans[1]["write_refusal"]
        assert main(several) == 0
        text = capsys.readouterr().out
        assert text.count("(real drive)") == 2
        assert text.count("Nothing was created or written.") == 1
        assert not file.exists()
    finally:
        kept.unlink()
    assert not (server.folder / "state").exists()


def test_a_drive_that_is_not_there_hides_no_other(
    server: Server, drive_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines(server, "node1")
    words = ["model", "node1:/dev/none", SMALL, *ASKED, "--on", "cluster.toml", "--dry-run"]
    assert main([*words, "--requests", "20", "--json"]) == 2
    captured = capsys.readouterr()
    assert [one["drive"] for one in json.loads(captured.out)["plans"]] == [SMALL]
    assert captured.err.startswith("drivelab: node1: ")
    assert "/dev/none" in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["node1:/dev/x"], "node1:/dev/x is a drive of another machine: name a file of machines"),
        (
            ["node9:/dev/x", "--on", "cluster.toml"],
            "node9 of node9:/dev/x is not a machine of cluster.toml; its machines are node1, "
            "a@node2",
        ),
        (
            ["node1:/dev/x", "--on", "cluster.toml", "--allow-destructive", "/dev/x"],
            "--allow-destructive=/dev/x does not name the drive; it must be node1:/dev/x",
        ),
        (
            ["node1:/dev/x", SMALL, "--on", "cluster.toml", "--allow-destructive", "/dev/x"],
            "--allow-destructive=/dev/x names no drive of this command; its drives are node1:/dev/",
        ),
        (
            ["node2:/dev/x", "--on", "cluster.toml"],
            "node2 of node2:/dev/x is several machines of cluster.toml: write one of a@node2, b@no",
        ),
        (["node1:/dev/x", "--dry-run"], "node1:/dev/x is a drive of another machine: name a file"),
        ([SMALL, "sim:x25m", "--writes", "both", "--dry-run"], "--writes both compares two runs"),
        ([SMALL, "sim:x25m", "--writes", "both"], "--writes both compares two runs of one drive"),
        ([SMALL, "sim:x25m", "--endurance", "1TB"], "--endurance has no effect without --dry-run"),
        ([SMALL, "sim:x25m", "--from", "x.csv"], "--from: models are fitted to a drive or to file"),
        ([SMALL, SMALL], "is named twice; name each drive once"),
        (["node1:/dev/x", "--workers", "2", "--on", "cluster.toml"], "--workers has no effect on"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    hosts = "".join(f'[[host]]\nname = "{name}"\n' for name in ("node1", "a@node2", "b@node2"))
    Path("cluster.toml").write_text(hosts)
    assert main(["model", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["cluster.toml"]


def test_a_machine_measures_one_real_drive_at_a_time(tmp_path: Path) -> None:
    """Those of other machines all begin at once, those of this one as many as are allowed."""
    machine_of = {"a:1": "a", "a:2": "a", "b:1": "b"}.get

    def work(name: str) -> list[dict[str, int | str]]:
        machine = machine_of(name)
        if machine is None:
            return []
        held = tmp_path / machine
        # A second one on the same machine would find the first.
        held.mkdir()
        if name == "a:1":
            other = tmp_path / "b-was-there"
            while not other.exists():
                pass
        (tmp_path / f"{machine}-was-there").touch()
        held.rmdir()
        return [{"name": name}]

    def guarded(do: Callable[[], int]) -> int:
        return do()

    names = ["a:1", "a:2", "sim", "b:1"]
    finished = run_side_by_side(names, work, guarded, at_once=1, machine_of=machine_of)
    assert [one.code for one in finished] == [0, 0, 0, 0]
    assert [one.name for one in finished] == names
