"""Steps for what a session looks like from outside: its file, its page, its picture, what the provider was asked."""

import json
import re
import threading
import xml.etree.ElementTree

from behave import given, then, when
from behave.runner import Context
from cli_steps import folder
from loop_steps import Run
from openai import OpenAI

from hadr_agent.provider import OpenAIProvider, ProviderError
from hadr_agent.scripted import Script, ScriptedApp, server


def text_of(context: Context, name: str) -> str:
    return (folder(context) / name).read_text(encoding="utf-8")


@given("a provider with a time limit of {limit:f} seconds, and a model that takes {seconds:d}")
def step_slow(context: Context, limit: float, seconds: int) -> None:
    serving = server(ScriptedApp(Script([{"say": "Late.", "fault": {"delay": seconds}}]).next_turn))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    context.add_cleanup(serving.server_close)
    context.add_cleanup(serving.shutdown)
    url = f"http://127.0.0.1:{serving.server_port}/v1"
    client = OpenAI(base_url=url, api_key="none", timeout=limit, max_retries=0)
    context.provider = OpenAIProvider(client, "slow")


@when("the model is asked once")
def step_ask_once(context: Context) -> None:
    context.run = Run([])
    try:
        context.run.result = context.provider.complete([{"role": "user", "content": "Hello"}], [])
    except ProviderError as error:
        context.run.raised = error


@then("stdout says, in this order")
def step_order(context: Context) -> None:
    at = 0
    for row in context.table:
        found = context.stdout.find(row["text"], at)
        assert found >= 0, (
            f"expected {row['text']!r} behind {context.stdout[:at][-80:]!r}, found {context.stdout[at:]!r}"
        )
        at = found + len(row["text"])


@then('stdout says "{text}" once')
def step_once(context: Context, text: str) -> None:
    found = context.stdout.count(text)
    assert found == 1, f"expected {text!r} once, found it {found} times in {context.stdout!r}"


@then("stdout is empty")
def step_no_stdout(context: Context) -> None:
    assert context.stdout == "", f"expected nothing on stdout, found {context.stdout!r}"


@then('the file "{name}" says {text:json}')
def step_file_says(context: Context, name: str, text: str) -> None:
    found = text_of(context, name)
    assert text in found, f"expected {text!r} in {name}, found {found!r}"


@then('the file "{name}" holds a bar for each of {count:d} rounds')
def step_bars(context: Context, name: str, count: int) -> None:
    bars = re.findall(r'<div class="bar".*?</div>', text_of(context, name))
    assert len(bars) == count, f"expected {count} bars, found {len(bars)}"
    for bar in bars:
        widths = [float(width) for width in re.findall(r"width:([\d.]+)%", bar)]
        assert len(widths) == 3 and 0 < sum(widths) <= 100.1, f"expected three parts of at most 100 %, found {widths}"


@then('the file "{name}" refers to no other file, runs no script and fits a phone')
def step_self_contained(context: Context, name: str) -> None:
    found = text_of(context, name)
    outside = re.findall(r"(?i)<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import|\bon\w+=", found)
    assert not outside, f"expected a page that stands alone, found {outside}"
    assert 'name="viewport"' in found, "expected a viewport for phones, found none"


@then('the file "{name}" is XML and refers to no other file')
def step_svg(context: Context, name: str) -> None:
    found = text_of(context, name)
    root = xml.etree.ElementTree.fromstring(found)
    assert root.tag.endswith("svg"), f"expected an SVG, found {root.tag}"
    outside = re.findall(r"https?://(?!www\.w3\.org)\S+", re.sub(r"<!--.*?-->", "", found, flags=re.DOTALL))
    assert not outside, f"expected a picture that stands alone, found {outside}"


@then('the session "{name}" holds "{roles}"')
def step_session_holds(context: Context, name: str, roles: str) -> None:
    lines = text_of(context, name).splitlines()
    found = ", ".join(json.loads(line)["role"] for line in lines)
    assert found == roles, f"expected {roles}; found {found}"


@then("request {later:d} to the model begins with request {earlier:d}, and both end in what was said")
def step_begins(context: Context, later: int, earlier: int) -> None:
    one, other = (context.app.requests[number - 1] for number in (earlier, later))
    assert other.raw.startswith(one.raw.removesuffix(b"]}")), f"expected {one.raw!r} first, found {other.raw!r}"
    roles = [message["role"] for message in other.messages]
    expected = ["system", "user", "assistant", "tool", "assistant", "user"]
    assert roles == expected, f"expected {expected}, found {roles}"


@then("the last request to the model answers {count:d} calls as interrupted")
def step_answers_interrupted(context: Context, count: int) -> None:
    found = [message["content"] for message in context.app.requests[-1].messages if message["role"] == "tool"]
    assert len(found) == count and all("interrupted" in text for text in found), f"expected {count}, found {found}"


@then("the model was not asked")
def step_not_asked(context: Context) -> None:
    assert not context.app.requests, f"expected no request, found {len(context.app.requests)}"


@then("the model was asked {count:d} times")
def step_model_asked(context: Context, count: int) -> None:
    found = len(context.app.requests)
    assert found == count, f"expected {count} requests, found {found}"


@then('no request holds "{text}"')
def step_no_request(context: Context, text: str) -> None:
    found = [request.number for request in context.app.requests if text.encode() in request.raw]
    assert context.app.requests and not found, f"expected no request with {text!r}, found requests {found}"


@then('the model was asked under "{one}" {first:d} times and under "{other}" {second:d} times')
def step_asked_under(context: Context, one: str, first: int, other: str, second: int) -> None:
    found = [request.messages[0]["content"] for request in context.app.requests]
    expected = [one] * first + [other] * second
    assert found == expected, f"expected the system prompts {expected}, found {found}"


@then('the requests hold "{words}"')
def step_requests_hold(context: Context, words: str) -> None:
    found = "; ".join(
        ", ".join(f"{message['role']}: {message['content']}" for message in request.messages)
        for request in context.app.requests
    )
    assert found == words, f"expected the requests {words}; found {found}"
