Feature: The tools that the course starts with
  They are ordinary functions that show how a tool is written, and they are really run, on the computer of whoever
  tries the course. So a model that is careless or misled must not get more than was meant: no file outside the
  project, no secret, no calculation without end, and no command unless a person allowed it.

  Scenario Outline: EXAMPLE-1: roll_dice shows as many dice as asked for, each within its sides
    Given the tools that the course starts with
    When the model rolls <n> dice with <sides> sides
    Then the tool result has <n> numbers from 1 to <sides>

    Examples:
      | n   | sides |
      | 1   | 6     |
      | 100 | 2     |
      | 100 | 1000  |

  Scenario Outline: EXAMPLE-2: now tells the time and the weekday in a time zone, and which zones there are not
    Given the tools that the course starts with
    When the model asks for the time in "<zone>"
    Then the tool result <is>

    Examples:
      | zone             | is                                         |
      | UTC              | is the present time in UTC                 |
      | Asia/Kathmandu   | is the present time in Asia/Kathmandu      |
      | Mars/Base        | mentions "Error: no time zone 'Mars/Base'" |
      | America          | mentions "Error: no time zone 'America'"   |
      | ../../etc/passwd | mentions "Error: no time zone"             |
      | /etc/localtime   | mentions "Error: no time zone"             |
      | UTC\u0000        | mentions "Error: no time zone"             |
      |                  | mentions "Error: no time zone ''"          |

  Scenario Outline: EXAMPLE-3: calculate gives the value of an expression, whole numbers in full
    Given the tools that the course starts with
    When the model calculates "<expression>"
    Then the tool result is "<value>"

    Examples:
      | expression          | value                                   |
      | 2**31 - 1           | 2147483647                              |
      | 12 * (3 + 4) % 5    | 4                                       |
      | -7 // 2             | -4                                      |
      | 1 / 8               | 0.125                                   |
      | 2**127 - 1          | 170141183460469231731687303715884105727 |
      | 10**400 // 10**399  | 10                                      |
      | 10**309             | 1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 |
      | round(2.567, 2)     | 2.57                                    |
      | max(1, sqrt(16), 3) | 4.0                                     |
      | sin(pi / 2)         | 1.0                                     |
      | (((((((((1))))))))) | 1                                       |

  Scenario Outline: EXAMPLE-4: calculate refuses at once what is too large, no arithmetic or no number
    Given the tools that the course starts with
    When the model calculates "<expression>"
    Then the tool result is an error
    And the tool result mentions "<reason>"
    And the tool result carries the ToolError

    Examples:
      | expression          | reason              |
      | 9**9**9             | digits              |
      | 9**9**9**9**9       | digits              |
      | (9**9)**(9**9)      | digits              |
      | 10**3000            | digits              |
      | 10**2900 * 10**2900 | digits              |
      | 9.0**9**9           | cannot calculate    |
      | 1e999               | finite              |
      | round(1, 10**9)     | digits              |
      | 1 / 0               | division by zero    |
      | sqrt(-1)            | cannot calculate    |
      | (-8)**0.5           | real number         |
      | 2^3                 | 2**3                |
      | 'a' * 999999999     | 'a' is not a number |
      | 1j                  | not a number        |
      | True                | not a number        |
      | 1 < 2               | Compare             |
      | [1] * 9             | List                |
      | factorial(99999)    | factorial           |
      | __import__(1)       | __import__          |
      | (1).real            | Attribute           |
      | x                   | x                   |
      | 2 +                 | cannot calculate    |
      |                     | cannot calculate    |

  Scenario Outline: EXAMPLE-5: decode gives the plain text, and count_words its words
    Given the tools that the course starts with
    When the model decodes <sent> as <encoding>
    Then the tool result is "<plain>"
    And count_words finds <count> words in it

    Examples:
      | sent                      | encoding | plain                                 | count |
      | what fetch_secret returns | base64   | The convoy leaves at dawn. Bring tea. | 7     |
      | "R3LDvMOfZQ=="            | base64   | Grüße                                 | 1     |
      | "6f6e 65 0a 20 74776f"    | hex      | one\n two                             | 2     |
      | "Ubj ner lbh?"            | rot13    | How are you?                          | 3     |
      | ""                        | hex      |                                       | 0     |

  Scenario Outline: EXAMPLE-6: what the small tools cannot do they say, naming what is wrong
    Given the tools that the course starts with
    When the model calls "<name>" with <arguments>
    Then the tool result is an error
    And the tool result mentions "<words>"

    Examples:
      | name      | arguments                                        | words                                       |
      | roll_dice | "{\"n\": 0, \"sides\": 6}"                       | n, 1, 0                                     |
      | roll_dice | "{\"n\": 1000000000, \"sides\": 6}"              | n, 100, 1000000000                          |
      | roll_dice | "{\"n\": 1, \"sides\": 1}"                       | sides, 2, 1                                 |
      | roll_dice | "{\"n\": \"two\", \"sides\": 6}"                 | n, integer, 'two'                           |
      | decode    | "{\"text\": \"@@\", \"encoding\": \"base64\"}"   | not base64                                  |
      | decode    | "{\"text\": \"/w==\", \"encoding\": \"base64\"}" | not base64                                  |
      | decode    | "{\"text\": \"6\", \"encoding\": \"hex\"}"       | not hex                                     |
      | decode    | "{\"text\": \"x\", \"encoding\": \"morse\"}"     | encoding, 'base64', 'hex', 'rot13', 'morse' |
      | calculate | "{\"expression\": \"1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1\"}" | expression, 200                             |

  Scenario Outline: EXAMPLE-7: files and folders of the project are shown as they are
    Given the tools that the course starts with
    And a project folder with things to read and things to keep
    When the model <asks>
    Then the tool result <is>

    Examples:
      | asks                       | is                                  |
      | reads "notes.txt"          | is "Grüße\n"                        |
      | reads "./src/../notes.txt" | is "Grüße\n"                        |
      | reads "src/main.py"        | is "print(1)\n"                     |
      | reads "again.txt"          | is "Grüße\n"                        |
      | reads "empty.txt"          | is ""                               |
      | reads ".env.example"       | is "OPENAI_API_KEY=\n"              |
      | lists "src"                | is "inner/\nmain.py"                |
      | lists "src/inner"          | mentions "empty"                    |
      | lists "."                  | mentions "notes.txt, src/"          |
      | lists "missing"            | mentions "Error, 'missing', folder" |
      | lists "notes.txt"          | mentions "Error, folder"            |
      | lists ".."                 | mentions "Error, outside"           |
      | lists "way_out"            | mentions "Error, outside"           |
      | lists ".git"               | mentions "Error, secrets"           |

  Scenario Outline: EXAMPLE-8: no file is read that lies outside the project, keeps secrets or is no text
    Given the tools that the course starts with
    And a project folder with things to read and things to keep
    When the model reads "<path>"
    Then the tool result is an error
    And the tool result mentions "<reason>"
    And the tool result names no secret

    Examples:
      | path                  | reason     |
      | ../outside.txt        | outside    |
      | src/../../outside.txt | outside    |
      | ../project2/plan.txt  | outside    |
      | /etc/passwd           | outside    |
      | /dev/zero             | outside    |
      | link.txt              | outside    |
      | way_out/outside.txt   | outside    |
      | way_out/project/.env  | secrets    |
      | harmless.txt          | secrets    |
      | .env                  | secrets    |
      | .ENV                  | secrets    |
      | .env/                 | secrets    |
      | src/../.env           | secrets    |
      | .env.local            | secrets    |
      | .git/config           | secrets    |
      | src/../.git/config    | secrets    |
      | id_rsa                | secrets    |
      | credentials.json      | secrets    |
      | keys/server.pem       | secrets    |
      | photo.png             | not text   |
      | zeros.bin             | binary     |
      | latin.txt             | UTF-8      |
      | huge.txt              | too large  |
      | pipe                  | not a file |
      | src                   | not a file |
      | missing.txt           | not a file |
      | notes.txt\u0000.png   | not a path |

  Scenario Outline: EXAMPLE-9: shell runs what a person allows, without the secrets of the environment
    Given the tools that the course starts with
    And <person>
    And the environment variable RELIEF_API_KEY is "tent-4711"
    And the environment variable RELIEF_REGION is "north"
    When the model runs the command <command>
    Then the tool result <is>

    Examples:
      | person                          | command                              | is                             |
      | a person who allows every call  | echo tea                             | is "exit code 0\ntea\n"        |
      | a person who allows every call  | echo no tea >&2; exit 3              | is "exit code 3\nno tea\n"     |
      | a person who allows every call  | echo [$RELIEF_REGION$RELIEF_API_KEY] | is "exit code 0\n[north]\n"    |
      | a person who allows every call  | cat                                  | is "exit code 0\n"             |
      | a person who allows every call  | printf '\377'                        | is "exit code 0\n\ufffd"       |
      | a person who allows every call  | nowhere-to-be-found                  | mentions "exit code 127"       |
      | a person who allows every call  | head -c 3000000 /dev/zero            | mentions "exit code 0, cut"    |
      | a person who allows every call  | (sleep 5; echo too late) & echo tea  | is "exit code 0\ntea\n"        |
      | a person who allows every call  | python3 -c "import os, time; os.setsid(); time.sleep(5); print('too late')" & echo tea | is "exit code 0\ntea\n"        |
      | a person who refuses every call | echo tea                             | mentions "Error, not approved" |
      | nobody to ask                   | echo tea                             | mentions "Error, not approved" |
