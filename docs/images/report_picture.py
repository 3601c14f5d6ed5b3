"""Make docs/images/report.png, the picture of a report on the README's first screen.

    make demo
    .venv/bin/python docs/images/report_picture.py runs/demo

Needs Chromium (`make system-packages`). The report itself is photographed: its first screen, and
how well its models predict.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PICTURE = Path(__file__).with_name("report.png")
LARGEST_BYTES = 200 * 1024
LEFT_OUT = """
    section:not(#summary, #predictions), footer, .warnings, .statement, .summary, figcaption, .csv,
    .jump, .caution, .onward span, #predictions .legend,
    #predictions .panel:nth-child(n + 4) { display: none; }
    h2 { margin-top: 22px; }
    figure { margin-bottom: 4px; }
    body { padding-bottom: 12px; }
"""


def main(run: Path) -> None:
    """Photograph a run's report."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium")
    if executable is None:
        sys.exit("needs chromium: make system-packages")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        # A report allows no style but its own.
        page = browser.new_page(viewport={"width": 1120, "height": 400}, bypass_csp=True)
        page.goto((run / "report.html").resolve().as_uri())
        page.add_style_tag(content=LEFT_OUT)
        page.screenshot(path=PICTURE, full_page=True)
        browser.close()
    # A page has few colours; a palette of them makes the file smaller.
    with Image.open(PICTURE) as image:
        image.convert("RGB").quantize(160).save(PICTURE, optimize=True)
    size = PICTURE.stat().st_size
    if size > LARGEST_BYTES:
        sys.exit(f"{PICTURE} has {size} bytes; the README's picture has at most {LARGEST_BYTES}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: report_picture.py RUN")
    main(Path(sys.argv[1]))
