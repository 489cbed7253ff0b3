Feature: The command line
  A person, a pipe and a program read the same run. So stdout carries the answer and nothing else, stderr tells the
  story, and the exit code says whether there is a full answer: 0 answered, 2 usage or configuration, 3 stopped without
  a full answer, 4 provider error, 130 interrupted.

  Scenario Outline: CLI-1: without a key, the course's tasks are done offline, with the real tools
    When I run hadr-agent <limit> "<task>"
    Then it exits with 0
    And stdout matches "<answer>"
    And stderr says "offline: a stand-in plays scripts" once
    And stderr says "<call>"

    Examples:
      | limit                                | task                                              | answer                                          | call           |
      | "--max-rounds" "3"                   | why is the sky blue?                              | Rayleigh                                        | round 1        |
      | "--max-rounds" "3"                   | roll two dice and tell me the time                | ^You rolled a \*\*[1-6]\*\* and a \*\*[1-6]\*\*, and it is \*\*\d\d:\d\d\*\* | → roll_dice |
      | "--max-rounds" "3"                   | what is 2**31 - 1?                                | ^2\*\*31 - 1 is \*\*2147483647\*\*\.$           | → calculate    |
      | "--max-rounds" "3"                   | what's the secret message?                        | ^The secret message is: \*\*\w.+\*\*$           | → decode       |
      | "--max-rounds" "3"                   | what files are in this project and what is it for? | notes\.md                                      | → list_files   |
      | "--max-rounds" "3"                   | write me a poem                                   | OPENAI_API_KEY.*OPENAI_BASE_URL                 | stand-in       |
      | "--max-rounds" "1" "--final-answer" | what's the secret message?                        | OPENAI_API_KEY.*OPENAI_BASE_URL                 | asking once more |

  Scenario: CLI-2: the secret is fetched in one round and decoded in the next
    When I run hadr-agent "--json" "what's the secret message?"
    Then it exits with 0
    And the document's rounds made "1, 1, 0" tool calls
    And the second call decodes what the first one fetched

  Scenario: CLI-3: --json prints the whole run as one versioned document
    Given a model that plays
      """
      {"think": "I add.", "calls": [{"name": "calculate", "arguments": {"expression": "2 + 3"}}], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_cache_hit_tokens": 60}}
      {"think": "Done.", "say": "5 \ud83d", "usage": null}
      """
    When I run hadr-agent "--json" "2 + 3"
    Then it exits with 0
    And stdout is one JSON document with
      | path                        | value              |
      | version                     | 1                  |
      | answer                      | "5 \ud83d"         |
      | thinking                    | "Done."            |
      | stop                        | "answered"         |
      | usage.cached_tokens         | 60                 |
      | rounds.0.tool_calls         | 1                  |
      | rounds.0.thinking           | "I add."           |
      | rounds.0.usage.prompt_tokens | 100               |
      | rounds.1.usage.prompt_tokens | null              |
      | messages.1.content          | "2 + 3"            |
      | messages.3.role             | "tool"             |

  Scenario: CLI-4: text from models and tools is shown as text, in a pipe to the letter
    Given the tools file
      """
      from hadr_agent import tool

      @tool
      def paint() -> str:
          "Return colours."
          return "\x1b[31mred\x1b[0m [bold]x[/bold] :smile: \x9b2J"
      """
    And a model that plays
      """
      {"say": "[/INST] \u001b[2J", "calls": [{"name": "paint"}]}
      {"say": "Use a[0], see [docs], then [/INST] and [bold]this[/bold] :smile: \u001b]0;owned\u0007 and a line that is much longer than eighty characters, so that it would have to be wrapped somewhere."}
      """
    When I run hadr-agent "--tools-file" "tools.py" "go"
    Then it exits with 0
    And stdout is "Use a[0], see [docs], then [/INST] and [bold]this[/bold] :smile: ␛]0;owned␇ and a line that is much longer than eighty characters, so that it would have to be wrapped somewhere."
    And stderr says "␛[31mred␛[0m [bold]x[/bold] :smile: �2J"
    And neither stream holds a control character

  Scenario Outline: CLI-5: stderr tells the story, as much of it as is wanted
    Given a model that plays
      """
      {"think": "A dark thought.", "say": "Let me see.", "calls": [{"name": "calculate", "arguments": {"expression": "1+1"}}]}
      {"say": "Two."}
      """
    When I run hadr-agent "<flag>" "1 + 1"
    Then it exits with 0
    And stdout is "Two."
    And stderr says "<shown>"
    And stderr does not say "<not shown>"

    Examples:
      | flag         | shown                              | not shown       |
      | --think=show | A dark thought.                    | Error           |
      | --think=fold | thinking, 15 characters            | A dark thought. |
      | --think=hide | → calculate {"expression": "1+1"}  | A dark thought. |
      | --no-stream  | answered · 2 rounds, 1 tool call   | Error           |
      | --quiet      |                                    | round           |

  Scenario Outline: CLI-6: only a full answer exits with 0
    Given a model that plays
      """
      <turn>
      """
    When I run hadr-agent "--max-rounds" "1" "Well?"
    Then it exits with <code>
    And stderr says "<why>"

    Examples:
      | turn                                                        | code | why                                       |
      | {"say": "Yes."}                                             | 0    | answered                                  |
      | {"say": "Yes, bec", "finish_reason": "length"}              | 3    | the answer was cut off at the token limit |
      | {"think": "Hm."}                                            | 3    | no answer                                 |
      | {"think": "Hm.", "finish_reason": "length"}                 | 3    | no answer: the turn was cut off           |
      | {"role": "assistant", "content": null, "refusal": "Never."} | 3    | the model refused: Never.                 |
      | {"calls": [{"name": "now"}]}                                | 3    | stopped after 1 round, the limit          |
      | {"fault": {"status": 400, "body": "{\"error\": {\"message\": \"no such model\"}}"}} | 4 | no such model |

  Scenario: CLI-7: a tool that fails by itself is shown with its file and line; the model sees the text alone
    Given the tools file
      """
      from hadr_agent import tool

      @tool
      def boom() -> str:
          "Fail."
          raise RuntimeError("connect failed: db://svc:hunter2@db.internal/prod")
      """
    And a model that plays
      """
      {"calls": [{"name": "boom"}]}
      {"say": "It failed."}
      """
    When I run hadr-agent "--tools-file" "tools.py" "go"
    Then it exits with 0
    And stderr says "raised at tools.py, line 6, in boom"
    And neither stream says "hunter2"
    And the model was told "Error: RuntimeError: connect failed: db://***@db.internal/prod"

  Scenario Outline: CLI-8: a round without cached tokens is explained
    Given a model that plays
      """
      {"calls": [{"name": "calculate", "arguments": <arguments>}], "usage": {"prompt_tokens": 2000, "completion_tokens": 1}}
      {"say": "Two.", "usage": <usage>}
      """
    When I run hadr-agent "1 + 1"
    Then it exits with 0
    And stderr says "round 2, nothing cached: <why>"

    Examples:
      | arguments               | usage                                                             | why                                                                       |
      | {"expression": "1+1"}   | {"prompt_tokens": 2000}                                           | this provider does not report cached tokens                               |
      | {"expression": "1+1"}   | {"prompt_tokens": 300, "cached_tokens": 0}                        | the request is below the provider's minimum                               |
      | {"expression": "1+1"}   | {"prompt_tokens": 2000, "cached_tokens": 0}                       | the provider had no cached beginning                                      |
      | "{\"expression\": \"1"  | {"prompt_tokens": 2000, "cached_tokens": 0}                       | message 3 could not be replayed as it came, tool_calls[0].function.arguments |

  Scenario: CLI-9: doctor says where each setting came from, whether a model answers, and never the key
    Given the file .env
      """
      HADR_MODEL=from-the-file
      OPENAI_API_KEY=a-key-that-nobody-sees
      """
    And a model that plays
      """
      {"say": "ok"}
      """
    When I run hadr-agent "doctor"
    Then it exits with 0
    And stdout matches "OPENAI_API_KEY +set \(from \.env\)"
    And stdout matches "OPENAI_BASE_URL +http://127\.0\.0\.1:\d+/v1 \(from the environment\)"
    And stdout matches "HADR_MODEL +from-the-file \(from \.env\)"
    And stdout matches "it answers: "
    And neither stream says "a-key-that-nobody-sees"
