"""The world: what happens to people, roads and units from one tick to the next, by whole numbers alone.

It knows no model, no loop, no file and no clock but its own ticks; and nothing in it is drawn, that is `plan`'s.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self, cast

from hadr_dispatch.observation import Event, File, Hospital, Observation, Unit
from hadr_dispatch.orders import Answer, Order, after, order_of, verdict
from hadr_dispatch.plan import Incident, Person, Picture, plan
from hadr_dispatch.scenario import CAPACITY, Draws, NeedSpec, Road, Scenario, Triage

WORLD_VERSION = 1
"""Raised whenever the same orders lead to another end; results of different versions are not compared."""

FREEING = 3
DISCHARGE = 6
LOSS: Mapping[Triage, int] = {"red": 3, "yellow": 1, "green": 0}
LOSS_ABOARD: Mapping[Triage, int] = {"red": 1, "yellow": 0, "green": 0}
_URGENCY: Mapping[Triage, int] = {"red": 0, "yellow": 1, "green": 2}


class WorldError(ValueError):
    """Something that this world does not do: which tick, what was expected, what was found."""


@dataclass(frozen=True)
class Result:
    """How an operation stands. points: of people at risk, 0 for the dead, 1 for the living, 2 for those in care.

    water, shelter: (delivered, needed so far). hash: of the state at this tick.
    """

    world_version: int
    scenario: str
    digest: str
    seed: int
    tick: int
    points: int
    at_risk: int
    deaths: int
    in_care: int
    water: tuple[int, int]
    shelter: tuple[int, int]
    hash: str


class World:
    """One operation. Made by `World.start`; the only thing that moves its time is `next_tick`.

    A tick: units move, then work; people lose health; aftershocks block roads and beds become free; new reports come
    in; units on the spot see what is there. `hash` is of all that.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self.tick = 0
        self.plan = plan(scenario, seed)
        # what an observation holds of the scenario: not what is going to happen
        self._map = replace(scenario, incidents=(), needs=(), draws=Draws(), digest="")
        self.events: list[Event] = []
        self._changes: list[Event] = []
        self._roads = {road.name: road for road in self.plan.roads}
        self._people = {person.id: person for incident in self.plan.incidents for person in incident.people}
        self._units = {unit.id: Unit(unit.id, unit.kind, unit.at) for unit in scenario.units}
        self._files: dict[str, File] = {}
        self._incident_of: dict[str, int] = {}
        self._occupied = {place.name: 0 for place in scenario.places if place.beds}
        self._stock = {
            place.name: (place.water, place.shelter) for place in scenario.places if place.water or place.shelter
        }
        self._open_needs = {place.name: (0, 0) for place in scenario.places}
        self._needed = self._delivered = (0, 0)
        self._orders: list[dict[str, object]] = []
        self._hear()
        self._look()
        self.events += self._changes
        self.hash = self._state_hash()
        head: dict[str, object] = {"world_version": WORLD_VERSION, "scenario": scenario.id, "digest": scenario.digest}
        self.log: list[Mapping[str, object]] = [{**head, "seed": seed, "hash": self.hash}]
        """What happened, as JSON objects: where it began, then for each tick its orders, their answers, the hash."""

    @classmethod
    def start(cls, scenario: Scenario, seed: int) -> Self:
        """The world of a scenario at tick 0. The same scenario and seed give the same world, to the byte."""
        return cls(scenario, seed)

    @classmethod
    def replay(cls, scenario: Scenario, log: Sequence[Mapping[str, object]]) -> Self:
        """The world that a log leads to. Raises WorldError where this world comes to another state."""
        *_, world = cls.retrace(scenario, log)
        return world

    @classmethod
    def retrace(cls, scenario: Scenario, log: Sequence[Mapping[str, object]]) -> Iterator[Self]:
        """The world of a log at each of its ticks: one and the same, which moves on when the next is asked for.

        Raises WorldError as `replay` does.
        """
        if not log:
            raise WorldError("the log is empty")
        head = log[0]
        if "world_version" not in head:
            raise WorldError("it is no log of an operation; name another file")
        world = cls(scenario, cast("int", head.get("seed")))
        for name, found in world.log[0].items():
            if head.get(name) != found:
                raise WorldError(
                    f"the log has {name} {head.get(name)!r}, but this is {found!r}; they do not go together"
                )
        yield world
        for number, line in enumerate(log[1:], 2):
            try:
                for told in cast("Sequence[Mapping[str, object]]", line["orders"]):
                    world.apply(order_of(cast("Mapping[str, object]", told["order"])))
                world.next_tick(cast("int", line["tick"]) - 1)
            except (KeyError, TypeError, AttributeError) as error:
                raise WorldError(f"line {number} of the log is not what a world writes: {error!r}") from error
            for name, found in world.log[-1].items():
                if line.get(name) != found:
                    raise WorldError(
                        f"the log has {name} {line.get(name)!r} at tick {line['tick']}, but this comes to {found!r}"
                    )
            yield world

    @property
    def over(self) -> bool:
        return self.tick >= self.scenario.ticks

    @property
    def people(self) -> tuple[Person, ...]:
        """Everybody as they are, which no dispatcher knows: for the score, the report, and what checks the world."""
        return tuple(self._people.values())

    def observe(self) -> Observation:
        """What a dispatcher knows now."""
        beds = {place.name: place.beds for place in self.scenario.places if place.beds}
        return Observation(
            self.tick,
            self._map,
            tuple(self._roads.values()),
            tuple(self._units.values()),
            tuple(self._files.values()),
            tuple(Hospital(name, beds[name], beds[name] - used) for name, used in self._occupied.items()),
            tuple(NeedSpec(self.tick, place, *amounts) for place, amounts in self._open_needs.items() if any(amounts)),
            tuple((name, *amounts) for name, amounts in self._stock.items()),
            tuple(event for event in self._changes if event.known),
        )

    def apply(self, order: Order) -> Answer:
        """Carry out an order, or refuse it; a refused one changes nothing. No order moves time."""
        seen = self.observe()
        answer = verdict(seen, order)
        self._orders.append({"order": asdict(order), "answer": answer.refusal or "accepted"})
        if answer.accepted:
            seen = after(seen, order, answer)
            self._units = {unit.id: unit for unit in seen.units}
            self._files = {file.id: file for file in seen.files}
            self._stock = {name: (water, shelter) for name, water, shelter in seen.stock}
        return answer

    def next_tick(self, expected_tick: int) -> None:
        """Let one tick pass. Raises WorldError, and changes nothing, unless the world is at `expected_tick`."""
        if expected_tick != self.tick:
            raise WorldError(
                f"tick {expected_tick} was expected, but the world is at tick {self.tick}; nothing changed"
            )
        if self.over:
            raise WorldError(f"the operation is over after {self.tick} ticks; nothing changed")
        self.tick += 1
        self._changes = []
        arrived = self._move()
        self._work(arrived)
        self._decay()
        self._shake()
        self._discharge()
        self._hear()
        self._look()
        self.events += self._changes
        self.hash = self._state_hash()
        self.log.append({"tick": self.tick, "orders": self._orders, "hash": self.hash})
        self._orders = []

    def result(self) -> Result:
        """How it stands. Points are taken from the state alone, whatever was ordered."""
        at_risk = [person for person in self.people if person.at_risk]
        in_care = sum(person.where in self._occupied for person in at_risk)
        deaths = sum(not person.alive for person in at_risk)
        return Result(
            WORLD_VERSION,
            self.scenario.id,
            self.scenario.digest,
            self.seed,
            self.tick,
            len(at_risk) - deaths + in_care,
            len(at_risk),
            deaths,
            in_care,
            (self._delivered[0], self._needed[0]),
            (self._delivered[1], self._needed[1]),
            self.hash,
        )

    # --- a tick, part by part

    def _tell(self, kind: str, subject: str, text: str, *, known: bool = True, wakes: bool = True) -> None:
        self._changes.append(Event(self.tick, kind, subject, text, known, wakes and known))

    def _move(self) -> set[str]:
        """Every unit under way goes on for one tick. Returns those that came to where they were sent."""
        arrived: set[str] = set()
        for unit in self._units.values():
            if unit.route or unit.via:
                moved = self._moved(unit)
                self._units[unit.id] = moved
                if not moved.route and moved.target == unit.target:
                    arrived.add(unit.id)
                    where = f" for {moved.target}" if moved.target not in ("", moved.at) else ""
                    self._tell("arrived", unit.id, f"{unit.id} arrived at {moved.at}{where}")
        return arrived

    def _moved(self, unit: Unit) -> Unit:
        unit = self._loaded(unit)
        if not unit.route:
            return unit
        if not unit.left:
            road = self._road(unit.at, unit.route[0])
            if road.work:  # blocked since it was sent
                return self._stuck(unit)
            unit = replace(unit, left=road.ticks)
        unit = replace(unit, left=unit.left - 1)
        if unit.left:
            return unit
        unit = self._loaded(replace(unit, at=unit.route[0], route=unit.route[1:]))
        if unit.route and self._road(unit.at, unit.route[0]).work:
            return self._stuck(unit)
        return unit

    def _loaded(self, unit: Unit) -> Unit:
        """A truck that stands at its depot goes on to where its load is needed."""
        if unit.via != unit.at or unit.route:
            return unit
        found = self._way(unit, unit.target)
        return self._stranded(unit, unit.target) if found is None else replace(unit, via="", route=found)

    def _stuck(self, unit: Unit) -> Unit:
        """Before a blocked road: it goes another way, if there is one, and otherwise waits there for an order."""
        goal = unit.via or unit.route[-1]
        found = self._way(unit, goal)
        return self._stranded(unit, goal) if found is None else replace(unit, route=found)

    def _stranded(self, unit: Unit, goal: str) -> Unit:
        if unit.water or unit.shelter:
            self._change_stock(unit.depot, unit.water, unit.shelter)
        self._tell("stuck", unit.id, f"{unit.id} stands at {unit.at}: no open road to {goal}; it is idle")
        return replace(unit, target="", route=(), depot="", via="", water=0, shelter=0)

    def _work(self, arrived: set[str]) -> None:
        for unit in list(self._units.values()):
            if not unit.target or unit.route:
                continue
            if unit.kind == "crew":
                self._clear(unit, unit.id in arrived)
            elif unit.kind == "truck":
                self._unload(unit)
            elif unit.target in self._occupied:
                self._admit(unit, unit.id in arrived)
            elif self._incident_place(unit.target) == unit.at:
                if unit.kind == "rescue":
                    self._free(unit, unit.id in arrived)
                else:
                    self._load(unit)

    def _clear(self, unit: Unit, just_arrived: bool) -> None:
        road = self._roads[cast("Road", self.observe().road(unit.target)).name]
        if road.work and not just_arrived:
            road = replace(road, work=road.work - 1)
            self._roads[road.name] = road
            if not road.work:
                self._tell("road", road.name, f"the road {road.name} is open")
        if not road.work:
            self._release(unit)

    def _unload(self, unit: Unit) -> None:
        water, shelter = self._open_needs[unit.target]
        brought = min(unit.water, water), min(unit.shelter, shelter)
        self._open_needs[unit.target] = water - brought[0], shelter - brought[1]
        self._delivered = self._delivered[0] + brought[0], self._delivered[1] + brought[1]
        self._tell(
            "delivered", unit.target, f"{unit.id} brought {brought[0]} water, {brought[1]} shelter to {unit.target}"
        )
        self._release(replace(unit, depot="", water=0, shelter=0))

    def _admit(self, unit: Unit, just_arrived: bool) -> None:
        beds = next(place.beds for place in self.scenario.places if place.name == unit.target)
        aboard = self._by_urgency(unit.patients)
        taken = aboard[: beds - self._occupied[unit.target]]
        for person in taken:
            self._people[person.id] = replace(person, where=unit.target)
            self._occupied[unit.target] += 1
            self._tell("admitted", person.id, f"{person.id} is in care at {unit.target}", wakes=False)
        left = tuple(person.id for person in aboard[len(taken) :])
        unit = self._units[unit.id] = replace(unit, patients=left)
        if not left:
            self._release(unit)
        elif taken or just_arrived:
            self._tell("waiting", unit.id, f"{unit.id} waits with {', '.join(left)}: no free bed at {unit.target}")

    def _free(self, unit: Unit, just_arrived: bool) -> None:
        trapped = {person.id: person for person in self._there(unit.target) if person.trapped}
        if unit.person not in trapped:
            unit = self._next_person(unit, trapped)
        if unit.person and not just_arrived:
            unit = replace(unit, progress=unit.progress + 1)
        if unit.progress == FREEING:
            freed = trapped.pop(unit.person)
            self._people[freed.id] = replace(freed, trapped=False)
            self._tell("freed", freed.id, f"{unit.id} freed {freed.id} at {unit.target}", wakes=freed.at_risk)
            unit = self._next_person(unit, trapped)
        self._units[unit.id] = unit
        if not unit.person:
            self._release(unit)

    def _next_person(self, unit: Unit, trapped: Iterable[str]) -> Unit:
        """The team turns to the most urgent of the trapped people whom no other team is freeing."""
        taken = {each.person for each in self._units.values() if each.id != unit.id}
        ahead = self._by_urgency(person for person in trapped if person not in taken)
        return replace(unit, person=ahead[0].id if ahead else "", progress=0)

    def _load(self, unit: Unit) -> None:
        there = [person for person in self._there(unit.target) if person.at_risk]
        ready = self._by_urgency(person.id for person in there if not person.trapped)
        taken = ready[: CAPACITY - len(unit.patients)]
        for person in taken:
            self._people[person.id] = replace(person, where=unit.id)
            self._tell("loaded", person.id, f"{unit.id} took {person.id} aboard at {unit.target}", wakes=False)
        unit = self._units[unit.id] = replace(unit, patients=unit.patients + tuple(person.id for person in taken))
        if unit.patients or len(taken) == len(there):
            self._release(unit)

    def _release(self, unit: Unit) -> None:
        """The unit has done what it was sent for."""
        self._units[unit.id] = replace(unit, target="", person="", progress=0)
        where = f"on the road to {unit.route[0]}" if unit.left else f"at {unit.at}"
        self._tell("idle", unit.id, f"{unit.id} is idle {where}{self._aboard(unit)}")

    def _aboard(self, unit: Unit) -> str:
        return f" with {', '.join(unit.patients)} aboard" if unit.patients else ""

    def _decay(self) -> None:
        for person in self._people.values():
            if not person.alive or person.where in self._occupied:
                continue
            if person.where in self._units:
                loss = LOSS_ABOARD[person.triage]
            elif self._incident(person).tick < self.tick:
                loss = LOSS[person.triage] * (2 if person.trapped else 1)
            else:
                continue
            if not loss:
                continue
            weaker = replace(person, health=max(0, person.health - loss))
            self._people[person.id] = weaker
            if not weaker.alive:
                self._bury(weaker)

    def _bury(self, person: Person) -> None:
        unit = self._units.get(person.where)
        if unit:
            self._units[unit.id] = replace(unit, patients=tuple(each for each in unit.patients if each != person.id))
            if unit.target in self._occupied and len(unit.patients) == 1:
                self._close_for(self._units[unit.id], "")
        place = person.where if unit else self._incident(person).place
        reported = unit or person.where in {f"incident {number}" for number in self._incident_of.values()}
        witness = reported and (unit or any(each.at == place and not each.route for each in self._units.values()))
        self._tell("died", person.id, f"{person.id} died {'aboard' if unit else 'at'} {place}", known=bool(witness))

    def _shake(self) -> None:
        for tick, name, work in self.plan.shocks:
            if tick == self.tick and not self._roads[name].work:
                self._roads[name] = replace(self._roads[name], work=work)
                self._tell("road", name, f"the road {name} is blocked; clearing it takes a road crew {work} ticks")

    def _discharge(self) -> None:
        if self.tick % DISCHARGE:
            return
        for place in self.scenario.places:
            if self._occupied.get(place.name):
                full = self._occupied[place.name] == place.beds
                self._occupied[place.name] -= 1
                self._tell("bed", place.name, f"a bed is free again at {place.name}", wakes=full)

    def _hear(self) -> None:
        for report in self.plan.reports:
            if report.tick != self.tick:
                continue
            known = self._files.get(report.file)
            if known is None:
                known = File(report.file, report.place, self.tick, report.picture, report.picture is None)
                self._incident_of[report.file] = report.incident
            elif known.seen is None and not known.closed and report.picture:
                known = replace(known, told=report.picture, place=report.place, denied=False)
            else:
                known = replace(known, denied=known.denied or report.picture is None)
            self._files[report.file] = known
            self._tell("report", report.file, f"{report.file}: {report.text}")
        for need in self.plan.needs:
            if need.tick == self.tick:
                water, shelter = self._open_needs[need.place]
                self._open_needs[need.place] = water + need.water, shelter + need.shelter
                self._needed = self._needed[0] + need.water, self._needed[1] + need.shelter
                self._tell("need", need.place, f"{need.place} needs {need.water} water and {need.shelter} shelter")

    def _look(self) -> None:
        """Units on the spot see what is there: who, which files are one, which name the wrong place."""
        for place in sorted({unit.at for unit in self._units.values() if not unit.left and not unit.route}):
            for file in [file for file in self._files.values() if not file.closed]:
                real = self.plan.incidents[self._incident_of[file.id] - 1]
                if real.place == place:
                    self._see(replace(file, place=place), real.number)
                    if file.place != place and not self._files[file.id].closed:
                        self._redirect(self._files[file.id])
                elif file.place == place:
                    moved = self._files[file.id] = replace(file, place=real.place)
                    self._tell("seen", file.id, f"{file.id} is not at {place}: asked again, callers say {real.place}")
                    self._redirect(moved)
        for unit in list(self._units.values()):
            file = self._files.get(unit.target)
            if file and not file.closed and not unit.route and unit.at != file.place:
                self._release(unit)  # it came to where the file was when it was sent

    def _see(self, file: File, incident: int) -> None:
        first = next(ident for ident, number in self._incident_of.items() if number == incident)
        picture = Picture.of(self.tick, self._there(file.id))
        closed = ""
        if first != file.id:
            closed = f"the same as {first}"
        elif not picture.at_risk and not picture.trapped:
            closed = (
                "a false alarm" if not self.plan.incidents[incident - 1].people else "nobody there needs help any more"
            )
        self._files[file.id] = replace(file, seen=picture, closed=closed)
        if file.seen is None or closed:
            self._tell("seen", file.id, f"{file.id} at {file.place}: {closed or f'seen {picture}'}")
        if closed:
            for unit in [unit for unit in self._units.values() if unit.target == file.id]:
                self._close_for(unit, first if first != file.id else "")

    def _close_for(self, unit: Unit, instead: str) -> None:
        """A unit's file is closed: it takes the other one of the same incident, or is free."""
        if instead and not self._files[instead].closed:
            self._units[unit.id] = replace(unit, target=instead)
            self._redirect(self._files[instead])
            return
        self._units[unit.id] = replace(unit, route=unit.route[: 1 if unit.left else 0])
        self._release(self._units[unit.id])

    def _redirect(self, file: File) -> None:
        """Units that were sent to a file's wrong place go on to the right one, or are free if they stand there."""
        for unit in [unit for unit in self._units.values() if unit.target == file.id]:
            if not unit.route and unit.at == file.place:
                continue
            way = self.observe().route(unit, file.place) if unit.route else None
            if way is None:
                self._close_for(unit, "")
            else:
                self._units[unit.id] = replace(unit, route=way[1])

    # --- looking things up

    def _there(self, file: str) -> list[Person]:
        """Everybody alive at a file's incident."""
        where = f"incident {self._incident_of[file]}"
        return [person for person in self._people.values() if person.where == where and person.alive]

    def _by_urgency(self, people: Iterable[str]) -> list[Person]:
        found = [self._people[ident] for ident in people]
        return sorted(found, key=lambda person: (_URGENCY[person.triage], person.health, person.id))

    def _incident_place(self, file: str) -> str:
        return self.plan.incidents[self._incident_of[file] - 1].place

    def _incident(self, person: Person) -> Incident:
        return self.plan.incidents[int(person.where.removeprefix("incident ")) - 1]

    def _road(self, here: str, there: str) -> Road:
        return self._roads.get(f"{here}-{there}") or self._roads[f"{there}-{here}"]

    def _way(self, unit: Unit, place: str) -> tuple[str, ...] | None:
        found = self.observe().route(unit, place)
        return None if found is None else found[1]

    def _change_stock(self, depot: str, water: int, shelter: int) -> None:
        before = self._stock[depot]
        self._stock[depot] = before[0] + water, before[1] + shelter

    def _state_hash(self) -> str:
        """SHA-256 of all that the rules go by, one thing a line. Notes are not among it."""
        lines = [f"tick {self.tick}"]
        lines += [f"{p.id} {p.health} {p.trapped:d} {p.where}" for p in self._people.values()]
        lines += [
            f"{u.id} {u.at} {u.target}|{'>'.join(u.route)} {u.left} {u.person} {u.progress} {u.depot} {u.via}"
            f" {u.water} {u.shelter} {','.join(u.patients)}"
            for u in self._units.values()
        ]
        lines += [f"{road.name} {road.work}" for road in self._roads.values() if road.work]
        lines += [
            f"{f.id} {f.place} {f.opened} {f.denied:d} {f.told} {f.seen} {f.closed}" for f in self._files.values()
        ]
        lines += [f"{name} {number}" for name, number in self._occupied.items()]
        lines += [f"{name} {amounts}" for name, amounts in (*self._stock.items(), *self._open_needs.items())]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
