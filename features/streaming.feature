Feature: Streamed replies
  A streamed reply comes in pieces, and each server cuts and numbers them in its own way. Joined, they must give the
  message that an unstreamed reply would have held, since that is what goes back in the next request; and a stream that
  breaks off must leave nothing behind.

  Scenario Outline: STREAM-1: the pieces of a call are joined to the call that was meant
    Given the reply is streamed as
      """
      <pieces>
      """
    When the model is asked
    Then the turn's calls are <calls>

    Examples:
      | pieces | calls |
      | {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]} + {"tool_calls": [{"index": 0, "function": {"arguments": "{\"x\":"}}]} + {"tool_calls": [{"index": 0, "function": {"arguments": " 1}"}}]} | a f {"x": 1} |
      | {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]} + {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]} | a f {}, b g {} |
      | {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]} + {"tool_calls": [{"function": {"arguments": "}"}}]} + {"tool_calls": [{"id": "b", "function": {"name": "f", "arguments": "{}"}}]} | a f {}, b f {} |
      | {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]} + {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "f", "arguments": "{}"}}]} | a f {}, b f {} |
      | {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]} + {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "}"}}]} | a f {} |
      | {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "roll_"}}]} + {"tool_calls": [{"index": 0, "function": {"name": "dice", "arguments": "{}"}}]} | a roll_dice {} |
      | {"tool_calls": [{"index": 0, "id": "", "function": {"name": "f", "arguments": "{}"}}]} + {"tool_calls": [{"index": 0, "id": "", "function": {"name": "g", "arguments": "{}"}}]} | * f {}, * g {} |

  Scenario: STREAM-2: a last chunk that holds usage and no choices is read for its usage
    Given the stream's lines are
      """
      data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "5"}, "finish_reason": "stop"}]}
      data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
      data: [DONE]
      """
    When the model is asked
    Then the turn that the loop sees is {"role": "assistant", "content": "5"}
    And the usage is 9 prompt, None cached, 1 completion and None reasoning tokens

  Scenario Outline: STREAM-3: every framing that the standard allows, and some that it does not, gives the same turn
    Given the stream's text is <text>
    When the model is asked
    Then the turn that the loop sees is {"role": "assistant", "content": "a\u2028b"}

    Examples: [a] and [b] stand for the chunks with the two halves of the content, [end] for the last one
      | text                                                              |
      | "data: [a]\n\ndata: [b]\n\ndata: [end]\n\ndata: [DONE]\n\n"         |
      | "data: [a]\r\n\r\ndata: [b]\r\n\r\ndata: [end]\r\n\r\n"             |
      | "data: [a]\r\rdata: [b]\r\rdata: [end]\r\r"                         |
      | "data:[a]\ndata:[b]\ndata:[end]\n"                                |
      | "\ufeffdata: [a]\n\ndata: [b]\n\ndata: [end]"                     |
      | ": thinking\n\nevent: message\nid: 1\ndata: [a]\n\ndata:\n\ndata: [b]\n\ndata: [end]\n\n" |
      | "data: [a]\n\ndata: [b, in two lines]\n\ndata: [end]\n\n"          |
      | "data: [a]\n\ndata: [b]\n\ndata: [another choice]\n\ndata: [no choice]\n\ndata: [end]\n\n" |

  Scenario Outline: STREAM-4: a stream that does not come to its end is an error, and nothing of it is kept
    Given the stream's lines are
      """
      data: {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Half of the ans"}}]}
      <last>
      """
    When the loop runs on the task "Tell me"
    Then the call fails and says "<words>"
    And the history is the task alone

    Examples:
      | last                                                           | words                                   |
      |                                                                | ended before the reply was complete     |
      | data: {"error": {"message": "upstream overloaded"}}            | upstream overloaded                     |
      | data: {"choices": [{"error": {"message": "cut by upstream"}}]} | cut by upstream                         |
      | data: {"choices": [{"ind                                       | not JSON                                |
      | data: {"object": "error", "message": "out of memory"}          | out of memory                           |

  Scenario: STREAM-5: a connection that breaks in the middle of a stream is an error, and nothing of it is kept
    Given replies are streamed
    And the model's turns are
      """
      {"say": "A long answer that will never arrive in full.", "fault": {"cut_after": 2}}
      """
    When the loop runs on the task "Tell me"
    Then the call fails and says "the connection broke"
    And the history is the task alone

  Scenario: STREAM-6: a provider that refuses stream_options is asked again without them, from then on
    Given replies are streamed
    And the model's turns are
      """
      {"fault": {"status": 400, "body": "{\"error\": {\"message\": \"Unknown parameter: stream_options\"}}"}}
      {"calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
      {"say": "2"}
      """
    When the loop runs on the task "1 + 1"
    Then the answer is "2"
    And requests 2 to 3 hold "model, stream, tools, messages" in this order

  Scenario: STREAM-7: a provider that does not stream although it was asked to is understood
    Given a reply with status 200 and the body {"choices": [{"message": {"role": "assistant", "content": "At once."}, "finish_reason": "stop"}]}
    And replies are streamed
    When the model is asked
    Then the turn that the loop sees is {"role": "assistant", "content": "At once."}

  Scenario: STREAM-8: what comes is shown as it comes, thinking between its tags wherever it came from
    Given the stream's lines are
      """
      data: {"choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "Let me "}}]}
      data: {"choices": [{"index": 0, "delta": {"reasoning_content": "see."}}]}
      data: {"choices": [{"index": 0, "delta": {"content": "Four"}}]}
      data: {"choices": [{"index": 0, "delta": {"content": "."}, "finish_reason": "stop"}]}
      data: [DONE]
      """
    When the model is asked
    Then the pieces shown are ["<think>Let me ", "see.", "</think>\n\nFour", "."]
    And the turn that the loop sees is {"role": "assistant", "content": "Four.", "reasoning_content": "Let me see."}

  Scenario Outline: STREAM-9: what is no text is joined too: numbered lists by number, parts of a content in their order
    Given the reply is streamed as
      """
      <pieces>
      """
    When the model is asked
    Then the turn that the loop sees is <turn>

    Examples:
      | pieces | turn |
      | {"reasoning_details": [{"index": 0, "type": "t", "text": "One "}], "signature": "ab"} + {"reasoning_details": [{"index": 0, "type": "t", "text": "thought"}], "signature": "cd"} + {"reasoning_details": [{"index": 1, "type": "t", "text": "two"}], "weight": 0.5, "content": "x"} | {"role": "assistant", "content": "x", "signature": "abcd", "weight": 0.5, "reasoning_details": [{"index": 0, "type": "t", "text": "One thought"}, {"index": 1, "type": "t", "text": "two"}]} |
      | {"content": "\ud83d"} + {"content": "\ude00"} | {"role": "assistant", "content": "\ud83d\ude00"} |
      | {"content": ""} + {"content": [{"type": "thinking", "thinking": "hm"}]} + {"content": "Four"} | {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Four"}]} |
