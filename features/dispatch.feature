Feature: The dispatcher runs on the same loop
  Other tools, another prompt and a state message, and not one line of the loop changed. The runner, and nothing else,
  lets time pass: once for each tick, whatever the model does, and however often the operation is killed and resumed.

  Scenario: DISPATCH-1: the loop that dispatches is the one that the course teaches
    When the dispatcher's runner is loaded
    Then its agent_loop is the very object of hadr_agent.agent

  Scenario Outline: DISPATCH-2: one tick passes for each turn of the runner, whatever the model does
    Given an operation of DRILL-1 whose model <does>
    When the runner makes 3 ticks
    Then the world is at tick 3
    And the log has one line for each tick

    Examples:
      | does                         |
      | says nothing                 |
      | only thinks                  |
      | calls an unknown tool        |
      | never stops calling tools    |
      | gives 50 impossible orders   |
      | fails with status 500        |

  Scenario: DISPATCH-3: over a full offline operation no request breaks the prompt cache
    When SURGE is dispatched offline with seed 7
    Then each request begins with the messages of the one before and the turn that answered it
    And at least 98 percent of what was sent again is counted as cached

  Scenario Outline: DISPATCH-4: killed in any tick, an operation goes on from there, and ends as if nothing had been
    Given an operation of SURGE with seed 7 that is kept in a file
    When it is killed <where> and resumed until it is over
    Then it ends with the hash of the operation that was never killed

    Examples:
      | where                                         |
      | before its first request                      |
      | in tick 7, after the first order was answered |
      | in tick 7, while the tick was written         |
      | after every request                           |

  Scenario: DISPATCH-5: a full history is handed over to a new one, and the old one stays on disk
    Given an operation of SURGE with seed 7 that is kept in a file
    When it is dispatched with histories of 8000 tokens
    Then there are several histories, each with the system prompt first
    And each but the first begins with the handover that the one before ends with
    And it ends with the hash of the operation that was never killed

  Scenario: DISPATCH-6: no tool holds the world, and none can let time pass
    When everything that can be reached from the dispatcher's tools is collected
    Then there is no world, no plan and no person among it
    And the world is where it was after every tool has been called

  Scenario Outline: DISPATCH-7: hadr-dispatch run says what went wrong in a line, and exits as it should
    When I run hadr-dispatch <arguments>
    Then hadr-dispatch exits with <code> and says "<words>"

    Examples:
      | arguments                                   | code | words                                  |
      | "run" "DRILL-1"                             | 0    | Score                                  |
      | "run" "DRILL-1" "--policy" "par" "--json"   | 0    | \"version\": 1                         |
      | "run" "NOWHERE"                             | 2    | there is no scenario 'NOWHERE'         |
      | "run" "DRILL-1" "--policy" "luck"           | 2    | unknown policy 'luck'                  |
      | "run" "DRILL-1" "--seed" "-1"               | 2    | must be a number from 0 on             |
      | "check" "nothing.toml"                      | 2    | cannot be read                         |
