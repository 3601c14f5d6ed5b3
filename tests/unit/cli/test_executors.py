"""Who measures on a simulated drive: threads, processes, other machines; workers are killed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from brief_models import PROGRAM
from fake_ray import FakeRay
from ssh_server import Server, serving, wait_until

from drivelab.cli.main import main
from drivelab.errors import UsageError
from drivelab.pages import fitted
from drivelab.runs.workers import pool
from drivelab.runs.workers.place import Place

SMALL = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
MODEL = (
    *("model", SMALL, "--design", "huang2011:60", "--check", "0", "--no-sweeps", "--json"),
    *("--requests", "2000"),
)
COMMAND = [sys.executable, "-c", PROGRAM]
HERE = "import sys; from drivelab.cli.main import main; sys.exit(main())"


@pytest.fixture
def unfitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """End once everything is measured: nothing here is about models."""

    def measured(store: object) -> None:
        raise UsageError("all is measured")

    monkeypatch.setattr(fitted, "fit_and_report", measured)


@pytest.fixture
def server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require_tool: Callable[[str], Path]
) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path / "ssh", require_tool("sshd")) as found:
        yield found


def cluster(server: Server, *hosts: str) -> str:
    """Write a list of machines: the server's, under each of some names."""
    drivelab = server.folder / "drivelab"
    path = os.environ.get("PYTHONPATH", "")
    drivelab.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec {sys.executable} -c "{HERE}" "$@"\n')
    drivelab.chmod(0o755)
    lines = [f'ssh_config = "{server.config}"']
    for host in hosts:
        lines += ["[[host]]", f'name = "{host}"', f'drivelab = "{drivelab}"', "threads = 2"]
    Path("cluster.toml").write_text("\n".join(lines))
    return "cluster.toml"


def measurements(run: str) -> bytes:
    return Path(run, "measurements.csv").read_bytes()


def measure(*words: str, said: str = "all is measured") -> str:
    """Measure what models need, and give what was said."""
    with contextlib.redirect_stderr(io.StringIO()) as error:
        assert main([*MODEL, *words]) in (1, 2)
    assert said in error.getvalue()
    return error.getvalue()


@pytest.mark.usefixtures("unfitted")
def test_results_do_not_depend_on_who_measures(server: Server, started: list[str]) -> None:
    with (server.folder / "config").open("a") as config:
        config.write(f"Host node1 node2\n  HostName 127.0.0.1\n  Port {server.port}\n")
        config.write(f"  HostKeyAlias [127.0.0.1]:{server.port}\n")
    measure("--out", "threads")
    measure("--out", "processes", "--executor", "processes", "--workers", "2")
    measure("--out", "machines", "--on", cluster(server, "node1", "node2"))
    assert measurements("threads") == measurements("processes") == measurements("machines")
    assert started == ["worker 1", "worker 2", "node1", "node2"]


@pytest.mark.faults
def test_a_killed_worker_is_not_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*MODEL, "--executor", "processes", "--workers", "2", "--out", "killed"]
    drawn = random.Random(5)
    # Long enough that workers are met at work.
    words += ["--requests", "20000"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE) as process:
        killed, met = 0, set[int]()
        while killed < 3 and process.poll() is None:
            time.sleep(drawn.uniform(0.1, 0.4))
            workers = children(process.pid)
            met |= set(workers)
            if workers:
                os.kill(drawn.choice(workers), signal.SIGKILL)
                killed += 1
        output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert killed == 3
    assert json.loads(output)["failed_workloads"] == 0
    assert not any(Path(f"/proc/{each}").exists() for each in met)
    assert main([*MODEL, "--requests", "20000", "--out", "alone"]) == 0
    assert measurements("killed") == measurements("alone")


def test_a_killed_run_leaves_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*MODEL, "--executor", "processes", "--workers", "2", "--out", "killed"]
    words += ["--requests", "1000000"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE) as process:
        # They measure: much more time than starting takes.
        wait_until(lambda: sum(map(seconds_of, children(process.pid))) > 6)
        workers = children(process.pid)
        assert len(workers) == 2
        process.kill()
    wait_until(lambda: not any(Path(f"/proc/{each}/exe").exists() for each in workers))


def seconds_of(process: int) -> float:
    """Give the processor time of a process."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def children(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(each) for each in path.read_text().split()] if path.exists() else []


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the names of places where workers were started."""
    names: list[str] = []

    class Counted(pool.Talk):
        def __init__(self, place: Place, heard: Any) -> None:
            names.append(place.name)
            super().__init__(place, heard)

    monkeypatch.setattr(pool, "Talk", Counted)
    return names


@pytest.mark.long
def test_a_twin_is_the_same_whoever_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["twin", "sim:sas-15k", "--base", "sas-15k", "--fit", "mechanics.rotation_rpm"]
    words += ["--generations", "0", "--measurements", "40", "--check", "5"]
    words += ["--requests", "200", "--warmup-requests", "50"]
    assert main([*words, "--out", "alone"]) == 0
    assert started == []
    assert main([*words, "--executor", "processes", "--workers", "2", "--out", "twin"]) == 0
    # What the twin is fitted to, and what judges it, each have workers of their own.
    assert len(started) >= 4
    assert set(started) == {"worker 1", "worker 2"}
    for name in ("run/measurements.csv", "again/measurements.csv"):
        assert Path("twin", name).read_bytes() == Path("alone", name).read_bytes(), name
    results = [json.loads(Path(each, "page/result.json").read_text()) for each in ("twin", "alone")]
    for name in ("error", "repeated_error", "values"):
        assert results[0][name] == results[1][name], name


