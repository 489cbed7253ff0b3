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
      | fails with status 500 twice  |

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
      | after the first order of a wake was answered  |
      | while a tick was written                      |
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

  Scenario Outline: DISPATCH-7: what keeps hadr-dispatch from running is said in a line, with exit code 2
    Given the file broken.toml
      """
      id = "BROKEN
      """
    When I run hadr-dispatch <arguments>
    Then it exits with 2
    And stderr says "<words>"
    And stdout is empty

    Examples:
      | arguments                                                | words                                 |
      | "run" "NOWHERE"                                          | there is no scenario 'NOWHERE'        |
      | "run" "broken.toml"                                      | broken.toml is not TOML               |
      | "run" "DRILL-1" "--policy" "luck"                        | unknown policy 'luck' in --policy. There are: agent, idle |
      | "run" "DRILL-1" "--seed" "-1"                            | must be a number from 0 on            |
      | "run" "DRILL-1" "--session" "nowhere/op.jsonl"           | cannot be opened: No such file        |
      | "run" "DRILL-1" "--session" "broken.toml"                | broken.toml is no operation that can go on |
      | "run" "DRILL-1" "--policy" "par" "--session" "op.jsonl"  | --session, --replay and --model are for --policy agent |
      | "run" "DRILL-1" "--replay" "nowhere.jsonl"               | there is no session nowhere.jsonl          |
      | "run" "DRILL-1" "--replay" "op.jsonl" "--seed" "3"       | leave out --session, --seed and --model |
      | "run" "DRILL-1" "--history-tokens" "10"                  | must be 1000 or more, not '10'        |

  Scenario: DISPATCH-8: the agent is compared with the rules on the same seeds, offline too
    When I run hadr-dispatch "eval" "--policies" "par,triage,agent" "--seeds" "3" "--json"
    Then it exits with 0
    And stderr says "offline: a stand-in dispatches"
    And the agent has as many points as triage, and it alone has wakes, rounds and tokens

  Scenario: DISPATCH-9: a kept operation is played again in any history length, and comes to the same world
    Given an operation of SURGE with seed 7 that is kept in a file
    And its model fails with status 503 at two of its wakes, and its histories have 8000 tokens
    When I run hadr-dispatch "run" "SURGE" "--replay" "op.jsonl"
    Then it exits with 0
    And stderr says "at tick 48 the world is as it was recorded"
    And stderr says "passes without the model" twice
