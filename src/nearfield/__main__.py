"""`python -m nearfield`, the same as `nearfield`."""

import sys

from nearfield.cli import main

if __name__ == "__main__":
    sys.exit(main())
