"""Steps for one model call: how a reply arrives, what the request's bytes are, what the loop gets to see."""

import json
import re

import httpx2
from behave import given, then, when
from behave.runner import Context
from hypothesis import HealthCheck, settings
from hypothesis import given as for_all
from hypothesis import strategies as st
from loop_steps import Run
from openai import OpenAI

from hadr_agent.agent import agent_loop
from hadr_agent.provider import OpenAIProvider, ProviderError, Usage
from hadr_agent.scripted import Script, ScriptedApp, first_difference

FRESH_ID = re.compile(r"[A-Za-z0-9]{9}")


def reply_with(context: Context, body: str, kind: str = "application/json", status: int = 200) -> None:
    """The next reply is this body, whatever it is."""
    fault = {"status": status, "body": body, "content_type": kind}
    options = getattr(context, "options", {})
    context.run = Run([{"fault": fault}], options=options, streamed=kind == "text/event-stream")


def message_seen(context: Context) -> dict[str, object]:
    run: Run = context.run
    assert run.raised is None, f"expected a turn, found {run.raised!r}"
    return run.result.choices[0].message.to_dict(mode="python")


# --- Given


@given("replies are {how}")
def step_streamed(context: Context, how: str) -> None:
    context.streamed = how == "streamed"
    if "run" in context:
        context.run.streamed = context.streamed


@given("the options temperature {temperature:f} and seed {seed:d}")
def step_options(context: Context, temperature: float, seed: int) -> None:
    context.options = {"temperature": temperature, "seed": seed}


@given("the key {key:json}")
def step_key(context: Context, key: str) -> None:
    context.key = key


@given("the reply")
def step_reply(context: Context) -> None:
    reply_with(context, context.text)


@given("a reply with status {status:d} and the body {body}")
def step_body(context: Context, status: int, body: str) -> None:
    reply_with(context, body, "text/html" if body.startswith("<") else "application/json", status)


@given("the reply's message is {message}")
def step_message(context: Context, message: str) -> None:
    reply_with(context, f'{{"choices": [{{"index": 0, "message": {message}, "finish_reason": "stop"}}]}}')


@given("the reply's usage is {usage}")
def step_usage(context: Context, usage: str) -> None:
    reply_with(context, f'{{"choices": [{{"message": {{"content": "Hi"}}}}], "usage": {usage}}}')


@given("the reply is streamed as")
def step_stream_pieces(context: Context) -> None:
    chunks = [{"choices": [{"index": 0, "delta": json.loads(piece)}]} for piece in context.text.split(" + ")]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    reply_with(context, f"{lines}data: [DONE]\n\n", "text/event-stream")


@given("the stream's lines are")
def step_stream_lines(context: Context) -> None:
    reply_with(context, "".join(f"{line}\r\n\r\n" for line in context.text.splitlines()), "text/event-stream")


CHUNKS = {
    "a": '{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "a\u2028"}}]}',
    "b": '{"choices": [{"index": 0, "delta": {"content": "b"}}]}',
    "b, in two lines": '{"choices": [{"index": 0,\ndata: "delta": {"content": "b"}}]}',
    "another choice": '{"choices": [{"index": 1, "delta": {"content": "B"}}]}',
    "no choice": '{"choices": [{"index": 0}]}',
    "end": '{"choices": [{"index": 0, "delta": null, "finish_reason": "stop"}]}',
}


@given("the stream's text is {text:json}")
def step_stream_text(context: Context, text: str) -> None:
    for name, chunk in CHUNKS.items():
        text = text.replace(f"[{name}]", chunk)
    reply_with(context, text, "text/event-stream")


# --- When


def ask(context: Context, tools: list[dict[str, object]]) -> None:
    run: Run = context.run
    provider = run.provider = run.make_provider()
    if "key" in context:
        app = httpx2.WSGITransport(ScriptedApp(Script(run.turns).next_turn))
        client = OpenAI(
            base_url="http://scripted.invalid/v1", api_key=context.key, http_client=httpx2.Client(transport=app)
        )
        provider = OpenAIProvider(client, "scripted")
    try:
        run.result = provider.complete([{"role": "user", "content": "Hello"}], tools)
    except ProviderError as error:
        run.raised = error


