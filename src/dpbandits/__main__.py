"""The command line as ``python -m dpbandits``."""

import sys

from dpbandits.cli import main

if __name__ == "__main__":
    sys.exit(main())
