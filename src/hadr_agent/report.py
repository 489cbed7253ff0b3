"""A saved history, round by round: what a session file shows, and the page made of it.

It knows messages alone. A session holds no token counts, so these are estimated from its texts, and say so.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from hadr_agent.provider import CHARS_PER_TOKEN, Message, as_list, as_object
from hadr_agent.thinking import split_think, thinking_of
from hadr_agent.tools import UNREADABLE

ESTIMATE = "tokens estimated at four characters each, without the tools and the provider's own markup"


@dataclass(frozen=True)
class SavedRound:
    """One round of a session: the turn, the tool messages behind it, and what its request would have cost.

    before: the system and user messages since the last round. Tokens: see ESTIMATE. broken: why the prompt cache did
    not reach up to the last turn, if it did not.
    """

    number: int
    before: list[Message]
    turn: Message
    results: list[Message]
    prompt: int
    cached: int
    completion: int
    broken: str | None

    @property
    def thinking(self) -> str:
        return thinking_of(self.turn)

    @property
    def said(self) -> str:
        return split_think(self.turn.get("content"))[1]

    @property
    def calls(self) -> list[str]:
        functions = [as_object(as_object(call).get("function")) for call in as_list(self.turn.get("tool_calls"))]
        return [f"{function.get('name')} {function.get('arguments')}" for function in functions]


def rounds_of(messages: Sequence[Message]) -> Iterator[SavedRound]:
    """The rounds of a history, in order."""
    number = size = cached = 0
    before: list[Message] = []
    broken: str | None = None
    for place, message in enumerate(messages):
        length = len(json.dumps(message))
        if message["role"] == "assistant":
            number += 1
            results = list(_tool_messages(messages, place + 1))
            prompt, hit, completion = (characters // CHARS_PER_TOKEN for characters in (size, cached, length))
            yield SavedRound(number, before, message, results, prompt, hit, completion, broken)
            replaced = [result for result in results if UNREADABLE in str(result.get("content"))]
            broken = f"message {place + 1} was replayed with other arguments than the model sent" if replaced else None
            cached = size if replaced else size + length
            before = []
        elif message["role"] != "tool":
            before = [*before, message]
        size += length


def _tool_messages(messages: Sequence[Message], start: int) -> Iterator[Message]:
    for message in messages[start:]:
        if message["role"] != "tool":
            return
        yield message


def page(name: str, messages: Sequence[Message]) -> str:
    """The session as one HTML page that needs no script and no other file."""
    rounds = list(rounds_of(messages))
    widest = max((each.prompt + each.completion for each in rounds), default=1) or 1
    body = "\n".join(_section(each, widest) for each in rounds)
    prompt, cached = sum(each.prompt for each in rounds), sum(each.cached for each in rounds)
    share = f"{cached / prompt:.0%}" if prompt else "none"
    calls = sum(len(each.calls) for each in rounds)
    summary = f"{len(rounds)} rounds, {calls} tool calls, about {prompt:,} prompt tokens, {share} of them cached"
    title = escape(name)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{title}</h1><p>{summary}.</p>"
        f'<p class="key"><i class="cached"></i> cached <i class="fresh"></i> not cached '
        f'<i class="completion"></i> completion; {ESTIMATE}</p>\n{body}\n</body></html>\n'
    )


def _section(each: SavedRound, widest: int) -> str:
    parts = [_text(str(message["role"]), str(message.get("content"))) for message in each.before]
    figures = f"{each.prompt:,} prompt, {each.cached:,} cached, {each.completion:,} completion"
    bars = [("cached", each.cached), ("fresh", each.prompt - each.cached), ("completion", each.completion)]
    bar = "".join(f'<i class="{kind}" style="width:{100 * tokens / widest:.2f}%"></i>' for kind, tokens in bars)
    parts.append(f'<section><h2>Round {each.number}</h2><div class="bar" title="{figures}">{bar}</div><p>{figures}</p>')
    if each.broken:
        parts.append(f'<p class="broken">The cache broke: {escape(each.broken)}.</p>')
    if each.thinking:
        parts.append(f"<details open><summary>thinking</summary><pre>{escape(each.thinking)}</pre></details>")
    if each.said:
        parts.append(_text("assistant", each.said))
    parts += [_text("call", call) for call in each.calls]
    parts += [_text("result", str(result.get("content"))) for result in each.results]
    return "\n".join(parts) + "</section>"


def _text(kind: str, text: str) -> str:
    return f'<div class="{escape(kind)}"><b>{escape(kind)}</b><pre>{escape(text)}</pre></div>'


_STYLE = """
:root { color-scheme: light dark; --cached: #2e9e6b; --fresh: #d98e2b; --completion: #4a7fd6; --line: #8886; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 0; }
section { border-top: 1px solid var(--line); padding: 1rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: 0.9rem/1.45 ui-monospace, monospace; }
p { margin: 0.3rem 0; font-size: 0.9rem; } .broken { color: #c0392b; }
.bar { display: flex; height: 0.9rem; background: #8882; border-radius: 3px; overflow: hidden; margin-top: 0.4rem; }
.bar i { display: block; } .key i { display: inline-block; width: 0.8em; height: 0.8em; }
.cached { background: var(--cached); } .fresh { background: var(--fresh); }
.completion { background: var(--completion); }
div:not(.bar) { margin: 0.6rem 0; padding: 0.5rem 0.7rem; border-left: 3px solid var(--line); }
div b { font-size: 0.75rem; opacity: 0.7; } div.call { border-color: var(--completion); }
div.result { border-color: var(--cached); } div.user { border-color: var(--fresh); }
details { margin: 0.6rem 0; opacity: 0.8; font-style: italic; } summary { cursor: pointer; font-size: 0.85rem; }
"""
