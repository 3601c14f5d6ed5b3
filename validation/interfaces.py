"""Queue pairs, placement handles and zones, compared with arithmetic and with published results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.presets.source import PresetSource
from drivelab.drives.simulated.drive import SimulatedDrive
from drivelab.workloads.scenario import Scenario
from validation.document import Section
from validation.flash_cache import BLOCKS, KINDS, cached

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_EXAMPLES: Final = Path(__file__).parent.parent / "examples"
_COMMAND: Final = ".venv/bin/python -m validation interfaces"
# Counting begins in the middle of a turn and ends in one: a few commands of 300,000.
_TURN_TOLERANCE: Final = 1e-3

_PAIRS: Final = """
base = "bench-64gib"
name = "pairs"
[host]
interface = "nvme"
link_bytes_per_second = 6_900_000_000
commands = 64
read_command_ns = 0
write_command_ns = 0
write_acknowledge_ns = 0
{turns}
"""
#: How pairs take turns, and what part of the commands each then gets.
_TURNS: Final[dict[str, tuple[str, tuple[float, ...]]]] = {
    "in turn": ("queue_pair_weights = [1, 1, 1]", (1 / 3, 1 / 3, 1 / 3)),
    "weights 4, 2, 1": ("queue_pair_weights = [4, 2, 1]", (4 / 7, 2 / 7, 1 / 7)),
    "classes of weights 8, 4, 1": (
        "queue_pair_weights = [1, 1, 1]\nqueue_pair_classes = [1, 2, 3]\nclass_weights = [8, 4, 1]",
        (8 / 13, 4 / 13, 1 / 13),
    ),
}
_PAIR: Final = '[[stream]]\nname = "{pair}"\nqueue_pair = {pair}\nqueue_depth = 256\n'

_PAGE_BYTES: Final = 16_384
_WRITE_BYTES: Final = 65_536
_ZONE_BYTES: Final = 16_777_216
_WRITES: Final = _ZONE_BYTES // _WRITE_BYTES
_ZONES: Final = 4
_LOG: Final = f"""
[[stream]]
name = "log"
queue_depth = 8
write_ratio = 1.0
write_size_bytes = {_WRITE_BYTES}
writes_as = "append"
zones = {_ZONES}
"""
# Of examples/zones.toml.
_DIES: Final = 8
_PROGRAM_NS: Final = 375_000 + 10_240
_ERASES_NS: Final = 2 * 5_000_000
# The buffer holds half a zone, 0.3 % of the 160 that are counted.
_ZONE_TOLERANCE: Final = 0.005


def interfaces() -> Section:
    """Measure what today's interfaces do to a simulated drive."""
    section = Section("Queue pairs, placement handles and zones", _COMMAND)
    _queue_pairs(section)
    _flash_cache(section)
    _zones(section)
    return section


def _queue_pairs(section: Section) -> None:
    section.say(
        "Three queue pairs of `bench-64gib` with 256 random reads outstanding in each; the drive "
        "takes 64 commands at a time. The part of the completed reads that each pair gets is "
        "compared with that of its weight."
    )
    rows: list[Sequence[object]] = []
    for name, (turns, expected) in _TURNS.items():
        found = _shares(turns, len(expected))
        rows.append(
            (name, *(f"{one:.4f} ({due:.4f})" for one, due in zip(found, expected, strict=True)))
        )
        worst = max(abs(one / due - 1) for one, due in zip(found, expected, strict=True))
        section.claim(
            f"queue pairs, {name}: parts at most {100 * _TURN_TOLERANCE:.1f} % from those of the "
            f"weights; found {100 * worst:.2f} %",
            holds=worst <= _TURN_TOLERANCE,
        )
    section.tabulate(("turns", "first pair (due)", "second", "third"), rows)


def _shares(turns: str, pairs: int) -> list[float]:
    source = PresetSource("pairs", _PAIRS.format(turns=turns))
    scenario = Scenario("\n".join(_PAIR.format(pair=pair) for pair in range(pairs)))
    with SimulatedDrive("sim:pairs", source) as drive:
        found = drive.simulate(scenario, warmup_requests=50_000, requests=300_000).values
    rates = [float(stream["iops"]) for stream in found["streams"]]
    return [rate / sum(rates) for rate in rates]


