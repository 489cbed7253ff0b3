"""Does a scenario fail when a piece of agent.py is changed? Measured: which of such mutants LOOP and STOP kill.
Not measured: other rooms, other features, several changes at once, types, and whether a scenario is needed.

    uv run --with mutmut==3.8.1 python benchmarks/mutants.py [--jobs 2]

Mutants are made by mutmut's operators (numbers, texts, comparisons, arguments, ternaries …) and by `_more_changes`.
mutmut's runner is not used: it knows only pytest. A mutant is put to the test in a fork of a process that has imported
all but the loop and the steps, by all scenarios, though one would do to kill it. One that hangs is killed by the
scenario that it hangs in, one that cannot be imported is none. A survivor must stand in EQUIVALENT, with the reason
why nobody could tell it from the original. Else, or if what stands there is no survivor, the exit code is 1.
"""

import argparse
import ast
import importlib
import linecache
import multiprocessing
import os
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import libcst as cst
from behave.configuration import Configuration
from behave.parser import parse_file
from behave.runner import ModelRunner
from mutmut.mutation.mutators import mutation_operators

import hadr_agent

ROOT = Path(__file__).parents[1]
AGENT = ROOT / "src/hadr_agent/agent.py"
FEATURES = ["features/agent_loop.feature", "features/outcome.feature", "features/project.feature"]
NAMES = "^(LOOP-|STOP-|PROJECT-7)"  # PROJECT-7 has what the loop refuses before its first round
STEPS = ["loop_steps", "outcome_steps", "provider_steps", "project_steps"]
PATIENCE = 20.0  # seconds for a mutant; the scenarios take a fraction of one

_MODES = ['mode="python", ', "", *(f"mode={mode}, " for mode in ("None", '"XXpythonXX"', '"PYTHON"'))]
_WHY = "python is the default, and pydantic takes every mode but json for it"
_SAME = [  # a line, what stands in its {} and what may stand there instead, why nobody could tell
    ("tell: Callable[[Event], object] = on_event or (lambda event: {})", ["None", "0"], "nobody asks what it returns"),
    ('result, cut_offs = LoopResult("", {}, "max_rounds", None, Usage(), messages), 0', ["0", "None", "1", "-1"],
     "there is a first round, and it puts its number there"),
    ("calls: list[ToolCall] = [call.to_dict({}warnings=False) for call in message.tool_calls or []]", _MODES, _WHY),
    ('turn: Message = {{"role": message.role, **message.to_dict({}warnings=False)}}', _MODES, _WHY),
    ('turn: Message = {{{}**message.to_dict(mode="python", warnings=False)}}', ['"role": message.role, ', ""],
     "the SDK's messages have a role; this puts it first, for people, and a JSON object has no order"),
    ('if reason := "cut_off" if cut_offs {} 3 else stop_when and stop_when(result):', ["==", ">="], "it ends at 3"),
    ('return raw if {}arguments_problem(raw) is None else "{{}}"', ["isinstance(raw, str) and ", "", "raw and "],
     "for all that is no text, `arguments_problem` names one"),
]  # fmt: skip
EQUIVALENT = {(line.format(own), line.format(other)): why for line, (own, *others), why in _SAME for other in others}


@dataclass
class Mutant:
    """A changed agent.py, where it differs, and which scenarios failed."""

    source: str
    line: int = 0
    change: tuple[str, str] = "", ""  # the lines before and after
    failed: tuple[str, ...] = ()


# --- the mutants


def _more_changes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What mutmut's operators lack."""
    if isinstance(node, cst.SimpleStatementLine | cst.If | cst.For | cst.Try):
        yield cst.SimpleStatementLine([cst.Pass()], leading_lines=node.leading_lines)
    if isinstance(node, cst.If):
        test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))
        yield node.with_changes(test=cst.BooleanOperation(test, cst.And(), cst.Name("False")))
        yield node.with_changes(test=cst.BooleanOperation(test, cst.Or(), cst.Name("True")))
    if isinstance(node, cst.BooleanOperation | cst.BinaryOperation):
        yield from (node.left, node.right)
    if isinstance(node, cst.ComparisonTarget) and not isinstance(node.operator, cst.Is | cst.IsNot):
        for sign in (cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual):
            yield node.with_changes(operator=sign())
    if isinstance(node, cst.Integer):
        yield cst.parse_expression(str(node.evaluated_value - 1))
    if isinstance(node, cst.Return):
        yield node.with_changes(value=cst.Name("None"))
    if isinstance(node, cst.Slice):
        yield from (node.with_changes(lower=None), node.with_changes(upper=None))
    if isinstance(node, cst.Param):
        yield node.with_changes(default=None, equal=cst.MaybeSentinel.DEFAULT)
    if isinstance(node, cst.Dict):
        yield from (node.with_changes(elements=[e for e in node.elements if e is not left]) for left in node.elements)
    if isinstance(node, cst.Call):
        yield from [node.args[0].value] if node.args else []
        yield from [node.func.value] if isinstance(node.func, cst.Attribute) else []
        for at, (one, other) in enumerate(pairwise(node.args)):
            if not (one.keyword or other.keyword):
                yield node.with_changes(args=[*node.args[:at], other, one, *node.args[at + 2 :]])


def _nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """All nodes but those of types, imports and docstrings."""
    match node:
        case cst.SimpleStatementLine([cst.ImportFrom() | cst.Expr(cst.SimpleString())]) | cst.Annotation():
            return
        case cst.Call(cst.Name("cast"), [_, value]):
            yield from _nodes(value)
        case _:
            yield node
            for child in node.children:
                yield from _nodes(child)


