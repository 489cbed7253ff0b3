"""Steps for tools: what a caller defines, what a model calls, the tool result that comes of it."""

import asyncio
import json
import os
import re
import tempfile
import typing
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from zoneinfo import ZoneInfo

from behave import given, then, when
from behave.runner import Context
from hypothesis import example, settings
from hypothesis import given as for_all
from hypothesis import strategies as st
from pydantic import Field

from hadr_agent import example_tools
from hadr_agent.agent import _replayable_args
from hadr_agent.tools import Tool, Toolbox, ToolCall, ToolError, ToolResult, tool

SECRET = "the vault opens with 0451"  # what stands in every file that must not be read
many = settings(deadline=None, max_examples=300, derandomize=True, database=None)


class Size(str, Enum):  # noqa: UP042 - its str() is "Size.SMALL", which a StrEnum would hide
    """A text that is one of a few."""

    SMALL = "small"
    LARGE = "large"


@dataclass
class Place:
    """A point on a map."""

    x: int
    y: int = 0


class Plain:
    """Something that is neither text nor data."""


class MuteError(Exception):
    """Something that fails when it is turned into text."""

    def __str__(self) -> str:
        raise ValueError("no text for this")

    __repr__ = __str__


@dataclass
class Desk:
    """The tools of a scenario, and what came of the model's call."""

    tools: list[Tool] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    got: dict[str, object] = field(default_factory=dict)
    approve: Callable[[str, dict[str, object]], bool] | None = None
    asked: list[str] = field(default_factory=list)
    in_event_loop: bool = False
    sent: object = None
    whole: str = ""
    spec: dict[str, Any] = field(default_factory=dict)
    result: ToolResult | None = None
    raised: BaseException | None = None

    def call(self, name: str, arguments: object) -> None:
        """Carry out a call as the loop does, and keep its result or what passed through."""
        self.sent = arguments
        toolbox = Toolbox(*self.tools, approve=self.approve)

        async def inside() -> ToolResult:
            return toolbox.run(wire_call(name, arguments))

        try:
            self.result = asyncio.run(inside()) if self.in_event_loop else toolbox.run(wire_call(name, arguments))
        except BaseException as error:
            self.raised = error

    @property
    def text(self) -> str:
        assert self.raised is None, f"expected a tool result, found that {self.raised!r} passed through"
        assert self.result is not None, "expected a tool result, found that no tool was called"
        return self.result.text


def desk(context: Context) -> Desk:
    if not hasattr(context, "desk"):
        context.desk = Desk()
    return cast(Desk, context.desk)


def wire_call(name: str, arguments: object) -> ToolCall:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def shown(value: object, limit: int = 400) -> str:
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"


def in_words(sent: str) -> object:
    """The arguments that a cell speaks of: a text in double quotes, or one too odd or too long to be written down."""
    odd: dict[str, object] = {
        "nothing": None,
        "a number of 5,000 digits": f'{{"value": {"9" * 5_000}}}',
        "brackets nested 100,000 deep": f'{{"value": {"[" * 100_000}{"]" * 100_000}}}',
        "a lone surrogate, not escaped": '{"value": "\ud83d"}',
        "an object instead of text": {"value": 1},
        "600 letters after an opening quote": '{"value": "begin' + "x" * 600 + "end",
    }
    return odd[sent] if sent in odd else json.loads(sent)


def defined(code: str) -> Callable[..., object]:
    """The function that a line of Python defines."""
    names: dict[str, Any] = {**vars(typing), "Field": Field, "ToolError": ToolError, "asyncio": asyncio}
    names |= {"Size": Size, "Place": Place, "Plain": Plain, "MuteError": MuteError}
    before = set(names)
    exec(code, names)
    return names[next(name for name in names if name not in before and name != "__builtins__")]


def desk_tools(at: Desk) -> list[Tool]:
    """A few tools that say that they ran, and with what."""

    @tool
    def clock() -> str:
        """Tell the time."""
        at.ran.append("clock")
        return "noon"

    @tool
    def keep(value: Any = None) -> str:
        """Keep a value of any kind,
        as long as it fits.

        This paragraph is for people.
        """
        at.ran.append("keep")
        at.got = {"value": value}
        return "kept"

    @tool
    def order(
        item: Annotated[str, "what to order"],
        amount: int = 1,
        weight: float = 1.0,
        urgent: bool = False,
        level: Literal["low", "high"] = "low",
        size: Size = Size.SMALL,
        tags: list[str] | None = None,
        place: Place | None = None,
    ) -> str:
        """Order something."""
        at.got = dict(locals())
        at.ran.append("order")
        return "ordered"

    return [clock, keep, order]


