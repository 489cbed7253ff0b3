"""Steps for checking submissions."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from cli_steps import program

from hadr_course.examine import examine
from hadr_course.judge import judge, probes
from hadr_course.start import drift, start

FEATURES = Path(__file__).parents[1]
COURSE = FEATURES.parent / "src/hadr_course"
SECONDS = 30  # after which an interrupted check is given up; each submission may take twice as long
COMMAND = program("hadr-course")


def processes(*parents: int) -> set[int]:
    """The processes of these parents; without any, those whose parent is this one, or that lost their parent."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if parent in (parents or (1, os.getpid())):
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
    assert re.search(rf"^right_loops/smallest\.py +met +met +met +met +{passed}", out, re.MULTILINE), f"found {out}"
    assert "exits_hard.py" in out and "turn_twice.py" in out and "1 of 3 meet all requirements" in out, f"found {out}"


@then("the CSV has a row for each, with the mistake of the third")
def step_csv(context: Context) -> None:
    rows = list(csv.reader(context.csv.open(encoding="utf-8")))
    assert len(rows) == 4, f"expected a head and three rows, found {rows}"
    assert rows[3][2] == "broken" and "the turn is appended twice" in rows[3][6], f"found {rows[3]}"


@then('its rows are told apart as "{names}"')
def step_names(context: Context, names: str) -> None:
    found = ", ".join(row["submission"] for row in csv.DictReader(context.csv.open(newline="")))
    assert found == names, f"expected {names}; found {found}"


@then("the page shows each, without scripts")
def step_page(context: Context) -> None:
    page = context.html.read_text(encoding="utf-8")
    missing = [name for name in ("smallest.py", "exits_hard.py", "turn_twice.py") if name not in page]
    assert not missing and "<script" not in page, f"expected all three and no script, found {json.dumps(page)[:300]}"


# --- the command


@given("{count:d} submissions that hang")
def step_hang(context: Context, count: int) -> None:
    context.submissions = [in_folder(context) / f"{number}.py" for number in range(count)]
    for path in context.submissions:
        path.write_text(
            "import time\nfrom pathlib import Path\n\n\n"
            "def agent_loop(provider, messages, tools, *, max_rounds=10):\n"
            "    Path(__file__).with_suffix('.begun').touch()\n"
            f"    time.sleep({2 * SECONDS})\n"
        )


LONG_EVAL = [program("hadr-dispatch"), "eval", "--seeds", "0-2999", "--jobs", "2"]
SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM}


