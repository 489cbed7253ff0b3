"""Dispatchers without a model, for `ScriptedProvider`: a stand-in, and one that says what was recorded.

Their orders go through the real loop and the real tools, as a model's do.
"""

import itertools
from collections.abc import Collection, Sequence
from typing import cast

from hadr_agent.provider import Message, as_list, as_object
from hadr_agent.scripted import Turn, TurnForm
from hadr_agent.tools import cut_off, interrupted
from hadr_dispatch.orders import Order
from hadr_dispatch.policies import triage
from hadr_dispatch.state import by_urgency, tick_of
from hadr_dispatch.tools import Desk

HANDOVER = """Your history is nearly full, and somebody else takes over. Write the handover: what matters and is not \
in the state message, what you meant to do next, and why. No tools are run."""
"""What a dispatcher is asked at the end of a full history."""


class Recorded:
    """A `Player` that says in each tick what was said in the recorded one, and fails where the provider failed.

    failed: those ticks. Calls that were not run then, because of an interrupt or a turn that was cut off, are left out.
    """

    def __init__(self, desk: Desk, histories: Sequence[Sequence[Message]], failed: Collection[int]) -> None:
        self._desk, self._failed = desk, failed
        self._said: dict[int | None, list[Turn]] = {}
        for history in histories:
            tick = None
            for at, message in enumerate(history):
                tick = tick_of(message) if message["role"] == "user" else tick
                if message["role"] == "assistant" and (turn := _as_it_was_run(message, history[at + 1 :])):
                    self._said.setdefault(tick, []).append(turn)

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """The recorded turn of this tick and this round."""
        said = self._said.get(self._desk.seen.tick, [])
        wake = itertools.takewhile(lambda message: message["role"] != "user", reversed(messages))
        done = sum(message["role"] == "assistant" for message in wake)
        if done < len(said):
            return said[done]
        if self._desk.seen.tick in self._failed:
            return Turn.of({"fault": {"status": 503, "headers": {"x-should-retry": "false"}}}, done)
        return Turn.of("That is all that was recorded of this tick.", done)


def _as_it_was_run(turn: Message, answers: Sequence[Message]) -> Turn | None:
    """The turn with those of its calls that were run; None if it had calls and none was."""
    calls = [as_object(call) for call in as_list(turn.get("tool_calls"))]
    texts = [str(answer.get("content")) for answer in answers[: len(calls)]]
    run = [call for call, text in zip(calls, texts, strict=False) if not text.startswith(_NOT_RUN)]
    if calls and not run:
        return None
    return Turn.of(cast("TurnForm", {**turn, **({"tool_calls": run} if run else {})}), 0)


_NOT_RUN = (interrupted({}).text[:30], cut_off({}).text[:30])


class Officer:
    """A `Player` that plays the rule `triage`: it gives its orders first, then says a sentence.

    desk: what its tools work on, where it sees what a model reads in the state message.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """Orders straight after a state message; a sentence once they are answered, or if there are none."""
        seen, last = self._desk.seen, messages[-1]
        still_open = [file for file in by_urgency(seen.files) if not file.closed]
        worst = [f"{file.id} at {file.place} ({file.believed})" for file in still_open[:3]]
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
