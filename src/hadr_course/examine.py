"""Runs a submission's loop in a process of its own and keeps what it sent. It does not judge.

The submission runs in a forked child with time and memory limits, its output thrown away; the provider it talks to
plays in the parent, so that the requests are what they are, whatever the submission does to its own process.
"""

import contextlib
import io
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import cast

import httpx2
from openai import OpenAI

from hadr_agent.provider import Message, OpenAIProvider, as_list, as_object
from hadr_agent.scripted import Request, Script, ScriptedApp, TurnForm
from hadr_agent.tools import Toolbox, tool

_MEMORY = 3 * 1024**3 // 2  # bytes of address space
_FILE = 16 * 1024**2  # bytes of any file that it writes
_REPORT = 64 * 1024**2  # bytes of one message from the child


@dataclass(frozen=True)
class Probe:
    """One task to put to a loop: the turns that the model plays, and the limit."""

    name: str
    turns: Sequence[TurnForm]
    max_rounds: int = 20
    system: str = "Use the tools."
    task: str = "Do the task."

    @property
    def history(self) -> list[Message]:
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.task}]


@dataclass
class Observation:
    """What a loop did with a probe: its requests as the provider saw them, and what the child reports of the rest."""

    probe: Probe
    requests: list[Request]
    answer: object = None
    stop: object = None
    rounds: object = None
    messages: list[Message] = field(default_factory=list[Message])
    ran: list[str] = field(default_factory=list[str])
    tick: int = 0
    raised: str | None = None
    finished: bool = False


@dataclass
class Examination:
    """All observations of one submission, and how its process ended: "done", or what went wrong."""

    path: Path
    source: str = ""
    observations: dict[str, Observation] = field(default_factory=dict[str, Observation])
    end: str = "done"
    trace: str = ""
    tampered: list[str] = field(default_factory=list[str])


def examine(path: Path, probes: Sequence[Probe], seconds: float) -> Examination:
    """Put the probes to the `agent_loop` of a file, one after the other, for at most so many seconds in all."""
    examination = Examination(path)
    try:
        examination.source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        examination.end = f"it cannot be read: {error}"
        return examination
    here, there = socket.socketpair()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        here.close()
        _run_child(path, probes, _Line(there))
    there.close()
    try:
        _listen(_Line(here), examination, {probe.name: probe for probe in probes}, time.monotonic() + seconds, seconds)
    finally:
        for kill, process in ((os.killpg, child), (os.kill, child)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(process, signal.SIGKILL)
        os.waitpid(child, 0)
        here.close()
    return examination


class _Line:
    """JSON objects over a socket, each on a line of its own."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""

    def send(self, value: Mapping[str, object]) -> None:
        self._end.sendall(json.dumps(value, default=repr).encode() + b"\n")

    def receive(self, deadline: float = float("inf")) -> dict[str, object] | None:
        """The next object; None at the end. Raises TimeoutError, ValueError for what is none."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._end, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(min(left, 1e6)):
                    raise TimeoutError
                piece = self._end.recv(1 << 20)
                if not piece:
                    return None
                self._rest += piece
                if len(self._rest) > _REPORT:
                    raise ValueError("too much was sent")
        line, _, self._rest = self._rest.partition(b"\n")
        return as_object(json.loads(line))


# --- the parent: the provider, and what is reported


def _listen(
    line: _Line, examination: Examination, probes: Mapping[str, Probe], deadline: float, seconds: float
) -> None:
    current: Observation | None = None
    app: ScriptedApp | None = None
    where = "while it was loaded"
    try:
        while (said := line.receive(deadline)) is not None:
            if (name := said.get("begin")) in probes:
                probe = probes[str(name)]
                app = ScriptedApp(Script(probe.turns).next_turn, strict=False)
                current = Observation(probe, app.requests)
                examination.observations[probe.name] = current
                where = f"in the task {probe.name!r}"
            elif "request" in said and app is not None:
                line.send(_answer(app, str(said["request"]).encode()))
            elif "end" in said and current is not None:
                _take_over(current, as_object(said["end"]))
                examination.trace = examination.trace or str(as_object(said["end"]).get("trace") or "")
            elif "failed" in said:
                examination.end = f"it cannot be loaded: {said['failed']}"
                examination.trace = str(said.get("trace") or "")
                return
            elif "done" in said:
                examination.tampered = [str(name) for name in as_list(said["done"])]
                return
        examination.end = f"its process ended {where}"
    except TimeoutError:
        examination.end = f"no end after {seconds:.0f} s, {where}"
    except (ValueError, OSError) as error:
        examination.end = f"its process sent what is no report {where}: {error}"


def _take_over(observation: Observation, report: Mapping[str, object]) -> None:
    observation.answer, observation.stop = report.get("answer"), report.get("stop")
    observation.rounds = report.get("rounds")
    observation.messages = [as_object(message) for message in as_list(report.get("messages"))]
    observation.ran = [str(name) for name in as_list(report.get("ran"))]
    observation.tick = int(str(report.get("tick", 0)))
    observation.raised = str(report["raised"]) if report.get("raised") else None
    observation.finished = True


def _answer(app: ScriptedApp, raw: bytes) -> dict[str, object]:
    seen: list[str] = []
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v1/chat/completions", "CONTENT_LENGTH": str(len(raw))}

    def start_response(
        status: str, headers: list[tuple[str, str]], exc_info: object = None
    ) -> Callable[[bytes], object]:
        seen.append(status)
        return lambda data: None

    body = b"".join(app({**environ, "wsgi.input": io.BytesIO(raw)}, start_response))
    return {"status": int(seen[0].split()[0]), "body": body.decode()}


# --- the child: the submission


class World:
    """Something with a clock that only an outer runner may move."""

    def __init__(self) -> None:
        self.tick = 0

    def next_tick(self) -> None:
        self.tick += 1


class _PipeTransport(httpx2.BaseTransport):
    def __init__(self, line: _Line) -> None:
        self._line = line

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._line.send({"request": request.read().decode()})
        reply = self._line.receive() or {}
        kind = {"content-type": "application/json"}
        return httpx2.Response(int(str(reply.get("status", 500))), content=str(reply.get("body")), headers=kind)


def _run_child(path: Path, probes: Sequence[Probe], line: _Line) -> None:
    """Never returns."""
    with contextlib.suppress(BaseException):
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        for limit, value in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, _FILE), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(limit, (value, value))
        before = _names_of_the_course()
        loop = _load(path, line)
        if loop is not None:
            client = OpenAI(
                base_url="http://checked.invalid/v1",
                api_key="none",
                max_retries=0,
                http_client=httpx2.Client(transport=_PipeTransport(line)),
            )
            for probe in probes:
                line.send({"begin": probe.name})
                line.send({"end": _play(loop, OpenAIProvider(client, "scripted"), probe, path)})
            after = _names_of_the_course()
            line.send({"done": [name for name, value in before.items() if after.get(name) is not value]})
    os._exit(0)


