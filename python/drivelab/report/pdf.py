"""Printing a page as PDF with Chromium; the page's print styles define what is on paper.

Drivelab includes no browser. Without Chromium, users can print the page from any browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from drivelab.errors import RunError, UsageError

#: Names of the program in Linux distributions.
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: A browser that needs longer than this for a page hangs.
_DEADLINE_SECONDS: Final = 300
_BEGINNING: Final = b"%PDF-"
_END: Final = b"%%EOF"


#: What to do if printing fails; the page itself is written.
_INSTEAD: Final = "the page itself is complete: print it from a browser, or leave --pdf out"


def find_chromium(
    asked: str = "--pdf", instead: str = "leave --pdf out and print the page from any browser"
) -> str:
    """Return the path of Chromium.

    Parameters
    ----------
    asked, instead
        The option that needs it, and what to do without it.

    Raises
    ------
    UsageError
        When it is not installed.
    """
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise UsageError(
        f"{asked} needs Chromium ({' or '.join(_NAMES[:3])} on the PATH): install it, or {instead}"
    )


def printed_html(html: str, chromium: str, instead: str) -> bytes:
    """Print HTML text; `instead` says what to do if that fails."""
    with tempfile.TemporaryDirectory(prefix="drivelab-page-") as folder:
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        return printed(page, chromium, instead)


def printed(page: Path, chromium: str, instead: str = _INSTEAD) -> bytes:
    """Print a page; return the PDF.

    Parameters
    ----------
    page
        An HTML file.
    chromium
        Path of the browser, from `find_chromium`.
    instead
        What to do if printing fails.

    Raises
    ------
    RunError
        When the browser fails, or does not answer in five minutes.
    """
    with tempfile.TemporaryDirectory(prefix="drivelab-pdf-") as folder:
        draft = Path(folder) / "page.pdf"
        command = [
            chromium,
            "--headless",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={draft}",
            page.resolve().as_uri(),
        ]
        if os.geteuid() == 0:
            # Chromium's sandbox does not work for root; the page is our own.
            command.insert(1, "--no-sandbox")
        reason = _failure(command)
        content = draft.read_bytes() if draft.is_file() else b""
        if reason or not (content.startswith(_BEGINNING) and _END in content[-64:]):
            raise RunError(
                f"{chromium} printed no PDF of {page} ({reason or 'it wrote no whole file'}); "
                f"{instead}"
            )
        return content


def _failure(command: list[str]) -> str:
    """Run the browser; return what went wrong, or an empty text."""
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_DEADLINE_SECONDS, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {_DEADLINE_SECONDS} s"
    except OSError as error:
        return error.strerror or str(error)
    if done.returncode == 0:
        return ""
    last = done.stderr.strip().splitlines()[-1:] or [""]
    return f"exit code {done.returncode}: {last[0][:200]}".rstrip(": ")
