"""An agent loop for OpenAI-compatible reasoning models, to learn on and to keep.

The names below are loaded when they are first used: importing the package itself costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hadr_agent.agent import Event, LoopResult, agent_loop
    from hadr_agent.limits import any_of, repeated_call, token_budget
    from hadr_agent.provider import Message, OpenAIProvider, Provider, ProviderError, Usage
    from hadr_agent.scripted import ScriptedProvider
    from hadr_agent.text_tools import TextToolProvider
    from hadr_agent.thinking import strip_think
    from hadr_agent.tools import Tool, Toolbox, ToolError, ToolResult, tool
    from hadr_agent.transcript import SessionError, Transcript

__all__ = [
    "Event",
    "LoopResult",
    "Message",
    "OpenAIProvider",
    "Provider",
    "ProviderError",
    "ScriptedProvider",
    "SessionError",
    "TextToolProvider",
    "Tool",
    "ToolError",
    "ToolResult",
    "Toolbox",
    "Transcript",
    "Usage",
    "agent_loop",
    "any_of",
    "repeated_call",
    "strip_think",
    "token_budget",
    "tool",
]

_ROOMS = {
    "agent": ("Event", "LoopResult", "agent_loop"),
    "limits": ("any_of", "repeated_call", "token_budget"),
    "provider": ("Message", "OpenAIProvider", "Provider", "ProviderError", "Usage"),
    "scripted": ("ScriptedProvider",),
    "text_tools": ("TextToolProvider",),
    "thinking": ("strip_think",),
    "tools": ("Tool", "ToolError", "ToolResult", "Toolbox", "tool"),
    "transcript": ("SessionError", "Transcript"),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
