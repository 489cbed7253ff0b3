"""Mistake: the exception of a tool ends the loop."""

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for number in range(1, max_rounds + 1):
        message = provider.complete(messages, tools.specs).choices[0].message
        messages.append(_assistant_turn(message))
        if not message.tool_calls:
            return LoopResult(strip_think(message.content), number, "answered", "stop", Usage(), messages)
        for call in message.tool_calls:
            result = tools.run(call.to_dict())
            if isinstance(result.exception, RuntimeError):
                raise result.exception
            messages.append(result.message)
    return LoopResult("", max_rounds, "max_rounds", None, Usage(), messages)
