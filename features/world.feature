Feature: The relief world
  A score means something only if the same orders lead to the same end, on every machine and in every process, and if
  no order can bend the rules: nobody is healed, doubled or in two places, and time passes only when the runner says so.
  A dispatcher knows what was told and seen, and nothing else; but what a unit sees on the spot is true.

  Scenario: WORLD-1: the same scenario and seed come to the same hashes, in every process and on every Python
    When par plays SURGE with seed 7
    Then 99 more plays in this process come to the same hashes
    And processes with PYTHONHASHSEED 1 and 4711 come to the same hashes
    And the last hash of world version 1 is 36fd76c8b633314953ce4b3306093957fb69c8eaa5dde4fbbae42ae4d5c0a6db
    And par with seed 8 comes to another hash at every tick

  Scenario Outline: WORLD-2: a log in JSON lines replays to the same hashes in another process
    Given the log of <rule> on <scenario> with seed <seed>
    When its log is replayed in another process
    Then it comes to the same hash at every tick

    Examples:
      | rule   | scenario | seed |
      | par    | SURGE    | 7    |
      | random | CYCLONE  | 3    |
      | triage | FLOOD    | 11   |

  Scenario Outline: WORLD-3: a log in which <change> is refused, and the refusal says where
    Given the log of par on SURGE with seed 7
    And in its line <line> <change>
    When the changed log is replayed
    Then it is refused, and that names <words>

    Examples:
      | line | change                        | words                                    |
      | 1    | the seed is another           | "hash"                                   |
      | 5    | the hash is another           | "hash" "tick 4"                          |
      | 2    | an order goes to another unit | "tick 1"                                 |
      | 2    | an order is missing           | "tick 1"                                 |
      | 2    | an answer is another          | "tick 1" "orders"                        |
      | 2    | a key of an order is unknown  | "line 2" "speed"                         |
      | 5    | the tick is another           | "tick 4 was expected" "tick 3"           |

  Scenario Outline: WORLD-4: whatever is ordered, the rules of the world hold at every tick
    When random orders are given on <scenario> with seed <seed>
    Then every check held at every tick, and orders were both accepted and refused for <refusals>

    Examples:
      | scenario | seed | refusals                                                                          |
      | DRILL-3  | 0    | unknown unit, no such target, no open road, wrong kind, no reason                 |
      | SURGE    | 7    | unknown unit, busy, wrong kind, no such target, no open road, nothing to do there |
      | CYCLONE  | 55   | busy, nothing to recall, nothing to do there, too much for one truck              |

  Scenario Outline: WORLD-5: a tick is not skipped or taken twice: with <ticks> gone, expecting tick <expected> is refused
    Given the world of DRILL-1 with seed 0
    And <ticks> ticks have passed
    When the next tick is asked for, expecting tick <expected>
    Then it is refused, and that names <words>
    And nothing has changed

    Examples: stale, future, and after the end
      | ticks | expected | words                               |
      | 3     | 2        | "tick 2" "tick 3" "nothing changed" |
      | 3     | 0        | "tick 0" "tick 3" "nothing changed" |
      | 3     | 4        | "tick 4" "tick 3" "nothing changed" |
      | 0     | -1       | "tick -1" "tick 0"                  |
      | 12    | 12       | "over" "12 ticks"                   |
      | 12    | 11       | "tick 11" "tick 12"                 |

  Scenario Outline: WORLD-6: what nobody has told or seen is not in an observation, nor reachable from it
    Given the world of <scenario> with seed <seed>
    When it is observed at every tick while <rule> plays
    Then no observation leads to what really happened, and each file says no more than reports and sight

    Examples:
      | scenario | seed | rule |
      | SURGE    | 7    | par  |
      | SURGE    | 3    | idle |
      | DRILL-5  | 7    | par  |
      | DRILL-5  | 7    | idle |

  Scenario: WORLD-7: a tick goes move, work, losses, roads and beds, reports, and only then what units see
    Given a world of this map
      """
      id = "TRY"
      title = "Try"
      briefing = "Try."
      ticks = 8
      places = [
        { name = "Ward", x = 0, y = 0, beds = 1 },
        { name = "North", x = 50, y = 0 },
        { name = "East", x = 99, y = 50 },
        { name = "South", x = 50, y = 99 },
      ]
      roads = [
        { between = ["Ward", "North"], ticks = 1 },
        { between = ["Ward", "East"], ticks = 6 },
        { between = ["Ward", "South"], ticks = 1 },
      ]
      units = [
        { id = "A1", kind = "ambulance", at = "Ward" },
        { id = "A2", kind = "ambulance", at = "Ward" },
      ]
      draws = { aftershocks = [{ tick = 6, roads = 1 }] }
      incidents = [
        { tick = 0, place = "North", people = [{ triage = "yellow" }] },
        { tick = 0, place = "East", people = [{ triage = "yellow" }] },
        { tick = 0, place = "South", people = [{ triage = "red", trapped = true }] },
        { tick = 6, place = "East", people = [{ triage = "green", trapped = true }] },
      ]
      """
    When these orders are given to the end
      | tick | unit | target |
      | 0    | A1   | I01    |
      | 0    | A2   | I02    |
      | 1    | A1   | Ward   |
    Then the events of tick 1 are, in this order, arrived, loaded, idle, seen
    And the events of tick 2 are, in this order, arrived, admitted, idle
    And the events of tick 6 are, in this order, arrived, loaded, idle, died, road, bed, report, seen, seen

  Scenario: WORLD-8: a note changes no hash
    Given the log of par on SURGE with seed 7
    When the same play is made with a note in every tick
    Then it comes to the same hash at every tick, and the notes are kept

  Scenario Outline: WORLD-9: a unit goes where it was found to be needed, and delivers only there: <what>
    Given a world of this map
      """
      id = "TRY"
      title = "Try"
      briefing = "Try."
      ticks = 12
      places = [
        { name = "Ward", x = 0, y = 0, beds = 4 },
        { name = "Depot", x = 0, y = 50, water = 40 },
        { name = "North", x = 50, y = 0 },
        { name = "South", x = 50, y = 99 },
      ]
      roads = [
        { between = ["Ward", "Depot"], ticks = 1 },
        { between = ["Ward", "North"], ticks = 1 },
        { between = ["Ward", "South"], ticks = 3 },
        { between = ["Depot", "South"], ticks = 3 },
      ]
      units = [
        { id = "A1", kind = "ambulance", at = "Ward" },
        { id = "A2", kind = "ambulance", at = "Ward" },
        { id = "T1", kind = "truck", at = "Depot" },
      ]
      needs = [{ tick = 0, place = "South", water = 20, shelter = 0 }]
      [[incidents]]
      tick = 0
      place = "North"
      people = [{ triage = "yellow" }, { triage = "yellow" }]
      reports = [<reports>]
      [[incidents]]
      tick = 0
      place = "North"
      people = [{ triage = "yellow" }]
      """
    When these orders are given to the end
      | tick | unit   | target   | water   |
      | 0    | <unit> | <target> | <water> |
      | 0    | A2     | <scout>  |         |
    Then <unit> has <done> something for the first time at tick <tick>

    Examples: South is 3 ticks from Ward and from Depot, and 4 from North; a unit on a road goes on to its end
      | what                      | reports                                                       | unit | target | water | scout | done      | tick |
      | a truck at its depot      | { tick = 0 }                                                  | T1   | South  | 20    | I02   | delivered | 3    |
      | a file's wrong place      | { tick = 0, place = "South" }                                 | A1   | I01    |       | I02   | loaded    | 7    |
      | a duplicate's wrong place | { tick = 0 }, { tick = 0, duplicate = true, place = "South" } | A1   | I02    |       | I03   | loaded    | 7    |
