"""One model call over an OpenAI-compatible API: the request's bytes, the reply's checks and repairs, the usage.

The only room that speaks HTTP. It does not know the loop, tools beyond their specs, the environment or the terminal.
"""

import contextlib
import copy
import json
import logging
import re
import secrets
import string
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAI, Stream
from openai.types.chat import ChatCompletion

from hadr_agent.tools import ToolCall, ToolSpec, arguments_problem, without_secrets

Message = dict[str, object]
"""A message as on the wire: {"role": "system" | "user" | "assistant" | "tool", "content": …, …}."""

_CUT_OFF = {"length", "max_tokens", "model_length"}  # OpenAI; Anthropic and Gemini (in capitals); Mistral
_UNNAMED = "unnamed_tool"
_EXCERPT_BYTES = 65_536  # of a stream that turns out to be something else


class Provider(Protocol):
    """Anything that can answer a history with the next assistant turn."""

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        """Send the history and the tool specs, return the completion. Raises `ProviderError`; keeps nothing back."""
        ...


class ProviderError(Exception):
    """A model call that brought no assistant turn: the provider's own words, the URL used, what to look at.

    status: the HTTP status; None if no reply came or the reply was broken.
    context_overflow: the history no longer fits the model; asking again cannot help.
    """

    def __init__(self, message: str, status: int | None = None, *, context_overflow: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.context_overflow = context_overflow


CHARS_PER_TOKEN = 4
"""What a token is taken for where nobody counts them."""


@dataclass(frozen=True)
class Usage:
    """Tokens as the provider counts them. None: not reported, which is not the same as 0.

    prompt_tokens includes cached_tokens; completion_tokens includes reasoning_tokens. Usages add up with `+`.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _sum(self.prompt_tokens, other.prompt_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.completion_tokens, other.completion_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
        )

    @classmethod
    def of(cls, completion: ChatCompletion) -> "Usage":
        """Read a completion's usage under every name that providers use.

        Cached tokens: OpenAI's prompt_tokens_details.cached_tokens, DeepSeek's prompt_cache_hit_tokens, Kimi's
        top-level cached_tokens, Anthropic's cache_read_input_tokens (there the prompt count leaves cached ones out).
        """
        usage = as_object(completion.usage.to_dict(mode="python", warnings=False)) if completion.usage else {}
        details = as_object(usage.get("prompt_tokens_details")) or as_object(usage.get("input_tokens_details"))
        after = as_object(usage.get("completion_tokens_details")) or as_object(usage.get("output_tokens_details"))
        hit, miss = _count(usage.get("prompt_cache_hit_tokens")), _count(usage.get("prompt_cache_miss_tokens"))
        read, written = _count(usage.get("cache_read_input_tokens")), _count(usage.get("cache_creation_input_tokens"))
        fresh = _count(usage.get("input_tokens"))
        prompt = _first(_count(usage.get("prompt_tokens")), _sum(hit, miss), _sum(fresh, _sum(read, written)))
        cached = _first(_count(details.get("cached_tokens")), hit, _count(usage.get("cached_tokens")), read)
        if prompt is not None and cached is not None and cached > prompt:
            prompt += cached  # a proxy passed on a count that leaves cached tokens out
        return cls(
            prompt,
            cached,
            _first(_count(usage.get("completion_tokens")), _count(usage.get("output_tokens"))),
            _first(_count(after.get("reasoning_tokens")), _count(usage.get("reasoning_tokens"))),
        )


def is_cut_off(finish_reason: object) -> bool:
    """Did the turn end at a token limit? `finish_reason` is the provider's, whatever that may be."""
    return str(finish_reason).lower() in _CUT_OFF


class OpenAIProvider:
    """One model of one OpenAI-compatible API.

    client: an `openai.OpenAI`; its authentication, retries and timeouts are used. `connect` makes a suitable one.
    model: the model's name at that API.
    on_delta: given, replies are streamed and it is called with each piece of text as it comes. Thinking that arrives
        in a field of its own (`reasoning_content`, `reasoning`) is shown to it between <think> and </think>.
    drop_fields: fields of assistant turns that this provider refuses on replay (`reasoning_content` …). They are left
        out of the requests; the history keeps them.
    options: further members of the request (`temperature`, `reasoning_effort` …), the same in every round.
    """

    def __init__(
        self,
        client: OpenAI,
        model: str,
        *,
        on_delta: Callable[[str], None] | None = None,
        drop_fields: Collection[str] = (),
        **options: object,
    ) -> None:
        self._client = client
        self._on_delta = on_delta
        self._drop_fields = frozenset(drop_fields)
        self._head = _with({"model": model}, options)
        self._ask_usage = True

    def with_options(self, **options: object) -> "OpenAIProvider":
        """The same provider, over the same client, with further members in its requests."""
        other = copy.copy(self)
        other._head = _with(self._head, options)
        return other

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        """Send one request and return the reply, checked, and repaired where providers refuse its replay.

        Raises ProviderError when no assistant turn came of it; then nothing half-received is returned.
        """
        try:
            return self._complete(messages, tools)
        except APIStatusError as error:
            if self._on_delta and self._ask_usage and "stream_options" in error.response.text:
                self._ask_usage = False
                return self.complete(messages, tools)
            said = _words(error.body) or error.response.text
            raise self._error(said, error.status_code, messages) from error
        except APITimeoutError as error:
            raise self._error("no reply within the time limit") from error
        except APIConnectionError as error:
            raise self._error(f"the connection failed: {error.__cause__ or error}") from error
        except httpx2.HTTPError as error:
            raise self._error(f"the connection broke while the reply came in: {error}") from error

    def _complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        # The SDK sends, authenticates and retries, but hands over the reply as it came: only so are a page that is
        # not JSON and a stream without its end still to be seen.
        response = cast(
            "httpx2.Response",
            self._client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                content=self._request(messages, tools),
                stream=self._on_delta is not None,
                stream_cls=Stream[object],
            ),
        )
        with contextlib.closing(response):
            if self._on_delta and "text/event-stream" in response.headers.get("content-type", ""):
                completion = self._joined(response.iter_bytes(), self._on_delta)
            elif self._on_delta and re.match(rb"\s*(data|event)?:", response.read()):  # some servers forget to say so
                completion = self._joined([response.content], self._on_delta)
            else:
                response.read()
                completion = self._parsed(response.text)
        choice = self._first_choice(completion)
        choice["message"] = _replayable(as_object(choice["message"]))
        completion["usage"] = as_object(completion.get("usage")) or None
        return ChatCompletion.construct(**cast("dict[str, Any]", completion))

    def _request(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> bytes:
        """The body: keys in one fixed order, `messages` last, so that each body is the beginning of the next.

        ASCII-escaped JSON: a lone surrogate in a reply survives its replay.
        """
        body = dict(self._head)
        if self._on_delta:
            body["stream"] = True
            if self._ask_usage:
                body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = tools
        else:
            body.pop("tool_choice", None)  # without tools a 400: platform.openai.com/docs/api-reference/chat/create
        body["messages"] = [self._sent(message) for message in messages] if self._drop_fields else list(messages)
        return json.dumps(body).encode()

    def _sent(self, message: Message) -> Message:
        if message.get("role") != "assistant":
            return message
        return {key: value for key, value in message.items() if key not in self._drop_fields}

    def _parsed(self, text: str) -> dict[str, object]:
        try:
            value: object = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            raise self._error(f"the reply is not JSON but begins {_excerpt(text)!r}") from None
        if not isinstance(value, dict):
            raise self._error(f"the reply is not a completion but {_excerpt(text)!r}")
        return cast("dict[str, object]", value)

    def _joined(self, pieces: Iterable[bytes], on_delta: Callable[[str], None]) -> dict[str, object]:
        """Join a stream's chunks to the completion that an unstreamed reply would have been."""
        received, chunks = bytearray(), 0
        completion: dict[str, object] = {}
        message: Message = {}
        calls: list[tuple[int, ToolCall]] = []
        finish_reason: object = None
        thinking = ended = False
        for event in _events(pieces, received):
            if event == "[DONE]":
                ended = True
                break
            chunk, chunks = self._parsed(event), chunks + 1
            if chunk.get("error") or chunk.get("object") == "error":
                raise self._error(_words(chunk) or event)
            choices = [as_object(each) for each in as_list(chunk.get("choices"))]
            choice = next((each for each in choices if not each.get("index")), as_object(None))
            if choice.get("error"):
                raise self._error(_words(choice["error"]) or event)
            # Kimi reports usage inside the choice, Groq under x_groq.
            usage = chunk.get("usage") or choice.get("usage") or as_object(chunk.get("x_groq")).get("usage")
            completion |= {key: value for key, value in chunk.items() if key != "choices" and value is not None}
            completion |= {"usage": usage} if usage else {}
            finish_reason = choice.get("finish_reason") or finish_reason
            delta = as_object(choice.get("delta")) or ({} if message else as_object(choice.get("message")))
            _merge(message, {key: value for key, value in delta.items() if key != "tool_calls"})
            for piece in as_list(delta.get("tool_calls")):
                _merge_call(calls, as_object(piece))
            thought, text = delta.get("reasoning_content") or delta.get("reasoning"), delta.get("content")
            if thought and isinstance(thought, str):
                on_delta(thought if thinking else f"<think>{thought}")
                thinking = True
            if text and isinstance(text, str):
                on_delta(f"</think>\n\n{text}" if thinking else text)
                thinking = False
        if not chunks and not ended:
            return self._parsed(received.decode(errors="replace"))  # no stream after all, perhaps an error
        if not ended and finish_reason is None:
            raise self._error("the stream ended before the reply was complete; nothing of it was kept")
        if thinking:
            on_delta("</think>\n\n")
        if calls:
            message["tool_calls"] = [call for _, call in sorted(calls, key=lambda numbered: numbered[0])]
        completion["object"] = "chat.completion"
        completion["choices"] = [{"index": 0, "message": message or None, "finish_reason": finish_reason}]
        return completion

    def _first_choice(self, completion: dict[str, object]) -> dict[str, object]:
        """The reply's first choice, once it is sure to hold a message."""
        choice = as_object(_first_item(completion.get("choices")))
        for fault in (completion.get("error"), choice.get("error")):
            if fault:
                raise self._error(_words(fault) or _excerpt(json.dumps(fault)))
        if not isinstance(choice.get("message"), dict):
            said = _words(completion) or f"the reply holds no message: {_excerpt(json.dumps(completion))}"
            raise self._error(said)
        return choice

    def _error(self, said: str, status: int | None = None, messages: Sequence[Message] = ()) -> ProviderError:
        """Say what the provider said, where it was asked and what to look at, without any credentials."""
        url = f"{str(self._client.base_url).rstrip('/')}/chat/completions"
        too_long = bool(status != 429 and _TOO_LONG.search(said))
        field = _refused_field(said, messages) if status in (400, 422) else None
        advice = _advice(status)
        if too_long:
            advice = "The history no longer fits the model: go on in a new session, or with a model that takes more."
        elif field:
            advice = f"It refuses {field!r} in old turns: HADR_DROP_FIELDS={field} leaves that out of the requests."
        where = f"{f'HTTP {status}, ' if status else ''}{url}"
        text = without_secrets(f"{_excerpt(said, 600) or '(no text)'} [{where}] {advice}")
        key = self._client.api_key
        return ProviderError(text.replace(key, "***") if len(key) >= 6 else text, status, context_overflow=too_long)


def _with(head: dict[str, object], options: dict[str, object]) -> dict[str, object]:
    if clash := options.keys() & {"messages", "tools", "stream", "stream_options"}:
        raise TypeError(f"{', '.join(sorted(clash))}: the provider itself puts this into each request")
    return head | options


# How they say that a history is too long: OpenAI, vLLM, Anthropic, Gemini, Mistral, llama.cpp, MiniMax, Kimi, xAI …
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size|limit|overflow)|maximum (context|prompt|input)|(prompt|input) is too long"
    r"|too many tokens|token count .*exceeds|exceeded model token limit|reduce the length of the messages",
    re.IGNORECASE,
)


