"""A flash cache's writes with placement handles and without, in docs/placement.md: a table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.scenario import Scenario
from validation.marked_table import replaced, row

_ROOT: Final = Path(__file__).parent.parent
TARGET: Final = _ROOT / "docs" / "placement.md"
_BEGIN: Final = "<!-- flash cache: written by `.venv/bin/python -m validation.flash_cache` -->\n"
_END: Final = "<!-- end of the flash cache -->\n"
_PRESET: Final = """
base = "{base}"
name = "spared"
geometry.blocks_per_plane = {blocks}
"""
#: Blocks of each plane of examples/placement.toml, by the spare space that they leave.
BLOCKS: Final = {0.07: 1096, 0.15: 1178, 0.28: 1311}
#: Isolation of the handles, by the heading of its column; the first is a drive without handles.
KINDS: Final = {
    "without handles": None,
    "initially isolated": "initial",
    "persistently isolated": "persistent",
}


@dataclass(frozen=True)
class Cached:
    """What a drive made of a flash cache's writes.

    Attributes
    ----------
    write_amplification_ratio
        Pages programmed for each that the host wrote.
    iops
        Completed writes in a second.
    """

    write_amplification_ratio: float
    iops: float


def cached() -> dict[tuple[float, str], Cached]:
    """Write a flash cache to every drive; by spare space and kind."""
    return {(spare, kind): _cached(spare, kind) for spare, kind in product(BLOCKS, KINDS)}


def _cached(spare: float, kind: str) -> Cached:
    isolation = KINDS[kind]
    example = "placement" if isolation else "placement-off"
    base = (_ROOT / "examples" / f"{example}.toml").read_text(encoding="utf-8")
    text = _PRESET.format(base=example, blocks=BLOCKS[spare])
    if isolation:
        text += f'placement.isolation = "{isolation}"\n'
    source = PresetSource("spared", text, {example: base})
    writes = (_ROOT / "scenarios" / "flash-cache.toml").read_text(encoding="utf-8")
    with SimulatedDrive("sim:spared", source) as drive:
        found = drive.simulate(Scenario(writes)).values
    return Cached(
        float(found["flash"]["write_amplification_ratio"]),
        1e9 * found["counted_requests"] / found["duration_ns"],
    )


def table_text(every: dict[tuple[float, str], Cached]) -> str:
    """Write the table."""
    lines = [row("spare space", *KINDS), "|---" + "|---:" * len(KINDS) + "|"]
    for spare in BLOCKS:
        cells = (_cell(every[spare, kind]) for kind in KINDS)
        lines += [row(f"{100 * spare:.0f} %", *cells)]
    return "\n".join(lines) + "\n"


def _cell(one: Cached) -> str:
    ratio = one.write_amplification_ratio
    return f"{ratio:.{3 if ratio < 1.1 else 2}f}, {one.iops:,.0f} requests/s"


def with_table(text: str, table: str) -> str:
    """Return a document with its table of a flash cache replaced."""
    return replaced(text, "table of a flash cache", (_BEGIN, _END), table)


def write() -> None:
    """Write the table into docs/placement.md."""
    text = TARGET.read_text(encoding="utf-8")
    TARGET.write_text(with_table(text, table_text(cached())), encoding="utf-8")


if __name__ == "__main__":
    write()
