"""Steps for sessions: what stands in the file, what is mended, who may go on with it."""

import json
import re
import tempfile
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from cli_steps import folder, run
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from loop_steps import Run

from hadr_agent.agent import Event, agent_loop
from hadr_agent.scripted import Request, history_problems
from hadr_agent.transcript import Transcript, load

NAME = "s.jsonl"
# Spaces and letters as no writer of ours would put them: a line that is written anew is seen.
WHOLE = [
    b'{"role": "system",  "content": "Be \xe2\x80\x94 kind."}\n',
    b'{"content": "Go" , "role":"user"}\n',
    b'{"role":"assistant","content":"Gone.","unknown":null}\n',
]
KEYS = frozenset({"unknown", "reasoning_content", "extra_content"})
CALLS: dict[str, dict[str, object]] = {
    "calls": {"type": "function", "function": {"name": "f", "arguments": ' {"n" :1}'}},
    "broken": {"type": "function", "function": {"name": "f", "arguments": '{"n": '}},
    "emptied": {"type": "function", "function": {"name": "f", "arguments": "{}"}},
    "parsed": {"type": "function", "function": {"name": "f", "arguments": {"n": 1}}},
    "dumped": {"type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}},
    "untyped": {"function": {"name": "f", "arguments": ' {"n" :1}'}},
    "nameless": {"type": "function", "function": {"name": "", "arguments": ' {"n" :1}'}},
    "unnamed": {"type": "function", "function": {"name": "unnamed_tool", "arguments": ' {"n" :1}'}},
    "missing": {},
    "filled": {"type": "function", "function": {"name": "unnamed_tool", "arguments": "{}"}},
}


def message_of(word: str) -> dict[str, object]:
    """The message that a word or two stand for: "user", "calls c1 c2", "result c1" …"""
    kind, _, rest = word.partition(" ")
    idents = rest.split()
    if kind in CALLS:
        return {"role": "assistant", "content": None, "tool_calls": [{"id": each, **CALLS[kind]} for each in idents]}
    if kind in ("result", "interrupted"):
        return {"role": "tool", "tool_call_id": rest, "content": kind}
    words: dict[str, dict[str, object]] = {
        "system": {"role": "system", "content": "Be kind."},
        "user": {"role": "user", "content": "Go on."},
        "answer": {"role": "assistant", "content": "Gone.", "unknown": None},
        "no calls": {"role": "assistant", "content": None, "tool_calls": []},
        "silence": {"role": "assistant", "content": ""},
    }
    return words[word]


def messages_of(words: str) -> list[dict[str, object]]:
    return [] if words == "nothing" else [message_of(word) for word in words.split(", ")]


def in_words(messages: list[dict[str, object]]) -> list[dict[str, object]]:
    """The messages, the text that answers an interrupted call shortened to that word."""
    return [
        {**message, "content": "interrupted"} if "interrupted" in str(message.get("content")) else message
        for message in messages
    ]


def roles(messages: list[dict[str, object]]) -> str:
    return ", ".join(str(message["role"]) for message in messages)


def begin(context: Context, content: bytes) -> None:
    context.path = folder(context) / NAME
    context.path.write_bytes(content)
    context.before = content


def lines(context: Context) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder(context) / NAME).read_bytes().splitlines()]


# --- Given


@given("hadr-agent was run with {arguments:words} and exited with {code:d}")
def step_was_run(context: Context, arguments: list[str], code: int) -> None:
    run(context, arguments)
    assert context.code == code, f"expected exit code {code}, found {context.code}; stderr: {context.stderr}"


@given("the file of the session is read at each {moment}")
def step_watch(context: Context, moment: str) -> None:
    context.moment, context.held = moment, []


@given("a session of the messages {words}")
def step_session(context: Context, words: str) -> None:
    begin(context, b"".join(json.dumps(message).encode() + b"\n" for message in messages_of(words)))


@given("a session of {count:d} whole lines, with {text:json} behind them")
def step_whole_lines(context: Context, count: int, text: str) -> None:
    begin(context, b"".join(WHOLE[:count]) + text.encode("latin-1"))
    context.before = b"".join(WHOLE[:count])


@given("another process works in the session {name:S}")
def step_other_process(context: Context, name: str) -> None:
    context.other = Transcript.open(folder(context) / name)  # this process, as opposed to that of the command
    context.add_cleanup(context.other.close)
    context.other.append(message_of("user"))


# --- When


