"""Write amplification of random writes, compared with closed forms."""

from __future__ import annotations

from math import exp
from typing import Final

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.characteristics import Characteristics
from validation.document import Section

_SPARES: Final = (0.07, 0.15, 0.25, 0.5)
_PAGES: Final = 128
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
        found = [_simulated(policy, spare) for spare in _SPARES]
        expected = [closed_form(1 + spare) for spare in _SPARES]
        rows += [
            (
                policy,
                f"{spare:.0%}",
                f"{one:.3f}",
                f"{other:.3f}",
                f"{100 * (one / other - 1):+.1f} %",
            )
            for spare, one, other in zip(_SPARES, found, expected, strict=True)
        ]
        worst = max(abs(one / other - 1) for one, other in zip(found, expected, strict=True))
        section.claim(
            f"{policy}: at most {_TOLERANCE:.0%} from the closed form; found {100 * worst:.1f} %",
            holds=worst <= _TOLERANCE,
        )
        section.claim(
            f"{policy}: more over-provisioning never raises it",
            holds=found == sorted(found, reverse=True),
        )
    section.tabulate(
        ("victims", "over-provisioning", "simulated", "closed form", "difference"), rows
    )
    return section


def _simulated(policy: str, spare: float) -> float:
    text = _PRESET.format(blocks=_BLOCKS, pages=_PAGES, spare=spare, policy=policy)
    physical = _BLOCKS * _PAGES
    workload = Characteristics(write_ratio=1.0, queue_depth=4, read_size=4096, write_size=4096)
    with SimulatedDrive("sim:one-plane", PresetSource("one-plane", text, {})) as drive:
        result = drive.simulate(
            workload,
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