def _flash_cache(section: Section) -> None:
    section.say(
        "Placement handles under the writes of a flash cache: small objects at random in 4 % of "
        "the drive, and a log in the rest (`scenarios/flash-cache.toml` on "
        "`examples/placement.toml`, which has 1 GiB). Pages programmed for each that the host "
        "wrote, by spare space. Allison et al. 2025 report about 1 with handles; as recalled, "
        "about 3 without, on a drive whose spare space is not known."
    )
    every = cached()
    ratios = {case: one.write_amplification_ratio for case, one in every.items()}
    rows = [
        (f"{100 * spare:.0f} %", *(f"{ratios[spare, kind]:.3f}" for kind in KINDS))
        for spare in BLOCKS
    ]
    section.tabulate(("spare space", *KINDS), rows)
    without, *isolated = KINDS
    most = max(ratios[spare, kind] for spare in BLOCKS for kind in isolated)
    section.claim(f"with handles at most 1.1; found {most:.3f}", holds=most <= 1.1)
    alone = [ratios[spare, without] for spare in BLOCKS]
    section.claim(
        f"the published 3 without handles lies between the most and the least spare space: "
        f"{alone[-1]:.2f} and {alone[0]:.2f}",
        holds=alone[-1] < 3 < alone[0],
    )
    section.claim(
        "handles always serve more requests a second",
        holds=all(
            every[spare, kind].iops > every[spare, without].iops
            for spare in BLOCKS
            for kind in isolated
        ),
    )


def _zones(section: Section) -> None:
    pages = _ZONE_BYTES // _PAGE_BYTES // _DIES
    expected = 1e3 * _ZONE_BYTES / (pages * _PROGRAM_NS + _ERASES_NS)
    log = _zoned(
        Scenario(_LOG), warmup_requests=20 * _ZONES * _WRITES, requests=40 * _ZONES * _WRITES
    )
    rate = 1e3 * 40 * _ZONES * _ZONE_BYTES / log["duration_ns"]
    section.say(
        f"`examples/zones.toml` written as a log, {_ZONES} zones at a time: {rate:.1f} MB/s. Each "
        f"of its {_DIES} dies programs {pages} pages of a zone and erases two blocks, which gives "
        f"{expected:.1f} MB/s. Then `examples/zoned-logs.toml`, three logs of which one is read, "
        "on that drive and on the same flash without zones:"
    )
    off = rate / expected - 1
    section.claim(
        f"a log in zones is written at the rate of programs and erases within "
        f"{100 * _ZONE_TOLERANCE:.1f} %; found {100 * off:+.2f} %",
        holds=abs(off) <= _ZONE_TOLERANCE,
    )
    logs = Scenario((_EXAMPLES / "zoned-logs.toml").read_text(encoding="utf-8"))
    zoned, open_to_all = _zoned(logs), _zoned(logs, example="zones-off")
    found = {
        "with zones": (_amplification(zoned), _written(zoned)),
        "without": (_amplification(open_to_all), _written(open_to_all)),
    }
    section.tabulate(
        ("drive", "write amplification", "written by the host (MB/s)"),
        [(name, f"{ratio:.3f}", f"{written:.0f}") for name, (ratio, written) in found.items()],
    )
    section.claim(
        "zones: nothing is moved, and no command is refused",
        holds=found["with zones"][0] == 1.0 and zoned["zones"]["refused_commands"] == 0,
    )
    section.claim(
        "the same logs on a drive without zones make it move data and serve fewer bytes",
        holds=found["without"][0] > 1.0 and found["without"][1] < found["with zones"][1],
    )


def _zoned(
    scenario: Scenario,
    *,
    example: str = "zones",
    warmup_requests: int | None = None,
    requests: int | None = None,
) -> Mapping[str, Any]:
    text = (_EXAMPLES / f"{example}.toml").read_text(encoding="utf-8")
    with SimulatedDrive(f"sim:{example}", PresetSource(example, text)) as drive:
        return drive.simulate(scenario, warmup_requests=warmup_requests, requests=requests).values


def _amplification(found: Mapping[str, Any]) -> float:
    return float(found["flash"]["write_amplification_ratio"])


def _written(found: Mapping[str, Any]) -> float:
    """Return MB/s that all streams wrote."""
    written = (stream["operations"]["write"] for stream in found["streams"])
    return sum(float(one["bandwidth_bytes_per_second"]) for one in written) / 1e6
