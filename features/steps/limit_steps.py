"""Steps for limits: conditions that stop a run, a last answer, calls side by side, a turn of thousands of calls."""

import json
import re
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from behave import given, then, when
from behave.runner import Context
from cli_steps import folder, run
from loop_steps import Run

from hadr_agent.agent import Event, LoopResult
from hadr_agent.limits import any_of, repeated_call, token_budget
from hadr_agent.tools import Tool, Toolbox, ToolError, tool

SECONDS = 2  # that a tool waits for another one, which comes at once or never
LIMITS = {"token_budget": token_budget, "repeated_call": repeated_call}


@dataclass
class ManyTools(Run):
    """A run with further tools."""

    further: list[Tool] = field(default_factory=list)

    def tools(self) -> Toolbox:
        @tool
        def echo(text: str) -> str:
            self.ran.append("echo")
            return text

        return Toolbox(echo, *self.further)


def waiting_tools() -> list[Tool]:
    """Tools of which the first can only end when the second has run beside it."""
    steady_ran = threading.Event()
    both = threading.Barrier(2)

    @tool(parallel_safe=True)
    def ready() -> str:
        try:
            both.wait(SECONDS)
        except threading.BrokenBarrierError:
            raise ToolError("nobody else came") from None
        steady_ran.wait(SECONDS)
        return "ready after steady"

    @tool(parallel_safe=True)
    def steady() -> str:
        if not both.broken:
            both.wait(SECONDS)
        steady_ran.set()
        return "steady"

    return [ready, steady]


def wire_call(ident: str, name: str, arguments: str = "{}") -> dict[str, object]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


def turn_of(names: list[str]) -> dict[str, object]:
    calls = [wire_call(f"call_{place}", name) for place, name in enumerate(names)]
    return {"role": "assistant", "content": "", "tool_calls": calls}


# --- Given


@given("a model that echoes {letters:d} letters in each round and reports {usage}")
def step_echoes(context: Context, letters: int, usage: str) -> None:
    counted = [int(number) for number in re.findall(r"\d+(?= prompt| completion)", usage)]
    reported = dict(zip(("prompt_tokens", "completion_tokens"), counted, strict=False)) or None
    turns = []
    for number in range(1, 9):
        call = {"name": "echo", "arguments": {"text": f"{number}{'x' * letters}"}}
        turns.append({"calls": [call], "usage": None if "in round 1" in usage and number > 1 else reported})
    context.run = Run(turns)


@given("stop_when is {name:w}({number:d})")
def step_stop_when(context: Context, name: str, number: int) -> None:
    context.run.extra["stop_when"] = LIMITS[name](number)


@given("the model calls, round after round, {calls}, and then says {text:json}")
def step_rounds(context: Context, calls: str, text: str) -> None:
    run = context.run = Run([])
    for number, words in enumerate(calls.split(" / ")):
        made = []
        for place, call in enumerate(words.split(" + ")):
            name, _, arguments = call.partition(" ")
            made.append(wire_call(f"call_{number}_{place}", "look" if name == "tick" else name, arguments))
            if name == "custom":  # a kind of call that nobody offered
                made[-1] = {"id": made[-1]["id"], "type": "custom", "custom": {"name": "grep", "input": "x"}}
        run.turns.append({"role": "assistant", "content": "", "tool_calls": made})
    run.turns.append({"say": text})

    def tick(event: Event) -> None:
        if event.kind == "request" and "tick" in calls:
            run.world.next_tick()  # as an outer runner does

    run.extra["on_event"] = tick


@given("stop_when is any of conditions that say {reasons:words}")
def step_any_of(context: Context, reasons: list[str]) -> None:
    context.asked = [[] for _ in reasons]

    def condition(reason: str, asked: list[int]) -> Callable[[LoopResult], str | None]:
        word, number = reason.split(" in round ")

        def says(result: LoopResult) -> str | None:
            asked.append(result.rounds)
            return word if result.rounds == int(number) else None

        return says

    context.run.extra["stop_when"] = any_of(*map(condition, reasons, context.asked))


@given("it said {words:words}")
def step_said(context: Context, words: list[str]) -> None:
    for each in words:
        assert each in context.stderr, f"expected {each!r}, found {context.stderr!r}"


@given("the tools ready and steady, which wait for each other and are marked parallel_safe")
def step_waiting(context: Context) -> None:
    context.further = waiting_tools()


@given("the model calls {names} in a turn")
def step_calls(context: Context, names: str) -> None:
    context.run = ManyTools([turn_of(names.split(", ")), {"say": "Done."}], further=context.further)


@given("a model that calls {name:w}, which returns {letters:d} letters, {count:d} times in a turn")
def step_thousands(context: Context, name: str, letters: int, count: int) -> None:
    def big() -> str:
        run.ran.append(name)
        return "x" * letters

    big.__name__ = name
    made = tool(parallel_safe=name.endswith("_safe"))(big)
    run = context.run = ManyTools([turn_of([name] * count), {"say": "Done."}], further=[made])


# --- When


@when("a limit is made by {code}")
def step_make(context: Context, code: str) -> None:
    try:
        eval(code, dict(LIMITS))
        context.error = None
    except Exception as error:
        context.error = error


@when("I run the command that it named")
def step_run_named(context: Context) -> None:
    found = re.findall(r"hadr-agent (.*--continue.*)", context.stderr)
    assert len(found) == 1, f"expected one command, found {context.stderr!r}"
    run(context, shlex.split(found[0]))


# --- Then


@then("each condition was asked {count:d} times")
def step_asked(context: Context, count: int) -> None:
    expected = [list(range(1, count + 1))] * len(context.asked)
    assert context.asked == expected, f"expected each to be asked in {expected}, found {context.asked}"


@then("each of {count:d} requests that came in but for its tool_choice begins with the bytes of the one before")
def step_same_but_choice(context: Context, count: int) -> None:
    raws = [request.raw.replace(b'"tool_choice": "none", ', b"") for request in context.app.requests]
    assert len(raws) == count, f"expected {count} requests, found {len(raws)}"
    for before, after in pairwise(raws):
        start = before.removesuffix(b"]}")
        assert after.startswith(start), f"expected {start!r} first, found {after!r}"


@then("the last of them ends with one more user message, and with tool_choice none if it offers tools")
def step_last_request(context: Context) -> None:
    first, last = (request.body for request in context.app.requests[-2:])
    roles = [message["role"] for message in last["messages"][len(first["messages"]) :]]
    assert roles[-1] == "user" and len(roles) == 3, f"expected a turn, a result and a user message, found {roles}"
    expected = "none" if "tools" in last else None  # without tools it is a 400: platform.openai.com, chat/create
    assert last.get("tool_choice") == expected, f"expected tool_choice {expected}, found {last.get('tool_choice')}"
    assert "tool_choice" not in first, f"expected no tool_choice in the round before, found {first['tool_choice']}"


@then("the session ends with {role:w} {content:json}")
def step_ends(context: Context, role: str, content: str) -> None:
    last = json.loads((folder(context) / "s.jsonl").read_bytes().splitlines()[-1])
    found = (last["role"], last["content"])
    assert found == (role, content), f"expected {(role, content)}, found {found}"


@then("the tool messages of request {number:d} have less than {limit:d} characters")
def step_bounded(context: Context, number: int, limit: int) -> None:
    messages = context.run.requests[number - 1]
    found = sum(len(message["content"]) for message in messages if message["role"] == "tool")
    assert 0 < found < limit, f"request {number}: expected less than {limit} characters of results, found {found}"