@pytest.mark.faults
def test_a_twin_is_fitted_on_other_machines_and_on_ray(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["twin", "sim:sas-15k", "--base", "sas-15k", "--fit", "mechanics.rotation_rpm"]
    words += ["--generations", "0", "--measurements", "40", "--check", "5"]
    words += ["--requests", "100", "--warmup-requests", "20"]
    assert main([*words, "--out", "alone"]) == 0
    assert main([*words, "--out", "ssh", "--on", cluster(server, server.name)]) == 0
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        on_ray = ["--executor", "ray", "--address", address, "--workers", "2"]
        assert main([*words, *on_ray, "--out", "ray"]) == 0
    assert ray.actors
    for name in ("run/measurements.csv", "again/measurements.csv"):
        alone = Path("alone", name).read_bytes()
        assert Path("ssh", name).read_bytes() == alone, name
        assert Path("ray", name).read_bytes() == alone, name
    places = ("alone", "ssh", "ray")
    results = [json.loads(Path(each, "page/result.json").read_text()) for each in places]
    for name in ("error", "repeated_error", "values"):
        assert results[0][name] == results[1][name] == results[2][name], name


def test_a_profile_is_the_same_whoever_measures(server: Server, started: list[str]) -> None:
    words = ["profile", SMALL, "--file-size", "1MiB", "--interval", "4KiB:64KiB:12KiB"]
    assert main([*words, "--out", "threads", "--workers", "1"]) == 0
    assert started == []
    assert main([*words, "--out", "processes", "--executor", "processes", "--workers", "2"]) == 0
    assert main([*words, "--out", "machines", "--on", cluster(server, server.name)]) == 0
    assert started == ["worker 1", "worker 2", server.name]
    tables = [each.name for each in Path("threads").glob("*.csv")]
    assert "passes.csv" in tables
    for name in tables:
        alone = Path("threads", name).read_bytes()
        assert Path("processes", name).read_bytes() == alone, name
        assert Path("machines", name).read_bytes() == alone, name


def test_a_placement_is_the_same_whoever_simulates(
    server: Server, started: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    drives = (SMALL, f"sim:{Path(__file__).parents[2] / 'settling_drive.toml'}")
    Path("plan.toml").write_text(
        'objective = "latency"\n'
        + "".join(
            f'[[workload]]\nname = "{name}"\nrate_iops = {rate}\nsize = "64MiB"\n'
            for name, rate in (("web", 2000), ("mail", 1000))
        )
        + "".join(f'[[drive]]\nname = "{name}"\nat_most = 2\n' for name in drives)
    )
    words = ["place", "plan.toml", "--seconds", "0.2", "--json"]
    assert main(words) == 0
    alone = capsys.readouterr().out
    assert started == []
    assert main([*words, "--executor", "processes", "--workers", "2"]) == 0
    assert capsys.readouterr().out == alone
    # The same workers simulate both kinds of drives.
    assert started == ["worker 1", "worker 2"]
    assert main([*words, "--on", cluster(server, server.name)]) == 0
    assert capsys.readouterr().out == alone
    assert started == ["worker 1", "worker 2", server.name]


def test_a_plan_with_traces_is_solved_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.spc").write_text("".join(f"0,{each * 8},4096,r,{each}.0\n" for each in range(9)))
    Path("plan.toml").write_text(
        '[[workload]]\nname = "recorded"\ntrace = "short.spc"\nsize = "1MiB"\n'
        f'[[drive]]\nname = "{SMALL}"\nprice = 1\n'
    )
    assert main(["place", "plan.toml", "--executor", "processes", "--out", "placed"]) == 2
    said = capsys.readouterr().err
    assert "a recorded trace is measured where its files are: leave out --executor" in said
    assert said.count("\n") == 1
    assert not Path("placed").exists()


def test_a_choice_may_be_made_elsewhere(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    started: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["choose", "--drives", f"{SMALL},analytic:x25m-yoo2014", "--json", "--repetitions", "2"]
    words += ["--requests", "2000"]
    assert main(words) == 0
    alone = capsys.readouterr().out
    assert started == []
    assert main([*words, "--executor", "processes", "--workers", "2"]) == 0
    assert capsys.readouterr().out == alone
    # Of each drive.
    assert started == ["worker 1", "worker 2"] * 2


@pytest.mark.usefixtures("unfitted")
def test_a_machine_that_cannot_be_reached_is_named(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = ["--on", cluster(server, "127.0.0.1:1")]
    said = measure("--out", "run", *on, said="no worker is left: 127.0.0.1:1 cannot be reached: ")
    assert "Connection refused" in said
    # The other one does it all.
    monkeypatch.setattr(pool, "_ENDS_AT_FIRST", 0)
    on = ["--on", cluster(server, "127.0.0.1:1", server.name)]
    said = "127.0.0.1:1 cannot be reached: "
    assert "; the others do its work" in measure("--out", "run", *on, said=said)
    (server.folder / "drivelab").unlink()
    said = f"has no command {server.folder}/drivelab: install Drivelab"
    measure("--out", "other", "--on", "cluster.toml", said=said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--executor", "ssh"], "--executor ssh needs a file of machines, --on"),
        (["--executor", "processes", "--on", "x.toml"], "--on is for --executor ssh, and not for"),
        (["--on", "none.toml"], "none.toml"),
        (["--executor", "cluster"], "--executor"),
        (["--executor", "ssh", "--dry-run"], "--executor ssh needs a file of machines"),
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
    assert main([*MODEL, "--out", "run", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not Path("run").exists()


def test_real_drives_are_measured_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["model", "./file.bin", "--out", "run", "--executor", "processes"]) == 2
    said = "is a real drive, which one process measures: leave out --executor processes"
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