@when("the loop works on the task {task:json} in a new session")
def step_loop(context: Context, task: str) -> None:
    run: Run = context.run
    run.provider, tools = run.make_provider(), run.tools()

    def look(event: Event) -> None:
        if event.kind.replace("_", " ") == context.moment:
            context.held.append(roles(lines(context)))

    class LookingWorld:
        @property
        def tick(self) -> int:
            if context.moment == "run of look":
                context.held.append(roles(lines(context)))
            return 0

    run.world = LookingWorld()
    with Transcript.open(folder(context) / NAME) as session:
        session.append({"role": "user", "content": task})
        run.result = agent_loop(run.provider, session, tools, on_event=look)


@when("a program does {change}")
def step_change(context: Context, change: str) -> None:
    with Transcript.open(context.path) as session:
        try:
            exec(change, {"session": session, "message": message_of("user")})
            context.error = None
        except TypeError as error:
            context.error = error
        context.history = list(session)


@when("the session is opened")
def step_open(context: Context) -> None:
    with Transcript.open(context.path) as session:
        context.history, context.notices = list(session), session.notices


# --- Then: requests


@then("each of {count:d} requests that came in begins with the bytes of the one before")
def step_beginning(context: Context, count: int) -> None:
    requests: list[Request] = context.app.requests
    assert len(requests) == count, f"expected {count} requests, found {len(requests)}"
    for before, after in pairwise(requests):
        start = before.raw.removesuffix(b"]}")
        assert after.raw.startswith(start), f"request {after.number}: expected {start!r} first, found {after.raw!r}"


@then("each of them holds one system message, the first")
def step_one_system(context: Context) -> None:
    for request in context.app.requests:
        found = [number for number, message in enumerate(request.messages, 1) if message["role"] == "system"]
        assert found == [1], f"request {request.number}: expected message 1 as the system prompt, found {found}"
    first = lines(context)[0]
    assert first == request.messages[0], f"the file's first line: expected {request.messages[0]}, found {first}"


@then('the last request holds the results "{expected}"')
def step_results(context: Context, expected: str) -> None:
    messages = in_words(context.app.requests[-1].messages)
    found = ", ".join(str(message["content"]) for message in messages if message["role"] == "tool")
    assert found == expected, f"the last request: expected the results {expected}; found {found}"


@then("the messages of each request are the lines of the file")
def step_same_messages(context: Context) -> None:
    found = lines(context)
    for number, messages in enumerate(context.run.requests, 1):
        expected = found[: len(messages)]
        assert messages == expected, f"request {number}: expected {expected}, found {messages}"


@then('each time the file held "{held}"')
def step_held(context: Context, held: str) -> None:
    found = "; ".join(context.held)
    assert found == held, f"expected the file to hold {held}; found {found}"


# --- Then: the file


@then('the session holds "{expected}"')
def step_holds(context: Context, expected: str) -> None:
    found = lines(context)
    assert roles(found) == expected, f"the file: expected {expected}; found {roles(found)}"
    problems = history_problems(found, KEYS)
    assert not problems, f"the file: expected a history that providers take, found {problems[0]}"
    if "history" in context:
        assert context.history == found, f"the history: expected {found}, found {context.history}"


@then("the file is as it was")
def step_as_it_was(context: Context) -> None:
    found = context.path.read_bytes()
    assert found == context.before, f"expected {context.before!r}, found {found!r}"


@then("the file {name:S} still has the bytes {text:json}")
def step_still(context: Context, name: str, text: str) -> None:
    found = (folder(context) / name).read_bytes()
    assert found == text.encode("latin-1"), f"expected {text!r}, found {found!r}"


def behind(context: Context) -> bytes:
    """What the file holds behind the lines that were whole."""
    found = context.path.read_bytes()
    assert found.startswith(context.before), f"expected {context.before!r} to stay, found {found!r}"
    return found.removeprefix(context.before)


@then("behind its whole lines the file holds {left:json}")
def step_left(context: Context, left: str) -> None:
    found = behind(context)
    assert found == left.encode("latin-1"), f"behind the whole lines: expected {left!r}, found {found!r}"


@then("behind its whole lines the file holds the messages {words}")
def step_added(context: Context, words: str) -> None:
    found = in_words([json.loads(line) for line in behind(context).splitlines()])
    assert found == messages_of(words), f"behind the whole lines: expected {words}, found {found}"


@then("the other process goes on, and the file holds its messages alone")
def step_alone(context: Context) -> None:
    context.other.append(message_of("answer"))
    expected = messages_of("user, answer")
    assert lines(context) == expected, f"expected {expected}, found {lines(context)}"


