"""Steps for what a loop does: the task, the model's turns, the requests that went out, the history, the answer."""

import ast
import inspect
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from textwrap import indent
from types import SimpleNamespace

from behave import given, then, when
from behave.runner import Context

from hadr_agent.agent import agent_loop
from hadr_agent.scripted import ScriptedProvider, first_difference, history_problems
from hadr_agent.tools import Toolbox, tool

REQUIREMENTS = {
    1: "requirement 1 (the assistant turn goes into the history unchanged)",
    2: "requirement 2 (exactly one tool message for each tool call)",
    3: "requirement 3 (the loop stops at max_rounds)",
    4: "requirement 4 (the loop never calls next_tick)",
}


class World:
    """Something with a clock that only an outer runner may move."""

    def __init__(self) -> None:
        self.tick = 0

    def next_tick(self) -> None:
        self.tick += 1


@dataclass
class Run:
    """One run of a loop, and all that a scenario wants to know of it."""

    turns: list[dict[str, object]]
    system: list[dict[str, object]] = field(default_factory=list)
    max_rounds: int = 10
    streamed: bool = False
    options: dict[str, object] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)  # further arguments of the loop
    pieces: list[str] = field(default_factory=list)  # what a listener to the stream was told
    world: World = field(default_factory=World)
    ran: list[str] = field(default_factory=list)
    messages: list[dict[str, object]] = field(default_factory=list)
    provider: ScriptedProvider | None = None
    result: object = None
    warned: list[warnings.WarningMessage] = field(default_factory=list)
    raised: BaseException | None = None

    @property
    def requests(self) -> list[list[dict[str, object]]]:
        """The messages of each request, from its bytes."""
        return [request.messages for request in self.provider.requests]

    def sent(self, turn: int) -> dict[str, object]:
        """A turn as the model sends it, without what only its script knows."""
        return {key: value for key, value in self.turns[turn - 1].items() if key != "finish_reason"}

    def make_provider(self) -> ScriptedProvider:
        on_delta = self.pieces.append if self.streamed else None
        # Not strict: the scenarios say themselves what is wrong.
        return ScriptedProvider(self.turns, strict=False, on_delta=on_delta, **self.options)

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
        def fail() -> str:
            """Fail."""
            self.ran.append("fail")
            raise RuntimeError("disk on fire")

        @tool
        def look() -> str:
            """Look at the world."""
            self.ran.append("look")
            return f"tick {self.world.tick}"

        tools = Toolbox(add, echo, fail, look)
        tools.world = self.world  # at hand for a loop that wants to move it
        return tools

    def finished(self) -> SimpleNamespace:
        """The loop's result; fails if it raised instead."""
        assert self.raised is None, (
            f"{REQUIREMENTS[2]}: after request {len(self.provider.requests)} the loop raised "
            f"{type(self.raised).__name__}: {self.raised}"
        )
        return self.result

    def every_history(self) -> list[tuple[str, list[dict[str, object]]]]:
        """Each request's messages, and the history at the end, named."""
        named = [(f"request {number}", messages) for number, messages in enumerate(self.requests, 1)]
        return [*named, ("the history at the end", json.loads(json.dumps(self.messages)))]


def calls_of(message: dict[str, object]) -> list[dict[str, object]]:
    return message.get("tool_calls") or []


# --- Given


@given("the system prompt {text:json}")
def step_system(context: Context, text: str) -> None:
    context.system_prompt = [{"role": "system", "content": text}]


@given("the model's turns are")
def step_turns(context: Context) -> None:
    turns = [json.loads(line) for line in context.text.splitlines()]
    context.run = Run(
        turns,
        system=getattr(context, "system_prompt", []),
        world=getattr(context, "world", World()),
        streamed=getattr(context, "streamed", False),
    )


@given("a model that calls {calls:d} tools in every turn, for {count:d} turns")
def step_endless(context: Context, calls: int, count: int) -> None:
    def call(turn: int, place: int) -> dict[str, object]:
        function = {"name": "echo", "arguments": json.dumps({"text": f"{turn}.{place}"})}
        return {"id": f"call_{turn}_{place}", "type": "function", "function": function}

    numbers = range(1, count + 1)
    context.run = Run(
        [
            {"role": "assistant", "content": "Once more.", "tool_calls": [call(n, place) for place in range(calls)]}
            for n in numbers
        ]
    )


@given("at most {limit:d} rounds")
def step_limit(context: Context, limit: int) -> None:
    context.run.max_rounds = context.run.extra["max_rounds"] = limit


@given("no limit given")
def step_no_limit(context: Context) -> None:
    """The loop's own is tried."""


@given("a world is at hand, its clock at tick 0")
def step_world(context: Context) -> None:
    context.world = World()


# --- When


@when("the loop runs on the task {task:json}")
def step_run(context: Context, task: str) -> None:
    run: Run = context.run
    loop: Callable[..., object] = getattr(context, "loop_under_test", agent_loop)
    run.provider = run.make_provider()
    run.messages = [*run.system, {"role": "user", "content": task}]
    try:
        with warnings.catch_warnings(record=True) as run.warned:
            warnings.simplefilter("always")
            run.result = loop(run.provider, run.messages, run.tools(), **run.extra)
    except Exception as error:
        run.raised = error


