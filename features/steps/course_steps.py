"""Steps for checking submissions."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from behave import then, when
from behave.runner import Context

from hadr_course.examine import examine
from hadr_course.judge import judge, probes

FEATURES = Path(__file__).parents[1]
COMMAND = str(Path(sys.executable).with_name("hadr-course"))


def processes() -> set[int]:
    """The processes whose parent is this one, or that lost their parent."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent in (1, os.getpid()):
                found.add(int(entry.name))
    return found


@when('the loop "{path}" is checked')
def step_check(context: Context, path: str) -> None:
    context.verdict = judge(path, examine(FEATURES / path, probes(), 30))


@when('the loop "{path}" is checked, with {seconds:d} seconds for it')
def step_check_quickly(context: Context, path: str, seconds: int) -> None:
    context.before = processes()
    context.verdict = judge(path, examine(FEATURES / path, probes(), seconds))


@when('hadr-course check is run on "{path}"')
def step_run(context: Context, path: str) -> None:
    done = subprocess.run([COMMAND, "check", path], cwd=FEATURES, capture_output=True, text=True)
    context.done = done
    assert "Traceback" not in done.stdout + done.stderr, f"expected no traceback, found {done.stderr}"


@when('hadr-course check is run on the class "{one}", "{two}" and "{three}"')
def step_run_class(context: Context, one: str, two: str, three: str) -> None:
    folder = tempfile.TemporaryDirectory()
    context.add_cleanup(folder.cleanup)
    context.csv, context.html = Path(folder.name) / "all.csv", Path(folder.name) / "all.html"
    files = ["--csv", str(context.csv), "--html", str(context.html)]
    context.done = subprocess.run(
        [COMMAND, "check", one, two, three, *files], cwd=FEATURES, capture_output=True, text=True
    )


@then('the one mistake found is "{key}", on a line of the file')
def step_named(context: Context, key: str) -> None:
    found = [(finding.key, finding.where) for finding in context.verdict.findings]
    assert [name for name, _ in found] == [key], f"expected {key}, found {found or context.verdict.trouble}"
    assert context.verdict.findings[0].line, "expected the line where it probably is, found none"


@then("its requirement is broken, and the others are met")
def step_requirements(context: Context) -> None:
    broken = context.verdict.findings[0].mistake.requirement
    expected = {number: "broken" if number == broken else "met" for number in (1, 2, 3, 4)}
    found = context.verdict.requirements
    assert found == expected, f"expected {expected}, found {found}"


@then("it meets all requirements, and nothing is found")
def step_passes(context: Context) -> None:
    verdict = context.verdict
    assert verdict.passed and not verdict.findings, f"expected it to pass, found {verdict.findings}, {verdict.trouble}"


@then('it does not meet the requirements, and the trouble is "{trouble}"')
def step_trouble(context: Context, trouble: str) -> None:
    verdict = context.verdict
    assert not verdict.passed, "expected it not to pass, found that it did"
    assert (verdict.trouble or "").startswith(trouble), f"expected {trouble!r}, found {verdict.trouble!r}"


@then("no process of it is left")
def step_no_process(context: Context) -> None:
    for _ in range(40):  # the system takes a moment to bury them
        left = processes() - context.before
        if not left:
            break
        time.sleep(0.05)
    assert not left, f"expected no process to be left, found {left}"


@then("it ends with {code:d} and prints under ten lines, among them")
def step_prints(context: Context, code: int) -> None:
    lines = context.done.stdout.splitlines()
    assert context.done.returncode == code, f"expected exit code {code}, found {context.done.returncode}"
    assert len(lines) < 10, f"expected under ten lines, found {len(lines)}: {context.done.stdout}"
    for row in context.table:
        assert any(row["line"] in line for line in lines), f"expected {row['line']!r}, found {context.done.stdout}"


@then('it ends with {code:d} and prints a row for each, the right one with "{passed}"')
def step_rows(context: Context, code: int, passed: str) -> None:
    out = context.done.stdout
    assert context.done.returncode == code, f"expected exit code {code}, found {context.done.returncode}: {out}"
    assert re.search(rf"^smallest\.py +met +met +met +met +{passed}", out, re.MULTILINE), f"found {out}"
    assert "exits_hard.py" in out and "turn_twice.py" in out and "1 of 3 meet all requirements" in out, f"found {out}"


@then("the CSV has a row for each, with the mistake of the third")
def step_csv(context: Context) -> None:
    rows = list(csv.reader(context.csv.open(encoding="utf-8")))
    assert len(rows) == 4, f"expected a head and three rows, found {rows}"
    assert rows[3][2] == "broken" and "the turn is appended twice" in rows[3][6], f"found {rows[3]}"


@then("the page shows each, without scripts")
def step_page(context: Context) -> None:
    page = context.html.read_text(encoding="utf-8")
    missing = [name for name in ("smallest.py", "exits_hard.py", "turn_twice.py") if name not in page]
    assert not missing and "<script" not in page, f"expected all three and no script, found {json.dumps(page)[:300]}"
