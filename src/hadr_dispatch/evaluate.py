"""Policies compared on the same scenarios and seeds: a row for each operation, and what the rows come to.

It knows how operations are counted, not how they are played or scored.
"""

import csv
import io
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from html import escape
from typing import Any

from hadr_dispatch.policies import RULES
from hadr_dispatch.scenario import Scenario
from hadr_dispatch.score import Outcome, marks, outcome, score
from hadr_dispatch.world import WORLD_VERSION

Play = Callable[[Scenario, int], Outcome]
"""Plays a scenario with a seed to the end, or raises EvaluateError. It can be pickled: workers are other processes."""


class EvaluateError(ValueError):
    """Rows that cannot be made, read or compared: which, what is wrong, what to do."""


@dataclass(frozen=True)
class Row:
    """One operation. points: see `Result`; nothing, par: the points of the two marks on the same seed.

    Tokens are None where the provider did not report them. delivered, needed: units of supplies.
    """

    world_version: int
    scenario: str
    digest: str
    policy: str
    seed: int
    points: int
    nothing: int
    par: int
    at_risk: int
    deaths: int
    in_care: int
    refused: int
    duplicate: int
    idle: int
    wakes: int
    rounds: int
    capped: int
    failed: int
    prompt_tokens: int | None
    cached_tokens: int | None
    resent: int | None
    water_delivered: int
    water_needed: int
    shelter_delivered: int
    shelter_needed: int


_TEXTS = {"scenario", "digest", "policy"}
_TOKENS = {"prompt_tokens", "cached_tokens", "resent"}


def _by_rule(name: str, scenario: Scenario, seed: int) -> Outcome:
    return outcome(name, RULES[name](scenario, seed))


PLAYS: Mapping[str, Play] = {name: partial(_by_rule, name) for name in RULES}
"""The rules as policies."""


@dataclass(frozen=True)
class Missing:
    """An operation that did not come to its end, and why."""

    policy: str
    why: str


def evaluate(
    plays: Mapping[str, Play], scenarios: Sequence[Scenario], seeds: Sequence[int], executor: Executor
) -> Iterator[Row | Missing]:
    """A row for each scenario, policy and seed, in this order, whichever is finished first."""
    runs = [
        (policy, play, scenario, seed)
        for scenario in dict.fromkeys(scenarios)
        for policy, play in plays.items()
        for seed in dict.fromkeys(seeds)
    ]
    yield from executor.map(_row, *zip(*runs, strict=True))


def _row(policy: str, play: Play, scenario: Scenario, seed: int) -> Row | Missing:
    try:
        told = play(scenario, seed)
    except EvaluateError as error:
        return Missing(policy, str(error))
    nothing, par = marks(scenario, seed)
    result, faults, effort = told.result, told.faults, told.effort
    return Row(
        result.world_version, result.scenario, result.digest, policy, seed, result.points, nothing, par,
        result.at_risk, result.deaths, result.in_care, faults.refused, faults.duplicate, faults.idle,
        effort.wakes, effort.rounds, effort.capped, effort.failed, effort.usage.prompt_tokens,
        effort.usage.cached_tokens, effort.resent, *result.water, *result.shelter,
    )  # fmt: skip


def together(rows: Sequence[Row], earlier: Sequence[Row], file: str) -> list[Row]:
    """The rows of this run, and from an earlier one, out of a file, those of policies that played differently then.

    Those are named with their file.
    """
    now = {(row.scenario, row.policy, row.seed): row for row in rows}
    played = {key[:2] for key in now}
    changed = {key[:2] for old in earlier if now.get(key := (old.scenario, old.policy, old.seed), old) != old}
    kept: list[Row] = []
    for old in earlier:
        if (old.scenario, old.policy) in changed:
            kept.append(replace(old, policy=f"{old.policy} ({file})"))
        elif (old.scenario, old.policy) not in played:
            kept.append(old)
    return [*rows, *kept]


