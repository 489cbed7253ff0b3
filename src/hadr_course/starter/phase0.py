"""The agent loop. It knows messages, rounds and tool calls.
It does not know HTTP, retries, streaming, settings, the display or the clock: each has a room of its own."""

from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from typing import Literal

from openai.types.chat import ChatCompletion

from hadr_agent.provider import Message, Provider, Usage
from hadr_agent.tools import Toolbox, ToolResult


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
    # Phase 0: nothing is written yet. Begin with one model call: steps 1, 2 and 3 of the text above.
    # `message.to_dict()` gives back what arrived, no more, no less. What `_assistant_turn` is good for, LOOP-7 tells.
    # Then `uv run behave -n LOOP-1` says whether it holds.
    return LoopResult("", 0, NOT_WRITTEN, None, Usage(), messages)


NOT_WRITTEN = "agent_loop in src/hadr_agent/agent.py is not written yet; its docstring says what to do"
