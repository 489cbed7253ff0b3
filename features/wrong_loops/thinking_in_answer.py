"""Mistake: the answer is shown with its thinking."""

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for number in range(1, max_rounds + 1):
        message = provider.complete(messages, tools.specs).choices[0].message
        messages.append(_assistant_turn(message))
        if not message.tool_calls:
            return LoopResult(message.content, number, "answered", "stop", Usage(), messages)
        for call in message.tool_calls:
            messages.append(tools.run(call.to_dict()).message)
    return LoopResult("", max_rounds, "max_rounds", None, Usage(), messages)
