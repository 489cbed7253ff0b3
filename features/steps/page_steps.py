"""Steps about an operation as one page: read back with a parser, and compared with the world and the text report."""

import itertools
import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from behave import given, then, when
from behave.runner import Context
from cli_steps import environment, folder, program, run

from hadr_agent.display import printable
from hadr_dispatch.orders import Order
from hadr_dispatch.page import page
from hadr_dispatch.policies import RULES
from hadr_dispatch.report import as_text
from hadr_dispatch.scenario import load_scenario, read_scenario
from hadr_dispatch.score import outcome
from hadr_dispatch.world import World

SVG = "http://www.w3.org/2000/svg"
OUTSIDE = re.compile(r"https?:|//|url\(|@import|\bdata:", re.IGNORECASE)
HARMLESS = "Somewhere"


class Reader(HTMLParser):
    """Reads a page: its elements with their attributes, its text, and what is wrong with it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.problems: list[str] = []
        self.texts: list[tuple[str, str]] = []  # (tag, text in it)
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.problems += [f"<{tag}> is never closed" for tag in self._open]
        self.drawings = [ET.fromstring(found) for found in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    @property
    def said(self) -> str:
        return "".join(text for tag, text in self.texts if tag != "style")

    def drawn(self, kind: str, drawing: int = 0) -> list[ET.Element]:
        return list(self.drawings[drawing].iter(f"{{{SVG}}}{kind}"))

    def words(self, *kinds: str) -> list[str]:
        """The words of these classes on the map."""
        return [word.text or "" for word in self.drawn("tspan") + self.drawn("text") if word.get("class") in kinds]


@given("an operation of {name} with seed {seed:d} by {policy:w}")
def step_operation(context: Context, name: str, seed: int, policy: str) -> None:
    context.policy, context.world = policy, RULES[policy](load_scenario(name), seed)


@given("an operation of {name} that has not begun")
def step_not_begun(context: Context, name: str) -> None:
    context.policy, context.world = "agent", World.start(load_scenario(name), 0)


@given("an operation of SURGE with seed 7 by par that stopped at tick {tick:d}")
def step_stopped(context: Context, tick: int) -> None:
    whole = RULES["par"](load_scenario("SURGE"), 7)
    context.policy, context.world = "par", World.replay(whole.scenario, whole.log[: tick + 1])


@given("an operation where each text is {text:json}")
def step_texts(context: Context, text: str) -> None:
    context.text_everywhere = text
    context.policy, context.world = "agent", _operation(text)


def _operation(text: str) -> World:
    """An operation of a few ticks with this text wherever a text can stand; a place's name allows less."""
    place = "".join(letter for letter in text if letter.isprintable() and letter not in "-,")[:40].strip()
    scenario = read_scenario(
        f"""
        id = "TEXTS"
        title = {json.dumps(text)}
        briefing = {json.dumps(text)}
        ticks = 9
        places = [{{ name = "Hospital", x = 0, y = 0, beds = 1 }}, {{ name = {json.dumps(place)}, x = 50, y = 50 }}]
        roads = [{{ between = ["Hospital", {json.dumps(place)}], ticks = 1 }}]
        units = [{{ id = "A1", kind = "ambulance", at = "Hospital" }}]
        incidents = [{{ tick = 0, place = {json.dumps(place)}, people = [{{ triage = "yellow", trapped = true }}] }}]
        """,
        "texts.toml",
    )
    world = World.start(scenario, 0)
    for order in (
        Order("assign", "A1", "I01", text),
        Order("note", target="I01", reason=text),
        Order("assign", text, text, text),
        Order("send_supplies", "A1", text, text),
    ):
        world.apply(order)
    for tick in range(4):
        world.next_tick(tick)
    return world


@when("it is written as a page")
def step_written(context: Context) -> None:
    context.outcome = outcome(context.policy, context.world)
    context.html = page(context.world, context.outcome)
    context.read = Reader(context.html)