def stopped(context: Context, command: list[str], name: str, whom: str, begun: Callable[[int], bool]) -> None:
    """Run a command, and send the signal to it, or to all of its processes, once it has begun."""
    context.before = processes()
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # behave may run with it ignored
    )
    try:
        until = time.monotonic() + SECONDS
        while not begun(process.pid):
            assert time.monotonic() < until, "expected its work to begin, found none"
            time.sleep(0.001)
        (os.killpg if whom.startswith("all") else os.kill)(process.pid, SIGNALS[name])
        out, err = process.communicate(timeout=SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    context.done = subprocess.CompletedProcess(process.args, process.returncode, out, err)


@when("hadr-course check is run on them, and {name} reaches {whom}")
def step_interrupt(context: Context, name: str, whom: str) -> None:
    command = [COMMAND, "check", "--seconds", str(2 * SECONDS), *map(str, context.submissions)]
    begun = [path.with_suffix(".begun") for path in context.submissions]
    stopped(context, command, name, whom, lambda _: any(path.exists() for path in begun))


@when("hadr-dispatch eval is run on 2 processes, and {name} reaches {whom} as the first of them starts")
def step_interrupt_start(context: Context, name: str, whom: str) -> None:
    stopped(context, LONG_EVAL, name, whom, lambda pid: bool(processes(pid)))


@when("hadr-dispatch eval is run on 2 processes, and {name} reaches {whom} while they work")
def step_interrupt_eval(context: Context, name: str, whom: str) -> None:
    def begun(pid: int) -> bool:
        time.sleep(0.5 * (len(processes(pid)) > 1))
        return len(processes(pid)) > 1

    stopped(context, LONG_EVAL, name, whom, begun)


@when("hadr-course check is run on {path} with {seconds:d} seconds")
def step_check_with(context: Context, path: str, seconds: int) -> None:
    command = [COMMAND, "check", "--seconds", str(seconds), path]
    context.done = subprocess.run(command, cwd=FEATURES, capture_output=True, text=True)


@then('it complains with the one line "{line}"')
def step_one_line(context: Context, line: str) -> None:
    found = context.done.stderr
    assert found == f"{line}\n", f"expected {line!r} alone on stderr, found {found!r}"


@then('its output does not say "{words}"')
def step_says_not(context: Context, words: str) -> None:
    said = context.done.stdout + context.done.stderr
    assert words not in said, f"expected no {words!r}, found {said}"


# --- starters


def in_folder(context: Context) -> Path:
    folder = tempfile.TemporaryDirectory()
    context.add_cleanup(folder.cleanup)
    return Path(folder.name)


def git(place: Path, *command: str) -> str:
    who = ["-c", "user.name=A Student", "-c", "user.email=student@example.invalid", "-c", "pull.rebase=false"]
    done = subprocess.run(["git", *who, *command], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, f"git {' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


@given("phase {phase:d} of the starter, with {old} changed to {new}")
def step_phase(context: Context, phase: int, old: str, new: str) -> None:
    text = (COURSE / f"starter/phase{phase}.py").read_text()
    assert old in text or old == "nothing", f"expected {old!r} in phase {phase}, found none"
    context.phase = in_folder(context) / "agent.py"
    context.phase.write_text(text.replace(old, new))


@when("it is compared with the finished loop")
def step_compared(context: Context) -> None:
    context.drift = list(drift(COURSE.parent / "hadr_agent/agent.py", context.phase))


@then('what is not as in the finished loop is "{names}"')
def step_drift(context: Context, names: str) -> None:
    expected = [f"{name} is not as in the finished loop" for name in names.split(", ")]
    assert context.drift == expected, f"expected {expected}, found {context.drift}"


@then('what is not as in the finished loop is ""')
def step_no_drift(context: Context) -> None:
    assert not context.drift, f"expected nothing, found {context.drift}"


@given("a starter at phase {phase:d}")
def step_starter(context: Context, phase: int) -> None:
    context.starter = in_folder(context) / "starter"
    start(context.starter, phase)


@given("its file PHASE claims {claimed:d}")
def step_claims(context: Context, claimed: int) -> None:
    (context.starter / "PHASE").write_text(f"{claimed}\n")


@given("a starter in a git repository, and a student's clone of it in which they have begun")
def step_clone(context: Context) -> None:
    folder = in_folder(context)
    context.course, context.student = folder / "course", folder / "student"
    start(context.course, 0)
    git(context.course, "init", "--quiet", "--initial-branch", "main")
    git(context.course, "add", "--all")
    git(context.course, "commit", "--quiet", "--message", "The starter")
    git(folder, "clone", "--quiet", str(context.course), str(context.student))
    agent = context.student / "src/hadr_agent/agent.py"
    agent.write_text(agent.read_text() + "\n# my own line\n")
    (context.student / "PHASE").write_text("1\n")
    git(context.student, "commit", "--quiet", "--all", "--message", "I have begun")


@when("hadr-course verify is run")
def step_verify(context: Context) -> None:
    context.done = subprocess.run([COMMAND, "verify"], capture_output=True, text=True)


@when("behave runs in it")
def step_behave(context: Context) -> None:
    environment = {**os.environ, "PYTHONPATH": str(context.starter / "src")}
    command = [sys.executable, "-m", "behave", "--no-color"]
    context.done = subprocess.run(command, cwd=context.starter, env=environment, capture_output=True, text=True)


@when("the course fixes its steps, and the student pulls")
def step_pull(context: Context) -> None:
    steps = context.course / "features/steps/loop_steps.py"
    steps.write_text(steps.read_text() + "\n# fixed\n")
    git(context.course, "commit", "--quiet", "--all", "--message", "A fix")
    git(context.student, "pull", "--quiet", "--no-edit")


@when("hadr-course start is asked for {what}")
def step_start_wrong(context: Context, what: str) -> None:
    folder = in_folder(context)
    (folder / "mine.txt").write_text("mine")
    arguments = [str(folder)] if "folder" in what else [str(folder / "new"), "--phase", "3"]
    context.done = subprocess.run([COMMAND, "start", *arguments], capture_output=True, text=True)
    assert (folder / "mine.txt").read_text() == "mine", "expected the file untouched, found it changed"


@then("it ends with {code:d} and says of each phase that it is as it should be")
def step_verified(context: Context, code: int) -> None:
    said = context.done.stdout
    assert context.done.returncode == code, f"expected exit code {code}, found {context.done.returncode}: {said}"
    assert said.splitlines() == [f"phase {number}: as it should be" for number in (0, 1, 2)], f"found {said}"


@then("the command ends with {code:d}")
def step_ends(context: Context, code: int) -> None:
    done = context.done
    assert done.returncode == code, f"expected exit code {code}, found {done.returncode}: {done.stdout}{done.stderr}"


@then('its output says "{words}"')
def step_says(context: Context, words: str) -> None:
    said = context.done.stdout + context.done.stderr
    assert words in said, f"expected {words!r}, found {said}"


@then('the command ends with {code:d} and says "{words}"')
def step_ends_saying(context: Context, code: int, words: str) -> None:
    step_ends(context, code)
    step_says(context, words)


@then("the pull brings the fix and keeps the student's work")
def step_pulled(context: Context) -> None:
    fixed = (context.student / "features/steps/loop_steps.py").read_text()
    kept = (context.student / "src/hadr_agent/agent.py").read_text()
    assert fixed.endswith("# fixed\n"), "expected the fix in the student's repository, found none"
    assert kept.endswith("# my own line\n"), "expected the student's own line, found it gone"
    assert (context.student / "PHASE").read_text() == "1\n", "expected the student's PHASE, found another"
