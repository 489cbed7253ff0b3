Feature: The arguments of a tool call
  A model writes arguments as text, and the text may be anything. One that is no JSON object does no harm in its own
  turn, but makes providers refuse every later request, so it goes into the history as {}. The same verdict decides
  whether the tool is run: a history that says {} about a call that ran with something else would be a lie.

  Background:
    Given the tools clock, keep and order

  Scenario Outline: ARGS-1: text that is not exactly one JSON object is not run and goes back as {}
    When the model calls "keep" with <arguments>
    Then the tool result is an error
    And nothing is run
    And the arguments go back as "{}"

    Examples:
      | arguments                      |
      | "{\"value\": \"hel"            |
      | "{\"value\": 1"                |
      | "{\"value\": 1,}"              |
      | "{'value': 1}"                 |
      | "{\"value\": NaN}"             |
      | "{\"value\": -Infinity}"       |
      | "{\"value\": True}"            |
      | "{\"value\": \"two\nlines\"}"  |
      | "{\"value\": 1}{\"value\": 2}" |
      | "{\"value\": 1} and more"      |
      | "\ufeff{\"value\": 1}"         |
      | "[1, 2]"                       |
      | "null"                         |
      | "5"                            |
      | "\"value\""                    |
      | "value=1"                      |
      | a number of 5,000 digits       |
      | brackets nested 100,000 deep   |
      | an object instead of text      |

  Scenario Outline: ARGS-2: the tool message says why the text could not be read and quotes it, shortened
    When the model calls "keep" with <arguments>
    Then the tool result mentions <reason>
    And the tool result is short

    Examples:
      | arguments                          | reason                              |
      | "{\"value\": \"hel"                | "not valid JSON, {\"value\": \"hel" |
      | "[1, 2]"                           | "array, object, [1, 2]"             |
      | "null"                             | "null, object"                      |
      | "{\"value\": NaN}"                 | "NaN, {\"value\": NaN}"             |
      | "{\"value\": 1}{\"value\": 2}"     | "one call for each, 1}{"            |
      | brackets nested 100,000 deep       | "nested too deeply, [[[, ]]]"       |
      | a number of 5,000 digits           | "not valid JSON, 999"               |
      | 600 letters after an opening quote | "not valid JSON, begin, […], end"   |

  Scenario Outline: ARGS-3: a JSON object goes back unchanged to the byte and is run with what it says
    When the model calls "keep" with <arguments>
    Then the arguments go back as sent
    And the tool gets value as <value>

    Examples:
      | arguments                              | value                   |
      | " {\t\"value\" :\n[1,2 ] } "           | [1, 2]                  |
      | "{\"value\": \"\\u00e4 \\/ ä\"}"       | "\u00e4 / \u00e4"       |
      | "{\"value\": 1, \"value\": 2}"         | 2                       |
      | "{\"value\": 1.50E+2}"                 | 150.0                   |
      | "{\"value\": {\"\": null}}"            | {"": None}              |
      | "{\"value\": 12345678901234567890123}" | 12345678901234567890123 |
      | "{\"value\": \"\\ud83d\\ude00\"}"      | "\U0001f600"            |
      | "{\"value\": \"\\ud83d\"}"             | "\ud83d"                |
      | a lone surrogate, not escaped          | "\ud83d"                |

  Scenario: ARGS-4: any JSON object in any spacing and escaping goes back unchanged
    When the model sends a JSON object in any spelling
    Then every one goes back unchanged to the byte

  Scenario: ARGS-5: one verdict on a text decides both whether it is run and how it goes back
    When the model sends arguments of any kind
    Then every one is run exactly if it goes back as sent or is blank

  Scenario Outline: ARGS-6: blank arguments mean no arguments
    When the model calls "<name>" with <arguments>
    Then <name> is run once
    And the arguments go back as "{}"

    Examples:
      | name  | arguments |
      | clock | ""        |
      | clock | " \n\t "  |
      | clock | nothing   |
      | clock | "{}"      |
      | keep  | ""        |
      | keep  | nothing   |

  Scenario Outline: ARGS-7: a missing or an unexpected argument is named, and nothing is run
    When the model calls "<name>" with <arguments>
    Then the tool result is an error
    And the tool result mentions <words>
    And the tool result is short
    And nothing is run

    Examples:
      | name  | arguments                                    | words                                       |
      | order | "{}"                                         | "order, item is missing"                    |
      | order | ""                                           | "order, item is missing"                    |
      | order | "{\"item\": \"tea\", \"milk\": true}"        | "order, milk is unexpected, It takes: item" |
      | order | "{\"Item\": \"tea\"}"                        | "item is missing, Item is unexpected"       |
      | clock | "{\"zone\": \"UTC\"}"                        | "zone is unexpected, no arguments"          |
      | order | "{\"item\": \"tea\", \"place\": {\"y\": 1}}" | "place.x is missing"                        |

  Scenario Outline: ARGS-8: an argument of the wrong type is named with the type it should have, and nothing is run
    When the model orders <arguments>
    Then the tool result is an error
    And the tool result mentions <words>
    And nothing is run
    And the arguments go back as sent

    Examples:
      | arguments                                | words                              |
      | {"item": 5}                              | "item, string, number 5"           |
      | {"item": null}                           | "item, string, null"               |
      | {"item": "tea", "amount": "2"}           | "amount, integer, text '2'"        |
      | {"item": "tea", "amount": 2.5}           | "amount, integer, 2.5"             |
      | {"item": "tea", "amount": true}          | "amount, integer, boolean"         |
      | {"item": "tea", "weight": "1.5"}         | "weight, number, text '1.5'"       |
      | {"item": "tea", "urgent": "no"}          | "urgent, boolean, text 'no'"       |
      | {"item": "tea", "urgent": 0}             | "urgent, boolean, number 0"        |
      | {"item": "tea", "level": "middle"}       | "level, 'low' or 'high', 'middle'" |
      | {"item": "tea", "size": "huge"}          | "size, 'small' or 'large', 'huge'" |
      | {"item": "tea", "tags": "abc"}           | "tags, array, text 'abc'"          |
      | {"item": "tea", "tags": ["a", 1]}        | "tags.1, string, number 1"         |
      | {"item": "tea", "place": {"x": "east"}}  | "place.x, integer, text 'east'"    |
      | {"item": 5, "amount": "2", "urgent": ""} | "item, amount, urgent"             |

  Scenario Outline: ARGS-9: arguments of the right type arrive as the type hints say
    When the model orders <arguments>
    Then the tool gets <name> as <value>

    Examples:
      | arguments                           | name   | value       |
      | {"item": "tea"}                     | amount | 1           |
      | {"item": "2"}                       | item   | "2"         |
      | {"item": "tea", "amount": 3}        | amount | 3           |
      | {"item": "tea", "weight": 2}        | weight | 2.0         |
      | {"item": "tea", "urgent": true}     | urgent | True        |
      | {"item": "tea", "level": "high"}    | level  | "high"      |
      | {"item": "tea", "size": "large"}    | size   | Size.LARGE  |
      | {"item": "tea", "tags": ["a", "b"]} | tags   | ["a", "b"]  |
      | {"item": "tea", "tags": null}       | tags   | None        |
      | {"item": "tea", "place": {"x": 1}}  | place  | Place(1, 0) |
