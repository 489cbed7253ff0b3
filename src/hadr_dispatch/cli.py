"""The dispatcher's command line: `hadr-dispatch run`, `scenarios`, `check` and `eval`.

Exit codes: 0 done, 2 usage or configuration, 3 a session that cannot be written or a replay that comes to another
world, 4 provider error, 130 interrupted.
The parts are imported when they are needed, so that --help is there at once.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING

from hadr_agent.command import DONE, INTERRUPTED, PROVIDER, UNFINISHED, USAGE, Parser, UsageError, complain, run, say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hadr_agent.provider import Provider
    from hadr_dispatch.board import Board
    from hadr_dispatch.evaluate import Row, Standing
    from hadr_dispatch.runner import Runner
    from hadr_dispatch.scenario import Scenario
    from hadr_dispatch.score import Effort
    from hadr_dispatch.world import World

OFFLINE = "offline: a stand-in dispatches by the rule triage; OPENAI_API_KEY connects a model"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    return run("hadr-dispatch", lambda: _command(argv))


def _command(argv: Sequence[str] | None) -> int:
    options = _parser().parse_args(argv)
    return {"run": _run, "scenarios": _scenarios, "check": _check, "eval": _eval}[options.command](options)


def _complain(text: str, code: int = DONE) -> int:
    return complain("hadr-dispatch", text, code)


def _parser() -> Parser:
    from hadr_agent.workers import add_options, positive

    parser = Parser(prog="hadr-dispatch", description="Relief operations, and how well policies dispatch them.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run one operation, and report")
    run.add_argument("scenario", metavar="SCENARIO", help="a name, or a TOML file")
    run.add_argument("--policy", default="agent", metavar="NAME", help="agent or a rule of eval (default: agent)")
    run.add_argument("--seed", type=_seed, metavar="N", help="what is drawn (default: the session's, or 0)")
    run.add_argument("--max-rounds", type=positive, default=6, metavar="N", help="of one wake (default: 6)")
    run.add_argument("--model", help="the model (default: HADR_MODEL)")
    run.add_argument("--session", type=_file, metavar="FILE", help="keep the operation in this file, or go on with it")
    run.add_argument("--history-tokens", type=_tokens, default=100_000, metavar="N", help="hand a longer one over")
    run.add_argument("--replay", type=_file, metavar="FILE", help="play a session again, its turns in place of a model")
    run.add_argument("--json", action="store_true", help="print one JSON document")
    run.add_argument("--html", type=_file, metavar="OUT", help="write the report as a page, with a map and a timeline")
    commands.add_parser("scenarios", help="list the scenarios")
    check = commands.add_parser("check", help="check scenario files")
    check.add_argument("files", nargs="+", metavar="FILE", help="a TOML file")
    compare = commands.add_parser("eval", help="compare policies on the same seeds")
    compare.add_argument("--policies", metavar="NAMES", help="with commas (default: all rules)")
    compare.add_argument("--scenarios", default="SURGE", metavar="NAMES", help="with commas (default: SURGE)")
    compare.add_argument("--seeds", type=_seeds, default="0-29", help="such as 3, 1,2,5 or 0-29 (default: 0-29)")
    add_options(compare)
    compare.add_argument("--against", type=_file, metavar="FILE", help="compare with the rows of an earlier --csv too")
    compare.add_argument("--csv", type=_file, metavar="OUT", help="write a row for each operation")
    compare.add_argument("--plot", type=_file, metavar="OUT", help="write the scores as an SVG")
    compare.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _file(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must name a file")
    return text


def _tokens(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 999 and len(text) < 10):
        raise argparse.ArgumentTypeError(f"must be 1000 or more, not {text[:40]!r}")
    return int(text)


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"must be a number from 0 on, not {text[:40]!r}")
    return int(text)


def _seeds(text: str) -> list[int]:
    seeds: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last < first + 100_000:
            raise argparse.ArgumentTypeError(f"must be such as 3, 1,2,5 or 0-29, not {text[:40]!r}")
        seeds += range(first, last + 1)
    return seeds


def _scenario(name: str) -> Scenario:
    from hadr_dispatch.scenario import ScenarioError, load_scenario

    try:
        return load_scenario(name)
    except ScenarioError as error:
        raise UsageError(str(error)) from error


def _parts(scenario: Scenario) -> str:
    incidents = len(scenario.incidents) + scenario.draws.incidents
    return f"{scenario.ticks} ticks, {len(scenario.places)} places, {len(scenario.units)} units, {incidents} incidents"


def _run(options: argparse.Namespace) -> int:
    from pathlib import Path

    from hadr_dispatch.board import Board
    from hadr_dispatch.page import page
    from hadr_dispatch.policies import RULES
    from hadr_dispatch.report import as_document, as_text
    from hadr_dispatch.score import outcome
    from hadr_dispatch.session import histories
    from hadr_dispatch.world import World

    scenario = _scenario(options.scenario)
    if options.policy != "agent" and options.policy not in RULES:
        raise UsageError(f"unknown policy {options.policy!r} in --policy. There are: agent, {', '.join(RULES)}")
    used = [Path(name) for name in (options.session, options.replay) if name]
    _apart(options.html, options.scenario, *used, *(file for path in used for file in histories(path)))
    if options.html:
        _write(options.html, None)  # before a long run, not after it
    board = Board(options.max_rounds)
    if options.policy == "agent":
        world, effort, code = (_replay if options.replay else _dispatch)(options, scenario, board)
    else:
        if options.session or options.replay or options.model:
            raise UsageError("--session, --replay and --model are for --policy agent; a rule needs none of them")
        world, effort, code = RULES[options.policy](scenario, options.seed or 0), None, DONE
        with board:
            for each in World.retrace(scenario, world.log) if board.is_watched else ():
                board.show(each)
    found = outcome(options.policy, world, effort)
    if options.html:  # before what is printed: whoever reads that may leave
        _write(options.html, page(world, found))
    told = json.dumps(as_document(world, found), indent=2) if options.json else as_text(world, found)
    say("hadr-dispatch", told if options.json or not sys.stdout.isatty() else _wrapped(told))
    return code


def _wrapped(text: str) -> str:
    """The report with its lines broken between words, as wide as the terminal."""
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    indent = " " * min(14, width // 3)
    lines = [textwrap.wrap(line, width, subsequent_indent=indent) or [""] for line in text.splitlines()]
    return "\n".join("\n".join(parts) for parts in lines)


def _dispatch(options: argparse.Namespace, scenario: Scenario, board: Board) -> tuple[World, Effort, int]:
    """Let an agent dispatch: the model that the settings name, or offline the stand-in."""
    from pathlib import Path

    from hadr_agent.settings import SettingsError, load_settings
    from hadr_agent.transcript import SessionError
    from hadr_dispatch.dispatcher import provider_of, system_prompt
    from hadr_dispatch.runner import Runner
    from hadr_dispatch.session import OperationError, Session

    try:
        settings = load_settings(options.model)
        session = Session.open(scenario, options.seed, Path(options.session) if options.session else None)
        runner = Runner(
            session,
            system_prompt(),
            max_rounds=options.max_rounds,
            history_tokens=options.history_tokens,
            on_event=board.on_event,
            notice=_complain,
        )
        provider = provider_of(settings, runner.desk, _complain)
    except (SettingsError, OperationError, SessionError, ValueError) as error:
        raise UsageError(str(error)) from error
    for notice in session.notices:
        _complain(notice)
    if settings.offline:
        _complain(OFFLINE)
    code = _play(runner, provider, board, scenario.ticks)
    if code and options.session:
        _complain(f"{options.session} keeps what was done; the same command goes on from there")
    elif code:
        _complain("with --session FILE, what was done is kept, and the same command goes on from there")
    return session.world, runner.effort, code


def _replay(options: argparse.Namespace, scenario: Scenario, board: Board) -> tuple[World, Effort, int]:
    """Play a session again, in memory: what it holds of the model's turns, and the real tools."""
    from pathlib import Path

    from hadr_agent.scripted import ScriptedProvider
    from hadr_agent.transcript import SessionError
    from hadr_dispatch.dispatcher import system_prompt
    from hadr_dispatch.officer import Recorded
    from hadr_dispatch.runner import Runner
    from hadr_dispatch.session import FAILED, OperationError, Session, recorded

    if options.session or options.seed is not None or options.model:
        raise UsageError("--replay plays an operation as it was; leave out --session, --seed and --model")
    try:
        before, wakes, told = recorded(scenario, Path(options.replay))
    except (OperationError, SessionError) as error:
        raise UsageError(str(error)) from error
    session, no_limit = Session.open(scenario, before.seed), sys.maxsize
    runner = Runner(
        session,
        system_prompt(),
        max_rounds=no_limit,
        history_tokens=no_limit,
        patience=no_limit,
        on_event=board.on_event,
        notice=_complain,
    )
    world, failed = session.world, {wake.tick - 1 for wake in wakes if wake.stop == FAILED}
    code = _play(runner, ScriptedProvider(Recorded(runner.desk, told, failed)), board, before.tick)
    if not code:
        code, same = (DONE, "as it was") if world.hash == before.hash else (UNFINISHED, "another than was")
        _complain(f"replay: at tick {world.tick} the world is {same} recorded in {options.replay}")
    return world, runner.effort, code


