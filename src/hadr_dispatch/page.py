"""An operation as one HTML page that needs no script and no other file: the map, who did what when, and why.

It draws what `report` tells. Names and reasons are shown as text, whatever is in them.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Self, cast

from hadr_agent.display import printable
from hadr_dispatch.observation import WORDS, Doing, File, Observation, Unit
from hadr_dispatch.report import TOLD, Decision, asides, decisions, figures, headline
from hadr_dispatch.scenario import Place, Road, Scenario
from hadr_dispatch.score import Outcome
from hadr_dispatch.state import by_urgency, clock
from hadr_dispatch.world import World

_WIDTH = 360  # of a drawing, about what a phone shows one to one
_TALLEST = 380  # that the places of a map are apart
_EDGE = 34  # from the sides of the map to its outermost places
_LINE = 12  # the height of a line of text
_LETTER = 6.3  # about the width of a letter
_LANE = 16  # the height of a unit's lane in the timeline
_LONGEST = 48  # letters of a place's name that stand on the map
_CURVES = 64  # the height of the curves below the lanes
_HEIGHTS: dict[Doing, int] = {"working": 12, "moving": 7, "waiting": 7, "idle": 2}  # of a lane's bar
_ARROWS = "→↘↓↙←↖↑↗"  # from east on, clockwise

_Spot = tuple[float, float]
_Words = list[tuple[str, str]]  # a line of a label: (class, text)


@dataclass(frozen=True)
class _Box:
    """A part of a drawing that is taken."""

    x: float
    y: float
    width: float
    height: float

    @classmethod
    def around(cls, spot: _Spot, width: float, height: float) -> Self:
        return cls(spot[0] - width / 2, spot[1] - height / 2, width, height)

    def shared(self, other: "_Box") -> float:
        """The area that both cover."""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        high = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0, wide) * max(0, high)


def page(world: World, outcome: Outcome) -> str:
    """The report of an operation as one HTML page."""
    scenario, seen = world.scenario, world.observe()
    told, *rest = figures(world, outcome)
    parts = [
        f"<h1>{_text(scenario.title)}</h1><p>{_text(headline(world, outcome))}</p>",
        f'<p class="score">{_text(told)}</p>',
        *(f"<p>{_text(line)}</p>" for line in rest),
        f'<p class="small">{_text(scenario.briefing.strip())}</p>',
        f"<h2>The map at {clock(scenario, world.tick)}</h2>",
        _map(seen) if scenario.places else "",
        _map_key(scenario),
        _standing(seen),
        "<h2>Who did what</h2>",
        _timeline(world),
        _TIMELINE_KEY,
        f"<h2>Decisions</h2>{_decisions(scenario, decisions(world))}",
        '<h2>Faults</h2><p class="small">What to mend; no part of the score.</p>',
        *(f"<p>{_text(line)}</p>" for line in asides(outcome)),
        f"<details><summary>All that happened</summary>{_events(world)}</details>",
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(f'{scenario.title} · {outcome.policy}')}</title>"
        f"<style>{_STYLE}</style></head>\n<body>{chr(10).join(parts)}</body></html>\n"
    )


def _text(text: str) -> str:
    return escape(printable(text))


def _svg(top: float, bottom: float, label: str, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top:.0f} {_WIDTH} {bottom - top:.0f}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
    )


# --- the map


def _map(seen: Observation) -> str:
    places = seen.scenario.places
    left, top = min(place.x for place in places), min(place.y for place in places)
    wide, high = max(place.x for place in places) - left, max(place.y for place in places) - top
    across = (_WIDTH - 2 * _EDGE) / max(1, wide)
    down = min(across, _TALLEST / max(1, high))
    spots = {place.name: (_EDGE + (place.x - left) * across, (place.y - top) * down) for place in places}
    taken = [_Box.around(spot, 16, 16) for spot in spots.values()]
    taken += [_Box.around(_along(spots, road, step / 20), 4, 4) for road in seen.roads for step in range(1, 20)]
    parts = [_road(spots, road) for road in seen.roads]
    parts += [_place(spots[place.name], place) for place in places]
    labels = {place.name: _about(seen, place) for place in places}
    parts += [_label(name, labels[name], spots, taken) for name in sorted(labels, key=lambda name: -len(labels[name]))]
    parts += [_road_figure(spots, road, taken) for road in sorted(seen.roads, key=lambda road: -road.work)]
    parts += [_under_way(seen, spots, unit, taken) for unit in seen.units if unit.left]
    return _svg(min(box.y for box in taken) - 3, max(box.y + box.height for box in taken) + 3, "Map", parts)


def _about(seen: Observation, place: Place) -> list[_Words]:
    """The lines that stand beside a place."""
    short = place.name if len(place.name) <= _LONGEST else f"{place.name[:_LONGEST]}…"
    lines = [[("name", short)]]
    lines += [[("", f"{each.free} of {each.beds} beds free")] for each in seen.hospitals if each.name == place.name]
    lines += [[("", f"{water} water, {shelter} shelter")] for name, water, shelter in seen.stock if name == place.name]
    for need in seen.needs:
        if need.place == place.name:
            lines += [[("yellow", "needs")], [("yellow", f"{need.water} water, {need.shelter} shelter")]]
    here = by_urgency([file for file in seen.files if file.place == place.name and not file.closed])
    lines += _threes([(_colour(file), file.id) for file in here])
    lines += _threes([("unit", unit.id) for unit in seen.units if unit.at == place.name and not unit.left])
    return lines


def _threes(words: _Words) -> list[_Words]:
    return [words[at : at + 3] for at in range(0, len(words), 3)]


def _colour(file: File) -> str:
    believed = file.believed
    return "red" if believed.red else "yellow" if believed.yellow else "green"


def _free(boxes: Iterable[_Box], taken: list[_Box], shunned: Sequence[_Box] = ()) -> _Box:
    """The box that covers the least of what is taken or shunned, the first of equals; it is taken then."""
    found = min(boxes, key=lambda box: sum(box.shared(other) for other in (*taken, *shunned)))
    taken.append(found)
    return found


def _label(name: str, lines: list[_Words], spots: Mapping[str, _Spot], taken: list[_Box]) -> str:
    """The lines above, below or beside their place, and not so near another one that they seem to be about that."""
    width = max(sum(len(text) + 1 for _, text in line) for line in lines) * _LETTER
    tall = len(lines) * _LINE
    x, y = spots[name]
    aside = (0.5, 0.25, 0.75, 0.0, 1.0)
    corners = [(x - width * part, y + side) for part in aside for side in (9, -9 - tall)]
    corners += [(x + side, y - tall * part) for part in aside for side in (10, -10 - width)]
    boxes = (_Box(max(2, min(at, _WIDTH - 2 - width)), down, width, tall) for at, down in corners)
    box = _free(boxes, taken, [_Box.around(spot, 40, 40) for other, spot in spots.items() if other != name])
    return "".join(
        f'<text x="{box.x + width / 2:.1f}" y="{box.y + 9.5 + row * _LINE:.1f}">'
        + " ".join(f'<tspan class="{kind}">{_text(text)}</tspan>' for kind, text in line)
        + "</text>"
        for row, line in enumerate(lines)
    )


def _along(spots: Mapping[str, _Spot], road: Road, share: float) -> _Spot:
    (x, y), (to_x, to_y) = (spots[end] for end in road.between)
    return x + (to_x - x) * share, y + (to_y - y) * share


def _road(spots: Mapping[str, _Spot], road: Road) -> str:
    (x, y), (to_x, to_y) = (spots[end] for end in road.between)
    kind = "road bad blocked" if road.work else "road"
    return (
        f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}">'
        f"<title>{_text(road.name)}</title></line>"
    )


def _road_figure(spots: Mapping[str, _Spot], road: Road, taken: list[_Box]) -> str:
    text, kind = (f"✕{road.work}", "bad") if road.work else (str(road.ticks), "ticks")
    return _on_road(text, kind, spots, road, 0.5, taken)


def _under_way(seen: Observation, spots: Mapping[str, _Spot], unit: Unit, taken: list[_Box]) -> str:
    road = cast("Road", seen.road(f"{unit.at}-{unit.route[0]}"))
    done = 1 - unit.left / road.ticks
    (x, y), (to_x, to_y) = spots[unit.at], spots[unit.route[0]]
    arrow = _ARROWS[round(math.atan2(to_y - y, to_x - x) / math.pi * 4) % 8]
    return _on_road(f"{unit.id} {arrow}", "unit", spots, road, done if road.between[0] == unit.at else 1 - done, taken)


def _on_road(text: str, kind: str, spots: Mapping[str, _Spot], road: Road, share: float, taken: list[_Box]) -> str:
    """A text on a road, as near as there is room to a share of its way."""
    shares = sorted((step / 20 for step in range(3, 18)), key=lambda each: abs(each - share))
    width = len(text) * _LETTER
    box = _free((_Box.around(_along(spots, road, each), width, _LINE) for each in shares), taken)
    return f'<text class="{kind}" x="{box.x + width / 2:.1f}" y="{box.y + 9.5:.1f}">{_text(text)}</text>'


def _place(spot: _Spot, place: Place) -> str:
    x, y = spot
    if place.beds:
        return (
            f'<rect class="hospital" x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" rx="3"/>'
            f'<path class="cross" d="M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8"/>'
        )
    if place.water or place.shelter:
        return f'<rect class="depot" x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12"/>'
    return f'<circle class="place" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'


def _map_key(scenario: Scenario) -> str:
    return _key(
        '<i class="hospital"></i> hospital',
        *(['<i class="depot"></i> depot'] if scenario.has_supplies else []),
        '<b class="unit">R1</b> a unit',
        '<b class="unit">R1 →</b> one on its way',
        '<b class="red">I01</b> an incident with badly hurt people (red)',
        '<b class="yellow">I02</b> with hurt people (yellow)',
        '<b class="green">I03</b> with neither',
        f'<b class="ticks">2</b> ticks to drive, of {scenario.minutes} minutes each',
        '<b class="bad">✕6</b> blocked; ticks of work to clear it',
    )


def _key(*entries: str) -> str:
    return f'<p class="key">{" ".join(f"<span>{entry}</span>" for entry in entries)}</p>'


def _standing(seen: Observation) -> str:
    """Units and open incidents in words."""
    still_open = by_urgency([file for file in seen.files if not file.closed])
    units = [f"<li><b>{_text(unit.id)}</b> {_text(_unit(unit))}</li>" for unit in seen.units]
    files = [f'<li><b class="{_colour(file)}">{_text(file.id)}</b> {_text(_file(file))}</li>' for file in still_open]
    return f'<div class="two"><ul>{"".join(units)}</ul><ul>{"".join(files) or "<li>No open incidents.</li>"}</ul></div>'


def _unit(unit: Unit) -> str:
    where = f"on the road to {unit.route[0]}" if unit.left else f"at {unit.at}"
    aboard = f", {len(unit.patients)} aboard" if unit.patients else ""
    return f"{WORDS[unit.kind]} {where}: {unit.doing}{f' ({unit.target})' if unit.target else ''}{aboard}"


def _file(file: File) -> str:
    note = f"; note: {file.note}" if file.note else ""
    return f"{file.place}: {file.believed}, {'seen' if file.seen else 'only told'}{note}"


# --- the timeline


@dataclass(frozen=True)
class _Moment:
    """A tick: what each unit did in it, and how many people at risk were dead and in care at its end."""

    units: tuple[Unit, ...]
    deaths: int
    in_care: int


def _moments(world: World) -> list[_Moment]:
    """What happened in each tick, by playing the log again."""
    again, found = World.start(world.scenario, world.seed), list[_Moment]()
    told = {tick: list(some) for tick, some in itertools.groupby(decisions(world), lambda each: each.tick)}
    while again.tick < world.tick:
        for decision in told.get(again.tick, ()):
            again.apply(decision.order)
        units = again.observe().units  # after the orders: whoever got one does it from this tick on
        again.next_tick(again.tick)
        result = again.result()
        found.append(_Moment(units, result.deaths, result.in_care))
    return found


def _timeline(world: World) -> str:
    scenario, moments = world.scenario, _moments(world)
    left = 8 + max([3, *(len(unit.id) for unit in scenario.units)]) * _LETTER
    top = 26  # below the marks
    curves = top + _LANE * len(scenario.units) + 10
    bottom = curves + _CURVES

    def at(tick: int) -> float:
        return left + tick * (_WIDTH - 12 - left) / scenario.ticks

    parts = [_axis(scenario, at, top, bottom)]
    for kind, mark, css, y in (("report", "▾", "ticks", 10), ("died", "✕", "bad", 22)):
        for tick in sorted({event.tick for event in world.events if event.kind == kind}):
            parts.append(f'<text class="mark {css}" x="{at(tick):.1f}" y="{y}">{mark}</text>')
    for row, unit in enumerate(scenario.units):
        parts += _lane(unit.id, [moment.units[row] for moment in moments], at, top + row * _LANE)
    in_care, deaths = [moment.in_care for moment in moments], [moment.deaths for moment in moments]
    most = max([1, *in_care, *deaths])
    for row, (name, css, counts) in enumerate((("in care", "green", in_care), ("died", "bad", deaths))):
        path = f"M{left:.1f} {bottom}" + "".join(
            f"H{at(tick):.1f}V{bottom - _CURVES * count / most:.1f}" for tick, count in enumerate(counts, 1)
        )
        parts.append(f'<path class="{css}" d="{path}"/>')
        said = f"{counts[-1] if counts else 0} {name}"
        parts.append(f'<text class="{css} left" x="{left + 3:.1f}" y="{curves + 9 + row * _LINE}">{said}</text>')
    return _svg(0, bottom + 15, "Timeline", parts)


def _lane(name: str, units: Sequence[Unit], at: Callable[[int], float], y: float) -> Iterator[str]:
    """A unit's name, and a bar for as long as it did one thing."""
    yield f'<text class="name left" x="2" y="{y + 12}">{_text(name)}</text>'
    tick = 0
    for (doing, target), run in itertools.groupby(units, lambda unit: (unit.doing, unit.target)):
        length, height = len(list(run)), _HEIGHTS[doing]
        yield (
            f'<rect class="{doing}" x="{at(tick):.1f}" y="{y + 8 - height / 2:.1f}" '
            f'width="{max(0.5, at(tick + length) - at(tick) - 0.6):.1f}" height="{height}"><title>'
            f"{_text(f'{name} {doing} {target}'.strip())}, ticks {tick} to {tick + length}</title></rect>"
        )
        tick += length


