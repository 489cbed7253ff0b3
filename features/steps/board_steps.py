"""Steps about what `hadr-dispatch run` shows."""

import re

from behave import given, then
from behave.runner import Context
from cli_steps import folder, run
from rich.cells import cell_len
from terminal_steps import run_at_terminal


@given("I have run {command:command} {arguments:words} at a terminal, with Ctrl-C when it showed {text:json}")
def step_have_run(context: Context, command: str, arguments: list[str], text: str) -> None:
    run_at_terminal(context, arguments, (text, "Ctrl-C"), command=command)
    context.first_code, context.first_screen = context.code, context.screen
    log = (folder(context) / "op.jsonl").read_text().splitlines()
    context.first_tick = len(log) - 1


@given("I have run {command:command} {arguments:words} to its end, with exit code {code:d} and {words:json}")
def step_have_run_to(context: Context, command: str, arguments: list[str], code: int, words: str) -> None:
    run(context, arguments, command=command)
    found = (context.code, context.stderr)
    assert context.code == code and words in context.stderr, f"expected {code} and {words!r}, found {found}"


@then("the first of them exited with {code:d}")
def step_first(context: Context, code: int) -> None:
    assert context.first_code == code, f"expected {code}, found {context.first_code}: {context.first_screen}"


@then("its screen says at which tick it was interrupted, and that {name} keeps it")
def step_interrupted(context: Context, name: str) -> None:
    screen = " ".join(context.first_screen.split())
    for words in (
        f"hadr-dispatch: interrupted at tick {context.first_tick} ",
        f"{name} keeps what was done; the same command goes on from there",
    ):
        assert words in screen, f"expected {words!r}, found {screen}"


@then("stderr is the one line {line:json}")
def step_one_line(context: Context, line: str) -> None:
    assert context.stderr == f"{line}\n", f"expected {line!r}, found {context.stderr!r}"


@then("the screen was never cleared by the model")
def step_not_cleared(context: Context) -> None:
    assert "\x1b[2J" not in context.seen and "\x1b]0;" not in context.seen, f"found {context.seen!r}"


@then("no line of the board or the report is wider than {width:d} cells")
def step_width(context: Context, width: int) -> None:
    lines = [line for line in re.split(r"[\r\n]", context.screen) if not line.startswith("hadr-dispatch:")]
    wide = [line for line in lines if cell_len(line) > width]
    assert len(lines) > 20 and not wide, f"expected lines of at most {width} cells, found {wide[:1]} in {len(lines)}"
