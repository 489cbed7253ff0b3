Feature: Lessons
  The lessons in docs/lessons are programs that students read and run. A lesson that says what is not so teaches it all
  the same, so what each of them shows is looked at here: first in the requests that went out, then in what is printed.

  Scenario Outline: LESSON-1: the coding agent diagnoses what it has read, stops at its limit without a diagnosis, and edits nothing
    Given the coding agent of lesson 1, played by the turns <turns>
    When it looks into the project in at most <limit> rounds
    Then request <rounds> is the last, and holds the results <sent>
    And the history ends as "<stop>" after <rounds> rounds, and holds the results <results>
    And the answer of the lesson says "<answer>"
    And the file is as wrong as before

    Examples:
      | turns                                          | limit | rounds | sent               | results            | stop       | answer                    |
      | wrong path, right path, diagnosis              | 10    | 3      | error, file        | error, file        | answered   | it should return a + b    |
      | wrong path, right path, diagnosis              | 3     | 3      | error, file        | error, file        | answered   | it should return a + b    |
      | wrong path, right path, diagnosis              | 2     | 2      | error              | error, file        | max_rounds | nothing                   |
      | wrong path, right path, diagnosis              | 1     | 1      | none               | error              | max_rounds | nothing                   |
      | wrong path, wrong again, right path, diagnosis | 10    | 4      | error, error, file | error, error, file | answered   | it should return a + b    |

  Scenario Outline: LESSON-2: what ends a naive loop, or floods it, costs this project's loop an error and a round
    Given the break of lesson 2: <break>
    When both loops run it
    Then the naive loop sends <naive requests> requests, the largest of at least <bytes> bytes, and ends with "<naive end>"
    And the history that the naive loop leaves is <naive history>
    And this project's loop sends <requests> requests of at most 3000 bytes, and ends with "<end>"
    And the history that this project's loop leaves is in order
    And the model of this project's loop reads "<reads>"

    Examples: the lesson's five
      | break                       | naive requests | bytes  | naive end                                                 | naive history | requests | end                        | reads                                                      |
      | an unknown tool             | 1              | 300    | ended by KeyError: 'multiply'                             | broken        | 2        | answered: I can only divide. | Error: unknown tool 'multiply'. Available tools: divide  |
      | arguments that do not fit   | 1              | 300    | ended by TypeError: unsupported operand                   | broken        | 3        | answered: 0.3333           | a should be a valid integer, found text 'one'              |
      | a tool that raises          | 1              | 300    | ended by ZeroDivisionError                                | broken        | 2        | answered: One cannot       | Error: ZeroDivisionError                                   |
      | a model that never stops    | 41             | 9000   | ended by ProviderError: request 41: the script has 40 turns | in order    | 5        | max_rounds: no answer      | 0.5000                                                     |
      | a tool that returns a novel | 2              | 300000 | answered: One third.                                      | in order      | 2        | answered: One third.       | [cut: 300,002 characters in all                            |

    Examples: a sixth, of a student's own
      | break                                                                                                                                               | naive requests | bytes | naive end                 | naive history | requests | end              | reads                                 |
      | {"calls": [{"name": "divide", "arguments": "{\"a\": 1, \"b\""}]} / {"after": "could not be read", "say": "Sorry."}                                  | 1              | 300   | ended by JSONDecodeError  | broken        | 2        | answered: Sorry. | Error: the arguments could not be read |
      | {"calls": [{"name": "divide", "arguments": {"a": 1, "b": 0}}, {"name": "divide", "arguments": {"a": 1, "b": 8}}]} / {"after": "0.1250", "say": "An eighth."} | 1     | 300   | ended by ZeroDivisionError | broken       | 2        | answered: An eighth. | 0.1250                            |

  Scenario Outline: LESSON-3: one loop and one stand-in, but what is done and believed depends on what stands at the shell
    Given the <shell> shell of lesson 3
    When the stand-in is given the task about <task>
    Then it is sent <rounds> requests of at most <bytes> bytes, and request 2 ends with a result that says "<result>"
    And the answer of the lesson says "<answer>"
    And the files left are "<files>"

    Examples:
      | task       | shell   | rounds | bytes  | result                                                                | answer                            | files          |
      | approval   | bare    | 2      | 1000   | exit code 0                                                           | I deleted your notes.             | numbers        |
      | approval   | careful | 2      | 1000   | Error: not approved: shell was not run                                | I was not allowed                 | notes, numbers |
      | validation | bare    | 2      | 1100   | exit code 127                                                         | This machine has no echo.         | notes, numbers |
      | validation | careful | 3      | 1100   | command should be a valid string, found an array ['echo', 'hello']    | The shell says hello.             | notes, numbers |
      | truncation | bare    | 2      | 110000 | 9999 10000 10001                                                      | I saw every number                | notes, numbers |
      | truncation | careful | 2      | 21000  | [cut: 108,905 characters in all                                       | I saw both ends of 108,905        | notes, numbers |

  Scenario: LESSON-4: the history is the only memory, text is a call where the wire says so, and half of a round is an error
    When the parts of lesson 4 are played
    Then the second task is sent like this
      | scratchpad  | messages in each request | request 4 holds 12:00:07 | the cache broke in request 4 |
      | persisted   | 2, 4, 6, 8               | yes                      |                              |
      | unpersisted | 2, 4, 6, 4, 6            | no                       | message 3, content           |
    And the replies are taken like this
      | reply   | sentinel | then the model reads                                        |
      | QUOTING |          | Result of now:                                              |
      | QUOTING | TOOL:    |                                                             |
      | MARKED  | TOOL:    | Result of now:                                              |
      | SLOPPY  | TOOL:    | Error: that was no call that can be read. To call a tool, end your reply with a line TOOL: |
      | SLOPPY  |          |                                                             |
    And the history with an orphan is refused with "HTTP 400: request 1: message 2: tool message for 'call_1_1', which the turn before did not call"
    And mended, it is the same without the orphan, and is answered

  Scenario: LESSON-5: an unchanged history is cached whole, a clock in front costs all of it, and long thinking can cost more than its cache saves
    When the twelve rounds of lesson 5 are sent in each way
    Then the cache holds, breaks and costs like this
      | way               | thinking | breaks | where                      | the input costs less than                    |
      | unchanged         | SHORT    | 0      |                            | thinking_stripped SHORT, clock_in_prompt SHORT |
      | thinking_stripped | SHORT    | 11     | the last turn, content     | clock_in_prompt SHORT                        |
      | clock_in_prompt   | SHORT    | 11     | the first message, content |                                              |
      | unchanged         | LONG     | 0      |                            | clock_in_prompt LONG                         |
      | thinking_stripped | LONG     | 11     | the last turn, content     | unchanged LONG                               |
    And unchanged, each request begins with the bytes of the one before, and at least that much of it is cached
    And with the clock, no request has more cached than the second
    And the loop's own history is the same in every way
    And what keeping the thinking buys is said with the names of its sources

  Scenario Outline: LESSON-6: no turn of the coding agent is given before what it answers was seen
    Given the coding agent of lesson 1, played by the turns <turns>
    And a project in which add <does>
    When it looks into the project in at most 10 rounds
    Then it is refused in request <number>, since "turn <number> is to come after /<condition>"

    Examples:
      | turns                              | does      | number | condition                 |
      | right path, diagnosis              | subtracts | 1      | Error: no file            |
      | diagnosis                          | subtracts | 1      | return a - b              |
      | wrong path, diagnosis              | subtracts | 2      | return a - b              |
      | wrong path, wrong again, diagnosis | subtracts | 3      | return a - b              |
      | wrong again                        | subtracts | 1      | Error: no file 'add       |
      | wrong path, right path, diagnosis  | adds      | 3      | return a - b              |

  Scenario Outline: LESSON-7: what the lesson lets pass at the shell is a plain line of cat or echo, and nothing else is run
    Given the careful shell of lesson 3
    When the shell is called with <command>
    Then the result of the call begins with "<result>"

    Examples:
      | command                   | result              |
      | "echo hello"              | exit code 0         |
      | "cat nothing"             | exit code 1         |
      | "rm notes"                | Error: not approved |
      | "echo hello; rm notes"    | Error: not approved |
      | "cat numbers\nrm notes"   | Error: not approved |
      | "echo $(rm notes)"        | Error: not approved |
      | "cat ../notes"            | Error: not approved |
      | "rm"                      | Error: not approved |
      | ""                        | Error: not approved |

  Scenario Outline: LESSON-8: each lesson runs as a script, without a key, and prints what it promises
    When the lesson <file> runs as a script
    Then it exits with 0
    And stderr says ""
    And stdout says, in this order
      | text     |
      | <first>  |
      | <second> |
      | <third>  |
      | <fourth> |

    Examples:
      | file                      | first                                 | second                                      | third                                          | fourth                                     |
      | 1_smallest_coding_agent   | ← Error: no file 'add.py'             | stop reason: answered, rounds: 3            | stop reason: max_rounds, rounds: 1, answer: (none) | add(2, 3) gives -1                     |
      | 2_five_breaks             | ended by KeyError: 'multiply'         | can this history be continued? no: the end: | answered: I can only divide.                   | 5. a tool that returns a novel             |
      | 3_shell_and_stand_in      | I deleted your notes.                 | files left: notes, numbers                  | This machine has no echo.                      | Nothing here is a sandbox.                 |
      | 4_calls_as_text           | messages in each request: [2, 4, 6, 8] | messages in each request: [2, 4, 6, 4, 6]  | user, tool, assistant, user                    | answered: You are welcome.                 |
      | 5_what_the_cache_is_worth | the cache broke 0 times               | first in request 2, message 3, content      | first in request 2, message 1, content         | minimax.io/news                            |

  Scenario: LESSON-9: the lessons are what a student can read: one loop for all of them, short, and listed with their command
    When the lessons are read
    Then none calls a provider in a loop of its own, but for naive_loop in lesson 2
    And each has 60 to 120 lines, and says what you will see and why it matters
    And README.md in their folder lists the command of each, and no others
