"""Steps for the pull-request kit: the workflows as text, the conditions and commands in them run, the summary written.

The workflows' schema is checked by .ci/run.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from behave import then, when
from behave.runner import Context
from cli_steps import folder

from hadr_course.judge import REQUIREMENTS

ROOT = Path(__file__).parents[2]
KIT = ROOT / ".github"
ASSOCIATIONS = {
    "the owner": "OWNER",
    "a member": "MEMBER",
    "a collaborator": "COLLABORATOR",
    "a contributor": "CONTRIBUTOR",
    "a stranger": "NONE",
}


def workflow(name: str) -> str:
    return (KIT / "workflows" / name).read_text(encoding="utf-8")


def block(text: str, key: str) -> list[str]:
    """The values of a key, wherever it stands: on its line, or as the lines below it that stand further in."""
    pattern = rf"^( *)(?:- )?{key}:(?: [|>]-?)?((?: \S.*)?(?:\n(?:\1 +.*| *$))*)"
    return [dedent(found[1].lstrip("\n")).strip() for found in re.findall(pattern, text, re.MULTILINE)]


def boxes(text: str) -> list[str]:
    """The texts of the check boxes in Markdown."""
    return re.findall(r"^- \[ \] (.+)$", text, re.MULTILINE)


def holds(expression: str, github: dict[str, object]) -> bool:
    """Whether an expression of GitHub's holds; of its functions, `contains` and `fromJSON`."""

    def look_up(path: str) -> object:
        value: object = github
        for key in path.split(".")[1:]:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    python = re.sub(r"github(?:\.\w+)+", lambda found: f"look_up({found[0]!r})", expression)
    python = python.replace("&&", "and").replace("||", "or").replace("\n", " ")
    names = {"look_up": look_up, "fromJSON": json.loads, "contains": lambda where, what: what in where}
    return bool(eval(python, names))


@when("the workflows are read")
def step_read(context: Context) -> None:
    context.workflows = {path.name: workflow(path.name) for path in sorted((KIT / "workflows").glob("*.yml"))}


