Feature: At a terminal
  Somebody sits there and waits. They see thinking as it comes, are asked before a command runs, and can stop the run
  at any moment; what they get at the end is easy to read.

  Scenario: TERM-1: the answer is set as Markdown, and nothing of it is lost
    Given a model that plays
      """
      {"say": "# Title\n\nUse **bold**, `a[0]`, [docs], [/INST] and <div> tags, see [here](http://localhost/x)."}
      """
    When I run hadr-agent "Write" at a terminal
    Then it exits with 0
    And the screen shows "Use bold, a[0], [docs], [/INST] and <div> tags, see here (http://localhost/x)."

  Scenario: TERM-2: thinking is seen while it comes, wrapped between words
    Given a model that plays
      """
      {"think": "First I count the words of this sentence, then I count them once more, and then I am quite sure of it.", "say": "Twenty."}
      """
    When I run hadr-agent "Count" at a terminal
    Then it exits with 0
    And the screen shows "First I count the words of this sentence, then I count them once more, and then"
    And the screen shows "I am quite sure of it."

  Scenario Outline: TERM-3: a command is run only if somebody says so
    Given a model that plays
      """
      {"calls": [{"name": "shell", "arguments": {"command": "echo done > ran; echo \u001b[2J"}}]}
      {"say": "Thank you."}
      """
    When I run hadr-agent "--allow-shell" "Make a file" at a terminal and type "<typed>"
    Then it exits with 0
    And the screen shows "command: echo done > ran; echo ␛[2J"
    And the model was told a text that begins with "<told>"

    Examples:
      | typed | told                                |
      | y     | exit code 0                         |
      | n     | Error: not approved: shell          |
      |       | Error: not approved: shell          |

  Scenario: TERM-4: Ctrl-C while the model thinks ends the run and gives the terminal back
    Given a model that plays
      """
      {"fault": {"delay": 20}, "say": "Too late."}
      """
    When I run hadr-agent "Think" at a terminal and press Ctrl-C when it shows "waiting"
    Then it exits with 130
    And the screen shows "interrupted"
    And the cursor is visible again
