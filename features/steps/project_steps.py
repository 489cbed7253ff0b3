"""Steps about the project itself: sizes, imports, ids, commands."""

import ast
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

from behave import then, when
from behave.parser import parse_file
from behave.runner import Context
from cli_steps import folder, run
from openai import OpenAI

import hadr_agent
from hadr_agent.agent import agent_loop
from hadr_agent.example_tools import now
from hadr_agent.provider import OpenAIProvider
from hadr_agent.scripted import ScriptedProvider
from hadr_agent.tools import Toolbox

ROOT = Path(__file__).parents[2]
ROOMS = sorted((ROOT / "src").glob("hadr_*/*.py"))


@when("agent.py is read")
def step_read_agent(context: Context) -> None:
    context.source = (ROOT / "src/hadr_agent/agent.py").read_text()


@then("it has fewer than 100 lines")
def step_budget(context: Context) -> None:
    found = len(context.source.splitlines())
    assert found < 100, f"expected fewer than 100 lines in agent.py, found {found}"


@then("it has one loop over rounds, nothing deeper than a loop in it, and no except")
def step_shape(context: Context) -> None:
    functions = [node for node in ast.parse(context.source).body if isinstance(node, ast.FunctionDef)]
    loop = next(function for function in functions if function.name == "agent_loop")
    outer = [node for node in loop.body if isinstance(node, ast.For | ast.While)]
    inner = [node for node in ast.walk(outer[0]) if isinstance(node, ast.For | ast.While) and node is not outer[0]]
    assert len(outer) == 1 and inner, f"expected one loop over rounds with a loop in it, found {len(outer)}"
    bodies = [statement for each in inner for statement in each.body]
    deeper = [node for statement in bodies for node in ast.walk(statement) if hasattr(node, "body")]
    assert not deeper, f"expected nothing deeper, found line {deeper[0].lineno} of agent.py"
    excepts = [node for node in ast.walk(loop) if isinstance(node, ast.ExceptHandler)]
    assert not excepts, f"expected no except in the loop, found line {excepts[0].lineno} of agent.py"