# --- Then: requests


@then("the model is asked {count:d} time")
@then("the model is asked {count:d} times")
def step_asked(context: Context, count: int) -> None:
    run: Run = context.run
    found = len(run.provider.requests)
    if count == run.max_rounds or found > run.max_rounds:
        assert found == count, f"{REQUIREMENTS[3]}: expected {count} requests, found {found}"
    run.finished()
    assert found == count, f"expected {count} requests, found {found}"


@then("request {number:d} holds turn {turn:d} as the model sent it")
def step_replayed(context: Context, number: int, turn: int) -> None:
    run: Run = context.run
    assert len(run.requests) >= number, f"expected a request {number}, found {len(run.requests)} in all; {run.raised}"
    messages = run.requests[number - 1]
    before = len(run.requests[turn - 1])  # the turn belongs straight behind what it answered
    where = f"{REQUIREMENTS[1]}: request {number}, message {before + 1}"
    assert len(messages) > before, f"{where}: expected turn {turn}, found no such message"
    difference = first_difference(run.sent(turn), messages[before])
    assert not difference, f"{where}, {difference}"


@then("each request begins with the one before")
def step_prefix(context: Context) -> None:
    requests = context.run.provider.requests
    for before, after in pairwise(requests):
        if after.raw.startswith(before.raw.removesuffix(b"]}")):
            continue
        where = f"{REQUIREMENTS[1]}: request {after.number}"
        if difference := first_difference(before.body.get("tools"), after.body.get("tools"), "tools"):
            raise AssertionError(f"{where}, {difference}")
        for place, message in enumerate(before.messages):
            found = after.messages[place] if place < len(after.messages) else None
            difference = first_difference(message, found)
            assert not difference, f"{where}, message {place + 1}, {difference}"
        raise AssertionError(f"{where}: expected the bytes of request {before.number} first, found other bytes")


@then("each request offers the tools {names:json}")
def step_offered(context: Context, names: str) -> None:
    for request in context.run.provider.requests:
        found = ", ".join(tool["function"]["name"] for tool in request.body.get("tools", []))
        assert found == names, f"request {request.number}, tools: expected {names}; found: {found}"


@then("the arguments of call {ident:json} are replayed as {expected:json}")
def step_arguments(context: Context, ident: str, expected: str) -> None:
    run: Run = context.run
    for number, messages in enumerate(run.requests, 1):
        for place, message in enumerate(messages, 1):
            for at, call in enumerate(calls_of(message)):
                if call["id"] == ident:
                    found = call["function"].get("arguments")
                    where = f"request {number}, message {place}, tool_calls[{at}].function.arguments"
                    assert found == expected, f"{REQUIREMENTS[1]}: {where}: expected {expected!r}, found {found!r}"
                    return
    raise AssertionError(f"{REQUIREMENTS[1]}: expected call {ident!r} in request 2, found no such call; {run.raised!r}")


@then("the arguments of call {ident:json} are replayed as sent")
def step_arguments_as_sent(context: Context, ident: str) -> None:
    sent = next(call for turn in context.run.turns for call in calls_of(turn) if call["id"] == ident)
    step_arguments(context, ident, sent["function"]["arguments"])


# --- Then: tool messages


@then("every tool call has exactly one tool message, in call order")
def step_paired(context: Context) -> None:
    run: Run = context.run
    run.finished()
    for name, messages in run.every_history():
        protocol = [
            text
            for text in history_problems(messages, frozenset(key for m in messages for key in m))
            if "tool message" in text or "role" in text
        ]
        assert not protocol, f"{REQUIREMENTS[2]}: {name}, {protocol[0]}"
        called = [call["id"] for message in messages for call in calls_of(message)]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert called == answered, f"{REQUIREMENTS[2]}: {name}: expected tool messages for {called}, found {answered}"
    sent = [call["id"] for turn in run.turns[: len(run.requests)] for call in calls_of(turn)]
    kept = [call["id"] for message in run.messages for call in calls_of(message)]
    assert sent == kept, f"{REQUIREMENTS[2]}: the history at the end: expected the calls {sent}, found {kept}"


def answer_to(context: Context, ident: str) -> tuple[str, str]:
    run: Run = context.run
    for place, message in enumerate(run.messages, 1):
        if message.get("role") == "tool" and message.get("tool_call_id") == ident:
            return f"{REQUIREMENTS[2]}: request 2, message {place}, content", message["content"]
    raise AssertionError(f"{REQUIREMENTS[2]}: expected a tool message for call {ident!r}, found none; {run.raised!r}")


@then("call {ident:json} is answered with {expected:json}")
def step_answered(context: Context, ident: str, expected: str) -> None:
    where, found = answer_to(context, ident)
    assert found == expected, f"{where}: expected {expected!r}, found {found!r}"


