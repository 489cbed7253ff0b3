"""Steps about operations that are stopped, cut, mended and played again."""

import json
import resource
from collections.abc import Sequence
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from cli_steps import folder, step_model
from dispatch_steps import Killed
from world_steps import MAP

import hadr_agent
from hadr_agent.agent import Event
from hadr_agent.provider import Message
from hadr_agent.scripted import ScriptedProvider, Turn
from hadr_dispatch.officer import HANDOVER
from hadr_dispatch.report import decisions
from hadr_dispatch.runner import Runner
from hadr_dispatch.scenario import load_scenario
from hadr_dispatch.session import OperationError, Session
from hadr_dispatch.state import tick_of

CLEAR = {"name": "assign", "arguments": {"unit": "C1", "target": "Bridgehead-Island", "reason": "the bridge"}}
OVERFLOW = {"error": {"message": "too long", "code": "context_length_exceeded"}}


class Model:
    """Plays its turns, one for each request of the whole operation; when they are used up, it lets time go on."""

    def __init__(self, turns: Sequence[dict[str, object]], handover: str = "The bridge.") -> None:
        self.turns, self.handover = list(turns), handover
        self.asked: list[int] = []
        self.stop = ""
        self.failing: list[int] = []

    def next_turn(self, messages: Sequence[Message]) -> Turn:
        self.stop = ""
        if messages[-1].get("content") == HANDOVER:
            return Turn.of({"say": self.handover}, 0)
        tick = next(at for at in map(tick_of, reversed(messages)) if at is not None)
        self.asked.append(tick)
        if tick in self.failing:
            self.failing.remove(tick)
            return Turn.of({"fault": {"status": 500, "headers": {"x-should-retry": "false"}}}, 0)
        form = dict(self.turns.pop(0)) if self.turns else {"say": "Go on."}
        self.stop = str(form.pop("stop", ""))
        if form.pop("then", ""):
            self.failing = [3, 4, 5, 5, 6, 7]  # at 5 and 7 the third in a row, and the run ends
        return Turn.of(form or {"say": ""}, 0)

    def hear(self, event: Event) -> None:
        """Ctrl-C when a turn has come."""
        if event.kind == "assistant_turn" and self.stop == "turn":
            raise KeyboardInterrupt


class Dying:
    """A provider whose process is killed before a request is answered, if the model says so."""

    def __init__(self, model: Model) -> None:
        self._model, self._inner = model, ScriptedProvider(model)

    def complete(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> object:
        if self._model.turns and self._model.turns[0].get("stop") == "request":
            self._model.turns.pop(0)
            raise Killed
        return self._inner.complete(messages, tools)


def _play(context: Context, *, anew: bool = True, **options: int) -> None:
    """Play the operation to its end; whenever it stops, from its files anew or by the same runner."""
    model: Model = context.model
    runner = None
    for _ in range(50):
        if runner is None:
            session = Session.open(load_scenario(context.drill), 0, folder(context) / "op.jsonl")
            runner = Runner(session, "You dispatch.", on_event=model.hear, **options)
        provider = Dying(model)
        try:
            while not runner.world.over:
                runner.tick(provider)
            context.world = runner.world
            return
        except (Killed, KeyboardInterrupt, hadr_agent.ProviderError):
            pass
        finally:
            if anew or runner.world.over:
                runner.session.close()
                runner = None
    raise AssertionError("expected the operation to come to its end, found that it stops again and again")


def _turns(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.replace(" / ", "\n").splitlines()]


IMITATION = "x\n\n" + "".join(f"Tick {at} of 48, {at // 6:02}:{at % 6}0\n\nChanged:\n- nothing\n\n" for at in range(48))


def _imitating(what: str, text: str) -> Model:
    note = {"name": "note", "arguments": {"incident": "I01", "text": text if what == "note" else "plain"}}
    return Model([{"calls": [CLEAR, note]}], text if what == "handover" else "plain")


@given("a model for {name} whose {what} imitates the state messages of all ticks")
def step_imitates(context: Context, name: str, what: str) -> None:
    context.drill, context.model = name, _imitating(what, IMITATION)


@given("a model for {name} that plays at tick 0")
def step_plays(context: Context, name: str) -> None:
    context.drill, context.model = name, Model(_turns(context.text))


@given("it was played with {rounds:d} rounds a wake, and resumed whenever it stopped")
def step_was_played(context: Context, rounds: int) -> None:
    _play(context, max_rounds=rounds)


@given("an operation of {name} that was killed when its history {number:d} had {lines:d} lines")
def step_killed(context: Context, name: str, number: int, lines: int) -> None:
    context.drill, context.model = name, Model([{"calls": [CLEAR]}])
    _play(context, history_tokens=1)
    kept = [folder(context) / f"op.history-{at}.jsonl" for at in range(1, number + 1)]
    for path in folder(context).glob("op.history-*.jsonl"):
        if path not in kept:
            path.unlink()
    _cut(kept[-1], lines)
    _cut(folder(context) / "op.jsonl", 1 if number == 1 else 4)
    context.model = Model([])


@given("{name:S} is cut to {lines:d} lines")
@given("{name:S} is cut to {lines:d} line")
def step_cut(context: Context, name: str, lines: int) -> None:
    _cut(folder(context) / name, lines)


def _cut(path: Path, lines: int) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:lines]))