def _mutants(source: str) -> Iterator[Mutant]:
    module, seen, lines = cst.parse_module(source), {ast.dump(ast.parse(source))}, source.splitlines()
    operators = [*mutation_operators, (cst.CSTNode, _more_changes)]
    for node in _nodes(module):
        for change in (change for kind, operator in operators if isinstance(node, kind) for change in operator(node)):
            changed = cst.ensure_type(module.deep_replace(node, change), cst.Module).code
            try:
                meaning = ast.dump(ast.parse(changed))
            except SyntaxError:
                continue
            if meaning not in seen:
                seen.add(meaning)
                yield Mutant(changed, *_difference(lines, changed.splitlines()))


def _difference(old: Sequence[str], new: Sequence[str]) -> tuple[int, tuple[str, str]]:
    blocks = [block for block in SequenceMatcher(None, old, new, False).get_opcodes() if block[0] != "equal"]
    (_, start, _, new_start, _), (_, _, end, _, new_end) = blocks[0], blocks[-1]
    before, after = (" ⏎ ".join(map(str.strip, part)) for part in (old[start:end], new[new_start:new_end]))
    return start + 1, (before, after)


# --- the test of one


def _run_scenarios(source: str, tell: Callable[[str, str], object]) -> None:
    """Tell what becomes of each scenario: its status and its id."""
    sys.modules["hadr_agent.agent"] = hadr_agent.agent = module = ModuleType("hadr_agent.agent")
    module.__file__ = str(AGENT)
    linecache.cache[str(AGENT)] = (len(source), None, source.splitlines(keepends=True), str(AGENT))  # for LOOP-9
    try:
        exec(compile(source, AGENT, "exec"), vars(module))
    except Exception:
        return tell("no mutant", "")

    for name in STEPS:
        importlib.import_module(name)
    features = [parse_file(str(ROOT / path)) for path in FEATURES]
    runner = ModelRunner(Configuration(["--no-summary", "--name", NAMES], load_config=False), features)
    runner.config.reporters = []
    runner.hooks["before_scenario"] = lambda _, scenario: tell("begun", scenario.name.split(":")[0])
    runner.hooks["after_scenario"] = lambda _, scenario: tell(scenario.status.name, scenario.name.split(":")[0])
    runner.run()
    return tell("finished", "")


def _tried(mutant: Mutant) -> Mutant | None:
    """Run the scenarios against it, in a process of its own. None if it cannot be imported."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            _run_scenarios(mutant.source, lambda *said: os.write(writing, f"{'|'.join(said)}\n".encode()))
        finally:
            os._exit(0)
    os.close(writing)
    said, more, until = b"begun|import\n", b"more", time.monotonic() + PATIENCE
    while more and select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        said += (more := os.read(reading, 1 << 16))
    os.kill(child, signal.SIGKILL)  # it is not reaped yet, so this cannot reach anybody else
    os.waitpid(child, 0)
    os.close(reading)
    *events, (end, where) = [line.split("|") for line in said.decode().splitlines()]
    failed = [name for status, name in events if status not in ("begun", "passed")]
    failed += [] if end in ("finished", "no mutant") else [f"{where} ({'hangs' if more else 'ends the process'})"]
    mutant.failed = tuple(dict.fromkeys(failed))
    return None if end == "no mutant" else mutant


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (default: %(default)s)")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "features"), str(ROOT / "features/steps")]
    for name in ("environment", "hadr_agent.scripted", "hypothesis.strategies"):  # so that no fork has to
        importlib.import_module(name)
    source, start = AGENT.read_text(), time.perf_counter()
    if (original := _tried(Mutant(source))) is None or original.failed:
        sys.exit(f"The original itself fails: {original and original.failed}")
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        found = [mutant for mutant in pool.map(_tried, _mutants(source), chunksize=4) if mutant]
    survivors = [mutant for mutant in found if not mutant.failed]
    kills = Counter(name for mutant in found for name in mutant.failed)
    alone = Counter(mutant.failed[0] for mutant in found if len(mutant.failed) == 1)
    print("scenario   kills   no other kills")
    for name in sorted(kills):
        print(f"{name:8} {kills[name]:7} {alone[name]:16}")
    for mutant in survivors:
        why = EQUIVALENT.get(mutant.change)
        print(f"\nagent.py:{mutant.line} {f'equivalent: {why}' if why else 'SURVIVED'}")
        print(f"  - {mutant.change[0]}\n  + {mutant.change[1]}")
    for before, after in (unfound := EQUIVALENT.keys() - {mutant.change for mutant in survivors}):
        print(f"\nIn EQUIVALENT, but killed or not made\n  - {before}\n  + {after}")
    unlisted = [mutant for mutant in survivors if mutant.change not in EQUIVALENT]
    same = len(survivors) - len(unlisted)
    print(f"\n{len(found)} mutants in {time.perf_counter() - start:.0f} s; {same} are equivalent, and of the others:")
    for families in (("LOOP",), ("LOOP", "STOP"), ("LOOP", "STOP", "PROJECT-7")):
        killed = sum(any(name.startswith(families) for name in mutant.failed) for mutant in found)
        share = killed / (len(found) - same)
        print(f"{killed} killed by {' + '.join(families)}, {len(found) - same - killed} not ({share:.1%})")
    sys.exit(bool(unlisted or unfound))


if __name__ == "__main__":
    main()