def _play(runner: Runner, provider: Provider, board: Board, end: int) -> int:
    """Run the operation up to a tick. Returns the exit code."""
    from hadr_agent.provider import ProviderError
    from hadr_agent.transcript import SessionError
    from hadr_dispatch.session import OperationError

    world = runner.world
    try:
        with board:
            board.show(world)
            while world.tick < end:
                runner.tick(provider)
                board.show(world)
    except ProviderError as error:
        return _complain(f"stopped at tick {world.tick}: {error}", PROVIDER)
    except (OperationError, SessionError) as error:
        return _complain(str(error), UNFINISHED)
    except KeyboardInterrupt:
        return _complain(f"interrupted at tick {world.tick}", INTERRUPTED)
    finally:
        runner.session.close()
    return DONE


def _scenarios(options: argparse.Namespace) -> int:
    from hadr_dispatch.scenario import scenario_names

    for name in scenario_names():
        scenario = _scenario(name)
        say("hadr-dispatch", f"{scenario.id:<12} {scenario.title} ({_parts(scenario)})")
    return DONE


def _check(options: argparse.Namespace) -> int:
    from hadr_dispatch.scenario import ScenarioError, load_scenario

    code = DONE
    for name in options.files:
        try:
            say("hadr-dispatch", f"{name}: a scenario that can be played ({_parts(load_scenario(name))})")
        except ScenarioError as error:
            code = USAGE
            say("hadr-dispatch", str(error))
    return code


