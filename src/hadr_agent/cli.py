"""The command line: joins the parts. It reads flags, starts one run, and turns its end into an exit code.

Exit codes: 0 answered, 2 usage or configuration, 3 stopped without a full answer, 4 provider error, 130 interrupted.
The parts are imported when they are needed, so that --help is there at once.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from typing import TYPE_CHECKING

from hadr_agent.command import DONE, INTERRUPTED, PROVIDER, UNFINISHED, Parser, UsageError, complain, run

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, MutableSequence, Sequence
    from pathlib import Path

    from openai import OpenAI

    from hadr_agent.display import Display
    from hadr_agent.provider import Message, Provider
    from hadr_agent.settings import Settings
    from hadr_agent.tools import Tool, Toolbox

_EPILOG = """\
commands:
  hadr-agent doctor          which settings are in force, and whether a model answers
  hadr-agent serve           the stand-in model on this machine, for any other client
  hadr-agent show FILE       a session: rounds, thinking, calls, results, tokens (--html, --svg)
  hadr-agent compare PROMPT… -- TASK   the task under each system prompt: rounds, tokens, cost
  A task that is one of these words goes behind --.

environment (or a file .env):
  OPENAI_API_KEY    the key; without one, scripts stand in for a model
  OPENAI_BASE_URL   the API's address, unless it is OpenAI's own
  HADR_MODEL        the model (default: minimax-m3)
  HADR_DROP_FIELDS  fields of old turns that the provider refuses (default: none)

exit codes:
  0 answered · 2 usage or configuration · 3 stopped without a full answer · 4 provider error · 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run("hadr-agent", lambda: _command(list(sys.argv[1:] if argv is None else argv)))


def _command(argv: list[str]) -> int:
    if argv[:1] == ["doctor"]:
        return _doctor(argv[1:])
    if argv[:1] == ["serve"]:
        return _serve(argv[1:])
    if argv[:1] == ["show"]:
        return _show(argv[1:])
    if argv[:1] == ["compare"]:
        return _compare(argv[1:])
    return _run(_parser().parse_args(argv))


def _parser() -> Parser:
    parser = Parser(
        prog="hadr-agent",
        description="Give a reasoning model a task and tools. The answer goes to stdout, all the rest to stderr.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("task", nargs="?", help='what to do, in quotes; "-" reads it from stdin; without one: a chat')
    parser.add_argument("--session", metavar="FILE", help="keep the history in this file; go on with it if it is there")
    parser.add_argument("--continue", dest="go_on", action="store_true", help="go on where the session stopped")
    parser.add_argument("--replay", metavar="FILE", help="play a saved session in place of a model, with real tools")
    parser.add_argument(
        "--max-rounds", type=_positive, default=10, metavar="N", help="stop after N rounds (default: 10)"
    )
    parser.add_argument("--token-budget", type=_positive, metavar="N", help="stop when N tokens have been used")
    parser.add_argument("--final-answer", action="store_true", help="at a limit, ask once more for an answer")
    parser.add_argument("--model", help="the model (default: HADR_MODEL)")
    parser.add_argument("--wire", choices=("native", "text"), default="native", help="how the model calls tools")
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
    if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text[:40]!r}")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    if options.version:
        from importlib.metadata import version

        print(f"hadr-agent {version('hadr-agent')}")
        return DONE
    options.chatting = options.task is None and not options.go_on and not options.replay
    if options.chatting and not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        piped = ", or let - read it from stdin" if sys.stdin and not sys.stdin.isatty() else ""
        raise UsageError(f'there is no task. Give it in quotes: hadr-agent "roll two dice and tell me the time"{piped}')
    task = None if options.task is None else _task(options.task)

    from hadr_agent.display import Display
    from hadr_agent.tools import Toolbox

    display = Display(quiet=options.quiet, think=options.think)
    try:
        tools = Toolbox(*_tools(options), approve=display.approve)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if options.replay:
        if task is not None or options.session or options.go_on:
            raise UsageError("--replay plays a session as it was; leave out the task, --session and --continue")
        return _replay(options, tools, display)
    provider = _provider(_settings(options.model), options, display)
    with _history(options, task, display) as messages:
        if not options.chatting:
            return _play(provider, messages, tools, options, display)

        from hadr_agent.chat import chat

        chat(lambda said: _play(provider, said, tools, options, display), messages, tools, display)
        return DONE


