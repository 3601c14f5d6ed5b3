"""SQLite on a served drive, before and after collection begins.

    sudo .venv/bin/python benches/live_sqlite.py --out cliff

A small fresh drive is served as a block device, with an ext4 file system and a database on it.
Each transaction replaces rows at random and is durable (`synchronous=FULL`). Once every page of the
flash has been written, the drive has to collect before it can write, and the database sees it.
Writes cliff.csv and cliff.svg, and a table to standard output. Needs root, mkfs.ext4 and mount.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
COMMAND = [sys.executable, "-c", "import sys; from drivelab.cli.main import main; sys.exit(main())"]
MIB = 2**20
ROW_BYTES = 3800
ROWS_A_TRANSACTION = 64
SPANS = 60


class Mounted:
    """A served drive with a file system on it, while this is a context."""

    def __init__(self, drive: str, dilation: float, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        words = ("serve", drive, "--block", "--dilate", str(dilation), "--json", "--late-share")
        self._process = subprocess.Popen(
            [*COMMAND, *words, "0.99", "--socket", str(folder / "s")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        first = self._process.stderr.readline() if self._process.stderr else ""
        devices = [word for word in first.split() if word.startswith(("/dev/nbd", "/dev/loop"))]
        if not devices:
            sys.exit(first)
        self.device = devices[0]

    def __enter__(self) -> Self:
        make = ["mkfs.ext4", "-q", "-F", "-m", "0", self.device]
        mount = ["mount", "-o", "noatime", self.device, str(self.root)]
        for words in (make, mount):
            subprocess.run(words, check=True)
        return self

    def __exit__(self, *_: object) -> None:
        # The end of the drive also unmounts its file system.
        self._process.send_signal(signal.SIGTERM)
        self.summary: dict[str, Any] = json.loads(self._process.communicate()[0])

    def written_bytes(self) -> int:
        """Return the bytes ever written to the device; other drives had its number before."""
        fields = Path(f"/sys/block/{Path(self.device).name}/stat").read_text().split()
        return 512 * int(fields[6])


@dataclass(frozen=True)
class Transaction:
    """A transaction: when it ended, in the drive's time, and the bytes written by then."""

    seconds: float
    written_bytes: int


def filled(drive: Mounted, rows: int) -> sqlite3.Connection:
    """Make a table, each page of it written once."""
    database = sqlite3.connect(drive.root / "database", isolation_level=None)
    database.execute("PRAGMA journal_mode=OFF")
    database.execute("PRAGMA synchronous=OFF")
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value BLOB)")
    database.execute("BEGIN")
    values = ((one, os.urandom(ROW_BYTES)) for one in range(rows))
    database.executemany("INSERT INTO t VALUES (?, ?)", values)
    database.execute("COMMIT")
    sync = ["sync", "--file-system", str(drive.root)]
    subprocess.run(sync, check=True)
    return database


def transactions(drive: Mounted, rows: int, most_bytes: int, dilation: float) -> list[Transaction]:
    """Fill a table, then replace rows until this many bytes are written."""
    base = drive.written_bytes()
    database = filled(drive, rows)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    began = time.monotonic()
    done: list[Transaction] = []
    while not done or done[-1].written_bytes < most_bytes:
        ids = (secrets.randbelow(rows) for _ in range(ROWS_A_TRANSACTION))
        values = [(os.urandom(ROW_BYTES), one) for one in ids]
        database.execute("BEGIN")
        database.executemany("UPDATE t SET value = ? WHERE id = ?", values)
        database.execute("COMMIT")
        seconds = (time.monotonic() - began) / dilation
        done.append(Transaction(seconds, drive.written_bytes() - base))
    database.close()
    return done


def rates(done: list[Transaction], span: float) -> list[tuple[float, float, float]]:
    """Return, span by span, its middle, transactions a second, and MB written by its end."""
    out = []
    at, place = done[0].seconds, 1
    while place < len(done):
        begun = place
        while place < len(done) and done[place].seconds < at + span:
            place += 1
        if place == len(done):
            break
        out.append((at + span / 2, (place - begun) / span, done[place - 1].written_bytes / 1e6))
        at += span
    return out


def rate(done: list[Transaction]) -> float:
    """Return transactions a second."""
    return (len(done) - 1) / (done[-1].seconds - done[0].seconds)


def draw(path: Path, rows: list[tuple[float, float, float]], full: float) -> None:
    """Draw the results as SVG."""
    from drivelab.report.drawing.svg import document

    def lines(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        axes = figure.add_subplot()
        axes.plot([row[0] for row in rows], [row[1] for row in rows], color="#0072B2")
        axes.axvline(full, color="#D55E00", linestyle="--", linewidth=1)
        axes.annotate(
            "the flash has been written once",
            (full, 1.0),
            (4, -4),
            ("data", "axes fraction"),
            "offset points",
            va="top",
            color="#D55E00",
        )
        axes.set(xlabel="time of the drive (s)", ylabel="transactions a second")
        axes.set(xlim=(0, rows[-1][0]), ylim=(0, 1.1 * max(row[1] for row in rows)))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#DDE3EA")

    path.write_text(document(lines, (7.2, 2.9)), encoding="utf-8")


def main() -> None:
    """Serve the drive, write to it, print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drive", default=f"sim:{HERE / 'live_small_ssd.toml'}")
    parser.add_argument("--flash", type=float, default=640, help="MiB of the drive's flash [640]")
    parser.add_argument("--rows", type=int, default=100_000, help="of 3,800 bytes each [100000]")
    parser.add_argument("--times", type=float, default=2.2, help="write the flash so often [2.2]")
    parser.add_argument("--dilate", type=float, default=5, help="slow the drive down so much [5]")
    parser.add_argument("--out", type=Path, default=Path("cliff"))
    args = parser.parse_args()
    flash_bytes = args.flash * MIB
    with tempfile.TemporaryDirectory() as folder:
        with Mounted(args.drive, args.dilate, Path(folder)) as drive:
            most_bytes = round(args.times * flash_bytes)
            done = transactions(drive, args.rows, most_bytes, args.dilate)
        Path(folder, "root").rmdir()
    before = [one for one in done if one.written_bytes < flash_bytes]
    after = [one for one in done if one.written_bytes > 1.5 * flash_bytes]
    print("                                transactions    a second")
    for name, those in (
        ("until the flash is full", before),
        ("after half as much again", after),
    ):
        print(f"{name:<30} {len(those):>13,} {rate(those):11,.0f}")
    rows = rates(done, span=done[-1].seconds / SPANS)
    with args.out.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seconds", "transactions_per_second", "written_mb"])
        writer.writerows([f"{x:.3f}", f"{y:.1f}", f"{mb:.0f}"] for x, y, mb in rows)
    full = before[-1].seconds
    draw(args.out.with_suffix(".svg"), rows, full)


if __name__ == "__main__":
    main()
