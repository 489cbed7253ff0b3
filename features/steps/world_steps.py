"""Steps for the relief world: what its clock, its hashes and its orders may do, and what scenarios are made of."""

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from behave import given, then, when
from behave.runner import Context
from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as over
from hypothesis import strategies as st

from hadr_dispatch.dispatcher import system_prompt
from hadr_dispatch.observation import File, Observation
from hadr_dispatch.orders import REFUSALS, Order
from hadr_dispatch.plan import HEALTH, Incident, Person, Picture, Plan, Report
from hadr_dispatch.policies import RULES, par
from hadr_dispatch.scenario import (
    CAPACITY,
    LOAD,
    IncidentSpec,
    PersonSpec,
    ScenarioError,
    load_scenario,
    read_scenario,
    scenario_names,
)
from hadr_dispatch.score import Faults, faults
from hadr_dispatch.world import DISCHARGE, FREEING, LOSS, LOSS_ABOARD, World, WorldError

EXAMPLES = 60  # of random plays for each scenario and seed
MAP = """\
id = "TRY"
title = "Try"
briefing = "Try."
ticks = 12
places = [{ name = "Ward", x = 0, y = 0, beds = 2 }, { name = "Yard", x = 9, y = 9, water = 9 }]
roads = [{ between = ["Ward", "Yard"], ticks = 1 }]
units = [{ id = "A1", kind = "ambulance", at = "Ward" }]
"""
CHILD = """
import json, sys
from hadr_dispatch.policies import RULES
from hadr_dispatch.scenario import load_scenario
from hadr_dispatch.world import World
if sys.argv[1] == "play":
    world = RULES[sys.argv[2]](load_scenario(sys.argv[3]), int(sys.argv[4]))
else:
    log = [json.loads(line) for line in sys.stdin]
    world = World.replay(load_scenario(sys.argv[2]), log)
print(json.dumps([line["hash"] for line in world.log]))
"""


def hashes(world: World) -> list[object]:
    return [line["hash"] for line in world.log]


