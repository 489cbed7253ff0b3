"""What an operation came to, for people and as JSON: score, timeline, decisions with their reasons, faults.

It reads a world and its log. What counts and what does not, `score` knows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import cast

from hadr_agent.display import printable
from hadr_dispatch.score import Outcome, marks, score
from hadr_dispatch.state import clock
from hadr_dispatch.world import World

_TOLD = ("report", "seen", "freed", "admitted", "died", "road", "stuck", "need", "delivered")


def as_text(world: World, outcome: Outcome) -> str:
    """The report as plain text, without control characters."""
    result = outcome.result
    head = f"{result.scenario}, seed {result.seed}, {outcome.policy}: tick {result.tick} of {world.scenario.ticks}"
    lines = [head, "", "Timeline"]
    told = [event for event in world.events if event.kind in _TOLD]
    lines += [f"  {clock(world.scenario, event.tick)}  {event.tick:>3}  {event.text}" for event in told]
    lines += ["", "Decisions", *(f"  {decision}" for decision in _decisions(world)), "", *_figures(world, outcome)]
    return printable("\n".join(lines))


def as_document(world: World, outcome: Outcome) -> dict[str, object]:
    """The report as JSON, version 1: outcome, score, events and the log that replays it."""
    nothing, par = marks(world.scenario, world.seed)
    return {
        "version": 1,
        "score": score(outcome.result.points, nothing, par),
        "nothing": nothing,
        "par": par,
        **asdict(outcome),
        "events": [asdict(event) for event in world.events],
        "log": list(world.log),
    }


def _decisions(world: World) -> Iterator[str]:
    for line in world.log[1:]:
        tick = cast("int", line["tick"]) - 1
        for told in cast("Sequence[Mapping[str, object]]", line["orders"]):
            order = cast("Mapping[str, object]", told["order"])
            what = " ".join(str(order[name]) for name in ("kind", "unit", "target") if order[name])
            answer = "" if told["answer"] == "accepted" else f" [refused: {told['answer']}]"
            why = f": {order['reason']}" if order["reason"] else ""
            yield f"{clock(world.scenario, tick)}  {tick:>3}  {what}{answer}{why}"


def _figures(world: World, outcome: Outcome) -> Iterator[str]:
    result, faults, effort = outcome.result, outcome.faults, outcome.effort
    found = score(result.points, *marks(world.scenario, world.seed))
    yield (
        "No score: par does no better here than doing nothing."
        if found is None
        else (f"Score {found:.0f} (0 is doing nothing, 100 is par)")
    )
    yield f"{result.deaths} of {result.at_risk} people at risk died, {result.in_care} are in care"
    if world.scenario.has_supplies:
        (water, thirst), (shelter, cold) = result.water, result.shelter
        yield f"Supplies: {water} of {thirst} water, {shelter} of {cold} shelter delivered"
    yield f"Faults: {faults.refused} refused, {faults.duplicate} duplicate, {faults.idle} ticks idle while wanted"
    if effort.wakes:
        usage = effort.usage
        yield f"Model: {effort.wakes} wakes, {effort.rounds} rounds, {effort.capped} wakes at the cap"
        if usage.prompt_tokens is not None:
            cached = "cached not reported" if usage.cached_tokens is None else f"{usage.cached_tokens:,} of them cached"
            yield f"Tokens: {usage.prompt_tokens:,} prompt, {cached}{_again(outcome)}"


def _again(outcome: Outcome) -> str:
    cached, resent = outcome.effort.usage.cached_tokens, outcome.effort.resent
    return f"; of what was sent again, {min(cached / resent, 1):.1%}" if cached is not None and resent else ""
