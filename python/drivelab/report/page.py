"""A report as one page: exhibits drawn and set by one template, with our own style and script.

Whatever the report is of, it is the same page. One with a header is set on sheets (`sheets`).
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
    """A finished page, the tables behind it, and whether it links to ``what-if.html``."""

    html: str
    tables: tuple[Table, ...]
    has_what_if: bool = False


def render(report: Report, *, has_what_if: bool = False) -> RenderedPage:
    """Draw every exhibit and write the page; the same report always gives the same bytes.

    The page runs our script, and asks nobody for anything.

    Parameters
    ----------
    report
        What is shown.
    has_what_if
        Whether ``what-if.html`` lies next to the page, for reports that lead there.

    Raises
    ------
    ValueError
        When two tables that differ have one name, which would be one file.
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
    # Of names: a browser would obey what turns text around, and bytes that are none cannot be
    # written. Ours have none of these, but files that are quoted may have tabs.
    html = "\t".join(map(escaped_lines, html.split("\t")))
    return RenderedPage(html, tables, has_what_if)


def _tables(report: Report, drawings: Sequence[Drawn]) -> tuple[Table, ...]:
    """Return every table that stands behind the page, each once."""
    found: dict[str, Table] = {}
    for table in (table for drawing in drawings for table in drawing.saved if table.rows):
        if found.setdefault(table.name, table) != table:
            raise ValueError(f"{report.title}: two exhibits are named {table.name!r}")
    return tuple(table.with_leading(**dict(report.origin)) for table in found.values())


def _lists(drawings: Sequence[Drawn]) -> dict[str, str]:
    """Name the list of texts of each panel; panels of the same points share one."""
    names: dict[tuple[str, ...], str] = {}
    return {
        name: names.setdefault(tuple(texts), name)
        for drawing in drawings
        for name, texts in drawing.tips.items()
    }


def _data(drawings: Sequence[Drawn], tables: Sequence[Table]) -> dict[str, Any]:
    """Return what the page's script reads."""
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
    """Return the content security policy of a page, for a browser to hold it to what it is.

    Parameters
    ----------
    style, script
        All that the page has of either.
    asks_its_server
        Whether it asks whoever it came from.
    has_simulator
        Whether it holds a WebAssembly module, and a worker that runs it.
    """
    wasm = " 'wasm-unsafe-eval'" if has_simulator else ""
    rules = {
        "default-src": "'none'",
        "script-src": _hashed(script) + wasm,
        "style-src-elem": _hashed(style),
        # Drawings say the look of their lines in attributes, too many to list the hash of each.
        "style-src-attr": "'unsafe-inline'",
        # Heat maps, and no icon.
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
    """Return data as compressed JSON in base64, a quarter of its size; the page unpacks it."""
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
    # Panels and samples of lines are drawn here and escape their own texts.
    environment.tests["drawing"] = lambda one: isinstance(one, Drawn)
    environment.filters["kind"] = lambda one: type(one).__name__
    environment.filters["drawing"] = lambda panel: Markup(panel.svg)  # noqa: S704
    environment.filters["sample"] = lambda style: Markup(style.sample())  # noqa: S704
    return environment


def resource(name: str) -> str:
    """Read one of our styles, scripts and templates."""
    return (resources.files("drivelab.report") / "templates" / name).read_text("utf-8")