# --- Given


@given("the tools clock, keep and order")
def step_desk_tools(context: Context) -> None:
    desk(context).tools += desk_tools(desk(context))


@given("the tools that the course starts with")
def step_starter_tools(context: Context) -> None:
    desk(context).tools += [*example_tools.STARTER_TOOLS, example_tools.shell]


@given("a tool that may do harm")
def step_harmful(context: Context) -> None:
    at = desk(context)

    @tool(needs_approval=True)
    def launch(target: str) -> str:
        """Launch."""
        at.ran.append("launch")
        return f"launched at {target}"

    at.tools.append(launch)


@given("nobody to ask")
def step_nobody(context: Context) -> None:
    desk(context).approve = None


@given("a person who {decision} every call")
def step_person(context: Context, decision: str) -> None:
    at = desk(context)
    allowed = {"allows": True, "refuses": False}[decision]

    def approve(name: str, arguments: dict[str, object]) -> bool:
        at.asked.append(f"{name} {json.dumps(arguments)}")
        return allowed

    at.approve = approve


@given("the environment variable {name} is {value:json}")
def step_environment(context: Context, name: str, value: str) -> None:
    context.add_cleanup(os.environ.pop, name, None)
    os.environ[name] = value


@given("a plain program")
def step_plain(context: Context) -> None:
    desk(context).in_event_loop = False


@given("a program with a running event loop")
def step_event_loop(context: Context) -> None:
    desk(context).in_event_loop = True


@given("a tool that returns a text of {size:d} characters, with {cap} shown at most")
def step_long(context: Context, size: int, cap: str) -> None:
    at = desk(context)
    at.whole = "".join(f"{place:08d}" for place in range(0, size, 8))[:size]

    def report() -> str:
        """Report."""
        return at.whole

    at.tools.append(tool(report) if cap == "as many as usual" else tool(max_chars=int(cap))(report))


@given("a project folder with things to read and things to keep")
def step_project(context: Context) -> None:
    folder = tempfile.TemporaryDirectory()
    context.add_cleanup(folder.cleanup)
    context.add_cleanup(os.chdir, Path.cwd())
    project = Path(folder.name) / "project"
    contents: dict[str, bytes] = {
        "notes.txt": "Grüße\n".encode(),
        "src/main.py": b"print(1)\n",
        "empty.txt": b"",
        ".env.example": b"OPENAI_API_KEY=\n",
        "photo.png": b"\x89PNG\0" + SECRET.encode(),
        "zeros.bin": SECRET.encode() + b"\0",
        "latin.txt": SECRET.encode() + b"\xe9",
        "huge.txt": SECRET.encode() * 20_000,
    }
    secret = (".env", ".ENV", ".env.local", ".git/config", "id_rsa", "credentials.json", "keys/server.pem")
    outside = ("../outside.txt", "../project2/plan.txt")
    for name, content in (contents | dict.fromkeys((*secret, *outside), SECRET.encode())).items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(content)
    links = {"way_out": "..", "link.txt": "../outside.txt", "harmless.txt": ".env", "again.txt": "notes.txt"}
    for name, target in links.items():
        (project / name).symlink_to(target)
    (project / "src/inner").mkdir()
    os.mkfifo(project / "pipe")
    os.chdir(project)


# --- When


@when("the model calls {name:json} with {sent}")
def step_call(context: Context, name: str, sent: str) -> None:
    desk(context).call(name, in_words(sent))


@when("the model calls {name:json}")
def step_call_plainly(context: Context, name: str) -> None:
    desk(context).call(name, "{}")


@when("the model orders {arguments}")
def step_order(context: Context, arguments: str) -> None:
    desk(context).call("order", arguments)


@when("the model sends arguments of any kind")
def step_any_arguments(context: Context) -> None:
    """Any text, JSON of any value in any spelling, and such JSON cut or spoiled somewhere."""
    spoiled = st.tuples(json_objects(), st.integers(0), st.text(max_size=2)).map(
        lambda drawn: drawn[0][: drawn[1] % (len(drawn[0]) + 1)] + drawn[2]
    )
    context.arguments = st.text(st.characters()) | json_objects() | spoiled


@when("the model sends a JSON object in any spelling")
def step_any_object(context: Context) -> None:
    context.arguments = json_objects()


