"""Steps for tool calls as text: what the model gets to read, what of its own text is a call. ⏎ is a line break."""

import json
from dataclasses import dataclass

from behave import given, then
from behave.runner import Context
from loop_steps import Run

from hadr_agent.scripted import ScriptedProvider, history_problems
from hadr_agent.text_tools import TextToolProvider
from hadr_agent.tools import Toolbox, tool


class TextProvider(TextToolProvider):
    """The provider under test, with the requests of the one inside."""

    def __init__(self, inner: ScriptedProvider, sentinel: str | None) -> None:
        super().__init__(inner, sentinel=sentinel)
        self.requests = inner.requests


@dataclass
class TextRun(Run):
    """A run over the text wire."""

    sentinel: str | None = None

    def make_provider(self) -> TextProvider:
        return TextProvider(ScriptedProvider(self.turns), self.sentinel)

    def tools(self) -> Toolbox:
        @tool
        def add(a: int, b: int) -> int:
            """Add two whole numbers."""
            self.ran.append("add")
            return a + b

        @tool
        def echo(text: str) -> str:
            """Return the text."""
            self.ran.append("echo")
            return text

        @tool
        def look() -> str:
            """Look at the world — once."""
            self.ran.append("look")
            return f"tick {self.world.tick}"

        @tool
        def fail() -> str:
            """Fail."""
            self.ran.append("fail")
            raise RuntimeError("disk on fire")

        @tool
        def note(title: str, count: int | None = None, lines: list[str] | None = None, place: str | None = None) -> str:
            """Make a note."""
            self.ran.append("note")
            return repr([title, count, lines, place])

        return Toolbox(add, echo, look, fail, note)


def unfolded(text: str) -> str:
    return text.replace("⏎", "\n")


def begin(context: Context, turns: list[dict[str, object]]) -> None:
    system = getattr(context, "system_prompt", [])
    context.run = TextRun(turns, system=system, sentinel=getattr(context, "sentinel", None))


def told(context: Context, number: int) -> list[str]:
    """What a request holds behind the last assistant turn."""
    requests = context.run.requests
    assert len(requests) >= number, f"expected a request {number}, found {len(requests)}; {context.run.raised!r}"
    messages = requests[number - 1]
    last = max(at for at, message in enumerate(messages) if message["role"] == "assistant")
    assert all(message["role"] == "user" for message in messages[last + 1 :]), f"found {messages[last + 1 :]}"
    return [message["content"] for message in messages[last + 1 :]]


# --- Given


@given("no system prompt")
def step_no_system(context: Context) -> None:
    context.system_prompt = []


@given("the sentinel {text:json}")
def step_sentinel(context: Context, text: str) -> None:
    context.sentinel = text


@given("a model without tool calls, whose turns are")
def step_turns(context: Context) -> None:
    begin(context, [json.loads(line) for line in context.text.splitlines()])


@given("a model without tool calls that writes {text}")
def step_writes(context: Context, text: str) -> None:
    said = {"role": "assistant", "content": unfolded(text)}
    begin(context, [said, {"role": "assistant", "content": "Done."}])


# --- Then: requests


@then("each system message is {begins:json} and the tools, in the same bytes")
def step_system(context: Context, begins: str) -> None:
    found = [messages[0]["content"] for messages in context.run.requests]
    assert len(found) == 3 and len(set(found)) == 1, f"expected the same system message 3 times, found {found}"
    assert found[0].startswith(begins), f"expected {begins!r} first, found {found[0]!r}"
    for spec in context.run.tools().specs:
        line = json.dumps(spec["function"], ensure_ascii=False)
        assert line in found[0].splitlines(), f"expected the line {line}, found {found[0]}"


@then("no request has tool calls or tool messages in it")
def step_texts_alone(context: Context) -> None:
    for number, messages in enumerate(context.run.requests, 1):
        found = [message for message in messages if message["role"] == "tool" or "tool_calls" in message]
        assert not found, f"request {number}: expected texts alone, found {found}"


@then("request {number:d} ends with the user messages {texts}")
def step_user_messages(context: Context, number: int, texts: str) -> None:
    found, expected = told(context, number), [unfolded(text) for text in texts.split(" + ")]
    assert found == expected, f"request {number}: expected {expected}, found {found}"


@then("the model reads {words:words}")
def step_reads(context: Context, words: list[str]) -> None:
    found = told(context, 2)
    assert len(found) == len(words), f"request 2: expected {len(words)} user messages, found {found}"
    for text, word in zip(found, words, strict=True):
        assert unfolded(word) in text, f"request 2: expected {unfolded(word)!r}, found {text!r}"


@then("the model reads nothing more")
def step_reads_nothing(context: Context) -> None:
    run: Run = context.run
    found = run.requests[1:]
    assert not found, f"expected the text to be the answer, found request 2 with {found[0][-1]}"
    expected = run.turns[0]["content"]
    assert run.finished().answer == expected, f"expected the answer {expected!r}, found {run.finished().answer!r}"


@then("the system message asks for a line {sentinel}")
def step_asks_for(context: Context, sentinel: str) -> None:
    found = context.run.requests[0][0]["content"]
    assert f"a line {sentinel} and then one line of JSON" in found, f"expected the sentinel {sentinel}, found {found}"


@then("each request that came in offers tools {how}")
def step_offers(context: Context, how: str) -> None:
    assert context.app.requests, "expected requests, found none"
    for request in context.app.requests:
        found = ("tools" in request.body, '"name": "calculate"' in str(request.messages[0]["content"]))
        expected = (how == "natively", how == "as text")
        assert found == expected, f"request {request.number}: expected tools {how}, found {request.raw!r}"


# --- Then: the end


@then("every tool call has a tool message in the history")
def step_paired(context: Context) -> None:
    problems = history_problems(context.run.messages, frozenset({"reasoning_content", "unknown"}))
    assert not problems, f"expected a history that providers take, found {problems[0]}"
    calls = [call for message in context.run.messages for call in message.get("tool_calls") or []]
    assert len(calls) == 3, f"expected 3 tool calls in the history, found {calls}"


@then("the answer reads as {text}")
def step_answer(context: Context, text: str) -> None:
    found = context.run.finished().answer
    assert found == unfolded(text), f"expected the answer {unfolded(text)!r}, found {found!r}"
