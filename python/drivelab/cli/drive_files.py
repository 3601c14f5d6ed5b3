"""What `drivelab drives show`, `new` and `import` do and print."""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drivelab.cli.outputs import answer_to, check_files, write_file
from drivelab.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from drivelab.drives.presets.source import PresetSource
    from drivelab.outputs import Output

_MOST_XML_BYTES: Final = 1 << 20
# The source of a longer value goes on the next line.
_VALUE_COLUMNS: Final = 20
# Control characters, surrogates (bytes that are not text), line ends.
_UNWRITTEN: Final = ("Cc", "Cs", "Zl", "Zp")
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


def shown(args: argparse.Namespace) -> dict[str, Any]:
    """Return what ``drives show --json`` prints (docs/json-drives.md)."""
    from drivelab.drives.presets.values import preset_values

    source = _preset(args.drive)
    resolved, configuration_hash = source.resolved()
    return {
        "drive": f"sim:{source.reference}",
        "kind": resolved["kind"],
        "summary": resolved["summary"],
        "config_hash": configuration_hash,
        "values": [
            {
                "key": value.key,
                "value": value.value,
                "grade": value.grade,
                "source": value.source,
                "preset": value.preset,
            }
            for value in preset_values(source)
        ],
        "published": [] if args.values_only else _published(source, resolved),
    }


def _published(source: PresetSource, resolved: Mapping[str, Any]) -> list[dict[str, Any]]:
    from drivelab.drives.presets.values import fitted_figures
    from drivelab.drives.simulated.drive import SimulatedDrive
    from drivelab.drives.simulated.published import compare

    fitted = fitted_figures(source.toml_text)
    rows = []
    with SimulatedDrive(f"sim:{source.reference}", source, varies=False) as drive:
        for name, figure in resolved.get("published", {}).items():
            compared = compare(drive, figure)
            rows.append(
                {
                    "figure": name,
                    "condition": figure["condition"],
                    "quantity": compared.quantity,
                    "published": compared.published,
                    "simulated": compared.simulated,
                    "difference_ratio": compared.difference_ratio,
                    "tolerance_ratio": compared.tolerance_ratio,
                    "agrees": compared.holds,
                    "used_for": "fitting" if name in fitted else "test",
                }
            )
    return rows


def made(args: argparse.Namespace) -> dict[str, Any]:
    """Write a template; return what ``drives new --json`` prints (docs/json-drives.md)."""
    from drivelab.drives.presets.source import preset_at, preset_file
    from drivelab.drives.presets.template import preset_template

    for written in (args.like, str(args.file)):
        # Both paths are written into the file; with such characters it could not be read.
        if any(unicodedata.category(each) in _UNWRITTEN for each in written):
            raise UsageError(f"{written!a} has characters that do not print; rename it")
    source = _preset(args.like)
    path = args.file
    output = _checked(args, path, "preset", [preset_file(args.like)])
    text = preset_template(source, path.stem, str(path))
    _check_alike(preset_at(str(path), text), source)
    write_file(output, text, force=args.force)
    return {"drive": f"sim:{path}", "file": str(path), "like": source.reference}


def _check_alike(new: PresetSource, source: PresetSource) -> None:
    """Refuse a preset that would behave differently from its source where it is written."""
    instead = (
        f"it would not behave as {source.reference}, whose presets are in the same folder; "
        "write it into that folder"
    )
    try:
        same = new.resolved()[1] == source.resolved()[1]
    except UsageError as error:
        raise UsageError(f"{error}; {instead}") from error
    if not same:
        raise UsageError(f"{new.reference}: {instead}")


def imported(args: argparse.Namespace) -> dict[str, Any]:
    """Make a preset from another simulator's settings; return ``drives import --json``."""
    from drivelab.drives.presets.mqsim import import_ssdconfig
    from drivelab.named_file import read_file

    instead = "name MQSim's ssdconfig.xml"
    content = read_file(args.file, "MQSim's ssdconfig.xml", _MOST_XML_BYTES, instead)
    path = args.output or Path(f"{args.file.stem}.toml")
    output = _checked(args, path, "imported preset", [args.file])
    try:
        result = import_ssdconfig(content, path.stem)
    except UsageError as error:
        raise UsageError(f"{args.file}: {error}") from error
    write_file(output, result.toml_text, force=args.force)
    return {
        "drive": f"sim:{path}",
        "file": str(path),
        "condition": result.condition,
        "imported": [{"setting": name, "keys": keys} for name, keys in result.used.items()],
        "without_counterpart": [
            {"setting": name, "reason": reason} for name, reason in result.unused.items()
        ],
        "assumed": [{"key": key, "reason": reason} for key, reason in result.assumed.items()],
    }


def _preset(name: str) -> PresetSource:
    from drivelab._core import preset_names
    from drivelab.drives.naming import kind_of
    from drivelab.drives.presets.source import SUFFIX, read_preset
    from drivelab.near_names import meant

    reference = name.removeprefix("sim:").removeprefix("analytic:")
    names = preset_names()
    if not reference.endswith(SUFFIX) and reference not in names:
        if kind_of(name) == "real" and ("/" in name or "." in name):
            raise UsageError(f"{name} is not a preset; `drivelab drives` lists real drives")
        raise UsageError(
            f"there is no preset {reference!r}; {meant(reference, names)}`drivelab drives` lists "
            "all, and FILE.toml is one too"
        )
    return read_preset(reference)


