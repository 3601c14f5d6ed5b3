"""A report as one HTML page: exhibits in one template, with Drivelab's own style and script.

All reports use the same template. A report with a header is laid out on sheets (`sheets`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

from drivelab.plain_text import escaped_lines
from drivelab.report.drawing.looks import Drawn
from drivelab.report.explained import Words, kept_together, said
from drivelab.report.saved import WHAT_IF
from drivelab.report.sheets import LaidPage, first_page, paper_of, sheets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.exhibits import Report, Table

STYLES: Final = ("report.css", "exhibits.css")


@dataclass(frozen=True)
class RenderedPage:
    """A finished page, its tables, and whether it links to ``what-if.html``."""

    html: str
    tables: tuple[Table, ...]
    has_what_if: bool = False


def render(report: Report, *, has_what_if: bool = False) -> RenderedPage:
    """Draw every exhibit and return the page; the same report always gives the same bytes.

    The page runs only its own script and makes no network request.

    Parameters
    ----------
    report
        The report.
    has_what_if
        Whether ``what-if.html`` lies next to the page, for reports that link to it.

    Raises
    ------
    ValueError
        When two different tables have the same name, and so the same file.
    """
    has_what_if = has_what_if and report.what_if is not None
    pages = [LaidPage.of(page) for page in report.pages]
    first = first_page(report)
    laid = [*(first.exhibits if first else ()), *(each for page in pages for each in page.exhibits)]
    drawings = [each for each in laid if isinstance(each, Drawn)]
    tables = _tables(report, drawings)
    style = "\n".join([*map(resource, STYLES), f"@page {{ size: A4 {paper_of(report)}; }}"])
    script = resource("report.js")
    html = (
        _environment()
        .get_template("page.html.j2")
        .render(
            report=report,
            first=first,
            pages=pages,
            words=Words((report.title,)),
            sheets=sheets(pages) if report.header else [],
            paper=paper_of(report),
            what_if=WHAT_IF if has_what_if else "",
            lists=_lists(drawings),
            packed=packed(_data(drawings, tables)),
            policy=policy(style, script),
            style=Markup(style),  # noqa: S704 - our own files
            script=Markup(script),  # noqa: S704
        )
    )
    # Names may contain characters that reverse the text direction, or bytes that are not text. Our
    # own texts have neither, but quoted files may have tabs.
    html = "\t".join(map(escaped_lines, html.split("\t")))
    return RenderedPage(html, tables, has_what_if)


def _tables(report: Report, drawings: Sequence[Drawn]) -> tuple[Table, ...]:
    """Return every table of the page once."""
    found: dict[str, Table] = {}
    for table in (table for drawing in drawings for table in drawing.saved if table.rows):
        if found.setdefault(table.name, table) != table:
            raise ValueError(f"{report.title}: two exhibits are named {table.name!r}")
    return tuple(table.with_leading(**dict(report.origin)) for table in found.values())


def _lists(drawings: Sequence[Drawn]) -> dict[str, str]:
    """Return the name of each panel's list of texts; panels with the same points share one."""
    names: dict[tuple[str, ...], str] = {}
    return {
        name: names.setdefault(tuple(texts), name)
        for drawing in drawings
        for name, texts in drawing.tips.items()
    }


def _data(drawings: Sequence[Drawn], tables: Sequence[Table]) -> dict[str, Any]:
    """Return the data for the page's script."""
    tips = {name: texts for drawing in drawings for name, texts in drawing.tips.items()}
    shared = set(_lists(drawings).values())
    return {
        "csv": {table.name: table.csv() for table in tables},
        "tips": {name: texts for name, texts in tips.items() if name in shared},
        "sorted": {each.name: each.sorted for each in drawings if each.sorted is not None},
    }


def policy(
    style: str, script: str, *, asks_its_server: bool = False, has_simulator: bool = False
) -> str:
    """Return the content security policy of a page; the browser then blocks everything else.

    Parameters
    ----------
    style, script
        All styles and all scripts of the page.
    asks_its_server
        Whether the page makes requests to the server that it came from.
    has_simulator
        Whether it contains a WebAssembly module, and a worker that runs it.
    """
    wasm = " 'wasm-unsafe-eval'" if has_simulator else ""
    rules = {
        "default-src": "'none'",
        "script-src": _hashed(script) + wasm,
        "style-src-elem": _hashed(style),
        # Drawings style their lines with attributes, too many to list the hash of each.
        "style-src-attr": "'unsafe-inline'",
        # Images are needed for heat maps, and for the empty icon.
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        **({"connect-src": "'self'"} if asks_its_server else {}),
        **({"worker-src": "blob:"} if has_simulator else {}),
    }
    return "; ".join(f"{name} {allowed}" for name, allowed in rules.items())


def _hashed(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def packed(data: dict[str, Any]) -> str:
    """Return data as compressed JSON in base64, at a quarter of the size; the page unpacks it."""
    tips = {name: list(map(escaped_lines, texts)) for name, texts in data["tips"].items()}
    text = json.dumps(data | {"tips": tips}, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("drivelab.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kept"] = kept_together
    environment.filters["said"] = said
    # Panels and samples of lines are drawn here, with their texts already escaped.
    environment.tests["drawing"] = lambda one: isinstance(one, Drawn)
    environment.filters["kind"] = lambda one: type(one).__name__
    environment.filters["drawing"] = lambda panel: Markup(panel.svg)  # noqa: S704
    environment.filters["sample"] = lambda style: Markup(style.sample())  # noqa: S704
    return environment


def resource(name: str) -> str:
    """Read one of Drivelab's styles, scripts or templates."""
    return (resources.files("drivelab.report") / "templates" / name).read_text("utf-8")
