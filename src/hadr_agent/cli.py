"""The command line: joins the parts. It reads flags, starts one run, and turns its end into an exit code.

Exit codes: 0 answered, 2 usage or configuration, 3 stopped without a full answer, 4 provider error, 130 interrupted.
The parts are imported when they are needed, so that --help is there at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hadr_agent.display import Display
    from hadr_agent.provider import Message, Provider
    from hadr_agent.settings import Settings
    from hadr_agent.tools import Tool

ANSWERED, USAGE, NO_FULL_ANSWER, PROVIDER, INTERRUPTED = 0, 2, 3, 4, 130

_EPILOG = """\
commands:
  hadr-agent doctor          which settings are in force, and whether a model answers
  hadr-agent serve           the stand-in model on this machine, for any other client
  A task that is one of these words goes behind --.

environment (or a file .env):
  OPENAI_API_KEY    the key; without one, scripts stand in for a model
  OPENAI_BASE_URL   the API's address, unless it is OpenAI's own
  HADR_MODEL        the model (default: minimax-m3)

exit codes:
  0 answered · 2 usage or configuration · 3 stopped without a full answer · 4 provider error · 130 interrupted
"""


class UsageError(Exception):
    """What the user has to change, in one or two lines."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nSee {self.prog} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
        elif stream is sys.__stdout__ is None:
            return _complain("stdout is closed, so an answer would go nowhere", USAGE)
    try:
        code = _command(list(sys.argv[1:] if argv is None else argv))
        print(end="", flush=True)
        return code
    except BrokenPipeError:
        _drop_stdout()
        return _complain("stdout was closed before the answer was written", ANSWERED)
    except OSError as error:
        _drop_stdout()
        return _complain(f"the output cannot be written: {error}", NO_FULL_ANSWER)
    except UsageError as error:
        return _complain(str(error), USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)


