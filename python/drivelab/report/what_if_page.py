"""The what-if page: one file with the simulator in it, as every report's a page that asks nobody.

::

    what-if.wasm.gz ──base64──┐
    elements.js, what-if.js ──┼──> what-if.html     the page draws, a worker simulates
    what-if-worker.js ────────┘

`make what-if` builds the simulator (`crates/what-if`) into this package.
"""

from __future__ import annotations

import base64
from importlib import metadata
from pathlib import Path
from typing import Final

import jinja2
from markupsafe import Markup

from drivelab.errors import RunError
from drivelab.report.page import policy, resource

#: What `make what-if` builds, and where a page has it from.
SIMULATOR: Final = Path(__file__).parent / "programs" / "what-if.wasm.gz"
#: What the page is called where a report links to it.
WHAT_IF: Final = "what-if.html"
_STYLES: Final = ("report.css", "watch.css", "what-if.css")
_SCRIPTS: Final = ("elements.js", "what-if.js")


def what_if_page() -> bytes:
    """Write the page; it is the same until the simulator changes.

    Raises
    ------
    RunError
        When the simulator was not built into this package.
    """
    try:
        simulator = SIMULATOR.read_bytes()
    except FileNotFoundError as error:
        raise RunError(
            "this Drivelab has no simulator for pages; run `make what-if` in its checkout"
        ) from error
    style = "\n".join(map(resource, _STYLES))
    script = "\n".join(map(resource, _SCRIPTS))
    template = jinja2.Template(resource("what-if.html.j2"), autoescape=True)
    html: str = template.render(
        policy=policy(style, script, has_simulator=True),
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704
        worker=Markup(resource("what-if-worker.js")),  # noqa: S704
        simulator=Markup(base64.b64encode(simulator).decode("ascii")),  # noqa: S704
        version=metadata.version("drivelab"),
    )
    return html.encode()
