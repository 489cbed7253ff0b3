"""Steps for the pages of activities in docs: what they tell to run is run, and what they show is compared."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from cli_steps import environment, folder
from loop_steps import quoted
from wrong_loop_steps import FEATURES, scenario_steps

ROOT = FEATURES.parent
COPIED = ("src", "features", "prompts", "docs", "README.md", "pyproject.toml")
ANY = "…"
SECONDS = 60  # after which a command that hangs is given up
COMMAND = "uv run"  # nothing runs the prose, so it stands there in no line


# --- the history, for a person to read


# --- a page


@dataclass(frozen=True)
class Block:
    """What stands between two fences. `line`: the number of the first fence in its page."""

    line: int
    language: str
    label: str
    lines: list[str]
    follows: bool  # straight behind another block

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def blocks_of(page: str) -> tuple[list[Block], list[tuple[int, str]]]:
    """The page's blocks, and its lines of prose with their numbers."""
    blocks: list[Block] = []
    prose: list[tuple[int, str]] = []
    lines = iter(enumerate(page.splitlines(), 1))
    behind_block = False
    for number, line in lines:
        if fence := re.fullmatch(r"```(\w*) ?(.*)", line):
            inside = [text for _, text in takewhile(lambda each: each[1] != "```", lines)]
            blocks.append(Block(number, fence[1], fence[2], inside, behind_block))
            behind_block = True
        else:
            prose.append((number, line))
            behind_block = behind_block and not line.strip()
    return blocks, prose


def mismatch(shown: list[str], output: list[str]) -> tuple[int, str | None, str | None] | None:
    """The place in `shown`, its line and the output's, where the two part; None if they agree."""
    parted: list[tuple[int, int]] = []

    @cache
    def agree(at: int, to: int) -> bool:
        if at < len(shown) and shown[at] == ANY:
            return any(agree(at + 1, later) for later in range(to, len(output) + 1))
        if at == len(shown) and to == len(output):
            return True
        if at < len(shown) and to < len(output):
            pattern = ".*".join(map(re.escape, shown[at].split(ANY)))
            if re.fullmatch(pattern, output[to]):
                return agree(at + 1, to + 1)
        parted.append((at, to))
        return False

    if agree(0, 0):
        return None
    at, to = max(parted, key=lambda each: each[0])  # the first of those that got furthest
    return at, shown[at] if at < len(shown) else None, output[to] if to < len(output) else None


def lines_of(output: str) -> list[str]:
    return [line.rstrip() for line in output.rstrip().splitlines()]


