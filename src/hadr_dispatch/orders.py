"""Orders, and whether they can be carried out: one verdict, for the tools and for the world.

It decides by an observation alone, so that a refusal never tells what a dispatcher cannot know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from hadr_dispatch.observation import WORDS, File, Observation, Unit, blocked_on_the_way
from hadr_dispatch.scenario import CAPACITY, LOAD

Refusal = Literal[
    "unknown unit",
    "busy",
    "wrong kind",
    "no such target",
    "no open road",
    "nothing to do there",
    "nothing to recall",
    "no reason",
    "not in stock",
    "too much for one truck",
]
REFUSALS: tuple[Refusal, ...] = get_args(Refusal)
"""Everything that an order can be refused for."""


@dataclass(frozen=True)
class Order:
    """What a dispatcher wants. target: a file, a road or a hospital; for a note, a file; for supplies, a place."""

    kind: Literal["assign", "recall", "send_supplies", "note"]
    unit: str = ""
    target: str = ""
    reason: str = ""
    water: int = 0
    shelter: int = 0


def order_of(told: Mapping[str, object]) -> Order:
    """The order that `asdict` made an object of."""
    return Order(**cast("dict[str, Any]", told))


@dataclass(frozen=True)
class Answer:
    """What became of an order: a refusal from the list, or None; and the text that says so and what would work.

    route: where an accepted order sends the unit.
    """

    text: str
    refusal: Refusal | None = None
    route: tuple[str, ...] = ()
    via: str = ""

    @property
    def accepted(self) -> bool:
        return self.refusal is None


def verdict(seen: Observation, order: Order) -> Answer:
    """Can this be done now? Changes nothing."""
    if order.kind == "note":
        if seen.file(order.target) is None:
            return _refused("no such target", f"{order.target!r} is no incident; {_open_files(seen)}")
        return Answer(f"noted at {order.target}")
    unit = seen.unit(order.unit)
    if unit is None:
        return _refused("unknown unit", f"{order.unit!r}; there are {', '.join(unit.id for unit in seen.units)}")
    if order.kind == "recall":
        if not unit.target:
            return _refused("nothing to recall", f"{unit.id} is idle at {unit.at} and can be assigned")
        stop = unit.route[0] if unit.left else unit.at
        return Answer(f"accepted: {unit.id} is recalled and idle at {stop}", route=unit.route[: 1 if unit.left else 0])
    if not order.reason.strip():
        return _refused("no reason", "say in one sentence why")
    if unit.doing in ("moving", "working"):
        others = [each.id for each in seen.units if each.kind == unit.kind and each.doing in ("idle", "waiting")]
        free = f"idle: {', '.join(others)}" if others else f"no other {WORDS[unit.kind]} is idle"
        return _refused("busy", f"{unit.id} is {unit.doing} ({unit.target}); {free}; recall({unit.id}) would free it")
    return _supplies(seen, unit, order) if order.kind == "send_supplies" else _assign(seen, unit, order)


def _assign(seen: Observation, unit: Unit, order: Order) -> Answer:
    file, road = seen.file(order.target), seen.road(order.target)
    hospital = next((each for each in seen.hospitals if each.name == order.target), None)
    target = road.name if road else order.target
    fits = {"rescue": file, "ambulance": file or hospital, "crew": road, "truck": None}[unit.kind]
    if file is None and road is None and hospital is None:
        blocked = ", ".join(each.name for each in seen.roads if each.work) or "none"
        where = f"{_open_files(seen)}; hospitals: {', '.join(each.name for each in seen.hospitals)}; blocked: {blocked}"
        return _refused("no such target", f"{order.target!r}; {where}")
    if fits is None:
        takes = {
            "rescue": "an incident with trapped people",
            "ambulance": "an incident or, with patients aboard, a hospital",
            "crew": "a blocked road",
            "truck": "supplies, by send_supplies",
        }[unit.kind]
        return _refused("wrong kind", f"{unit.id} is a {WORDS[unit.kind]} and takes {takes}")
    if problem := _pointless(unit, file if fits is file else None, seen, target):
        return _refused("nothing to do there", problem)
    places = [file.place] if file and fits is file else list(road.between) if road and fits is road else [order.target]
    ways = [(found, place) for place in places if (found := seen.route(unit, place)) is not None]
    if not ways:
        return no_road(seen, unit, places[0])
    (ticks, route), place = min(ways)
    if not ticks and fits is file and file and file.seen is None:
        return Answer(f"accepted: {unit.id} looks around at {place} for {order.target}")
    when = f"arrives at tick {seen.tick + ticks}" if ticks else "begins at once"
    why = "" if place == order.target else f" for {order.target}"
    return Answer(f"accepted: {unit.id} goes to {place}{why}, {when}", route=route)


def _pointless(unit: Unit, file: File | None, seen: Observation, target: str) -> str | None:
    """Why there is nothing to do for this unit, as far as is known; None if there is something."""
    if unit.target == target:
        return f"{unit.id} is there for {target} already"
    if unit.kind == "crew":
        road = seen.road(target)
        blocked = ", ".join(each.name for each in seen.roads if each.work) or "none"
        return None if road and road.work else f"{target} is open; blocked: {blocked}"
    if file is None:
        aboard = bool(unit.patients)
        return None if aboard else f"{unit.id} has no patients for {target}; {_open_files(seen)}"
    if file.closed:
        return f"{file.id} is closed: {file.closed}; {_open_files(seen)}"
    if unit.kind == "ambulance" and len(unit.patients) == CAPACITY:
        return f"{unit.id} is full; bring its patients to a hospital"
    if file.seen is None:
        return None
    if unit.kind == "rescue" and not file.seen.trapped:
        return f"nobody was trapped at {file.id} when it was seen at tick {file.seen.tick}"
    if unit.kind == "ambulance":
        loadable = file.seen.at_risk - file.seen.trapped_red - file.seen.trapped_yellow
        if not file.seen.at_risk:
            return f"nobody at {file.id} needed a hospital when it was seen at tick {file.seen.tick}"
        if unit.patients and unit.at == file.place and not unit.left and not loadable:
            return f"the others at {file.id} are still trapped; bring the patients aboard to a hospital"
    return None


def _supplies(seen: Observation, unit: Unit, order: Order) -> Answer:
    if unit.kind != "truck":
        trucks = ", ".join(each.id for each in seen.units if each.kind == "truck")
        return _refused("wrong kind", f"{unit.id} is a {WORDS[unit.kind]}; trucks: {trucks or 'none'}")
    open_needs = [need for need in seen.needs if need.water or need.shelter]
    known = ", ".join(f"{need.place} ({need.water} water, {need.shelter} shelter)" for need in open_needs) or "none"
    if order.target not in [place.name for place in seen.scenario.places]:
        return _refused("no such target", f"{order.target!r} is no place; open needs: {known}")
    need = next((each for each in open_needs if each.place == order.target), None)
    if need is None or order.water + order.shelter < 1 or min(order.water, order.shelter) < 0:
        return _refused("nothing to do there", f"open needs: {known}")
    if order.water + order.shelter > LOAD:
        return _refused("too much for one truck", f"it carries {LOAD}, water and shelter together")
    depots = [
        (first[0] + last[0], first[1], name)
        for name, water, shelter in seen.stock
        if water >= order.water
        and shelter >= order.shelter
        and (first := seen.route(unit, name)) is not None
        and (last := seen.route(Unit("", "truck", name), order.target)) is not None
    ]
    if not depots:
        stock = ", ".join(f"{name} has {water} water, {shelter} shelter" for name, water, shelter in seen.stock)
        if all(water < order.water or shelter < order.shelter for _, water, shelter in seen.stock):
            return _refused("not in stock", stock)
        return no_road(seen, unit, order.target)
    ticks, route, depot = min(depots)
    text = f"accepted: {unit.id} loads at {depot} and arrives at {order.target} at tick {seen.tick + ticks}"
    return Answer(text, route=route, via=depot)


def no_road(seen: Observation, unit: Unit, place: str) -> Answer:
    """The refusal for want of an open road, with the blocked ones on the way."""
    start = unit.route[0] if unit.left else unit.at
    blocked = list(blocked_on_the_way(seen, unit, place))
    if not blocked:
        return _refused("no open road", f"from {start} to {place}; no road leads there at all")
    named = ", ".join(f"{road.name} ({road.work} ticks of work)" for road in blocked)
    crews = [each.id for each in seen.units if each.kind == "crew"]
    clear = f"; {crews[0]} could clear it" if crews else ""
    return _refused("no open road", f"from {start} to {place}; blocked on the way: {named}{clear}")


def after(seen: Observation, order: Order, answer: Answer) -> Observation:
    """The observation after an accepted order: its unit is on its way, with its patients still aboard."""
    if order.kind == "note":
        files = tuple(replace(file, note=order.reason) if file.id == order.target else file for file in seen.files)
        return replace(seen, files=files)
    stock = {name: (water, shelter) for name, water, shelter in seen.stock}
    units: list[Unit] = []
    for unit in seen.units:
        if unit.id == order.unit:
            if unit.water or unit.shelter:  # what it was to deliver goes back
                _put(stock, unit.depot, unit.water, unit.shelter)
            if answer.via:
                _put(stock, answer.via, -order.water, -order.shelter)
            road = seen.road(order.target) if order.kind == "assign" else None
            target = "" if order.kind == "recall" else road.name if road else order.target
            load = (order.water, order.shelter) if order.kind == "send_supplies" else (0, 0)
            unit = replace(unit, target=target, route=answer.route, person="", progress=0, water=load[0])
            unit = replace(unit, shelter=load[1], depot=answer.via, via=answer.via)
        units.append(unit)
    return replace(seen, units=tuple(units), stock=tuple((name, *amounts) for name, amounts in stock.items()))


def _put(stock: dict[str, tuple[int, int]], depot: str, water: int, shelter: int) -> None:
    stock[depot] = stock[depot][0] + water, stock[depot][1] + shelter


def _open_files(seen: Observation) -> str:
    return f"open incidents: {', '.join(file.id for file in seen.files if not file.closed) or 'none'}"


def _refused(refusal: Refusal, text: str) -> Answer:
    return Answer(f"refused: {refusal}: {text}", refusal)
