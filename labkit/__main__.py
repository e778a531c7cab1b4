"""`python -m labkit COMMAND`; the commands are in labkit/commands."""

import sys

from labkit.commands import main

if __name__ == "__main__":
    sys.exit(main())
