"""Plays a round, then calls itself for the rest of the rounds."""

from dataclasses import replace

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def agent_loop(provider, messages, tools, *, max_rounds=10):
    if max_rounds == 0:
        return LoopResult("", 0, "max_rounds", None, Usage(), messages)
    message = provider.complete(messages, tools.specs).choices[0].message
    messages.append(_assistant_turn(message))
    if not message.tool_calls:
        return LoopResult(strip_think(message.content), 1, "answered", "stop", Usage(), messages)
    for call in message.tool_calls:
        messages.append(tools.run(call.to_dict()).message)
    rest = agent_loop(provider, messages, tools, max_rounds=max_rounds - 1)
    return replace(rest, rounds=rest.rounds + 1)
