"""Mistake: the loop does not stop at its limit."""

import itertools

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for number in itertools.count(1):
        message = provider.complete(messages, tools.specs).choices[0].message
        messages.append(_assistant_turn(message))
        if not message.tool_calls:
            return LoopResult(strip_think(message.content), number, "answered", "stop", Usage(), messages)
        for call in message.tool_calls:
            messages.append(tools.run(call.to_dict()).message)
