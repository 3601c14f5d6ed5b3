"""What `import drivelab` offers, together: `drivelab.__getattr__` finds it here.

Not in the room's ``__init__``, where the functions `drive` and `run` would hide the files of the
same names.
"""

from drivelab.api.drive import Drive, drive
from drivelab.api.measurements import Measurement, Measurements
from drivelab.api.model import Model, fit
from drivelab.api.run import Run, run
from drivelab.api.table import TableModel, fit_table
from drivelab.errors import DrivelabError
from drivelab.workloads.characteristics import Characteristics

__all__ = [
    "Characteristics",
    "Drive",
    "DrivelabError",
    "Measurement",
    "Measurements",
    "Model",
    "Run",
    "TableModel",
    "drive",
    "fit",
    "fit_table",
    "run",
]
