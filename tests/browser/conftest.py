"""The browser that opens pages, one a file of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser(require_tool: Callable[[str], Path]) -> Iterator[Any]:
    executable = require_tool("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root may not use Chromium's sandbox; the page is our own.
        browser = playwright.chromium.launch(
            executable_path=str(executable), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()