def check_comparable(earlier: Sequence[Row], scenarios: Sequence[Scenario], file: str) -> None:
    """Raises EvaluateError if rows of an earlier run are of another world, or of another scenario of the same name."""
    digests = {scenario.id: scenario.digest for scenario in scenarios}
    for old in earlier:
        for what, then, now in (
            ("world version", old.world_version, WORLD_VERSION),
            ("digest", old.digest, digests.get(old.scenario, old.digest)),
        ):
            if then != now:
                raise EvaluateError(
                    f"{file} has {old.scenario} with {what} {then}, this run has {now}; they cannot be compared. "
                    f"Make {file} anew with --csv."
                )


# --- what the rows come to


@dataclass(frozen=True)
class Standing:
    """A policy in a scenario. score: None where par does no better than nothing; error: None for a single seed too."""

    policy: str
    rows: Sequence[Row]
    score: float | None
    error: float | None


def standings(rows: Sequence[Row]) -> dict[str, list[Standing]]:
    """Each scenario's policies, in the order of the rows."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.scenario, row.policy), []).append(row)
    tables: dict[str, list[Standing]] = {}
    for (scenario, policy), its in found.items():
        tables.setdefault(scenario, []).append(_standing(policy, its))
    return tables


def _standing(policy: str, rows: Sequence[Row]) -> Standing:
    nothing, par = sum(row.nothing for row in rows), sum(row.par for row in rows)
    found = score(sum(row.points for row in rows), nothing, par)
    error = None
    if len(rows) > 1 and found is not None:
        # the linearised error of a ratio of sums: by what each seed's points are off the ratio of all
        off = [row.points - row.nothing - found / 100 * (row.par - row.nothing) for row in rows]
        error = 100 * statistics.stdev(off) * math.sqrt(len(rows)) / (par - nothing)
    return Standing(policy, rows, found, error)


def summary(rows: Sequence[Row]) -> str:
    """The comparison as plain text: for each scenario the scores, and below them the faults."""
    return "\n\n".join("\n".join(_table(name, table)) for name, table in standings(rows).items())


_COUNTS = ("refused", "duplicate", "idle", "wakes", "rounds", "capped", "failed")


def _table(scenario: str, table: Sequence[Standing]) -> Iterator[str]:
    yield f"{scenario}, 0 is doing nothing, 100 is par; error of the difference to par on the same seeds"
    scores: list[tuple[str, ...]] = [("policy", "seeds", "score", "error", "won-tied-lost", "deaths", "in care")]
    faults: list[tuple[str, ...]] = [("faults", *_COUNTS, "tokens", "cached")]
    for each in table:
        ahead = [(row.points > row.par) - (row.points < row.par) for row in each.rows]
        count = len(ahead)
        scores.append((
            each.policy, str(count), _decimal(each.score), _decimal(each.error),
            f"{ahead.count(1)}-{ahead.count(0)}-{ahead.count(-1)}",
            f"{sum(row.deaths for row in each.rows) / count:.1f}",
            f"{sum(row.in_care for row in each.rows) / count:.1f}",
        ))  # fmt: skip
        sums = [sum(getattr(row, name) for row in each.rows) for name in _COUNTS]
        faults.append((each.policy, *map(str, sums), *_tokens(each.rows)))
    yield from _aligned(scores)
    yield ""
    yield from _aligned(faults)


def _decimal(number: float | None) -> str:
    return "–" if number is None else f"{number:.1f}"


def _tokens(rows: Sequence[Row]) -> tuple[str, str]:
    """(prompt tokens, the share of them that came from the cache), of the rows where both were reported."""
    prompt = [row.prompt_tokens for row in rows if row.prompt_tokens is not None]
    both = [
        (row.prompt_tokens, row.cached_tokens) for row in rows if row.prompt_tokens and row.cached_tokens is not None
    ]
    share = f"{100 * sum(each[1] for each in both) // sum(each[0] for each in both)}%" if both else "–"
    return (str(sum(prompt)) if prompt else "–"), share


def _aligned(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *rest in lines:
        cells = [first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]
        yield "  ".join(cells).rstrip()


# --- in a file


def as_csv(rows: Sequence[Row]) -> str:
    """The rows for a spreadsheet, and for a later `--against`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Row)])
    writer.writerows(asdict(row).values() for row in rows)
    return text.getvalue()


