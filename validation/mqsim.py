"""MQSim's own traces on MQSim and on the drive that its configuration becomes here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

from drivelab.cli.main import main as command
from validation.document import Section

#: The environment variable that names a folder in which MQSim was built (`make` there).
VARIABLE: Final = "DRIVELAB_MQSIM"
_TRACES: Final = ("wsrch-small", "tpcc-small")
_SECONDS: Final = 600
# Reads that miss the cached map wait for a page of it, of which MQSim transfers 512 bytes and the
# imported drive all 8 KiB: 24 us of 181.
_TOLERANCE: Final = 0.15
_SECTOR: Final = 512
#: A filled drive: MQSim also answers reads of pages that were never written.
_FILLED: Final = ((r'^condition = "fresh"', 'condition = "filled"'),)
#: As large as MQSim's cache. MQSim lets at most one page of each plane be on its way.
_NO_LIMIT: Final = ((r"^write_buffer_bytes = .*", "write_buffer_bytes = 268_435_456"),)
# Of the trace's 15,000 pages read nearly half are pages of the map, 512 bytes; a read of the host
# takes 4.4 KB of a page in the mean, a program 4.7 KB. At 333 MB/s:
_SHORT: Final = (
    (r"^read_register_ns = .*", "read_register_ns = 7_900"),
    (r"^write_register_ns = .*", "write_register_ns = 14_000"),
)


def beside_mqsim() -> Section:
    """Replay both traces on both simulators."""
    section = Section(
        "MQSim's own traces", f"{VARIABLE}=FOLDER .venv/bin/python -m validation mqsim"
    )
    folder = os.environ.get(VARIABLE)
    if not folder or not (Path(folder) / "MQSim").is_file():
        section.say(f"Not run: {VARIABLE} names no folder in which MQSim was built.")
        return section
    found = {name: _mqsim(Path(folder), name) for name in _TRACES}
    with tempfile.TemporaryDirectory() as where:
        drives = _imported(Path(folder), Path(where))
        recorded = {name: Path(folder) / "traces" / f"{name}.trace" for name in _TRACES}
        traces = {name: _whole_pages(path, Path(where)) for name, path in recorded.items()}
        ours = {
            (name, drive): _replayed(path, traces[name])
            for name in _TRACES
            for drive, path in drives.items()
        }
    section.say(
        "`ssdconfig.xml` as MQSim ships it, imported by `drivelab drives import`. The drive is "
        "filled, because MQSim answers reads of pages that were never written. Writes are whole "
        "pages here: MQSim's drive is fresh, and reads nothing before it writes a part of a page. "
        "Addresses beyond the drive wrap to 0, and devices are ignored. Latency in us, mean / "
        "longest."
    )
    section.tabulate(
        ("trace", "MQSim", *drives),
        (
            (name, _shown(found[name]), *(_shown(ours[name, drive]) for drive in drives))
            for name in _TRACES
        ),
    )
    section.say(
        "wsrch-small is light. The difference comes from how much of a page crosses the channel: "
        "MQSim transfers the requested sectors, and 512 bytes of a page of the map, and the "
        "imported drive transfers whole pages. tpcc-small sends 51,000 requests a second for "
        "0.14 s, a little more than a drive with one command per chip can serve, so small "
        "differences grow. MQSim's writes wait for two reasons: however large its cache is, at "
        "most one page of each plane may be on its way to the flash, and each write waits for a "
        "read of the map. Its reads are served in 1.05 ms, so its mean is that of such writes. "
        "Without the limit both serve the trace in 0.8 ms. With transfers as short as MQSim's, "
        "reads agree within 1 % (docs/coming-from-mqsim.md)."
    )
    mean, expected = ours["wsrch-small", "imported"][0], found["wsrch-small"][0]
    section.claim(
        f"wsrch-small: the imported drive's mean, {mean:.0f} us, is within "
        f"{100 * _TOLERANCE:.0f} % of MQSim's, {expected:.0f} us",
        holds=abs(mean / expected - 1) <= _TOLERANCE,
    )
    low, high = (ours["tpcc-small", drive][0] for drive in ("writes never wait", "imported"))
    section.claim(
        "tpcc-small: MQSim's mean is between that of the imported drive and that of the imported "
        "drive whose writes never wait",
        holds=low <= found["tpcc-small"][0] <= high,
    )
    return section


def _shown(times: tuple[float, float]) -> str:
    return f"{times[0]:,.0f} / {times[1]:,.0f}"


def _mqsim(folder: Path, trace: str) -> tuple[float, float]:
    """Run MQSim on one of its traces; mean and longest device response time in us."""
    text = (folder / "workload.xml").read_text(encoding="ascii")
    scenarios = re.findall(r"<IO_Scenario>.*?</IO_Scenario>", text, re.DOTALL)
    (recorded,) = (one for one in scenarios if "Trace_Based" in one)
    recorded = re.sub(r"traces/[a-z-]*\.trace", f"traces/{trace}.trace", recorded)
    with tempfile.TemporaryDirectory() as where:
        asked = Path(where) / "asked.xml"
        asked.write_text(f"<MQSim_IO_Scenarios>{recorded}</MQSim_IO_Scenarios>", encoding="ascii")
        subprocess.run(
            [str(folder / "MQSim"), "-i", "ssdconfig.xml", "-w", str(asked)],
            cwd=folder,
            input="\n",
            text=True,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
        )
        written = (Path(where) / "asked_scenario_1.xml").read_text(encoding="utf-8")
    mean, longest = (
        float(re.search(rf"<{name}>([0-9.]+)<", written)[1])  # type: ignore[index]
        for name in ("Device_Response_Time", "Max_Device_Response_Time")
    )
    return mean, longest


def _imported(folder: Path, where: Path) -> dict[str, Path]:
    path = where / "imported.toml"
    with redirect_stdout(StringIO()):
        code = command(["drives", "import", str(folder / "ssdconfig.xml"), "-o", str(path)])
    if code:
        raise RuntimeError("ssdconfig.xml could not be imported")
    imported = _changed(path.read_text(encoding="utf-8"), _FILLED)
    drives = {
        "imported": (),
        "writes never wait": _NO_LIMIT,
        "short transfers too": (*_SHORT, *_NO_LIMIT),
    }
    paths = {}
    for place, (name, changes) in enumerate(drives.items()):
        paths[name] = where / f"drive-{place}.toml"
        paths[name].write_text(_changed(imported, changes), encoding="utf-8")
    return paths


def _whole_pages(trace: Path, where: Path) -> Path:
    """Write a trace whose writes take whole pages of 8 KiB, of one device."""
    page = 8192 // _SECTOR
    lines = []
    for line in trace.read_text(encoding="ascii").splitlines():
        at_ns, _, first, sectors, is_read = (int(each) for each in line.split())
        end = first + sectors
        if not is_read:
            first, end = first // page * page, -(-end // page) * page
        lines.append(f"{at_ns} 0 {first} {end - first} {is_read}")
    path = where / trace.name
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return path


def _changed(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for pattern, by in changes:
        text, count = re.subn(pattern, by, text, flags=re.MULTILINE)
        if not count:
            raise RuntimeError(f"the imported preset has no {pattern}")
    return text


def _replayed(drive: Path, trace: Path) -> tuple[float, float]:
    said = StringIO()
    with redirect_stdout(said):
        code = command(
            ["simulate", f"sim:{drive}", "--trace", str(trace), "--fit", "wrap", "--json"]
        )
    if code:
        raise RuntimeError(f"{trace} could not be replayed")
    (stream,) = json.loads(said.getvalue())["streams"]
    served = [one for one in stream["operations"].values() if one["requests"]]
    requests = sum(one["requests"] for one in served)
    mean = sum(one["requests"] * one["latency_ns_mean"] for one in served) / requests
    return mean / 1e3, max(one["latency_ns_max"] for one in served) / 1e3
