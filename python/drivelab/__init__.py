"""How fast will this drive be under my workload? Measure, model, simulate, predict.

>>> import drivelab as dl
>>> with dl.drive("sim:x25m") as drive:
...     drive.measure(dl.Characteristics(queue_depth=4, write_ratio=0.3), seconds=0.1)
<Measurement of sim:x25m, simulated: 30 % writes: 4 KiB random reads, 4 KiB random writes, ...>

`drive` opens a drive. `run` measures many workloads on it, and `fit` makes a `Model` from the run
that predicts others. `fit_table` makes a `TableModel` from numbers that you have. `choose_drive`
ranks drives under a workload, for example a trace that `trace` read. `place_workloads` distributes
workloads over several drives. The guide is docs/python.md.

Importing this package is cheap: each name is loaded when it is first used, and heavy libraries
when a function needs them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drivelab.api.choice import Choice, choose_drive
    from drivelab.api.drive import Drive, drive
    from drivelab.api.forecast import Forecast
    from drivelab.api.measurements import Measurement, Measurements
    from drivelab.api.model import Model, fit
    from drivelab.api.placement import Placement, place_workloads
    from drivelab.api.run import Run, run
    from drivelab.api.table import TableModel, fit_table
    from drivelab.api.trace import trace
    from drivelab.errors import DrivelabError
    from drivelab.workloads.characteristics import Characteristics
    from drivelab.workloads.trace import Trace

__all__ = [
    "Characteristics",
    "Choice",
    "Drive",
    "DrivelabError",
    "Forecast",
    "Measurement",
    "Measurements",
    "Model",
    "Placement",
    "Run",
    "TableModel",
    "Trace",
    "choose_drive",
    "drive",
    "fit",
    "fit_table",
    "place_workloads",
    "run",
    "trace",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from drivelab.api import public

    value: object = getattr(public, name)
    # Stored, so that Python finds the name itself next time.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