@when("the model is asked")
def step_ask(context: Context) -> None:
    ask(context, context.run.tools().specs)


@when("the model is asked without tools")
def step_ask_without_tools(context: Context) -> None:
    ask(context, [])


def anything() -> st.SearchStrategy[object]:
    """Any JSON value, with any character in its texts."""
    text = st.text(st.characters(exclude_categories=()), max_size=20)
    leaves = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | text
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=5
    )


def assistant_turns() -> st.SearchStrategy[list[dict[str, object]]]:
    """Sequences of assistant turns from the nasty end of what models and servers produce."""
    text = st.text(st.characters(exclude_categories=()), max_size=20)
    valid = st.sampled_from(['{"a": 1, "b": 2}', '{ "text" :"x"}', "{}", '{"text": "\\ud83d"}', '{"a":1,"b":"2"}'])
    broken = st.sampled_from(["", " ", "null", "[1]", '"x"', "5", '{"text": "hel', "{}{}", '{"a": NaN}', "[" * 5000])
    arguments = valid | broken | text | st.none() | st.dictionaries(text, anything(), max_size=2)
    names = st.sampled_from(["add", "echo", "fail", "look", "nope", "", "functions.add"]) | st.none()
    extras = st.dictionaries(st.sampled_from(["x", "extra_content", "reasoning_content"]), anything(), max_size=2)
    function = st.fixed_dictionaries({}, optional={"name": names, "arguments": arguments, "y": anything()})
    idents = st.sampled_from(["", "call_1", "call_2", "grep:3"]) | st.none()
    call = st.builds(
        lambda fields, more: {**fields, **more},
        st.fixed_dictionaries(
            {"function": function}, optional={"id": idents, "type": st.sampled_from(["function", None])}
        ),
        extras,
    )
    contents = text | st.none() | st.sampled_from(["<think>\nhm\n</think>\n\nLet me see.", "<think>cut", "a</think> b"])
    optional = {
        "content": contents,
        "tool_calls": st.lists(call, max_size=3),
        "finish_reason": st.sampled_from(["stop", "length"]),
    }
    turn = st.builds(
        lambda fields, more: {**fields, **more},
        st.fixed_dictionaries({"role": st.sampled_from(["assistant", None])}, optional=optional),
        extras,
    )
    return st.lists(turn, min_size=1, max_size=4)


@when("models answer with whatever JSON allows, unstreamed and streamed")
def step_anything(context: Context) -> None:
    context.outcomes = []

    @settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @for_all(assistant_turns())
    def play(turns: list[dict[str, object]]) -> None:
        runs = [Run(turns), Run(turns, streamed=True)]
        for run in runs:
            run.provider = run.make_provider()
            run.messages = [{"role": "user", "content": "Go on"}]
            try:
                while run.provider.script.played < len(turns):
                    agent_loop(
                        run.provider, run.messages, run.tools(), max_rounds=len(turns) - run.provider.script.played
                    )
                    run.messages.append({"role": "user", "content": "Go on"})
            except ProviderError as error:
                run.raised = error
        context.outcomes.append(runs)

    play()


# --- Then: the requests


@then("each request is the beginning of the next one, to the byte")
def step_beginning(context: Context) -> None:
    providers = (
        [run.provider for runs in context.outcomes for run in runs] if "outcomes" in context else [context.run.provider]
    )
    for provider in providers:
        for before, after in zip(provider.requests, provider.requests[1:], strict=False):
            start = before.raw.removesuffix(b"]}")
            assert start != before.raw and after.raw.startswith(start), f"expected {start!r} first, found {after.raw!r}"


def assert_keys(requests: list[object], keys: str) -> None:
    for request in requests:
        found = ", ".join(request.body)
        assert found == keys, f"request {request.number}: expected the keys {keys}; found {found}"


@then('each request holds "{keys}" in this order')
def step_keys(context: Context, keys: str) -> None:
    assert_keys(context.run.provider.requests, keys)


