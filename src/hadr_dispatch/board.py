"""A board on which a person follows an operation at a terminal. The only importer of rich here.

It shows what the dispatcher knows, and beside that the score so far, which the dispatcher does not.
"""

import sys
import time
from collections import deque
from collections.abc import Iterable
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hadr_agent.agent import Event
from hadr_agent.display import printable
from hadr_agent.provider import as_list, as_object
from hadr_agent.thinking import thinking_of
from hadr_dispatch.observation import WORDS, File, Observation, Unit
from hadr_dispatch.score import marks_by_tick, score
from hadr_dispatch.state import by_urgency, clock
from hadr_dispatch.world import World

_PACE = 0.1  # seconds that a tick is shown at least, so that a run without a model can be followed
_TALKING = 4  # lines of what the model says and does
_FRAME = 7  # lines of the head, the bar and the gaps
_SMALLEST = 8  # lines that each column gets, however small the terminal is


class Board:
    """Shows an operation on stderr while it is used as a context manager, and nothing where that is no terminal.

    `on_event` is for `agent_loop`, `show` for each tick. What is printed meanwhile stands above the board.
    """

    def __init__(self, max_rounds: int) -> None:
        self._console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._max_rounds = max_rounds
        self._said: deque[Text] = deque(maxlen=_TALKING)
        self._head = ""
        self._points = ""
        self._seen: Observation | None = None
        self._asked: tuple[int, float] | None = None  # the round that the model is thinking about, and since when
        self._live = Live(get_renderable=self._picture, console=self._console, refresh_per_second=8)
        self.is_watched = self._console.is_terminal and bool(sys.stderr and sys.stderr.isatty())

    def __enter__(self) -> Self:
        if self.is_watched:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked = None
        if self.is_watched:
            self._live.stop()

    def show(self, world: World) -> None:
        """The operation has come to this tick."""
        if not self.is_watched:
            return
        scenario, result = world.scenario, world.result()
        nothing, par = marks_by_tick(scenario, world.seed)[world.tick]
        found = score(result.points, nothing, par)
        so_far = "–" if found is None else f"{found:.0f}"
        self._points = f"Score so far {so_far} ({result.points} points; doing nothing {nothing}, par {par})"
        self._points += f" · {result.deaths} died, {result.in_care} in care"
        self._head = f"{clock(scenario, world.tick)} · tick {world.tick} of {scenario.ticks}"
        self._head += f" · {scenario.title} · seed {world.seed}"
        self._asked = None
        self._seen = world.observe()
        self._live.refresh()  # no tick is left out
        time.sleep(_PACE)

    def on_event(self, event: Event) -> None:
        """Show a request, what the model answers, and what its tools say."""
        if event.kind == "request":
            self._asked = event.round, time.monotonic()
            return
        self._asked = None
        if event.completion:
            turn = event.completion.choices[0].message.to_dict()
            words = thinking_of(turn) or str(turn.get("content") or "")
            if words.strip():
                self._say(words.strip(), "dim italic")
            for call in as_list(turn.get("tool_calls")):
                function = as_object(as_object(call).get("function"))
                self._say(f"→ {function.get('name')} {function.get('arguments') or ''}", "cyan")
        elif event.result:
            refused = event.result.exception or event.result.text.startswith("refused")
            self._say(f"← {event.result.text}", "red" if refused else "green")

    def _say(self, text: str, style: str) -> None:
        self._said.append(_line(" ".join(text.split()), style))

    # --- the picture, made anew several times a second from what was shown last

    def _picture(self) -> RenderableType:
        seen = self._seen
        if seen is None:
            return Text()
        height = max(_SMALLEST, self._console.height - _FRAME - _TALKING)
        columns = Table.grid(padding=(0, 2), expand=True)
        columns.add_column(ratio=3)
        columns.add_column(ratio=2)
        columns.add_row(Group(*_fitted(_left(seen), height)), Group(*_fitted(_right(seen), height)))
        bar = Padding(ProgressBar(seen.scenario.ticks, seen.tick), 0)  # by itself it does not end its line
        return Group(_line(self._head, "bold"), bar, _line(self._points), Text(), columns, Text(), *self._talk())

    def _talk(self) -> list[Text]:
        said = list(self._said)
        if self._asked:
            number, since = self._asked
            waiting = (
                f"round {number} of at most {self._max_rounds}: waiting for the model, {time.monotonic() - since:.0f} s"
            )
            said = [*said[1 - _TALKING :], _line(waiting, "bold")]
        return said


