Feature: A board at the terminal
  Whoever watches an operation sees at each tick where everybody is and what is most urgent. In a pipe there is nobody to
  watch, and then stdout holds the report alone.

  Scenario Outline: BOARD-1: an operation that <policy> dispatches can be followed tick by tick, and then comes the report
    When I run hadr-dispatch "run" "DRILL-3" "--policy" "<policy>" at a terminal
    Then it exits with 0
    And the screen shows "tick 3 of 24"
    And the screen shows "Incidents, the most urgent first"
    And the screen shows "✕ Bridgehead-Island"
    And the screen shows "Score so far 100"
    And the screen shows "Score 100 (0 is doing nothing, 100 is par)"
    And no line of the board or the report is wider than 80 cells
    And the cursor is visible again

    Examples:
      | policy |
      | agent  |
      | par    |

  Scenario: BOARD-2: in a pipe there is no board
    When I run hadr-dispatch "run" "DRILL-1"
    Then it exits with 0
    And stdout matches "\ADRILL-1, seed 0, agent: tick 12 of 12.*Decisions.*assign A1 I01.*^Score 100"
    And stderr is the one line "hadr-dispatch: offline: a stand-in dispatches by the rule triage; OPENAI_API_KEY connects a model"

  Scenario: BOARD-3: Ctrl-C ends the operation in its tick, and the same command goes on from there
    Given I have run hadr-dispatch "run" "SURGE" "--session" "op.jsonl" at a terminal, with Ctrl-C when it showed "tick 3 of 48"
    When I run hadr-dispatch "run" "SURGE" "--session" "op.jsonl"
    Then the first of them exited with 130
    And its screen says at which tick it was interrupted, and that op.jsonl keeps it
    And it exits with 0
    And op.jsonl holds the ticks 0 to 48 once

  Scenario: BOARD-4: what a model and a scenario say is shown as text
    Given the file hostile.toml
      """
      id = "HOSTILE"
      title = "Try [bold red]this[/] :smile:"
      briefing = "Help."
      ticks = 2
      places = [{ name = "Ward", x = 0, y = 0, beds = 1 }, { name = "[blink]Yard", x = 9, y = 0 }]
      roads = [{ between = ["Ward", "[blink]Yard"], ticks = 1 }]
      units = [{ id = "A1", kind = "ambulance", at = "Ward" }]
      incidents = [{ tick = 0, place = "[blink]Yard", people = [{ triage = "red" }] }]
      """
    And a model that plays
      """
      {"calls": [{"name": "assign", "arguments": {"unit": "A1", "target": "I01", "reason": "go [red]now\u001b[2J"}}]}
      {"say": "Done \u001b]0;title\u0007[/red]"}
      """
    When I run hadr-dispatch "run" "hostile.toml" at a terminal
    Then the screen shows "Try [bold red]this[/] :smile:"
    And the screen shows "[blink]Yard: I01"
    And the screen shows "Done ␛]0;title␇[/red]"
    And the screen was never cleared by the model

  Scenario: BOARD-5: a provider that gives up in the middle ends the run in its own words, and what was done is kept
    Given a model that plays
      """
      {"calls": [{"name": "assign", "arguments": {"unit": "A1", "target": "I01", "reason": "the one call there is"}}]}
      {"say": "On the way."}
      {"fault": {"status": 402, "body": {"error": {"message": "your credit is used up"}}}}
      """
    And I have run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl" to its end, with exit code 4 and "your credit is used up"
    And the model is one that plays
      """
      {"calls": [{"name": "assign", "arguments": {"unit": "A1", "target": "Hospital", "reason": "a red aboard"}}]}
      {"say": "To the hospital."}
      {"say": "Done."}
      """
    When I run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl"
    Then it exits with 0
    And stdout matches "assign A1 I01.*assign A1 Hospital.*^Score 100"
    And op.jsonl holds the ticks 0 to 12 once

  Scenario: BOARD-6: a wake in which the provider failed is made up for in the next tick
    Given a model that plays
      """
      {"fault": {"status": 500, "headers": {"x-should-retry": "false"}}}
      {"calls": [{"name": "assign", "arguments": {"unit": "A1", "target": "I01", "reason": "the one call there is"}}]}
      {"say": "On the way."}
      {"calls": [{"name": "assign", "arguments": {"unit": "A1", "target": "Hospital", "reason": "a red aboard"}}]}
      {"say": "To the hospital."}
      {"say": "Done."}
      """
    When I run hadr-dispatch "run" "DRILL-1"
    Then it exits with 0
    And stderr says "hadr-dispatch: tick 0: passes without the model: scripted fault 500"
    And stdout matches "^  00:10    1  assign A1 I01: the one call there is.*^Score 100"
