"""What a seed draws: everything that will happen in a world, whoever is dispatched where.

All draws are made here, before the first tick, from SHA-256, so that they are the same on every machine and Python.
It does not know units, orders or time.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hadr_dispatch.scenario import IncidentSpec, NeedSpec, PersonSpec, ReportSpec, Road, Scenario, Triage

_T = TypeVar("_T")

HEALTH: dict[Triage, int] = {"red": 36, "yellow": 72, "green": 100}
_SEVERITY: tuple[tuple[int, int, int], ...] = ((0, 30, 70), (25, 40, 35), (45, 40, 15))
"""Of a hundred people, how many are red, yellow and green, in a minor, a mixed and a major incident."""


@dataclass(frozen=True)
class Picture:
    """How many people, as somebody told it or as a unit saw it at `tick`; of those, how many are trapped."""

    tick: int
    red: int = 0
    yellow: int = 0
    green: int = 0
    trapped_red: int = 0
    trapped_yellow: int = 0
    trapped_green: int = 0

    @classmethod
    def of(cls, tick: int, people: "Sequence[Person | PersonSpec]") -> "Picture":
        counts = {triage: sum(person.triage == triage for person in people) for triage in HEALTH}
        trapped = {triage: sum(person.triage == triage and person.trapped for person in people) for triage in HEALTH}
        return cls(tick, *counts.values(), *trapped.values())

    @property
    def at_risk(self) -> int:
        return self.red + self.yellow

    @property
    def trapped(self) -> int:
        return self.trapped_red + self.trapped_yellow + self.trapped_green

    @property
    def groups(self) -> tuple[tuple[Triage, int, int], ...]:
        """(triage, how many, how many of them trapped), the most urgent first."""
        return (
            ("red", self.red, self.trapped_red),
            ("yellow", self.yellow, self.trapped_yellow),
            ("green", self.green, self.trapped_green),
        )

    def __str__(self) -> str:
        parts = [
            f"{count} {triage}{f' ({trapped} trapped)' if trapped else ''}"
            for triage, count, trapped in self.groups
            if count
        ]
        return ", ".join(parts) or "nobody"


@dataclass(frozen=True)
class Person:
    """Somebody, and where they are: "incident 3", a unit's id or a hospital's name. Health 0 is dead."""

    id: str
    triage: Triage
    health: int
    trapped: bool
    where: str

    @property
    def alive(self) -> bool:
        return self.health > 0

    @property
    def at_risk(self) -> bool:
        return self.triage != "green"


@dataclass(frozen=True)
class Incident:
    """What really happened, where, and from which tick on."""

    number: int
    tick: int
    place: str
    people: tuple[Person, ...]


@dataclass(frozen=True)
class Report:
    """What somebody says: under which file it is kept, of which incident, at which place. No picture: a denial."""

    tick: int
    file: str
    incident: int
    place: str
    picture: Picture | None
    text: str


@dataclass(frozen=True)
class Plan:
    """Everything that will happen. `shocks`: (tick, road, work) of the roads that are blocked later."""

    roads: tuple[Road, ...]
    shocks: tuple[tuple[int, str, int], ...]
    incidents: tuple[Incident, ...]
    reports: tuple[Report, ...]
    needs: tuple[NeedSpec, ...]


class Draw:
    """Whole numbers drawn from a text: SHA-256 of the text and a counter."""

    def __init__(self, *source: object) -> None:
        self._source = "/".join(map(str, source))
        self._drawn = 0

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        self._drawn += 1
        return int.from_bytes(hashlib.sha256(f"{self._source}/{self._drawn}".encode()).digest()[:8], "big") % limit

    def one_in(self, number: int) -> bool:
        """Once in so many times; with 0, never."""
        return number > 0 and self.below(number) == 0

    def choice(self, items: Sequence[_T]) -> _T:
        return items[self.below(len(items))]

    def sample(self, items: Sequence[_T], count: int) -> list[_T]:
        """So many different items, in the order in which they are drawn."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]

    def weighted(self, weights: Sequence[int]) -> int:
        """A place in the list of weights."""
        drawn = self.below(sum(weights))
        return next(at for at in range(len(weights)) if drawn < sum(weights[: at + 1]))


