Feature: An operation as one page
  A report is read by people who were not there, on a phone, from a mail, years later. So it is one file that needs
  nothing else, and runs nothing: names, reasons and notes come from scenario files and from models, and anything may
  stand in them. And it says what the text report says: two accounts of one operation must not differ.

  Scenario Outline: PAGE-1: the page refers to nothing outside itself, and is well-formed
    Given <operation>
    When it is written as a page
    Then the page has no script, and no address but the name of SVG
    And each element is closed, and each drawing is XML

    Examples:
      | operation                                                                      |
      | an operation of SURGE with seed 7 by triage                                    |
      | an operation of CYCLONE with seed 0 by par                                     |
      | an operation of DRILL-1 that has not begun                                     |
      | an operation where each text is "\"'><a href=//example.org onclick=go()>&amp;" |

  Scenario Outline: PAGE-2: whatever stands in a title, a name, a reason or a note is shown as text
    Given an operation where each text is <text>
    When it is written as a page
    Then it has the elements of the same operation with harmless texts
    And it shows "<shown>" as title, place, reason, note and in what was refused

    Examples:
      | text                                     | shown                                  |
      | "<script>alert(1)</script>"              | <script>alert(1)</script>              |
      | "</title></style></svg></li><img src=x>" | </title></style></svg></li><img src=x> |
      | "&lt;b&gt; & &#60;"                      | &lt;b&gt; & &#60;                      |
      | "\" ' onload=alert(1) '"                 | " ' onload=alert(1) '                  |
      | "\u001b[31mred\u0007\u0000\u202e"        | ␛[31mred␇␀�                            |

  Scenario Outline: PAGE-3: the page says what the text report says
    Given <operation>
    When it is written as a page
    Then each line of the text report stands on the page

    Examples:
      | operation                                   |
      | an operation of SURGE with seed 7 by triage |
      | an operation of CYCLONE with seed 0 by par  |
      | an operation of DRILL-1 that has not begun  |

  Scenario Outline: PAGE-4: each place and each road is on the map, and what is blocked is marked as such
    Given <operation>
    When it is written as a page
    Then the map names each place, with its free beds and its stock
    And it has a line for each road, broken where the road is blocked, with the work that is left
    And it names each unit and each open incident once

    Examples:
      | operation                                   |
      | an operation of SURGE with seed 7 by triage |
      | an operation of CYCLONE with seed 0 by idle |
      | an operation of DRILL-3 that has not begun  |

  Scenario: PAGE-5: each unit has its lane, without a gap from the first tick to the last
    Given an operation of SURGE with seed 7 by triage
    When it is written as a page
    Then the lanes of the timeline are those of the units
    And the bars of each lane are what its unit did in each tick

  Scenario: PAGE-6: an operation that stopped early is compared with par at its tick
    Given an operation of SURGE with seed 7 by par that stopped at tick 24
    When it is written as a page
    Then it says "Score so far 100 (0 is doing nothing, 100 is par)"

  Scenario: PAGE-7: a page that could not be written is refused before the operation begins
    When I run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl" "--html" "nowhere/op.html"
    Then it exits with 2
    And stderr is one line that says "nowhere/op.html cannot be written"
    And there is no file "op.jsonl"

  Scenario Outline: PAGE-8: the page is written also when the operation stops half-way
    Given a model that plays
      """
      {"calls": [{"name": "assign", "arguments": {"unit": "A1", "target": "I01", "reason": "They are badly hurt."}}]}
      {"say": "Done."}
      <half-way>
      """
    When I run hadr-dispatch "run" "DRILL-1" "--session" "op.jsonl" "--html" "op.html" until <it stops>
    Then it exits with <code>
    And the page op.html has the reason "They are badly hurt."
    And stdout has the same headline and score

    Examples:
      | half-way                   | it stops             | code |
      | {"fault": {"status": 401}} | it ends              | 4    |
      | {"fault": {"delay": 5}}    | Ctrl-C after 2 ticks | 130  |
