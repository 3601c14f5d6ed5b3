"""Reading a plan from TOML; what is wrong in it is named with its file, place and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

from drivelab.bounded_toml import UnreadableTomlError, parse_toml
from drivelab.drives.naming import kind_of, open_simulated
from drivelab.errors import UsageError
from drivelab.named_file import read_text_file
from drivelab.place.demand_table import demand_of
from drivelab.place.plan import OBJECTIVES, USUAL_UTILISATION, Demand, Offer, PlacementPlan
from drivelab.place.values import number, refuse_unknown, text, whole
from drivelab.prices import Price, read_prices
from drivelab.workloads.given import shown

_MOST_BYTES: Final = 1 << 20
_MOST_WORKLOADS: Final = 40
_MOST_OFFERS: Final = 20
_MOST_DRIVES: Final = 1000
_MOST_MONEY: Final = 1e12
_KEYS: Final = (
    *("objective", "cost_at_most", "watts_at_most", "utilisation_at_most", "prices"),
    *("workload", "drive"),
)
_DRIVE_KEYS: Final = ("name", "at_most", "price", "watts")


def example_text() -> str:
    """Return a complete plan, with comments on every key."""
    return (resources.files("drivelab.place") / "example.toml").read_text("utf-8")


def read_plan(path: Path) -> PlacementPlan:
    """Read and check a plan; files that it names are in the same folder.

    Raises
    ------
    UsageError
        When there is none, or something in it is not allowed: names place, value and what is.
    """
    instead = "`drivelab place --example > plan.toml` writes one to begin with"
    source = read_text_file(path, "a plan", _MOST_BYTES, instead)
    try:
        table = parse_toml(source)
    except UnreadableTomlError as error:
        raise UsageError(f"{path} {error}") from error
    return plan_of(table, str(path), path.parent)


def plan_of(table: Mapping[str, Any], where: str, folder: Path) -> PlacementPlan:
    """Check a plan that was read, or made by a program.

    Parameters
    ----------
    table
        Its keys and values, as TOML has them.
    where
        Name of the plan in errors.
    folder
        Folder of the files that it names.

    Raises
    ------
    UsageError
        As `read_plan`.
    """
    refuse_unknown(table, _KEYS, where)
    objective = table.get("objective", "cost")
    if objective not in OBJECTIVES:
        raise UsageError(
            f"{where}: objective is {shown(objective)}; allowed: {', '.join(OBJECTIVES)}"
        )
    limits = {
        key: number(table[key], f"{where}: {key}", 0, _MOST_MONEY, above=True)
        for key in ("cost_at_most", "watts_at_most")
        if key in table
    }
    utilisation = number(
        table.get("utilisation_at_most", USUAL_UTILISATION),
        f"{where}: utilisation_at_most",
        *(0, 1),
        above=True,
    )
    plan = PlacementPlan(
        _demands(table, where, folder),
        _offers(table, where, folder),
        objective,
        utilisation_at_most=utilisation,
        **limits,
    )
    for name, wanted, known in (
        ("price", objective == "cost" or plan.cost_at_most is not None, plan.has_prices),
        ("watts", objective == "watts" or plan.watts_at_most is not None, plan.has_watts),
    ):
        if wanted and not known:
            lacking = next(each.drive for each in plan.offers if getattr(each, name) is None)
            raise UsageError(
                f"{where}: {lacking} has no {name}; add {name} to its [[drive]], or name a table "
                'with prices = "prices.csv"'
                + (", or set objective to latency" if objective == "cost" else "")
            )
    return plan


def _demands(table: Mapping[str, Any], where: str, folder: Path) -> tuple[Demand, ...]:
    entries = _tables(table, "workload", where, _MOST_WORKLOADS)
    made = []
    for place, entry in enumerate(entries, start=1):
        name = text(entry.get("name"), f"{where}: workload {place}: name")
        if not name.isprintable() or name != name.strip():
            raise UsageError(
                f"{where}: workload {place}: name is {shown(name)}; allowed: one line without "
                "spaces around it"
            )
        made.append(demand_of(entry, name, f"{where}: workload {shown(name)}", folder))
    _refuse_twice([each.name for each in made], where, "workloads are called")
    return tuple(made)


def _offers(table: Mapping[str, Any], where: str, folder: Path) -> tuple[Offer, ...]:
    entries = _tables(table, "drive", where, _MOST_OFFERS)
    names = []
    for place, entry in enumerate(entries, start=1):
        name = text(entry.get("name"), f"{where}: drive {place}: name")
        if kind_of(name) != "simulated":
            raise UsageError(
                f"{where}: drive {place}: {shown(name)} is not a simulated drive, and workloads "
                "are tried together on each drive of the pool; name sim:PRESET or sim:FILE.toml"
            )
        try:
            open_simulated(name, varies=False).close()
        except UsageError as error:
            raise UsageError(f"{where}: drive {place}: {error}") from error
        names.append(name)
    _refuse_twice(names, where, "drives are called")
    prices: Mapping[str, Price] = {}
    if "prices" in table:
        source = text(table["prices"], f"{where}: prices")
        try:
            prices = read_prices(folder / source, names)
        except UsageError as error:
            raise UsageError(f"{where}: prices: {error}") from error
    return tuple(
        _offer(entry, name, f"{where}: drive {shown(name)}", prices.get(name))
        for entry, name in zip(entries, names, strict=True)
    )


def _offer(entry: Mapping[str, Any], name: str, where: str, known: Price | None) -> Offer:
    refuse_unknown(entry, _DRIVE_KEYS, where)
    values: dict[str, float | None] = {}
    for key in ("price", "watts"):
        values[key] = None if known is None else getattr(known, key)
        if key in entry:
            values[key] = number(entry[key], f"{where}: {key}", 0, _MOST_MONEY)
    return Offer(
        name, whole(entry.get("at_most", 1), f"{where}: at_most", 1, _MOST_DRIVES), **values
    )


def _tables(table: Mapping[str, Any], key: str, where: str, most: int) -> list[Any]:
    entries = table.get(key, [])
    if not isinstance(entries, list):
        raise UsageError(
            f"{where}: {key} is {shown(entries)}, which is not a list; allowed: a list of tables "
            f"[[{key}]]"
        )
    if not entries:
        what = "workload is placed" if key == "workload" else "drive is in the pool"
        raise UsageError(f"{where}: no {what}; add a table [[{key}]]")
    if len(entries) > most:
        raise UsageError(f"{where}: {len(entries)} tables [[{key}]]; allowed: 1 to {most}")
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise UsageError(
                f"{where}: {key} {place} is {shown(entry)}; allowed: a table [[{key}]]"
            )
    return entries


def _refuse_twice(names: Sequence[str], where: str, what: str) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{where}: two {what} {shown(twice)}; allowed: names of their own")