def _play(
    provider: Provider,
    messages: MutableSequence[Message],
    tools: Toolbox,
    options: argparse.Namespace,
    display: Display,
) -> int:
    """One run of the loop, from its first request to its last line on the screen."""
    from dataclasses import replace

    from hadr_agent.agent import agent_loop
    from hadr_agent.display import shortfall
    from hadr_agent.limits import final_answer, token_budget
    from hadr_agent.provider import OpenAIProvider, ProviderError
    from hadr_agent.transcript import SessionError

    display.begin()
    stop_when = token_budget(options.token_budget) if options.token_budget else None
    try:
        result = agent_loop(
            provider, messages, tools, max_rounds=options.max_rounds, stop_when=stop_when, on_event=display.on_event
        )
        if options.final_answer and result.stop not in ("answered", "no_answer"):
            display.notice(f"{shortfall(result)}; asking once more, for an answer with what is known")
            last = provider.with_options(tool_choice="none") if isinstance(provider, OpenAIProvider) else provider
            final = final_answer(last, messages, tools, display.on_event)
            result = replace(final, rounds=result.rounds + 1, usage=result.usage + final.usage)
        problem = shortfall(result)
        code = UNFINISHED if problem else DONE
    except ProviderError as error:
        result, problem, code = display.unfinished("provider_error", messages), str(error), PROVIDER
    except SessionError as error:
        result, problem, code = display.unfinished("session_error", messages), str(error), UNFINISHED
    except KeyboardInterrupt:
        result, problem, code = display.unfinished("interrupted", messages), "interrupted", INTERRUPTED
    if options.json:
        display.document(result, problem)
    elif result.answer:
        display.answer(result.answer)
    display.close(result)
    if problem:
        display.error(problem)
        if result.stop not in ("answered", "no_answer") and not options.chatting:
            display.so_far(messages)
            if result.rounds or options.session is not None:
                display.notice(_how_to_go_on(options))
    return code


def _how_to_go_on(options: argparse.Namespace) -> str:
    if options.session is None:
        return "The next time, --session FILE keeps what was done, so that you can go on from there."
    given = {"--model": options.model, "--tools": options.tools, "--tools-file": options.tools_file}
    given |= {"--wire": options.wire if options.wire != "native" else None}
    words = [word for flag, value in given.items() if value is not None for word in (flag, value)]
    words += ["--allow-shell"] if options.allow_shell else []
    return f"To go on from here: {shlex.join(['hadr-agent', *words, '--session', options.session, '--continue'])}"


def _task(given: str) -> str:
    try:
        if given == "-" and sys.__stdin__ is None:
            raise UsageError("the task is to be read from stdin, but stdin is closed")
        text = (sys.stdin.buffer.read() if given == "-" else given.encode()).decode()
    except UnicodeError as error:
        raise UsageError(f"the task is not text in UTF-8: {error}") from error
    if not text.strip():
        raise UsageError("the task is empty. Say what is to be done.")
    return text


@contextlib.contextmanager
def _history(options: argparse.Namespace, task: str | None, display: Display) -> Generator[MutableSequence[Message]]:
    """The messages of this run, with its system prompt and its task: a list, or a session's file."""
    from pathlib import Path

    from hadr_agent.transcript import SessionError, Transcript

    prompt = _system_prompt(options.system_prompt)
    if options.session is None:
        if options.go_on:
            raise UsageError("--continue goes on with a session: name it with --session FILE")
        yield [*prompt, *_user(task)]
        return
    if options.go_on and task is not None:
        raise UsageError("--continue adds nothing to a session, so leave out the task, or leave out --continue")
    if options.go_on and not Path(options.session).exists():
        raise UsageError(f"there is no session {options.session} to go on with. Begin it with a task.")
    try:
        with Transcript.open(options.session) as transcript:
            for notice in transcript.notices:
                display.notice(f"{options.session}: {notice}")
            if options.go_on and (not transcript or transcript[-1]["role"] not in ("user", "tool")):
                raise UsageError(
                    f"the session {options.session} ends with an answer. Give a task in place of --continue."
                )
            if transcript and options.system_prompt is not None:
                display.notice(f"{options.session} keeps the system prompt that it began with")
            for message in [*(() if transcript else prompt), *_user(task)]:
                transcript.append(message)
            yield transcript
    except SessionError as error:
        raise UsageError(str(error)) from error


def _user(task: str | None) -> list[Message]:
    return [] if task is None else [{"role": "user", "content": task}]