@dataclass
class Activity:
    """A page that is followed in a copy of the project. `complaint`: the first thing that is not as the page says."""

    page: str
    project: Path
    variables: dict[str, str]
    commands: int = 0
    shown: int = 0
    complaint: str = ""
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def follow(self) -> None:
        self.complaint = next(self._complaints(), "")

    def _complaints(self) -> Iterator[str]:
        blocks, prose = blocks_of(self.page)
        for number, line in prose:
            if COMMAND in line:
                yield f"line {number}: expected {COMMAND} in ```sh blocks only, found {line!r}"
        for block, behind in zip(blocks, [*blocks[1:], None], strict=True):
            for problem in self._do(block, behind):
                yield problem if problem.startswith("line") else f"line {block.line}: {problem}"
        for block, before in zip(blocks, [None, *blocks], strict=False):
            if block.language == "text" and not (before and before.language == "sh" and block.follows):
                yield f"line {block.line}: expected a ```sh block straight before ```text, found none"

    def _do(self, block: Block, behind: Block | None) -> Iterator[str]:
        named = re.fullmatch(r"# ([\w/]+\.\w+)", block.lines[0])
        if block.language == "sh":
            output = behind if behind and behind.language == "text" and behind.follows else None
            yield from self._serve(block, output) if "hadr-agent serve" in block.text else self._run(block, output)
            self.commands += len(block.lines)
        elif block.language == "diff":
            yield from self._change(block)
        elif named and block.language in ("python", "gherkin"):
            (self.project / named[1]).write_text(block.text, encoding="utf-8")
        elif block.language in ("python", "gherkin"):
            yield f"expected a first line such as # name.py, found {block.lines[0]!r}"
        elif block.language != "text":
            yield f"expected sh, text, diff or a file, found {block.language}"

    def _run(self, block: Block, shown: Block | None) -> Iterator[str]:
        expected = int(block.label.removeprefix("exit=") or 0)
        done = subprocess.run(
            ["sh", "-e", "-c", block.text],
            cwd=self.project,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
        )
        output = done.stdout.decode()
        if done.returncode != expected:
            yield f"expected exit code {expected}, found {done.returncode}: {output}"
        if shown:
            yield from self._compare(shown, output)

    def _serve(self, block: Block, shown: Block | None) -> Iterator[str]:
        """The command runs on; what it prints is compared once it is all there."""
        written = self.project.parent / f"server-{len(self.servers)}"
        with written.open("wb") as file:
            process = subprocess.Popen(
                ["sh", "-e", "-c", block.text],
                cwd=self.project,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.servers.append(process)
        until = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < until and "in another terminal" not in written.read_text():
            time.sleep(0.05)
        while shown and process.poll() is None and time.monotonic() < until:
            if mismatch(shown.lines, lines_of(written.read_text())) is None:
                break
            time.sleep(0.05)
        if process.poll() is not None:
            yield f"expected a server that runs, found exit code {process.returncode}: {written.read_text()}"
        if shown:
            yield from self._compare(shown, written.read_text())

    def _compare(self, shown: Block, output: str) -> Iterator[str]:
        self.shown += 1
        if not any(line.replace(ANY, "").strip() for line in shown.lines):
            yield f"line {shown.line}: expected more than {ANY}, found nothing else"
        elif parted := mismatch(shown.lines, lines_of(output)):
            at, line, other = parted
            anywhere = at > 0 and shown.lines[at - 1] == ANY
            expected, found = quoted(line, "the end"), "no such line" if anywhere else quoted(other, "the end")
            yield f"line {shown.line + 1 + at}: expected {expected}, found {found} in this output:\n{output}"

    def _change(self, block: Block) -> Iterator[str]:
        name = block.lines[0].removeprefix("--- ")
        old = "".join(f"{line[1:]}\n" for line in block.lines[1:] if line.startswith("-"))
        new = "".join(f"{line[1:]}\n" for line in block.lines[1:] if line.startswith("+"))
        source = (self.project / name).read_text(encoding="utf-8")
        if source.count(old) != 1:
            yield f'expected "{old.rstrip()}" once in {name}, found it {source.count(old)} times'
        (self.project / name).write_text(source.replace(old, new), encoding="utf-8")

    def end(self) -> None:
        for process in self.servers:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(SECONDS)


def read_page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def begin(context: Context, page: str) -> None:
    """A copy of the project, a repository of its own, where `uv run` runs this Python on the copy's files."""
    project, commands = folder(context) / "project", folder(context) / "commands"
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, project / name)
    commands.mkdir()
    (commands / "uv").write_text('#!/bin/sh\ntest "$1" = run || exit 2\nshift\nexec "$@"\n')
    (commands / "uv").chmod(0o755)
    variables = {**environment(context), "PYTHONPATH": str(project / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    paths = (str(commands), str(Path(sys.executable).parent), variables.get("PATH", ""))
    variables["PATH"] = os.pathsep.join(paths)
    student = ["-c", "user.name=student", "-c", "user.email=student@localhost"]
    for arguments in (["init", "--quiet"], ["add", "."], [*student, "commit", "--quiet", "--message", "start"]):
        subprocess.run(["git", *arguments], cwd=project, env=variables, check=True, timeout=SECONDS)
    context.activity = Activity(page.replace("8000", free_port()), project, variables)
    context.add_cleanup(context.activity.end)


@given("the page docs/{page}.md, and a copy of the project")
def step_page_and_copy(context: Context, page: str) -> None:
    begin(context, read_page(f"{page}.md"))


@given("a page of {lines}, and a copy of the project")
def step_lines_and_copy(context: Context, lines: str) -> None:
    begin(context, lines.replace(" / ", "\n"))


@when("its files are written, its changes made and its commands run, from top to bottom")
def step_follow(context: Context) -> None:
    context.activity.follow()


@then("all {commands:d} commands exit as the page says, and all {shown:d} shown outputs are found")
def step_as_the_page_says(context: Context, commands: int, shown: int) -> None:
    activity: Activity = context.activity
    assert not activity.complaint, activity.complaint
    found = (activity.commands, activity.shown)
    assert found == (commands, shown), f"expected {commands} commands and {shown} shown outputs, found {found}"


@then('it is told "{complaint}"')
def step_told(context: Context, complaint: str) -> None:
    found = context.activity.complaint
    assert found.startswith(complaint), f"expected {complaint!r}, found {found!r}"


# --- its parts


@when("the page docs/{page}.md is read")
def step_read(context: Context, page: str) -> None:
    context.page = read_page(f"{page}.md")
    parts = re.split(r"^## (.*)\n", context.page, flags=re.MULTILINE)
    context.parts = dict(zip(parts[1::2], parts[2::2], strict=True))


@then("it has at most {count:d} lines")
def step_short(context: Context, count: int) -> None:
    found = len(context.page.splitlines())
    assert found <= count, f"expected at most {count} lines, found {found}"


@then("it has the parts {names}")
def step_parts(context: Context, names: str) -> None:
    for name in re.findall(r'"([^"]+)"', names):
        assert context.parts.get(name, "").strip(), f"expected a part {name!r}, found {list(context.parts)}"
    questions = [item for item in re.split(r"^\d\. ", context.parts["Questions"], flags=re.MULTILINE) if "?" in item]
    assert len(questions) > 2, f"expected three questions or more, found {questions}"


@then("it says what to look at in {names}")
def step_look_at(context: Context, names: str) -> None:
    for name in names.split(", "):
        found = context.parts["What to look at"]
        assert name in found, f"expected {name} in the part 'What to look at', found {found}"


@then("its table says what they add, and where it stands here, at least {count:d} times")
def step_table(context: Context, count: int) -> None:
    lines = [line for line in context.parts["What production agents add"].splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    expected = ["what you built", "what they add", "where to see it in this repository"]
    assert head == expected, f"expected the columns {expected}, found {head}"
    wrong = [row for row in rows if len(row) != 3 or not (row[2] == "not here" or "](" in row[2])]
    assert not wrong, f"expected three cells, the last with a link or 'not here', found {wrong}"
    assert len(rows) >= count, f"expected at least {count} rows, found {len(rows)}"


@then("each of its {count:d} links leads to a file that is there, and that holds the name it is called by")
def step_links(context: Context, count: int) -> None:
    links = re.findall(r"\[`?([^]`]+)`?\]\(([^)]+)\)", context.page)
    assert len(links) == count, f"expected {count} links, found {len(links)}: {links}"
    for name, target in links:
        file = (ROOT / "docs" / target).resolve()
        assert file.is_file(), f"expected a file {target}, found none"
        text = f"{file.name}\n{file.read_text(encoding='utf-8')}"
        assert name.casefold() in text.casefold(), f"expected {name!r} in {target}, found no such text"


# --- the scenario that students copy


@given("the scenario of docs/{page}.md")
def step_scenario(context: Context, page: str) -> None:
    context.page = read_page(f"{page}.md")
    context.gherkin = next(block.text for block in blocks_of(context.page)[0] if block.language == "gherkin")


@given("the scenario of docs/{page}.md, changed to the row {row} of its table")
def step_changed_scenario(context: Context, page: str, row: str) -> None:
    """The row's call in the place of call_1, and what the row says of it in the place of the steps behind the first."""
    step_scenario(context, page)
    cells = re.findall(r"`([^`]+)`", next(line for line in context.page.splitlines() if line.startswith(f"| {row} ")))
    call, said, context.loop_of_the_row = cells
    gherkin, count = re.subn(r'\{"id": "call_1".*?\}\}', lambda _: call, context.gherkin)
    assert count == 1, f"expected one call_1 to change, found {count}"
    checks = f"""Then every tool call has exactly one tool message, in call order
    And the answer to call "call_1" says "{said}"
"""
    context.gherkin = gherkin[: gherkin.index("Then the history reads")] + checks


def run_scenario(context: Context, loop: str) -> None:
    written = folder(context) / "mine.feature"
    written.write_text(context.gherkin, encoding="utf-8")
    context.loop_under_test = context.load_loop(FEATURES / f"{loop}.py")
    context.outcome = "passed"
    ((_, steps),) = scenario_steps(written)
    try:
        context.execute_steps(steps)
    except AssertionError as failure:
        context.outcome = str(failure)


@when("it is run on the loop {loop:S}")
def step_run_on(context: Context, loop: str) -> None:
    run_scenario(context, loop)


@when("it is run on the loop that the row names")
def step_run_on_named(context: Context) -> None:
    run_scenario(context, f"wrong_loops/{context.loop_of_the_row}")


@then('its outcome is "{said}"')
def step_outcome(context: Context, said: str) -> None:
    """The parts between slashes stand in the outcome, one after the other."""
    pattern = ".*".join(map(re.escape, said.split(" / ")))
    agrees = context.outcome == said or (said != "passed" and re.search(pattern, context.outcome, re.DOTALL))
    assert agrees, f"expected {said!r}, found {context.outcome}"
