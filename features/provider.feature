Feature: One model call
  Providers cache a request by its first bytes, and each of them breaks the common API in ways of its own. So a request
  must be the beginning of the next one to the byte, and what comes back must be checked, and mended where a provider
  would refuse it later, before the loop sees it.

  Scenario Outline: PROVIDER-1: every request is the beginning of the next one, with messages last
    Given replies are <how>
    And the model's turns are
      """
      {"role": "assistant", "content": "<think>ä</think>", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "echo", "arguments": "{\"text\":  \"ß\"}"}}]}
      {"role": "assistant", "content": "\ud83d lone", "tool_calls": [{"id": "call_2", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1, \"b\": 2}"}}]}
      {"role": "assistant", "content": "Done."}
      """
    When the loop runs on the task "Count"
    Then each request is the beginning of the next one, to the byte
    And each request holds "<keys>" in this order
    And each request is ASCII

    Examples:
      | how        | keys                                          |
      | unstreamed | model, tools, messages                        |
      | streamed   | model, stream, stream_options, tools, messages |

  Scenario: PROVIDER-2: a request without tools has no tools field, and options stand before the messages
    Given the options temperature 0.5 and seed 7
    And the reply
      """
      {"choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
      """
    When the model is asked without tools
    Then each request holds "model, temperature, seed, messages" in this order

  Scenario Outline: PROVIDER-3: a reply that holds no assistant turn is an error in the provider's words
    Given a reply with status <status> and the body <body>
    When the model is asked
    Then the call fails and says "<words>"
    And the error names the URL and what to look at

    Examples:
      | status | body                                                                            | words                      |
      | 200    | {"id": null, "choices": null, "error": {"message": "overloaded", "code": 502}}  | overloaded (502)           |
      | 200    | {"error": {"message": "no credit"}}                                             | no credit                  |
      | 200    | {"error": "plain words"}                                                        | plain words                |
      | 200    | {"choices": []}                                                                 | holds no message           |
      | 200    | {"choices": [{"message": null}]}                                                | holds no message           |
      | 200    | {"choices": [{"error": {"message": "upstream died"}, "message": {}}]}           | upstream died              |
      | 200    | {"detail": "try later"}                                                         | try later                  |
      | 200    | [1, 2]                                                                          | not a completion           |
      | 200    | <html><head><title>Sign in</title></head><body>Please sign in</body></html>     | Sign in Please sign in     |
      | 200    | {"choices": [{"mess                                                             | not JSON                   |
      | 401    | {"error": {"message": "bad key"}}                                               | bad key                    |
      | 404    | <h1>404 page not found</h1>                                                     | 404 page not found         |
      | 422    | {"detail": [{"msg": "field required", "loc": ["body"]}]}                        | field required             |

  Scenario Outline: PROVIDER-4: what providers refuse in a history is mended before the loop sees it
    Given the reply's message is <message>
    When the model is asked
    Then the turn that the loop sees is <turn>

    Examples: a message
      | message                                         | turn                                                        |
      | {"content": "Hi"}                               | {"role": "assistant", "content": "Hi"}                      |
      | {"role": null, "content": "Hi", "x": 1}         | {"role": "assistant", "content": "Hi", "x": 1}              |
      | {"content": "Hi", "tool_calls": "none"}         | {"role": "assistant", "content": "Hi", "tool_calls": []}    |
      | {"role": "assistant", "reasoning": "hm"}        | {"role": "assistant", "content": null, "reasoning": "hm"}   |
      | {"role": "assistant", "content": " a ", "refusal": null} | {"role": "assistant", "content": " a ", "refusal": null} |

    Examples: a tool call; * stands for nine letters or digits
      | message | turn |
      | {"content": "", "tool_calls": [{"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} | {"role": "assistant", "content": "", "tool_calls": [{"id": "*", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} |
      | {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}                               | {"role": "assistant", "content": "", "tool_calls": [{"id": "*", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} |
      | {"content": "", "tool_calls": [{"id": "a", "function": {"name": "", "arguments": {"x": "ä"}}}]}               | {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "unnamed_tool", "arguments": "{\"x\": \"\\u00e4\"}"}}]} |
      | {"content": "", "tool_calls": [{"id": "a", "type": "function", "index": 0, "x": 1, "function": {"name": "f", "arguments": "no", "y": 2}}, {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} | {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "index": 0, "x": 1, "function": {"name": "f", "arguments": "no", "y": 2}}, {"id": "*", "type": "function", "function": {"name": "f", "arguments": "{}"}}]} |

  Scenario Outline: PROVIDER-5: usage is read under every name that providers use, and what is missing is not 0
    Given the reply's usage is <usage>
    When the model is asked
    Then the usage is <prompt> prompt, <cached> cached, <completion> completion and <reasoning> reasoning tokens

    Examples:
      | usage                                                                                                                            | prompt | cached | completion | reasoning |
      | {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens_details": {"reasoning_tokens": 3}} | 100    | 10     | 5          | 3         |
      | {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": null, "prompt_cache_hit_tokens": 20, "prompt_cache_miss_tokens": 80}         | 100    | 20     | 5          | None      |
      | {"completion_tokens": 5, "prompt_cache_hit_tokens": 20, "prompt_cache_miss_tokens": 80}                                          | 100    | 20     | 5          | None      |
      | {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 30}                                                              | 100    | 30     | 5          | None      |
      | {"input_tokens": 40, "output_tokens": 5, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 10}                       | 100    | 50     | 5          | None      |
      | {"prompt_tokens": 100, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}}                                    | 100    | 0      | 0          | None      |
      | {"prompt_tokens": 1e400, "completion_tokens": 3.0, "prompt_tokens_details": {"cached_tokens": -1}}                               | None   | None   | 3          | None      |
      | {"prompt_tokens": 5, "cache_read_input_tokens": 100}                                                                             | 105    | 100    | None       | None      |
      | "unknown"                                                                                                                        | None   | None   | None       | None      |
      | {"prompt_tokens": "many", "completion_tokens": null}                                                                             | None   | None   | None       | None      |
      | null                                                                                                                             | None   | None   | None       | None      |

  Scenario: PROVIDER-6: rate limits and server errors are tried again, and the loop sees only the answer
    Given the model's turns are
      """
      {"fault": {"status": 429, "headers": {"retry-after-ms": "1"}}}
      {"fault": {"status": 500, "headers": {"retry-after-ms": "1"}}}
      {"role": "assistant", "content": "Here I am."}
      """
    When the loop runs on the task "Hello?"
    Then the answer is "Here I am."
    And all 3 requests are the same bytes

  Scenario: PROVIDER-7: an error never shows the key, not even when the provider echoes it
    Given the key "a-key-that-nobody-sees"
    And a reply with status 401 and the body {"error": {"message": "a-key-that-nobody-sees is not a key"}}
    When the model is asked
    Then the call fails and says "*** is not a key"
    And the error tells to look at OPENAI_API_KEY

  Scenario: PROVIDER-8: any assistant turn can be replayed, and every request begins with the one before
    When models answer with whatever JSON allows, unstreamed and streamed
    Then no request breaks a rule of the strict provider
    And each request is the beginning of the next one, to the byte
    And streamed and unstreamed turns end up as the same history
