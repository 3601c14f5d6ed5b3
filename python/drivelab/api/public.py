"""The names that `import drivelab` offers; `drivelab.__getattr__` finds them here.

They are not in ``__init__`` of this room, where the functions `drive` and `run` would hide the
modules of the same names.
"""

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