def _eval(options: argparse.Namespace) -> int:
    from hadr_agent.settings import SettingsError, load_settings
    from hadr_agent.workers import WorkersError, workers
    from hadr_dispatch.dispatcher import by_agent
    from hadr_dispatch.evaluate import (
        PLAYS,
        EvaluateError,
        Missing,
        as_csv,
        check_comparable,
        evaluate,
        plot,
        read_csv,
        summary,
        together,
    )

    plays = {**PLAYS, "agent": by_agent}
    policies = [name.strip() for name in options.policies.split(",")] if options.policies is not None else list(PLAYS)
    if unknown := [name for name in policies if name not in plays]:
        raise UsageError(f"unknown policy {unknown[0]!r} in --policies. There are: {', '.join(plays)}")
    scenarios = list(dict.fromkeys(_scenario(name.strip()) for name in options.scenarios.split(",")))
    if len({scenario.id for scenario in scenarios}) < len(scenarios):
        raise UsageError("two different scenarios of --scenarios have the same id; give one of them another")
    _apart(options.csv, options.plot, options.against, *options.scenarios.split(","))
    _apart(options.plot, options.against, *options.scenarios.split(","))
    earlier: list[Row] = []
    rows: list[Row] = []
    missing: list[Missing] = []
    try:
        if "agent" in policies and load_settings().offline:
            _complain(OFFLINE)
        if options.against is not None:
            earlier = read_csv(_read(options.against), options.against)
            check_comparable(earlier, scenarios, options.against)
        for out in filter(None, (options.csv, options.plot)):
            _write(out, None)  # before a long run, not after it
        with workers(options.jobs, options.cluster) as executor:
            for found in evaluate({name: plays[name] for name in policies}, scenarios, options.seeds, executor):
                _count_up(len(rows) + len(missing) + 1)
                if isinstance(found, Missing):
                    missing.append(found)
                else:
                    rows.append(found)
        _count_up(0)
        all_rows = together(rows, earlier, options.against or "")
    except (SettingsError, EvaluateError, WorkersError) as error:
        raise UsageError(str(error)) from error
    finally:
        if options.csv and rows:
            _write(options.csv, as_csv(rows))  # the rows so far, in their order, whatever else happens
    if options.plot:
        _write(options.plot, plot(all_rows))
    say("hadr-dispatch", _document(all_rows) if options.json else summary(all_rows))
    for policy in dict.fromkeys(each.policy for each in missing):
        reasons = [each.why for each in missing if each.policy == policy]
        count = f"{len(reasons)} of its operations could not be finished and count for nothing"
        _complain(f"{policy}: {count}; {reasons[0]}")
    return PROVIDER if missing else DONE


def _count_up(done: int) -> None:
    """At a terminal, how many operations are done; 0 takes the line away."""
    if sys.stderr and sys.stderr.isatty():
        print(f"\r{done} operations played" if done else "\r\x1b[K", end="", file=sys.stderr, flush=True)


def _read(name: str) -> str:
    from pathlib import Path

    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not text in UTF-8: {error}") from error


def _apart(out: str | None, *used: str | Path | None) -> None:
    """Refuse to write over a file that the same command reads or writes otherwise."""
    from pathlib import Path

    if out and Path(out).resolve() in [Path(name).resolve() for name in used if name]:
        raise UsageError(f"{out} would be written over: name another file")


def _write(name: str, text: str | None) -> None:
    """Write a file; without a text, only see whether it could be written."""
    from pathlib import Path

    path = Path(name)
    try:
        if text is not None:
            path.write_text(text, encoding="utf-8")
        elif path.exists():
            path.open("a").close()
        else:
            path.touch()
            path.unlink()
    except OSError as error:
        raise UsageError(f"{name} cannot be written: {error.strerror}") from error


def _document(rows: Sequence[Row]) -> str:
    from dataclasses import asdict

    from hadr_dispatch.evaluate import standings

    def shown(each: Standing) -> dict[str, object]:
        return {"policy": each.policy, "seeds": len(each.rows), "score": each.score, "error": each.error}

    tables = {name: [shown(each) for each in table] for name, table in standings(rows).items()}
    return json.dumps({"version": 1, "scenarios": tables, "rows": [asdict(row) for row in rows]}, indent=2)


if __name__ == "__main__":
    sys.exit(main())
