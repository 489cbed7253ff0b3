"""Counts rounds in a while loop, and gathers the tool messages before it appends them."""

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def agent_loop(provider, messages, tools, *, max_rounds=10):
    rounds, usage = 0, Usage()
    while rounds < max_rounds:
        rounds += 1
        completion = provider.complete(messages, tools.specs)
        usage += Usage.of(completion)
        message = completion.choices[0].message
        messages += [_assistant_turn(message)]
        calls = message.tool_calls or []
        messages += [tools.run(call.to_dict()).message for call in calls]
        if not calls:
            return LoopResult(strip_think(message.content), rounds, "answered", "stop", usage, messages)
    return LoopResult("", rounds, "max_rounds", None, usage, messages)
