Feature: Scenario files
  The ladder of scenarios is data, and a teacher adds a rung by writing a file. So every file of the package can be played
  and is worth playing, and a mistake in a new one is named with its place, all of them at once.

  Scenario: RUNG-1: in every scenario of the package par beats doing nothing
    When each scenario of the package is played by idle and par with seeds 0 to 4
    Then in each of them par has more points than doing nothing
    And they are the drills in their order, SURGE, EARTHQUAKE, FLOOD, CYCLONE
    And each has its own map, within 0 to 100, and a briefing of at most three sentences

  Scenario Outline: RUNG-2: a mistake in a file is named with its place: <what>
    When <right> is replaced by <wrong> in a sound scenario
    Then it is refused, and that names "try.toml" <words>

    Examples: what cannot be read
      | what              | right                     | wrong                           | words                          |
      | not TOML          | "ticks = 12\n"            | "ticks = \n"                    | "not TOML" "line 4"            |
      | a key twice       | "ticks = 12\n"            | "ticks = 12\nticks = 13\n"      | "not TOML" "line 5"            |
      | an unknown key    | "beds = 2"                | "bed = 2"                       | "places[1].bed is unknown"     |
      | a missing key     | "title = \"Try\"\n"       | ""                              | "title is missing"             |
      | a missing name    | "name = \"Ward\", "       | ""                              | "places[1].name is missing"    |
      | a text, no number | "ticks = 12\n"            | "ticks = \"12\"\n"              | "ticks" "'12'"                 |
      | a number, no text | "title = \"Try\""         | "title = 3"                     | "title" "3"                    |
      | an unknown kind   | "\"ambulance\""           | "\"balloon\""                   | "units[1].kind" "balloon" "ambulance" |

    Examples: what does not fit together
      | what                     | right                         | wrong                          | words                                           |
      | an unknown place         | "at = \"Ward\""               | "at = \"Wood\""                | "units[1].at" "Wood" "Ward, Yard"               |
      | a road to nowhere        | "[\"Ward\", \"Yard\"]"        | "[\"Ward\", \"Wood\"]"         | "roads[1].between" "Wood"                       |
      | a road to itself         | "[\"Ward\", \"Yard\"]"        | "[\"Ward\", \"Ward\"]"         | "roads[1].between" "two places"                 |
      | a place twice            | "name = \"Yard\""             | "name = \"Ward\""              | "places" "'Ward'" "2 times"                     |
      | a place like a unit      | "name = \"Yard\""             | "name = \"A1\""                | "places[2].name" "unit" "A1"                    |
      | a hyphen in a name       | "name = \"Yard\""             | "name = \"Back-Yard\""         | "places[2].name" "Back-Yard"                    |
      | no ticks                 | "ticks = 12\n"                | "ticks = 0\n"                  | "ticks must be 1 to 500, found 0"               |
      | a road of no length      | "ticks = 1 }"                 | "ticks = 0 }"                  | "roads[1].ticks must be 1 to 100, found 0"      |
      | beds below nothing       | "beds = 2"                    | "beds = -2"                    | "places[1].beds" "-2"                           |
      | no unit                  | "[{ id = \"A1\", kind = \"ambulance\", at = \"Ward\" }]" | "[]" | "units must have at least one"            |
      | no hospital              | "beds = 2"                    | "beds = 0"                     | "at least one hospital"                         |
      | a unit called as an incident | "id = \"A1\""            | "id = \"I01\""               | "units[1].id" "not I01"                         |
      | a comma in a name        | "name = \"Yard\""             | "name = \"Back, Yard\""         | "places[2].name" "Back, Yard"                   |
      | a place far off the map  | "x = 9"                       | "x = 99999"                    | "places[2].x must be -1000 to 1000"             |
      | several, all named       | "at = \"Ward\" }]\n"          | "at = \"Wood\" }, { id = \"A1\", kind = \"crew\", at = \"Moon\" }]\n" | "units[1].at" "units[2].at" "'A1' stands there 2 times" |

  Scenario Outline: RUNG-3: a mistake in what happens or is drawn is named with its place: <what>
    Given the places, roads and units of a small scenario, and
      """
      <lines>
      """
    When the scenario is read
    Then it is refused, and that names "try.toml" <words>

    Examples:
      | what                            | lines                                                                      | words                               |
      | an incident after the end       | incidents = [{ tick = 12, place = "Yard" }]                                | "incidents[1].tick" "12"            |
      | an incident nowhere             | incidents = [{ tick = 0, place = "Wood" }]                                 | "incidents[1].place" "Wood"         |
      | a report before the incident    | incidents = [{ tick = 5, place = "Yard", reports = [{ tick = 4 }] }]       | "incidents[1].reports[1].tick" "4"  |
      | an unknown triage               | incidents = [{ tick = 0, place = "Yard", people = [{ triage = "blue" }] }] | "incidents[1].people[1].triage" "blue" |
      | more aftershocks than roads     | draws = { blocked = 1, aftershocks = [{ tick = 2, roads = 1 }] }           | "draws.blocked" "found 2"           |
      | no clearing                     | draws = { clearing = [] }                                                  | "draws.clearing"                    |
      | weights of nothing              | draws = { weights = [0, 0, 0, 0] }                                         | "draws.weights"                     |
      | an unknown key of the draws     | draws = { incident = 3 }                                                   | "draws.incident is unknown"         |
      | more at the start than in all   | draws = { incidents = 2, at_start = 3 }                                    | "draws.at_start" "3"                |
      | a need that no truck can meet   | needs = [{ tick = 0, place = "Yard", water = 1, shelter = 0 }]             | "only by a truck"                   |
      | a need of nothing               | needs = [{ tick = 0, place = "Yard", water = 0, shelter = 0 }]             | "needs[1] must be of water or shelter" |
      | a denial that counts people     | incidents = [{ tick = 0, place = "Yard", reports = [{ tick = 0, denies = true, people = [] }] }] | "incidents[1].reports[1] denies" |
      | a report from nowhere           | incidents = [{ tick = 0, place = "Yard", reports = [{ tick = 0, place = "Wood" }] }] | "incidents[1].reports[1].place" "Wood" |
      | clearing that never ends        | draws = { clearing = [1000000] }                                           | "draws.clearing" "1 to 500"         |

  Scenario: RUNG-4: what the prompt says of people, teams and beds is what the world does
    When the dispatcher's prompt is read
    Then it says how long people live, how long freeing and a bed take, and what counts, in the world's numbers
