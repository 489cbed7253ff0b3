"""A provider without a network: it plays a script, checks every history as strictly as real providers, counts a prefix
cache and keeps each request's bytes.

A real `openai.OpenAI` talks to a WSGI app in this process (or, by `serve`, on loopback), so the bytes are those of the
wire. It knows no tools and no model: what it says stands in the script.
"""

import contextlib
import http
import io
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from socketserver import ThreadingMixIn
from types import TracebackType
from typing import Protocol, Self, cast, runtime_checkable
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

import httpx2
from openai import OpenAI
from openai.types.chat import ChatCompletion

from hadr_agent.provider import Message, OpenAIProvider, as_list, as_object
from hadr_agent.thinking import split_think
from hadr_agent.tools import ToolCall, ToolSpec, arguments_problem

TurnForm = Mapping[str, object] | str
"""One turn of a script, in one of three forms:

- wire: an assistant message, played as it stands: {"role": "assistant", "content": …, "tool_calls": […], …};
- short: {"think": "…", "say": "…", "calls": [{"name": …, "arguments": {…} or "raw text", "id": …}]}, all optional.
  In its texts `{name}` stands for what a group `(?P<name>…)` of an `after` has found so far;
- a string: the same as {"say": …}.

Each may also have `after` (a regular expression that the last observation must match: the texts of all messages since
the assistant's last), `finish_reason`, `usage` (replaces the counted one; null: none) and `fault`:
{"status": 429, "headers": {"retry-after": "1"}, "body": "…", "content_type": "text/html"} answers with that instead,
{"drop": true} breaks the connection, {"delay": 2} waits so many seconds, {"cut_after": 3} ends a stream after so many
events.
"""

_CONTROL = {"after", "finish_reason", "usage", "fault"}
_CHARS_PER_TOKEN = 4
_PIECE = 24  # characters in one streamed delta


class ScriptError(Exception):
    """A script that cannot be read, or that was not played to its end."""


@dataclass(frozen=True)
class Difference:
    """Where two JSON values first differ: `field` is a path as in tool_calls[0].function.arguments."""

    field: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.field}: expected {_quoted(self.expected, self.at)}, found {_quoted(self.found, self.at)}"

    @property
    def at(self) -> int:
        """The first character that differs, counted from 0, if both sides are texts; otherwise 0."""
        if not (isinstance(self.expected, str) and isinstance(self.found, str)):
            return 0
        pairs = itertools.zip_longest(self.expected, self.found)
        return next((at for at, (one, other) in enumerate(pairs) if one != other), 0)


@dataclass(frozen=True)
class CacheBreak:
    """Why a request did not begin with the one before and the turn it was answered with.

    request and message count from 1; message 0 means the tools.
    """

    request: int
    message: int
    difference: Difference

    def __str__(self) -> str:
        where = f"message {self.message}, " if self.message else ""
        return f"request {self.request}, {where}{self.difference}"


@dataclass(frozen=True)
class Request:
    """A request as it came in: its bytes, what became of it, and where it broke the prefix cache, if it did."""

    number: int
    raw: bytes
    status: int
    problems: tuple[str, ...] = ()
    cache_break: CacheBreak | None = None

    @property
    def body(self) -> dict[str, object]:
        return as_object(json.loads(self.raw))

    @property
    def messages(self) -> list[Message]:
        return cast("list[Message]", self.body["messages"])


