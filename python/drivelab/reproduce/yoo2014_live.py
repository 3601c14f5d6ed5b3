"""What a program measures on the drive of Yoo et al. 2014 while it is served: tables 4 and 5.

In the paper VSSIM is the drive that programs run on: its FTL decides where data is stored, its IO
emulator how long that takes, and its monitor shows it (figure 12). Here `drivelab serve` has that
role. fio reaches it through a socket, so fio's rates include the way to the drive. A request takes
`DILATION` times as long as in the drive's own time, which makes that share small.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.drives.real.fio.program import find_fio, run_fio
from drivelab.errors import DrivelabError, RunError
from drivelab.live.serving import Serving
from drivelab.live.settings import ServeSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drivelab.drives.simulated.drive import SimulatedDrive

DILATION: Final = 20.0
_SECONDS: Final = 0.7
#: Other programs of the machine can only slow a client down, so its fastest of some rounds counts.
_ROUNDS: Final = 3
_DEADLINE_SECONDS: Final = 60.0
_FILE_BYTES: Final = 512 * 2**20
_MEMORY_BYTES: Final = 2**30


@dataclass(frozen=True)
class LiveRates:
    """What fio measured.

    Attributes
    ----------
    bytes_per_second
        Rate of each workload in its fastest round, in the drive's own time; empty without a live
        drive.
    caution
        Why there are no rates, or why they should not be believed.
    """

    bytes_per_second: dict[tuple[str, int, bool], float]
    caution: str | None = None


def live_rates(
    drive: SimulatedDrive,
    asked: Sequence[tuple[str, int, bool]],
    *,
    seconds: float = _SECONDS,
) -> LiveRates:
    """Serve a drive and let fio measure it.

    Parameters
    ----------
    drive
        The drive to serve.
    asked
        Workloads at depth 1: ``read`` or ``write``, bytes per record, whether the order is random.
    seconds
        Seconds per round of a workload, on this machine's clock.
    """
    try:
        fio = find_fio()
        with tempfile.TemporaryDirectory(prefix="drivelab-live-") as folder:
            socket = Path(folder) / "s"
            settings = ServeSettings(
                socket=socket, dilation=DILATION, memory_bytes=_MEMORY_BYTES, late_share=0.05
            )
            serving = Serving(drive, settings)
            try:
                rates: dict[tuple[str, int, bool], float] = {}
                for workload in [each for each in asked for _ in range(_ROUNDS)]:
                    op, record_bytes, random = workload
                    options = [
                        *("name=live", "ioengine=nbd", f"uri=nbd+unix:///?socket={socket}"),
                        *(f"rw={'rand' if random else ''}{op}", f"bs={record_bytes}", "iodepth=1"),
                        *(f"size={_FILE_BYTES}", f"runtime={round(1000 * seconds)}ms"),
                        *("time_based", "output-format=json"),
                    ]
                    found = run_fio(fio, options, deadline_seconds=_DEADLINE_SECONDS)
                    rate = DILATION * _rate(found.report, op)
                    rates[workload] = max(rate, rates.get(workload, 0.0))
            finally:
                served = serving.stop()
    except DrivelabError as error:
        return LiveRates({}, f"not measured: {error}")
    if served.was_late:
        return LiveRates(
            rates,
            f"{len(rates)} rates are not judged: {100 * served.late_ratio:.3g} % of the replies "
            "were late, so clients saw a slower drive; end other programs, then run it again",
        )
    return LiveRates(rates)


def _rate(report: Mapping[str, Any], op: str) -> float:
    """Return bytes per second as fio measured them."""
    try:
        (job,) = report["jobs"]
        return float(job[op]["bw_bytes"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"fio reported no bandwidth for the live drive ({error})") from error