def read_csv(text: str, name: str = "the file") -> list[Row]:
    """The rows of `as_csv`; `name` stands in error texts. Raises EvaluateError."""
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    except csv.Error as error:
        raise EvaluateError(f"{name} is no table: {error}") from error
    head = [field.name for field in fields(Row)]
    if not lines or lines[0] != head:
        raise EvaluateError(f"{name} is no table of hadr-dispatch eval --csv: its first line names other columns")
    rows: dict[tuple[str, str, int], Row] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            row = _read_row(head, line)
        except ValueError as error:
            raise EvaluateError(f"{name}, row {number}: {error}") from error
        if rows.setdefault((row.scenario, row.policy, row.seed), row) is not row:
            raise EvaluateError(f"{name}, row {number}: {row.policy} with seed {row.seed} stands there twice")
    return list(rows.values())


def _read_row(head: Sequence[str], line: Sequence[str]) -> Row:
    """Raises ValueError for a cell too many or too few, or that is no number."""
    cells: dict[str, Any] = {name: _cell(name, cell) for name, cell in zip(head, line, strict=True)}
    return Row(**cells)


def _cell(name: str, text: str) -> str | int | None:
    if name in _TEXTS:
        if not text.isprintable():
            raise ValueError(f"{name} holds control characters: {text[:40]!r}")
        return text
    if name in _TOKENS and not text:
        return None
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise ValueError(f"{name} is no number: {text[:40]!r}")
    return int(text)


# --- as a picture


def plot(rows: Sequence[Row]) -> str:
    """The scores as one SVG: a dot with its error for each policy, and the lines of 0 and 100."""
    tables = standings(rows)
    scores = [(each.score or 0, each.error or 0) for table in tables.values() for each in table]
    low = min([0.0, *(value - error for value, error in scores)]) - 5
    high = max([100.0, *(value + error for value, error in scores)]) + 5

    def x(value: float) -> str:
        return f"{170 + 500 * (value - low) / (high - low):.1f}"

    parts: list[str] = []
    y = 0
    for scenario, table in tables.items():
        top, y = y + 40, y + 50
        parts.append(f'<text x="10" y="{top - 12}" class="head">{escape(scenario)}</text>')
        for each in table:
            y += 24
            parts.append(f'<text x="10" y="{y + 4}">{escape(each.policy)}</text>')
            if each.score is None:
                continue
            error = each.error or 0
            ends = f'x1="{x(each.score - error)}" x2="{x(each.score + error)}" y1="{y}" y2="{y}"'
            parts.append(f'<line {ends} class="bar"/><circle cx="{x(each.score)}" cy="{y}" r="5"/>')
            parts.append(f'<text x="680" y="{y + 4}">{each.score:.1f}</text>')
        y += 20
        for mark in (0, 100):
            parts.append(f'<line x1="{x(mark)}" x2="{x(mark)}" y1="{top}" y2="{y}" class="mark"/>')
            parts.append(f'<text x="{x(mark)}" y="{y + 16}" class="scale">{mark}</text>')
        y += 20
    style = (
        "text{font:13px system-ui,sans-serif;fill:#222}.head{font-weight:bold}.scale{text-anchor:middle}"
        "rect{fill:#fff}.mark{stroke:#888;stroke-dasharray:4 3}.bar{stroke:#0969da;stroke-width:2}circle{fill:#0969da}"
        "@media(prefers-color-scheme:dark){rect{fill:#0d1117}text{fill:#e6edf3}.bar{stroke:#58a6ff}circle{fill:#58a6ff}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {y + 10}" role="img"><title>Scores</title>'
        f'<style>{style}</style><rect width="740" height="{y + 10}"/>{"".join(parts)}</svg>\n'
    )