def plan(scenario: Scenario, seed: int) -> Plan:
    """Draw what a scenario leaves open. The same scenario and seed give the same plan, to the byte."""
    roads, shocks = _roads(scenario, Draw(scenario.id, seed, "roads"))
    specs = [*scenario.incidents, *_incident_specs(scenario, Draw(scenario.id, seed, "incidents"))]
    specs.sort(key=lambda spec: spec.tick)  # stable: the fixed ones come first
    incidents = tuple(_incidents(specs, Draw(scenario.id, seed, "names")))
    reports = _reports(scenario, specs, Draw(scenario.id, seed, "words"))
    needs = [*scenario.needs, *_needs(scenario, Draw(scenario.id, seed, "needs"))]
    return Plan(roads, shocks, incidents, tuple(reports), tuple(sorted(needs, key=lambda need: need.tick)))


def _roads(scenario: Scenario, draw: Draw) -> tuple[tuple[Road, ...], tuple[tuple[int, str, int], ...]]:
    draws = scenario.draws
    later = sum(shock.roads for shock in draws.aftershocks)
    hit = draw.sample([road.name for road in scenario.roads if not road.work], draws.blocked + later)
    work = {name: draw.choice(draws.clearing) for name in hit}
    roads = tuple(
        replace(road, work=work[road.name]) if road.name in hit[: draws.blocked] else road for road in scenario.roads
    )
    ticks = [shock.tick for shock in draws.aftershocks for _ in range(shock.roads)]
    return roads, tuple((tick, name, work[name]) for tick, name in zip(ticks, hit[draws.blocked :], strict=False))


def _incident_specs(scenario: Scenario, draw: Draw) -> Iterator[IncidentSpec]:
    draws = scenario.draws
    places = [place.name for place in scenario.places if not place.beds]
    later = draws.incidents - draws.at_start
    last = scenario.ticks * 2 // 3 if draws.last is None else draws.last
    for number in range(draws.incidents):
        after = number - draws.at_start
        tick = 0
        if after >= 0:
            tick = 1 + after * (last - 1) // max(later - 1, 1) + draw.below(3) - 1
        tick = min(max(tick, 0 if after < 0 else 1), last)
        place, severity = draw.choice(places), draw.weighted(draws.weights)
        size, caught = 2 + draw.below(5), draw.below(100) < draws.trapped
        triages: list[Triage] = ["red", "yellow", "green"]
        people: list[PersonSpec] = []
        for _ in range(size if severity < 3 else 0):
            triage = triages[draw.weighted(_SEVERITY[severity])]
            people.append(PersonSpec(triage, caught and (not people or draw.one_in(2))))
        yield IncidentSpec(tick, place, tuple(people), tuple(_report_specs(scenario, tick, place, people, draw)))


def _report_specs(
    scenario: Scenario, tick: int, place: str, people: Sequence[PersonSpec], draw: Draw
) -> Iterator[ReportSpec]:
    """One to three reports, the first at once. A false alarm says that there are people, until somebody denies it."""
    draws, imagined = scenario.draws, tuple(PersonSpec("yellow") for _ in range(1 + draw.below(4)))
    for number in range(1 + draw.below(3)):
        at = min(tick + (number and number + draw.below(4)), scenario.ticks - 1)
        wrong, elsewhere = draw.one_in(draws.wrong), draw.one_in(2)
        told = _miscounted(people, draw) if wrong and not elsewhere else (None if people else imagined)
        around = _neighbours(scenario, place)
        heard_at = draw.choice(around) if wrong and elsewhere and around else None
        denies = bool(number) and draw.one_in(draws.denied if people else min(2, draws.denied))
        duplicate = bool(number) and draw.one_in(draws.duplicate)
        yield ReportSpec(at, heard_at, None if denies else told, denies, duplicate and not denies)


