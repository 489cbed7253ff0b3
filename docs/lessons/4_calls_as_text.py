"""Tool calls as JSON text: what `tool_calls` stands for, on a wire where there is nothing but text.

You will see a model without native tool calls use `now` and `wordcount` by ending its replies with a line of JSON; what
a history costs that keeps such rounds, and one that throws them away; a quotation that is taken for a call; and a
result without its call, which providers refuse. It matters because every tool call was once text that somebody parsed,
and because the history is the only memory there is: what is thrown away was never known, what is half kept is an error.

    uv run python docs/lessons/4_calls_as_text.py
"""

import json
import tempfile
from pathlib import Path

from hadr_agent import LoopResult, Message, ProviderError, ScriptedProvider, TextToolProvider, Toolbox, agent_loop, tool
from hadr_agent.scripted import TurnForm
from hadr_agent.transcript import load

Messages = list[Message]


@tool
def now() -> str:
    """Return the time."""
    return "12:00:07"  # always, so that every run of this lesson is the same


@tool
def wordcount(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


TOOLS = Toolbox(now, wordcount)
FIRST, SECOND = "What time is it, and how many words are in 'to be or not'?", "And how many seconds?"
SCRIPT: list[TurnForm] = [
    {"after": "What time", "say": 'First the time.\n{"tool": "now", "args": {}}'},
    {"after": "Result of now:\n12:00:07", "say": '{"tool": "wordcount", "args": {"text": "to be or not"}}'},
    {"after": "Result of wordcount:\n4", "say": "It is noon, and there are four words."},
]
REMEMBERS: list[TurnForm] = [{"after": "seconds", "say": "Seven."}]
MUST_LOOK_AGAIN: list[TurnForm] = [
    {"after": "seconds", "say": '{"tool": "now", "args": {}}'},
    {"after": "Result of now:\n12:00:07", "say": "Seven."},
]


def two_tasks(*, persisted: bool) -> tuple[ScriptedProvider, Messages]:
    """Two tasks in one conversation. Unpersisted: of the first only the question and the answer are kept."""
    inner = ScriptedProvider(SCRIPT + (REMEMBERS if persisted else MUST_LOOK_AGAIN))
    provider = TextToolProvider(inner)
    messages: Messages = [{"role": "user", "content": FIRST}]
    answer = agent_loop(provider, messages, TOOLS).answer
    if not persisted:  # the calls and the results are taken for a scratchpad, which the answer makes superfluous
        messages = [messages[0], {"role": "assistant", "content": answer}]
    messages.append({"role": "user", "content": SECOND})
    agent_loop(provider, messages, TOOLS)
    return inner, messages


QUOTING = 'Calls look like this:\n{"tool": "now", "args": {}}'
MARKED = 'I look.\nTOOL:\n{"tool": "now", "args": {}}'
SLOPPY = "I look.\nTOOL:\nnow()"


def reply(text: str, sentinel: str | None) -> tuple[ScriptedProvider, LoopResult]:
    """Let the model say one thing. Is it an answer, a call, or a call that cannot be read?"""
    inner = ScriptedProvider([text, "Done."])
    messages: Messages = [{"role": "user", "content": "How do you call a tool?"}]
    return inner, agent_loop(TextToolProvider(inner, sentinel=sentinel), messages, TOOLS)


def orphaned() -> Messages:
    """A history of which somebody kept the question and the last messages, to save tokens."""
    script: list[TurnForm] = [{"calls": [{"name": "now"}]}, {"after": "12:00", "say": "It is noon."}]
    messages: Messages = [{"role": "user", "content": "What time is it?"}]
    agent_loop(ScriptedProvider(script), messages, TOOLS)
    return [messages[0], *messages[-2:], {"role": "user", "content": "Thanks."}]


def mended(messages: Messages) -> Messages:
    """The same history, read from a session file: a result that no call asked for is left out."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "session.jsonl"
        file.write_text("".join(json.dumps(message) + "\n" for message in messages))
        return load(file)


def send(messages: Messages) -> str:
    try:
        return f"answered: {agent_loop(ScriptedProvider(['You are welcome.']), list(messages), TOOLS).answer}"
    except ProviderError as error:
        return f"HTTP {error.status}: {error}"


def main() -> None:
    for persisted in (True, False):
        inner, messages = two_tasks(persisted=persisted)
        second_task = inner.requests[3]  # the first three belong to the first task
        print(f"\n== The scratchpad is {'persisted' if persisted else 'thrown away'}: what the model reads")
        for message in second_task.messages:
            print(f"{message['role']:9} {json.dumps(message['content'])[:100]}")
        print(f"messages in each request: {[len(request.messages) for request in inner.requests]}")
        print(f"messages in the history: {len(messages)}; the last: {messages[-1]['content']}")
        print(f"the cache broke: {second_task.cache_break or 'nowhere'}")
    print("\n== A sentinel makes the parsing strict")
    for text, sentinel in ((QUOTING, None), (QUOTING, "TOOL:"), (MARKED, "TOOL:"), (SLOPPY, "TOOL:")):
        inner, result = reply(text, sentinel)
        read = inner.requests[-1].messages[-1]["content"] if result.rounds > 1 else "(nothing: that was the answer)"
        print(f"the model says, {f'sentinel {sentinel}' if sentinel else 'no sentinel'}  {json.dumps(text)}")
        print(f"    and then reads  {json.dumps(read)[:100]}")
    print("\n== A result without its call")
    for messages in (orphaned(), mended(orphaned())):
        print(f"{', '.join(str(message['role']) for message in messages)}\n    {send(messages)[:110]}")


if __name__ == "__main__":
    main()