@then("the page has no script, and no address but the name of SVG")
def step_nothing_outside(context: Context) -> None:
    read: Reader = context.read
    tags = {tag for tag, _ in read.elements} & {"script", "link", "iframe", "img", "object", "base", "use", "image"}
    assert not tags, f"expected no element that runs or fetches something, found {sorted(tags)}"
    for tag, attributes in read.elements:
        for name, value in attributes.items():
            fetches = name in ("src", "href", "srcset", "action", "http-equiv") or name.startswith(("on", "xlink"))
            assert not fetches, f"expected no attribute that runs or fetches something, found {name} in <{tag}>"
            # What stands there for people to read may look like an address.
            is_outside = name not in ("xmlns", "aria-label") and OUTSIDE.search(value or "")
            assert not is_outside, f"expected no address, found {value!r} in {name} of <{tag}>"
    style = "".join(text for tag, text in read.texts if tag == "style")
    assert style and not OUTSIDE.search(style), f"expected a style without addresses, found {OUTSIDE.search(style)}"


@then("each element is closed, and each drawing is XML")
def step_well_formed(context: Context) -> None:
    read: Reader = context.read
    assert not read.problems, f"expected a well-formed page, found {read.problems[:3]}"
    assert len(read.drawings) == 2, f"expected a map and a timeline that are XML, found {len(read.drawings)} drawings"


@then("it has the elements of the same operation with harmless texts")
def step_same_elements(context: Context) -> None:
    world = _operation(HARMLESS)
    plain = Reader(page(world, outcome("agent", world))).elements
    shapes = [[(tag, sorted(attributes)) for tag, attributes in each] for each in (plain, context.read.elements)]
    for expected, found in itertools.zip_longest(*shapes):
        assert expected == found, f"expected the element {expected}, found {found}"


@then('it shows "{shown}" as title, place, reason, note and in what was refused')
def step_shown(context: Context, shown: str) -> None:
    read: Reader = context.read
    place = "".join(letter for letter in context.text_everywhere if letter.isprintable() and letter != "-")
    for what, expected in {
        "title": f"{shown} · agent",
        "heading": shown,
        "note": f"; note: {shown}",
        "reason": f"assign A1 I01 {shown}",
        "order that was refused": f"assign {shown} {shown} [refused: ",
    }.items():
        assert expected in read.said, f"expected the {what} {expected!r}, found {read.said!r}"
    assert place in read.words("name"), f"expected the place {place!r}, found {read.words('name')}"
    raw = [letter for letter in context.html if letter != "\n" and printable(letter) != letter]
    assert not raw, f"expected no control characters, found {raw[:3]}"


@then("each line of the text report stands on the page")
def step_as_report(context: Context) -> None:
    said = " ".join(context.read.said.split())
    lines = as_text(context.world, context.outcome).splitlines()
    lines = [line for line in lines if line not in ("", "Timeline", "Decisions")]
    assert len(lines) > 2, f"expected a report, found {lines}"
    for line in lines:
        timed = re.fullmatch(r"  (\d\d:\d\d) +\d+  (.*)", line)  # on the page without the tick
        clock, text = timed.groups() if timed else ("", line)
        decided = re.fullmatch(r"((?:assign|recall|note|send_supplies) .*?): (.*)", text)
        expected = clock + (" ".join(decided.groups()) if decided else text)
        assert expected in said, f"expected {expected!r} as in the text report, found it nowhere on the page"


@then("the map names each place, with its free beds and its stock")
def step_places(context: Context) -> None:
    seen, read = context.world.observe(), context.read
    expected = sorted(place.name for place in seen.scenario.places)
    assert sorted(read.words("name")) == expected, f"expected {expected}, found {sorted(read.words('name'))}"
    lines = [f"{each.free} of {each.beds} beds free" for each in seen.hospitals]
    lines += [f"{water} water, {shelter} shelter" for _, water, shelter in seen.stock]
    assert sorted(read.words("")) == sorted(lines), f"expected {sorted(lines)}, found {sorted(read.words(''))}"


@then("it has a line for each road, broken where the road is blocked, with the work that is left")
def step_roads(context: Context) -> None:
    roads, read = context.world.observe().roads, context.read
    expected = sorted((road.name, bool(road.work)) for road in roads)
    found = sorted((line[0].text, "blocked" in line.get("class").split()) for line in read.drawn("line"))
    assert found == expected, f"expected {expected}, found {found}"
    left = sorted(f"✕{road.work}" for road in roads if road.work)
    assert left, "expected an operation with a blocked road"
    assert sorted(read.words("bad")) == left, f"expected {left}, found {sorted(read.words('bad'))}"
    assert re.search(r"\.blocked \{[^}]*stroke-dasharray", context.html), "expected a style that breaks such lines"


