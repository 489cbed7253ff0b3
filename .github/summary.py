"""Writes the summary of a pull request, as Markdown: the requirements, the rounds, the prefix, what is left to read.

It only tells: whether a change may land, .ci/run decides. Usage: uv run python .github/summary.py [PATH]
"""

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from hadr_course.check import check, loop_file, report
from hadr_course.examine import Observation, examine
from hadr_course.judge import REQUIREMENTS, probes

_SECONDS = 20
_TEMPLATE = Path(__file__).with_name("pull_request_template.md")


def summary(path: Path) -> Iterator[str]:
    """The lines of the summary for a repository or a file with an `agent_loop`."""
    checked = check(path, _SECONDS)
    yield from ["## The loop", "", "| | requirement | |", "|---|---|---|"]
    for number, words in REQUIREMENTS.items():
        yield f"| {number} | {words} | {checked.verdict.requirements[number]} |"
    if not checked.passed:  # the report behind its table; indented, it is code to Markdown, whatever is in it
        yield from ["", *(f"    {line}" for line in report(checked).splitlines()[1 + len(REQUIREMENTS) :])]
    yield from ["", "| task | rounds of the limit | request n begins request n+1 |", "|---|---|---|"]
    yield from _tasks(path)
    yield from ["", "What is left for a person to judge:", "", *_left_to_read()]


def _tasks(path: Path) -> Iterator[str]:
    try:
        seen = examine(loop_file(path), probes(), _SECONDS).observations
    except FileNotFoundError:
        seen = {}
    for probe in probes():
        observation = seen.get(probe.name)
        rounds = f"{len(observation.requests)} of {probe.max_rounds}" if observation else "not reached"
        yield f"| {probe.name} | {rounds} | {_prefix(observation) if observation else ''} |"


def _prefix(observation: Observation) -> str:
    """In bytes: the messages stand last in a request, and only two brackets follow them."""
    for before, after in pairwise(observation.requests):
        if not after.raw.startswith(before.raw.removesuffix(b"]}")):
            return f"no, request {before.number} does not begin request {after.number}"
    return "yes" if len(observation.requests) > 1 else "only one"


def _left_to_read() -> list[str]:
    """The reviewer's half of the pull request template: its last check boxes."""
    last = _TEMPLATE.read_text(encoding="utf-8").rpartition("\n## ")[2]
    return [line.replace("- [ ] ", "- ") for line in last.splitlines() if line.startswith("- [ ] ")]


if __name__ == "__main__":
    print("\n".join(summary(Path(sys.argv[1] if len(sys.argv) > 1 else "."))))