@when("each tool is called twice")
def step_each_twice(context: Context) -> None:
    at = desk(context)
    toolbox = Toolbox(*at.tools)
    context.offered = [toolbox.specs, *toolbox.specs]
    for each in at.tools * 2:
        toolbox.run(wire_call(each.name, '{"item": "tea"}' if each.name == "order" else "{}"))
    context.offered_later = [toolbox.specs, *toolbox.specs]


@when("a tool is made of {code}")
def step_made(context: Context, code: str) -> None:
    desk(context).spec = cast("dict[str, Any]", tool(defined(code)).spec["function"])


@when("the caller writes {code}")
def step_mistake(context: Context, code: str) -> None:
    """A definition that becomes a tool, or an expression as it stands."""
    names = {"tool": tool, "Toolbox": Toolbox, "clock": desk_tools(Desk())[0]}
    try:
        _ = tool(defined(code)) if re.match(r"(async )?def ", code) else eval(code, names)
    except Exception as error:
        desk(context).raised = error


@when("the model calls the tool {code}")
def step_call_made(context: Context, code: str) -> None:
    made = tool(defined(code))
    desk(context).tools.append(made)
    desk(context).call(made.name, "{}")


@when("the model rolls {n:d} dice with {sides:d} sides")
def step_roll(context: Context, n: int, sides: int) -> None:
    desk(context).call("roll_dice", json.dumps({"n": n, "sides": sides}))


@when("the model calculates {expression:json}")
def step_calculate(context: Context, expression: str) -> None:
    desk(context).call("calculate", json.dumps({"expression": expression}))


@when("the model asks for the time in {zone:json}")
def step_time(context: Context, zone: str) -> None:
    desk(context).call("now", json.dumps({"timezone": zone}))


@when("the model decodes {text:json} as {encoding}")
def step_decode(context: Context, text: str, encoding: str) -> None:
    desk(context).call("decode", json.dumps({"text": text, "encoding": encoding}))


@when("the model decodes what fetch_secret returns as {encoding}")
def step_decode_secret(context: Context, encoding: str) -> None:
    at = desk(context)
    at.call("fetch_secret", "{}")
    secret = json.loads(at.text)
    assert secret["encoding"] == encoding, f"expected {encoding} as the encoding, found {secret['encoding']}"
    step_decode(context, secret["text"], encoding)


@when("the model reads {path:json}")
def step_read(context: Context, path: str) -> None:
    desk(context).call("read_file", json.dumps({"path": path}))


@when("the model lists {path:json}")
def step_list(context: Context, path: str) -> None:
    desk(context).call("list_files", json.dumps({"path": path}))


@when("the model runs the command {command}")
def step_command(context: Context, command: str) -> None:
    desk(context).call("shell", json.dumps({"command": command}))


# --- Then: the tool result


@then("the tool result is {expected:json}")
def step_result(context: Context, expected: str) -> None:
    found = desk(context).text
    assert found == expected, f"the tool result: expected {shown(expected)}, found {shown(found)}"


@then("the tool result means {expected}")
def step_means(context: Context, expected: str) -> None:
    found = desk(context).text
    try:
        value: object = json.loads(found)
    except ValueError:
        value = None
    assert value == json.loads(expected), f"the tool result: expected JSON that means {expected}, found {shown(found)}"


@then("the tool result mentions {parts:json}")
def step_mentions(context: Context, parts: str) -> None:
    found = desk(context).text
    missing = [part for part in parts.split(", ") if part.lower() not in found.lower()]
    assert not missing, f"the tool result: expected a text with {missing}, found {shown(found)}"


@then("the tool result is an error")
def step_error(context: Context) -> None:
    found = desk(context).text
    assert found.startswith("Error: "), f"the tool result: expected a text that begins 'Error: ', found {shown(found)}"
    assert "Traceback" not in found, f"the tool result: expected no traceback, found {shown(found)}"


@then("the tool result does not say {part:json}")
def step_silent(context: Context, part: str) -> None:
    found = desk(context).text
    assert part not in found, f"the tool result: expected no {part!r} in it, found {shown(found)}"


@then("the tool result is short")
def step_short(context: Context) -> None:
    found = len(desk(context).text)
    assert found < 600, f"the tool result: expected fewer than 600 characters, found {found:,}"


@then("the tool result carries the {name}")
def step_carries(context: Context, name: str) -> None:
    at = desk(context)
    _ = at.text
    found = type(at.result and at.result.exception).__name__
    assert found == name, f"the exception of the tool result: expected {name}, found {found}"


