"""The what-if page: one file that contains the simulator and makes no network request.

::

    what-if.wasm.gz ──base64──┐
    elements.js, what-if.js ──┼──> what-if.html     the page draws, a worker simulates
    what-if-worker.js ────────┘

`make what-if` builds the simulator (`crates/what-if`) into this package. `write_what_if` writes the
page next to a report, and the report then links to it.
"""

from __future__ import annotations

import base64
from importlib import metadata
from pathlib import Path
from typing import Final

import jinja2
from markupsafe import Markup

from drivelab.errors import RunError, UsageError
from drivelab.output_mark import FoundFile
from drivelab.outputs import Output, write_output
from drivelab.report.page import policy, resource
from drivelab.report.saved import WHAT_IF, WHAT_IF_KIND, WHAT_IF_OF

#: The file that `make what-if` builds, and where the page finds it.
SIMULATOR: Final = Path(__file__).parent / "programs" / "what-if.wasm.gz"
_TITLE: Final = b"<title>Drivelab: what if?</title>"
_HEAD_BYTES: Final = 4096
_STYLES: Final = ("report.css", "watch.css", "what-if.css")
_SCRIPTS: Final = ("elements.js", "what-if.js")


def write_what_if(folder: Path, *, force: bool = False) -> bool:
    """Write the page into the folder of a report, so that the report can link to it.

    It replaces no foreign file and never fails: a report without the link is complete.

    Parameters
    ----------
    folder
        The folder; created if it does not exist.
    force
        Whether to replace another file of the same name.

    Returns
    -------
    bool
        Whether the page is there now. It is not if the package has no simulator, if another file
        has its name, or if it cannot be written.
    """
    if not SIMULATOR.is_file():
        return False
    page = what_if_page()
    path = folder / WHAT_IF
    try:
        if path.is_file() and path.read_bytes() == page:
            return True
        folder.mkdir(parents=True, exist_ok=True)
        # Without a run: in a run's folder any file without a mark would count as the run's.
        output = Output(path, WHAT_IF_KIND, WHAT_IF_OF)
        write_output(output, page, force=force or is_what_if(path))
    except (OSError, UsageError):
        return False
    return True


def is_what_if(path: Path) -> bool:
    """Return whether a file is a what-if page: by its mark, or by its title if the mark is lost."""
    try:
        found = FoundFile.at(path)
        if found is None:
            return False
        if found.mark is not None:
            return found.mark.kind == WHAT_IF_KIND and found.is_whole
        with path.open("rb") as file:
            return _TITLE in file.read(_HEAD_BYTES)
    except OSError:
        return False


def what_if_page() -> bytes:
    """Return the page; it changes only with the simulator.

    Raises
    ------
    RunError
        When the package has no simulator.
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
