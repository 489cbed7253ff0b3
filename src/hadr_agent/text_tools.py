"""Tool calls as text: a provider around a provider, for models and servers without native tool calls.

To the loop it is a provider like any other; the model behind it sees texts alone. It does not run tools.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from openai.types.chat import ChatCompletion

from hadr_agent.provider import Message, Provider, as_list, as_object
from hadr_agent.thinking import code_spans, strip_think
from hadr_agent.tools import ToolCall, ToolSpec

_UNREADABLE = "unreadable_call"
_OURS = "text_"  # how the ids of calls begin that were read from text
_FENCED = re.compile(r"^```[\w-]*\n(?P<body>.*?)\n```$", re.DOTALL | re.MULTILINE)

# Calls in the markup of chat templates, which servers that do not parse it leave in the content.
_MARKUP = re.compile(
    r"(?P<tag><(?P<name>tool_calls?|minimax:tool_call|function_calls)>)(?P<body>.*?)(?:</(?P=name)>|\Z)"
    r"|(?P<mistral>\[TOOL_CALLS\])(?P<rest>.*?)(?=\[TOOL_CALLS\]|\Z)",
    re.DOTALL,
)
_INVOKE = re.compile(
    r"<(?:invoke name=\"|function=)(?P<name>[^\">]+)\"?>(?P<body>.*?)(?:</(?:invoke|function)>|\Z)", re.DOTALL
)
_PARAMETER = re.compile(r"<parameter(?: name=\"|=)(?P<name>[^\">]+)\"?>\n?(?P<value>.*?)\n?</parameter>", re.DOTALL)


class TextToolProvider:
    """Lets a model without native tool calls work with tools, over the provider that reaches it.

    The system prompt gets the list of the tools and how to call one: with one line of JSON at the end of a reply,
    {"tool": "…", "args": {…}}, in a fence of code or not. Results go back as user messages. Markup of tool calls that
    servers leak into the text (Hermes and Qwen, MiniMax, Mistral) is read as well; never in thinking or quoted code.

    sentinel: given, such as "TOOL:", only what stands behind a line that begins with it is a call, and everything there
        must be one.
    What cannot be read as a call although it is meant as one comes back to the model as an error. The assistant turn
    keeps the model's own text; the calls that were read from it are in `tool_calls`, as the loop expects them.
    """

    def __init__(self, inner: Provider, *, sentinel: str | None = None) -> None:
        self._inner = inner
        self._sentinel = sentinel

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ChatCompletion:
        """See `Provider.complete`."""
        if not tools:
            return self._inner.complete(messages, tools)
        completion = self._inner.complete(list(self._as_text(messages, tools)), [])
        message = completion.choices[0].message
        calls = [] if message.tool_calls else self._calls(strip_think(message.content), tools)
        if not calls:
            return completion
        for number, call in enumerate(calls, 1):
            call["id"] = f"{_OURS}{len(messages)}_{number}"
        data = completion.to_dict(mode="python", warnings=False)
        as_object(as_object(as_list(data["choices"])[0])["message"])["tool_calls"] = calls
        return ChatCompletion.construct(**cast("dict[str, Any]", data))

    # --- to the model

    def _as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[Message]:
        """The history without tool calls and tool messages. Each message depends on those before it alone."""
        protocol = self._protocol(tools)
        if not messages or messages[0].get("role") != "system":
            yield {"role": "system", "content": protocol}
        names: dict[object, object] = {}
        for number, message in enumerate(messages):
            calls = [as_object(call) for call in as_list(message.get("tool_calls"))]
            if message.get("role") == "system" and number == 0:
                yield {**message, "content": f"{message.get('content')}\n\n{protocol}"}
            elif calls and str(calls[0].get("id")).startswith(_OURS):
                names = {call.get("id"): as_object(call.get("function")).get("name") for call in calls}
                yield {key: value for key, value in message.items() if key != "tool_calls"}
            elif message.get("role") == "tool" and message.get("tool_call_id") in names:
                yield {"role": "user", "content": self._result(names[message["tool_call_id"]], str(message["content"]))}
            else:
                yield message

    def _result(self, name: object, text: str) -> str:
        if name == _UNREADABLE:
            return f"Error: that was no call that can be read. {self._how_to_call()}"
        return f"Result of {name}:\n{text}"

    def _how_to_call(self) -> str:
        line = '{"tool": "<name>", "args": {<arguments>}}'
        before = f"a line {self._sentinel} and then " if self._sentinel else ""
        return f"To call a tool, end your reply with {before}one line of JSON and nothing behind it: {line}"

    def _protocol(self, tools: Sequence[ToolSpec]) -> str:
        offered = "\n".join(json.dumps(spec["function"], ensure_ascii=False) for spec in tools)
        return (
            f"You can use tools. {self._how_to_call()}\nThe result comes back as the next user message. "
            "Without such a line your reply is the answer.\n\n"
            f"The tools, with the JSON schema of their arguments:\n{offered}"
        )

    # --- from the model

    def _calls(self, text: str, tools: Sequence[ToolSpec]) -> list[ToolCall]:
        """The calls that a reply makes, in order; none if it is an answer."""
        said = _last_lines(text) if self._sentinel is None else _behind(text, self._sentinel)
        calls = [_call_of_line(line) for line in said]
        return calls or list(_marked_calls(text, tools))


def leaked_markup(text: str) -> str | None:
    """The tag of a tool call that a server left in a text, outside of quoted code; None if there is none."""
    match = next(_unquoted(_MARKUP, text), None)
    return (match["tag"] or match["mistral"]) if match else None


def _unquoted(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    spans = code_spans(text)
    return (match for match in pattern.finditer(text) if not any(a <= match.start() < b for a, b in spans))


def _last_lines(text: str) -> list[str]:
    """The lines of JSON that end a text, bare or in the fence that ends it; empty if its last line is none."""
    text = text.strip()
    fences = [match for match in _FENCED.finditer(text) if match.end() == len(text)]
    lines = [line for line in (fences[-1]["body"] if fences else text).split("\n") if line.strip()]
    found: list[str] = []
    while lines and _is_meant_as_call(lines[-1]):
        found.insert(0, lines.pop())
    return [] if fences and lines else found


def _is_meant_as_call(line: str) -> bool:
    value = as_object(_json_or_none(line))
    if not value:  # cut off, or not quite JSON
        return re.match(r'\s*\{\s*"tool"\s*:', line) is not None
    return "tool" in value and value.keys() <= {"tool", "args"}


def _behind(text: str, sentinel: str) -> list[str]:
    """The lines behind the last line that begins with the sentinel, outside of quoted code."""
    marks = list(_unquoted(re.compile(rf"^[ \t]*{re.escape(sentinel)}", re.MULTILINE), text))
    if not marks:
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    lines: list[str] = []
    for mark, end in zip(marks, ends, strict=True):
        said = text[mark.end() : end].strip()
        fenced = _FENCED.fullmatch(said)
        lines += [line for line in (fenced["body"] if fenced else said).split("\n") if line.strip()] or [""]
    return lines


def _call_of_line(line: str) -> ToolCall:
    value = as_object(_json_or_none(line))
    if isinstance(value.get("tool"), str) and value.keys() <= {"tool", "args"}:
        return _call(str(value["tool"]), json.dumps(value.get("args", {}), ensure_ascii=False))
    named = re.search(r'"tool"\s*:\s*"(?P<name>[^"]+)"', line)
    return _call(named["name"] if named and not value else _UNREADABLE, line)


def _marked_calls(text: str, tools: Sequence[ToolSpec]) -> Iterator[ToolCall]:
    for match in _unquoted(_MARKUP, text):
        body = (match["body"] if match["tag"] else match["rest"]).strip()
        invoked = list(_INVOKE.finditer(body))
        if invoked:
            for each in invoked:
                broken = "<parameter" in _PARAMETER.sub("", each["body"])
                arguments = each["body"] if broken else _parameters(each["body"], each["name"], tools)
                yield _call(each["name"], arguments)
        elif (
            named := re.match(r"(?P<name>[\w.-]+)\s*(?:\[ARGS\])?\s*(?P<arguments>\{.*)\Z", body, re.DOTALL)
        ) is not None:
            yield _call(named["name"], named["arguments"])
        else:
            yield from _json_calls(body)


def _json_calls(body: str) -> Iterator[ToolCall]:
    """Calls as {"name": …, "arguments": …}: one, an array of them, or one a line."""
    value = _json_or_none(body)
    lines = [_json_or_none(line) for line in body.split("\n")]
    for each in map(as_object, as_list(value) or ([value] if value else lines)):
        arguments = each.get("arguments", each.get("parameters", {}))
        if not isinstance(each.get("name"), str):
            yield _call(_UNREADABLE, body)
            return
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        yield _call(str(each["name"]), text)


def _parameters(body: str, name: str, tools: Sequence[ToolSpec]) -> str:
    """Arguments written as XML: texts where the schema says so, JSON values everywhere else."""
    functions = [as_object(spec.get("function")) for spec in tools]
    schemas = [as_object(function.get("parameters")) for function in functions if function.get("name") == name]
    properties = [as_object(schema.get("properties")) for schema in schemas]
    kinds = {key: _kinds(as_object(value)) for each in properties for key, value in each.items()}
    arguments: dict[str, object] = {}
    for parameter in _PARAMETER.finditer(body):
        value = None if "string" in kinds.get(parameter["name"], []) else _json_or_none(parameter["value"])
        arguments[parameter["name"]] = parameter["value"] if value is None else value
    return json.dumps(arguments, ensure_ascii=False)


def _kinds(schema: dict[str, object]) -> list[object]:
    return [schema.get("type"), *(as_object(each).get("type") for each in as_list(schema.get("anyOf")))]


def _call(name: str, arguments: str) -> ToolCall:
    return {"id": "", "type": "function", "function": {"name": name, "arguments": arguments}}


def _json_or_none(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