@dataclass(frozen=True)
class Turn:
    """A turn of a script, made from one of its forms."""

    message: Message
    verbatim: bool = True
    after: re.Pattern[str] | None = None
    finish_reason: str | None = None
    usage: object = field(default=...)
    fault: dict[str, object] = field(default_factory=dict[str, object])

    @classmethod
    def of(cls, form: TurnForm, number: int) -> Self:
        """Read one form. `number`: the turn's place in its script, for ids and error texts. Raises ScriptError."""
        form = {"say": form} if isinstance(form, str) else form
        rest = {key: value for key, value in form.items() if key not in _CONTROL}
        verbatim = "role" in rest
        if not verbatim and (unknown := set(rest) - {"think", "say", "calls"}):
            raise ScriptError(f"turn {number}: unknown key {', '.join(sorted(unknown))}; see TurnForm for the forms")
        if not verbatim and not isinstance(rest.get("calls", []), list):
            raise ScriptError(f"turn {number}: calls is no list")
        if not verbatim and not (isinstance(rest.get("say", ""), str) and isinstance(rest.get("think", ""), str)):
            raise ScriptError(f"turn {number}: say or think is no text")
        try:
            after = re.compile(str(form["after"]), re.DOTALL) if "after" in form else None
        except re.error as error:
            raise ScriptError(f"turn {number}: `after` is no regular expression: {error}") from error
        reason = form.get("finish_reason")
        return cls(
            rest if verbatim else _message(rest, number),
            verbatim,
            after,
            str(reason) if reason is not None else None,
            form.get("usage", ...),
            as_object(form.get("fault")),
        )


@runtime_checkable
class Player(Protocol):
    """Anything that knows the turn which answers a history."""

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """The next turn. Raises ScriptError if there is none."""
        ...


class Script:
    """Turns played one after the other, whatever the history; `after` conditions must hold."""

    def __init__(self, turns: Iterable[TurnForm]) -> None:
        self.turns = [Turn.of(form, number) for number, form in enumerate(turns, 1)]
        self.played = 0
        self._found: dict[str, str] = {}

    @classmethod
    def parse(cls, text: str) -> "Script":
        """Read a script written as one JSON object a line. Raises ScriptError naming the line.

        Lines of other roles than assistant are skipped, so that a saved history is a script.
        """
        script = cls(_forms(text))
        if not script.turns:
            raise ScriptError("it holds no turn")
        return script

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """The turn that answers this history. Raises ScriptError past the end or if a condition does not hold."""
        if self.played == len(self.turns):
            raise ScriptError(f"the script has {len(self.turns)} turns, and this request asks for one more")
        turn = self.turns[self.played]
        seen = observation(messages)
        if turn.after and not turn.after.search(seen):
            raise ScriptError(
                f"turn {self.played + 1} is to come after /{turn.after.pattern}/, but found: {seen[:300]!r}"
            )
        self._found |= _groups(turn, seen) or {}
        self.played += 1
        return _filled(turn, self._found)


class StandIn:
    """Stands in for a model in the course's tasks, by bundled scripts. It keeps no state: the history says where it is.

    A script is chosen by its first `after`, which the user's text must match. Then the first of its later turns whose
    `after` matches what the tools said comes next, so that a script can have another way to go on.
    """

    def __init__(self, scripts: Mapping[str, Sequence[TurnForm]]) -> None:
        self.scripts = [Script(turns) for _, turns in sorted(scripts.items())]

    @classmethod
    def bundled(cls) -> "StandIn":
        """The scripts that come with the package."""
        files = sorted(resources.files("hadr_agent").joinpath("standin").iterdir(), key=lambda file: file.name)
        return cls({file.name: list(_forms(file.read_text(encoding="utf-8"))) for file in files})

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        """The turn that answers this history. Raises ScriptError if no script knows how to go on."""
        task = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=0)
        rounds = [at for at in range(task, len(messages)) if messages[at].get("role") == "assistant"]
        observations = [observation(messages[:end]) for end in [*rounds, len(messages)]]
        script = next(
            (script for script in self.scripts if _groups(script.turns[0], observations[0]) is not None), None
        )
        turns = iter(script.turns if script else ())
        found: dict[str, str] = {}
        turn = None
        for seen in observations:
            turn = next((turn for turn in turns if _groups(turn, seen) is not None), None)
            found |= (_groups(turn, seen) or {}) if turn else {}
        if turn is None:
            raise ScriptError(f"the stand-in does not know how to go on after: {observations[-1][:300]!r}")
        return _filled(turn, found)


def observation(messages: Sequence[Message]) -> str:
    """What a model sees anew: the texts of the messages since the last assistant turn, a line break between them."""
    since = itertools.takewhile(lambda message: message.get("role") != "assistant", reversed(messages))
    return "\n".join(reversed([str(message.get("content")) for message in since if message.get("role") != "system"]))


