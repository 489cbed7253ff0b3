"""Steps about the dispatcher: the runner, its sessions, its tools."""

import contextlib
import gc
import itertools
import json
from collections.abc import Sequence

from behave import given, then, when
from behave.runner import Context
from cli_steps import folder

import hadr_agent.agent
from hadr_agent.provider import Message
from hadr_agent.scripted import ScriptedProvider, Turn, TurnForm
from hadr_agent.transcript import Transcript, load
from hadr_dispatch import runner as runner_room
from hadr_dispatch.officer import HANDOVER, Officer
from hadr_dispatch.plan import Person, Plan
from hadr_dispatch.runner import Runner
from hadr_dispatch.scenario import load_scenario
from hadr_dispatch.session import Session
from hadr_dispatch.world import World

_BAD: dict[str, TurnForm] = {
    "says nothing": "",
    "only thinks": {"think": "Hm."},
    "calls an unknown tool": {"calls": [{"name": "next_tick"}]},
    "never stops calling tools": {"calls": [{"name": "travel_time", "arguments": {"unit": "A1", "place": "Nowhere"}}]},
    "gives 50 impossible orders": {
        "calls": [{"name": "assign", "arguments": {"unit": "Z9", "target": "Moon", "reason": "?"}}] * 50
    },
}
_FAULT: TurnForm = {"fault": {"status": 500, "headers": {"x-should-retry": "false"}}}


class Killed(BaseException):
    """As if the process had ended here."""


class _Same:
    """Answers every history with the same turn."""

    def __init__(self, form: TurnForm) -> None:
        self._form = form

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        return Turn.of(self._form, len(messages))


def _offline(session: Session, **options: object) -> tuple[Runner, ScriptedProvider]:
    runner = Runner(session, "You dispatch.", **options)
    return runner, ScriptedProvider(Officer(runner.desk))


def _to_the_end(runner: Runner, provider: ScriptedProvider) -> str:
    while not runner.world.over:
        runner.tick(provider)
    runner.session.close()
    return runner.world.hash


@when("the dispatcher's runner is loaded")
def step_runner(context: Context) -> None:
    context.found = runner_room.agent_loop


@then("its agent_loop is the very object of hadr_agent.agent")
def step_same(context: Context) -> None:
    assert context.found is hadr_agent.agent.agent_loop, f"expected hadr_agent's agent_loop, found {context.found}"


@given("an operation of {name} whose model {does}")
def step_operation(context: Context, name: str, does: str) -> None:
    context.runner = Runner(Session.open(load_scenario(name), 0), "You dispatch.")
    context.provider = ScriptedProvider(_Same(_BAD[does]) if does in _BAD else [_FAULT, _FAULT, "All is well."])


@when("the runner makes {count:d} ticks")
def step_ticks(context: Context, count: int) -> None:
    for _ in range(count):
        with contextlib.suppress(hadr_agent.ProviderError):
            context.runner.tick(context.provider)


@then("the world is at tick {tick:d}")
def step_at(context: Context, tick: int) -> None:
    assert context.runner.world.tick == tick, f"expected tick {tick}, found {context.runner.world.tick}"


@then("the log has one line for each tick")
def step_log(context: Context) -> None:
    world = context.runner.world
    found = [line["tick"] for line in world.log[1:]]
    assert found == list(range(1, world.tick + 1)), f"expected a line for each of {world.tick} ticks, found {found}"


@when("SURGE is dispatched offline with seed {seed:d}")
def step_offline(context: Context, seed: int) -> None:
    context.runner, context.provider = _offline(Session.open(load_scenario("SURGE"), seed))
    _to_the_end(context.runner, context.provider)


@then("each request begins with the messages of the one before and the turn that answered it")
def step_prefix(context: Context) -> None:
    requests = context.provider.requests
    broken = [str(request.cache_break) for request in requests if request.cache_break or request.status != 200]
    assert len(requests) > 40 and not broken, f"expected over 40 unbroken requests, found {len(requests)}: {broken[:1]}"
    for one, other in itertools.pairwise(requests):
        assert other.raw.startswith(one.raw[:-2]), f"request {other.number} does not begin with the bytes before it"


@then("at least {share:d} percent of what was sent again is counted as cached")
def step_cached(context: Context, share: int) -> None:
    effort = context.runner.effort
    found = 100 * effort.usage.cached_tokens / effort.resent
    assert found >= share, f"expected at least {share} percent, found {found:.1f}"


@given("an operation of SURGE with seed 7 that is kept in a file")
def step_kept(context: Context) -> None:
    context.file = folder(context) / "op.jsonl"
    context.whole = _to_the_end(*_offline(Session.open(load_scenario("SURGE"), 7)))


