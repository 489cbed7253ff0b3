"""Tools: a schema from type hints, validated arguments, one tool call turned into one text.

It does not know the loop, the model or the terminal. Whatever goes wrong in a tool becomes text here, and nowhere else.
"""

import asyncio
import inspect
import json
import os
import re
import threading
import typing
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, NoReturn, cast, get_args, get_origin, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, to_jsonable_python

ToolCall = dict[str, object]
"""A tool call as on the wire: {"id": …, "type": "function", "function": {"name": …, "arguments": "…"}}."""

ToolSpec = dict[str, object]
"""A tool as the request offers it: {"type": "function", "function": {"name": …, "description": …, "parameters": …}}."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # platform.openai.com/docs/api-reference/chat/create, `tools`
_SECRET_NAME = re.compile(  # OPENAI_API_KEY, but not KEYBOARD_LAYOUT; AUTH_TOKEN, but not GIT_AUTHOR_NAME
    r"(key|token|secret|passw(or)?d|passphrase|credentials?)(_|$)|(^|_)(auth|pass|pwd)(_|$)|secret", re.IGNORECASE
)
_SECRET = re.compile(  # user:password in a URL, a bearer token, password=…
    r"(://)[^\s/]+(?=@)|(\bbearer\s+)\S+|(\b[\w-]*(?:passw(?:or)?d|pwd|secret|token|api[_-]?key)=)[^\s&,;]+",
    re.IGNORECASE,
)
UNREADABLE = "the arguments could not be read, so nothing was run"
"""What the result of a call says whose arguments went into the history as {}."""

_QUOTED = 200  # characters of unreadable arguments that a tool message shows
_MAX_CALLS = 64  # of one turn that are run
_MAX_CHARS = 200_000  # of one turn's results, before they are cut short
_THREADS = 8
_FAILURE = 500  # characters of an exception's text that a tool message shows


class ToolError(Exception):
    """Raised by a tool to give the model a message of its own: it reads `Error: <message>`, without a class name."""


@dataclass(frozen=True)
class ToolResult:
    """What became of one tool call: the text for the model and, if the tool failed, the exception for people."""

    call: ToolCall
    text: str
    exception: BaseException | None = None

    @property
    def message(self) -> dict[str, object]:
        """The tool message that answers the call."""
        return {"role": "tool", "tool_call_id": self.call.get("id"), "content": self.text}


@dataclass(frozen=True, eq=False)
class Tool:
    """A function that a model may call. Made by `tool`; calling it calls the function."""

    function: Callable[..., object]
    name: str
    spec: ToolSpec
    arguments: type[BaseModel]
    max_chars: int
    needs_approval: bool
    parallel_safe: bool

    def __call__(self, *args: object, **kwargs: object) -> object:
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[..., object], /) -> Tool: ...
@overload
def tool(
    *, max_chars: int = ..., needs_approval: bool = ..., parallel_safe: bool = ...
) -> Callable[[Callable[..., object]], Tool]: ...
def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    max_chars: int = 20_000,
    needs_approval: bool = False,
    parallel_safe: bool = False,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """Make a function a tool: `@tool` or `@tool(needs_approval=True)`.

    The function's name is the tool's, the first paragraph of its docstring the description, its type hints the JSON
    schema (`Annotated[int, "how many dice"]` or pydantic's `Field` describe a parameter). It may be async. It returns
    text, or data that becomes JSON.

    max_chars: longer results are cut in the middle.
    needs_approval: a person is asked before each call (see `Toolbox`).
    parallel_safe: calls of a turn may run side by side, in threads, if all of them are of tools marked so.

    Raises TypeError for a parameter without a type hint or with one that has no JSON schema, ValueError for a name
    that providers refuse and for options that do not go together.
    """

    def make(function: Callable[..., object]) -> Tool:
        name = getattr(function, "__name__", type(function).__name__)
        if not _NAME.fullmatch(name):
            raise ValueError(f"tool {name!r}: a name is 1 to 64 of the characters a-z, A-Z, 0-9, _ and -")
        if max_chars < 200:
            raise ValueError(f"tool {name}: max_chars must be at least 200, not {max_chars}")
        if needs_approval and parallel_safe:
            raise ValueError(f"tool {name}: a person can be asked about one call at a time; it cannot be parallel_safe")
        arguments = _arguments_model(name, function)
        described = {"name": name, "description": _first_paragraph(function), "parameters": _parameters(arguments)}
        spec: ToolSpec = {"type": "function", "function": described}
        return Tool(function, name, spec, arguments, max_chars, needs_approval, parallel_safe)

    return make if function is None else make(function)


class Toolbox:
    """The tools of one run: what the request offers (`specs`) and how a call is carried out (`run`).

    approve: asked before each call of a tool that needs approval, with the tool's name and its arguments. Without it
    such calls are answered "not approved".
    Raises ValueError for two tools of one name, TypeError for what is no `Tool`.
    """

    def __init__(self, *tools: Tool, approve: Callable[[str, dict[str, object]], bool] | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        for each in cast("tuple[object, ...]", tools):  # not every caller has a type checker
            if not isinstance(each, Tool):
                raise TypeError(f"{each!r} is not a tool; put @tool on the function")
            if each.name in self._tools:
                raise ValueError(f"two tools are called {each.name!r}; rename one")
            self._tools[each.name] = each
        self._approve = approve
        self.specs: list[ToolSpec] = [each.spec for each in tools]
        """The same objects in the same order in every round, so that the provider's prompt cache holds."""

    def closed(self) -> "Toolbox":
        """The same tools as the model sees them, none of which is run any more."""
        closed = _ClosedToolbox()
        closed.specs = self.specs
        return closed

    def run(self, call: ToolCall) -> ToolResult:
        """Carry out one tool call and return its result. Never raises for what a model or a tool does wrong.

        `call` carries the arguments as received. Only an interrupt (KeyboardInterrupt and its like) passes through.
        """
        try:
            return ToolResult(call, self._run(call))
        except (Exception, SystemExit) as exception:
            return ToolResult(call, _failure(exception), exception)

    def run_all(self, calls: Sequence[ToolCall]) -> Iterator[ToolResult]:
        """Carry out the calls of one turn: exactly one result for each, in call order, each as soon as it is there.

        Side by side if all of them are of parallel-safe tools, else one after the other. Work and bytes are bounded:
        of a turn 64 calls are run, and behind 200,000 characters of results each further one is cut to 500.
        """
        first = calls[:_MAX_CALLS]
        found = [self._tools.get(_name_and_arguments(call)[0]) for call in first]
        side_by_side = len(first) > 1 and all(each and each.parallel_safe for each in found)
        characters = 0
        for result in _side_by_side(self.run, first) if side_by_side else map(self.run, first):
            characters += len(result.text)
            yield result if characters <= _MAX_CHARS else replace(result, text=_capped(result.text, 500))
        for call in calls[_MAX_CALLS:]:
            yield ToolResult(call, f"Error: not run, too many calls in one turn (at most {_MAX_CALLS})")

    def _run(self, call: ToolCall) -> str:
        name, raw = _name_and_arguments(call)
        found = self._tools.get(name)
        if found is None:
            raise ToolError(f"unknown tool {_shortened(name)!r}. Available tools: {', '.join(self._tools) or 'none'}")
        if raw is None or raw == "" or str(raw).isspace():
            raw = "{}"  # blank is how many models say "no arguments" (vllm#19419)
        if (problem := arguments_problem(raw)) is not None:
            raise ToolError(_unreadable(raw, problem))
        values = _validated(found, str(raw))
        if found.needs_approval and not (self._approve and self._approve(name, values)):
            raise ToolError(f"not approved: {name} was not run, since nobody allowed it. Go on without it.")
        return _capped(_as_text(_awaited(found.function(**values))), found.max_chars)


class _ClosedToolbox(Toolbox):
    def run(self, call: ToolCall) -> ToolResult:
        return ToolResult(call, "Error: not run, the limit is reached")


def _side_by_side(run: Callable[[ToolCall], ToolResult], calls: Sequence[ToolCall]) -> Iterator[ToolResult]:
    """Run the calls in threads that end with the program, so that a Ctrl-C does not wait for what still runs."""
    results: list[Future[ToolResult]] = [Future() for _ in calls]
    waiting = iter(list(zip(calls, results, strict=True)))  # next() on it is atomic

    def work() -> None:
        for call, result in waiting:
            try:
                result.set_result(run(call))
            except BaseException as interrupt:
                result.set_exception(interrupt)

    for _ in range(min(len(calls), _THREADS)):
        threading.Thread(target=work, daemon=True).start()
    try:
        for result in results:
            yield result.result()
    finally:
        for _ in waiting:  # after an interrupt nothing more is begun
            pass


def interrupted(call: ToolCall) -> ToolResult:
    """The result of a call that a Ctrl-C (or another interrupt) left open."""
    return ToolResult(
        call, "Error: interrupted. What came of this call is not known: it may have had its effect, or a part."
    )


def cut_off(call: ToolCall) -> ToolResult:
    """The result of a call whose turn ended at the token limit: its arguments may be half of what was meant."""
    raw = _name_and_arguments(call)[1]
    problem = arguments_problem(raw) if raw else None
    sent = f" Moreover {_unreadable(raw, problem)}" if problem else ""
    return ToolResult(call, f"Error: not run, the turn was cut off at the token limit. Send it again, shorter.{sent}")


def arguments_problem(raw: object) -> str | None:
    """Say why `raw` is not the text of a JSON object; None if it is.

    The one verdict for replay and for execution. Strict: RFC 8259, so without NaN and Infinity.
    """
    if not isinstance(raw, str):
        return f"they are {_kind(raw)}, not text"
    try:
        value: object = json.loads(raw, parse_constant=_refuse_constant)
    except RecursionError:
        return "they are nested too deeply"
    except ValueError as error:
        glued = "; several values stand one after the other: make one call for each" if "Extra" in str(error) else ""
        return f"they are not valid JSON: {error}{glued}"
    return None if isinstance(value, dict) else f"they are {_kind(value)}, not a JSON object"


def _name_and_arguments(call: ToolCall) -> tuple[str, object]:
    function = call.get("function")
    if not isinstance(function, dict):
        return str(call.get("type")), None  # a custom tool call, which nobody offered
    fields = cast("dict[str, object]", function)
    return str(fields.get("name")), fields.get("arguments")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not standard JSON")


def _unreadable(raw: object, problem: str) -> str:
    return f"{UNREADABLE}: {problem}. What was sent: {_shortened(raw, _QUOTED)}"


def _shortened(value: object, limit: int = 100) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= limit else f"{text[: limit // 2]} […] {text[-limit // 2 :]}"


def _kind(value: object) -> str:
    """What a JSON value is, in JSON's own words."""
    words = {"NoneType": "null", "bool": "a boolean", "int": "a number", "float": "a number", "str": "text"}
    words |= {"list": "an array", "dict": "an object"}
    return words.get(type(value).__name__, type(value).__name__)


# --- from hints to schema, from JSON to arguments


def _arguments_model(name: str, function: Callable[..., object]) -> type[BaseModel]:
    """A pydantic model of the function's parameters. Fields go by alias, since a parameter may be called `copy`."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise TypeError(f"tool {name}: a type hint cannot be resolved: {error}") from error
    fields: dict[str, object] = {}
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        where = f"tool {name}, parameter {parameter.name!r}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{where}: models pass arguments by name; *args, **kwargs and positional-only do not fit")
        if parameter.name not in hints:
            raise TypeError(f"{where}: no type hint; the model is told what to send by it")
        if isinstance(parameter.default, FieldInfo):  # the function itself would take it for the value
            raise TypeError(f"{where}: write Annotated[…, Field(…)] instead of a Field as the default")
        default: object = ... if parameter.default is parameter.empty else parameter.default
        field = (_described(hints[parameter.name]), Field(default, alias=parameter.name))
        try:
            _parameters(_make_model({"field": field}))
        except (PydanticUserError, NameError) as error:
            said = str(error).splitlines()[0]
            raise TypeError(f"{where}: no JSON schema exists for this type hint: {said}") from error
        fields[f"field{number}"] = field
    return _make_model(fields)


def _make_model(fields: dict[str, object]) -> type[BaseModel]:
    make = cast("Callable[..., type[BaseModel]]", create_model)
    return make("Arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _described(hint: object) -> object:
    """`Annotated[int, "how many"]`: a plain string in the metadata is the parameter's description."""
    if get_origin(hint) is not Annotated:
        return hint
    inner, *metadata = get_args(hint)
    kept = [Field(description=item) if isinstance(item, str) else item for item in metadata]
    return Annotated[(inner, *kept)]


def _parameters(arguments: type[BaseModel]) -> dict[str, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default that is not JSON is left out of the schema, and that is all
        schema = _without_noise(arguments.model_json_schema())
    return {"type": "object", "properties": cast("object", {})} | schema  # never without: qwen-code#11905


def _without_noise(schema: dict[str, object]) -> dict[str, object]:
    """The schema without what pydantic adds and no model needs: a `title` that repeats each name, and the like."""
    kept: dict[str, object] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            named = cast("dict[str, dict[str, object]]", value)
            kept[key] = {name: _without_noise(inner) for name, inner in named.items()}
        elif key in ("anyOf", "allOf", "oneOf", "prefixItems") and isinstance(value, list):
            kept[key] = [_without_noise(inner) for inner in cast("list[dict[str, object]]", value)]
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            kept[key] = _without_noise(cast("dict[str, object]", value))
        elif key != "title" and (key, value) != ("additionalProperties", False):
            kept[key] = value
    return kept


def _first_paragraph(function: Callable[..., object]) -> str:
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())


def _validated(found: Tool, raw: str) -> dict[str, object]:
    """The arguments as the function's hints want them. Strict: "2" is no number and "no" is no boolean."""
    try:
        try:
            model = found.arguments.model_validate_json(raw, strict=True)
        except ValidationError as error:
            if error.errors()[0]["loc"]:
                raise
            # pydantic's parser knows no lone surrogates and less nesting than the verdict that let this text pass
            model = found.arguments.model_validate(json.loads(raw), strict=True)
    except ValidationError as error:
        taken = ", ".join(field.alias or "" for field in found.arguments.model_fields.values()) or "no arguments"
        problems = "; ".join(_problem(detail) for detail in error.errors(include_url=False)[:5])
        raise ToolError(f"wrong arguments for {found.name}, so it was not run: {problems}. It takes: {taken}") from None
    fields = found.arguments.model_fields
    return {fields[name].alias or name: getattr(model, name) for name in fields if name in model.model_fields_set}


def _problem(detail: ErrorDetails) -> str:
    where = ".".join(map(str, detail["loc"])) or "arguments"
    if detail["type"] == "missing":
        return f"{where} is missing"
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{where} is unexpected"
    said = detail["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{where} {said}, found {_kind(detail['input'])} {_shortened(repr(detail['input']), 60)}"


# --- from whatever happened to text


def _awaited(result: object) -> object:
    if not inspect.isawaitable(result):
        return result

    async def wait(awaitable: Awaitable[object]) -> object:
        return await awaitable

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait(result))
    with ThreadPoolExecutor(1) as pool:  # the caller lives in an event loop (a notebook does): this one needs a thread
        return pool.submit(asyncio.run, wait(result)).result()


def _as_text(value: object) -> str:
    if isinstance(value, str) and not isinstance(value, Enum):
        return str.__str__(value)
    try:
        return json.dumps(to_jsonable_python(value), ensure_ascii=False, separators=(",", ":"))
    except Exception as error:
        raise ToolError(f"the tool returned {_a(type(value).__name__)}, which is neither text nor data") from error


def _a(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"


def _capped(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    kept = max_chars - 100  # room for the note
    note = f"\n[cut: {len(text):,} characters in all, the first and the last {kept // 2:,} of them shown]\n"
    return text[: kept // 2] + note + text[len(text) - kept // 2 :]


def _failure(exception: BaseException) -> str:
    try:
        said = str(exception)
    except Exception:
        said = "(its text cannot be shown)"
    said = _shortened(without_secrets(said), _FAILURE)
    name = "" if isinstance(exception, ToolError) else type(exception).__name__
    return ": ".join(part for part in ("Error", name, said) if part)


def is_secret_name(name: str) -> bool:
    """Does an environment variable of this name look like one that holds a secret?"""
    return bool(_SECRET_NAME.search(name))


def without_secrets(text: str) -> str:
    """Mask credentials in URLs and assignments and the values of the environment's secret-looking variables.

    Read here and not in settings.py: what must not leak is no setting, and a builder's toolbox must hide it too.
    """
    text = _SECRET.sub(lambda match: f"{match[1] or match[2] or match[3]}***", text)
    secrets = {value for name, value in os.environ.items() if is_secret_name(name) and len(value) >= 6}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text
