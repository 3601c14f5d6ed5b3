"""A simulated drive that is being served to programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from drivelab import _core
from drivelab.live.backing import check_backing, mark_backing
from drivelab.live.served import Served
from drivelab.live.state import About
from drivelab.signals_later import signals_later

if TYPE_CHECKING:
    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.live.settings import ServeSettings


class Serving:
    """A served drive; use it as a context, or stop it.

    Parameters
    ----------
    drive
        The drive to serve.
    settings
        How to serve it.

    Raises
    ------
    UsageError
        If no address or no place for the data is available; nothing is left behind then.
    """

    def __init__(self, drive: SimulatedDrive, settings: ServeSettings) -> None:
        self._settings = settings
        if settings.backing is not None:
            check_backing(settings.backing, settings.allow_destructive)
        cuts = settings.power_cuts
        asked = _core.LiveAsked(
            name=drive.preset["name"],
            description=f"drivelab {drive.name}",
            socket=settings.socket,
            port=settings.port,
            block_bytes=settings.block_bytes,
            backing=settings.backing,
            memory_bytes=settings.memory_bytes,
            seed=settings.seed,
            dilation=settings.dilation,
            cpu=settings.cpu,
            late_ns=settings.late_ns,
            has_delay=settings.has_delay,
            by_equations=settings.by_equations,
            power_cuts=None if cuts is None else (cuts.every_ns, cuts.off_ns, cuts.loses_all),
        )
        self._server = drive.serve(asked, from_state=settings.from_state)
        if settings.backing is not None and self._server.made_backing:
            mark_backing(settings.backing)
        #: The address for clients.
        self.uri = self._server.uri
        #: The device in /dev, if there is one.
        self.block_path = self._server.block_path
        #: Facts that do not change while it is served.
        self.about = About.of(drive, settings, self.uri)

    def standing(self) -> Served:
        """Return what was served until a few tenths of a second ago."""
        return Served.of_core(self._server.told(), self._settings)

    def watched(self, after: int) -> dict[str, Any] | None:
        """Return the core's last second; None if none is later than `after`."""
        return self._server.watched(after)

    @property
    def is_over(self) -> bool:
        """Return whether it ended without a stop, or its drive failed."""
        return self._server.is_over()

    def stop(self) -> Served:
        """End it, and return what was served."""
        with signals_later():
            return Served.of_core(self._server.stop(), self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
