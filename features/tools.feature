Feature: Tools
  A function becomes a tool by its name, its type hints and its docstring, so that there is one place to change. What
  the caller does wrong is an exception at once, where it can be repaired; what the model or a tool does wrong is a
  text for the model, since an exception would end the run and leave calls without their tool message.

  Scenario Outline: TOOL-1: a type hint becomes the schema of its parameter
    When a tool is made of def made(<parameter>): ...
    Then the model is told that x is <schema>
    And x is <status>, as the schema says

    Examples:
      | parameter                                       | schema                                                             | status   |
      | x: str                                          | {"type": "string"}                                                 | required |
      | x: int                                          | {"type": "integer"}                                                | required |
      | x: float                                        | {"type": "number"}                                                 | required |
      | x: bool                                         | {"type": "boolean"}                                                | required |
      | *, x: int                                       | {"type": "integer"}                                                | required |
      | x: "int"                                        | {"type": "integer"}                                                | required |
      | x: int = 3                                      | {"type": "integer", "default": 3}                                  | optional |
      | x: Annotated[str, "the city"]                   | {"type": "string", "description": "the city"}                      | required |
      | x: Annotated[str, "the city"] = "Bonn"          | {"type": "string", "description": "the city", "default": "Bonn"}   | optional |
      | x: Annotated[int, Field(description="n", ge=1)] | {"type": "integer", "description": "n", "minimum": 1}              | required |
      | x: Optional[str]                                | {"anyOf": [{"type": "string"}, {"type": "null"}]}                  | required |
      | x: Optional[str] = None                         | {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null} | optional |
      | x: Union[int, str]                              | {"anyOf": [{"type": "integer"}, {"type": "string"}]}               | required |
      | x: Literal["low", "high"]                       | {"type": "string", "enum": ["low", "high"]}                        | required |
      | x: Size                                         | {"type": "string", "enum": ["small", "large"], "description": "A text that is one of a few."} | required |
      | x: list[str]                                    | {"type": "array", "items": {"type": "string"}}                     | required |
      | x: dict[str, int]                               | {"type": "object", "additionalProperties": {"type": "integer"}}    | required |
      | x: Place                                        | {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}}, "required": ["x"], "description": "A point on a map."} | required |
      | x: list[Literal[1, 2]]                          | {"type": "array", "items": {"type": "integer", "enum": [1, 2]}}    | required |

  Scenario: TOOL-2: tools are offered by name, first paragraph and schema, and stay the same objects in the same order
    Given the tools clock, keep and order
    When each tool is called twice
    Then they are still the same objects in the same order
    And the first tools offered are
      """
      {"type": "function", "function": {"name": "clock", "description": "Tell the time.", "parameters": {"type": "object", "properties": {}}}}
      {"type": "function", "function": {"name": "keep", "description": "Keep a value of any kind, as long as it fits.", "parameters": {"type": "object", "properties": {"value": {"default": null}}}}}
      """

  Scenario Outline: TOOL-3: a caller's mistake is raised at once and names the thing
    When the caller writes <code>
    Then a <kind> about "<thing>" is raised

    Examples:
      | code                                      | kind       | thing      |
      | def wrong(amount): ...                    | TypeError  | amount     |
      | def wrong(a: int, amount): ...            | TypeError  | wrong      |
      | def wrong(amount: Plain): ...             | TypeError  | amount     |
      | def wrong(amount: list[Plain]): ...       | TypeError  | amount     |
      | def wrong(amount: Callable[[], int]): ... | TypeError  | amount     |
      | def wrong(amount: 5): ...                 | TypeError  | amount     |
      | def wrong(amount: int = Field(ge=1)): ... | TypeError  | amount     |
      | def wrong(amount: "Nowhere"): ...         | TypeError  | Nowhere    |
      | def wrong(amount: "list[Nowhere]"): ...   | TypeError  | wrong      |
      | def wrong(amount: "asyncio.Nothing"): ... | TypeError  | wrong      |
      | def wrong(amount: "list["): ...           | TypeError  | wrong      |
      | def wrong(*amounts: int): ...             | TypeError  | amounts    |
      | def wrong(**amounts: int): ...            | TypeError  | amounts    |
      | def wrong(amount: int, /): ...            | TypeError  | amount     |
      | def größe(amount: int): ...               | ValueError | größe      |
      | def a23456789_123456789_123456789_123456789_123456789_123456789_12345(): ... | ValueError | a23456789_ |
      | tool(lambda: 1)                           | ValueError | <lambda>   |
      | tool(max_chars=0)(clock.function)         | ValueError | max_chars  |
      | Toolbox(clock, clock)                     | ValueError | clock      |
      | Toolbox(clock, tool(clock.function))      | ValueError | clock      |
      | Toolbox(print)                            | TypeError  | print      |
      | Toolbox("clock")                          | TypeError  | clock      |
      | Toolbox(None)                             | TypeError  | None       |

  Scenario Outline: TOOL-4: a result becomes text: text as it is, data as JSON, everything else an error
    Given a <program>
    When the model calls the tool <code>
    Then the tool result <is>

    Examples: in a plain program
      | program       | code                                                               | is                                    |
      | plain program | def made(): return "as \"it\" is\n[ä] "                            | is "as \"it\" is\n[ä] "               |
      | plain program | def made(): return ""                                              | is ""                                 |
      | plain program | def made(): return "\ud83d"                                        | is "\ud83d"                           |
      | plain program | def made(): return None                                            | is "null"                             |
      | plain program | def made(): ...                                                    | is "null"                             |
      | plain program | def made(): return True                                            | is "true"                             |
      | plain program | def made(): return {"ä": [1, 2.5, None]}                           | means {"ä": [1, 2.5, null]}           |
      | plain program | def made(): return ["\ud83d"]                                      | means ["\ud83d"]                      |
      | plain program | def made(): return 10**30                                          | means 1000000000000000000000000000000 |
      | plain program | def made(): return (1, "a")                                        | means [1, "a"]                        |
      | plain program | def made(): return {7}                                             | means [7]                             |
      | plain program | def made(): return Place(1, 2)                                     | means {"x": 1, "y": 2}                |
      | plain program | def made(): return Size.LARGE                                      | means "large"                         |
      | plain program | def made(): return [Size.LARGE]                                    | means ["large"]                       |
      | plain program | def made(): return [float("nan")]                                  | is "[NaN]"                            |
      | plain program | def made(): return b"text"                                         | means "text"                          |
      | plain program | def made(): return b"\xff\x00"                                     | mentions "Error:, bytes"              |
      | plain program | def made(): return Plain()                                         | mentions "Error:, Plain"              |
      | plain program | def made(): return [Plain()]                                       | mentions "Error:, list"               |
      | plain program | def made(): return MuteError()                                     | mentions "Error:, MuteError"          |
      | plain program | def made(): return made                                            | mentions "Error:, function"           |
      | plain program | async def made(): return "later"                                   | is "later"                            |
      | plain program | async def made(): return {"at": 1}                                 | means {"at": 1}                       |
      | plain program | async def made(): await asyncio.sleep(0); raise ValueError("late") | is "Error: ValueError: late"          |

    Examples: in a notebook or a server
      | program                           | code                                                               | is                           |
      | program with a running event loop | def made(): return 5                                               | is "5"                       |
      | program with a running event loop | async def made(): return "later"                                   | is "later"                   |
      | program with a running event loop | async def made(): await asyncio.sleep(0); raise ValueError("late") | is "Error: ValueError: late" |

  Scenario Outline: TOOL-5: a result over the cap is cut in the middle, with the shown and the total size said
    Given a tool that returns a text of <size> characters, with <cap> shown at most
    When the model calls "report"
    Then the tool result <is>
    And the tool result has at most <limit> characters

    Examples:
      | size    | cap              | limit | is                                                |
      | 20000   | as many as usual | 20000 | is the whole text                                 |
      | 20001   | as many as usual | 20000 | begins and ends like the whole and says the sizes |
      | 2000000 | as many as usual | 20000 | begins and ends like the whole and says the sizes |
      | 1000    | 1000             | 1000  | is the whole text                                 |
      | 1001    | 1000             | 1000  | begins and ends like the whole and says the sizes |
      | 9999999 | 201              | 201   | begins and ends like the whole and says the sizes |

  Scenario Outline: TOOL-6: a failure becomes one error text without traceback or secret, and the result carries the exception
    Given the environment variable RELIEF_API_KEY is "tent-4711"
    When the model calls the tool <code>
    Then the tool result <is>
    And the tool result is an error
    And the tool result is short
    And the tool result carries the <exception>

    Examples:
      | code                                                                 | is                                                     | exception         |
      | def made(): raise RuntimeError("disk on fire")                       | is "Error: RuntimeError: disk on fire"                 | RuntimeError      |
      | def made(): return 1 / 0                                             | is "Error: ZeroDivisionError: division by zero"        | ZeroDivisionError |
      | def made(): raise ValueError                                         | is "Error: ValueError"                                 | ValueError        |
      | def made(): raise MuteError                                          | mentions "Error: MuteError"                            | MuteError         |
      | def made(): raise ToolError("no such tent")                          | is "Error: no such tent"                               | ToolError         |
      | def made(): raise SystemExit(0)                                      | is "Error: SystemExit: 0"                              | SystemExit        |
      | async def made(): raise SystemExit(0)                                | is "Error: SystemExit: 0"                              | SystemExit        |
      | def made(): return made()                                            | mentions "Error: RecursionError, recursion"            | RecursionError    |
      | def made(): raise RuntimeError("db://svc:hunter2@db.internal/prod")  | is "Error: RuntimeError: db://***@db.internal/prod"    | RuntimeError      |
      | def made(): raise OSError("redis://:hunter2@host:6379 is down")      | is "Error: OSError: redis://***@host:6379 is down"     | OSError           |
      | def made(): raise OSError("https://a:p@ss@host/x")                   | is "Error: OSError: https://***@host/x"                | OSError           |
      | def made(): raise OSError("https://host/x?token=hunter2&y=1")        | is "Error: OSError: https://host/x?token=***&y=1"      | OSError           |
      | def made(): raise OSError("Authorization: Bearer abc.def-1 refused") | is "Error: OSError: Authorization: Bearer *** refused" | OSError           |
      | def made(): raise OSError("key tent-4711 is not valid")              | is "Error: OSError: key *** is not valid"              | OSError           |
      | def made(): raise ToolError("key tent-4711 is not valid")            | is "Error: key *** is not valid"                       | ToolError         |
      | def made(): raise OSError("see https://host/x, mail me@x.org")       | is "Error: OSError: see https://host/x, mail me@x.org" | OSError           |

  Scenario Outline: TOOL-7: a call of an unknown tool is answered with the tools there are, and nothing is run
    Given the tools clock, keep and order
    When the model calls "<name>"
    Then the tool result is an error
    And the tool result mentions "unknown tool, '<name>', clock, keep, order"
    And the tool result carries the ToolError
    And nothing is run

    Examples:
      | name      |
      | teleport  |
      | clockkeep |
      | Clock     |
      | __class__ |
      |           |

  Scenario Outline: TOOL-8: a tool that may do harm is run only if a person allows the call
    Given a tool that may do harm
    And <person>
    When the model calls "launch" with <arguments>
    Then the tool result mentions <words>
    And launch is run <count> times
    And the person is asked about <asked>

    Examples:
      | person                          | arguments                | words                   | count | asked                           |
      | a person who allows every call  | "{\"target\": \"moon\"}" | "launched at moon"      | 1     | "launch {\"target\": \"moon\"}" |
      | a person who refuses every call | "{\"target\": \"moon\"}" | "Error, not approved"   | 0     | "launch {\"target\": \"moon\"}" |
      | nobody to ask                   | "{\"target\": \"moon\"}" | "Error, not approved"   | 0     | ""                              |
      | a person who allows every call  | "{\"target\": 5}"        | "Error, target, string" | 0     | ""                              |

  Scenario Outline: TOOL-9: an interrupt passes through, since it is the person and not the tool who stops the run
    Given a <program>
    When the model calls the tool <code>
    Then KeyboardInterrupt passes through

    Examples:
      | program                           | code                                      |
      | plain program                     | def made(): raise KeyboardInterrupt       |
      | plain program                     | async def made(): raise KeyboardInterrupt |
      | program with a running event loop | def made(): raise KeyboardInterrupt       |
