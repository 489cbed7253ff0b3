Feature: Thinking
  A reasoning model's thinking belongs into the history, word for word, and not into the answer that a person reads.
  Models mark it in many ways, forget to close it, or begin it in the prompt; and an answer may itself speak of the
  tags. Showing thinking as the answer misleads, and losing a part of the answer misleads more.

  Scenario Outline: THINK-1: blocks are removed wherever and as often as they stand, nested ones whole
    When a person is shown <content>
    Then the answer reads <answer>
    And the thinking reads <thinking>

    Examples:
      | content                                              | answer                                               | thinking             |
      | "<think>\nGot 5.\n</think>\n\nThe sum is 5."         | "The sum is 5."                                      | "Got 5."             |
      | "<think>\n\n</think>\n\nHi."                         | "Hi."                                                | ""                   |
      | "<think></think>Hi."                                 | "Hi."                                                | ""                   |
      | "<think>a</think>First.\n<think>b</think>Second."    | "First.\nSecond."                                    | "a\n\nb"             |
      | "One <think>a</think>and two."                       | "One and two."                                       | "a"                  |
      | "First.<think>a</think>"                             | "First."                                             | "a"                  |
      | "<think>a<think>b</think>c</think>Hi."               | "Hi."                                                | "a<think>b</think>c" |
      | "<think>a<think>b</think>Hi."                        | "Hi."                                                | "a<think>b"          |
      | "Hi.\n\nNo thinking here: 1 < 2 > 0. "               | "Hi.\n\nNo thinking here: 1 < 2 > 0."                | ""                   |
      | "No <b>bold</b>, <thinker>, <rethink> or think tag." | "No <b>bold</b>, <thinker>, <rethink> or think tag." | ""                   |

  Scenario Outline: THINK-2: a tag counts in upper or lower case, as thinking, and with a prefix
    When a person is shown <content>
    Then the answer reads "Meeting at noon."
    And the thinking reads "secret plan"

    Examples:
      | content                                                |
      | "<THINK>secret plan</THINK>Meeting at noon."           |
      | "<Think>secret plan</tHINK>Meeting at noon."           |
      | "<thinking>secret plan</thinking>Meeting at noon."     |
      | "<thinking>secret plan</think>Meeting at noon."        |
      | "<seed:think>secret plan</seed:think>Meeting at noon." |
      | "<think >secret plan</think\n>Meeting at noon."        |

  Scenario Outline: THINK-3: a turn's thinking is taken from its own field and from its content
    When a person asks for the thinking of the turn <turn>
    Then the thinking reads <thinking>

    Examples:
      | turn                                                          | thinking   |
      | {"content": "Hi.", "reasoning_content": " I greet. "}         | "I greet." |
      | {"content": null, "reasoning": "I greet."}                    | "I greet." |
      | {"content": "<think>a</think>Hi.", "reasoning_content": "b"}  | "b\n\na"   |
      | {"content": "<think>a</think>Hi.", "reasoning_content": null} | "a"        |
      | {"content": "Hi.", "reasoning_content": ""}                   | ""         |
      | {}                                                            | ""         |

  Scenario Outline: THINK-4: a closing tag that nothing opened ends thinking that began in the prompt
    When a person is shown <content>
    Then the answer reads <answer>
    And the thinking reads <thinking>

    Examples:
      | content                                         | answer     | thinking                       |
      | "I will greet.\n</think>\n\nHi."                | "Hi."      | "I will greet."                |
      | "</think>Hi."                                   | "Hi."      | ""                             |
      | "I will greet.</think>"                         | ""         | "I will greet."                |
      | "I will greet.</think>Hi.<think>b</think> Bye." | "Hi. Bye." | "I will greet.\n\nb"           |
      | "I will write `</think>` now.</think>Hi."       | "Hi."      | "I will write `</think>` now." |

  Scenario Outline: THINK-5: a block that is never closed hides the rest if it begins a line, and is text otherwise
    When a person is shown <content>
    Then the answer reads <answer>
    And the thinking reads <thinking>

    Examples:
      | content                                        | answer                                         | thinking                          |
      | "<think>\nI should consider the many ways"     | ""                                             | "I should consider the many ways" |
      | " \n  <think>I should consider"                | ""                                             | "I should consider"               |
      | "<think>"                                      | ""                                             | ""                                |
      | "First.\n<think>And then"                      | "First."                                       | "And then"                        |
      | "<think>a</think>First.\n<think>And then"      | "First."                                       | "a\n\nAnd then"                   |
      | "<think>a</think><think>b"                     | ""                                             | "a\n\nb"                          |
      | "Models write <think> first. Then the answer." | "Models write <think> first. Then the answer." | ""                                |
      | "<think>a</think>They write <think> first."    | "They write <think> first."                    | "a"                               |
      | "They write <think> first.\n<think>And then"   | "They write <think> first."                    | "And then"                        |

  Scenario Outline: THINK-6: tags in code that the text quotes are text
    When a person is shown <content>
    Then the answer reads <answer>
    And the thinking reads <thinking>

    Examples:
      | content                                                | answer                           | thinking                   |
      | "Use `<think>` and `</think>`."                        | "Use `<think>` and `</think>`."  | ""                         |
      | "`<think>a</think>` is a block."                       | "`<think>a</think>` is a block." | ""                         |
      | "``<think> ` ``"                                       | "``<think> ` ``"                 | ""                         |
      | "```xml\n<think>a</think>\n```"                        | "```xml\n<think>a</think>\n```"  | ""                         |
      | "~~~\n<think>\n~~~\nSo."                               | "~~~\n<think>\n~~~\nSo."         | ""                         |
      | "<think>a</think>Use `<think>`.\n<think>b</think>Bye." | "Use `<think>`.\nBye."           | "a\n\nb"                   |
      | "<think>I close with `</think>`.</think>Hi."           | "Hi."                            | "I close with `</think>`." |
      | "<think>```\ncode</think>Hi."                          | "Hi."                            | "```\ncode"                |
      | "It's a ` here.\n<think>a</think>And a ` there."       | "It's a ` here.\nAnd a ` there." | "a"                        |
      | "```\n<think>a</think>Never closed."                   | "```\nNever closed."             | "a"                        |

  Scenario Outline: THINK-7: content that is no text, or has nothing visible left, has no answer
    When a person is shown <content>
    Then the answer reads <answer>
    And the thinking reads <thinking>

    Examples:
      | content                               | answer | thinking               |
      | "<think>All done, I believe.</think>" | ""     | "All done, I believe." |
      | "<think>a</think>\n\u200b\u00a0"      | ""     | "a"                    |
      | " \n\t"                               | ""     | ""                     |
      | ""                                    | ""     | ""                     |
      | null                                  | ""     | ""                     |
      | 5                                     | ""     | ""                     |
      | []                                    | ""     | ""                     |
      | [{"type": "image_url"}]               | ""     | ""                     |
      | [{"type": "text", "text": "<think>a</think>H"}, {"type": "text", "text": "i."}] | "Hi."  | "a"                    |
      | [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}, {"type": "text", "text": "Hi."}] | "Hi."  | ""                     |

  Scenario: THINK-8: any text has a thinking and an answer, and a text without tags is all answer
    When a person sees texts of any kind
    Then each is split without failing
    And each without a tag is the answer as it is, but for white space around it

  Scenario: THINK-9: thinking in closed blocks never reaches the answer, and the answer loses nothing but them
    When a person sees texts with closed blocks anywhere outside code
    Then each answer is the text without its blocks, and each thinking what the blocks hold
