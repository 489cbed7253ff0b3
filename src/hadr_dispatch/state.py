"""The state message: what the model reads at each wake. What changed first, then the compact state.

It knows an observation alone. The map stands in the first message of a history, since it never changes.
"""

import re
from collections.abc import Iterator, Sequence

from hadr_agent.provider import Message
from hadr_dispatch.observation import WORDS, Event, File, Observation, Unit
from hadr_dispatch.scenario import CAPACITY, LOAD, Scenario

_CHANGED = "\n\nChanged:\n"


def _heading(seen: Observation) -> str:
    """The line by which a state message is known to be that of its tick: see `tick_of`."""
    return f"Tick {seen.tick} of {seen.scenario.ticks}, {clock(seen.scenario, seen.tick)}"


def tick_of(message: Message) -> int | None:
    """The tick that a state message is of, whatever stands before it; None for any other message."""
    before, changed, _ = str(message.get("content")).rpartition(_CHANGED)
    found = re.fullmatch(r"Tick (\d+) of \d+, [\d:]+", before.rpartition("\n")[2])
    return int(found[1]) if message["role"] == "user" and changed and found else None


def clock(scenario: Scenario, tick: int) -> str:
    """A tick as hours and minutes since the alarm."""
    hours, minutes = divmod(tick * scenario.minutes, 60)
    return f"{hours:02}:{minutes:02}"


def briefing(scenario: Scenario) -> str:
    """What never changes: the story, the map, the units. It stands once at the beginning of each history."""
    lines = [
        scenario.briefing.strip(),
        "",
        f"The operation lasts {scenario.ticks} ticks of {scenario.minutes} minutes.",
        "",
    ]
    lines += [
        "Places: "
        + ", ".join(f"{place.name}{_about(place.beds, place.water or place.shelter)}" for place in scenario.places)
    ]
    lines += ["Roads, with ticks: " + ", ".join(f"{road.name} ({road.ticks})" for road in scenario.roads)]
    lines += ["Units: " + ", ".join(f"{unit.id} ({WORDS[unit.kind]})" for unit in scenario.units)]
    carries = f"An ambulance carries {CAPACITY} patients."
    return "\n".join([*lines, f"{carries} A truck carries {LOAD}." if scenario.has_supplies else carries])


def _about(beds: int, depot: int) -> str:
    return f" (hospital, {beds} beds)" if beds else " (depot)" if depot else ""


def state_message(seen: Observation, changes: Sequence[Event]) -> str:
    """The message of a tick. `changes`: what became known since the last one."""
    changed = [f"- {change.text}" for change in changes] or ["- nothing"]
    parts = [_heading(seen) + _CHANGED + "\n".join(changed)]
    parts += ["", "Units:", *(f"- {_unit(seen, unit)}" for unit in seen.units)]
    still_open = [file for file in seen.files if not file.closed]
    parts += ["", "Open incidents:", *(f"- {_file(seen, file)}" for file in by_urgency(still_open))]
    parts += [] if still_open else ["- none"]
    beds = ", ".join(f"{each.name} {each.free} of {each.beds}" for each in seen.hospitals)
    blocked = ", ".join(f"{road.name} ({road.work} ticks of work)" for road in seen.roads if road.work)
    parts += ["", f"Free beds: {beds or 'none'}", f"Blocked roads: {blocked or 'none'}", *_supplies(seen)]
    return "\n".join(parts)


def by_urgency(files: Sequence[File]) -> list[File]:
    """The files with the most reds first, then yellows, then by their number."""
    return sorted(files, key=lambda file: (-file.believed.red, -file.believed.yellow, file.id))


def _unit(seen: Observation, unit: Unit) -> str:
    where = f"on the road to {unit.route[0]}" if unit.left else f"at {unit.at}"
    doing: str = unit.doing
    if doing == "moving":
        ticks = seen.ticks(unit, unit.route[-1])
        when = "" if ticks is None else f", arrives at tick {seen.tick + ticks}"
        why = "" if unit.route[-1] == unit.target else f" for {unit.target}"
        doing = f"moving to {unit.route[-1]}{why}{when}"
    elif unit.target:
        doing = f"{doing} ({unit.target})"
    load = f"; aboard: {', '.join(unit.patients)}" if unit.patients else ""
    load += f"; load: {unit.water} water, {unit.shelter} shelter" if unit.water or unit.shelter else ""
    return f"{unit.id} ({WORDS[unit.kind]}) {where}: {doing}{load}"


def _file(seen: Observation, file: File) -> str:
    told = f"seen at tick {file.seen.tick}: {file.seen}" if file.seen else f"told: {file.told or 'nothing certain'}"
    denied = "; denied by a caller" if file.denied else ""
    sent = [unit.id for unit in seen.assigned(file.id)]
    there = f"; assigned: {', '.join(sent)}" if sent else ""
    noted = f"; note: {file.note}" if file.note else ""
    return f"{file.id} at {file.place}, since tick {file.opened}, {told}{denied}{there}{noted}"


def _supplies(seen: Observation) -> Iterator[str]:
    if seen.scenario.has_supplies:
        needs = ", ".join(f"{need.place} {need.water} water, {need.shelter} shelter" for need in seen.needs) or "none"
        stock = ", ".join(f"{name} {water} water, {shelter} shelter" for name, water, shelter in seen.stock)
        yield from (f"In need: {needs}", f"In stock: {stock}")