@then('the tools noted "{expected}"')
def step_noted(context: Context, expected: str) -> None:
    found = ", ".join((folder(context) / "noted").read_text().splitlines())
    assert found == expected, f"expected each tool to run once, {expected}; found {found}"


# --- Then: the history


@then("the history is what the file holds")
def step_what_the_file_holds(context: Context) -> None:
    assert context.history == lines(context), f"expected {lines(context)}, found {context.history}"


@then("the history is {words}")
def step_history(context: Context, words: str) -> None:
    found = in_words(context.history)
    assert found == messages_of(words), f"the history: expected {words}, found {found}"
    problems = history_problems(context.history, KEYS)
    assert not problems, f"expected a history that providers take, found {problems[0]}"


@then("{count:d} notice is given")
def step_notices(context: Context, count: int) -> None:
    assert len(context.notices) == count, f"expected {count} notices, found {context.notices}"


@then('a notice says "{words}"')
def step_notice(context: Context, words: str) -> None:
    assert any(words in notice for notice in context.notices), f"expected {words!r}, found {context.notices}"


# --- any history, cut anywhere


@dataclass
class Cut:
    """A history in a file that was cut, and what came of opening it."""

    content: bytes
    opened: list[dict[str, object]]
    read: list[dict[str, object]]
    again: list[dict[str, object]] = field(default_factory=list)
    after: bytes = b""


def histories() -> st.SearchStrategy[list[dict[str, object]]]:
    """Histories in any order of messages, with any texts; the ids within a turn differ, as the provider sees to."""
    text = st.text(st.characters(exclude_categories=()), max_size=8)
    idents = st.sampled_from(["c1", "c2", "", "grep:3"])
    broken = st.sampled_from(["", "null", "[1]", '{"a": ', '{"a": NaN}', "{}{}", {"a": 1}]) | text | st.none()
    arguments = st.sampled_from(["{}", ' {"a" :1}']) | broken
    functions = st.fixed_dictionaries({"name": st.sampled_from(["f", "a.b", ""]), "arguments": arguments})
    calls = st.lists(
        st.fixed_dictionaries(
            {"id": idents.filter(bool)}, optional={"type": st.just("function"), "function": functions}
        ),
        max_size=3,
        unique_by=lambda call: call["id"],
    )
    turns = st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": text | st.none()},
        optional={"tool_calls": calls, "reasoning_content": text, "extra_content": st.none()},
    )
    said = st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "user", "developer"]), "content": text})
    results = st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": idents, "content": text})
    messages = st.lists(turns | results | said, max_size=7)
    return messages.map(lambda every: [{"role": message["role"], **message} for message in every])


@when("histories of any kind are cut at any byte and opened")
def step_cut(context: Context) -> None:
    context.cuts = []
    made = tempfile.TemporaryDirectory()
    context.add_cleanup(made.cleanup)
    path = Path(made.name) / NAME

    @settings(max_examples=400, deadline=None, derandomize=True, database=None)
    @for_all(histories(), st.integers(0, 200))
    def check(messages: list[dict[str, object]], cut: int) -> None:
        content = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        content = content[: max(0, len(content) - cut)]
        path.write_bytes(content)
        read = load(path)
        with Transcript.open(path) as session:
            found = Cut(content, list(session), read)
        with Transcript.open(path) as session:
            found.again, found.after = list(session), path.read_bytes()
        context.cuts.append(found)

    check()


@then("providers take each of them")
def step_taken(context: Context) -> None:
    assert len(context.cuts) > 100, f"expected many histories, found {len(context.cuts)}"
    for cut in context.cuts:
        problems = history_problems(cut.opened, KEYS)
        assert not problems, f"{cut.content!r}: expected no problems, found {problems[0]}"


@then("each file begins with the whole lines that it held")
def step_whole(context: Context) -> None:
    for cut in context.cuts:
        whole = re.sub(rb"[^\n]+\Z", b"", cut.content)
        assert cut.after.startswith(whole), f"expected {whole!r} first, found {cut.after!r}"
        rest = cut.content.removeprefix(whole)
        assert rest in (b"", cut.after[len(whole) :].split(b"\n")[0]) or not is_json(rest), f"lost: {rest!r}"


def is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


@then("each is the same history when it is only read or opened once more")
def step_same(context: Context) -> None:
    for cut in context.cuts:
        for name, found in (("only read", cut.read), ("opened once more", cut.again)):
            assert found == cut.opened, f"{cut.content!r}, {name}: expected {cut.opened}, found {found}"
