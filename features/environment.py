"""What every run of the features shares: how steps read quoted texts, and that a run without a scenario fails."""

import json
import re
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from behave import register_type
from behave.model import Feature, Scenario
from behave.model_type import Status
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


@with_pattern(r"hadr-[a-z]+")
def parse_command(text: str) -> str:
    """`{command:command}` in a step: the name of one of the commands."""
    return text


register_type(json=parse_text, words=parse_words, command=parse_command)
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


NEXT = {
    "LOOP-1": "ask the model once, append its turn, and return the answer without its thinking",
    "LOOP-2": "run the tool that a turn calls, and answer the call by its id; then ask again",
    "LOOP-3": "append the turn as it came, all its fields; only the answer loses its thinking",
    "LOOP-4": "give a tool's error back to the model as its result",
    "LOOP-5": "stop after max_rounds model calls, with the calls of the last round answered",
    "LOOP-6": "answer every call of a turn, one tool message each, in their order",
    "LOOP-7": "replay arguments that are not a JSON object as {}, and all others to the byte",
    "LOOP-8": "answer a call of an unknown tool too; Toolbox.run says which tools there are",
    "LOOP-9": "leave the clock of the world alone",
}
_unclaimed: dict[str, bool] = {}  # scenarios that need not pass yet, and whether they do


def claimed_phase(context: Context) -> int:
    """What the file PHASE beside the features says: 1 claims LOOP-1, 2 all of them. Without the file: all."""
    file = Path(context.config.base_dir).parent / "PHASE"
    return int(file.read_text()) if file.is_file() else 2


def before_feature(context: Context, feature: Feature) -> None:
    phase = claimed_phase(context)
    for scenario in feature.walk_scenarios():
        ident = scenario.name.split(":")[0]
        if ident in NEXT and phase < (1 if ident == "LOOP-1" else 2):
            expect_failure(scenario, ident)


def expect_failure(scenario: Scenario, ident: str) -> None:
    """Run the scenario as ever, but let it fail: its phase is not claimed yet."""
    run = scenario.run

    def run_unclaimed(*arguments: object, **options: object) -> bool:
        failed = run(*arguments, **options)
        if scenario.status not in (Status.skipped, Status.untested):
            _unclaimed[ident] = _unclaimed.get(ident, True) and not failed
            scenario.set_status(Status.skipped if failed else Status.passed)  # behave's summary knows no xfailed
        return False

    scenario.run = run_unclaimed


def before_scenario(context: Context, scenario: Scenario) -> None:
    _run.append(scenario.name)


def after_all(context: Context) -> None:
    if _unclaimed:
        lines = [f"phase {claimed_phase(context)} of 2; {len(_unclaimed)} scenarios not yet claimed in the file PHASE"]
        lines += [f"  {name} {'passes already' if ok else f'next: {NEXT[name]}'}" for name, ok in _unclaimed.items()]
        print("\n".join(lines), file=sys.__stdout__, flush=True)
    if not _run and not context.config.dry_run:
        raise LookupError("no scenario was run. -n searches the scenarios' names: is the id right?")
