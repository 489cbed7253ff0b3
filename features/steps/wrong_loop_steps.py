"""Steps that run agent_loop.feature against another loop."""

from pathlib import Path
from textwrap import indent

from behave import then, when
from behave.parser import parse_file
from behave.runner import Context

FEATURES = Path(__file__).parents[1]


def scenario_steps(feature_file: Path) -> list[tuple[str, str]]:
    """(scenario name, the text of its steps) for each scenario of a feature, outlines with their examples filled in."""
    found: list[tuple[str, str]] = []
    for scenario in parse_file(str(feature_file)).walk_scenarios():
        steps = [
            f"{step.keyword} {step.name}\n" + (indent(f'"""\n{step.text}\n"""', "  ") if step.text else "")
            for step in scenario.steps
        ]
        found.append((scenario.name, "\n".join(steps)))
    return found


@when('the loop "{path}" is put to the test')
def step_put_to_the_test(context: Context, path: str) -> None:
    context.loop_under_test = context.load_loop(FEATURES / path)
    context.failures = []
    for name, steps in scenario_steps(FEATURES / "agent_loop.feature"):
        context.system_prompt = []
        try:
            context.execute_steps(steps)
        except AssertionError as failure:
            context.failures.append((name.split(":")[0], str(failure)))


@then('it fails in {ident}, which says "{message}"')
def step_fails(context: Context, ident: str, message: str) -> None:
    found = [said for name, said in context.failures if name == ident]
    assert any(message in said for said in found), f"expected {ident} to fail with …{message}…, found {found}"


@then("it passes every scenario")
def step_passes(context: Context) -> None:
    assert not context.failures, f"expected no failure, found {context.failures[0]}"
