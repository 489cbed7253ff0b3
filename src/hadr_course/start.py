"""Writes a student's repository from this project's own files, and proves that each phase is what it says.

Whole files only, so that starter and solution cannot drift apart. It knows no loop and no mistake.
"""

import ast
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hadr_agent.provider import as_list, as_object
from hadr_course.kit import kit_folder

PHASES = (0, 1, 2)
_COURSE_FILES = (
    *("pyproject.toml", ".gitignore", ".env.example", "LICENSE", "prompts", "typings", ".github"),
    *("src/hadr_agent", "src/hadr_course", "src/hadr_dispatch"),
    *("features/agent_loop.feature", "features/environment.py", "features/steps/loop_steps.py"),
)
_AGENT = "src/hadr_agent/agent.py"
CLAIMED_FROM = {"LOOP-1": 1, **{f"LOOP-{number}": 2 for number in range(2, 10)}}
"""The phase from which each scenario must pass; features/environment.py goes by the same rule."""


class StartError(Exception):
    """A repository that cannot be written: where, why, what to do."""


def start(destination: Path, phase: int, *, git: bool = False) -> None:
    """Write a student's repository at a phase: 0 nothing written, 1 one model call, 2 the finished loop.

    git: make it a git repository with a first commit. Raises StartError; an existing folder is never written to.
    """
    source = kit_folder()
    if not (source / "pyproject.toml").is_file():
        raise StartError("a starter is made from a checkout of the project, not from an installed package")
    if destination.exists():
        raise StartError(f"{destination} exists already; name a new folder")
    for name in _COURSE_FILES:
        if (source / name).is_dir():
            shutil.copytree(source / name, destination / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (source / name).is_file():
            (destination / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, destination / name)
    own = source / "src/hadr_course/starter"
    if phase < 2:
        shutil.copy(own / f"phase{phase}.py", destination / _AGENT)
    shutil.copy(own / "README.md", destination / "README.md")
    (destination / ".ci").mkdir()
    shutil.copy(own / "ci-run", destination / ".ci/run")
    (destination / "PHASE").write_text(f"{phase}\n")
    if git:
        for command in (["init", "--quiet", "--initial-branch", "main"], ["add", "--all"], _FIRST_COMMIT):
            done = subprocess.run(["git", *command], cwd=destination, capture_output=True, text=True)
            if done.returncode:
                raise StartError(f"git {command[0]} failed in {destination}: {done.stderr.strip()}")


_FIRST_COMMIT = ["commit", "--quiet", "--message", "The starter"]


def verify() -> Iterator[tuple[int, list[str]]]:
    """For each phase, what is not as it should be: it is green and red exactly where it should be, or that is said."""
    for phase in PHASES:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "starter"
            start(place, phase)
            problems = [*_scenario_problems(place, phase), *_command_problems(place, phase), *_type_problems(place)]
            yield phase, [*problems, *drift(kit_folder() / _AGENT, place / _AGENT)]


def _run(place: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(place), "PYTHONPATH": str(place / "src"), "LANG": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, *command], cwd=place, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def _scenario_problems(place: Path, phase: int) -> Iterator[str]:
    done = _run(place, "-m", "behave", "--no-summary", "-f", "json", "-o", "report.json")
    if done.returncode:
        yield f"behave exits with {done.returncode}: {done.stdout[-300:]}"
    features: object = json.loads((place / "report.json").read_text())
    for scenario in [each for feature in as_list(features) for each in as_list(as_object(feature).get("elements"))]:
        name, status = str(as_object(scenario).get("name")), as_object(scenario).get("status")
        expected = "passed" if CLAIMED_FROM[name.split(":")[0]] <= phase else "skipped"
        if status != expected:
            yield f"{name.split(':')[0]} should have {expected}, but has {status}"


def _command_problems(place: Path, phase: int) -> Iterator[str]:
    done = _run(place, "-m", "hadr_agent.cli", "roll two dice and tell me the time")
    said, code = done.stdout + done.stderr, 0 if phase == 2 else 3
    if done.returncode != code or "Traceback" in said:
        yield f"hadr-agent should exit with {code}, but exits with {done.returncode}: {said[-300:]}"
    if phase < 2 and "src/hadr_agent/agent.py" not in done.stderr:
        yield f"hadr-agent should say what is not written yet, but says: {done.stderr[-300:]}"
    done = _run(place, "-m", "hadr_dispatch.cli", "run", "DRILL-1")
    score = "Score 100" if phase == 2 else "Score 0"
    if done.returncode or score not in done.stdout or (phase < 2) != ("src/hadr_agent/agent.py" in done.stderr):
        yield f"hadr-dispatch should say {score}, but says: {(done.stdout + done.stderr)[-300:]}"


def drift(finished: Path, begun: Path) -> Iterator[str]:
    """Where a phase says something else than the finished file: classes, the loop's signature and docstring, helpers.

    A helper that it has no use for yet may be missing.
    """
    one, other = (_promises(ast.parse(file.read_text())) for file in (finished, begun))
    for name, promise in one.items():
        if other.get(name, promise if name.startswith("_") else None) != promise:
            yield f"{name} is not as in the finished loop"


def _promises(tree: ast.Module) -> dict[str, str]:
    loop = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "agent_loop")
    whole = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node is not loop]
    promises = {node.name: ast.dump(node) for node in whole}
    return {**promises, "its signature": ast.dump(loop.args), "its docstring": ast.get_docstring(loop) or ""}


def _type_problems(place: Path) -> Iterator[str]:
    done = _run(place, "-m", "pyright", "--pythonpath", sys.executable, _AGENT)
    if done.returncode:
        yield f"pyright: {done.stdout[-400:]}"
