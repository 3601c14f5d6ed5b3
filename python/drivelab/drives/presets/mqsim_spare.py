"""Which of MQSim's settings to change when collection has too little spare space.

Three settings decide it: how much is spare, how much of it collection keeps free, and how many
blocks the fixed part of that is taken from. Every proposed value was tried, and is one that its
setting may have.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Settings = Mapping[str, str]
    Suffices = Callable[[Settings], bool]

#: Drivelab's largest over-provisioning, 4 times what the host sees, as a share of the flash.
MOST_SPARE: Final = 0.8
#: What a preset allows.
MOST_BLOCKS: Final = 1 << 20
_MOST_PAGES: Final = (1 << 32) - 2

_SPARE: Final = "Overprovisioning_Ratio"
_FREE: Final = "GC_Exec_Threshold"
_BLOCKS: Final = "Block_No_Per_Plane"
#: Values of the file that MQSim comes with.
_USUAL: Final = {_SPARE: "0.07", _FREE: "0.05", _BLOCKS: "2048"}
_COUNTS: Final = ("Flash_Channel_Count", "Chip_No_Per_Channel", "Die_No_Per_Chip")
_PLANES: Final = (*_COUNTS, "Plane_No_Per_Die")


@dataclass(frozen=True)
class _Change:
    """A setting that can leave more space.

    Attributes
    ----------
    setting
        Its name.
    given, best
        Its value in the file, and the one that leaves most space, in steps.
    steps
        Steps per unit: proposed values have no more decimals.
    words
        What to do with it, before the value.
    """

    setting: str
    given: int
    best: int
    steps: int
    words: str

    def text(self, step: int) -> str:
        """Return a value as the file has it."""
        return f"{step / self.steps:g}" if self.steps > 1 else str(step)

    def least(self, settings: Settings, suffices: Suffices) -> str:
        """Return the value nearest to the given one that suffices; the best one does."""
        fails, works = self.given, self.best
        while abs(works - fails) > 1:
            middle = (fails + works) // 2
            if suffices({**settings, self.setting: self.text(middle)}):
                works = middle
            else:
                fails = middle
        return self.text(works)


def spare_remedy(settings: Settings, suffices: Suffices) -> str:
    """Return what to change.

    Parameters
    ----------
    settings
        The settings of an ssdconfig.xml.
    suffices
        Whether settings leave collection enough space; those given do not.
    """
    advice = [
        f"{change.words} {change.least(settings, suffices)}"
        for change in _changes(settings)
        if suffices({**settings, change.setting: change.text(change.best)})
    ]
    if not advice:
        return _several(settings, suffices)
    said = ", or ".join(advice)
    if _SPARE not in said:
        said += f"; {_SPARE} alone is not enough, as it is at most {MOST_SPARE:g}"
    return said


def _several(settings: Settings, suffices: Suffices) -> str:
    """Return what to change if no setting is enough alone: values that MQSim comes with."""
    for count in (2, 3):
        for names in itertools.combinations(_USUAL, count):
            usual = {name: _USUAL[name] for name in names}
            if _BLOCKS in names and _room(settings) < int(_USUAL[_BLOCKS]):
                continue
            if suffices({**settings, **usual}):
                said = " and ".join(f"{name} to {value}" for name, value in usual.items())
                return f"none of them is enough alone: set {said}, as in MQSim's own ssdconfig.xml"
    return f"lower Page_No_Per_Block or {' or '.join(_PLANES)}, and raise {_BLOCKS}"


def _room(settings: Settings) -> int:
    """Return the most blocks that a plane may have."""
    pages = math.prod(int(settings[name]) for name in (*_PLANES, "Page_No_Per_Block"))
    return min(MOST_BLOCKS, _MOST_PAGES // max(pages, 1))


def _changes(settings: Settings) -> tuple[_Change, ...]:
    spare, free, blocks = (float(settings[name]) for name in (_SPARE, _FREE, _BLOCKS))
    steps = 10_000
    return (
        _Change(_FREE, math.ceil(free * steps), 0, steps, f"lower {_FREE} to at most"),
        _Change(
            _SPARE,
            math.floor(spare * steps),
            math.floor(MOST_SPARE * steps),
            steps,
            f"raise {_SPARE} to at least",
        ),
        _Change(_BLOCKS, int(blocks), _room(settings), 1, f"raise {_BLOCKS} to"),
    )
