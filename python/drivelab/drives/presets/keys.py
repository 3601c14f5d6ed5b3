"""The keys that presets may have, from the core's table."""

from __future__ import annotations

from dataclasses import dataclass

from drivelab import _core


@dataclass(frozen=True)
class KeyFit:
    """How a value is fitted to measurements.

    Attributes
    ----------
    place
        Position in the order in which parameters are fitted.
    step
        Values are multiples of it.
    parameter
        A name shared by keys that keep their ratio; a single key's own name.
    """

    place: int
    step: int
    parameter: str


@dataclass(frozen=True)
class PresetKey:
    """A key of a preset.

    Attributes
    ----------
    name
        With its table; ``*`` is the name of a published figure.
    allowed
        Allowed values, in words.
    unit
        Unit, if there is one.
    usual
        The default in Markdown: a value as it would be written, or words.
    fit
        How it is fitted, if it is.
    """

    name: str
    allowed: str
    unit: str | None
    usual: str | None
    fit: KeyFit | None


@dataclass(frozen=True)
class PresetExclusion:
    """What a setting of a preset excludes.

    Attributes
    ----------
    setting
        The setting, in Markdown.
    key
        The key whose values it limits.
    only
        The values that remain, in words; ``none`` if the key must not be given.
    reason
        The reason. Its subject is the drive with that setting.
    """

    setting: str
    key: str
    only: str
    reason: str


def preset_keys(kind: str) -> tuple[PresetKey, ...]:
    """Return every key that a preset of a kind of drive may have, in the order of the table.

    Parameters
    ----------
    kind
        ``ssd``, ``hdd``, ``raid0`` or ``raid``.
    """
    return tuple(
        PresetKey(
            name, allowed, unit, usual, KeyFit(fit[0], fit[1], fit[2] or name) if fit else None
        )
        for name, allowed, unit, usual, fit in _core.preset_keys(kind)
    )


def preset_exclusions(kind: str) -> tuple[PresetExclusion, ...]:
    """Return what settings of a kind of drive exclude, in the order in which it is checked.

    Parameters
    ----------
    kind
        ``ssd``, ``hdd``, ``raid0`` or ``raid``.
    """
    return tuple(PresetExclusion(*row) for row in _core.preset_exclusions(kind))