@then("the tool result is the present time in {zone}")
def step_present_time(context: Context, zone: str) -> None:
    found = desk(context).text
    present = datetime.now(ZoneInfo(zone))
    moments = [present - timedelta(seconds=seconds) for seconds in range(60)]
    close = any(f"{moment:%Y-%m-%d %H:%M:%S}" in found and f"{moment:%A}" in found for moment in moments)
    assert close, f"the time in {zone}: expected about {present:%Y-%m-%d %H:%M:%S, %A}, found {found!r}"


@then("the tool result has {n:d} numbers from 1 to {sides:d}")
def step_dice(context: Context, n: int, sides: int) -> None:
    found = json.loads(desk(context).text)
    good = len(found) == n and all(isinstance(each, int) and 1 <= each <= sides for each in found)
    assert good, f"the dice: expected {n} whole numbers from 1 to {sides}, found {shown(found)}"


@then("the tool result names no secret")
def step_no_secret(context: Context) -> None:
    step_silent(context, SECRET)


@then("the tool result begins and ends like the whole and says the sizes")
def step_cut(context: Context) -> None:
    at = desk(context)
    found, whole = at.text, at.whole
    first, last = shared(found, whole), shared(found[::-1], whole[::-1])
    assert abs(first - last) <= 8, f"expected as much of the beginning as of the end, found {first:,} and {last:,}"
    note = found[first : len(found) - last]
    total = f"{len(whole):,}"
    assert total in note, f"the tool result: expected it to say {total} characters in all, found {note!r}"
    sizes = (f"{min(first, last):,}", f"{first + last:,}")
    assert any(size in note for size in sizes), f"the tool result: expected a size of {sizes}, found {note!r}"


