"""The page of a served drive is one file that contacts only its own server."""

from __future__ import annotations

import base64
import hashlib
import re

from drivelab.report.watch_page import watch_page


def test_the_page_is_whole_and_held_to_what_it_is() -> None:
    html = watch_page().decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy
    rules = policy[1].replace("&#39;", "'")
    assert "default-src 'none'" in rules
    assert "connect-src 'self'" in rules
    for tag in ("style", "script"):
        text = html.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules
    # Names of the drawing's own language are not addresses.
    text = html.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in text
    assert "https:" not in text
    assert " src=" not in text
