"""A page in a browser window, and what can be asked of any page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Texts that leave their drawing, where they are cut off. Half a pixel is rounding.
TEXTS_OUTSIDE = """
() => [...document.querySelectorAll(".panel svg")].flatMap((svg) => {
  const box = svg.getBoundingClientRect();
  if (!box.width) return [];
  return [...svg.querySelectorAll("text")].filter((text) => {
    const own = text.getBoundingClientRect();
    return own.left < box.left - 0.5 || own.right > box.right + 0.5
      || own.top < box.top - 0.5 || own.bottom > box.bottom + 0.5;
  }).map((text) => `${svg.getAttribute("aria-label")}: ${text.textContent}`);
})
"""

#: Labels of one axis that touch. A line of text is a little higher than its letters.
LABELS_TOUCHING = """
() => [...document.querySelectorAll(".panel svg")].flatMap((svg) => {
  const texts = [...svg.querySelectorAll('[id*="matplotlib.axis"] text')]
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.width);
  const found = [];
  texts.forEach(([one, a], place) => texts.slice(place + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > Math.min(0.2 * Math.min(a.width, b.width), 3)
      && high > Math.min(0.2 * Math.min(a.height, b.height), 3))
      found.push(`${svg.getAttribute("aria-label")}: ${one} / ${other}`);
  }));
  return found;
})
"""


class Opened:
    """The report in a window, and everything it complained about or asked for."""

    def __init__(
        self, browser: Any, path: Path, width: int, *, patience_ms: float = 30_000
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, offline=True, accept_downloads=True
        )
        self.context.set_default_timeout(patience_ms)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
