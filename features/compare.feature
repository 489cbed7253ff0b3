Feature: Prompts side by side
  Whether a system prompt is better cannot be read off its words. The same task under each, a few times, shows what it
  costs in rounds and tokens; the answers are for people to judge.

  Scenario: COMPARE-1: a task is played under each prompt as often as asked, and the means stand side by side
    Given the file a.md
      """
      Be kind.
      """
    And the file b.md
      """
      Be brief.
      """
    And a model that plays
      """
      {"say": "One.", "usage": {"prompt_tokens": 100, "cached_tokens": 0, "completion_tokens": 10}}
      {"say": "Two.", "usage": {"prompt_tokens": 300, "cached_tokens": 200, "completion_tokens": 30}}
      {"calls": [{"name": "now"}], "usage": {"prompt_tokens": 50, "cached_tokens": 0, "completion_tokens": 5}}
      {"say": "Three.", "usage": {"prompt_tokens": 70, "cached_tokens": 40, "completion_tokens": 5}}
      {"say": "", "usage": {"prompt_tokens": 80, "cached_tokens": 0, "completion_tokens": 0}}
      """
    When I run hadr-agent "compare" "a.md" "b.md" "-n" "2" "--prices" "1,0.1,2" "--" "Count"
    Then it exits with 0
    And the model was asked under "Be kind." 2 times and under "Be brief." 3 times
    And stdout matches "^a\.md +2 +2 +1\.0 +200 +100 +20 +0\.000150$"
    And stdout matches "^b\.md +2 +1 +1\.5 +100 +20 +5 +0\.000092$"

  Scenario Outline: COMPARE-2: what cannot be compared is explained
    Given the file a.md
      """
      Be kind.
      """
    When I run hadr-agent <arguments>
    Then it exits with 2
    And the complaint says "<words>"

    Examples:
      | arguments                                     | words                            |
      | "compare" "a.md" "Count"                      | the task goes behind --          |
      | "compare" "a.md" "--" "Count" "more"          | the task goes behind --          |
      | "compare" "--" "Count"                        | the following arguments are required: PROMPT |
      | "compare" "a.md" "no.md" "--" "Count"         | the system prompt cannot be read: no.md |
      | "compare" "a.md" "--prices" "1,2" "--" "Count" | --prices takes three numbers    |
      | "compare" "a.md" "-n" "0" "--" "Count"        | must be at least 1, not '0'      |

  Scenario: COMPARE-3: a prompt is sent as a run would send it: without the space around it, and not at all if it is empty
    Given the file padded.md
      """

      Be kind.

      """
    And the file empty.md
      """

      """
    And a model that plays
      """
      {"say": "One."}
      {"say": "Two."}
      """
    When I run hadr-agent "compare" "padded.md" "empty.md" "--" "Count"
    Then it exits with 0
    And the requests hold "system: Be kind., user: Count; user: Count"