def _axis(scenario: Scenario, at: Callable[[int], float], top: float, bottom: float) -> str:
    every = next((each for each in (1, 2, 3, 6, 12, 24, 48, 96) if at(each) - at(0) >= 44), scenario.ticks)
    return "".join(
        f'<path class="grid" d="M{at(tick):.1f} {top}V{bottom}"/>'
        f'<text class="ticks" x="{min(at(tick), _WIDTH - 16):.1f}" y="{bottom + 11}">'
        f"{clock(scenario, tick)}</text>"
        for tick in range(0, scenario.ticks + 1, every)
    )


_TIMELINE_KEY = _key(
    *(f'<i class="{doing}" style="height: {height / 16}em"></i> {doing}' for doing, height in _HEIGHTS.items()),
    '<b class="ticks">▾</b> a report came in',
    '<b class="bad">✕</b> somebody died, whether or not anybody saw it',
)


# --- what was said


def _decisions(scenario: Scenario, all_of_them: Iterable[Decision]) -> str:
    rows = [
        f'<li class="{_fate(each)}"><time>{clock(scenario, each.tick)}</time>'
        f"<b>{_text(str(each))}</b> {_text(each.order.reason)}</li>"
        for each in all_of_them
    ]
    return f'<ol class="log">{"".join(rows)}</ol>' if rows else "<p>Nothing was ordered.</p>"


