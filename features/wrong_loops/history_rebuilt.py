"""Mistake: each request is made of the task and the last round alone."""

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def agent_loop(provider, messages, tools, *, max_rounds=10):
    task, last = list(messages), len(messages)
    for number in range(1, max_rounds + 1):
        message = provider.complete(task + messages[last:], tools.specs).choices[0].message
        last = len(messages)
        messages.append(_assistant_turn(message))
        if not message.tool_calls:
            return LoopResult(strip_think(message.content), number, "answered", "stop", Usage(), messages)
        for call in message.tool_calls:
            messages.append(tools.run(call.to_dict()).message)
    return LoopResult("", max_rounds, "max_rounds", None, Usage(), messages)