def _forms(text: str) -> Iterator[TurnForm]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except ValueError as error:
            raise ScriptError(f"line {number}: not JSON: {error}") from error
        if not isinstance(value, dict):
            raise ScriptError(f"line {number}: a turn is a JSON object, one a line")
        form = cast("dict[str, object]", value)
        if form.get("role", "assistant") == "assistant":
            yield form


def _message(short: Mapping[str, object], number: int) -> Message:
    """The assistant message that a short form stands for."""
    thought = f"<think>\n{short['think']}\n</think>\n\n" if short.get("think") else ""
    message: Message = {"role": "assistant", "content": f"{thought}{short.get('say', '')}"}
    calls = [as_object(call) for call in cast("list[object]", short.get("calls", []))]
    if calls:
        message["tool_calls"] = [_call(call, f"call_{number}_{place}") for place, call in enumerate(calls, 1)]
    return message


def _call(short: Mapping[str, object], ident: str) -> ToolCall:
    arguments = short.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": short.get("name", ""), "arguments": text}
    return {"id": short.get("id", ident), "type": "function", "function": function}


def _groups(turn: Turn, seen: str) -> dict[str, str] | None:
    """What the turn's condition finds in the observation; None if it does not hold."""
    if turn.after is None:
        return {}
    match = turn.after.search(seen)
    return {name: text or "" for name, text in match.groupdict().items()} if match else None


def _filled(turn: Turn, found: Mapping[str, str]) -> Turn:
    """A short turn with `{name}` replaced by what was found; a turn in the wire's form stays as it is."""
    if turn.verbatim or not found:
        return turn
    names = re.compile("|".join(re.escape(f"{{{name}}}") for name in found))
    texts = names.sub(lambda match: json.dumps(found[match[0][1:-1]])[1:-1], json.dumps(turn.message))
    return replace(turn, message=cast("Message", json.loads(texts)))


# --- what strict providers refuse


def history_problems(messages: Sequence[Message], known_keys: frozenset[str] = frozenset()) -> list[str]:
    """Everything in a history that some provider answers with HTTP 400, each as "message 3: …", counted from 1.

    known_keys: what an assistant turn may have beyond role, content and tool_calls, because the provider sent it.
    """
    problems: list[str] = []
    open_calls: dict[object, bool] = {}  # id -> is it answered?
    for number, message in enumerate(messages, 1):
        role, where = message.get("role"), f"message {number}"
        if role == "tool":
            ident = message.get("tool_call_id")
            if ident not in open_calls:
                problems.append(f"{where}: tool message for {ident!r}, which the turn before did not call")
            elif open_calls[ident]:
                problems.append(f"{where}: second tool message for {ident!r}")
            open_calls[ident] = True
            if not isinstance(message.get("content"), str):
                problems.append(f"{where}, content: a tool message holds text")
            continue
        problems += [f"{where}: call {ident!r} has no tool message before it" for ident in _unanswered(open_calls)]
        open_calls = {}
        if role == "assistant":
            problems += [f"{where}, {problem}" for problem in _turn_problems(message, known_keys)]
            open_calls = {as_object(call).get("id"): False for call in as_list(message.get("tool_calls"))}
        elif role == "system" and number > 1:
            problems.append(f"{where}: a system message stands first or not at all")
        elif role not in ("system", "developer", "user"):
            problems.append(f"{where}, role: {role!r} is unknown")
    return problems + [f"the end: call {ident!r} has no tool message" for ident in _unanswered(open_calls)]


def _unanswered(open_calls: Mapping[object, bool]) -> list[object]:
    return [ident for ident, answered in open_calls.items() if not answered]


