"""Where the course's own files are, and the LOOP scenarios run against another loop.

It knows files and behave, not what a mistake is.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hadr_agent.provider import as_list, as_object

_LOOP_FILES = ("agent_loop.feature", "environment.py", "steps/loop_steps.py")


def kit_folder() -> Path:
    """The folder of the course's files: in an installed package beside this file, in a checkout its root."""
    installed = Path(__file__).with_name("kit")
    return installed if installed.is_dir() else Path(__file__).parents[2]


def run_loop_scenarios(agent: Path, seconds: float) -> Mapping[str, str]:
    """Run LOOP-1 to LOOP-9 against the `agent_loop` of a file: {"LOOP-1": "passed" or why not}.

    In a process of its own, with a time limit; {"LOOP": …} if it did not come to an end. The submission's own tests
    and steps are not used.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in _LOOP_FILES:
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            shutil.copy(kit_folder() / "features" / name, Path(folder) / name)
        report = Path(folder) / "report.json"
        command = [
            sys.executable,
            "-m",
            "behave",
            "--no-summary",
            "-f",
            "json",
            "-o",
            str(report),
            "-D",
            f"loop={agent}",
        ]
        process = subprocess.Popen(
            [*command, folder],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return {"LOOP": f"no end after {seconds:.0f} s"}
        finally:
            _end(process)
        try:
            features: object = json.loads(report.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {"LOOP": "behave wrote no report"}
    scenarios = [
        as_object(each) for feature in as_list(features) for each in as_list(as_object(feature).get("elements"))
    ]
    found: dict[str, str] = {}
    for scenario in scenarios:
        ident = str(scenario.get("name")).split(":")[0]
        if found.get(ident, "passed") == "passed":
            found[ident] = _outcome(scenario)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _outcome(scenario: Mapping[str, object]) -> str:
    if scenario.get("status") == "passed":
        return "passed"
    results = [as_object(as_object(step).get("result")) for step in as_list(scenario.get("steps"))]
    said = next((result["error_message"] for result in results if result.get("error_message")), "failed")
    lines = [str(line) for line in as_list(said)] or str(said).splitlines()
    return lines[0].removeprefix("ASSERT FAILED: ") if lines else "failed"