def _system_prompt(file: str | None) -> list[Message]:
    from pathlib import Path

    from hadr_agent.settings import prompts_folder

    path = Path(file) if file is not None else prompts_folder() / "system.md"
    prompt = _read(path, "the system prompt").strip()
    return [{"role": "system", "content": prompt}] if prompt else []


def _replay(options: argparse.Namespace, tools: Toolbox, display: Display) -> int:
    """Play the assistant turns of a saved session again, with real tools, and say where their results differ."""
    from dataclasses import replace

    from hadr_agent.agent import agent_loop
    from hadr_agent.provider import ProviderError
    from hadr_agent.scripted import Script, ScriptedProvider
    from hadr_agent.transcript import SessionError, load

    try:
        recorded = load(options.replay)
    except SessionError as error:
        raise UsageError(str(error)) from error
    turns = [message for message in recorded if message["role"] == "assistant"]
    if not turns:
        raise UsageError(f"{options.replay} holds no assistant turn that could be played")
    provider = ScriptedProvider(Script(turns), on_delta=None if options.no_stream else display.on_delta)
    display.hint(f"replay: {options.replay} answers in place of the model, the tools are real")
    messages: list[Message] = []
    result, problem, code = display.unfinished("no_answer", messages), None, UNFINISHED
    try:
        for place, message in enumerate(recorded):
            if message["role"] in ("system", "developer", "user"):
                messages.append(message)
            if message["role"] == "user":
                following = [later["role"] for later in recorded[place + 1 :]]
                rounds = following[: following.index("user") if "user" in following else None].count("assistant")
                if rounds:
                    played = agent_loop(provider, messages, tools, max_rounds=rounds, on_event=display.on_event)
                    result = replace(played, usage=result.usage + played.usage)
                    code = DONE if result.answer else UNFINISHED
    except ProviderError as error:
        result, problem, code = display.unfinished("provider_error", messages), str(error), PROVIDER
    if options.json:
        display.document(result, problem)
    elif result.answer:
        display.answer(result.answer)
    if problem:
        display.error(problem)
    else:
        display.differences(recorded, messages)
    return code


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

    from hadr_agent.tools import Tool, without_secrets

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
        raise UsageError(without_secrets(f"--tools-file {path}{where}: {type(error).__name__}: {error}")) from error
    found = [value for value in vars(module).values() if isinstance(value, Tool)]
    return [tool for tool in dict.fromkeys(found) if tool.function.__module__ == "hadr_tools_file"]


def _provider(settings: Settings, options: argparse.Namespace, display: Display) -> Provider:
    """The provider that the settings ask for."""
    on_delta = None if options.no_stream else display.on_delta
    if settings.offline:
        from hadr_agent.scripted import ScriptedProvider, StandIn

        display.hint("offline: a stand-in plays scripts, the tools are real; OPENAI_API_KEY connects a model")
        return ScriptedProvider(StandIn.bundled(), on_delta=on_delta)
    from hadr_agent.provider import OpenAIProvider
    from hadr_agent.text_tools import TextToolProvider

    client = _client(settings, display.notice)
    provider = OpenAIProvider(client, settings.model, on_delta=on_delta, drop_fields=settings.drop_fields)
    return TextToolProvider(provider) if options.wire == "text" else provider


def _client(settings: Settings, on_retry: Callable[[str], None]) -> OpenAI:
    from hadr_agent.provider import connect

    try:
        return connect(settings.base_url, settings.api_key or "none", on_retry)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _doctor(argv: list[str]) -> int:
    parser = Parser(prog="hadr-agent doctor", description="Show the settings in force and make one tiny call.")
    parser.add_argument("--model", help="the model (default: HADR_MODEL)")
    settings = _settings(parser.parse_args(argv).model)

    import time

    from hadr_agent.display import printable
    from hadr_agent.provider import OpenAIProvider, ProviderError, Usage

    values = {
        "OPENAI_API_KEY": "set" if settings.api_key else "not set",
        "OPENAI_BASE_URL": settings.shown_url,
        "HADR_MODEL": settings.model,
        "HADR_DROP_FIELDS": ", ".join(settings.drop_fields) or "not set",
    }
    for name, value in values.items():
        source = "" if value == "not set" else f" (from {settings.sources[name]})"
        print(printable(f"{name:<16} {value}{source}"))
    if settings.offline:
        print(
            "offline: a stand-in plays scripts. OPENAI_API_KEY connects a model, with OPENAI_BASE_URL if not OpenAI's."
        )
        return DONE
    print("one tiny call, to see whether the model answers …", flush=True)
    started = time.monotonic()
    try:
        client = _client(settings, lambda text: print(text, file=sys.stderr))
        completion = OpenAIProvider(client, settings.model).complete([{"role": "user", "content": "Say ok."}], [])
    except ProviderError as error:
        return complain("hadr-agent", printable(str(error)), PROVIDER)
    usage = Usage.of(completion)
    tokens = f"{usage.prompt_tokens or '?'} prompt and {usage.completion_tokens or '?'} completion tokens"
    cached = "cached tokens not reported" if usage.cached_tokens is None else "cached tokens reported"
    print(f"it answers: {time.monotonic() - started:.1f} s, {tokens}, {cached}")
    return DONE