def _refused_field(said: str, messages: Sequence[Message]) -> str | None:
    """The field of an old assistant turn that a refusal names, if it is one that a provider added."""
    added = {key for message in messages if message.get("role") == "assistant" for key in message}
    added -= {"role", "content", "tool_calls"}
    return next(
        (key for key in sorted(added, key=len, reverse=True) if re.search(rf"\b{re.escape(key)}\b", said)), None
    )


def _advice(status: int | None) -> str:
    if status in (401, 403):
        return "Look at OPENAI_API_KEY."
    if status == 404:
        return "Look at OPENAI_BASE_URL (most end in /v1) and at the model's name."
    if status == 429:
        return "Wait, or look at your limits with this provider."
    if status and status < 500:
        return "The provider refused the request as it is."
    return "Try again later." if status else "Look at OPENAI_BASE_URL, or try again."


# --- the reply, made fit for replay


def _replayable(message: Message) -> Message:
    """The message with the repairs at the provider's boundary: each thing here is refused by some provider on replay.

    A role, a content and each call's id, type, name and text of arguments are made sure of; all else stays as it came.
    """
    repaired = {**message, "role": message.get("role") or "assistant", "content": message.get("content")}
    if "tool_calls" in message:
        used: set[object] = set()
        calls = map(as_object, as_list(message["tool_calls"]))
        repaired["tool_calls"] = [replayable_call(call, used, _random_id) for call in calls]
    return repaired


