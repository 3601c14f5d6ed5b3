"""What is said: texts, facts, cautions, and the few numbers that come first."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Caution:
    """Something to know before trusting a number.

    Attributes
    ----------
    name
        One or two words; empty where the sentence says it all.
    seen
        What the measurements show.
    advice
        What that means, and what to do about it.
    short
        What is seen in a few words, for the line that a page shows first; where it is empty, that
        line is `seen`.
    """

    name: str = ""
    seen: str = ""
    advice: str = ""
    short: str = ""

    @property
    def line(self) -> str:
        """What a page shows first, without the name."""
        return self.short or self.seen

    @property
    def more(self) -> str:
        """What a page shows on demand; empty where the line says it all."""
        return " ".join(part for part in (self.seen if self.short else "", self.advice) if part)

    def text(self) -> str:
        """Return it as running text."""
        name = f"{self.name}." if self.name else ""
        return " ".join(part for part in (name, self.seen, self.advice) if part)


@dataclass(frozen=True)
class Cautions:
    """Cautions under a heading of their own; where there are none, that is said."""

    title: str
    cautions: tuple[Caution, ...]


@dataclass(frozen=True)
class Text:
    """Paragraphs for a person who has not read any paper."""

    paragraphs: tuple[str, ...]
    leads: bool = False


@dataclass(frozen=True)
class Facts:
    """Names and what each is: what identifies a run, or what words mean."""

    title: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Document:
    """A long text that is read by few, such as a preset: the page unfolds it."""

    title: str
    text: str


@dataclass(frozen=True)
class Card:
    """One of the numbers that come first: from least to most, and how sure.

    A number that is no range has an empty `high`.
    """

    name: str
    low: str
    high: str = ""
    said: str = ""


@dataclass(frozen=True)
class Cards:
    """The few numbers that a reader looks for first."""

    cards: tuple[Card, ...]