def _checked(
    args: argparse.Namespace, path: Path, kind: str, inputs: Sequence[Path | None]
) -> Output:
    output = answer_to(args, kind, path)
    check_files([((".toml",), output)], force=args.force, inputs=inputs)
    if not _NAME.fullmatch(path.stem):
        raise UsageError(f"{path.name} names no drive: use letters, digits, '.', '_' and '-'")
    return output


def shown_text(answer: Mapping[str, Any]) -> str:
    """Return values with their sources, and published figures next to simulated ones."""
    lines = [f"{answer['drive']}  {answer['summary']}", f"hash {answer['config_hash']}"]
    # If a preset starts from another one, each line shows whose value it is.
    several = len({value["preset"] for value in answer["values"]} - {None}) > 1
    for table, values in groupby(answer["values"], lambda value: value["key"].rpartition(".")[0]):
        lines += ["", f"[{table}]"] if table else [""]
        lines += _table_lines(list(values), names_preset=several)
    if answer["published"]:
        lines += ["", "published figures, and simulated under the condition assumed for them"]
    for row in answer["published"]:
        lines += _published_lines(row)
    return "\n".join(lines)


def _table_lines(values: list[Mapping[str, Any]], *, names_preset: bool) -> list[str]:
    """Return values with their sources next to them; the sources of long values go below."""
    keys = [value["key"].rpartition(".")[2] for value in values]
    texts = [_value_text(value["value"]) for value in values]
    width = max(map(len, keys))
    value_width = max((len(text) for text in texts if len(text) <= _VALUE_COLUMNS), default=0)
    lines = []
    for key, text, value in zip(keys, texts, values, strict=True):
        # A terminal aligns continued lines after the first two spaces in a row.
        start = f"{key:<{width}}  = {text:<{value_width}}"
        source = _source(value, names_preset=names_preset)
        if len(text) > _VALUE_COLUMNS:
            lines += [start, f"{'':<{width}}  {source}"]
        else:
            lines.append(f"{start}  {source}")
    return lines


def _published_lines(row: Mapping[str, Any]) -> list[str]:
    from drivelab.drives.simulated.published import percent_text

    verdict = "agrees" if row["agrees"] else "DIFFERS"
    return [
        f"{row['figure']}: {row['condition']}",
        f"    {_figures(row)}, {percent_text(row['difference_ratio'])}: {verdict} within "
        f"{100 * row['tolerance_ratio']:.3g} %, used for {row['used_for']}",
    ]


def _value_text(value: object) -> str:
    from drivelab.drives.presets.template import toml_value

    return toml_value(value)


def _source(value: Mapping[str, Any], *, names_preset: bool) -> str:
    if value["preset"] is None:
        return "# follows from others, or is the default"
    said = ": ".join(part for part in (value["grade"], value["source"]) if part)
    preset = f" ({value['preset']})" if names_preset else ""
    return f"# {said or 'no source'}{preset}"


def _figures(row: Mapping[str, Any]) -> str:
    from drivelab.drives.simulated.published import figure_text

    quantity = row["quantity"]
    simulated = figure_text(quantity, row["simulated"]).partition(" ")[0]
    return f"{figure_text(quantity, row['published'])}, simulated {simulated}"


def made_text(answer: Mapping[str, Any]) -> str:
    """Say what was written and what to do next."""
    return (
        f"wrote {answer['file']}, which behaves as {answer['like']}; measure it with "
        f"`drivelab measure {answer['drive']}`"
    )


def imported_text(answer: Mapping[str, Any]) -> str:
    """Return what was written, and what became of each setting."""
    lines = [f"wrote {answer['file']}; {_measured_by(answer)}"]
    lines += ["", f"{len(answer['imported'])} settings were taken over"]
    width = max(len(each["setting"]) for each in answer["imported"])
    lines += [
        f"  {each['setting']:<{width}}  {', '.join(dict.fromkeys(each['keys']))}"
        for each in answer["imported"]
    ]
    lines += ["", f"{len(answer['without_counterpart'])} have no counterpart"]
    lines += [
        f"  {each['setting']:<{width}}  {each['reason']}" for each in answer["without_counterpart"]
    ]
    lines += ["", f"{len(answer['assumed'])} values are assumed, because no setting gives them"]
    lines += [f"  {each['key']:<{width}}  {each['reason']}" for each in answer["assumed"]]
    return "\n".join(lines)


def _measured_by(answer: Mapping[str, Any]) -> str:
    """Return a command that measures an imported drive; one without data answers no reads."""
    command = f"drivelab measure {answer['drive']}"
    if answer["condition"] != "fresh":
        return f"measure it with `{command}`"
    return (
        f"measure writes with `{command} --write-ratio 1`. Reads need data, and "
        'Enabled_Preconditioning is false: for reads change `condition = "fresh"` in '
        f'{answer["file"]} to `condition = "filled"`'
    )
