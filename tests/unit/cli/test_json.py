"""What `--json` prints is what docs/json*.md document, key by key."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_study
import pytest
from fake_drive import FakeDrive, workloads
from fake_session import MIB, FakeSession
from jsonschema import Draft202012Validator
from made_profile import profiled
from made_table import own_rows, own_words, written
from made_trace import blkparse_file
from manual.json_schemas import WHOLE_OBJECTS, documented_keys, schema_of
from mqsim_file import ssdconfig
from mqsim_file import workload as mqsim_workload
from nbd_client import READ, when_served
from swept_drive import SMALL

from drivelab.campaign.campaign import run_campaign
from drivelab.cli import main as cli
from drivelab.drives.naming import open_drive
from drivelab.drives.plan import MeasurementPlan
from drivelab.drives.real import block_devices
from drivelab.drives.real.block_devices import BlockDevice
from drivelab.errors import RunError
from drivelab.firmware import kind, leave_one_out
from drivelab.firmware.counted import count_requests
from drivelab.firmware.learners import NetworkShape
from drivelab.firmware.lee2021 import published_workload
from drivelab.firmware.network_search import NetworkSearch
from drivelab.firmware.requests import RequestPlan, request_chunks
from drivelab.pts.compared_courses import COURSES
from drivelab.pts.every_test import TESTS
from drivelab.pts.run import run_test
from drivelab.pts.settings import Settings
from drivelab.pts.shared_states import SharedStates, usual_folder
from drivelab.reproduce import boito2015, huang2011, lee2021, papers, yoo2014
from drivelab.reproduce.boito2015_drives import MACHINES
from drivelab.reproduce.claims import Reproduction
from drivelab.reproduce.snia2010 import reproduction_of
from drivelab.workloads.design import parse_design

pytestmark = pytest.mark.usefixtures("models_in_outline")

DOCUMENTED = documented_keys()
# Objects whose keys are data: any name may stand there.
OPEN_OBJECTS = (
    *("extra", "latency_ns_histogram", "used", "intervals"),
    *("operations", "latency_parts", "weights", "limited_ratio", "settings", "windows"),
)

SMALL_DRIVE = f"sim:{Path(__file__).parents[2] / 'small_drive.toml'}"
COMMAND_LINES: dict[str, list[str]] = {
    "drives": ["drives"],
    "drives show": ["drives", "show", "figured.toml"],
    "drives new": ["drives", "new", "mine.toml", "--force"],
    "drives import": ["drives", "import", "ssdconfig.xml", "--force"],
    "measure": [
        *("measure", "sim:x25m", "--write-ratio", "0.5", "--requests", "50"),
        *("--content", "database"),
    ],
    "simulate": [
        *("simulate", "sim:metered.toml", "--write-ratio", "0.5", "--requests", "50"),
        *("--interval", "1ms", "--save-state", "a.state"),
    ],
    "simulate --mqsim": ["simulate", "--mqsim", "ssdconfig.xml", "workload.xml"],
    "analytic": [
        *("analytic", "analytic:x25m-yoo2014", "--op", "read"),
        *("--record", "64KiB", "--file-size", "1MiB"),
    ],
    "timeline": [
        *("timeline", "sim:timed.toml", "--op", "write"),
        *("--record", "8KiB", "-o", "t.svg", "--csv", "t.csv"),
    ],
    "whatif": ["whatif", "--out", "page.html"],
    "profile": [
        *("profile", "sim:x25m", "--file-size", "4MiB", "--optimization-cost", "50us"),
        *("--out", "profile"),
    ],
    "reproduce boito2015": ["reproduce", "boito2015", "--out", "boito2015"],
    "reproduce huang2011": ["reproduce", "huang2011", "--out", "huang2011"],
    "reproduce lee2021": ["reproduce", "lee2021", "--out", "lee2021"],
    "reproduce snia2010": ["reproduce", "snia2010", "--out", "snia2010"],
    "reproduce yoo2014": ["reproduce", "yoo2014", "--out", "yoo2014"],
    "model": [
        *("model", "sim:x25m", "--measurements", "100", "--check", "5", "--no-sweeps"),
        *("--requests", "50", "--writes", "burst", "--out", "run"),
    ],
    "model --dry-run": [
        *("model", "sim:x25m", "--measurements", "12", "--check", "5", "--dry-run"),
        *("--requests", "50", "--warmup-requests", "10", "--writes", "burst"),
    ],
    "model --from": ["model", "--from", "rows.csv", "--test-last", "20%", "--out", "own"],
    # One value of a disk alone: what takes long is not what is documented.
    "fit": [
        *("fit", "disk", "--base", "sas-15k", "--fit", "mechanics.rotation_rpm"),
        *("--generations", "0", "-o", "disk.toml", "--out", "fit"),
    ],
    "twin": [
        *("twin", "sim:sas-15k", "--base", "spinpoint-m7", "--fit", "host.read_command_ns"),
        *("--generations", "0", "--measurements", "40", "--check", "5", "--out", "twin"),
        *("--requests", "200", "--warmup-requests", "100"),
    ],
    "report": ["report", "run"],
    "pts run": [
        *("pts", "run", "throughput", SMALL_DRIVE, "--client", "--scale", "0.01"),
        *("--out", "pts-throughput"),
    ],
    "pts classes": ["pts", "classes"],
    "pts states": ["pts", "states"],
    "pts report": ["pts", "report", "pts-iops"],
    "pts compare": ["pts", "compare", "pts-iops", "pts-iops/result.json", "--out", "pts-compared"],
    "runs list": ["runs", "list", "."],
    "runs show": ["runs", "show", "failed"],
    "runs export": ["runs", "export", "failed", "--csv", "a.csv", "--parquet", "a.parquet"],
    "runs remove": ["runs", "remove", "removed", "--yes"],
    "report RUN RUN2": ["report", "run", "copied", "--out", "comparison"],
    "scenarios": ["scenarios"],
    "serve": ["serve", SMALL_DRIVE, "--socket", "served", "--for", "2s", "--late", "10s"],
    # Two that keep up, and one that does not.
    "choose": [
        *("choose", "training-unet3d", "--repetitions", "2", "--seconds", "0.05"),
        *("--drives", "sim:bench-64gib,sim:low-latency,sim:enterprise-tlc-pcie4"),
        *("--prices", "prices.csv", "--out", "chosen"),
    ],
    "place": ["place", "crowded.toml", "--seconds", "0.2", "--out", "placed"],
    "firmware profile": [
        *("firmware", "profile", "--geometry", "2x2x1x64x64", "--part", "1", "--out", "firmware"),
        *("reads.toml", "mixed.toml", "writes.toml"),
    ],
    # With a caution: while anything is written, something is collected.
    "firmware evaluate": ["firmware", "evaluate", "profiled", "--out", "evaluated"],
    "firmware train": ["firmware", "train", "profiled", "--out", "model.json"],
    "firmware build": [
        *("firmware", "build", str(Path(__file__).parents[3] / "examples/firmware/page_map.c")),
        *("--out", "programs"),
    ],
    # With a caution: it is what the model was trained on.
    "firmware predict": [
        *("firmware", "predict", "trained.json", "mixed.toml", "profiled", "--part", "1"),
        *("--out", "predicted"),
    ],
    "firmware cores": [
        *("firmware", "cores", "sim:timed.toml", "--requests", "50", "--warmup-requests", "0"),
        *("--cores", "1,64", "--clocks", "100000", "--out", "cores"),
    ],
    # Outside what was measured, or the list of warnings would be empty.
    "predict": ["predict", "run", "--queue-depth", "5000"],
    "predict --trace": [
        *("predict", "run", "--trace", "small.blkparse", "--on-bad", "skip"),
        *("--report", "forecast"),
    ],
    "trace info": ["trace", "info", "small.blkparse", "--on-bad", "skip"],
    "trace characterize": [
        *("trace", "characterize", "small.blkparse", "--on-bad", "skip", "--window", "100ms"),
        *("--out", "traced"),
    ],
    "trace convert": [
        *("trace", "convert", "small.blkparse", "--on-bad", "skip", "--to", "spc"),
        *("-o", "small.spc"),
    ],
    "trace fit": [
        # With a caution: its clock is coarse.
        *("trace", "fit", "coarse.spc", "-o", "fitted.toml", "--window", "5s"),
        *("--check", SMALL_DRIVE),
    ],
    "trace cut": [
        *("trace", "cut", "small.blkparse", "--on-bad", "skip", "--reads"),
        *("-o", "reads.parquet"),
    ],
    "predict --set": ["predict", "own", "--set", "engine=psync", "depth=99", "block_size_kib=4"],
}

# Another command line of the same command, for what the first cannot print.
ALSO: dict[str, list[list[str]]] = {
    # Bases that one value does not make into the drive: they are compared, changes are tried, and
    # something speaks against the fit.
    "fit": [
        [
            *("fit", "disk", "--base", "spinpoint-m7,bali-st91000640ns", "--hold"),
            "seeks,mechanics.rotation_rpm,mechanics.head_switch_ns,media_rate,"
            "cache.write_cache_bytes,host.link_bytes_per_second,host.write_command_ns",
            *("--generations", "0", "-o", "far.toml"),
        ]
    ],
    # A line of least squares that falls below 0.
    "profile": [["profile", "sim:spinpoint-m7", "--file-size", "400MiB", "--points", "4"]],
    # The second one ends as a burst.
    "measure": [
        ["measure", "sim:x25m", "--trace", "trace.log"],
        ["measure", "sim:x25m", "--write-ratio", "0.5"],
    ],
    # With notes: bad lines, and a request that is sent in pieces.
    "choose": [
        [
            *("choose", "--trace", "small.blkparse", "--on-bad", "skip", "--fit", "wrap"),
            *("--drives", "sim:x25m,sim:spinpoint-m7"),
        ]
    ],
    # Pairs do not show that three are too many: a bound that is broken, and then no placement.
    "place": [
        ["place", "tight.toml", "--seconds", "0.2", "--rounds", "1"],
        ["place", "tight.toml", "--seconds", "0.2"],
    ],
    "simulate": [
        ["simulate", "sim:x25m", "--trace", "trace.log", "--interval", "1ms"],
        ["simulate", "sim:spinpoint-m7", "--requests", "50", "--interval", "1s"],
        ["simulate", "sim:array-x25m", "--requests", "50", "--interval", "1s"],
        ["simulate", "sim:array-cheetah-raid5-rebuilding", "--requests", "50", "--interval", "1s"],
        ["simulate", "sim:handles.toml", "--scenario", "placed.toml", "--interval", "1s"],
        ["simulate", "sim:zoned.toml", "--scenario", "appended.toml", "--interval", "1s"],
        ["simulate", "sim:namespaces.toml", "--scenario", "in-namespace.toml", "--interval", "1s"],
    ],
    # Compared over time, which has other keys than block sizes and mixes.
    "pts compare": [
        ["pts", "compare", f"pts-{test}", f"pts-{test}/result.json", "--out", f"pts-{test}-two"]
        for test in COURSES
    ],
}
# Of one kind of drive; of others they are nothing.
OF_ONE_KIND = {"flash", "disk", "channel_utilisation_ratio", "unit_utilisation_ratio", "energy"}

# Everything that a preset may say and that adds to an answer.
TIMED = """
base = "x25m-yoo2014"
name = "timed"

