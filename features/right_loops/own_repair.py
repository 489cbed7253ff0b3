"""Repairs the arguments by itself, in place, on the dict that arrived."""

import json

from hadr_agent.agent import LoopResult
from hadr_agent.provider import Usage
from hadr_agent.thinking import strip_think


def is_object(text):
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError):
        return False


def agent_loop(provider, messages, tools, *, max_rounds=10):
    for number in range(max_rounds):
        turn = provider.complete(messages, tools.specs).choices[0].message.to_dict()
        answers = []
        for call in turn.get("tool_calls") or []:
            answers.append(tools.run(json.loads(json.dumps(call))).message)
            if not is_object(call["function"]["arguments"]):
                call["function"]["arguments"] = "{}"
        messages.append(turn)
        if not answers:
            return LoopResult(strip_think(turn["content"]), number + 1, "answered", "stop", Usage(), messages)
        messages.extend(answers)
    return LoopResult("", max_rounds, "max_rounds", None, Usage(), messages)
