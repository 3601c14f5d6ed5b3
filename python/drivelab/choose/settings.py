"""The settings of a choice: workload, number of repetitions, random numbers."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.exhibits.quantities import listed
from drivelab.workloads.scenario import Occupancy


@dataclass(frozen=True)
class Asked:
    """The settings that are the same for all drives.

    Attributes
    ----------
    name
        Name of the workload: a scenario's, a file's, or characteristics in words.
    description
        The workload in one line.
    seed
        Key of all random numbers, together with the repetition's number.
    repetitions
        Number per drive. For a drive that always gives the same result, one stands for all.
    writes
        What writes find on each drive, in words; empty if nothing needs to be said.
    notes
        Differences between what was recorded and what is sent, one text each.
    varying
        Names of the drives that vary from run to run.
    is_recorded
        Whether the workload is a trace, with the same requests in every repetition.
    occupancy
        Which pages contain data before each repetition, if the workload says it.
    """

    name: str
    description: str
    seed: int
    repetitions: int
    writes: str = ""
    notes: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    is_recorded: bool = False
    occupancy: Occupancy | None = None

    @property
    def is_exact(self) -> bool:
        """Whether each drive was measured once because it would always give the same result."""
        return self.is_recorded and not self.varying

    @property
    def repetitions_text(self) -> str:
        """Describe how often each drive was measured, and what differs between repetitions."""
        if not self.is_recorded:
            return f"{self.repetitions} on each drive, the same random numbers"
        if self.is_exact:
            return "one on each drive: a trace has no random numbers, and no drive here varies"
        return (
            f"{self.repetitions} on each drive that varies from run to run "
            f"({listed(self.varying)}), one on any other"
        )

    @property
    def scope(self) -> str | None:
        """Say what the intervals under a trace do not cover; ``None`` for other workloads."""
        if not self.is_recorded:
            return None
        if self.is_exact:
            return (
                "This is true for the requests of this trace. Another hour of the same machine "
                "may rank the drives differently, and no interval here shows how likely that "
                "is."
            )
        return (
            "The intervals say how the drives vary under the requests of this trace, and nothing "
            "about another hour of the same machine."
        )
