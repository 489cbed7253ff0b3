"""The teacher's command line: `hadr-course start`, `hadr-course check` and `hadr-course verify`.

Exit codes: 0 all as it should be, 1 some submission or phase is not, 2 usage, 3 the output cannot be written,
130 interrupted. The parts are imported when they are needed, so that --help is there at once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hadr_agent.command import DONE, Parser, UsageError, run, say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from hadr_course.check import Checked

NOT_AS_IT_SHOULD_BE = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run("hadr-course", lambda: _command(argv))


def _command(argv: Sequence[str] | None) -> int:
    from hadr_agent.workers import add_options
    from hadr_course.start import PHASES

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
    return {"check": _check, "start": _start, "verify": _verify}[options.command](options)


def _check(options: argparse.Namespace) -> int:
    from hadr_agent.workers import WorkersError, workers
    from hadr_course.check import as_csv, as_html, check_all

    missing = [path for path in options.paths if not path.exists()]
    if missing:
        raise UsageError(f"there is no {missing[0]}; name folders or files of submissions")
    try:
        with workers(options.jobs, options.cluster) as executor:
            found = list(check_all(options.paths, options.seconds, executor))
    except WorkersError as error:
        raise UsageError(str(error)) from error
    try:
        if options.csv:
            options.csv.write_text(as_csv(found), encoding="utf-8")
        if options.html:
            options.html.write_text(as_html(found), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written: {error.strerror}") from error
    say("hadr-course", _shown(found, as_json=options.json, trace=options.traceback))
    return DONE if all(each.passed for each in found) else NOT_AS_IT_SHOULD_BE


def _start(options: argparse.Namespace) -> int:
    from hadr_course.start import StartError, start

    try:
        start(options.destination, options.phase, git=options.git)
    except (StartError, OSError) as error:
        raise UsageError(str(error)) from error
    say(
        "hadr-course",
        f"{options.destination} is there, at phase {options.phase}. Its README.md says how to go on.",
    )
    return DONE


def _verify(options: argparse.Namespace) -> int:
    from hadr_course.start import verify

    wrong = 0
    for phase, problems in verify():
        say("hadr-course", f"phase {phase}: {'as it should be' if not problems else '; '.join(problems)}")
        wrong += len(problems)
    return NOT_AS_IT_SHOULD_BE if wrong else DONE


def _shown(found: Sequence[Checked], *, as_json: bool, trace: bool) -> str:
    from hadr_course.check import HEAD, as_document, report, row

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
