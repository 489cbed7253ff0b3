"""Steps that run the command line at a terminal of 80 columns, and read what it shows."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from fcntl import ioctl

from behave import then, when
from behave.runner import Context
from cli_steps import environment, folder, program

SECONDS = 30  # after which a run that hangs is given up


KEYS = {"Ctrl-C": b"\x03", "Ctrl-D": b"\x04"}


def take_terminal() -> None:
    """In the child: this terminal is its own, and Ctrl-C interrupts it, even if behave runs with that ignored."""
    ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_at_terminal(
    context: Context, arguments: list[str], *typing: tuple[str, str], command: str = "hadr-agent"
) -> None:
    """Run the command; when the screen shows a pair's first text anew, type its second and Enter, or press a key."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    process = subprocess.Popen(
        [program(command), *arguments],
        cwd=folder(context),
        env={**environment(context), "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(slave)
    seen, read, waiting, deadline = b"", 0, list(typing), time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.05)[0]:
            try:
                seen += os.read(master, 65536)
            except OSError:  # the terminal's other side is gone
                break
        if waiting and waiting[0][0].encode() in seen[read:]:
            time.sleep(0.3)  # nobody types before the prompt is ready, and what comes earlier gets lost
            read, (_, typed) = len(seen), waiting.pop(0)
            os.write(master, KEYS.get(typed, f"{typed}\n".encode()))
    if process.poll() is None and time.monotonic() >= deadline:
        os.killpg(process.pid, signal.SIGKILL)
    context.code, context.seen = process.wait(), seen.decode()
    os.close(master)
    context.screen = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", context.seen).replace("\r\n", "\n")
    context.stderr = context.screen
    assert "Traceback" not in context.screen, f"expected no traceback, found {context.screen}"


@when("I run {command:command} {arguments:words} at a terminal")
def step_terminal(context: Context, command: str, arguments: list[str]) -> None:
    run_at_terminal(context, arguments, command=command)


@when("I run hadr-agent {arguments:words} at a terminal and type {typed:json}")
def step_type(context: Context, arguments: list[str], typed: str) -> None:
    run_at_terminal(context, arguments, ("[y/N]", typed))


@when("I run {command:command} {arguments:words} at a terminal and press Ctrl-C when it shows {text:json}")
def step_interrupt(context: Context, command: str, arguments: list[str], text: str) -> None:
    run_at_terminal(context, arguments, (text, "Ctrl-C"), command=command)


@when("I chat with hadr-agent {arguments:words}")
def step_chat(context: Context, arguments: list[str]) -> None:
    """The table: what the screen shows, and what is typed then."""
    run_at_terminal(context, arguments, *((row["when it shows"], row["I type"]) for row in context.table))


@then('the screen shows "{text}"')
def step_shows(context: Context, text: str) -> None:
    lines = [line.strip() for line in context.screen.splitlines()]
    joined = " ".join(lines)
    assert any(text in line for line in lines) or text in joined, f"expected {text!r}, found {context.screen}"


@then("the cursor is visible again")
def step_cursor(context: Context) -> None:
    hidden, shown = context.seen.rfind("\x1b[?25l"), context.seen.rfind("\x1b[?25h")
    assert shown > hidden >= 0, f"expected the cursor hidden and shown again, found {hidden} and {shown}"


@then('the model was told a text that begins with "{start}"')
def step_told_start(context: Context, start: str) -> None:
    found = [message["content"] for message in context.app.requests[-1].messages if message["role"] == "tool"]
    assert found and found[0].startswith(start), f"expected {start!r}, found {found}"