@then("it names each unit and each open incident once")
def step_units(context: Context) -> None:
    seen, read = context.world.observe(), context.read
    units = sorted(word.split()[0] for word in read.words("unit"))
    expected = sorted(unit.id for unit in seen.units)
    assert units == expected, f"expected the units {expected}, found {units}"
    files = sorted(word for word in read.words("red", "yellow", "green") if word.startswith("I"))
    expected = sorted(file.id for file in seen.files if not file.closed)
    assert files == expected, f"expected the incidents {expected}, found {files}"


@then("the lanes of the timeline are those of the units")
def step_lanes(context: Context) -> None:
    found = [text.text for text in context.read.drawn("text", 1) if text.get("class") == "name left"]
    expected = [unit.id for unit in context.world.scenario.units]
    assert found == expected, f"expected the lanes {expected}, found {found}"


@then("the bars of each lane are what its unit did in each tick")
def step_bars(context: Context) -> None:
    world: World = context.world
    told: dict[str, list[str]] = {unit.id: [] for unit in world.scenario.units}
    for bar in context.read.drawn("rect", 1):
        unit, what, begin, end = re.fullmatch(r"(\w+) (.*), ticks (\d+) to (\d+)", bar[0].text).groups()
        assert bar.get("class") == what.split()[0], f"expected a bar for {what!r}, found one for {bar.get('class')}"
        assert int(begin) == len(told[unit]), f"expected {unit} to go on at {len(told[unit])}, found {begin}"
        told[unit] += [what] * (int(end) - int(begin))
    expected: dict[str, list[str]] = {unit.id: [] for unit in world.scenario.units}
    again = World.start(world.scenario, world.seed)
    for line in world.log[1:]:
        for each in line["orders"]:
            again.apply(Order(**each["order"]))
        for unit in again.observe().units:
            expected[unit.id].append(f"{unit.doing} {unit.target}".strip())
        again.next_tick(again.tick)
    for unit, doings in expected.items():
        assert told[unit] == doings, f"expected {unit} to have done {doings}, found {told[unit]}"


@then('it says "{words}"')
def step_says(context: Context, words: str) -> None:
    assert words in context.read.said, f"expected {words!r}, found {context.read.said[:300]!r}"


@when("I run hadr-dispatch {arguments:words} until it ends")
def step_run_to_end(context: Context, arguments: list[str]) -> None:
    run(context, arguments, command="hadr-dispatch")


@when("I run hadr-dispatch {arguments:words} until Ctrl-C after {ticks:d} ticks")
def step_run_to_interrupt(context: Context, arguments: list[str], ticks: int) -> None:
    process = subprocess.Popen(
        [program("hadr-dispatch"), *arguments],
        cwd=folder(context),
        env=environment(context),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # behave may run with it ignored
    )
    session = folder(context) / "op.jsonl"  # a line to begin with, and one for each tick
    while process.poll() is None:
        if session.exists() and session.read_bytes().count(b"\n") > ticks:
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.02)
    context.stdout, context.stderr = process.communicate(timeout=60)
    context.code = process.returncode


@then('stderr is one line that says "{words}"')
def step_one_line(context: Context, words: str) -> None:
    lines = context.stderr.splitlines()
    assert len(lines) == 1 and words in lines[0], f"expected one line with {words!r}, found {lines}"


@then('the page {name} has the reason "{reason}"')
def step_page_has(context: Context, name: str, reason: str) -> None:
    context.read = Reader((folder(context) / name).read_text(encoding="utf-8"))
    assert reason in context.read.said, f"expected {reason!r} on the page, found {context.read.said!r}"


@then("stdout has the same headline and score")
def step_same(context: Context) -> None:
    lines = [line for line in context.stdout.splitlines() if line.startswith(("DRILL-1, ", "Score", "No score"))]
    assert len(lines) == 2, f"expected a headline and a score, found {context.stdout!r}"
    for line in lines:
        assert line in context.read.said, f"expected {line!r} on the page, found {context.read.said!r}"
