"""The dispatcher's command line: `hadr-dispatch run`, `scenarios`, `check` and `eval`.

Exit codes: 0 done, 2 usage or configuration, 3 a session that cannot be written, 4 provider error, 130 interrupted.
The parts are imported when they are needed, so that --help is there at once.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hadr_dispatch.evaluate import Row, Standing
    from hadr_dispatch.scenario import Scenario
    from hadr_dispatch.score import Effort
    from hadr_dispatch.world import World

DONE, USAGE, NOT_WRITTEN, PROVIDER, INTERRUPTED = 0, 2, 3, 4, 130


class UsageError(Exception):
    """What the user has to change, in one or two lines."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {message}\nSee {self.prog} --help.\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(argv)
    try:
        return {"run": _run, "scenarios": _scenarios, "check": _check, "eval": _eval}[options.command](options)
    except UsageError as error:
        return _complain(str(error), USAGE)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)


def _complain(text: str, code: int) -> int:
    from hadr_agent.display import printable

    print(f"hadr-dispatch: {printable(text)}", file=sys.stderr, flush=True)
    return code


def _parser() -> _Parser:
    parser = _Parser(prog="hadr-dispatch", description="Relief operations, and how well policies dispatch them.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run one operation, and report")
    run.add_argument("scenario", metavar="SCENARIO", help="a name, or a TOML file")
    run.add_argument("--policy", default="agent", metavar="NAME", help="agent or a rule of eval (default: agent)")
    run.add_argument("--seed", type=_seed, default=0, metavar="N", help="what is drawn (default: 0)")
    run.add_argument("--max-rounds", type=_positive, default=6, metavar="N", help="of one wake (default: 6)")
    run.add_argument("--model", help="the model (default: HADR_MODEL)")
    run.add_argument("--session", metavar="FILE", help="keep the operation in this file; go on with it if it is there")
    run.add_argument("--history-tokens", type=int, default=100_000, metavar="N", help="hand a longer history over")
    run.add_argument("--json", action="store_true", help="print one JSON document")
    commands.add_parser("scenarios", help="list the scenarios")
    check = commands.add_parser("check", help="check scenario files")
    check.add_argument("files", nargs="+", metavar="FILE", help="a TOML file")
    compare = commands.add_parser("eval", help="compare policies on the same seeds")
    compare.add_argument("--policies", metavar="NAMES", help="with commas (default: all rules)")
    compare.add_argument("--scenarios", default="SURGE", metavar="NAMES", help="with commas (default: SURGE)")
    compare.add_argument("--seeds", type=_seeds, default="0-29", help="such as 3, 1,2,5 or 0-29 (default: 0-29)")
    where = compare.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: one a processor)")
    where.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler, such as tcp://127.0.0.1:8786")
    compare.add_argument("--against", metavar="FILE", help="compare with the rows of an earlier --csv too")
    compare.add_argument("--csv", metavar="OUT", help="write a row for each operation")
    compare.add_argument("--plot", metavar="OUT", help="write the scores as an SVG")
    compare.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be 1 to 9999, not {text[:40]!r}")
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
    from hadr_dispatch.policies import RULES
    from hadr_dispatch.report import as_document, as_text
    from hadr_dispatch.score import outcome

    scenario = _scenario(options.scenario)
    if options.policy != "agent" and options.policy not in RULES:
        raise UsageError(f"unknown policy {options.policy!r} in --policy. There are: agent, {', '.join(RULES)}")
    code = DONE
    if options.policy == "agent":
        world, effort, code = _dispatch(options, scenario)
    else:
        world, effort = RULES[options.policy](scenario, options.seed), None
    found = outcome(options.policy, world, effort)
    print(json.dumps(as_document(world, found), indent=2) if options.json else as_text(world, found), flush=True)
    return code