def _fate(decision: Decision) -> str:
    return "accepted" if decision.answer == "accepted" else "refused"


def _events(world: World) -> str:
    rows = [
        f"<li><time>{clock(world.scenario, event.tick)}</time>{_text(event.text)}</li>"
        for event in world.events
        if event.kind in TOLD
    ]
    return f'<ol class="log">{"".join(rows)}</ol>'


_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1b1f24; --line: #8887; --soft: #667; --bad: #c0342b;
  --warn: #a06a00; --good: #23855a; --move: #3d74cf; --wait: #d98e2b; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e6e8ea; --soft: #9aa3ad; --bad: #ff7a6e;
  --warn: #e8b84a; --good: #4fc28d; --move: #7aa8f5; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 0 auto; padding: 1rem;
  background: var(--page); color: var(--ink); overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 0.3rem; } h2 { font-size: 1.1rem; margin: 1.8rem 0 0.4rem; }
p { margin: 0.3rem 0; } .score { font-size: 1.25rem; font-weight: 650; } .small { font-size: 0.9rem; }
ul, ol { list-style: none; padding: 0; margin: 0.4rem 0; font-size: 0.9rem; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 0.5rem 1.5rem; }
.log li { padding: 0.3rem 0 0.3rem 3.4rem; border-top: 1px solid var(--line); white-space: pre-wrap; }
time { float: left; margin-left: -3.4rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.refused b { color: var(--bad); } summary { cursor: pointer; margin-top: 1.5rem; }
.key { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; font-size: 0.85rem; margin: 0.4rem 0 0.8rem; }
.key i { display: inline-block; width: 0.8em; height: 0.8em; vertical-align: middle; background: currentColor; }
.red, .bad { color: var(--bad); } .yellow { color: var(--warn); } .green, .working { color: var(--good); }
.unit, .moving, .hospital { color: var(--move); } .waiting, .depot { color: var(--wait); }
.idle, .ticks, .place { color: var(--soft); } .name, .unit, .red, .yellow, .green, .bad { font-weight: 650; }
svg { display: block; width: 100%; max-width: 36rem; margin: 0.5rem auto; font: 10px system-ui, sans-serif; }
svg text, svg rect, svg tspan { fill: currentColor; } svg path { fill: none; stroke: currentColor; stroke-width: 1.8; }
svg text { text-anchor: middle; paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round; }
svg .left { text-anchor: start; } svg .ticks { font-size: 9px; } svg .mark { stroke: none; }
svg .road { stroke: var(--line); stroke-width: 2; } svg .blocked { stroke: var(--bad); stroke-dasharray: 5 4; }
svg .grid { stroke: var(--line); stroke-width: 0.5; } svg .cross { stroke: var(--page); stroke-width: 2.5; }
svg .place { fill: var(--page); stroke: currentColor; stroke-width: 2; }
"""
