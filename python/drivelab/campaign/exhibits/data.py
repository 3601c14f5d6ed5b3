"""The data behind a campaign's exhibits: header, measurements and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from drivelab.workloads.parts import DRAWN, FITTED, Parts

if TYPE_CHECKING:
    from drivelab.drives.measurement import Measurement
    from drivelab.store import Failure


@dataclass(frozen=True)
class CampaignData:
    """The data of one campaign.

    Attributes
    ----------
    header
        Header of the run: ``drive``, ``design``, ``plan`` and ``origin``.
    measurements
        The measurements to show, ordered by index.
    failures
        Measurements that failed.
    starts
        A record for each process that began to measure into the run.
    """

    header: Mapping[str, Any]
    measurements: Sequence[Measurement]
    failures: Sequence[Failure] = field(default=(), kw_only=True)
    starts: Sequence[Mapping[str, Any]] = field(default=(), kw_only=True)

    @property
    def name(self) -> str:
        """Name of the drive."""
        return str(self.header["drive"]["name"])

    @property
    def kind(self) -> str:
        """``simulated``, ``closed_form`` or ``real``."""
        return str(self.header["drive"]["kind"])

    @cached_property
    def parts(self) -> Parts:
        """Purpose of each measurement, by its index."""
        return Parts.from_json(self.header["design"]["parts"])

    @property
    def planned(self) -> int:
        """Number of measurements that the campaign asks for."""
        return self.parts.total

    @cached_property
    def fitted(self) -> Sequence[Measurement]:
        """Measurements of the design, which the models are fitted to."""
        return [one for one in self.measurements if self.parts.part_of(one.index) in FITTED]

    @cached_property
    def drawn(self) -> Sequence[Measurement]:
        """Those of `fitted` that represent the design's population."""
        return [one for one in self.fitted if self.parts.part_of(one.index) in DRAWN]

    @cached_property
    def groups(self) -> int:
        """Number of distinct workloads that models were fitted to."""
        return len({one.characteristics.key() for one in self.fitted})
