Feature: Operations that are stopped, cut, mended and played again
  An operation runs for hours, and everything that can happen to a process or a file happens to it. Whatever it was, the
  orders that were answered count once, no tick passes twice, and what is played again comes to the same world.

  Scenario Outline: OPS-1: the model is asked at each of its ticks, though <what> imitates the state messages of all ticks
    Given a model for SURGE whose <what> imitates the state messages of all ticks
    When it is played with histories of <tokens> tokens
    Then it has been asked at the same ticks as a model whose <what> is plain

    Examples:
      | what     | tokens |
      | note     | 100000 |
      | handover | 1      |

  Scenario Outline: OPS-2: orders that were answered stand after a stop: <what>
    Given a model for DRILL-3 that plays at tick 0
      """
      {"calls": [{"id": "call00001", "name": "assign", "arguments": {"unit": "C1", "target": "Bridgehead-Island", "reason": "first"}}]}
      <then>
      """
    When it is played, and resumed by <whom> whenever it stops
    Then its orders of tick 0 are "assign C1 Bridgehead-Island"

    Examples:
      | what                                      | whom         | then                                                                                       |
      | killed before the next request            | a new runner | {"stop": "request"}                                                                        |
      | stopped, and the same runner goes on      | the same     | {"stop": "request"}                                                                        |
      | the history did not fit, then it was killed | a new runner | {"fault": {"status": 400, "body": "{\"error\": {\"message\": \"too long\", \"code\": \"context_length_exceeded\"}}"}} / {"stop": "request"} |
      | a later call had the same id              | a new runner | {"stop": "turn", "calls": [{"id": "call00001", "name": "assign", "arguments": {"unit": "A1", "target": "I01", "reason": "second"}}]} |

  Scenario Outline: OPS-3: an operation played again comes to the same world: <what>
    Given a model for DRILL-3 that plays at tick 0
      """
      <turns>
      {"calls": [{"name": "assign", "arguments": {"unit": "A2", "target": "I02", "reason": "open road"}}]}
      """
    And it was played with 9 rounds a wake, and resumed whenever it stopped
    When I run hadr-dispatch "run" "DRILL-3" "--replay" "op.jsonl"
    Then it exits with 0
    And stderr says "replay: at tick 24 the world is as it was recorded in op.jsonl"

    Examples:
      | what                            | turns                                                                                       |
      | a turn was cut off              | {"finish_reason": "length", "calls": [{"name": "assign", "arguments": {"unit": "C1", "target": "Bridgehead-Island", "reason": "cut"}}]} |
      | a call was interrupted          | {"stop": "turn", "calls": [{"name": "assign", "arguments": {"unit": "C1", "target": "Bridgehead-Island", "reason": "stopped"}}]} |
      | a wake took seven rounds        | {"calls": [{"name": "recall", "arguments": {"unit": "C1"}}]} / {"calls": [{"name": "recall", "arguments": {"unit": "A1"}}]} / {"calls": [{"name": "recall", "arguments": {"unit": "A2"}}]} / {"calls": [{"name": "recall", "arguments": {"unit": "C1"}}]} / {"calls": [{"name": "recall", "arguments": {"unit": "A1"}}]} / {"calls": [{"name": "recall", "arguments": {"unit": "A2"}}]} |
      | three calls were interrupted    | {"stop": "turn", "calls": [{"name": "recall", "arguments": {"unit": "C1"}}]} / {"stop": "turn", "calls": [{"name": "recall", "arguments": {"unit": "C1"}}]} / {"stop": "turn", "calls": [{"name": "recall", "arguments": {"unit": "C1"}}]} |
      | a wake failed in its second round | {"calls": [{"name": "assign", "arguments": {"unit": "C1", "target": "Bridgehead-Island", "reason": "bridge"}}]} / {"fault": {"status": 500, "headers": {"x-should-retry": "false"}}} |
      | the provider failed and failed  | {"calls": [{"name": "assign", "arguments": {"unit": "C1", "target": "Bridgehead-Island", "reason": "bridge"}}]} / {"say": "Go on.", "then": "fail from tick 3 to 7"} |

  Scenario: OPS-4: another world than was recorded is told, with exit code 3
    Given a model for DRILL-3 that plays at tick 0
      """
      {"calls": [{"name": "assign", "arguments": {"unit": "A2", "target": "I02", "reason": "open road"}}]}
      """
    And it was played with 6 rounds a wake, and resumed whenever it stopped
    And in op.history-1.jsonl "\\\"unit\\\": \\\"A2\\\"" has become "\\\"unit\\\": \\\"A1\\\""
    When I run hadr-dispatch "run" "DRILL-3" "--replay" "op.jsonl"
    Then it exits with 3
    And stderr says "the world is another than was recorded in op.jsonl"

  Scenario Outline: OPS-5: a history that was begun and no more is begun again, with all that belongs there: <what>
    Given an operation of DRILL-3 that was killed when its history <number> had <lines> lines
    When it is played, and resumed whenever it stops
    Then op.history-<number>.jsonl holds "Roads, with ticks: " once
    And op.history-<number>.jsonl holds "<words>" once

    Examples:
      | what                   | number | lines | words                                                   |
      | the prompt alone       | 1      | 1     | The bridge to the island is broken                      |
      | nothing at all         | 2      | 0     | Handover from the dispatcher before you:\\nThe bridge.  |
      | the prompt of a second | 2      | 1     | Handover from the dispatcher before you:\\nThe bridge.  |

  Scenario: OPS-6: on a disk that fills up, whole ticks are kept, and it goes on from there
    Given a model for DRILL-3 that plays at tick 0
      """
      {"say": "Wait."}
      """
    When it is played with room for 2000 bytes a file, and then without that limit
    Then the first time it is told "op.jsonl cannot be written: the disk is full"
    And op.jsonl holds the ticks 0 to 24 once

  Scenario Outline: OPS-7: a session is not what it seems: <what>
    Given I have run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl" to its end
    And <change>
    When I run hadr-dispatch "run" "DRILL-1" "--session" "<name>"
    Then it exits with <code>
    And stderr says "<words>"

    Examples:
      | what                           | change                                      | name      | code | words                                             |
      | ticks were taken back          | op.jsonl is cut to 1 line                   | op.jsonl  | 2    | the history of this session knows of tick 2, but its log ends at tick 0 |
      | the log is gone                | op.jsonl is cut to 0 lines                  | op.jsonl  | 2    | op.jsonl is empty, but op.history-1.jsonl is not  |
      | a wake was edited              | in op.jsonl "\"rounds\": 2" has become "\"rounds\": \"x\"" | op.jsonl | 2 | op.jsonl is no operation that can go on: wake.rounds |
      | brackets without end           | op.jsonl ends with 100000 brackets          | op.jsonl  | 2    | op.jsonl is no operation that can go on           |
      | a history is gone              | op.history-1.jsonl is deleted               | op.jsonl  | 2    | op.history-1.jsonl is not there, and belongs to op.jsonl |
      | a text of another kind         | op.jsonl ends with 1 brackets               | op.history-1.jsonl | 2 | op.history-1.jsonl is no operation that can go on: it is no log of an operation |
      | no file at all                 | nothing more                                | /dev/null | 2    | the session /dev/null is no file that could be kept |

  Scenario Outline: OPS-8: a provider that nobody ever reached takes no ticks: <what>
    Given <model>
    When I run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl"
    Then it exits with 4
    And stderr says "stopped at tick 0: "
    And op.jsonl holds the ticks 0 to 0 once
    And there is one history

    Examples:
      | what                          | model                                                                   |
      | a wrong address               | the variable OPENAI_BASE_URL is "http://127.0.0.1:9/v1"                 |
      | a prompt that does not fit    | a model that finds every request too long                               |

  Scenario Outline: OPS-9: what would be lost is not written over, and what is written is whole: <what>
    Given I have run hadr-dispatch "eval" "--policies" "par" "--scenarios" "DRILL-1" "--csv" "rows.csv" to its end
    And I have run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl" to its end
    And the small scenario my.toml
    When I run hadr-dispatch <arguments>
    Then it exits with <code>
    And stderr says "<words>"

    Examples:
      | what                    | arguments                                                                                       | code | words                                    |
      | a page and its session  | "run" "DRILL-1" "--session" "op.jsonl" "--html" "op.jsonl"                                      | 2    | op.jsonl would be written over           |
      | a table and its picture | "eval" "--csv" "new.csv" "--plot" "new.csv"                                                     | 2    | new.csv would be written over            |
      | a page and a history    | "run" "DRILL-1" "--replay" "op.jsonl" "--html" "op.history-1.jsonl"                             | 2    | op.history-1.jsonl would be written over |
      | a page and its scenario | "run" "my.toml" "--html" "my.toml"                                                              | 2    | my.toml would be written over            |
      | two tables              | "eval" "--against" "rows.csv" "--csv" "rows.csv"                                                | 2    | rows.csv would be written over           |
      | a reader who left, of what is wrong | "check" "rows.csv" into a pipe that is closed at once, stderr is read               | 2    | stdout was closed before all was written |
      | a reader who left       | "run" "DRILL-1" "--html" "op.html" into a pipe that is closed at once, stderr is read           | 0    | stdout was closed before all was written |
