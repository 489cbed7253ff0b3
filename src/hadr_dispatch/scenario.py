"""Scenarios: what a relief operation is made of, read from a TOML file and checked.

It knows the parts and what fits together, not what happens to them: that is drawn by `plan` and played by `world`.
"""

import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import ClassVar, Literal

Triage = Literal["red", "yellow", "green"]
Kind = Literal["rescue", "ambulance", "crew", "truck"]

CAPACITY = 2
"""Patients that an ambulance carries."""

LOAD = 40
"""Supplies that a truck carries, water and shelter together."""


class ScenarioError(ValueError):
    """A scenario that cannot be played: which file, where in it, what is wrong, what to do."""


class _Part:
    """A part of the file: keys that it does not have are a mistake, and not left out in silence."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True)
class Place(_Part):
    """A place on the map. `beds`: it is a hospital. `water`, `shelter`: it is a depot with so many."""

    name: str
    x: int
    y: int
    beds: int = 0
    water: int = 0
    shelter: int = 0


@dataclass(frozen=True)
class Road(_Part):
    """A road between two places and the ticks it takes. `work`: it is blocked, and clearing it takes so many ticks."""

    between: tuple[str, str]
    ticks: int
    work: int = 0

    @property
    def name(self) -> str:
        return "-".join(self.between)


@dataclass(frozen=True)
class UnitSpec(_Part):
    """A unit and where it stands at the beginning."""

    id: str
    kind: Kind
    at: str


@dataclass(frozen=True)
class PersonSpec(_Part):
    """One person of an incident."""

    triage: Triage
    trapped: bool = False


@dataclass(frozen=True)
class ReportSpec(_Part):
    """What a caller says of an incident, and when. Whatever is left out is told as it is.

    place: a wrong one. people: wrong numbers. denies: "there is nothing". duplicate: it sounds like another incident.
    """

    tick: int
    place: str | None = None
    people: tuple[PersonSpec, ...] | None = None
    denies: bool = False
    duplicate: bool = False


@dataclass(frozen=True)
class IncidentSpec(_Part):
    """An incident that a scenario fixes. Without people it is a false alarm."""

    tick: int
    place: str
    people: tuple[PersonSpec, ...] = ()
    reports: tuple[ReportSpec, ...] = ()


@dataclass(frozen=True)
class NeedSpec(_Part):
    """Water and shelter that a place turns out to need."""

    tick: int
    place: str
    water: int
    shelter: int


@dataclass(frozen=True)
class Aftershock(_Part):
    """At this tick so many more roads are blocked."""

    tick: int
    roads: int


@dataclass(frozen=True)
class Draws(_Part):
    """What the seed draws, in addition to what the scenario fixes.

    incidents: how many, of which `at_start` are known at tick 0, and none comes after tick `last` (default: at two
    thirds of the ticks).
    trapped: in so many incidents of a hundred people are trapped.
    weights: how often an incident is minor, mixed, major, a false alarm.
    blocked: roads blocked at the beginning. clearing: the work that one may take. aftershocks: roads blocked later.
    wrong, duplicate, denied: one report in so many is wrong, a duplicate, a denial (0: none).
    needs: places that turn out to need supplies.
    """

    incidents: int = 0
    at_start: int = 0
    last: int | None = None
    trapped: int = 60
    weights: tuple[int, int, int, int] = (5, 2, 4, 2)
    blocked: int = 0
    clearing: tuple[int, ...] = (4, 6, 8)
    aftershocks: tuple[Aftershock, ...] = ()
    wrong: int = 6
    duplicate: int = 5
    denied: int = 10
    needs: int = 0


@dataclass(frozen=True)
class Scenario(_Part):
    """A relief operation: a map, units, what happens, how many ticks of how many minutes it lasts.

    digest: of the file, so that results of different scenarios with one name are told apart.
    """

    id: str
    title: str
    briefing: str
    ticks: int
    places: tuple[Place, ...]
    roads: tuple[Road, ...]
    units: tuple[UnitSpec, ...]
    incidents: tuple[IncidentSpec, ...] = ()
    needs: tuple[NeedSpec, ...] = ()
    draws: Draws = field(default_factory=Draws)
    minutes: int = 10
    digest: str = ""

    @property
    def has_supplies(self) -> bool:
        """Is there a depot, so that `send_supplies` is offered?"""
        return any(place.water or place.shelter for place in self.places)


def scenario_names() -> list[str]:
    """The scenarios that come with the package, in the order of the ladder."""
    ladder = ("drill", "surge", "earthquake", "flood", "cyclone")
    names = [
        file.name.removesuffix(".toml") for file in resources.files("hadr_dispatch").joinpath("scenarios").iterdir()
    ]
    rank = {
        name: (next((at for at, rung in enumerate(ladder) if name.startswith(rung)), len(ladder)), name)
        for name in names
    }
    return [name.upper() for name in sorted(names, key=lambda name: rank[name])]


def load_scenario(name: str) -> Scenario:
    """A scenario by its name, or from a TOML file. Raises ScenarioError."""
    if name.upper() in scenario_names():
        file = resources.files("hadr_dispatch").joinpath("scenarios", f"{name.lower()}.toml")
        return read_scenario(file.read_text(encoding="utf-8"), name)
    path = Path(name)
    if path.suffix != ".toml" and not _exists(path):
        raise ScenarioError(
            f"there is no scenario {name!r}. There are: {', '.join(scenario_names())}; or give a TOML file"
        )
    try:
        return read_scenario(path.read_text(encoding="utf-8-sig"), name)
    except OSError as error:
        raise ScenarioError(f"the scenario {name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"the scenario {name} is not text in UTF-8: {error}") from error


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name too long for a file
        return False


def read_scenario(text: str, name: str) -> Scenario:
    """A scenario from the text of a TOML file; `name` stands in error texts. Raises ScenarioError with all mistakes."""
    from pydantic import TypeAdapter, ValidationError  # here: the world itself needs only the standard library

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # of a number too long, of brackets too deep
        raise ScenarioError(f"{name} is not TOML: {error}") from error
    if "digest" in table:
        raise ScenarioError(f"{name}: digest is unknown")
    table["digest"] = hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()[:16]
    problems: list[str] = []
    try:
        scenario = TypeAdapter(Scenario).validate_json(json.dumps(table, default=str), strict=True)
        problems += _problems(scenario)
    except ValidationError as error:
        scenario = None
        for detail in error.errors(include_url=False):
            where = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in detail["loc"])
            said = {"missing": "is missing", "unexpected_keyword_argument": "is unknown"}.get(detail["type"])
            said = said or f"{detail['msg'].removeprefix('Input ')}, found {detail['input']!r}"
            problems.append(f"{where.lstrip('.')} {said}")
    if scenario is None or problems:
        raise ScenarioError("\n".join(f"{name}: {problem}" for problem in problems))
    return scenario


def _problems(scenario: Scenario) -> Iterator[str]:
    """Everything that does not fit together, each with its place in the file (items counted from 1)."""
    places = [place.name for place in scenario.places]
    if not re.fullmatch(r"[A-Za-z0-9-]{1,20}", scenario.id):
        yield f"id must be up to 20 letters, digits and -, found {scenario.id!r}"
    yield from _range("ticks", scenario.ticks, 1, 500)
    yield from _range("minutes", scenario.minutes, 1, 60)
    yield from _twice("places", places)
    yield from _twice("roads", ["-".join(sorted(road.between)) for road in scenario.roads])
    yield from _twice("units", [unit.id for unit in scenario.units])
    yield from _range("the number of places", len(places), 0, 200)
    yield from _range("the number of roads", len(scenario.roads), 0, 1_000)
    if not scenario.units:
        yield "units must have at least one unit, found none"
    yield from _range("the number of units", len(scenario.units), 0, 50)
    yield from _range("the number of incidents", len(scenario.incidents), 0, 200)
    if places and not any(place.beds for place in scenario.places):
        yield "places must have at least one hospital: give one of them beds"
    taken = [unit.id for unit in scenario.units]
    for at, place in enumerate(scenario.places, 1):
        name = place.name
        if not re.fullmatch(r"[^-,]{1,40}", name) or not name.isprintable() or name != name.strip():
            yield f"places[{at}].name must be 1 to 40 letters without - and comma, found {name[:60]!r}"
        for axis, number in {"x": place.x, "y": place.y}.items():
            yield from _range(f"places[{at}].{axis}", number, -1_000, 1_000)
        if place.name in taken or re.fullmatch(r"I\d+|incident \d+", place.name):
            yield f"places[{at}].name must not be the name of a unit or an incident, found {place.name!r}"
        for name, number in {"beds": place.beds, "water": place.water, "shelter": place.shelter}.items():
            yield from _range(f"places[{at}].{name}", number, 0, 100_000)
    for at, road in enumerate(scenario.roads, 1):
        yield from _known(f"roads[{at}].between", road.between, places)
        if road.between[0] == road.between[1]:
            yield f"roads[{at}].between must name two places, found {road.between[0]!r} twice"
        yield from _range(f"roads[{at}].ticks", road.ticks, 1, 100)
        yield from _range(f"roads[{at}].work", road.work, 0, 500)
    for at, unit in enumerate(scenario.units, 1):
        yield from _known(f"units[{at}].at", [unit.at], places)
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,9}", unit.id) or re.fullmatch(r"I\d+", unit.id):
            yield f"units[{at}].id must be a letter and up to nine letters and digits, not I01, found {unit.id!r}"
    for at, incident in enumerate(scenario.incidents, 1):
        yield from _range(f"incidents[{at}].tick", incident.tick, 0, scenario.ticks - 1)
        yield from _known(f"incidents[{at}].place", [incident.place], places)
        yield from _range(f"the number of people of incidents[{at}]", len(incident.people), 0, 100)
        for number, report in enumerate(incident.reports, 1):
            if report.place is not None:
                yield from _known(f"incidents[{at}].reports[{number}].place", [report.place], places)
            if report.denies and (report.duplicate or report.people is not None):
                yield f"incidents[{at}].reports[{number}] denies, and so it has neither people nor duplicate"
            yield from _range(f"incidents[{at}].reports[{number}].tick", report.tick, incident.tick, scenario.ticks - 1)
    for at, need in enumerate(scenario.needs, 1):
        yield from _known(f"needs[{at}].place", [need.place], places)
        yield from _range(f"needs[{at}].tick", need.tick, 0, scenario.ticks - 1)
        if not need.water and not need.shelter:
            yield f"needs[{at}] must be of water or shelter, found none of either"
        yield from _range(f"needs[{at}].water", need.water, 0, 10_000)
        yield from _range(f"needs[{at}].shelter", need.shelter, 0, 10_000)
    yield from _draw_problems(scenario)


def _draw_problems(scenario: Scenario) -> Iterator[str]:
    draws, open_places = scenario.draws, [place for place in scenario.places if not place.beds]
    later = sum(shock.roads for shock in draws.aftershocks)
    yield from _range("draws.incidents", draws.incidents, 0, 100)
    yield from _range("draws.at_start", draws.at_start, 0, max(0, draws.incidents))
    if draws.last is not None:
        yield from _range("draws.last", draws.last, 0, scenario.ticks - 1)
    yield from _range("draws.trapped", draws.trapped, 0, 100)
    can_be_hit = sum(not road.work for road in scenario.roads)  # each road at most once
    yield from _range("draws.blocked, with all aftershocks,", draws.blocked + later, 0, can_be_hit)
    yield from _range("draws.blocked", draws.blocked, 0, can_be_hit)
    for name, number in {"wrong": draws.wrong, "duplicate": draws.duplicate, "denied": draws.denied}.items():
        yield from _range(f"draws.{name}", number, 0, 1_000)
    yield from _range("draws.needs", draws.needs, 0, 100)
    for at, shock in enumerate(draws.aftershocks, 1):
        yield from _range(f"draws.aftershocks[{at}].tick", shock.tick, 1, scenario.ticks - 1)
        yield from _range(f"draws.aftershocks[{at}].roads", shock.roads, 1, len(scenario.roads))
    if min(draws.weights) < 0 or not sum(draws.weights):
        yield f"draws.weights must be four numbers from 0 on, one of them above 0, found {list(draws.weights)}"
    if not draws.clearing or min(draws.clearing) < 1 or max(draws.clearing) > 500:
        yield f"draws.clearing must name at least one number of ticks, each 1 to 500, found {list(draws.clearing)}"
    if (draws.incidents or draws.needs) and not open_places:
        yield "draws.incidents need a place that is no hospital"
    if (scenario.needs or draws.needs) and not scenario.has_supplies:
        yield "needs can be met only from a place with water or shelter: give one of the places some"
    if (scenario.needs or draws.needs) and not any(unit.kind == "truck" for unit in scenario.units):
        yield "needs can be met only by a truck: give one of the units this kind"


def _range(where: str, number: int, least: int, most: int) -> Iterator[str]:
    if not least <= number <= most:
        yield f"{where} must be {least} to {most}, found {number}"


def _known(where: str, names: Sequence[str], places: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name not in places:
            yield f"{where} names no place of this scenario, found {name!r}; there are: {', '.join(places)}"


def _twice(where: str, names: Sequence[str]) -> Iterator[str]:
    counts = Counter(name.casefold() for name in names)
    seen = dict(zip(map(str.casefold, names), names, strict=True))
    yield from (f"{where}: {seen[name]!r} stands there {count} times" for name, count in counts.items() if count > 1)
