"""`python -m stonezero` is the command `stonezero`."""

import sys

from stonezero.cli import main

if __name__ == "__main__":
    sys.exit(main())