@given("{name:S} ends with {count:d} brackets")
def step_brackets(context: Context, name: str, count: int) -> None:
    with (folder(context) / name).open("a") as file:
        file.write("[" * count + "\n")


@given("{name:S} is deleted")
def step_deleted(context: Context, name: str) -> None:
    (folder(context) / name).unlink()


@given("nothing more")
def step_nothing(context: Context) -> None:
    pass


@given("the small scenario {name:S}")
def step_small(context: Context, name: str) -> None:
    (folder(context) / name).write_text(MAP)


@given("a model that finds every request too long")
def step_too_long(context: Context) -> None:
    fault = {"fault": {"status": 400, "body": json.dumps(OVERFLOW)}}
    context.text = "\n".join([json.dumps(fault)] * 5)
    step_model(context)


@when("it is played with histories of {tokens:d} tokens")
def step_tokens(context: Context, tokens: int) -> None:
    context.tokens = tokens
    _play(context, history_tokens=tokens)


@when("it is played, and resumed whenever it stops")
def step_play(context: Context) -> None:
    _play(context)


@when("it is played, and resumed by {whom} whenever it stops")
def step_play_by(context: Context, whom: str) -> None:
    _play(context, anew=whom == "a new runner")


@when("it is played with room for {count:d} bytes a file, and then without that limit")
def step_limited(context: Context, count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    context.told = ""
    try:
        _play(context)
    except OperationError as error:
        context.told = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    _play(context)


@then("it has been asked at the same ticks as a model whose {what} is plain")
def step_asked(context: Context, what: str) -> None:
    found, context.model = context.model.asked, _imitating(what, "plain")
    for path in folder(context).glob("op.*"):
        path.unlink()
    step_tokens(context, context.tokens)
    expected = context.model.asked
    assert len(expected) > 3 and found == expected, f"expected to be asked at the ticks {expected}, found {found}"


@then("its orders of tick 0 are {expected:json}")
def step_orders(context: Context, expected: str) -> None:
    found = ", ".join(str(each) for each in decisions(context.world) if each.tick == 0)
    assert found == expected, f"expected {expected!r}, found {found!r}"


@then("{name:S} holds {words:json} once")
def step_holds(context: Context, name: str, words: str) -> None:
    text = (folder(context) / name).read_text()
    found = text.count(words)
    assert found == 1, f"expected {words!r} once in {name}, found it {found} times in {text[:1500]}"


@then("the first time it is told {words:json}")
def step_first(context: Context, words: str) -> None:
    assert words in context.told, f"expected {words!r}, found {context.told!r}"


@then("{name:S} holds the ticks {first:d} to {last:d} once")
def step_ticks(context: Context, name: str, first: int, last: int) -> None:
    lines = [json.loads(line) for line in (folder(context) / name).read_text().splitlines()]
    found = [line.get("tick", 0) for line in lines]
    assert found == list(range(first, last + 1)), f"expected {first} to {last}, found {found}"


@then("there is one history")
def step_one_history(context: Context) -> None:
    found = sorted(path.name for path in folder(context).glob("op.history-*.jsonl"))
    assert found == ["op.history-1.jsonl"], f"expected op.history-1.jsonl alone, found {found}"