def _drop_stdout() -> None:
    """Python would try once more, at exit, to write what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _complain(text: str, code: int) -> int:
    print(f"hadr-agent: {text}", file=sys.stderr)
    return code


def _command(argv: list[str]) -> int:
    if argv[:1] == ["doctor"]:
        return _doctor(argv[1:])
    if argv[:1] == ["serve"]:
        return _serve(argv[1:])
    return _run(_parser().parse_args(argv))


def _parser() -> _Parser:
    parser = _Parser(
        prog="hadr-agent",
        description="Give a reasoning model a task and tools. The answer goes to stdout, all the rest to stderr.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("task", nargs="?", help='what to do, in quotes; "-" reads it from stdin')
    parser.add_argument(
        "--max-rounds", type=_positive, default=10, metavar="N", help="stop after N rounds (default: 10)"
    )
    parser.add_argument("--model", help="the model (default: HADR_MODEL)")
    parser.add_argument("--system-prompt", metavar="FILE", help="use this file as the system prompt")
    parser.add_argument("--tools", metavar="NAMES", help="offer these starter tools, with commas (default: all)")
    parser.add_argument("--tools-file", metavar="FILE", help="offer the @tool functions of this Python file")
    parser.add_argument("--allow-shell", action="store_true", help="offer a shell, which asks before each command")
    parser.add_argument("--think", choices=("show", "fold", "hide"), default="show", help="thinking (default: show)")
    parser.add_argument("--no-stream", action="store_true", help="ask for each reply in one piece")
    parser.add_argument("--json", action="store_true", help="print the whole run to stdout as one JSON document")
    parser.add_argument("--quiet", action="store_true", help="only the answer, and what went wrong")
    parser.add_argument("--version", action="store_true", help="print the version")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text!r}")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    if options.version:
        from importlib.metadata import version

        print(f"hadr-agent {version('hadr-agent')}")
        return ANSWERED
    messages = _messages(options.system_prompt, options.task)
    settings = _settings(options.model)

    from hadr_agent.agent import agent_loop
    from hadr_agent.display import Display, shortfall
    from hadr_agent.provider import ProviderError
    from hadr_agent.tools import Toolbox

    display = Display(quiet=options.quiet, think=options.think)
    try:
        tools = Toolbox(*_tools(options), approve=display.approve)
    except ValueError as error:
        raise UsageError(str(error)) from error
    provider = _provider(settings, None if options.no_stream else display)
    if settings.offline:
        display.hint("offline: a stand-in plays scripts, the tools are real; OPENAI_API_KEY connects a model")
    try:
        result = agent_loop(provider, messages, tools, max_rounds=options.max_rounds, on_event=display.on_event)
        problem = shortfall(result)
        code = NO_FULL_ANSWER if problem else ANSWERED
    except ProviderError as error:
        result, problem, code = display.unfinished("provider_error", messages), str(error), PROVIDER
    except KeyboardInterrupt:
        result, problem, code = display.unfinished("interrupted", messages), "interrupted", INTERRUPTED
    if options.json:
        display.document(result, problem)
    elif result.answer:
        display.answer(result.answer)
    display.close(result)
    if problem:
        display.error(problem)
    return code


def _messages(prompt_file: str | None, task: str | None) -> list[Message]:
    if task is None:
        raise UsageError('there is no task. Give it in quotes: hadr-agent "roll two dice and tell me the time"')
    try:
        text = (sys.stdin.buffer.read() if task == "-" else task.encode()).decode()
    except UnicodeError as error:
        raise UsageError(f"the task is not text in UTF-8: {error}") from error
    if not text.strip():
        raise UsageError("the task is empty. Say what is to be done.")
    from pathlib import Path

    from hadr_agent.settings import prompts_folder

    path = Path(prompt_file) if prompt_file is not None else prompts_folder() / "system.md"
    prompt = _read(path, "the system prompt").strip()
    system: list[Message] = [{"role": "system", "content": prompt}] if prompt else []
    return [*system, {"role": "user", "content": text}]


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{what} cannot be read: {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{what} is not text in UTF-8: {path}: {error}") from error


def _settings(model: str | None) -> Settings:
    from hadr_agent.settings import SettingsError, load_settings

    try:
        return load_settings(model)
    except SettingsError as error:
        raise UsageError(str(error)) from error


def _tools(options: argparse.Namespace) -> list[Tool]:
    """--tools picks starter tools, --tools-file brings its own; with neither, all starter tools."""
    from hadr_agent.example_tools import STARTER_TOOLS, shell

    starters = {tool.name: tool for tool in (*STARTER_TOOLS, *([shell] if options.allow_shell else []))}
    names = [] if options.tools_file is not None else list(starters)
    if options.tools is not None:
        names = [name.strip() for name in options.tools.split(",")]
    if unknown := [name for name in names if name not in starters]:
        advice = "shell needs --allow-shell. " if "shell" in unknown else ""
        raise UsageError(f"unknown tool {unknown[0]!r} in --tools. {advice}There are: {', '.join(starters)}")
    return [*(starters[name] for name in names), *_tools_of_file(options.tools_file)]


def _tools_of_file(name: str | None) -> list[Tool]:
    if name is None:
        return []
    import traceback
    from pathlib import Path
    from types import ModuleType

    from hadr_agent.tools import Tool

    path = Path(name)
    source = _read(path, "the tools file")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules["hadr_tools_file"] = module
    module.__dict__["__name__"] = "hadr_tools_file"
    sys.path.insert(0, str(path.resolve().parent))  # a tools file may import what lies beside it
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        where = f", line {line}" if line else ""
        raise UsageError(f"--tools-file {path}{where}: {type(error).__name__}: {error}") from error
    found = [value for value in vars(module).values() if isinstance(value, Tool)]
    return [tool for tool in dict.fromkeys(found) if tool.function.__module__ == "hadr_tools_file"]


def _provider(settings: Settings, display: Display | None) -> Provider:
    """The provider that the settings ask for; streamed, if there is a display to stream to."""
    on_delta = display.on_delta if display else None
    if settings.offline:
        from hadr_agent.scripted import ScriptedProvider, StandIn

        return ScriptedProvider(StandIn.bundled(), on_delta=on_delta)
    from hadr_agent.provider import OpenAIProvider, connect

    client = connect(settings.base_url, settings.api_key or "none")
    return OpenAIProvider(client, settings.model, on_delta=on_delta)


def _doctor(argv: list[str]) -> int:
    parser = _Parser(prog="hadr-agent doctor", description="Show the settings in force and make one tiny call.")
    parser.add_argument("--model", help="the model (default: HADR_MODEL)")
    settings = _settings(parser.parse_args(argv).model)

    import time

    from hadr_agent.display import printable
    from hadr_agent.provider import ProviderError, Usage

    values = {
        "OPENAI_API_KEY": "set" if settings.api_key else "not set",
        "OPENAI_BASE_URL": settings.shown_url,
        "HADR_MODEL": settings.model,
    }
    for name, value in values.items():
        source = "" if value == "not set" else f" (from {settings.sources[name]})"
        print(printable(f"{name:<16} {value}{source}"))
    if settings.offline:
        print(
            "offline: a stand-in plays scripts. OPENAI_API_KEY connects a model, with OPENAI_BASE_URL if not OpenAI's."
        )
        return ANSWERED
    print("one tiny call, to see whether the model answers …", flush=True)
    started = time.monotonic()
    try:
        completion = _provider(settings, None).complete([{"role": "user", "content": "Say ok."}], [])
    except ProviderError as error:
        return _complain(printable(str(error)), PROVIDER)
    usage = Usage.of(completion)
    tokens = f"{usage.prompt_tokens or '?'} prompt and {usage.completion_tokens or '?'} completion tokens"
    cached = "cached tokens not reported" if usage.cached_tokens is None else "cached tokens reported"
    print(f"it answers: {time.monotonic() - started:.1f} s, {tokens}, {cached}")
    return ANSWERED


def _serve(argv: list[str]) -> int:
    parser = _Parser(prog="hadr-agent serve", description="Serve the stand-in, or a script, on 127.0.0.1.")
    parser.add_argument("--script", metavar="FILE", help="play this script, one turn a line of JSON, for one client")
    parser.add_argument("--port", type=int, default=8000, help="the port (default: 8000; 0: any free one)")
    options = parser.parse_args(argv)

    from pathlib import Path

    from hadr_agent.scripted import Script, ScriptedApp, ScriptError, StandIn, server

    try:
        source = Script.parse(_read(Path(options.script), "the script")) if options.script else StandIn.bundled()
        serving = server(ScriptedApp(source.next_turn), options.port)
    except ScriptError as error:
        raise UsageError(f"{options.script}: {error}") from error
    except (OSError, OverflowError) as error:
        raise UsageError(f"port {options.port} cannot be used: {error}. Choose another with --port.") from error
    url = f"http://127.0.0.1:{serving.server_port}/v1"
    print(f"serving {options.script or 'the stand-in'} at {url} until Ctrl-C; in another terminal:", file=sys.stderr)
    print(f'OPENAI_BASE_URL={url} hadr-agent "roll two dice and tell me the time"', flush=True)
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        return ANSWERED  # the way to end it
    finally:
        serving.server_close()
    return ANSWERED
