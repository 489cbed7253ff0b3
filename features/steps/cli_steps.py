"""Steps that run the command line as a user would: a process of its own, in a folder of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from behave import given, then, when
from behave.runner import Context

from hadr_agent.scripted import Script, ScriptedApp, server

KEPT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")


def program(command: str) -> str:
    """Where a command of this project is installed."""
    return str(Path(sys.executable).with_name(command))


def folder(context: Context) -> Path:
    """The folder of the scenario's commands, with one file in it."""
    if "folder" not in context:
        made = tempfile.TemporaryDirectory()
        context.add_cleanup(made.cleanup)
        context.folder = Path(made.name)
        (context.folder / "notes.md").write_text("Remember the tea.\n")
    return context.folder


def environment(context: Context) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in KEPT}
    home = {"HOME": str(folder(context)), "LANG": "C.UTF-8", "NO_PROXY": "127.0.0.1", "MY_TOKEN": "my-secret-token"}
    return {**kept, **home, **getattr(context, "variables", {})}


def run(
    context: Context,
    arguments: list[str],
    stdout: object = subprocess.PIPE,
    stderr: object = subprocess.PIPE,
    *,
    command: str = "hadr-agent",
) -> None:
    process = subprocess.run(
        [program(command), *arguments],
        cwd=folder(context),
        env=environment(context),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        timeout=300,  # a machine that is busy with other things
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # behave may run with it ignored
    )
    context.code, context.stderr = process.returncode, (process.stderr or b"").decode()
    context.stdout = (process.stdout or b"").decode()
    assert "Traceback" not in context.stdout + context.stderr, f"expected no traceback, found {context.stderr}"


# --- Given


@given("the tools file")
def step_tools_file(context: Context) -> None:
    (folder(context) / "tools.py").write_text(context.text)


@given("the file {name:S}")
@given("nothing but the file {name:S}")
def step_file(context: Context, name: str) -> None:
    (folder(context) / name).write_text(context.text)


@given("the file {name:S} with the bytes {text:json}")
def step_bytes(context: Context, name: str, text: str) -> None:
    (folder(context) / name).write_bytes(text.encode("latin-1"))


@given("the variable {name} is {value:json}")
def step_variable(context: Context, name: str, value: str) -> None:
    context.variables = {**getattr(context, "variables", {}), name: value}


@given("a model that plays")
@given("the model is one that plays")
def step_model(context: Context) -> None:
    context.app = ScriptedApp(Script.parse(context.text).next_turn)
    serving = server(context.app)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    context.add_cleanup(serving.server_close)
    context.add_cleanup(serving.shutdown)
    step_variable(context, "OPENAI_BASE_URL", f"http://127.0.0.1:{serving.server_port}/v1")


# --- When


@when("I run {command:command} {arguments:words}")
def step_run(context: Context, command: str, arguments: list[str]) -> None:
    run(context, arguments, command=command)


@when("I run hadr-agent without a task, and its stdin is {stdin}")
def step_run_without_task(context: Context, stdin: str) -> None:
    line = ["sh", "-c", {"a pipe": 'echo Hello | "$0"', "closed": '"$0" <&-'}[stdin], program("hadr-agent")]
    done = subprocess.run(line, cwd=folder(context), env=environment(context), capture_output=True, text=True)
    context.code, context.stdout, context.stderr = done.returncode, done.stdout, done.stderr


