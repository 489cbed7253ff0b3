Feature: The drills
  Each drill is a small scenario that shows one failure. Nothing in it is left to the seed but the callers' words, so that
  a class plays the same one. Doing as par does is worth more than doing nothing, and the failure costs points.

  Scenario Outline: DRILL-1: acting at all saves the one life there is; <what>
    Given the world of DRILL-1 with seed 7
    When these orders are given to the end
      | tick      | unit | target   |
      | <sent>    | A1   | I01      |
      | <brought> | A1   | Hospital |
    Then <deaths> died, <in_care> are in care, and that is <points> points
    And par has 2 points there and doing nothing 0, with any seed

    Examples:
      | what                    | sent | brought | deaths | in_care | points |
      | at once                 | 0    | 2       | 0      | 1       | 2      |
      | never brought to a bed  | 0    | 11      | 0      | 0       | 1      |
      | too late                | 11   | 11      | 1      | 0       | 0      |

  Scenario Outline: DRILL-2: both teams at one front cost a life at the other; <what>
    Given the world of DRILL-2 with seed 7
    When these orders are given to the end
      | tick | unit | target   |
      | 0    | R1   | I01      |
      | 0    | R2   | <second> |
      | 0    | A1   | I01      |
      | 0    | A2   | I02      |
      | 5    | A1   | Hospital |
      | 6    | A2   | Hospital |
      | 5    | R2   | I02      |
      | 7    | A1   | I01      |
      | 9    | A1   | Hospital |
      | 8    | A2   | I02      |
      | 10   | A2   | Hospital |
    Then <deaths> died, <in_care> are in care, and that is <points> points
    And par has 8 points there and doing nothing 2, with any seed

    Examples:
      | what              | second | deaths | in_care | points |
      | one team to each  | I02    | 0      | 4       | 8      |
      | both to the first | I01    | 1      | 2       | 5      |

  Scenario: DRILL-3: an order across the broken bridge is refused with no open road, and the world is unchanged
    Given the world of DRILL-3 with seed 7
    When A1 is assigned to "I01"
    Then the order is refused with "no open road", which names "Bridgehead-Island" "3 ticks" "C1"
    And the world is unchanged
    And par has 6 points there and doing nothing 1, with any seed
    And no-crew has 3 points there

  Scenario Outline: DRILL-4: the nearest hospital is not the best when it is full; <what>
    Given the world of DRILL-4 with seed 7
    When these orders are given to the end
      | tick | unit | target    |
      | 0    | A1   | I01       |
      | 1    | A1   | <first>   |
      | 1    | A2   | I01       |
      | 2    | A2   | <second>  |
    Then 0 died, <in_care> are in care, and that is <points> points
    And par has 7 points there and doing nothing 2, with any seed

    Examples:
      | what                | first          | second         | in_care | points |
      | both to the clinic  | Clinic         | Clinic         | 3       | 7      |
      | one to each         | Clinic         | Large Hospital | 4       | 8      |
      | both to the large   | Large Hospital | Large Hospital | 4       | 8      |

  Scenario Outline: DRILL-5: sight corrects what callers say, and believing a denial costs a life; <what>
    Given the world of DRILL-5 with seed 7
    When these orders are given to the end
      | tick | unit | target   |
      | 0    | A1   | I01      |
      | 0    | A2   | I03      |
      | 1    | R1   | <sent>   |
      | 2    | A1   | Hospital |
      | 4    | A1   | <sent>   |
      | 6    | A1   | Hospital |
    Then at the end I01 is closed as nobody there needs help any more
    And at the end I04 is closed as the same as I01
    And at the end I03 is closed as a false alarm
    And at the end I02 is <mill>
    And <deaths> died, <in_care> are in care, and that is <points> points
    And par has 8 points there and doing nothing 3, with any seed

    Examples: I02 is denied at tick 1, and stays open until a unit has been there
      | what                 | sent | mill                                       | deaths | in_care | points |
      | a team goes and sees | I02  | closed as nobody there needs help any more | 0      | 4       | 8      |
      | the denial believed  | I04  | open, at Mill                              | 1      | 2       | 5      |

  Scenario: DRILL-6: a unit that stands idle while somebody waits is a fault, tick by tick, and so is a refused order
    Given the world of DRILL-1 with seed 7
    When these orders are given to the end
      | tick | unit | target   |
      | 1    | Z9   | I01      |
      | 3    | A1   | I01      |
      | 6    | A1   | Hospital |
    Then 0 died, 1 are in care, and that is 2 points
    And its faults are 1 refused, 0 duplicate, 4 ticks idle

  Scenario: DRILL-7: a second unit of a kind at one place is a fault, whatever the road is called
    Given the world of DRILL-2 with seed 7
    When these orders are given to the end
      | tick | unit | target   |
      | 0    | R1   | I01      |
      | 0    | R2   | I01      |
      | 0    | A1   | I02      |
      | 1    | A2   | I02      |
    Then its faults are 0 refused, 2 duplicate, 26 ticks idle

  Scenario Outline: DRILL-8: a truck stands idle while wanted as long as it could bring what a place asks for; <what>
    Given a world of this map
      """
      id = "TRY"
      title = "Try"
      briefing = "Try."
      ticks = 8
      places = [
        { name = "Ward", x = 0, y = 0, beds = 1 },
        { name = "Depot", x = 50, y = 0, water = <water>, shelter = 9 },
        { name = "Camp", x = 99, y = 0 },
      ]
      roads = [
        { between = ["Ward", "Depot"], ticks = 1 },
        { between = ["Depot", "Camp"], ticks = 1, work = <work> },
      ]
      units = [{ id = "T1", kind = "truck", at = "Depot" }, { id = "T2", kind = "truck", at = "Ward" }]
      needs = [{ tick = 2, place = "Camp", water = 5, shelter = 0 }]
      """
    When these orders are given to the end
      | tick   | unit | target | water |
      | <tick> | T1   | Camp   | 5     |
    Then its faults are 0 refused, 0 duplicate, <idle> ticks idle

    Examples: two trucks, and a need known from tick 2 on
      | what                                  | water | work | tick | idle |
      | nobody is sent in time                | 5     | 0    | 8    | 12   |
      | one is sent after two ticks           | 9     | 0    | 4    | 4    |
      | some of it is in stock                | 4     | 0    | 8    | 12   |
      | nothing that is asked for is in stock | 0     | 0    | 8    | 0    |
      | no road is open                       | 5     | 99   | 8    | 0    |
