Feature: Limits
  A run that goes on for ever costs money, and a turn with thousands of calls costs more. So a run can be stopped early
  for a reason that is said, with all that was found kept and a way to go on; what runs side by side may do so safely;
  and whatever a model asks for, the work and the bytes of one turn stay bounded.

  Scenario Outline: LIMIT-1: a token budget stops the run after the round in which it is reached
    Given a model that echoes 4000 letters in each round and reports <usage>
    And stop_when is token_budget(<budget>)
    When the loop runs on the task "Echo"
    Then the model is asked <rounds> times
    And the loop stops as "token_budget" after <rounds> rounds
    And the history can be continued

    Examples: as the provider counts, prompt and completion together
      | usage                                        | budget | rounds |
      | 100 prompt and 10 completion tokens a round  | 1      | 1      |
      | 100 prompt and 10 completion tokens a round  | 110    | 1      |
      | 100 prompt and 10 completion tokens a round  | 111    | 2      |
      | 100 prompt and 10 completion tokens a round  | 330    | 3      |
      | 100 prompt and 0 completion tokens a round   | 201    | 3      |

    Examples: as four characters a token, where the provider counts nothing; a round costs the whole history
      | usage                                          | budget | rounds |
      | nothing                                        | 1      | 1      |
      | nothing                                        | 1900   | 1      |
      | nothing                                        | 3000   | 2      |
      | nothing                                        | 5500   | 2      |
      | 100 prompt and 10 completion tokens in round 1 | 3000   | 2      |

  Scenario Outline: LIMIT-2: a call is repeated when its name, its arguments and its result are the same, round after round
    Given the model calls, round after round, <calls>, and then says "Done."
    And stop_when is repeated_call(<limit>)
    When the loop runs on the task "Go"
    Then the model is asked <rounds> times
    And the loop stops as "<stop>" after <rounds> rounds
    And every tool call has exactly one tool message, in call order

    Examples:
      | limit | calls                                                                      | stop          | rounds |
      | 3     | add {"a":1,"b":2} / add {"b": 2, "a": 1} / add {"a" : 1, "b":2 }           | repeated_call | 3      |
      | 2     | echo {"text": "x"} / echo {"text": "x"} / echo {"text": "x"}               | repeated_call | 2      |
      | 3     | look {} / echo {"text": "x"} / echo {"text": "x"} / echo {"text": "\u0078"} | repeated_call | 4      |
      | 2     | look {} + fail {} / look {} + fail {}                                      | repeated_call | 2      |
      | 3     | echo {"text": "x"} / echo {"text": "x"}                                    | answered      | 3      |
      | 3     | echo {"text": "x"} / echo {"text": "x"} / echo {"text": "y"}               | answered      | 4      |
      | 3     | echo {"text": "x"} / echo {"text": "y"} / echo {"text": "x"} / echo {"text": "x"} | answered | 5     |
      | 2     | look {} / fail {}                                                          | answered      | 3      |
      | 2     | add {"a":1,"b":2} / add {"a":2,"b":1}                                      | answered      | 3      |
      | 2     | echo { / add {                                                             | answered      | 3      |
      | 2     | look {} / look {} + fail {}                                                | answered      | 3      |
      | 2     | tick {} / tick {} / tick {}                                                | answered      | 4      |
      | 2     | echo {"text": "half / echo {"text": "hal                                   | answered      | 3      |
      | 2     | custom / custom                                                            | repeated_call | 2      |

  Scenario Outline: LIMIT-3: any_of stops for the first reason that one of its conditions gives, and asks all of them
    Given a model that calls 1 tools in every turn, for 5 turns
    And stop_when is any of conditions that say <reasons>
    When the loop runs on the task "Go"
    Then the model is asked <rounds> times
    And the loop stops as "<stop>" after <rounds> rounds
    And each condition was asked <rounds> times

    Examples:
      | reasons                                  | stop  | rounds |
      | "early in round 2" "late in round 4"     | early | 2      |
      | "late in round 4" "early in round 2"     | early | 2      |
      | "one in round 3" "other in round 3"      | one   | 3      |

  Scenario Outline: LIMIT-4: a limit that makes no sense is refused when it is made
    When a limit is made by <code>
    Then it raises ValueError that says "<words>"

    Examples:
      | code              | words                                            |
      | token_budget(0)   | a token budget must be at least 1, not 0         |
      | token_budget(-5)  | a token budget must be at least 1, not -5        |
      | repeated_call(1)  | a call is repeated after at least 2 rounds, not 1 |
      | repeated_call(-1) | a call is repeated after at least 2 rounds, not -1 |

  Scenario Outline: LIMIT-5: a run that was stopped says by which limit, what was found so far, and the command that goes on
    Given a model that plays
      """
      {"think": "I add.", "calls": [{"name": "calculate", "arguments": {"expression": "2 + 3"}}]}
      {"say": "Five."}
      """
    And hadr-agent was run with <arguments> "2 + 3" and exited with 3
    And it said <words>
    When I run the command that it named
    Then each of 2 requests that came in begins with the bytes of the one before
    And it exits with 0
    And stdout is "Five."

    Examples:
      | arguments                                                              | words                                                          |
      | "--max-rounds" "1" "--session" "my s.jsonl"                            | "stopped after 1 round, the limit set by --max-rounds" "Found so far: 5" |
      | "--token-budget" "1" "--session" "s.jsonl"                             | "the token budget (--token-budget) is used up" "Found so far: 5" |
      | "--max-rounds" "1" "--session" "s.jsonl" "--tools" "calculate,now"     | "the limit set by --max-rounds"                                |

  Scenario Outline: LIMIT-6: --final-answer asks once more, with the same tools and options, for an answer without calls
    Given a model that plays
      """
      {"think": "I add.", "calls": [{"name": "calculate", "arguments": {"expression": "2 + 3"}}]}
      <last turn>
      """
    When I run hadr-agent <limit> "--final-answer" "--session" "s.jsonl" "2 + 3"
    Then each of 2 requests that came in but for its tool_choice begins with the bytes of the one before
    And the last of them ends with one more user message, and with tool_choice none if it offers tools
    And it exits with <code>
    And stderr says "<words>"
    And the closing table numbers its rounds "1, 2"
    And the session ends with <end>

    Examples:
      | limit                               | last turn                                                      | code | words                          | end                                     |
      | "--max-rounds" "1"                  | {"say": "Five."}                                               | 0    | asking once more               | assistant "Five."                       |
      | "--token-budget" "1"                | {"say": "Five."}                                               | 0    | --token-budget                 | assistant "Five."                       |
      | "--max-rounds" "1"                  | {"calls": [{"name": "calculate", "arguments": {"expression": "1"}}, {"name": "now"}]} | 3 | without an answer | tool "Error: not run, the limit is reached" |
      | "--max-rounds" "1"                  | {"think": "Hm."}                                               | 3    | no answer                      | assistant "<think>\nHm.\n</think>\n\n"  |
      | "--max-rounds" "1" "--wire" "text"  | {"say": "Five."}                                               | 0    | asking once more               | assistant "Five."                       |

  Scenario Outline: LIMIT-7: calls of a turn run side by side if every tool of them is marked, and are answered in call order
    Given the tools ready and steady, which wait for each other and are marked parallel_safe
    And the model calls <calls> in a turn
    When the loop runs on the task "Go"
    Then every tool call has exactly one tool message, in call order
    And the calls are answered with "<answers>"
    And the loop stops as "answered" after 2 rounds

    Examples:
      | calls               | answers                                       |
      | ready, steady       | ready after steady, steady                    |
      | steady, ready       | steady, ready after steady                    |
      | ready, steady, echo | Error: nobody else came, steady, wrong arguments |
      | ready, nope, steady | Error: nobody else came, unknown tool, steady |
      | ready               | Error: nobody else came                       |

  Scenario Outline: LIMIT-8: an interrupt of calls side by side ends the run and leaves no call without its tool message
    Given the tools file
      """
      import os, signal, time
      from hadr_agent import tool

      @tool(parallel_safe=True)
      def wait(seconds: int) -> str:
          "Wait."
          if seconds == 0:
              <interrupt>
          time.sleep(60)
          return "late"
      """
    And a model that plays
      """
      {"calls": [{"name": "wait", "arguments": {"seconds": <first>}}, {"name": "wait", "arguments": {"seconds": 0}}, {"name": "wait", "arguments": {"seconds": 60}}]}
      """
    When I run hadr-agent "--tools-file" "tools.py" "--json" "go"
    Then it exits with 130
    And the document's history ends with 3 tool messages that say "interrupted"
    And the complaint says "interrupted"

    Examples:
      | interrupt                           | first |
      | os.kill(os.getpid(), signal.SIGINT) | 60    |
      | raise KeyboardInterrupt             | 0     |

  Scenario Outline: LIMIT-9: of a turn with thousands of calls few are run, all are answered, and the bytes are bounded
    Given a model that calls <tool>, which returns <letters> letters, <count> times in a turn
    When the loop runs on the task "Go"
    Then the tools ran <runs> times
    And every tool call has exactly one tool message, in call order
    And the answer to call "<last>" says "<words>"
    And the tool messages of request 2 have less than <limit> characters
    And the loop stops as "answered" after 2 rounds

    Examples:
      | tool     | letters | count | runs | limit   | last      | words                                            |
      | big      | 20000   | 3000  | 64   | 500000  | call_2999 | not run, too many calls in one turn (at most 64) |
      | big_safe | 20000   | 3000  | 64   | 500000  | call_2999 | not run, too many calls in one turn (at most 64) |
      | big      | 100     | 64    | 64   | 10000   | call_63   | xxx                                              |