def _line(text: str, style: str = "") -> Text:
    """A text on one line, cut where the terminal or the column ends."""
    return Text(printable(text), style, no_wrap=True, overflow="ellipsis")


def _fitted(lines: list[Text], height: int) -> list[Text]:
    more = len(lines) - height + 1
    return lines if more < 2 else [*lines[: height - 1], _line(f"… and {more} more lines", "dim")]


def _left(seen: Observation) -> list[Text]:
    """Units and their orders, then the open incidents."""
    lines = [_line("Units", "bold underline"), *(_line(_unit(seen, unit), _unit_style(unit)) for unit in seen.units)]
    still_open = by_urgency([file for file in seen.files if not file.closed])
    lines += [Text(), _line("Incidents, the most urgent first", "bold underline")]
    return lines + ([_line(_file(seen, file), _urgency(file)) for file in still_open] or [_line("none open", "dim")])


def _right(seen: Observation) -> list[Text]:
    """The roads that are blocked, then the places where something is."""
    blocked = [road for road in seen.roads if road.work]
    lines = [_line(f"Roads: {len(seen.roads) - len(blocked)} open, {len(blocked)} blocked", "bold underline")]
    lines += [_line(f"✕ {road.name} ({road.work} ticks)", "red") for road in blocked]
    lines += [Text(), _line("Places", "bold underline")]
    there = {place.name: _there(seen, place.name) for place in seen.scenario.places}
    lines += [_line(f"{name}: {what}") for name, what in there.items() if what]
    nothing = sum(not what for what in there.values())
    return [*lines, _line(f"nothing at {nothing} others", "dim")] if nothing else lines


def _unit(seen: Observation, unit: Unit) -> str:
    where = f"→ {unit.route[-1]}" if unit.route else unit.at
    ticks = seen.ticks(unit, unit.route[-1]) if unit.route else None
    when = f" in {ticks}" if ticks is not None else ""
    aboard = f", {len(unit.patients)} aboard" if unit.patients else ""
    order = f" for {unit.target}" if unit.target and unit.target not in where else ""
    return f"{unit.id} {WORDS[unit.kind]:<11} {unit.doing:<7} {where}{when}{order}{aboard}"


def _unit_style(unit: Unit) -> str:
    return {"idle": "dim", "moving": "blue", "working": "green", "waiting": "yellow"}[unit.doing]


def _file(seen: Observation, file: File) -> str:
    sent = _joined(unit.id for unit in seen.assigned(file.id))
    return f"{file.id} {file.place}: {file.believed}{'' if file.seen else ' (told)'}{f' ← {sent}' if sent else ''}"


def _urgency(file: File) -> str:
    return "red" if file.believed.red else "yellow" if file.believed.yellow else "green"


def _there(seen: Observation, name: str) -> str:
    hospital = next((f"{each.free} of {each.beds} beds" for each in seen.hospitals if each.name == name), "")
    stock = next((f"stock {water}/{shelter}" for place, water, shelter in seen.stock if place == name), "")
    need = next((f"needs {each.water}/{each.shelter}" for each in seen.needs if each.place == name), "")
    files = _joined(file.id for file in seen.files if file.place == name and not file.closed)
    units = _joined(unit.id for unit in seen.units if unit.at == name and not unit.left)
    return " · ".join(filter(None, (hospital, stock, need, files, units)))


def _joined(names: Iterable[str]) -> str:
    return " ".join(names)
