"""Which lines of a reader in Python its inputs meet: `python -m fuzz.lines NAME FOLDER...`.

Of functions alone: what runs on import, every input meets.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from fuzz.reader import load_reader


def main() -> None:
    """Send every input of the folders, and print how many lines of how many were reached."""
    name, *folders = sys.argv[1:]
    reader = load_reader(name)
    lines: set[tuple[str, int]] = set()
    files = set()
    for module in reader.modules:
        file = importlib.import_module(module).__file__
        assert file is not None
        files.add(file)
        lines |= _lines(compile(Path(file).read_text(), file, "exec"), is_function=False)
    met: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            met.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    for folder in folders:
        for path in sorted(Path(folder).iterdir()):
            data = path.read_bytes()
            sys.settrace(trace)
            try:
                reader.try_input(data)
            finally:
                sys.settrace(None)
    json.dump({"met": len(met & lines), "lines": len(lines)}, sys.stdout)


def _lines(code: CodeType, *, is_function: bool) -> set[tuple[str, int]]:
    found = set()
    if is_function:
        # The line of `def` is met by the caller's call alone.
        numbers = {number for *_, number in code.co_lines() if number is not None}
        found = {(code.co_filename, number) for number in numbers - {code.co_firstlineno}}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            # A class body runs on import; what it holds does not.
            is_inner_function = bool(inner.co_flags & 0x2)
            found |= _lines(inner, is_function=is_inner_function)
    return found


if __name__ == "__main__":
    main()