@then('requests {first:d} to {last:d} hold "{keys}" in this order')
def step_keys_of(context: Context, first: int, last: int, keys: str) -> None:
    found = context.run.provider.requests
    assert len(found) == last, f"expected {last} requests, found {len(found)}"
    assert_keys(found[first - 1 :], keys)


@then("each request is ASCII")
def step_ascii(context: Context) -> None:
    assert all(request.raw.isascii() for request in context.run.provider.requests), (
        "expected only ASCII, found other bytes"
    )


@then("all {count:d} requests are the same bytes")
def step_same(context: Context, count: int) -> None:
    found = [request.raw for request in context.run.provider.requests]
    assert len(found) == count and len(set(found)) == 1, f"expected {count} equal requests, found {found}"


@then("no request breaks a rule of the strict provider")
def step_no_violation(context: Context) -> None:
    for runs in context.outcomes:
        for run in runs:
            problems = [problem for request in run.provider.requests for problem in request.problems]
            assert not problems and run.raised is None, f"turns {run.turns}: found {problems or run.raised!r}"


@then("streamed and unstreamed turns end up as the same history")
def step_same_history(context: Context) -> None:
    for plain, streamed in context.outcomes:
        texts = [
            re.sub(r'"(?:id|tool_call_id)": "[^"]*"', '"id": "*"', json.dumps(run.messages, sort_keys=True))
            for run in (plain, streamed)
        ]
        assert texts[0] == texts[1], f"expected {texts[0]}, found {texts[1]}"


# --- Then: the reply


@then("the turn that the loop sees is {expected}")
def step_seen(context: Context, expected: str) -> None:
    found, wanted = message_seen(context), json.loads(expected)
    for call, want in zip(found.get("tool_calls") or [], wanted.get("tool_calls") or [], strict=True):
        if want["id"] == "*":
            assert FRESH_ID.fullmatch(call["id"]), f"expected an id of nine letters or digits, found {call['id']!r}"
            want["id"] = call["id"]
    difference = first_difference(wanted, found)
    assert not difference, str(difference)


@then("the turn's calls are {expected}")
def step_calls(context: Context, expected: str) -> None:
    calls = message_seen(context)["tool_calls"]
    shown = [f"{call['id']} {call['function']['name']} {call['function']['arguments']}" for call in calls]
    shown = [FRESH_ID.sub("*", text, count=1) if FRESH_ID.match(text) else text for text in shown]
    assert ", ".join(shown) == expected, f"expected {expected}, found {', '.join(shown)}"


@then("the usage is {prompt} prompt, {cached} cached, {completion} completion and {reasoning} reasoning tokens")
def step_usage_is(context: Context, prompt: str, cached: str, completion: str, reasoning: str) -> None:
    message_seen(context)
    numbers = [None if text == "None" else int(text) for text in (prompt, cached, completion, reasoning)]
    expected, found = Usage(*numbers), Usage.of(context.run.result)
    assert found == expected, f"expected {expected}, found {found}"


@then("the pieces shown are {expected}")
def step_pieces(context: Context, expected: str) -> None:
    found = context.run.pieces
    assert found == json.loads(expected), f"expected {expected}, found {found}"


# --- Then: errors


@then('the call fails and says "{words}"')
def step_fails_saying(context: Context, words: str) -> None:
    error = context.run.raised
    assert isinstance(error, ProviderError), f"expected a ProviderError, found {error or context.run.result!r}"
    context.error = str(error)
    assert words in context.error, f"expected {words!r}, found {context.error!r}"
    assert len(context.error.splitlines()) <= 2, f"expected one or two lines, found {context.error!r}"


@then("the error names the URL and what to look at")
def step_names_url(context: Context) -> None:
    for part in ("http://scripted.invalid/v1/chat/completions", "Look at|Wait|Try again|refused the request"):
        assert re.search(part, context.error), f"expected {part!r}, found {context.error!r}"


@then("the error tells to look at {name}")
def step_tells(context: Context, name: str) -> None:
    assert f"Look at {name}" in context.error, f"expected to be told to look at {name}, found {context.error!r}"


@then("the history is the task alone")
def step_task_alone(context: Context) -> None:
    roles = [message["role"] for message in context.run.messages]
    assert roles == ["user"], f"expected the task alone, found messages of {roles}"
