"""An agent loop for OpenAI-compatible reasoning models, to learn on and to keep.

The names below are loaded when they are first used: importing the package itself costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hadr_agent.agent import Event, LoopResult, agent_loop
    from hadr_agent.provider import Message, OpenAIProvider, Provider, ProviderError, Usage
    from hadr_agent.scripted import ScriptedProvider
    from hadr_agent.thinking import strip_think
    from hadr_agent.tools import Tool, Toolbox, ToolError, ToolResult, tool

__all__ = [
    "Event",
    "LoopResult",
    "Message",
    "OpenAIProvider",
    "Provider",
    "ProviderError",
    "ScriptedProvider",
    "Tool",
    "ToolError",
    "ToolResult",
    "Toolbox",
    "Usage",
    "agent_loop",
    "strip_think",
    "tool",
]

_ROOMS = {
    "agent": ("Event", "LoopResult", "agent_loop"),
    "provider": ("Message", "OpenAIProvider", "Provider", "ProviderError", "Usage"),
    "scripted": ("ScriptedProvider",),
    "thinking": ("strip_think",),
    "tools": ("Tool", "ToolError", "ToolResult", "Toolbox", "tool"),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
