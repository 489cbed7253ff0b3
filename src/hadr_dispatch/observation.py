"""What a dispatcher knows: units, roads, beds, and what was told or seen of the incidents.

Frozen copies: whoever holds an observation can change nothing, and what nobody has told or seen is not in it.
"""

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from hadr_dispatch.plan import Picture
from hadr_dispatch.scenario import Kind, NeedSpec, Road, Scenario

Ways = dict[str, tuple[int, tuple[str, ...]]]
"""For each place that can be reached: (ticks, places on the way)."""

Doing = Literal["idle", "moving", "working", "waiting"]

WORDS: dict[Kind, str] = {"rescue": "rescue team", "ambulance": "ambulance", "crew": "road crew", "truck": "truck"}


@dataclass(frozen=True)
class Unit:
    """A unit. It stands at `at`, or has left it for `route[0]`, which it reaches in `left` ticks.

    target: a file, a road or a hospital; nothing: it is free. person, progress: whom a rescue team frees, since when.
    patients: ids of people aboard. water, shelter: what a truck is to deliver. depot: where that is from. via: that
    depot too, as long as the truck has not been there.
    """

    id: str
    kind: Kind
    at: str
    target: str = ""
    route: tuple[str, ...] = ()
    left: int = 0
    person: str = ""
    progress: int = 0
    patients: tuple[str, ...] = ()
    depot: str = ""
    via: str = ""
    water: int = 0
    shelter: int = 0

    @property
    def doing(self) -> Doing:
        """Idle and waiting units take orders; moving and working ones must be recalled first."""
        if not self.target:
            return "idle"
        if self.route:
            return "moving"
        return "working" if self.person or self.kind == "crew" else "waiting"


@dataclass(frozen=True)
class File:
    """What is known of an incident, since tick `opened`.

    told: by the latest report that did not deny it; None if the first did. seen: by a unit on the spot.
    closed: why nobody needs to go there any more. note: what the dispatcher wrote down.
    """

    id: str
    place: str
    opened: int
    told: Picture | None
    denied: bool = False
    seen: Picture | None = None
    closed: str = ""
    note: str = ""

    @property
    def believed(self) -> Picture:
        """What was seen; failing that, what was told last."""
        return self.seen or self.told or Picture(0)


@dataclass(frozen=True)
class Event:
    """Something that happened. `known`: to the dispatcher. `wakes`: it is a reason to look at the operation anew."""

    tick: int
    kind: str
    subject: str
    text: str
    known: bool = True
    wakes: bool = True


@dataclass(frozen=True)
class Hospital:
    """A hospital's beds, and how many of them are free."""

    name: str
    beds: int
    free: int


@dataclass(frozen=True)
class Observation:
    """All that a dispatcher knows at a tick. `changes`: what became known with the last tick."""

    tick: int
    scenario: Scenario
    roads: tuple[Road, ...]
    units: tuple[Unit, ...]
    files: tuple[File, ...]
    hospitals: tuple[Hospital, ...]
    needs: tuple[NeedSpec, ...]
    stock: tuple[tuple[str, int, int], ...]
    changes: tuple[Event, ...]

    def unit(self, ident: str) -> Unit | None:
        return next((unit for unit in self.units if unit.id == ident), None)

    def file(self, ident: str) -> File | None:
        return next((file for file in self.files if file.id == ident), None)

    def road(self, name: str) -> Road | None:
        """The road of this name, whichever of its ends is named first."""
        return next((road for road in self.roads if name in (road.name, "-".join(road.between[::-1]))), None)

    def assigned(self, target: str) -> list[Unit]:
        return [unit for unit in self.units if unit.target == target]

    @cached_property
    def open_roads(self) -> tuple[Road, ...]:
        return tuple(road for road in self.roads if not road.work)

    def route(self, unit: Unit, place: str) -> tuple[int, tuple[str, ...]] | None:
        """(ticks, places on the way) by open roads from where the unit is or will be first; None: no way."""
        if unit.left:  # it has left a place and finishes that road in any case
            rest = self._ways(unit.route[0]).get(place)
            return rest and (unit.left + rest[0], (unit.route[0], *rest[1]))
        return self._ways(unit.at).get(place)

    def ticks(self, unit: Unit, place: str) -> int | None:
        """How many ticks the unit needs to the place by open roads; None: no way."""
        found = self.route(unit, place)
        return None if found is None else found[0]

    def _ways(self, start: str) -> Ways:
        if start not in self._found:
            self._found[start] = routes(self.open_roads, start)
        return self._found[start]

    @cached_property
    def _found(self) -> dict[str, Ways]:
        return _found_before(self.open_roads)


@lru_cache(maxsize=256)
def _found_before(roads: tuple[Road, ...]) -> dict[str, Ways]:
    """What `routes` found for these roads, to be added to: roads change seldom, and ways are asked for all the time."""
    return {}


def routes(roads: tuple[Road, ...], start: str) -> Ways:
    """For each place that can be reached: (ticks, places on the way), shortest first, equal ones by their names."""
    ways: dict[str, list[tuple[str, int]]] = {}
    for road in roads:
        for here, there in (road.between, road.between[::-1]):
            ways.setdefault(here, []).append((there, road.ticks))
    found: Ways = {}
    ahead: list[tuple[int, tuple[str, ...], str]] = [(0, (), start)]
    while ahead:
        ticks, path, place = heapq.heappop(ahead)
        if place not in found:
            found[place] = (ticks, path)
            for there, more in ways.get(place, ()):
                heapq.heappush(ahead, (ticks + more, (*path, there), there))
    return found


def blocked_on_the_way(seen: Observation, unit: Unit, place: str) -> Iterator[Road]:
    """The blocked roads of the shortest way that there would be if all roads were open."""
    start = unit.route[0] if unit.left else unit.at
    found = routes(seen.roads, start).get(place)
    stops = (start, *found[1]) if found else ()
    for here, there in itertools.pairwise(stops):
        road = seen.road(f"{here}-{there}")
        if road and road.work:
            yield road
