"""What a choice was asked: one workload, how often, with which random numbers."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab.exhibits.quantities import listed


@dataclass(frozen=True)
class Asked:
    """What all drives were asked alike.

    Attributes
    ----------
    name
        Of the workload: a scenario's, a file's, or characteristics in words.
    description
        What it is, in a line.
    seed
        Key of all random numbers, with a repetition's number.
    repetitions
        On each drive; on a drive that answers the same every time one stands for all of them.
    writes
        Of each drive, what its writes find, in words; empty where nothing is to be said.
    notes
        What of the workload is not sent as it was recorded, a text each.
    varying
        The drives that vary from run to run by themselves.
    is_recorded
        Whether the workload is a trace, whose requests are the same in every repetition.
    """

    name: str
    description: str
    seed: int
    repetitions: int
    writes: str = ""
    notes: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    is_recorded: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether all drives would give the same answer every time, and were asked once."""
        return self.is_recorded and not self.varying

    @property
    def repetitions_text(self) -> str:
        """Say how often each drive was measured, and what differs."""
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
        """Say what the intervals of a trace do not; ``None`` of other workloads."""
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