def in_another_process(*arguments: str, hash_seed: str = "1", stdin: str = "") -> list[object]:
    """The hashes that another Python comes to."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], input=stdin, env=environment, capture_output=True, text=True
    )
    assert not done.returncode, f"expected the other process to play, found {done.stderr}"
    return json.loads(done.stdout)


def as_lines(world: World) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in world.log)


def state(world: World) -> tuple[object, ...]:
    """All that can be known of a world, known to a dispatcher or not."""
    return world.observe(), world.people, world.result(), tuple(map(str, world.log)), tuple(world.events)


def orders_of(rows: Sequence[Mapping[str, str]]) -> dict[int, list[Order]]:
    """A table of tick, unit, target, and the water that a truck brings there."""
    made: dict[int, list[Order]] = {}
    for row in rows:
        water = int(row.get("water") or 0)
        order = Order("send_supplies" if water else "assign", row["unit"], row["target"], "as the table says", water)
        made.setdefault(int(row["tick"]), []).append(order)
    return made


def refusal_of(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except (WorldError, ScenarioError) as error:
        return error
    return None


# --- properties


@dataclass
class Checked:
    """A world under way, and what must hold at each of its ticks."""

    world: World
    answers: set[str] = field(default_factory=set)

    def order(self, order: Order) -> None:
        before, supplies = (self.world.observe(), self.world.people, self.world.result()), self._supplies()
        answer = self.world.apply(order)
        assert self._supplies() == supplies, f"{order}: expected {supplies} supplies, found {self._supplies()}"
        filled = [place.name for place in self.world.scenario.places if self._in_stock(place.name) > place.water]
        assert not filled, f"{order}: expected no depot with more water than it began with, found {filled}"
        self.answers.add(answer.refusal or "accepted")
        after = (self.world.observe(), self.world.people, self.world.result())
        if answer.refusal is not None:
            assert answer.refusal in REFUSALS, f"expected a refusal of the list, found {answer.refusal!r}"
            says = answer.text.removeprefix(f"refused: {answer.refusal}: ")
            assert len(says) > 10 and says != answer.text, f"expected what would work, found {answer.text!r}"
            assert before == after, f"{order}: expected a refused order to change nothing, found {after}"
        assert before[1:] == after[1:], f"{order}: expected no order to touch people or points, found {after[1:]}"

    def tick(self) -> None:
        world, before = self.world, {person.id: person for person in self.world.people}
        seen = world.observe()
        places, supplies = {unit.id: unit.at for unit in seen.units}, self._supplies()
        for other in (world.tick - 1, world.tick + 1):
            whole = state(world)
            refused = refusal_of(lambda other=other: world.next_tick(other))
            assert refused is not None, f"tick {world.tick}: expected {other} to be refused, found it accepted"
            assert state(world) == whole, f"expected a refused tick to change nothing, found {world.result()}"
        world.next_tick(world.tick)
        self._people(before)
        seen = world.observe()
        self._units(seen, places)
        assert all(now <= was for now, was in zip(self._supplies(), supplies, strict=True)), (
            f"expected no more supplies than before, {supplies} water and shelter; found {self._supplies()}"
        )
        arrived, stuck = ({each.subject for each in seen.changes if each.kind == kind} for kind in ("arrived", "stuck"))
        assert not arrived & stuck, f"expected a stuck unit not to have arrived, found {arrived & stuck} both"
        for name, water, shelter in seen.stock:
            assert min(water, shelter) >= 0, f"expected no stock below 0, found {water}, {shelter} at {name}"
        for need in seen.needs:
            assert min(need.water, need.shelter) >= 0, f"expected no need below 0, found {need}"
        for delivered, needed in (world.result().water, world.result().shelter):
            assert delivered <= needed, f"expected at most {needed} delivered, found {delivered}"
        self._sights(seen)
        for event in seen.changes:
            if event.kind == "delivered":
                at = seen.unit(event.text.split()[0]).at
                assert at == event.subject, f"expected supplies where the truck is, {at}; found them at {event.subject}"

    def _sights(self, seen: Observation) -> None:
        """What was seen in this tick was seen by somebody there, and is what is there."""
        for file in [file for file in seen.files if file.seen and file.seen.tick == seen.tick]:
            there = [unit for unit in seen.units if unit.at == file.place and not unit.left]
            assert there, f"expected somebody at {file.place} who saw {file.id}, found {seen.units}"
            number = next(report.incident for report in self.world.plan.reports if report.file == file.id)
            people = [each for each in self.world.people if each.where == f"incident {number}" and each.alive]
            now = Picture.of(seen.tick, people)
            assert file.seen == now, f"expected {file.id} seen as {now}, found {file.seen}"

    def _in_stock(self, depot: str) -> int:
        return next((water for name, water, _ in self.world.observe().stock if name == depot), 0)

    def _supplies(self) -> tuple[int, int]:
        """All water and all shelter: in stock, on trucks, and delivered."""
        seen, result = self.world.observe(), self.world.result()
        water = sum(each[1] for each in seen.stock) + sum(unit.water for unit in seen.units) + result.water[0]
        shelter = sum(each[2] for each in seen.stock) + sum(unit.shelter for unit in seen.units) + result.shelter[0]
        return water, shelter

    def _people(self, before: Mapping[str, Person]) -> None:
        world, wards = self.world, {hospital.name for hospital in self.world.observe().hospitals}
        now = {person.id: person for person in world.people}
        assert len(world.people) == len(now) and now.keys() == before.keys(), (
            f"expected nobody lost or doubled: {sorted(before)}, found {sorted(person.id for person in world.people)}"
        )
        for ident, person in now.items():
            was = before[ident]
            assert 0 <= person.health <= was.health, f"expected {was.health} or less for {ident}, found {person.health}"
            assert was.alive or person == was, f"expected the dead to stay as they are, {was}; found {person}"
            aboard = [unit.id for unit in world.observe().units if ident in unit.patients]
            expected = [person.where] if person.alive and person.where in {u.id for u in world.observe().units} else []
            assert aboard == expected, f"expected {ident} aboard of {expected}, found {aboard}"
            assert was.where not in wards or person.where == was.where, f"expected {ident} in care, found {person}"

    def _units(self, seen: Observation, places: Mapping[str, str]) -> None:
        ends = [set(road.between) for road in seen.roads]
        assert [unit.id for unit in seen.units] == list(places), f"expected units {list(places)}, found {seen.units}"
        for unit in seen.units:
            assert unit.at == places[unit.id] or {unit.at, places[unit.id]} in ends, (
                f"expected {unit.id} to go by a road from {places[unit.id]}, found it at {unit.at}"
            )
            assert not unit.left or {unit.at, unit.route[0]} in ends, f"expected {unit.id} on a road, found {unit}"
            room = CAPACITY if unit.kind == "ambulance" else 0
            assert len(unit.patients) <= room, f"expected {room} aboard of {unit.id}, found {unit.patients}"
            load = (unit.water, unit.shelter)
            assert min(load) >= 0 and sum(load) <= LOAD, f"expected a load of 0 to {LOAD}, found {unit}"
        freed = [unit.person for unit in seen.units if unit.person]
        assert len(freed) == len(set(freed)), f"expected one team for each of the trapped, found {freed}"
        for hospital in seen.hospitals:
            assert 0 <= hospital.free <= hospital.beds, f"expected 0 to {hospital.beds} free beds, found {hospital}"


def any_order(world: World) -> st.SearchStrategy[Order]:
    """Orders that can be written down, sensible or not; at least half of them name what there is, and a reason."""
    seen = world.observe()
    units = [unit.id for unit in seen.units]
    files = list(dict.fromkeys(report.file for report in world.plan.reports))
    places, roads = [place.name for place in seen.scenario.places], [road.name for road in seen.roads]
    backwards = ["-".join(road.between[::-1]) for road in seen.roads]
    kinds = st.sampled_from(["assign", "assign", "assign", "recall", "send_supplies", "note"])
    targets = st.one_of(st.sampled_from(files), st.sampled_from([*places, *roads, *backwards]))
    amounts = st.sampled_from([0, 5, 10, LOAD])
    known = st.builds(Order, kinds, st.sampled_from(units), targets, st.just("because"), amounts, amounts)
    odd = st.builds(
        Order,
        kinds,
        st.sampled_from([*units, "", "Z9", "a1"]),
        st.sampled_from([*files, *places, *roads, "", "-", "I99", "nowhere", "\ud800"]),
        st.sampled_from(["because", "", "  "]),
        st.sampled_from([0, 5, LOAD + 1, -1, 10**9]),
        st.sampled_from([0, 5, LOAD + 1, -50, 10**9]),
    )
    trucks = [unit.id for unit in seen.units if unit.kind == "truck"]
    if not trucks:
        return st.one_of(known, odd)
    loads = st.sampled_from([0, 5, 10, LOAD, LOAD + 1, -5])
    sent = st.builds(
        Order, st.just("send_supplies"), st.sampled_from(trucks), st.sampled_from(places), st.just("due"), loads, loads
    )
    return st.one_of(known, odd, sent)


def play_checked(scenario: str, seed: int) -> set[str]:
    """Random plays with all checks; in some ticks par gives its orders first, so that much gets under way."""
    start = World.start(load_scenario(scenario), seed)
    answers: set[str] = set()
    ticks = st.lists(st.tuples(st.booleans(), st.lists(any_order(start), max_size=4)), min_size=12, max_size=40)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        phases=[Phase.generate],  # to make a failing play smaller takes minutes
        suppress_health_check=list(HealthCheck),
    )
    @over(ticks)
    def check(played: list[tuple[bool, list[Order]]]) -> None:
        checked = Checked(World.start(start.scenario, seed))
        for by_par, drawn in played:
            if checked.world.over:
                break
            for order in [*(par(checked.world.observe()) if by_par else ()), *drawn]:
                checked.order(order)
            checked.tick()
        answers.update(checked.answers)
        again = World.replay(start.scenario, [json.loads(json.dumps(line)) for line in checked.world.log])
        assert hashes(again) == hashes(checked.world), "expected the log to come to the same hashes, found others"

    check()
    return answers


def reachable(start: object) -> Iterator[object]:
    """Everything that can be reached from an object: what it refers to, but for modules, classes and functions."""
    ahead, met = [start], set[int]()
    while ahead:
        thing = ahead.pop()
        if id(thing) in met or isinstance(thing, type) or callable(thing) or type(thing).__name__ == "module":
            continue
        met.add(id(thing))
        yield thing
        ahead += gc.get_referents(thing)


# --- Given


@given("the world of {name} with seed {seed:d}")
def step_world(context: Context, name: str, seed: int) -> None:
    context.world = World.start(load_scenario(name), seed)


@given("a world of this map")
def step_map(context: Context) -> None:
    context.world = World.start(read_scenario(context.text, "try.toml"), 7)


@given("the log of {rule} on {name} with seed {seed:d}")
def step_log(context: Context, rule: str, name: str, seed: int) -> None:
    context.world = RULES[rule](load_scenario(name), seed)


@given("in its line {number:d} {change}")
def step_changed(context: Context, number: int, change: str) -> None:
    lines = [json.loads(line) for line in as_lines(context.world).splitlines()]
    line = lines[number - 1]
    match change:
        case "the hash is another":
            line["hash"] = "0" * len(line["hash"])
        case "the seed is another":
            line["seed"] += 1
        case "an order goes to another unit":
            line["orders"][0]["order"]["unit"] = "A2" if line["orders"][0]["order"]["unit"] == "A1" else "A1"
        case "an order is missing":
            del line["orders"][0]
        case "an answer is another":
            line["orders"][0]["answer"] = "busy"
        case "a key of an order is unknown":
            line["orders"][0]["order"]["speed"] = 9
        case "the tick is another":
            line["tick"] += 1
        case _:
            raise AssertionError(f"no such change: {change}")
    context.log = lines


@given("{count:d} ticks have passed")
def step_passed(context: Context, count: int) -> None:
    for _ in range(count):
        context.world.next_tick(context.world.tick)


@given("the places, roads and units of a small scenario, and")
def step_small(context: Context) -> None:
    context.text_of_file = MAP + context.text


# --- When


@when("{rule} plays {name} with seed {seed:d}")
def step_plays(context: Context, rule: str, name: str, seed: int) -> None:
    context.world = RULES[rule](load_scenario(name), seed)


@when("its log is replayed in another process")
def step_replay_elsewhere(context: Context) -> None:
    context.found = in_another_process("replay", context.world.scenario.id, stdin=as_lines(context.world))


@when("the changed log is replayed")
def step_replay_changed(context: Context) -> None:
    context.error = refusal_of(lambda: World.replay(context.world.scenario, context.log))


@when("random orders are given on {name} with seed {seed:d}")
def step_random(context: Context, name: str, seed: int) -> None:
    context.answers = play_checked(name, seed)


@when("the next tick is asked for, expecting tick {tick:d}")
def step_expect(context: Context, tick: int) -> None:
    context.before = state(context.world)
    context.error = refusal_of(lambda: context.world.next_tick(tick))


@when("it is observed at every tick while {rule} plays")
def step_observed(context: Context, rule: str) -> None:
    world, context.observed = context.world, []
    while True:
        context.observed.append((world.tick, world.observe()))
        if world.over:
            break
        for order in par(world.observe()) if rule == "par" else ():
            world.apply(order)
        world.next_tick(world.tick)


@when("these orders are given to the end")
def step_orders(context: Context) -> None:
    world, made = context.world, orders_of(context.table)
    context.orders = []
    while not world.over:
        for order in made.get(world.tick, ()):
            before = state(world)[:3]
            context.orders.append((order, world.apply(order), before == state(world)[:3]))
        world.next_tick(world.tick)


@when("{unit:w} is assigned to {target:json}")
def step_assign(context: Context, unit: str, target: str) -> None:
    before = (context.world.observe(), context.world.people, context.world.result())
    context.answer = context.world.apply(Order("assign", unit, target, "a try"))
    context.unchanged = before == (context.world.observe(), context.world.people, context.world.result())


@when("the same play is made with a note in every tick")
def step_notes(context: Context) -> None:
    first = context.world
    world = World.start(first.scenario, first.seed)
    while not world.over:
        for order in par(world.observe()):
            world.apply(order)
        for file in world.observe().files:
            world.apply(Order("note", target=file.id, reason=f"seen at {world.tick}"))
        world.next_tick(world.tick)
    context.noted = world


@when("each scenario of the package is played by idle and par with seeds 0 to {last:d}")
def step_rungs(context: Context, last: int) -> None:
    points = {}
    for name in scenario_names():
        scenario = load_scenario(name)
        for rule in ("idle", "par"):
            points[name, rule] = sum(RULES[rule](scenario, seed).result().points for seed in range(last + 1))
    context.points = points


@when("{first:json} is replaced by {second:json} in a sound scenario")
def step_replaced(context: Context, first: str, second: str) -> None:
    assert MAP.count(first) == 1, f"expected {first!r} once in the file, found it {MAP.count(first)} times"
    context.error = refusal_of(lambda: read_scenario(MAP.replace(first, second), "try.toml"))


@when("the scenario is read")
def step_read(context: Context) -> None:
    context.error = refusal_of(lambda: read_scenario(context.text_of_file, "try.toml"))


# --- Then


@then("{count:d} more plays in this process come to the same hashes")
def step_again(context: Context, count: int) -> None:
    world = context.world
    for number in range(count):
        found = hashes(RULES["par"](world.scenario, world.seed))
        assert found == hashes(world), f"play {number + 2}: expected {hashes(world)[-1]}, found {found[-1]}"


@then("processes with PYTHONHASHSEED {first} and {second} come to the same hashes")
def step_processes(context: Context, first: str, second: str) -> None:
    world = context.world
    for hash_seed in (first, second):
        found = in_another_process("play", "par", world.scenario.id, str(world.seed), hash_seed=hash_seed)
        assert found == hashes(world), f"PYTHONHASHSEED {hash_seed}: expected {world.hash}, found {found[-1]}"


@then("the last hash of world version {version:d} is {expected:w}")
def step_pinned(context: Context, version: int, expected: str) -> None:
    result = context.world.result()
    found = (result.world_version, result.hash)
    assert found == (version, expected), f"expected {(version, expected)}, found {found}: raise WORLD_VERSION?"


@then("par with seed {seed:d} comes to another hash at every tick")
def step_other_seed(context: Context, seed: int) -> None:
    other = hashes(RULES["par"](context.world.scenario, seed))
    same = [tick for tick, pair in enumerate(zip(hashes(context.world), other, strict=True)) if pair[0] == pair[1]]
    assert not same, f"expected no hash in common, found the same at ticks {same}"


@then("it comes to the same hash at every tick")
def step_same_hashes(context: Context) -> None:
    assert context.found == hashes(context.world), f"expected {hashes(context.world)}, found {context.found}"


@then("it comes to the same hash at every tick, and the notes are kept")
def step_noted(context: Context) -> None:
    expected, found = hashes(context.world), hashes(context.noted)
    assert found == expected, f"expected notes to change no hash, {expected[-1]}; found {found[-1]}"
    notes = [file.note for file in context.noted.observe().files]
    assert notes and all(notes), f"expected a note at each file, found {notes}"


@then("it is refused, and that names {words:words}")
def step_names(context: Context, words: list[str]) -> None:
    assert context.error is not None, f"expected it to be refused naming {words}, found it accepted"
    for word in words:
        assert word in str(context.error), f"expected {word!r}, found {context.error}"


@then("nothing has changed")
def step_nothing(context: Context) -> None:
    assert context.before == state(context.world), (
        f"expected the world to be as it was, at tick {context.before[2].tick}, found tick {context.world.tick}"
    )


@then("every check held at every tick, and orders were both accepted and refused for {refusals}")
def step_held(context: Context, refusals: str) -> None:
    expected = {"accepted", *refusals.split(", ")}
    assert expected <= context.answers, f"expected the answers {sorted(expected)}, found {sorted(context.answers)}"


@then("no observation leads to what really happened, and each file says no more than reports and sight")
def step_secret(context: Context) -> None:
    context.met = set()
    for tick, seen in context.observed:
        hidden = (Person, Plan, Report, World, Incident, IncidentSpec, PersonSpec)
        secret = [each for each in reachable(seen) if isinstance(each, hidden)]
        assert not secret, f"tick {tick}: expected nothing that only the world knows, found {secret[:2]}"
        told = {report.file for report in context.world.plan.reports if report.tick <= tick}
        assert {file.id for file in seen.files} == told, f"tick {tick}: expected files {told}, found {seen.files}"
        context.met.update(event.subject for event in seen.changes if event.kind == "seen")
        for file in seen.files:
            reports = [each for each in context.world.plan.reports if each.file == file.id and each.tick <= tick]
            told = [each for number, each in enumerate(reports) if each.picture or not number][-1]
            assert file.told == told.picture or file.id in context.met, f"tick {tick}: expected {told}, found {file}"
            if file.id not in context.met:
                is_denied = reports[-1].picture is None
                expected = File(file.id, told.place, reports[0].tick, told.picture, is_denied)
                assert file == expected, f"tick {tick}: expected what was told, {expected}; found {file}"
        texts = [each for each in reachable(seen) if isinstance(each, str) and re.match(r"incident \d", each)]
        assert not texts, f"tick {tick}: expected no real incident, found {texts}"
        early = [event for event in seen.changes if not event.known]
        assert not early, f"tick {tick}: expected only what is known, found {early}"


@then("the events of tick {tick:d} are, in this order, {kinds}")
def step_order_of_tick(context: Context, tick: int, kinds: str) -> None:
    found = [event.kind for event in context.world.events if event.tick == tick]
    assert found == kinds.split(", "), f"tick {tick}: expected {kinds}, found {', '.join(found)}"


@then("at the end {ident:w} is {what}")
def step_file(context: Context, ident: str, what: str) -> None:
    file = context.world.observe().file(ident)
    assert file is not None, f"expected a file {ident}, found none"
    found = f"closed as {file.closed}" if file.closed else f"open, at {file.place}"
    assert found == what, f"{ident}: expected {what}, found {found}"


@then("{deaths:d} died, {in_care:d} are in care, and that is {points:d} points")
def step_result(context: Context, deaths: int, in_care: int, points: int) -> None:
    result = context.world.result()
    found = (result.deaths, result.in_care, result.points)
    assert found == (deaths, in_care, points), (
        f"expected {(deaths, in_care, points)} deaths, in care, points; found {found}; {answers_of(context)}"
    )


def answers_of(context: Context) -> list[str]:
    return [answer.text for _, answer, _ in getattr(context, "orders", [])]


@then("par has {points:d} points there and doing nothing {nothing:d}, with any seed")
def step_marks(context: Context, points: int, nothing: int) -> None:
    for seed in (0, 1, 7, 12345):
        found = tuple(RULES[rule](context.world.scenario, seed).result().points for rule in ("par", "idle"))
        assert found == (points, nothing), f"seed {seed}: expected {(points, nothing)}, found {found}"


@then("{rule} has {points:d} points there")
def step_points(context: Context, rule: str, points: int) -> None:
    found = RULES[rule](context.world.scenario, context.world.seed).result().points
    assert found == points, f"{rule}: expected {points} points, found {found}"


@then("{unit:w} has {kind:w} something for the first time at tick {tick:d}")
def step_first(context: Context, unit: str, kind: str, tick: int) -> None:
    events = [event for event in context.world.events if event.kind == kind and event.text.startswith(f"{unit} ")]
    found = events[0].tick if events else None
    assert found == tick, f"expected {unit} to have {kind} at tick {tick}, found {found}; {answers_of(context)}"


@then("the order is refused with {refusal:json}, which names {words:words}")
def step_order_refused(context: Context, refusal: str, words: list[str]) -> None:
    assert context.answer.refusal == refusal, f"expected {refusal!r}, found {context.answer.text!r}"
    for word in words:
        assert word in context.answer.text, f"expected {word!r}, found {context.answer.text!r}"


@then("the world is unchanged")
def step_unchanged(context: Context) -> None:
    assert context.unchanged, f"expected the refused order to change nothing, found {context.world.observe()}"


@then("in each of them par has more points than doing nothing")
def step_beats(context: Context) -> None:
    for name in scenario_names():
        nothing, found = context.points[name, "idle"], context.points[name, "par"]
        assert found > nothing, f"{name}: expected par to beat doing nothing, {nothing}; found {found}"


@then("they are the drills in their order, {others}")
def step_ladder(context: Context, others: str) -> None:
    expected = [*(f"DRILL-{number}" for number in range(1, 6)), *others.split(", ")]
    assert scenario_names() == expected, f"expected {expected}, found {scenario_names()}"


@then("each has its own map, within 0 to 100, and a briefing of at most three sentences")
def step_maps(context: Context) -> None:
    for name in scenario_names():
        scenario = load_scenario(name)
        assert scenario.id == name, f"expected the id {name}, found {scenario.id}"
        off = [place for place in scenario.places if not (0 <= place.x <= 100 and 0 <= place.y <= 100)]
        assert not off, f"{name}: expected x and y from 0 to 100, found {off}"
        sentences = re.findall(r"[.!?](?:\s|$)", scenario.briefing)
        assert 1 <= len(sentences) <= 3, f"{name}: expected 1 to 3 sentences, found {len(sentences)}"
    maps = {(load_scenario(name).places, load_scenario(name).roads) for name in scenario_names()}
    assert len(maps) == len(scenario_names()), f"expected {len(scenario_names())} different maps, found {len(maps)}"


@when("the dispatcher's prompt is read")
def step_prompt(context: Context) -> None:
    context.prompt = system_prompt()


@then("it says how long people live, how long freeing and a bed take, and what counts, in the world's numbers")
def step_numbers(context: Context) -> None:
    red, yellow = (HEALTH[triage] // LOSS[triage] for triage in ("red", "yellow"))
    times = {3: "three"}[LOSS["red"] // LOSS_ABOARD["red"]]
    for words in (
        f"Untreated, a red lives {red} ticks and a yellow {yellow}; "
        f"while trapped, a red lives {red // 2} ticks and a yellow {yellow // 2}",
        f"Aboard an ambulance a red lives {times} times as long as untreated",
        f"free trapped people, {FREEING} ticks each",
        f"a bed becomes free every {DISCHARGE} ticks",
        "Dead counts 0, alive 1, in care at a hospital 2",
    ):
        assert words in context.prompt, f"expected {words!r} in the prompt, found {context.prompt}"


@then("its faults are {refused:d} refused, {duplicate:d} duplicate, {idle:d} ticks idle")
def step_faults(context: Context, refused: int, duplicate: int, idle: int) -> None:
    found, expected = faults(context.world.scenario, context.world.log), Faults(refused, duplicate, idle)
    assert found == expected, f"expected {expected}, found {found}; {answers_of(context)}"
