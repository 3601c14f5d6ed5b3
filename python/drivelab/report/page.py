"""What every page is made with: templates, our own style and script, and packed numbers."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import jinja2
from markupsafe import Markup

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
    template: str, *, data: dict[str, Any], styles: Sequence[str] = ("report.css",), **values: Any
) -> str:
    """Fill a template.

    Parameters
    ----------
    template
        Its file name in ``templates``.
    data
        What the page's script reads, JSON-able.
    styles
        File names of its styles in ``templates``.
    values
        What the template names.
    """
    return (
        _environment()
        .get_template(template)
        .render(
            **values,
            packed=packed(data),
            style=Markup("").join(_resource(name) for name in styles),
            script=_resource("report.js"),
        )
    )


def packed(data: dict[str, Any]) -> str:
    """Return data as compressed JSON in base64, a quarter of its size; the page unpacks it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
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


def _resource(name: str) -> Markup:
    text = (resources.files("drivelab.report") / "templates" / name).read_text("utf-8")
    return Markup(text)  # noqa: S704 - our own file
