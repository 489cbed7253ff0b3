"""Steps for how a run ends: stop conditions, interrupts, listeners."""

import contextlib
from dataclasses import FrozenInstanceError, fields

from behave import given, then, when
from behave.runner import Context
from loop_steps import Run
from openai.types.chat import ChatCompletion

from hadr_agent.agent import Event, LoopResult, agent_loop
from hadr_agent.scripted import history_problems
from hadr_agent.tools import Toolbox, ToolResult, tool


class Listener:
    """Hears the events of a run, and may be interrupted at one of them."""

    def __init__(self, interrupted_at: str | None = None) -> None:
        self.heard: list[Event] = []
        self.interrupted_at = interrupted_at

    def __call__(self, event: Event) -> None:
        self.heard.append(event)
        if event.kind == self.interrupted_at:
            raise KeyboardInterrupt


@given('stop_when stops after {rounds:d} rounds as "{reason}"')
def step_stop_when(context: Context, rounds: int, reason: str) -> None:
    context.seen = []

    def stop_when(result: LoopResult) -> str | None:
        context.seen.append((result.rounds, history_problems(result.messages)))
        return reason if result.rounds == rounds else None

    context.run.extra = {"stop_when": stop_when}


@given("the model calls {names} in one turn")
def step_calls(context: Context, names: str) -> None:
    arguments = {"add": {"a": 1, "b": 1}}
    calls = [{"name": name, "arguments": arguments.get(name, {})} for name in names.split(", ")]
    context.run = Run([{"calls": calls}, {"say": "Never reached."}])


@given("a listener")
def step_listener(context: Context) -> None:
    context.listener = Listener()
    context.run.extra = {"on_event": context.listener}


@given("a listener that is interrupted at the first tool result")
def step_interrupted_listener(context: Context) -> None:
    context.run.extra = {"on_event": Listener("tool_result")}


@when('the loop runs on the task "{task}" and is interrupted')
def step_interrupted(context: Context, task: str) -> None:
    run: Run = context.run

    @tool
    def add(a: int, b: int) -> int:
        return a + b

    @tool
    def fail() -> None:
        raise RuntimeError("disk on fire")

    @tool
    def interrupt() -> None:
        raise KeyboardInterrupt

    run.provider = run.make_provider()
    run.messages = [{"role": "user", "content": task}]
    try:
        agent_loop(run.provider, run.messages, Toolbox(add, fail, interrupt), **run.extra)
    except KeyboardInterrupt as error:
        run.raised = error


@then("the interrupt came through")
def step_came_through(context: Context) -> None:
    found = context.run.raised
    assert isinstance(found, KeyboardInterrupt), f"expected the interrupt to go on, found {found!r}"


@then('the calls are answered with "{parts}"')
def step_answers(context: Context, parts: str) -> None:
    found = [str(message["content"]) for message in context.run.messages if message["role"] == "tool"]
    expected = parts.split(", ")
    assert len(found) == len(expected), f"expected {len(expected)} tool messages, found {found}"
    for part, text in zip(expected, found, strict=True):
        assert part in text, f"expected {part!r}, found {text!r}"


@then('stop_when saw rounds "{rounds}", each with every call answered')
def step_saw(context: Context, rounds: str) -> None:
    found = ", ".join(str(number) for number, _ in context.seen)
    assert found == rounds, f"expected stop_when to be asked after rounds {rounds}, found {found}"
    problems = [problem for _, problems in context.seen for problem in problems]
    assert not problems, f"expected every call answered, found {problems[0]}"


@then('the listener heard "{events}"')
def step_heard(context: Context, events: str) -> None:
    found = ", ".join(f"{event.round} {event.kind}" for event in context.listener.heard)
    assert found == events, f"expected {events}; found {found}"


@then("turns come with their completion, tool results with their result, requests with neither")
def step_told(context: Context) -> None:
    carried = {"request": (None, None), "assistant_turn": (ChatCompletion, None), "tool_result": (None, ToolResult)}
    for event in context.listener.heard:
        found = tuple(None if value is None else type(value) for value in (event.completion, event.result))
        assert found == carried[event.kind], f"{event.kind}: expected {carried[event.kind]}, found {found}"


@then("neither the result nor what the listener heard can be changed")
def step_frozen(context: Context) -> None:
    for thing in (context.run.finished(), *context.listener.heard):
        with contextlib.suppress(FrozenInstanceError):
            setattr(thing, fields(thing)[0].name, None)
            raise AssertionError(f"expected a {type(thing).__name__} that cannot be changed, found one that was")


@then("the listener got the exception of the tool that failed")
def step_got_exception(context: Context) -> None:
    results = [event.result for event in context.listener.heard if event.result]
    found = [type(result.exception).__name__ for result in results]
    assert found == ["NoneType", "RuntimeError"], f"expected the second result to carry a RuntimeError, found {found}"


@then('the history holds "{roles}"')
def step_roles(context: Context, roles: str) -> None:
    found = ", ".join(str(message["role"]) for message in context.run.messages)
    assert found == roles, f"expected {roles}; found {found}"
