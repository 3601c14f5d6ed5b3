"""The database of a run, byte by byte: read, or refused as damaged."""

from __future__ import annotations

from drivelab.store import RunStore
from fuzz.reader import Reader, scratch

_FILE = "run.sqlite"


def _check(data: bytes) -> None:
    folder = scratch() / "database"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / _FILE).write_bytes(data)
    with RunStore.open(folder) as store:
        places = store.done()
        assert len(list(store.measurements())) == len(places)
        assert {failure.index for failure in store.failures()}.isdisjoint(places)
        store.starts()


def _seeds() -> list[bytes]:
    folder = scratch() / "database-seed"
    with RunStore.open_to_append(folder, {"design": {"workloads": 3}, "kind": "made"}) as store:
        store.record_start({"host": "made"})
        if not store.done():
            store.append({"value": 0.5}, 0)
            store.add_failure(1, "it failed", {"queue_depth": 1})
    return [(folder / _FILE).read_bytes()]


READER = Reader(
    "run_database",
    ("drivelab.store.database", "drivelab.store.run_store", "drivelab.store.folder"),
    _check,
    _seeds,
)