@when("I run {command:command} {arguments:words} into a pipe that is closed at once, stderr is read")
def step_run_into_closed_pipe(context: Context, command: str, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run(context, arguments, writer, command=command)
    os.close(writer)
    assert "stdout was closed" in context.stderr, (
        f"expected to be told that stdout was closed, found {context.stderr!r}"
    )


@when("I run hadr-agent {arguments:words} into a pipe that is closed at once, stderr goes there too")
def step_run_both_into_closed_pipe(context: Context, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run(context, arguments, writer, writer)
    os.close(writer)


@when("I run hadr-agent {arguments:words} into a full disk")
def step_run_into_full_disk(context: Context, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        run(context, arguments, full)


# --- Then


@then("it exits with {code:d}")
def step_exits(context: Context, code: int) -> None:
    assert context.code == code, f"expected exit code {code}, found {context.code}; stderr: {context.stderr}"


@then('stdout is "{text}"')
def step_stdout_is(context: Context, text: str) -> None:
    assert context.stdout == f"{text}\n", f"expected {text!r}, found {context.stdout!r}"


@then('stdout matches "{pattern}"')
def step_stdout_matches(context: Context, pattern: str) -> None:
    found = context.stdout
    assert re.search(pattern, found.strip(), re.DOTALL | re.MULTILINE), (
        f"expected a match of {pattern}, found {found!r}"
    )


@then('stderr says "{text}"')
def step_stderr_says(context: Context, text: str) -> None:
    assert text in context.stderr, f"expected {text!r}, found {context.stderr!r}"


@then('stderr says "{text}" once')
def step_stderr_says_once(context: Context, text: str) -> None:
    found = context.stderr.count(text)
    assert found == 1, f"expected {text!r} once, found it {found} times in {context.stderr!r}"


@then('the closing table numbers its rounds "{numbers}"')
def step_table(context: Context, numbers: str) -> None:
    table = re.search(r"^round +tool calls .*\n((?: *\d+ .*\n)+) +all ", context.stderr, re.MULTILINE)
    found = ", ".join(line.split()[0] for line in table[1].splitlines()) if table else context.stderr
    assert found == numbers, f"expected the rounds {numbers}, found {found}"


@then('stderr says ""')
def step_stderr_empty(context: Context) -> None:
    assert context.stderr == "", f"expected nothing on stderr, found {context.stderr!r}"


@then('stderr does not say "{text}"')
def step_stderr_says_not(context: Context, text: str) -> None:
    assert text not in context.stderr, f"expected no {text!r}, found {context.stderr!r}"


@then('the complaint says "{text}"')
def step_complaint(context: Context, text: str) -> None:
    lines = [line for line in context.stderr.splitlines() if line.startswith(("hadr-agent", "See hadr-agent"))]
    assert 1 <= len(lines) <= 2, f"expected one or two lines of complaint, found {context.stderr!r}"
    assert text in lines[0], f"expected {text!r}, found {lines[0]!r}"


@then('neither stream says "{text}"')
def step_neither(context: Context, text: str) -> None:
    for name, found in (("stdout", context.stdout), ("stderr", context.stderr)):
        assert text not in found, f"expected no {text!r} on {name}, found {found!r}"


@then("neither stream holds a control character")
def step_no_control(context: Context) -> None:
    for name, found in (("stdout", context.stdout), ("stderr", context.stderr)):
        controls = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", found)
        assert not controls, f"expected no control characters on {name}, found {controls}"


def document(context: Context) -> dict[str, object]:
    found: dict[str, object] = json.loads(context.stdout)
    return found


@then("stdout is one JSON document with")
def step_document(context: Context) -> None:
    for row in context.table:
        value: object = document(context)
        for key in row["path"].split("."):
            value = value[int(key) if isinstance(value, list) else key]
        expected = json.loads(row["value"])
        assert value == expected, f"{row['path']}: expected {expected!r}, found {value!r}"


@then("its tokens are those of its rounds")
def step_tokens(context: Context) -> None:
    found = document(context)
    expected = sum(each["usage"]["prompt_tokens"] for each in found["rounds"])
    assert found["usage"]["prompt_tokens"] == expected, f"expected {expected} prompt tokens, found {found['usage']}"


@then("the document's rounds made {calls:json} tool calls")
def step_rounds(context: Context, calls: str) -> None:
    found = ", ".join(str(each["tool_calls"]) for each in document(context)["rounds"])
    assert found == calls, f"expected {calls}, found {found}"


@then("the second call decodes what the first one fetched")
def step_decodes(context: Context) -> None:
    messages = document(context)["messages"]
    fetched = json.loads(next(message["content"] for message in messages if message["role"] == "tool"))
    calls = [call["function"] for message in messages for call in message.get("tool_calls") or []]
    found = json.loads(calls[1]["arguments"])
    assert found == {"text": fetched["text"], "encoding": fetched["encoding"]}, f"expected {fetched}, found {found}"


@then('the document\'s history ends with {count:d} tool messages that say "{text}"')
def step_tool_messages(context: Context, count: int, text: str) -> None:
    found = [message for message in document(context)["messages"] if message["role"] == "tool"]
    assert len(found) == count, f"expected {count} tool messages, found {found}"
    assert all(text in message["content"] for message in found), f"expected {text!r} in each, found {found}"


@then('the model was told "{text}"')
def step_told(context: Context, text: str) -> None:
    found = [message["content"] for message in context.app.requests[-1].messages if message["role"] == "tool"]
    assert text in found, f"expected {text!r}, found {found}"


@then('there is no file "{name}"')
def step_no_file(context: Context, name: str) -> None:
    assert not (folder(context) / name).exists(), f"expected no file {name}, found one"
