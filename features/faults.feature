Feature: Faults of providers
  Providers limit, overload, time out, filter and refuse. Whoever waits wants to see it happen, and to read what it was
  and what to do; the history must come out of it whole, so that the same session can go on.

  Scenario Outline: FAULT-1: a request that is tried again is seen, each time once, with the reason and the wait
    Given a model that plays
      """
      {"calls": [{"name": "now"}]}
      {"fault": {"status": 429, "headers": {"retry-after-ms": "10"}}}
      {"fault": {"status": 503, "headers": {"retry-after-ms": "10"}}}
      {"say": "At last."}
      """
    When I run hadr-agent <limit> "--quiet" "Hello"
    Then it exits with 0
    And stdout is "At last."
    And stderr says "too many requests (HTTP 429); trying again in 0.0 s (1 of 3)" once
    And stderr says "HTTP 503; trying again in 0.0 s (2 of 3)" once

    Examples: in a round of the loop, and in the one that asks for an answer after it
      | limit                               |
      | "--max-rounds" "2"                  |
      | "--max-rounds" "1" "--final-answer" |

  Scenario Outline: FAULT-2: a history that no longer fits is recognised, is not sent again, and stays in the session
    Given a model that plays
      """
      {"calls": [{"name": "now"}]}
      {"fault": {"status": <status>, "body": "<body>"}}
      """
    When I run hadr-agent "--session" "long.jsonl" "Go on"
    Then it exits with 4
    And the complaint says "no longer fits the model"
    And the model was asked 2 times
    And the session "long.jsonl" holds "system, user, assistant, tool"

    Examples:
      | status | body |
      | 400    | {\"error\": {\"message\": \"This model's maximum context length is 8192 tokens.\", \"code\": \"context_length_exceeded\"}} |
      | 400    | {\"type\": \"error\", \"error\": {\"type\": \"invalid_request_error\", \"message\": \"prompt is too long: 210000 tokens > 200000 maximum\"}} |
      | 400    | [{\"error\": {\"message\": \"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).\"}}] |
      | 400    | {\"error\": {\"code\": 400, \"message\": \"the request exceeds the available context size\", \"type\": \"exceed_context_size_error\"}} |
      | 422    | {\"detail\": \"Prompt is too long for the context window\"} |
      | 400    | {\"error\": {\"message\": \"Invalid request: Your request exceeded model token limit: 8192\"}} |
      | 200    | {\"choices\": null, \"base_resp\": {\"status_code\": 2013, \"status_msg\": \"invalid params, context window exceeds limit\"}} |

  Scenario: FAULT-3: a field that the provider refuses on replay is named, with the setting that leaves it out
    Given a model that plays
      """
      {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "count_words", "arguments": "{\"text\": \"a b\"}"}}]}
      {"fault": {"status": 400, "body": "{\"error\": {\"message\": \"property 'messages.2.reasoning_content' is unsupported\"}}"}}
      """
    When I run hadr-agent "--session" "s.jsonl" "Count"
    Then it exits with 4
    And the complaint says "HADR_DROP_FIELDS=reasoning_content"

  Scenario: FAULT-4: a dropped field is not sent, and the history keeps it
    Given the variable HADR_DROP_FIELDS is "reasoning_content"
    And a model that plays
      """
      {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "count_words", "arguments": "{\"text\": \"a b\"}"}}]}
      {"say": "Two."}
      """
    When I run hadr-agent "--session" "s.jsonl" "Count"
    Then it exits with 0
    And no request holds "reasoning_content"
    And the file "s.jsonl" says "\"reasoning_content\": \"Hm.\""

  Scenario Outline: FAULT-5: a reply that never comes whole ends the run with its reason, and nothing of it is kept
    Given a model that plays
      """
      {"calls": [{"name": "now"}]}
      <turn>
      """
    When I run hadr-agent "--session" "s.jsonl" "Go on"
    Then it exits with 4
    And the complaint says "<words>"
    And the session "s.jsonl" holds "system, user, assistant, tool"

    Examples:
      | turn                                                                                            | words                            |
      | {"say": "A long answer that is cut.", "fault": {"cut_after": 2}}                                | the stream ended before the reply was complete |
      | {"fault": {"status": 200, "body": "<html>Sign in</html>", "content_type": "text/html"}}         | the reply is not JSON            |
      | {"fault": {"status": 200, "body": "{\"error\": {\"message\": \"no credit left\"}}"}}            | no credit left                   |
      | {"fault": {"status": 413, "body": "{\"error\": {\"message\": \"Request too large\"}}"}}         | Request too large                |

  Scenario: FAULT-6: a reply that takes too long is a fault of its own, and says so
    Given a provider with a time limit of 0.2 seconds, and a model that takes 5
    When the model is asked once
    Then the call fails and says "no reply within the time limit"

  Scenario Outline: FAULT-7: a run that failed says how to go on, if there is something to go on with
    Given a model that plays
      """
      <first>
      {"fault": {"status": 400}}
      """
    When I run hadr-agent <session> "Go on"
    Then it exits with 4
    And stderr says "<said>"
    And stderr does not say "<not said>"

    Examples:
      | first                        | session                 | said                                    | not said       |
      | {"calls": [{"name": "now"}]} | "--quiet"               | The next time, --session FILE keeps     | To go on       |
      | {"calls": [{"name": "now"}]} | "--session" "s.jsonl"   | hadr-agent --session s.jsonl --continue | The next time  |
      | {"fault": {"status": 400}}   | "--quiet"               | HTTP 400                                | you can go on  |
      | {"fault": {"status": 400}}   | "--session" "s.jsonl"   | hadr-agent --session s.jsonl --continue | The next time  |