def shared(one: str, other: str) -> int:
    """How many characters two texts have in common from their beginning on."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@then("the tool result has at most {cap:d} characters")
def step_at_most(context: Context, cap: int) -> None:
    found = len(desk(context).text)
    assert found <= cap, f"the tool result: expected at most {cap:,} characters, found {found:,}"


@then("the tool result is the whole text")
def step_whole(context: Context) -> None:
    step_result(context, desk(context).whole)


@then("{name} passes through")
def step_passes(context: Context, name: str) -> None:
    at = desk(context)
    found = type(at.raised).__name__ if at.raised else f"the tool result {at.text!r}"
    assert found == name, f"expected {name} to pass through, found {found}"


@then("count_words finds {count:d} words in it")
def step_words(context: Context, count: int) -> None:
    text = desk(context).text
    found = Toolbox(example_tools.count_words).run(wire_call("count_words", json.dumps({"text": text}))).text
    assert found == str(count), f"the words of {text!r}: expected {count}, found {found}"


# --- Then: what ran, and with what


@then("nothing is run")
def step_nothing_run(context: Context) -> None:
    found = desk(context).ran
    assert not found, f"expected that no tool is run, found that these ran: {found}"


@then("{name:w} is run once")
def step_run_once(context: Context, name: str) -> None:
    at = desk(context)
    assert at.ran == [name], f"expected {name} to run once, found {at.ran}: {shown(at.text)}"


@then("{name:w} is run {count:d} times")
def step_run_times(context: Context, name: str, count: int) -> None:
    found = desk(context).ran.count(name)
    assert found == count, f"expected {name} to run {count} times, found {found}"


@then("the tool gets {name:w} as {expected}")
def step_gets(context: Context, name: str, expected: str) -> None:
    at = desk(context)
    wanted: object = eval(expected, {"Size": Size, "Place": Place})
    assert at.ran, f"expected the tool to run, found {shown(at.text)}"
    found = at.got[name]
    same = found == wanted and type(found) is type(wanted)
    assert same, f"the argument {name}: expected {wanted!r}, found {found!r}"


@then("the person is asked about {call:json}")
def step_asked(context: Context, call: str) -> None:
    found = "; ".join(desk(context).asked)
    assert found == call, f"expected the person to be asked about {call or 'nothing'}, found {found or 'nothing'}"


# --- Then: the arguments in the history


@then("the arguments go back as {expected:json}")
def step_go_back(context: Context, expected: str) -> None:
    at = desk(context)
    found = _replayable_args(at.sent)
    assert found == expected, f"arguments {shown(at.sent)} in the history: expected {expected!r}, found {shown(found)}"


@then("the arguments go back as sent")
def step_go_back_as_sent(context: Context) -> None:
    at = desk(context)
    found = _replayable_args(at.sent)
    assert found == at.sent, f"arguments in the history: expected {shown(at.sent)}, found {shown(found)}"


@then("every one goes back unchanged to the byte")
def step_every_unchanged(context: Context) -> None:
    @many
    @for_all(context.arguments)
    def check(sent: str) -> None:
        found = _replayable_args(sent)
        assert found == sent, f"arguments in the history: expected {shown(sent)}, found {shown(found)}"

    check()


@then("every one is run exactly if it goes back as sent or is blank")
def step_one_verdict(context: Context) -> None:
    at = Desk()
    toolbox = Toolbox(*desk_tools(at))

    @many
    @for_all(context.arguments)
    @example('{"value": "\\ud83d"}')
    @example('{"value": "\ud83d"}')
    @example(f'{{"value": {"[" * 300}{"]" * 300}}}')
    @example(f'{{"value": {"[" * 3_000}{"]" * 3_000}}}')
    @example(f'{{"value": {"9" * 5_000}}}')
    @example('{"value": 1e999}')
    def check(sent: str) -> None:
        with suppress(ValueError, RecursionError):
            value: object = json.loads(sent)
            if isinstance(value, dict) and value.keys() - {"value"}:
                return  # an argument that `keep` does not have: the text is fine, the call is not
        at.ran.clear()
        text = toolbox.run(wire_call("keep", sent)).text
        as_sent = not sent.strip() or _replayable_args(sent) == sent
        assert bool(at.ran) == as_sent, (
            f"one verdict on the arguments {shown(sent)}: they go back "
            f"{'as sent, expected a run' if as_sent else 'as {}, expected no run'}, found {shown(text)}"
        )

    check()


def json_objects() -> st.SearchStrategy[str]:
    """The text of {"value": anything}, in any spacing and escaping."""
    text = st.text(st.characters())
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
    values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=8)
    blank = st.text(" \t\n\r", max_size=3)
    spelling = st.tuples(st.booleans(), blank, blank, blank, st.sampled_from([None, 0, 2, "\t"]))

    def spelled(value: object, how: tuple[bool, str, str, str, int | str | None]) -> str:
        ascii_only, around, comma, colon, indent = how
        separators = (f"{comma},{around}", f"{colon}:{around}")
        dumped = json.dumps({"value": value}, ensure_ascii=ascii_only, separators=separators, indent=indent)
        return f"{around}{dumped}{comma}"

    return st.builds(spelled, values, spelling)


# --- Then: definitions


@then("the model is told that {name:w} is {schema}")
def step_schema(context: Context, name: str, schema: str) -> None:
    parameters = desk(context).spec["parameters"]
    found = resolved(parameters["properties"].get(name), parameters.get("$defs", {}))
    expected = json.loads(schema)
    assert found == expected, f"the schema of {name}: expected {expected}, found {found}"


@then("{name:w} is {status}, as the schema says")
def step_required(context: Context, name: str, status: str) -> None:
    required = desk(context).spec["parameters"].get("required", [])
    found = "required" if name in required else "optional"
    assert found == status, f"the parameter {name}: expected {status}, found {found}"


def resolved(schema: Any, named: dict[str, Any]) -> Any:
    """The schema with the types it refers to put in their places."""
    if isinstance(schema, list):
        return [resolved(each, named) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = dict(cast("dict[str, Any]", schema))
    target = named[fields.pop("$ref").rpartition("/")[2]] if "$ref" in fields else {}
    return {key: resolved(value, named) for key, value in {**target, **fields}.items()}


@then("the first tools offered are")
def step_offered(context: Context) -> None:
    expected = [json.loads(line) for line in (context.text or "").splitlines()]
    for wanted, found in zip(expected, context.offered_later[1:], strict=False):
        assert found == wanted, f"a tool as offered: expected {json.dumps(wanted)}, found {json.dumps(found)}"


@then("they are still the same objects in the same order")
def step_same_objects(context: Context) -> None:
    before, after = [id(each) for each in context.offered], [id(each) for each in context.offered_later]
    assert after == before, f"the tools offered: expected the same objects {before}, found {after}"


@then("a {name} about {thing:json} is raised")
def step_raised(context: Context, name: str, thing: str) -> None:
    found = desk(context).raised
    assert type(found).__name__ == name, f"expected a {name} at once, found {found!r}"
    assert thing in str(found), f"the {name}: expected it to name {thing!r}, found {str(found)!r}"