@given("its model fails with status {status:d} at two of its wakes, and its histories have {tokens:d} tokens")
def step_failing(context: Context, status: int, tokens: int) -> None:
    runner, provider = _offline(Session.open(load_scenario("SURGE"), 7, context.file), history_tokens=tokens)
    context.asked = set()

    class Failing:
        def complete(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> object:
            tick = runner.world.tick
            if len(context.asked) in (3, 9) and tick not in context.asked:
                context.asked.add(tick)
                raise hadr_agent.ProviderError("overloaded", status)
            context.asked.add(tick)
            return provider.complete(messages, tools)

    _to_the_end(runner, Failing())


def _killed_at(context: Context, request: int | None = None, tick: int | None = None) -> None:
    """Run until the provider gets a certain request (of this process, or the second one of a tick), and die there."""
    runner, provider = _offline(Session.open(load_scenario("SURGE"), 7, context.file))
    asked = []

    class Dying:
        def complete(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> object:
            asked.append(runner.world.tick)
            if len(asked) == request or (tick is not None and asked.count(tick) == 2):
                raise Killed
            return provider.complete(messages, tools)

    try:
        while not runner.world.over:
            runner.tick(Dying())
    except Killed:
        pass
    context.over = runner.world.over
    runner.session.close()


@when("it is killed {where} and resumed until it is over")
def step_kill(context: Context, where: str) -> None:
    if where == "before its first request":
        _killed_at(context, request=1)
    elif where == "after every request":
        context.over = False
        while not context.over:
            _killed_at(context, request=2)
    else:
        tick = next(tick for tick in range(7, 30) if _asks_twice(tick))
        _killed_at(context, tick=tick)
        if "written" in where:
            with context.file.open("ab") as file:
                file.write(b'{"tick": 8, "orders": [')
    context.found = _to_the_end(*_offline(Session.open(load_scenario("SURGE"), 7, context.file)))


def _asks_twice(tick: int) -> bool:
    runner, provider = _offline(Session.open(load_scenario("SURGE"), 7))
    while runner.world.tick < tick:
        runner.tick(provider)
    before = len(provider.requests)
    runner.tick(provider)
    return len(provider.requests) - before == 2


@then("it ends with the hash of the operation that was never killed")
def step_hash(context: Context) -> None:
    lines = [json.loads(line) for line in context.file.read_bytes().splitlines()]
    ticks = [line["tick"] for line in lines[1:]]
    assert ticks == list(range(1, 49)), f"expected each tick once in the file, found {ticks}"
    assert context.found == context.whole, f"expected {context.whole}, found {context.found}"


@when("it is dispatched with histories of {tokens:d} tokens")
def step_small(context: Context, tokens: int) -> None:
    session = Session.open(load_scenario("SURGE"), 7, context.file)
    context.found = _to_the_end(*_offline(session, history_tokens=tokens))
    context.histories = [load(path) for path in sorted(context.file.parent.glob("op.history-*.jsonl"))]


@then("there are several histories, each with the system prompt first")
def step_histories(context: Context) -> None:
    heads = [history[0]["content"] for history in context.histories]
    assert len(heads) > 1 and set(heads) == {"You dispatch."}, f"expected several, each with the prompt, found {heads}"


@then("each but the first begins with the handover that the one before ends with")
def step_handover(context: Context) -> None:
    for one, other in itertools.pairwise(context.histories):
        assert one[-2]["content"] == HANDOVER, f"expected to be asked for a handover, found {one[-2]}"
        assert one[-1]["content"] in other[1]["content"], f"expected {one[-1]['content']!r} in {other[1]['content']!r}"


@when("everything that can be reached from the dispatcher's tools is collected")
def step_reach(context: Context) -> None:
    context.runner, _ = _offline(Session.open(load_scenario("CYCLONE"), 7))
    ahead = [tool.function for tool in context.runner.tools._tools.values()]
    ahead = [cell.cell_contents for function in ahead for cell in function.__closure__ or ()]
    seen: dict[int, object] = {}
    while ahead:
        thing = ahead.pop()
        if id(thing) not in seen and not isinstance(thing, type) and type(thing).__name__ not in ("module", "function"):
            seen[id(thing)] = thing
            ahead += gc.get_referents(thing)
    context.reached = list(seen.values())


@then("there is no world, no plan and no person among it")
def step_no_world(context: Context) -> None:
    found = [thing for thing in context.reached if isinstance(thing, World | Plan | Person | Transcript)]
    assert len(context.reached) > 100 and not found, (
        f"expected no world among {len(context.reached)}, found {found[:1]}"
    )


@then("the world is where it was after every tool has been called")
def step_called(context: Context) -> None:
    runner, before = context.runner, context.runner.world.result()
    calls = {
        "travel_time": {"unit": "R1", "place": "Pier"},
        "assign": {"unit": "R1", "target": "I01", "reason": "?"},
        "recall": {"unit": "R1"},
        "note": {"incident": "I01", "text": "?"},
        "send_supplies": {"unit": "T1", "place": "Pier", "water": 5, "shelter": 0, "reason": "?"},
    }
    offered = {spec["function"]["name"] for spec in runner.tools.specs}
    assert calls.keys() == offered, f"expected a call of each tool, {sorted(offered)}; found {sorted(calls)}"
    for name, arguments in calls.items():
        function = {"name": name, "arguments": json.dumps(arguments)}
        text = runner.tools.run({"id": "1", "type": "function", "function": function}).text
        assert not text.startswith("Error"), f"expected {name} to answer, found {text}"
    assert runner.world.result() == before, f"expected {before}, found {runner.world.result()}"


@then("stderr says {words:json} twice")
def step_says_twice(context: Context, words: str) -> None:
    found = context.stderr.count(words)
    assert found == 2, f"expected {words!r} twice, found it {found} times in {context.stderr!r}"