def _random_id() -> str:
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(9))


def replayable_call(call: ToolCall, used: set[object], fresh: Callable[[], str]) -> ToolCall:
    """The call with an id of its own, a type, a name and its arguments as text; all else stays as it came.

    used: the ids of the turn's calls before it; this one's is added.
    fresh: makes an id of nine letters or digits, the one form that Mistral takes, and everybody else too.
    """
    ident = call.get("id")
    if not isinstance(ident, str) or not ident or ident in used:  # autogen#4878, nanobot#4473
        ident = fresh()
    used.add(ident)
    repaired = {**call, "id": ident, "type": call.get("type") or "function"}
    if repaired["type"] == "custom" and "custom" in call:
        return repaired
    function = as_object(call.get("function"))
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(arguments, str | None):  # flama#258: Ollama-shaped replies carry them parsed
        arguments = json.dumps(arguments)
    name = name if isinstance(name, str) and name else _UNNAMED
    return {**repaired, "function": {**function, "name": name, "arguments": arguments}}


# --- the stream


def _events(pieces: Iterable[bytes], received: bytearray) -> Iterator[str]:
    """The data of each server-sent event (HTML standard, 9.2). `received` keeps the first bytes, for error texts.

    An event ends with a blank line, or where the next one begins if a server leaves blank lines out.
    """
    data: list[str] = []
    for line in _lines(pieces, received):
        field, _, value = line.partition(":")
        if data and (not line or (field == "data" and _is_json("\n".join(data)))):
            yield "\n".join(data)
            data = []
        if field == "data" and value.strip():
            data.append(value.removeprefix(" "))
    if data:
        yield "\n".join(data)