@when("the imports of the rooms are read")
def step_read_imports(context: Context) -> None:
    context.imports = {}
    for room in ROOMS:
        names: set[str] = set()
        for node in ast.walk(ast.parse(room.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        found = {part for name in names for part in name.removeprefix("hadr_agent.").split(".")[:1]}
        context.imports.setdefault(room.parent.name, {})[room.stem] = found


@then("{room} imports none of {forbidden}")
def step_arrows(context: Context, room: str, forbidden: str) -> None:
    which, _, allowed = room.partition(" but ")
    which, _, package = which.partition(" of ")
    imports = context.imports[package or "hadr_agent"]
    for name in imports.keys() - {allowed} if which == "every room" else [which]:
        found = imports[name] & set(forbidden.split(", "))
        assert not found, f"expected {name} to import none of {forbidden}, found {', '.join(sorted(found))}"


@when("Python runs {code}")
def step_python(context: Context, code: str) -> None:
    context.code_run = code


@then("it has loaded none of {names}")
def step_loaded(context: Context, names: str) -> None:
    body = f"import sys\ntry:\n    {context.code_run}\nexcept SystemExit: pass\nprint('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=True)
    found = set(done.stdout.splitlines()[-1].split()) & set(names.split(", "))
    assert not found, f"expected none of {names} to be loaded, found {', '.join(sorted(found))}"


@when("behave runs with -n {ident}")
def step_behave(context: Context, ident: str) -> None:
    command = [sys.executable, "-m", "behave", "--no-color", "-f", "plain", "-n", ident]
    context.behave = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@then("it runs {count:d} scenario and exits with {code:d}")
def step_behave_ran(context: Context, count: int, code: int) -> None:
    done = context.behave
    ran = int(re.search(r"(\d+) scenarios? passed", done.stdout)[1])
    found = (ran, done.returncode)
    assert found == (count, code), f"expected {(count, code)}, found {found}: {done.stdout[-600:]}{done.stderr[-300:]}"


@when("the features are read")
def step_features(context: Context) -> None:
    features = [parse_file(str(path)) for path in sorted((ROOT / "features").glob("*.feature"))]
    context.names = [scenario.name for feature in features for scenario in feature.scenarios]


@then("every scenario is called by an id, a colon and a sentence, and each id stands once")
def step_ids(context: Context) -> None:
    wrong = [name for name in context.names if not re.match(r"[A-Z]+-[1-9]: \S", name)]
    assert not wrong, f"expected names such as LOOP-1: a sentence; found {wrong}"
    ids = [name.split(":")[0] for name in context.names]
    twice = {ident for ident in ids if ids.count(ident) > 1}
    assert not twice, f"expected each id once, found again: {sorted(twice)}"


@then("no family goes beyond nine, and none leaves a number out")
def step_families(context: Context) -> None:
    families: dict[str, list[int]] = {}
    for name in context.names:
        family, number = name.split(":")[0].split("-")
        families.setdefault(family, []).append(int(number))
    for family, numbers in families.items():
        expected = list(range(1, len(numbers) + 1))
        assert numbers == expected and len(numbers) <= 9, f"{family}: expected 1 to at most 9, found {numbers}"


@then("no sentence mentions another id")
def step_mentions(context: Context) -> None:
    wrong = [name for name in context.names if re.search(r"[A-Z]+-\d", name.split(":", 1)[1])]
    assert not wrong, f"expected no second id in a name, found {wrong}"


@when("the hadr-agent and hadr-dispatch commands of the README are run offline, beside the files that it shows")
def step_readme(context: Context) -> None:
    text = (ROOT / "README.md").read_text()
    context.python = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for block in context.python:
        if name := re.match(r"# (\w+\.py)\n", block):
            (folder(context) / name[1]).write_text(block)
    shutil.copytree(ROOT / "prompts", folder(context) / "prompts")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = re.findall(r"uv run (hadr-agent|hadr-dispatch) (.*)", "".join(blocks))
    context.results = []
    for command, arguments in lines:
        run(context, shlex.split(arguments, comments=True), command=command)
        context.results.append((command, arguments, context.code, context.stderr[-300:]))


@then("each of them exits with 0")
def step_readme_works(context: Context) -> None:
    commands = [command for command, *_ in context.results]
    assert min(commands.count(name) for name in ("hadr-agent", "hadr-dispatch")) > 2, f"expected both, found {commands}"
    wrong = [result for result in context.results if result[2]]
    assert not wrong, f"expected exit code 0, found {wrong}"


@then("the loop that it shows stands in agent.py")
def step_readme_loop(context: Context) -> None:
    shown = next(block for block in context.python if block.startswith("for "))
    source = (ROOT / "src/hadr_agent/agent.py").read_text()
    assert indent(shown, "    ").rstrip() in source, f"expected the README's loop in agent.py, found another: {shown}"


@when("a caller writes {code}")
def step_caller(context: Context, code: str) -> None:
    names = {"agent_loop": agent_loop, "Toolbox": Toolbox, "now": now, "provider": ScriptedProvider([]), "print": print}
    names |= {"OpenAIProvider": OpenAIProvider, "OpenAI": lambda: OpenAI(api_key="none")}
    try:
        eval(code, names)
        context.error = None
    except Exception as error:
        context.error = error


@then('it raises {error} that says "{words}"')
def step_raises(context: Context, error: str, words: str) -> None:
    found = f"{type(context.error).__name__}: {context.error}"
    assert found.startswith(f"{error}:") and words in found, f"expected {error}: …{words}…, found {found}"


@when("the public names are loaded")
def step_public(context: Context) -> None:
    context.public = {name: getattr(hadr_agent, name) for name in hadr_agent.__all__}


@then("each of them has a docstring")
def step_documented(context: Context) -> None:
    bare = [name for name, value in context.public.items() if not getattr(value, "__doc__", None)]
    assert not bare, f"expected a docstring, found none for {bare}"
