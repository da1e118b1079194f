"""`python -m stonezoo` is the command `stonezoo`."""

import sys

from stonezoo.cli import main

if __name__ == "__main__":
    sys.exit(main())
