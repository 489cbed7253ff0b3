"""Dispatchers without a model, for `ScriptedProvider`: a stand-in, and one that says what was recorded.

Their orders go through the real loop and the real tools, as a model's do.
"""

import itertools
from collections.abc import Sequence
from typing import cast

from hadr_agent.provider import Message
from hadr_agent.scripted import Turn, TurnForm
from hadr_dispatch.orders import Order
from hadr_dispatch.policies import triage
from hadr_dispatch.state import by_urgency, heading
from hadr_dispatch.tools import Desk

HANDOVER = """Your history is nearly full, and somebody else takes over. Write the handover: what matters and is not \
in the state message, what you meant to do next, and why. No tools are run."""
"""What a dispatcher is asked at the end of a full history."""


class Recorded:
    """A `Player` that says in each tick what was said in the recorded one, and fails where nothing was."""

    def __init__(self, desk: Desk, histories: Sequence[Sequence[Message]]) -> None:
        self._desk, self._histories = desk, histories

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """The recorded turn of this tick and this round."""
        said, is_now = list[Message](), False
        for message in itertools.chain.from_iterable(self._histories):
            if message["role"] == "user":
                is_now = heading(self._desk.seen) in str(message.get("content")).splitlines()
            elif message["role"] == "assistant" and is_now:
                said.append(message)
        wake = itertools.takewhile(lambda message: message["role"] != "user", reversed(messages))
        done = sum(message["role"] == "assistant" for message in wake)
        if done < len(said):
            return Turn.of(cast("TurnForm", said[done]), done)
        return Turn.of({"fault": {"status": 503, "headers": {"x-should-retry": "false"}}}, done)


class Officer:
    """A `Player` that plays the rule `triage`: it gives its orders first, then says a sentence.

    desk: what its tools work on, where it sees what a model reads in the state message.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def next_turn(self, messages: Sequence[Message]) -> Turn:
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