def _load(path: Path, line: _Line) -> Callable[..., object] | None:
    try:
        spec = spec_from_file_location("submitted_agent", path)
        assert spec and spec.loader
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return cast("Callable[..., object]", module.agent_loop)
    except BaseException as error:
        line.send({"failed": _said(error, path), "trace": traceback.format_exc()[-8000:]})
        return None


def _play(loop: Callable[..., object], provider: OpenAIProvider, probe: Probe, path: Path) -> dict[str, object]:
    world = World()
    ran: list[str] = []
    messages = probe.history
    report: dict[str, object] = {}
    try:
        result = loop(provider, messages, _tools(world, ran), max_rounds=probe.max_rounds)
        report = {name: getattr(result, name, None) for name in ("answer", "stop", "rounds")}
    except BaseException as error:
        report = {"raised": _said(error, path), "trace": traceback.format_exc()[-8000:]}
    return {**report, "messages": messages, "ran": ran, "tick": world.tick}


def _said(error: BaseException, path: Path) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {str(error)[:300]}{where}"


def _tools(world: World, ran: list[str]) -> Toolbox:
    @tool
    def add(a: int, b: int) -> int:
        """Add two whole numbers."""
        ran.append("add")
        return a + b

    @tool
    def echo(text: str) -> str:
        """Return the text."""
        ran.append("echo")
        return text

    @tool
    def fail() -> str:
        """Fail."""
        ran.append("fail")
        raise RuntimeError("disk on fire")

    tools = Toolbox(add, echo, fail)
    tools.__dict__["world"] = world  # at hand for a loop that wants to move it
    return tools


def _names_of_the_course() -> dict[str, object]:
    """Every name in the modules that a submission must leave as they are."""
    modules = {name: module for name, module in sys.modules.items() if name.startswith(("hadr_agent.", "hadr_course."))}
    return {f"{name}.{key}": value for name, module in modules.items() for key, value in _names(name, module)}


def _names(module_name: str, module: ModuleType) -> Iterator[tuple[str, object]]:
    for key, value in vars(module).items():
        if not key.startswith("__"):
            yield key, value
        if isinstance(value, type) and value.__module__ == module_name:
            yield from ((f"{key}.{name}", each) for name, each in vars(value).items() if callable(each))
