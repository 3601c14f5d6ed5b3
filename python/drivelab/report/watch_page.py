"""The page that shows a served drive live, as one file.

Every second it requests `/state` from the server that it came from; it makes no other requests.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import jinja2
from markupsafe import Markup

from drivelab.report.page import policy, resource

_STYLES: Final = ("report.css", "watch.css")
_SCRIPTS: Final = ("elements.js", "watch.js")


@cache
def watch_page() -> bytes:
    """Return the page; it is the same for every drive."""
    style = "\n".join(map(resource, _STYLES))
    script = "\n".join(map(resource, _SCRIPTS))
    template = jinja2.Template(resource("watch.html.j2"), autoescape=True)
    html: str = template.render(
        policy=policy(style, script, asks_its_server=True),
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704
    )
    return html.encode()
