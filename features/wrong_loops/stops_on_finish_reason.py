"""Mistake: the finish reason decides whether the turn is the answer, not its tool calls."""

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for number in range(1, max_rounds + 1):
        choice = provider.complete(messages, tools.specs).choices[0]
        message = choice.message
        messages.append(_assistant_turn(message))
        if choice.finish_reason == "stop":
            return LoopResult(strip_think(message.content), number, "answered", "stop", Usage(), messages)
        for call in message.tool_calls:
            messages.append(tools.run(call.to_dict()).message)
    return LoopResult("", max_rounds, "max_rounds", None, Usage(), messages)
