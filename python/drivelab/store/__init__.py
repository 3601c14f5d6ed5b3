"""Storing measurements on disk: one folder per run, safe against kills.

::

    RUN/run.sqlite   the header, every start, one row per measurement, and the failures
    RUN/run.lock     held while a process measures into the run
    RUN/...          files made from it: models, tables, a report

SQLite keeps a write-ahead log. A killed process loses nothing that `RunStore.append` has stored;
with ``durable`` neither does a machine that loses power. Values are dictionaries that can be
written as JSON; their meaning is up to the caller.

`run_store` reads and writes a run; `database` opens its SQLite file and translates SQLite's
errors; `folder` makes and locks the folder; `removal` deletes it.
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
