"""The teacher's command line: `hadr-course start`, `hadr-course check` and `hadr-course verify`.

Exit codes: 0 all as it should be, 1 some submission or phase is not, 2 usage, 130 interrupted.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hadr_agent.command import Parser, run
from hadr_agent.workers import WorkersError, add_options, workers
from hadr_course.check import HEAD, Checked, as_csv, as_document, as_html, check_all, report, row
from hadr_course.start import PHASES, StartError, start, verify


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run("hadr-course", lambda: _command(argv))


def _command(argv: Sequence[str] | None) -> int:
    parser = Parser(prog="hadr-course", description="For teachers of the agent loop.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="check submissions: repositories, or files with an agent_loop")
    check.add_argument("paths", nargs="*", type=Path, default=[Path()], metavar="PATH", help="default: this folder")
    check.add_argument("--seconds", type=float, default=20, help="time limit for a submission (default: 20)")
    check.add_argument("--traceback", action="store_true", help="show the traceback of what a submission raised")
    check.add_argument("--json", action="store_true", help="print one JSON document")
    check.add_argument("--csv", type=Path, metavar="OUT", help="write the summary as CSV")
    check.add_argument("--html", type=Path, metavar="OUT", help="write the summary and the reports as one page")
    add_options(check)
    begin = commands.add_parser("start", help="write a student's repository")
    begin.add_argument("destination", type=Path, metavar="DEST", help="a new folder")
    begin.add_argument(
        "--phase", type=int, choices=PHASES, default=0, help="nothing, one model call, the loop (default: 0)"
    )
    begin.add_argument("--git", action="store_true", help="make it a git repository with a first commit")
    commands.add_parser("verify", help="prove that the starter of each phase is green and red where it should be")
    options = parser.parse_args(argv)
    if options.command == "start":
        return _start(parser, options)
    if options.command == "verify":
        return _verify()
    missing = [path for path in options.paths if not path.exists()]
    if missing:
        parser.exit(2, f"hadr-course: there is no {missing[0]}; name folders or files of submissions\n")
    try:
        with workers(options.jobs, options.cluster) as executor:
            found = list(check_all(options.paths, options.seconds, executor))
    except WorkersError as error:
        parser.exit(2, f"hadr-course: {error}\n")
    try:
        if options.csv:
            options.csv.write_text(as_csv(found), encoding="utf-8")
        if options.html:
            options.html.write_text(as_html(found), encoding="utf-8")
    except OSError as error:
        parser.exit(2, f"hadr-course: {error.filename} cannot be written: {error.strerror}\n")
    print(_shown(found, as_json=options.json, trace=options.traceback))
    return 0 if all(each.passed for each in found) else 1


def _start(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        start(options.destination, options.phase, git=options.git)
    except (StartError, OSError) as error:
        parser.exit(2, f"hadr-course: {error}\n")
    print(f"{options.destination} is there, at phase {options.phase}. Its README.md says how to go on.")
    return 0


def _verify() -> int:
    wrong = 0
    for phase, problems in verify():
        print(f"phase {phase}: {'as it should be' if not problems else '; '.join(problems)}", flush=True)
        wrong += len(problems)
    return 1 if wrong else 0


def _shown(found: Sequence[Checked], *, as_json: bool, trace: bool) -> str:
    if as_json:
        return json.dumps([as_document(each) for each in found], indent=2)
    if len(found) == 1:
        return report(found[0], trace=trace)
    rows = [HEAD, *map(row, found)]
    widths = [max(len(each[column]) for each in rows) for column in range(len(HEAD) - 1)]
    lines = ["  ".join([*map(str.ljust, each, widths), each[-1]]) for each in rows]
    passed = sum(each.passed for each in found)
    return "\n".join([*lines, f"{passed} of {len(found)} meet all requirements"])


if __name__ == "__main__":
    sys.exit(main())
