"""Steps that compare policies, on processes and on a Dask cluster of this machine."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from cli_steps import environment, folder, run

from hadr_agent.workers import workers
from hadr_dispatch.evaluate import PLAYS, as_csv, evaluate, read_csv
from hadr_dispatch.scenario import Scenario, load_scenario
from hadr_dispatch.score import Outcome

FEATURES = Path(__file__).parents[1]


# --- Given


def earlier(context: Context, policies: list[str], **changed: object) -> None:
    with ProcessPoolExecutor(1) as pool:
        *rows, last = evaluate({name: PLAYS[name] for name in policies}, [load_scenario("SURGE")], [0], pool)
    changed = changed or {"points": last.points + 1}
    (folder(context) / "old.csv").write_text(as_csv([*rows, replace(last, **changed)]))


@given("an earlier run old.csv of idle and par, in which par had a point more with seed 0")
def step_earlier(context: Context) -> None:
    earlier(context, ["idle", "par"])


@given("an earlier run old.csv with another world version")
def step_other_version(context: Context) -> None:
    earlier(context, ["idle"], world_version=99)


@given("an earlier run old.csv with another digest")
def step_other_digest(context: Context) -> None:
    earlier(context, ["idle"], digest="99")


@given("a Dask cluster of two workers")
def step_cluster(context: Context) -> None:
    """A scheduler and workers as processes of their own, so that one of them can be killed."""
    code = (
        "import sys, logging; from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=2, threads_per_worker=1, host='127.0.0.1', dashboard_address=None,\n"
        "                      silence_logs=logging.CRITICAL) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True); sys.stdin.read()\n"
    )
    script = folder(context) / "cluster.py"
    script.write_text(code)
    path = os.pathsep.join(str(FEATURES / name) for name in ("steps", "."))
    process = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=folder(context),
        env={**environment(context), "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def stop() -> None:
        process.communicate(timeout=30)  # closes its stdin, which ends it

    context.add_cleanup(stop)
    context.address = process.stdout.readline().strip()


# --- When


@when("the rules are evaluated with one job, with two jobs and on the cluster")
def step_three(context: Context) -> None:
    context.files, rules = [], "random,par,no-crew,triage"
    for number, where in enumerate((["--jobs", "1"], ["--jobs", "2"], ["--cluster", context.address])):
        name = f"{number}.csv"
        run(context, ["eval", "--policies", rules, "--seeds", "0-2", "--csv", name, *where], command="hadr-dispatch")
        assert context.code == 0 and not context.stderr, f"expected 0 and no words, found {context.stderr!r}"
        context.files.append((folder(context) / name).read_bytes())


@dataclass(frozen=True)
class Deadly:
    """Plays by rule, but the first time that seed 3 is played, its process is killed."""

    marker: str

    def __call__(self, scenario: Scenario, seed: int) -> Outcome:
        if seed == 3 and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return PLAYS["par"](scenario, seed)


@when("an evaluation runs on the cluster, and its fourth operation kills the worker that plays it")
def step_killed(context: Context) -> None:
    marker = folder(context) / "killed"
    surge = [load_scenario("SURGE")]
    with workers(None, context.address) as executor:
        context.rows = list(evaluate({"par": Deadly(str(marker))}, surge, range(8), executor))
    assert marker.exists(), "expected a worker to be killed, found that none was"
    with workers(1, None) as executor:
        context.expected = list(evaluate({"par": PLAYS["par"]}, surge, range(8), executor))


@when("two loops are checked by default, with two jobs and on the cluster")
def step_checked(context: Context) -> None:
    loops = [str(FEATURES / name) for name in ("right_loops/smallest.py", "wrong_loops/turn_twice.py")]
    options = ([], ["--jobs", "2"], ["--cluster", context.address])
    context.reports = []
    for each in options:
        run(context, ["check", *loops, *each], command="hadr-course")
        context.reports.append(context.stdout)


# --- Then


def standing(context: Context, policy: str) -> dict[str, float]:
    return next(each for each in json.loads(context.stdout)["scenarios"]["SURGE"] if each["policy"] == policy)


@then("idle scores 0 and par 100")
def step_ends(context: Context) -> None:
    found = [standing(context, name)["score"] for name in ("idle", "par")]
    assert found == [0, 100], f"expected 0 and 100, found {found}"


@then("random scores under 20")
def step_random(context: Context) -> None:
    found = standing(context, "random")["score"]
    assert found < 20, f"expected under 20, found {found}"


@then("{policy} is {side} par by more than {times:d} times its error")
def step_apart(context: Context, policy: str, side: str, times: int) -> None:
    found = standing(context, policy)
    apart = (found["score"] - 100) * (1 if side == "above" else -1)
    assert apart > times * found["error"] > 0, f"expected it {side} par by {times} errors, found {found}"


@then("best scores more than triage")
def step_best(context: Context) -> None:
    best, triage = standing(context, "best")["score"], standing(context, "triage")["score"]
    assert best > triage, f"expected best above triage, found {best} and {triage}"


@then("the README shows these scores, errors, deaths and people in care")
def step_readme(context: Context) -> None:
    rows = json.loads(context.stdout)["rows"]
    readme = (FEATURES.parent / "README.md").read_text()
    for each in json.loads(context.stdout)["scenarios"]["SURGE"]:
        its = [row for row in rows if row["policy"] == each["policy"]]
        deaths, in_care = (sum(row[name] for row in its) / len(its) for name in ("deaths", "in_care"))
        line = f"| {each['policy']} | {each['score']:.0f} | {each['error']:.0f} | {deaths:.1f} | {in_care:.1f} |"
        assert line in readme, f"expected {line!r} in the README, found another or none"


@then("the rows of out.csv are of {expected:json}")
def step_rows(context: Context, expected: str) -> None:
    text = (folder(context) / "out.csv").read_text()
    found = ", ".join(f"{row['policy']} {row['seed']}" for row in csv.DictReader(io.StringIO(text)))
    assert found == expected, f"expected {expected}, found {found}"
    assert as_csv(read_csv(text)) == text, "expected the rows to be read as they were written, found others"


@then("its rows are of {expected:json}")
def step_document_rows(context: Context, expected: str) -> None:
    found = ", ".join(f"{row['policy']} {row['seed']}" for row in json.loads(context.stdout)["rows"])
    assert found == expected, f"expected {expected}, found {found}"


@then("its one complaint says {words:json}")
def step_complaint(context: Context, words: str) -> None:
    lines = context.stderr.splitlines()
    assert 1 <= len(lines) <= 2, f"expected one or two lines, found {context.stderr!r}"
    assert words in lines[0], f"expected {words!r}, found {lines[0]!r}"


@then("the three files hold the same bytes")
@then("the three reports are the same")
def step_same(context: Context) -> None:
    first, *others = getattr(context, "files", None) or context.reports
    assert first and all(each == first for each in others), f"expected the same three times, found {first}, {others}"


@then("there is one row for each of its seeds, as without the cluster")
def step_once(context: Context) -> None:
    assert context.rows == context.expected, f"expected {context.expected}, found {context.rows}"


@then("the agent has as many points as triage, and it alone has wakes, rounds and tokens")
def step_agent(context: Context) -> None:
    rows = {row["policy"]: row for row in json.loads(context.stdout)["rows"]}
    assert rows["agent"]["points"] == rows["triage"]["points"], f"expected equal points, found {rows}"
    found = [name for name, row in rows.items() if row["wakes"] or row["rounds"] or row["prompt_tokens"]]
    assert found == ["agent"] and rows["agent"]["cached_tokens"], f"expected tokens of the agent alone, found {rows}"
