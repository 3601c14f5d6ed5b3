"""A program for a test, written in Python and started by its name alone."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path


def write_program(path: Path, source: str, *options: str) -> None:
    """Write a program; `options` are Python's."""
    beside = path.with_name(f"{path.name}.source.py")
    beside.write_text(source)
    # The first line of a script holds no path with a space.
    words = shlex.join([sys.executable, *options, str(beside)])
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o755)