[firmware]
time = "counted"
cores = 2
clock_mhz = 1000
""" + "".join(
    f"cost.{name}_{unit} = 10\n"
    for name in (
        *("command", "read_page", "written_page", "copied_kib"),
        *("flash_read", "flash_program", "page_moved", "flash_erase"),
    )
    for unit in ("cycles", "memory_ns")
)
METERED = """
base = "x25m"
name = "metered"
summary = "x25m with energies"
energy.read_page_nj = 50_000
energy.program_page_nj = 200_000
energy.erase_block_nj = 2_000_000
energy.transfer_byte_pj = 10
energy.idle_power_mw = 100
"""

# A drive with placement handles, and a stream that names one.
HANDLES = """
base = "x25m-yoo2014"
name = "handles"
placement.handles = 2
"""
PLACED = """
requests = 50
[[stream]]
name = "placed"
queue_depth = 1
write_ratio = 1.0
placement = 1
reclaim_group = 0
"""

# A drive with zones, and a stream that appends to them.
ZONED = """
base = "x25m-yoo2014"
name = "zoned"
geometry.user_capacity_bytes = 1_073_741_824
zones.size_bytes = 134_217_728
zones.capacity_bytes = 1_048_576
zones.planes = 1
"""
APPENDED = """
requests = 50
[[stream]]
name = "appended"
queue_depth = 1
write_ratio = 1.0
zones = 2
zone_bytes = 1_048_576
writes_as = "append"
"""

# A drive with namespaces, and a stream in one of them.
NAMESPACES = """
base = "x25m"
name = "namespaces"
namespaces.names = ["one", "two"]
namespaces.shares = [1, 1]
"""
IN_NAMESPACE = """
requests = 50
[[stream]]
name = "trims"
queue_depth = 1
write_ratio = 1.0
writes_as = "trim"
ranges_per_trim = 2
namespace = "two"
[[stream]]
name = "writes"
queue_depth = 1
write_ratio = 0.5
namespace = "two"
"""

# A trace of every kind of request.
TRACE = """fio version 3 iolog
0 /dev/a add
0 /dev/a open
100 /dev/a write 0 4096
200 /dev/a read 0 4096
300 /dev/a trim 0 4096
400 /dev/a sync
"""

# A preset with a published figure that takes a moment to simulate.
FIGURED = """
base = "x25m-yoo2014"
name = "figured"
summary = "x25m-yoo2014 with a figure"
[published.read]
latency_ns = 100_000
condition = "4 KiB"
tolerance_ratio = 0.1
direction = "read"
queue_depth = 1
size_bytes = 4096
random_ratio = 1.0
"""

PRICES = """drive,price,watts
sim:bench-64gib,40,3
sim:low-latency,400,9
sim:enterprise-tlc-pcie4,300,14
"""

FIRMWARE_REQUESTS = """summary = "anywhere on a small drive"
requests = 2000
[[stream]]
name = "mixed"
queue_depth = 8
write_ratio = {share}
read_size_bytes = 16_384
write_size_bytes = 8_192
"""

# Three workloads that one small drive serves, slowly.
CROWDED = "".join(
    f'[[workload]]\nname = "{name}"\nrate_iops = 10_000\nsize = "256MiB"\n'
    "latency_ms_mean_at_most = {bound}\n"
    for name in "abc"
)
CROWDED += f'[[drive]]\nname = "{SMALL_DRIVE}"\nprice = 60\nwatts = 3\n'

DEVICE = BlockDevice(
    name="sdz",
    path="/dev/sdz",
    number="8:400",
    size_bytes=2**30,
    logical_block_bytes=512,
    model=None,
    serial=None,
    firmware=None,
    rotational=False,
    scheduler=None,
    write_cache=None,
    read_only=False,
    members=("FAST 980",),
)


# A drive of each class, a small file, few repetitions: some seconds.
FEW: dict[str, Any] = {
    "machines": [MACHINES[place] for place in (1, 5, 8)],
    "files": [40 * 2**20],
    "half_width_ratio": 0.9,
    "own_profiles": 1,
}


def small_huang2011(folder: Path | None) -> Reproduction:
    """Reproduce the paper on drives and with designs that take a second."""
    return huang2011.reproduce(folder, design="huang2011:40", check=9, **SMALL)


def small_lee2021() -> Reproduction:
    """Compare a few made-up records with the paper."""
    profiles = [
        profiled(label, reads, records=20, scatter=0.05)
        for label, reads in (("RR", 1000), ("RW", 0), ("TC", 480))
    ]
    requests = request_chunks(published_workload("TC").workload(), RequestPlan(shorter=100))
    search = NetworkSearch(rounds=((1, 2),), shapes=(NetworkShape(1, 8, 0.01),))
    return lee2021.reproduction_of(profiles, {"TC": count_requests(requests)}, search)


def printed(text: str, command: str) -> set[str]:
    """Give the keys of an answer, which its schema allows."""
    answer = json.loads(text)
    Draft202012Validator(schema_of(command, DOCUMENTED[command])).validate(answer)
    return set(printed_keys(answer))


def printed_keys(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from printed_keys(entry, f"{path}[]")
    elif isinstance(value, dict) and path.rpartition(".")[2] not in WHOLE_OBJECTS:
        for key, inner in value.items():
            opened = path.rpartition(".")[2] in OPEN_OBJECTS
            name = "*" if opened else key
            yield from printed_keys(inner, f"{path}.{name}" if path else name)
    else:
        yield path


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    words = [*COMMAND_LINES["model"][:-1], str(folder / "run")]
    assert cli.main(words) == 0
    blkparse_file(folder)
    coarse = "".join(f"0,{8 * at},4096,{'rw'[at % 2]},{at // 4}\n" for at in range(80))
    (folder / "coarse.spc").write_text(coarse)
    (folder / "prices.csv").write_text(PRICES)
    for name, bound in (("crowded", 50), ("tight", 0.15)):
        plan_text = f"utilisation_at_most = 1.0\n{CROWDED.replace('{bound}', str(bound))}"
        (folder / f"{name}.toml").write_text(plan_text)
    (folder / "metered.toml").write_text(METERED)
    (folder / "timed.toml").write_text(TIMED)
    (folder / "figured.toml").write_text(FIGURED)
    (folder / "handles.toml").write_text(HANDLES)
    (folder / "placed.toml").write_text(PLACED)
    (folder / "zoned.toml").write_text(ZONED)
    (folder / "appended.toml").write_text(APPENDED)
    (folder / "namespaces.toml").write_text(NAMESPACES)
    (folder / "in-namespace.toml").write_text(IN_NAMESPACE)
    (folder / "trace.log").write_text(TRACE)
    for name, share in (("reads", 0.0), ("mixed", 0.4), ("writes", 1.0)):
        (folder / f"{name}.toml").write_text(FIRMWARE_REQUESTS.format(share=share))
    (folder / "ssdconfig.xml").write_text(ssdconfig())
    (folder / "workload.xml").write_text(mqsim_workload([{"Intensity": "7"}]))
    # A column that is left out, or the list of remarks would be empty.
    rows = [{"empty": "", **one} for one in own_rows(20)]
    assert cli.main(own_words(written(folder / "rows.csv", rows), folder / "own")) == 0
    for name in ("failed", "removed"):
        drive = FakeDrive("real", fail_at={2: RunError("fio died")})
        # With what ends a burst.
        plan = MeasurementPlan(requests=10, half_width_ratio=0.5, burst_ratio=0.01)
        path = folder / name
        run_campaign(
            drive,
            workloads(5),
            plan,
            path,
            design_name="fake",
            progress=False,
            on_failure="continue",
        ).close()
    shutil.copytree(folder / "run", folder / "copied")
    with open_drive("sim:sas-15k") as disk:
        asked = parse_design("sobol:32").select(0, block_bytes=disk.block_bytes).workloads
        brief = MeasurementPlan.of_kind("simulated", requests=200, warmup_requests=100)
        run_campaign(
            disk, asked, brief, folder / "disk", design_name="sobol", progress=False
        ).close()
    for test in ("iops", *COURSES):
        run_test(
            TESTS[test],
            FakeSession(settles_bytes=512 * MIB),
            Settings.of_edition("client"),
            folder / f"pts-{test}",
            shown=False,
        )
    return folder


@pytest.fixture(scope="module")
def profiled_firmware(finished_run: Path) -> None:
    """Profile a firmware and train a model of it."""
    names = ("reads.toml", "mixed.toml", "writes.toml")
    run = str(finished_run / "profiled")
    small = ("--geometry", "2x2x1x64x64", "--part", "1", "--out", run)
    workloads = [str(finished_run / name) for name in names]
    assert cli.main(["firmware", "profile", *workloads, *small, "--json"]) == 0
    model = str(finished_run / "trained.json")
    assert cli.main(["firmware", "train", run, "--out", model, "--json"]) == 0


@pytest.fixture
def asking() -> Iterator[None]:
    """Read once from a drive as soon as it is served."""

    def ask() -> None:
        with when_served(Path("served")) as client:
            client.ask(READ, 0, 4096)

    asker = threading.Thread(target=ask)
    asker.start()
    yield
    asker.join()


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_printed_keys_are_the_documented_ones(
    command: str, finished_run: Path, capsys, monkeypatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(finished_run)
    if command == "serve":
        request.getfixturevalue("asking")
    if command in ("firmware evaluate", "firmware train", "firmware predict"):
        request.getfixturevalue("profiled_firmware")
        capsys.readouterr()
    if command == "firmware train":
        # As of a profile that was stopped, or the list of cautions would be empty.
        monkeypatch.setattr(kind, "incomplete", lambda *_: ["a workload is missing"])
    SharedStates(usual_folder()).put({}, "sim:x25m", [], b"state")
    # A machine of its own: the one that runs the tests may have no block device at all.
    monkeypatch.setattr(block_devices, "list_block_devices", lambda: [DEVICE])
    monkeypatch.setitem(papers.PAPERS, "boito2015", lambda _: boito2015.reproduce(**FEW))
    monkeypatch.setitem(papers.PAPERS, "huang2011", small_huang2011)
    monkeypatch.setitem(papers.PAPERS, "yoo2014", lambda _: yoo2014.reproduce(is_served=False))
    # Percentiles of few records: their keys are what is looked at.
    monkeypatch.setitem(leave_one_out.RECORDS_FOR, 99.0, 20)
    monkeypatch.setitem(papers.PAPERS, "lee2021", lambda _: small_lee2021())
    monkeypatch.setitem(papers.PAPERS, "snia2010", lambda _: reproduction_of(made_study.study()))
    # Nobody measured the small drive in a paper: its claims may fail. Some plans have no placement.
    cut_short = {"reproduce boito2015", "reproduce huang2011", "reproduce lee2021", "place"}
    allowed = {0, 1} if command in cut_short else {0}
    assert cli.main([*COMMAND_LINES[command], "--json"]) in allowed
    found = printed(capsys.readouterr().out, command)
    for words in ALSO.get(command, ()):
        assert cli.main([*words, "--json"]) in allowed
        found |= printed(capsys.readouterr().out, command)
        found -= OF_ONE_KIND
    assert found == set(DOCUMENTED[command])


def test_every_documented_command_is_tested_here() -> None:
    # One a second, and as long as somebody watches: tests/unit/live.
    assert set(DOCUMENTED) - {"watch"} == set(COMMAND_LINES)


def test_keys_of_nested_values() -> None:
    value = {"a": [{"b": 1}, {"c": [2]}], "extra": {"x": 1}, "none": None}
    assert set(printed_keys(value)) == {"a[].b", "a[].c[]", "extra.*", "none"}
