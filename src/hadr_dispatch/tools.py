"""The dispatcher's tools. They work on a desk: a copy of what is known, and the orders given so far.

None of them holds the world, and none can let time pass: the runner carries the orders out, and it alone has the clock.
"""

import textwrap
from typing import Annotated

from hadr_agent.tools import Toolbox, tool
from hadr_dispatch.observation import Observation
from hadr_dispatch.orders import Order, after, no_road, verdict

ANSWERS = ("accepted", "refused", "noted")
"""How the desk's answers begin."""

_LONGEST = 500  # characters of a note or a reason


class Desk:
    """What the tools see and change during one wake: an observation, and the orders that it answered, in order."""

    def __init__(self, seen: Observation) -> None:
        self.look(seen)

    def look(self, seen: Observation) -> None:
        """A new tick: what is known now, and no orders yet."""
        self.seen = seen
        self.orders: list[Order] = []

    def give(self, order: Order) -> str:
        """Accept the order or refuse it, by what is known. The answer's text says which, and what would work."""
        answer = verdict(self.seen, order)
        self.orders.append(order)
        if answer.accepted:
            self.seen = after(self.seen, order, answer)
        return answer.text


def dispatch_tools(desk: Desk) -> Toolbox:
    """The tools of an operation; `send_supplies` only where there is something to supply."""

    @tool
    def travel_time(
        unit: Annotated[str, "a unit's id, such as R1"], place: Annotated[str, "a place's name, as on the map"]
    ) -> str:
        """How many ticks a unit needs to a place by open roads."""
        found = desk.seen.unit(unit)
        if found is None:
            return f"refused: unknown unit: {unit!r}; there are {', '.join(each.id for each in desk.seen.units)}"
        names = [each.name for each in desk.seen.scenario.places]
        if place not in names:
            return f"refused: no such target: {place!r} is no place; there are {', '.join(names)}"
        way = desk.seen.route(found, place)
        if way is None:
            return no_road(desk.seen, found, place).text
        by = f", by {', '.join(way[1])}" if len(way[1]) > 1 else ""
        return f"{way[0]} ticks{by}: {unit} would arrive at tick {desk.seen.tick + way[0]}"

    @tool
    def assign(
        unit: Annotated[str, "a unit's id, such as R1"],
        target: Annotated[str, "an incident (I03), for a road crew a blocked road, for patients aboard a hospital"],
        reason: Annotated[str, "one sentence: why this unit, and why there first"],
    ) -> str:
        """Send an idle or waiting unit to work. Says when it arrives, or why it cannot go and what would work."""
        return desk.give(Order("assign", unit, target, _line(reason)))

    @tool
    def recall(unit: Annotated[str, "a unit's id"]) -> str:
        """Take a unit off its work. It ends the road that it is on, and is idle then; patients stay aboard."""
        return desk.give(Order("recall", unit))

    @tool
    def note(
        incident: Annotated[str, "an incident, such as I03"], text: Annotated[str, "what you believe of it"]
    ) -> str:
        """Write down what you believe of an incident: it stands in every later state message and does nothing else."""
        return desk.give(Order("note", target=incident, reason=_line(text)))

    @tool
    def send_supplies(
        unit: Annotated[str, "a truck's id"],
        place: Annotated[str, "a place in need"],
        water: int,
        shelter: int,
        reason: Annotated[str, "one sentence: why there first"],
    ) -> str:
        """Let a truck load water and shelter at the depot that is best placed, and bring them to a place in need."""
        return desk.give(Order("send_supplies", unit, place, _line(reason), water, shelter))

    supplies = [send_supplies] if desk.seen.scenario.has_supplies else []
    return Toolbox(travel_time, assign, recall, note, *supplies)


def _line(text: str) -> str:
    """The text on one line, shortened: it stands in later state messages, and must not look like a part of them."""
    return textwrap.shorten(text, _LONGEST, placeholder=" …")
