"""A browser that prints something that is not a page, but looks like a PDF."""

from __future__ import annotations

from pathlib import Path

import pytest


def put_printing_browser(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put it into a folder, and that folder before those that programs are found in."""
    browser = folder / "bin" / "chromium"
    browser.parent.mkdir()
    browser.write_text(
        '#!/bin/sh\nfor one in "$@"; do case $one in --print-to-pdf=*) '
        "printf '%%PDF-1.4\\n%%%%EOF\\n' >\"${one#*=}\";; esac; done\n"
    )
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{browser.parent}:/usr/bin:/bin")
