"""The agent loop. It knows messages, rounds and tool calls.
It does not know HTTP, retries, streaming, settings, the display or the clock: each has a room of its own."""

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from openai.types.chat import ChatCompletion, ChatCompletionMessage

from hadr_agent.provider import Message, Provider, Usage
from hadr_agent.thinking import strip_think
from hadr_agent.tools import Toolbox, ToolResult, arguments_problem


@dataclass(frozen=True)
class LoopResult:
    """What a run came to. `stop`: "answered", "max_rounds", "cut_off", "no_answer", or what `stop_when` returned."""

    answer: str
    rounds: int
    stop: str
    finish_reason: str | None
    usage: Usage
    messages: MutableSequence[Message]


@dataclass(frozen=True)
class Event:
    """What `on_event` is told as it happens. A turn comes with its completion, a tool result with its result."""

    kind: Literal["request", "assistant_turn", "tool_result"]
    round: int
    completion: ChatCompletion | None = None
    result: ToolResult | None = None


def agent_loop(
    provider: Provider,
    messages: MutableSequence[Message],
    tools: Toolbox,
    *,
    max_rounds: int = 10,
    stop_when: Callable[[LoopResult], str | None] | None = None,
    on_event: Callable[[Event], object] | None = None,
) -> LoopResult:
    """Let a model work with tools until it answers in text.

    `messages` is the history: the caller's list, sent whole in every round; the loop only appends to it. One round:
    1. Ask `provider.complete(messages, tools.specs)` for the next assistant turn.
    2. Append that turn as it came, thinking and all (`_assistant_turn`), or the provider's prompt cache misses.
    3. A turn without tool calls is the answer, whatever its finish reason says: return it, without its thinking.
    4. Otherwise run the calls and append one tool message for each, in order, also if a tool fails or is interrupted.
    After `max_rounds` rounds it stops; the calls of the last are answered, so that the history can be continued.
    `stop_when` is asked after every round with calls for a reason to stop there. The loop never ticks the world.
    Raises ValueError for `max_rounds` below 1. What `provider.complete` raises passes through, as do interrupts."""
    if max_rounds < 1:
        raise ValueError(f"max_rounds must be at least 1, not {max_rounds}")
    completion = provider.complete(messages, tools.specs)
    message, finish_reason = completion.choices[0].message, completion.choices[0].finish_reason
    messages.append(turn := _assistant_turn(message))
    result = LoopResult("", 1, NOT_WRITTEN, finish_reason, Usage.of(completion), messages)
    if not message.tool_calls:
        answer = strip_think(turn["content"])
        return replace(result, answer=answer, stop="answered" if answer else "no_answer")
    # Phase 1: the turn calls tools, and nobody runs them yet. Step 4 of the text above comes next, and then the loop
    # around it all. `uv run behave -n LOOP-2` says whether a call is answered.
    return result


NOT_WRITTEN = "the loop in src/hadr_agent/agent.py runs no tools yet; step 4 of its docstring comes next"


def _assistant_turn(message: ChatCompletionMessage) -> Message:
    """The turn as received, but for what some provider refuses in every later request."""
    turn: Message = {"role": message.role, **message.to_dict(mode="python", warnings=False)}
    if not message.tool_calls:
        turn.pop("tool_calls", None)  # an empty list is a 400: openai-node#1341
        return {**turn, "content": "" if message.content is None else message.content}
    for call in cast("list[dict[str, dict[str, object]]]", turn["tool_calls"]):
        if function := call.get("function"):  # a custom tool call has none
            function["arguments"] = _replayable_args(function.get("arguments"))
    return turn


def _replayable_args(raw: object) -> str:
    """`raw` to the byte if it is the text of a JSON object, else "{}". `Toolbox.run` goes by the same verdict."""
    return raw if isinstance(raw, str) and arguments_problem(raw) is None else "{}"