def _turn_problems(message: Message, known_keys: frozenset[str]) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls == []:
        yield "tool_calls: an empty list; leave it out"
    if message.get("content") is None and not calls:
        yield "content: missing in a turn without tool calls"
    for key in sorted(message.keys() - {"role", "content", "tool_calls"} - known_keys):
        yield f"{key}: this field was never sent"
    used: set[object] = set()
    for place, call in enumerate(map(as_object, as_list(calls))):
        where, function = f"tool_calls[{place}]", as_object(call.get("function"))
        if not isinstance(call.get("id"), str) or not call["id"] or call["id"] in used:
            yield f"{where}.id: {call.get('id')!r} is empty or repeated"
        used.add(call.get("id"))
        if not isinstance(function.get("name"), str) or not function["name"]:
            yield f"{where}.function.name: empty"
        if problem := arguments_problem(function.get("arguments")):
            yield f"{where}.function.arguments: {problem}"


# --- the prefix cache


def first_difference(expected: object, found: object, path: str = "") -> Difference | None:
    """Where two JSON values first differ, by field; None if they are equal."""
    if _canonical(expected) == _canonical(found):
        return None
    one, other = as_object(expected), as_object(found)
    if one and other:
        for key in [*one, *(key for key in other if key not in one)]:
            at = f"{path}.{key}".lstrip(".")
            if key not in one or key not in other:
                return Difference(at, one.get(key, MISSING), other.get(key, MISSING))
            if difference := first_difference(one[key], other[key], at):
                return difference
    pairs = itertools.zip_longest(as_list(expected), as_list(found), fillvalue=MISSING)
    differences = (first_difference(one, other, f"{path}[{at}]") for at, (one, other) in enumerate(pairs))
    return next(filter(None, differences), None) or Difference(path, expected, found)


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def _quoted(value: object, at: int) -> str:
    """A value for a one-line message, around the character where it matters."""
    if not isinstance(value, str):
        return repr(value) if value is MISSING else _quoted_text(json.dumps(value), at)
    return _quoted_text(value, at)


def _quoted_text(text: str, at: int) -> str:
    start = max(0, at - 20) if at > 40 else 0
    part = json.dumps(text[start : start + 60], ensure_ascii=False)
    return f"{'…' if start else ''}{part}{'…' if len(text) > start + 60 else ''}"