@then("the answer to call {ident:json} says {part:json}")
def step_answer_says(context: Context, ident: str, part: str) -> None:
    where, found = answer_to(context, ident)
    assert part in found, f"{where}: expected a text with {part!r}, found {found!r}"


@then("the tools that ran are {names:json}")
def step_ran(context: Context, names: str) -> None:
    found = ", ".join(context.run.ran)
    assert found == names, f"expected these tools to run: {names}; found: {found}"


@then("the tools ran {count:d} times")
def step_ran_times(context: Context, count: int) -> None:
    found = len(context.run.ran)
    assert found == count, f"expected {count} runs of tools, found {found}"


# --- Then: the end


@then("the history ends with turn {turn:d} as the model sent it")
def step_last(context: Context, turn: int) -> None:
    run: Run = context.run
    run.finished()
    difference = first_difference(run.sent(turn), run.messages[-1])
    assert not difference, f"{REQUIREMENTS[1]}: the history, message {len(run.messages)}, {difference}"


@then("the answer is {expected:json}")
def step_answer(context: Context, expected: str) -> None:
    found = context.run.finished().answer
    assert found == expected, f"the displayed answer (without thinking): expected {expected!r}, found {found!r}"


@then("the loop stops as {stop:json} after {rounds:d} round")
@then("the loop stops as {stop:json} after {rounds:d} rounds")
def step_stop(context: Context, stop: str, rounds: int) -> None:
    result = context.run.finished()
    found = (result.stop, result.rounds)
    assert found == (stop, rounds), f"{REQUIREMENTS[3]}: expected {(stop, rounds)}, found {found}"


@then("the finish reason is {reason:json}")
def step_finish_reason(context: Context, reason: str) -> None:
    found = context.run.finished().finish_reason
    assert found == reason, f"expected the finish reason {reason!r}, found {found!r}"


@then("the run used {prompt:d} prompt tokens and {completion:d} completion tokens")
def step_used(context: Context, prompt: int, completion: int) -> None:
    used = context.run.finished().usage
    found = (used.prompt_tokens, used.completion_tokens)
    assert found == (prompt, completion), f"expected the usage {(prompt, completion)}, found {found}"


@then("nothing is warned of")
def step_no_warning(context: Context) -> None:
    found = [str(warning.message) for warning in context.run.warned]
    assert not found, f"expected no warning, found {found[0]}"


@then("the history can be continued")
def step_continue(context: Context) -> None:
    run: Run = context.run
    problems = history_problems(run.messages, frozenset(key for turn in run.turns for key in turn))
    assert not problems, f"{REQUIREMENTS[2]}: the history at the end: {problems[0]}"


@then("the clock of the world stands at tick {tick:d}")
def step_clock(context: Context, tick: int) -> None:
    found = context.run.world.tick
    assert found == tick, f"{REQUIREMENTS[4]}: expected the clock at tick {tick}, found tick {found}"


@then("the loop's own code calls no next_tick")
def step_no_tick(context: Context) -> None:
    loop = getattr(context, "loop_under_test", agent_loop)
    module = sys.modules[loop.__module__]
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        assert name != "next_tick", f"{REQUIREMENTS[4]}: line {node.lineno} of {module.__name__} names next_tick"


# --- Then: the whole history, for scenarios of one's own


def in_lines(messages: list[object]) -> list[str]:
    """A history with a line for each message and each tool call, also if a loop put what it should not into it."""
    found: list[str] = []
    for message in messages:
        if not isinstance(message, dict):
            found.append(f"{type(message).__name__}, not a dict: {message!r}")
            continue
        name = f"tool, {message.get('tool_call_id')}" if message.get("role") == "tool" else message.get("role")
        text = str(message.get("content") or "").replace("\n", "\\n")
        found.append(f"{name}: {text}".rstrip())
        for call in calls_of(message):
            function = call["function"] if isinstance(call, dict) and "function" in call else None
            shown = f"{call.get('id')}: {function.get('name')} {function.get('arguments')}" if function else repr(call)
            found.append(f"  {shown}".rstrip())
    return found


def quoted(line: str | None, otherwise: str = "nothing") -> str:
    return otherwise if line is None else f'"{line}"'


@then("the history reads")
def step_history_reads(context: Context) -> None:
    """The text: `role: content` for each message, `  id: name arguments` for each of its calls."""
    run: Run = context.run
    expected, found = [line.rstrip() for line in context.text.splitlines()], in_lines(run.messages)
    recorded = indent("\n".join(found), "  ")
    raised = f"; the loop raised {type(run.raised).__name__}: {run.raised}" if run.raised else ""
    for number, (line, other) in enumerate(zip_longest(expected, found), 1):
        requirement = REQUIREMENTS[2 if any(str(each).startswith("tool, ") for each in (line, other)) else 1]
        assert line == other, (
            f"{requirement}: the history, line {number}: expected {quoted(line)}, found {quoted(other)}{raised}\n"
            f"The recorded history:\n{recorded}"
        )
