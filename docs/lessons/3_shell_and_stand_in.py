"""A shell tool and a stand-in model: the smallest harness, and three things that a toolbox adds to it.

You will see one loop do three tasks with a shell, each of them twice: with a bare shell, as in many a first agent, and
with one that asks, checks and cuts. It matters because the loop and the model are the same both times: what makes an
agent safe to run stands at its tools, and not in its prompt.

    uv run python docs/lessons/3_shell_and_stand_in.py

The stand-in plays the model. It has no memory: the history alone says where it is, and what the shell said decides how
it goes on. The commands really run, in a temporary folder: `rm notes`, `echo hello` and `cat numbers`.
"""

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hadr_agent import LoopResult, ScriptedProvider, Toolbox, agent_loop, tool
from hadr_agent.display import show_session
from hadr_agent.example_tools import shell as careful_shell
from hadr_agent.scripted import Request, StandIn, TurnForm

TASKS = {"approval": "Tidy up.", "validation": "Say hello.", "truncation": "Look at the numbers."}


def call(command: object) -> list[dict[str, object]]:
    return [{"name": "shell", "arguments": {"command": command}}]


# For each task: its first turn, and then one turn for each thing that the shell may have said.
STAND_IN: dict[str, list[TurnForm]] = {
    "approval": [
        {"after": "Tidy up", "calls": call("rm notes")},
        {"after": "not approved", "say": "I was not allowed to delete your notes. They are still there."},
        {"after": "exit code 0", "say": "I deleted your notes."},
    ],
    "validation": [
        {"after": "Say hello", "calls": call(["echo", "hello"])},  # a list, where the shell wants text
        {"after": "command should be a valid string", "calls": call("echo hello")},
        {"after": "exit code 0\nhello", "say": "The shell says hello."},
        {"after": "not found", "say": "This machine has no echo."},  # it believes what it reads
    ],
    "truncation": [
        {"after": "Look at", "calls": call("cat numbers")},
        {"after": r"\[cut: (?P<size>[\d,]+) characters", "say": "I saw both ends of {size} characters: 1 and 20000."},
        {"after": "exit code 0", "say": "I saw every number from 1 to 20000."},
    ],
}


@dataclass(frozen=True)
class Run:
    """What came of a task: the loop's result, the requests as they were sent, and the files left in the folder."""

    result: LoopResult
    requests: list[Request]
    files: list[str]


def bare() -> Toolbox:
    """A shell that runs whatever comes, makes text of it if it is none, and returns all that is printed."""

    @tool(max_chars=10_000_000)
    def shell(command: Any) -> object:
        """Run a shell command."""
        return careful_shell(str(command))

    return Toolbox(shell)


def careful() -> Toolbox:
    """The project's shell: its argument is text or nothing is run, somebody is asked, long results are cut."""

    def allow(name: str, arguments: dict[str, object]) -> bool:
        # Stands where a person would be asked. Plain words only: `cat x; rm y` begins with cat as well, and so does a
        # command of two lines.
        words = str(arguments["command"]).split(" ")
        return words[:1] in (["cat"], ["echo"]) and all(word.isalnum() for word in words)

    return Toolbox(careful_shell, approve=allow)


def harness(task: str, tools: Toolbox) -> Run:
    """The smallest harness: a model, a history, tools, the loop. Run in a fresh folder with two files."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("notes").write_text("Buy tea.\n")
        Path("numbers").write_text(" ".join(map(str, range(1, 20_001))))
        provider = ScriptedProvider(StandIn(STAND_IN))
        result = agent_loop(provider, [{"role": "user", "content": task}], tools, max_rounds=5)
        return Run(result, provider.requests, sorted(path.name for path in Path().iterdir()))


def main() -> None:
    for added, task in TASKS.items():
        for name, tools in (("bare", bare()), (f"with {added}", careful())):
            run = harness(task, tools)
            print(f"\n== {added}: {name}")
            show_session(run.result.messages)
            print(f"stop reason: {run.result.stop}; files left: {', '.join(run.files)}")
            print(f"the largest request has {max(len(request.raw) for request in run.requests):,} bytes")
    print("\nWhat it does not add: a command that was allowed can still do harm. Nothing here is a sandbox.")


if __name__ == "__main__":
    main()