def _serve(argv: list[str]) -> int:
    parser = Parser(prog="hadr-agent serve", description="Serve the stand-in, or a script, on 127.0.0.1.")
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
        return DONE  # the way to end it
    finally:
        serving.server_close()
    return DONE


def _show(argv: list[str]) -> int:
    parser = Parser(prog="hadr-agent show", description="Show a session: rounds, thinking, calls, results, tokens.")
    parser.add_argument("file", help="the session")
    parser.add_argument("--html", metavar="OUT", help="write it as one page")
    parser.add_argument("--svg", metavar="OUT", help="write it as a picture of a terminal")
    options = parser.parse_args(argv)

    from pathlib import Path

    from hadr_agent.display import show_session
    from hadr_agent.report import page
    from hadr_agent.transcript import SessionError, load

    try:
        messages = load(options.file)
    except SessionError as error:
        raise UsageError(str(error)) from error
    if not options.html and not options.svg:
        show_session(messages)
    for name, text in (
        (options.html, page(Path(options.file).name, messages) if options.html else ""),
        (options.svg, show_session(messages, svg=True) if options.svg else ""),
    ):
        try:
            if name:
                Path(name).write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise UsageError(f"{name} cannot be written: {error.strerror}") from error
    return DONE


def _compare(argv: list[str]) -> int:
    parser = Parser(
        prog="hadr-agent compare",
        usage="hadr-agent compare PROMPT… [options] -- TASK",
        description="Play a task under each of several system prompts, and show rounds, tokens and cost side by side.",
    )
    parser.add_argument("prompts", nargs="+", metavar="PROMPT", help="files with system prompts")
    parser.add_argument("-n", type=_positive, default=1, dest="runs", metavar="RUNS", help="runs for each (default: 1)")
    parser.add_argument(
        "--max-rounds", type=_positive, default=10, metavar="N", help="stop after N rounds (default: 10)"
    )
    parser.add_argument("--model", help="the model (default: HADR_MODEL)")
    parser.add_argument("--prices", metavar="NEW,CACHED,OUT", help="what a million tokens cost: new, cached, output")
    parser.set_defaults(no_stream=True, wire="native")
    before, dashes, task = argv, "", [""]
    if "--" in argv:
        before, dashes, task = argv[: argv.index("--")], "--", argv[argv.index("--") + 1 :]
    options = parser.parse_args(before)
    if not dashes or len(task) != 1:
        raise UsageError('the task goes behind --, in quotes: hadr-agent compare a.md b.md -- "the task"')
    said = _task(task[0])
    prompts = {name: _system_prompt(name) for name in options.prompts}
    settings = _settings(options.model)

    from hadr_agent.agent import LoopResult, agent_loop
    from hadr_agent.compare import Prices, compare
    from hadr_agent.display import Display
    from hadr_agent.example_tools import STARTER_TOOLS
    from hadr_agent.provider import ProviderError
    from hadr_agent.tools import Toolbox

    try:
        prices = Prices(*map(float, options.prices.split(","))) if options.prices else None
    except (TypeError, ValueError):
        raise UsageError(f"--prices takes three numbers, such as 0.30,0.03,1.20, not {options.prices!r}") from None
    provider = _provider(settings, options, Display())

    def play(messages: list[Message]) -> LoopResult:
        return agent_loop(provider, messages, Toolbox(*STARTER_TOOLS), max_rounds=options.max_rounds)

    try:
        print(compare(prompts, said, options.runs, play, prices), flush=True)
    except ProviderError as error:
        return complain("hadr-agent", str(error), PROVIDER)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
