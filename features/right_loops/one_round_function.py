"""One function plays a round and says whether it was the last; the loop only counts."""

from hadr_agent.agent import LoopResult, _assistant_turn
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def play_round(provider, messages, tools):
    message = provider.complete(messages, tools.specs).choices[0].message
    messages.append(_assistant_turn(message))
    for call in message.tool_calls or []:
        messages.append(tools.run(call.to_dict()).message)
    return None if message.tool_calls else strip_think(message.content)


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for number in range(1, max_rounds + 1):
        answer = play_round(provider, messages, tools)
        if answer is not None:
            return LoopResult(answer, number, "answered", "stop", Usage(), messages)
    return LoopResult("", max_rounds, "max_rounds", None, Usage(), messages)
