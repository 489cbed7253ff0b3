"""An operation as one HTML page that needs no script and no other file: the map, who did what when, and why.

It draws what `report` tells. Names and reasons are shown as text, whatever is in them.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from hadr_agent.display import printable
from hadr_dispatch.observation import WORDS, File, Observation, Unit
from hadr_dispatch.report import TOLD, Decision, asides, decisions, figures, headline
from hadr_dispatch.scenario import Place, Road, Scenario
from hadr_dispatch.score import Outcome
from hadr_dispatch.state import by_urgency, clock
from hadr_dispatch.world import World

_WIDTH = 360  # of a drawing, about what a phone shows one to one
_EDGE = 34
_LINE = 12  # the height of a line of text
_LETTER = 5.8  # the width of a letter
_LANE = 16
_LEFT = 26  # where the lanes of the timeline begin


@dataclass(frozen=True)
class _Box:
    """A part of a drawing that is taken."""

    x: float
    y: float
    width: float
    height: float

    def shared(self, other: "_Box") -> float:
        """The area that both cover."""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        high = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(0, wide) * max(0, high)


@dataclass(frozen=True)
class _Moment:
    """A tick: what each unit did in it, and how many people at risk were dead and in care at its end."""

    units: tuple[Unit, ...]
    deaths: int
    in_care: int


def page(world: World, outcome: Outcome) -> str:
    """The report of an operation as one HTML page."""
    scenario, seen = world.scenario, world.observe()
    title = f"{scenario.title} · {outcome.policy}"
    told, *rest = figures(world, outcome)
    people = [f"<p>{_text(line)}</p>" for line in rest]
    apart = [f"<p>{_text(line)}</p>" for line in asides(outcome)]
    parts = [
        f"<h1>{_text(scenario.title)}</h1><p>{_text(headline(world, outcome))}</p>",
        f'<p class="score">{_text(told)}</p>',
        *people,
        f"<h2>The map at {clock(scenario, world.tick)}</h2>",
        _map(seen),
        _key(("hospital", "hospital"), ("depot", "depot"), ("red", "red"), ("yellow", "yellow"), ("green", "green")),
        _standing(seen),
        "<h2>Who did what</h2>",
        _timeline(world),
        _key(*((each, each) for each in ("working", "moving", "waiting", "idle"))),
        '<p class="small">▾ a report · <b class="bad">✕</b> a death, whether or not anybody saw it</p>',
        f"<h2>Decisions</h2>{_decisions(scenario, decisions(world))}",
        f"<h2>Faults</h2><p class=small>What to mend; no part of the score.</p>{''.join(apart)}",
        f"<details><summary>All that happened</summary>{_events(world)}</details>",
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{_text(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>{chr(10).join(parts)}</body></html>\n"
    )


def _text(text: str) -> str:
    return escape(printable(text))


def _key(*entries: tuple[str, str]) -> str:
    return f'<p class="key">{" ".join(f"<span><i class={kind}></i> {word}</span>" for kind, word in entries)}</p>'


def _svg(height: float, label: str, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" '
        f'aria-label="{_text(label)}">{"".join(parts)}</svg>'
    )


# --- the map


def _map(seen: Observation) -> str:
    places = seen.scenario.places
    left, top = min(place.x for place in places), min(place.y for place in places)
    wide = max(1, max(place.x for place in places) - left)
    high = max(place.y for place in places) - top
    height = 2 * _EDGE + max(80.0, min(380.0, high * 4.0))
    spots = {
        place.name: (
            _EDGE + (place.x - left) * (_WIDTH - 2 * _EDGE) / wide,
            _EDGE + (place.y - top) * (height - 2 * _EDGE) / max(1, high),
        )
        for place in places
    }
    taken = [_Box(x - 8, y - 8, 16, 16) for x, y in spots.values()]
    dots = [point for road in seen.roads for point in (_between(spots, road, step / 20) for step in range(1, 20))]
    labels = {place.name: _about(seen, place) for place in places}
    texts: list[str] = []
    for place in sorted(places, key=lambda place: -len(labels[place.name])):
        texts.append(_label(labels[place.name], spots[place.name], taken, dots, height))
    lines = [_road(spots, road) for road in seen.roads]
    figures_on_roads = [_road_figure(spots, road, taken) for road in sorted(seen.roads, key=lambda road: -road.work)]
    on_the_way = [_under_way(seen, spots, unit, taken) for unit in seen.units if unit.left]
    marks = [_place(spots[place.name], place) for place in places]
    return _svg(height, "Map", [*lines, *marks, *figures_on_roads, *texts, *on_the_way])


def _about(seen: Observation, place: Place) -> list[list[tuple[str, str]]]:
    """The lines that stand beside a place: (class, text) of each word."""
    lines = [[("name", place.name)]]
    if hospital := next((each for each in seen.hospitals if each.name == place.name), None):
        lines.append([("", f"{hospital.free} of {hospital.beds} beds free")])
    if depot := next((each for each in seen.stock if each[0] == place.name), None):
        lines.append([("", f"{depot[1]} water, {depot[2]} shelter")])
    if need := next((each for each in seen.needs if each.place == place.name), None):
        lines.append([("warn", f"needs {need.water} water, {need.shelter} sh.")])
    here = by_urgency([file for file in seen.files if file.place == place.name and not file.closed])
    for some in _threes([(_colour(file), file.id) for file in here]):
        lines.append(some)
    for some in _threes([("unit", unit.id) for unit in seen.units if unit.at == place.name and not unit.left]):
        lines.append(some)
    return lines


def _threes(words: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    for at in range(0, len(words), 3):
        yield list(words[at : at + 3])


def _colour(file: File) -> str:
    believed = file.believed
    return "red" if believed.red else "yellow" if believed.yellow else "green"


def _label(
    lines: list[list[tuple[str, str]]],
    spot: tuple[float, float],
    taken: list[_Box],
    dots: Sequence[tuple[float, float]],
    height: float,
) -> str:
    """The lines where they cover the least of what is drawn already; what they cover is taken then."""
    width = max(sum(len(text) + 1 for _, text in line) for line in lines) * _LETTER
    tall = len(lines) * _LINE
    x, y = spot
    aside = [0.0, 0.25, 0.5, 0.75, 1.0]
    corners = [(x - width * part, y + side) for part in aside for side in (9.0, -9 - tall)]
    corners += [(x + side, y - tall * part) for part in aside for side in (10.0, -10 - width)]
    corners = [(min(max(2.0, cx), _WIDTH - 2 - width), min(max(2.0, cy), height - 2 - tall)) for cx, cy in corners]

    def cost(box: _Box) -> float:
        hidden = sum(box.shared(other) for other in taken)
        return hidden * 10 + 15 * sum(box.shared(_Box(*dot, 1, 1)) for dot in dots)

    box = min((_Box(*corner, width, tall) for corner in corners), key=cost)
    taken.append(box)
    middle = box.x + box.width / 2
    rows = [
        f'<text x="{middle:.1f}" y="{box.y + 9.5 + row * _LINE:.1f}">'
        + " ".join(f'<tspan class="{kind}">{_text(text)}</tspan>' for kind, text in line)
        + "</text>"
        for row, line in enumerate(lines)
    ]
    return "".join(rows)


def _between(spots: dict[str, tuple[float, float]], road: Road, share: float) -> tuple[float, float]:
    (x, y), (to_x, to_y) = spots[road.between[0]], spots[road.between[1]]
    return x + (to_x - x) * share, y + (to_y - y) * share


def _road(spots: dict[str, tuple[float, float]], road: Road) -> str:
    (x, y), (to_x, to_y) = spots[road.between[0]], spots[road.between[1]]
    kind = "road blocked" if road.work else "road"
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def _road_figure(spots: dict[str, tuple[float, float]], road: Road, taken: list[_Box]) -> str:
    text = f"✕ {road.work} left" if road.work else str(road.ticks)
    return _on_road(spots, road, text, "bad" if road.work else "ticks", taken, (0.5, 0.4, 0.6, 0.33, 0.67, 0.27, 0.73))


def _under_way(seen: Observation, spots: dict[str, tuple[float, float]], unit: Unit, taken: list[_Box]) -> str:
    road = seen.road(f"{unit.at}-{unit.route[0]}")
    if road is None:
        return ""
    done = 1 - unit.left / (road.ticks + 1)
    done = done if road.between[0] == unit.at else 1 - done
    shares = sorted((step / 20 for step in range(2, 19)), key=lambda share: abs(share - done))
    return _on_road(spots, road, f"{unit.id} →", "unit", taken, shares)


def _on_road(
    spots: dict[str, tuple[float, float]],
    road: Road,
    text: str,
    kind: str,
    taken: list[_Box],
    shares: Sequence[float],
) -> str:
    width = len(text) * _LETTER + 2
    boxes: list[_Box] = []
    for share in shares:
        x, y = _between(spots, road, share)
        boxes.append(_Box(x - width / 2, y - _LINE / 2, width, _LINE))
    box = min(boxes, key=lambda box: sum(box.shared(other) for other in taken))
    taken.append(box)
    return f'<text class="{kind}" x="{box.x + width / 2:.1f}" y="{box.y + 9.5:.1f}">{_text(text)}</text>'


def _place(spot: tuple[float, float], place: Place) -> str:
    x, y = spot
    if place.beds:
        cross = f"M{x - 4:.1f} {y:.1f}h8M{x:.1f} {y - 4:.1f}v8"
        return f'<rect class="hospital" x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" rx="3"/>' + (
            f'<path class="cross" d="{cross}"/>'
        )
    if place.water or place.shelter:
        return f'<rect class="depot" x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12"/>'
    return f'<circle class="place" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'


def _standing(seen: Observation) -> str:
    """Units and open incidents in words."""
    still_open = by_urgency([file for file in seen.files if not file.closed])
    units = "".join(f"<li><b>{_text(unit.id)}</b> {_text(_unit(unit))}</li>" for unit in seen.units)
    files = "".join(
        f"<li><b class={_colour(file)}>{_text(file.id)}</b> {_text(f'{file.place}: {file.believed}')}, "
        f"{'seen' if file.seen else 'told'}</li>"
        for file in still_open
    )
    return f'<div class="two"><ul>{units}</ul><ul>{files or "<li>no open incidents</li>"}</ul></div>'


def _unit(unit: Unit) -> str:
    where = f"on the road to {unit.route[0]}" if unit.left else f"at {unit.at}"
    aboard = f", {len(unit.patients)} aboard" if unit.patients else ""
    return f"{WORDS[unit.kind]} {where}: {unit.doing}{f' ({unit.target})' if unit.target else ''}{aboard}"


# --- the timeline


def _moments(world: World) -> list[_Moment]:
    """What happened in each tick, by playing the log again."""
    again, found = World.start(world.scenario, world.seed), list[_Moment]()
    told = {tick: list(some) for tick, some in itertools.groupby(decisions(world), lambda each: each.tick)}
    while again.tick < world.tick:
        for decision in told.get(again.tick, ()):
            again.apply(decision.order)
        units = again.observe().units
        again.next_tick(again.tick)
        result = again.result()
        found.append(_Moment(units, result.deaths, result.in_care))
    return found


def _timeline(world: World) -> str:
    scenario, moments = world.scenario, _moments(world)
    step = (_WIDTH - _LEFT - 12) / scenario.ticks
    top = 26
    bottom = top + _LANE * len(scenario.units)
    parts = [_axis(scenario, step, top, bottom + 78)]
    for kind, mark, y in (("report", "▾", 10), ("died", "✕", 22)):
        ticks = sorted({event.tick for event in world.events if event.kind == kind})
        css = "bad" if kind == "died" else "ticks"
        parts += [f'<text class="{css}" x="{_LEFT + tick * step:.1f}" y="{y}">{mark}</text>' for tick in ticks]
    for row, unit in enumerate(scenario.units):
        y = top + row * _LANE
        parts.append(f'<text class="lane" x="2" y="{y + 12}">{_text(unit.id)}</text>')
        tick = 0
        for (doing, target), run in itertools.groupby(
            (moment.units[row].doing, moment.units[row].target) for moment in moments
        ):
            length = len(list(run))
            height = {"working": 12, "moving": 7, "waiting": 7, "idle": 2}[doing]
            parts.append(
                f'<rect class="{doing}" x="{_LEFT + tick * step:.1f}" y="{y + 2 + (12 - height) / 2:.1f}" '
                f'width="{max(0.5, length * step - 0.6):.1f}" height="{height}"><title>'
                f"{_text(f'{unit.id} {doing} {target}'.strip())}, ticks {tick} to {tick + length}</title></rect>"
            )
            tick += length
    return _svg(bottom + 92, "Timeline", [*parts, *_curves(moments, step, bottom + 10, 64)])


def _axis(scenario: Scenario, step: float, top: float, bottom: float) -> str:
    every = next((each for each in (1, 2, 3, 6, 12, 24, 48, 96) if each * step >= 44), scenario.ticks)
    return "".join(
        f'<line class="grid" x1="{_LEFT + tick * step:.1f}" x2="{_LEFT + tick * step:.1f}" y1="{top}" y2="{bottom}"/>'
        f'<text class="ticks" x="{_LEFT + tick * step - (8 if tick * step > _WIDTH - 60 else 0):.1f}" '
        f'y="{bottom + 11}">{clock(scenario, tick)}</text>'
        for tick in range(0, scenario.ticks + 1, every)
    )


def _curves(moments: Sequence[_Moment], step: float, top: float, height: float) -> Iterator[str]:
    """People in care and deaths, as they grew."""
    most = max((max(moment.in_care, moment.deaths) for moment in moments), default=0) or 1
    ends: list[float] = []
    for name, css, counts in (
        ("in care", "care", [moment.in_care for moment in moments]),
        ("died", "dead", [moment.deaths for moment in moments]),
    ):
        last = counts[-1] if counts else 0
        path = f"M{_LEFT} {top + height:.1f}"
        for tick, count in enumerate(counts, 1):
            path += f"H{_LEFT + tick * step:.1f}V{top + height * (1 - count / most):.1f}"
        y = top + height * (1 - last / most) - 3
        while any(abs(y - other) < _LINE for other in ends):
            y -= _LINE
        ends.append(y)
        x = min(_LEFT + len(counts) * step, _WIDTH - 12)
        yield f'<path class="{css}" d="{path}"/><text class="{css} end" x="{x:.1f}" y="{y:.1f}">{last} {name}</text>'


# --- what was said


def _decisions(scenario: Scenario, all_of_them: Iterable[Decision]) -> str:
    rows = [
        f"<li{'' if each.answer == 'accepted' else ' class=refused'}><time>{clock(scenario, each.tick)}</time> "
        f"<b>{_text(str(each))}</b> {_text(each.order.reason)}</li>"
        for each in all_of_them
    ]
    return f'<ol class="log">{"".join(rows)}</ol>' if rows else "<p>Nothing was ordered.</p>"


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
p { margin: 0.3rem 0; } .score { font-size: 1.25rem; font-weight: 650; } .small { font-size: 0.85rem; }
svg { display: block; width: 100%; max-width: 36rem; margin: 0.5rem auto; font: 10px system-ui, sans-serif; }
svg text { fill: var(--ink); text-anchor: middle; paint-order: stroke; stroke: var(--page); stroke-width: 3px;
  stroke-linejoin: round; }
svg .name, svg .unit { font-weight: 650; } svg .ticks { fill: var(--soft); font-size: 9px; }
svg .lane { text-anchor: start; font-weight: 650; } svg .end { text-anchor: end; stroke-width: 3px; }
svg .road { stroke: var(--line); stroke-width: 2; } svg text.bad { stroke-width: 5px; } svg .blocked { stroke: var(--bad); stroke-dasharray: 5 4; }
svg .grid { stroke: var(--line); stroke-width: 0.5; } svg .cross { stroke: #fff; stroke-width: 2.5; }
svg .place { fill: var(--page); stroke: var(--soft); stroke-width: 2; }
.hospital { fill: var(--move); background: var(--move); } .depot { fill: var(--wait); background: var(--wait); }
.bad, svg .bad, b.red, svg .red { color: var(--bad); fill: var(--bad); }
.warn, svg .warn, b.yellow, svg .yellow { color: var(--warn); fill: var(--warn); }
b.green, svg .green { color: var(--good); fill: var(--good); } svg .red, svg .yellow, svg .green { font-weight: 650; }
svg .unit { fill: var(--move); }
.working { fill: var(--good); background: var(--good); } .moving { fill: var(--move); background: var(--move); }
.waiting { fill: var(--wait); background: var(--wait); } .idle { fill: var(--soft); background: var(--soft); }
svg path.care, svg path.dead { fill: none; stroke: var(--good); stroke-width: 1.8; }
svg path.dead { stroke: var(--bad); }
svg text.care { fill: var(--good); } svg text.dead { fill: var(--bad); }
.key { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.85rem; justify-content: center; }
.key i { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; }
.key i.red { background: var(--bad); } .key i.yellow { background: var(--warn); }
.key i.green { background: var(--good); }
.key i.idle { height: 2px; vertical-align: middle; } .key i.moving, .key i.waiting { height: 0.5em; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 0.5rem 1.5rem; }
ul, ol { list-style: none; padding: 0; margin: 0.4rem 0; font-size: 0.9rem; }
.log li { padding: 0.3rem 0 0.3rem 3.4rem; border-top: 1px solid var(--line); white-space: pre-wrap; }
time { float: left; margin-left: -3.4rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.refused b { color: var(--bad); } summary { cursor: pointer; margin-top: 1.5rem; }
"""
