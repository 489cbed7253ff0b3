"""CPU time of an operation of SURGE for each rule, and of the offline agent through the real loop.
Not measured: imports, starting processes, files, a board, a network or a model.

    uv run python benchmarks/dispatch.py [--seeds 30]

Each operation is played once in this process, one after the other; milliseconds of user and system time.
"""

import argparse
import statistics
import time
from collections.abc import Callable

from hadr_dispatch.dispatcher import by_agent
from hadr_dispatch.policies import RULES
from hadr_dispatch.scenario import Scenario, load_scenario


def milliseconds(play: Callable[[Scenario, int], object], scenario: Scenario, seeds: range) -> list[float]:
    """The CPU time of each seed's operation."""
    found: list[float] = []
    for seed in seeds:
        before = time.process_time()
        play(scenario, seed)
        found.append(1000 * (time.process_time() - before))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU time of an operation of SURGE for each rule.")
    parser.add_argument("--seeds", type=int, default=30, metavar="N", help="how many seeds, from 0 on (default: 30)")
    seeds, surge = range(parser.parse_args().seeds), load_scenario("SURGE")
    print("| policy | median, ms | slowest, ms |\n|---|---:|---:|")
    for name, play in {**RULES, "agent (offline)": by_agent}.items():
        times = milliseconds(play, surge, seeds)
        print(f"| {name} | {statistics.median(times):.1f} | {max(times):.1f} |", flush=True)


if __name__ == "__main__":
    main()