def _lines(pieces: Iterable[bytes], received: bytearray) -> Iterator[str]:
    """The lines of a stream of bytes, which may end in CR, LF or both."""
    rest = b""
    for piece in pieces:
        received += piece[: _EXCERPT_BYTES - len(received)]
        rest += piece
        whole = rest.removesuffix(b"\r")  # its LF may be on the way
        *lines, last = re.split(rb"\r\n|\n|\r", whole)
        rest = last + rest[len(whole) :]
        yield from (line.decode(errors="replace").removeprefix("\ufeff") for line in lines)
    yield from (line.decode(errors="replace") for line in re.split(rb"\r\n|\n|\r", rest))


def _is_json(text: str) -> bool:
    if text.strip() == "[DONE]":
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_WHOLE = {"role", "id", "type", "index", "format"}  # sent whole, by some providers in every chunk


def _merge(joined: dict[str, object], delta: dict[str, object]) -> None:
    """Add a delta: texts are joined, objects and numbered lists merged, everything else replaced."""
    for key, new in delta.items():
        old = joined.get(key)
        if old is None or new is None:
            joined[key] = copy.deepcopy(new) if old is None else old
        elif as_list(old) or as_list(new):
            joined[key] = parts = _as_parts(old)
            _merge_lists(parts, _as_parts(new))
        elif isinstance(old, str) and isinstance(new, str):
            again = key in _WHOLE or (key == "name" and (old == new or joined.get("arguments")))
            joined[key] = old if again and old else _text(old + new)
        elif isinstance(old, dict) and isinstance(new, dict):
            _merge(cast("dict[str, object]", old), cast("dict[str, object]", new))
        else:
            joined[key] = new


def _text(joined: str) -> str:
    """A joined text: the halves of a surrogate pair that came in two deltas are one character again."""
    if joined.isascii():
        return joined
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _as_parts(content: object) -> list[object]:
    """A content as a list of parts: Mistral streams thinking as parts and the answer behind it as text."""
    return as_list(content) or ([{"type": "text", "text": content}] if content else [])