@then("every action is given by 40 hexadecimal digits and a version in a comment")
def step_pinned(context: Context) -> None:
    used = [line for text in context.workflows.values() for line in re.findall(r"uses: .*", text)]
    wrong = [line for line in used if not re.fullmatch(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+){2}", line)]
    assert used and not wrong, f"expected owner/name@<40 digits> # v1.2.3, found {wrong or 'no action'}"


@then("the only things they may write are")
def step_may_write(context: Context) -> None:
    expected = {(row["workflow"], row["may write"]) for row in context.table}
    found = {
        (name, scope)
        for name, text in context.workflows.items()
        for part in block(text, "permissions")
        for scope in re.findall(r"([\w-]+)(?:: write|-all)", part)
    }
    assert found == expected, f"expected {sorted(expected)}, found {sorted(found)}"


@then("each begins with permissions that write nothing")
def step_top(context: Context) -> None:
    for name, text in context.workflows.items():
        head = text.partition("\njobs:")[0]
        assert block(head, "permissions") in (["{}"], ["contents: read"]), f"{name}: expected none, found {head}"


@then("none runs on pull_request_target or workflow_run")
def step_triggers(context: Context) -> None:
    found = re.findall("pull_request_target|workflow_run", "".join(context.workflows.values()))
    assert not found, f"expected neither, found {found}"


@then("each job has a time limit and a concurrency group")
def step_limits(context: Context) -> None:
    for name, text in context.workflows.items():
        jobs = re.findall(r"^  \S+:$", text.partition("\njobs:")[2], re.MULTILINE)
        found = (len(block(text, "timeout-minutes")), len(block(text, "concurrency")))
        assert found == (len(jobs), 1), f"{name}: expected a limit for {jobs} and one group, found {found}"


@then("each checkout leaves no credentials behind")
def step_credentials(context: Context) -> None:
    for name, text in context.workflows.items():
        found = (text.count("actions/checkout@"), text.count("persist-credentials: false"))
        assert found[0] == found[1], f"{name}: expected persist-credentials: false in each checkout, found {found}"


@then("no command in them holds an expression")
def step_shells(context: Context) -> None:
    commands = [command for text in context.workflows.values() for command in block(text, "run")]
    wrong = [command for command in commands if "${{" in command]
    assert len(commands) > 2 and not wrong, f"expected commands without expressions, found {wrong or commands}"


@when("{who} opens it in a pull request from {where}")
def step_open(context: Context, who: str, where: str) -> None:
    repository = "someone/loop" if where == "a fork" else "teacher/loop"
    request = {"head": {"repo": {"full_name": repository}}, "author_association": ASSOCIATIONS[who]}
    context.events = [{"event_name": "pull_request", "event": {"pull_request": request}}]


@when('{who} writes "{text}" in a pull request from {where}')
def step_comment(context: Context, who: str, text: str, where: str) -> None:
    comment = {"body": text, "author_association": ASSOCIATIONS[who]}
    context.events = [
        {"event_name": "issue_comment", "event": {"comment": comment, "issue": {"pull_request": {"url": "…"}}}},
        {"event_name": "pull_request_review_comment", "event": {"comment": comment, "pull_request": {"number": 1}}},
    ]
    issue = {"event_name": "issue_comment", "event": {"comment": comment, "issue": {"number": 1}}}
    assert not holds(block(workflow("review.yml"), "if")[0], {"repository": "teacher/loop", **issue}), (
        "expected no review in an issue, found one"
    )


@then("the model is asked: {answer}")
def step_asked(context: Context, answer: str) -> None:
    text = workflow("review.yml")
    condition = block(text, "if")[0]
    for event in context.events:
        assert f"\n  {event['event_name']}:" in text, f"expected the trigger {event['event_name']}, found none"
        found = holds(condition, {"repository": "teacher/loop", **event})
        assert found == (answer == "yes"), f"{event['event_name']}: expected {answer}, found {found}"


@when("the first step of the review runs with {key} for a pull request from {where}")
def step_gate(context: Context, key: str, where: str) -> None:
    gh = folder(context) / "gh"
    gh.write_text(f"#!/bin/sh\necho {'true' if where == 'a fork' else 'false'}\n")
    gh.chmod(0o755)
    context.output = folder(context) / "output"
    context.output.touch()
    environment = {
        "PATH": f"{folder(context)}{os.pathsep}{os.environ['PATH']}",
        "HAS_KEY": "true" if key == "a key" else "false",
        "NUMBER": "1",
        "GITHUB_OUTPUT": str(context.output),
    }
    command = ["bash", "-e", "-c", block(workflow("review.yml"), "run")[0]]
    context.done = subprocess.run(command, env=environment, capture_output=True, text=True)


@then('it goes on: {answer}, and says "{words}"')
@then('it goes on: {answer}, and says ""')
def step_goes_on(context: Context, answer: str, words: str = "") -> None:
    done, written = context.done, context.output.read_text()
    assert done.returncode == 0, f"expected exit code 0, found {done.returncode}: {done.stderr}"
    assert written == ("review=true\n" if answer == "yes" else ""), f"expected {answer}, found {written!r}"
    assert words in done.stdout and bool(words) == bool(done.stdout), f"expected {words!r}, found {done.stdout!r}"
    steps = workflow("review.yml").partition("\n    steps:\n")[2].split("\n      - ")[1:]
    assert steps and all("if: steps.may.outputs.review == 'true'" in step for step in steps), (
        f"expected every later step to wait for it, found {steps}"
    )


@when("the ruleset is read")
def step_ruleset(context: Context) -> None:
    context.ruleset = json.loads((KIT / "rulesets" / "main.json").read_text(encoding="utf-8"))
    context.rules = {rule["type"]: rule.get("parameters", {}) for rule in context.ruleset["rules"]}


@then("the default branch takes only pull requests with an approval that is not stale and not by who pushed last")
def step_reviewed(context: Context) -> None:
    ruleset, found = context.ruleset, context.rules["pull_request"]
    assert ruleset["target"] == "branch" and ruleset["enforcement"] == "active", f"expected both, found {ruleset}"
    included = ruleset["conditions"]["ref_name"]["include"]
    assert included == ["~DEFAULT_BRANCH"], f"expected the default branch, found {included}"
    assert found["required_approving_review_count"] == 1, f"expected one approval, found {found}"
    assert found["dismiss_stale_reviews_on_push"] and found["require_last_push_approval"], f"found {found}"


@then("it can be neither deleted nor rewritten, by nobody")
def step_kept(context: Context) -> None:
    missing = {"deletion", "non_fast_forward"} - context.rules.keys()
    assert not missing, f"expected both rules, found none for {sorted(missing)}"
    found = context.ruleset["bypass_actors"]
    assert found == [], f"expected nobody who may pass by, found {found}"


@then("the checks that it requires are those that CI makes: {names}")
def step_checks(context: Context, names: str) -> None:
    expected = json.loads(f"[{names}]")
    text = workflow("ci.yml")
    versions = json.loads(block(text, "python")[0].partition("#")[0])
    template = block(text.partition("\njobs:")[2], "name")[0]
    made = [template.replace("${{ matrix.python }}", version) for version in versions]
    assert made == expected, f"expected CI to make {expected}, found {made}"
    required = [check["context"] for check in context.rules["required_status_checks"]["required_status_checks"]]
    assert required == expected, f"expected the ruleset to require {expected}, found {required}"


@when("the pull request template is read")
def step_template(context: Context) -> None:
    context.boxes = boxes((KIT / "pull_request_template.md").read_text(encoding="utf-8"))


@then("each of the four requirements is a check box in it, in the words of the course")
def step_requirements(context: Context) -> None:
    expected = [f"{number}: {words}" for number, words in REQUIREMENTS.items()]
    found = context.boxes[: len(expected)]
    assert found == expected, f"expected {expected}, found {found}"


@then("at most seven more are for what a reviewer confirms by reading")
def step_reviewer(context: Context) -> None:
    found = len(context.boxes) - len(REQUIREMENTS)
    assert 1 <= found <= 7, f"expected one to seven, found {found}"


@when('the summary is written for "{path}"')
def step_summary(context: Context, path: str) -> None:
    done = subprocess.run([sys.executable, KIT / "summary.py", path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"expected exit code 0, found {done.returncode}: {done.stderr}"
    context.summary = done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    context.rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


@then('all four requirements are "{state}"')
def step_all(context: Context, state: str) -> None:
    expected = [[str(number), words, state] for number, words in REQUIREMENTS.items()]
    missing = [row for row in expected if row not in context.rows]
    assert not missing, f"expected {missing}, found {context.summary}"


@then("each task that ends at its limit has used all of it")
def step_rounds(context: Context) -> None:
    found = [row for row in context.rows if row[0].startswith("limit")]
    wrong = [row for row in found if len(set(row[1].split(" of "))) != 1]
    assert len(found) > 2 and not wrong, f"expected n of n for each, found {wrong or found}"


@then("request n begins request n+1 in each task")
def step_begins(context: Context) -> None:
    found = {row[0]: row[2] for row in context.rows if re.match(r"([2-9]|\d\d+) of ", row[1])}
    assert len(found) > 3 and set(found.values()) == {"yes"}, f"expected yes for each, found {found}"


@then("what a reviewer confirms stands at its end")
def step_left(context: Context) -> None:
    template = boxes((KIT / "pull_request_template.md").read_text(encoding="utf-8"))
    expected = "".join(f"- {words}\n" for words in template[len(REQUIREMENTS) :])
    assert context.summary.endswith(f"\n\n{expected}"), f"expected at its end {expected}, found {context.summary}"


@then('the summary shows requirement {number:d} as "{state}"')
def step_requirement(context: Context, number: int, state: str) -> None:
    expected = [str(number), REQUIREMENTS[number], state]
    assert expected in context.rows, f"expected {expected}, found {context.summary}"


@then('the summary says "{words}"')
def step_says(context: Context, words: str) -> None:
    assert words in context.summary, f"expected {words!r}, found {context.summary}"
