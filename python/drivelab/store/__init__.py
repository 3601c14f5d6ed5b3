"""What was measured, on disk: one folder a run, safe against kills.

::

    RUN/run.sqlite   the header, who measured when, one row a measurement, and what failed
    RUN/run.lock     held while a process measures into the run
    RUN/...          what others make of it: models, tables, a report

SQLite keeps a write-ahead log, so a killed process loses nothing that `RunStore.append`
returned from; when it is durable, that also holds for a machine that loses power. Values are
JSON-able dictionaries: what they mean is the business of whoever stores them.

`run_store` is what a run can be asked; `database` is SQLite in our words; `folder` is the
folder around it and its lock; `removal` deletes it.
"""

from drivelab.store.database import LAYOUT, EmptyRunError, damaged
from drivelab.store.folder import (
    DATABASE,
    LOCK,
    check_inside,
    holds_more_than_a_journal,
    is_held,
    is_run,
)
from drivelab.store.removal import refuse_no_run, remove_run
from drivelab.store.run_store import Failure, RunStore

__all__ = [
    "DATABASE",
    "LAYOUT",
    "LOCK",
    "EmptyRunError",
    "Failure",
    "RunStore",
    "check_inside",
    "damaged",
    "holds_more_than_a_journal",
    "is_held",
    "is_run",
    "refuse_no_run",
    "remove_run",
]