def _merge_lists(joined: list[object], delta: list[object]) -> None:
    """Add a list's delta, such as OpenRouter's reasoning_details: pieces with the same `index` belong together."""
    known = {as_object(item).get("index"): as_object(item) for item in joined}
    for item in delta:
        number = as_object(item).get("index")
        if number is not None and number in known:
            _merge(known[number], as_object(item))
        else:
            joined.append(copy.deepcopy(item))


def _merge_call(calls: list[tuple[int, ToolCall]], piece: ToolCall) -> None:
    """Add a piece of a tool call to the call it belongs to, or begin a new one.

    `index` decides, where it can: some servers leave it out or give all calls the same, so that a second id, or a
    second name behind complete arguments, begins a new call (camel PR#3662, dynamo PR#4723).
    """
    number = piece.get("index")
    number = number if isinstance(number, int) else calls[-1][0] if calls else 0
    call = next((call for of, call in reversed(calls) if of == number), None)
    if call is None or _begins_another(call, piece):
        calls.append((number, call := {}))
    _merge(call, {key: value for key, value in piece.items() if key != "index"})


def _begins_another(call: ToolCall, piece: ToolCall) -> bool:
    if call.get("id") and piece.get("id"):
        return call["id"] != piece["id"]
    function = as_object(call.get("function"))
    named_again = bool(function.get("name") and as_object(piece.get("function")).get("name"))
    return named_again and arguments_problem(function.get("arguments")) is None


# --- reading JSON of unknown shape


def as_object(value: object) -> dict[str, object]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def _first_item(value: object) -> object:
    return next(iter(as_list(value)), None)


def _count(value: object) -> int | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return int(value) if 0 <= value < 2**53 else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


_SAYING = ("message", "error", "detail", "msg", "base_resp", "status_msg")  # the last two are MiniMax's


def _words(value: object) -> str:
    """What a provider's error says, in any of the shapes that errors come in."""
    if isinstance(value, str):
        return value
    if items := as_list(value):
        return "; ".join(filter(None, map(_words, items)))
    if not (fields := as_object(value)):
        return ""
    said = next((text for key in _SAYING if (text := _words(fields.get(key)))), "")
    code = fields.get("code")
    return f"{said} ({code})" if said and code and str(code) not in said else said


def _excerpt(text: str, limit: int = 200) -> str:
    """A body on one line: a page without its tags, cut to the limit."""
    text = " ".join(re.sub(r"<(script|style)\b.*?</\1>|<[^<>]+>", " ", text, flags=re.DOTALL | re.IGNORECASE).split())
    return text if len(text) <= limit else f"{text[:limit]}…"


def connect(base_url: str | None, api_key: str, on_retry: Callable[[str], object] | None = None) -> OpenAI:
    """A client with patience: reasoning models may think for minutes before the first byte.

    base_url: None for OpenAI's own. Timeouts in seconds: 10 to connect, 600 of silence. Three retries with the SDK's
    waiting times, for rate limits, server errors and lost connections; `on_retry` is told of each before it waits.
    Raises ValueError, in words, if a proxy or a certificate of the environment is of no use.
    """
    if on_retry:
        logger = logging.getLogger("openai._base_client")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(_RetryListener(on_retry))
    try:
        return OpenAI(base_url=base_url, api_key=api_key, max_retries=3, timeout=httpx2.Timeout(600, connect=10))
    except (ImportError, OSError, ValueError) as error:
        raise ValueError(
            f"the connection cannot be set up: {without_secrets(str(error)).splitlines()[0]}. Look at the variables "
            "of proxies and certificates, such as ALL_PROXY and SSL_CERT_FILE."
        ) from error


class _RetryListener(logging.Handler):
    """Hears from the SDK's log, the one place that tells of it, why a request failed and how long it will wait."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        super().__init__(logging.DEBUG)
        self._tell = tell
        self._why = "the request failed"

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if match := re.search(r"HTTP status error: (\d+)", said):
            self._why = "too many requests (HTTP 429)" if match[1] == "429" else f"HTTP {match[1]}"
        elif "timeout exception" in said:
            self._why = "no reply within the time limit"
        elif "Encountered exception" in said:
            self._why = "the connection failed"
        elif match := re.search(r"Retrying request in ([\d.]+) seconds \(retry (\d+) of (\d+)", said):
            self._tell(f"{self._why}; trying again in {float(match[1]):.1f} s ({match[2]} of {match[3]})")