class PrefixCache:
    """Counts what a request shares with the one before and the turn it was answered with, in characters of JSON."""

    def __init__(self) -> None:
        self._tools = ""
        self._messages: list[Message] = []

    def look_up(self, body: Mapping[str, object], number: int) -> tuple[int, int, CacheBreak | None]:
        """(characters of the request, characters found in the cache, where the prefix broke)."""
        tools, messages = _canonical(body.get("tools")), cast("list[Message]", body["messages"])
        texts = [_canonical(message) for message in messages]
        total = len(tools) + sum(map(len, texts))
        if not self._messages:
            return total, 0, None
        if tools != self._tools:
            difference = Difference("tools", self._tools, tools)
            return total, _shared(self._tools, tools), CacheBreak(number, 0, difference)
        shared = len(tools)
        for place, known in enumerate(map(_canonical, self._messages)):
            text = texts[place] if place < len(texts) else ""
            if text != known:
                found = messages[place] if place < len(messages) else MISSING
                difference = first_difference(self._messages[place], found) or Difference("", known, text)
                return total, shared + _shared(known, text), CacheBreak(number, place + 1, difference)
            shared += len(text)
        return total, shared, None

    def store(self, body: Mapping[str, object], turn: Message) -> None:
        """Remember a request and the turn that answered it."""
        self._tools = _canonical(body.get("tools"))
        self._messages = [*cast("list[Message]", body["messages"]), turn]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def _shared(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


# --- the app and its two doors: in this process, and on loopback


class ScriptedApp:
    """A WSGI app that answers POST …/chat/completions, streamed or not, and GET …/models, and keeps each request.

    next_turn: says what answers a history (a `Player`'s).
    strict: refuse a history that some provider would refuse, with HTTP 400; otherwise only note its problems.
    """

    def __init__(self, next_turn: Callable[[Sequence[Message]], Turn], *, strict: bool = True) -> None:
        self.requests: list[Request] = []
        self._next_turn = next_turn
        self._strict = strict
        self._cache = PrefixCache()
        self._known_keys: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, method = str(environ.get("PATH_INFO", "")), environ["REQUEST_METHOD"]
        if method == "GET" and path.endswith("/models"):
            models = {
                "object": "list",
                "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "hadr"}],
            }
            return _respond(start_response, 200, models)
        if method != "POST" or not path.endswith("/chat/completions"):
            said = f"{method} {path} is not served here; this is POST …/chat/completions and GET …/models"
            return _respond(start_response, 404, _error(said))
        raw: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        with self._lock:
            return self._answer(raw, start_response)

    def _answer(self, raw: bytes, start_response: StartResponse) -> Iterable[bytes]:
        number = len(self.requests) + 1
        try:
            body = as_object(json.loads(raw))
            messages = [as_object(message) for message in cast("list[object]", body["messages"])]
        except (ValueError, KeyError, TypeError) as error:
            self.requests.append(Request(number, raw, 400, (f"not a request: {error!r}",)))
            return _respond(start_response, 400, _error(f"the body is not a request with messages: {error!r}"))
        problems = tuple(history_problems(messages, self._known_keys))
        if problems and self._strict:
            self.requests.append(Request(number, raw, 400, problems))
            return _respond(start_response, 400, _error(f"request {number}: {'; '.join(problems)}"))
        try:
            turn = self._next_turn(messages)
        except ScriptError as error:
            self.requests.append(Request(number, raw, 400, problems))
            return _respond(start_response, 400, _error(f"request {number}: {error}", "script_error"))
        time.sleep(float(str(turn.fault.get("delay", 0))))
        status = int(str(turn.fault.get("status", 200)))
        if turn.fault.keys() & {"status", "body", "drop"}:
            self.requests.append(Request(number, raw, status, problems))
            return _faulty(start_response, turn.fault, status)
        characters, cached, cache_break = self._cache.look_up(body, number)
        self._cache.store(body, turn.message)
        self._known_keys |= turn.message.keys()
        self.requests.append(Request(number, raw, status, problems, cache_break))
        completion = _completion(turn, body, number, _usage(turn, characters, cached))
        if not body.get("stream"):
            return _respond(start_response, 200, completion)
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        events = _events(completion, bool(as_object(body.get("stream_options")).get("include_usage")))
        return _cut(events, turn.fault.get("cut_after"))


class ScriptedProvider:
    """Plays a script as an `OpenAIProvider` would get it from an API. Use it in tests of your own agents:

        with ScriptedProvider([{"calls": [{"name": "now"}]}, "It is noon."]) as provider:
            agent_loop(provider, messages, tools)

    Its `requests` are what was sent, byte for byte. Leaving the `with` block raises ScriptError if turns are left over.
    on_delta, drop_fields and options: as for `OpenAIProvider`.
    """

    def __init__(
        self,
        script: Iterable[TurnForm] | Player,
        *,
        strict: bool = True,
        on_delta: Callable[[str], None] | None = None,
        drop_fields: Collection[str] = (),
        **options: object,
    ) -> None:
        self.script = script if isinstance(script, Player) else Script(script)
        self.app = ScriptedApp(self.script.next_turn, strict=strict)
        http_client = httpx2.Client(transport=httpx2.WSGITransport(self.app))
        client = OpenAI(base_url="http://scripted.invalid/v1", api_key="none", http_client=http_client)
        self._provider = OpenAIProvider(client, "scripted", on_delta=on_delta, drop_fields=drop_fields, **options)

    @property
    def requests(self) -> list[Request]:
        return self.app.requests

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        """See `Provider.complete`."""
        return self._provider.complete(messages, tools)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and isinstance(self.script, Script) and (left := len(self.script.turns) - self.script.played):
            raise ScriptError(f"{left} of the script's {len(self.script.turns)} turns were not asked for")


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def get_stderr(self) -> io.StringIO:
        """Where tracebacks go: a connection that breaks, on purpose or because a client left, needs none."""
        return io.StringIO()


def server(app: ScriptedApp, port: int = 0) -> WSGIServer:
    """The app on 127.0.0.1, for any client: call `serve_forever` on it. Port 0: any free one (`server_port`).

    Raises OSError if the port is taken.
    """
    return make_server("127.0.0.1", port, app, server_class=_Server, handler_class=_Handler)


def _respond(start_response: StartResponse, status: int, body: Mapping[str, object]) -> Iterable[bytes]:
    raw = json.dumps(body).encode()
    start_response(_status_line(status), [("Content-Type", "application/json"), ("Content-Length", str(len(raw)))])
    return [raw]


def _status_line(status: int) -> str:
    with contextlib.suppress(ValueError):
        return f"{status} {http.HTTPStatus(status).phrase}"
    return f"{status} Unknown"


def _error(said: str, kind: str = "invalid_request_error") -> dict[str, object]:
    return {"error": {"message": said, "type": kind, "param": None, "code": None}}


def _faulty(start_response: StartResponse, fault: Mapping[str, object], status: int) -> Iterable[bytes]:
    default = json.dumps(_error(f"scripted fault {status}", "server_error"))
    raw = str(fault.get("body", default)).encode()
    headers = [(name, str(value)) for name, value in as_object(fault.get("headers")).items()]
    headers.append(("Content-Type", str(fault.get("content_type", "application/json"))))
    if fault.get("drop"):
        start_response("200 OK", [*headers, ("Content-Length", str(len(raw) + 1))])
        return _cut(iter([raw]), 0)
    start_response(_status_line(status), [*headers, ("Content-Length", str(len(raw)))])
    return [raw]


def _cut(events: Iterator[bytes], after: object) -> Iterator[bytes]:
    """The events, or as many of them as come before the connection breaks."""
    yield from events if after is None else itertools.islice(events, int(str(after)))
    if after is not None:
        raise httpx2.RemoteProtocolError("the peer closed the connection in the middle of the reply (scripted)")


def _usage(turn: Turn, characters: int, cached: int) -> object:
    if turn.usage is not ...:
        return turn.usage
    thought = len(split_think(turn.message.get("content"))[0])
    return {
        "prompt_tokens": -(-characters // _CHARS_PER_TOKEN),
        "completion_tokens": -(-len(_canonical(turn.message)) // _CHARS_PER_TOKEN),
        "total_tokens": -(-characters // _CHARS_PER_TOKEN) + -(-len(_canonical(turn.message)) // _CHARS_PER_TOKEN),
        "prompt_tokens_details": {"cached_tokens": cached // _CHARS_PER_TOKEN},
        "completion_tokens_details": {"reasoning_tokens": thought // _CHARS_PER_TOKEN},
    }


def _completion(turn: Turn, body: Mapping[str, object], number: int, usage: object) -> dict[str, object]:
    reason = turn.finish_reason or ("tool_calls" if turn.message.get("tool_calls") else "stop")
    choice = {"index": 0, "message": turn.message, "finish_reason": reason}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 0, "model": body.get("model")}
    return {**head, "choices": [choice], "usage": usage}


def _events(completion: Mapping[str, object], with_usage: bool) -> Iterator[bytes]:
    """The completion as server-sent events, its texts in pieces; joined they give the message again."""
    choice = as_object(as_list(completion["choices"])[0])
    head: dict[str, object] = {**completion, "object": "chat.completion.chunk", "usage": None}
    end: dict[str, object] = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    for delta in _deltas(as_object(choice["message"])):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [end]})
    if with_usage:
        yield _event({**head, "choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


def _event(chunk: Mapping[str, object]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _deltas(message: Message) -> Iterator[Mapping[str, object]]:
    yield {"role": message.get("role"), **({"content": None} if message.get("content", "") is None else {})}
    for key, value in message.items():
        if key not in ("role", "content", "tool_calls"):
            yield from ({key: piece} for piece in (_pieces(value) if isinstance(value, str) else [value]))
    if isinstance(content := message.get("content"), str):
        yield from ({"content": piece} for piece in _pieces(content))
    for index, call in enumerate(map(as_object, as_list(message.get("tool_calls")))):
        function = as_object(call.get("function"))
        if not isinstance(text := function.get("arguments"), str):
            yield {"tool_calls": [{**call, "index": index}]}
            continue
        first, *others = _pieces(text)
        yield {"tool_calls": [{**call, "index": index, "function": {**function, "arguments": first}}]}
        yield from ({"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in others)


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)] or [""]
