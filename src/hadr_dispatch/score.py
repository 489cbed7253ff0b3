"""What an operation came to: the score on the scale from doing nothing to par, and beside it what went wrong.

It reads a world's log and its state, never what somebody says they did.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from hadr_agent.provider import Usage
from hadr_dispatch.observation import Observation, Unit
from hadr_dispatch.orders import Order, order_of, verdict
from hadr_dispatch.plan import Picture
from hadr_dispatch.policies import RULES, loads
from hadr_dispatch.scenario import Kind, Scenario
from hadr_dispatch.world import Result, World


@dataclass(frozen=True)
class Faults:
    """What to mend, never part of the score.

    refused: orders. duplicate: units sent to an incident or a road to which one of their kind was sent already. idle:
    ticks that units stood idle, summed over the units, while people at risk were believed to need one of their kind, a
    road was blocked or a place in need, they could get there, and nobody of their kind had been sent.
    """

    refused: int
    duplicate: int
    idle: int


@dataclass(frozen=True)
class Effort:
    """What the model's part took. wakes: how often it was asked. capped: wakes that used up all rounds. failed: wakes
    in which the provider failed.

    resent: tokens of what an earlier request or its reply had held already; of these, `usage.cached_tokens` were
    served from the provider's cache. None: not reported.
    """

    wakes: int = 0
    rounds: int = 0
    capped: int = 0
    failed: int = 0
    usage: Usage = field(default_factory=Usage)
    resent: int | None = None


@dataclass(frozen=True)
class Outcome:
    """One operation of one policy, from its beginning to where it stands."""

    policy: str
    result: Result
    faults: Faults
    effort: Effort = field(default_factory=Effort)


def score(points: int, nothing: int, par: int) -> float | None:
    """100 for the points of par, 0 for those of doing nothing; None where par does no better than that."""
    return 100 * (points - nothing) / (par - nothing) if par > nothing else None


@lru_cache(maxsize=10_000)
def marks(scenario: Scenario, seed: int) -> tuple[int, int]:
    """The points of doing nothing and of par."""
    return RULES["idle"](scenario, seed).result().points, RULES["par"](scenario, seed).result().points


@lru_cache(maxsize=1)
def marks_by_tick(scenario: Scenario, seed: int) -> Sequence[tuple[int, int]]:
    """The points that doing nothing and par have at each tick."""
    nothing, par = (World.retrace(scenario, RULES[name](scenario, seed).log) for name in ("idle", "par"))
    return [(one.result().points, other.result().points) for one, other in zip(nothing, par, strict=True)]


def outcome(policy: str, world: World, effort: Effort | None = None) -> Outcome:
    """What a world has come to."""
    return Outcome(policy, world.result(), faults(world.scenario, world.log), effort or Effort())


def faults(scenario: Scenario, log: Sequence[Mapping[str, object]]) -> Faults:
    """Count the faults of a log, by playing it again."""
    world = World.start(scenario, cast("int", log[0]["seed"]))
    refused = duplicate = idle = 0
    for line in log[1:]:
        for told in cast("Sequence[Mapping[str, object]]", line["orders"]):
            order = order_of(cast("Mapping[str, object]", told["order"]))
            seen = world.observe()
            unit = seen.unit(order.unit)
            accepted = world.apply(order).accepted
            refused += not accepted
            if accepted and unit and order.kind == "assign" and (seen.file(order.target) or unit.kind == "crew"):
                duplicate += any(each.kind == unit.kind for each in seen.assigned(order.target))
        seen = world.observe()
        idle += sum(_is_wanted(seen, unit) for unit in seen.units if unit.doing == "idle")
        world.next_tick(world.tick)
    return Faults(refused, duplicate, idle)


def _is_wanted(seen: Observation, unit: Unit) -> bool:
    """Is there something that an idle unit could do, and nobody of its kind does? By what is believed."""
    if unit.patients:
        return any(seen.ticks(unit, hospital.name) is not None for hospital in seen.hospitals)
    return any(all(each.kind != unit.kind for each in seen.assigned(target)) for target in _tasks(seen, unit))


def _tasks(seen: Observation, unit: Unit) -> Iterator[str]:
    """The targets where an idle unit without patients could do something now."""
    if unit.kind == "truck":
        yield from (need.place for need in seen.needs if any(loads(seen, unit, need)))
    else:
        files = (file.id for file in seen.files if not file.closed and _needs(file.believed, unit.kind))
        targets = (road.name for road in seen.roads if road.work) if unit.kind == "crew" else files
        yield from (each for each in targets if verdict(seen, Order("assign", unit.id, each, "?")).accepted)


def _needs(believed: Picture, kind: Kind) -> bool:
    """Do people at risk need a unit of this kind there?"""
    trapped = believed.trapped_red + believed.trapped_yellow
    return bool(trapped if kind == "rescue" else believed.at_risk - trapped)
