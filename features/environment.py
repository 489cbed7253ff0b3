"""What every run of the features shares: how steps read quoted texts, and that a run without a scenario fails."""

import json
import re
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from behave import register_type
from behave.model import Scenario
from behave.runner import Context
from parse import with_pattern


@with_pattern(r'"(?:[^"\\]|\\.)*"')
def parse_text(text: str) -> str:
    """`{text:json}` in a step: a string in double quotes, with JSON's escapes."""
    value: str = json.loads(text)
    return value


@with_pattern(r'"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*')
def parse_words(text: str) -> list[str]:
    """`{arguments:words}` in a step: such strings, with a space between them."""
    return [json.loads(word) for word in re.findall(r'"(?:[^"\\]|\\.)*"', text)]


register_type(json=parse_text, words=parse_words)
_run: list[str] = []  # the scenarios that were run


def load_loop(path: Path) -> Callable[..., object]:
    """The `agent_loop` of a file."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module.agent_loop


def before_all(context: Context) -> None:
    """-D loop=FILE puts the `agent_loop` of another file to the test."""
    context.load_loop = load_loop
    if name := context.config.userdata.get("loop"):
        context.loop_under_test = load_loop(Path(name))


def before_scenario(context: Context, scenario: Scenario) -> None:
    _run.append(scenario.name)


def after_all(context: Context) -> None:
    if not _run and not context.config.dry_run:
        raise LookupError("no scenario was run. -n searches the scenarios' names: is the id right?")
