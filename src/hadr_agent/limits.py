"""Reasons to stop a run early: conditions for `agent_loop`'s `stop_when`, asked after each round with tool calls.

They know the run so far, not what a provider or a tool is. A condition belongs to one run.
"""

import json
from collections.abc import Callable, MutableSequence, Sequence

from hadr_agent.agent import Event, LoopResult, agent_loop
from hadr_agent.provider import CHARS_PER_TOKEN, Message, Provider, as_list, as_object
from hadr_agent.tools import Toolbox

StopCondition = Callable[[LoopResult], str | None]


def token_budget(tokens: int) -> StopCondition:
    """Stop as "token_budget" when prompt and completion tokens together, cached ones included, have reached this many.

    Where the provider reports no usage, four characters of the history count as a token, in every round anew.
    Raises ValueError for less than 1.
    """
    if tokens < 1:
        raise ValueError(f"a token budget must be at least 1, not {tokens}")
    estimated = counted = 0

    def condition(result: LoopResult) -> str | None:
        nonlocal estimated, counted
        reported = (result.usage.prompt_tokens or 0) + (result.usage.completion_tokens or 0)
        if reported == counted:
            estimated += len(json.dumps(list(result.messages))) // CHARS_PER_TOKEN
        counted = reported
        return "token_budget" if counted + estimated >= tokens else None

    return condition


def repeated_call(rounds: int = 3) -> StopCondition:
    """Stop as "repeated_call" when this many rounds in a row made the same calls with the same arguments and results.

    Raises ValueError for less than 2.
    """
    if rounds < 2:
        raise ValueError(f"a call is repeated after at least 2 rounds, not {rounds}")
    return lambda result: "repeated_call" if repetitions(result.messages) >= rounds else None


def repetitions(messages: Sequence[Message]) -> int:
    """How many of the last rounds made the very same calls, arguments and results included."""
    count, latest, results = 0, None, dict[object, object]()
    for message in reversed(messages):
        if message.get("role") == "tool":
            results[message.get("tool_call_id")] = message.get("content")
            continue
        calls = [as_object(call) for call in as_list(message.get("tool_calls"))]
        functions = [as_object(call.get("function")) for call in calls]
        made = [
            (
                function.get("name"),
                _canonical(function.get("arguments", call.get("custom"))),
                results.get(call.get("id")),
            )
            for call, function in zip(calls, functions, strict=True)
        ]
        if not made or (latest is not None and made != latest):
            break
        count, latest, results = count + 1, made, {}
    return count


ENOUGH = "Answer now, with what you know so far. No further tools are run."
"""What `final_answer` asks."""


def final_answer(
    provider: Provider, messages: MutableSequence[Message], tools: Toolbox, on_event: Callable[[Event], object]
) -> LoopResult:
    """After a limit: ask once more, for an answer with what is known. Appends one user message and the turn.

    provider: one that sends `tool_choice: none` with the tools and options unchanged, so that the prompt cache holds.
    A model that calls tools all the same is told that none is run.
    """
    messages.append({"role": "user", "content": ENOUGH})
    return agent_loop(provider, messages, tools.closed(), max_rounds=1, on_event=on_event)


def any_of(*conditions: StopCondition) -> StopCondition:
    """Stop when one of the conditions says so, for its reason. All are asked every time, since some keep count."""
    return lambda result: next(filter(None, [condition(result) for condition in conditions]), None)


def _canonical(arguments: object) -> str:
    """Arguments in one spelling, since models repeat themselves with other spacing."""
    return json.dumps(json.loads(arguments) if isinstance(arguments, str) else arguments, sort_keys=True)
