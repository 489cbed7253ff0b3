"""Rules that dispatch without a model: the two ends of the scale, and marks to measure others against.

A policy sees an observation and gives orders. It knows what a dispatcher knows, and no more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from hadr_dispatch.observation import File, Observation, Unit
from hadr_dispatch.orders import Order
from hadr_dispatch.plan import HEALTH, Draw
from hadr_dispatch.scenario import CAPACITY, LOAD, NeedSpec, Road, Scenario, Triage
from hadr_dispatch.world import FREEING, LOSS, World

Policy = Callable[[Observation], Sequence[Order]]


def idle(seen: Observation) -> Sequence[Order]:
    """Does nothing: 0 on the scale."""
    return ()


def par(seen: Observation) -> Sequence[Order]:
    """The closest idle unit of the right kind, one for each incident; the road crew to the nearest blockage: 100."""
    pairs = [
        (ticks, unit.id, target)
        for unit in seen.units
        if unit.doing == "idle"
        for target, place in _targets(seen, unit)
        if (ticks := seen.ticks(unit, place)) is not None
        and not (target in _files(seen) and any(each.kind == unit.kind for each in seen.assigned(target)))
    ]
    orders: list[Order] = []
    for _, unit, target in sorted(pairs):
        kind = next(each.kind for each in seen.units if each.id == unit)
        taken = [(order.unit, order.target, next(e.kind for e in seen.units if e.id == order.unit)) for order in orders]
        if all(unit != who and (target != what or kind != of) for who, what, of in taken):
            orders.append(Order("assign", unit, target, "closest"))
    return [*orders, *_supplies(seen)]


def _files(seen: Observation) -> set[str]:
    return {file.id for file in seen.files}


def _targets(seen: Observation, unit: Unit) -> Iterator[tuple[str, str]]:
    """(target, place) of everything that this unit may be sent to."""
    if unit.kind == "crew":
        yield from ((road.name, place) for road in seen.roads if road.work for place in road.between)
    elif unit.patients:
        yield from ((hospital.name, hospital.name) for hospital in seen.hospitals)
    else:
        for file in seen.files:
            wanted = file.believed.trapped if unit.kind == "rescue" else file.believed.at_risk
            if wanted and not file.closed and unit.kind != "truck":
                yield file.id, file.place


def _supplies(seen: Observation) -> Iterator[Order]:
    """Idle trucks bring a full load to the nearest place in need that no truck is on its way to."""
    taken = {unit.target for unit in seen.units if unit.kind == "truck"}
    for unit in seen.units:
        if unit.kind != "truck" or unit.doing != "idle":
            continue
        options = [load for need in seen.needs if need.place not in taken for load in loads(seen, unit, need)]
        if options:
            _, place, water, shelter = min(options)
            taken.add(place)
            yield Order("send_supplies", unit.id, place, "in need", water, shelter)


def loads(seen: Observation, unit: Unit, need: NeedSpec) -> Iterator[tuple[int, str, int, int]]:
    """(ticks, place, water, shelter) of what the truck could bring there from each depot."""
    for depot, in_stock, shelters in seen.stock:
        first, last = seen.ticks(unit, depot), seen.ticks(Unit("", "truck", depot), need.place)
        water = min(need.water, LOAD, in_stock)
        shelter = min(need.shelter, LOAD - water, shelters)
        if first is not None and last is not None and water + shelter:
            yield first + last, need.place, water, shelter


@dataclass(frozen=True)
class Weights:
    """What `triage` goes by: the worth of a red and of a yellow, and a few guesses, all in whole numbers.

    pick_up: ticks between a red being freed and an ambulance. walk: worth of a tick on the road against one of work.
    far: ticks that a place without an open road counts as. second: hundredths that a further unit at a place is worth.
    denied: hundredths that a denied file is worth. unseen: the same for a file nobody has seen.
    """

    red: int = 200
    yellow: int = 100
    pick_up: int = 4
    walk: int = 100
    far: int = 14
    second: int = 30
    denied: int = 50
    unseen: int = 80

    def of(self, triage: Triage) -> int:
        """The worth of somebody at risk."""
        return self.red if triage == "red" else self.yellow


WEIGHTS = Weights()


def triage(seen: Observation, weights: Weights = WEIGHTS) -> Sequence[Order]:
    """Sends each idle unit where most lives are at stake for each tick it takes; beds and roads are weighed too."""
    orders: list[Order] = list(_turned_away(seen))
    crew_idle = any(unit.kind == "crew" and unit.doing == "idle" for unit in seen.units)
    saved = {road.name: _saved(seen, road, weights) for road in seen.roads if road.work and crew_idle}
    while True:
        busy = {order.unit: order.target for order in orders if order.kind == "assign"}
        options = [
            (worth, unit.id, target)
            for unit in seen.units
            if unit.doing == "idle" and unit.id not in busy
            for target, _ in _targets(seen, unit)
            if (worth := _worth(seen, unit, target, busy, saved, weights)) > 0
        ]
        if not options:
            return [*orders, *_supplies(seen)]
        _, unit, target = max(options)
        file = seen.file(target)
        why = (
            f"{file.believed} at {file.place}" if file else "patients aboard" if seen.road(target) is None else "reach"
        )
        orders.append(Order("assign", unit, target, f"most at stake for each tick: {why}"))


def _turned_away(seen: Observation) -> Iterator[Order]:
    """Teams that free people who can wait, while elsewhere somebody cannot, are recalled."""
    waiting = [
        file
        for file in seen.files
        if not file.closed and file.believed.trapped_red + file.believed.trapped_yellow and not seen.assigned(file.id)
    ]
    for unit in seen.units:
        file = seen.file(unit.target)
        is_working = unit.kind == "rescue" and unit.doing == "working"
        if is_working and waiting and file and file.seen and not file.seen.trapped_red + file.seen.trapped_yellow:
            yield Order("recall", unit.id, reason="only people who can wait are trapped here")


def _worth(
    seen: Observation, unit: Unit, target: str, busy: Mapping[str, str], saved: Mapping[str, int], weights: Weights
) -> int:
    """Hundredths of a life for each tick that the unit is bound, if it is sent there now; 0: not worth it."""
    if unit.kind == "crew":
        return _road_worth(seen, unit, target, saved)
    file = seen.file(target)
    if file is None:
        return _bed_worth(seen, unit, target, busy)
    ticks = seen.ticks(unit, file.place)
    if ticks is None:
        return 0
    mates = sum(each.kind == unit.kind and (busy.get(each.id) or each.target) == target for each in seen.units)
    lives, work = (_freed if unit.kind == "rescue" else _carried)(seen, file, ticks, mates, weights)
    share = 100 if file.seen else weights.denied if file.denied else weights.unseen
    share = share * (weights.second if mates else 100) // 100
    return lives * share // max(1, ticks * weights.walk + work * 100)


def _freed(seen: Observation, file: File, ticks: int, mates: int, weights: Weights) -> tuple[int, int]:
    """(hundredths of lives, ticks of work) of freeing the people of a file, the most urgent first."""
    lives, done = 0, FREEING * mates
    for colour, _, trapped in file.believed.groups[:2]:
        for _ in range(trapped):
            age = seen.tick - file.opened + ticks + done + FREEING
            left = HEALTH[colour] - 2 * LOSS[colour] * age
            if left <= 0:
                continue  # too late for this one, and so no work either
            done += FREEING
            lives += weights.of(colour) * min(left, LOSS[colour] * weights.pick_up) // (LOSS[colour] * weights.pick_up)
    return lives * 100, max(1, done - FREEING * mates)


def _carried(seen: Observation, file: File, ticks: int, mates: int, weights: Weights) -> tuple[int, int]:
    """(hundredths of lives, ticks to a free bed) of bringing people to the nearest hospital."""
    start = Unit("", "ambulance", file.place)
    way = min((found for each in seen.hospitals if (found := seen.ticks(start, each.name)) is not None), default=None)
    if way is None:
        return 0, 1
    age = seen.tick - file.opened + ticks
    teams = any(each.kind == "rescue" for each in seen.assigned(file.id))
    lives, seats = 0, CAPACITY * (1 + mates)
    for colour, count, trapped in file.believed.groups[:2]:
        for number in range(count):
            caught = number >= count - trapped
            alive = HEALTH[colour] - LOSS[colour] * age * (2 if caught else 1) > 0
            if seats and alive and (teams or not caught):
                seats -= 1
                lives += weights.of(colour) if seats < CAPACITY else 0
    return lives * 100, way + 1


def _bed_worth(seen: Observation, unit: Unit, hospital: str, busy: Mapping[str, str]) -> int:
    ticks = seen.ticks(unit, hospital)
    if ticks is None:
        return 0
    free = next(each.free for each in seen.hospitals if each.name == hospital)
    coming = sum(
        len(each.patients)
        for each in seen.units
        if (busy.get(each.id) or each.target) == hospital and each.id != unit.id
    )
    short = max(0, len(unit.patients) + coming - free)
    return 100_000 // (1 + ticks + 4 * short)


def _road_worth(seen: Observation, unit: Unit, name: str, saved: Mapping[str, int]) -> int:
    """What opening a road saves for each tick of the way there and of work."""
    road = seen.road(name)
    ways = [ticks for place in road.between if (ticks := seen.ticks(unit, place)) is not None] if road else []
    return saved[name] * 100 // (min(ways) + road.work) if road and ways else 0


def _saved(seen: Observation, road: Road, weights: Weights) -> int:
    """What opening the road saves everybody who waits, in ticks to the nearest hospital."""
    opened = replace(seen, roads=tuple(replace(each, work=0) if each == road else each for each in seen.roads))
    saved = 1
    for place in seen.scenario.places:
        there = [file.believed for file in seen.files if file.place == place.name and not file.closed]
        waiting = sum(weights.red * each.red + weights.yellow * each.yellow for each in there) + 20
        saved += waiting * (_reach(seen, place.name, weights) - _reach(opened, place.name, weights))
    return saved


def _reach(seen: Observation, place: str, weights: Weights) -> int:
    # from the hospitals: roads take as long both ways, and there are fewer of them than of places
    ways = [seen.ticks(Unit("", "ambulance", hospital.name), place) for hospital in seen.hospitals]
    return sum(weights.far if ticks is None else ticks for ticks in ways)


def random_orders(seed: int, seen: Observation) -> Sequence[Order]:
    """One order a tick, drawn from all that can be written down: any unit, any target, sensible or not."""
    draw = Draw("random", seed, seen.tick)
    unit = draw.choice(seen.units)
    targets = [*_files(seen), *(each.name for each in seen.hospitals), *(road.name for road in seen.roads)]
    if draw.one_in(10):
        return [Order("recall", unit.id)]
    return [Order("assign", unit.id, draw.choice(sorted(targets)), "drawn")]


def without_crew(seen: Observation) -> Sequence[Order]:
    """Par, but the road crew is never used: what clearing roads is worth."""
    crews = {unit.id for unit in seen.units if unit.kind == "crew"}
    return [order for order in par(seen) if order.unit not in crews]


def play(world: World, policy: Policy) -> World:
    """Let a policy dispatch until the operation is over."""
    while not world.over:
        for order in policy(world.observe()):
            world.apply(order)
        world.next_tick(world.tick)
    return world


TRIES = 40
"""How many perturbed rules `best` tries for each seed."""


def best(scenario: Scenario, seed: int) -> World:
    """The best of many perturbed rules on this very seed: no policy, and no optimum, but a mark that can be reached."""
    found = play(World.start(scenario, seed), triage)
    for number in range(1, TRIES):
        draw = Draw("search", number)
        around = {name: value * (25 + draw.below(300)) // 100 for name, value in vars(WEIGHTS).items()}
        tried = play(World.start(scenario, seed), partial(triage, weights=Weights(**around)))
        found = max(found, tried, key=lambda world: world.result().points)
    return found


RULES: Mapping[str, Callable[[Scenario, int], World]] = {
    "idle": lambda scenario, seed: play(World.start(scenario, seed), idle),
    "random": lambda scenario, seed: play(World.start(scenario, seed), partial(random_orders, seed)),
    "par": lambda scenario, seed: play(World.start(scenario, seed), par),
    "no-crew": lambda scenario, seed: play(World.start(scenario, seed), without_crew),
    "triage": lambda scenario, seed: play(World.start(scenario, seed), triage),
    "best": best,
}
"""Each rule by its name: it plays a scenario with a seed to the end."""
