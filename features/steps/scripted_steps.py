"""Steps for the scripted provider: what it plays, what it refuses, what it counts, how it is served."""

import json
import threading
import urllib.error
import urllib.request

from behave import given, then, when
from behave.runner import Context
from loop_steps import Run

from hadr_agent.agent import agent_loop
from hadr_agent.provider import ProviderError, Usage
from hadr_agent.scripted import (
    Script,
    ScriptedApp,
    ScriptedProvider,
    ScriptError,
    StandIn,
    first_difference,
    server,
)
from hadr_agent.tools import Toolbox


def objects(text: str) -> list[dict[str, object]]:
    """JSON objects that stand one after the other."""
    found, decoder, at = [], json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


@given('a script of one turn "{text}"')
def step_one_turn(context: Context, text: str) -> None:
    context.provider = ScriptedProvider([text])


@given('a script of the turns "{one}", "{two}" and "{three}"')
def step_three_turns(context: Context, one: str, two: str, three: str) -> None:
    context.provider = ScriptedProvider([one, two, three])


@given("a script file")
def step_script_file(context: Context) -> None:
    context.provider = ScriptedProvider(Script.parse(context.text))


@given("the stand-in is served on this machine")
def step_served(context: Context) -> None:
    serving = server(ScriptedApp(StandIn.bundled().next_turn))
    context.url = f"http://127.0.0.1:{serving.server_port}"
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    context.add_cleanup(serving.server_close)
    context.add_cleanup(serving.shutdown)


@when("this history is sent")
def step_send(context: Context) -> None:
    try:
        context.provider.complete(objects(context.text), [])
        context.error = None
    except ProviderError as error:
        context.error = error


@when("the loop runs once inside its with block")
def step_with_block(context: Context) -> None:
    try:
        with context.provider as provider:
            agent_loop(provider, [{"role": "user", "content": "Hello"}], Toolbox())
        context.error = None
    except ScriptError as error:
        context.error = error


@when('the loop plays it on the task "{task}"')
def step_play(context: Context, task: str) -> None:
    context.messages = [{"role": "user", "content": task}]
    agent_loop(context.provider, context.messages, Toolbox())


@when("a script is read from {text}")
def step_read(context: Context, text: str) -> None:
    try:
        Script.parse(text.replace(" / ", "\n"))
        context.error = None
    except ScriptError as error:
        context.error = error


@when("the history is sent again after the first answer with {change}")
def step_again(context: Context, change: str) -> None:
    run: Run = context.run
    run.provider = ScriptedProvider(run.turns, strict=False)
    specs = run.tools().specs
    task = {"role": "user", "content": "Do it"}
    run.provider.complete([task], specs)
    turn, answer = run.turns[0], {"role": "tool", "tool_call_id": "c1", "content": "tick 0"}
    changed = {
        "nothing changed": ([task, turn, answer], specs),
        "its thinking removed": ([task, {**turn, "content": "One."}, answer], specs),
        "another tool order": ([task, turn, answer], specs[::-1]),
        "another task": ([{**task, "content": "Do it now"}, turn, answer], specs),
    }
    context.usage = Usage.of(run.provider.complete(*changed[change]))
    context.sent = (
        json.dumps(specs, sort_keys=True) + json.dumps(task, sort_keys=True) + json.dumps(turn, sort_keys=True)
    )


@when('another client asks "{task}" at {path}')
def step_other_client(context: Context, task: str, path: str) -> None:
    body = json.dumps({"model": "any", "messages": [{"role": "user", "content": task}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{context.url}{path}", body)) as reply:
        context.reply = json.load(reply)


@then('the answer is an error with status {status:d} that says "{words}"')
def step_refused(context: Context, status: int, words: str) -> None:
    assert context.error is not None, "expected the history to be refused, found an answer"
    assert context.error.status == status, f"expected status {status}, found {context.error.status}"
    assert words in str(context.error), f"expected {words!r}, found {context.error!s}"


@then('leaving the block fails and says "{words}"')
@then('reading fails and says "{words}"')
def step_script_error(context: Context, words: str) -> None:
    assert context.error is not None and words in str(context.error), f"expected {words!r}, found {context.error!r}"


@then("the history ends with {expected}")
def step_history_ends(context: Context, expected: str) -> None:
    difference = first_difference(json.loads(expected), context.messages[-1])
    assert not difference, str(difference)


@then("the second request has {share} of the first and its answer cached")
def step_cached(context: Context, share: str) -> None:
    whole = len(context.sent) // 4
    found = context.usage.cached_tokens
    assert (found == whole) if share == "all" else (0 < found < whole), f"expected {share} of {whole}, found {found}"


@then('the place where the prefix broke is "{place}"')
@then('the place where the prefix broke is ""')
def step_place(context: Context, place: str = "") -> None:
    found = context.run.provider.requests[1].cache_break
    assert str(found or "").startswith(place) and bool(found) == bool(place), f"expected {place!r}, found {found!s}"


@then('it gets an assistant turn that mentions "{word}"')
def step_mentions(context: Context, word: str) -> None:
    message = context.reply["choices"][0]["message"]
    assert message["role"] == "assistant" and word in message["content"], f"expected {word!r}, found {message}"


@then("it finds a model in {path}")
def step_models(context: Context, path: str) -> None:
    with urllib.request.urlopen(f"{context.url}{path}") as reply:
        found = json.load(reply)
    assert found["data"][0]["object"] == "model", f"expected a list of models, found {found}"


@then("it gets a 404 that says what is served at {path}")
def step_not_found(context: Context, path: str) -> None:
    try:
        urllib.request.urlopen(f"{context.url}{path}")
    except urllib.error.HTTPError as error:
        said = json.load(error)["error"]["message"]
        assert error.code == 404 and "chat/completions" in said, f"expected a 404, found {error.code}: {said}"
    else:
        raise AssertionError("expected a 404, found an answer")
