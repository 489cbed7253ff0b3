"""What an operation came to, for people and as JSON: score, timeline, decisions with their reasons, faults.

It reads a world and its log. What counts and what does not, `score` knows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from hadr_agent.display import printable
from hadr_dispatch.orders import Order, order_of
from hadr_dispatch.score import Outcome, marks_by_tick, score
from hadr_dispatch.state import clock
from hadr_dispatch.world import World

TOLD = ("report", "seen", "freed", "admitted", "died", "road", "stuck", "need", "delivered")
"""The kinds of events that a report tells."""


def as_text(world: World, outcome: Outcome) -> str:
    """The report as plain text, without control characters."""
    lines = [headline(world, outcome), "", "Timeline"]
    told = [event for event in world.events if event.kind in TOLD]
    lines += [f"  {clock(world.scenario, event.tick)}  {event.tick:>3}  {event.text}" for event in told]
    lines += ["", "Decisions", *_reasons(world), "", *figures(world, outcome), *asides(outcome)]
    return printable("\n".join(lines))


def as_document(world: World, outcome: Outcome) -> dict[str, object]:
    """The report as JSON, version 1: outcome, score, events and the log that replays it."""
    nothing, par = marks_by_tick(world.scenario, world.seed)[world.tick]
    return {
        "version": 1,
        "score": score(outcome.result.points, nothing, par),
        "nothing": nothing,
        "par": par,
        **asdict(outcome),
        "events": [asdict(event) for event in world.events],
        "log": list(world.log),
    }


@dataclass(frozen=True)
class Decision:
    """An order of a tick, and its answer: "accepted", or what it was refused for."""

    tick: int
    order: Order
    answer: str

    def __str__(self) -> str:
        order = self.order
        load = f"{order.water} water, {order.shelter} shelter" if order.kind == "send_supplies" else ""
        what = " ".join(filter(None, (order.kind, order.unit, order.target, load)))
        return what if self.answer == "accepted" else f"{what} [refused: {self.answer}]"


def decisions(world: World) -> Iterator[Decision]:
    """Everything that was ordered, in order."""
    for line in world.log[1:]:
        for told in cast("Sequence[Mapping[str, object]]", line["orders"]):
            order = order_of(cast("Mapping[str, object]", told["order"]))
            yield Decision(cast("int", line["tick"]) - 1, order, str(told["answer"]))


def _reasons(world: World) -> Iterator[str]:
    for each in decisions(world):
        why = f": {each.order.reason}" if each.order.reason else ""
        yield f"  {clock(world.scenario, each.tick)}  {each.tick:>3}  {each}{why}"


def headline(world: World, outcome: Outcome) -> str:
    """Which operation it was, whose, and how far it came."""
    return f"{world.scenario.id}, seed {world.seed}, {outcome.policy}: tick {world.tick} of {world.scenario.ticks}"


def figures(world: World, outcome: Outcome) -> Iterator[str]:
    """The score and what became of the people, a line each. One that stopped early is judged as at its tick."""
    result, so_far = outcome.result, "" if world.over else " so far"
    found = score(result.points, *marks_by_tick(world.scenario, world.seed)[world.tick])
    yield (
        f"No score{so_far}: par {'does' if world.over else 'has done'} no better here than doing nothing."
        if found is None
        else f"Score{so_far} {found:.0f} (0 is doing nothing, 100 is par)"
    )
    yield f"{result.deaths} of {result.at_risk} people at risk died, {result.in_care} are in care"
    if world.scenario.has_supplies:
        (water, thirst), (shelter, cold) = result.water, result.shelter
        yield f"Supplies: {water} of {thirst} water, {shelter} of {cold} shelter delivered"


def asides(outcome: Outcome) -> Iterator[str]:
    """What is no part of the score, a line each: the faults, and what the model's part took."""
    faults, effort = outcome.faults, outcome.effort
    yield f"Faults: {faults.refused} refused, {faults.duplicate} duplicate, {faults.idle} ticks idle while wanted"
    if effort.wakes:
        usage = effort.usage
        yield (
            f"Model: {effort.wakes} wakes, {effort.rounds} rounds; {effort.capped} wakes used up all their rounds, "
            f"in {effort.failed} the provider failed"
        )
        if usage.prompt_tokens is not None:
            cached = "cached not reported" if usage.cached_tokens is None else f"{usage.cached_tokens:,} of them cached"
            yield f"Tokens: {usage.prompt_tokens:,} prompt, {cached}{_again(outcome)}"


def _again(outcome: Outcome) -> str:
    cached, resent = outcome.effort.usage.cached_tokens, outcome.effort.resent
    return f"; of what was sent again, {min(cached / resent, 1):.1%}" if cached is not None and resent else ""
