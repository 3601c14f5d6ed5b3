"""Write amplification of random writes, to all of a drive or to a part, beside closed forms."""

from __future__ import annotations

from math import exp
from typing import Final

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.scenario import Scenario
from validation.document import Section

_SPARES: Final = (0.07, 0.15, 0.25, 0.5)
# The parts of a drive with the second of these that hold data.
_PARTS: Final = (0.5, 0.75, 0.9)
_PARTLY_SPARE: Final = 0.15
_PAGES: Final = 128
_PAGE_BYTES: Final = 4096
_BLOCKS: Final = 5000
# The blocks in reserve for collection, 0.07 % of all, are 1.1 % of the amplification at 7 %;
# the rest is the random error of one run.
_TOLERANCE: Final = 0.02
_PRESET: Final = """
base = "bench-64gib"
name = "one-plane"
condition = "filled"
[geometry]
channels = 1
ways_per_channel = 1
dies_per_way = 1
planes_per_die = 1
blocks_per_plane = {blocks}
pages_per_block = {pages}
over_provisioning_ratio = {spare}
[collection]
policy = "{policy}"
reserve_blocks_per_plane = 2
[occupancy]
filled = {filled}
"""
_WRITES: Final = """
[[stream]]
name = "writes"
queue_depth = 4
write_ratio = 1.0
write_random = 1.0
write_size_bytes = {page_bytes}
range_bytes = {range_bytes}
"""


def collection() -> Section:
    """Compare simulated write amplification with Desnoyers 2012."""
    section = Section(
        "Write amplification under random writes", ".venv/bin/python -m validation collection"
    )
    section.say(
        f"Uniform random 4 KiB writes to one plane of {_BLOCKS:,} blocks of {_PAGES} pages, filled "
        "once. Counting begins after three times the flash was written. The closed forms of "
        "Desnoyers 2012 have neither a reserve nor open blocks."
    )
    rows = []
    for policy, closed_form in (("greedy", greedy), ("fifo", _fifo)):
        found = {spare: _simulated(policy, spare) for spare in _SPARES}
        expected = {spare: closed_form(1 + spare) for spare in _SPARES}
        rows += [
            (policy, f"{spare:.0%}", *_beside(found[spare], expected[spare])) for spare in _SPARES
        ]
        _claim_near(section, policy, found, expected)
        section.claim(
            f"{policy}: more over-provisioning never raises it",
            holds=list(found.values()) == sorted(found.values(), reverse=True),
        )
    section.tabulate(
        ("victims", "over-provisioning", "simulated", "closed form", "difference"), rows
    )
    section.say(
        f"With over-provisioning of {_PARTLY_SPARE:.0%} and greedy victims, the same writes to the "
        "part of the drive that holds data (`occupancy.filled`). All other pages of the flash are "
        "spare then:"
    )
    found = {part: _simulated("greedy", _PARTLY_SPARE, part) for part in _PARTS}
    expected = {part: greedy((1 + _PARTLY_SPARE) / part) for part in _PARTS}
    section.tabulate(
        ("holds data", "simulated", "closed form", "difference"),
        [(f"{part:.0%}", *_beside(found[part], expected[part])) for part in _PARTS],
    )
    _claim_near(section, "greedy, a drive that is partly filled", found, expected)
    return section


def _beside(found: float, expected: float) -> tuple[str, str, str]:
    return f"{found:.3f}", f"{expected:.3f}", f"{100 * (found / expected - 1):+.1f} %"


def _claim_near(
    section: Section, what: str, found: dict[float, float], expected: dict[float, float]
) -> None:
    worst = max(abs(one / expected[case] - 1) for case, one in found.items())
    section.claim(
        f"{what}: at most {_TOLERANCE:.0%} from the closed form; found {100 * worst:.1f} %",
        holds=worst <= _TOLERANCE,
    )


def _simulated(policy: str, spare: float, filled: float = 1.0) -> float:
    text = _PRESET.format(blocks=_BLOCKS, pages=_PAGES, spare=spare, policy=policy, filled=filled)
    physical = _BLOCKS * _PAGES
    with SimulatedDrive("sim:one-plane", PresetSource("one-plane", text, {})) as drive:
        pages = int(filled * (drive.capacity_bytes // _PAGE_BYTES))
        writes = _WRITES.format(page_bytes=_PAGE_BYTES, range_bytes=pages * _PAGE_BYTES)
        result = drive.simulate(
            Scenario(writes),
            warmup_requests=3 * physical,
            requests=physical,
        ).values
    return float(result["flash"]["write_amplification_ratio"])


def _lambert(value: float) -> float:
    """Return the branch of Lambert's W above -1 at -value exp(-value)."""
    root = 0.0
    for _ in range(1000):
        root = -value * exp(-value - root)
    return root


def _fifo(ratio: float) -> float:
    return ratio / (ratio + _lambert(ratio))


def greedy(ratio: float) -> float:
    """Write amplification of greedy collection with blocks of 128 pages (Desnoyers 2014).

    Parameters
    ----------
    ratio
        Physical over logical pages, above 1.
    """
    pages = float(_PAGES)
    wider = (1 + 0.5 / pages) * ratio
    return pages / (pages + 1 - (0.5 - pages / ratio * _lambert(wider)))
