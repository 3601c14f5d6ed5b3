"""Words and single numbers: texts, facts, cautions and cards."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Caution:
    """A warning that a reader needs before trusting a number.

    Attributes
    ----------
    name
        One or two words; empty if the sentence is enough.
    seen
        What the measurements show.
    advice
        What that means, and what to do about it.
    short
        `seen` in a few words, for the one line that a page shows first. If it is empty, that line
        is `seen`.
    """

    name: str = ""
    seen: str = ""
    advice: str = ""
    short: str = ""

    @property
    def line(self) -> str:
        """The line that a page shows first, without the name."""
        return self.short or self.seen

    @property
    def more(self) -> str:
        """The text that a page shows on demand; empty if the line is enough."""
        return " ".join(part for part in (self.seen if self.short else "", self.advice) if part)

    def text(self) -> str:
        """Return it as running text."""
        name = f"{self.name}." if self.name else ""
        return " ".join(part for part in (name, self.seen, self.advice) if part)


@dataclass(frozen=True)
class Cautions:
    """Cautions under their own heading; without any, the page says that there are none."""

    title: str
    cautions: tuple[Caution, ...]


@dataclass(frozen=True)
class Text:
    """Paragraphs for a reader who does not know the papers."""

    paragraphs: tuple[str, ...]
    leads: bool = False


@dataclass(frozen=True)
class Facts:
    """Names with their values: what identifies a run, or what terms mean."""

    title: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Document:
    """A long text that few people read, such as a preset; the page shows it folded."""

    title: str
    text: str


@dataclass(frozen=True)
class Card:
    """One of the numbers that come first: its range, and how certain it is.

    If it is a single number, `high` is empty.
    """

    name: str
    low: str
    high: str = ""
    said: str = ""


@dataclass(frozen=True)
class Cards:
    """The few numbers that a reader looks for first."""

    cards: tuple[Card, ...]
