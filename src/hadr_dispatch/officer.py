"""A dispatcher without a model: it plays the rule `triage` through the real tools and the real loop, offline.

It knows the desk that the tools work on, and answers a history as a model would: orders first, then a sentence.
"""

from collections.abc import Sequence

from hadr_agent.provider import Message
from hadr_agent.scripted import Turn, TurnForm
from hadr_dispatch.orders import Order
from hadr_dispatch.policies import triage
from hadr_dispatch.state import by_urgency
from hadr_dispatch.tools import Desk

HANDOVER = """Your history is nearly full, and somebody else takes over. Write the handover: what matters and is not \
in the state message, what you meant to do next, and why. No tools are run."""
"""What a dispatcher is asked at the end of a full history."""


class Officer:
    """A `Player` for `ScriptedProvider`: stands in for a model, so that an operation runs without a key."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """Orders straight after a state message; a sentence once they are answered, or if there are none."""
        seen, last = self._desk.seen, messages[-1]
        worst = [f"{file.id} at {file.place} ({file.believed})" for file in by_urgency(seen.files) if not file.closed][
            :3
        ]
        open_files = f"Most urgent: {'; '.join(worst)}." if worst else "No incident is open."
        form: TurnForm = {"say": open_files}
        if last.get("role") == "tool":
            form = {"think": "The orders are given; time may go on.", "say": f"Orders given. {open_files}"}
        elif last.get("content") != HANDOVER:
            calls = [{"name": order.kind, "arguments": _arguments(order)} for order in triage(seen)]
            form = {"think": open_files, **({"calls": calls} if calls else {"say": f"Nothing to order. {open_files}"})}
        return Turn.of(form, len(messages))


def _arguments(order: Order) -> dict[str, object]:
    if order.kind == "recall":
        return {"unit": order.unit}
    if order.kind == "assign":
        return {"unit": order.unit, "target": order.target, "reason": order.reason}
    amounts: dict[str, object] = {"water": order.water, "shelter": order.shelter}
    return {"unit": order.unit, "place": order.target, **amounts, "reason": order.reason}
