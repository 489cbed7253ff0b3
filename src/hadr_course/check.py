"""Checks submissions: puts each to the probes and to LOOP-1 … LOOP-9, side by side, and writes down what came of it.

It joins examine, judge and kit; what a mistake is, they know.
"""

import csv
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from hadr_course.examine import examine
from hadr_course.judge import REQUIREMENTS, Verdict, judge, probes
from hadr_course.kit import run_loop_scenarios


@dataclass(frozen=True)
class Checked:
    """A submission's verdict, and what LOOP-1 … LOOP-9 say of it."""

    verdict: Verdict
    scenarios: Mapping[str, str]

    @property
    def passed(self) -> bool:
        return self.verdict.passed and set(self.scenarios.values()) == {"passed"}

    @property
    def failed_scenarios(self) -> list[str]:
        return [ident for ident, outcome in self.scenarios.items() if outcome != "passed"]


def loop_file(path: Path) -> Path:
    """The file of a submission's loop: the path itself, or where it stands in a repository.

    Raises FileNotFoundError.
    """
    places = [path] if path.is_file() else [path / "src/hadr_agent/agent.py", path / "agent.py"]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise FileNotFoundError(f"{path} holds no src/hadr_agent/agent.py and no agent.py; name its file")
    return found.resolve()


def check(path: Path, seconds: float = 20, name: str | None = None) -> Checked:
    """Check one submission, with so many seconds for the probes and as many for the scenarios.

    name: what the report calls it; without one, the last part of its path.
    """
    name = name or path.resolve().name
    try:
        file = loop_file(path)
    except FileNotFoundError as error:
        return Checked(Verdict(name, dict.fromkeys(REQUIREMENTS, "not reached"), [], str(error), ""), {})
    verdict = judge(name, examine(file, probes(), seconds))
    return Checked(verdict, run_loop_scenarios(file, seconds))


def check_all(paths: Sequence[Path], seconds: float, executor: Executor) -> Iterator[Checked]:
    """Check many, side by side, in the order of the paths. Workers on other machines need the same paths."""
    whole = [path.absolute() for path in paths]  # a worker of a cluster stands in another folder
    one = _check_until_stopped if isinstance(executor, ProcessPoolExecutor) else check
    yield from executor.map(one, whole, [seconds] * len(paths), _names(paths))


def _check_until_stopped(path: Path, seconds: float, name: str) -> Checked:
    """`check` in a process of its own that Ctrl-C may end: the submission's processes end before it does."""
    for number in _STOPS:
        signal.signal(number, _stop)
    try:
        return check(path, seconds, name)
    except SystemExit:  # raised by _stop; the pool would go on with the next submission
        os._exit(1)


_STOPS = (signal.SIGINT, signal.SIGTERM)


def _stop(number: int, frame: object) -> None:
    for each in _STOPS:  # the second often follows the first, and must not cut short what that one began
        signal.signal(each, _stopping_already)
    sys.exit()


def _stopping_already(number: int, frame: object) -> None:
    """Nothing; SIG_IGN would make Python complain of a signal that is on its way."""


def _names(paths: Sequence[Path]) -> list[str]:
    """What tells the submissions apart: of a/x/agent.py and a/y/agent.py, x/agent.py and y/agent.py."""
    resolved = [path.resolve() for path in paths]
    common = os.path.commonpath([path.parent for path in resolved])
    return [path.relative_to(common).as_posix() for path in resolved]


# --- written down


def report(checked: Checked, *, trace: bool = False) -> str:
    """A submission in under ten lines; with `trace`, the traceback of what it raised behind them."""
    verdict = checked.verdict
    lines = [f"{verdict.name}: {'all requirements met' if checked.passed else 'not there yet'}"]
    for number, words in REQUIREMENTS.items():
        lines.append(f"  {number} {verdict.requirements[number]:<11} {words}")
    for finding in verdict.findings[:1]:
        line = f", line {finding.line}" if finding.line else ""
        lines += [f"  {finding.mistake.words}{line}", f"    {finding.where}", f"    hint: {finding.mistake.hint}"]
    more = [*(finding.mistake.words for finding in verdict.findings[1:]), *filter(None, [verdict.trouble])]
    if more:
        lines.append(f"  {'also: ' if verdict.findings else ''}{'; '.join(more)}")
    failed = checked.failed_scenarios
    if failed == ["LOOP"]:
        lines.append(f"  LOOP-1 to LOOP-9 came to no end: {checked.scenarios['LOOP']}")
    elif failed:
        lines.append(f"  of LOOP-1 to LOOP-9, these fail: {', '.join(failed)}")
    return "\n".join(lines) + (f"\n{verdict.trace}" if trace and verdict.trace else "")


def as_document(checked: Checked) -> dict[str, object]:
    """A submission as JSON: version 1."""
    verdict = checked.verdict
    findings = [
        {**asdict(finding), "requirement": finding.mistake.requirement, "words": finding.mistake.words}
        for finding in verdict.findings
    ]
    return {
        "version": 1,
        "name": verdict.name,
        "passed": checked.passed,
        "requirements": {str(number): state for number, state in verdict.requirements.items()},
        "findings": findings,
        "trouble": verdict.trouble,
        "scenarios": dict(checked.scenarios),
    }


HEAD = ("submission", "1", "2", "3", "4", "LOOP", "what")


def row(checked: Checked) -> tuple[str, ...]:
    """A submission as a row of the summary, under HEAD."""
    verdict = checked.verdict
    what = "; ".join([*(finding.mistake.words for finding in verdict.findings), *filter(None, [verdict.trouble])])
    passed = sum(outcome == "passed" for outcome in checked.scenarios.values())
    states = [verdict.requirements[number] for number in REQUIREMENTS]
    return (verdict.name, *states, f"{passed}/{len(checked.scenarios)}", what)


def as_csv(all_checked: Sequence[Checked]) -> str:
    """The summary for a spreadsheet."""
    text = io.StringIO()
    csv.writer(text).writerows([HEAD, *map(row, all_checked)])
    return text.getvalue()


def as_html(all_checked: Sequence[Checked]) -> str:
    """The summary and each submission's report on one page without scripts."""
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    rows = "".join(
        "<tr>"
        + "".join(f'<td class="{escape(cell.split()[0] if cell else "")}">{escape(cell)}</td>' for cell in row(each))
        + "</tr>"
        for each in all_checked
    )
    reports = "".join(f"<pre>{escape(report(each))}</pre>" for each in all_checked)
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem}"
        "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8886;padding:.3rem;text-align:left}"
        ".met{color:#2e7d4f}.broken{color:#c0392b}pre{white-space:pre-wrap;border-top:1px solid #8886;padding-top:1em}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><title>Submissions</title><style>{style}</style></head>'
        f"<body><h1>Submissions</h1><table><tr>{head}</tr>{rows}</table>{reports}</body></html>\n"
    )
