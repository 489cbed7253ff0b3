Feature: Looking at a session
  A session is a file of messages; people want a picture of it: what was thought, called and found in each round, what
  the provider's cache could reuse, and, without a key and without cost, the same run again.

  Background:
    Given the file run.jsonl
      """
      {"role": "system", "content": "Be exact."}
      {"role": "user", "content": "Roll <b>one</b> die & add 1"}
      {"role": "assistant", "content": "<think>\nA die <script>alert(1)</script> first.\n</think>\n\nI roll.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "roll_dice", "arguments": "{\"n\": 1, \"sides\": 2}"}}]}
      {"role": "tool", "tool_call_id": "c1", "content": "[9]"}
      {"role": "assistant", "content": "", "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "calculate", "arguments": "{}"}}]}
      {"role": "tool", "tool_call_id": "c2", "content": "Error: the arguments could not be read, so nothing was run: they are not valid JSON"}
      {"role": "assistant", "content": "", "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "calculate", "arguments": "{\"expression\": \"9 + 1\"}"}}, {"id": "c4", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"no.md\"}"}}]}
      {"role": "tool", "tool_call_id": "c3", "content": "10"}
      {"role": "tool", "tool_call_id": "c4", "content": "Error: no.md could not be read"}
      {"role": "assistant", "content": "<think>\nDone.\n</think>\n\nIt is [bold]10[/bold]."}
      """

  Scenario: SHOW-1: show prints the session round by round: thinking, calls, results, tokens, and where the cache broke
    When I run hadr-agent "show" "run.jsonl"
    Then it exits with 0
    And stdout says, in this order
      | text                                                            |
      | system: Be exact.                                               |
      | user: Roll <b>one</b> die & add 1                               |
      | round 1:                                                        |
      | 0 cached                                                        |
      | A die <script>alert(1)</script> first.                          |
      | → roll_dice {"n": 1, "sides": 2}                                |
      | ← [9]                                                           |
      | round 3:                                                        |
      | the cache broke: message 5 was replayed with other arguments    |
      | It is [bold]10[/bold].                                          |
      | 4 rounds                                                        |
    And stdout says "the cache broke" once

  Scenario: SHOW-2: the page is one file without scripts, and shows hostile text as text
    When I run hadr-agent "show" "run.jsonl" "--html" "run.html"
    Then it exits with 0
    And the file "run.html" holds a bar for each of 4 rounds
    And the file "run.html" refers to no other file, runs no script and fits a phone
    And the file "run.html" says "&lt;script&gt;alert(1)&lt;/script&gt;"
    And the file "run.html" says "The cache broke: message 5"

  Scenario: SHOW-3: the picture is an SVG that stands alone
    When I run hadr-agent "show" "run.jsonl" "--svg" "run.svg"
    Then it exits with 0
    And the file "run.svg" is XML and refers to no other file

  Scenario: SHOW-4: a replay runs the real tools against the recorded turns, and says where their results differ
    When I run hadr-agent "--replay" "run.jsonl"
    Then it exits with 0
    And stdout is "It is [bold]10[/bold]."
    And stderr says "c1: recorded '[9]', now '["
    And stderr says "replay: 3 results of 4 differ from the recorded ones"

  Scenario: SHOW-5: a session of several tasks that stopped at a limit is replayed up to there, its rounds numbered through
    Given the file cut.jsonl
      """
      {"role": "user", "content": "Hello"}
      {"role": "assistant", "content": "Hello."}
      {"role": "user", "content": "2 + 3"}
      {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": "{\"expression\": \"2 + 3\"}"}}]}
      {"role": "tool", "tool_call_id": "c1", "content": "5"}
      """
    When I run hadr-agent "--replay" "cut.jsonl"
    Then it exits with 3
    And stdout is empty
    And stderr says "round 2"
    And stderr says "replay: 0 results of 1 differ from the recorded ones"

  Scenario Outline: SHOW-6: what cannot be shown or written is said
    Given the file notes.txt
      """
      Remember the tea.
      """
    When I run hadr-agent <arguments>
    Then it exits with 2
    And the complaint says "<words>"
    And the file "notes.txt" says "Remember the tea."

    Examples:
      | arguments                                  | words                                             |
      | "show" "notes.txt"                         | notes.txt is not a session: line 1                |
      | "show" "nowhere.jsonl"                     | nowhere.jsonl cannot be read: No such file        |
      | "show" "run.jsonl" "--html" "no/where.html" | no/where.html cannot be written: No such file    |
      | "--replay" "notes.txt"                     | notes.txt is not a session: line 1                |

  Scenario: SHOW-7: a replay is one JSON document if that is asked for: its rounds, tokens and messages from end to end
    Given the file talk.jsonl
      """
      {"role": "user", "content": "Hello"}
      {"role": "assistant", "content": "Hello."}
      {"role": "user", "content": "2 + 3"}
      {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": "{\"expression\": \"2 + 3\"}"}}]}
      {"role": "tool", "tool_call_id": "c1", "content": "6"}
      {"role": "assistant", "content": "Five."}
      """
    When I run hadr-agent "--replay" "talk.jsonl" "--json"
    Then it exits with 0
    And stdout is one JSON document with
      | path                | value      |
      | answer              | "Five."    |
      | stop                | "answered" |
      | rounds.0.tool_calls | 0          |
      | rounds.1.tool_calls | 1          |
      | rounds.2.round      | 3          |
      | messages.1.content  | "Hello."   |
      | messages.4.content  | "5"        |
    And its tokens are those of its rounds
    And stderr says "replay: 1 result of 1 differ from the recorded ones"
