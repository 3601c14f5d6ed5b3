"""What every page is made with: templates, our own style and script, and packed numbers."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

from drivelab.plain_text import escaped_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drivelab.report.table import Table

_NUMBER_AND_UNIT: Final = re.compile(r"(\d) (%|ns|µs|ms|s|MB/s|IOPS|B|[KMGT]iB)(?![\w])")


@dataclass(frozen=True)
class Report:
    """A finished page and the tables behind it."""

    html: str
    tables: tuple[Table, ...]


def render_page(
    template: str,
    *,
    data: dict[str, Any],
    styles: Sequence[str] = ("report.css",),
    paper: str = "portrait",
    **values: Any,
) -> str:
    """Fill a template. The page runs our script, and asks nobody for anything.

    Parameters
    ----------
    template
        Its file name in ``templates``.
    data
        What the page's script reads, JSON-able.
    styles
        File names of its styles in ``templates``.
    paper
        How sheets lie when it is printed: ``portrait`` or ``landscape``.
    values
        What the template names.
    """
    style = "\n".join([*map(_resource, styles), f"@page {{ size: A4 {paper}; }}"])
    script = _resource("report.js")
    html = (
        _environment()
        .get_template(template)
        .render(
            **values,
            paper=paper,
            packed=packed(data),
            policy=_policy(style, script),
            style=Markup(style),  # noqa: S704 - our own files
            script=Markup(script),  # noqa: S704
        )
    )
    # Of names: a browser would obey what turns text around, and bytes that are none cannot be
    # written. Ours have none of these, but files that are quoted may have tabs.
    return "\t".join(map(escaped_lines, html.split("\t")))


def _policy(style: str, script: str) -> str:
    """Give the content security policy of a page, for a browser to hold it to what it is."""
    rules = {
        "default-src": "'none'",
        "script-src": _hashed(script),
        "style-src-elem": _hashed(style),
        # Drawings say the look of their lines in attributes, too many to list the hash of each.
        "style-src-attr": "'unsafe-inline'",
        # Heat maps, and no icon.
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
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
    environment.filters["kept"] = _kept_together
    # Panels and samples of lines are drawn here and escape their own texts.
    environment.filters["drawing"] = lambda panel: Markup(panel.svg)  # noqa: S704
    environment.filters["sample"] = lambda style: Markup(style.sample())  # noqa: S704
    return environment


def _kept_together(text: str) -> str:
    """Put a space that does not break between each number and its unit."""
    return _NUMBER_AND_UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)


def _resource(name: str) -> str:
    return (resources.files("drivelab.report") / "templates" / name).read_text("utf-8")
