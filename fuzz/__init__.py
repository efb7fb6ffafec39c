"""Cases that nobody thought of: random compositions, data, steering, files, formulas and tables.

    make fuzz                             # ten minutes, with a seed that is told
    make fuzz SECONDS=60 SEED=7           # a minute of those of seed 7
    python -m fuzz --cases runs=1000,tables=500      # so many of each kind, however long it takes
    python -m fuzz --only runs --seed 7 --case 41    # one case again

A case is a short program, as a list of lines, so that what is found can be pasted into a test as it is and
made smaller by leaving lines out. It is drawn from the seed, its kind and its number alone. Each kind is a
module with one function, `case(dice)`, which returns the lines; `KINDS` of `fuzz.kinds` lists them.

A case may end in a map or in a refusal: a ValueError, TypeError, MemoryError or OSError of one line. All else
is a defect: another exception; a warning of NumPy from within nearfield; a refusal in the words of Python or
NumPy, which name no fix; an assertion of the case that does not hold (a map that is not finite, data that
were changed, two ways that disagree); a process that dies; one that works for
more than 20 seconds, or waits for ever.
"""

import sys
from pathlib import Path

# Formulas and tables are those that the tests draw from.
sys.path.append(str(Path(__file__).parents[1] / "tests"))