def _dispatch(options: argparse.Namespace, scenario: Scenario) -> tuple[World, Effort, int]:
    """Let an agent dispatch: the model that the settings name, or offline the stand-in."""
    from pathlib import Path

    from hadr_agent.provider import OpenAIProvider, ProviderError, connect
    from hadr_agent.scripted import ScriptedProvider
    from hadr_agent.settings import SettingsError, load_settings, prompts_folder
    from hadr_agent.transcript import SessionError
    from hadr_dispatch.officer import Officer
    from hadr_dispatch.runner import OperationError, Runner, Session

    try:
        settings = load_settings(options.model)
        session = Session.open(scenario, options.seed, Path(options.session) if options.session else None)
    except (SettingsError, OperationError, SessionError) as error:
        raise UsageError(str(error)) from error

    def tell(text: str) -> None:
        _complain(text, DONE)

    prompt = (prompts_folder() / "dispatcher.md").read_text(encoding="utf-8").strip()
    runner = Runner(
        session,
        prompt,
        max_rounds=options.max_rounds,
        history_tokens=options.history_tokens,
        notice=tell,
    )
    if settings.offline:
        _complain("offline: a stand-in dispatches by the rule triage; OPENAI_API_KEY connects a model", DONE)
        provider = ScriptedProvider(Officer(runner.desk))
    else:
        client = connect(settings.base_url, settings.api_key or "none", tell)
        provider = OpenAIProvider(client, settings.model, drop_fields=settings.drop_fields)
    go_on = "the next time, --session FILE keeps what was done, so that it can go on"
    if options.session:
        go_on = f"the same command goes on from tick {{}}: it is kept in {options.session}"
    code = DONE
    try:
        while not session.world.over:
            runner.tick(provider)
    except ProviderError as error:
        code = _complain(f"stopped at tick {session.world.tick}: {error}", PROVIDER)
    except (OperationError, SessionError) as error:
        code = _complain(str(error), NOT_WRITTEN)
    except KeyboardInterrupt:
        code = _complain(f"interrupted at tick {session.world.tick}", INTERRUPTED)
    finally:
        session.close()
    if code:
        _complain(go_on.format(session.world.tick), code)
    return session.world, runner.effort, code


def _scenarios(options: argparse.Namespace) -> int:
    from hadr_dispatch.scenario import scenario_names

    for name in scenario_names():
        scenario = _scenario(name)
        print(f"{scenario.id:<12} {scenario.title} ({_parts(scenario)})")
    return DONE


def _check(options: argparse.Namespace) -> int:
    from hadr_dispatch.scenario import ScenarioError, load_scenario

    code = DONE
    for name in options.files:
        try:
            print(f"{name}: a scenario that can be played ({_parts(load_scenario(name))})")
        except ScenarioError as error:
            print(error)
            code = USAGE
    return code


def _eval(options: argparse.Namespace) -> int:
    from pathlib import Path

    from hadr_agent.workers import WorkersError, workers
    from hadr_dispatch.evaluate import PLAYS, EvaluateError, as_csv, evaluate, plot, read_csv, summary, together

    policies = [name.strip() for name in options.policies.split(",")] if options.policies is not None else list(PLAYS)
    if unknown := [name for name in policies if name not in PLAYS]:
        raise UsageError(f"unknown policy {unknown[0]!r} in --policies. There are: {', '.join(PLAYS)}")
    scenarios = [_scenario(name.strip()) for name in options.scenarios.split(",")]
    for out in filter(None, (options.csv, options.plot)):
        _write(out, None)  # before a long run, not after it
    earlier: list[Row] = []
    try:
        if options.against is not None:
            earlier = read_csv(Path(options.against).read_text(encoding="utf-8"), options.against)
        with workers(options.jobs, options.cluster) as executor:
            rows = evaluate(policies, scenarios, options.seeds, executor)
        all_rows = together(rows, earlier, options.against or "")
    except OSError as error:
        raise UsageError(f"{options.against} cannot be read: {error.strerror}") from error
    except (EvaluateError, WorkersError, UnicodeDecodeError) as error:
        raise UsageError(str(error)) from error
    for out, text in ((options.csv, as_csv(rows)), (options.plot, plot(all_rows))):
        if out:
            _write(out, text)
    print(_document(all_rows) if options.json else summary(all_rows))
    return DONE


def _write(name: str, text: str | None) -> None:
    """Write a file; without a text, only see whether it could be written."""
    from pathlib import Path

    try:
        if text is None:
            Path(name).open("a").close()
        else:
            Path(name).write_text(text, encoding="utf-8")
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
