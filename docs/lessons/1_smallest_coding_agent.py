"""The smallest coding agent: a model, one tool that reads files, and the loop.

You will see it ask for a file that is not there, read the error, ask for the right one, and say what is wrong with
`add`. It matters because that is all there is to an agent: it has read nothing that a tool result did not tell it, so
an error is worth as much as a file. And it matters what you do not see: nothing is edited. Finishing is not success.

    uv run python docs/lessons/1_smallest_coding_agent.py
"""

import runpy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from hadr_agent import LoopResult, Message, ScriptedProvider, Toolbox, ToolError, agent_loop, tool
from hadr_agent.display import show_session
from hadr_agent.scripted import Request, TurnForm

TASK = "add(2, 3) gives -1. Why?"
FILE = "src/calculator.py"
SOURCE = 'def add(a, b):\n    """Add two numbers."""\n    return a - b\n'

# The model is played by a script. A turn is only given if what came before it matches its `after`: without the error
# there is no second path, without the file no diagnosis. `{right}` is what the error called the right path.
WRONG_PATH: TurnForm = {
    "after": "Why",
    "think": "It is about add, so I expect add.py.",
    "calls": [{"name": "read_file", "arguments": {"path": "add.py"}}],
}
WRONG_AGAIN: TurnForm = {
    "after": r"Error: no file 'add\.py'",
    "think": "So it is calculator.py.",  # it overlooks the folder
    "calls": [{"name": "read_file", "arguments": {"path": "calculator.py"}}],
}
RIGHT_PATH: TurnForm = {
    "after": r"Error: no file .* The project holds: (?P<right>\S+)",
    "think": "The error names the file.",
    "calls": [{"name": "read_file", "arguments": {"path": "{right}"}}],
}
DIAGNOSIS: TurnForm = {
    "after": r"return a - b",
    "think": "A minus where a plus belongs.",
    "say": "add subtracts: it returns a - b where it should return a + b.",
}


@dataclass(frozen=True)
class Run:
    """What came of a run: the loop's result, the requests as they were sent, and what the file holds afterwards."""

    result: LoopResult
    requests: list[Request]
    source: str
    add_2_3: int


def reader(project: Path) -> Toolbox:
    """The one tool: it reads files of the project, and no others."""

    @tool
    def read_file(path: Annotated[str, "a file of the project"]) -> str:
        """Read a file of the project."""
        file = (project / path).resolve()
        if not file.is_relative_to(project) or not file.is_file():
            # A good error says what to do next: the model knows nothing else.
            held = ", ".join(sorted(each.relative_to(project).as_posix() for each in project.rglob("*.py")))
            raise ToolError(f"no file {path!r}. The project holds: {held}")
        return file.read_text()

    return Toolbox(read_file)


def investigate(*script: TurnForm, max_rounds: int = 10, source: str = SOURCE) -> Run:
    """Let the scripted model look into a fresh project."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve()
        file = project / FILE
        file.parent.mkdir()
        file.write_text(source)
        provider = ScriptedProvider(script)
        messages: list[Message] = [{"role": "user", "content": TASK}]
        result = agent_loop(provider, messages, reader(project), max_rounds=max_rounds)
        return Run(result, provider.requests, file.read_text(), runpy.run_path(str(file))["add"](2, 3))


def show(title: str, run: Run) -> None:
    print(f"\n== {title}")
    show_session(run.result.messages)
    print(f"stop reason: {run.result.stop}, rounds: {run.result.rounds}, answer: {run.result.answer or '(none)'}")


def main() -> None:
    found = investigate(WRONG_PATH, RIGHT_PATH, DIAGNOSIS)
    show("It reads a wrong path, then the right one", found)
    show("The same with max_rounds=1", investigate(WRONG_PATH, RIGHT_PATH, DIAGNOSIS, max_rounds=1))
    show("The same with a second mistake", investigate(WRONG_PATH, WRONG_AGAIN, RIGHT_PATH, DIAGNOSIS))
    print("\n== Finishing is not success")
    print(f"{FILE} is {'as it was' if found.source == SOURCE else 'edited'}; add(2, 3) gives {found.add_2_3}.")
    print("The loop says that the model has answered. Whether the task is done, something else must find out.")


if __name__ == "__main__":
    main()
