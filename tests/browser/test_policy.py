"""What a page may do: everything of its own, and nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from made_pts_report import made_report
from made_run import made_run
from opened_page import Opened

from drivelab.outputs import OutputFolder
from drivelab.pages.campaign import campaign_report
from drivelab.pages.digest import digest
from drivelab.pages.several_runs import comparison_report
from drivelab.report.written import write_report

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">\n')
#: What each of them would do where nothing forbids it.
INJECTED = """
<img src="{place}/image.png"><link rel="stylesheet" href="{place}/style.css">
<script src="{place}/script.js"></script><script>document.body.dataset.inline = "yes"</script>
<img src="data:," onerror="document.body.dataset.handler = 'yes'">
<iframe src="{place}/frame.html"></iframe><object data="{place}/object"></object>
<video src="{place}/video.mp4"></video><base href="{place}/">
<style>@import "{place}/imported.css"; body {{ background: url({place}/ground.png) }}</style>
<p style="background: url({place}/attribute.png)">x</p>
<svg width="9" height="9"><image href="{place}/drawn.png" width="9" height="9"/></svg>
"""
FETCHED = {
    f"/{name}"
    for name in (
        *("image.png", "style.css", "script.js", "frame.html", "object", "video.mp4"),
        *("imported.css", "ground.png", "attribute.png", "drawn.png"),
    )
}
PAGES = ("run", "comparison", "pts")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a page of each kind."""
    folders = {name: tmp_path_factory.mktemp(name) for name in PAGES}
    run = made_run(40, reserved=20, check=20, sweeps=True)
    write_report(campaign_report(run), OutputFolder(folders["run"], "a test"))
    digests = [digest(made_run(20, name=name, sweeps=True), Path(name)) for name in ("a", "b")]
    write_report(comparison_report(digests), OutputFolder(folders["comparison"], "a test"))
    write_report(made_report(), OutputFolder(folders["pts"], "a test"))
    return {name: folder / "report.html" for name, folder in folders.items()}


@pytest.fixture
def outside() -> Iterator[tuple[str, set[str]]]:
    """Give the address of a server, and what it was asked for."""
    asked: set[str] = set()

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.add(self.path)
            self.send_error(404)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", PAGES)
def test_everything_of_its_own_works(browser: Any, pages: dict[str, Path], name: str) -> None:
    opened = Opened(browser, pages[name], 1280)
    page = opened.page
    page.wait_for_selector("body[data-ready]", state="attached")
    # Our style and styles in attributes.
    assert page.evaluate("getComputedStyle(document.querySelector('.zoom')).position") == "absolute"
    drawn = page.locator(".panel svg [style*='stroke: var(--series-']").first
    colour = re.search(r"stroke: var\([\w-]+,(#\w+)\)", drawn.get_attribute("style"))
    wanted = [int(colour[1][at : at + 2], 16) for at in (1, 3, 5)]
    found = drawn.evaluate("(one) => getComputedStyle(one).stroke")
    assert [int(part) for part in re.findall(r"\d+", found)] == wanted
    with page.expect_download() as waiting:
        page.locator("button[data-csv]").first.click()
    assert waiting.value.suggested_filename.endswith(".csv")
    panel = page.locator(".panel[data-tips]").first
    panel.scroll_into_view_if_needed()
    panel.hover()
    panel.locator(".zoom").click()
    assert page.locator("#large svg").is_visible()
    page.locator("#large .close").click()
    assert opened.said == []
    opened.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_from_outside_is_fetched_or_run(
    browser: Any, pages: dict[str, Path], name: str, outside: tuple[str, set[str]], tmp_path: Path
) -> None:
    place, asked = outside
    text = pages[name].read_text("utf-8")
    held = text.replace("</main>", INJECTED.format(place=place) + "</main>")
    assert visited(browser, tmp_path, held, place) == {"ready": "yes"}
    assert asked == set()
    # Without the policy everything would happen.
    free = POLICY.sub("", held, count=1)
    assert visited(browser, tmp_path, free, place) == {
        "ready": "yes",
        "inline": "yes",
        "handler": "yes",
    }
    assert asked == FETCHED


def visited(browser: Any, folder: Path, text: str, place: str) -> dict[str, str]:
    """Open a page where there is a network; give what its scripts wrote."""
    path = folder / "page.html"
    path.write_text(text, "utf-8")
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri(), wait_until="networkidle")
    page.wait_for_selector("body[data-ready]", state="attached")
    written = page.evaluate("({ ...document.body.dataset })")
    context.close()
    refused = [one for one in said if "Content Security Policy" in one]
    assert bool(refused) == ("Content-Security-Policy" in text), said
    return dict(written)


@pytest.mark.parametrize("name", PAGES)
def test_the_policy_names_the_page_s_own_script_and_style(
    pages: dict[str, Path], name: str
) -> None:
    text = pages[name].read_text("utf-8")
    (policy,) = POLICY.findall(text)
    rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))
    assert rules["default-src"] == "'none'"
    for element, rule in (("script", "script-src"), ("style", "style-src-elem")):
        (own,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest_of = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest_of}'"
    # It comes before everything that it is to hold.
    assert text.index("Content-Security-Policy") < text.index("<link")
    assert "unsafe" not in policy.replace("style-src-attr &#39;unsafe-inline&#39;", "")