def _neighbours(scenario: Scenario, place: str) -> list[str]:
    return [name for road in scenario.roads if place in road.between for name in road.between if name != place]


def _miscounted(people: Sequence[PersonSpec], draw: Draw) -> tuple[PersonSpec, ...]:
    """Somebody more, or somebody fewer, or nobody trapped after all."""
    how, extra = draw.below(3), PersonSpec("red", draw.one_in(2))
    if how == 0 or not people:
        return (*people, extra)
    return tuple(people[1:]) if how == 1 else tuple(replace(person, trapped=False) for person in people)


def _incidents(specs: Sequence[IncidentSpec], draw: Draw) -> Iterator[Incident]:
    """The numbers of people are drawn: in order, they would tell how many there are elsewhere."""
    count = sum(len(spec.people) for spec in specs)
    numbers = iter(draw.sample(range(1, count + 1), count))
    for at, spec in enumerate(specs, 1):
        people: list[Person] = []
        for person in spec.people:
            ident = f"{person.triage}-{next(numbers):02}"
            people.append(Person(ident, person.triage, HEALTH[person.triage], person.trapped, f"incident {at}"))
        yield Incident(at, spec.tick, spec.place, tuple(people))


def _reports(scenario: Scenario, specs: Sequence[IncidentSpec], draw: Draw) -> Iterator[Report]:
    """All reports as they come in. The first of an incident opens a file, and so does a duplicate."""
    told = [
        (report, number, spec)
        for number, spec in enumerate(specs, 1)
        for report in (spec.reports or (ReportSpec(spec.tick),))
    ]
    files: dict[int, str] = {}
    opened = 0
    for report, number, spec in sorted(told, key=lambda each: (each[0].tick, each[1])):
        if number not in files or report.duplicate:
            opened += 1
            file = f"I{opened:02}"
            files.setdefault(number, file)
        else:
            file = files[number]
        place = report.place or spec.place
        people = spec.people if report.people is None else report.people
        picture = None if report.denies else Picture.of(report.tick, people)
        yield Report(report.tick, file, number, place, picture, _words(place, picture, draw))


_CALLERS = (
    "A neighbour calls from {place}: {what}.",
    "Text message from {place}: {what}, please hurry!",
    "A bus driver stops at {place} and reports: {what}.",
    "A police patrol at {place}: {what}.",
    "A child on the phone, somewhere at {place}: {what}.",
    "A shopkeeper at {place} says: {what}.",
    "Overheard on the radio, {place}: {what}.",
)
_DENIALS = (
    "A caller says there is nothing at {place}, everything is quiet.",
    "Somebody who lives at {place} has looked: a false alarm, they think.",
    "Text message: forget {place}, they have all walked home.",
)


_HURT: dict[Triage, str] = {"red": "badly hurt", "yellow": "hurt", "green": "hardly hurt"}


def _words(place: str, picture: Picture | None, draw: Draw) -> str:
    if picture is None:
        return draw.choice(_DENIALS).format(place=place)
    parts: list[str] = []
    for triage, count, trapped in picture.groups:
        if count:
            caught = f" ({'trapped' if trapped == count else f'{trapped} of them trapped'})" if trapped else ""
            parts.append(f"{count} {_HURT[triage]}{caught}")
    return draw.choice(_CALLERS).format(place=place, what=", ".join(parts) or "somebody needs help")


def _needs(scenario: Scenario, draw: Draw) -> Iterator[NeedSpec]:
    places = [place.name for place in scenario.places if not place.beds and not place.water and not place.shelter]
    for place in draw.sample(places, scenario.draws.needs):
        tick = draw.below(max(scenario.ticks // 2, 1))
        yield NeedSpec(tick, place, 10 * (1 + draw.below(4)), 5 * (1 + draw.below(4)))
